"""Files that cannot be taken in as they are: in another encoding, with an unsolved conflict, with a secret typed in."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import zip_longest

from ..document import Document
from ..governance.redaction import redact

logger = logging.getLogger("sandbox_memory")

_BEGIN, _MIDDLE, _END = (re.compile(mark, re.MULTILINE) for mark in (rb"^<{7} ", rb"^={7}\r?$", rb"^>{7} "))
"""What git leaves of two versions that it could not merge."""
WIDE = "is UTF-16 or UTF-32; save it as UTF-8"
ZEROS = 0.1
"""The share of zero bytes from which on a file is UTF-16 without its mark: half of them in English, few in Chinese."""
LEAD = "begin it with a word, such as “Run:”, and it is a memory"
"""What to do with a list item of code alone."""
NAMED = 4
"""Lines that are named."""
TOLD = 20
"""Lines with a secret of which each is told."""
_OURS = re.compile(
    r"((?:[ \t]*\[Task[^\]\n]{0,60}\])*[ \t]*\^[mp]-[0-9a-f]{10}[ \t]*\r?$|^[ \t]*<!-- memory:[^\n]{0,60}-->)",
    re.MULTILINE,
)
"""Ids, references and markers. An id is no value of the "password:" before it: redacted, the line would be an edit."""
_CHINESE = re.compile("[\u4e00-\u9fff]")


def set_aside(data: bytes) -> str:
    """Why a file is left alone, with what to do, as it follows its name; empty for one that can be taken in."""
    if conflict(data):
        return "has marks of a merge conflict; solve it"
    return WIDE if is_wide(data) else ""


def conflict(data: bytes) -> int:
    """The line on which a merge conflict begins; 0 for a file without one."""
    begin = _BEGIN.search(data) if b"\n>>>>>>> " in data else None
    middle = begin and _MIDDLE.search(data, begin.end())
    end = middle and _END.search(data, middle.end())
    return data[: begin.start()].count(b"\n") + 1 if begin and end else 0


def garbled(path: str, data: bytes | None) -> str:
    """Why a file cannot be read as a whole, and what to do: it is in another encoding, all of it or some lines."""
    if not data:
        return ""
    return f"{path} {WIDE}" if is_wide(data) else unread(path, data)


def is_wide(data: bytes) -> bool:
    """True for UTF-16 and UTF-32, also without their mark: a file that a crash filled with zeros has them in a row."""
    return Document.parse(data).foreign or (data.count(0) > ZEROS * len(data) and b"\0\0\0" not in data)


def unread(path: str, data: bytes) -> str:
    """Which lines of a file are not UTF-8, what they seem to be, and what to do; empty if all of them are."""
    found = not_utf8(data)
    if not found:
        return ""
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    where = f"{path}:{', '.join(map(str, list(found)[:NAMED]))}{more}"
    one = len(found) == 1
    return (
        f"{where} {'is' if one else 'are'} not UTF-8 but {_guess(found.values())}, and {'stays' if one else 'stay'} "
        f"unread; save the file as UTF-8, and {'it is' if one else 'they are'} taken in"
    )


def mute(path: str, data: bytes, before: bytes = b"") -> list[tuple[str, str]]:
    """List items of code alone that were not there `before`: where each stands, and what to know of it."""
    known = set(Document.parse(before).mute.values())
    found = [(line, text) for line, text in Document.parse(data).mute.items() if text not in known]
    return [(f"{path}:{line}", "is a list item of code alone, which no run is told") for line, _ in found]


def not_utf8(data: bytes) -> dict[int, bytes]:
    """The lines that are not UTF-8, by their numbers from 1."""
    lines = [] if _utf8(data) else re.split(rb"\r\n|\r|\n", data)
    return {number: line for number, line in enumerate(lines, 1) if not _utf8(line)}


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


def without_secrets(path: str, data: bytes, salt: bytes) -> bytes:
    """A file with what somebody typed into it redacted; a warning names the file and each line."""
    bare = redacted(data, salt)
    if bare != data:
        lines = zip_longest(data.split(b"\n"), bare.split(b"\n"))
        for line in [n for n, (old, new) in enumerate(lines, 1) if old != new][:TOLD]:
            logger.warning("sandbox memory: %s:%d held a secret; a placeholder stands for it now", path, line)
    return bare


@lru_cache(maxsize=8)
def redacted(data: bytes, salt: bytes) -> bytes:
    """A markdown file of ours without secrets; ids, references and markers in it stay."""
    text = data.decode("utf-8", "surrogateescape")
    if redact(text, salt) == text:
        return data
    parts = _OURS.split(text)
    parts[::2] = [redact(part, salt) for part in parts[::2]]
    return "".join(parts).encode("utf-8", "surrogateescape")
