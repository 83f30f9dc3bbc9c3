"""Summarised: what people changed in the block of `memory_summary.md`, as operations.

What they did to the lines of a block is done to the records that it showed; a new line joins the group above it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace

from .. import matching, typed
from ..buffers import Buffer
from ..document import Document, normalise
from ..document.carried import FLAT, retold
from ..document.source import told
from ..document.text import without_refs
from ..layout import Preset
from ..ledger import Operation
from ..proposals import new_id, outdone, propose
from ..records import Status, Trust
from ..state import State

logger = logging.getLogger("sandbox_memory")


def adopt_block(
    document: Document,
    shown: Mapping[str, str],
    now: State,
    marker: int | None,
    handbook: Document,
    *,
    actor: str,
    preset: Preset,
    whole: bool,
    torn: bool,
    elsewhere: Mapping[str, str | None],
) -> Iterator[Operation]:
    """Changes that a person made to the block in `memory_summary.md`.

    `shown` are the records as that block showed them, at the commit `marker`. With `whole` false it is not certain that
    all of them were shown, so that a missing line is not read as a deletion; if the block is `torn`, its last line may
    be cut short. `elsewhere` are the records that `MEMORY.md` changes at the same time, with their new texts, or None
    where it deletes them: it is followed, and the block's text is asked about.
    """
    fragment = typed.fragment_of(document, shown) if torn else None
    readable = [item for item in document.items if item.readable and (not fragment or item.index != fragment[0])]
    buffer = Buffer(typed.SUMMARY, marker, actor, Trust.HAND if actor == "hand" else Trust.AGENT, now, shown)
    found = matching.match(shown, buffer.hold(readable))
    new = buffer.grow(readable, found.new, {**found.same, **found.revised})
    same, revised = {**found.same, **buffer.held}, {**found.revised, **buffer.grown}
    reading = _Reading(document, handbook, buffer, replace(found, same=same, revised=revised, new=new), elsewhere)
    yield from reading.changed()
    yield from reading.written_in(preset)
    if whole:
        yield from reading.vanished()
        yield from reading.taken_back()


class _Reading:
    """A block whose items were matched with the records that it showed, and with those that its editor brought in."""

    def __init__(
        self,
        document: Document,
        handbook: Document,
        buffer: Buffer,
        found: matching.Matching,
        elsewhere: Mapping[str, str | None],
    ) -> None:
        self.document, self.handbook, self.buffer, self.found = document, handbook, buffer, found
        self.elsewhere, self.now, self.actor = elsewhere, buffer.now, buffer.actor
        self.shown = {**buffer.base, **{id: each.record.text for id, each in buffer.typed.items()}}
        self.facts = {"trust": buffer.trust.label, "protected": True}
        self.over = {
            index: id
            for index, id in found.over.items()
            if index in found.new
            and self.actor == "hand"
            and id not in elsewhere
            and self.now.records[id].status is Status.ACTIVE
        }
        """Items that a person typed over the line of a record."""

    def changed(self) -> Iterator[Operation]:
        """Lines that say something else now."""
        for index, id in {**self.found.same, **self.found.revised}.items():
            item, record = self.document.items[index], self.now.records[id]
            text = typed.said_in(item, record.group, self.handbook)
            if index in self.found.same and _cited(self.shown[id]) in (item.cited, _cited(text)):
                continue
            if record.status is Status.FORGOTTEN or normalise(self.elsewhere.get(id) or "") == item.normal:
                continue
            if self.buffer.left(id, normalise(text)):
                continue
            op = "revise" if record.status is Status.ACTIVE else "restore"
            known = self.buffer.facts(item if id in self.buffer.typed else None)
            body = {"text": text, **(told(self.document, item) or retold(record.markdown, record.text, text))}
            change = Operation(op, id, {**self.facts, "overrule": True, **known}, body)
            if id not in self.elsewhere:
                yield from self._outdone(id, text)
                yield change
                if not body.get("markdown", "-"):
                    logger.warning("sandbox memory: %s; `sandbox-memory why %s` shows them", FLAT.format(id), id)
                continue
            other = self.elsewhere[id]
            what = f"MEMORY.md says “{other}”" if other else "MEMORY.md has lost that line"
            what = f"memory_summary.md says “{text}”, and {what}; take the former?"
            asked = (replace(change, op="revise" if other else "restore"),)
            yield from propose(self.now, what, asked, source=self.actor, about={id: other or record.text})

    def written_in(self, preset: Preset) -> Iterator[Operation]:
        """New lines that a person wrote in: each joins the group of the line above it, or typed it over another."""
        texts = {normalise(record.text) for record in self.now.visible().values()}
        group = "General"
        for item in self.document.items:
            id = self.found.same.get(item.index) or self.found.revised.get(item.index)
            over = self.over.get(item.index, "")
            group = self.now.records[id or over].group if id or over else group
            if id or item.index not in self.found.new or not item.normal or item.normal in texts:
                continue
            texts.add(item.normal)
            old = self.now.records.get(item.id)
            if old is not None and old.status is Status.FORGOTTEN:
                continue
            facts = {"kind": typed.kind_of(item.section, preset).value, **self.facts}
            if item.id in self.now.passed:
                facts["trust"] = Trust.AGENT.label
            if item.id and old is None and self.buffer.trust is Trust.AGENT:
                facts["claimed"] = item.id
            if over or not item.id:
                facts |= self.buffer.facts(item)
            if over:
                facts |= typed.taken_over(self.now.records[over], item.section)
            body = {"text": typed.said_in(item, group, self.handbook), "group": group, "section": item.section}
            body |= told(self.document, item)
            if over and "markdown" not in body and (carried := self._carried(over, str(body["text"]))):
                body["markdown"] = carried
            yield Operation("supersede" if over else "add", new_id(), facts, body)
        for id in self.over.values():
            yield from self._outdone(id, None)

    def _carried(self, over: str, text: str) -> str:
        """The blocks of a record in whose place a person typed other words, if these can be told in them."""
        record = self.now.records[over]
        return retold(record.markdown, record.text, text).get("markdown", "")

    def vanished(self) -> Iterator[Operation]:
        """Lines that are not there any more."""
        kept = {item.id for item in self.document.items if not item.readable} | {*self.elsewhere, *self.over.values()}
        records = self.now.records
        gone = [id for id in self.found.missing if id not in kept and records[id].status is Status.ACTIVE]
        gone = [id for id in gone if not self.buffer.left(id, "")]
        if not typed.many(gone, self.shown):
            for id in gone:
                yield from self._deleted(id)
        else:
            what = f"{len(gone)} lines vanished from memory_summary.md at once and were put back; delete them instead?"
            deletions = tuple(Operation("delete", id) for id in gone)
            yield from propose(self.now, what, deletions, source=self.actor, again=True)

    def taken_back(self) -> Iterator[Operation]:
        """Lines that an editor had brought in, and has taken out again before it looked at the file anew."""
        back = [id for id in self.buffer.gone() if id not in self.elsewhere]
        for id in back if not typed.many(back, self.shown) else ():
            yield from self._deleted(id)
            for old in self.found.same.values():
                if self.now.records[old].superseded_by == id:  # typed over, and now there again
                    yield Operation("restore", old, {"protected": True})

    def _deleted(self, id: str) -> Iterator[Operation]:
        yield from self._outdone(id, None)
        yield Operation("delete", id, self.buffer.facts())

    def _outdone(self, id: str, now: str | None) -> Iterator[Operation]:
        own = self.buffer.own(id)
        yield from outdone(self.now, id, self.shown[id] if own is None else own, now)


def _cited(text: str) -> str:
    return without_refs(text)[1]
