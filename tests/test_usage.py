"""What runs make of memory is counted beside the ledger: cheaply, by many processes, trusting nothing in the file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import Runner
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory import Memory, MemoryGenerateConfig
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.layout import Layout
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.records import Kind, Record, Status
from sandbox_memory.usage import FILE, GROWN, LARGEST, LISTED, Noticed, Use, compacted, last_used, noticed, read
from sandbox_memory.workspace.local import LocalWorkspace

from .kit import LIMITS, EchoModel, handbook, pipeline, process, run, said, state, tell
from .scripted import agent, config, session_in, shell

NOW = "2027-01-02T00:00:00.000+00:00"
BEFORE = "2027-01-01T00:00:00.000+00:00"
ONE, TWO = "m-0000000001", "m-0000000002"


def usage(root: Path) -> Path:
    return root / "memories" / FILE


def counted(root: Path) -> dict[str, Use]:
    return read(usage(root).read_bytes(), "9999") if usage(root).exists() else {}


def record(id: str, text: str) -> Record:
    return Record(id, Kind.FACT, text, "G")


def says(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def shows(text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": "c", "output": text}


def calls(text: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": json.dumps({"cmd": text})}


# ---------------------------------------------------------------- what is noticed

PORT = record(ONE, "The staging port is 8443.")
DIFF = record(TWO, "发布前先把差异给我看")


@pytest.mark.parametrize(
    ("item", "cited"),
    [
        (says("As noted, the staging port is 8443."), {ONE}),
        (says("The server of staging listens on port 8443 now. Anything else?"), {ONE}),
        (says("Done, see m-0000000001."), {ONE}),
        (calls("curl http://staging:8443 # the port of staging"), {ONE}),
        (says("好的，发布前先把差异给你看。"), {TWO}),
        (says("The port of production is 8443."), set()),
        (says("I restarted staging. It has another port. 8443 is free."), set()),
        (says("发布已经完成"), set()),
        (says("see xm-0000000001 and m-00000000012"), set()),
        ({"type": "reasoning", "summary": "The staging port is 8443."}, set()),
        (shows("The staging port is 8443."), set()),
    ],
)
def test_what_cites_a_record(item: dict[str, Any], cited: set[str]) -> None:
    assert noticed([item], {ONE: PORT, TWO: DIFF}).cited == cited


def test_a_search_shows_lines_with_their_ids_and_a_listing_is_none() -> None:
    line = "- The staging port is 8443. [Task 1] ^m-0000000001\n"
    assert noticed([shows(line)], {}).searched == {ONE}
    assert noticed([{**shows(""), "output": [{"type": "input_text", "text": line}]}], {}).searched == {ONE}
    whole = "".join(f"- line {n} ^m-{n:010x}\n" for n in range(LISTED + 1))
    assert noticed([shows(whole)], {}).searched == set()
    assert noticed([shows("no id here: m-123")], {}).searched == set()


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "role", "content", "output", "arguments"]),
            st.none()
            | st.text()
            | st.integers()
            | st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text())),
        )
    )
)
def test_no_item_breaks_it(items: list[dict[str, Any]]) -> None:
    noticed(items, {ONE: PORT})


# ---------------------------------------------------------------- the file


def test_lines_add_up_and_only_use_has_a_time() -> None:
    lines = [
        Noticed(injected=frozenset({ONE, TWO})).line(BEFORE),
        Noticed(injected=frozenset({ONE}), searched=frozenset({ONE})).line(BEFORE),
        Noticed(cited=frozenset({ONE})).line(NOW),
    ]
    assert read(b"".join(lines), NOW) == {ONE: Use(2, 1, 1, NOW), TWO: Use(1, 0, 0, "")}
    assert last_used(read(b"".join(lines), NOW)) == {ONE: NOW}
    assert Noticed().line(NOW) == b""


@pytest.mark.parametrize(
    "line",
    [
        b"\x00\xff garbage",
        b"[]",
        b"null",
        b'{"at":"' + NOW.encode() + b'","cited":["m-0000000002"',
        b'{"at":"' + NOW.encode() + b'","cited":[7,"not an id",null]}',
        b'{"at":"never","cited":["m-0000000002"]}',
        b'{"cited":17}',
        b'{"uses":{"m-0000000002":[-1,0,0,""]}}',
        b'{"uses":{"m-0000000002":[1,2]}}',
        b'{"uses":{"m-0000000002":[true,0,0,""]}}',
        b'{"uses":["m-0000000002"]}',
        b"[" * 5_000,
    ],
)
def test_a_line_that_is_none_is_passed_over(line: bytes) -> None:
    good = Noticed(cited=frozenset({ONE})).line(BEFORE)
    assert read(good + line + b"\n" + good, NOW) == {ONE: Use(0, 0, 2, BEFORE)}


def test_a_use_in_the_future_keeps_nothing_for_ever() -> None:
    forged = Noticed(cited=frozenset({ONE})).line("9999-01-01T00:00:00.000+00:00")
    assert last_used(read(forged, NOW)) == {}


@given(st.binary(max_size=300))
def test_no_file_breaks_it(data: bytes) -> None:
    read(data, NOW)
    compacted(data * 200, NOW, [ONE])


def test_a_file_that_has_grown_becomes_one_line_with_the_same_counts() -> None:
    data = b"".join(Noticed(frozenset({ONE, TWO}), frozenset({ONE})).line(BEFORE) for _ in range(400))
    assert len(data) > GROWN
    small = compacted(data, NOW, [ONE])
    assert read(small, NOW) == {ONE: read(data, NOW)[ONE]} and small.count(b"\n") == 1
    more = small + Noticed(cited=frozenset({ONE})).line(NOW)
    assert read(more, NOW)[ONE] == Use(400, 400, 1, NOW) and compacted(more, NOW, [ONE]) == more


# ---------------------------------------------------------------- in a workspace


def test_runs_are_counted_with_what_they_were_told_searched_and_cited(tmp_path: Path) -> None:
    tell(tmp_path, "The staging port is 8443.", "The wiki is at wiki.example.", rollout="one")
    process(tmp_path)
    ids = {record.text: record.id for record in state(tmp_path).records.values()}
    port, wiki = ids["The staging port is 8443."], ids["The wiki is at wiki.example."]

    async def work() -> None:
        helper = agent(shell("grep -n wiki memories/MEMORY.md"), "The staging port is 8443, I think.", memory=Memory())
        session = await session_in(tmp_path)
        async with session:
            await Runner.run(helper, "Which port?", run_config=config(session, group_id="two"))
            await Runner.run(
                helper.clone(model=agent("Sure.").model), "Ok?", run_config=config(session, group_id="two")
            )
            assert counted(tmp_path)[port] == Use(2, 0, 1, counted(tmp_path)[port].last), "written with the run"

    asyncio.run(work())
    assert (counted(tmp_path)[wiki].injected, counted(tmp_path)[wiki].searched) == (2, 1)
    assert usage(tmp_path).stat().st_mode & 0o777 == 0o600


def test_it_costs_no_call_of_its_own(tmp_path: Path) -> None:
    tell(tmp_path, "The staging port is 8443.", rollout="one")
    process(tmp_path)
    calls: list[str] = []

    class Watched(LocalWorkspace):
        async def look(self, *args: Any, **more: Any) -> Any:
            calls.append("look")
            return await super().look(*args, **more)

        async def transact(self, steps: Any, **more: Any) -> Any:
            calls.append("transact " + " ".join(sorted({step.path.rsplit("/")[-1] for step in steps})))
            return await super().transact(steps, **more)

    async def work() -> None:
        line = Pipeline(Watched(tmp_path), Layout.of("memories", "sessions"), generate=MemoryGenerateConfig())
        await line.briefing()
        await line.briefing()
        calls.clear()
        await line.record(said("Hello.", rollout="two", answer="The staging port is 8443."))

    run(work())
    (transaction,) = (call for call in calls if call != "look")
    assert FILE in transaction and "jsonl" in transaction.replace(FILE, "")


def test_what_only_reads_writes_nothing(tmp_path: Path) -> None:
    tell(tmp_path, "The staging port is 8443.", rollout="one")
    process(tmp_path)

    async def work() -> None:
        line = Pipeline(LocalWorkspace(tmp_path), Layout.of("memories", "sessions"), generate=None)
        assert "8443" in await line.briefing()
        await line.record(said("Hello.", answer="The staging port is 8443."))

    run(work())
    assert not usage(tmp_path).exists()


def test_several_processes_lose_no_count(tmp_path: Path) -> None:
    tell(tmp_path, "The staging port is 8443.", rollout="one")
    process(tmp_path)

    async def work() -> None:
        lines = [pipeline(tmp_path) for _ in range(8)]

        async def one(number: int, line: Pipeline) -> None:
            await line.briefing()
            await line.record(said("Hello.", rollout=f"r{number}", answer="The staging port is 8443."))

        await asyncio.gather(*(one(number, line) for number, line in enumerate(lines)))

    run(work())
    (use,) = counted(tmp_path).values()
    assert (use.injected, use.cited) == (8, 8)


SPOILT: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "garbage": lambda path: path.write_bytes(b"\xff\x00" * 1000),
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "huge": lambda path: path.write_bytes(b"x" * (LARGEST + 9)),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link": lambda path: (path.unlink(), path.symlink_to("elsewhere")),
}


@pytest.mark.parametrize("how", SPOILT)
def test_the_file_may_be_anything(tmp_path: Path, how: str) -> None:
    tell(tmp_path, "The staging port is 8443.", rollout="one")
    process(tmp_path)

    async def once(rollout: str) -> None:
        line = pipeline(tmp_path)
        assert "8443" in await line.briefing()
        await line.record(said("Hello.", rollout=rollout, answer="The staging port is 8443."))
        await line.process((EchoModel(), EchoModel()), LIMITS)

    run(once("two"))
    assert counted(tmp_path)
    SPOILT[how](usage(tmp_path))
    run(once("three"))
    assert all(record.status is Status.ACTIVE for record in state(tmp_path).records.values())
    if how not in ("a folder", "a link"):
        run(once("four"))
        assert any(use.cited for use in counted(tmp_path).values()) and usage(tmp_path).stat().st_size < GROWN
    else:
        assert not (tmp_path / "memories" / "elsewhere").exists()
    assert "8443" in handbook(tmp_path).read_text(encoding="utf-8")


def test_why_tells_of_it(tmp_path: Path) -> None:
    tell(tmp_path, "The staging port is 8443.", rollout="one")
    process(tmp_path)

    async def work() -> None:
        line = pipeline(tmp_path)
        await line.briefing()
        await line.record(said("Hello.", rollout="two", answer="The staging port is 8443."))

    run(work())
    (id,) = state(tmp_path).records
    use = OpenMemory(pipeline(tmp_path)).why(id).use
    assert (use.injected, use.searched, use.cited) == (1, 0, 1) and use.last
