"""Summarised: what people changed in the block of `memory_summary.md`, as operations.

What they did to the lines of a block is done to the records that it showed; a new line joins the group above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .. import matching, typed
from ..buffers import Buffer
from ..document import Document, normalise
from ..document.source import told
from ..document.text import without_refs
from ..layout import Preset
from ..ledger import Operation
from ..proposals import new_id, outdone, propose
from ..records import Status, Trust
from ..state import State


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
    trust = Trust.HAND if actor == "hand" else Trust.AGENT
    facts = {"trust": trust.label, "protected": True}
    fragment = typed.fragment_of(document, shown) if torn else None
    readable = [item for item in document.items if item.readable and (not fragment or item.index != fragment[0])]
    buffer = Buffer(typed.SUMMARY, marker, actor, trust, now, shown)
    items = {item.index: item for item in readable}
    found = matching.match(shown, buffer.hold(readable))
    new = buffer.grow(readable, found.new, {**found.same, **found.revised})
    same, revised = {**found.same, **buffer.held}, {**found.revised, **buffer.grown}
    found = replace(found, same=same, revised=revised, new=new)
    shown = {**shown, **{id: each.record.text for id, each in buffer.typed.items()}}
    matched = {**found.same, **found.revised}
    texts = {index: typed.said_in(items[index], now.records[id].group, handbook) for index, id in matched.items()}
    for index, id in matched.items():
        if index in found.same and _cited(shown[id]) in (items[index].cited, _cited(texts[index])):
            continue
        body = {"text": texts[index], **told(document, items[index])}
        op = "revise" if now.records[id].status is Status.ACTIVE else "restore"
        known = buffer.facts(items[index]) if id in buffer.typed else {}
        change = Operation(op, id, {**facts, "overrule": True, **known}, body)
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
    over = {index: id for index, id in found.over.items() if index in new and actor == "hand" and id not in elsewhere}
    over = {index: id for index, id in over.items() if now.records[id].status is Status.ACTIVE}
    yield from _written_in(document, handbook, found, now, facts, preset, over, buffer)
    for id in over.values():
        yield from outdone(now, id, shown[id], None)
    if not whole:
        return
    kept = {item.id for item in document.items if not item.readable} | set(elsewhere) | set(over.values())
    gone = [id for id in found.missing if id not in kept and now.records[id].status is Status.ACTIVE]
    if not typed.many(gone, shown):
        for id in gone:
            yield from outdone(now, id, shown[id], None)
            yield Operation("delete", id)
    else:
        what = f"{len(gone)} lines vanished from memory_summary.md at once and were put back; delete them instead?"
        yield from propose(now, what, tuple(Operation("delete", id) for id in gone), source=actor, again=True)
    back = [id for id in buffer.gone() if id not in elsewhere]
    for id in back if not typed.many(back, shown) else ():
        yield from outdone(now, id, shown[id], None)
        yield Operation("delete", id)
        for old in found.same.values():
            if now.records[old].superseded_by == id:  # typed over, and now there again
                yield Operation("restore", old, {"protected": True})


def _written_in(
    document: Document,
    handbook: Document,
    found: matching.Matching,
    now: State,
    facts: Mapping[str, Any],
    preset: Preset,
    over: Mapping[int, str],
    buffer: Buffer,
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
            body |= told(document, item)
            if old is not None and old.status is Status.FORGOTTEN:
                continue
            foreign = {"trust": Trust.AGENT.label} if item.id in now.passed else {}
            claimed = {"claimed": item.id} if item.id and old is None and facts["trust"] == Trust.AGENT.label else {}
            kind = {"kind": typed.kind_of(item.section, preset).value}
            came = {} if item.id and item.index not in over else buffer.facts(item)
            taken = typed.taken_over(now.records[over[item.index]], item.section) if item.index in over else {}
            op = "supersede" if taken else "add"
            yield Operation(op, new_id(), {**kind, **facts, **foreign, **claimed, **came, **taken}, body)


def _cited(text: str) -> str:
    return without_refs(text)[1]
