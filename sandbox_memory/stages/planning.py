"""Planning: new candidates against what is known, as operations that code has checked.

Where there is no doubt code has decided before, in `certain`. For the rest a model (or the built-in one) proposes;
`check` lets in what is grounded in quotes, touches nothing that a person made theirs, and does not bring back what a
person took out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .. import showing
from ..certain import Sure, bearing
from ..document import normalise, safe_text
from ..document.text import cleaned
from ..governance.attribution import mixed, unsupported
from ..governance.prose import Said, fit_title
from ..governance.redaction import redact
from ..governance.wording import meaning
from ..known import subject_key
from ..layout import Layout, Preset
from ..ledger import Operation
from ..lexical import bare
from ..models import CONSOLIDATION, ConsolidationDraft, ConsolidationMaterial, DraftOperation, Lookup, Request
from ..proposals import new_id, propose
from ..records import Candidate, Evidence, Kind, Record, Refusal, Status, Trust
from ..screening import Inputs, Screen
from ..state import State
from ..templates import render

REMOVED_BY_ONE = 5
"""How many records one operation may replace."""
DELETED_AT_ONCE = 5
SHARE_AT_ONCE = 0.2
"""More than max(DELETED_AT_ONCE, SHARE_AT_ONCE of the records) are never deleted by one answer."""
TEXT_LENGTH = 500
TITLE_LENGTH = 120
"""How many characters a record, and a group or subject, may have at most."""
_REPLACING, _RESTING = ("supersede", "revise", "merge"), ("revise", "merge")
"""Operations that replace records, and those whose text rests on the quotes of the records too."""


@dataclass(frozen=True)
class Plan:
    """Operations ready to commit, what was refused and why, and which extractions they take in.

    `valid` is False when nothing that was proposed could be used: the inputs then stay pending.
    """

    operations: tuple[Operation, ...]
    refused: tuple[Refusal, ...]
    consolidated: tuple[tuple[str, int], ...]
    valid: bool = True


def request(
    given: Inputs, *, layout: Layout, extra_prompt: str | None, lookup: Lookup | None = None
) -> Request[ConsolidationDraft]:
    """The model request for these inputs. `lookup` opens the summaries that the prompt then names."""
    return Request(
        task=CONSOLIDATION,
        instructions=render(
            "consolidation_instructions",
            preset=layout.preset,
            kinds=[kind.value for kind in layout.preset.headings],
            extra_prompt=extra_prompt,
        ),
        input=render(
            "consolidation_input",
            candidates=showing.candidates(given),
            records=showing.records(given),
            groups=given.groups,
            summaries=showing.openable(given) if lookup else {},
        ),
        output_type=ConsolidationDraft,
        material=ConsolidationMaterial(given.candidates, given.records, given.groups, layout),
        lookup=lookup,
    )


def check(draft: ConsolidationDraft, given: Inputs, state: State, preset: Preset) -> Plan:
    """The operations of a draft that may be committed on `state`, which may be newer than what it was made from.

    What code was sure of comes first, also where nothing of the draft can be used.
    """
    checking = _Check(given, state, preset)
    for decided in given.sure:
        checking.decided(decided)
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
        self.groups = frozenset(given.groups)
        self.candidates = {f"c{n}": c for n, c in enumerate(given.candidates, 1)}
        self.records = {f"r{n}": r.id for n, r in enumerate(given.records, 1)}
        self.screen = Screen(state)
        self.operations: list[Operation] = []
        self.refused: list[Refusal] = []
        self.used: set[str] = set()
        self.removed: set[str] = set()
        self.deleted = 0
        self.most = max(DELETED_AT_ONCE, SHARE_AT_ONCE * len(state.visible()))
        self.texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for record in state.visible().values():
            self.texts[bare(record.text)].append((record.id, record.text))

    def take(self, draft: DraftOperation) -> None:
        """Accept one proposed operation, or note why not."""
        label = redact(cleaned(f"{draft.op} {' '.join([*draft.candidates, *draft.records])}"))[:TITLE_LENGTH]
        try:
            if draft.op in _REPLACING and len(set(draft.records)) > REMOVED_BY_ONE:
                raise _Refused(f"must name 1 to {REMOVED_BY_ONE} records")
            operations = list(self._operations(draft, self._candidates(draft), self._records(draft)))
        except _Refused as refusal:
            self.refused.append(Refusal(label, redact(str(refusal))))
            return
        self.used.update(draft.candidates)
        self._accept(operations)

    def decided(self, sure: Sure) -> None:
        """Accept what code decided, or note why that holds no longer."""
        try:
            candidates, records = [self._new(sure.candidate)], [self._standing(sure.record)]
            self._accept(list(self._operations(DraftOperation(op=sure.op), candidates, records)))
        except _Refused as refusal:
            self.refused.append(Refusal(sure.candidate.text, str(refusal)))

    def _accept(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            self.removed.update(operation.facts.get("replaces", [operation.id] if operation.op == "delete" else []))
            self.deleted += operation.op == "delete"
        self.operations.extend(operations)

    def _operations(
        self, draft: DraftOperation, candidates: Sequence[Candidate], records: Sequence[Record]
    ) -> Iterator[Operation]:
        if draft.op == "skip":
            if not candidates:
                raise _Refused("names nothing to skip")
            return
        if draft.op == "move":
            yield from self._move(draft, records)
            return
        if not candidates and draft.op != "merge":
            raise _Refused("names no new candidate that accounts for it")
        if draft.op == "add":
            yield from self._added("add", draft, candidates, [])
        elif draft.op == "support":
            yield self._said_again(self._one(records), candidates)
        elif draft.op in _REPLACING:
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
        return [self._new(self.candidates[name]) for name in dict.fromkeys(draft.candidates)]

    def _new(self, candidate: Candidate) -> Candidate:
        if why := self.screen.refuses(candidate):
            raise _Refused(why)
        return candidate

    def _records(self, draft: DraftOperation) -> list[Record]:
        unknown = [name for name in draft.records if name not in self.records]
        if unknown:
            raise _Refused(f"there is no {unknown[0]}")
        return [self._standing(self.records[name]) for name in dict.fromkeys(draft.records)]

    def _standing(self, id: str) -> Record:
        record = self.state.records[id]
        if record.status is not Status.ACTIVE or id in self.removed:
            raise _Refused("the record is gone meanwhile")
        return record

    def _one(self, records: Sequence[Record]) -> Record:
        if len(records) != 1:
            raise _Refused("must name exactly one record")
        return records[0]

    def _said_again(self, record: Record, candidates: Sequence[Candidate]) -> Operation:
        self._accounted(candidates, [record])
        evidence = [e for candidate in candidates for e in candidate.evidence]
        if self.preset.audience == "many" and (why := mixed(record.text, [*record.evidence, *evidence])):
            raise _Refused(why)
        return self._supported(record.id, evidence)

    def _supported(self, id: str, evidence: Sequence[Evidence]) -> Operation:
        return Operation(
            "support", id, {"evidence": [e.to_json() for e in evidence]}, {"quotes": [e.quote for e in evidence]}
        )

    def _added(
        self, op: str, draft: DraftOperation, candidates: Sequence[Candidate], replaced: Sequence[Record]
    ) -> Iterator[Operation]:
        """The new record: as trusted as the most trusted quotes that carry its text; the other quotes support it."""
        first = candidates[0] if candidates else replaced[0]
        new = [e for candidate in candidates for e in candidate.evidence]
        evidence = [*new, *(e for record in replaced for e in record.evidence)] if draft.op in _RESTING else new
        kind = self._kind(draft.kind, first.kind)
        text = self._text(draft.text or first.text, kind, evidence)
        same = self._same(text)
        if same and new and (same not in {record.id for record in replaced} or len(replaced) == 1):
            yield self._supported(same, new)
            return
        known = next((record for record in replaced), None)
        group = known.group if known else candidates[0].task
        subject = first.subject or (known.subject if known else "")
        id = new_id()
        self.texts[bare(text)].append((id, text))
        best = bearing(text, evidence)
        facts: dict[str, Any] = {
            "kind": kind.value,
            "trust": min(e.trust for e in best).label,
            "evidence": [e.to_json() for e in best],
        }
        if replaced:
            facts["replaces"] = [record.id for record in replaced]
        body = {
            "text": text,
            "subject": self._titled(draft.subject, subject, [*candidates, *replaced]),
            "group": self._titled(draft.group, group, [*candidates, *replaced]) or "General",
            "section": self.preset.headings[kind],
            "quotes": [e.quote for e in best],
        }
        yield Operation(op, id, facts, body)
        others = [e for e in evidence if e not in best]
        if others:
            yield self._supported(id, others)

    def _same(self, text: str) -> str:
        """The id of the visible or new record with that text, compared as items of the markdown are."""
        known = self.texts.get(bare(text), ())
        return next((id for id, other in known if normalise(other) == normalise(text)), "")

    def _replaced(
        self, draft: DraftOperation, candidates: Sequence[Candidate], records: Sequence[Record]
    ) -> Iterator[Operation]:
        if not records:
            raise _Refused(f"must name 1 to {REMOVED_BY_ONE} records")
        if not candidates and len(records) < 2:
            raise _Refused("names no new candidate that accounts for it, nor several records that are one thing")
        self._accounted(candidates or list(self.candidates.values()), records)
        operations = list(self._added("merge" if draft.op == "merge" else "supersede", draft, candidates, records))
        if operations[0].op == "support":
            yield from operations
            return
        trust = Trust.of(operations[0].facts["trust"])
        standing = [record for record in records if record.protected or record.trust > trust]
        if standing:
            yield from self._proposed(operations[0], standing[0])
        else:
            yield from operations

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
        subjects = {subject_key(candidate.subject) for candidate in candidates if candidate.subject}
        known = _meaning(candidates)
        for record in records:
            if subject_key(record.subject) not in subjects and not known & _meaning([record]):
                raise _Refused(f"nothing that was learned is about “{record.text}”")

    def _proposed(self, operation: Operation, record: Record) -> Iterator[Operation]:
        new = operation.body.get("text")
        text = f"replace “{record.text}” by “{new}”?" if new else f"delete “{record.text}”?"
        source = ", ".join(sorted({e["rollout"] for e in operation.facts.get("evidence", ())})) or "consolidation"
        yield from propose(self.state, text, (operation,), source=source)

    def _move(self, draft: DraftOperation, records: Sequence[Record]) -> Iterator[Operation]:
        record = self._one(records)
        group = self._titled(draft.group, "", [record])
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

    def _titled(self, wanted: str, fallback: str, about: Sequence[Candidate | Record]) -> str:
        """The group or subject that is wanted, unless it names what they do not, or gives orders."""
        title, other = _title(wanted), _title(fallback)
        if not title or title in self.groups:
            return title or other
        quotes = [e.quote for value in about for e in value.evidence]
        return fit_title(title, other, Said([*quotes, other, *(f"{value.text}\n{value.subject}" for value in about)]))

    def _text(self, text: str, kind: Kind, evidence: Sequence[Evidence]) -> str:
        text = cleaned(text)
        if not text:
            raise _Refused("has no text")
        if len(text) > TEXT_LENGTH:
            raise _Refused(f"is longer than {TEXT_LENGTH} characters")
        if redact(text) != text:
            raise _Refused("holds a secret")
        if why := unsupported(text, kind, evidence, many=self.preset.audience == "many"):
            raise _Refused(why)
        return safe_text(text)


def _meaning(values: Sequence[Candidate | Record]) -> frozenset[str]:
    return meaning(*(text for value in values for text in (value.text, *(quote.quote for quote in value.evidence))))


def _title(text: str) -> str:
    """A group or a subject on one line, not too long, without a secret."""
    return redact(cleaned(text))[:TITLE_LENGTH].strip()


class _Refused(Exception):
    """Why one proposed operation is not let in."""
