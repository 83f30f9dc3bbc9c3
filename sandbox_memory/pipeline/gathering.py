"""What there is to extract: the new part of each conversation that is due, and how far its lines are believed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..notes import raw_header
from ..records import Rollout, Segment, Trust
from ..rollouts import parse_rollout
from ..state import State
from ..workspace import Ask
from . import legible
from .reports import Due
from .store import Store

logger = logging.getLogger("sandbox_memory")

EARLIER_BYTES = 1 << 18
"""How much of what a conversation said before is read, to know who said a thing first."""
BATCH_BYTES = 32 << 20
"""How much of the transcripts is read at once."""


@dataclass(frozen=True)
class Work:
    """One rollout's new segments, and its two files as they are. `unfit` is why one of them cannot be written.

    `order` is recency: an older conversation's is smaller, whichever model call ends first. `doubted` is True where an
    agent may have written some of it: no time in it is to be believed.
    """

    due: Due
    rollout: Rollout
    raw_path: str
    raw: bytes | None
    summary_name: str
    summary: bytes | None
    unfit: str = ""
    earlier: tuple[Segment, ...] = ()
    order: tuple[int, int] = (0, 0)
    doubted: bool = False


async def believe(store: Store, pending: list[Due], state: State) -> None:
    """Believe transcripts that a person put there, as a session opens; not more than can be read at once."""
    lots = batches(pending)
    if len(lots) == 1 and lots[0]:
        view = await store.look([Ask(store.layout.session(f"{item.stem}.jsonl"), start=item.start) for item in pending])
        for item in pending:
            if (data := view.files.get(store.layout.session(f"{item.stem}.jsonl"))) is not None:
                _doubted(store, item, data, state, session_open=False)


def batches(pending: list[Due]) -> list[list[Due]]:
    """The conversations that are due, in lots of what is read at once."""
    lots: list[list[Due]] = [[]]
    total = 0
    for item in pending:
        if total and total + item.size - item.start > BATCH_BYTES:
            lots.append([])
            total = 0
        lots[-1].append(item)
        total += item.size - item.start
    return lots


async def read(store: Store, batch: list[Due], state: State, session_open: bool) -> list[Work]:
    """What is new in these conversations, the one that was written longest ago first.

    What something else wrote into them is doubted if a session is open, else vouched for.
    """
    layout = store.layout
    asks: list[Ask | str] = []
    for item in batch:
        asks.append(Ask(layout.session(f"{item.stem}.jsonl"), start=item.start))
        asks.append(layout.memory(f"raw_memories/{item.stem}.md"))
        known = state.rollouts.get(item.stem)
        if known and known.summary_file:
            asks.append(layout.memory(known.summary_file))
    view = await store.look(asks, [store.marks_folder])
    session_open = session_open or bool(store.others_open(view.folders.get(store.marks_folder, ()))[0])
    earlier = await _earlier(store, batch)
    works = []
    for item in batch:
        path = layout.session(f"{item.stem}.jsonl")
        data = view.files.get(path)
        if data is None:
            continue
        doubts = _doubted(store, item, data, state, session_open=session_open)
        before = earlier.get(path, b"")
        rollout = parse_rollout(
            data, rollout_id=item.stem, path=path, start=item.start, memories_dir=layout.memories_dir
        )
        if rollout.torn:
            what = "a line that is no run" if rollout.torn == 1 else f"{rollout.torn} lines that are no runs"
            logger.warning("sandbox memory: %s: has %s; passed over", path, what)
        rollout = _weighed(rollout, doubts)
        raw_path = layout.memory(f"raw_memories/{item.stem}.md")
        raw = view.files.get(raw_path)
        name = state.rollouts[item.stem].summary_file if item.stem in state.rollouts else ""
        if not name and raw is not None:
            # Left by an extraction that was killed before its commit: the same summary file is written again.
            name = raw_header(raw.decode("utf-8", "replace")).get("rollout_summary_file", "")
        summary = layout.memory(name) if name else ""
        unfit = next((f"{each} {view.problems[each]}" for each in (raw_path, summary) if each in view.problems), "")
        unfit = unfit or legible.garbled(raw_path, raw) or legible.garbled(summary, view.files.get(summary))
        segments = parse_rollout(before, rollout_id=item.stem, path=path, memories_dir=layout.memories_dir).segments
        works.append(
            Work(
                item,
                rollout,
                raw_path,
                raw,
                name,
                view.files.get(summary),
                unfit,
                earlier=segments,
                doubted=bool(doubts),
            )
        )
    return sorted(works, key=lambda work: work.rollout.segments[0].updated_at if work.rollout.segments else "")


async def _earlier(store: Store, batch: list[Due]) -> Mapping[str, bytes]:
    """What was read before of these conversations, to tell whose the rest is: its end; where many are served, all."""
    many = store.layout.preset.audience == "many"
    asks = []
    for item in batch:
        start = 0 if many else max(0, item.start - EARLIER_BYTES)
        if item.start:
            asks.append(Ask(store.layout.session(f"{item.stem}.jsonl"), start=start, limit=item.start - start))
    return (await store.look(asks)).files if asks else {}


def _doubted(store: Store, item: Due, data: bytes, state: State, *, session_open: bool) -> set[int]:
    known = state.rollouts.get(item.stem)
    return store.witness.doubted(
        item.stem, data, start=item.start, read=known.read if known else 0, session_open=session_open
    )


def _weighed(rollout: Rollout, doubted: set[int]) -> Rollout:
    """The rollout, in which a line that the agent may have written is worth no more than the agent's word."""
    return replace(
        rollout,
        segments=tuple(
            replace(segment, items=tuple(replace(item, trust=min(item.trust, Trust.AGENT)) for item in segment.items))
            if segment.line - 1 in doubted
            else segment
            for segment in rollout.segments
        ),
    )
