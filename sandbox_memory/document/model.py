"""A markdown file as bytes that stay, and the list items in it that may be records."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .blocks import Heading, Node, Outline, outline, split_lines
from .text import (
    CHECKBOX,
    REFERENCE,
    canonical,
    cut,
    find_ids,
    literal,
    normalise,
    outside_code,
    plain,
    without_ids,
    without_refs,
)

if TYPE_CHECKING:
    from .operations import Edit

PREFIX = "Task Group:"
_PREFIX = re.compile(r"task group:\s*", re.IGNORECASE)
_TASK = re.compile(r"task\s+([0-9]{1,9})\b[\s:.\u2013\u2014-]*", re.IGNORECASE)
_FILE = re.compile(r"[^\s<>()\[\]`\"'*|,;]+\.md\b")
_UNDECODED = re.compile("[\udc80-\udcff]")
FILES, KEYWORDS = "rollout_summary_files", "keywords"
_BOM = "\ufeff"


@dataclass(frozen=True)
class ListItem:
    """One list item that may be a record.

    `index` counts the items of the document from 0 and is what edits name. `id` is the block id without its caret
    ("m-…" or "p-…"), "" for none. `text` is the item's own source on one line: without bullet, checkbox and block id,
    without the task references at its end (`cited`), and without nested list items, which are items themselves. `group`
    is the title of the level-1 heading above without `Task Group:`, `section` that of the level-2 heading, both ""
    where there is none; `task` is the n of a section `Task n`. `checked` is None without a checkbox. `line` is 1-based.
    `readable` is False if a byte of the item is not UTF-8; such an item is never edited.
    """

    index: int
    id: str
    text: str
    group: str
    section: str
    task: int | None
    checked: bool | None
    line: int
    readable: bool
    cited: str = ""

    @property
    def words(self) -> str:
        """`text` with the references at its end: what stands there where no task can be meant."""
        return f"{self.text} {self.cited}".rstrip()

    @cached_property
    def normal(self) -> str:
        """`normalise(text)`, by which items are compared."""
        return normalise(self.text)

    @cached_property
    def refs(self) -> tuple[int, ...]:
        """The task numbers that `[Task 1]`, `[Task 1][Task 2]` or `[Task 1, 2]` in the item name, in order."""
        found = _numbers(outside_code(self.normal, list(REFERENCE.finditer(self.normal))))
        return tuple(dict.fromkeys([*found, *self.refs_at_end]))

    @property
    def refs_at_end(self) -> tuple[int, ...]:
        """Those of `cited`."""
        return tuple(_numbers(REFERENCE.finditer(self.cited)))


def _numbers(references: Iterable[re.Match[str]]) -> list[int]:
    return [int(number) for match in references for number in re.findall(r"[0-9]+", match[1])]


@dataclass(frozen=True)
class Section:
    """The part of a group under one level-2 heading (`heading` None: the part before the first of them).

    Lines `start` to `end` (exclusive) without the heading; `direct` is where the first deeper heading stands, or `end`.
    """

    title: str
    heading: Heading | None
    start: int
    direct: int
    end: int

    @property
    def task(self) -> int | None:
        """The n of `Task n: …`, else None."""
        match = _TASK.match(self.title)
        return int(match[1]) if match else None

    @property
    def task_title(self) -> str:
        """The title without `Task n:`."""
        return _TASK.sub("", self.title, count=1) if self.task is not None else ""


@dataclass(frozen=True)
class Group:
    """The part of a document under one level-1 heading (None: the part before the first of them)."""

    title: str
    heading: Heading | None
    sections: list[Section]

    @property
    def start(self) -> int:
        """The first line after the heading."""
        return self.sections[0].start

    @property
    def end(self) -> int:
        """The line of the next level-1 heading, or the number of lines."""
        return self.sections[-1].end


class Document:
    """A markdown file: its bytes as they are, and what they say.

    Items are all list items with a paragraph or heading of their own, ordered, bulleted or with checkboxes, nested or
    not. No items are: bullets under `rollout_summary_files` and `keywords`, list items in code, HTML, block quotes,
    tables and YAML front matter, and list items that hold nothing but code or HTML or nothing at all.
    """

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    @classmethod
    def parse(cls, data: bytes) -> Document:
        """The document that a file's bytes are; every byte string is one, whatever its encoding and line ends."""
        return cls(data)

    @classmethod
    def empty(cls) -> Document:
        """A new file, without a byte in it."""
        return cls()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    @property
    def foreign(self) -> bool:
        """True for a file that says it is UTF-16 or UTF-32: nothing can be read in it, and nothing should be added."""
        return self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))

    @cached_property
    def bom(self) -> str:
        """The byte order mark that the file starts with, or ""."""
        return _BOM if self.data.startswith(_BOM.encode()) else ""

    @cached_property
    def lines(self) -> list[tuple[str, str]]:
        """Content and line end of each line, the byte order mark left out; undecodable bytes are lone surrogates."""
        return split_lines(self.data.decode("utf-8", "surrogateescape")[len(self.bom) :])

    @cached_property
    def newline(self) -> str:
        """The line end that most lines have; a line feed if none does."""
        counts = {"\n": 0, "\r\n": 0, "\r": 0}
        for _, end in self.lines:
            if end:
                counts[end] += 1
        return max(counts, key=lambda end: counts[end])

    @cached_property
    def outline(self) -> Outline:
        """The block structure."""
        return outline([content for content, _ in self.lines])

    @property
    def marker(self) -> int | None:
        """The ordinal in the last `<!-- memory:N -->` line that is not in code, or None.

        As the last line that is not blank it counts also in code: a fence left open above does not hide it.
        """
        return self.outline.markers[-1][1] if self.outline.markers else None

    @cached_property
    def groups(self) -> list[Group]:
        """The parts under each level-1 heading, the part before the first of them included."""
        headings = self.outline.headings
        chapters: list[tuple[Heading | None, list[Heading]]] = [(None, [])]
        for heading in headings:
            if heading.level == 1:
                chapters.append((heading, []))
            else:
                chapters[-1][1].append(heading)
        ends = [heading.start for heading, _ in chapters[1:] if heading] + [len(self.lines)]
        return [
            Group(_title(heading), heading, _sections(heading, below, end))
            for (heading, below), end in zip(chapters, ends, strict=True)
        ]

    @cached_property
    def items(self) -> tuple[ListItem, ...]:
        """The list items that may be records, in the order of their lines."""
        return tuple(item for item, _, _ in self.addressed)

    @cached_property
    def addressed(self) -> list[tuple[ListItem, Node, Section]]:
        """Each item with the list item of the outline that it is, and the section that it stands in."""
        found: list[tuple[ListItem, Node, Section]] = []
        for node, group, section, kind in self.placed:
            if kind or not any(leaf.carries_id for leaf in node.leaves):
                continue
            text, identity, checked = _read(node)
            text, cited = without_refs(text)
            place = (group.title, section.title, section.task)
            line = node.start + 1
            item = ListItem(len(found), identity, text, *place, checked, line, self.readable(node), cited)
            found.append((item, node, section))
        return found

    @property
    def mute(self) -> dict[int, str]:
        """The list items that are code alone, by their lines from 1: no id can stand in one, so none is a record."""
        return {
            node.start + 1: node.leaves[0].text
            for node, _, _, kind in self.placed
            if not kind and {leaf.kind for leaf in node.leaves} == {"code"}
        }

    @cached_property
    def provenance(self) -> Mapping[tuple[str, int | None], tuple[str, ...]]:
        """The file names that the bullets under `rollout_summary_files` mention, by group title and task number."""
        found: dict[tuple[str, int | None], dict[str, None]] = {}
        for node, group, section, kind in self.placed:
            if kind == FILES:
                names = _FILE.findall(plain(" ".join(leaf.text for leaf in node.leaves)))
                place = found.setdefault((group.title, section.task), {})
                place.update(dict.fromkeys(name.rpartition("/")[2] for name in names))
        return {place: tuple(names) for place, names in found.items()}

    def readable(self, node: Node) -> bool:
        """False if one of the lines that the list item has for itself holds a byte that is not UTF-8."""
        return self._decodes or not any(
            _UNDECODED.search(content)
            for start, end in [(node.start, node.start + 1), *node.own_ranges()]
            for content, _ in self.lines[start:end]
        )

    def edit(self, edits: Sequence[Edit], marker: int | None = None) -> Document:
        """The document after a batch of edits, with `marker` as its last line (None: the marker line stays as it is).

        Item indices are those of this document. All bytes that the edits do not mean are as they were; without edits
        and with the marker that is there, all bytes are. Raises `IndexError` for an index that no item has.
        """
        from .edits import apply  # edits build on documents

        if not edits and marker in (None, self.marker):
            return self
        return Document(apply(self, edits, marker))

    @cached_property
    def _decodes(self) -> bool:
        return not any(_UNDECODED.search(content) for content, _ in self.lines)

    @cached_property
    def placed(self) -> list[tuple[Node, Group, Section, str]]:
        """Each list item with its group, its section and "", or the heading that makes it provenance."""
        found = []
        headings = self.outline.headings
        sections = [(group, section) for group in self.groups for section in group.sections]
        kinds = [plain(heading.content).casefold() for heading in headings]
        place = nearest = 0
        for node in self.outline.nodes:
            while place + 1 < len(sections) and sections[place + 1][1].start <= node.start:
                place += 1
            while nearest < len(headings) and headings[nearest].start <= node.start:
                nearest += 1
            above = kinds[nearest - 1] if nearest else ""
            found.append((node, *sections[place], above if above in (FILES, KEYWORDS) else ""))
        return found


def _read(node: Node) -> tuple[str, str, bool | None]:
    """Text, block id and checkbox of a list item."""
    texts = []
    identity = ""
    for leaf in node.leaves:
        text, found = without_ids(leaf.text) if leaf.carries_id else (leaf.text, "")
        identity = found or identity
        texts.append(text)
    first = node.leaves[0]
    box = CHECKBOX.match(texts[0]) if first.kind == "paragraph" and not first.quoted else None
    if box:
        texts[0] = texts[0][box.end() :]
    return _joined([text for text in texts if text]), identity, box[1] != " " if box else None


def _joined(texts: list[str]) -> str:
    """Several blocks as one line, in which no mark of one block pairs with a mark of another."""
    if len(texts) < 2:
        return "".join(texts)
    text = " ".join(texts)
    parts = [canonical(part) for part in texts]
    return text if canonical(text) == canonical(literal(" ".join(parts))) else literal(" ".join(parts))


def strip_for_prompt(text: str) -> str:
    """The text of a document as a model may see it: without block ids and without marker lines."""
    lines = split_lines(text.removeprefix(_BOM))
    found = outline([content for content, _ in lines])
    markers = {line for line, _ in found.markers}
    code = {line for start, end in found.code for line in range(start, end)}
    kept = []
    for number, (content, end) in enumerate(lines):
        if number in markers:
            continue
        ids = find_ids(content) if number not in code else []
        rest = cut(content, ids)
        if rest.strip() or not ids:
            kept.append(rest + end)
    return "".join(kept)


def _title(heading: Heading | None) -> str:
    return _PREFIX.sub("", plain(heading.content), count=1) if heading else ""


def _sections(heading: Heading | None, below: list[Heading], end: int) -> list[Section]:
    opened: list[tuple[Heading | None, int, list[int]]] = [(None, heading.end if heading else 0, [])]
    for deeper in below:
        if deeper.level == 2:
            opened.append((deeper, deeper.end, []))
        else:
            opened[-1][2].append(deeper.start)
    ends = [second.start for second, _, _ in opened[1:] if second] + [end]
    return [
        Section(plain(second.content) if second else "", second, start, min([*deeper, last]), last)
        for (second, start, deeper), last in zip(opened, ends, strict=True)
    ]
