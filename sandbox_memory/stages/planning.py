"""Planning: new candidates against what is known, as operations that code has checked.

Where there is no doubt code has decided before, in `certain`. For the rest a model (or the built-in one) proposes;
`check` lets in what is grounded in quotes, touches nothing that a person made theirs, and does not bring back what a
person took out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import showing
from ..certain import Sure, bearing
from ..document import normalise
from ..drafting import Denied, Refused, Wording, accounted, named, outweighed
from ..governance.attribution import mixed
from ..governance.gate import DENY, REVIEW, Gate
from ..governance.redaction import redact
from ..layout import Layout, Preset
from ..ledger import Operation
from ..lexical import bare
from ..models import CONSOLIDATION, ConsolidationDraft, ConsolidationMaterial, DraftOperation, Lookup, Request
from ..policy import MemoryPolicy
from ..proposals import new_id, propose, question
from ..records import Candidate, Evidence, Kind, Record, Refusal, Status, Trust
from ..sameness import said
from ..screening import Inputs, Screen
from ..state import State
from ..templates import render

REMOVED_BY_ONE = 5
"""How many records one operation may replace."""
DELETED_AT_ONCE = 5
SHARE_AT_ONCE = 0.2
"""More than max(DELETED_AT_ONCE, SHARE_AT_ONCE of the records) are never deleted by one answer."""
_REPLACING, _RESTING = ("supersede", "revise", "merge"), ("revise", "merge")
"""Operations that replace records, and those whose text rests on the quotes of the records too."""
_SAID = (Kind.FACT, Kind.PREFERENCE)
"""Kinds that an agent knows from memory by being told; what it does, it does."""


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


def check(
    draft: ConsolidationDraft, given: Inputs, state: State, preset: Preset, policy: MemoryPolicy | None = None
) -> Plan:
    """The operations of a draft that may be committed on `state`, which may be newer than what it was made from.

    What code was sure of comes first, also where nothing of the draft can be used. What the gate of `preset` and
    `policy` does not let through is refused, or becomes a question.
    """
    checking = _Check(given, state, preset, policy)
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

    def __init__(self, given: Inputs, state: State, preset: Preset, policy: MemoryPolicy | None) -> None:
        self.state, self.preset, self.gate = state, preset, Gate(preset, policy or MemoryPolicy())
        self.wording = Wording(preset, frozenset(given.groups))
        self.candidates = {f"c{n}": c for n, c in enumerate(given.candidates, 1)}
        self.records = {f"r{n}": r.id for n, r in enumerate(given.records, 1)}
        self.screen = Screen(state, preset.audience)
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
        told = [self.candidates[name].text for name in draft.candidates if name in self.candidates]
        told += [self.state.records[self.records[name]].text for name in draft.records if name in self.records]
        label = named(draft, told)
        try:
            if draft.op in _REPLACING and len(set(draft.records)) > REMOVED_BY_ONE:
                raise Refused(f"must name 1 to {REMOVED_BY_ONE} records")
            operations = list(self._operations(draft, self._candidates(draft), self._records(draft)))
        except Refused as refusal:
            self.refused.append(Refusal(label, redact(str(refusal))))
            if isinstance(refusal, Denied):
                self.used.update(draft.candidates)
            return
        self.used.update(draft.candidates)
        self._accept(operations)

    def decided(self, sure: Sure) -> None:
        """Accept what code decided, or note why that holds no longer."""
        try:
            candidates, records = [self._new(sure.candidate)], [self._standing(sure.record)]
            self._accept(list(self._operations(DraftOperation(op=sure.op), candidates, records)))
        except Refused as refusal:
            self.refused.append(Refusal(sure.candidate.text, str(refusal)))

    def _accept(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            self.removed.update(operation.facts.get("replaces", [operation.id] if operation.op == "delete" else []))
            self.deleted += operation.op == "delete"
            if operation.op in ("add", "supersede", "merge"):
                text = str(operation.body["text"])
                self.texts[bare(text)].append((operation.id, text))
        self.operations.extend(operations)

    def _operations(
        self, draft: DraftOperation, candidates: Sequence[Candidate], records: Sequence[Record]
    ) -> Iterator[Operation]:
        if draft.op == "skip":
            if not candidates:
                raise Refused("names nothing to skip")
            return
        if draft.op == "move":
            yield from self._move(draft, records)
            return
        if not candidates and draft.op != "merge":
            raise Refused("names no new candidate that accounts for it")
        about: list[Candidate | Record] = [*candidates, *records]
        if self.preset.audience == "many" and len({said(each, "many").owner for each in about}) > 1:
            raise Refused("it is of different people")
        if draft.op == "add":
            yield from self._passed(list(self._added("add", draft, candidates, [])))
        elif draft.op == "support":
            yield self._said_again(self._one(records), candidates)
        elif draft.op in _REPLACING:
            yield from self._replaced(draft, candidates, records)
        elif draft.op == "delete":
            yield from self._deleted(candidates, records)
        else:
            raise Refused("is no operation that is known here")

    def _candidates(self, draft: DraftOperation) -> list[Candidate]:
        unknown = [name for name in draft.candidates if name not in self.candidates]
        if unknown:
            raise Refused(f"there is no {unknown[0]}")
        if draft.op != "skip" and any(name in self.used for name in draft.candidates):
            raise Refused("the same candidate was used before")
        return [self._new(self.candidates[name]) for name in dict.fromkeys(draft.candidates)]

    def _new(self, candidate: Candidate) -> Candidate:
        if why := self.screen.refuses(candidate):
            raise Refused(why)
        return candidate

    def _records(self, draft: DraftOperation) -> list[Record]:
        unknown = [name for name in draft.records if name not in self.records]
        if unknown:
            raise Refused(f"there is no {unknown[0]}")
        return [self._standing(self.records[name]) for name in dict.fromkeys(draft.records)]

    def _standing(self, id: str) -> Record:
        record = self.state.records[id]
        if record.status is not Status.ACTIVE or id in self.removed:
            raise Refused("the record is gone meanwhile")
        return record

    def _one(self, records: Sequence[Record]) -> Record:
        if len(records) != 1:
            raise Refused("must name exactly one record")
        return records[0]

    def _said_again(self, record: Record, candidates: Sequence[Candidate]) -> Operation:
        accounted(candidates, [record])
        evidence = [e for candidate in candidates for e in candidate.evidence]
        if self.preset.audience == "many" and (why := mixed(record.text, [*record.evidence, *evidence])):
            raise Refused(why)
        elsewhere = bool(record.support) and record.support.isdisjoint(e.rollout for e in evidence)
        if record.kind in _SAID and elsewhere and all(e.trust is Trust.AGENT for e in evidence):
            raise Denied("it is known already, and the agent may have it from here")
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
        about: list[Candidate | Record] = [*candidates, *replaced]
        kind = self.wording.kind(draft.kind, first.kind)
        text = self.wording.text(draft.text, first.text, kind, evidence, about)
        same = self._same(text)
        if same and new and (same not in {record.id for record in replaced} or len(replaced) == 1):
            yield self._supported(same, new)
            return
        said_so = replace(candidates[0], text=text, kind=kind, evidence=tuple(new)) if candidates else None
        if said_so and (why := self.screen.brings_back(said_so)):
            raise Denied(why)
        known = next((record for record in replaced), None)
        group = known.group if known else candidates[0].task
        subject = first.subject or (known.subject if known else "")
        id = new_id()
        best = bearing(text, evidence)
        facts: dict[str, Any] = {
            "kind": kind.value,
            "trust": min(e.trust for e in best).label,
            "evidence": [e.to_json() for e in best],
        }
        if replaced:
            facts["replaces"] = [record.id for record in replaced]
        if given := [c.importance for c in candidates if c.importance is not None]:
            facts["importance"] = max(given)
        body = {
            "text": text,
            "subject": self.wording.trusted(draft.subject, subject, about),
            "group": self.wording.trusted(draft.group, group, about) or "General",
            "section": self.preset.headings[kind],
            "quotes": [e.quote for e in best],
        }
        if owner := next((each.owner for each in about if each.owner), ""):
            body["owner"] = owner
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
            raise Refused(f"must name 1 to {REMOVED_BY_ONE} records")
        if not candidates and len(records) < 2:
            raise Refused("names no new candidate that accounts for it, nor several records that are one thing")
        accounted(candidates or list(self.candidates.values()), records)
        operations = list(self._added("merge" if draft.op == "merge" else "supersede", draft, candidates, records))
        if operations[0].op == "support":
            yield from operations
            return
        new = operations[0]
        trust, text = Trust.of(new.facts["trust"]), str(new.body["text"])
        yield from self._passed(operations, outweighed(text, trust, candidates, records))

    def _passed(self, operations: Sequence[Operation], standing: Record | None = None) -> Iterator[Operation]:
        """The operations where the gate lets the first through, or the question that it makes of them."""
        new = operations[0]
        if new.op == "support":
            yield from operations
            return
        text, subject = str(new.body["text"]), str(new.body["subject"])
        kind, trust = Kind(new.facts["kind"]), Trust.of(new.facts["trust"])
        if kind is Kind.PROCEDURE and any(place["trust"] != Trust.EXTERNAL.label for place in new.facts["evidence"]):
            trust = max(trust, Trust.AGENT)  # it was done here, whoever's words it began with
        verdict = self.gate.admits(text, kind, trust, subject)
        if verdict.decision == DENY:
            raise Denied(verdict.why)
        if standing is not None or verdict.decision == REVIEW:
            yield from self._proposed(new, standing, verdict.why)
        else:
            yield from operations

    def _deleted(self, candidates: Sequence[Candidate], records: Sequence[Record]) -> Iterator[Operation]:
        record = self._one(records)
        accounted(candidates, records)
        if self.deleted >= self.most:
            raise Refused(f"more than {self.most:.0f} lines are not deleted at once")
        trust = min(candidate.trust for candidate in candidates)
        operation, decision = Operation("delete", record.id), self.gate.decides(record.kind, trust)
        if decision == DENY:
            raise Denied(f"a {record.kind.value} is not deleted on that word")
        if record.protected or record.trust > trust or decision == REVIEW:
            evidence = [quote for candidate in candidates for quote in candidate.evidence]
            yield from self._proposed(operation, record, evidence=evidence)
        else:
            yield operation

    def _proposed(
        self,
        operation: Operation,
        record: Record | None,
        why: str = "",
        evidence: Sequence[Evidence] = (),
    ) -> Iterator[Operation]:
        """The question about this operation, with where it comes from and why it is asked."""
        new = operation.body.get("text")
        old = record or next((self.state.records[id] for id in operation.facts.get("replaces", ())), None)
        places = {e["rollout"] for e in operation.facts.get("evidence", ())} | {e.rollout for e in evidence}
        source = ", ".join(sorted(places)) or "consolidation"
        source = f"{source}; {why}" if why else source
        # What a person says anew may be asked anew; what a page says again, or an agent, stays refused.
        again = Trust.of(operation.facts.get("trust", Trust.EXTERNAL.label)) >= Trust.USER
        asked = question(new, old.text if old else None)
        yield from propose(self.state, asked, (operation,), source=source, again=again)

    def _move(self, draft: DraftOperation, records: Sequence[Record]) -> Iterator[Operation]:
        record = self._one(records)
        group = self.wording.trusted(draft.group, "", [record])
        if not group:
            raise Refused("names no group to move to")
        if record.protected:
            raise Refused("the line is a person's, and stays where it is")
        yield Operation("move", record.id, {}, {"group": group, "section": record.section})
