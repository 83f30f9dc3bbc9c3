"""The block structure of a markdown text, as line ranges: which lines are whose."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .text import NEWLINE, one_line

# Inline content is parsed item by item, and only where two texts differ. The built-in limit of 20 levels would drop
# the content of lists nested ten deep. Tables stay off: no row of one can be a list item, but the rule would take a
# list item with a bar in it, before a line of dashes, for the head of a table.
_markdown = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).disable("inline")

BULLET = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
FRONT_MATTER = "---"
HOLLOW = "<!-- -->"
"""What stands where something must, and nothing is to be seen."""
_FRONT_MATTER_END = re.compile(r"(?:---|\.\.\.)[ \t]*")
_KEY = re.compile(r"[^\s:#>*+-][^:]*:(?:\s|$)")
_MARKER = re.compile(r"<!--[ \t]*memory:[ \t]*([0-9]{1,18})[ \t]*-->[ \t]*")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})[ \t]*")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True)
class Leaf:
    """A block with content of its own: lines `start` to `end` (exclusive), `content` as markdown-it gives it.

    `kind` is one of paragraph, heading, code, html, hr, definition (of a link: nothing to be seen). `quoted` says that
    a block quote begins with it.
    """

    kind: str
    start: int
    end: int
    content: str
    info: str = ""
    quoted: bool = False

    @property
    def carries_id(self) -> bool:
        """True for the blocks at whose end a block id can stand."""
        return self.kind in ("paragraph", "heading")

    @property
    def text(self) -> str:
        """The block as inline markdown on one line; code becomes a code span."""
        if self.kind == "code":
            body = " ".join(f"{self.info} {self.content}".split())
            ticks = "`" * (max((len(run) for run in _TICKS.findall(body)), default=0) + 1)
            pad = " " if body.startswith("`") or body.endswith("`") else ""
            text = f"{ticks}{pad}{body}{pad}{ticks}" if body else ""
        elif self.kind == "definition" or (self.kind == "html" and self.content.strip() == HOLLOW):
            text = ""
        elif self.kind == "heading":
            text = f"{self.info} {one_line(self.content)}"
        else:
            text = one_line(self.content)
        return f"> {text}" if self.quoted and text else text


@dataclass(eq=False)
class Node:
    """A list item: lines `start` to `end` (exclusive, without trailing blank lines).

    `list_number` numbers the list that it is in. `stack` counts the list items that start on its first line, up to and
    with itself. `leaves` are its blocks, those of nested list items left out.
    """

    start: int
    end: int
    marker: str
    number: str
    list_number: int
    stack: int
    parent: Node | None
    children: list[Node] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    previous: Node | None = None

    @property
    def top(self) -> Node:
        """The outermost list item around it, or itself."""
        node = self
        while node.parent:
            node = node.parent
        return node

    @property
    def hollow(self) -> bool:
        """True for a list item of which no more is left than what holds the nested ones."""
        return [leaf.content.strip() for leaf in self.leaves] == [HOLLOW]

    def own_ranges(self) -> list[tuple[int, int]]:
        """The line ranges that no nested item has."""
        ranges = []
        start = self.start
        for child in self.children:
            if child.start > start:
                ranges.append((start, child.start))
            start = child.end
        if start < self.end:
            ranges.append((start, self.end))
        return ranges


@dataclass(frozen=True)
class Heading:
    """A heading that stands in no list and no quote: lines `start` to `end` (exclusive), `level` 1 to 6."""

    level: int
    start: int
    end: int
    content: str


@dataclass(frozen=True)
class Outline:
    """Everything that addressing and editing need to know of a text."""

    nodes: list[Node]
    """In order of their first lines, a parent before its children."""
    headings: list[Heading]
    top: list[tuple[str, int, int]]
    """The outermost blocks: token type and line range."""
    code: list[tuple[int, int]]
    """Line ranges of code, fences included, in order."""
    markers: list[tuple[int, int]]
    """Line and ordinal of each marker line, in order; the last one counts."""


def split_lines(text: str) -> list[tuple[str, str]]:
    """Content and line end of each line; only the last may have no line end. Numbered as markdown-it does."""
    lines = []
    position = 0
    for match in NEWLINE.finditer(text):
        lines.append((text[position : match.start()], match[0]))
        position = match.end()
    if position < len(text):
        lines.append((text[position:], ""))
    return lines


def width(text: str) -> int:
    """How many columns a text takes, at the start of a line."""
    return len(text.expandtabs(4))


def lead_of(line: str, stack: int) -> str:
    """What stands before the content of the `stack`-th list item on a line: indentation, bullet, space."""
    column = 0
    for _ in range(stack):
        match = BULLET.match(line, column)
        column = match.end() if match else column
    prefix = line[:column]
    space = width(prefix) - width(prefix.rstrip())
    # More than four columns are the indentation of a code block in the item, none is a bullet alone.
    return prefix if 0 < space <= 4 else prefix.rstrip() + " "


def outline(contents: list[str]) -> Outline:
    """The structure of a text given as its lines without line ends and without a byte order mark."""
    hidden = _front_matter(contents)
    source = [""] * hidden + contents[hidden:]
    builder = _Builder(source)
    found: dict[str, Any] = {}
    builder.read(_markdown.parse("\n".join(source), found))
    builder.define([*found.get("references", {}).values(), *found.get("duplicate_refs", ())])
    return Outline(builder.nodes, builder.headings, builder.top, builder.code, _markers(contents, builder.code))


def ends_open(contents: list[str]) -> bool:
    """True if these lines, the last outermost block of a text, would swallow what is written after them."""
    tokens = _markdown.parse("\n".join([*contents, "", "# probe"]))
    return not any(token.type == "heading_open" for token in tokens[-3:])


def _front_matter(contents: list[str]) -> int:
    """How many lines at the start are YAML front matter: to CommonMark they would be headings and list items."""
    if not contents or contents[0].rstrip() != FRONT_MATTER:
        return 0
    first = next((content for content in contents[1:] if content.strip()), "")
    if not _KEY.match(first):
        return 0
    ends = (number for number, content in enumerate(contents[1:], 2) if _FRONT_MATTER_END.fullmatch(content))
    return next(ends, 0)


def _markers(contents: list[str], code: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found = [(line, int(m[1])) for line, content in enumerate(contents) if (m := _MARKER.fullmatch(content))]
    if not found:
        return []
    filled = [line for line, content in enumerate(contents) if content.strip()][-2:]
    # A fence that somebody opened above and forgot to close, or that a formatter then closed at the end of the file,
    # must not hide the marker.
    last = filled[-1]
    closed = _FENCE.fullmatch(contents[last]) and any(start < filled[0] and end == last + 1 for start, end in code)
    ends = set(filled) if closed else {last}
    inside = {line for start, end in code for line in range(start, end)} - ends
    return [(line, ordinal) for line, ordinal in found if line not in inside]


class _Builder:
    def __init__(self, source: list[str]) -> None:
        self.source = source
        self.nodes: list[Node] = []
        self.headings: list[Heading] = []
        self.top: list[tuple[str, int, int]] = []
        self.code: list[tuple[int, int]] = []
        self.current: Node | None = None
        self.quotes = 0
        self.quote_begins = False
        self.lists: list[tuple[int, Node | None]] = []
        self.list_count = 0

    def trimmed(self, start: int, end: int) -> int:
        end = min(end, len(self.source))
        while end > start + 1 and not self.source[end - 1].strip():
            end -= 1
        return end

    def leaf(self, kind: str, span: tuple[int, int], content: str, info: str = "") -> None:
        if self.current is not None:
            self.current.leaves.append(Leaf(kind, *span, content, info, self.quote_begins))
        self.quote_begins = False

    def read(self, tokens: list[Token]) -> None:
        stream = iter(tokens)
        for token in stream:
            kind = token.type
            span = (token.map[0], self.trimmed(*token.map)) if token.map else (0, 0)
            if token.level == 0 and token.nesting >= 0:
                self.top.append((kind, *span))
            if kind in ("bullet_list_open", "ordered_list_open"):
                self.list_count += 1
                self.lists.append((self.list_count, None))
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self.lists.pop()
            elif kind == "blockquote_open":
                self.quotes += 1
                self.quote_begins = True
            elif kind == "blockquote_close":
                self.quotes -= 1
                self.quote_begins = False
            elif kind == "list_item_open" and not self.quotes:
                self.open_item(token, span)
            elif kind == "list_item_close" and not self.quotes:
                self.current = self.current.parent if self.current else None
            elif kind in ("paragraph_open", "heading_open"):
                self.leaf_with_inline(token, span, next(stream).content)
            elif kind in ("fence", "code_block"):
                self.code.append(span)
                self.leaf("code", span, token.content, token.info.strip())
            elif kind == "html_block":
                self.leaf("html", span, token.content)
            elif kind == "hr":
                self.leaf("hr", span, "---")

    def define(self, definitions: Iterable[Mapping[str, Any]]) -> None:
        """Give each list item the link definitions in it, for which there are no tokens."""
        starts = [node.start for node in self.nodes]
        for start, end in sorted({(start, end) for start, end in (each["map"] for each in definitions)}):
            at = bisect_right(starts, start) - 1
            node = self.nodes[at] if at >= 0 else None
            while node and node.end <= start:
                node = node.parent
            if node:
                lines = self.source[start:end]
                lines[0] = lines[0][len(lead_of(lines[0], node.stack)) :] if start == node.start else lines[0]
                content = "\n".join(line.strip(" \t>") for line in lines)
                node.leaves.append(Leaf("definition", start, end, content))
                node.leaves.sort(key=lambda leaf: leaf.start)

    def open_item(self, token: Token, span: tuple[int, int]) -> None:
        number, previous = self.lists[-1]
        parent = self.current
        stack = parent.stack + 1 if parent is not None and parent.start == span[0] else 1
        node = Node(*span, token.markup, token.info, number, stack, parent, previous=previous)
        self.lists[-1] = (number, node)
        if parent is not None:
            parent.children.append(node)
        self.nodes.append(node)
        self.current = node

    def leaf_with_inline(self, token: Token, span: tuple[int, int], content: str) -> None:
        if token.type == "paragraph_open":
            self.leaf("paragraph", span, content)
            return
        level = int(token.tag[1:])
        if token.level == 0:
            self.headings.append(Heading(level, *span, content))
        self.leaf("heading", span, content, "#" * level)
