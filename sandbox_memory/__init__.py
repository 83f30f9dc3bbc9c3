"""Memory for agents built with the OpenAI Agents SDK: plain files that an agent writes and a person can edit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .capability import Memory
    from .config import MemoryGenerateConfig, MemoryLayoutConfig, MemoryReadConfig
    from .doors.plain import open_memory
    from .policy import MemoryPolicy
    from .scope import MemoryScope

__all__ = [
    "Memory",
    "MemoryGenerateConfig",
    "MemoryLayoutConfig",
    "MemoryPolicy",
    "MemoryReadConfig",
    "MemoryScope",
    "open_memory",
]

_HOMES = {"Memory": "capability", "MemoryPolicy": "policy", "MemoryScope": "scope", "open_memory": "doors.plain"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the command line's help need not wait for the SDK."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES.get(name, 'config')}", __name__), name)
    globals()[name] = value
    return value
