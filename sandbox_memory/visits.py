"""Sessions that are open, noted where their agents have no business: what an agent edits is not by hand.

A visit is an empty file in this user's state folder; the mark that a session leaves in the workspace can be removed by
its agent, and a session that only reads leaves none. A visit stays after the session, or its process, until the next
process that takes edits in has taken in those that were made meanwhile. Only workspaces that are a folder of this
machine have visits.
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
        anchoring.private(folder)
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


def drop(root: Path, memories_dir: str, name: str) -> None:
    """The session is over, and what it left behind has been seen."""
    with suppress(OSError):
        (_folder(root, memories_dir) / name).unlink()


def found(root: Path, memories_dir: str) -> list[str]:
    """The names of the visits whose edits nobody has taken in yet, those of open sessions included."""
    try:
        return sorted(path.name for path in _folder(root, memories_dir).iterdir())
    except OSError:
        return []


def elsewhere(name: str) -> bool:
    """True if that is an open session's of another process."""
    pid = name.partition(".")[0]
    return not name.startswith(ENDED) and pid != str(os.getpid()) and _runs(pid)


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


class Visit:
    """The visit of one process to the memory in one folder; without a folder (None) it notes nothing."""

    def __init__(self, root: Path | None, memories_dir: str) -> None:
        self.root, self.memories_dir, self.name = root, memories_dir, ""

    def begin(self) -> None:
        """Note that a session opens, once."""
        if self.root is not None and not self.name:
            self.name = begin(self.root, self.memories_dir)

    def leave(self) -> None:
        """Note that it is over, and that its last edits have yet to be taken in."""
        if self.root is not None and self.name:
            end(self.root, self.memories_dir, self.name)
            self.name = ""

    def left(self) -> None:
        """Note that it is over, and that all that it left behind has been seen."""
        if self.root is not None and self.name:
            drop(self.root, self.memories_dir, self.name)
            self.name = ""

    def all(self) -> list[str]:
        """The names of the visits to that memory whose edits nobody has taken in yet, this one included."""
        return found(self.root, self.memories_dir) if self.root is not None else []

    def taken_in(self, names: Iterable[str]) -> None:
        """The edits made during these visits have been taken in."""
        if self.root is not None:
            clear(self.root, self.memories_dir, names)
