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

_CONFLICT = re.compile(rb"^<{7} [^\n]*\n(?:[^\n]*\n)*?={7}\r?\n(?:[^\n]*\n)*?>{7} ", re.MULTILINE)
"""What git leaves of two versions that it could not merge."""
WIDE = 0.1
"""The share of zero bytes from which on a file is UTF-16 without its mark: half of them in English, few in Chinese."""
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
    if Document.parse(data).foreign or _wide(data):
        return "is UTF-16 or UTF-32; save it as UTF-8"
    return ""


def conflict(data: bytes) -> int:
    """The line on which a merge conflict begins; 0 for a file without one."""
    found = _CONFLICT.search(data) if b"\n>>>>>>> " in data else None
    return data[: found.start()].count(b"\n") + 1 if found else 0


def garbled(path: str, data: bytes | None) -> str:
    """Why a file cannot be read as a whole, and what to do: it is in another encoding, all of it or some lines."""
    if not data:
        return ""
    why = "" if conflict(data) else set_aside(data)
    return f"{path} {why}" if why else unread(path, data)


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
