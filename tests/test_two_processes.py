"""Two processes on one workspace, locally and through a slow session without a host path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.ledger import Commit, Ledger, Operation, encode
from sandbox_memory.pipeline import Pipeline, commands
from sandbox_memory.workspace.local import LocalWorkspace
from sandbox_memory.workspace.session import SessionWorkspace

from .killing import started
from .kit import LIMITS, EchoModel, agree, layout, process, run, said, tell, texts
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
