"""Adoption: what people and live updates changed in the markdown, as operations.

The file is compared with the fold at the file's own marker, so an edit made between a crash and the reopening is told
from a commit that never reached the file. Whatever a person touched is theirs; the rest follows the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..document import Document, ListItem, normalise
from ..document.text import without_refs
from ..layout import Preset
from ..ledger import Operation
from ..matching import Matching, match
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
        self.cut = False
        """True for a file that breaks off: then what is missing was not taken out."""
        self._since: dict[str, Record] | None = None

    def read(self) -> None:
        base = {record.id: record.text for record in self.past.visible().values()}
        readable = []
        for item in self.document.items:
            if item.readable:
                readable.append(item)
            elif item.id in base and item.id not in self.assigned.values():
                self.assigned[item.index] = item.id
        self.cut = self.document.marker is None and not self.document.data.endswith((b"\n", b"\r"))
        fragment = _fragment(self.document, base) if self.cut else None
        if fragment is not None:
            self.assigned[fragment[0]] = fragment[1]
            readable = [item for item in readable if item.index != fragment[0]]
        there = set(self.assigned.values())
        found = match({id: text for id, text in base.items() if id not in there}, readable)
        items = {item.index: item for item in readable}
        for index, id in found.same.items():
            self.assigned[index] = id
            if self.now.records[id].status is Status.HELD and self.actor != "live":
                self.operations.append(Operation("release", id))
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
        op = "revise" if record.status is Status.ACTIVE else "restore"
        facts = {"trust": self.trust.label, "protected": True, "overrule": True}
        place = {"group": item.group, "section": item.section}
        self.operations.append(Operation(op, id, facts, {"text": item.text, **place}))
        if record.status is Status.SUPERSEDED:
            self._doubted(record, f"changed to “{item.text}”")

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
            for id in [] if self.cut else [id for id in replaced if id not in self._at_the_end(replaced)]:
                self.operations.append(Operation("delete", id))
                self._doubted(self.now.records[id], "deleted")
        if len(gone) <= max(MANY, SHARE * len(self.past.visible())):
            cut = gone if self.cut else self._at_the_end(gone)
            self.operations += [Operation("delete", id) for id in gone if id not in cut]
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

    def _at_the_end(self, gone: list[str]) -> list[str]:
        """Those of them that would stand after all that is there, in a file without its last line, our marker.

        Somebody who saves in two writes may have made only the first.
        """
        if self.document.marker is not None or not self.document.items:
            return []
        *before, last = ((item.group, item.section) for item in self.document.items)
        records = self.past.records
        return [id for id in gone if (records[id].group, records[id].section) not in set(before) - {last}]

    def _new(self, item: ListItem, base: Mapping[str, str]) -> None:
        """A line that is no known record as it stood at the marker."""
        since = self._committed(item, base) if not item.id or item.id in base else None
        known = since or self.now.records.get(item.id)
        if known is None or known.id in base or known.id in self.assigned.values():
            self._added(item)
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

    def _added(self, item: ListItem) -> None:
        if not item.normal:
            return
        # What a foreign commit calls its own comes in under that id as the agent's word, whoever is at work here.
        foreign = item.id in self.now.passed and item.id not in self.assigned.values()
        id = item.id if foreign else new_id()
        trust = Trust.AGENT if foreign else self.trust
        self.assigned[item.index] = id
        facts: dict[str, Any] = {"kind": kind_of(item.section, self.preset).value, "trust": trust.label}
        if self.actor == "import" or foreign:
            facts["support"] = sorted(self._named(item))
        else:
            facts["protected"] = True
        if self.actor == "live" and item.id and item.id not in self.now.records and not foreign:
            facts["claimed"] = item.id
        text = _said(item, item.group, self.document)
        body = {"text": text, "group": item.group, "section": item.section}
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
    fragment = _fragment(document, shown) if torn else None
    readable = [item for item in document.items if item.readable and (not fragment or item.index != fragment[0])]
    found = match(shown, readable)
    items = {item.index: item for item in readable}
    matched = {**found.same, **found.revised}
    texts = {index: _said(items[index], now.records[id].group, handbook) for index, id in matched.items()}
    for index, id in matched.items():
        if index in found.same and _cited(shown[id]) in (items[index].cited, _cited(texts[index])):
            continue
        body = {"text": texts[index]}
        op = "revise" if now.records[id].status is Status.ACTIVE else "restore"
        change = Operation(op, id, {**facts, "overrule": True}, body)
        if now.records[id].status is Status.FORGOTTEN or normalise(elsewhere.get(id) or "") == items[index].normal:
            continue
        if id not in elsewhere:
            yield change
            continue
        other = elsewhere[id]
        what = f"MEMORY.md says “{other}”" if other else "MEMORY.md has lost that line"
        what = f"memory_summary.md says “{body['text']}”, and {what}; take the former?"
        asked = (replace(change, op="revise" if other else "restore"),)
        yield from propose(now, what, asked, source=actor, about={id: other or now.records[id].text})
    yield from _written_in(document, handbook, found, now, facts, preset)
    if not whole:
        return
    kept = {item.id for item in document.items if not item.readable} | set(elsewhere)
    gone = [id for id in found.missing if id not in kept and now.records[id].status is Status.ACTIVE]
    if len(gone) <= max(MANY, SHARE * len(shown)):
        yield from (Operation("delete", id) for id in gone)
    else:
        what = f"{len(gone)} lines vanished from memory_summary.md at once and were put back; delete them instead?"
        yield from propose(now, what, tuple(Operation("delete", id) for id in gone), source=actor, again=True)


def _fragment(document: Document, base: Mapping[str, str]) -> tuple[int, str] | None:
    """The last item of a file that breaks off in it, by its index, and the record that it began with."""
    last = document.items[-1] if document.items else None
    if last is None or last.id or not last.text or not document.lines[-1][0].rstrip().endswith(last.cited or last.text):
        return None
    begun = re.sub(r"\s*\[[^\]]*$", "", without_refs(re.sub(r"\s*\^\S*$", "", last.text))[0])
    there = {item.id for item in document.items}
    return next(
        ((last.index, id) for id, text in base.items() if id not in there and text.startswith((last.text, begun))),
        None,
    )


def _written_in(
    document: Document, handbook: Document, found: Matching, now: State, facts: Mapping[str, Any], preset: Preset
) -> Iterator[Operation]:
    """New lines that a person wrote into the block: each joins the group of the line above it."""
    texts = {normalise(record.text) for record in now.visible().values()}
    group = "General"
    for item in document.items:
        id = found.same.get(item.index) or found.revised.get(item.index)
        if id:
            group = now.records[id].group
        elif item.index in found.new and item.normal and item.normal not in texts:
            texts.add(item.normal)
            old = now.records.get(item.id)
            body = {"text": _said(item, group, handbook), "group": group, "section": item.section}
            if old is not None and old.status is Status.FORGOTTEN:
                continue
            foreign = {"trust": Trust.AGENT.label} if item.id in now.passed else {}
            claimed = {"claimed": item.id} if item.id and old is None and facts["trust"] == Trust.AGENT.label else {}
            kind = kind_of(item.section, preset)
            yield Operation("add", new_id(), {"kind": kind.value, **facts, **foreign, **claimed}, body)


def _said(item: ListItem, group: str, handbook: Document) -> str:
    """The item's text, with the references at its end that name no task of the group: those are a person's words."""
    tasks = {task for title, task in handbook.provenance if title == group}
    return item.text if tasks.issuperset(item.refs_at_end) else item.words


def _cited(text: str) -> str:
    return without_refs(text)[1]


def kind_of(section: str, preset: Preset) -> Kind:
    """The kind whose heading that section is; a fact under any other heading."""
    for kind, heading in preset.headings.items():
        if heading.casefold() == section.strip().casefold():
            return kind
    return Kind.FACT
