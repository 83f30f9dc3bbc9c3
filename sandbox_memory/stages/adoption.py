"""Adoption: what people and live updates changed in the markdown, as operations.

The file is compared with the fold at the file's own marker, so an edit made between a crash and the reopening is told
from a commit that never reached the file. Whatever a person touched is theirs; the rest follows the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .. import matching, typed
from ..document import Document, ListItem, normalise
from ..document.text import without_refs
from ..layout import Preset
from ..ledger import Operation
from ..proposals import new_id, outdone, propose, saved_again
from ..records import Record, Refusal, Status, Trust
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
        self.cut = False
        """True for a file that breaks off: then what is missing was not taken out."""
        self._since: dict[str, Record] | None = None
        self._same_editor: bool | None = None

    def read(self) -> None:
        base = {record.id: record.text for record in self.past.visible().values()}
        readable = []
        for item in typed.placed(self.document.items, self.past.records.values()):
            if item.id in base and typed.spoiled(item.text, base[item.id]):
                self.assigned[item.index] = item.id
                why = f"line {item.line}: saved in an encoding that lacks its letters; it says “{base[item.id]}” again"
                self.refused.append(Refusal(item.text, why))
            elif item.readable:
                readable.append(item)
            elif item.id in base and item.id not in self.assigned.values():
                self.assigned[item.index] = item.id
        self.cut = self.document.marker is None and not self.document.data.endswith((b"\n", b"\r"))
        fragment = typed.fragment_of(self.document, base) if self.cut else None
        if fragment is not None:
            self.assigned[fragment[0]] = fragment[1]
            readable = [item for item in readable if item.index != fragment[0]]
        there = set(self.assigned.values())
        found = matching.match({id: text for id, text in base.items() if id not in there}, readable)
        items = {item.index: item for item in readable}
        for index, id in found.same.items():
            self.assigned[index] = id
            if self.now.records[id].status is Status.HELD and self.actor != "live":
                self.operations.append(Operation("release", id))
            self._moved(items[index], id)
        for index, id in found.revised.items():
            self._revised(items[index], id)
        over = {index: id for index, id in found.over.items() if self._retold(items[index], id, base)}
        self._vanished([id for id in base if id in found.missing and id not in over.values()])
        for index in found.new:
            self._new(items[index], base, over.get(index, ""))

    def _retold(self, item: ListItem, id: str, base: Mapping[str, str]) -> bool:
        """True for a line that a person typed over another: it takes that one's place, as it did at an earlier save."""
        record = self.now.records[id]
        if self.actor != "hand" or not item.normal:
            return False
        by = self.now.records.get(record.superseded_by)
        if record.status is Status.SUPERSEDED:
            return by is not None and by.protected
        return record.status is Status.ACTIVE and self._committed(item, base) is None

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
        if self._known(record, item):
            self._moved(item, id)
            return
        self._outdone(id, item.text)
        op = "revise" if record.status is Status.ACTIVE else "restore"
        facts = {"trust": self.trust.label, "protected": True, "overrule": True}
        place = {"group": item.group, "section": item.section}
        self.operations.append(Operation(op, id, facts, {"text": item.text, **place}))
        if record.status is Status.SUPERSEDED:
            self._doubted(record, f"changed to “{item.text}”")

    def _known(self, record: Record, item: ListItem) -> bool:
        """True for words that were taken in before, from the same file or from another."""
        taken_in = record.status is Status.ACTIVE and record.protected and record.trust >= self.trust
        return taken_in and normalise(record.text) == item.normal

    def _outdone(self, id: str, now: str | None) -> None:
        """Ask about what another save made of a line that this one changes too, or takes out."""
        if not self._one_buffer():
            self.operations.extend(outdone(self.now, id, self.past.records[id].text, now))

    def _one_buffer(self) -> bool:
        """True for the next save of an editor that does not look what became of its last one."""
        if self._same_editor is None:
            self._same_editor = saved_again({item.normal for item in self.document.items}, self.past, self.now)
        return self._same_editor

    def _doubted(self, record: Record, done: str) -> None:
        """Ask about what replaced a line while a person was at work on that line."""
        by = self.now.records.get(record.superseded_by)
        if by is not None and by.status is Status.ACTIVE and not by.protected:
            what = f"“{by.text}” has replaced “{record.text}”, which was {done} at the same time; delete the new line?"
            self.operations.extend(propose(self.now, what, (Operation("delete", by.id),), source=self.actor))

    def _vanished(self, missing: list[str]) -> None:
        gone = [id for id in missing if self.now.records[id].status is Status.ACTIVE]
        replaced = [id for id in missing if self.now.records[id].status is Status.SUPERSEDED]
        if len(gone) + len(replaced) <= max(MANY, SHARE * len(self.past.visible())):
            for id in (
                []
                if self.cut
                else [id for id in replaced if id not in typed.at_the_end(self.document, self.past.records, replaced)]
            ):
                self.operations.append(Operation("delete", id))
                self._doubted(self.now.records[id], "deleted")
        if len(gone) <= max(MANY, SHARE * len(self.past.visible())):
            cut = gone if self.cut else typed.at_the_end(self.document, self.past.records, gone)
            for id in (id for id in gone if id not in cut):
                self._outdone(id, None)
                self.operations.append(Operation("delete", id))
            gone = cut
        if not gone:
            return
        deletions = tuple(Operation("delete", id) for id in gone)
        releases: tuple[Operation, ...] = ()
        if self.document.marker is not None:
            self.operations += [Operation("hold", id) for id in gone]
            releases = tuple(Operation("release", id) for id in gone)
            what = f"{len(gone)} lines vanished from MEMORY.md at once and are kept out of it for now; delete them all?"
        else:
            what = f"MEMORY.md was cut off, and its {len(gone)} missing lines were put back; delete them all instead?"
        self.operations.extend(propose(self.now, what, deletions, on_refusal=releases, source=self.actor, again=True))

    def _new(self, item: ListItem, base: Mapping[str, str], over: str) -> None:
        """A line that is no known record as it stood at the marker; it may take the place of that one."""
        since = self._committed(item, base) if not item.id or item.id in base else None
        known = since or self.now.records.get(item.id)
        if known is None or known.id in base or known.id in self.assigned.values():
            self._added(item, over)
        elif known.status is Status.FORGOTTEN:
            self._forgotten(item)
        elif known.status is Status.ACTIVE and normalise(known.text) == item.normal and known.id in self.now.visible():
            self.assigned[item.index] = known.id
        else:
            self.assigned[item.index] = known.id
            facts: dict[str, Any] = {"protected": True}
            if self.actor == "live":
                facts["trust"] = min(self.trust, known.trust).label
            if normalise(known.text) != item.normal:
                facts |= {"trust": self.trust.label, "overrule": True}
            op = "revise" if known.status is Status.ACTIVE else "restore"
            self.operations.append(
                Operation(op, known.id, facts, {"text": item.text, "group": item.group, "section": item.section})
            )

    def _committed(self, item: ListItem, base: Mapping[str, str]) -> Record | None:
        """A line without id, or over another's, that was taken in by a commit which did not reach this file."""
        if self._since is None:
            visible = self.now.visible().values()
            self._since = {normalise(r.text): r for r in reversed(list(visible)) if r.id not in base}
        return self._since.get(item.normal)

    def _added(self, item: ListItem, over: str = "") -> None:
        if not item.normal:
            return
        # What a foreign commit calls its own comes in under that id as the agent's word, whoever is at work here.
        foreign = item.id in self.now.passed and item.id not in self.assigned.values()
        id = item.id if foreign else new_id()
        trust = Trust.AGENT if foreign else self.trust
        self.assigned[item.index] = id
        facts: dict[str, Any] = {"kind": typed.kind_of(item.section, self.preset).value, "trust": trust.label}
        if self.actor == "import" or foreign:
            facts["support"] = sorted(typed.named_in(item, self.document, self.stems))
        else:
            facts["protected"] = True
        if self.actor == "live" and item.id and item.id not in self.now.records and not foreign:
            facts["claimed"] = item.id
        text = typed.said_in(item, item.group, self.document)
        body = {"text": text, "group": item.group, "section": item.section}
        if over and self.now.records[over].status is Status.ACTIVE:
            self._outdone(over, None)
            facts |= typed.taken_over(self.now.records[over], item.section)
        self.operations.append(Operation("supersede" if "replaces" in facts else "add", id, facts, body))

    def _forgotten(self, item: ListItem) -> None:
        self.dropped.add(item.index)
        self.refused.append(Refusal(item.text, f"line {item.line}: this was forgotten, and stays forgotten"))


def adopt_block(
    document: Document,
    shown: Mapping[str, str],
    now: State,
    handbook: Document,
    *,
    actor: str,
    preset: Preset,
    whole: bool,
    torn: bool,
    elsewhere: Mapping[str, str | None],
) -> Iterator[Operation]:
    """Changes that a person made to the block in `memory_summary.md`.

    `shown` are the records as that block showed them. With `whole` false it is not certain that all of them were shown,
    so that a missing line is not read as a deletion; if the block is `torn`, its last line may be cut short.
    `elsewhere` are the records that `MEMORY.md` changes at the same time, with their new texts, or None where it
    deletes them: it is followed, and the block's text is asked about.
    """
    trust = Trust.HAND if actor == "hand" else Trust.AGENT
    facts = {"trust": trust.label, "protected": True}
    fragment = typed.fragment_of(document, shown) if torn else None
    readable = [item for item in document.items if item.readable and (not fragment or item.index != fragment[0])]
    found = matching.match(shown, readable)
    items = {item.index: item for item in readable}
    matched = {**found.same, **found.revised}
    texts = {index: typed.said_in(items[index], now.records[id].group, handbook) for index, id in matched.items()}
    for index, id in matched.items():
        if index in found.same and _cited(shown[id]) in (items[index].cited, _cited(texts[index])):
            continue
        body = {"text": texts[index]}
        op = "revise" if now.records[id].status is Status.ACTIVE else "restore"
        change = Operation(op, id, {**facts, "overrule": True}, body)
        if now.records[id].status is Status.FORGOTTEN or normalise(elsewhere.get(id) or "") == items[index].normal:
            continue
        if id not in elsewhere:
            yield from outdone(now, id, shown[id], texts[index])
            yield change
            continue
        other = elsewhere[id]
        what = f"MEMORY.md says “{other}”" if other else "MEMORY.md has lost that line"
        what = f"memory_summary.md says “{body['text']}”, and {what}; take the former?"
        asked = (replace(change, op="revise" if other else "restore"),)
        yield from propose(now, what, asked, source=actor, about={id: other or now.records[id].text})
    over = {index: id for index, id in found.over.items() if actor == "hand" and id not in elsewhere}
    over = {index: id for index, id in over.items() if now.records[id].status is Status.ACTIVE}
    yield from _written_in(document, handbook, found, now, facts, preset, over)
    for id in over.values():
        yield from outdone(now, id, shown[id], None)
    if not whole:
        return
    kept = {item.id for item in document.items if not item.readable} | set(elsewhere) | set(over.values())
    gone = [id for id in found.missing if id not in kept and now.records[id].status is Status.ACTIVE]
    if len(gone) <= max(MANY, SHARE * len(shown)):
        for id in gone:
            yield from outdone(now, id, shown[id], None)
            yield Operation("delete", id)
    else:
        what = f"{len(gone)} lines vanished from memory_summary.md at once and were put back; delete them instead?"
        yield from propose(now, what, tuple(Operation("delete", id) for id in gone), source=actor, again=True)


def _written_in(
    document: Document,
    handbook: Document,
    found: matching.Matching,
    now: State,
    facts: Mapping[str, Any],
    preset: Preset,
    over: Mapping[int, str],
) -> Iterator[Operation]:
    """New lines that a person wrote into the block: each joins the group of the line above it, or typed `over`."""
    texts = {normalise(record.text) for record in now.visible().values()}
    group = "General"
    for item in document.items:
        id = found.same.get(item.index) or found.revised.get(item.index)
        group = now.records[id or over[item.index]].group if id or item.index in over else group
        if not id and item.index in found.new and item.normal and item.normal not in texts:
            texts.add(item.normal)
            old = now.records.get(item.id)
            body = {"text": typed.said_in(item, group, handbook), "group": group, "section": item.section}
            if old is not None and old.status is Status.FORGOTTEN:
                continue
            foreign = {"trust": Trust.AGENT.label} if item.id in now.passed else {}
            claimed = {"claimed": item.id} if item.id and old is None and facts["trust"] == Trust.AGENT.label else {}
            kind = {"kind": typed.kind_of(item.section, preset).value}
            taken = typed.taken_over(now.records[over[item.index]], item.section) if item.index in over else {}
            op = "supersede" if taken else "add"
            yield Operation(op, new_id(), {**kind, **facts, **foreign, **claimed, **taken}, body)


def _cited(text: str) -> str:
    return without_refs(text)[1]
