"""Finds texts by their words: ranked by BM25, English stemmed lightly, Chinese by its characters and their pairs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from heapq import nlargest
from itertools import pairwise

from .governance.wording import CJK, kept, normal, words

K1, B = 1.2, 0.75
"""How soon repetition stops to count, and how much a long text is discounted (Robertson et al., TREC-3 1994)."""
COMMON = 0.2
"""Share of the texts from which on a word adds to what rarer words found, but finds nothing more by itself."""

TWO = 2
"""How many words, of more than one character, two texts must share to be alike at all."""

_BLANK = re.compile(r"[\W_]+")
_UNSPACED = rf"{CJK}\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|[^\W_{_UNSPACED}]+(?:'[^\W\d_]+)?")


def terms(text: str) -> Iterator[str]:
    """The words of a text that carry meaning, stemmed; characters and pairs where no blanks stand between words."""
    for match in _RUN.finditer(normal(text).casefold()):
        run = match.group()
        if match.lastgroup == "unspaced":
            yield from run
            yield from map("".join, pairwise(run))
        elif term := _term(run):
            yield term


@kept(1 << 16)
def _term(word: str) -> str:
    if any(char.isdigit() for char in word):
        return word
    return next((found.stem for found in words(word) if found.plain or found.negation), "")


@kept(1 << 14)
def bare(text: str) -> str:
    """The letters and digits of a text: equal for texts that are the same, and for few others."""
    return _BLANK.sub("", text).casefold()


class Index:
    """Texts by id. Adding and removing cost the length of the text; a search costs what its rarer words find."""

    def __init__(self) -> None:
        self._holders: dict[str, dict[str, int]] = {}
        self._texts: dict[str, Counter[str]] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        self._added = 0
        self._length = 0

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, id: str, text: str) -> None:
        """Take in a text; one that has this id already is replaced."""
        self.remove(id)
        counts = Counter(terms(text))
        self._added += 1
        self._texts[id], self._sizes[id] = counts, (counts.total(), self._added)
        self._length += counts.total()
        for term, count in counts.items():
            self._holders.setdefault(term, {})[id] = count

    def remove(self, id: str) -> None:
        """Take a text out, if it is there."""
        if id not in self._texts:
            return
        counts = self._texts.pop(id)
        self._length -= self._sizes.pop(id)[0]
        for term in counts:
            holders = self._holders[term]
            del holders[id]
            if not holders:
                del self._holders[term]

    def likeness(self, text: str, most: int) -> list[tuple[str, float]]:
        """The ids of the texts most alike with how alike they are, from 0 to 1: best first by `search`.

        That is the weight of the words that both have, in parts of all that the one with less has; it takes two words.
        What no text has says as little as what all have.
        """
        asked = frozenset(terms(text)) if self._texts else frozenset()
        weights = {term: self._rarity(term) for term in asked}
        whole, found = sum(weights.values()), []
        for id in self.search(text, most):
            both = [term for term in self._texts[id] if term in asked]
            if sum(len(term) > 1 for term in both) >= TWO:
                least = min(whole, sum(map(self._rarity, self._texts[id])))
                found.append((id, sum(weights[term] for term in both) / least))
        return found

    def _rarity(self, term: str) -> float:
        return math.log(1 + len(self._texts) / (len(self._holders.get(term, ())) or len(self._texts)))

    def _weight(self, term: str) -> float:
        number = len(self._holders.get(term, ()))
        return math.log(1 + (len(self._texts) - number + 0.5) / (number + 0.5))

    def search(self, text: str, most: int) -> list[str]:
        """The ids of the texts most alike, at most `most`, best first; of equals the one that came last."""
        asked = sorted((len(self._holders[term]), term) for term in dict.fromkeys(terms(text)) if term in self._holders)
        scores: dict[str, float] = {}
        mean = self._length / (len(self._texts) or 1)
        for number, term in asked:
            weight = self._weight(term)
            holders = self._holders[term]
            if number > COMMON * len(self._texts) and len(scores) >= most:
                holders = {id: holders[id] for id in scores if id in holders}
            for id, count in holders.items():
                damped = count + K1 * (1 - B + B * self._sizes[id][0] / mean)
                scores[id] = scores.get(id, 0.0) + weight * count * (K1 + 1) / damped
        return nlargest(most, scores, key=lambda id: (scores[id], self._sizes[id][1]))
