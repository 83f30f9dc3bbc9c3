"""An edit of the one line of an item, carried over into the several blocks that the item has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, product
from math import prod

from .model import Document
from .source import HARD, LONGEST, alone
from .tables import head_of, widths
from .text import normalise, without_refs

MOST = 2_000_000
"""Pairs of words that are compared; of more, those are left out of which there are many."""
FLAT = "{} is one line now: its new words have no one place in the lines that it had"
"""What to say of an item whose edit could not be carried over."""
TRIES = 64
"""Ways to carry an edit over that are tried at most."""
_WORD = re.compile(r"\\?[^\w\s]|\w+")
Place = tuple[int, int]


def retold(markdown: str, old: str, new: str) -> dict[str, str]:
    """What the ledger is to keep of an item whose line was `old` and is `new`, beside that line: nothing of one line.

    "" as the `markdown` if the edit cannot be `carried` over: what was typed counts, and the item is one line.
    """
    return {"markdown": carried(markdown, old, new)} if markdown else {}


def carried(markdown: str, old: str, new: str) -> str:
    """The markdown, of an item whose line was `old`, with what makes that line the `new` one.

    Each run of words that changed is changed where it stands. "" if there are several places for one, as for a word
    between two lines of code; and if what comes of it does not say the new line in blocks of the same kinds, with as
    many lines of code and as many cells.
    """
    known = alone(markdown) if markdown else None
    if known is None or normalise(old) != known.items[0].normal:
        return ""
    before, after = _Line(without_refs(old)[0]), _Line(without_refs(new)[0])
    places = _places(before, markdown, known)
    if places is None:
        return ""
    breaks = _soft(markdown, known)

    def beside(word: int) -> _Side:
        start = places[word - 1][1] if word else 0
        end = places[word][0] if word < len(places) else len(markdown)
        soft = markdown.count("\n", start, end) == 1 and markdown.find("\n", start) in breaks
        return _Side(markdown[start:end], soft, start, end)

    def parts(word: int) -> bool:
        side = beside(word)
        return side.text != before.gap(word) and not side.soft

    pieces: list[list[str]] = []
    at = 0
    for start, end, first, last in _differing(before, after):
        lower, upper = _same(before.words, start, end) if first == last else _same(after.words, first, last)
        one = start == end or first == last
        if one and (lower or upper) and any(map(parts, range(start - lower, end + upper + 1))):
            return ""
        left, right = beside(start), beside(end)
        change = _Change(
            before.gaps(start, end), after.gaps(first, last), before.said(start, end), after.said(first, last)
        )
        pieces += [[markdown[at : left.start]], change.added(left) if start == end else change.ways(left, right)]
        at = right.end
    pieces.append([markdown[at:]])
    if prod(map(len, pieces)) > TRIES:
        return ""
    made = {text for way in product(*pieces) if _holds(text := "".join(way), new, known)}
    return made.pop() if len(made) == 1 else ""


class _Line:
    """A line as its words and signs, and where they stand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = [match.span() for match in _WORD.finditer(text)]
        self.words = [_bare(text[start:end]) for start, end in self.spans]

    def gap(self, word: int) -> str:
        """The white space before a word, or at the end."""
        start = self.spans[word - 1][1] if word else 0
        return self.text[start : self.spans[word][0] if word < len(self.spans) else None]

    def gaps(self, start: int, end: int) -> tuple[str, str]:
        """The white space before and behind a run of words; all of it stands before one that is empty."""
        return self.gap(start), self.gap(end) if start < end else ""

    def said(self, start: int, end: int) -> str:
        """A run of words."""
        return self.text[self.spans[start][0] : self.spans[end - 1][1]] if start < end else ""


@dataclass(frozen=True)
class _Side:
    """What stands in the markdown beside words that changed; a `soft` line end parts nothing."""

    text: str
    soft: bool
    start: int
    end: int


@dataclass(frozen=True)
class _Change:
    """A run of words that became another, "" for none, and the white space beside both in their lines.

    Where the markdown has something else than the line, two blocks or lines meet there, or two lines of a paragraph.
    """

    old: tuple[str, str]
    new: tuple[str, str]
    was: str
    text: str

    def added(self, side: _Side) -> list[str]:
        """What may come to stand where there was no word."""
        if side.text == self.old[0] or not self.text:
            return [self.new[0] + self.text + self.new[1]]
        above, below = self.new[0] + self.text + side.text, side.text + self.text + self.new[1]
        return [above] if side.soft else [above, below]

    def ways(self, left: _Side, right: _Side) -> list[str]:
        """What may come to stand between these: nothing where more words than before may belong on either side."""
        inside = left.text == self.old[0], right.text == self.old[1]
        if not self.text:
            both = left.text.rstrip(" \t") + right.text
            return [self.new[0] if all(inside) else right.text if inside[0] else left.text if inside[1] else both]
        parted = not all(each or side.soft for each, side in zip(inside, (left, right), strict=True))
        if parted and len(self.text.split()) > len(self.was.split()):
            return []
        before = self.new[0] if inside[0] or bool(self.new[0]) is not bool(self.old[0]) else left.text
        after = self.new[1] if inside[1] or bool(self.new[1]) is not bool(self.old[1]) else right.text
        return [before + self.text + after]


def _differing(old: _Line, new: _Line) -> Iterator[tuple[int, int, int, int]]:
    """The runs of words that are others: from where to where in the old line, and in the new one.

    Such a run is empty in both where words are parted, or joined, that are the same.
    """
    most = min(len(old.words), len(new.words))
    head = next((n for n in range(most) if old.words[n] != new.words[n]), most)
    tail = next((n for n in range(most - head) if old.words[-1 - n] != new.words[-1 - n]), most - head)
    one, other = old.words[head : len(old.words) - tail], new.words[head : len(new.words) - tail]
    matcher = SequenceMatcher(None, one, other, autojunk=len(one) * len(other) > MOST)
    runs = [(head + a, head + b, head + c, head + d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    at, there = 0, 0
    for start, end, first, last in [*runs, (len(old.words), len(old.words), len(new.words), len(new.words))]:
        for step in range(1 if at else 0, start - at):
            if bool(old.gap(at + step)) is not bool(new.gap(there + step)):
                yield at + step, at + step, there + step, there + step
        if start < end or first < last:
            yield start, end, first, last
        at, there = end, last


def _same(words: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """How far before and behind a run of words another one as long stands beside the same words, were it taken out."""
    lower = upper = 0
    while start < end and start - lower > 0 and words[start - lower - 1] == words[end - lower - 1]:
        lower += 1
    while start < end and end + upper < len(words) and words[start + upper] == words[end + upper]:
        upper += 1
    return lower, upper


def _places(line: _Line, markdown: str, known: Document) -> list[Place] | None:
    """Where in the markdown each word of its line stands; None if one does not. Link definitions are not told.

    The line has code in back ticks, for which there need be none in the markdown: such a one stands beside its code.
    """
    leaves = known.outline.nodes[0].leaves
    untold = {n for leaf in leaves if leaf.kind == "definition" for n in range(leaf.start, leaf.end)}
    words: list[tuple[str, Place]] = []
    offset = 0
    for number, content in enumerate(markdown.split("\n")):
        found = _WORD.finditer(content) if number not in untold else ()
        words += [(_bare(each[0]), (offset + each.start(), offset + each.end())) for each in found]
        offset += len(content) + 1
    rest = ((at, place) for at, (word, place) in enumerate(words) if word != "`")
    places: list[Place | None] = []
    starts = [-1]  # for each word the place, among those of the markdown, of the last word that is no tick
    for word in line.words:
        if word == "`":
            places.append(None)
            starts.append(starts[-1])
            continue
        at, place = next(((at, place) for at, place in rest if words[at][0] == word), (-1, (0, 0)))
        if at < 0:
            return None
        places.append(place)
        starts.append(at)
    return _ticked(line, words, places, starts, len(markdown))


def _ticked(
    line: _Line, words: list[tuple[str, Place]], places: list[Place | None], starts: list[int], end: int
) -> list[Place]:
    """The places, with those of the back ticks."""
    below: list[int] = []  # where the next word stands that is no tick
    for place in reversed(places):
        end = end if place is None else place[0]
        below.append(end)
    made: list[Place] = []
    at = 0
    for number, (place, limit) in enumerate(zip(places, reversed(below), strict=True)):
        if place is None:
            at = max(at, starts[number] + 1)
            while at < len(words) and words[at][1][0] < limit and words[at][0] != "`":
                at += 1
            found = at < len(words) and words[at][1][0] < limit
            beside = made[-1][1] if made and not line.gap(number) else limit
            made.append(words[at][1] if found else (beside, beside))
            at += found
        else:
            made.append(place)
    return made


def _bare(word: str) -> str:
    """A word or sign without the backslash that it may have."""
    return word[1:] or word if word.startswith("\\") else word


def _soft(markdown: str, known: Document) -> set[int]:
    """Where a line of a paragraph ends that a person need not have broken there."""
    lines = markdown.split("\n")
    ends = [end - 1 for end in accumulate(len(line) + 1 for line in lines)]
    found: set[int] = set()
    for leaf in known.outline.nodes[0].leaves:
        if leaf.kind == "paragraph":
            head = head_of(leaf.content)
            last = leaf.start + head if head >= 0 else leaf.end
            found |= {ends[n] for n in range(leaf.start, last - 1) if not HARD.search(f"{lines[n]}\n")}
    return found


def _holds(markdown: str, text: str, known: Document) -> bool:
    again = alone(markdown) if len(markdown) <= LONGEST else None
    return again is not None and again.items[0].normal == normalise(text) and _frame(again) == _frame(known)


def _frame(document: Document) -> list[tuple[object, ...]]:
    """The kinds of an item's blocks in order, with the lines of code, the breaks of a paragraph, the cells of rows."""
    found: list[tuple[object, ...]] = []
    for leaf in document.outline.nodes[0].leaves:
        lines = leaf.content.rstrip("\n").count("\n") if leaf.kind in ("code", "html") else 0
        found.append((leaf.kind, leaf.quoted, lines, len(leaf.info.split())))
        if leaf.kind == "paragraph":
            found.append((len(HARD.findall(leaf.content)), head_of(leaf.content) > 0, widths(leaf.content)))
    return found
