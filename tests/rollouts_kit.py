"""Small rollouts for tests, made of lines such as ("user", "I prefer tabs.")."""

from __future__ import annotations

from sandbox_memory.layout import Layout
from sandbox_memory.records import Item, Rollout, Segment, Trust

TRUST = {"user": Trust.USER, "assistant": Trust.AGENT, "call": Trust.AGENT, "output": Trust.OBSERVED}
DEFAULT = Layout.of("memories", "sessions")
CODING = Layout.of("memories/coding", "sessions/coding", "coding")
GTM = Layout.of("memories/gtm", "sessions/gtm", "gtm")


def segment(*said: tuple[str, str], id: str = "seg1", rollout_id: str = "r1", tool: str = "exec_command") -> Segment:
    """A run of these (role, text) pairs; a call's text is its arguments, as `rollouts.render` would have it."""
    items = []
    for index, (role, text) in enumerate(said):
        name = tool if role in ("call", "output") else "memory" if role == "memory" else role
        kind = "output" if role == "memory" else role
        items.append(Item(index, kind, name, f"{name}\n{text}" if role == "call" else text, TRUST[kind]))
    return Segment(id, rollout_id, "2026-09-01T09:00:00+00:00", tuple(items), "completed")


def rollout(*segments: Segment, id: str = "r1", end: int = 100) -> Rollout:
    return Rollout(id, f"sessions/{id}.jsonl", segments, 0, end)


def talk(*said: tuple[str, str], id: str = "r1", tool: str = "exec_command") -> Rollout:
    """A rollout of one run."""
    return rollout(segment(*said, rollout_id=id, tool=tool), id=id)
