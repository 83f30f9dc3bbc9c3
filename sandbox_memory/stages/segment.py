"""Segment: a finished run as one line of a rollout, redacted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..governance.redaction import redact_value
from ..rollouts import excluded, message_text, says
from ..rollouts.values import jsonable


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


def _said(items: Sequence[Mapping[str, Any]], final: object) -> bool:
    """True if the last assistant message of these items is the final output."""
    content = next((item.get("content") for item in reversed(items) if item.get("role") == "assistant"), None)
    if content is None:
        return False
    last = content[-1:] if isinstance(content, list) else content
    return any(says(text, final) for text in (message_text(content, ""), message_text(content), message_text(last)))
