"""Private keys as blocks of text: PEM, OpenSSH, PGP and PuTTY, also cut off, and what is private in a JSON Web Key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .masks import Masked, Span, places

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{2,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY_LINE = r"[^A-Za-z0-9\n]{0,8}(?:[A-Za-z][A-Za-z-]{2,20}: [^\n]{0,80}|[A-Za-z0-9+/=]{0,80})[^A-Za-z0-9\n]{0,8}"
_BREAK = r"(?:\r?\n|\\+r|\\+n)"
_BODY = re.compile(rf"(?:{_BREAK}{_BODY_LINE}(?={_BREAK}|$))*")
_BODY_ONLY = re.compile(r"\s*[A-Za-z0-9+/=]{16,80}\s*")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{24}")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}(?:\s|\\r|\\n)+((?:[A-Za-z0-9+/=]{8,80}(?:\s|\\r|\\n)+)+)")
_MEMBER = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\"([\w-]{16,4096})", re.ASCII)
_LONGEST = 20_000


def _start_of_body(text: str, end: int) -> int:
    """Where the lines of base64 begin that stand directly before `end`; `end` if there are none."""
    start, limit = end, max(0, end - _LONGEST)
    while start > limit:
        line = text.rfind("\n", limit, start - 1) + 1 or limit
        if not _BODY_ONLY.fullmatch(text, line, start):
            break
        start = line
    return start


def private_keys(masked: Masked) -> Iterator[Span]:
    """The spans of private key blocks, also of one whose first or last line is cut off.

    The mere marker, as code and documentation name it, is no key: a run of 24 base64 characters must be inside.
    """
    text, data = masked.text, masked.data
    if b"PRIVATE KEY" in data:
        yield from _pem(text)
    if b"Private-Lines: " in data:
        for match in _PUTTY.finditer(text):
            yield *match.span(1), "private-key"
    for at in places(data, b'"kty') if b'"kty' in data else ():
        for member in _MEMBER.finditer(text, max(0, at - 8192), at + 8192):
            yield *member.span(1), "private-key"


def _pem(text: str) -> Iterator[Span]:
    after = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < after:
            continue
        following = text.find("-----BEGIN ", begin.end(), begin.end() + _LONGEST)
        limit = following if following >= 0 else begin.end() + _LONGEST
        end = _END.search(text, begin.end(), limit)
        body = _BODY.match(text, begin.end(), limit)
        stop = end.end() if end else body.end() if body else begin.end()
        if _KEY_MATERIAL.search(text, begin.end(), stop):
            yield begin.start(), stop, "private-key"
            after = stop
    for end in _END.finditer(text):
        if end.start() >= after and (start := _start_of_body(text, end.start())) < end.start():
            yield start, end.end(), "private-key"
