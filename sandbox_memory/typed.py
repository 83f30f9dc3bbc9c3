"""What a list item that a person wrote or left says of the memory that it is, or becomes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .document import Document, ListItem
from .document.text import without_refs
from .governance.lifetime import BY_HAND, IMPORTANCE
from .layout import Preset
from .records import Kind, Record

_UNREADABLE = re.compile("[\udc80-\udcff]")
_LOST = re.compile("[?\ufffd]")


def fragment_of(document: Document, base: Mapping[str, str]) -> tuple[int, str] | None:
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


def at_the_end(document: Document, records: Mapping[str, Record], gone: Sequence[str]) -> list[str]:
    """Those of them that would stand after all that is there, in a file without its last line, our marker.

    Somebody who saves in two writes may have made only the first.
    """
    if document.marker is not None or not document.items:
        return []
    *before, last = ((item.group, item.section) for item in document.items)
    return [id for id in gone if (records[id].group, records[id].section) not in set(before) - {last}]


def placed(items: Sequence[ListItem], records: Iterable[Record]) -> Iterator[ListItem]:
    """The items, those below a heading that cannot be read in the group and the section that it was the heading of."""
    known = {record.id: record for record in records}
    titles = {known[item.id].group for item in items if item.id in known}
    seen: dict[tuple[str, str], Record] = {}
    for item in items:
        if item.id in known:
            seen.setdefault((item.group, ""), known[item.id])
            seen.setdefault((item.group, item.section), known[item.id])
    for item in items:
        group, section = item.group, item.section
        there = seen.get((group, ""))
        if _UNREADABLE.search(group) or (there and group not in titles and spoiled(group, there.group)):
            group = there.group if there else "General"
        if _UNREADABLE.search(section):
            below = seen.get((item.group, section))
            section = below.section if below else ""
        yield item if (group, section) == (item.group, item.section) else replace(item, group=group, section=section)


def spoiled(text: str, was: str) -> bool:
    """True for what an encoding that lacks letters of a text makes of it: marks in their place, and no other change."""
    if was.isascii() or not _LOST.search(text) or text == was:
        return False
    parts = (re.escape(char) if char.isascii() else f"(?:{re.escape(char)}|[?\ufffd]{{1,4}})" for char in was)
    return re.fullmatch("".join(parts), text) is not None


def said_in(item: ListItem, group: str, handbook: Document) -> str:
    """The item's text, with the references at its end that name no task of the group: those are a person's words."""
    tasks = {task for title, task in handbook.provenance if title == group}
    return item.text if tasks.issuperset(item.refs_at_end) else item.words


def named_in(item: ListItem, document: Document, stems: Collection[str]) -> set[str]:
    """The rollouts, of these, that the `rollout_summary_files` of the item's tasks, or else of its group, name."""
    provenance = document.provenance
    tasks: tuple[int | None, ...] = item.refs or ((item.task,) if item.task is not None else ())
    keys = [(item.group, task) for task in tasks] or [key for key in provenance if key[0] == item.group]
    named = set()
    for file in (name for key in keys for name in provenance.get(key, ())):
        stem = file.rsplit("/", 1)[-1]
        owners = [known for known in stems if stem == f"{known}.md" or stem.startswith(f"{known}_")]
        if owners:
            named.add(max(owners, key=len))
    return named


def taken_over(record: Record, section: str) -> dict[str, Any]:
    """What a line has of the record in whose place a person wrote it; its pin goes over wherever a record replaces."""
    given = record.importance not in (BY_HAND, IMPORTANCE[record.kind])
    kind = {"kind": record.kind.value} if record.section == section else {}
    return {"replaces": [record.id], **kind, **({"importance": record.importance} if given else {})}


def kind_of(section: str, preset: Preset) -> Kind:
    """The kind whose heading that section is; a fact under any other heading."""
    for kind, heading in preset.headings.items():
        if heading.casefold() == section.strip().casefold():
            return kind
    return Kind.FACT
