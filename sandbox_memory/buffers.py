"""What an editor that never reloads its file goes on with: lines that earlier saves of it have brought in already.

Such a line has no id there, and the file still says that it shows the commit from which the editor opened it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from .document import ListItem, normalise
from .matching import NO_ID, SAME_ID, tokens
from .records import Status, Trust
from .state import State, Typed

STEM = 3
"""Words that a line and what became of it begin with, if a word after them is another; no less than a third of it."""
SLIP = 3
"""Letters of a word from which on a like word is that one, mistyped."""


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
    _between: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.typed: dict[str, Typed] = {
            id: typed
            for id, typed in self.now.typed.items()
            if (typed.file, typed.marker, typed.by, typed.record.trust) == self._whose and id not in self.base
        }

    @property
    def _whose(self) -> tuple[str, int | None, str, Trust]:
        return self.file, self.marker, self.actor, self.trust

    def hold(self, items: Sequence[ListItem]) -> list[ListItem]:
        """Find the lines that stand as an earlier save had them; the other items."""
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
        self._between = _between(items, {index: id for index, id in assigned.items() if id in self.base})
        mine = {self.typed[id].since for id in self.held.values()}  # another editor's lines are not gone on with here
        left = {
            id: typed
            for id, typed in self.typed.items()
            if id not in self.held.values() and (not mine or typed.since in mine)
        }
        by_index = {item.index: item for item in items}
        scored = sorted(
            (-score, index, place, id)
            for index in new
            for place, (id, typed) in enumerate(left.items())
            if (score := self._likeness(by_index[index], id, typed))
        )
        for _, index, _, id in scored:
            if index not in self.grown and id in left:
                self.grown[index] = id
                del left[id]
        return [index for index in new if index not in self.grown]

    def gone(self) -> list[str]:
        """The lines that this editor had and has no more, as far as another line shows that it is the same editor.

        Where none does it may be an older version of the file that was put back: that takes nothing out.
        """
        mine = {*self.held.values(), *self.grown.values()}
        chains = {self.typed[id].since for id in mine}
        left = [id for id in self.typed if id not in mine and self.now.records[id].status is Status.ACTIVE]
        return [id for id in left if chains == {self.typed[id].since}]

    def facts(self, item: ListItem) -> dict[str, Any]:
        """What an operation keeps of the save that a line without an id came with."""
        if self.marker is None or self.actor not in ("hand", "live"):
            return {}
        chains = [self.typed[id].since for id in (*self.held.values(), *self.grown.values())]
        since = max(chains, default=self.now.ordinal + 1)
        between = list(self._between.get(item.index, ("", "")))
        return {"buffer": {"file": self.file, "marker": self.marker, "since": since, "between": between}}

    def _likeness(self, item: ListItem, id: str, typed: Typed) -> float:
        """How likely an item has become of that line, 0 if it has not."""
        was = self.now.records.get(item.id)
        over = was is not None and was.superseded_by == id
        if (item.id and not over) or not item.normal:
            return 0
        record = typed.record
        same = item.section == record.section and item.group in (record.group, "")
        above, below = self._between.get(item.index, ("", ""))
        near = over or (
            same
            and ((above, below) == typed.between or above == typed.between[0] != "" or below == typed.between[1] != "")
        )
        old, new = tokens(normalise(record.text)), tokens(item.normal)
        short = min(old, new, key=len)
        if old[: len(short)] == new[: len(short)] or _begun(old, new) or _begun(new, old):
            return 2 + len(short) / max(len(old), len(new)) if near or (same and len(short) >= STEM) else 0
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        ratio = matcher.ratio()
        if not near or ratio < (SAME_ID if self.held else NO_ID):
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
