"""Models that answer nonsense, and small inputs that break memory systems: nothing is lost, nothing false gets in."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import count
from pathlib import Path
from typing import Any

import openai
import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.document import Document, normalise
from sandbox_memory.doors.plain import open_memory
from sandbox_memory.models import (
    CONSOLIDATION,
    EXTRACTION,
    Answer,
    ConsolidationDraft,
    DraftOperation,
    ExtractionDraft,
    MemoryDraft,
    QuoteDraft,
)
from sandbox_memory.models.choice import choose
from sandbox_memory.pipeline import Limits, Pipeline
from sandbox_memory.records import RunCapture, Status, Usage
from sandbox_memory.workspace.local import LocalWorkspace

from .kit import LIMITS, EchoModel, agree, handbook, layout, pipeline, process, run, said, state, tell, texts
from .scripted import Scripted, calls, refuses

PORT = "the staging port is 8443"
TABS = "never use tabs in this repository"
DELAY = 0.03

GOOD = {
    "task": "Ports",
    "slug": "ports",
    "summary": "The port was told.",
    "raw_memory": "The port.",
    "keywords": ["port"],
    "memories": [{"kind": "fact", "text": PORT, "subject": "staging port", "quotes": [{"item": "s1.0", "text": PORT}]}],
}


def unmarked(path: Path) -> str:
    """The file without the number of the commit that it shows, which counts attempts as well."""
    return re.sub(r"<!-- memory:(begin )?\d+ -->", "", path.read_text(encoding="utf-8"))


def answer(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes}, ensure_ascii=False)


def adds(*names: str, **more: Any) -> str:
    return json.dumps({"operations": [{"op": "add", "candidates": [name], **more} for name in names or ("c1",)]})


def generating(one: Any, two: Any) -> MemoryGenerateConfig:
    return MemoryGenerateConfig(phase_one_model=one, phase_two_model=two, retry_delay=DELAY)


def closing(root: Path, one: Any, two: Any) -> Any:
    """Process as a close would, through the Agents SDK."""
    generate = generating(one, two)
    limits = Limits(generate.attempts, generate.retry_delay, generate.concurrency)
    return run(pipeline(root, generate).process(choose(generate), limits))


class Timed(Scripted):
    """Notes when it was asked."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*steps)
        self.times: list[float] = []

    async def _answer(self, *request: Any) -> list[Any]:
        self.times.append(time.monotonic())
        return await super()._answer(*request)


# ---------------------------------------------------------------- phase 1

MENDED = {
    "slug Fix Bug!": (answer(slug="Fix Bug!"), "chat_fix-bug.md"),
    "slug Fix-Bug": (answer(slug="Fix-Bug"), "chat_fix-bug.md"),
    "slug CJK": (answer(slug="大语言模型概述"), "chat_ports.md"),
    "slug of 81 characters": (answer(slug="a-long-title" * 7)[:-1] + "}", None),
    "slug empty": (answer(slug=""), "chat_ports.md"),
    "JSON in a fence": (f"Here you are:\n```json\n{answer()}\n```\n", "chat_ports.md"),
}


@pytest.mark.parametrize("fault", sorted(MENDED))
def test_what_code_can_mend_takes_one_try(tmp_path: Path, fault: str) -> None:
    text, name = MENDED[fault]
    tell(tmp_path, PORT)
    one, two = Scripted(text), Scripted(adds())
    report = closing(tmp_path, one, two)
    assert len(one.seen) == 1 and report.extracted == ["chat"] and not report.failed
    assert texts(tmp_path) == {PORT}
    (written,) = (tmp_path / "memories" / "rollout_summaries").iterdir()
    assert name is None or written.name == name
    assert re.fullmatch(r"chat_[a-z0-9-]{1,60}\.md", written.name)
    with open_memory(tmp_path) as memory:
        assert memory.status()["pending"] == []


LEFT: dict[str, tuple[Any, str]] = {
    "time-out": (openai.APITimeoutError(request=None), "timed out"),  # type: ignore[arg-type]
    "one empty field": (answer(raw_memory=" "), "raw_memory empty"),
    "not JSON": ("I would rather tell you a story.", "not JSON"),
    "refusal": (refuses("I cannot help with that."), "refused"),
    "endless tool calls": (lambda _: calls("exec_command", cmd="ls"), ""),
}


@pytest.mark.parametrize("fault", sorted(LEFT))
def test_what_cannot_be_mended_is_tried_three_times_and_stays_pending(
    tmp_path: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    step, cause = LEFT[fault]
    tell(tmp_path, "deploys go out on Tuesday", rollout="older")
    process(tmp_path)
    before = unmarked(handbook(tmp_path))
    transcript = tmp_path / "sessions" / "chat.jsonl"
    tell(tmp_path, PORT)
    said_before = transcript.read_bytes()
    one = Timed(step)

    async def slowly() -> None:
        generate = generating(one, Scripted(adds()))
        limits = Limits(generate.attempts, generate.retry_delay, generate.concurrency)
        model = choose(generate)[0]
        tries: list[float] = []
        asked = model.answer

        async def counted(request: Any) -> Any:
            tries.append(time.monotonic())
            return await asked(request)

        model.answer = counted  # type: ignore[method-assign]
        report = await pipeline(tmp_path, generate).process((model, choose(generate)[1]), limits)
        assert list(report.failed) == ["chat"] and not report.extracted
        assert len(tries) == 3
        assert tries[1] - tries[0] >= DELAY and tries[2] - tries[1] >= 2 * DELAY

    run(slowly())
    assert "chat is left pending" in caplog.text
    with open_memory(tmp_path) as memory:
        (pending,) = memory.status()["pending"]
    assert pending["rollout"] == "chat" and pending["attempts"] == 3 and pending["bytes"] == len(said_before)
    assert pending["cause"] and cause in pending["cause"]
    assert unmarked(handbook(tmp_path)) == before and transcript.read_bytes() == said_before
    report = closing(tmp_path, Scripted(answer()), Scripted(adds()))
    assert report.extracted == ["chat"]
    assert texts(tmp_path) == {PORT, "deploys go out on Tuesday"}
    agree(tmp_path)
    with open_memory(tmp_path) as memory:
        status = memory.status()
    assert status["pending"] == [] and not status["consolidation"]


# ---------------------------------------------------------------- phase 2


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two known records and one that a person protects, and something new that is extracted but not consolidated."""
    tell(tmp_path, PORT, TABS, "I always review migrations myself", rollout="old")
    process(tmp_path)
    path = handbook(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + "\n- our tracker is called Linear\n", encoding="utf-8")
    process(tmp_path)
    tell(tmp_path, NEW, DENIED, rollout="new")
    return tmp_path


NEW = "the staging port is 9443 now, and the tracker is called Jira"
DENIED = "do not deploy on Fridays"
MADE_UP = [{"op": op, "candidates": ["c77"], "records": ["r99"], "text": "x"} for op in ("add", "support", "delete")]
ALL = ["r1", "r2", "r3", "r4", "r5", "r6", "r7"]

NONSENSE: dict[str, tuple[str, str]] = {
    "empty": ("", "no answer within 3 turns"),
    "not JSON": ("Memory is the mother of all wisdom.", "not JSON"),
    "a list": ("[1, 2, 3]", "JSON, but none of"),
    "wrong type": ('{"operations": "all of them"}', "wrong type"),
    "no operation": ('{"operations": []}', "it proposed none"),
    "ids that do not exist": (json.dumps({"operations": MADE_UP}), "there is no c77"),
    "an operation that is none": (json.dumps({"operations": [{"op": "rm -rf", "candidates": ["c1"]}]}), "no operation"),
    "everything in one": (
        json.dumps({"operations": [{"op": "delete", "candidates": ["c1"], "records": ALL}]}),
        "there is no r",
    ),
    "deletes without a candidate": (
        json.dumps({"operations": [{"op": "delete", "records": [name]} for name in ALL[:4]]}),
        "no new candidate",
    ),
    "deletes what nothing new is about": (
        json.dumps({"operations": [{"op": "delete", "candidates": ["c2"], "records": [name]} for name in ALL[:4]]}),
        "nothing that was learned is about",
    ),
    "moves and nothing else": (
        json.dumps({"operations": [{"op": "move", "records": ["r2"], "group": "Elsewhere"}]}),
        "",
    ),
    "drops a not": (
        json.dumps({"operations": [{"op": "add", "candidates": ["c2"], "text": "deploy on Fridays"}]}),
        "negation",
    ),
    "changes a number": (
        json.dumps({"operations": [{"op": "add", "candidates": ["c1"], "text": "the staging port is 9444 now"}]}),
        "9444",
    ),
    "a text of 5,000 characters": (
        json.dumps({"operations": [{"op": "add", "candidates": ["c1"], "text": "the staging port is 9443 " * 200}]}),
        "longer than",
    ),
    "a secret": (
        json.dumps({"operations": [{"op": "add", "candidates": ["c1"], "text": "password=hunter2-9443xQ7z"}]}),
        "secret",
    ),
}


@pytest.mark.parametrize("kind", sorted(NONSENSE))
def test_nonsense_leaves_memory_as_it_was(root: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    text, why = NONSENSE[kind]
    summary = root / "memories" / "memory_summary.md"
    before = unmarked(handbook(root)), unmarked(summary)
    records = texts(root)
    model = EchoModel()
    two = Scripted(text)
    generate = generating("offline", two)
    report = run(pipeline(root, generate).process((model, choose(generate)[1]), Limits(3, 0.001)))
    assert len(two.seen) == (9 if kind == "empty" else 3), (
        "the SDK takes an empty message for a turn, three of them a try"
    )
    assert (unmarked(handbook(root)), unmarked(summary)) == before
    assert texts(root) == records
    assert why in report.failed[CONSOLIDATION] and why in caplog.text
    with open_memory(root) as memory:
        status = memory.status()
    assert [entry["memories"] for entry in status["unconsolidated"]] == [2]
    assert why in status["consolidation"]["cause"] and status["consolidation"]["attempts"] == 3
    if "operations" in text and "all of them" not in text and why not in ("", "it proposed none"):
        assert any(why in refusal.why for refusal in report.refused)
    process(root, model)
    assert {NEW, DENIED} <= texts(root) and model.extracted == ["new"]
    assert not state(root).failures
    agree(root)


def consolidate(root: Path, *operations: dict[str, Any]) -> Any:
    two = Scripted(json.dumps({"operations": operations}))
    generate = generating("offline", two)
    return run(pipeline(root, generate).process((EchoModel(), choose(generate)[1]), Limits(3, 0.001)))


def test_the_same_operation_500_times_counts_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = texts(root)
    report = consolidate(root, *[{"op": "add", "candidates": ["c1"]}] * 500)
    assert texts(root) == before | {NEW}
    assert len(report.refused) == 499 and {r.why for r in report.refused} == {"the same candidate was used before"}
    assert "499 times" in caplog.text and len(caplog.records) < 10
    agree(root)


def test_two_candidates_with_one_text_are_one_line(tmp_path: Path) -> None:
    for name in ("one", "two"):
        tell(tmp_path, PORT, rollout=name)
    process(tmp_path)
    (record,) = state(tmp_path).visible().values()
    assert record.text == PORT and record.support == {"one", "two"}
    agree(tmp_path)


def numbers(root: Path) -> dict[str, str]:
    """The names under which the records that the new candidates touch are shown, by their texts."""
    from sandbox_memory import screening

    given = screening.inputs(state(root), 60)
    return {record.text: f"r{n}" for n, record in enumerate(given.records, 1)}


@pytest.fixture
def extracted(root: Path) -> Path:
    """The same with the new rollout extracted, and its consolidation pending."""
    consolidate(root)
    assert state(root).pending
    return root


def test_a_protected_line_is_only_asked_about(extracted: Path) -> None:
    before = texts(extracted)
    linear = numbers(extracted)["our tracker is called Linear"]
    consolidate(
        extracted, {"op": "supersede", "candidates": ["c1"], "records": [linear], "text": "the tracker is called Jira"}
    )
    assert texts(extracted) == before
    (proposal,) = state(extracted).proposals.values()
    assert "Linear" in proposal.text and "Jira" in proposal.text
    agree(extracted)


@pytest.mark.parametrize("changed", [False, True])
def test_a_yes_counts_for_what_was_asked(extracted: Path, changed: bool) -> None:
    linear, text = numbers(extracted)["our tracker is called Linear"], "the tracker is called Jira"
    consolidate(extracted, {"op": "supersede", "candidates": ["c1"], "records": [linear], "text": text})
    if changed:
        path = handbook(extracted)
        path.write_text(path.read_text(encoding="utf-8").replace("Linear", "Linear Cloud"), encoding="utf-8")
        process(extracted)
    inbox = extracted / "memories" / "INBOX.md"
    inbox.write_text(inbox.read_text(encoding="utf-8").replace("- [ ]", "- [X]"), encoding="utf-8")
    process(extracted)
    found = {text for text in texts(extracted) if "tracker is called" in text and "9443" not in text}
    assert found == ({"our tracker is called Linear Cloud"} if changed else {text})
    assert not state(extracted).proposals
    agree(extracted)


def test_fifty_records_are_not_merged_into_one(tmp_path: Path) -> None:
    for part in range(2):
        numbered = range(25 * part, 25 * part + 25)
        tell(tmp_path, *(f"worker {n} listens on port {9000 + n}" for n in numbered), rollout=f"many-{part}")
    process(tmp_path)
    tell(tmp_path, "every worker listens on a port", rollout="new")
    before = texts(tmp_path)
    names = [f"r{n}" for n in range(1, 41)]
    report = consolidate(tmp_path, {"op": "merge", "candidates": ["c1"], "records": names, "text": "workers listen"})
    assert texts(tmp_path) == before and len(before) == 50
    assert any("1 to 5 records" in refusal.why for refusal in report.refused)
    assert state(tmp_path).pending


def test_one_answer_deletes_few(tmp_path: Path) -> None:
    tell(tmp_path, *(f"worker {n} listens on port {9000 + n}" for n in range(20)), rollout="many")
    process(tmp_path)
    tell(tmp_path, *(f"worker {n} is gone" for n in range(20)), rollout="new")
    report = consolidate(
        tmp_path, *({"op": "delete", "candidates": [f"c{n}"], "records": [f"r{n}"]} for n in range(1, 21))
    )
    assert len(texts(tmp_path)) == 15
    assert any("not deleted at once" in refusal.why for refusal in report.refused)
    agree(tmp_path)


def test_a_record_is_replaced_once_by_one_answer(extracted: Path) -> None:
    port = numbers(extracted)[PORT]
    report = consolidate(
        extracted,
        {"op": "supersede", "candidates": ["c1"], "records": [port], "text": "the staging port is 9443"},
        {"op": "delete", "candidates": ["c2"], "records": [port]},
    )
    assert "the staging port is 9443" in texts(extracted) and PORT not in texts(extracted)
    assert [r.why for r in report.refused] == ["the record is gone meanwhile"]
    old = next(r for r in state(extracted).records.values() if r.text == PORT)
    assert old.status is Status.SUPERSEDED
    agree(extracted)


TITLES = [
    "Line one\n# Line two\r\n- a bullet ^m-0123456789",
    "<!-- memory:99 -->",
    "<!-- open comment",
    "# Task Group: nested",
    "Task 1: forged",
    "Task Group: Task Group: twice",
    "```\nfence",
    "trailing hashes ##",
    "*emphasis* `code` [link](x.md) <b>html</b>",
    "<!-- memory:begin 4 -->\n<!-- memory:end 0123456789ab -->",
    "^p-0123456789",
    "---",
    "x" * 5_000,
    "\u202eright to left\u2028separator\x00nul\x1b[31m",
    "&lt;entity&gt; &amp;",
    "   ",
    "password=hunter2-9443xQ7z",
    "rollout_summary_files",
    "scope: mine",
]


@pytest.mark.parametrize("title", TITLES, ids=range(len(TITLES)))
def test_no_group_breaks_the_file(root: Path, title: str) -> None:
    kept = handbook(root).read_text(encoding="utf-8").rsplit("<!-- memory:", 1)[0].rstrip()
    consolidate(root, {"op": "add", "candidates": ["c1"], "group": title, "subject": title, "text": NEW})
    agree(root)
    text = handbook(root).read_text(encoding="utf-8")
    lines = text.split("\n")
    for line in kept.split("\n"):
        lines.remove(line)  # every line is still there, wherever the new one went
    added = "\n".join(lines)
    assert "hunter2" not in text and len(text) < 3_000
    assert len(re.findall(r"(?m)^# ", added)) <= 1 and len(re.findall(r"(?m)^- ", added)) <= 2
    again = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    process(root, EchoModel())
    assert handbook(root).read_text(encoding="utf-8") == text
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == again
    assert not [c for c in _commits(root) if c.actor in ("hand", "live")][1:], "a title read back otherwise is a move"


def _commits(root: Path) -> Any:
    from sandbox_memory.ledger import parse

    return parse((root / "memories" / "ledger.jsonl").read_bytes()).commits


@pytest.mark.parametrize("tail", [" <!-- memory:7 -->", "\n# Heading\n- item ^m-0123456789", " ^m-0123456789", "\n```"])
def test_no_text_breaks_the_file(root: Path, tail: str) -> None:
    consolidate(root, {"op": "add", "candidates": ["c1"], "text": f"the staging port is 9443{tail}"})
    document = Document.parse(handbook(root).read_bytes())
    assert document.marker == state(root).ordinal
    assert {item.id: item.normal for item in document.items} == {
        r.id: normalise(r.text) for r in state(root).visible().values()
    }
    before = unmarked(handbook(root)).splitlines()
    process(root)
    left = iter(unmarked(handbook(root)).splitlines())
    assert all(line in left for line in before), "a later commit only adds lines"


# ---------------------------------------------------------------- small inputs that break memory systems


class Telling(EchoModel):
    """Gives the titles that a test wants, one a rollout."""

    def __init__(self, titles: dict[str, str]) -> None:
        super().__init__()
        self.titles = titles

    async def answer(self, request: Any) -> Answer[Any]:
        found = await super().answer(request)
        if request.task == EXTRACTION:
            title = self.titles[request.material.rollout.id]
            return Answer(found.value.model_copy(update={"task": title, "slug": title}), found.usage)
        return found


def test_titles_of_any_kind_share_no_file(tmp_path: Path) -> None:
    titles = ["大语言模型概述", "断路器自动恢复", "Fix-Login", "t" * 81, "", "🚀", "🎯", "   ", "CON", "a/b\\c:d?"]
    names = {f"chat-{n}": title for n, title in enumerate(titles)}
    for name in names:
        tell(tmp_path, f"said in {name}", rollout=name)
    process(tmp_path, Telling(names))
    folder = tmp_path / "memories" / "rollout_summaries"
    files = sorted(path.name for path in folder.iterdir())
    assert len(files) == len(titles) == len({name.casefold() for name in files})
    for stem in names:
        (own,) = [path for path in folder.iterdir() if path.name.startswith(f"{stem}_")]
        assert re.fullmatch(r"[a-z0-9-]+_[a-z0-9-]{1,60}\.md", own.name)
        assert f"rollout_id: {stem}\n" in own.read_text(encoding="utf-8")
        assert state(tmp_path).rollouts[stem].summary_file == f"rollout_summaries/{own.name}"
    agree(tmp_path)


class Correcting(EchoModel):
    """Knows one subject: what is said of it later replaces what was said before."""

    async def answer(self, request: Any) -> Answer[Any]:
        if request.task == EXTRACTION:
            return await super().answer(request)
        operations = []
        for n, candidate in enumerate(request.material.candidates, 1):
            about = candidate.text.split(" is ")[0]
            old = [f"r{k}" for k, r in enumerate(request.material.records, 1) if r.text.startswith(f"{about} is ")]
            operations.append(DraftOperation(op="supersede" if old else "add", candidates=[f"c{n}"], records=old))
        return Answer(ConsolidationDraft(operations=operations), Usage(1, 1, 1))


def test_a_correction_leaves_one_fact_and_both_dates(tmp_path: Path) -> None:
    day = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)
    for n, text in enumerate(["Device A is a Synology", "Device A is fnOS now"]):
        now = day + timedelta(days=7 * n)
        line = pipeline(tmp_path, now=lambda now=now: now)
        model = Correcting()

        async def go(line: Pipeline = line, text: str = text, n: int = n, model: Any = model) -> None:
            await line.record(said(text, rollout=f"chat-{n}"))
            await line.process((model, model), LIMITS)

        run(go())
    assert texts(tmp_path) == {"Device A is fnOS now"}
    summary = (tmp_path / "memories" / "memory_summary.md").read_text(encoding="utf-8")
    assert "fnOS" in summary and "Synology" not in summary
    with open_memory(tmp_path) as memory:
        (record,) = memory.records()
        reason = memory.why(record.id)
    (old,) = reason.replaced
    assert old.text == "Device A is a Synology" and old.status is Status.SUPERSEDED
    assert old.created_at.startswith("2026-03-01") and reason.record.created_at.startswith("2026-03-08")
    process(tmp_path, Correcting(), again=True)
    assert texts(tmp_path) == {"Device A is fnOS now"}


def heard(root: Path, *items: dict[str, Any], rollout: str = "chat") -> None:
    """A run whose items are these, and nothing else."""
    capture = RunCapture(
        rollout, "conversation", list(items), [], None, [], {"terminal_state": "completed"}, "A", False
    )
    run(pipeline(root).record(capture))


class Quoting(EchoModel):
    """Proposes every line of every item, whoever said it, as a memory that is a quote of itself."""

    async def answer(self, request: Any) -> Answer[Any]:
        if request.task != EXTRACTION:
            return await super().answer(request)
        lines = [
            (f"s{n}.{item.index}", line.strip("- ").split(" ^m-")[0])
            for n, segment in enumerate(request.material.rollout.segments, 1)
            for item in segment.items
            for line in item.text.splitlines()
            if line.strip("- ")
        ]
        memories = [MemoryDraft(kind="fact", text=t, quotes=[QuoteDraft(item=at, text=t)]) for at, t in lines]
        draft = ExtractionDraft(task="T", slug="t", summary="S.", raw_memory="R.", memories=memories)
        return Answer(draft, Usage(1, 1, 1))


def test_memory_does_not_feed_on_itself(tmp_path: Path) -> None:
    tell(tmp_path, PORT, TABS)
    process(tmp_path)
    before = state(tmp_path)
    told = run(pipeline(tmp_path).briefing())
    for n, command in enumerate(("cat memories/MEMORY.md", "rg port memories/", "cat memories/memory_summary.md")):
        shown = handbook(tmp_path).read_text(encoding="utf-8") if n == 0 else told
        heard(
            tmp_path,
            {"role": "system", "content": told},
            {
                "type": "function_call",
                "name": "exec_command",
                "call_id": "c",
                "arguments": json.dumps({"cmd": command}),
            },
            {"type": "function_call_output", "call_id": "c", "output": shown},
            rollout=f"reading-{n}",
        )
    process(tmp_path, Quoting())
    after = state(tmp_path)
    found = {record.text for record in after.visible().values()}
    assert {r.text for r in before.visible().values()} <= found
    for record in before.records.values():
        now = after.records[record.id]
        assert (now.evidence, now.updated, now.support) == (record.evidence, record.updated, record.support)
    assert len([text for text in found if "8443" in text]) == 1 == len([text for text in found if "tabs" in text])


def test_a_long_line_stays_whole_on_disk(tmp_path: Path) -> None:
    long = "the deploy steps are " + ", ".join(f"step {n} with its own words" for n in range(200))
    handbook(tmp_path).parent.mkdir()
    handbook(tmp_path).write_text(f"# Mine\n\n- {long}\n", encoding="utf-8")
    tell(tmp_path, "the deploy steps are many")
    process(tmp_path)
    tell(tmp_path, "and the deploy steps are long")
    process(tmp_path)
    agree(tmp_path)
    assert long in texts(tmp_path)
    assert f"- {long} ^m-" in handbook(tmp_path).read_text(encoding="utf-8")


def test_the_same_conversation_twice_is_no_line_twice(tmp_path: Path) -> None:
    tell(tmp_path, PORT, TABS, rollout="one")
    process(tmp_path)
    copy = tmp_path / "sessions" / "two.jsonl"
    copy.write_bytes((tmp_path / "sessions" / "one.jsonl").read_bytes())
    process(tmp_path)
    process(tmp_path, again=True)
    items = [item.text for item in Document.parse(handbook(tmp_path).read_bytes()).items]
    assert sorted(items) == sorted([PORT, TABS])
    agree(tmp_path)


@pytest.mark.parametrize("jump", [timedelta(days=1), timedelta(hours=-1)], ids=["asleep", "set-back"])
def test_order_is_not_by_the_clock(tmp_path: Path, jump: timedelta) -> None:
    start = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)
    clock: Iterator[datetime] = (start + jump * n for n in count())
    generate = MemoryGenerateConfig(max_raw_memories=2)

    async def go(text: str, rollout: str) -> None:
        line = pipeline(tmp_path, generate, now=lambda: next(clock))
        await line.record(said(text, rollout=rollout))
        model = EchoModel()
        await line.process((model, model), LIMITS)

    for n in range(4):
        run(go(f"said in conversation {n}", f"chat-{n}"))
    agree(tmp_path)
    assert texts(tmp_path) == {"said in conversation 2", "said in conversation 3"}
    ordinals = [commit.ordinal for commit in _commits(tmp_path)]
    assert ordinals == list(range(1, len(ordinals) + 1))
    run(go("and once more", "chat-0"))
    assert texts(tmp_path) == {"said in conversation 0", "and once more", "said in conversation 3"}


class Slow(EchoModel):
    """Answers about older conversations last."""

    async def answer(self, request: Any) -> Answer[Any]:
        import asyncio

        if request.task == EXTRACTION:
            await asyncio.sleep(0.05 * (6 - int(request.material.rollout.id[-1])))
        return await super().answer(request)


def test_recency_is_the_conversations_not_the_models(tmp_path: Path) -> None:
    for n in range(6):
        tell(tmp_path, f"said in conversation {n}", rollout=f"chat-{n}")
    process(tmp_path, Slow(), MemoryGenerateConfig(max_raw_memories=2))
    assert texts(tmp_path) == {"said in conversation 4", "said in conversation 5"}
    assert state(tmp_path).selection() == ["chat-5", "chat-4"]


def test_what_is_pending_is_consolidated_in_order(tmp_path: Path) -> None:
    for n, text in enumerate(["Device A is a Synology", "Device A is fnOS now"]):
        tell(tmp_path, text, rollout=f"chat-{n}")

    class Both(Slow, Correcting):
        pass

    seen: list[str] = []

    class Seeing(Both):
        async def answer(self, request: Any) -> Answer[Any]:
            if request.task == CONSOLIDATION:
                seen.extend(candidate.text for candidate in request.material.candidates)
            return await super().answer(request)

    process(tmp_path, Seeing())
    assert seen == ["Device A is a Synology", "Device A is fnOS now"]


@pytest.mark.parametrize("model", ["offline", "echo"])
def test_a_memory_is_in_the_language_it_was_said_in(tmp_path: Path, model: str) -> None:
    text = "以后部署前先运行 `make check`，端口用 8443，不要用 8080。"
    tell(tmp_path, text)
    generate = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")
    if model == "offline":
        run(pipeline(tmp_path, generate).process(choose(generate), LIMITS))
    else:
        process(tmp_path)
    agree(tmp_path)
    found = " ".join(texts(tmp_path))
    assert "部署前先运行" in found and "make check" in found
    assert "\\u" not in (tmp_path / "sessions" / "chat.jsonl").read_text(encoding="utf-8")


class Full(LocalWorkspace):
    """A disk that is full from the n-th replacement on."""

    left = 0

    async def transact(self, steps: Any, **options: Any) -> Any:
        from sandbox_memory.errors import WorkspaceError
        from sandbox_memory.workspace import Replace

        for step in steps:
            if isinstance(step, Replace) and step.required:
                raise WorkspaceError(step.path, "No space left on device")
        return await super().transact(steps, **options)


def test_an_extraction_that_cannot_be_written_stays_pending(tmp_path: Path) -> None:
    tell(tmp_path, PORT)
    line = Pipeline(Full(tmp_path), layout(), generate=MemoryGenerateConfig())
    model = EchoModel()
    report = run(line.process((model, model), LIMITS))
    assert "chat.md" in report.failed["chat"] and "No space left" in report.failed["chat"]
    process(tmp_path)
    assert texts(tmp_path) == {PORT}
