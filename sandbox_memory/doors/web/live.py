"""Tells the pages that are open when files of a memory have changed, by server-sent events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...workspace.watching import Watching
from .bookcase import Bookcase
from .snapshot import Shelf, Signature, version_of

ALIVE = 15.0
"""Seconds after which a line is sent although nothing changed, so that a connection that is gone is noticed."""
LOOKED = 0.05
"""Seconds between two looks at whether something was told."""


class Live:
    """Watches the memories that pages are open of."""

    def __init__(self, bookcase: Bookcase) -> None:
        self._bookcase = bookcase
        self._watches: dict[str, tuple[Watching, list[int]]] = {}
        self._lock = threading.Lock()
        self.closing = False

    def changes(self, key: str, shelf: Shelf) -> Callable[[], int]:
        """Counts how often files of that memory were saved; begins to watch it."""
        with self._lock:
            if key not in self._watches and not self.closing:
                layout, count = shelf.layout, [0]

                def saved(paths: frozenset[str]) -> None:
                    count[0] += 1

                files = (layout.ledger, layout.handbook, layout.summary, layout.inbox)
                folders = (layout.memories_dir, layout.sessions_dir)
                watching = Watching(shelf.root, folders, lambda path: path.endswith((".md", ".jsonl")), saved, files)
                watching.start()
                self._watches[key] = (watching, count)
            return lambda: self._watches[key][1][0]

    def stop(self) -> None:
        """End, and let the pages go."""
        with self._lock:
            self.closing = True
            for watching, _ in self._watches.values():
                watching.stop()


async def events(request: Request) -> Response:
    """A line for each time that what a page shows has changed; ends when the page or the server does.

    `since` is the version that the page shows: what changed before its browser asked for events is told at once. A
    browser that asks again says the last version that it was told.
    """
    key = request.path_params["key"]
    shelf = request.app.state.bookcase.shelves().get(key)
    if shelf is None:
        return Response(status_code=404)
    since = request.headers.get("last-event-id") or request.query_params.get("since", "")
    return StreamingResponse(_told(request, key, shelf, since), media_type="text/event-stream")


async def _told(request: Request, key: str, shelf: Shelf, since: str) -> AsyncIterator[bytes]:
    live: Live = request.app.state.live
    changes = await asyncio.to_thread(live.changes, key, shelf)
    seen, known, quiet = changes(), await asyncio.to_thread(shelf.signature), 0.0
    version = version_of(known)
    yield f"retry: 2000\nid: {version}\n\n".encode()
    if since not in ("", version):
        yield _changed(known)
    while not live.closing and not await request.is_disconnected():
        await asyncio.sleep(LOOKED)
        quiet += LOOKED
        if changes() != seen:
            seen = changes()
            now = await asyncio.to_thread(shelf.signature)
            if now != known:
                known, quiet = now, 0.0
                yield _changed(now)
        if quiet >= ALIVE:
            quiet = 0.0
            yield b": alive\n\n"


def _changed(signature: Signature) -> bytes:
    return f"id: {version_of(signature)}\nevent: changed\ndata: 1\n\n".encode()
