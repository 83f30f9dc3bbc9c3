"""A history that was lost is told by every command that opens the memory, until it is back or somebody vouches."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ...errors import HistoryLost
from .places import here
from .screen import complain

if TYPE_CHECKING:
    from ..plain import OpenMemory
    from .helped import Held

ADVICE = (
    "until that is settled nothing is taken in or written. Put the whole folder back from a copy (git, a snapshot), if "
    "you have one; `sandbox-memory vouch` says that what stands there counts. `sandbox-memory check` tells more"
)
SEEN: ContextVar[dict[str, tuple[str, int]]] = ContextVar("sandbox_memory_lost", default={})  # noqa: B039 - set before use
"""What was lost of each memory when the command opened it, by its folder."""


def look(memory: OpenMemory) -> None:
    """Note whether the history of that memory is lost, before a command takes over what stands there."""
    from ...trusting.reporting import lost_history

    root, layout = memory.pipeline.store.root, memory.layout
    if root is not None and layout.memories_dir not in SEEN.get():
        SEEN.get()[layout.memories_dir] = lost_history(root, layout)


def tell(memories: list[OpenMemory], held: Held) -> None:
    """Tell of each memory whose history is lost, in one line; what was noted of it meanwhile is part of that."""
    from ...trusting.reporting import still_lost
    from ...trusting.witness import Head

    if isinstance(getattr(sys.exc_info()[1], "__cause__", None), HistoryLost):
        held.told(*(memory.layout.ledger for memory in memories))  # the error that ends the command says it
        return
    for memory in {memory.layout.memories_dir: memory for memory in memories}.values():
        store, layout = memory.pipeline.store, memory.layout
        what, commits = SEEN.get().get(layout.memories_dir, ("", 0))
        known = still_lost(layout, store.witness, store.ledger) if len(store.ledger) else ""
        if what and commits and len(store.ledger) and not known:
            store.witness.missed(Head(commits), store.ledger, anew=False)
        if what or known:
            held.told(layout.ledger)
            complain("warning", here(f"{what or known}: {ADVICE}"))
