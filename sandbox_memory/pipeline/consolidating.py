"""Phase 2: the pending candidates against what is known, as operations that code has checked."""

from __future__ import annotations

import logging
from typing import Any

from .. import screening
from ..errors import ModelError
from ..folding import fold
from ..layout import Layout
from ..ledger import Operation
from ..models import CONSOLIDATION, ConsolidationDraft, Model
from ..records import Refusal, Usage
from ..stages import planning
from ..state import State
from .asking import Limits, ask
from .reports import Progress, Report, failures
from .settle import Change, Maker
from .store import Store

logger = logging.getLogger("sandbox_memory")

CHUNK = 60
"""How many candidates one consolidation request holds at most."""


async def consolidate(
    store: Store, model: Model, limits: Limits, actor: str, report: Report, progress: Progress
) -> None:
    """Take in all pending candidates, oldest first, in as many requests as their number needs; stop at a failure."""
    state = fold(store.ledger)
    whole = max(1, len(state.pending))
    while state.pending:
        given = screening.inputs(state, CHUNK)
        progress("consolidating", whole - len(state.pending), whole)
        maker: Maker
        if given.candidates:
            answer = await _draft(store, given, model, limits, report)
            if answer is None:
                return
            maker = _consolidation(given, *answer, store.layout)
        else:
            maker = _nothing_new(given)
        before = len(store.ledger)
        done = await store.settle(actor, [maker])
        report.refuse(done.refused)
        for commit_ in store.ledger.commits[before:]:
            report.count(commit_.operations if commit_.actor == "consolidation" else ())
        state = fold(store.ledger)
    progress("consolidating", whole, whole)


async def _draft(
    store: Store, given: screening.Inputs, model: Model, limits: Limits, report: Report
) -> tuple[ConsolidationDraft, Usage] | None:
    """Phase 2's model call: a draft of which at least one operation holds on the state as it is now, and its usage.

    None if there is no such draft: the inputs stay pending, with the cause.
    """
    refused: list[Refusal] = []
    request = planning.request(given, layout=store.layout, extra_prompt=limits.extra_prompt)

    def verify(draft: ConsolidationDraft) -> ConsolidationDraft:
        plan = planning.check(draft, given, fold(store.ledger), store.layout.preset)
        refused[:] = plan.refused
        if not plan.valid:
            reasons = "; ".join(f"{r.what}: {r.why}" for r in plan.refused[:5]) or "it proposed none"
            raise ModelError(f"no operation of the answer could be used ({reasons})")
        return draft

    try:
        return await ask(model, request, verify, limits)
    except ModelError as error:
        report.failed[CONSOLIDATION], attempts = error.cause, {"": error.attempts}
        report.refuse(refused)
        logger.warning("sandbox memory: consolidation is left pending: %s", error.cause)
        await store.append(lambda now: failures(now, {"": report.failed[CONSOLIDATION]}, attempts))
        return None


def _consolidation(given: screening.Inputs, draft: Any, usage: Any, layout: Layout) -> Maker:
    def maker(state: State) -> Change:
        plan = planning.check(draft, given, state, layout.preset)
        cost = (Operation("usage", "", {"usage": usage.to_json()}),) if usage.requests else ()
        return Change("consolidation", (*plan.operations, *cost), plan.consolidated, refused=plan.refused)

    return maker


def _nothing_new(given: screening.Inputs) -> Maker:
    return lambda now: Change(
        "consolidation", consolidated=tuple(key for key in given.keys if key in now.pending), refused=given.refused
    )
