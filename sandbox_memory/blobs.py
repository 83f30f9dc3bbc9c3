"""Data that is nothing to read: what kinds of it there are, and the marker that stands for each, with type and size."""

from __future__ import annotations

import re

ENCODED = 1_024
"""Characters from which on an unbroken run of base64 or hex is left out of a text."""
WRAPPED = 60
"""Characters that a line of wrapped base64 has at least."""
ONE_LINE = 20_000
"""Characters from which on a line counts as made by a machine (minified code, a dump), and only its ends are shown."""
LINE_ENDS = 2_000
"""How much of such a line is shown: two thirds from its start, one from its end."""

_KIND = r"data:([\w.+-]{1,60}/[\w.+-]{1,60})?(?:;[\w.+-]{1,40}=[\w.+-]{0,40}){0,3};base64,"
_MARK = re.compile(_KIND)
# A run is tried where it begins and nowhere else, so that many runs that are too short cost no more than their length.
_ENCODED = re.compile(
    rf"({_KIND})?(?<![A-Za-z0-9+/=_-])(?P<data>[A-Za-z0-9+/=_-]{{{ENCODED},}}"
    rf"|[A-Za-z0-9+/]{{{WRAPPED},100}}(?:\r?\n[A-Za-z0-9+/]{{{WRAPPED},100}}){{11,}}"
    r"(?:\r?\n(?:[A-Za-z0-9+/]{4}){0,24}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=))?)"
)
_HEX = re.compile(r"[0-9A-Fa-f\s]+")
_HEX_DUMP = re.compile(
    # xxd, hexdump -C and od -x: an address and groups of two or four digits, on 12 lines or more.
    r"(?:\n[ \t]*[0-9A-Fa-f]{6,16}:?[ \t]+(?:(?:[0-9A-Fa-f]{4}[ \t]+){7}|(?:[0-9A-Fa-f]{2}[ \t]+){8}).*){12,}"
)
_GROUPS = re.compile(
    r"^[ \t]*[0-9A-Fa-f]{6,16}:?(?:[ \t]+(?:[0-9A-Fa-f]{4}|[0-9A-Fa-f]{2})(?![^ \t\n]))+", re.MULTILINE
)
_LONG_LINE = re.compile(rf"[^\n]{{{ONE_LINE},}}")
_MAGIC = (
    ("iVBORw0KGgo", "PNG image"),
    ("/9j/", "JPEG image"),
    ("R0lGOD", "GIF image"),
    ("UklGR", "RIFF file"),
    ("JVBERi", "PDF"),
    ("UEsDB", "zip file"),
    ("H4sI", "gzip file"),
    ("f0VMR", "ELF file"),
)


def without_encoded(text: str) -> str:
    """The text with a marker for each run of base64 or hex that is long; what merely repeats a few signs stays."""
    if len(text) < ENCODED // 2 or max(map(len, text.split()), default=0) < WRAPPED:
        return text
    return _ENCODED.sub(_encoded, text)


def without_bulk(text: str) -> str:
    """The text with a marker for each hex dump, and without the middle of lines that only machines write."""
    text = _HEX_DUMP.sub(_dump, "\n" + text)[1:]
    if len(text) < ONE_LINE or max(map(len, text.split("\n"))) < ONE_LINE:
        return text
    return _LONG_LINE.sub(_line, text)


def media(kind: str, data: object = None, name: str = "") -> str:
    """The marker for a picture, a sound or a file: `[image/png, 12 kB]`, `[file a.pdf, 3 MB]`, or `[image]` alone.

    `data` is what the item holds of it: a data URL, base64, or an address, which tells neither type nor size.
    """
    mark = _MARK.match(data) if isinstance(data, str) else None
    told = f"{kind} {name}" if name else kind
    if isinstance(data, str) and (mark or (data and re.fullmatch(r"[A-Za-z0-9+/\s]{4,}={0,2}\s*", data))):
        if mark and mark[1] and not name:
            told = mark[1]
        return f"[{told}, {size((len(data) - (mark.end() if mark else 0)) * 3 // 4)}]"
    return f"[{told}]"


def size(count: int) -> str:
    """Bytes as people say them: `812 bytes`, `12 kB`, `3.4 MB`."""
    if count < 1_000:
        return f"{count} bytes" if count != 1 else "1 byte"
    for unit in ("kB", "MB"):
        count_in = count / 1_000 if unit == "kB" else count / 1_000_000
        if count_in < 999.5:
            break
    return f"{count_in:.1f} {unit}" if count_in < 9.95 else f"{count_in:,.0f} {unit}"


def _encoded(match: re.Match[str]) -> str:
    mark, data = match[1], match["data"]
    if len(set(data)) <= 9:
        return match[0]
    if mark:
        return media("data", match[0])
    if _HEX.fullmatch(data):
        return f"[{len(data):,} characters of hex]"
    known = next((name for start, name in _MAGIC if data.startswith(start)), "")
    return f"[{known}, {size(len(data) * 3 // 4)}]" if known else f"[{len(data):,} characters of encoded data]"


def _dump(match: re.Match[str]) -> str:
    if not any(any(digit.isalpha() for digit in found[0]) for found in _GROUPS.finditer(match[0])):
        return match[0]  # a table of numbers
    lines = match[0].count("\n")
    return f"\n[… {lines:,} lines of a hex dump are missing here …]"


def _line(match: re.Match[str]) -> str:
    line = match[0]
    head, tail = line[: LINE_ENDS * 2 // 3], line[-LINE_ENDS // 3 :]
    return f"{head}[… {len(line) - len(head) - len(tail):,} characters of this one line are missing here …]{tail}"
