"""What a search finds beside the words of lines in sight: a place in a file, lines that are gone, earlier words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...folding.said import BEFORE, Said, having, said
from ...records import Record
from ..opening import run
from ..plain import OpenMemory
from .snapshot import Shelf, Snapshot

_PLACE = re.compile(r"(?:.*/)?(memory|memory_summary)\.md:([0-9]{1,7})", re.IGNORECASE)
_ID = re.compile(r"\^(m-[0-9a-f]{10})[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_FILES = {"memory": "MEMORY.md", "memory_summary": "memory_summary.md"}


@dataclass(frozen=True)
class Away:
    """A line that is out of sight, or one that said `text` before and says other words now."""

    record: Record
    text: str
    before: bool


def place_of(query: str) -> str:
    """The `FILE:LINE` that a search asks for, the file's name as it is written; empty for words."""
    found = _PLACE.fullmatch(query)
    return f"{_FILES[found[1].lower()]}:{int(found[2])}" if found else ""


def at_place(snapshot: Snapshot, place: str) -> list[Record]:
    """The line of the memory that stands there; none where that is no list item.

    It is looked up in the text as it is: to parse a large file would take longer than a key.
    """
    file, _, number = place.rpartition(":")
    rows, at = _rows(snapshot.seen.summary if file == _FILES["memory_summary"] else snapshot.seen.handbook), int(number)
    if not 0 < at <= len(rows) or not rows[at - 1].strip() or (start := _start(rows, at - 1)) is None:
        return []
    known = snapshot.state.visible()
    for further, row in enumerate(rows[start:]):
        if further and (_ITEM.match(row) or row.startswith(("#", "<!--"))):
            return []
        if found := _ID.search(row):
            return [known[found[1]]] if found[1] in known else []
    return []


def line_of(snapshot: Snapshot, id: str) -> int:
    """The number of the line of `MEMORY.md` at which the list item with that id begins; 0 for none."""
    rows = _rows(snapshot.seen.handbook)
    end = next((n for n, row in enumerate(rows) if id in row and (found := _ID.search(row)) and found[1] == id), None)
    start = None if end is None else _start(rows, end)
    return 0 if start is None else start + 1


def _rows(data: bytes | None) -> list[str]:
    return [row.rstrip("\r") for row in (data or b"").decode("utf-8", "replace").split("\n")]


def _start(rows: Sequence[str], at: int) -> int | None:
    """Where the list item begins that a row belongs to; None for one that belongs to none."""
    for number in range(at, -1, -1):
        row = rows[number]
        if _ITEM.match(row):
            return number
        if row.startswith(("#", "<!--")) or (number < at and not row.strip() and not rows[number + 1][:1].isspace()):
            return None
    return None


def away(
    shelf: Shelf, snapshot: Snapshot, query: str, found: Sequence[Record], fits: Callable[[Record], bool]
) -> list[Away]:
    """What of lines out of sight and of earlier words has all the words of a query, or contains it as it was typed.

    `found` are the lines that are shown already; those out of sight come first, the last changed of them before others.
    """
    _, gone, before = _said(shelf, snapshot.version)
    plain, shown = query.casefold().lstrip("^"), {record.id for record in found}
    lines: dict[str, Away] = {}
    for tier in (gone, before):
        # Of one line, the words that it said last.
        hits = {each.id: each for each in [*_containing(tier, plain), *having(tier, query)]}
        for each in hits.values():
            record = snapshot.state.records.get(each.id)
            if record and record.text and each.id not in shown and fits(record):
                lines.setdefault(each.id, Away(record, each.text, each.how == BEFORE))
    return sorted(lines.values(), key=lambda each: (not each.before, each.record.updated), reverse=True)


def _containing(tier: Sequence[Said], plain: str) -> list[Said]:
    return [each for each in tier if plain in each.text.casefold() or plain == each.id]


@lru_cache(maxsize=4)
def _said(shelf: Shelf, version: str) -> tuple[list[Said], list[Said], list[Said]]:
    """What there is to find, looked up once for what the files are: a search asks with every key."""

    def look(memory: OpenMemory) -> tuple[list[Said], list[Said], list[Said]]:
        return said(memory.pipeline.store.ledger, run(memory.inquiry.state()))

    return shelf.do(look)
