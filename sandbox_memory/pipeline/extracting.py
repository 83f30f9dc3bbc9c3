"""Phase 1: one extraction for each rollout with something new, several at once, each committed on its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .. import screening
from ..errors import Conflict, ModelError, NoUsableModel, SandboxMemoryError
from ..folding import fold
from ..governance.redaction import redact
from ..ledger import Operation
from ..models import Model
from ..notes import raw_header, raw_memory_file, summary_file
from ..records import RawMemory, Rollout, Segment, Trust, Usage
from ..rollouts import parse_rollout
from ..signed import is_ours, signed
from ..stages import extraction, recall
from ..state import State, candidate_body, candidate_facts
from ..tokens import estimate
from ..workspace import ABSENT, Ask, Replace, digest
from .asking import Limits, ask
from .reports import Due, Progress, Report, failures
from .settle import Change, Maker
from .store import Store

logger = logging.getLogger("sandbox_memory")

EARLIER_BYTES = 1 << 18
"""How much of what a conversation said before is read, to know who said a thing first."""
BATCH_BYTES = 32 << 20
"""How much of the transcripts is read at once."""
LATE = "the session's close had to end before its turn came"
SAVES = 5
"""How often the two files of an extraction may be saved by somebody else while they are written."""


async def vouch(store: Store, pending: list[Due], state: State) -> None:
    """Vouch for transcripts that a person put there, as a session opens; not for more than can be read at once."""
    batches = _batches(pending)
    if len(batches) == 1 and batches[0]:
        view = await store.look([Ask(store.layout.session(f"{item.stem}.jsonl"), start=item.start) for item in pending])
        for item in pending:
            if (data := view.files.get(store.layout.session(f"{item.stem}.jsonl"))) is not None:
                _doubted(store, item, data, state, session_open=False)


async def extract_all(
    store: Store,
    pending: list[Due],
    model: Model,
    limits: Limits,
    report: Report,
    progress: Progress,
    *,
    session_open: bool,
) -> None:
    """Phase 1 for every pending rollout, several at once; each success is committed on its own, oldest first begun.

    What something else wrote into the transcripts is doubted if a session is open, else vouched for.
    """
    state = fold(store.ledger)
    done = 0
    gate, flights = asyncio.Semaphore(limits.concurrency), _Flights(limits.in_flight)
    batches = _batches(pending)
    for place, batch in enumerate(batches, 1):
        read = await _read(store, batch, state, session_open)
        if place == len(batches):
            store.visit.left()
        works = [replace(work, order=(state.ordinal, done + n)) for n, work in enumerate(read, 1)]
        skipped = [work for work in works if not work.rollout.segments]
        if skipped:
            await store.append(partial(_consumed, skipped))

        async def one(work: _Work) -> None:
            nonlocal done
            async with gate:
                await _extract(store, work, model, limits, flights, report)
            done += 1
            progress("extracting", done, len(pending))

        done += len(skipped)
        tasks = [asyncio.ensure_future(one(work)) for work in works if work.rollout.segments]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
    if report.failed:
        spent = [Operation("usage", stem, {"usage": usage.to_json()}) for stem, usage in report.spent.items()]

        def noted(now: State) -> Change:
            change = failures(now, report.failed, report.attempts)
            return replace(change, operations=(*change.operations, *spent))

        await store.append(noted)


class _Flights:
    """Lets requests go while their tokens are together within a limit; one that is larger goes alone."""

    def __init__(self, most: int) -> None:
        self.most, self.now, self.landed = most, 0, asyncio.Condition()

    @asynccontextmanager
    async def flight(self, tokens: int) -> AsyncIterator[None]:
        """Waits until there is room for a request of that many tokens, and holds it."""
        tokens = min(tokens, self.most)
        async with self.landed:
            await self.landed.wait_for(lambda: self.now + tokens <= self.most)
            self.now += tokens
        try:
            yield
        finally:
            self.now -= tokens
            async with self.landed:
                self.landed.notify_all()


@dataclass(frozen=True)
class _Work:
    """One rollout's new segments, and its two files as they are. `unfit` is why one of them cannot be written.

    `order` is recency: an older conversation's is smaller, whichever model call ends first.
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


def _batches(pending: list[Due]) -> list[list[Due]]:
    batches: list[list[Due]] = [[]]
    total = 0
    for item in pending:
        if total and total + item.size - item.start > BATCH_BYTES:
            batches.append([])
            total = 0
        batches[-1].append(item)
        total += item.size - item.start
    return batches


async def _read(store: Store, batch: list[Due], state: State, session_open: bool) -> list[_Work]:
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
        segments = parse_rollout(before, rollout_id=item.stem, path=path, memories_dir=layout.memories_dir).segments
        works.append(_Work(item, rollout, raw_path, raw, name, view.files.get(summary), unfit, earlier=segments))
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


async def _extract(store: Store, work: _Work, model: Model, limits: Limits, flights: _Flights, report: Report) -> None:
    if limits.deadline is not None and asyncio.get_running_loop().time() >= limits.deadline:
        _left(work, LATE, report, 0)
        return
    previous = redact(work.raw.decode("utf-8", "replace"), store.salt) if work.raw else ""
    body = previous.partition("\n\n")[2]
    request = extraction.request(work.rollout, previous=body, layout=store.layout, extra_prompt=limits.extra_prompt)

    shown = recall.chosen(fold(store.ledger), store.layout.preset)
    told = [record.text for record in shown if work.due.stem not in record.support]

    def verify(draft: Any) -> RawMemory:
        return extraction.verify(
            draft,
            work.rollout,
            layout=store.layout,
            summary_file=work.summary_name,
            previous=body,
            earlier=work.earlier,
            told=told,
        )

    try:
        if work.unfit or report.unusable:
            raise ModelError(work.unfit or report.unusable, retryable=False)
        async with flights.flight(estimate(request.instructions) + estimate(request.input)):
            raw, usage = await ask(model, request, verify, limits, extraction.again)
        raw = screening.without_forgotten(raw, fold(store.ledger))
    except ModelError as error:
        report.unusable = error.cause if isinstance(error, NoUsableModel) else report.unusable
        _left(work, error.cause, report, error.attempts, Usage(*error.spent))
        return
    committed = False

    def maker(state: State) -> Change:
        nonlocal committed
        known = state.rollouts.get(work.due.stem)
        committed = (known.consumed if known else 0) == work.due.consumed
        # Words that were forgotten since the transcript was read do not come in with what was made of it.
        committed = committed and not any(erasure.ordinal > work.order[0] for erasure in state.erasures.values())
        if not committed:
            return Change("extraction")
        return Change("extraction", (_operation(work, raw, usage),), refused=raw.refused)

    try:
        await _write(store, work, raw, maker)
    except SandboxMemoryError as error:
        _left(work, str(error), report, 1, usage)
        return
    report.usage += usage
    if committed:
        report.extracted.append(work.due.stem)
        report.refuse(raw.refused)


def _left(work: _Work, cause: str, report: Report, attempts: int, spent: Usage | None = None) -> None:
    if cause not in report.failed.values():
        logger.warning("sandbox memory: extraction of %s is left pending: %s", work.due.stem, cause)
    report.failed[work.due.stem], report.attempts[work.due.stem] = cause, attempts
    if spent is not None and spent.requests:
        report.spent[work.due.stem] = spent
        report.usage += spent


async def _write(store: Store, work: _Work, raw: RawMemory, maker: Maker) -> None:
    """Write the two files and commit; what somebody saved into one of them meanwhile is read again and kept."""
    summary = store.layout.memory(raw.summary_file)
    for _ in range(SAVES):
        try:
            await store.append(maker, _files(store, work, raw))
            return
        except Conflict as conflict:
            if conflict.path not in (work.raw_path, summary):
                raise
        files = (await store.look([work.raw_path, summary])).files
        work = replace(work, raw=files.get(work.raw_path), summary=files.get(summary))
    raise Conflict(work.raw_path, f"somebody saved it, or {summary}, {SAVES} times while it was written")


def _operation(work: _Work, raw: RawMemory, usage: Usage) -> Operation:
    facts: dict[str, Any] = {
        "consumed": raw.consumed,
        "order": list(work.order),
        "updated_at": raw.updated_at,
        "summary_file": raw.summary_file,
        "terminal_state": raw.terminal_state,
        "candidates": [candidate_facts(candidate) for candidate in raw.candidates],
        "usage": usage.to_json(),
    }
    body = {
        "task": raw.task,
        "keywords": list(raw.keywords),
        "candidates": [candidate_body(candidate) for candidate in raw.candidates],
    }
    return Operation("extract", work.due.stem, facts, body)


def _files(store: Store, work: _Work, raw: RawMemory) -> list[Replace]:
    """The two files of an extraction, with what they said before below; one that a person edited stays unsigned."""
    if not raw.summary_file:
        return []
    previous = redact(work.raw.decode("utf-8", "replace"), store.salt) if work.raw else ""
    before = redact(work.summary.decode("utf-8", "replace"), store.salt) if work.summary else ""
    texts = (
        (work.raw_path, work.raw, raw_memory_file(raw, previous=previous)),
        (store.layout.memory(raw.summary_file), work.summary, summary_file(raw, previous=before)),
    )
    return [
        Replace(
            path,
            signed(text) if old is None or is_ours(old) else text.encode("utf-8", "replace"),
            expect=ABSENT if old is None and path == work.raw_path else digest(old) if old is not None else None,
            required=True,
        )
        for path, old, text in texts
    ]


def _consumed(works: list[_Work], state: State) -> Change:
    operations = tuple(
        Operation("consume", work.due.stem, {"consumed": work.rollout.end})
        for work in works
        if work.rollout.end != (state.rollouts[work.due.stem].consumed if work.due.stem in state.rollouts else 0)
    )
    return Change("extraction", operations)
