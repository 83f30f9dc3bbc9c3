"""Taint: whose word it is does not change when somebody else says it again.

An agent that repeats or paraphrases a page has it from the page, and a person who pastes a page without a mark has
typed none of it. What was first seen in an earlier, less trusted part of the same conversation keeps that trust: for an
agent also in other words (the share of the words, numbers and names that it did not get elsewhere, close together in
one place, in any order), for a person only word for word, since to answer or confirm what was shown is their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..records import Trust
from .wording import CJK, STOP, normal, stem

Place = tuple[int, int]
"""A run and an item in it, counted from 0."""
SHINGLE = 6
"""Tokens in a row that are looked for."""
COPIED = {Trust.EXTERNAL: 8.0, Trust.AGENT: 16.0, Trust.OBSERVED: 16.0}
"""How long a run of the same words is a copy: people repeat an agent's sentence to agree, but not a page's."""
WHOLE = 0.85
"""Or how much of a line, of at least `SHINGLE` words."""
SHARE = 0.6
"""How much of what an agent says anew must stand in one place for it to be from there."""
WINDOW = 60
"""Tokens that such a place has at least."""
LONGEST = 100_000
"""Characters of an item that are compared, from its start."""

_TOKEN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")


@dataclass(frozen=True)
class Piece:
    """A part of an item, characters `start` on, with what it is worth; `memory` where memory itself speaks."""

    place: Place
    start: int
    text: str
    trust: Trust
    memory: bool = False


@dataclass(frozen=True)
class _Token:
    word: str
    start: int
    end: int

    @property
    def weight(self) -> float:
        """Two Chinese characters overlap with the next two: each pair says half a word."""
        return 0.5 if self.word > "\u3400" else 1.0


class Taint:
    """The pieces of a conversation in order, indexed at the first question.

    `told` are texts of memory that its agent was given before it began.
    """

    def __init__(self, pieces: Iterable[Piece], told: Iterable[str] = ()) -> None:
        before = [Piece((-1, n), 0, text, Trust.EXTERNAL, memory=True) for n, text in enumerate(told)]
        self._pieces = [*before, *pieces]
        self._built = False
        self._tokens: list[list[_Token]] = []
        self._first: dict[str, dict[int, Place]] = {}
        self._where: dict[str, list[tuple[int, int]]] = {}
        self._rows: dict[int, int] = {}
        self._copies: dict[Place, list[tuple[int, int, Trust]]] = {}

    def lowered(self, place: Place, start: int, end: int, quote: str, trust: Trust) -> Trust | None:
        """What a quote of that trust, characters `start` to `end` of an item, is worth; None if it is memory's own."""
        if trust not in (Trust.USER, Trust.AGENT):
            return trust
        self._build()
        worth: Trust = trust
        for first, last, source in self._copied(place, trust):
            if min(end, last) - max(start, first) > (end - start) / 2:
                worth = min(worth, source)
        if trust is Trust.AGENT:
            shown = self._paraphrased(place, quote)
            if shown is not None and shown.memory:
                return None
            worth = Trust.EXTERNAL if shown is not None else worth
        return worth

    def _build(self) -> None:
        if self._built:
            return
        self._built = True
        for number, piece in enumerate(self._pieces):
            tokens = list(_tokens(piece.text[:LONGEST]))
            self._tokens.append(tokens)
            rank = 0 if piece.memory else int(piece.trust)
            for position, token in enumerate(tokens):
                self._first.setdefault(token.word, {}).setdefault(rank, piece.place)
                if rank <= Trust.EXTERNAL and token.word not in STOP:
                    self._where.setdefault(token.word, []).append((number, position))
            for row in _rows(tokens):
                self._rows.setdefault(row, number)

    def _copied(self, place: Place, trust: Trust) -> list[tuple[int, int, Trust]]:
        """The spans of an item that are word for word what stood before in a less trusted piece."""
        if place not in self._copies:
            found: list[tuple[int, int, Trust]] = []
            for number, piece in enumerate(self._pieces):
                if piece.place == place and piece.trust is trust:
                    found += self._runs(number)
            self._copies[place] = found
        return self._copies[place]

    def _runs(self, number: int) -> Iterator[tuple[int, int, Trust]]:
        piece, tokens = self._pieces[number], self._tokens[number]
        sources: list[Trust | None] = [None] * len(tokens)
        for position, row in enumerate(_rows(tokens)):
            source = self._pieces[self._rows[row]]
            if source.place < piece.place and source.trust < piece.trust:
                for n in range(position, position + SHINGLE):
                    known = sources[n]
                    sources[n] = source.trust if known is None else min(known, source.trust)
        first = 0
        while first < len(tokens):
            source_trust, last = sources[first], first + 1
            while last < len(tokens) and (sources[last] is None) == (source_trust is None):
                last += 1
            if source_trust is not None:
                worth = min(trust for trust in sources[first:last] if trust is not None)
                length = sum(token.weight for token in tokens[first:last])
                start, end = tokens[first].start, tokens[last - 1].end
                if length >= COPIED[worth] or (worth is Trust.EXTERNAL and _fills(piece.text, start, end)):
                    yield piece.start + start, piece.start + end, worth
            first = last

    def _paraphrased(self, place: Place, quote: str) -> Piece | None:
        """The piece of others, or of memory, before that place where most that is new in the quote stands together."""
        words = [token for token in _tokens(quote) if token.word not in STOP]
        new = {token.word: _worth(token) for token in words if not self._known(token.word, place)}
        whole = sum(new.values())
        if whole < 3:
            return None
        reach = max(WINDOW, 4 * len(words))
        spots = sorted(
            spot for word in new for spot in self._where.get(word, ()) if self._pieces[spot[0]].place < place
        )
        best: Piece | None = None
        first, counts, share = 0, dict[str, int](), 0.0
        for last, (number, position) in enumerate(spots):
            word = self._tokens[number][position].word
            counts[word] = counts.get(word, 0) + 1
            share += new[word] if counts[word] == 1 else 0.0
            while spots[first][0] != number or position - spots[first][1] > reach:
                gone = self._tokens[spots[first][0]][spots[first][1]].word
                counts[gone] -= 1
                share -= new[gone] if not counts[gone] else 0.0
                first += 1
            if share >= SHARE * whole and last > first:
                best = self._pieces[number]
                if best.memory:
                    return best
        return best

    def _known(self, word: str, place: Place) -> bool:
        """True if the agent has the word from somebody whom it trusts more, or said it itself, before it was shown."""
        seen: Mapping[int, Place] = self._first.get(word, {})
        shown = min((at for rank, at in seen.items() if rank <= Trust.EXTERNAL), default=(1 << 60, 0))
        own = min((at for rank, at in seen.items() if rank > Trust.EXTERNAL), default=(1 << 60, 0))
        return own < shown and own < place


def _worth(token: _Token) -> float:
    """Numbers and names with digits are rare: they weigh as much as two words."""
    return 2.0 if any(char.isdigit() for char in token.word) else token.weight


def _tokens(text: str) -> Iterator[_Token]:
    """The words of a text, stemmed, with where they stand; Chinese as pairs of characters."""
    plain = normal(text)
    text = plain.lower() if len(plain.lower()) == len(text) else text.lower()
    for match in _TOKEN.finditer(text):
        word, start = match.group(), match.start()
        if word[0] > "\u3400" and re.match(f"[{CJK}]", word):
            for n in range(max(1, len(word) - 1)):
                yield _Token(word[n : n + 2], start + n, start + min(n + 2, len(word)))
        else:
            yield _Token(stem(word) if word.isalpha() and word not in STOP else word, start, match.end())


def _rows(tokens: Sequence[_Token]) -> Iterator[int]:
    words = [token.word for token in tokens]
    return (hash(tuple(words[n : n + SHINGLE])) for n in range(len(words) - SHINGLE + 1))


def _fills(text: str, start: int, end: int) -> bool:
    """True if these characters are most of the lines that they stand in."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return end - start >= WHOLE * len(text[first : last if last >= 0 else len(text)].strip())
