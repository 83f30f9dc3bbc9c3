"""A memory as it was when its files were last looked at: read once, and again when they have changed."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ...layout import Layout
from ...lexical import Index
from ...pipeline.forgetting.files import Place
from ...pipeline.reports import due
from ...pipeline.settle import Seen
from ...records import Record, Status
from ...state import Proposal, State
from ...usage import Use, read
from ..opening import run
from ..plain import OpenMemory
from . import figures
from .figures import Figures
from .markdown import Block, blocks, chapters, portions

_ID = re.compile(r"\^(m-[0-9a-f]{10})[ \t]*$", re.MULTILINE)
_GROUP = re.compile(r"task group:\s*", re.IGNORECASE)
LONGEST = 100
"""How many lines of a task group are one part of it."""
MOST_FOUND = 200
"""How many lines a search gives at most."""

BY = "web"
"""Who commits what a person does on the page, as the ledger says."""
TRIES = 4
"""How often the files are looked at until nobody has changed them meanwhile."""

T = TypeVar("T")
Signature = tuple[object, ...]


@dataclass(frozen=True)
class Chapter:
    """A task group as the file has it: its title, its markdown, and the ids of the lines in it."""

    title: str
    text: str
    ids: tuple[str, ...]
    goes_on: bool = False
    """True for a further part of a group that is longer than a page."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Its parts in their order."""
        return blocks(self.text)


@dataclass(frozen=True)
class Snapshot:
    """What a page is made of. `version` changes whenever a file did."""

    version: str
    state: State
    seen: Seen
    use: Mapping[str, Use]
    index: Index
    agent_about: bool
    """True while an agent's session is open whose agent could do what the page does: then it counts as its word."""
    shelf: Shelf = field(repr=False, compare=False)

    @cached_property
    def history(self) -> Sequence[Mapping[str, Any]]:
        """The commits, newest first, as `OpenMemory.history` tells them."""
        return self.shelf.do(lambda memory: run(memory.inquiry.history()))

    @cached_property
    def status(self) -> Mapping[str, Any]:
        """What `OpenMemory.status` says."""
        return self.shelf.do(lambda memory: run(memory.inquiry.status()))

    @cached_property
    def figures(self) -> Figures:
        """What the history adds up to."""
        return self.shelf.do(lambda memory: figures.of(memory.pipeline.store.ledger))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds that there are lines of."""
        return frozenset(record.kind.value for record in self.state.visible().values())

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """The task groups of `MEMORY.md`, and last those that the file lacks."""
        text = (self.seen.handbook or b"").decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        found = [part for text in chapters(text) for part in self._parts(text)]
        here = {id for chapter in found for id in chapter.ids}
        rest = [record for id, record in self.state.visible().items() if id not in here]
        return (*found, *self._lacking(rest))

    def _parts(self, text: str) -> Iterator[Chapter]:
        """A task group, cut where it has more lines than a page shows."""
        first = text.lstrip("\n").partition("\n")[0]
        title = _GROUP.sub("", first[2:].strip(), count=1) if first.startswith("# ") else ""
        known = self.state.visible()
        for number, part in enumerate(portions(text, _ID, LONGEST)):
            ids = tuple(dict.fromkeys(id for id in _ID.findall(part) if id in known))
            yield Chapter(title, part, ids, number > 0)

    @staticmethod
    def _lacking(rest: Sequence[Record]) -> Iterator[Chapter]:
        groups: dict[str, list[Record]] = {}
        for record in rest:
            groups.setdefault(record.group, []).append(record)
        for group, members in groups.items():
            lines = "".join(f"- {record.id} ^{record.id}\n" for record in members)
            yield Chapter(group, f"# {group}\n\n{lines}", tuple(record.id for record in members))

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The index of the chapter that each line stands in."""
        return {id: number for number, chapter in enumerate(self.chapters) for id in chapter.ids}

    @property
    def proposals(self) -> Sequence[Proposal]:
        """What waits in the inbox."""
        return tuple(self.state.proposals.values())

    @cached_property
    def waiting(self) -> int:
        """How many transcripts wait to be read, and how many that were read wait to become lines."""
        return len(due(self.seen, self.state)) + len(self.state.pending)

    @property
    def transcripts(self) -> int:
        """How many conversations there are."""
        return sum(name.endswith(".jsonl") for name in self.seen.sessions)

    @cached_property
    def gone(self) -> tuple[Record, ...]:
        """The records out of sight whose words are still known, the last changed first."""
        seen = self.state.visible()
        rest = [r for id, r in self.state.records.items() if id not in seen and r.status is not Status.FORGOTTEN]
        return tuple(sorted(rest, key=lambda record: (record.updated, record.id), reverse=True))

    def found(self, query: str, *, kind: str = "", trust: str = "") -> list[Record]:
        """The lines that a query finds: ranked by their words, then those that merely contain it."""
        known, wanted = self.state.visible(), query.strip().casefold()

        def fits(record: Record) -> bool:
            return (not kind or record.kind.value == kind) and (not trust or record.trust.label == trust)

        if not wanted:
            return [known[id] for id in self.place if fits(known[id])]
        ranked = [id for id in self.index.search(query, MOST_FOUND) if id in known]
        taken = set(ranked)
        plain = wanted.lstrip("^")
        ranked += (id for id, text in self._texts if plain in text and id not in taken)
        whole = [record for id in ranked if fits(record := known[id])]
        # What contains the query as it was typed comes before what only shares words with it.
        whole.sort(key=lambda record: plain not in record.text.casefold())
        return whole[:MOST_FOUND]

    @cached_property
    def _texts(self) -> list[tuple[str, str]]:
        known = self.state.visible()
        return [(id, f"{r.text}\n{r.group}\n{r.subject}\n{id}".casefold()) for id, r in known.items()]


@dataclass(frozen=True)
class Forgotten:
    """What forgetting a line came to, without a word of it: where it stood, where it still stands, its receipts.

    `retold` are the ids of lines that stay, told from other conversations.
    """

    places: int
    files: int
    left: tuple[Place, ...] = ()
    receipts: tuple[str, ...] = ()
    retold: tuple[str, ...] = ()


class Shelf:
    """One memory, whose files are read anew only after they have changed. Every method may be called from any thread.

    `root` is the workspace; `open_` opens the memory, at the first question.
    """

    def __init__(self, root: Path, open_: Callable[[], OpenMemory]) -> None:
        self.root, self._open = root, open_
        self._lock = threading.RLock()
        self._memory: OpenMemory | None = None
        self._kept: tuple[Signature, Snapshot] | None = None
        self._index, self._indexed = Index(), dict[str, str]()
        self._looked = 0.0
        self.forgotten: dict[str, Forgotten] = {}
        """What became of the lines that were forgotten here, by their ids."""
        self.forgetting = threading.Lock()
        """Held while it is decided whether one is to begin: whoever presses twice forgets once."""
        self.jobs: dict[str, object] = {}
        """What goes on about a line in a thread, by its id; see `forgetting`."""

    @property
    def memory(self) -> OpenMemory:
        """The memory itself; use it in `do`."""
        with self._lock:
            if self._memory is None:
                self._memory = self._opened()
            return self._memory

    def _opened(self) -> OpenMemory:
        """The memory, opened anew; what is asked of it is asked by a person on the page."""
        memory = self._open()
        memory.pipeline.store.asker = BY
        return memory

    @property
    def layout(self) -> Layout:
        """Its folders."""
        return self.memory.layout

    def do(self, work: Callable[[OpenMemory], T]) -> T:
        """Do something with the memory while nobody else of this process does."""
        with self._lock:
            return work(self.memory)

    def signature(self) -> Signature:
        """What tells whether a file that a page shows has changed."""
        layout = self.layout
        files = (layout.ledger, layout.handbook, layout.summary, layout.inbox, layout.memory("usage.jsonl"))
        marks = self.memory.pipeline.store.marks_folder
        stamps = (_stamp(self.root / path) for path in (*files, marks))
        return (*stamps, _listing(self.root / layout.sessions_dir))

    def snapshot(self, *, recent: float = 0.0) -> Snapshot:
        """The memory as its files are now, or were `recent` seconds ago; what people changed is taken in first."""
        with self._lock:
            if self._kept and time.monotonic() - self._looked < recent:
                return self._kept[1]
            self._looked = time.monotonic()
            signature = self.signature()
            if self._kept and self._kept[0] == signature:
                return self._kept[1]
            for _ in range(TRIES):  # what is taken in is written, and somebody may have saved meanwhile
                state, before = self.memory.state(), signature
                if (signature := self.signature()) == before:
                    break
            store = self.memory.pipeline.store
            seen = run(store.see())
            others, _ = store.others_open(seen.open_marks)
            version = version_of(signature)
            use = read(seen.usage, store.at())
            about = store.agents_elsewhere(others) and not store.guard.key
            snapshot = Snapshot(version, state, seen, use, self._indexes(state), about, self)
            self._kept = (signature, snapshot)
            return snapshot

    def apart(self, work: Callable[[OpenMemory], T]) -> T:
        """Do something that takes long with a memory of its own, so that pages are answered meanwhile."""
        return work(self._opened())

    def _indexes(self, state: State) -> Index:
        """The index with what changed since the last time."""
        texts = {id: f"{record.text} {record.subject}" for id, record in state.visible().items()}
        for id in self._indexed.keys() - texts.keys():
            self._index.remove(id)
        for id, text in texts.items():
            if self._indexed.get(id) != text:
                self._index.add(id, text)
        self._indexed = texts
        return self._index


def version_of(signature: Signature) -> str:
    """A name for what the files were, as long as this process lives."""
    return f"{abs(hash(signature)):x}"


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _listing(folder: Path) -> tuple[int, int, int]:
    """How many transcripts there are, their bytes, and when the last was written."""
    count = size = last = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl"):
                    found = entry.stat(follow_symlinks=False)
                    count, size, last = count + 1, size + found.st_size, max(last, found.st_mtime_ns)
    except OSError:
        pass
    return count, size, last
