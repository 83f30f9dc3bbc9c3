"""Whether quotes carry a text: every number, path, identifier and negation of it must be theirs, and all it claims.

A check of form, not of meaning: it lets no hard fact in that nobody said, no "not" out or in, no word put for another,
nothing made surer, more often, done, or somebody else's. What is left to a wording's author is the choice of plain
words, and most of those must be the quotes' too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..wording import normal, script
from .acts import only_asked, only_wondered, other_doer
from .amounts import bounds, ranges
from .carrying import carried
from .claims import condition, dates, opposite, order, strength
from .denials import negations
from .exact import hard_words, literals, sealed, swapped
from .tokenizing import Sources, clauses

__all__ = ["ungrounded"]


def ungrounded(text: str, quotes: Sequence[str], speakers: Sequence[str] = ()) -> str | None:
    """Why these quotes do not carry the text, or None if they do.

    `speakers` tells for each quote who says it: `user`, `agent`, `tool`, `other`, or an empty text where that is not
    known. Compared without regard to case (but that of code), typographic quotes, thousands separators and
    contractions.
    """
    if not any(quote.strip() for quote in quotes):
        return "it has no quote"
    plain = _remembered(normal(text))
    sources = [_remembered(normal(quote)) for quote in quotes]
    if any(_bare(plain) == _bare(source) for source in sources):
        return None
    for check in (literals, hard_words):
        why = check(plain, sources)
        if why:
            return why
    plain, whole = sealed(plain, sources)
    return (
        negations(plain, whole)
        or _translated(plain, whole)
        or swapped(plain, whole)
        or _claims(plain, whole, sources, [*speakers, *[""] * (len(sources) - len(speakers))])
    )


_NOT_FORGOTTEN = re.compile(r"\b(?:do not|don't|dont|never)(?: ever)? forget\b", re.IGNORECASE)
_NOT_FORGOTTEN_ZH = re.compile(r"(?:别|別|勿|莫|不要|不能)忘(?:了|记|記)?")


def _remembered(text: str) -> str:
    """The text with "remember" for "do not forget", which denies nothing."""
    return _NOT_FORGOTTEN_ZH.sub("记得", _NOT_FORGOTTEN.sub("remember", text))


def _bare(text: str) -> str:
    return " ".join(text.split()).strip(" .!。！")


def _translated(text: str, sources: Sequence[str]) -> str | None:
    """A text in another language than what was said: nobody can hold its words against the quotes."""
    mine, theirs = ({script(source) for source in group} - {""} for group in ([text], sources))
    return "it is a translation of its quotes" if mine and theirs and not mine & theirs else None


def _claims(text: str, sources: Sequence[str], quotes: Sequence[str], speakers: Sequence[str]) -> str | None:
    """Each clause against the sentences that it was made from; `sources` are the quotes with sealed literals."""
    known, everywhere = Sources(sources), {key for sentence in Sources(quotes).all for key in sentence.keys}
    said = "\n".join(quotes)
    why = ranges(text, said)
    if why:
        return why
    common = False
    for part, found in dict.fromkeys(clauses(text)):
        why, used = carried(found, known, everywhere, sources)
        texts = [sentence.text for sentence in used]
        why = (
            why
            or bounds(part, sources)
            or dates(part, said)
            or opposite(part, " ".join(texts))
            or strength(part, text, texts)
            or order(part, texts)
            or only_asked(part, texts)
            or only_wondered(part, texts)
            or other_doer(part, [(sentence.text, speakers[sentence.quote]) for sentence in used])
            or next((why for sentence in used[:1] if (why := condition(text, sentence.text))), None)
        )
        if why:
            return why
        common = common or bool(used)
    return _steps(text, known) if common else "the quotes are about something else"


_NAMING = ("word", "hard", "glue")
_IN_STEPS = re.compile(r"\bfirst\b.*\bthen\b|\bfirst\b[^.]*,|先.*(?:再|然后|之后|最后)", re.IGNORECASE | re.DOTALL)


def _steps(text: str, known: Sources) -> str | None:
    """What comes first, and what then, as a sentence has it."""
    if not _IN_STEPS.search(text):
        return None
    for sentence in known.all:
        if not _IN_STEPS.search(sentence.text):
            continue
        named = [token.key for token in sentence.tokens if token.kind in _NAMING]
        at = {key: place for place, key in enumerate(named) if named.count(key) == 1}
        places = [[at[token.key] for token in found if token.key in at] for _, found in clauses(text)]
        firsts = [min(found) for found in places if found]
        if firsts != sorted(firsts):
            return "the quote has the steps in another order"
    return None
