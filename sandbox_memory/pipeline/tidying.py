"""What follows a consolidation: skills, the intermediates of the SDK's names, and what is beyond the limits."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from .. import usage
from ..folding import fold
from ..governance.lifetime import moment
from ..governance.redaction import redact
from ..ledger import Operation
from ..skills import made_of
from ..stages import commit
from ..state import State
from ..trusting.signed import is_ours
from ..workspace import Remove, Replace, digest
from . import legible, skilling
from .settle import Change, Seen
from .store import Step, Store, changed

logger = logging.getLogger("sandbox_memory")

_HEAD = b"rollout_id: "


async def tidy(store: Store, actor: str, keep_rollouts: int | timedelta | None) -> None:
    """Write skills, `raw_memories.md` and `phase_two_selection.json`; remove what is beyond the limits.

    Only raw memories that changed, or that may have to go, are read. A raw memory that a person edited stays.
    """
    seen = await store.see()
    state, layout = fold(store.ledger), store.layout
    if not state.ordinal:
        return
    merged, chosen = layout.memory("raw_memories.md"), layout.memory("phase_two_selection.json")
    made = made_of(state)
    old = await store.look([merged, chosen, *skilling.paths(store, state, made)])
    selection = [stem for stem in state.selection() if f"{stem}.md" in seen.raw_memories]
    chunks = _chunks(old.files.get(merged, b""))
    stale = [stem for stem in selection if len(chunks.get(stem, b"")) + 1 != seen.raw_memories[f"{stem}.md"]]
    selected = set(selection)
    beyond = [stem for stem in (name.removesuffix(".md") for name in seen.raw_memories) if stem not in selected]
    paths = {stem: layout.memory(f"raw_memories/{stem}.md") for stem in [*stale, *beyond]}
    read = (await store.look(list(paths.values()))).files if paths else {}
    steps: list[Step] = []
    for stem in (stem for stem in stale if paths[stem] in read):
        typed = read[paths[stem]]
        if legible.garbled(paths[stem], typed):
            continue  # what was taken from it before stays
        clean = typed if is_ours(typed) else _redacted(typed, store.salt)
        if clean != typed:
            logger.warning("sandbox memory: %s held a secret; a placeholder stands for it now", paths[stem])
            steps.append(Replace(paths[stem], clean, expect=digest(typed)))
        chunks[stem] = clean.rstrip(b"\n")
    if selection:
        steps += changed(old.files, merged, b"\n\n".join(chunks[stem] for stem in selection if stem in chunks))
    before = old.files.get(chosen)
    steps += changed(old.files, chosen, commit.selection_bytes(state, layout.sessions_dir, store.at(), before))
    for stem in beyond:
        data = read.get(paths[stem])
        if data is not None and is_ours(data):
            steps.append(Remove(paths[stem], expect=digest(data)))
    if len(seen.usage) >= usage.GROWN:
        whole = usage.compacted(seen.usage, store.at(), state.records.keys())
        expect = digest(seen.usage) if len(seen.usage) <= usage.LARGEST else None
        steps.append(Replace(layout.memory(usage.FILE), whole, expect=expect))
    gone = _beyond(seen, state, keep_rollouts, store.at())
    steps += [Remove(layout.session(f"{stem}.jsonl")) for stem in sorted(gone)]
    listed = layout.sessions_dir not in seen.unusable
    missing = [
        stem
        for stem, rollout in state.rollouts.items()
        if rollout.consumed and (stem in gone or (listed and f"{stem}.jsonl" not in seen.sessions))
    ]
    makers = [lambda now: unread(missing)] if missing else []
    makers += await skilling.settle(store, state, made, old, actor)
    await store.settle(actor, makers, lambda seen, done: steps, seen=seen if store.ledger is seen.ledger else None)
    store.lost = False


def _redacted(data: bytes, salt: bytes) -> bytes:
    return redact(data.decode("utf-8", "surrogateescape"), salt).encode("utf-8", "surrogateescape")


def _chunks(merged: bytes) -> dict[str, bytes]:
    """The raw memories that the merged file consists of, by rollout, as far as their headers tell."""
    parts = (b"\n\n" + merged).split(b"\n\n" + _HEAD)
    return {part.split(None, 1)[0].decode("utf-8", "replace"): _HEAD + part for part in parts[1:] if part.strip()}


def _beyond(seen: Seen, state: State, keep: int | timedelta | None, at: str) -> set[str]:
    """The consumed transcripts that `keep_rollouts` lets go."""
    if keep is None:
        return set()
    waiting = {stem for stem, _ in state.pending}
    read = [
        stem
        for stem, rollout in state.rollouts.items()
        if seen.sessions.get(f"{stem}.jsonl") == rollout.consumed and stem not in waiting
    ]
    if isinstance(keep, timedelta):
        oldest = moment(at) - keep
        return {stem for stem in read if _older(state.rollouts[stem].updated_at, oldest)}
    read.sort(key=lambda stem: state.rollouts[stem].order, reverse=True)
    return set(read[keep:])


def _older(updated_at: str, than: datetime) -> bool:
    """False for a time that cannot be read: what is not known to be old stays."""
    try:
        return moment(updated_at) < than
    except (ValueError, OverflowError):
        return False


def unread(stems: list[str]) -> Change:
    """Puts the watermarks of these rollouts back to their start."""
    return Change("extraction", tuple(Operation("consume", stem, {"consumed": 0}) for stem in stems))


def from_the_start(state: State, seen: Seen) -> Change:
    """Puts the watermarks of all transcripts that are there back to their start."""
    return unread(
        [stem for stem, rollout in state.rollouts.items() if rollout.consumed and f"{stem}.jsonl" in seen.sessions]
    )
