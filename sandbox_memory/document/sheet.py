"""The lines of a document under edit: lines replaced, cut and put in, and the blank lines that keep blocks apart."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from .blocks import BULLET, FRONT_MATTER, HOLLOW, Node, lead_of, width
from .model import Document

ADDED_ITEMS, ADDED_SOURCES, ADDED_TASKS, ADDED_SECTIONS, ADDED_GROUPS, ADDED_MARKER = range(6)
"""The order of what is put in at one place."""


@dataclass(frozen=True)
class _Chunk:
    lines: list[str]
    before: bool
    continues: int
    """The list that the lines are new items of, by number; 0 for none."""


@dataclass
class Sheet:
    """Collects changes by the line numbers of the document; `render` makes them all in one pass."""

    document: Document
    _replaced: dict[int, str] = field(default_factory=dict)
    _cuts: dict[int, int] = field(default_factory=dict)
    _chunks: dict[int, list[tuple[int, _Chunk]]] = field(default_factory=dict)
    _changed_ends: set[int] = field(default_factory=set)
    _apart: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.lines = self.document.lines
        outline = self.document.outline
        self._nodes: dict[int, Node] = {}
        self._list_starts: dict[int, int] = {}
        for node in outline.nodes:
            self._nodes.setdefault(node.start, node)
            self._list_starts.setdefault(node.list_number, node.start)
        self._starts = [node.start for node in outline.nodes]
        self._atx = {h.start for h in outline.headings if self.lines[h.start][0].lstrip().startswith("#")}
        self._interrupting = {
            start for kind, start, _ in outline.top if kind in ("fence", "blockquote_open")
        } | self._atx

    def blank(self, line: int) -> bool:
        """True for a line of white space only."""
        return not self.lines[line][0].strip()

    def content(self, line: int) -> str:
        """What the line is to say, as far as that is known."""
        return self._replaced.get(line, self.lines[line][0])

    def replace(self, line: int, content: str, *, new_block: bool = False, apart: bool = False) -> None:
        """Give a line other content, or in its place several with line feeds between.

        `new_block` if what follows may now read differently, `apart` if it itself may.
        """
        self._replaced[line] = content
        if apart:
            self._apart.add(line)
        if new_block:
            self._changed_ends.add(line)

    def cut(self, start: int, end: int, *, blank_start: bool = False) -> None:
        """Take out lines `start` to `end` (exclusive), without blank ones at the end or, unless asked, the start."""
        while start < end and self.blank(start) and not blank_start:
            start += 1
        while end > start and self.blank(end - 1):
            end -= 1
        if start < end:
            self._cuts[start] = end

    def insert(self, line: int, rank: int, new: list[str], *, before: bool = True, after: Node | None = None) -> None:
        """Put lines in before `line`; of several at one place those of lower rank come first.

        One of them may hold several, with line feeds between. `before` asks for a blank line above, unless one
        is there. `after` is the list item whose list they continue.
        """
        self._chunks.setdefault(line, []).append((rank, _Chunk(new, before, after.list_number if after else 0)))

    def bare(self, line: int) -> bool:
        """True if nothing but the bullet of a list item stands on the line."""
        match = BULLET.fullmatch(self.content(line))
        return bool(match) and line in self._nodes

    def keep_open(self, node: Node, content: int) -> None:
        """Before the line `content` goes: see that a list item whose bullet stands alone above it keeps the rest."""
        others = [leaf.start for leaf in node.leaves] + [child.start for child in node.children]
        if self.bare(node.start) and content == min(others, default=content):
            self.replace(node.start, self.bullet(node) + HOLLOW)

    def bullet(self, node: Node) -> str:
        """What stands before the content on a list item's first line, for new content: indentation, bullet, space."""
        return lead_of(self.lines[node.start][0], node.stack)

    def render(self) -> bytes:
        """The bytes of the document with all changes made."""
        writer = _Writer(self.document.newline)
        count = len(self.lines)
        line = 0
        while line <= count:
            for _, chunk in sorted(self._chunks.get(line, ()), key=lambda pair: pair[0]):
                writer.chunk(chunk)
            if line == count:
                break
            if line in self._cuts:
                line = self._cuts[line]
                writer.squeeze = writer.moved = True
                continue
            self._write(writer, line)
            line += 1
        if writer.squeeze and count and not self.blank(count - 1):
            writer.drop_blank_end()
        text = self.document.bom + "".join(content + end for content, end in writer.out)
        return text.encode("utf-8", "surrogateescape")

    def _write(self, writer: _Writer, line: int) -> None:
        content, end = self.lines[line]
        if self.blank(line):
            if not (writer.squeeze and writer.at_gap):
                writer.put(content, end)
                writer.squeeze = False
            return
        barrier = self._barrier(writer, line)
        if barrier is not None or line in self._apart or self._separate(writer, line):
            writer.gap()
        if barrier is not None:
            writer.put(barrier + HOLLOW, self.document.newline)
        *above, content = self.content(line).split("\n")
        for each in above:
            writer.put(each, self.document.newline)
        writer.put(content, end)
        writer.last = line
        writer.squeeze = False
        writer.moved = line in self._changed_ends

    def _separate(self, writer: _Writer, below: int) -> bool:
        """True if a line, and the one that comes to stand above it, need a blank line in between.

        Without one the lower line could continue the upper one's paragraph, underline it as a heading, or make it the
        head of a table.
        """
        if not writer.moved:
            return False
        node = self._nodes.get(below)
        if isinstance(writer.last, _Chunk):
            if below in self._interrupting:
                return not writer.last.continues
            return node is None or node.list_number != writer.last.continues
        if below in self._interrupting or (writer.last is not None and self.bare(writer.last)):
            return False
        if writer.last is None or writer.last in self._atx:
            return False
        if node is None:
            return True
        if self._list_starts[node.list_number] <= writer.last:
            return False
        return bool(node.number) or not node.leaves or node.leaves[0].start != node.start

    def _barrier(self, writer: _Writer, below: int) -> str | None:
        """The indentation of a comment that must stand before an indented line, or None.

        Without it the line would become part of the list item that now comes before it, for which a blank line is no
        help; or it would begin front matter.
        """
        if not writer.moved:
            return None
        if not writer.out:
            return "" if self.lines[below][0].rstrip() == FRONT_MATTER else None
        indent = _indent(self.lines[below][0])
        node = self._nodes.get(below)
        if isinstance(writer.last, _Chunk):
            lead = BULLET.match(writer.last.lines[-1])
            same = node is not None and node.list_number == writer.last.continues
            return "" if lead and not same and indent >= width(lead[0]) else None
        above = self._innermost(writer.last) if writer.last is not None else None
        found = None
        while above and above.end <= below:
            if indent >= width(self.bullet(above)):
                found = " " * width(self.bullet(above.parent)) if above.parent else ""
            above = above.parent
        return found

    def _innermost(self, line: int) -> Node | None:
        at = bisect_right(self._starts, line) - 1
        node = self.document.outline.nodes[at] if at >= 0 else None
        while node and node.end <= line:
            node = node.parent
        return node


@dataclass
class _Writer:
    newline: str
    out: list[tuple[str, str]] = field(default_factory=list)
    squeeze: bool = False
    """Lines were just taken out: blank lines that follow blank lines go with them."""
    moved: bool = False
    """What comes next did not stand after what was written last."""
    last: int | _Chunk | None = None
    """The line of the document, or the new lines, that were written last; blank lines do not count."""

    @property
    def at_gap(self) -> bool:
        return not self.out or not self.out[-1][0].strip()

    def gap(self) -> None:
        if not self.at_gap:
            self.put("", self.newline)

    def put(self, content: str, end: str) -> None:
        if self.out and not self.out[-1][1]:
            self.out[-1] = (self.out[-1][0], self.newline)
        if self.out and self.out[-1][1] == "\r" and not content and end == "\n":
            end = "\r"  # the two would be one line end
        self.out.append((content, end))

    def chunk(self, chunk: _Chunk) -> None:
        if chunk.before:
            self.gap()
        for content in (each for line in chunk.lines for each in line.split("\n")):
            self.put(content, self.newline)
        self.squeeze = False
        self.moved = True
        self.last = chunk

    def drop_blank_end(self) -> None:
        while self.out and not self.out[-1][0].strip():
            self.out.pop()


def _indent(text: str) -> int:
    return width(text[: len(text) - len(text.lstrip())])
