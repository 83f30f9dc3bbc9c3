"""Planning: new candidates against what is known, as operations that code has checked.

A model (or the built-in one) proposes; `check` lets in what is grounded in quotes, touches nothing that a person made
theirs, and does not bring back what a person took out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..document import normalise, safe_text
from ..document.text import cleaned as plain_line
from ..governance.grounding import ungrounded
from ..governance.redaction import redact
from ..governance.wording import content, normal, words
from ..layout import Layout, Preset
from ..ledger import Operation
from ..models import ConsolidationDraft, ConsolidationMaterial, DraftOperation, Request
from ..proposals import new_id, propose
from ..records import Candidate, Evidence, Kind, Record, Refusal, Status, Trust
from ..screening import Inputs, Screen
from ..state import State
from ..templates import one_line, render

REMOVED_BY_ONE = 5
"""How many records one operation may replace."""
DELETED_AT_ONCE = 5
SHARE_AT_ONCE = 0.2
"""More than max(DELETED_AT_ONCE, SHARE_AT_ONCE of the records) are never deleted by one answer."""
TEXT_LENGTH = 500
TITLE_LENGTH = 120
"""How many characters a record, and a group or subject, may have at most."""


@dataclass(frozen=True)
class Plan:
    """Operations ready to commit, what was refused and why, and which extractions they take in.

    `valid` is False when nothing that was proposed could be used: the inputs then stay pending.
    """

    operations: tuple[Operation, ...]
    refused: tuple[Refusal, ...]
    consolidated: tuple[tuple[str, int], ...]
    valid: bool = True


def request(given: Inputs, *, layout: Layout, extra_prompt: str | None) -> Request[ConsolidationDraft]:
    """The model request for these inputs."""
    return Request(
        task="consolidation",
        instructions=render(
            "consolidation_instructions",
            preset=layout.preset,
            kinds=[kind.value for kind in layout.preset.headings],
            extra_prompt=extra_prompt,
        ),
        input=render(
            "consolidation_input",
            candidates=[_shown(f"c{n}", c, c.task) for n, c in enumerate(given.candidates, 1)],
            records=[_shown(f"r{n}", r, r.group) for n, r in enumerate(given.records, 1)],
            groups=given.groups,
        ),
        output_type=ConsolidationDraft,
        material=ConsolidationMaterial(given.candidates, given.records, given.groups, layout),
    )


def _shown(name: str, value: Candidate | Record, group: str) -> dict[str, Any]:
    return {
        "name": name,
        "kind": value.kind.value,
        "text": value.text,
        "subject": value.subject,
        "group": group,
        "trust": value.trust.label,
        "protected": isinstance(value, Record) and value.protected,
        "quotes": [e.quote for e in value.evidence],
    }


def check(draft: ConsolidationDraft, given: Inputs, state: State, preset: Preset) -> Plan:
    """The operations of a draft that may be committed on `state`, which may be newer than what it was made from."""
    checking = _Check(given, state, preset)
    for operation in draft.operations:
        checking.take(operation)
    keys = tuple(key for key in given.keys if key in state.pending)
    valid = bool(checking.used) or not given.candidates
    refused = (*given.refused, *checking.refused)
    return Plan(tuple(checking.operations), refused, keys if valid else (), valid)


class _Check:
    """Takes proposed operations one by one; accepts, refuses with a reason, or makes a proposal of them."""

    def __init__(self, given: Inputs, state: State, preset: Preset) -> None:
        self.state, self.preset = state, preset
        self.candidates = {f"c{n}": c for n, c in enumerate(given.candidates, 1)}
        self.records = {f"r{n}": r.id for n, r in enumerate(given.records, 1)}
        self.screen = Screen(state)
        self.operations: list[Operation] = []
        self.refused: list[Refusal] = []
        self.used: set[str] = set()
        self.removed: set[str] = set()
        self.deleted = 0
        self.most = max(DELETED_AT_ONCE, SHARE_AT_ONCE * len(state.visible()))
        self.texts = {normalise(record.text): record.id for record in state.visible().values()}

    def take(self, draft: DraftOperation) -> None:
        """Accept one proposed operation, or note why not."""
        label = one_line(f"{draft.op} {' '.join([*draft.candidates, *draft.records])}")[:TITLE_LENGTH]
        try:
            operations = list(self._operations(draft))
        except _Refused as refusal:
            self.refused.append(Refusal(label, str(refusal)))
            return
        self.used.update(draft.candidates)
        for operation in operations:
            self.removed.update(operation.facts.get("replaces", [operation.id] if operation.op == "delete" else []))
            self.deleted += operation.op == "delete"
        self.operations.extend(operations)

    def _operations(self, draft: DraftOperation) -> Iterator[Operation]:
        candidates = self._candidates(draft)
        records = self._records(draft)
        if draft.op == "skip":
            if not candidates:
                raise _Refused("names nothing to skip")
            return
        if draft.op == "move":
            yield from self._move(draft, records)
            return
        if not candidates:
            raise _Refused("names no new candidate that accounts for it")
        if draft.op == "add":
            yield self._added("add", draft, candidates, [])
        elif draft.op == "support":
            yield self._supported(self._one(records).id, candidates)
        elif draft.op in ("supersede", "revise", "merge"):
            yield from self._replaced(draft, candidates, records)
        elif draft.op == "delete":
            yield from self._deleted(candidates, records)
        else:
            raise _Refused("is no operation that is known here")

    def _candidates(self, draft: DraftOperation) -> list[Candidate]:
        unknown = [name for name in draft.candidates if name not in self.candidates]
        if unknown:
            raise _Refused(f"there is no {unknown[0]}")
        if draft.op != "skip" and any(name in self.used for name in draft.candidates):
            raise _Refused("the same candidate was used before")
        found = [self.candidates[name] for name in dict.fromkeys(draft.candidates)]
        for candidate in found:
            why = self.screen.refuses(candidate)
            if why:
                raise _Refused(why)
        return found

    def _records(self, draft: DraftOperation) -> list[Record]:
        unknown = [name for name in draft.records if name not in self.records]
        if unknown:
            raise _Refused(f"there is no {unknown[0]}")
        found = [self.state.records[self.records[name]] for name in dict.fromkeys(draft.records)]
        if any(record.status is not Status.ACTIVE or record.id in self.removed for record in found):
            raise _Refused("the record is gone meanwhile")
        return found

    def _one(self, records: Sequence[Record]) -> Record:
        if len(records) != 1:
            raise _Refused("must name exactly one record")
        return records[0]

    def _supported(self, id: str, candidates: Sequence[Candidate]) -> Operation:
        evidence = [e for candidate in candidates for e in candidate.evidence]
        return Operation(
            "support", id, {"evidence": [e.to_json() for e in evidence]}, {"quotes": [e.quote for e in evidence]}
        )

    def _added(
        self, op: str, draft: DraftOperation, candidates: Sequence[Candidate], replaced: Sequence[Record]
    ) -> Operation:
        first = candidates[0]
        evidence = [e for candidate in candidates for e in candidate.evidence]
        evidence += [e for record in replaced for e in record.evidence] if op == "merge" else []
        text = self._text(draft.text or first.text, evidence)
        same = self.texts.get(normalise(text))
        if same and (same not in {record.id for record in replaced} or len(replaced) == 1):
            return self._supported(same, candidates)
        kind = self._kind(draft.kind, first.kind)
        group = _title(draft.group or (replaced[0].group if replaced else first.task)) or "General"
        id = new_id()
        self.texts[normalise(text)] = id
        facts: dict[str, Any] = {
            "kind": kind.value,
            "trust": min(e.trust for e in evidence).label,
            "evidence": [e.to_json() for e in evidence],
        }
        if replaced:
            facts["replaces"] = [record.id for record in replaced]
        body = {
            "text": text,
            "subject": _title(draft.subject or first.subject),
            "group": group,
            "section": self.preset.headings[kind],
            "quotes": [e.quote for e in evidence],
        }
        return Operation(op, id, facts, body)

    def _replaced(
        self, draft: DraftOperation, candidates: Sequence[Candidate], records: Sequence[Record]
    ) -> Iterator[Operation]:
        if not records or len(records) > REMOVED_BY_ONE:
            raise _Refused(f"must name 1 to {REMOVED_BY_ONE} records")
        self._accounted(candidates, records)
        operation = self._added("merge" if draft.op == "merge" else "supersede", draft, candidates, records)
        if operation.op == "support":
            yield operation
            return
        trust = Trust.of(operation.facts["trust"])
        standing = [record for record in records if record.protected or record.trust > trust]
        if standing:
            yield from self._proposed(operation, standing[0])
        else:
            yield operation

    def _deleted(self, candidates: Sequence[Candidate], records: Sequence[Record]) -> Iterator[Operation]:
        record = self._one(records)
        self._accounted(candidates, records)
        if self.deleted >= self.most:
            raise _Refused(f"more than {self.most:.0f} lines are not deleted at once")
        trust = min(candidate.trust for candidate in candidates)
        operation = Operation("delete", record.id)
        if record.protected or record.trust > trust:
            yield from self._proposed(operation, record)
        else:
            yield operation

    def _accounted(self, candidates: Sequence[Candidate], records: Sequence[Record]) -> None:
        """Each record must share its subject or a word that carries meaning with the candidates."""
        subjects = {normalise(candidate.subject).casefold() for candidate in candidates if candidate.subject}
        known = _meaning(candidates)
        for record in records:
            if normalise(record.subject).casefold() not in subjects and not known & _meaning([record]):
                raise _Refused(f"nothing that was learned is about “{record.text}”")

    def _proposed(self, operation: Operation, record: Record) -> Iterator[Operation]:
        new = operation.body.get("text")
        text = f"replace “{record.text}” by “{new}”?" if new else f"delete “{record.text}”?"
        source = ", ".join(sorted({e["rollout"] for e in operation.facts.get("evidence", ())})) or "consolidation"
        yield from propose(self.state, text, (operation,), source=source)

    def _move(self, draft: DraftOperation, records: Sequence[Record]) -> Iterator[Operation]:
        record = self._one(records)
        group = _title(draft.group)
        if not group:
            raise _Refused("names no group to move to")
        if record.protected:
            raise _Refused("the line is a person's, and stays where it is")
        yield Operation("move", record.id, {}, {"group": group, "section": record.section})

    def _kind(self, wanted: str, fallback: Kind) -> Kind:
        try:
            kind = Kind(wanted) if wanted else fallback
        except ValueError:
            kind = fallback
        if kind not in self.preset.headings:
            raise _Refused(f"this layout does not remember a {kind.value}")
        return kind

    def _text(self, text: str, evidence: Sequence[Evidence]) -> str:
        text = one_line(text)
        if not text:
            raise _Refused("has no text")
        if len(text) > TEXT_LENGTH:
            raise _Refused(f"is longer than {TEXT_LENGTH} characters")
        if redact(text) != text:
            raise _Refused("holds a secret")
        why = ungrounded(text, [e.quote for e in evidence])
        if why:
            raise _Refused(why)
        return safe_text(text)


def _meaning(values: Sequence[Candidate | Record]) -> frozenset[str]:
    texts = [text for value in values for text in (value.text, *(quote.quote for quote in value.evidence))]
    return frozenset().union(*(content(words(normal(text))) for text in texts))


def _title(text: str) -> str:
    """A group or a subject on one line, not too long, without a secret."""
    return redact(plain_line(text))[:TITLE_LENGTH].strip()


class _Refused(Exception):
    """Why one proposed operation is not let in."""
