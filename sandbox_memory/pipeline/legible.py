"""Files that cannot be taken in as they are: in another encoding, or with a conflict that nobody has solved yet."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..document import Document

_CONFLICT = re.compile(rb"^<{7} [^\n]*\n(?:[^\n]*\n)*?={7}\r?\n(?:[^\n]*\n)*?>{7} ", re.MULTILINE)
"""What git leaves of two versions that it could not merge."""
WIDE = 0.1
"""The share of zero bytes from which on a file is UTF-16 without its mark: half of them in English, few in Chinese."""
NAMED = 4
"""Lines that are named."""
_CHINESE = re.compile("[\u4e00-\u9fff]")


def set_aside(data: bytes) -> str:
    """Why a file is left alone, with what to do, as it follows its name; empty for one that can be taken in."""
    if b"\n>>>>>>> " in data and _CONFLICT.search(data):
        return "has marks of a merge conflict; solve it"
    if Document.parse(data).foreign or _wide(data):
        return "is UTF-16 or UTF-32; save it as UTF-8"
    return ""


def _wide(data: bytes) -> bool:
    """True for UTF-16 without a mark: a file that a crash filled with zeros has them in a row."""
    return data.count(0) > WIDE * len(data) and b"\0\0\0" not in data


def unread(path: str, data: bytes) -> str:
    """Which lines of a file are not UTF-8, what they seem to be, and what to do; empty if all of them are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        lines = re.split(rb"\r\n|\r|\n", data)
    else:
        return ""
    found = {number: line for number, line in enumerate(lines, 1) if not _utf8(line)}
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    where = f"{path}:{', '.join(map(str, list(found)[:NAMED]))}{more}"
    one = len(found) == 1
    return (
        f"{where} {'is' if one else 'are'} not UTF-8 but {_guess(found.values())}, and {'stays' if one else 'stay'} "
        f"unread; save the file as UTF-8, and {'it is' if one else 'they are'} taken in"
    )


def _utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _guess(lines: Iterable[bytes]) -> str:
    """The encoding that they seem to be in, by whether they read as Chinese then."""
    try:
        texts = [line.decode("gb18030") for line in lines]
    except UnicodeDecodeError:
        return "Latin-1, it seems"
    strange = [char for text in texts for char in text if not char.isascii()]
    chinese = sum(bool(_CHINESE.match(char)) for char in strange)
    return "GBK, it seems" if strange and chinese * 2 > len(strange) else "Latin-1, it seems"
