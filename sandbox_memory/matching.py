"""Which edited list item is which record, when people retype, move, copy, split and strip lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from .document import ListItem, normalise
from .document.text import CJK

SAME_ID = 0.45
"""How alike a text must be to the record whose id it carries to be that record, changed."""
NO_ID = 0.6
"""How alike a text without a usable id must be to a record to be that record, changed."""

_TOKEN = re.compile(rf"[{CJK}]|(?:(?![{CJK}])\w)+")
_NEAREST = 100
_CANDIDATES = 24
_COMMON = 1000
LONG = 250_000
"""Words of one text times those of the other from which on their order is not compared."""


@dataclass(frozen=True)
class Matching:
    """What became of each record and each item.

    `same` and `revised` map item index to record id: with the same text, compared normalised, or with another one.
    `missing` are the records that no item is, `new` the indices of items that are no record, in order.
    """

    same: dict[int, str]
    revised: dict[int, str]
    missing: set[str]
    new: list[int]
    over: dict[int, str] = field(default_factory=dict)
    """Of the new items those that carry the id of a missing record, with it: they were typed over its line."""


def match(base: Mapping[str, str], items: Sequence[ListItem]) -> Matching:
    """Pair the records that a file was written from, id to text, with the items that stand in it now.

    In this order, each record and each item once: same id and same text, same text, same id and similar text, similar
    text without an id. A text that is like no record is new, also where it carries an old id: then it was typed `over`
    the old line. Of items that copy one id one is the record and the others are new. Items without text are
    passed over; an unreadable item is never revised or new, and its record not missing.
    """
    pairing = _Pairing(base, [item for item in items if item.text])
    pairing.exact()
    pairing.similar()
    readable = {item.index: item.readable for item in items}
    same = pairing.same | {index: id for index, id in pairing.revised.items() if not readable[index]}
    over = {item.id: item.index for item in reversed(pairing.rest) if item.readable and item.id in pairing.free}
    return Matching(
        same=dict(sorted(same.items())),
        revised={index: id for index, id in sorted(pairing.revised.items()) if readable[index]},
        missing=set(pairing.free),
        new=[item.index for item in pairing.rest if item.readable],
        over={index: id for id, index in over.items()},
    )


class _Pairing:
    def __init__(self, base: Mapping[str, str], items: list[ListItem]) -> None:
        self.base = base
        self.free = dict.fromkeys(base)
        self.rest = items
        self.same: dict[int, str] = {}
        self.revised: dict[int, str] = {}

    def exact(self) -> None:
        """Same id and same text, then same text."""
        self._take(self.same, self._by_id_and_text(lambda item, id: item.text == self.base[id]))
        self._take(self.same, self._by_id_and_text(lambda item, id: item.normal == normalise(self.base[id])))
        if not self.rest or not self.free:
            return
        by_text: dict[str, list[str]] = defaultdict(list)
        for id in reversed(self.free):
            by_text[normalise(self.base[id])].append(id)
        found = []
        for item in self.rest:
            if by_text.get(item.normal):
                found.append((item, by_text[item.normal].pop()))
        self._take(self.same, found)

    def similar(self) -> None:
        """Same id and similar, then similar; the most alike first."""
        if not self.rest or not self.free:
            return
        known = {id: tokens(normalise(self.base[id])) for id in self.free}
        scored = []
        nameless = []
        for position, item in enumerate(self.rest):
            words = tokens(item.normal)
            if item.id in self.free:
                ratio = _ratio(words, known[item.id])
                if ratio >= SAME_ID:
                    scored.append((-1 - ratio, position, item.id))
            elif not item.id:
                nameless.append((position, words))
        for position, id, ratio in _alike(nameless, known):
            scored.append((-ratio, position, id))
        found = {}
        taken = set()
        for _, position, id in sorted(scored):
            if position not in found and id not in taken:
                found[position] = id
                taken.add(id)
        self._take(self.revised, [(self.rest[position], id) for position, id in found.items()])
        self._take(self.same, self._by_id_and_text(lambda item, id: not item.readable))

    def _by_id_and_text(self, equal: Callable[[ListItem, str], bool]) -> Iterator[tuple[ListItem, str]]:
        taken = set()
        for item in self.rest:
            if item.id in self.free and item.id not in taken and equal(item, item.id):
                taken.add(item.id)
                yield item, item.id

    def _take(self, into: dict[int, str], found: Iterable[tuple[ListItem, str]]) -> None:
        indices = set()
        for item, id in list(found):
            into[item.index] = id
            indices.add(item.index)
            del self.free[id]
        if indices:
            self.rest = [item for item in self.rest if item.index not in indices]


def _alike(items: list[tuple[int, list[str]]], records: Mapping[str, list[str]]) -> Iterator[tuple[int, str, float]]:
    """Pairs of item position and record id that are at least `NO_ID` alike, with how much.

    Two texts can be that alike only if they share a certain number of words, so that among the rarest words of one, all
    but that number, there is a word of the other (Chaudhuri et al. 2006, the prefix filter). Only the records with most
    words in common are compared in full, and words that more than a thousand records have do not make a pair.
    """
    holders: dict[str, list[str]] = defaultdict(list)
    for id, words in records.items():
        for word in set(words):
            holders[word].append(id)
    for position, words in items:
        needed = NO_ID * len(words) / (2 - NO_ID)
        rarest = sorted((word for word in words if word in holders), key=lambda word: len(holders[word]))
        prefix = rarest[: max(1, int(len(rarest) - needed) + 1)]
        near: Counter[str] = Counter()
        for word in set(prefix):
            if len(holders[word]) <= _COMMON:
                near.update(holders[word])
        counts = Counter(words)
        bounds = []
        for id, _ in near.most_common(_NEAREST):
            most = bound(counts, len(words), records[id])
            if most >= NO_ID:
                bounds.append((-most, id))
        for _, id in sorted(bounds)[:_CANDIDATES]:
            ratio = _ratio(words, records[id])
            if ratio >= NO_ID:
                yield position, id, ratio


def bound(counts: Mapping[str, int], length: int, words: list[str]) -> float:
    """What `_ratio` is at most: the share of words in common in any order."""
    left = dict(counts)
    common = 0
    for word in words:
        if left.get(word, 0):
            left[word] -= 1
            common += 1
    return 2 * common / (length + len(words)) if length + len(words) else 1.0


def _ratio(one: list[str], other: list[str]) -> float:
    if len(one) * len(other) > LONG:
        return bound(Counter(one), len(one), other)
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def tokens(text: str) -> list[str]:
    """The words of a text, of Chinese each character."""
    return _TOKEN.findall(text.casefold()) or list(text)
