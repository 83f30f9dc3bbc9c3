"""What the tests of workspaces share: short calls, a transaction that covers everything, writers that compete."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

from sandbox_memory.errors import Conflict
from sandbox_memory.workspace import ABSENT, Append, Ask, Mark, Outcome, Remove, Replace, View, Workspace, digest

LOCK = "memories/.lock"


def look(workspace: Workspace, *asks: Ask | str, folders: Sequence[str] = ()) -> View:
    return asyncio.run(workspace.look(asks, folders))


def transact(workspace: Workspace, *steps: Append | Replace | Remove, timeout: float = 5.0) -> Outcome:
    return asyncio.run(workspace.transact(steps, lock=LOCK, timeout=timeout))


def everything(root: Path) -> dict[str, bytes]:
    """All regular files, without the lock and its folder."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".lock" not in path.as_posix()
    }


def put(root: Path, path: str, data: bytes = b"") -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
    return root / path


async def append_lines(workspace: Workspace, who: str, count: int) -> None:
    """Append that many lines, each guarded by the mark of the file as it was just read."""
    for number in range(count):
        while True:
            content = (await workspace.look(["memories/ledger.jsonl"])).files.get("memories/ledger.jsonl", b"")
            line = f"{who} {number} after {content.count(10)}\n".encode()
            try:
                step = Append("memories/ledger.jsonl", line, expect=Mark.of(content))
                await workspace.transact([step], lock=LOCK, timeout=30)
                break
            except Conflict:
                continue


def check_lines(root: Path, counts: dict[str, int]) -> None:
    lines = (root / "memories/ledger.jsonl").read_text().splitlines()
    assert len(lines) == sum(counts.values())
    for position, line in enumerate(lines):
        assert line.endswith(f" after {position}")
    for who, count in counts.items():
        numbers = [int(line.split()[1]) for line in lines if line.split()[0] == who]
        assert numbers == list(range(count))


LINE = b"y" * 3000 + b"\n"
STEPS = (
    Append("memories/ledger.jsonl", LINE, expect=Mark.of(b"torn")),
    Append("sessions/new.jsonl", LINE, expect=Mark.of(b"")),
    Replace("memories/MEMORY.md", b"new" * 1000, digest(b"old" * 1000)),
    Replace("memories/plain.md", b"new" * 1000),
    Replace("memories/raw/new.md", b"new" * 1000, ABSENT),
    Remove("memories/gone.md", digest(b"old" * 1000)),
)
OLD = {
    "memories/ledger.jsonl": b"torn",
    "memories/MEMORY.md": b"old" * 1000,
    "memories/plain.md": b"old" * 1000,
    "memories/gone.md": b"old" * 1000,
}
NEW = {
    "memories/ledger.jsonl": b"torn\n" + LINE,
    "sessions/new.jsonl": LINE,
    "memories/MEMORY.md": b"new" * 1000,
    "memories/plain.md": b"new" * 1000,
    "memories/raw/new.md": b"new" * 1000,
}


def start_over(root: Path) -> None:
    shutil.rmtree(root)
    for path, data in OLD.items():
        put(root, path, data)


def check_old_or_new(root: Path) -> None:
    """Each file is as before or as after, in the order of the steps; empty counts as not there yet."""
    found = {path: data for path, data in everything(root).items() if ".sandbox-memory-" not in path and data}
    assert set(found) <= set(OLD) | set(NEW)
    done = [found.get(step.path) == NEW.get(step.path) for step in STEPS]
    for step, is_done in zip(STEPS, done, strict=True):
        assert is_done or found.get(step.path) == OLD.get(step.path), step.path
    assert done == sorted(done, reverse=True)


async def finish(workspace: Workspace) -> None:
    """What the next process does: whatever is not done yet, by looking at the files."""
    view = await workspace.look([step.path for step in STEPS])
    steps: list[Append | Replace | Remove] = []
    for step in STEPS:
        content = view.files.get(step.path, b"")
        if isinstance(step, Append):
            if not content.endswith(step.data):
                steps.append(Append(step.path, step.data, Mark.of(content)))
        elif isinstance(step, Replace):
            steps.append(Replace(step.path, step.data))
        else:
            steps.append(Remove(step.path))
    await workspace.transact([*steps, Append("memories/end", b"x\n")], lock=LOCK)
