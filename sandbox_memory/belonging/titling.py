"""Titles, keywords and file names stand where everybody reads: they are made of what is for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..records import Candidate
from .customer import Customer


@dataclass(frozen=True)
class Titles:
    """Lets titles of a conversation through, or leaves them out: all where one is served (`customer` is None)."""

    customer: Customer | None
    texts: tuple[str, ...]
    """What this conversation has for everybody."""

    @classmethod
    def of(cls, customer: Customer | None, candidates: Sequence[Candidate]) -> Titles:
        """The same for the memories that were made of a conversation."""
        return cls(customer, tuple(each.text for each in candidates if not each.owner))

    def title(self, title: str) -> str:
        """The title, or an empty text if it may tell of the customer."""
        return "" if self.customer is not None and self.customer.tells(title, self.texts) else title

    def words(self, words: Iterable[str]) -> tuple[str, ...]:
        """The keywords that tell nothing of the customer."""
        return tuple(word for word in words if self.title(word))

    def under(self, candidates: Sequence[Candidate], task: str) -> tuple[Candidate, ...]:
        """The memories under that title; those for everybody without a subject that may tell of the customer."""
        return tuple(
            replace(each, task=task, subject=each.subject if each.owner else self.title(each.subject))
            for each in candidates
        )
