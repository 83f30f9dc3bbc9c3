from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_memory.errors import ModelError
from sandbox_memory.governance.grounding import ungrounded
from sandbox_memory.layout import Layout
from sandbox_memory.models import (
    ConsolidationDraft,
    ConsolidationMaterial,
    DraftOperation,
    ExtractionDraft,
    ExtractionMaterial,
    Request,
)
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.records import Candidate, Kind, Record
from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.rollouts.trust import others_words

from .offline_kit import extracted, texts
from .rollouts_kit import CODING, DEFAULT, GTM, rollout, segment, talk

MANY = replace(DEFAULT, preset=replace(DEFAULT.preset, audience="many"))


def test_memory_read_by_a_tool_is_not_news() -> None:
    said = talk(("user", "What do we know?"), ("memory", "I always prefer tabs ^m-0123456789\nError: nothing"))
    assert texts(said) == []


# ---------------------------------------------------------------- consolidation


def candidate(text: str, kind: Kind = Kind.FACT, subject: str = "", task: str = "Fix the server") -> Candidate:
    return Candidate(kind, text, (), subject, task)


def record(text: str, kind: Kind = Kind.FACT, subject: str = "", group: str = "Fix the server") -> Record:
    return Record("m-0123456789", kind, text, group, subject)


def planned(
    candidates: list[Candidate], records: tuple[Record, ...] = (), groups: tuple[str, ...] = ()
) -> list[DraftOperation]:
    material = ConsolidationMaterial(tuple(candidates), records, groups, DEFAULT)
    request = Request("consolidation", "", "", ConsolidationDraft, material)
    found = asyncio.run(OfflineModel().answer(request)).value.operations
    named = [name for operation in found for name in operation.candidates]
    assert sorted(named) == sorted(f"c{n}" for n in range(1, len(candidates) + 1)), "each candidate exactly once"
    return found


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("The port is 8443.", "the port is  8443"),
        ("I don't want to fly before 11am", "I do not want to fly before 11 AM"),
        (
            "always run the linter and the tests before any commit",
            "always run the linter and the tests before a commit",
        ),
        ("以后报表里的金额都用万元显示", "以后报表里的金额都用万元显示。"),
        ("basic tickets cannot be modified", "this reservation is a basic ticket, which cannot be modified"),
    ],
)
def test_the_same_again_is_support(new: str, known: str) -> None:
    (operation,) = planned(
        [candidate(new)],
        (
            record("something else entirely"),
            record(known),
        ),
    )
    assert (operation.op, operation.candidates, operation.records) == ("support", ["c1"], ["r2"])


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("the port is 8443", "the port is 9443"),
        ("basic tickets cannot be modified", "basic tickets can be modified"),
        ("basic tickets cannot be modified", "basic tickets cannot be cancelled or refunded at all"),
        ("open src/a.py first and then build it", "open src/b.py first and then build it"),
        ("always run the unit tests before you push", "always run the integration tests before you push"),
        ("the staging server listens on port 8443", "the production server listens on port 8443"),
        ("部署前必须先备份生产数据库", "部署前必须先备份测试数据库"),
    ],
)
def test_another_value_or_a_denial_is_not_the_same(new: str, known: str) -> None:
    assert [operation.op for operation in planned([candidate(new)], (record(known),))] == ["add"]


def test_the_same_error_with_other_values_is_one_lesson() -> None:
    one = '`book` failed: "Error: not enough seats on HAT229"; worked with another `cabin`'
    two = '`book` failed: "Error: not enough seats on HAT290"'
    assert planned([candidate(two, Kind.LESSON)], (record(one, Kind.LESSON),))[0].op == "support"
    three = '`book` failed: "Error: balance is not enough"; worked with another `cabin`'
    assert planned([candidate(three, Kind.LESSON)], (record(one, Kind.LESSON),))[0].op == "add"


def test_a_new_value_of_a_subject_supersedes_and_two_candidates_make_one_line() -> None:
    known = record("Device A is a Synology", subject="device a")
    (operation,) = planned([candidate("Device A is fnOS now", subject="Device A")], (known,))
    assert (operation.op, operation.records, operation.text) == ("supersede", ["r1"], "Device A is fnOS now")
    found = planned([candidate("Device A is x1", subject="device a"), candidate("Device A is y2", subject="device a")])
    assert [(o.op, o.candidates) for o in found] == [("skip", ["c1"]), ("add", ["c2"])]
    (once,) = planned([candidate("the port is 8443"), candidate("The port is 8443.")])
    assert (once.op, once.candidates) == ("add", ["c1", "c2"])


def test_support_of_a_record_comes_before_what_supersedes_it() -> None:
    known = record("Device A is a Synology", subject="device a")
    new = [candidate("Device A is a Synology.", subject="device a"), candidate("Device A is fnOS", subject="device a")]
    assert [(o.op, o.records) for o in planned(new, (known,))] == [("support", ["r1"]), ("supersede", ["r1"])]


def test_thousands_of_candidates_take_seconds() -> None:
    words = [f"w{a}{b}x" for a in "abcdefghij" for b in "klmnopqrstuvwxyz"]
    chance = random.Random(1)
    many = [candidate(" ".join(chance.choices(words, k=12)), task=f"task {n % 50}") for n in range(2_000)]
    start = time.perf_counter()
    assert len(planned(many)) == 2_000
    assert time.perf_counter() - start < 10


def test_a_new_line_goes_to_a_group_that_is_alike_else_to_one_named_after_its_task() -> None:
    groups = ("Fix the invoice server", "Book a flight")
    assert planned([candidate("a is b", task="fix the server")], groups=groups)[0].group == "Fix the invoice server"
    found = planned(
        [candidate("a1 is b", task="Write docs"), candidate("c2 is d", task="Write the docs")], groups=groups
    )
    assert [operation.group for operation in found] == ["Write docs", "Write docs"]


def test_it_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(OfflineModel().answer(Request("poetry", "", "", ExtractionDraft, "a poem")))
    assert not caught.value.retryable
    empty = ExtractionMaterial(rollout(segment()), "", DEFAULT)
    answer = asyncio.run(OfflineModel().answer(Request("extraction", "", "", ExtractionDraft, empty)))
    assert answer.value == ExtractionDraft()


# ---------------------------------------------------------------- on real runs


@pytest.mark.parametrize("layout", [DEFAULT, CODING, GTM, MANY], ids=["default", "coding", "gtm", "many"])
def test_every_real_rollout_is_extracted_and_every_memory_is_verbatim_and_grounded(
    shared: Path, layout: Layout
) -> None:
    files = sorted((shared / "data" / "rollouts").glob("*/sessions/*.jsonl"))
    assert len(files) == 46
    found = 0
    for path in files:
        said = parse_rollout(path.read_bytes(), rollout_id=path.stem, path=f"sessions/{path.name}")
        raw = extracted(said, layout)
        assert raw.summary and raw.text
        items = [item for segment in said.segments for item in segment.items]
        material = any(others_words(item) for item in items if item.role == "user")
        # A title that names the customer is left out, and one that only a text to work on has.
        assert raw.task or layout.preset.audience == "many" or material
        items = {(s.id, item.index): item for s in said.segments for item in s.items}
        for memory in raw.candidates:
            found += 1
            assert len(memory.text) <= 400
            assert ungrounded(memory.text, [quote.quote for quote in memory.evidence]) is None
            for quote in memory.evidence:
                assert items[quote.segment, quote.item].text[quote.start : quote.end] == quote.quote
    assert found >= 80


@pytest.mark.parametrize(
    "blob",
    ["A." * 500_000, "first " * 150_000, "+++ x" + " " * 900_000, "- old\n" * 100_000, "I'm " * 200_000, '"' * 900_000],
    ids=["dots", "words", "spaces", "removed", "contractions", "quotes"],
)
@pytest.mark.parametrize("share", [0.25, pytest.param(1.0, marks=pytest.mark.proof)], ids=["quarter", "whole"])
def test_a_megabyte_of_anything_takes_seconds_at_most(blob: str, share: float) -> None:
    """What is quadratic takes minutes with a quarter as well."""
    blob = blob[: int(len(blob) * share)]
    said = talk(
        ("user", "Fix it."),
        ("user", blob),
        ("assistant", blob),
        ("call", blob),
        ("output", f"--- a/x\n+++ b/x\n{blob}"),
    )
    start = time.process_time()
    extracted(said)
    assert time.process_time() - start < 15
