"""Carrying a forgetting out: what it does to records is committed, then every file is brought up to it, then searched.

Each part may run twice: a process that was killed anywhere is followed by one that finds out what is left to do.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import Conflict, SandboxMemoryError
from ...folding import fold
from ...governance.forgetting import Erasure
from ...ledger import Operation, parse
from ...records import Record, Rollout
from ...rollouts import parse_rollout
from ...state import State
from ...trusting import anchoring
from ...workspace import ABSENT, Remove, Replace, digest, is_temporary
from .. import tidying
from ..settle import Change
from ..store import Step, Store
from . import files, history
from .files import Place
from .history import Reach
from .planning import Planner
from .seeking import everything, of_whole, read, search

logger = logging.getLogger("sandbox_memory")

ROUNDS = 4
"""How often it is gone over: others may write meanwhile."""
TRIES = 20
WIDE, FEW = 0.1, 3
"""The share of all memories from which on words that are to be forgotten are too common, and how many those are."""


@dataclass
class Outcome:
    """What one forgetting found and did.

    `found` is where it stood, `left` where it still stands. `records`, over which it iterates, are those that are
    forgotten, as they were; `retold` those that other evidence supports, as they are told from it, and `were` their
    words before, by id. `receipts` are the files that recognise it later. With `dry` nothing was changed. It was looked
    for in `of` memories.
    """

    erasure: Erasure
    found: list[Place] = field(default_factory=list)
    left: list[Place] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    retold: list[Record] = field(default_factory=list)
    were: dict[str, str] = field(default_factory=dict)
    receipts: list[str] = field(default_factory=list)
    dry: bool = False
    of: int = 0

    @property
    def wide(self) -> bool:
        """True for words that are in so many memories that more is meant than a person is likely to mean."""
        hit = len(self.records) + len(self.retold)
        return "text" in self.erasure.way and hit >= FEW and hit > WIDE * self.of

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def done(self) -> bool:
        """True if nothing of it is left."""
        return not self.left


def transcripts(store: Store, data: Mapping[str, bytes]) -> dict[str, Rollout]:
    """The transcripts among these files, by their stems."""
    layout, found = store.layout, {}
    for path, content in data.items():
        if posixpath.dirname(path) == layout.sessions_dir and path.endswith(".jsonl"):
            stem = posixpath.basename(path).removesuffix(".jsonl")
            found[stem] = parse_rollout(content, rollout_id=stem, path=path, memories_dir=layout.memories_dir)
    return found


def plan(store: Store, state: State, reach: Reach, data: Mapping[str, bytes]) -> list[Operation]:
    """What is to be committed, given the files."""
    said = {path: content for path, content in data.items() if posixpath.dirname(path) == store.layout.sessions_dir}
    clean = {path: files.clean(path, content, [reach.erasure], store.layout) for path, content in said.items()}
    changed = {path: content for path, content in clean.items() if content != said[path]}
    before = transcripts(store, {path: said[path] for path in changed})
    planner = Planner(state, store.ledger, reach, before, transcripts(store, changed))
    return planner.operations()


async def carry_out(store: Store, erasure: Erasure, actor: str) -> list[Place]:
    """Bring everything up to a forgetting that is committed; where it still stands after that."""
    left: list[Place] = []
    for _ in range(ROUNDS):
        await _records(store, erasure, actor)
        await _files(store, erasure)
        await _ledger(store, erasure)
        await tidying.tidy(store, "hand", None)
        await _sweep(store)
        left = await search(store, erasure)
        if not left:
            break
    return left


async def _records(store: Store, erasure: Erasure, actor: str) -> None:
    """Commit what it does to the records, and show it in the markdown."""
    paths = [path for path in await everything(store) if posixpath.dirname(path) == store.layout.sessions_dir]
    data = await read(store, paths)

    def maker(state: State) -> Change:
        reach = Reach.of(state.erasures[erasure.id], state)
        return Change(actor, tuple(plan(store, state, reach, data)))

    await store.settle("hand", [maker])


async def _files(store: Store, erasure: Erasure) -> None:
    """Rewrite, rename or remove the files that still hold it, but those that the ledger makes."""
    layout = store.layout
    views = {layout.handbook, layout.summary, layout.inbox, layout.ledger}
    paths = [path for path in await everything(store) if path not in views]
    for start in range(0, len(paths), 100):
        data = await read(store, paths[start : start + 100])
        for path in paths[start : start + 100]:
            if path in data and not is_temporary(posixpath.basename(path)):
                await _file(store, path, data[path], erasure)


async def _file(store: Store, path: str, data: bytes, erasure: Erasure) -> None:
    for _ in range(TRIES):
        try:
            await _rewritten(store, path, data, erasure)
            return
        except Conflict:
            again = await read(store, [path])
            if path not in again:
                return
            data = again[path]
    logger.warning("sandbox memory: %s changed again and again; what was forgotten may still stand there", path)


async def _rewritten(store: Store, path: str, data: bytes, erasure: Erasure) -> None:
    layout = store.layout
    top = layout.sessions_dir if path.startswith(f"{layout.sessions_dir}/") else layout.memories_dir
    clean = files.clean(path, data, [erasure], layout, store.witness.seal)
    if posixpath.dirname(path) == layout.memory("raw_memories"):
        clean = _keywords(clean, posixpath.basename(path).removesuffix(".md"), store, erasure)
    whole = of_whole(path, data, erasure, store)
    target = files.moved(path, erasure, top)
    if clean == data and target == path and not whole:
        return
    said = path.endswith(".jsonl") and posixpath.dirname(path) == layout.sessions_dir
    stem, other = (posixpath.basename(each).removesuffix(".jsonl") for each in (path, target))
    before, after = data.split(b"\n"), clean.split(b"\n")
    if said and stem != other:  # a seal is for one name
        pairs = zip(before, after, strict=True)
        after = [store.witness.seal.again(stem, old, new, other) for old, new in pairs]
        clean = b"\n".join(after)
    steps: list[Replace | Remove] = []
    if whole:
        steps = [Remove(path, expect=digest(data), required=True)]
        if said:
            anchoring.follow(before, [b""] * len(before), path)
    elif target != path:
        there = (await read(store, [target])).get(target)  # if this was begun before
        whole_now = _together(there, clean) if said and there is not None else clean
        expect = ABSENT if there is None else digest(there)
        steps = [Replace(target, whole_now, expect=expect, required=True)]
        steps += [Remove(path, expect=digest(data), required=True)]
        if said:
            known = set(range(len(before))).difference(anchoring.unknown(before, path))
            anchoring.keep((after[n] for n in sorted(known) if after[n].strip()), target)
            anchoring.keep((before[n] for n in sorted(known)), path, anchoring.GONE)
    else:
        steps = [Replace(path, clean, expect=digest(data), required=True)]
        if said:
            anchoring.follow(before, after, path)
    if not said:
        await store.write(steps)
        return
    await _with_watermark(store, stem, other, data, b"" if whole else clean, steps, erasure)


def _keywords(data: bytes, stem: str, store: Store, erasure: Erasure) -> bytes:
    """A raw memory with the keywords alone that its conversation has since."""
    later = (commit for commit in store.ledger.commits if commit.ordinal >= erasure.ordinal)
    if not any(each.op == "retitle" and each.id == stem for commit in later for each in commit.operations):
        return data
    return files.with_keywords(data, fold(store.ledger).rollouts[stem].keywords)


def _together(one: bytes, two: bytes) -> bytes:
    """The lines of a transcript, and those of another that it lacks."""
    known = set(one.split(b"\n"))
    return one + b"".join(line + b"\n" for line in two.split(b"\n") if line.strip() and line not in known)


async def _with_watermark(
    store: Store, stem: str, other: str, data: bytes, clean: bytes, steps: Sequence[Step], erasure: Erasure
) -> None:
    """Rewrite a transcript, and commit how many bytes of it have been read, as long as that is where a line ends."""

    def maker(state: State) -> Change:
        known = state.rollouts.get(stem)
        read = known.consumed if known is not None else 0
        noted = erasure.read.get(stem)
        if noted is not None and read == noted[0]:
            now = _end_of(clean, noted[1])
        else:  # or it was read meanwhile, up to here
            now = _end_of(clean, data[:read].count(b"\n")) if data[read - 1 : read] == b"\n" else 0
        same = other == stem and (now == read or not read)
        return Change("forgetting", () if same else (Operation("consume", other, {"consumed": now}),))

    state = fold(store.ledger)
    if maker(state).empty:
        await store.write(steps)
    else:
        await store.append(maker, steps)  # type: ignore[arg-type]  # a file may also be removed there


def _end_of(data: bytes, lines: int) -> int:
    """The byte at which that many lines end."""
    place = 0
    for _ in range(lines):
        place = data.find(b"\n", place) + 1
        if not place:
            return len(data)
    return place


async def _ledger(store: Store, erasure: Erasure) -> None:
    """Erase the words in the ledger; a copy of it that another process goes on with is refused by its end."""
    path = store.layout.ledger
    for _ in range(TRIES):
        await store.see(listing=False)
        data = (await store.workspace.look([path])).files.get(path, b"")
        parsed = parse(data, None, store.witness)
        reach = Reach.of(erasure, fold(parsed))
        clean = history.erased(data, [reach], store.witness)
        if clean == data:
            return
        before, after = data.split(b"\n"), clean.split(b"\n")
        anchoring.follow(before, after, path)
        chained = parse(clean)
        moved = chained.head != parsed.head
        if moved:
            lines = {commit.line for commit in parsed.commits if commit.ordinal not in parsed.passed}
            changed = [line for n, line in enumerate(after, 1) if n in lines and line != before[n - 1]]
            store.witness.writes(parsed, b"".join(line + b"\n" for line in changed))
        try:
            await store.write([Replace(path, clean, expect=digest(data), required=True)])
        except Conflict:
            continue
        if moved:
            store.witness.reached(parse(clean), b"")
        await store.see(listing=False)
        return
    raise Conflict(path, "its words were to be erased, but other writers were faster; forget it once more")


async def _sweep(store: Store) -> None:
    """Let the workspace clear away what killed processes left, in every folder of the memory."""
    folders = sorted({posixpath.dirname(path) for path in await everything(store)})
    steps = [Remove(f"{folder}/.sandbox-memory-nothing") for folder in folders]
    if steps:
        await store.workspace.transact(steps, lock=store.layout.memory(".lock"))


async def finished(store: Store, erasure: Erasure, left: int) -> None:
    """Commit that it is finished."""

    def maker(state: State) -> Change:
        known = state.erasures.get(erasure.id)
        if known is None or known.finished:
            return Change("forgetting")
        return Change(erasure.actor or "forgetting", (Operation("erased", erasure.id, {"left": left}),))

    await store.settle("hand", [maker])


def watermarks(state: State, data: Mapping[str, bytes], store: Store) -> dict[str, list[int]]:
    """How much of each transcript has been read, in bytes and lines, for those that are there."""
    found = {}
    for stem, known in state.rollouts.items():
        content = data.get(store.layout.session(f"{stem}.jsonl"))
        if content is not None and known.consumed:
            found[stem] = [known.consumed, content[: known.consumed].count(b"\n")]
    return found


def failed(error: SandboxMemoryError) -> None:
    """Log that a forgetting could not be finished now."""
    logger.warning("sandbox memory: a forgetting could not be finished (%s); the next command tries again", error)
