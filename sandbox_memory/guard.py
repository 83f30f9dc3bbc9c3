"""What an application decides about one memory in code, and no file of a workspace can change."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .config import MemoryPolicy


@dataclass(frozen=True)
class Guard:
    """The rules that stand beside a layout.

    `policy` narrows what may be written. `key` is the host's: what is written is signed with it, if there is one.
    `forgotten` are the receipts of earlier forgettings, to be applied to whatever was restored.
    """

    policy: MemoryPolicy = field(default_factory=MemoryPolicy)
    key: bytes = b""
    forgotten: tuple[Path, ...] = ()
