"""Titles, keywords and file names stand unlabelled where records are labelled: none may be made of others' words.

A page that an agent read, or a text that a person pasted, can be quoted; it cannot name a group of a handbook.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..records import Rollout, Trust
from .instructions import orders
from .taint import Piece
from .wording import hard_words, meaning

LONGEST = 20_000
"""Characters of one piece that are compared, from its start."""


class Borrowed:
    """Which words are others' alone: no person used them, nobody did or observed anything with them."""

    def __init__(self, theirs: Iterable[str], others: Iterable[str]) -> None:
        self._theirs, self._others = tuple(theirs), tuple(others)
        self._alone: frozenset[str] | None = None

    def made(self, title: str) -> bool:
        """True if others alone have at least half of the title's words, or a name or a number of it; or if it gives
        an order with a word of theirs."""
        if not self._others:
            return False
        if self._alone is None:
            self._alone = meaning(*self._others) - meaning(*self._theirs)
        words = meaning(title)
        taken = words & self._alone
        if not taken:
            return False
        names = (meaning(name) for name in hard_words(title))
        return 2 * len(taken) >= len(words) or any(name & taken for name in names) or bool(orders(title))


def borrowed(rollout: Rollout, pieces: Iterable[Piece]) -> Borrowed:
    """What a conversation, of these pieces, has from others alone.

    What its agent does is its own doing; what it says once it was shown a page may be the page's.
    """
    items = (item for segment in rollout.segments for item in segment.items)
    theirs = [item.text[:LONGEST] for item in items if item.role == "call" and item.trust is Trust.AGENT]
    others: list[str] = []
    for piece in pieces:
        if piece.memory:
            continue
        if piece.trust <= Trust.EXTERNAL:
            others.append(piece.text[:LONGEST])
        elif piece.trust is not Trust.AGENT or not others:
            theirs.append(piece.text[:LONGEST])
    return Borrowed(theirs, others)
