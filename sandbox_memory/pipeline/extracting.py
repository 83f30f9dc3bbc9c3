"""Phase 1: one extraction for each rollout with something new, several at once, each committed on its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from .. import notes, screening
from ..errors import ModelError, NoUsableModel, SandboxMemoryError
from ..folding import fold
from ..governance.lifetime import later
from ..governance.redaction import redact
from ..ledger import Operation
from ..models import Model
from ..records import RawMemory, Record, Usage
from ..stages import extraction, recall
from ..state import State
from ..tokens import estimate
from . import filing
from .asking import Limits, ask
from .gathering import Work, batches, read
from .reports import Due, Progress, Report, failures
from .settle import Change
from .store import Store

logger = logging.getLogger("sandbox_memory")

LATE = "the session's close had to end before its turn came"


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
    lots = batches(pending)
    for place, lot in enumerate(lots, 1):
        found = await read(store, lot, state, session_open)
        if place == len(lots):
            store.visit.left()
        works = [replace(work, order=(state.ordinal, done + n)) for n, work in enumerate(found, 1)]
        skipped = [work for work in works if not work.rollout.segments]
        if skipped:
            await store.append(partial(filing.consumed, skipped))

        async def one(work: Work) -> None:
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


async def _extract(store: Store, work: Work, model: Model, limits: Limits, flights: _Flights, report: Report) -> None:
    if limits.deadline is not None and asyncio.get_running_loop().time() >= limits.deadline:
        _left(work, LATE, report, 0)
        return
    previous = redact(work.raw.decode("utf-8", "replace"), store.salt) if work.raw else ""
    body = notes.body(previous)
    request = extraction.request(work.rollout, previous=body, layout=store.layout, extra_prompt=limits.extra_prompt)

    shown = recall.chosen(fold(store.ledger), store.layout.preset)
    told = [record.text for record in shown if work.due.stem not in record.support and _was_there(record, work)]

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
        return Change("extraction", (filing.operation(work, raw, usage),), refused=raw.refused)

    try:
        await filing.write(store, work, raw, maker)
    except SandboxMemoryError as error:
        _left(work, str(error), report, 1, usage)
        return
    report.usage += usage
    if committed:
        report.extracted.append(work.due.stem)
        report.refuse(raw.refused)


def _was_there(record: Record, work: Work) -> bool:
    """True if the agent of these runs may have been told that: it was remembered before the last of them ended."""
    ended = reduce(later, (segment.updated_at for segment in work.rollout.segments), "")
    return work.doubted or not ended or later(record.created_at, ended) == ended


def _left(work: Work, cause: str, report: Report, attempts: int, spent: Usage | None = None) -> None:
    if cause not in report.failed.values():
        logger.warning("sandbox memory: extraction of %s is left pending: %s", work.due.stem, cause)
    report.failed[work.due.stem], report.attempts[work.due.stem] = cause, attempts
    if spent is not None and spent.requests:
        report.spent[work.due.stem] = spent
        report.usage += spent
