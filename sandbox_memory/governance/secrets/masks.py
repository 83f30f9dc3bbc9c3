"""One byte for each character of a text: what finds the few places that are worth a pattern, at memory speed."""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int, str]
"""Where a secret stands in a text, start and end, and its kind."""

_RUN = 16
_ESCAPED = (
    ("%", re.compile(r"%[0-9A-Fa-f]{2}")),
    ("\\x", re.compile(r"\\x[0-9A-Fa-f]{2}")),
    ("\x1b[", re.compile(r"\x1b\[[\d;]{0,8}m")),
)
_DIGITS = bytes(range(48, 58))
_UPPER, _LOWER = bytes(range(65, 91)), bytes(range(97, 123))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _table(*classes: tuple[bytes, bytes], other: bytes = b" ") -> bytes:
    table = bytearray(other * 256)
    for members, letter in classes:
        for member in members:
            table[member] = letter[0]
    return bytes(table)


_TOKENS = _table((_DIGITS + _UPPER + _LOWER + b"_-", b"x"))
_NUMBERS = _table((_DIGITS, b"d"), (_UPPER, b"A"), (b" -", b" "), (b".", b"."), other=b"x")


class Masked:
    """A text, and forms of it in which a character is one byte, so that places in one are places in the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        if "\\" in text:
            text = text.replace("\\n", "\\ ").replace("\\r", "\\ ").replace("\\t", "\\ ")
        for sign, pattern in _ESCAPED:
            if sign in text:
                text = pattern.sub(_blank, text)
        self.spaced = text
        """The text with blanks for what is escaped in it, as `\\n` or a colour is: words begin after that."""
        self.data = text.encode("latin-1", "replace")
        """The spaced text in Latin-1, a `?` for every character that is not."""
        self.lower = self.data.lower()
        """The same with ASCII letters in lower case."""
        self.numbers = self.data.translate(_NUMBERS)
        """`d` for a digit, `A` for a capital, a blank for a blank or a hyphen, points as they are, `x` for the rest."""

    def runs(self) -> Iterator[tuple[int, int]]:
        """The stretches of at least 16 ASCII letters, digits, hyphens and underscores, in order."""
        mask, run = self.data.translate(_TOKENS), b"x" * _RUN
        at = mask.find(run)
        while at >= 0:
            end = mask.find(b" ", at + _RUN)
            end = end if end >= 0 else len(mask)
            yield at, end
            at = mask.find(run, end)


def places(data: bytes, what: bytes) -> Iterator[int]:
    """Where these bytes begin, in order; overlapping ones too."""
    at = data.find(what)
    while at >= 0:
        yield at
        at = data.find(what, at + 1)
