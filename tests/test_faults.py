"""Faults around real runs: whatever stands in memory's way, the run and the snapshot are as they are without memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import Memory, MemoryGenerateConfig, open_memory
from sandbox_memory.host import Host
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.workspace.session import SessionWorkspace

from .kit import agree, state
from .recording import run
from .scripted import Scripted, agent, lines, session_in, shell

FACTS = {
    "g0": "Remember: I always review database migrations myself.",
    "g1": "Remember: we never deploy on Fridays.",
    "g2": "Remember: the staging server listens on port 8443.",
}
OUTSIDE = "the word of a file outside, which is nobody's memory"
PATIENCE = 8.0
"""Seconds within which a session with a fault must be through; without one it takes a fifth of a second."""


def offline(**more: Any) -> Memory:
    return Memory(generate=MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline", **more))


@dataclass
class Seen:
    """What a caller sees of a session with one run: the answer, what the agent was told, whether there is a snapshot."""

    output: object = None
    told: str = ""
    snapshot: bool = False
    raised: str = ""
    seconds: float = 0.0


class Bench:
    """A workspace that remembers one conversation, beside a folder that memory has no business in."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder, self.root = folder, root or folder / "workspace"
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "file").write_text(OUTSIDE, encoding="utf-8")
        (self.outside / "folder").mkdir()
        (self.outside / "folder/MEMORY.md").write_text(f"# Task Group: x\n\n- {OUTSIDE}\n", encoding="utf-8")
        (self.outside / "folder/memory_summary.md").write_text(OUTSIDE, encoding="utf-8")
        self.session: Any = None

    async def visit(
        self,
        name: str = "g1",
        *,
        memory: Memory | None,
        during: Callable[[], None] = lambda: None,
        again: bool = False,
    ) -> Seen:
        """One session with one run; `during` happens between the run and the close. `again` enters the same session."""
        snapshots = self.folder / f"snapshots-{time.monotonic_ns()}"
        seen, began = Seen(), time.monotonic()
        acting = agent(shell("echo working"), "ok", memory=memory)
        try:
            if not again:
                self.session = await session_in(self.root, snapshots=snapshots)
            async with self.session:
                seen.output = (await run(acting, FACTS[name], session=self.session, conversation_id=name)).final_output
                during()
        except Exception as error:  # compared with what happens without memory
            seen.raised = type(error).__name__
        seen.told = acting.model.seen[0]["system"] if acting.model.seen else ""  # type: ignore[union-attr]
        seen.snapshot = snapshots.is_dir() and any(snapshots.iterdir())
        seen.seconds = time.monotonic() - began
        return seen

    def stands(self) -> dict[str, Any]:
        return picture(self.outside)


def picture(top: Path) -> dict[str, Any]:
    """All that can be told of a tree without following or opening anything special."""
    found: dict[str, Any] = {}
    for path in [top, *sorted(top.rglob("*"))]:
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        what: Any = None
        if stat.S_ISREG(kind):
            what = path.read_bytes()
        elif stat.S_ISLNK(kind):
            what = os.readlink(path)  # noqa: PTH115
        found[str(path.relative_to(top))] = (status.st_mode, status.st_ino, what)
    return found


def stems(root: Path) -> dict[str, str]:
    """Conversations by the names of their rollout files."""
    return {stem: segments[0]["rollout_id"] for stem, segments in lines(root).items()}


def finished(root: Path, *names: str, extractions: int = 1) -> None:
    """Assert that these conversations are recorded once, extracted, consolidated, and shown."""
    written = lines(root)
    assert sorted(segment["rollout_id"] for segments in written.values() for segment in segments) == sorted(names)
    now = state(root)
    for stem in written:
        assert now.rollouts[stem].consumed == (root / f"sessions/{stem}.jsonl").stat().st_size
        assert now.rollouts[stem].summary_file
        assert (root / "memories" / now.rollouts[stem].summary_file).is_file()
        assert (root / f"memories/raw_memories/{stem}.md").is_file()
    assert not now.pending and not now.failures
    known = [record.text for record in now.visible().values()]
    for name in names:
        fact = FACTS[name].removeprefix("Remember: ").rstrip(".")
        assert sum(fact in text for text in known) == 1, (name, known)
    agree(root)
    merged = (root / "memories/raw_memories.md").read_text(encoding="utf-8")
    assert all(f"rollout_id: {stem}\n" in merged for stem in written)
    from sandbox_memory.ledger import parse

    counts: dict[str, int] = {}
    for commit in parse((root / "memories/ledger.jsonl").read_bytes()).commits:
        for operation in commit.operations:
            if operation.op == "extract":
                counts[operation.id] = counts.get(operation.id, 0) + 1
    assert max(counts.values()) <= extractions, counts


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which memory worked once, to be copied."""
    bench = Bench(tmp_path_factory.mktemp("seed"))
    seen = asyncio.run(bench.visit("g0", memory=offline()))
    assert (seen.output, seen.snapshot) == ("ok", True)
    finished(bench.root, "g0")
    return bench.root


@pytest.fixture
def bench(tmp_path: Path, seed: Path) -> Bench:
    made = Bench(tmp_path)
    shutil.copytree(seed, made.root)
    return made


def same_as_without(seen: Seen, without: Seen) -> None:
    assert (seen.output, seen.snapshot, seen.raised) == (without.output, without.snapshot, without.raised)
    assert seen.seconds < PATIENCE
    assert OUTSIDE not in seen.told


# ---- something else in the place of a file or a folder

FILES = (
    "memories/MEMORY.md",
    "memories/memory_summary.md",
    "memories/INBOX.md",
    "memories/ledger.jsonl",
    "memories/raw_memories.md",
    "memories/phase_two_selection.json",
    "memories/.lock",
    "sessions/g1.jsonl",
    "sessions/g0.jsonl",
    "memories/raw_memories/g1.md",
)
FOLDERS = ("memories", "sessions", "memories/raw_memories", "memories/rollout_summaries", "memories/.open")


def obstruct(bench: Bench, place: str, obstacle: str) -> Callable[[], None]:
    """Put something into that place; what is returned takes it away, puts back what was there, and looks at both."""
    path, aside = bench.root / place, bench.outside / "aside"
    was_there = path.exists()
    if was_there:
        path.rename(aside)
    path.parent.mkdir(parents=True, exist_ok=True)
    if obstacle == "link to a file":
        path.symlink_to(bench.outside / "file")
    elif obstacle == "link to a folder":
        path.symlink_to(bench.outside / "folder")
    elif obstacle == "dangling link":
        path.symlink_to(bench.outside / "not-there")
    elif obstacle == "FIFO":
        os.mkfifo(path)
    elif obstacle == "folder":
        path.mkdir()
        (path / "kept.txt").write_text("kept", encoding="utf-8")
    else:
        path.write_text("a file that somebody needs", encoding="utf-8")
    before = (bench.stands(), picture(path) if path.is_symlink() or not path.is_dir() else picture(path))

    def remove() -> None:
        assert (bench.stands(), picture(path)) == before
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        if was_there:
            aside.rename(path)

    return remove


CASES = [
    (place, obstacle)
    for places, obstacles in (
        (FILES, ("link to a file", "dangling link", "FIFO", "folder")),
        (FOLDERS, ("link to a folder", "dangling link", "FIFO", "file")),
    )
    for place in places
    for obstacle in obstacles
]


@pytest.mark.parametrize(("place", "obstacle"), CASES)
def test_what_stands_in_the_way_costs_nothing_and_is_left_alone(
    bench: Bench, place: str, obstacle: str
) -> None:
    async def go() -> tuple[Seen, Seen]:
        without = await bench.visit(memory=None)
        return without, await bench.visit(memory=offline())

    remove = obstruct(bench, place, obstacle)
    without, seen = asyncio.run(go())
    same_as_without(seen, without)
    assert seen.output == "ok" and seen.snapshot
    remove()
    print(stems(bench.root))
    with open_memory(bench.root) as memory:
        memory.process("offline")
    print(stems(bench.root))
    finished(bench.root, "g0", "g1", extractions=2)
