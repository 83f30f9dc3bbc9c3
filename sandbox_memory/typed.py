"""What a list item that a person wrote or left says of the memory that it is, or becomes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

from .document import Document, ListItem, normalise
from .document.text import without_refs
from .governance.lifetime import BY_HAND, IMPORTANCE
from .governance.wording import meaning
from .layout import Preset
from .records import Kind, Record
from .state import State

_UNREADABLE = re.compile("[\udc80-\udcff]")
_LOST = re.compile("[?\ufffd]")
HANDBOOK, SUMMARY = "MEMORY.md", "memory_summary.md"
MANY = 5
SHARE = 0.2


def many(gone: Sized, shown: Sized) -> bool:
    """True for so many lines gone at once, of those that were shown, that it is asked about, not believed."""
    return len(gone) > max(MANY, SHARE * len(shown))


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


def in_summary(now: State, marker: int | None) -> bool:
    """True if lines came in with a block of `memory_summary.md` as of that commit: it lacks them if it comes back."""
    return any((each.file, each.marker) == (SUMMARY, marker) for each in now.typed.values())


def seen(document: Document, now: State) -> int | None:
    """The commit that a file shows at least: its marker's, or else that of the newest record it can only have from us.

    None where nothing tells. What people typed may stand in a file that shows nothing of what came before it.
    """
    if document.marker is not None:
        return document.marker
    texts = {normalise(r.text): r.created for r in now.visible().values() if r.origin not in ("hand", "live")}
    found = [
        now.records[item.id].created if item.id in now.records else texts.get(item.normal) for item in document.items
    ]
    return max((ordinal for ordinal in found if ordinal is not None), default=None)


def at_the_end(
    document: Document, records: Mapping[str, Record], gone: Sequence[str], assigned: Mapping[int, str]
) -> list[str]:
    """Those of them that would stand after all that is there, in a file without its last line, our marker.

    Somebody who saves in two writes may have made only the first. `assigned` are the records that the items are. Of
    the last section those are not at its end that came before one which is there, where all stand as they came.
    """
    if document.marker is not None or not document.items:
        return []
    *before, last = ((item.group, item.section) for item in document.items)
    at = {id: place for place, id in enumerate(records)}
    there = [
        at[assigned[i.index]] for i in document.items if (i.group, i.section) == last and assigned.get(i.index) in at
    ]
    newest = there[-1] if there and there == sorted(there) else -1
    return [
        id
        for id in gone
        if (place := (records[id].group, records[id].section)) not in set(before) - {last}
        and not (place == last and at[id] < newest)
    ]


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


def forgotten_since(text: str, marker: int | None, now: State) -> bool:
    """True for a line of which nothing is left without what was forgotten since that commit: its editor cannot know."""
    for erasure in now.erasures.values() if marker is not None else ():
        if erasure.ordinal > (marker or 0) and (spans := erasure.marks.spans(text)):
            rest, at = "", 0
            for start, end in spans:
                rest, at = f"{rest} {text[at:start]}", end
            if not meaning(f"{rest} {text[at:]}"):
                return True
    return False
