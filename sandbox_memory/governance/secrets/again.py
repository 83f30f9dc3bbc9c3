"""A secret that was found by its name, said again without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .masks import Span
from .placeholders import PLACEHOLDER
from .values import SLUG, has_digit, is_placeholder

_LEAST, _LONG, _MOST = 8, 16, 4096
_NUMBERED = frozenset(("bank-card", "bank-account", "national-id"))
_SIGNS = frozenset("!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~")


def distinctive(value: str, kind: str) -> bool:
    """True for a value that means one thing wherever it stands: long enough, and neither word, name, date nor count."""
    if not _LEAST <= len(value) <= _MOST or is_placeholder(value) or any(map(str.isspace, value)):
        return False
    if not any(map(str.isalpha, value)):
        return kind in _NUMBERED and len(value) >= 12
    if SLUG.fullmatch(value):
        return False
    return has_digit(value) or not _SIGNS.isdisjoint(value.strip("!\"'#,.:;?"))


def mentions(text: str, known: Mapping[str, str]) -> Iterator[Span]:
    """Where the known values, given with their kinds, stand in the text as words of their own."""
    for value, kind in known.items():
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            apart = not text[at - 1 : at].isalnum() if at else True
            if len(value) >= _LONG or (apart and not text[end : end + 1].isalnum()):
                yield at, end, kind
            at = text.find(value, end)


def without(text: str, spans: list[Span]) -> list[Span]:
    """The spans that no placeholder is in."""
    taken = [match.span() for match in PLACEHOLDER.finditer(text)] if "⟦" in text else []
    return [span for span in spans if not any(start < span[1] and span[0] < end for start, end in taken)]


def escaped(known: Mapping[str, str]) -> dict[str, str]:
    """The known values, and how JSON writes those that it escapes."""
    more = {re.sub(r'(["\\])', r"\\\1", value): kind for value, kind in known.items()}
    return {**known, **more}
