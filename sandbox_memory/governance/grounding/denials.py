"""A "not" is neither dropped nor brought in: each clause against the clauses of the quotes that it is like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..wording import CLAUSE, REACH, Word, content, kept, negated_heads, negates, words

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


def negations(text: str, sources: Sequence[str]) -> str | None:
    """Each clause is held against the clauses of the quotes that it was most likely made from."""
    theirs = list(dict.fromkeys(clause for source in sources for clause in _known_clauses(source)))
    denied = _denied(theirs)
    for clause in dict.fromkeys(_clauses(text)):
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


def _clauses(text: str) -> Iterator[_Clause]:
    for part in CLAUSE.split(text):
        found = tuple(words(part))
        if found:
            yield _Clause(found, content(found))


@kept(512)
def _known_clauses(source: str) -> tuple[_Clause, ...]:
    return tuple(_clauses(source))


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
    if len(theirs) > clause.negations or not all(negates(clause.words, head, 2 * REACH) for head in theirs):
        return "the quote has a negation that the text drops"
    mine = [head for head in negated_heads(clause.words) if head in source.content]
    if len(mine) > source.negations or not all(negates(source.words, head) for head in mine):
        return "it denies something that no quote denies"
    return None
