"""Several episodes of one matter become one conclusion, and every one of them stays reachable from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.layout import Preset, load_preset
from sandbox_memory.models import EXTRACTION
from sandbox_memory.records import Evidence, Kind, Record, Status, Trust
from sandbox_memory.stages.concluding import conclusions

from .kit import EchoModel, agree, pipeline, process, state, tell, texts

DEFAULT, SUPPORT = load_preset("gtm"), load_preset("support")
FIRST = "The demo with Acme went badly because there was no single sign-on."
SECOND = "The second demo with Acme ended with the question when single sign-on comes."
THIRD = "The third demo with Acme was called off until single sign-on is there."
OTHER = "The dinner with Globex was pleasant."


def made(number: int, text: str, **more: Any) -> Record:
    quote = Evidence(f"r{number}", "s1", 0, 0, len(text), text, Trust.USER)
    values = {"evidence": (quote,), "trust": Trust.USER, "created": number, "support": frozenset({f"r{number}"})}
    return Record(f"m-{number:010x}", Kind.EPISODE, text, "Acme", **{**values, **more})


def concluded(*records: Record, preset: Preset = DEFAULT) -> list[Any]:
    return list(conclusions(records, preset))


def test_three_of_one_matter_are_one_and_another_stays() -> None:
    records = [made(1, FIRST), made(2, SECOND), made(3, OTHER), made(4, THIRD)]
    (merge,) = concluded(*records)
    assert merge.op == "merge" and merge.facts["replaces"] == [records[0].id, records[1].id, records[3].id]
    assert merge.body["text"] == f"{FIRST[:-1]}; {SECOND[:-1]}; {THIRD}"
    assert merge.body["quotes"] == [FIRST, SECOND, THIRD] and merge.facts["trust"] == "user"


def test_what_another_says_too_is_not_said_twice() -> None:
    (merge,) = concluded(made(1, "Acme asked for single sign-on."), made(2, FIRST), *(made(n, FIRST) for n in (3, 4)))
    assert merge.body["text"].count("single sign-on") <= 2 and merge.body["text"].endswith(FIRST)


def test_chinese() -> None:
    said = [
        "和恒达的第一次演示不顺利，没有单点登录。",
        "和恒达的第二次演示又问到单点登录。",
        "和恒达的第三次演示因为单点登录取消了。",
    ]
    (merge,) = concluded(*(made(n, text) for n, text in enumerate(said, 1)))
    assert merge.body["text"] == "；".join([*(text[:-1] for text in said[:-1]), said[-1]])


def test_one_subject_is_one_matter_however_it_is_worded() -> None:
    words = ["Acme declined.", "They want it in Q3, says Ada.", "Call back after the fair."]
    assert len(concluded(*(made(n, text, subject="acme deal") for n, text in enumerate(words, 1)))) == 1
    assert concluded(*(made(n, text) for n, text in enumerate(words, 1))) == []
    assert concluded(*(made(n, text, subject=f"deal {n}") for n, text in enumerate([FIRST, SECOND, THIRD], 1))) == []


@pytest.mark.parametrize(
    "more",
    [
        {"protected": True},
        {"pinned": True},
        {"expires": "2030-01-01T00:00:00.000+00:00"},
        {"trust": Trust.AGENT},
        {"kind": Kind.FACT},
        {"group": "Globex"},
        {"text": "x " * 250},
    ],
)
def test_what_must_stay_by_itself(more: dict[str, Any]) -> None:
    from dataclasses import replace

    assert concluded(made(1, FIRST), made(2, SECOND), replace(made(3, THIRD), **more)) == []


def test_where_many_are_served_nobody_is_mixed_with_another() -> None:
    assert concluded(made(1, FIRST), made(2, SECOND), made(3, THIRD), preset=SUPPORT) == []


def test_a_conclusion_that_its_quotes_do_not_carry_is_not_drawn() -> None:
    bare = Evidence("r3", "s1", 0, 0, 4, "Yes.", Trust.USER)
    assert concluded(made(1, FIRST), made(2, SECOND), made(3, THIRD, evidence=(bare,))) == []


class Episodes(EchoModel):
    async def answer(self, request: Any) -> Any:
        found = await super().answer(request)
        if request.task == EXTRACTION:
            for memory in found.value.memories:
                memory.kind = "episode"
        return found


def test_it_happens_at_close_and_why_leads_to_each(tmp_path: Path) -> None:
    for number, text in enumerate([FIRST, SECOND], 1):
        tell(tmp_path, text, rollout=f"talk-{number}")
        process(tmp_path, Episodes())
    assert texts(tmp_path) == {FIRST, SECOND}
    tell(tmp_path, THIRD, rollout="talk-3")
    assert process(tmp_path, Episodes()).operations["merge"] == 1
    (conclusion,) = state(tmp_path).visible().values()
    agree(tmp_path)
    reason = OpenMemory(pipeline(tmp_path)).why(conclusion.id)
    assert {record.text for record in reason.replaced} == {FIRST, SECOND, THIRD}
    assert {record.status for record in reason.replaced} == {Status.SUPERSEDED}
    assert [receipt.quote for receipt in reason.receipts] == [FIRST, SECOND, THIRD]
    assert not any(receipt.verdict for receipt in reason.receipts)
    assert process(tmp_path, Episodes(), again=True).operations == {}, "and it is not drawn twice"
    assert set(texts(tmp_path)) == {conclusion.text}
