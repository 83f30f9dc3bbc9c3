"""Takes secrets out of text before it is written, sent or shown: rules on values, no file access, no network."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .secrets import PLACEHOLDER, SHORT_NAMES, is_number, is_placeholder, is_secret, plain, sensitive, told
from .secrets.again import distinctive, escaped, mentions, without
from .secrets.members import argued, given_names, headed, paired
from .secrets.replacing import MANY, disjoint, placeholder, redacted, replaced, secrets_in

__all__ = [
    "PLACEHOLDER",
    "placeholder",
    "prepare",
    "redact",
    "redact_name",
    "redact_value",
    "secrets_in",
    "untagged",
]

_TAG = re.compile(r"(?<=⟦secret:)([a-z0-9-]+)#[0-9a-f]{4}(?=⟧)")

_DEPTH = 100
_JOINT = 512
"""Characters on either side of where two parts of a message meet that are looked at together."""
_PARTS, _RUN = 64, 12
_TAIL = re.compile(r"(?:(?P<run>[\w+/=.!@#$%^&*-]{1,256})|[:=：]\s{0,8}|[ ](?:is|为|是)\s{1,8})$")
_HEAD = re.compile(r"[\w+/=.!@#$%^&*-]{1,256}")
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
_BINARY = re.compile(r"data:[\w.+/;=-]{1,100};base64,[A-Za-z0-9+/_-]*={0,2}\s*")
_PRIVATE_MEMBERS = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))


_ROWS = ("rows", "data", "values", "records")
_OPTION = frozenset(("-p", "-a", "-w", "-P", "-u", "-k", "-N"))
"""Options of commands whose value may be a password, as arguments are listed."""
_ARGUMENTS = 40


def _words(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)]


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
    redacted("the password=warm1ng-up, and what follows it is text", b"")


def redact(text: str, salt: bytes = b"") -> str:
    """The text with each secret replaced by `⟦secret:<kind>#<tag>⟧`, without a tag if there is no salt.

    The same text if it holds none. Redacting twice changes nothing. Time is linear in the length of the text.
    """
    return redacted(text, salt)[0]


class _Repeated(ValueError):
    """A JSON object names a key twice; decoding it would lose a value."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Repeated
    return value


def redact_value(value: Any, salt: bytes = b"", known: dict[str, str] | None = None) -> Any:
    """The JSON value with its strings redacted, keys included; equal to the value if it holds no secret.

    A value under a sensitive key is judged by that key. A string that is a JSON document, as function arguments and
    tool outputs are, is decoded, redacted inside, and encoded again only if something was found. Base64 data of
    `data:` addresses is left alone. What was found once by its name goes wherever it is said again, and so does what
    is `known` from elsewhere, values with their kinds, to which what is found here is added.
    """
    known = {} if known is None else known
    clean = _Walk(salt, known).value(value, "", 0)
    return _said_again(clean, escaped(known), salt) if known and len(known) <= MANY else clean


def _said_again(value: Any, known: Mapping[str, str], salt: bytes) -> Any:
    if isinstance(value, str):
        spans = without(value, list(mentions(value, known)))
        return replaced(value, disjoint(spans, value), salt) if spans else value
    if isinstance(value, dict):
        return {_said_again(key, known, salt): _said_again(item, known, salt) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_said_again(item, known, salt) for item in value]
    return value


def _goes_on(one: str, other: str) -> bool:
    """Whether a secret may begin in one text and end in the other."""
    tail = _TAIL.search(one, max(0, len(one) - _JOINT))
    head = _HEAD.match(other)
    if tail is None or head is None:
        return False
    return not tail["run"] or len(tail["run"]) + len(head[0]) >= _RUN


def _with_text(item: Any, text: Any) -> Any:
    if not isinstance(text, str):
        return item
    return {**item, "text": text} if isinstance(item, dict) else text


class _Walk:
    """Goes through one JSON value; `salt` is for the tags of all of it, `known` gathers what was found in it."""

    def __init__(self, salt: bytes, known: dict[str, str]) -> None:
        self.salt = salt
        self.known = known

    def value(self, value: Any, name: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.string(value, name, depth)
        if depth > _DEPTH and isinstance(value, (dict, list, tuple)):
            return self.text(_deep(value))
        if isinstance(value, dict):
            return self.object(value, name, depth)
        if isinstance(value, (list, tuple)):
            return self.list(value, name, depth)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.number(value, name)
        return value

    def text(self, text: str) -> str:
        clean, known = redacted(text, self.salt)
        self.known.update(known)
        return clean

    def whole(self, text: str, kind: str) -> str:
        """The placeholder for a value that is a secret as it stands."""
        seen = plain(text)[0]
        if distinctive(text, kind):
            self.known[text] = kind
        return placeholder(kind, seen, self.salt)

    def list(self, value: Any, name: str, depth: int) -> Any:
        below = depth + 1
        judged = name if sensitive(name) else ""
        if not judged and (named := paired(value)):
            return [self.value(value[0], "", below), self.value(value[1], named, below)]
        if not judged and len(value) > 1:
            if isinstance(value[0], (list, tuple)) and (rows := headed(value[0], value[1:])):
                return [self.value(value[0], "", below), *self.rows(rows, below)]
            if isinstance(value[0], str) and (options := argued(value)):
                return [self.value(item, options.get(n, ""), below) for n, item in enumerate(value)]
            if isinstance(value[0], str) and len(value) <= _ARGUMENTS and any(map(_OPTION.__contains__, _words(value))):
                return self.arguments(value, below)
        return [self.value(item, name, below) for item in (value if judged else self.joined(value))]

    def rows(self, rows: Sequence[Any], depth: int) -> Sequence[Any]:
        return [[self.value(cell, name, depth + 1) for cell, name in row] for row in rows]

    def arguments(self, value: Any, depth: int) -> Sequence[Any]:
        """The arguments of a command, each judged by the command line before it: `["sshpass", "-p", …]`."""
        clean, line = [], ""
        for item in value:
            seen = self.value(item, "", depth)
            if isinstance(item, str) and seen == item and line and " " not in item and len(line) < _JOINT:
                judged = self.text(f"{line} {item}")
                seen = judged[len(line) + 1 :] if judged.startswith(f"{line} ") else item
            clean.append(seen)
            line = f"{line} {seen}".lstrip() if isinstance(seen, str) else line
        return clean

    def joined(self, value: Any) -> Any:
        """The parts of a message, without a secret that goes on from one into the next."""
        texts: list[Any] = [item.get("text") if isinstance(item, dict) else item for item in value[:_PARTS]]
        met = False
        for n in range(1, len(texts)):
            one, other = texts[n - 1], texts[n]
            if not isinstance(one, str) or not isinstance(other, str) or not _goes_on(one, other):
                continue
            first, met = one[-_JOINT:], True
            for start, end, kind in reversed(secrets_in(first + other[:_JOINT])):
                begin, stop = len(one) - len(first) + start, end - len(first)
                if stop > 0 and start <= len(first):
                    known = self.whole((first + other)[start:end], kind)
                    texts[n - 1], texts[n] = (
                        (one[:begin] + known, other[stop:]) if begin < len(one) else (one, known + other[stop:])
                    )
        if not met:
            return value
        return [*map(_with_text, value, texts), *value[_PARTS:]]

    def object(self, value: dict[Any, Any], name: str, depth: int) -> dict[Any, Any]:
        given = given_names(value, name)
        private = isinstance(value.get("kty"), str)
        clean: dict[Any, Any] = {}
        heads = value.get("columns", value.get("headers", value.get("fields")))
        for key, item in value.items():
            if key in _ROWS and (rows := headed(heads, item)):
                clean[key] = self.rows(rows, depth + 1)
            elif private and key in _PRIVATE_MEMBERS and isinstance(item, str) and not is_placeholder(item):
                clean[key] = self.whole(item, "private-key")
            else:
                clean[self.string(key, "", depth + 1) if isinstance(key, str) else key] = self.value(
                    item, given.get(key, str(key)), depth + 1
                )
        return clean

    def number(self, value: int | float, name: str) -> Any:
        kind = sensitive(name) if name else None
        whole = int(value) if math.isfinite(value) and value == int(value) else None
        if kind == "password" and is_number(name, value):
            return placeholder("password", str(value if whole is None else whole), self.salt)
        if kind == "pin" and whole is not None and 1000 <= whole < 10**8:
            return placeholder("pin", str(whole), self.salt)
        if whole is not None and whole >= 10**11:
            text = f"{name}: {whole}"
            clean = self.text(text)
            return value if clean == text else clean[len(name) + 2 :]
        return value

    def string(self, text: str, name: str, depth: int) -> str:
        kind = sensitive(name) if name else None
        if kind and is_secret(kind, plain(text)[0], "quoted", short=name.lower() in SHORT_NAMES):
            return self.whole(text, told(kind))
        if name.lower() in _HEADERS and PLACEHOLDER.search(text) is None:
            head = f"{name}: "
            return self.text(head + text).removeprefix(head)
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
                return self.text(text)
            clean = self.value(document, name, depth + 1)
            if clean == document:
                return text
            spaced = '": ' in text or '", ' in text
            return json.dumps(clean, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":"))
        return self.text(text)


def _deep(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "[…]"
