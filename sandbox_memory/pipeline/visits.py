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

from ..trusting import anchoring
from .presence import runs

logger = logging.getLogger(__name__)

ENDED = "ended"


class Visit:
    """The visit of one process to the memory in one folder; without a folder (None) it notes nothing."""

    def __init__(self, root: Path | None, memories_dir: str) -> None:
        self.root, self.memories_dir = root, memories_dir
        self.name = ""
        """Its own, while the session is open; empty too where the state folder cannot be written."""

    def begin(self) -> None:
        """Note that a session opens, once."""
        folder, name = self._folder(), f"{os.getpid()}.{secrets.token_hex(4)}"
        if folder is None or self.name:
            return
        try:
            (anchoring.private(folder) / name).touch(mode=0o600)
        except OSError as error:
            logger.debug("sandbox memory: a session that only reads could not be noted: %s", error)
        else:
            self.name = name

    def leave(self) -> None:
        """Note that it is over, and that its last edits have yet to be taken in."""
        if path := self._ending():
            with suppress(OSError):
                path.rename(path.with_name(f"{ENDED}.{path.name}"))

    def left(self) -> None:
        """Note that it is over, and that all that it left behind has been seen."""
        if path := self._ending():
            with suppress(OSError):
                path.unlink()

    def all(self) -> list[str]:
        """The names of the visits to that memory whose edits nobody has taken in yet, this one included."""
        folder = self._folder()
        try:
            return sorted(path.name for path in folder.iterdir()) if folder else []
        except OSError:
            return []

    def taken_in(self, names: Iterable[str]) -> None:
        """The edits made during these visits have been taken in: those of them that are over are dropped."""
        folder = self._folder()
        for name in names:
            if folder and (name.startswith(ENDED) or not runs(_pid(name))):
                with suppress(OSError):
                    (folder / name).unlink()

    def _ending(self) -> Path | None:
        """The file of this visit, if there is one, which has no name any more then."""
        folder, name, self.name = self._folder(), self.name, ""
        return folder / name if folder and name else None

    def _folder(self) -> Path | None:
        if self.root is None:
            return None
        of = f"{self.root.resolve()}\0{self.memories_dir}"
        return anchoring.folder("visits") / hashlib.sha256(of.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def elsewhere(name: str) -> bool:
    """True if that is an open session's of another process."""
    return not name.startswith(ENDED) and _pid(name) != str(os.getpid()) and runs(_pid(name))


def _pid(name: str) -> str:
    return name.partition(".")[0]
