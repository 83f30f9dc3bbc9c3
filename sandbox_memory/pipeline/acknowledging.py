"""What became of a save whose words are no records: a line for each file, so that nobody wonders whether it counted."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..blocks import split
from ..document import Document
from ..governance.redaction import redact
from ..layout import Layout
from ..ledger import Commit, Operation
from ..skills import file_of
from ..state import State
from ..trusting.signed import is_ours
from . import keeping, legible
from .settle import Prepared
from .store import Store
from .tidying import tidy

logger = logging.getLogger("sandbox_memory")

AROUND = "{} is kept as you saved it; a run is told its list items, and none of them changed"
WORDS = "{} is kept as you saved it; the next run is told the words outside of its block{}"
AS_AGENT = ", as the agent's, since a session is open"
SAME = "{} is kept as you saved it; the words that a run is told did not change"
NO_ANSWER = "{} is kept as you saved it; it answers no question"
RAW = "{} is kept as you wrote it: read again when that conversation goes on; it changes no line of MEMORY.md"
RAWS = "{} and {} more are kept as you wrote them: read again when those conversations go on; MEMORY.md stays as it is"
RAW_GONE = "{} is gone; the lines that it taught stay in MEMORY.md, and `process --again` writes it anew"
SKILL = "{} is yours now: it is never written again, and follows MEMORY.md no more"
SKILL_LIVE = "{} is kept as it was saved, as the agent's, since a session is open; it follows MEMORY.md no more"
SKILL_GONE = "{} stays deleted"
FOREIGN = "{} is kept as you wrote it; this memory did not make it, and leaves it alone"


def of_views(
    layout: Layout, before: Mapping[str, bytes], saved: Mapping[str, bytes], done: Prepared, *, told: bool
) -> Iterator[str]:
    """Lines on `MEMORY.md`, `memory_summary.md` and `INBOX.md`: as they were, and as somebody saved them.

    With `told` the operations of `done` have been told, and only what they leave out is said.
    """
    words = list(of_words(layout, done.ledger.commits[len(done.ledger) - done.committed :]))
    yield from words
    for path, data in saved.items() if not told else ():
        old = before.get(path, b"")
        if legible.set_aside(data) or keeping.missing(data):  # which is told elsewhere
            continue
        if path == layout.handbook:
            if old != data and Document.parse(old).marker == Document.parse(data).marker:
                yield AROUND.format(path)
        elif _own(old) != _own(data) and (path == layout.inbox or not words):
            yield (NO_ANSWER if path == layout.inbox else SAME).format(path)


def of_words(layout: Layout, commits: Sequence[Commit]) -> Iterator[str]:
    """A line on what was written outside of the block of `memory_summary.md`, if these commits took that in."""
    found = [commit for commit in commits if any(operation.op == "prose" for operation in commit.operations)]
    if found:
        yield WORDS.format(layout.summary, AS_AGENT if found[-1].actor == "live" else "")


def of_notes(layout: Layout, root: Path, paths: Sequence[str], state: State) -> Iterator[str]:
    """Lines on raw memories, and on skills that this memory did not make, which were saved or removed by hand."""
    kept: list[str] = []
    for path in paths:
        inside = path.removeprefix(f"{layout.memories_dir}/")
        data = read(root / path)
        if inside.startswith("raw_memories/"):
            stem = inside.removeprefix("raw_memories/").removesuffix(".md")
            if data is None and stem in state.selection():
                yield RAW_GONE.format(path)
            elif data is not None and not is_ours(data):
                if garbled := legible.garbled(path, data):
                    yield f"{garbled}; until then its conversation does not go on"
                else:
                    kept.append(path)
        elif inside.startswith("skills/") and data is not None and inside.split("/")[1] not in state.skills:
            yield FOREIGN.format(path)
    if kept:
        yield (RAW if len(kept) == 1 else RAWS).format(kept[0], len(kept) - 1)


async def tidied(store: Store, actor: str) -> list[str]:
    """Take in what was done to skills and raw memories, with a line on each skill."""
    before = len(store.ledger)
    await tidy(store, actor, None)
    said = []
    for commit in store.ledger.commits[before:]:
        for operation in commit.operations:
            path = store.layout.memory(file_of(operation.id)) if operation.op.endswith("_skill") else ""
            if operation.op == "write_skill" and operation.facts.get("edited"):
                said.append((SKILL_LIVE if commit.actor == "live" else SKILL).format(path))
            elif operation.op == "drop_skill" and operation.facts.get("deleted"):
                said.append(SKILL_GONE.format(path))
    return said


def changes(operations: Sequence[Operation]) -> int:
    """How many changes of a person these are: a question about lines that are among them is none of its own."""
    touched = {operation.id for operation in operations}
    asked = (operation for operation in operations if operation.op == "propose")
    return len(operations) - sum(1 for each in asked if touched.intersection(each.body.get("about", ())))


class Noted:
    """What was taken in of edits whose words are no records: a line for each, until it is told."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.lines: list[str] = []
        self._looked = False

    async def take_in(self, done: Prepared, actor: str) -> None:
        """Note what `done` took in beside records, and once, for an `actor`, take in skills and raw memories too.

        These only in a folder of this machine: elsewhere the next consolidation does it.
        """
        store = self.store
        words = of_words(store.layout, done.ledger.commits[len(done.ledger) - done.committed :])
        known = any(store.layout.summary in line for line in done.said)
        self.lines += [*done.said, *(() if known else words)]
        if self._looked or not actor or store.root is None or not done.state.ordinal:
            return
        self._looked = True
        raw = _edited_notes(store.layout, store.root, done.state)
        if raw or any(_stirred(store.layout, store.root, done.state)):
            self.lines += [*of_notes(store.layout, store.root, raw, done.state), *await tidied(store, actor)]

    def taken(self) -> list[str]:
        """The lines so far; they count as told then."""
        lines, self.lines = list(dict.fromkeys(self.lines)), []
        return lines


def _edited_notes(layout: Layout, root: Path, state: State) -> list[str]:
    """The raw memories that a person wrote in, and that `raw_memories.md` does not show yet."""
    merged, found = root / layout.memory("raw_memories.md"), []
    try:
        since = merged.stat().st_mtime_ns
        with os.scandir(root / layout.memory("raw_memories")) as entries:
            newer = [e.name for e in entries if e.is_file(follow_symlinks=False) and e.stat().st_mtime_ns > since]
    except OSError:  # one of the two is not there, and nothing was taken from the one into the other
        return []
    whole = read(merged) or b"" if newer else b""
    chosen = set(state.selection()) if newer else set()
    for name in sorted(newer):
        path = layout.memory(f"raw_memories/{name}")
        data = read(root / path)
        if (
            name.removesuffix(".md") in chosen
            and data
            and not is_ours(data)
            and data.rstrip(b"\n") not in whole
            and not legible.garbled(path, data)
        ):
            found.append(path)
    return found


def _stirred(layout: Layout, root: Path, state: State) -> Iterator[str]:
    """The skills whose file is not as the history knows it."""
    for name, known in state.skills.items():
        data = None if known.dropped else read(root / layout.memory(file_of(name)))
        if data is None:
            if not known.dropped and not known.due:
                yield name
        elif is_ours(data) or (known.edited and not known.text):  # what was forgotten in it is not taken in again
            continue
        elif known.text != redact(data.decode("utf-8", "replace")):
            yield name


def _own(data: bytes) -> tuple[str, ...]:
    """What of a file with a block of ours is a person's."""
    parts = split(data)
    return parts.before, parts.after, parts.block.text if parts.block and parts.touched else ""


def read(path: Path) -> bytes | None:
    """The file; None where there is none that may be read."""
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None
