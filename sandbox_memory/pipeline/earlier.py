"""Single lines as they were: what each said at an earlier time is put back, in a new commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ..errors import Conflict, LostUpdate, Unknown
from ..folding import fold
from ..folding.past import Then, Wording, as_of, before_now, face, wordings
from ..folding.records import revert
from ..governance.lifetime import later
from ..ledger import Ledger, Operation
from ..proposals import alike
from ..records import Evidence, Record, Status
from ..state import State
from . import Pipeline
from .commands import alone, cut, puts_back
from .undoing import TRIES, committed


async def put_back(
    pipeline: Pipeline, ids: Sequence[str], when: str | int | datetime, *, expected_version: int | None = None
) -> list[Record]:
    """Make each of these records what it was at that time or after that commit; the records as they are then.

    Words, place, kind, pin and lifetime, and the quotes that it rested on; it counts as worked on by hand, and no
    machine alters it. All of them or none. Raises `Unknown` for a record that was not in sight then, was forgotten, or
    says what it said, or what another one in sight says; `LostUpdate` for one not at the `expected_version`;
    `SandboxMemoryError` while an agent's session is open elsewhere.
    """
    await alone(pipeline, "put lines back when it is over")
    for _ in range(TRIES):
        known = await pipeline.adopt()
        planned = _Planned(known.ledger, known.state, when, later(pipeline.store.at(), known.state.at))
        operations = planned.operations(ids, expected_version)
        if await committed(pipeline, known, operations):
            records = fold(pipeline.store.ledger).records
            return [records[id] for id in ids]
    raise Conflict(pipeline.layout.ledger, f"other writers were faster {TRIES} times; nothing was put back")


class _Planned:
    """What is to be committed for lines to be as they were `when`, decided on one state."""

    def __init__(self, ledger: Ledger, now: State, when: str | int | datetime, at: str) -> None:
        self.ledger, self.now, self.at = ledger, now, at
        self.then: Then = as_of(ledger, when)
        self.so: Mapping[str, Record] = {record.id: record for record in self.then.records}
        self.state = fold(ledger, self.then.commit)

    def operations(self, ids: Sequence[str], expected: int | None) -> list[Operation]:
        """An operation for each of them."""
        wanted = dict.fromkeys(ids)
        there = {alike(r.text): r.id for id, r in self.now.visible().items() if id not in wanted}
        made = []
        for id in wanted:
            record = self.now.records.get(id)
            if record is None or record.status is Status.FORGOTTEN:
                why = "is forgotten: its words are erased, and stay so" if record else "is no record"
                raise Unknown(f"{id} {why}; `sandbox-memory show --all` lists those that there are")
            if expected is not None and record.version != expected:
                yours = self.so[id].text if id in self.so else ""
                raise LostUpdate(id, expected, record.version, record.text, yours)
            was = self._was(record)
            if other := there.get(alike(was.text)):
                raise Unknown(f"{id} need not be put back: {other} says the same, and is in sight")
            there[alike(was.text)] = id
            operation = revert(was, record, self._spent(was, record))
            assert operation is not None, "it says something else, or is out of sight"
            made.append(replace(operation, facts={**operation.facts, "as_of": self.then.commit}))
        return made

    def _was(self, record: Record) -> Record:
        """The record as it is to be."""
        was, said = self.so.get(record.id), wordings(self.ledger, record.id, self.then.commit)
        if was is None or said[-1].record.status is Status.FORGOTTEN:
            raise Unknown(f"{self._why_not(record, said)}{self._instead(record)}")
        if was.expires and was.expires <= self.at:
            was = replace(was, expires="")  # as with `restore`: else it would go again at once
        was = replace(was, status=Status.ACTIVE, protected=True, superseded_by="", retired="", valid_to="")
        was = replace(was, evidence=tuple(quote for quote in was.evidence if quote.quote))
        more = was.text == record.text and set(was.evidence) <= set(record.evidence)
        if more:  # what else says the same has come since, and nothing of it is lost
            was = replace(was, evidence=record.evidence, support=was.support | record.support, trust=record.trust)
        same = face(was) == face(record) and was.markdown == record.markdown
        if more and record.id in self.now.visible() and same:
            raise Unknown(f"{record.id} says now what it said then: “{cut(was.text)}”{self._instead(record)}")
        return was

    def _spent(self, was: Record, record: Record) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
        """The quotes that count no more for it, then and now: what it says now is not to come back by itself."""
        now = self.now.tombstones.get(record.id, ())
        spent = (*self.state.tombstones.get(record.id, ()), *now, *record.evidence)
        bare = {replace(quote, quote="") for quote in was.evidence}
        return tuple(dict.fromkeys(quote for quote in spent if replace(quote, quote="") not in bare)), now

    def _why_not(self, record: Record, said: Sequence[Wording]) -> str:
        id = record.id
        if not said:
            old = [r for r in self.now.records.values() if r.superseded_by == id and r.id in self.so]
            came = f"{id} was not there then: commit {record.created} brought it"
            if not old:
                return came
            calls = " ".join(each.id for each in old)
            call = f"`sandbox-memory restore {calls} --as-of {self.then.commit}`"
            return f"{came}, in place of “{cut(old[0].text)}”; {call} puts that back"
        if said[-1].record.status is Status.FORGOTTEN:
            return f"what {id} said then is forgotten, and stays so"
        return f"{id} was out of sight then"

    def _instead(self, record: Record) -> str:
        """When it last said something else, and how to have that; else how it goes away."""
        if other := before_now(self.ledger, record):
            return f"; {puts_back(other, record)}"
        if record.status is Status.ACTIVE:
            return f"; it never said anything else, and `sandbox-memory delete {record.id}` takes it out"
        return ""
