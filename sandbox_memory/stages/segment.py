"""Segment: a finished run as one line of a rollout, redacted, with what the rollout holds already left out."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from ..governance.redaction import redact_value, untagged
from ..rollouts import excluded, listed, message_text, payloads, says

logger = logging.getLogger(__name__)

DEPTH = 100
"""Levels of nesting that are kept as JSON; what lies deeper, or goes round in a circle, is kept as text."""
REMEMBERED = 4_000
"""Items that a history goes back."""
TRIES = 50
"""Places at which an item that is known many times is tried, the last ones first."""

_PASSING = frozenset(
    "id status provider_data provider_specific_fields annotations logprobs created_by caller namespace phase".split()
)
"""Keys that may differ between two accounts of one item."""


def build_line(
    *,
    rollout_id: str,
    input_items: Sequence[Mapping[str, Any]],
    generated: Sequence[Mapping[str, Any]],
    terminal: Mapping[str, Any],
    final_output: object = None,
    interruptions: Sequence[object] = (),
    agent: str | None,
    now: datetime,
    segment: str,
    nested: bool = False,
    salt: bytes = b"",
) -> bytes:
    """The line of `sessions/<stem>.jsonl` for one run: UTF-8 JSON with the SDK's keys in its order, and ours.

    Any value is accepted; what JSON cannot say is written as text. A final output that the last message says is not
    said twice. Redaction happens here, before the first byte is written; `salt` is for the tags of its placeholders.
    """
    kept = jsonable([item for item in generated if not excluded(item)])
    line: dict[str, Any] = {
        "updated_at": now.isoformat(),
        "rollout_id": rollout_id,
        "input": [item for item in input_items if not excluded(item)],
        "generated_items": kept,
    }
    if interruptions:
        line["interruptions"] = list(interruptions)
    line["terminal_metadata"] = dict(terminal)
    final = jsonable(final_output)
    if final is not None and not _said(kept, final):
        line["final_output"] = final
    line["segment"] = segment
    if agent is not None:
        line["agent"] = agent
    if nested:
        line["nested"] = True
    clean = redact_value(jsonable(line), salt)
    # A lone surrogate becomes its JSON escape, which is what `backslashreplace` writes.
    return json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def jsonable(value: Any) -> Any:
    """The value as JSON knows it: models and dataclasses as objects, times in ISO form, what is left as its text."""
    return _jsonable(value, 0)


def _jsonable(value: Any, depth: int) -> Any:
    if isinstance(value, Enum):
        return _jsonable(value.value, depth)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 4096 else hex(value)  # Python refuses to print longer ones
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if depth >= DEPTH:
        return _text(value)
    below = depth + 1
    if isinstance(value, BaseModel):
        return _jsonable(_dumped(value), below)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _jsonable(getattr(value, field.name, None), below) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else _text(_jsonable(key, below)): _jsonable(entry, below)
            for key, entry in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_jsonable(entry, below) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_jsonable(entry, below) for entry in value), key=_text)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, PurePath):
        return value.as_posix()
    return _text(value)


def _dumped(model: BaseModel) -> Any:
    """A model's fields; of the SDK's own items only those that were set, which is how they are sent back to a model."""
    try:
        return model.model_dump(exclude_unset=type(model).__module__.partition(".")[0] in ("openai", "agents"))
    except Exception as error:
        # A model with a broken serializer is still worth its text.
        logger.debug("serializing a %s failed", type(model).__name__, exc_info=error)
        return _text(model)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:
        # Any object may come, also one that cannot be shown.
        logger.debug("showing a %s failed", type(value).__name__, exc_info=error)
        return f"<{type(value).__name__}>"


def _said(items: Sequence[Mapping[str, Any]], final: object) -> bool:
    """True if the last assistant message of these items is the final output."""
    content = next((item.get("content") for item in reversed(items) if item.get("role") == "assistant"), None)
    if content is None:
        return False
    last = content[-1:] if isinstance(content, list) else content
    return any(says(text, final) for text in (message_text(content, ""), message_text(content), message_text(last)))


def item_digest(item: Mapping[str, Any], salt: bytes = b"") -> str:
    """What two accounts of one item have in common, as a digest: not its id, its status, or what a provider added.

    An item that was redacted has the digest that it had before, whatever `salt` its placeholders have their tags from.
    """
    if item.get("role"):
        kept = {"role": item["role"], "content": _bare(item.get("content"))}
        kept |= {key: item[key] for key in ("tool_calls", "tool_call_id") if item.get(key)}
    else:
        kept = {key: value for key, value in item.items() if key not in _PASSING and value is not None}
    text = untagged(json.dumps(redact_value(jsonable(kept), salt), ensure_ascii=False, sort_keys=True))
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
    """What `History` and `repeated` know each item by; the `salt` that it is written with saves redacting it twice."""
    return [_mark(item, salt) for item in items]


def _mark(item: Mapping[str, Any], salt: bytes) -> str:
    """The digest of an item, and whether a user said it or an agent made it; empty for one that memory leaves out."""
    if excluded(item):
        return ""
    return ("u" if item.get("role") == "user" else "a") + item_digest(item, salt)


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
    before which a user said nothing that the rollout does not hold in the same order. A resumed run repeats the
    interrupted one, generated items included. What a user merely says again is new.
    """
    old = _grown(history, marks[:inputs])
    if not resumed:
        return frozenset(range(old))
    old = max(old, _resumed(history, marks, inputs))
    left = Counter(history.open)
    left.subtract(marks[:old])
    found = set(range(old))
    for position, mark in enumerate(marks[old:], old):
        if left[mark] > 0:
            left[mark] -= 1
            found.add(position)
    return frozenset(found)


def _grown(history: History, marks: Sequence[str]) -> int:
    """How many leading items of an input list repeat what is known, up to any point of it."""
    known = history.items
    if set(marks).isdisjoint(known):
        return 0
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
                return count
    return 0


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
