"""A text without its secrets: each is replaced by a placeholder, also where it is said again."""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache

from . import Span, found, plain
from .again import distinctive, mentions, without
from .placeholders import PLACEHOLDER, pieces

_ROUNDS = 4
_SHORT = 48
_LONG = 1 << 15
_PIECE = 24
_PART = 4
MANY = 200
"""Values that are looked for elsewhere; a list of more of them is no conversation."""


def placeholder(kind: str, secret: str = "", salt: bytes = b"") -> str:
    """The text that replaces a secret of that kind; with a salt it has a tag, by which the same secret is known again.

    The tag is four hex digits of an HMAC: enough to see that two mentions are one, too little to try secrets against.
    """
    if not salt:
        return f"⟦secret:{kind}⟧"
    tag = hmac.new(salt, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:4]
    return f"⟦secret:{kind}#{tag}⟧"


Known = tuple[tuple[str, str], ...]
"""Values of secrets that mean one thing wherever they stand, each with its kind."""


_NOTHING = re.compile(
    r"(?:(?:call|msg|rs|fc|resp|run|item|toolu|chatcmpl)_)?(?:(?=[0-9]*[a-f])[0-9a-f]{1,40}|[a-z_]{1,40})"
    r"|[A-Za-z]{1,15}(?: [A-Za-z]{1,15}){0,2}|[0-9.:/T-]{1,12}",
    re.ASCII,
)
"""Up to three words, dates, digests and the ids of a run: no secret is all of that, and most values are."""


def redacted(text: str, salt: bytes) -> tuple[str, Known]:
    """The text without its secrets, and which of these mean one thing wherever they stand."""
    if len(text) <= _SHORT:
        if _NOTHING.fullmatch(text):
            return text, ()
        return _short(text, salt)
    return _again(text, salt) if len(text) <= _LONG else _redact(text, salt)


def _redact(text: str, salt: bytes) -> tuple[str, Known]:
    known: dict[str, str] = {}
    for _ in range(_ROUNDS):
        spans = secrets_in(text)
        if not spans:
            break
        for start, end, kind in spans:
            if distinctive(text[start:end], kind):
                known[text[start:end]] = kind
        if len(known) <= MANY and (more := without(text, list(mentions(text, known)))):
            spans = disjoint([*spans, *more], text)
        text = replaced(text, spans, salt)
    return text, tuple(known.items())


def replaced(text: str, spans: Iterable[Span], salt: bytes) -> str:
    """The text with a placeholder for each of the spans, which are in order and apart."""
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        parts += (text[done:start], placeholder(kind, plain(text[start:end])[0], salt))
        done = end
    return "".join((*parts, text[done:]))


_short = lru_cache(maxsize=8192)(_redact)
"""Keys and small values come again and again."""
_again = lru_cache(maxsize=128)(_redact)
"""A run's items are redacted to be recognised, and then to be written."""


def secrets_in(text: str) -> list[Span]:
    """Where the secrets stand in the text, in order and apart: start, end and kind."""
    seen, places = plain(text)
    spans = [span for span in found(seen) if span[0] < span[1]]
    if places is not None:
        spans = [(places[start], places[end], kind) for start, end, kind in spans]
    return disjoint(spans, text) if spans else []


def disjoint(spans: Iterable[Span], text: str) -> list[Span]:
    """The spans in order, overlapping ones as one of the kind of the longest, none of them in a placeholder."""
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    ends = [end for _, end in taken]
    joined: list[Span] = []
    for start, end, kind in sorted(_around(spans, taken, ends, text), key=lambda span: (span[0], -span[1])):
        if joined and start < joined[-1][1]:
            left, right, first = joined[-1]
            joined[-1] = (left, max(right, end), first if right - left >= end - start else kind)
        else:
            joined.append((start, end, kind))
    return joined


def _around(spans: Iterable[Span], taken: list[tuple[int, int]], ends: list[int], text: str) -> Iterable[Span]:
    """The spans, and of those that have placeholders in them what stands around these."""
    for start, end, kind in spans:
        place = bisect_right(ends, start)
        if place >= len(taken) or taken[place][0] >= end:
            yield start, end, kind
            continue
        last = max(n for n in range(place, len(taken)) if taken[n][0] < end) if taken[place][1] < end else place
        first = taken[place][1] if start > taken[place][0] else start
        for one, other in pieces(text, first, taken[last][0] if end < taken[last][1] else end):
            letters = sum(character.isascii() and character.isalnum() for character in text[one:other])
            if letters >= (_PIECE if kind == "private-key" else _PART):
                yield one, other, kind
