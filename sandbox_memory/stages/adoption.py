"""Adoption: what people and live updates changed in the markdown, as operations.

The file is compared with the fold at the file's own marker, so an edit made between a crash and the reopening is told
from a commit that never reached the file. Whatever a person touched is theirs; the rest follows the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import matching, typed
from ..buffers import Buffer
from ..document import Document, ListItem, normalise
from ..document.source import differs, told
from ..layout import Preset
from ..ledger import Operation
from ..proposals import new_id, outdone, propose, released
from ..records import Record, Refusal, Status, Trust
from ..state import State


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
    document: Document,
    past: State,
    now: State,
    written: int | None = None,
    *,
    actor: str,
    preset: Preset,
    stems: Collection[str] = (),
) -> Adopted:
    """Compare `MEMORY.md` with the records of `past`, the state that the file has seen for certain; `now` is the head.

    `actor` is hand, live or import. `written` is the newest commit that the file can have shown, None for the head.
    `stems` are the names of the rollouts, for an import to find its support. An empty document adopts nothing: it is
    rebuilt, never read as deletions.
    """
    if not document.items and document.marker is None:
        return Adopted()
    reading = _Reading(document, past, now, actor, preset, stems)
    reading.read()
    reading.ask(written)
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
        base = {record.id: record.text for record in past.visible().values()}
        self.buffer = Buffer(typed.HANDBOOK, document.marker, actor, self.trust, now, base)
        self.lost: list[str] = []
        """Lines that a file without its last line lacks, though it had them; they are written again."""
        self._since: dict[str, Record] | None = None

    def read(self) -> None:
        base = self.buffer.base
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
        items = {item.index: item for item in readable}
        found = matching.match({id: text for id, text in base.items() if id not in there}, self.buffer.hold(readable))
        for index, id in {**found.same, **self.buffer.held}.items():
            self.assigned[index] = id
            if self.now.records[id].status is Status.HELD and self.actor != "live":
                self.operations += released(self.now, [id])
            self._moved(items[index], id)
            self._reshaped(items[index], id)
        new = self.buffer.grow(readable, found.new, {**found.same, **found.revised})
        for index, id in {**found.revised, **self.buffer.grown}.items():
            self._revised(items[index], id)
        over = {index: id for index, id in found.over.items() if index in new and self._retold(items[index], id, base)}
        taken = {*over.values(), *(items[index].id for index in (*self.buffer.held, *self.buffer.grown))}
        self._vanished([id for id in base if id in found.missing and id not in taken])
        self._taken_back()
        for index in new:
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
        before, record = self._was(id), self.now.records[id]
        here = (item.group, item.section)
        known = ((before.group, before.section), (record.group, record.section))
        if record.status is Status.ACTIVE and here not in known:
            self.operations.append(Operation("move", id, {}, {"group": item.group, "section": item.section}))

    def _reshaped(self, item: ListItem, id: str) -> None:
        """A line that says the same in other blocks: the breaks in a script, a quote, a table."""
        before, record = self._was(id).markdown, self.now.records[id]
        if record.status is Status.ACTIVE and all(differs(self.document, item, m) for m in (before, record.markdown)):
            body = told(self.document, item, record.markdown)
            facts: dict[str, Any] = {"protected": True} if self.actor == "hand" else {}
            if self.actor == "live":  # a comment that ends with its line is a command on the next one
                facts = {"trust": min(self.trust, record.trust).label}
            if body.get("markdown", "") != record.markdown:
                self.operations.append(Operation("revise", id, facts, body))

    def _body(self, item: ListItem, text: str = "", before: str = "") -> dict[str, Any]:
        place = {"text": text or item.text, "group": item.group, "section": item.section}
        return place | told(self.document, item, before)

    def _changes(self, op: str, record: Record, item: ListItem) -> dict[str, Any]:
        """What an edit says of a record: where it stands only if that is new: a move is taken back alone."""
        body = self._body(item, before=record.markdown)
        same = [name for name in ("group", "section") if op == "revise" and body[name] == getattr(record, name)]
        return {name: value for name, value in body.items() if name not in same}

    def _revised(self, item: ListItem, id: str) -> None:
        record = self.now.records[id]
        if record.status is Status.FORGOTTEN:
            self._forgotten(item)
            return
        self.assigned[item.index] = id
        if self._known(record, item):
            self._moved(item, id)
            self._reshaped(item, id)
            return
        if self.buffer.left(id, item.normal):
            return
        self._outdone(id, item.text)
        op = "revise" if record.status is Status.ACTIVE else "restore"
        facts = {"trust": self.trust.label, "protected": True, "overrule": True}
        facts |= self.buffer.facts(item if id in self.buffer.typed else None)
        self.operations.append(Operation(op, id, facts, self._changes(op, record, item)))
        if record.status is Status.SUPERSEDED:
            self._doubted(record, f"changed to “{item.text}”")

    def _known(self, record: Record, item: ListItem) -> bool:
        """True for words that were taken in before, from the same file or from another."""
        taken_in = self.document.marker is None or (record.protected and record.trust >= self.trust)
        return taken_in and record.status is Status.ACTIVE and normalise(record.text) == item.normal

    def _outdone(self, id: str, now: str | None) -> None:
        """Ask about what another save made of a line that this one changes too, or takes out."""
        own = self.buffer.own(id)
        self.operations.extend(outdone(self.now, id, self._was(id).text if own is None else own, now))

    def _was(self, id: str) -> Record:
        """A record as this file, or the editor that it was saved from, had it."""
        earlier = self.buffer.typed[id].record if id in self.buffer.typed else self.now.records[id]
        return self.past.records.get(id, earlier)

    def _doubted(self, record: Record, done: str) -> None:
        """Ask about what replaced a line while a person was at work on that line."""
        by = self.now.records.get(record.superseded_by)
        if by is not None and by.status is Status.ACTIVE and not by.protected:
            what = f"“{by.text}” has replaced “{record.text}”, which was {done} at the same time; delete the new line?"
            self.operations.extend(propose(self.now, what, (Operation("delete", by.id),), source=self.actor))

    def _vanished(self, missing: list[str]) -> None:
        missing = [id for id in missing if not self.buffer.left(id, "")]
        visible, marked = self.now.visible(), self.document.marker is not None
        gone = [id for id in missing if self.now.records[id].status is Status.ACTIVE and (marked or id in visible)]
        replaced = [id for id in missing if marked and self.now.records[id].status is Status.SUPERSEDED]
        if not typed.many([*gone, *replaced], self.past.visible()):
            for id in replaced:
                self.operations.append(Operation("delete", id))
                self._doubted(self.now.records[id], "deleted")
        if not typed.many(gone, self.past.visible()):
            lost = self.cut or typed.seen(self.document, self.now) is None
            kept = gone if lost else typed.at_the_end(self.document, self.past.records, gone, self.assigned)
            for id in (id for id in gone if id not in kept):
                self._outdone(id, None)
                self.operations.append(Operation("delete", id, self.buffer.facts()))
            gone = kept
        if not gone:
            return
        if not marked:
            self.lost = gone
            return
        self.operations += [Operation("hold", id, self.buffer.facts()) for id in gone]
        what = f"{len(gone)} lines vanished from MEMORY.md at once and are kept out of it for now; delete them all?"
        deletions, releases = (tuple(Operation(op, id) for id in gone) for op in ("delete", "release"))
        self.operations.extend(propose(self.now, what, deletions, on_refusal=releases, source=self.actor, again=True))

    def _put_back(self, gone: Sequence[str], *, again: bool) -> None:
        """Ask about lines that a file without its last line lacks: nobody may have taken them out."""
        why = "was cut off, and" if self.cut else "was saved without its last line, and"
        if len(gone) == 1:
            text = self.now.records[gone[0]].text
            what = f"MEMORY.md {why} “{text}”, which was missing from it, was put back; delete that line instead?"
        else:
            what = f"MEMORY.md {why} its {len(gone)} missing lines were put back; delete them all instead?"
        deletions = tuple(Operation("delete", id) for id in gone)
        self.operations.extend(propose(self.now, what, deletions, source=self.actor, again=again))

    def ask(self, written: int | None) -> None:
        """Ask once about what a file without its last line lacks, as far as somebody can have seen it there."""
        if self.document.marker is None:
            there = {*self.buffer.base, *self.assigned.values()}
            last = self.now.ordinal if written is None else written
            later = [r.id for r in self.now.visible().values() if r.id not in there and r.created <= last]
            if later or self.lost:
                self._put_back([*self.lost, *later], again=bool(self.lost))

    def _taken_back(self) -> None:
        """Lines that an editor had brought in, and has taken out again before it looked at the file anew."""
        gone = self.buffer.gone()
        if typed.many(gone, self.past.visible()):
            return
        for id in gone:
            was = self.buffer.typed[id].record.text
            self.operations += [*outdone(self.now, id, was, None), Operation("delete", id)]
            for index, old in self.assigned.items():
                if self.now.records[old].superseded_by == id:  # typed over, and now there again
                    item = self.document.items[index]
                    self.operations.append(Operation("restore", old, {"protected": True}, self._body(item)))

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
            self._reshaped(item, known.id)
        else:
            self.assigned[item.index] = known.id
            if self.buffer.left(known.id, item.normal):
                return
            facts: dict[str, Any] = {"protected": True, **self.buffer.facts()}
            if self.actor == "live":
                facts["trust"] = min(self.trust, known.trust).label
            if normalise(known.text) != item.normal:
                facts |= {"trust": self.trust.label, "overrule": True}
            op = "revise" if known.status is Status.ACTIVE else "restore"
            self.operations.append(Operation(op, known.id, facts, self._changes(op, known, item)))

    def _committed(self, item: ListItem, base: Mapping[str, str]) -> Record | None:
        """A line without id, or over another's, that was taken in by a commit which did not reach this file."""
        if self._since is None:
            here = list(self.now.visible().values())
            if self.actor == "hand":  # a line that is held comes back where a person pastes it in
                here += [record for record in self.now.records.values() if record.status is Status.HELD]
            self._since = {normalise(r.text): r for r in reversed(here) if r.id not in base}
        return self._since.get(item.normal)

    def _added(self, item: ListItem, over: str = "") -> None:
        if not item.normal:
            return
        if typed.forgotten_since(item.text, self.document.marker, self.now):
            self._forgotten(item)
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
        if not item.id or over:
            facts |= self.buffer.facts(item)
        body = self._body(item, typed.said_in(item, item.group, self.document))
        if over and self.now.records[over].status is Status.ACTIVE:
            self._outdone(over, None)
            facts |= typed.taken_over(self.now.records[over], item.section)
        self.operations.append(Operation("supersede" if "replaces" in facts else "add", id, facts, body))

    def _forgotten(self, item: ListItem) -> None:
        self.dropped.add(item.index)
        self.refused.append(Refusal(item.text, f"line {item.line}: this was forgotten, and stays forgotten"))
