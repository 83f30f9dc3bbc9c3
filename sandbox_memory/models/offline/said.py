"""Memories that are sentences: what a person said for later, and what the agent says is not possible."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...governance.speech import passing, stated, wishes
from ...governance.speech.sentences import LONG, PLAIN, Sentence, shortened, size
from ...records import Item, Kind
from ...rollouts import is_document, pasted
from .. import MemoryDraft, QuoteDraft
from . import facts, general, ruled
from .reading import Found, Place, Reading, flat, quote, thinks
from .sentences import sentences, title
from .speech import FIRM, Told, is_sentence, told

LEAST = 2
"""How many words there must be for them to say something."""
CLAIMED = 1
"""How strongly a memory is held that only the agent says: it comes after all others."""


def task(asked: Sequence[Place]) -> tuple[str, QuoteDraft | None]:
    """The title, and its quote, unless it stands in something pasted: that is trusted less than what was done."""
    for number, item in asked:
        name = title(item.text)
        if name and not passing.is_for_now(name):
            at = item.text.find(name)
            foreign = is_document(item.text) or any(first <= at < last for first, last in pasted(item.text))
            return name, None if foreign else QuoteDraft(item=f"s{number}.{item.index}", text=name)
    return "", None


def who(asked: Sequence[Place]) -> tuple[str, QuoteDraft] | None:
    """The account name that the person gave, else their full name, and the words that say so."""
    for find in (stated.speaker, stated.named):
        for number, item in asked:
            found = find(item.text)
            if found:
                name, start, end = found
                return name, quote(number, item, Sentence(item.text[start:end], start))
    return None


def said(reading: Reading) -> Found:
    """What people said that outlasts the run.

    Where one memory serves many, a wish is nothing without the name of whose it is, and what somebody says of anything
    but themselves is a claim, kept only if they ask to have it remembered.
    """
    many = reading.preset.audience == "many"
    for number, item, each in _standing(reading):
        kind, part, subject = each.kind, each.part, each.subject
        if stated.speaker(part.text):
            if many:
                continue
            subject = ""
        if many and kind is Kind.FACT and stated.of_self(part.text):
            kind, part = Kind.PREFERENCE, part.part(0, general.without_claim(part.text))
        part = part.part(stated.introduction(part.text)) if many else part
        if size(part.text) < LEAST:
            continue
        text, quotes = flat(part.text), [quote(number, item, part)]
        if many:
            about_others = kind is Kind.FACT and each.score < FIRM
            if reading.who is None or about_others or _of_the_case(each, text, reading.who[0]):
                continue
            text, quotes = f"{reading.who[0]}: {text}", [reading.who[1], *quotes]
            subject = f"{reading.who[0]} {subject}" if subject else ""
        yield each.score, MemoryDraft(kind=kind.value, text=text, subject=subject, quotes=quotes)


def _of_the_case(told: Told, text: str, account: str) -> bool:
    """True for what somebody says of the matter at hand rather than of themselves."""
    if account in text or (general.is_of_one(text.translate(PLAIN)) and not wishes.always(text)):
        return True
    return told.kind is Kind.FACT and general.is_news(text.translate(PLAIN))


def _standing(reading: Reading) -> list[tuple[int, Item, Told]]:
    """What was told, without what somebody took back later: "it is 371, not 317" overrules what was said with 317."""
    told_all = [
        (number, item, each)
        for number, item in reading.asked
        for each in told(item.text)
        if each.score >= FIRM or not reading.calls or not _is_the_task(each, reading.task)
    ]
    wrong: set[str] = set()
    kept = []
    for number, item, each in reversed(told_all):
        denied = facts.denied(each.part.text)
        words = set(re.findall(r"[\w./:#@-]*\w", each.part.text.casefold()))
        if denied or words.isdisjoint(wrong):
            kept.append((number, item, each))
        wrong |= {value for value in denied if any(char.isdigit() for char in value)}
    return kept[::-1]


def _is_the_task(told: Told, task: str) -> bool:
    """True for the sentence that the title was made of: where work followed, it says what was wanted then."""
    text, title_ = flat(told.part.text).casefold(), task.casefold()
    return bool(title_) and (title_.startswith(text) or (text.startswith(title_) and len(text) < 2 * len(title_)))


def rules(reading: Reading) -> Found:
    """What the agent says is not possible, and what it found to be the cause; weak, so it comes last."""
    many = reading.preset.audience == "many"
    for number, item in reading.items:
        if item.role != "assistant" or is_document(item.text) or (not many and thinks(reading, number, item)):
            continue
        for sentence in sentences(item.text):
            if not is_sentence(sentence.text):
                continue
            for start, end, cause in ruled.rules(sentence.text, many):
                part = shortened(sentence.part(start, end), LONG)
                text = flat(part.text)
                if many and not cause:
                    text = general.rule(text.translate(PLAIN))
                if text:
                    kind = Kind.LESSON if cause else Kind.FACT
                    yield CLAIMED, MemoryDraft(kind=kind.value, text=text, quotes=[quote(number, item, part)])
