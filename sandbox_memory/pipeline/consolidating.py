"""Phase 2: the pending candidates against what is known, as operations that code has checked."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

from .. import screening
from ..errors import ModelError, SandboxMemoryError
from ..folding import fold
from ..governance.redaction import redact
from ..known import Known
from ..ledger import Operation
from ..models import CONSOLIDATION, ConsolidationDraft, Lookup, Model
from ..records import Refusal, Usage
from ..showing import openable
from ..stages import planning
from ..state import State
from ..templates import fenced, render
from ..transcript import fitted
from ..workspace import Ask
from .asking import Limits, ask
from .deciding import decide
from .reports import Progress, Report, failures
from .settle import Change, Maker
from .store import Store

_NOTHING = (ConsolidationDraft(), Usage())
_SUMMARY = re.compile(r"rollout_summaries/([^/\\]+\.md)")
logger = logging.getLogger("sandbox_memory")

CHUNK = 60
"""How many candidates one consolidation request holds at most."""
OPENED = 5
"""How many rollout summaries a model may open for one answer."""
SUMMARY_TOKENS, LARGEST = 2_000, 1 << 20
"""How much of a rollout summary a model is shown, in tokens, and how many bytes of the file is read for that."""


async def consolidate(
    store: Store, model: Model, limits: Limits, actor: str, report: Report, progress: Progress
) -> None:
    """Take in all pending candidates, oldest first, in as many requests as their number needs; stop at a failure.

    What came up as a question is then put to the application, if it decides about such.
    """
    first = len(store.ledger)
    await _consolidate(store, model, limits, actor, report, progress)
    await decide(store, first, actor, limits.deadline)


async def _consolidate(
    store: Store, model: Model, limits: Limits, actor: str, report: Report, progress: Progress
) -> None:
    state, known = fold(store.ledger), Known(audience=store.layout.preset.audience)
    whole = max(1, len(state.pending))
    while state.pending:
        given = screening.inputs(state, CHUNK, known)
        progress("consolidating", whole - len(state.pending), whole)
        answer = await _draft(store, given, model, limits, report) if given.candidates else _NOTHING
        before = len(store.ledger)
        if answer is not None or given.sure:
            maker = _unless_forgotten(_consolidation(given, *(answer or _NOTHING), store), state.ordinal)
            done = await store.settle(actor, [maker])
            report.refuse(done.refused if answer is not None else ())
        for commit_ in store.ledger.commits[before:]:
            report.count(commit_.operations if commit_.actor == "consolidation" else ())
        if answer is None:
            return
        state = fold(store.ledger)
    progress("consolidating", whole, whole)


async def _draft(
    store: Store, given: screening.Inputs, model: Model, limits: Limits, report: Report
) -> tuple[ConsolidationDraft, Usage] | None:
    """Phase 2's model call: a draft of which at least one operation holds on the state as it is now, and its usage.

    None if there is no such draft: the inputs stay pending, with the cause.
    """
    refused: list[Refusal] = []
    request = planning.request(
        given, layout=store.layout, extra_prompt=limits.extra_prompt, lookup=_lookup(store, given)
    )

    def verify(draft: ConsolidationDraft) -> ConsolidationDraft:
        plan = planning.check(draft, given, fold(store.ledger), store.layout.preset, store.guard.policy)
        refused[:] = plan.refused
        if not plan.valid:
            reasons = "; ".join(f"{r.what}: {r.why}" for r in plan.refused[:5]) or "it proposed none"
            raise ModelError(f"no operation of the answer could be used ({reasons})")
        return draft

    try:
        draft, usage = await ask(model, request, verify, limits)
        report.usage += usage
        return draft, usage
    except ModelError as error:
        report.failed[CONSOLIDATION] = error.cause
        report.refuse(refused)
        logger.warning("sandbox memory: consolidation is left pending: %s", error.cause)
        await store.append(_failure(error, report))
        return None


def _lookup(store: Store, given: screening.Inputs) -> Lookup | None:
    """The tool that opens the rollout summaries of what is shown, and no other file; None if there are none."""
    own = (_SUMMARY.fullmatch(path) for path in given.summaries.values())
    files = {path[1]: store.layout.memory(path[0]) for path in own if path}
    names = [name for name in openable(given) if name in files]
    if not names:
        return None

    async def read(name: str) -> str:
        name = name.strip().rpartition("/")[2]
        if name not in names:
            return f"There is no summary of that name. These can be opened: {', '.join(names)}"
        try:
            data = (await store.look([Ask(files[name], limit=LARGEST)])).files.get(files[name])
        except SandboxMemoryError:
            data = None
        if data is None:
            return f"{name} cannot be read."
        return fenced(fitted(redact(data.decode("utf-8", "replace")), SUMMARY_TOKENS), "SUMMARY")

    told = render("consolidation_lookup", most=OPENED).strip()
    return Lookup("open_rollout_summary", told, "name", read, OPENED)


def _consolidation(given: screening.Inputs, draft: ConsolidationDraft, usage: Usage, store: Store) -> Maker:
    def maker(state: State) -> Change:
        plan = planning.check(draft, given, state, store.layout.preset, store.guard.policy)
        operations = (*plan.operations, *_cost(usage))
        return Change("consolidation", operations, plan.consolidated, refused=plan.refused)

    return maker


def _unless_forgotten(maker: Maker, since: int) -> Maker:
    """Nothing, where something was forgotten meanwhile: what it was made from may hold those words."""

    def guarded(state: State) -> Change:
        forgotten = any(erasure.ordinal > since for erasure in state.erasures.values())
        return Change("consolidation") if forgotten else maker(state)

    return guarded


def _failure(error: ModelError, report: Report) -> Maker:
    """Notes why the inputs stay pending, and what was spent on them."""
    spent = Usage(*error.spent)
    report.usage += spent

    def maker(now: State) -> Change:
        noted = failures(now, {"": error.cause}, {"": error.attempts})
        return replace(noted, operations=(*noted.operations, *_cost(spent)))

    return maker


def _cost(usage: Usage) -> tuple[Operation, ...]:
    return (Operation("usage", "", {"usage": usage.to_json()}),) if usage.requests else ()
