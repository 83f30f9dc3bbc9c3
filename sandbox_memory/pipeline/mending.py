"""What a memory's folder holds that should not be there, or not so: `check` names it, `check --fix` mends it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ..document import Document
from ..folding import fold
from ..governance.redaction import redact_value
from ..rollouts import payloads
from ..stages import recall
from ..state import State
from ..trusting.checking import PUT_BACK, Finding
from ..trusting.reporting import lacking, lost_history, still_lost
from ..trusting.signed import is_ours
from ..workspace import Remove, Replace, digest, is_temporary
from . import Pipeline, keeping, legible, presence
from .forgetting.seeking import everything, read
from .losses import shown
from .settle import Seen
from .store import VISIT, Step, Store

FIX = "`sandbox-memory check --fix` mends it"
BATCH = 200
_COPY = re.compile(r"\.saved-(?:[0-9a-f]{4}){2,3}$")
_NOTES = ("raw_memories", "rollout_summaries")


async def findings(store: Store, seen: Seen) -> tuple[list[Finding], dict[str, int]]:
    """What is behind, orphaned, left over or holds a secret; and the bytes of the memory's parts.

    Every file of the memory is read; nothing is written.
    """
    state = fold(seen.ledger)
    lost = _lost(store, seen)
    found = [*_set_aside(store, seen), *_left_over(store, seen)]
    if not lost:
        found += _behind(store, seen, state)
    elif not still_lost(store.layout, store.witness, seen.ledger) and shown(seen) > len(seen.ledger):
        found.append(Finding("cut", store.layout.ledger, lacking(len(seen.ledger), shown(seen)), PUT_BACK))
    sizes = {"history": len(seen.ledger.data), "transcripts": 0, "markdown": 0}
    paths = [path for path in await everything(store) if not is_temporary(posixpath.basename(path))]
    for start in range(0, len(paths), BATCH):
        for path, data in (await read(store, paths[start : start + BATCH])).items():
            if path.endswith(".jsonl") and posixpath.dirname(path) == store.layout.sessions_dir:
                sizes["transcripts"] += len(data)
            elif path.endswith(".md"):
                sizes["markdown"] += len(data)
            found += _of_file(store, path, data, state, lost=lost)
    return found, sizes


async def mend(pipeline: Pipeline) -> list[str]:
    """Bring the markdown up to date, and take out what `findings` names and code may take out; what was done.

    A file that a person edited is never removed. Where commits of the history are lost, none is written and no notes
    are removed: that would hide what is missing, and is what a person decides.
    """
    store = pipeline.store
    before = seen = await store.see()
    lost = _lost(store, seen) and _lost(store, await store.see())  # a commit may have come while the first one looked
    done: list[str] = []
    if not lost:
        done += (await pipeline.adopt()).said
        pipeline.noted.lines = [line for line in pipeline.noted.lines if line not in done]
        seen = await store.see()
    views = {store.layout.handbook: "handbook", store.layout.summary: "summary", store.layout.inbox: "inbox"}
    changed = [path for path, name in views.items() if _differ(before, seen, name)]
    done += [f"{path} was brought up to date" for path in changed if not any(path in line for line in done)]
    state, steps = fold(seen.ledger), list[Step]()
    for path in await everything(store):
        if (path in views and not lost) or is_temporary(posixpath.basename(path)):
            continue
        data = (await read(store, [path])).get(path)
        if data is None or not path.endswith(".md") or (path in views and legible.set_aside(data)):
            continue
        if not lost and _orphaned(store, path, state) and is_ours(data):
            steps.append(Remove(path, expect=digest(data)))
            done.append(f"{path}, the notes on a conversation that nobody knows, was removed")
        elif (clean := legible.redacted(data, store.salt)) != data:
            steps.append(Replace(path, clean, expect=digest(data)))
            done.append(f"{path} held a secret; a placeholder stands for it now")
    left = store.others_open(seen.open_marks)[1]
    done += [f"{step.path}, the mark of a session that was killed, was removed" for step in left]
    if steps or left:
        await store.write([*steps, *left])
    return done


def _differ(one: Seen, other: Seen, name: str) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def _lost(store: Store, seen: Seen) -> bool:
    """True if commits are missing, by the markdown, by what this machine wrote, or by notes that stand there alone."""
    if shown(seen) > len(seen.ledger) or still_lost(store.layout, store.witness, seen.ledger):
        return True
    return store.root is not None and not seen.ledger.data and bool(lost_history(store.root, store.layout)[0])


def _set_aside(store: Store, seen: Seen) -> Iterator[Finding]:
    layout = store.layout
    for path, data in ((layout.handbook, seen.handbook), (layout.summary, seen.summary), (layout.inbox, seen.inbox)):
        if data and (why := legible.set_aside(data)):
            what, _, hint = why.partition("; ")
            line = legible.conflict(data)
            where = f"{path}:{line}" if line else path
            yield Finding("file", where, f"{what}, and is left alone", f"{hint}; until then nothing in it is taken in")


def _behind(store: Store, seen: Seen, state: State) -> Iterator[Finding]:
    path, layout = store.layout.handbook, store.layout
    for view, data in ((layout.summary, seen.summary), (layout.inbox, seen.inbox)) if state.ordinal else ():
        shows = state.proposals if view == layout.inbox else recall.block(state, layout.preset).text
        if shows and keeping.missing(data) and view not in seen.unusable:
            yield Finding("behind", view, "is missing or empty", FIX)
    if path in seen.unusable or not state.ordinal or legible.set_aside(seen.handbook or b""):
        return
    for where, what in legible.mute(path, seen.handbook or b""):
        yield Finding("untold", where, what, legible.LEAD)
    marker = Document.parse(seen.handbook or b"").marker
    if keeping.missing(seen.handbook) and state.visible():
        yield Finding("behind", path, "is missing or empty", FIX)
    elif marker is not None and marker < state.ordinal:
        what = f"shows commit {marker} of {state.ordinal}: an older version was saved, or a process was cut off"
        yield Finding("behind", path, what, f"the next command brings it up to date; {FIX}, too")


def _left_over(store: Store, seen: Seen) -> Iterator[Finding]:
    for mark in sorted(seen.open_marks):
        if not mark.startswith(VISIT) and presence.stale(mark):
            what = "is the mark of a session that was killed: as long as it stands, an edit counts as the agent's"
            yield Finding("left", f"{store.marks_folder}/{mark}", what, FIX)


def _of_file(store: Store, path: str, data: bytes, state: State, *, lost: bool) -> Iterator[Finding]:
    layout = store.layout
    if _COPY.search(path):
        hint = "put back what you miss of it, then remove it"
        yield Finding("left", path, "is a copy of a file as it was before", hint)
    if not lost and _orphaned(store, path, state):
        hint = FIX if is_ours(data) else "you edited it, so it stays; remove it if it is of no use"
        yield Finding("orphan", path, "is notes on a conversation that the history does not know", hint)
    if posixpath.dirname(path) == layout.sessions_dir and path.endswith(".jsonl"):
        number = next((n for n, _, payload in payloads(data) if payload and redact_value(payload) != payload), 0)
        stem = posixpath.basename(path).removesuffix(".jsonl")
        hint = f"`sandbox-memory forget --rollout {stem}` takes the conversation out"
    elif path.endswith(".md"):
        if posixpath.dirname(path) != layout.memories_dir and (conflict := legible.conflict(data)):
            yield Finding("file", f"{path}:{conflict}", "has marks of a merge conflict", "solve it: both sides count")
        if posixpath.dirname(path) in map(layout.memory, _NOTES) and legible.garbled(path, data):
            line = 0 if legible.is_wide(data) else next(iter(legible.not_utf8(data)))
            where, what = (f"{path}:{line}", "is not UTF-8") if line else (path, "is UTF-16 or UTF-32")
            yield Finding("file", where, what, "save it as UTF-8: until then its conversation does not go on")
        number, hint = _line(data, legible.redacted(data, store.salt)), FIX
    else:
        return
    if number:
        yield Finding("secret", f"{path}:{number}", "holds what looks like a secret", hint)


def _orphaned(store: Store, path: str, state: State) -> bool:
    """True for notes on a conversation of which the history says nothing."""
    folder, name = posixpath.split(path)
    if folder not in map(store.layout.memory, _NOTES) or not name.endswith(".md") or not state.ordinal:
        return False
    if folder == store.layout.memory(_NOTES[0]):
        return name.removesuffix(".md") not in state.rollouts
    known = {posixpath.basename(rollout.summary_file) for rollout in state.rollouts.values()}
    return name not in known and name.removesuffix(".md").rpartition("_")[0] not in state.rollouts


def _line(old: bytes, new: bytes) -> int:
    """The number of the first line that differs; 0 for none."""
    if old == new:
        return 0
    pairs = list(zip(old.split(b"\n"), new.split(b"\n"), strict=False))
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), len(pairs))
