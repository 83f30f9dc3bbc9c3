"""Segment: a finished run as one line of a rollout, redacted, with what the rollout holds already left out."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from ..governance.redaction import redact_value
from ..rollouts import excluded, payloads

_PASSING = frozenset({"id", "status", "provider_data", "annotations", "logprobs"})
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
) -> bytes:
    """The line of `sessions/<stem>.jsonl` for one run: UTF-8 JSON with the SDK's keys in its order, and two of ours.

    Any value is accepted; what JSON cannot say is written as text. A final output that is the text of the last message
    is not said twice. Redaction happens here, before the first byte is written.
    """
    kept_input = [item for item in input_items if not excluded(item)]
    kept_generated = [item for item in generated if not excluded(item)]
    line: dict[str, Any] = {
        "updated_at": now.isoformat(),
        "rollout_id": rollout_id,
        "input": kept_input,
        "generated_items": kept_generated,
    }
    if interruptions:
        line["interruptions"] = list(interruptions)
    line["terminal_metadata"] = dict(terminal)
    if final_output is not None and final_output != _last_text(kept_generated):
        line["final_output"] = final_output
    line["segment"] = segment
    if agent is not None:
        line["agent"] = agent
    clean = redact_value(jsonable(line))
    return json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def jsonable(value: Any) -> Any:
    """The value as JSON knows it: models and dataclasses as objects, times in ISO form, what is left as its text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Enum):
        return jsonable(value.value)
    if isinstance(value, BaseModel):
        try:
            return jsonable(value.model_dump(exclude_unset=True))
        except Exception:  # noqa: BLE001 - a model with a broken serializer is still worth its text
            return _text(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name, None)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else _text(jsonable(key)): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((jsonable(entry) for entry in value), key=_text)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, PurePath):
        return value.as_posix()
    return _text(value)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - any object may come, also one that cannot be shown
        return f"<{type(value).__name__}>"


def _last_text(items: Sequence[Mapping[str, Any]]) -> str | None:
    """The text of the last assistant message."""
    for item in reversed(items):
        if item.get("role") != "assistant":
            continue
        content = item.get("content")
        if isinstance(content, str):
            return content
        if isinstance(content, Sequence):
            parts = [part.get("text") for part in content if isinstance(part, Mapping)]
            return "".join(part for part in parts if isinstance(part, str))
    return None


def item_digest(item: Mapping[str, Any]) -> str:
    """What two accounts of one item have in common, as a digest: not its id, its status, or what a provider added."""
    kept = {key: value for key, value in item.items() if key not in _PASSING and value is not None}
    if kept.get("role"):
        kept.pop("type", None)
        kept["content"] = _bare(kept.get("content"))
    text = json.dumps(redact_value(jsonable(kept)), ensure_ascii=False, sort_keys=True)
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


@dataclass(frozen=True)
class History:
    """Digests of what a rollout holds: `made` of what agents did, `open` of all items since an interruption began."""

    made: frozenset[str] = frozenset()
    open: tuple[str, ...] = ()

    def then(self, items: Sequence[Mapping[str, Any]], *, interrupted: bool) -> History:
        """The history after one more segment."""
        kept = [(item_digest(item), item) for item in items if not excluded(item)]
        made = self.made | {digest for digest, item in kept if _made(item)}
        return History(made, (*self.open, *(digest for digest, _ in kept)) if interrupted else ())


def history_of(data: bytes) -> History:
    """The history that these rollout lines, or the last ones of a rollout, tell."""
    history = History()
    for _, _, payload in payloads(data):
        if payload is None:
            continue
        items: list[Mapping[str, Any]] = []
        for key in ("input", "generated_items"):
            value = payload.get(key) or ()
            value = [{"role": "user", "content": value}] if isinstance(value, str) else value
            items += [item for item in value if isinstance(item, Mapping)]
        history = history.then(items, interrupted=bool(payload.get("interruptions")))
    return history


def repeated(
    history: History, inputs: Sequence[Mapping[str, Any]], generated: Sequence[Mapping[str, Any]], *, resumed: bool
) -> frozenset[int]:
    """Positions in `[*inputs, *generated]` of items that the rollout holds already.

    An input list that has grown out of an earlier run has something in it that an agent made then: all up to the last
    such item is old. A resumed run repeats the items of the interrupted one. What a user merely says again is new.
    """
    if resumed:
        left = Counter(history.open)
        found = []
        for position, item in enumerate([*inputs, *generated]):
            digest = item_digest(item)
            if left[digest] > 0:
                left[digest] -= 1
                found.append(position)
        if found:
            return frozenset(found)
    known = [n for n, item in enumerate(inputs) if _made(item) and item_digest(item) in history.made]
    return frozenset(range(known[-1] + 1)) if known else frozenset()


def _made(item: Mapping[str, Any]) -> bool:
    """True for what an agent did or a tool answered."""
    return item.get("role") != "user"
