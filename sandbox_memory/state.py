"""What the ledger's commits add up to: the records now, or as they were at an earlier commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from .ledger import Commit, Ledger, Operation
from .records import Candidate, Evidence, Kind, Record, Status, Trust

DEFAULT_LIMIT = 256
KEPT_FOLDS = 4
"""How many states of one ledger are kept for the next question."""


@dataclass(frozen=True)
class RolloutState:
    """What has become of one rollout file, named by its stem.

    `consumed` is the watermark in bytes. `order` is (ordinal, position) of its last extraction: recency, whatever the
    clock said.
    """

    consumed: int = 0
    order: tuple[int, int] = (0, 0)
    updated_at: str = ""
    summary_file: str = ""
    terminal_state: str = ""
    task: str = ""
    keywords: tuple[str, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """Why work was left pending: the cause, how many tries in all, and when the last one was."""

    cause: str
    attempts: int
    at: str


@dataclass(frozen=True)
class Proposal:
    """Something that waits for a person in `INBOX.md`: what is asked, and the operations that a yes would commit."""

    id: str
    text: str
    operations: tuple[Operation, ...]
    source: str = ""
    on_refusal: tuple[Operation, ...] = ()


@dataclass
class State:
    """The fold of a ledger up to `ordinal`. Built by `fold`; read it, do not change it elsewhere."""

    ordinal: int = 0
    records: dict[str, Record] = field(default_factory=dict)
    rollouts: dict[str, RolloutState] = field(default_factory=dict)
    pending: dict[tuple[str, int], tuple[Candidate, ...]] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    decided: dict[str, bool] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    tombstones: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    consolidation_usage: Mapping[str, int] = field(default_factory=dict)

    @property
    def limit(self) -> int:
        """How many of the newest conversations support what is visible (`max_raw_memories`)."""
        return int(self.settings.get("max_raw_memories", DEFAULT_LIMIT))

    def selection(self) -> list[str]:
        """The stems of the newest conversations, newest first, at most `limit` of them."""
        known = [stem for stem, rollout in self.rollouts.items() if rollout.order > (0, 0)]
        return sorted(known, key=lambda stem: self.rollouts[stem].order, reverse=True)[: self.limit]

    def visible(self) -> dict[str, Record]:
        """The records that stand in the markdown: active, and protected or supported by the selection."""
        selected = set(self.selection())
        return {
            record.id: record
            for record in self.records.values()
            if record.status is Status.ACTIVE
            and (record.protected or not record.support or not selected.isdisjoint(record.support))
        }

    def copy(self) -> State:
        """A state of its own; the records and all else in it are shared, being immutable."""
        copied = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(copied, name, dict(value))
        return copied

    def apply(self, commit: Commit) -> None:
        """Take one more commit in."""
        self.ordinal = commit.ordinal
        if commit.settings:
            self.settings |= commit.settings
        for position, operation in enumerate(commit.operations):
            _APPLY.get(operation.op, _nothing)(self, operation, commit, position)
        for key in commit.consolidated:
            self.pending.pop(key, None)
        if commit.consolidated:
            self.failures.pop("", None)


def fold(ledger: Ledger, upto: int | None = None) -> State:
    """The state after the first `upto` commits, or after all of them: the caller's own, to go on from."""
    end = len(ledger) if upto is None else min(upto, len(ledger))
    if end not in ledger.folds:
        start = max((ordinal for ordinal in ledger.folds if ordinal < end), default=0)
        state = ledger.folds[start].copy() if start else State()
        for commit in ledger.commits[start:end]:
            state.apply(commit)
        if len(ledger.folds) >= KEPT_FOLDS:
            del ledger.folds[min(ledger.folds)]
        ledger.folds[end] = state
    copied: State = ledger.folds[end].copy()
    return copied


def evidence_of(operation: Operation) -> tuple[Evidence, ...]:
    """The quotes of an operation with their places; the quotes are empty where they were erased."""
    places = operation.facts.get("evidence", ())
    quotes = operation.body.get("quotes", ())
    return tuple(Evidence.from_json(place, quotes[n] if n < len(quotes) else "") for n, place in enumerate(places))


def candidate_facts(candidate: Candidate) -> dict[str, Any]:
    """The part of a candidate that an erasure leaves: kind and the places of its quotes."""
    return {"kind": candidate.kind.value, "evidence": [e.to_json() for e in candidate.evidence]}


def candidate_body(candidate: Candidate) -> dict[str, Any]:
    """The erasable part of a candidate: its words."""
    return {
        "text": candidate.text,
        "subject": candidate.subject,
        "task": candidate.task,
        "quotes": [e.quote for e in candidate.evidence],
    }


def candidates_of(operation: Operation) -> tuple[Candidate, ...]:
    """The candidates of an `extract`; none where its words were erased."""
    return tuple(
        Candidate(
            Kind(fact["kind"]),
            str(word["text"]),
            tuple(
                Evidence.from_json(place, quote) for place, quote in zip(fact["evidence"], word["quotes"], strict=True)
            ),
            str(word.get("subject", "")),
            str(word.get("task", "")),
        )
        for fact, word in zip(operation.facts.get("candidates", ()), operation.body.get("candidates", ()), strict=False)
    )


def operation_json(operation: Operation) -> dict[str, Any]:
    """An operation as it is kept inside a proposal."""
    return {"op": operation.op, "id": operation.id, "facts": dict(operation.facts), "body": dict(operation.body)}


def _operations(items: Iterable[Mapping[str, Any]]) -> tuple[Operation, ...]:
    return tuple(Operation(item["op"], item["id"], item["facts"], item["body"]) for item in items)


def _add(state: State, operation: Operation, commit: Commit, position: int) -> None:
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
    state.tombstones[record.id] = state.tombstones.get(record.id, ()) + record.evidence
    state.records[record.id] = record.changed(status=status, updated=commit.ordinal, updated_at=commit.at)


def _restore(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None or record.status is Status.FORGOTTEN:
        return
    state.tombstones.pop(record.id, None)
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
    state.proposals[operation.id] = Proposal(
        operation.id,
        str(operation.body.get("text", "")),
        _operations(operation.body.get("operations", ())),
        str(operation.facts.get("source", commit.actor)),
        _operations(operation.body.get("on_refusal", ())),
    )


def _decide(state: State, operation: Operation, commit: Commit, position: int) -> None:
    state.proposals.pop(operation.id, None)
    state.decided[operation.id] = bool(operation.facts.get("accepted"))


def _extract(state: State, operation: Operation, commit: Commit, position: int) -> None:
    facts, body = operation.facts, operation.body
    state.rollouts[operation.id] = RolloutState(
        consumed=int(facts["consumed"]),
        order=(commit.ordinal, position + 1),
        updated_at=str(facts.get("updated_at", "")),
        summary_file=str(facts.get("summary_file", "")),
        terminal_state=str(facts.get("terminal_state", "")),
        task=str(body.get("task", "")),
        keywords=tuple(body.get("keywords", ())),
        usage=_sum(state.rollouts.get(operation.id, RolloutState()).usage, facts.get("usage", {})),
    )
    state.failures.pop(operation.id, None)
    candidates = candidates_of(operation)
    if candidates:
        state.pending[(operation.id, commit.ordinal)] = candidates


def _sum(one: Mapping[str, int], two: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + two.get(key, 0) for key in {*one, *two}}


def _consume(state: State, operation: Operation, commit: Commit, position: int) -> None:
    known = state.rollouts.get(operation.id, RolloutState())
    state.rollouts[operation.id] = replace(known, consumed=int(operation.facts["consumed"]))
    state.failures.pop(operation.id, None)


def _fail(state: State, operation: Operation, commit: Commit, position: int) -> None:
    before = state.failures.get(operation.id)
    attempts = int(operation.facts.get("attempts", 1)) + (before.attempts if before else 0)
    state.failures[operation.id] = Failure(str(operation.body.get("cause", "")), attempts, commit.at)


def _usage(state: State, operation: Operation, commit: Commit, position: int) -> None:
    state.consolidation_usage = _sum(state.consolidation_usage, operation.facts.get("usage", {}))


def _nothing(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A note, or an operation of a later version: kept in the history, without effect on records."""


_APPLY: dict[str, Callable[[State, Operation, Commit, int], None]] = dict(
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
    extract=_extract,
    consume=_consume,
    fail=_fail,
    usage=_usage,
)
