"""A rollout as the text that a model reads, and the way back from a model's quote to the item that it stands in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .blobs import without_bulk, without_encoded
from .quoting import MEMORY, Found, locate
from .records import Item, Rollout, Segment
from .tokens import estimate

__all__ = ["MEMORY", "TOKENS", "Found", "Transcript", "fitted", "locate", "transcribe"]

TOKENS = 150_000
"""Default budget of a request in tokens: current models take more, but find less in more."""
CLIPPED = 2_000
"""Tokens that an item may keep at least before whole items are dropped for it; a person's message keeps more."""
SAID = 300
"""Tokens that a person's message keeps at least before whole messages are dropped."""
FILLED = 0.95
"""How much of the budget is filled: a text that repeats one line repeats the error of its estimate too."""

SAMPLED, SLICES = 50_000, 25
"""Of how many characters of a long item its size is told, in how many slices."""

_MARKER = 45
_HEADER = 40
_NAMES = {"user": "of the user", "assistant": "of the agent", "call": "calls", "output": "outputs"}


@dataclass(frozen=True)
class Transcript:
    """The text, and in words what was left out of it (empty if nothing)."""

    text: str
    left_out: str = ""


def transcribe(rollout: Rollout, *, tokens: int = TOKENS) -> Transcript:
    """Every item with its reference at the left margin and its text indented, within `tokens`.

    What is too long loses first the middle of long items, then whole items from the middle of the rollout. What a
    person said stays: one message is clipped only where it is long itself, and only where all of them together are too
    much are the newest and the oldest kept. Encoded data, dumps and lines of machines are markers from the start.
    References are `s<run>.<item>`, runs counted from 1.
    """
    entries = [
        _Entry(number, item, item.text if item.role == "user" else without_bulk(without_encoded(item.text)))
        for number, segment in enumerate(rollout.segments, 1)
        for item in segment.items
    ]
    budget = int(tokens * FILLED)
    if sum(entry.cost for entry in entries) + _HEADER * len(rollout.segments) <= budget:
        shown = Transcript("\n".join(_lines(rollout, entries, entries)))
        if estimate(shown.text) <= tokens:
            return shown
    shown = _shortened(rollout, entries, budget)
    while estimate(shown.text) > tokens and budget > 200:
        budget = budget * 9 // 10
        shown = _shortened(rollout, entries, budget)
    return shown


def _shortened(rollout: Rollout, entries: Sequence[_Entry], budget: int) -> Transcript:
    short = _clip(entries, budget)
    kept = _choose(short, budget)
    gone = [entry for place, entry in enumerate(entries) if place not in kept]
    cuts = [max(entries[place].cost - short[place].cost, 1) for place in kept if short[place] is not entries[place]]
    told = []
    if cuts:
        long = "a long item" if len(cuts) == 1 else f"{len(cuts):,} long items"
        told.append(f"the middle of {long} is missing (about {_round(sum(cuts))} tokens)")
    if gone:
        some = f"{len(gone):,} of {len(entries):,} items {'is' if len(gone) == 1 else 'are'} missing"
        told.append(f"{some} (about {_round(sum(entry.cost for entry in gone))} tokens)")
    shown = [entry if place in kept else None for place, entry in enumerate(short)]
    return Transcript("\n".join(_lines(rollout, entries, shown)), " and ".join(told))


@dataclass(frozen=True)
class _Entry:
    segment: int
    item: Item
    text: str

    @property
    def head(self) -> str:
        label = " ".join(self.item.label.split())[:80]
        bare = label in ("", self.item.role) or self.item.text.startswith(label)
        who = self.item.role if bare else f"{self.item.role} {label}"
        return f"[s{self.segment}.{self.item.index} {who}]"

    @property
    def block(self) -> str:
        return "\n  ".join([self.head, *self.text.split("\n")])

    @cached_property
    def cost(self) -> int:
        return _roughly(self.block) + 1

    def clip(self, limit: int) -> _Entry:
        """With its middle left out so that it takes at most about `limit` tokens; itself if it does not take more."""
        if self.cost <= limit:
            return self
        return next(
            entry
            for text, last in _shorter(self.text, self.cost, limit)
            if (entry := _Entry(self.segment, self.item, text)).cost <= limit or last
        )


def _roughly(text: str) -> int:
    """The estimate of a text; that of a long one by slices of it, as it will be clipped or counted again."""
    if len(text) <= 2 * SAMPLED:
        return estimate(text)
    step = len(text) // SLICES
    return (
        estimate("\n".join(text[n * step : n * step + SAMPLED // SLICES] for n in range(SLICES))) * len(text) // SAMPLED
    )


def fitted(text: str, tokens: int) -> str:
    """The text in at most about `tokens` tokens: two thirds from its start, one from its end, and what is missing."""
    whole = estimate(text)
    if whole <= tokens:
        return text
    return next(shown for shown, last in _shorter(text, whole, tokens) if estimate(shown) <= tokens or last)


def _shorter(text: str, whole: int, tokens: int) -> Iterator[tuple[str, bool]]:
    """The text, of `whole` tokens, without its middle: about `tokens` long, then ever shorter; True with the last."""
    keep = len(text) * max(tokens - 30, 1) / whole
    while True:
        head, tail = text[: int(keep * 2 / 3)], text[len(text) - int(keep / 3) :]
        gone = len(text) - len(head) - len(tail)
        told = f"{gone:,} characters, about {_round(whole * gone // len(text))} tokens"
        yield f"{head}\n[… {told}, are missing here …]\n{tail}", keep < 30
        keep *= 0.9


def _round(tokens: int) -> str:
    """Two digits are true of an estimate."""
    unit = 10 ** max(len(str(tokens)) - 2, 0)
    return f"{tokens // unit * unit:,}"


def _clip(entries: Sequence[_Entry], budget: int) -> list[_Entry]:
    """Each entry no longer than the budget allows where all share it: a person's messages get three quarters first."""
    said = [entry.cost + _MARKER for entry in entries if entry.item.role == "user"]
    room = budget * 3 // 4
    most = max(_level(said, room) - _MARKER, SAID) if sum(said) > room else budget
    short = [entry.clip(most) if entry.item.role == "user" else entry for entry in entries]
    rest = budget - sum(entry.cost + _MARKER + _HEADER for entry in short if entry.item.role == "user")
    others = [entry.cost + _HEADER for entry in entries if entry.item.role != "user"]
    most = max(_level(others, max(rest, 0)) - _HEADER, min(CLIPPED, max(rest, 0) // 6), 60)
    return [entry if entry.item.role == "user" else entry.clip(most) for entry in short]


def _level(sizes: Sequence[int], room: int) -> int:
    """The highest level to which all sizes can be cut down so that their sum is within `room`."""
    rest, left = room, len(sizes)
    for size in sorted(sizes):
        if size * left > rest:
            break
        rest, left = rest - size, left - 1
    return rest // max(left, 1)


def _choose(entries: Sequence[_Entry], budget: int) -> set[int]:
    """The places that are shown: a person's messages wherever they stand, then both ends, until the budget is spent."""
    kept: set[int] = set()
    seen: set[int] = set()
    left = budget
    said = [place for place, entry in enumerate(entries) if entry.item.role == "user"]
    others = [place for place, entry in enumerate(entries) if entry.item.role != "user"]
    for places, marker in ((said, _MARKER), (others, 0)):
        for place in _from_both_ends(places):
            entry = entries[place]
            left -= entry.cost + marker + (0 if entry.segment in seen else _HEADER)
            if left < 0:
                break
            kept.add(place)
            seen.add(entry.segment)
        if left < 0:
            break
    return kept


def _from_both_ends(places: Sequence[int]) -> Iterator[int]:
    """The last, the first, the last but one, the second…"""
    for step in range((len(places) + 1) // 2):
        yield places[-1 - step]
        if step != len(places) - 1 - step:
            yield places[step]


def _lines(rollout: Rollout, entries: Sequence[_Entry], shown: Sequence[_Entry | None]) -> Iterator[str]:
    """The lines of all runs; `shown` has None for each entry that is left out, and a run that loses all has no line."""
    whole = shown is entries
    gone: list[_Entry] = []
    place = 0
    for number, segment in enumerate(rollout.segments, 1):
        headed = False
        if whole and not segment.items:
            yield _header(number, segment)
        for _ in segment.items:
            entry = shown[place]
            if entry is None:
                gone.append(entries[place])
            else:
                if gone:
                    yield _missing(gone)
                    gone = []
                if not headed:
                    yield _header(number, segment)
                    headed = True
                yield entry.block
            place += 1
    if gone:
        yield _missing(gone)


def _header(number: int, segment: Segment) -> str:
    agent = f", agent {' '.join(segment.agent.split())[:80]}" if segment.agent else ""
    return f"== run s{number}: {segment.updated_at}, {segment.terminal_state}{agent}"


def _missing(gone: Sequence[_Entry]) -> str:
    roles = Counter(entry.item.role for entry in gone)
    kinds = ", ".join(f"{count:,} {_NAMES.get(role, role)}" for role, count in roles.most_common())
    runs = f", runs s{gone[0].segment} to s{gone[-1].segment}" if gone[0].segment != gone[-1].segment else ""
    many = "1 item is" if len(gone) == 1 else f"{len(gone):,} items are"
    return f"[… {many} missing here{runs}: {kinds}; about {_round(sum(entry.cost for entry in gone))} tokens …]"
