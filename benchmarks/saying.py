"""What measurements and tests share of a conversation: its items as a run gives them, and a model that adds all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_memory.models import Answer, ConsolidationDraft, ConsolidationMaterial, DraftOperation, Request
from sandbox_memory.records import RunCapture, Usage

COMPLETED = {
    "terminal_state": "completed",
    "exception_type": None,
    "exception_message": None,
    "has_final_output": True,
}


def answered(text: str) -> dict[str, Any]:
    """A message of the assistant."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def called(name: str, arguments: Mapping[str, Any], output: str) -> list[dict[str, Any]]:
    """A call of a function tool, and its output."""
    return [
        {"type": "function_call", "call_id": "c1", "name": name, "arguments": json.dumps(arguments)},
        {"type": "function_call_output", "call_id": "c1", "output": output},
    ]


def captured(
    said: Sequence[Mapping[str, Any]],
    generated: Sequence[Mapping[str, Any]],
    *,
    rollout: str,
    source: str = "conversation",
    final: str | None = None,
) -> RunCapture:
    """A completed run of these items."""
    return RunCapture(
        rollout_id=rollout,
        source=source,
        input=[dict(item) for item in said],
        generated=[dict(item) for item in generated],
        final_output=final,
        interruptions=[],
        terminal=dict(COMPLETED),
        agent="A",
        resumed=False,
    )


def adding_all(request: Request[Any]) -> Answer[Any]:
    """The answer to a consolidation that adds each candidate as it is."""
    assert isinstance(request.material, ConsolidationMaterial)
    names = [f"c{n}" for n, _ in enumerate(request.material.candidates, 1)]
    adds = [DraftOperation(op="add", candidates=[name]) for name in names]
    return Answer(ConsolidationDraft(operations=adds), Usage(1, 20, 5))
