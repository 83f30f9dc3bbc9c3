"""A marked block in a file that is otherwise a person's: `memory_summary.md` and `INBOX.md` each have one of ours.

The begin marker names the commit that the block reflects, the end marker has a digest of the text between, so that an
untouched block is told from an edited one without knowing how it was made.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container
from dataclasses import dataclass
from itertools import pairwise

from .document.blocks import split_lines

_BEGIN = re.compile(r"^[ \t]*<!-- memory:begin ([0-9]{1,18}) -->[ \t]*(?=\r?$)", re.M)
_OURS = re.compile(r"^.*\^([mp]-[0-9a-f]{10})[ \t]*(?=\r?$)", re.M)
_END = re.compile(r"^[ \t]*<!-- memory:end ([0-9a-f]{12}) -->[ \t]*(?=\r?$)", re.M)


@dataclass(frozen=True)
class Block:
    """The text between the markers, and the ordinal of the commit that it shows: None where its marker was cut off."""

    ordinal: int | None
    text: str


@dataclass(frozen=True)
class Split:
    """A file cut into what stands before our block, the block, and what stands after it.

    `block` is None when there is none; `written` is the digest that its end marker holds. `newline` is a carriage
    return for a file whose line ends are that alone: here they are line feeds.
    """

    before: str
    block: Block | None
    after: str
    written: str = ""
    newline: str = ""

    @property
    def touched(self) -> bool:
        """True if the block's text is not the one that was written."""
        return self.block is not None and text_digest(self.block.text) != self.written


def split(data: bytes) -> Split:
    """Find the block in a file.

    Where one of the markers is gone, the block reaches to the end of the file, or begins with the first line that holds
    an id of ours; it is touched then. Of several blocks the last is taken that is as it was written, and the others of
    that kind are left out: nobody's words are in them. Where all are touched, it is the first.
    """
    text = data.decode("utf-8", "surrogateescape")
    newline = "\r" if "\r" in text and "\n" not in text else ""
    text = text.replace("\r", "\n") if newline else text
    intact = _intact(text)
    begin: re.Match[str] | None = None
    if intact:
        for again, over in reversed(intact[:-1]):
            text = text[: again.start()] + text[over.end() :]
        begin = _BEGIN.search(text, intact[-1][0].start() - sum(e.end() - b.start() for b, e in intact[:-1]))
    begin = begin or _BEGIN.search(text)
    end = _END.search(text, begin.end() if begin else 0)
    if begin is None and end is None:
        return Split(text, None, "", newline=newline)
    first = begin or _OURS.search(text, 0, end.start() if end else len(text)) or end
    assert first is not None
    start = begin.end() if begin else first.start()
    inner = text[start : end.start() if end else len(text)].strip("\r\n")
    block = Block(int(begin[1]) if begin else None, inner)
    after = text[end.end() :] if end else ""
    return Split(text[: first.start()], block, after, end[1] if begin and end else "", newline)


def marked(data: bytes, ids: Container[str], ordinal: int, heads: Container[str]) -> bytes:
    """The file; where both markers are gone, with such around its lines that have one of the ids, from first to last.

    So it holds a touched block again, of the commit `ordinal`. A line right above or below that is one of the `heads`,
    or begins as one that ends with a colon, is the block's, too.
    """
    lines = split_lines(data.decode("utf-8", "surrogateescape"))
    ours = [n for n, (line, _) in enumerate(lines) if (found := _OURS.fullmatch(line)) and found[1] in ids]
    if not ours or any(_BEGIN.fullmatch(line) or _END.fullmatch(line) for line, _ in lines):
        return data
    first, last = ours[0], ours[-1]
    above = next((n for n in range(first - 1, -1, -1) if lines[n][0].strip()), None)
    if above is not None and lines[above][0].strip() in heads:
        first = above
    below = next((n for n in range(last + 1, len(lines)) if lines[n][0].strip()), None)
    if below is not None and f"{lines[below][0].partition(':')[0]}:" in heads:
        last = below
    newline = lines[0][1] or "\n"
    lines[first] = (f"<!-- memory:begin {ordinal} -->{newline}{lines[first][0]}", lines[first][1])
    lines[last] = (f"{lines[last][0]}{newline}<!-- memory:end {'0' * 12} -->", lines[last][1])
    return "".join(line + end for line, end in lines).encode("utf-8", "surrogateescape")


def _intact(text: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    """The markers of the blocks whose text is the one that was written."""
    markers = sorted([*_BEGIN.finditer(text), *_END.finditer(text)], key=lambda marker: marker.start())
    return [
        (begin, end)
        for begin, end in pairwise(markers)
        if begin.re is _BEGIN
        and end.re is _END
        and text_digest(text[begin.end() : end.start()].strip("\r\n")) == end[1]
    ]


def join(parts: Split, block: Block, *, below: str = "") -> bytes:
    """The file with `block` in the place of the old one, or at the end, and `below` after it; all else as it was."""
    around = parts.before + parts.after + (parts.block.text if parts.block else "")
    newline = "\r\n" if "\r\n" in around else "\n"
    before = parts.before
    if parts.block is None and before.strip("\ufeff"):
        before = before if before.endswith(("\n", "\r")) else before + newline
        before += "" if before.endswith(newline * 2) else newline
    text = block.text.replace("\n", newline)
    lines = [f"<!-- memory:begin {block.ordinal} -->", text, f"<!-- memory:end {text_digest(text)} -->"]
    after = parts.after or newline
    after = newline * 2 + below.replace("\n", newline) + after if below else after
    whole = before + newline.join(lines) + after
    whole = whole.replace("\n", parts.newline) if parts.newline else whole
    return whole.encode("utf-8", "surrogateescape")


def text_digest(text: str) -> str:
    """The digest that an end marker holds: line endings do not count."""
    plain = text.replace("\r\n", "\n").encode("utf-8", "surrogateescape")
    return hashlib.sha256(plain).hexdigest()[:12]
