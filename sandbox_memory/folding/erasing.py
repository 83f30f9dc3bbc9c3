"""What forgetting does: it is noted with what recognises the words, and what outlives it is restated without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..governance.forgetting import Erasure
from ..ledger import Commit, Operation
from ..records import Status, Trust
from ..state import RolloutState, State, evidence_of


def _erase(state: State, operation: Operation, commit: Commit, position: int) -> None:
    erasure = Erasure.of(operation.id, operation.facts, actor=commit.actor, ordinal=commit.ordinal)
    state.erasures[operation.id] = erasure
    spans = evidence_of(operation)
    if spans:
        state.tombstones[operation.id] = spans


def _erased(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.id in state.erasures:
        state.erasures[operation.id] = replace(state.erasures[operation.id], finished=True)


def _restate(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A record as it is told from now on: what it was told in before may have been erased.

    One that is told the `same` as before has not been changed by it, and is no younger for it.
    """
    record = state.records.get(operation.id)
    if record is None:
        return
    facts, body = operation.facts, operation.body
    evidence = evidence_of(operation)
    rests = record.support | frozenset(map(str, facts.get("support", ())))
    gone = {span.rollout for span in record.evidence} - {span.rollout for span in evidence}
    spent = tuple(replace(span, quote="") for span in record.evidence if span not in evidence)
    state.tombstones[record.id] = state.tombstones.get(record.id, ()) + spent
    told = record.changed(
        text=str(body.get("text", "")),
        subject=str(body.get("subject", "")),
        group=str(body.get("group", "")),
        section=str(body.get("section", "")),
        owner=str(body.get("owner", record.owner)),
        markdown=str(body.get("markdown", "")),
        evidence=evidence,
        trust=Trust.of(facts["trust"]) if "trust" in facts else record.trust,
        status=Status(facts["status"]) if not operation.erased else Status.FORGOTTEN,
        support=(rests - gone) | {span.rollout for span in evidence},
        updated=commit.ordinal,
        updated_at=state.at,
    )
    if facts.get("same") is True:
        told = replace(told, version=record.version, updated=record.updated, updated_at=record.updated_at)
    state.records[record.id] = told


def _retitle(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A conversation under the title, the keywords and the file name that it has from now on."""
    known = state.rollouts.get(operation.id, RolloutState())
    task, keywords = str(operation.body.get("task", "")), tuple(map(str, operation.body.get("keywords", ())))
    state.rollouts[operation.id] = replace(
        known,
        task=task,
        keywords=keywords,
        told=known.told | {task, *keywords},
        summary_file=str(operation.facts.get("summary_file", known.summary_file)),
    )


def _drop_rollout(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A conversation that is forgotten as a whole: its name is left, so that what names it is taken out."""
    known = state.rollouts.get(operation.id, RolloutState())
    file = str(operation.facts.get("summary_file", known.summary_file))
    state.rollouts[operation.id] = RolloutState(summary_file=file, told=known.told)
    state.failures.pop(operation.id, None)
    for key in [key for key in state.pending if key[0] == operation.id]:
        del state.pending[key]


OPERATIONS: dict[str, Callable[[State, Operation, Commit, int], None]] = dict(
    erase=_erase,
    erased=_erased,
    restate=_restate,
    retitle=_retitle,
    drop_rollout=_drop_rollout,
)
