"""How telling a word is in the memory at hand: what nearly every conversation speaks of tells nothing apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from ..governance.wording import normal
from ..records import Candidate, Record
from .phrases import parse
from .synonyms import base

EVERYWHERE = 0.5
"""Share of the conversations from which a word names what all of this memory is about."""
ENOUGH = 8
"""How many conversations it takes to tell."""

_CONTRAST = re.compile(r"([^\W\d_]+)(?: or |/| and |, | nor | not | than )([^\W\d_]+)")


class Telling:
    """The words that the conversations of a memory share.

    Two words that are set beside each other somewhere ("return or exchange") stay telling: they contrast.
    """

    def __init__(self, texts: Iterable[tuple[str, str]] = ()) -> None:
        """Take texts, each with the id of its conversation."""
        spoken: dict[str, set[str]] = defaultdict(set)
        contrasts: set[str] = set()
        rollouts: set[str] = set()
        for text, rollout in texts:
            rollouts.add(rollout)
            for name in parse(text).terms:
                spoken[name].add(rollout)
            contrasts |= _contrasts(text)
        least = max(EVERYWHERE * len(rollouts), 1)
        common = {name for name, ids in spoken.items() if len(rollouts) >= ENOUGH and len(ids) >= least}
        self.common = frozenset(common - contrasts)

    @classmethod
    def of(cls, values: Iterable[Candidate | Record]) -> Telling:
        """What candidates and records, with the titles of their tasks, have in common."""
        found: list[tuple[str, str]] = []
        for number, value in enumerate(values):
            title = value.group if isinstance(value, Record) else value.task
            ids = dict.fromkeys(quote.rollout for quote in value.evidence) or [f"#{number}"]
            found.extend((text, rollout) for rollout in ids for text in (value.text, title))
        return cls(found)


@lru_cache(maxsize=1 << 13)
def _contrasts(text: str) -> frozenset[str]:
    pairs = ((base(one), base(two)) for one, two in _CONTRAST.findall(normal(text).casefold()))
    return frozenset(name for one, two in pairs if one != two for name in (one, two))
