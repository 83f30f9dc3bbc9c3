"""Secrets that are known by how they begin: vendors' tokens. Only long runs of token characters are looked at."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .masks import Masked, Span, places
from .vendors import TABLE

_GROUP = r"[A-Za-z0-9]{2,24}_(?:live|prod|pat|sk|secret|apikey|api_key)_[A-Za-z0-9]{20,}"
"""What many vendors whom no table knows make their tokens like."""
_MORE = re.compile(r"[\w-]*", re.ASCII)
_LONGEST_PREFIX = 24
_TRIES = 16
"""How many prefixes in one run of characters are tried, so that a run of nothing but prefixes costs no more."""
_TAILS = tuple(
    tail.encode()
    for tail in "SG. ya29. hvs. hvb. hvr. sl. sl.u. mws. dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. c01. LLM| "
    "sha256~ production$ sandbox$ v1.0-".split()
)
"""How a prefix ends that is not part of the long run of characters after it."""
_BEFORE = frozenset(b".|~$-:")
_PREFIX_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-|$~")
_BODY = re.compile(r"[A-Za-z0-9+/]+(?:(?:\s{1,20}|\\n|\\r\\n)[A-Za-z0-9+/=]{8,80})*={0,2}")


def varied(value: str) -> bool:
    """True for a run that no word or identifier looks like: digits between letters of both cases, or many digits."""
    digits = sum(map(str.isdigit, value))
    return digits >= 2 and (digits * 5 >= len(value) or (value.lower() != value and value.upper() != value))


def _long_run(value: str) -> bool:
    """True if a stretch between hyphens is too long for a word: hyphenated names begin like some keys."""
    longest = max(re.split(r"[_-]", value), key=len)
    return (len(longest) >= 20 or (len(longest) >= 12 and any(map(str.isdigit, longest)))) and varied(value + "00")


def _decoded(value: str) -> bytes:
    whole = "".join(value.split()).replace("\\r", "").replace("\\n", "").translate({45: "+", 95: "/"}).rstrip("=")
    try:
        return base64.b64decode(whole[: len(whole) // 4 * 4])
    except (ValueError, binascii.Error):
        return b""


def _is_jwt(value: str) -> bool:
    """True if the first part is the JSON of a header: it names an algorithm, or the type of the token."""
    head = value.split(".", 1)[0]
    found = _decoded(head + "A" * (-len(head.rstrip("=")) % 4))
    return found.startswith(b"{") and (b'"alg"' in found or b'"typ"' in found or b'"enc"' in found)


def _is_private(value: str) -> bool:
    """True for DER of a private key: a sequence that begins with the version number 0 or 1."""
    found = _decoded(value[:64])
    if found.startswith(b"openssh-key-"):
        return True
    if found[:1] != b"\x30" or len(found) < 16:
        return False
    at = 2 + (found[1] & 0x7F if found[1] & 0x80 else 0)
    return found[at : at + 2] == b"\x02\x01" and found[at + 2] in (0, 1)


def _pem_inside(value: str) -> bool:
    return b"PRIVATE KEY" in _decoded(value[:4096])


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


_ACCEPT: dict[str, Callable[[str], bool]] = {
    "jwt": _is_jwt,
    "api-key": _long_run,
    "private-key": _is_private,
    "base64-private-key": _pem_inside,
    "twilio-key": varied,
    "slack-token": _has_digit,
    "alibaba-key": varied,
    "fireworks-key": varied,
    "cohere-key": varied,
    "nuget-key": varied,
    "crates-token": varied,
    "octopus-key": varied,
    "square-token": varied,
    "facebook-token": varied,
    "cloudflare-token": varied,
    "bitbucket-token": varied,
    "nkey-seed": varied,
    "render-key": varied,
    "railway-key": varied,
    "vercel-token": varied,
    "notion-token": varied,
    "tavily-key": _long_run,
    "langfuse-key": varied,
    "heroku-key": _has_digit,
    "vault-token": varied,
    "newrelic-key": _has_digit,
}


@dataclass(frozen=True)
class _Form:
    kind: str
    pattern: re.Pattern[str]


def _forms() -> dict[str, list[_Form]]:
    found: dict[str, list[_Form]] = {}
    for line in TABLE.strip().splitlines():
        kind, prefix, rest = line.split()
        pattern = re.compile(re.escape(prefix) + rest, re.ASCII)
        found.setdefault(prefix, []).append(_Form(kind, pattern))
    return found


_FORMS = _forms()


def _prefixes() -> re.Pattern[bytes]:
    """Where a word begins with a prefix: those of one first letter together, a longer one before a shorter."""
    letters: dict[str, list[str]] = {}
    for prefix in sorted(_FORMS, key=len, reverse=True):
        letters.setdefault(prefix[0], []).append(re.escape(prefix[1:]))
    grouped = "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in letters.items())
    return re.compile(f"(?<![A-Za-z0-9])(?:{grouped})".encode())


_PREFIX = _prefixes()
_HEADS = frozenset(prefix[:2].encode() for prefix in _FORMS)
_UNPARTED = re.compile(rb"[A-Za-z0-9]+").fullmatch
_IDENTIFIER = re.compile(rb"[a-z_-]+").fullmatch
"""A name in small letters: what is drawn at random has digits or capitals in it."""
_LAST = frozenset(b"L")
_GLUED = tuple(prefix.encode() for prefix in "ghp_ github_pat_ sk-ant-".split())
"""What begins so oddly that nothing else does, also in the middle of a word."""


def _token(text: str, at: int, prefix: str) -> Span | None:
    """The token that begins there with that prefix, or a shorter one, if one does."""
    while prefix:
        for form in _FORMS.get(prefix, ()):
            if (match := form.pattern.match(text, at)) and (span := _whole(form.kind, text, at, match.end())):
                return span
        prefix = prefix[:-1]
    return None


def _whole(kind: str, text: str, start: int, end: int) -> Span | None:
    if kind in ("private-key", "base64-private-key"):
        body = _BODY.match(text, start)
        end = body.end() if body else end
    elif more := _MORE.match(text, end):
        end = more.end()
    accept = _ACCEPT.get(kind)
    if accept and not accept(text[start:end]):
        return None
    return start, end, "private-key" if kind == "base64-private-key" else kind


_DISCORD = re.compile(r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}", re.ASCII)
_TELEGRAM = re.compile(r"(?<![\w-])\d{8,10}:$", re.ASCII)
_AFTER_NUMBER = re.compile(r"A[\w-]{34}(?![\w-])", re.ASCII)
_AZURE = re.compile(r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,40}", re.ASCII)
_TERRAFORM = re.compile(r"(?<![\w.-])[A-Za-z0-9]{8,20}\.atlasv1\.[\w=-]{50,}", re.ASCII)
_LICENSE = r"[0-9a-fA-F]{36}NRAL|[a-z]{2}\d\dx[0-9a-f]{30,34}NRAL"
_SHAPES = re.compile(rf"(?P<mail>[0-9a-f]{{32}}-us\d{{1,2}})|(?P<license>{_LICENSE})|(?P<group>{_GROUP})".encode())
_SHAPED = {"mail": "mailchimp-key", "license": "newrelic-key", "group": "api-key"}
_FIRST = frozenset(b"MNOA")


def _by_shape(masked: Masked, start: int, end: int, parted: bool) -> Span | None:
    """Tokens that are known by something in their middle or at their end; `parted` if hyphens are inside the run."""
    text, data = masked.spaced, masked.data
    first, before = data[start], data[start - 2 : start] if start > 1 else b""
    if parted or data.endswith(b"NRAL", start, end):
        match = _SHAPES.fullmatch(data, start, end)
        if match and (match.lastgroup != "group" or varied(text[start:end])):
            return start, end, _SHAPED[str(match.lastgroup)]
    if first in _FIRST:
        if discord := _DISCORD.match(text, start):
            return (*discord.span(), "discord-token") if _decoded(text[start:end] + "==").isdigit() else None
        if end - start == 44 and re.match(rb"\d{10,13}:", _decoded(text[start:end])):
            return start, end, "atlassian-token"
        if before[1:] == b":" and _AFTER_NUMBER.match(text, start):
            number = _TELEGRAM.search(text, max(0, start - 12), start)
            return (number.start(), end, "telegram-token") if number else None
    if before == b"Q~" and (azure := _AZURE.search(text, max(0, start - 12), start + 80)):
        return *azure.span(), "azure-secret"
    if first == 48 and before == b"//" and end - start >= 40 and data[start - 3 : start - 2] == b"1":
        return (start - 3, end, "google-token") if varied(text[start:end]) else None
    if before == b"1." and (terraform := _TERRAFORM.search(text, max(0, start - 32), end)):
        return *terraform.span(), "terraform-token"
    return None


def _earlier(data: bytes, start: int) -> int:
    """Where a prefix begins that ends before the run of characters does, as `SG.` does; else where the run begins."""
    if not data.endswith(_TAILS, max(0, start - 12), start):
        return start
    first = start - 1
    while first > 0 and start - first < _LONGEST_PREFIX and data[first - 1] in _PREFIX_BYTES:
        first -= 1
    return first


def tokens(masked: Masked) -> Iterator[Span]:
    """The spans of everything that begins, or is built, as a vendor's tokens are."""
    data, text, done = masked.data, masked.text, 0
    for start, end in masked.runs():
        if end <= done:
            continue
        begin = start
        if start and data[start - 1] in _BEFORE:
            begin = _earlier(data, start)
        elif _IDENTIFIER(data, start, end):
            continue
        parted = _UNPARTED(data, start, end) is None
        # Most runs are words and digests: two characters tell that they begin like no token.
        if parted or begin != start or data[start : start + 2] in _HEADS:
            for span in _tried(masked, max(done, begin), end):
                yield span
                done = span[1]
        for glued in _GLUED if parted else ():
            for at in places(data[start:end], glued) if data.find(glued, start + 1, end) >= 0 else ():
                if found := _token(text, start + at, glued.decode()):
                    yield found
        likely = (
            parted or data[start] in _FIRST or data[end - 1] in _LAST or data[start - 1] in _BEFORE or data[start] == 48
        )
        if likely and done <= start and (shaped := _by_shape(masked, start, end, parted)):
            yield shaped
            done = shaped[1]


def _tried(masked: Masked, at: int, end: int) -> Iterator[Span]:
    """What begins with a prefix at the beginning of a word."""
    tries = 0
    while tries < _TRIES and (hit := _PREFIX.search(masked.data, at, end)):
        at, tries = hit.end(), tries + 1
        if found := _token(masked.text, hit.start(), hit[0].decode()):
            yield found
            at = max(at, found[1])
