"""What an editor that never reloads its file goes on with: what earlier saves of it have brought in or changed already.

The file still says that it shows the commit from which the editor opened it, and a new line has no id there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from .document import ListItem, normalise
from .matching import LONG, NO_ID, SAME_ID, bound, tokens
from .records import Record, Status, Trust
from .state import State, Typed

STEM = 3
"""Words that a line and what became of it begin with, if a word after them is another; no less than a third of it."""
SLIP = 3
"""Letters of a word from which on a like word is that one, mistyped."""


BY = ("hand", "live")
"""Who saves a file."""


@dataclass
class Buffer:
    """One save of a file. `base` are the records that it was opened with, id to text.

    `actor` is hand or live, `trust` what the words of that actor are worth: the lines of the other one are not looked
    at. Nothing is known of a file without a `marker`, nor of lines that earlier versions took in.
    """

    file: str
    marker: int | None
    actor: str
    trust: Trust
    now: State
    base: Mapping[str, str]
    held: dict[int, str] = field(default_factory=dict)
    """Items as an earlier save had them, index to record."""
    grown: dict[int, str] = field(default_factory=dict)
    """Items that have become of what an earlier save had."""
    there: frozenset[str] = frozenset()
    """The texts of all items, normalised."""
    ids: frozenset[str] = frozenset()
    """The records that the items are, or whose ids they carry."""
    editors: frozenset[int] = frozenset()
    """Those, by their first saves, of which lines stand here as they left them, or are gone as they were."""
    _between: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whose = self.file, self.marker, self.actor, self.trust
        self.typed: dict[str, Typed] = {
            id: typed
            for id, typed in self.now.typed.items()
            if (typed.file, typed.marker, typed.by, typed.record.trust) == whose and id not in self.base
        }
        self.saved: dict[str, tuple[int, Record]] = {
            id: saved for (id, *place), saved in self.now.saved.items() if place == [self.file, self.marker, self.actor]
        }
        """What earlier saves made of records, each with the first one of that editor."""

    def hold(self, items: Sequence[ListItem]) -> list[ListItem]:
        """Find the lines that stand as an earlier save had them; the other items."""
        self.there = frozenset(item.normal for item in items)
        texts: dict[str, list[str]] = {}
        for id, typed in reversed(self.typed.items()):
            texts.setdefault(normalise(typed.record.text), []).append(id)
        shown = {normalise(text) for text in self.base.values()}
        for item in items if texts else ():
            own = self.base.get(item.id)
            if (not item.id or own is not None) and item.normal not in shown and texts.get(item.normal):
                self.held[item.index] = texts[item.normal].pop()
        return [item for item in items if item.index not in self.held]

    def grow(self, items: Sequence[ListItem], new: Sequence[int], assigned: Mapping[int, str]) -> list[int]:
        """Find the lines, of the `new` ones, that have become of earlier ones; the others. `assigned` have records."""
        self.ids = frozenset((*assigned.values(), *(item.id for item in items)))
        self._between = _between(items, {index: id for index, id in assigned.items() if id in self.base})
        mine = {self.typed[id].since for id in self.held.values()}  # another editor's lines are not gone on with here
        left = {
            id: typed
            for id, typed in self.typed.items()
            if id not in self.held.values() and (not mine or typed.since in mine)
        }
        fresh, old = set(new), {id: tokens(normalise(typed.record.text)) for id, typed in left.items()}
        scored = sorted(
            (-score, item.index, place, id)
            for item, words in [(item, tokens(item.normal)) for item in items if left and item.index in fresh]
            for place, id in enumerate(left)
            if (score := self._likeness(item, words, id, old[id]))
        )
        for _, index, _, id in scored:
            if index not in self.grown and id in left:
                self.grown[index] = id
                del left[id]
        self.editors = self._editors()
        return [index for index in new if index not in self.grown]

    def gone(self) -> list[str]:
        """The lines that this editor had and has no more, as far as another line shows that it is the same editor.

        Where none does it may be an older version of the file that was put back: that takes nothing out.
        """
        mine = {*self.held.values(), *self.grown.values()}
        chains = {self.typed[id].since for id in mine}
        left = [id for id in self.typed if id not in mine and self.now.records[id].status is Status.ACTIVE]
        return [id for id in left if chains == {self.typed[id].since}]

    def left(self, id: str, normal: str) -> bool:
        """True if an earlier save left that record with the same words, or out of the file for an empty text.

        What became of it since stands then: nobody has touched it in this save. Words count whoever is taken to have
        saved them before, as that changes where a session begins or ends.
        """
        record, marker = self.now.records[id], self.marker
        same = record.status is Status.ACTIVE and normalise(record.text) == normal
        if same or record.status is Status.HELD or marker is None:
            return False
        keys = [(id, self.file, marker, by) for by in (BY if normal else (self.actor,))]
        left = [self.now.saved[key][1] for key in keys if key in self.now.saved]
        return any(normal == (normalise(each.text) if each.status is Status.ACTIVE else "") for each in left)

    def own(self, id: str) -> str | None:
        """What the last save of this very editor made of that record, as far as its other lines show which one it is.

        Each of two that opened the same file has lines that it alone has changed, and none that it has as they were.
        """
        since, record = self.saved.get(id, (0, None))
        return record.text if record is not None and since in self.editors else None

    def _editors(self) -> frozenset[int]:
        own = {
            since
            for id, (since, record) in self.saved.items()
            if (normalise(record.text) in self.there if record.status is Status.ACTIVE else id not in self.ids)
        }
        as_it_was = {id for id, text in self.base.items() if id in self.saved and normalise(text) in self.there}
        other = {self.saved[id][0] for id in as_it_was}
        return frozenset((own - other) | {self.typed[id].since for id in (*self.held.values(), *self.grown.values())})

    def facts(self, item: ListItem | None = None) -> dict[str, Any]:
        """What an operation keeps of the save that it came with; of an `item` without an id also where that stood."""
        if self.marker is None or self.actor not in BY:
            return {}
        since = max(self.editors, default=self.now.ordinal + 1)
        place = {"file": self.file, "marker": self.marker, "since": since}
        between = {"between": list(self._between.get(item.index, ("", "")))} if item else {}
        return {"buffer": place | between}

    def _likeness(self, item: ListItem, new: list[str], id: str, old: list[str]) -> float:
        """How likely an item of the words `new` has become of that line, of the words `old`; 0 if it has not."""
        was = self.now.records.get(item.id)
        over = was is not None and was.superseded_by == id
        if (item.id and not over) or not item.normal:
            return 0
        typed = self.typed[id]
        same = item.section == typed.record.section and item.group in (typed.record.group, "")
        above, below = self._between.get(item.index, ("", ""))
        near = over or (
            same
            and ((above, below) == typed.between or above == typed.between[0] != "" or below == typed.between[1] != "")
        )
        short = min(old, new, key=len)
        if old[: len(short)] == new[: len(short)] or _begun(old, new) or _begun(new, old):
            return 2 + len(short) / max(len(old), len(new)) if near or (same and len(short) >= STEM) else 0
        least = SAME_ID if self.held else NO_ID
        if not near or len(old) * len(new) > LONG or bound(Counter(old), len(old), new) < least:
            return 0
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        if (ratio := matcher.ratio()) < least:
            return 0
        other = [
            (a, b)
            for op, a, z, b, y in matcher.get_opcodes()
            if op == "replace" and not _slip(" ".join(old[a:z]), " ".join(new[b:y]))
        ]
        stem = other[0][0] if other else len(old)
        kept = not other or (len(other) == 1 and other[0][0] == other[0][1] and stem >= STEM and 3 * stem >= len(short))
        return ratio if kept or self.held else 0


def _begun(one: Sequence[str], other: Sequence[str]) -> bool:
    """True if one breaks off in a word of the other."""
    last = len(one) - 1
    return 0 <= last < len(other) and one[:last] == other[:last] and other[last].startswith(one[last])


def _slip(one: str, other: str) -> bool:
    """True for words that are the same but for a letter or two; numbers are never."""
    if min(len(one), len(other)) < SLIP or any(char.isdigit() for char in one + other):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= NO_ID


def _between(items: Sequence[ListItem], shown: Mapping[int, str]) -> dict[int, tuple[str, str]]:
    """The records that were `shown` next above and below of each item in its section, "" for none."""
    above, below = _next(items, shown), _next(items[::-1], shown)
    return {index: (above[index], below[index]) for index in above}


def _next(items: Sequence[ListItem], shown: Mapping[int, str]) -> dict[int, str]:
    found, place, last = dict[int, str](), ("", ""), ""
    for item in items:
        if (item.group, item.section) != place:
            place, last = (item.group, item.section), ""
        found[item.index] = last
        last = shown.get(item.index, last)
    return found
