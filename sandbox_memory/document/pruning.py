"""Provenance that no line needs any more: its bullets go, and the tasks and groups that hold nothing else with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .additions import key
from .blocks import Node
from .model import FILES, KEYWORDS, Document, Group, Section
from .operations import Prune
from .sheet import Sheet
from .text import normalise, plain

_SCOPE = re.compile(r"scope:\s+(.*)", re.IGNORECASE)


class Scope(NamedTuple):
    """The scope line of a group: its number from 0, where its text starts in it, and that text."""

    line: int
    start: int
    text: str


def scope_of(document: Document, group: Group) -> Scope | None:
    """The scope line that a group begins with, if it has one."""
    for number in range(group.start, group.end):
        if content := document.lines[number][0].strip():
            found = _SCOPE.fullmatch(content)
            begins = len(document.lines[number][0]) - len(document.lines[number][0].lstrip())
            return Scope(number, begins + found.start(1), found[1]) if found else None
    return None


def repeats(scope: Scope, title: str) -> bool:
    """True if a scope line says no more than that title."""
    return key(title) in (key(scope.text), key(plain(scope.text)))


def prune(document: Document, edits: Iterable[Prune]) -> bytes:
    """The bytes of the document without what the edits name; what a person wrote there stays, and what it stands in."""
    unwanted = {(key(edit.group), edit.summary_file.rpartition("/")[2]): edit for edit in edits}
    headings = {key(heading) for edit in unwanted.values() for heading in edit.headings}
    told = frozenset(word for words in {edit.told for edit in unwanted.values()} for word in words)
    pruning = _Pruning(document, headings, _pieces(told), {key(edit.group) for edit in unwanted.values() if edit.named})
    for node, group, section, kind in document.placed:
        if kind == FILES and node.parent is None and not node.children:
            name = _ours(node)
            if name and (key(group.title), name) in unwanted:
                pruning.take(node, group, section)
    return pruning.render()


def _ours(node: Node) -> str:
    """The file that a bullet names, if that is all it says."""
    folder, _, name = plain(" ".join(leaf.text for leaf in node.leaves)).rpartition("/")
    return name if folder == "rollout_summaries" else ""


def _pieces(words: Iterable[str]) -> set[str]:
    """What the words say, with a comma or without."""
    return {normalise(piece).casefold() for word in words for piece in (word, *word.split(","))} - {""}


class _Pruning:
    def __init__(self, document: Document, headings: set[str], told: set[str], named: set[str]) -> None:
        self.document, self.headings, self.told, self.named = document, headings, told, named
        self.sheet = Sheet(document)
        markers = {line for line, _ in document.outline.markers}
        self.said = {n for n in range(len(document.lines)) if not self.sheet.blank(n)} - markers
        """The lines that say something."""
        self.gone: set[int] = set()
        self.taken: dict[int, tuple[Group, Section, list[Node]]] = {}

    def take(self, node: Node, group: Group, section: Section) -> None:
        self.gone |= set(range(node.start, node.end))
        self.taken.setdefault(section.start, (group, section, []))[2].append(node)

    def render(self) -> bytes:
        cuts: list[tuple[int, int]] = []
        for _, section, nodes in self.taken.values():
            if section.task is not None and not self._left(section):
                heading = section.heading
                cuts.append((heading.start if heading else section.start, section.end))
            else:
                cuts += [(node.start, node.end) for node in nodes]
        self.gone |= {line for start, end in cuts for line in range(start, end)}
        for group in {group.start: group for group, _, _ in self.taken.values()}.values():
            if group.heading and not self._rest(group):
                cuts.append((group.heading.start, group.end))
        for start, end in cuts:
            self.sheet.cut(start, self._trimmed(start, end))
        return self.sheet.render()

    def _left(self, section: Section) -> set[int]:
        """The lines of a task that neither name what goes nor only frame it."""
        frame = set(self._headings(section.start, section.end, {FILES, KEYWORDS}))
        for node, _, where, kind in self.document.placed:
            words = " ".join(leaf.text for leaf in node.leaves).split(",")
            if kind == KEYWORDS and where.start == section.start and not node.children and _pieces(words) <= self.told:
                frame |= set(range(node.start, node.end))
        left = self.said & set(range(section.start, section.end)) - frame - self.gone
        return left if _pieces([section.task_title]) <= self.told else left | {section.start}

    def _rest(self, group: Group) -> set[int]:
        """The lines of a group that say more than its name; the heading too if it is not the one that we gave it."""
        frame = set(self._headings(group.start, group.end, self.headings))
        scope = scope_of(self.document, group)
        if scope is None or key(group.title) in self.named or not repeats(scope, group.title):
            return {group.start}
        frame.add(scope.line)
        return self.said & set(range(group.start, group.end)) - frame - self.gone

    def _headings(self, start: int, end: int, titles: set[str]) -> Iterator[int]:
        for heading in self.document.outline.headings:
            if start <= heading.start < end and key(plain(heading.content)) in titles:
                yield from range(heading.start, heading.end)

    def _trimmed(self, start: int, end: int) -> int:
        """The end without the blank lines and the marker that follow."""
        while end > start and end - 1 not in self.said:
            end -= 1
        return end
