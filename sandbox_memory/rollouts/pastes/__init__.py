"""What stands in a person's message without being their words: mail, pages, logs and letters that they pasted.

`pasted` knows what is marked as such: fences, `>`, tags. The rest knows how people paste without marks, in English and
Chinese: they introduce it or point back at it (`introduced`), it has the form of a mail, a chat, a table or a file
(`shapes`), or they ask to have it translated, summed up, checked, answered or written for them (`worked`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .introduced import introduced
from .marked import MEMORY_LINE, pasted
from .prose import has_prose
from .shapes import shaped
from .worked import asks_for_attached, worked_on

__all__ = ["LONGEST", "MEMORY_LINE", "asks_for_attached", "foreign", "has_prose", "pasted"]

LONGEST = 200_000
"""Characters of a message that are looked at; what is longer is a document anyway."""


def foreign(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a person's message that are not their own words, though nothing fences them; they may overlap."""
    text = text[:LONGEST]
    yield from introduced(text)
    yield from shaped(text)
    yield from worked_on(text, tuple(pasted(text)))
