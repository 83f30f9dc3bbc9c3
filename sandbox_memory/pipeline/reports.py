"""What is pending, and what a close or `process` did about it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .. import screening
from ..ledger import Operation
from ..records import Refusal, Usage
from ..state import State
from .settle import Change, Seen

logger = logging.getLogger("sandbox_memory")

LOGGED, TOLD = 20, 200
"""How many different refusals of one kind of work are logged at most, and how many characters of what was refused."""


@dataclass
class Report:
    """What one close or `process` did.

    `spent` is what the tries for rollouts that failed did cost; `usage` is all that was spent. `unusable` is why the
    model of phase 1 cannot be used at all.
    """

    extracted: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    spent: dict[str, Usage] = field(default_factory=dict)
    unusable: str = ""
    refused: list[Refusal] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    adopted: int = 0
    usage: Usage = field(default_factory=Usage)

    def refuse(self, refused: Sequence[Refusal]) -> None:
        """Add what was refused, and log it with its reasons."""
        self.refused += refused
        for refusal, times in Counter(refused).most_common(LOGGED):
            many = f" ({times} times)" if times > 1 else ""
            level = logging.INFO if says_nothing_new(refusal) else logging.WARNING
            what = refusal.what if len(refusal.what) <= TOLD else f"{refusal.what[: TOLD - 1].rstrip()}…"
            logger.log(level, "sandbox memory: refused%s %s: %s", many, what, refusal.why)
        if (more := len(set(refused)) - LOGGED) > 0:
            logger.info("sandbox memory: refused %d more", more)

    def count(self, operations: tuple[Operation, ...]) -> None:
        """Add these operations to the counts by name."""
        for operation in operations:
            self.operations[operation.op] = self.operations.get(operation.op, 0) + 1


def says_nothing_new(refusal: Refusal) -> bool:
    """True if what was refused is known, or was taken out by a person before: that is as it should be."""
    return refusal.why in screening.OLD_NEWS


Progress = Callable[[str, int, int], None]
"""Called as (what, done, of all) while long work goes on."""


@dataclass(frozen=True)
class Due:
    """A rollout file with bytes that no extraction has read: from `start` on. `consumed` is its watermark."""

    stem: str
    start: int
    size: int
    consumed: int


def due(seen: Seen, state: State) -> list[Due]:
    """What is pending, by one listing: files longer than their watermark, or shorter, which means replaced."""
    found = []
    for name, size in sorted(seen.sessions.items()):
        if not name.endswith(".jsonl") or name.startswith("."):
            continue
        stem = name.removesuffix(".jsonl")
        consumed = state.rollouts[stem].consumed if stem in state.rollouts else 0
        if size != consumed:
            found.append(Due(stem, consumed if size > consumed else 0, size, consumed))
    return found


def failures(now: State, failed: Mapping[str, str], attempts: Mapping[str, int]) -> Change:
    """Notes why these rollouts (for the consolidation: an empty name) were left pending, and after how many tries."""
    operations = tuple(
        Operation("fail", stem, {"attempts": attempts[stem]}, {"cause": cause})
        for stem, cause in sorted(failed.items())
        if attempts[stem] or stem not in now.failures or now.failures[stem].cause != cause
    )
    return Change("extraction", operations)
