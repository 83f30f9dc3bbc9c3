"""Where lines stand once a command has written them: the file with the number of the line, and under what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from .places import Place
from .screen import WARN, Part, kept

if TYPE_CHECKING:
    from ...records import Record
    from ..plain import OpenMemory


def standing(place: Place, memory: OpenMemory, records: Iterable[Record]) -> Iterator[tuple[Record, list[Part]]]:
    """Each record with where it stands now, or when it will be written there; nothing for one that does neither."""
    handbook, seen = place.path(memory.layout.handbook), memory.state().visible()
    lines = {item.id: item.line for item in memory.items()}
    later = not_yet(place.root / memory.layout.handbook)
    for record in records:
        under = f" under {' › '.join(part for part in (record.group, record.section) if part)}"
        if record.id in lines:
            yield record, [kept(f"{handbook}:{lines[record.id]}", ""), under]
        elif record.id in seen:
            yield record, [kept(handbook, ""), under, (f" {later}", WARN) if later else Text()]
        else:
            yield record, []


def not_yet(path: Path) -> str:
    """When a file will be written and taken in that is left alone as it stands; empty for one that is not."""
    from ...pipeline import acknowledging, legible, store

    data = acknowledging.read(path)
    if data is None:
        return "once it can be read"
    if len(data) > store.LARGEST_VIEW:
        return f"once it has no more than {store.LARGEST_VIEW >> 20} MiB"
    if why := legible.set_aside(data):
        return "once the merge conflict in it is solved" if "conflict" in why else "once it is saved as UTF-8"
    return ""
