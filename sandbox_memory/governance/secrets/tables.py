"""Values in the column of a sensitive name: CSV, tables of markdown, and the output of clients of databases."""

from __future__ import annotations

import re

from .literals import phrase_at
from .masks import Span
from .names import SHORT_NAMES, sensitive, told
from .values import has_digit, is_secret

_ROWS, _LONGEST = 2_000, 2_000
_HEAD = re.compile(r"[\s\"'*`_]{0,4}[^\W\d][\w .#()/-]{0,40}[\s\"'*`_]{0,4}")
_OF_TYPE = re.compile(r"[a-z]+\d{1,3}", re.I)
"""A word with a small number after it: `string2`, `gpt4`, `user1`."""
_RULE = re.compile(r"[\s|:+=-]+")
_AROUND = " \r\"'`*"
_STRIPPED = _AROUND + "\t"
_PARTING = ("|", ",", ";", "\t")
_SIGNS = frozenset(("|", ",", ";", "\t", "\n", ""))


def header_at(text: str, first: int, after: int) -> str:
    """What parts the cells if the name from `first` to `after` stands alone in one of a line."""
    following = text[after : after + 4].lstrip(_AROUND)[:1]
    if following not in _SIGNS:
        return ""
    if not following and after + 4 < len(text) and "\n" not in text[after : after + 4]:
        return ""
    first = phrase_at(text, first)
    before = text[max(0, first - 4) : first].rstrip(_AROUND)[-1:]
    if following in _PARTING:
        return following if before in (following, "", "\n") else ""
    return before if before in _PARTING else ""


def table(text: str, at: int, sign: str) -> tuple[list[Span], int]:
    """The secrets in the table whose head is the line that holds `at`, and where it ends; none if it is no table."""
    start = text.rfind("\n", max(0, at - _LONGEST), at) + 1 or max(0, at - _LONGEST)
    end = _line_end(text, start)
    cells = _cells(text, start, end, sign)
    heads = [text[one:other].strip(_STRIPPED + "_") for one, other in cells]
    if len(cells) < 2 or not all(head and _HEAD.fullmatch(head) for head in heads):
        return [], at
    columns = [(n, head, sensitive(head)) for n, head in enumerate(heads)]
    found: list[Span] = []
    for _ in range(_ROWS):
        start = end + 1
        if start >= len(text):
            break
        row_end = _line_end(text, start)
        if row_end - start > _LONGEST:
            break
        if _RULE.fullmatch(text, start, row_end):
            end = row_end
            continue
        row = _cells(text, start, row_end, sign)
        if len(row) != len(cells):
            break
        end = row_end
        for n, head, kind in columns:
            if kind and (one := _inner(text, *row[n])) and _fits(kind, head, text[slice(*one)]):
                found.append((*one, told(kind)))
    return found, end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + _LONGEST + 1)
    return end if end >= 0 else min(len(text), start + _LONGEST + 1)


def _cells(text: str, start: int, end: int, sign: str) -> list[tuple[int, int]]:
    """Where the cells of a line stand; a sign between quotes parts none."""
    cells, begin, quoted = [], start, False
    if sign == "|":
        while start < end and text[start] in " \t":
            start += 1
        while end > start and text[end - 1] in " \t\r":
            end -= 1
        begin = start + 1 if text[start:end][:1] == "|" else start
        end = end - 1 if end > begin and text[end - 1] == "|" else end
    for place in range(begin, end):
        character = text[place]
        if character == '"':
            quoted = not quoted
        elif character == sign and not quoted:
            cells.append((begin, place))
            begin = place + 1
    return [*cells, (begin, end)]


def _inner(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start] in _STRIPPED:
        start += 1
    while end > start and text[end - 1] in _STRIPPED:
        end -= 1
    return (start, end) if start < end else None


def _fits(kind: str, head: str, value: str) -> bool:
    """Whether a cell is a secret: a word with a digit or a sign in it, since tables of words describe fields."""
    if len(value) > 512 or " " in value:
        return False
    word = value.rstrip(")")
    if "(" in word or _OF_TYPE.fullmatch(word):
        return False
    number = kind == "password" and value.isdigit() and len(value) >= 4 and not head.lower().endswith("s")
    return number or (has_digit(value) and is_secret(kind, value, "spaced", short=head.lower() in SHORT_NAMES))
