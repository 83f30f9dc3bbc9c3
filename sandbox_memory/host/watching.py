"""Takes in what people save while a session is open, as they save it, if its workspace is a folder of this machine."""

from __future__ import annotations

import asyncio
import logging
import weakref
from typing import TYPE_CHECKING

from ..errors import SandboxMemoryError

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..workspace.watching import Watching

logger = logging.getLogger("sandbox_memory")

MOST = 32
"""Sessions of this process that are watched at once: each takes two threads, and a watch of the system's.

In the others an edit is taken in when the next run begins, and at the close.
"""
_open: weakref.WeakSet[SessionWatch] = weakref.WeakSet()


class SessionWatch:
    """Watches one pipeline from `begin` to `end`; while an agent's session is open, an edit counts as the agent's."""

    def __init__(self, pipeline: Pipeline) -> None:
        # The thread must not keep a session alive that nobody closes.
        self._pipeline, self._layout = weakref.ref(pipeline), pipeline.layout
        self._watching: Watching | None = None
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Begin to watch, if the workspace is a folder of this machine, and not too many are watched already."""
        pipeline = self._pipeline()
        if pipeline is None or pipeline.store.root is None:
            return
        for left in [each for each in _open if each.left_open]:
            left.drop()
        if len(_open) >= MOST:
            return
        _open.add(self)
        await asyncio.to_thread(self._start, pipeline)

    def _start(self, pipeline: Pipeline) -> None:
        from ..pipeline.saving import watched  # brings watchdog along

        self._watching = watched(pipeline, self._saved)
        self._watching.start()
        weakref.finalize(pipeline, self._watching.end)

    @property
    def left_open(self) -> bool:
        """True if nobody can close its session any more: the loop that it lived in is closed."""
        return self._loop.is_closed()

    def drop(self) -> None:
        """Watch no more, without waiting for anything."""
        _open.discard(self)
        if self._watching is not None:
            self._watching.end()

    async def end(self) -> None:
        """Watch no more, once `begin` is done; what is being taken in is waited for."""
        _open.discard(self)
        if self._watching is not None:
            await asyncio.to_thread(self._watching.stop)
            self._watching = None
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _saved(self, paths: frozenset[str]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._begin_taking_in, paths)
        except RuntimeError:  # the loop is closed: the session was left open
            if self._watching is not None:
                self._watching.stop()

    def _begin_taking_in(self, paths: frozenset[str]) -> None:
        task = self._loop.create_task(self._take_in(paths))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take_in(self, paths: frozenset[str]) -> None:
        from ..pipeline import saving

        pipeline = self._pipeline()
        if pipeline is None:
            return
        try:
            done = await saving.take_in(pipeline, paths, live=True)
        except (SandboxMemoryError, OSError) as error:
            logger.warning("memory of %s: what was saved was not taken in yet: %s", self._layout.memories_dir, error)
            return
        for line in filter(None, (saving.told(done), *done.said)):
            names = ", ".join(sorted(path.rsplit("/", 1)[-1] for path in paths))
            logger.info("memory of %s: %s was saved: %s", self._layout.memories_dir, names, line)
