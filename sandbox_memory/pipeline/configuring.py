"""The configuration of a memory, as the ledger keeps it for a command that has no configuration of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..layout import Layout
from ..state import State
from .settle import Change, Maker, Seen

if TYPE_CHECKING:
    from ..config import MemoryGenerateConfig, MemoryReadConfig


@dataclass(frozen=True)
class Kept:
    """What a ledger says of the configuration that its memory was last used with; None where it says nothing.

    It stands in for a `MemoryGenerateConfig` where no model is called: making one of those loads the whole SDK, which
    takes longer than most commands.
    """

    max_raw_memories_for_consolidation: int | None = None
    capacity: int | None = None


def configured(
    layout: Layout, generate: MemoryGenerateConfig | Kept | None, read: MemoryReadConfig | None, seen: Seen
) -> Maker:
    """Commits the configuration where the ledger has another; an empty workspace stays empty."""

    def maker(state: State) -> Change:
        if not state.ordinal and not seen.sessions:
            return Change("settings")
        wanted: dict[str, Any] = {"sessions_dir": layout.sessions_dir, "preset": layout.preset.name}
        if layout.shared or "shared" in state.settings:
            wanted["shared"] = layout.shared
        if generate is not None:
            if generate.max_raw_memories_for_consolidation is not None:
                wanted["max_raw_memories"] = generate.max_raw_memories_for_consolidation
            if generate.capacity or state.settings.get("capacity"):
                wanted["capacity"] = generate.capacity or 0
        if read is not None:
            wanted["summary_tokens"] = read.summary_tokens
        differ = {key: value for key, value in wanted.items() if state.settings.get(key) != value}
        return Change("settings", settings=differ or None)

    return maker
