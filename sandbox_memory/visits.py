"""Sessions that only read a memory: they write nothing into the workspace, but their agent may, which is not by hand.

A visit is an empty file in this user's state folder. It stays after the session until the next process that takes edits
in has taken in those that were made meanwhile. Only workspaces that are a folder of this machine have visits.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from . import anchoring

logger = logging.getLogger(__name__)

ENDED = "ended"


def begin(root: Path, memories_dir: str) -> str:
    """Note that a session opens there; the visit's name, or an empty text where the state folder cannot be written."""
    name = f"{os.getpid()}.{secrets.token_hex(4)}"
    try:
        folder = _folder(root, memories_dir)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / name).touch(mode=0o600)
    except OSError as error:
        logger.debug("sandbox memory: a session that only reads could not be noted: %s", error)
        return ""
    return name


def end(root: Path, memories_dir: str, name: str) -> None:
    """Note that the session is over."""
    path = _folder(root, memories_dir) / name
    with suppress(OSError):
        path.rename(path.with_name(f"{ENDED}.{name}"))


def found(root: Path, memories_dir: str) -> list[str]:
    """The names of the visits whose edits nobody has taken in yet, those of open sessions included."""
    try:
        return sorted(path.name for path in _folder(root, memories_dir).iterdir())
    except OSError:
        return []


def clear(root: Path, memories_dir: str, names: Iterable[str]) -> None:
    """Their edits have been taken in: drop those of them that are over."""
    for name in names:
        if name.startswith(ENDED) or not _runs(name.partition(".")[0]):
            with suppress(OSError):
                (_folder(root, memories_dir) / name).unlink()


def _runs(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, OSError):
        return False
    return True


def _folder(root: Path, memories_dir: str) -> Path:
    key = hashlib.sha256(f"{root.resolve()}\0{memories_dir}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return anchoring.folder("visits") / key
