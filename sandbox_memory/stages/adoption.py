"""Adoption: what people and live updates changed in the markdown, as operations.

The file is compared with the fold at the file's own marker, so an edit made between a crash and the reopening is told
from a commit that never reached the file. Whatever a person touched is theirs; the rest follows the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..document import Document, ListItem, normalise
from ..layout import Preset
from ..ledger import Operation
from ..matching import match
from ..proposals import new_id, propose
from ..records import Kind, Record, Refusal, Status, Trust
from ..state import State

MANY = 5
SHARE = 0.2
"""More than max(MANY, SHARE of the records) gone at once is asked about, not believed."""


@dataclass(frozen=True)
class Adopted:
    """What a file says that the ledger does not.

    `assigned` maps the index of a list item to its record, `dropped` are items that must leave the file (their record
    was forgotten).
    """

    operations: tuple[Operation, ...] = ()
    assigned: Mapping[int, str] = field(default_factory=dict)
    dropped: frozenset[int] = frozenset()
    refused: tuple[Refusal, ...] = ()


def adopt(
    document: Document, past: State, now: State, *, actor: str, preset: Preset, stems: Collection[str] = ()
) -> Adopted:
    """Compare `MEMORY.md` with the records of `past`, the state that the file's marker names; `now` is the head.

    `actor` is hand, live or import. `stems` are the names of the rollouts, for an import to find its support. An empty
    document adopts nothing: it is rebuilt, never read as deletions.
    """
    if not document.items and document.marker is None:
        return Adopted()
    reading = _Reading(document, past, now, actor, preset, stems)
    reading.read()
    return Adopted(tuple(reading.operations), reading.assigned, frozenset(reading.dropped), tuple(reading.refused))


class _Reading:
    """One pass over one file; holds what it has found so far."""

    def __init__(
        self, document: Document, past: State, now: State, actor: str, preset: Preset, stems: Collection[str]
    ) -> None:
        self.document, self.past, self.now, self.actor, self.preset, self.stems = (
            document, past, now, actor, preset, stems
        )  # fmt: skip
        self.trust = Trust.HAND if actor == "hand" else Trust.AGENT
        self.operations: list[Operation] = []
        self.assigned: dict[int, str] = {}
        self.dropped: set[int] = set()
        self.refused: list[Refusal] = []
        self._since: dict[str, Record] | None = None

    def read(self) -> None:
        base = {record.id: record.text for record in self.past.visible().values()}
        readable = []
        for item in self.document.items:
            if item.readable:
                readable.append(item)
            elif item.id in base and item.id not in self.assigned.values():
                self.assigned[item.index] = item.id
        there = set(self.assigned.values())
        found = match({id: text for id, text in base.items() if id not in there}, readable)
        items = {item.index: item for item in readable}
        for index, id in found.same.items():
            self.assigned[index] = id
            self._moved(items[index], id)
        for index, id in found.revised.items():
            self._revised(items[index], id)
        self._vanished([id for id in base if id in found.missing])
        for index in found.new:
            self._new(items[index], base)

    def _moved(self, item: ListItem, id: str) -> None:
        """A line that stands in another group or section than the ledger says."""
        before, record = self.past.records[id], self.now.records[id]
        here = (item.group, item.section)
        known = ((before.group, before.section), (record.group, record.section))
        if record.status is Status.ACTIVE and here not in known:
            self.operations.append(Operation("move", id, {}, {"group": item.group, "section": item.section}))

    def _revised(self, item: ListItem, id: str) -> None:
        record = self.now.records[id]
        if record.status is Status.FORGOTTEN:
            self._forgotten(item)
            return
        self.assigned[item.index] = id
        op = "revise" if record.status in (Status.ACTIVE, Status.HELD) else "restore"
        self.operations.append(self._by_person(op, id, item))

    def _by_person(self, op: str, id: str, item: ListItem) -> Operation:
        facts = {"trust": self.trust.label, "protected": True, "overrule": True}
        return Operation(op, id, facts, {"text": item.text, "group": item.group, "section": item.section})

    def _vanished(self, missing: list[str]) -> None:
        gone = [id for id in missing if self.now.records[id].status is Status.ACTIVE]
        if len(gone) <= max(MANY, SHARE * len(self.past.visible())):
            self.operations += [Operation("delete", id) for id in gone]
            return
        deletions = tuple(Operation("delete", id) for id in gone)
        releases: tuple[Operation, ...] = ()
        if self.document.marker is not None:
            self.operations += [Operation("hold", id) for id in gone]
            releases = tuple(Operation("release", id) for id in gone)
            what = f"{len(gone)} lines vanished from MEMORY.md at once and are kept out of it for now; delete them all?"
        else:
            what = f"MEMORY.md was cut off, and its {len(gone)} missing lines were put back; delete them all instead?"
        self.operations.extend(propose(self.now, what, deletions, on_refusal=releases, source=self.actor))

    def _new(self, item: ListItem, base: Mapping[str, str]) -> None:
        """A line that is no known record as it stood at the marker."""
        known = self.now.records.get(item.id) if item.id else self._committed(item, base)
        if known is None or known.id in base or known.id in self.assigned.values():
            self._added(item)
        elif known.status is Status.FORGOTTEN:
            self._forgotten(item)
        elif known.status is Status.ACTIVE and normalise(known.text) == item.normal and known.id in self.now.visible():
            self.assigned[item.index] = known.id
        else:
            self.assigned[item.index] = known.id
            unchanged = normalise(known.text) == item.normal
            facts: dict[str, Any] = {"protected": True}
            if not unchanged:
                facts |= {"trust": self.trust.label, "overrule": True}
            op = "revise" if known.status is Status.ACTIVE else "restore"
            self.operations.append(
                Operation(op, known.id, facts, {"text": item.text, "group": item.group, "section": item.section})
            )

    def _committed(self, item: ListItem, base: Mapping[str, str]) -> Record | None:
        """A line without id that was taken in by a commit which did not reach the file any more."""
        if self._since is None:
            visible = self.now.visible().values()
            self._since = {normalise(r.text): r for r in reversed(list(visible)) if r.id not in base}
        return self._since.get(item.normal)

    def _added(self, item: ListItem) -> None:
        if not item.normal:
            return
        id = new_id()
        self.assigned[item.index] = id
        facts: dict[str, Any] = {"kind": kind_of(item.section, self.preset).value, "trust": self.trust.label}
        if self.actor == "import":
            facts["support"] = sorted(self._named(item))
        else:
            facts["protected"] = True
        body = {"text": item.text, "group": item.group, "section": item.section}
        self.operations.append(Operation("add", id, facts, body))

    def _named(self, item: ListItem) -> set[str]:
        """The rollouts that the `rollout_summary_files` of the item's tasks, or else of its group, name."""
        provenance = self.document.provenance
        tasks: tuple[int | None, ...] = item.refs or ((item.task,) if item.task is not None else ())
        keys = [(item.group, task) for task in tasks] or [key for key in provenance if key[0] == item.group]
        files = [name for key in keys for name in provenance.get(key, ())]
        named = set()
        for file in files:
            stem = file.rsplit("/", 1)[-1]
            owners = [known for known in self.stems if stem == f"{known}.md" or stem.startswith(f"{known}_")]
            if owners:
                named.add(max(owners, key=len))
        return named

    def _forgotten(self, item: ListItem) -> None:
        self.dropped.add(item.index)
        self.refused.append(Refusal(item.text, f"line {item.line}: this was forgotten, and stays forgotten"))


def adopt_block(
    document: Document, shown: Mapping[str, str], now: State, *, actor: str, whole: bool
) -> Iterator[Operation]:
    """Changes that a person made to the block in `memory_summary.md`.

    `shown` are the records as that block showed them. With `whole` false it is not certain that all of them were shown,
    so that a missing line is not read as a deletion. Lines that `MEMORY.md` has changed as well follow `MEMORY.md`:
    leave their ids out of `shown`.
    """
    trust = Trust.HAND if actor == "hand" else Trust.AGENT
    readable = [item for item in document.items if item.readable]
    found = match(shown, readable)
    items = {item.index: item for item in readable}
    for index, id in found.revised.items():
        if now.records[id].status is Status.ACTIVE:
            facts = {"trust": trust.label, "protected": True, "overrule": True}
            yield Operation("revise", id, facts, {"text": items[index].text})
    if not whole:
        return
    kept = {item.id for item in document.items if not item.readable}
    gone = [id for id in found.missing if id not in kept and now.records[id].status is Status.ACTIVE]
    if len(gone) <= max(MANY, SHARE * len(shown)):
        yield from (Operation("delete", id) for id in gone)
    else:
        what = f"{len(gone)} lines vanished from memory_summary.md at once and were put back; delete them instead?"
        yield from propose(now, what, tuple(Operation("delete", id) for id in gone), source=actor)


def answers(document: Document, past: State, now: State) -> Iterator[Operation]:
    """What a person decided in the block of `INBOX.md`: a ticked line is a yes, a deleted one a no."""
    lines = {item.id: item for item in document.items if item.id}
    for proposal in past.proposals.values():
        if proposal.id not in now.proposals:
            continue
        line = lines.get(proposal.id)
        if line is None:
            yield Operation("decide", proposal.id, {"accepted": False})
            yield from proposal.on_refusal
        elif line.checked:
            yield Operation("decide", proposal.id, {"accepted": True})
            yield from proposal.operations


def kind_of(section: str, preset: Preset) -> Kind:
    """The kind whose heading that section is; a fact under any other heading."""
    for kind, heading in preset.headings.items():
        if heading.casefold() == section.strip().casefold():
            return kind
    return Kind.FACT
