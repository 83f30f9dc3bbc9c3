"""A rollout as the text that a model reads, and the way back from a model's quote to the item that it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .records import Item, Rollout

TOKENS = 150_000
"""Default budget of a transcript."""
CLIPPED = 6_000
"""Bytes that an item may keep once the transcript is over its budget; a person's message keeps all it can."""
MEMORY = "memory"
"""Label of items that repeat what memory said: shown, but no evidence."""

_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{600,}")
_REFERENCE = re.compile(r"s?(\d+)\s*[.:]\s*(\d+)")
_LOOSE = {"'": "['’‘`]", '"': '["“”]', "-": "[-–—−]", "’": "['’]", "“": '["“]', "”": '["”]', "–": "[-–]", "—": "[-—]"}


@dataclass(frozen=True)
class Transcript:
    """The text, and in words what was left out of it (empty if nothing)."""

    text: str
    left_out: str = ""


@dataclass(frozen=True)
class Found:
    """Where a quote stands: `text` is the verbatim text of characters `start` to `end` of the item."""

    segment: str
    item: Item
    start: int
    end: int
    text: str


def cost(text: str) -> int:
    """Tokens that a text may cost: a third of its bytes, close for code, JSON and Chinese, too many for prose."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


def transcribe(rollout: Rollout, *, tokens: int = TOKENS) -> Transcript:
    """Every item with its reference at the left margin and its text indented, within `tokens`.

    What is too long loses first the middle of long items, then whole items from the middle of the rollout. What a
    person said stays, clipped only if that alone goes over. References are `s<run>.<item>`, runs counted from 1.
    """
    shown = [
        _Shown(number, item, _BLOB.sub(_blob, item.text))
        for number, segment in enumerate(rollout.segments, 1)
        for item in segment.items
    ]
    budget = tokens * 3 - sum(120 for _ in rollout.segments) - 400
    clipped = dropped = 0
    if sum(entry.size for entry in shown) > budget:
        shown, clipped = _clip(shown, budget)
        shown, dropped = _drop(shown, budget)
    told = [f"the middle of {clipped} long items is missing"] if clipped else []
    told += [f"{dropped} of {dropped + len(shown)} items are missing"] if dropped else []
    return Transcript("\n".join(_lines(rollout, shown)), " and ".join(told))


@dataclass(frozen=True)
class _Shown:
    segment: int
    item: Item
    text: str

    @property
    def head(self) -> str:
        label = " ".join(self.item.label.split())
        bare = label in ("", self.item.role) or self.item.text.startswith(label)
        who = self.item.role if bare else f"{self.item.role} {label}"
        return f"[s{self.segment}.{self.item.index} {who}]"

    @property
    def size(self) -> int:
        """Bytes, two for the indentation of each line, and room for a marker before it."""
        return len(self.text.encode("utf-8", "replace")) + 3 * self.text.count("\n") + len(self.head) + 60

    def clip(self, limit: int) -> _Shown:
        """With its middle left out so that it takes no more than `limit`, or as little as a clipped item can."""
        shown, room = self, limit
        while shown.size > limit and room > 40:
            room = room * 9 // 10
            shown = _Shown(self.segment, self.item, clipped(self.text, room))
        return shown


def _blob(match: re.Match[str]) -> str:
    return f"[… {len(match.group()):,} characters of encoded data …]"


def clipped(text: str, limit: int) -> str:
    """Two thirds of `limit` bytes from the start of the text, one from its end, a line that tells what is missing."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    head = data[: limit * 2 // 3].decode("utf-8", "ignore")
    tail = data[len(data) - limit // 3 :].decode("utf-8", "ignore")
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters are missing here …]\n{tail}"


def _clip(shown: Sequence[_Shown], budget: int) -> tuple[list[_Shown], int]:
    others = [entry.clip(CLIPPED) if entry.item.role != "user" else entry for entry in shown]
    said = [entry.size for entry in others if entry.item.role == "user"]
    room = budget * 3 // 4
    if sum(said) > room:
        limit = _level(said, room)
        others = [entry.clip(limit) if entry.item.role == "user" else entry for entry in others]
    return others, sum(1 for before, after in zip(shown, others, strict=True) if before is not after)


def _level(sizes: Sequence[int], room: int) -> int:
    """The highest level to which all sizes can be cut down so that their sum is within `room`."""
    rest, left = room, len(sizes)
    for size in sorted(sizes):
        if size * left > rest:
            break
        rest, left = rest - size, left - 1
    return rest // max(left, 1)


def _drop(shown: Sequence[_Shown], budget: int) -> tuple[list[_Shown], int]:
    """Take items from both ends until the budget is spent; a person's messages are taken first, wherever they stand."""
    kept = {place for place, entry in enumerate(shown) if entry.item.role == "user"}
    room = budget - sum(shown[place].size for place in kept)
    for place in _from_both_ends(len(shown)):
        if place in kept:
            continue
        room -= shown[place].size
        if room < 0:
            break
        kept.add(place)
    return [shown[place] for place in sorted(kept)], len(shown) - len(kept)


def _from_both_ends(count: int) -> Iterator[int]:
    for place in range((count + 1) // 2):
        yield place
        if count - 1 - place != place:
            yield count - 1 - place


def _lines(rollout: Rollout, shown: Sequence[_Shown]) -> Iterator[str]:
    by_segment: dict[int, list[_Shown]] = {}
    for entry in shown:
        by_segment.setdefault(entry.segment, []).append(entry)
    for number, segment in enumerate(rollout.segments, 1):
        agent = f", agent {' '.join(segment.agent.split())}" if segment.agent else ""
        yield f"== run s{number}: {segment.updated_at}, {segment.terminal_state}{agent}"
        place = {item.index: rank for rank, item in enumerate(segment.items)}
        due = 0
        for entry in by_segment.get(number, ()):
            rank = place[entry.item.index]
            if rank > due:
                yield f"[… {rank - due} items are missing here …]"
            yield entry.head
            yield from ("  " + line for line in entry.text.split("\n"))
            due = rank + 1
        if len(segment.items) > due:
            yield f"[… {len(segment.items) - due} items are missing here …]"


def locate(quote: str, reference: str, rollout: Rollout) -> Found | None:
    """Where a quote stands, letter by letter but for blanks, typographic quotes, dashes and case; None if nowhere.

    The item that `reference` names is looked at first, then all others in order. Items that repeat memory are left out.
    """
    pattern = _pattern(quote)
    if pattern is None:
        return None
    named = _named(reference, rollout)
    places = [(segment.id, item) for segment in rollout.segments for item in segment.items]
    for segment, item in ([named] if named else []) + places:
        if item.label == MEMORY:
            continue
        start = item.text.find(quote)
        if start >= 0:
            return Found(segment, item, start, start + len(quote), quote)
        match = pattern.search(item.text)
        if match:
            return Found(segment, item, match.start(), match.end(), match.group())
    return None


def _pattern(quote: str) -> re.Pattern[str] | None:
    if not any(char.isalnum() for char in quote):
        return None
    return re.compile(
        r"\s+".join("".join(_LOOSE.get(char) or re.escape(char) for char in word) for word in quote.split()),
        re.IGNORECASE,
    )


def _named(reference: str, rollout: Rollout) -> tuple[str, Item] | None:
    match = _REFERENCE.search(reference)
    if match is None or not 1 <= int(match[1]) <= len(rollout.segments):
        return None
    segment = rollout.segments[int(match[1]) - 1]
    return next(((segment.id, item) for item in segment.items if item.index == int(match[2])), None)
