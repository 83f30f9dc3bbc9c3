"""Memory for agents built with the OpenAI Agents SDK: plain files that an agent writes and a person can edit."""

from __future__ import annotations

from .capability import Memory
from .config import MemoryGenerateConfig, MemoryLayoutConfig, MemoryReadConfig
from .doors.plain import open_memory

__all__ = ["Memory", "MemoryGenerateConfig", "MemoryLayoutConfig", "MemoryReadConfig", "open_memory"]
