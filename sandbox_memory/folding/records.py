"""What operations do to records: they come, change, are replaced, let go, put aside, and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..governance import lifetime
from ..ledger import Commit, Operation
from ..records import Evidence, Kind, Record, Status, Trust
from ..state import PEOPLE, Gone, State, Typed, evidence_of


def fit(operation: Operation, prefix: str) -> None:
    """Raises `ValueError` for an operation whose id is none of ours."""
    if not re.fullmatch(prefix + "[0-9a-f]{10}", operation.id):
        raise ValueError("not an id of ours")


def _add(state: State, operation: Operation, commit: Commit, position: int) -> None:
    fit(operation, "m-")
    facts, body = operation.facts, operation.body
    evidence = evidence_of(operation)
    known = state.records.get(operation.id)
    kind, trust, protected = _nature(facts)
    begins = _time(facts, "valid_from") or state.at
    replaced = [state.records[old] for old in facts.get("replaces", ()) if old in state.records]
    state.records[operation.id] = Record(
        id=operation.id,
        kind=kind,
        text=str(body.get("text", "")),
        group=str(body.get("group", "")),
        subject=str(body.get("subject", "")),
        evidence=evidence,
        trust=trust,
        protected=protected,
        status=Status.FORGOTTEN if operation.erased else Status.ACTIVE,
        origin=commit.actor,
        section=str(body.get("section", "")),
        created=known.created if known else commit.ordinal,
        created_at=known.created_at if known else state.at,
        updated=commit.ordinal,
        updated_at=state.at,
        support=frozenset(facts.get("support", ())) | {e.rollout for e in evidence},
        importance=_importance(facts, kind, hand=protected and trust is Trust.HAND),
        expires=_time(facts, "expires"),
        pinned=bool(facts.get("pinned", any(each.pinned for each in replaced))),
        valid_from=begins,
        owner=str(body.get("owner", "")),
        markdown=str(body.get("markdown", "")),
    )
    state.tombstones.pop(operation.id, None)
    for old in facts.get("replaces", ()):
        _superseded(state, old, operation.id, begins, commit.actor)
    _typed(state, operation, commit)


def _typed(state: State, operation: Operation, commit: Commit) -> None:
    """Note from which save of which file it came, also a line without an id; not where its words were erased."""
    known = operation.facts.get("buffer")
    if not known or operation.erased:
        return
    file, marker, since = str(known["file"]), int(known["marker"]), int(known["since"])
    for id in (operation.id, *operation.facts.get("replaces", ())):
        if id in state.records:
            state.saved[id, file, marker, commit.actor] = since, state.records[id]
    if "between" in known:
        above, below = map(str, known["between"])
        record = state.records[operation.id]
        state.typed[operation.id] = Typed(file, marker, since, (above, below), record, commit.actor)


def _nature(facts: Mapping[str, Any]) -> tuple[Kind, Trust, bool]:
    return Kind(facts.get("kind", "fact")), Trust.of(facts.get("trust", "agent")), bool(facts.get("protected", False))


def _importance(facts: Mapping[str, Any], kind: Kind, *, hand: bool) -> float:
    if "importance" in facts:
        return lifetime.importance_of(facts["importance"])
    return lifetime.BY_HAND if hand else lifetime.IMPORTANCE[kind]


def _time(facts: Mapping[str, Any], name: str) -> str:
    """A time among the facts as the ledger writes times; empty for none. Raises `ValueError` for what is no time."""
    return lifetime.written(lifetime.moment(str(facts[name]))) if facts.get(name) else ""


def _superseded(state: State, old: str, by: str, since: str, actor: str) -> None:
    if old in state.records and old != by:
        record = state.records[old]
        if actor in PEOPLE:
            _taken_out(state, record, actor, changed=True)
        state.records[old] = record.changed(
            status=Status.SUPERSEDED,
            superseded_by=by,
            valid_to=record.valid_to if record.status is Status.RETIRED else since,
            updated=state.ordinal,
            updated_at=state.at,
        )


def _taken_out(state: State, record: Record, actor: str, *, changed: bool = False) -> None:
    state.gone[record.id] = (*state.gone.get(record.id, ()), Gone(record, state.at, actor, changed))


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
        if body.get("text", record.text) != record.text:
            _taken_out(state, record, commit.actor, changed=True)
        # The person's words replace what the quotes said: those quotes must not bring the old words back.
        state.tombstones[record.id] = state.tombstones.get(record.id, ()) + record.evidence
        evidence = ()
    expires = _time(facts, "expires") if "expires" in facts else record.expires
    if facts.get("overrule") and expires <= state.at:
        expires = ""  # a person is at work on a line that was about to go
    importance = lifetime.importance_of(facts["importance"]) if "importance" in facts else record.importance
    kept = record.markdown if body.get("text", record.text) == record.text else ""
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
        updated_at=state.at,
        importance=importance,
        expires=expires,
        pinned=bool(facts.get("pinned", record.pinned)),
        markdown=str(body.get("markdown", kept)),
    )
    _typed(state, operation, commit)


def _move(state: State, operation: Operation, commit: Commit, position: int) -> None:
    title = str(operation.body.get("group", ""))
    known = title in state.named or commit.actor == "consolidation"
    if not known and all(record.group != title for record in state.records.values()):
        state.named[title] = commit.ordinal
    _revise(state, operation, commit, position)


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
        updated_at=state.at,
    )


def _delete(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None:
        return
    forgotten = operation.op == "forget" or record.status is Status.FORGOTTEN
    status = Status.FORGOTTEN if forgotten else Status.DELETED
    if forgotten:
        state.gone.pop(record.id, None)
        state.typed.pop(record.id, None)
        for key in [key for key in state.saved if key[0] == record.id]:
            del state.saved[key]
    else:
        _taken_out(state, record, commit.actor)
    spans = record.evidence + evidence_of(operation)
    state.tombstones[record.id] = state.tombstones.get(record.id, ()) + spans
    state.records[record.id] = record.changed(status=status, updated=commit.ordinal, updated_at=state.at)
    if not forgotten:
        _typed(state, operation, commit)


def _retire(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """Let go by code; what is retired otherwise than by its expiry was still so then."""
    record = state.records.get(operation.id)
    if record is None or record.status is not Status.ACTIVE:
        return
    reason = str(operation.facts["reason"])
    state.records[record.id] = replace(
        record,
        status=Status.RETIRED,
        retired=reason,
        valid_to=record.expires if reason == lifetime.EXPIRED else record.valid_to,
        updated=commit.ordinal,
        updated_at=state.at,
    )


def _restore(state: State, operation: Operation, commit: Commit, position: int) -> None:
    record = state.records.get(operation.id)
    if record is None or record.status is Status.FORGOTTEN:
        return
    # Quotes that a person's words had replaced before stay spent: only those of the record itself count again.
    spent = tuple(span for span in state.tombstones.pop(record.id, ()) if span not in record.evidence)
    if spent:
        state.tombstones[record.id] = spent
    over = "" if record.expires <= state.at else record.expires
    state.records[record.id] = record.changed(
        status=Status.ACTIVE, superseded_by="", retired="", expires=over, valid_to=""
    )
    _revise(state, operation, commit, position)


REVERTED = ("text", "subject", "group", "section", "markdown")
"""Words of a record that a commit which is taken back may have changed."""
PLAIN = ("protected", "pinned", "importance", "origin", "superseded_by", "expires", "valid_from", "valid_to", "retired")
"""The same of what stays beside the words; `kind`, `trust`, `status`, `support` and the quotes come on top."""


def revert(then: Record, now: Record, spent: tuple[tuple[Evidence, ...], tuple[Evidence, ...]]) -> Operation | None:
    """The operation that makes the record `now` what it is `then`, by the fields that differ; None for none.

    `spent` are the quotes that count no more for it, then and now.
    """
    body: dict[str, Any] = {name: getattr(then, name) for name in REVERTED if getattr(then, name) != getattr(now, name)}
    facts: dict[str, Any] = {name: getattr(then, name) for name in PLAIN if getattr(then, name) != getattr(now, name)}
    facts |= {"kind": then.kind.value} if then.kind is not now.kind else {}
    facts |= {"trust": then.trust.label} if then.trust is not now.trust else {}
    facts |= {"status": then.status.value} if then.status is not now.status else {}
    facts |= {"support": sorted(then.support)} if then.support != now.support else {}
    if then.evidence != now.evidence:
        facts["evidence"] = [quote.to_json() for quote in then.evidence]
        body["quotes"] = [quote.quote for quote in then.evidence]
    if not (body or facts):
        return None
    if set(spent[0]) != set(spent[1]):
        facts["spent"] = [quote.to_json() for quote in spent[0]]
    return Operation("revert", then.id, facts, body)


def _revert(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A record as it would be without a commit that is taken back; erased words do not come back."""
    record = state.records.get(operation.id)
    if record is None or record.status is Status.FORGOTTEN:
        return
    facts, body = operation.facts, operation.body
    fields: dict[str, Any] = {name: str(body[name]) for name in REVERTED if name in body}
    fields |= {name: facts[name] for name in PLAIN if isinstance(facts.get(name), type(getattr(record, name)))}
    fields |= {name: _time(facts, name) for name in ("expires", "valid_from", "valid_to") if name in facts}
    if "importance" in facts:
        fields["importance"] = lifetime.importance_of(facts["importance"])
    if "evidence" in facts and not operation.erased:
        fields["evidence"] = evidence_of(operation)
    if "support" in facts:
        fields["support"] = frozenset(map(str, facts["support"]))
    status = Status(facts["status"]) if "status" in facts else record.status
    state.records[record.id] = record.changed(
        **fields,
        kind=Kind(facts.get("kind", record.kind)),
        trust=Trust.of(facts["trust"]) if "trust" in facts else record.trust,
        status=Status.DELETED if status is Status.FORGOTTEN else status,
        updated=commit.ordinal,
        updated_at=state.at,
    )
    if "spent" in facts:
        state.tombstones[record.id] = tuple(Evidence.from_json(place) for place in facts["spent"])


def _hold(state: State, operation: Operation, commit: Commit, position: int) -> None:
    before, after = (Status.ACTIVE, Status.HELD) if operation.op == "hold" else (Status.HELD, Status.ACTIVE)
    record = state.records.get(operation.id)
    if record is None or record.status is not before:
        return
    by = str(operation.facts.get("by", ""))
    if after is Status.ACTIVE and by != record.id and by in state.records:  # it stands in sight in another line
        changes = {"updated": state.ordinal, "updated_at": state.at}
        state.records[record.id] = record.changed(status=Status.SUPERSEDED, superseded_by=by, **changes)
    else:
        state.records[record.id] = replace(record, status=after)
    _typed(state, operation, commit)


OPERATIONS: dict[str, Callable[[State, Operation, Commit, int], None]] = dict(
    add=_add,
    supersede=_add,
    merge=_add,
    revise=_revise,
    move=_move,
    support=_support,
    delete=_delete,
    forget=_delete,
    restore=_restore,
    retire=_retire,
    revert=_revert,
    hold=_hold,
    release=_hold,
)
