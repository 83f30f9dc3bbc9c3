"""Reading a name backwards and a value forwards from a place in a text."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"(?:[brufBRUF]{1,2}|@)?(?P<escape>\\{0,7})(?P<quote>[\"'`“「])")
_PLAIN = re.compile(r"(?:[^\s\x00-\x1f\x7f\"'`<>|;,()&，。；、）」”]|&(?!&|[\w.-]{1,40}=|\s|$)){1,256}")
_WHOLE_LINE = re.compile(r"[^\s\"'`]{1,256}(?=\s*$)", re.MULTILINE)
_BEFORE_WHOLE_LINE = re.compile(r"\s*(?:-\s+|export\s+|set\s+|ENV\s+|\+\s*)?")
_ESCAPED_BREAK = re.compile(r"\\+(?:[nrt]|u00[01][0-9a-fA-F]|x1b)")
_PAIRS = {")": "(", "]": "[", "}": "{"}
CODE = re.compile(r"[A-Za-z_][\w.]*[\[(]|qr?[/{]")
"""How an expression of code begins."""
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def line_start(text: str, at: int, reach: int) -> int:
    """Where the line that holds `at` begins, looking back no further than `reach` characters."""
    least = max(0, at - reach)
    return text.rfind("\n", least, at) + 1 or least


def literal(text: str, at: int, first: int) -> tuple[int, int, bool] | None:
    """The value that begins at `at`: its start, its end, and whether it is quoted. None if there is none.

    `first` is where the name before it begins. An unquoted value ends at punctuation, or with its line where nothing
    but the assignment stands on it.
    """
    if quoted := _QUOTED.match(text, at):
        escape, quote = quoted["escape"], {"“": "”", "「": "」"}.get(quoted["quote"], quoted["quote"])
        start = position = quoted.end()
        limit = min(len(text), start + 1024)
        while (position := text.find(escape + quote, position, limit)) >= 0:
            before = position
            while before > start and text[before - 1] == "\\":
                before -= 1
            if escape or (position - before) % 2 == 0:
                break
            position += 1
        end = position if position >= 0 else -1
        if end >= 0 and "\n" not in text[start:end]:
            return start, end, True
        at = start
    plain = _PLAIN.match(text, at)
    if not plain:
        return None
    if text[plain.end() : plain.end() + 1] not in ("", "(", " ", "\n"):
        whole = _BEFORE_WHOLE_LINE.fullmatch(text, line_start(text, first, 80), first) and _WHOLE_LINE.match(text, at)
        plain = whole or plain
    value = _ESCAPED_BREAK.split(plain.group(), maxsplit=1)[0].rstrip(".,;:?").rstrip("\\")
    while value and value[-1] in _PAIRS and _PAIRS[value[-1]] not in value:
        value = value[:-1]
    return (at, at + len(value), False) if value else None


def name_at(text: str, start: int, end: int) -> tuple[int, str]:
    """The whole identifier of which `start` to `end` is the last part, and where it begins."""
    before = text[max(0, start - 60) : start]
    first = start - len(before) + len(before.rstrip(_NAME_CHARACTERS))
    if text[first - 1 : first] == "\\" and first < start and text[first] in "nrt":
        first += 1  # an escaped line end before the name
    return first, text[first:end].strip("- \t")


_WORD_BEFORE = re.compile(r"[A-Za-z]{2,20} $")


def phrase_at(text: str, first: int) -> int:
    """Where a name of two words begins of which the second begins at `first`, as in `API key`; else `first`."""
    if text[first - 1 : first] != " ":
        return first
    before = _WORD_BEFORE.search(text, max(0, first - 22), first)
    return before.start() if before else first
