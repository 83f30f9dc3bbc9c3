"""The host's key on the command line: from a file or the environment, never as a word of the command; and `vouch`."""

from __future__ import annotations

import os
from contextvars import ContextVar
from pathlib import Path

from .places import Misuse

KEY, KEY_FILE = "SANDBOX_MEMORY_KEY", "SANDBOX_MEMORY_KEY_FILE"
CHOSEN: ContextVar[Path | None] = ContextVar("sandbox_memory_key_file", default=None)
"""The file that `--key-file` names."""


def key() -> bytes | None:
    """The key that this command is given: `--key-file`, else the variables for a file or the key itself.

    A line end after the key is no part of it. Raises `Misuse` for a file that cannot be read or is empty.
    """
    named = os.environ.get(KEY_FILE)
    path = CHOSEN.get() or (Path(named) if named else None)
    if path is None:
        return os.environb.get(KEY.encode()) or None if hasattr(os, "environb") else None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Misuse(f"the key file {path} cannot be read: {error.strerror or error}") from error
    if not data.strip():
        raise Misuse(f"the key file {path} is empty")
    return data.removesuffix(b"\n").removesuffix(b"\r")
