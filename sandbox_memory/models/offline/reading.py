"""What all readers of one extraction share: its items, who asked what, and how a quote is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...governance.speech.sentences import Sentence
from ...layout import Preset
from ...records import Item, Segment
from .. import MemoryDraft, QuoteDraft
from .tools import Call

MOST_CHARACTERS = 480
"""What is longer is given up, not cut: it is data, not a line."""

Found = Iterator[tuple[int, MemoryDraft]]
"""Memories with how strongly each is held, 1 to 6."""
Place = tuple[int, Item]
"""An item and the run that it stands in, counted from 1."""


@dataclass(frozen=True)
class Reading:
    """The runs of a request without what repeats memory. `asked` are the person's messages.

    `task` is what was asked for, as a title; `task_quote` its quote, if a person said it in so many words. `who` is the
    account name that the person gave, with its quote, where one memory serves many people.
    """

    segments: tuple[Segment, ...]
    preset: Preset
    items: tuple[Place, ...]
    asked: tuple[Place, ...]
    calls: tuple[Call, ...]
    task: str = ""
    task_quote: QuoteDraft | None = None
    who: tuple[str, QuoteDraft] | None = None


def thinks(reading: Reading, segment: int, item: Item) -> bool:
    """True for words of the agent before its next call: what it thinks, not what it tells the person."""
    after = (other for number, other in reading.items if number == segment and other.index > item.index)
    return next((other.role for other in after if other.role != "assistant"), "") == "call"


def quote(segment: int, item: Item, part: Sentence) -> QuoteDraft:
    """These words of this item as a quote."""
    return QuoteDraft(item=f"s{segment}.{item.index}", text=part.text)


def flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def code(text: str) -> str:
    """The text on one line as a code span: words that claim to be literal."""
    return _literal(flat(text), "`", '"')


def said_to_be(text: str) -> str:
    """The text on one line in quotation marks."""
    return _literal(flat(text), '"', "`")


def _literal(text: str, mark: str, other: str) -> str:
    for each in (mark, other):
        if each not in text:
            return f"{each}{text}{each}"
    return text
