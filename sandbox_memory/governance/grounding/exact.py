"""What a text takes literally: words in quotation marks, numbers and names, which must be the quotes' own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ..wording import identifiers, numbers, spoken_numbers, squeezed, stands, stated

_SIGN = re.compile("[\ue000-\uefff]")
_FROM = re.compile(r"\W*(?:\w+ )?from\W")
_INSTEAD = re.compile(r"[^.;。；\ue000-\uefff]*(?:instead|rather|replac|not|代替|而不是|取代)", re.IGNORECASE)


def literals(text: str, sources: Sequence[str]) -> str | None:
    """Why words in quotation marks or code spans are not the quotes' own, or None."""
    together = "\n".join(squeezed(source) for source in sources)
    for literal in stated(text):
        bare = squeezed(literal)
        edges = [r"(?<!\d)" if bare[:1].isdigit() else "", r"(?!\d)" if bare[-1:].isdigit() else ""]
        if not re.search(re.escape(bare).join(edges), together):
            return f"no quote has the words {literal!r}"
    return None


def hard_words(text: str, sources: Sequence[str]) -> str | None:
    """Why a number, path, identifier or name is not the quotes' own, or None."""
    known = {number for source in sources for number in numbers(source)}
    known |= {number for source in sources for number in spoken_numbers(source)}
    for number in (*numbers(text), *spoken_numbers(text)):
        if number not in known:
            return f"no quote has the number {number!r}"
    for name in identifiers(text):
        if not any(stands(name, source, source.lower()) for source in sources):
            return f"no quote has {name!r}"
    return None


def sealed(text: str, sources: Sequence[str]) -> tuple[str, list[str]]:
    """Each literal of the text as one sign, there and where a quote has the same words: it is compared as a whole."""
    made = list(sources)
    for number, literal in enumerate(dict.fromkeys(stated(text))):
        sign = f" {chr(0xE000 + number % 0x1000)} "
        words = r"\s*".join(re.escape(word) for word in literal.split())
        pattern = re.compile(rf"[`\"「《]*(?<![A-Za-z0-9_]){words}(?![A-Za-z0-9_])[`\"」》]*", re.IGNORECASE)
        text = pattern.sub(sign, text)
        made = [pattern.sub(sign, source) for source in made]
    return text, made


def swapped(text: str, sources: Sequence[str]) -> str | None:
    """Two literals of one quote stand in the same order in the text: swapped, they say another thing."""
    for (one, first), (two, _) in pairwise((sign.group(), sign.end()) for sign in _SIGN.finditer(text)):
        shared = [(source.find(one), source.rfind(two)) for source in sources if one in source and two in source]
        turned = _FROM.match(text, first) is not None
        if one != two and shared and all((a > b) != turned for a, b in shared) and not _INSTEAD.match(text, first):
            return "the quote has the quoted words the other way round"
    return None
