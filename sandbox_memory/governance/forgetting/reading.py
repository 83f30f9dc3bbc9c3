"""A text as a row of tokens: what two ways to write the same words have in common.

Tokens are words, single characters where a script puts no blanks between words, emoji and currency signs, each in NFKC
and case-folded. White space, punctuation and markdown's marks between them do not count, so that a line wrap, an escape
or a quote mark hides nothing. A word is whole: `Ann` is not in `planning`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from ...characters import UNSEEN

_ONE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
"""Characters that are tokens by themselves: scripts without blanks, and Hangul, where particles join the words."""
_MARKS = r"\u0300-\u036f\u3099\u309a\uff9e\uff9f"
_TOKEN = re.compile(
    r"(?P<filler>⟦(?:forgotten)?·*⟧)"
    rf"|(?P<one>[{_ONE}][{_MARKS}]*)|(?P<word>[^\W_{_ONE}][{_MARKS}{UNSEEN}]*(?:[^\W_{_ONE}][{_MARKS}{UNSEEN}]*)*)"
    r"|(?P<sign>(?<=\w)[+#]+|[^\w\s\x00-\x23\x25-\x7f])|(?P<dollar>\$)"
)
_STRIPPED = re.compile(rf"[{UNSEEN}]")
_SIGNS = ("So", "Sc")
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrtbf])|([\"'/\\]))")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_SENTENCE = re.compile(r"\n+|(?<=[.!?;])[ \t]+|(?<=[。！？；])")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text, and where each begins and ends in it."""

    names: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text as it is."""
    return read(text).names


def read(text: str) -> Tokens:
    names: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(text):
        kind, name = match.lastgroup, match[0]
        if kind == "sign" and not (name[0] in "+#" or unicodedata.category(name) in _SIGNS):
            continue
        if kind == "filler":  # what stands for forgotten words is no word, and joins none
            name = "⟦"
        if kind == "word" and not name.isascii():
            name = _STRIPPED.sub("", name)
        names.append(name.lower() if name.isascii() else unicodedata.normalize("NFKC", name).casefold())
        starts.append(match.start())
        ends.append(match.end())
    return Tokens(tuple(names), tuple(starts), tuple(ends))


def readings(text: str) -> Iterator[Tokens]:
    """The tokens of a text as it is, and where it has escapes (of JSON, of addresses) as they are decoded."""
    yield read(text)
    for pattern, decoded in ((_ESCAPE, _unescaped), (_PERCENT, _unquoted)):
        if ("\\" if pattern is _ESCAPE else "%") in text and pattern.search(text):
            yield _decoded(text, pattern, decoded)


def _decoded(text: str, pattern: re.Pattern[str], decoded: Callable[[re.Match[str]], str]) -> Tokens:
    made: list[str] = []
    origin: list[tuple[int, int]] = []
    place = 0
    for match in pattern.finditer(text):
        made.append(text[place : match.start()])
        origin += [(at, at + 1) for at in range(place, match.start())]
        char = decoded(match)
        if "\udc00" <= char <= "\udfff" and made[-1:] == [""] and "\ud800" <= made[-2:-1][0][-1:] <= "\udbff":
            made[-2] = made[-2][:-1] + (made[-2][-1] + char).encode("utf-16", "surrogatepass").decode("utf-16")
            origin[-1] = (origin[-1][0], match.end())
        else:
            made.append(char)
            origin += [match.span()] * len(char)
        place = match.end()
    made.append(text[place:])
    origin += [(at, at + 1) for at in range(place, len(text))]
    found = read("".join(made))
    starts = tuple(origin[start][0] for start in found.starts)
    return Tokens(found.names, starts, tuple(origin[end - 1][1] for end in found.ends))


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "


def _unquoted(match: re.Match[str]) -> str:
    return unquote(match[0], errors="replace")


def pieces(text: str) -> Iterator[str]:
    """The lines and sentences of a text."""
    yield from (piece for part in _SENTENCE.split(text) if (piece := part.strip()))
