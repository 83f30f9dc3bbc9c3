"""What a person does to the files of a memory, for the tests that look whether it wins."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from sandbox_memory.document import Document, normalise
from sandbox_memory.models import EXTRACTION, Answer
from sandbox_memory.records import Record
from sandbox_memory.state import State
from sandbox_memory.workspace.local import LocalWorkspace

from .kit import EchoModel, handbook, history, process, state, tell

PORT = "the staging port is 8443"
REVIEW = "I always review migrations myself"
TABS = "never use tabs in this repository"
TOKEN = re.compile(r"H\d+x\d+")
ID = re.compile(r"[ \t]*\^m-[0-9a-f]{10}(?=[ \t]*\r?$)", re.M)
MARKER = re.compile(r"\r?\n*<!-- memory:\d+ -->[ \t]*(?=\r?$)", re.M)


def summary(root: Path) -> Path:
    return root / "memories" / "memory_summary.md"


def inbox(root: Path) -> Path:
    return root / "memories" / "INBOX.md"


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def edit(path: Path, old: str, new: str) -> None:
    text = read(path)
    assert old in text, text
    write(path, text.replace(old, new))


def drop(path: Path, needle: str) -> None:
    write(path, "".join(line for line in read(path).splitlines(keepends=True) if needle not in line))


def bare(text: str) -> str:
    """The text without what is ours in it: block ids, task references and the marker."""
    return re.sub(r"(?: \[Task \d+\])(?:\[Task \d+\])*(?=\s|$)", "", ID.sub("", MARKER.sub("", text)))


def consistent(root: Path) -> State:
    """Assert that ledger and markdown say the same, compared as a formatter leaves it; the state."""
    assert not history(root).problems
    now = state(root)
    document = Document.parse(handbook(root).read_bytes())
    assert document.marker == now.ordinal
    items = [(item.id, item.normal) for item in document.items if item.normal]
    assert len(items) == len(set(items)) == len({id for id, _ in items})
    assert dict(items) == {r.id: normalise(r.text) for r in now.visible().values()}
    return now


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def settled(root: Path, **options: Any) -> None:
    """Assert that taking in what is there once more writes nothing at all."""
    before = files(root)
    process(root, **options)
    assert files(root) == before


def record(root: Path, needle: str) -> Record:
    (found,) = [r for r in state(root).visible().values() if needle in r.text]
    return found


def drop_line(text: str, needle: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if needle not in line)


REWORDINGS: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: f"They said that {text}",
    lambda text: text.upper(),
    lambda text: f"Remember: {text}.",
]


class Renaming(EchoModel):
    """Rewords, renames the subject each time, and quotes with some of the words around."""

    turns = 0

    async def answer(self, request: Any) -> Answer[Any]:
        self.turns += 1
        found = await super().answer(request)
        if request.task == EXTRACTION:
            for memory in found.value.memories:
                memory.subject = f"subject {self.turns} of {len(memory.text)}"
        return found


def decide(root: Path, accept: bool, needle: str = "") -> None:
    lines = read(inbox(root)).splitlines()
    mine = [n for n, line in enumerate(lines) if line.startswith("- [ ]") and needle in line]
    assert len(mine) == 1, lines
    lines[mine[0]] = lines[mine[0]].replace("[ ]", "[x]") if accept else ""
    write(inbox(root), "\n".join([*lines, ""]))
    process(root)


def questions(root: Path) -> int:
    return read(inbox(root)).count("- [ ]")


class Meanwhile(LocalWorkspace):
    """Lets a person save just before a transaction that would show a consolidation."""

    def __init__(self, root: Path, save: Callable[[], None]) -> None:
        super().__init__(root)
        self.save: Callable[[], None] | None = save

    async def transact(self, steps: Any, **options: Any) -> Any:
        if self.save and any(b'"actor":"consolidation"' in getattr(step, "data", b"") for step in steps):
            save, self.save = self.save, None
            save()
        return await super().transact(steps, **options)


@cache
def _made(kind: str) -> Path:
    root = Path(tempfile.mkdtemp(prefix="sandbox-memory-made-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    tell(root, PORT, REVIEW, TABS)
    process(root)
    if kind == "many":
        tell(root, *(f"fact number {n} holds" for n in range(20)), rollout="many")
        process(root)
    return root


def begun(kind: str, at: Path) -> Path:
    """A memory to begin with, made once and copied: three records if `few`, twenty more if `many`."""
    return Path(shutil.copytree(_made(kind), at))
