"""Folding: a ledger's commits, one after the other, into the state that they add up to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from .ledger import Commit, Ledger, Operation
from .records import Kind, Record, Status, Trust
from .state import Failure, Proposal, RolloutState, SkillState, State, candidates_of, evidence_of

SETTINGS = {"max_raw_memories": int, "summary_tokens": int, "sessions_dir": str, "preset": str}
"""What the known settings are; one of another type is passed over."""
KEPT_FOLDS = 4
"""How many states of one ledger are kept for the next question."""


def fold(ledger: Ledger, upto: int | None = None) -> State:
    """The state after the first `upto` commits, or after all of them: the caller's own, to go on from."""
    end = len(ledger) if upto is None else min(upto, len(ledger))
    folds: dict[int, State] = dict(ledger.folds)  # a large markdown file is folded in a thread meanwhile
    if end not in folds:
        start = max((ordinal for ordinal in folds if ordinal < end), default=0)
        state = folds[start].copy() if start else State()
        for commit in ledger.commits[start:end]:
            apply(state, commit)
        if len(folds) >= KEPT_FOLDS:
            ledger.folds.pop(min(folds), None)
        ledger.folds[end] = folds[end] = state
    return folds[end].copy()


def apply(state: State, commit: Commit) -> None:
    """Take one more commit into a state. What nobody of ours can have written is passed over, and noted."""
    state.ordinal = commit.ordinal
    for name, value in (commit.settings or {}).items():
        if type(value) is SETTINGS.get(name, type(value)):
            state.settings[name] = value
    for position, operation in enumerate(commit.operations):
        try:
            OPERATIONS.get(operation.op, _nothing)(state, operation, commit, position)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            state.senseless[commit.ordinal] = f"{operation.op} {operation.id} ({type(error).__name__})"
    for key in commit.consolidated:
        state.pending.pop(key, None)
    if commit.consolidated:
        state.failures.pop("", None)
    for proposal in [p for p in state.proposals.values() if p.on_refusal and not _held(p.on_refusal, state)]:
        del state.proposals[proposal.id]  # a person brought all the lines back: the question has its answer


def _held(operations: Iterable[Operation], state: State) -> bool:
    """True if one of the records still waits for its answer."""
    return any(o.id in state.records and state.records[o.id].status is Status.HELD for o in operations)


def _operations(items: Iterable[Mapping[str, Any]]) -> tuple[Operation, ...]:
    return tuple(Operation(item["op"], item["id"], item["facts"], item["body"]) for item in items)


def _fit(operation: Operation, prefix: str) -> None:
    if not re.fullmatch(prefix + "[0-9a-f]{10}", operation.id):
        raise ValueError("not an id of ours")


def _add(state: State, operation: Operation, commit: Commit, position: int) -> None:
    _fit(operation, "m-")
    facts, body = operation.facts, operation.body
    evidence = evidence_of(operation)
    known = state.records.get(operation.id)
    state.records[operation.id] = Record(
        id=operation.id,
        kind=Kind(facts.get("kind", "fact")),
        text=str(body.get("text", "")),
        group=str(body.get("group", "")),
        subject=str(body.get("subject", "")),
        evidence=evidence,
        trust=Trust.of(facts.get("trust", "agent")),
        protected=bool(facts.get("protected", False)),
        status=Status.FORGOTTEN if operation.erased else Status.ACTIVE,
        origin=commit.actor,
        section=str(body.get("section", "")),
        created=known.created if known else commit.ordinal,
        created_at=known.created_at if known else commit.at,
        updated=commit.ordinal,
        updated_at=commit.at,
        support=frozenset(facts.get("support", ())) | {e.rollout for e in evidence},
    )
    state.tombstones.pop(operation.id, None)
    for old in facts.get("replaces", ()):
        _retire(state, old, operation.id, commit)


def _retire(state: State, old: str, by: str, commit: Commit) -> None:
    if old in state.records and old != by:
        state.records[old] = state.records[old].changed(
            status=Status.SUPERSEDED, superseded_by=by, updated=commit.ordinal, updated_at=commit.at
        )


def _revise(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None:
        return
    facts, body = operation.facts, operation.body
    evidence, support = record.evidence, record.support
    if "evidence" in facts:
        evidence = evidence_of(operation)
        support = support | {e.rollout for e in evidence}
    if facts.get("overrule"):
        # The person's words replace what the quotes said: those quotes must not bring the old words back.
        state.tombstones[record.id] = state.tombstones.get(record.id, ()) + record.evidence
        evidence = ()
    state.records[record.id] = record.changed(
        text=str(body.get("text", record.text)),
        subject=str(body.get("subject", record.subject)),
        group=str(body.get("group", record.group)),
        section=str(body.get("section", record.section)),
        kind=Kind(facts.get("kind", record.kind)),
        trust=Trust.of(facts["trust"]) if "trust" in facts else record.trust,
        protected=bool(facts.get("protected", record.protected)),
        evidence=evidence,
        support=support,
        origin=commit.actor if "text" in body else record.origin,
        updated=commit.ordinal,
        updated_at=commit.at,
    )


def _support(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None:
        return
    evidence = evidence_of(operation)
    state.records[record.id] = replace(
        record,
        evidence=record.evidence + evidence,
        support=record.support | {e.rollout for e in evidence},
        updated=commit.ordinal,
        updated_at=commit.at,
    )


def _delete(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None:
        return
    forgotten = operation.op == "forget" or record.status is Status.FORGOTTEN
    status = Status.FORGOTTEN if forgotten else Status.DELETED
    spans = record.evidence + evidence_of(operation)
    state.tombstones[record.id] = state.tombstones.get(record.id, ()) + spans
    state.records[record.id] = record.changed(status=status, updated=commit.ordinal, updated_at=commit.at)


def _restore(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None or record.status is Status.FORGOTTEN:
        return
    # Quotes that a person's words had replaced before stay spent: only those of the record itself count again.
    spent = tuple(span for span in state.tombstones.pop(record.id, ()) if span not in record.evidence)
    if spent:
        state.tombstones[record.id] = spent
    state.records[record.id] = record.changed(status=Status.ACTIVE, superseded_by="")
    _revise(state, operation, commit, position)


def _hold(state: State, operation: Operation, commit: Commit, position: int) -> None:
    before, after = (Status.ACTIVE, Status.HELD) if operation.op == "hold" else (Status.HELD, Status.ACTIVE)
    record = state.records.get(operation.id)
    if record is not None and record.status is before:
        state.records[record.id] = replace(record, status=after)


def _propose(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.erased:
        return
    _fit(operation, "p-")
    state.proposals[operation.id] = Proposal(
        operation.id,
        str(operation.body.get("text", "")),
        _operations(operation.body.get("operations", ())),
        str(operation.facts.get("source", commit.actor)),
        _operations(operation.body.get("on_refusal", ())),
        dict(operation.body.get("about", {})),
    )


def _unheard(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.id in state.proposals:
        state.proposals[operation.id] = replace(state.proposals[operation.id], unheard=True)


def _decide(state: State, operation: Operation, commit: Commit, position: int) -> None:
    state.proposals.pop(operation.id, None)
    state.decided[operation.id] = bool(operation.facts.get("accepted"))


def _extract(state: State, operation: Operation, commit: Commit, position: int) -> None:
    facts, body = operation.facts, operation.body
    since, rank = facts.get("order", (commit.ordinal, position + 1))
    order = (int(since), int(rank))
    known = state.rollouts.get(operation.id, RolloutState())
    task, keywords = str(body.get("task", "")), tuple(map(str, body.get("keywords", ())))
    state.rollouts[operation.id] = RolloutState(
        consumed=max(0, int(facts["consumed"])),
        order=order,
        updated_at=str(facts.get("updated_at", "")),
        summary_file=str(facts.get("summary_file", "")),
        terminal_state=str(facts.get("terminal_state", "")),
        task=task,
        keywords=keywords,
        told=known.told | {task, *keywords},
        usage=_sum(known.usage, facts.get("usage", {})),
    )
    state.failures.pop(operation.id, None)
    candidates = candidates_of(operation)
    if candidates:
        state.pending[(operation.id, commit.ordinal)] = candidates
        state.orders[(operation.id, commit.ordinal)] = order


def _sum(one: Mapping[str, int], two: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + two.get(key, 0) for key in {*one, *two}}


def _consume(state: State, operation: Operation, commit: Commit, position: int) -> None:
    known = state.rollouts.get(operation.id, RolloutState())
    state.rollouts[operation.id] = replace(known, consumed=max(0, int(operation.facts["consumed"])))
    if operation.facts.get("anew"):
        for key in [key for key in state.pending if key[0] == operation.id]:
            del state.pending[key]
    state.failures.pop(operation.id, None)


def _fail(state: State, operation: Operation, commit: Commit, position: int) -> None:
    before = state.failures.get(operation.id)
    attempts = int(operation.facts.get("attempts", 1)) + (before.attempts if before else 0)
    state.failures[operation.id] = Failure(str(operation.body.get("cause", "")), attempts, commit.at)


def _usage(state: State, operation: Operation, commit: Commit, position: int) -> None:
    spent = operation.facts.get("usage", {})
    if not operation.id:
        state.consolidation_usage = _sum(state.consolidation_usage, spent)
        return
    known = state.rollouts.get(operation.id, RolloutState())
    state.rollouts[operation.id] = replace(known, usage=_sum(known.usage, spent))


def _write_skill(state: State, operation: Operation, commit: Commit, position: int) -> None:
    facts = operation.facts
    state.skills[operation.id] = SkillState(
        tuple(map(str, facts.get("records", ()))),
        bool(facts.get("edited")),
        due=bool(facts.get("due")),
        text=str(operation.body.get("text", "")),
    )


def _drop_skill(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.facts.get("deleted"):
        state.skills[operation.id] = SkillState(state.skills.get(operation.id, SkillState()).records, dropped=True)
    else:
        state.skills.pop(operation.id, None)


def _nothing(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A note, or an operation of a later version: kept in the history, without effect on records."""


OPERATIONS: dict[str, Callable[[State, Operation, Commit, int], None]] = dict(
    add=_add,
    supersede=_add,
    merge=_add,
    revise=_revise,
    move=_revise,
    support=_support,
    delete=_delete,
    forget=_delete,
    restore=_restore,
    hold=_hold,
    release=_hold,
    propose=_propose,
    decide=_decide,
    unheard=_unheard,
    extract=_extract,
    consume=_consume,
    fail=_fail,
    usage=_usage,
    write_skill=_write_skill,
    drop_skill=_drop_skill,
)
