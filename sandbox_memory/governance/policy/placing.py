"""Quotes of a rollout with what stands around them."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from ...quoting import MEMORY, Found
from ...records import Rollout
from ..wording import normal, squeezed
from .reading import Around

LEAST_REPEATED = 12
"""How many characters, blanks left out, it takes to tell that somebody repeats what memory told."""


class Surroundings:
    """What a rollout's quotes stand in; prepared once for all of them."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout

    def around(self, found: Found) -> Around:
        """The quote with its item and what was said right before it."""
        item = found.item
        words = squeezed(normal(found.text)) if item.role == "assistant" else ""
        return Around(
            item.text,
            found.start,
            found.end,
            item.role,
            self._before.get((found.segment, item.index), ""),
            len(words) >= LEAST_REPEATED and words in self._told,
        )

    @cached_property
    def _before(self) -> dict[tuple[str, int], str]:
        said = (
            (segment.id, item)
            for segment in self.rollout.segments
            for item in segment.items
            if item.role in ("user", "assistant") and item.label != MEMORY
        )
        return {(segment, item.index): before.text for (_, before), (segment, item) in pairwise(said)}

    @cached_property
    def _told(self) -> str:
        """What memory said in it."""
        items = (item for segment in self.rollout.segments for item in segment.items)
        return "\n".join(squeezed(normal(item.text)) for item in items if item.label == MEMORY)
