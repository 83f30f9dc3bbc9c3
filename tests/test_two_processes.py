"""Two processes on one workspace, locally and through a slow session without a host path."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.folding import fold
from sandbox_memory.ledger import Commit, Ledger, Operation, encode, parse
from sandbox_memory.pipeline import Pipeline, commands, vouching
from sandbox_memory.pipeline.settle import Change
from sandbox_memory.workspace import TAIL
from sandbox_memory.workspace.local import LocalWorkspace
from sandbox_memory.workspace.session import SessionWorkspace

from .killing import started
from .kit import LIMITS, EchoModel, agree, layout, process, run, said, state, tell, texts
from .shell_session import ShellSession
from .test_kills import said_in

LATENCY = 0.05


class SlowSession(ShellSession):
    """Every call takes 50 ms longer."""

    async def exec(self, *command, **kwargs):  # type: ignore[no-untyped-def]
        await asyncio.sleep(LATENCY)
        return await super().exec(*command, **kwargs)

    async def write(self, path, data):  # type: ignore[no-untyped-def]
        await asyncio.sleep(LATENCY)
        await super().write(path, data)


def local(root: Path) -> Pipeline:
    return Pipeline(LocalWorkspace(root), layout(), generate=MemoryGenerateConfig())


def remote(root: Path) -> Pipeline:
    return Pipeline(SessionWorkspace(SlowSession(), str(root)), layout(), generate=MemoryGenerateConfig())


def writer(open_: Callable[[Path], Pipeline], root: Path, who: str) -> Callable[[Callable[[object], None]], None]:
    """50 segments into a rollout that both processes share, and 8 facts."""

    def work(acknowledge: Callable[[object], None]) -> None:
        async def go() -> None:
            line = open_(root)
            for n in range(50):
                await line.record(said(f"{who} said thing {n}", rollout="shared"))
                if n % 6 == 5:
                    await commands.add(line, f"{who} knows fact {n // 6}")
            acknowledge("done")

        run(go())

    return work


@pytest.mark.timeout(240)
@pytest.mark.parametrize("open_", [local, remote])
def test_nothing_lost_and_nothing_twice(open_: Callable[[Path], Pipeline], tmp_path: Path) -> None:
    finish = [started(writer(open_, tmp_path, who)) for who in ("one", "two")]
    for wait in finish:
        received, killed = wait()
        assert received == ["done"] and not killed
    spoken = said_in(tmp_path)
    assert len(spoken) == 100 and len(set(spoken)) == 100
    facts = {f"{who} knows fact {n}" for who in ("one", "two") for n in range(8)}
    assert texts(tmp_path) == facts
    agree(tmp_path)


@pytest.mark.timeout(240)
def test_both_close_at_once(tmp_path: Path) -> None:
    for n in range(4):
        tell(tmp_path, f"thing {n} is so", rollout=f"chat-{n}")

    def close(acknowledge: Callable[[object], None]) -> None:
        process(tmp_path)

    for wait in [started(close), started(close)]:
        assert not wait()[1]
    assert texts(tmp_path) == {f"thing {n} is so" for n in range(4)}
    agree(tmp_path)


def grown(root: Path, memories: int) -> None:
    """A consolidated memory of that many records, each from a conversation of its own."""
    operations = [
        Operation("extract", f"chat-{n}", {"consumed": 3, "summary_file": "", "updated_at": ""})
        for n in range(memories)
    ]
    operations += [
        Operation(
            "add",
            f"m-{n:010x}",
            {"kind": "fact", "trust": "user", "support": [f"chat-{n}"]},
            {"text": f"thing {n} is so", "group": "Notes", "section": "Reusable knowledge"},
        )
        for n in range(memories)
    ]
    lines, _ = encode(Ledger(), [Commit(1, "2026-09-01T09:00:00+00:00", "consolidation", tuple(operations))])
    for name in ("memories/raw_memories", "sessions"):
        (root / name).mkdir(parents=True)
    (root / "memories" / "ledger.jsonl").write_bytes(lines)
    for n in range(memories):
        (root / "sessions" / f"chat-{n}.jsonl").write_text("{}\n")
    process(root, generate=MemoryGenerateConfig(max_raw_memories=4096))


def calls(root: Path) -> dict[str, int]:
    """Session calls of an open, of a run, and of a close with one new rollout."""
    session = ShellSession()
    counts: dict[str, int] = {}

    async def go() -> None:
        generate = MemoryGenerateConfig(max_raw_memories=4096)
        line = Pipeline(SessionWorkspace(session, str(root)), layout(), generate=generate)
        for name, step in (
            ("open", line.open),
            ("briefing", line.briefing),
            ("run", lambda: line.record(said("one new thing", rollout="new"))),
            ("close", lambda: line.process((EchoModel(), EchoModel()), LIMITS, actor="live")),
        ):
            before = len(session.calls)
            await step()
            counts[name] = len(session.calls) - before

    run(go())
    return counts


@pytest.mark.timeout(240)
def test_calls_do_not_grow_with_memory(tmp_path: Path) -> None:
    grown(tmp_path / "small", 10)
    grown(tmp_path / "large", 4000)
    small, large = calls(tmp_path / "small"), calls(tmp_path / "large")
    assert small == large
    assert small["open"] <= 3 and small["briefing"] == 0 and small["run"] <= 2 and small["close"] <= 14
    print(f"session calls at 10 and at 4,000 memories: {small}")


# ---------------------------------------------------------------- a ledger that is read on from where it was


def filled(root: Path, word: str = "fact") -> Pipeline:
    """A pipeline that has read a ledger much longer than the tail that it looks at again."""
    root.mkdir(exist_ok=True)
    line = local(root)
    run(line.adopt())
    for n in range(20):
        run(commands.add(line, f"{word} number {n:02d} holds"))
    assert len(line.store.ledger.data) > 2 * TAIL
    return line


def whole(root: Path, line: Pipeline) -> None:
    """Assert that what the pipeline holds is what its file says, read from the start."""
    run(line.adopt())
    agree(root)
    read = parse((root / "memories" / "ledger.jsonl").read_bytes())
    assert line.store.ledger.data == read.data and line.store.ledger.lines == read.lines
    assert [replace(commit, digest="") for commit in line.store.ledger.commits] == [
        replace(commit, digest="") for commit in read.commits
    ]
    assert fold(line.store.ledger) == fold(read) and line.store.ledger.head == read.head


@pytest.mark.parametrize("after", [0, 1, 9])
def test_a_forget_by_another_process_is_seen(tmp_path: Path, after: int) -> None:
    """The file has another length after it, or by what came since is much longer than it was."""
    line, other = filled(tmp_path), local(tmp_path)
    size = len(line.store.ledger.data)
    ids = [id for id, record in state(tmp_path).records.items() if "number 0" in record.text][:5]
    run(commands.forget(other, ids))
    for n in range(after):
        run(commands.add(other, f"later {n} by the other"))
    now = (tmp_path / "memories" / "ledger.jsonl").stat().st_size
    assert now > size if after == 9 else now != size
    run(commands.add(line, "one more"))
    whole(tmp_path, line)
    words = (tmp_path / "memories" / "ledger.jsonl").read_text(encoding="utf-8")
    assert not any(f"number {n:02d}" in words for n in range(5))
    assert texts(tmp_path) == {f"fact number {n:02d} holds" for n in range(5, 20)} | {"one more"} | {
        f"later {n} by the other" for n in range(after)
    }


@pytest.mark.parametrize("few", [False, True])
def test_another_ledger_of_the_same_length_is_seen(tmp_path: Path, few: bool) -> None:
    """Also by a process that has shown the old one, and finds the markdown as it left it."""
    if few:
        lines = [local(tmp_path / name) for name in ("one", "two")]
        for line, word in zip(lines, ("fact", "news"), strict=True):
            (tmp_path / ("one" if word == "fact" else "two")).mkdir()
            run(commands.add(line, f"{word} number 00 holds"))
        line = lines[0]
    else:
        line = filled(tmp_path / "one", "fact")
        filled(tmp_path / "two", "news")
    run(line.adopt())
    here, there = (tmp_path / name / "memories" / "ledger.jsonl" for name in ("one", "two"))
    assert here.stat().st_size == there.stat().st_size
    here.write_bytes(there.read_bytes())
    run(vouching.vouch(line))  # it is another than was written here: nothing is taken in before that
    whole(tmp_path / "one", line)
    assert "fact number 00 holds" in texts(tmp_path / "one"), (
        "what stands in the file is a person's, of whatever ledger"
    )


@pytest.mark.parametrize("more", [b"", b"\n", b'\n{"commit": [], "operations": 7}\n'])
def test_a_torn_line_of_another_process_is_passed_over(tmp_path: Path, more: bytes) -> None:
    line = filled(tmp_path)
    path = tmp_path / "memories" / "ledger.jsonl"
    last = path.read_bytes().splitlines()[-1]
    with path.open("ab") as file:
        file.write(last[: len(last) // 2] + more)
    run(line.adopt())
    run(commands.add(local(tmp_path), "by another"))
    run(commands.add(line, "by the first"))
    run(line.adopt())
    read = parse(path.read_bytes())
    assert line.store.ledger.data == read.data and line.store.ledger.lines == read.lines
    assert fold(line.store.ledger) == fold(read)
    assert texts(tmp_path) == {f"fact number {n:02d} holds" for n in range(20)} | {"by another", "by the first"}
    assert all("not a ledger line" in problem.what for problem in read.problems)


def test_what_another_task_appends_during_a_look_is_taken_in_once(tmp_path: Path) -> None:
    class Slow(LocalWorkspace):
        armed = False

        async def look(self, asks, folders=()):  # type: ignore[no-untyped-def]
            if not self.armed:
                return await super().look(asks, folders)
            self.armed = False
            await line.store.append(lambda now: note("before"))
            view = await super().look(asks, folders)
            await line.store.append(lambda now: note("after"))
            return view

    def note(id: str) -> Change:
        return Change("extraction", (Operation("consume", id, {"consumed": 0}),))

    filled(tmp_path)
    workspace = Slow(tmp_path)
    line = Pipeline(workspace, layout(), generate=MemoryGenerateConfig())
    run(line.adopt())

    async def work() -> None:
        workspace.armed = True
        await line.store.see()
        await line.store.append(lambda now: note("last"))

    run(work())
    whole(tmp_path, line)
    assert {"before", "after", "last"} <= fold(line.store.ledger).rollouts.keys()


@pytest.mark.parametrize("name", ["MEMORY.md", "memory_summary.md"])
def test_an_edit_of_the_same_size_and_time_is_taken_in(tmp_path: Path, name: str) -> None:
    """A process that left the files as they are looks at what they say, not at when they were written."""
    line = filled(tmp_path)
    run(line.adopt())
    path = tmp_path / "memories" / name
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"number 07 holds", b"number 70 holds"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size and path.stat().st_mtime_ns == before.st_mtime_ns
    run(line.adopt())
    assert "fact number 70 holds" in texts(tmp_path) and "fact number 07 holds" not in texts(tmp_path)
    whole(tmp_path, line)


def test_an_answer_of_the_same_size_and_time_is_taken_in(tmp_path: Path) -> None:
    line = filled(tmp_path)
    path = tmp_path / "memories" / "MEMORY.md"
    kept = [each for each in path.read_text(encoding="utf-8").splitlines(keepends=True) if "number 0" not in each]
    path.write_text("".join(kept), encoding="utf-8")
    run(line.adopt())
    asked = tmp_path / "memories" / "INBOX.md"
    before = asked.stat()
    asked.write_bytes(asked.read_bytes().replace(b"- [ ]", b"- [x]"))
    os.utime(asked, ns=(before.st_atime_ns, before.st_mtime_ns))
    run(line.adopt())
    assert not state(tmp_path).proposals and texts(tmp_path) == {f"fact number {n} holds" for n in range(10, 20)}


def test_two_threads_fold_one_ledger(tmp_path: Path) -> None:
    ledger = filled(tmp_path).store.ledger
    wanted = [fold(ledger, n).ordinal for n in range(len(ledger) + 1)]

    def work(seed: int) -> bool:
        order = random.Random(seed).choices(range(len(ledger) + 1), k=400)
        return all(fold(ledger, n).ordinal == wanted[n] for n in order)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(work, range(4)))
    finally:
        sys.setswitchinterval(before)
