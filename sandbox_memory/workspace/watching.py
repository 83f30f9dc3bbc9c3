"""Tells when files of a folder of this machine were saved, a moment after the last of the steps that make a save."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from . import is_temporary
from .writers import being_written

logger = logging.getLogger(__name__)

QUIET = 0.15
"""Seconds without a change after which a save is over: editors write, sync, rename and touch in several steps."""
LONGEST = 2.0
"""Seconds after which it is told although changes go on."""
LOOKED = 1.0
"""Seconds between two looks at the files themselves: folders come and go, and some file systems send no events."""
_NO_CHANGE = frozenset(("opened", "closed_no_write"))


def _is_news(record: logging.LogRecord) -> bool:
    """False for what watchdog reports as an error when it is stopped while an event comes in: nothing is amiss then."""
    return "called when the thread is inactive" not in record.getMessage()


logging.getLogger("watchdog.observers.inotify").addFilter(_is_news)

Saved = Callable[[frozenset[str]], None]
"""Called with the paths that were saved, relative to the root, in a thread of its own; an error in it is logged."""


class Watching:
    """Watches `folders` below `root`, which may be missing yet, until `stop`. `wanted` picks the paths that count.

    `files` are paths that are looked at each `LOOKED` seconds as well, so that none of their changes is missed where
    the system sends no events. Nothing is raised where it cannot watch: then only that look is left.
    """

    def __init__(
        self, root: Path, folders: Sequence[str], wanted: Callable[[str], bool], saved: Saved, files: Sequence[str] = ()
    ) -> None:
        self._root, self._folders, self._files = root, tuple(folders), tuple(files)
        self._wanted, self._saved = wanted, saved
        self._changed: set[str] = set()
        self._something = threading.Condition(threading.RLock())
        self._ended = False
        self._observer = Observer()
        self._scheduled: dict[str, tuple[tuple[int, int], Any]] = {}
        self._known = self._look()
        self._thread = threading.Thread(target=self._work, name="sandbox-memory-watch", daemon=True)

    def start(self) -> None:
        """Begin to watch; what is saved from now on is told."""
        with suppress(OSError, RuntimeError):
            self._observer.start()
        self._schedule()
        self._thread.start()

    def stop(self) -> None:
        """End; nothing is told any more when this returns, unless it is called by what is told."""
        self.end()
        with suppress(RuntimeError):
            self._observer.join()
        if self._thread is not threading.current_thread() and self._thread.ident is not None:
            self._thread.join()

    def end(self) -> None:
        """The same without waiting for it."""
        with self._something:
            self._ended = True
            self._something.notify()
        with suppress(RuntimeError):
            self._observer.stop()

    def _work(self) -> None:
        while paths := self._next():
            try:
                self._saved(paths)
            except Exception:
                # A save that could not be taken in now is taken in with the next, or at the next opening.
                logger.exception("sandbox memory: what was saved could not be taken in")

    def _next(self) -> frozenset[str]:
        """The next paths that were saved; none when it ends."""
        while not self._ended:
            with self._something:
                if not self._changed:
                    self._something.wait(LOOKED)
            if not self._changed and not self._ended:
                self._schedule()
                self._note(*self._stirred())
            if self._changed:
                self._settled()
                with self._something:
                    paths, self._changed = frozenset(self._changed), set()
                self._known = self._look()
                if not self._ended:
                    return paths
        return frozenset()

    def _settled(self) -> None:
        """Wait until nothing has been changed for a moment, and no editor has one of the files open to write."""
        until = time.monotonic() + LONGEST
        while not self._ended and time.monotonic() < until:
            before = self._look()
            time.sleep(QUIET)
            if self._look() == before and not any(being_written(self._root / path) for path in before):
                return

    def _look(self) -> Mapping[str, tuple[int, ...]]:
        """What tells whether one of the files has changed: its place on the disk, its size and its time."""
        found = {}
        with self._something:
            paths = {*self._files, *self._changed}
        for path in paths:
            with suppress(OSError):
                status = (self._root / path).stat()
                found[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
        return found

    def _stirred(self) -> list[str]:
        now = self._look()
        return [path for path in self._files if now.get(path) != self._known.get(path)]

    def _note(self, *paths: str) -> None:
        wanted = [path for path in paths if self._wanted(path) and not is_temporary(path.rsplit("/", 1)[-1])]
        if wanted:
            with self._something:
                self._changed.update(wanted)
                self._something.notify()

    def _schedule(self) -> None:
        """Have the system tell of each folder that is there now, also of one that was made anew."""
        for name in self._folders:
            with suppress(OSError):
                status = (self._root / name).stat()
                place = (status.st_dev, status.st_ino)
                known = self._scheduled.get(name)
                if known and known[0] == place:
                    continue
                if known:
                    with suppress(KeyError):
                        self._observer.unschedule(known[1])
                    self._note(*self._files)
                # A system that has no more watches to give raises OSError; the folder is then only looked at.
                watch = self._observer.schedule(_Events(self._root, self._note), str(self._root / name), recursive=True)
                self._scheduled[name] = (place, watch)


class _Events(FileSystemEventHandler):
    def __init__(self, root: Path, note: Callable[..., None]) -> None:
        self._root, self._note = root, note

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _NO_CHANGE or event.is_directory:
            return
        for path in (event.src_path, event.dest_path):
            if path:
                with suppress(ValueError):
                    self._note(Path(os.fsdecode(path)).relative_to(self._root).as_posix())
