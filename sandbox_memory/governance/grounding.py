"""Whether quotes carry a text: every number, path, identifier and negation of it must be theirs.

A check of form, not of meaning: it lets no hard fact in that nobody said, and no "not" out or in. What is left to a
wording's author is the choice of plain words, and at least a third of those must be the quotes' too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .wording import (
    CLAUSE,
    Word,
    content,
    hard_words,
    identifiers,
    negated_heads,
    negates,
    normal,
    numbers,
    spoken_numbers,
    squeezed,
    stated,
    words,
)

ENOUGH_IN_COMMON = 1 / 3
"""Share of the plain words of a text that its quotes must have too."""
SAME_CLAUSE = 0.5
"""Share of the words of a clause that a clause of a quote must have to count as what it was made from."""


@dataclass(frozen=True)
class _Clause:
    words: tuple[Word, ...]
    content: frozenset[str]

    @property
    def firmly(self) -> bool:
        return any(word.negation == "firm" for word in self.words)

    @property
    def negations(self) -> int:
        return sum(1 for word in self.words if word.negation)


def ungrounded(text: str, quotes: Sequence[str]) -> str | None:
    """Why these quotes do not carry the text, or None if they do.

    Compared without regard to case, typographic quotes, thousands separators and contractions.
    """
    if not any(quote.strip() for quote in quotes):
        return "it has no quote"
    plain = normal(text)
    sources = [normal(quote) for quote in quotes]
    for check in (_literals, _hard_words, _order, _plain_words, _negations):
        why = check(plain, sources)
        if why:
            return why
    return None


def _literals(text: str, sources: Sequence[str]) -> str | None:
    together = "\n".join(squeezed(source) for source in sources)
    for literal in stated(text):
        if squeezed(literal) not in together:
            return f"no quote has the words {literal!r}"
    return None


def _hard_words(text: str, sources: Sequence[str]) -> str | None:
    known = {number for source in sources for number in numbers(source)}
    known |= {number for source in sources for number in spoken_numbers(source)}
    for number in (*numbers(text), *spoken_numbers(text)):
        if number not in known:
            return f"no quote has the number {number!r}"
    for name in identifiers(text):
        if not any(_places(name, source) for source in sources):
            return f"no quote has {name!r}"
    return None


def _order(text: str, sources: Sequence[str]) -> str | None:
    """Two hard words of one quote must stand in the same order in the text: swapped, they say another thing."""
    hard = hard_words(text)
    for one, two in pairwise(hard):
        shared = [(_places(one, source), _places(two, source)) for source in sources]
        shared = [(ones, twos) for ones, twos in shared if ones and twos]
        if shared and not any(min(ones) < max(twos) for ones, twos in shared):
            return f"the quote has {two!r} before {one!r}, not after it"
    return None


def _places(name: str, source: str) -> list[int]:
    """Where a name stands by itself, without regard to its case; a number also inside a word, as in 11am."""
    number = name[0].isdigit() and name[-1].isdigit()
    before, after = (r"(?<![0-9.])", r"(?![0-9])") if number else ("(?<![A-Za-z0-9_])", "(?![A-Za-z0-9_])")
    return [match.start() for match in re.finditer(f"{before}(?i:{re.escape(name)}){after}", source)]


def _plain_words(text: str, sources: Sequence[str]) -> str | None:
    mine = content(words(text))
    if not mine:
        return None
    theirs = frozenset().union(*(content(words(source)) for source in sources))
    if len(mine & theirs) < ENOUGH_IN_COMMON * len(mine):
        return "the quotes are about something else"
    return None


def _clauses(text: str) -> Iterator[_Clause]:
    for part in CLAUSE.split(text):
        found = tuple(words(part))
        if found:
            yield _Clause(found, content(found))


def _negations(text: str, sources: Sequence[str]) -> str | None:
    """Each clause is held against the clauses of the quotes that it was most likely made from."""
    theirs = [clause for source in sources for clause in _clauses(source)]
    denied = _denied(theirs)
    for clause in _clauses(text):
        if not clause.content:
            continue
        for head in sorted(denied & clause.content):
            if not negates(clause.words, head):
                return f"the quotes only deny {head!r}"
        shares = [len(clause.content & other.content) / len(clause.content) for other in theirs]
        best = max(shares, default=0.0)
        if best < SAME_CLAUSE:
            if clause.firmly and not any(other.negations for other in theirs):
                return "it denies something that no quote denies"
            continue
        near = [other for other, share in zip(theirs, shares, strict=True) if share == best]
        whys = [_turned(clause, other) for other in near]
        if all(whys):
            return whys[0]
    return None


def _denied(clauses: Sequence[_Clause]) -> frozenset[str]:
    """Values that the quotes name only to deny them: 8080 in "8443, not 8080"."""
    values = {stem for clause in clauses for stem in clause.content if any(char.isdigit() for char in stem)}
    return frozenset(
        value for value in values if all(negates(clause.words, value) for clause in clauses if value in clause.content)
    )


def _turned(clause: _Clause, source: _Clause) -> str | None:
    """How the clause turns what the source clause says into its opposite, or None."""
    if source.firmly and not clause.negations:
        return "the quote has a negation that the text drops"
    if clause.firmly and not source.negations:
        return "it denies something that no quote denies"
    theirs = [head for head in negated_heads(source.words) if head in clause.content]
    if len(theirs) > clause.negations or not all(negates(clause.words, head) for head in theirs):
        return "the quote has a negation that the text drops"
    mine = [head for head in negated_heads(clause.words) if head in source.content]
    if len(mine) > source.negations or not all(negates(source.words, head) for head in mine):
        return "it denies something that no quote denies"
    return None
