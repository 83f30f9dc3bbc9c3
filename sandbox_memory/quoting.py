"""Where a quote stands in a rollout: letter by letter but for blanks, typographic signs and case."""

from __future__ import annotations

import re
import weakref
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .records import Item, Rollout

MEMORY = "memory"
"""Label of items that repeat what memory said: shown, but no evidence."""

_REFERENCE = re.compile(r"s?(\d{1,9})\s*[.:]\s*(\d{1,9})")
_BLANKS = "\t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SAME = (("'", "’‘`"), ('"', "“”"), ("-", "–—−"), (" ", _BLANKS + "\u2028\u2029\u202f\u205f\u3000"))
_END = "\0"


@dataclass(frozen=True)
class Found:
    """Where a quote stands: `text` is the verbatim text of characters `start` to `end` of the item."""

    segment: str
    item: Item
    start: int
    end: int
    text: str


def locate(quote: str, reference: str, rollout: Rollout) -> Found | None:
    """Where a quote stands, letter by letter but for blanks, typographic quotes, dashes and case; None if nowhere.

    The item that `reference` names is looked at first, then all others in order. Items that repeat memory are left out.
    The texts are prepared once for all quotes that are looked up in a rollout one after the other; then a quote costs
    one search of the text.
    """
    if not any(char.isalnum() for char in quote):
        return None
    return _index(rollout).find(quote, reference)


def plain(text: str) -> str:
    """The text in lower case with plain quotes, dashes and blanks, as many characters as before."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(lower if len(lower := char.lower()) == 1 else char for char in text)
    low = low.replace(_END, "\1")
    for sign, others in _SAME:
        for other in others:
            if other in low:
                low = low.replace(other, sign)
    return low


class _Index:
    """The plain texts of a rollout's items, one after the other."""

    def __init__(self, rollout: Rollout) -> None:
        self.places = [
            (number, segment.id, item)
            for number, segment in enumerate(rollout.segments, 1)
            for item in segment.items
            if item.label != MEMORY
        ]
        self.by_reference: dict[tuple[int, int], int] = {}
        for place, (number, _, item) in enumerate(self.places):
            self.by_reference.setdefault((number, item.index), place)
        texts = [plain(item.text) for _, _, item in self.places]
        self.text = _END.join(texts)
        self.starts = _starts(texts)
        self.words: dict[int, array[int]] = {}

    @cached_property
    def squeezed(self) -> tuple[str, list[int]] | None:
        """The texts with one blank for each run of blanks and none at the ends; None if they are so already."""
        if "  " not in self.text and f"{_END} " not in self.text:
            return None
        texts = [_squeezed(text) for text in self.text.split(_END)]
        return _END.join(texts), _starts(texts)

    def find(self, quote: str, reference: str) -> Found | None:
        wanted = _squeezed(plain(quote))
        named = self._named(reference)
        for first in [named] if named is not None else []:
            found = self._in(first, quote, wanted)
            if found is not None:
                return found
        at = self.text.find(wanted)
        if at >= 0:
            return self._in(bisect_right(self.starts, at) - 1, quote, wanted)
        if self.squeezed is not None and " " in wanted:
            text, starts = self.squeezed
            at = text.find(wanted)
            if at >= 0:
                return self._in(bisect_right(starts, at) - 1, quote, wanted)
        return None

    def _named(self, reference: str) -> int | None:
        match = _REFERENCE.search(reference)
        return None if match is None else self.by_reference.get((int(match[1]), int(match[2])))

    def _in(self, place: int, quote: str, wanted: str) -> Found | None:
        """The quote in this item: as it is if it stands there so, else the first place where it is the same."""
        _, segment, item = self.places[place]
        at = item.text.find(quote)
        if at >= 0:
            return Found(segment, item, at, at + len(quote), quote)
        start = self.starts[place]
        at = self.text.find(wanted, start, start + len(item.text))
        if at >= 0:
            at -= start
            return Found(segment, item, at, at + len(wanted), item.text[at : at + len(wanted)])
        span = self._squeezed_in(place, wanted) if self.squeezed is not None and " " in wanted else None
        return None if span is None else Found(segment, item, *span, item.text[slice(*span)])

    def _squeezed_in(self, place: int, wanted: str) -> tuple[int, int] | None:
        assert self.squeezed is not None
        text, starts = self.squeezed
        start = starts[place]
        end = starts[place + 1] - 1 if place + 1 < len(starts) else len(text)
        at = text.find(wanted, start, end)
        if at < 0:
            return None
        return self._original(place, at), self._original(place, at + len(wanted))

    def _original(self, place: int, edge: int) -> int:
        """Where in an item's text a place inside or at the end of a word of its squeezed text is."""
        assert self.squeezed is not None
        text, starts = self.squeezed
        word = max(text.rfind(" ", starts[place], edge) + 1, starts[place])
        return self._words(place)[text.count(" ", starts[place], edge)] + edge - word

    def _words(self, place: int) -> array[int]:
        """Where each word of an item begins."""
        if place not in self.words:
            start = self.starts[place]
            text = self.text[start : start + len(self.places[place][2].text)]
            self.words[place] = array("q", (match.start() for match in re.finditer("[^ ]+", text)))
        return self.words[place]


def _squeezed(text: str) -> str:
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")


def _starts(texts: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text) + 1
    return starts


_last: list[tuple[weakref.ref[Rollout], _Index]] = []


def _index(rollout: Rollout) -> _Index:
    """The index of this rollout; that of the last one is kept for as long as the rollout is."""
    for known, index in _last:
        if known() is rollout:
            return index
    index = _Index(rollout)
    _last[:] = [(weakref.ref(rollout, lambda _: _last.clear()), index)]
    return index
