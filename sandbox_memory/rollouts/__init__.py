"""Reading rollouts: the lines of `sessions/<stem>.jsonl` as segments, each rendered once into the text of its items."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..governance.redaction import redact_value
from ..records import Item, Rollout, Segment, Trust
from .names import file_name, slug
from .pastes import pasted
from .rendering import excluded, listed, message_text, render, says
from .trust import MEMORY, first_request, is_document, others_words, pieces, trust_of

__all__ = [
    "MEMORY",
    "by_sdk",
    "excluded",
    "file_name",
    "first_request",
    "is_document",
    "last_id",
    "listed",
    "message_text",
    "others_words",
    "parse_rollout",
    "pasted",
    "payloads",
    "pieces",
    "render",
    "says",
    "segment_id",
    "slug",
    "trust_of",
]


def segment_id(line: bytes, occurrence: int = 1) -> str:
    """The id of a line that holds none: 12 hex digits of its SHA-256, and `-2`, `-3`… where the line stands again."""
    digest = hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:12]
    return digest if occurrence == 1 else f"{digest}-{occurrence}"


def payloads(data: bytes) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    """The whole lines of a rollout file: number from 1, bytes, and the object, or None for what is no rollout line.

    Blank lines and a last line without its line end are left out. Bytes that are no UTF-8 are replaced.
    """
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        if not line.strip():
            continue
        try:
            payload = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            payload = None
        whole = isinstance(payload, dict) and any(
            isinstance(payload.get(key), kind) for key, kind in (("input", (list, str)), ("generated_items", list))
        )
        yield number, line, payload if whole else None


def by_sdk(data: bytes) -> bool:
    """True if the SDK's own memory began the rollout file with these first bytes: its lines name no segment."""
    first = next((payload for _, _, payload in payloads(data) if payload is not None), None)
    return first is not None and _own_id(first) is None


def last_id(data: bytes) -> str:
    """The id of the last run in these rollout lines that has one of its own; empty if none has."""
    ids = [_own_id(payload) for _, _, payload in payloads(data) if payload is not None]
    return next((id for id in reversed(ids) if id), "")


def parse_rollout(
    data: bytes,
    *,
    rollout_id: str,
    path: str,
    start: int = 0,
    first_line: int = 1,
    memories_dir: str = "memories",
    seen: Mapping[str, int] | None = None,
) -> Rollout:
    """The segments of a rollout file whose bytes from `start` on are `data`; `first_line` numbers its first line.

    Only whole lines are read, and each is redacted: one that we wrote was already, one that calls itself ours may be
    somebody's. What is no rollout line counts as torn. A line without `segment` is not ours: `seen` tells how often
    lines of its id stand before `start`. A segment that was written twice, because its writer could not know that the
    first time had worked, is read once.
    """
    end = data.rfind(b"\n") + 1
    segments: list[Segment] = []
    known: set[str] = set()
    torn = 0
    counts = dict(seen or {})
    for number, line, found in payloads(data[:end]):
        if found is None:
            torn += 1
            continue
        id = _own_id(found)
        if id is None:
            digest = segment_id(line)
            counts[digest] = counts.get(digest, 0) + 1
            id = segment_id(line, counts[digest])
        if id in known:
            continue
        known.add(id)
        payload = redact_value(found)
        segments.append(_segment(payload, id, rollout_id, first_line + number - 1, memories_dir))
    return Rollout(rollout_id, path, tuple(segments), start, start + end, torn)


def _delegated(item: Item) -> Item:
    """What stands as the user's in a run that another agent asked for: that agent's word."""
    return replace(item, role="assistant", label="calling agent", trust=Trust.AGENT)


def _own_id(payload: Mapping[str, Any]) -> str | None:
    id = payload.get("segment")
    return id if isinstance(id, str) and id else None


def _segment(payload: Mapping[str, Any], id: str, rollout_id: str, line: int, memories_dir: str) -> Segment:
    terminal, agent = payload.get("terminal_metadata"), payload.get("agent")
    ended = terminal.get("terminal_state") if isinstance(terminal, dict) else None
    items = render(payload, memories_dir=memories_dir)
    if payload.get("nested"):
        items = tuple(_delegated(item) if item.role == "user" else item for item in items)
    return Segment(
        id=id,
        rollout_id=rollout_id,
        updated_at=str(payload.get("updated_at") or "unknown"),
        items=items,
        terminal_state=str(ended or "unknown"),
        agent=agent if isinstance(agent, str) else None,
        line=line,
        interrupted=bool(payload.get("interruptions")),
    )
