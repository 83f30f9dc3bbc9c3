"""A marked block in a file that is otherwise a person's: `memory_summary.md` and `INBOX.md` each have one of ours.

The begin marker names the commit that the block reflects, the end marker has a digest of the text between, so that an
untouched block is told from an edited one without knowing how it was made.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_BEGIN = re.compile(r"^[ \t]*<!-- memory:begin (\d+) -->[ \t]*(?=\r?$)", re.M)
_END = re.compile(r"^[ \t]*<!-- memory:end ([0-9a-f]{12}) -->[ \t]*(?=\r?$)", re.M)


@dataclass(frozen=True)
class Block:
    """The text between the markers, and the ordinal of the commit that it shows."""

    ordinal: int
    text: str


@dataclass(frozen=True)
class Split:
    """A file cut into what stands before our block, the block, and what stands after it.

    `block` is None when there is none; `written` is the digest that its end marker holds.
    """

    before: str
    block: Block | None
    after: str
    written: str = ""

    @property
    def touched(self) -> bool:
        """True if the block's text is not the one that was written."""
        return self.block is not None and text_digest(self.block.text) != self.written


def split(data: bytes) -> Split:
    """Find the block in a file. A begin marker without an end marker is taken to be no block: its lines are text."""
    text = data.decode("utf-8", "surrogateescape")
    begin = _BEGIN.search(text)
    end = _END.search(text, begin.end()) if begin else None
    if begin is None or end is None:
        return Split(text, None, "")
    inner = text[begin.end() : end.start()].strip("\r\n")
    return Split(text[: begin.start()], Block(int(begin[1]), inner), text[end.end() :], end[1])


def join(parts: Split, block: Block) -> bytes:
    """The file with `block` in the place of the old one, or at the end; everything else as it was."""
    newline = "\r\n" if "\r\n" in parts.before + parts.after else "\n"
    before = parts.before
    if parts.block is None and before.strip("\ufeff"):
        before = before if before.endswith(("\n", "\r")) else before + newline
        before += "" if before.endswith(newline * 2) else newline
    text = block.text.replace("\n", newline)
    lines = [f"<!-- memory:begin {block.ordinal} -->", text, f"<!-- memory:end {text_digest(text)} -->"]
    after = parts.after or newline
    return (before + newline.join(lines) + after).encode("utf-8", "surrogateescape")


def text_digest(text: str) -> str:
    """The digest that an end marker holds: line endings do not count."""
    plain = text.replace("\r\n", "\n").encode("utf-8", "surrogateescape")
    return hashlib.sha256(plain).hexdigest()[:12]
