"""Finds the texts that say the same as another without a look at each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Generic, TypeVar

from .comparing import Said, same
from .synonyms import holder, is_weak
from .telling import Telling

T = TypeVar("T")

COMMON = 400
"""How many texts a word may be in that still finds them, where a rarer one of the same text finds enough."""
SHARED = 3
"""Part of the words of the shorter of two texts that both have if they say the same: weak words and holders aside."""
_WHOLE = "=!`"


class Shelf(Generic[T]):
    """Texts with a value each, in the order in which they came."""

    def __init__(self, telling: Telling | None = None) -> None:
        self._telling = telling
        self._entries: list[tuple[Said, T] | None] = []
        self._sizes: list[int] = []
        self._places: dict[str, list[int]] = defaultdict(list)

    def add(self, said: Said, value: T) -> None:
        """Put a text on the shelf."""
        keys = _keys(said)
        for key in keys:
            self._places[key].append(len(self._entries))
        self._sizes.append(len(keys))
        self._entries.append((said, value))

    def drop(self, value: T) -> None:
        """Take off every text with this value."""
        self._entries = [None if entry and entry[1] is value else entry for entry in self._entries]

    def same(self, said: Said) -> Iterator[T]:
        """The values of the texts that say the same, first come first."""
        for place in self._likely(said):
            entry = self._entries[place]
            if entry and same(said, entry[0], self._telling):
                yield entry[1]

    def find(self, said: Said) -> T | None:
        """The value of the first text that says the same."""
        return next(self.same(said), None)

    def _likely(self, said: Said) -> list[int]:
        """Where texts stand that share a third of the words of the shorter, or the text, fault or command."""
        keys = _keys(said)
        found = sorted((len(self._places[key]), key) for key in keys if key in self._places)
        shared: Counter[int] = Counter()
        whole: set[int] = set()
        for number, (count, key) in enumerate(found):
            if key[0] in _WHOLE:
                whole.update(self._places[key])
            elif count <= COMMON or number < 2:
                shared.update(self._places[key])
        least = len(keys)
        near = (place for place, count in shared.items() if count * SHARED >= min(least, self._sizes[place]))
        return sorted(whole.union(near))


def _keys(said: Said) -> set[str]:
    keys = {name for name in said.phrase.terms if not is_weak(name) and not holder(name)}
    keys = keys or {token.name for token in said.phrase.tokens}  # a text of nothing that tells: by all that it has
    keys.add(f"={said.plain}")
    if said.fault:
        keys.add(f"!{said.fault}")
    if said.shown:
        keys.add(f"`{said.recipe}")
    return keys
