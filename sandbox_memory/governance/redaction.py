"""Takes secrets out of text before it is written, sent or shown: rules on values, no file access, no network."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .assignments import named_values
from .formats import Span, formats, known_forms
from .values import SHORT_NAMES, is_secret, sensitive

PLACEHOLDER = re.compile(r"⟦secret:[a-z0-9-]+⟧")
"""What stands where a secret was; the text after the colon is its kind."""

_ROUNDS = 4
_SHORT = 48
_LONG = 1 << 15
_DEPTH = 100
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
_BINARY = re.compile(r"data:[\w.+/;=-]{1,100};base64,")


def placeholder(kind: str) -> str:
    """The text that replaces a secret of that kind."""
    return f"⟦secret:{kind}⟧"


def prepare() -> None:
    """Load what the first redaction would have to load, which takes part of a second; for a thread, in good time."""
    formats()


def redact(text: str) -> str:
    """The text with each secret replaced by `⟦secret:<kind>⟧`; the same text if it holds none.

    Vendors' tokens are found by the patterns of `detect-secrets` and some of our own, other secrets by the name before
    them. Redacting twice changes nothing. Time is linear in the length of the text.
    """
    if len(text) <= _SHORT:
        return _short(text)
    return _again(text) if len(text) <= _LONG else _redact(text)


def _redact(text: str) -> str:
    for _ in range(_ROUNDS):
        spans = _disjoint([*known_forms(text), *named_values(text)], text)
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for start, end, kind in spans:
            parts += (text[done:start], placeholder(kind))
            done = end
        text = "".join((*parts, text[done:]))
    return text


_short = lru_cache(maxsize=8192)(_redact)
"""Keys and small values come again and again."""
_again = lru_cache(maxsize=128)(_redact)
"""A run's items are redacted to be recognised, and then to be written."""


def _disjoint(found: Iterable[Span], text: str) -> list[Span]:
    """The spans in order, overlapping ones as one of the kind of the longest, none of them in a placeholder."""
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    ends = [end for _, end in taken]
    joined: list[Span] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        place = bisect_right(ends, start)
        if place < len(taken) and taken[place][0] < end:
            continue
        if joined and start < joined[-1][1]:
            left, right, first = joined[-1]
            joined[-1] = (left, max(right, end), first if right - left >= end - start else kind)
        else:
            joined.append((start, end, kind))
    return joined


class _Repeated(ValueError):
    """A JSON object names a key twice; decoding it would lose a value."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Repeated
    return value


def redact_value(value: Any) -> Any:
    """The JSON value with its strings redacted, keys included; equal to the value if it holds no secret.

    A value under a sensitive key is judged by that key. A string that is a JSON document, as function arguments and
    tool outputs are, is decoded, redacted inside, and encoded again only if something was found. Base64 data of
    `data:` addresses is left alone.
    """
    return _value(value, "", 0)


def _value(value: Any, name: str, depth: int) -> Any:
    if isinstance(value, str):
        return _string(value, name, depth)
    if depth > _DEPTH and isinstance(value, (dict, list, tuple)):
        return redact(_deep(value))
    if isinstance(value, dict):
        named = value.get("name", value.get("key"))
        inner = named if isinstance(named, str) and "value" in value else ""
        return {
            redact(key) if isinstance(key, str) else key: _value(
                item, inner if key == "value" and inner else str(key), depth + 1
            )
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_value(item, name, depth + 1) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1000 and sensitive(name) == "password":
        return placeholder("password")
    return value


def _deep(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "[…]"


def _string(text: str, name: str, depth: int) -> str:
    kind = sensitive(name) if name else None
    if kind and is_secret(kind, text, "quoted", short=name.lower() in SHORT_NAMES):
        return placeholder(kind)
    if name.lower() in _HEADERS and PLACEHOLDER.search(text) is None:
        head = f"{name}: "
        return redact(head + text).removeprefix(head)
    if _BINARY.match(text):
        return text
    if text[:1] in ("{", "[", '"', " ", "\n") and depth <= _DEPTH and text.strip()[:1] in ("{", "[", '"'):
        try:
            document = json.loads(text, object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            return redact(text)
        clean = _value(document, name, depth + 1)
        if clean == document:
            return text
        spaced = '": ' in text or '", ' in text
        return json.dumps(clean, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":"))
    return redact(text)
