"""Takes secrets out of text before it is written, sent or shown: rules on values, no file access, no network."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .secrets import SHORT_NAMES, Span, found, is_placeholder, is_secret, plain, sensitive, told

PLACEHOLDER = re.compile(r"⟦secret:[a-z0-9-]+(?:#[0-9a-f]{4})?⟧")
"""What stands where a secret was: its kind and, where a salt was given, a tag that is the same for the same secret."""
_TAG = re.compile(r"(?<=⟦secret:)([a-z0-9-]+)#[0-9a-f]{4}(?=⟧)")

_ROUNDS = 4
_SHORT = 48
_LONG = 1 << 15
_DEPTH = 100
_PIECE = 24
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
_BINARY = re.compile(r"data:[\w.+/;=-]{1,100};base64,[A-Za-z0-9+/_-]*={0,2}\s*")
_PRIVATE_MEMBERS = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))


def placeholder(kind: str, secret: str = "", salt: bytes = b"") -> str:
    """The text that replaces a secret of that kind; with a salt it has a tag, by which the same secret is known again.

    The tag is four hex digits of an HMAC: enough to see that two mentions are one, too little to try secrets against.
    """
    if not salt:
        return f"⟦secret:{kind}⟧"
    tag = hmac.new(salt, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:4]
    return f"⟦secret:{kind}#{tag}⟧"


def redact_name(name: str, salt: bytes) -> str:
    """An id or a name without the secrets in it: another for each, always the same with that salt.

    A name that holds none is returned as it is; others get twelve hex digits of an HMAC of the whole.
    """
    clean = redact(name, salt)
    if clean == name:
        return name
    return f"{clean}-{hmac.new(salt, name.encode('utf-8', 'surrogatepass'), hashlib.sha256).hexdigest()[:12]}"


def untagged(text: str) -> str:
    """The text with placeholders that have no tags: what is equal then was equal before any redaction of ours."""
    return _TAG.sub(r"\1", text) if "⟦secret:" in text else text


def prepare() -> None:
    """Load what the first redaction would have to load; for a thread, in good time."""
    _redact("password=warm1ng-up", b"")


def redact(text: str, salt: bytes = b"") -> str:
    """The text with each secret replaced by `⟦secret:<kind>#<tag>⟧`, without a tag if there is no salt.

    The same text if it holds none. Redacting twice changes nothing. Time is linear in the length of the text.
    """
    if len(text) <= _SHORT:
        return _short(text, salt)
    return _again(text, salt) if len(text) <= _LONG else _redact(text, salt)


def _redact(text: str, salt: bytes) -> str:
    for _ in range(_ROUNDS):
        spans = secrets_in(text)
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for start, end, kind in spans:
            parts += (text[done:start], placeholder(kind, plain(text[start:end])[0], salt))
            done = end
        text = "".join((*parts, text[done:]))
    return text


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
    return _disjoint(spans, text) if spans else []


def _disjoint(spans: Iterable[Span], text: str) -> list[Span]:
    """The spans in order, overlapping ones as one of the kind of the longest, none of them in a placeholder."""
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    ends = [end for _, end in taken]
    joined: list[Span] = []
    for start, end, kind in sorted(_around(spans, taken, ends), key=lambda span: (span[0], -span[1])):
        if joined and start < joined[-1][1]:
            left, right, first = joined[-1]
            joined[-1] = (left, max(right, end), first if right - left >= end - start else kind)
        else:
            joined.append((start, end, kind))
    return joined


def _around(spans: Iterable[Span], taken: list[tuple[int, int]], ends: list[int]) -> Iterable[Span]:
    """The spans that no placeholder is in; of a private key that has one inside, what stands around it."""
    for start, end, kind in spans:
        place = bisect_right(ends, start)
        if place >= len(taken) or taken[place][0] >= end:
            yield start, end, kind
        elif kind == "private-key":
            inside = [hole for hole in taken[place:] if hole[0] < end]
            begins, stops = [start, *(hole[1] for hole in inside)], [*(hole[0] for hole in inside), end]
            yield from ((one, other, kind) for one, other in zip(begins, stops, strict=True) if other - one >= _PIECE)


class _Repeated(ValueError):
    """A JSON object names a key twice; decoding it would lose a value."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Repeated
    return value


def redact_value(value: Any, salt: bytes = b"") -> Any:
    """The JSON value with its strings redacted, keys included; equal to the value if it holds no secret.

    A value under a sensitive key is judged by that key. A string that is a JSON document, as function arguments and
    tool outputs are, is decoded, redacted inside, and encoded again only if something was found. Base64 data of
    `data:` addresses is left alone.
    """
    return _Walk(salt).value(value, "", 0)


class _Walk:
    """Goes through one JSON value; `salt` is for the tags of all of it."""

    def __init__(self, salt: bytes) -> None:
        self.salt = salt

    def value(self, value: Any, name: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.string(value, name, depth)
        if depth > _DEPTH and isinstance(value, (dict, list, tuple)):
            return redact(_deep(value), self.salt)
        if isinstance(value, dict):
            return self.object(value, depth)
        if isinstance(value, (list, tuple)):
            return [self.value(item, name, depth + 1) for item in value]
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1000:
            return self.number(value, name)
        return value

    def object(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        named = value.get("name", value.get("key"))
        inner = named if isinstance(named, str) and "value" in value else ""
        private = isinstance(value.get("kty"), str)
        clean = {}
        for key, item in value.items():
            name = inner if key == "value" and inner else str(key)
            if private and key in _PRIVATE_MEMBERS and isinstance(item, str) and not is_placeholder(item):
                clean[key] = placeholder("private-key", item, self.salt)
            else:
                clean[self.string(key, "", depth + 1) if isinstance(key, str) else key] = self.value(
                    item, name, depth + 1
                )
        return clean

    def number(self, value: int, name: str) -> Any:
        if sensitive(name) == "password":
            return placeholder("password", str(value), self.salt)
        if value >= 10**11:
            text = f"{name}: {value}"
            clean = redact(text, self.salt)
            return value if clean == text else clean[len(name) + 2 :]
        return value

    def string(self, text: str, name: str, depth: int) -> str:
        kind = sensitive(name) if name else None
        if kind and is_secret(kind, plain(text)[0], "quoted", short=name.lower() in SHORT_NAMES):
            return placeholder(told(kind), plain(text)[0], self.salt)
        if name.lower() in _HEADERS and PLACEHOLDER.search(text) is None:
            head = f"{name}: "
            return redact(head + text, self.salt).removeprefix(head)
        if text.startswith("data:") and _BINARY.fullmatch(text):
            return text
        if (
            text[:1] in ("{", "[", '"', " ", "\n", "\t", "\r")
            and depth <= _DEPTH
            and text.strip()[:1] in ("{", "[", '"')
        ):
            try:
                document = json.loads(text, object_pairs_hook=_unique)
            except (ValueError, RecursionError):
                return redact(text, self.salt)
            clean = self.value(document, name, depth + 1)
            if clean == document:
                return text
            spaced = '": ' in text or '", ' in text
            return json.dumps(clean, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":"))
        return redact(text, self.salt)


def _deep(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "[…]"
