"""What the offline model makes of a rollout, for tests."""

from __future__ import annotations

import asyncio

from sandbox_memory.layout import Layout
from sandbox_memory.models import Answer, ExtractionDraft
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.records import Kind, RawMemory, Rollout
from sandbox_memory.stages import extraction

from .rollouts_kit import DEFAULT, talk


def extracted(said: Rollout, layout: Layout = DEFAULT) -> RawMemory:
    """What it extracts, all of which must hold."""
    request = extraction.request(said, previous="", layout=layout, extra_prompt=None)
    answer: Answer[ExtractionDraft] = asyncio.run(OfflineModel().answer(request))
    raw = extraction.verify(answer.value, said, layout=layout)
    assert raw.refused == (), "what it proposes holds"
    return raw


def texts(said: Rollout, *kinds: Kind, layout: Layout = DEFAULT) -> list[str]:
    """The texts of what it extracts, of these kinds or of all."""
    return [c.text for c in extracted(said, layout).candidates if not kinds or c.kind in kinds]


def said_by_user(*messages: str, layout: Layout = DEFAULT) -> list[str]:
    return texts(talk(*[("user", message) for message in messages]), layout=layout)
