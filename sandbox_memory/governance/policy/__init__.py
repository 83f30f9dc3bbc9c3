"""What is not worth or not right to remember, whoever proposes it: rules on words, without file access.

`refuses` is asked before anything is let in. The cases of each rule, with near misses that must be kept, stand in
`tests/policy_cases.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...records import Kind
from ..asked import BACK, ON, asked
from . import business, hidden, ourselves, passing, reminding, unsure
from .placing import Surroundings
from .reading import REACH, Around, beside, masked, scope, sentence

__all__ = ["RULES", "Around", "Breach", "Surroundings", "asked_to_remember", "refuses"]

RULES = {
    "once": "it is for this time only",
    "guess": "it is a guess",
    "state": "it tells how things are just now",
    "secret": "it is there to tell a secret",
    "live": "it is live business state, which another system knows",
    "unrecorded": "the person asked that it is not kept",
    "memory": "it is what memory itself told",
    "own": "it is about memory's own files",
}
"""The rules by name, each with the reason that a refusal gives."""


@dataclass(frozen=True)
class Breach:
    """The rule that a text breaks, and the words that show it."""

    rule: str
    words: str

    @property
    def why(self) -> str:
        """The reason, for people."""
        return RULES[self.rule] if self.rule == "secret" else f"{RULES[self.rule]} (“{self.words}”)"


def refuses(text: str, kind: Kind, quotes: Sequence[Around] = ()) -> Breach | None:
    """The rule that a memory with this text breaks, or None.

    `quotes` are what it rests on, in their surroundings; without them the text alone is judged. What a person asked to
    remember in so many words may be a passing thing: they asked. A secret may not.
    """
    return next((Breach(rule, shown) for rule, shown in _shown(text, kind, quotes) if shown), None)


def _shown(text: str, kind: Kind, quotes: Sequence[Around]) -> Iterator[tuple[str, str]]:
    words = masked(text)
    yield "secret", hidden.secret(text)
    yield "unrecorded", _unrecorded(quotes)
    yield "memory", _told_by_memory(words, quotes)
    yield "own", _about_us(text, kind, quotes)
    if not any(asked_to_remember(quote) for quote in quotes):
        yield "once", _once(words, kind, quotes)
        yield "guess", _guess(words, kind, quotes)
        yield "live", business.live(words)
        yield "state", passing.state(words, kind)


def asked_to_remember(around: Around) -> bool:
    """True if a person asked in so many words that this is remembered, in its sentence or in the one beside it."""
    if around.role != "user":
        return False
    begin, end = sentence(around)
    before, after = beside(around)
    found = (asked(around.text[begin:end]), asked(before), asked(after))
    return (
        found[0] is not None
        or (found[1] is not None and found[1].points == ON)
        or (found[2] is not None and found[2].points == BACK)
    )


def _unrecorded(quotes: Sequence[Around]) -> str:
    for quote in quotes:
        if quote.role == "user":
            before, after = beside(quote)
            begin, end = sentence(quote)
            for text in (quote.text[begin:end], before, after):
                if found := hidden.unrecorded(text):
                    return found
    return ""


def _told_by_memory(words: str, quotes: Sequence[Around]) -> str:
    """What an agent has from memory. A person who speaks of memory corrects it."""
    if any(quote.role == "user" for quote in quotes):
        return ""
    if quotes and all(quote.remembered for quote in quotes):
        return quotes[0].text[quotes[0].start : quotes[0].end][:40]
    said = [ourselves.told_by_memory(scope(quote)) for quote in quotes if quote.role == "assistant"]
    return ourselves.told_by_memory(words) or (said[0] if said and all(said) else "")


def _about_us(text: str, kind: Kind, quotes: Sequence[Around]) -> str:
    """Memory's own files and ids. How a person wants them treated is their wish like any other."""
    if kind is Kind.PREFERENCE and any(quote.role == "user" for quote in quotes):
        return ""
    return ourselves.about_us(text)


def _spoken(quotes: Sequence[Around]) -> list[Around]:
    """The person's own words, or where there are none the agent's."""
    return [quote for quote in quotes if quote.role == "user"] or [quote for quote in quotes if quote.spoken]


def _once(words: str, kind: Kind, quotes: Sequence[Around]) -> str:
    if found := passing.once(words, kind):
        return "" if passing.lasts(words) else found
    shown = [passing.once(scope(quote), kind) or _added_after(quote) for quote in _spoken(quotes)]
    if shown and all(shown) and not passing.lasts(words):
        return shown[0]
    return "" if passing.lasts(words) else _reminder(words, kind, quotes)


def _reminder(words: str, kind: Kind, quotes: Sequence[Around]) -> str:
    """What a person reminds of in the work at hand. What an agent or a page says so is advice, and may be for later."""
    own = [quote for quote in quotes if quote.role == "user"]
    if kind is Kind.EPISODE or (not own and (quotes or kind not in (Kind.PREFERENCE, Kind.PROCEDURE))):
        return ""
    if not own:
        return reminding.reminder(words, words)
    shown = [_reminds(words, quote) for quote in own]
    return shown[0] if all(shown) else ""


def _reminds(words: str, quote: Around) -> str:
    begin, end = sentence(quote)
    if reminding.announced(quote.text[max(0, begin - REACH) : begin]):
        return ""
    said = quote.text[begin:end]
    for first, last in reminding.reminders(said):
        if first <= quote.start - begin and quote.end - begin <= last:
            return said[first:last].strip()
    return reminding.reminder(words, said)


def _added_after(quote: Around) -> str:
    """A fragment beside the sentence that limits it: "Just this once." """
    for text in beside(quote):
        if 0 < len(text) <= 48 and not passing.lasts(text):
            found = passing.once(text, Kind.FACT)
            rest = re.sub(r"\W+", " ", text.replace(found, "")).strip() if found else text
            if found and re.fullmatch(
                r"(?i)(?:(?:but|and|only|just|please|ok|okay|it|its|is|s|that|this|a|an|though|only for|for|"
                r"就|只|哦|吧|啊|先|而已)\s*)*",
                rest,
            ):
                return found
    return ""


def _guess(words: str, kind: Kind, quotes: Sequence[Around]) -> str:
    if found := unsure.guess(words, kind):
        return found
    if any(quote.role == "output" for quote in quotes):
        return ""
    shown = [unsure.guess(scope(quote), kind) for quote in _spoken(quotes)]
    return shown[0] if shown and all(shown) else ""
