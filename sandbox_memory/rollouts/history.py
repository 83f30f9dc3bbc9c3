"""What a rollout holds, by digests, and what of a run it holds already."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..governance.redaction import redact_value, untagged
from . import payloads
from .rendering import excluded, listed
from .retelling import Mark, aligned, bare
from .values import jsonable

REMEMBERED = 4_000
"""Items that a history goes back."""
TRIES = 50
"""Places at which an item that is known many times is tried, the last ones first."""

_PASSING = frozenset(
    "id status provider_data provider_specific_fields annotations logprobs created_by caller namespace phase".split()
)
"""Keys that may differ between two accounts of one item."""


def item_digest(item: Mapping[str, Any], salt: bytes = b"", known: dict[str, str] | None = None) -> str:
    """What two accounts of one item have in common, as a digest: not its id, its status, or what a provider added.

    An item that was redacted has the digest that it had before, whatever `salt` its placeholders have their tags from.
    """
    if item.get("role"):
        kept = {"role": item["role"], "content": _bare(item.get("content"))}
        kept |= {key: item[key] for key in ("tool_calls", "tool_call_id") if item.get(key)}
    else:
        kept = {key: value for key, value in item.items() if key not in _PASSING and value is not None}
    text = untagged(json.dumps(redact_value(jsonable(kept), salt, known), ensure_ascii=False, sort_keys=True))
    return _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _bare(content: Any) -> Any:
    """A message's content; a lone text part is the same as its text."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        parts = [
            part["text"] if isinstance(part, Mapping) and isinstance(part.get("text"), str) else part
            for part in content
        ]
        return parts[0] if len(parts) == 1 else parts
    return content


def marks(items: Iterable[Mapping[str, Any]], salt: bytes = b"") -> list[str]:
    """What `History` and `repeated` know each item by; the `salt` that it is written with saves redacting it twice.

    The items are redacted as one, as they are written: a secret that one of them names may be said in another.
    """
    known: dict[str, str] = {}
    items = list(items)
    found = [_mark(item, salt, known) for item in items]
    return [_mark(item, salt, known) for item in items] if known else found


def _mark(item: Mapping[str, Any], salt: bytes, known: dict[str, str]) -> str:
    """The digest of an item, and whether a user said it or an agent made it; empty for one that memory leaves out.

    A user's message is known by its words alone.
    """
    if excluded(item):
        return ""
    if item.get("role") != "user":
        return "a" + item_digest(item, salt, known)
    content = redact_value(jsonable(item.get("content")), salt, known)
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    said = bare(untagged("\n".join(text for text in texts if isinstance(text, str))))
    return Mark("u" + _digest(" ".join(said)), said) if said else "u" + item_digest(item, salt, known)


@dataclass(frozen=True)
class History:
    """What a rollout holds: `items` in order, and of them `open` since an interruption began.

    Both are digests with a letter before them that tells users' items from agents'. `whole` is False if the rollout may
    hold more before them.
    """

    items: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    whole: bool = True

    def then(self, marks: Iterable[str], *, interrupted: bool) -> History:
        """The history after one more segment, given the `marks` of its items."""
        new = tuple(mark for mark in marks if mark)
        known = self.items + new
        opened = self.open + new if interrupted else ()
        return History(known[-REMEMBERED:], opened, self.whole and len(known) <= REMEMBERED)


def history_of(data: bytes) -> History:
    """The history that these rollout lines tell: all of a rollout, or the last ones after a line that is cut off."""
    history: History | None = None
    for _, _, payload in payloads(data):
        if payload is None:
            history = history or History(whole=False)
            continue
        items = [*listed(payload.get("input")), *listed(payload.get("generated_items"))]
        items = [item for item in items if isinstance(item, Mapping)]
        history = (history or History()).then(marks(items), interrupted=bool(payload.get("interruptions")))
    return history or History()


def repeated(history: History, marks: Sequence[str], inputs: int, *, resumed: bool) -> frozenset[int]:
    """Positions of items that the rollout holds already, given the `marks` of a run's items, `inputs` of them input.

    An input list that has grown out of earlier runs begins with their items: it is old up to the last item of an agent
    before which a user said nothing that the rollout does not hold in the same order. Where an application tells the
    conversation in its own words, the messages of users that the rollout holds are old, and so is what it tells in the
    place of their answers. A resumed run repeats the interrupted one, generated items included. What a user merely
    says again is new.
    """
    grown, end = _grown(history, marks[:inputs])
    if not resumed:
        told = _retold(history.items, marks[:inputs], whole=history.whole) if grown < inputs - 1 else set()
        rest = _retold(history.items[end:], marks[grown:inputs], whole=True) if 0 < grown < inputs - 1 else set()
        grew = {*range(grown), *(grown + place for place in rest)}
        return frozenset(told if len(told) > len(grew) else grew)
    old = max(grown, _resumed(history, marks, inputs))
    left = Counter(history.open)
    left.subtract(marks[:old])
    found = set(range(old))
    for position, mark in enumerate(marks[old:], old):
        if left[mark] > 0:
            left[mark] -= 1
            found.add(position)
    return frozenset(found)


def _grown(history: History, marks: Sequence[str]) -> tuple[int, int]:
    """How many leading items of an input list repeat what is known, up to any point of it, and that point."""
    known = history.items
    if set(marks).isdisjoint(known):
        return 0, 0
    places: dict[str, list[int]] = {}
    for place, mark in enumerate(known, 1):
        places.setdefault(mark, []).append(place)
    for count in range(len(marks), 0, -1):
        ends = places.get(marks[count - 1], ())
        if marks[count - 1].startswith("u"):
            # A user's message at the end is old only where it is the last that was recorded: a run is tried again.
            ends = [end for end in ends if end == len(known)]
        for end in reversed(ends[-TRIES:]):
            lined = _line_up(known[:end], marks[:count], strict_from=count)
            if lined.agents and (not lined.users_left or (not history.whole and lined.convinces(end == len(known)))):
                return count, end
    return 0, 0


def _resumed(history: History, marks: Sequence[str], inputs: int) -> int:
    """How many leading items repeat all that is known up to the interruption; of generated ones all must be known."""
    for count in range(len(marks), 0, -1):
        if history.items and marks[count - 1] == history.items[-1]:
            lined = _line_up(history.items, marks[:count], strict_from=inputs)
            if not lined.broken and not lined.users_left:
                return count
    return 0


@dataclass(frozen=True)
class _Lined:
    """How far a list lines up with what is known, both read backwards: matches by kind, and whether users' items of
    the list are left over because what is known begins later."""

    users: int
    agents: int
    users_left: bool
    broken: bool = False

    def convinces(self, to_the_end: bool) -> bool:
        """Whether so much fits that what is left over must be what came before."""
        return to_the_end or (self.users > 0 and self.users + self.agents > 2)


def _line_up(known: Sequence[str], marks: Sequence[str], *, strict_from: int) -> _Lined:
    """Line a list up with what is known, from their ends.

    Users' items must be the same one by one. Of agents' items either side may lack some: an application may keep only
    the texts of a conversation, and the agents of one run may have different memories; but from position `strict_from`
    on the list has nothing that is not known.
    """
    here, there = len(marks) - 1, len(known) - 1
    users = agents = 0
    while here >= 0 and there >= 0:
        mark, other = marks[here], known[there]
        if not mark:
            here -= 1
        elif mark == other:
            users, agents = users + mark.startswith("u"), agents + mark.startswith("a")
            here, there = here - 1, there - 1
        elif mark.startswith("u"):
            if other.startswith("u"):
                return _Lined(users, 0, users_left=True, broken=True)
            there -= 1
        else:
            before = there
            while before >= 0 and known[before].startswith("a") and known[before] != mark:
                before -= 1
            if before >= 0 and known[before] == mark:
                there = before
            elif here >= strict_from:
                return _Lined(users, 0, users_left=True, broken=True)
            else:
                here -= 1
    left = marks[: here + 1]
    broken = any(mark for mark in left[strict_from:])
    return _Lined(users, agents, any(mark.startswith("u") for mark in left), broken)


def _retold(items: Sequence[str], marks: Sequence[str], *, whole: bool) -> set[int]:
    """Positions of an input list that tell again, in whatever words, what is known: a turn is known by its message.

    Of an agent's items between messages that are known those are old that are known, and all of them where one that is
    known is missing: they stand in its place.
    """
    told = [place for place, mark in enumerate(marks) if mark.startswith("u")]
    known = [place for place, mark in enumerate(items) if mark.startswith("u")]
    if not known or len(told) < 2:
        return set()
    asked, answered = told[-1], any(mark.startswith("a") for mark in marks[: told[-1]])
    said, heard = [marks[place] for place in told[:-1]], [items[place] for place in known]
    if not answered:  # only what users said: it is old if it is all of the end
        return set(told[:-1]) if len(set(said)) > 1 and heard[-len(said) :] == said else set()
    pairs = [(known[one], told[two]) for one, two in aligned(heard, said)]
    if not pairs:
        return set()
    first = pairs[0][0] in known[:2] and (len(pairs) > 2 or pairs[-1][0] == known[-1])
    old = set(range(pairs[0][1])) if first and not whole else set()
    old.update(place for _, place in pairs)
    old.update(place for place in told[:-1] if isinstance(mark := marks[place], Mark) and mark.sums_up)
    steps = [(-1, -1), *pairs]
    for (one, two), (next_one, _) in zip(steps, [*steps[1:], (len(items), 0)], strict=True):
        following = (place for place in told if place > two)
        turn = [place for place in range(two + 1, next(following)) if marks[place]]
        left = Counter(items[max(one, 0) : max(next_one, one + 1)])
        fit = {place for place in turn if left[marks[place]] > 0}
        left.subtract(marks[place] for place in turn)
        missing = any(count > 0 and mark.startswith("a") for mark, count in left.items())
        old.update(turn if missing else fit)
    again = pairs[-1][1] == told[-2] and [pairs[-1][0], len(items) - 1] == known[-2:]
    if again and marks[asked] == items[-1]:
        old.add(asked)  # nothing had answered it: the run is tried again
    return old
