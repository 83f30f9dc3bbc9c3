"""The application behind the page, and the server that serves it to this machine alone."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from . import actions, forgetting, live, past, undoing, views
from .bookcase import Bookcase
from .page import Page as _Page
from .page import View, failure, shown
from .security import Guarded

STATIC = Path(__file__).parent / "static"
HOST = "127.0.0.1"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def create_app(bookcase: Bookcase, *, token: str, port: Callable[[], int]) -> Guarded:
    """The page of these memories, under the path `/<token>/`; see `security` for what is let through."""

    @asynccontextmanager
    async def watching(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            app.state.live.stop()

    def get(path: str, view: View) -> Route:
        return Route(path, shown(view), methods=["GET"])

    def post(path: str, view: View) -> Route:
        return Route(path, shown(view), methods=["POST"])

    routes = [
        get("/", views.first),
        post("/prefs", actions.prefer),
        Route("/static/{name}", _static, methods=["GET"]),
        get("/{key}/", views.memory),
        post("/{key}/lines", actions.add),
        get("/{key}/line/{id}", views.line),
        post("/{key}/line/{id}", actions.change),
        get("/{key}/line/{id}/forget", forgetting.look),
        post("/{key}/line/{id}/forget", forgetting.forget),
        get("/{key}/line/{id}/forgotten", forgetting.outcome),
        get("/{key}/gone", views.gone),
        get("/{key}/told", views.told),
        get("/{key}/inbox", views.inbox),
        post("/{key}/inbox/{id}", actions.answer),
        get("/{key}/history", past.history),
        get("/{key}/history/{number:int}", past.commit),
        get("/{key}/history/{number:int}/undo", undoing.look),
        post("/{key}/history/{number:int}/undo", undoing.undo),
        get("/{key}/undo", undoing.look),
        post("/{key}/undo", undoing.undo),
        get("/{key}/compare", past.compare),
        get("/{key}/then", past.then),
        get("/{key}/conversation/{stem}", views.conversation),
        get("/{key}/work", views.work),
        get("/{key}/check", views.check),
        get("/{key}/figures", views.numbers),
        Route("/{key}/events", live.events, methods=["GET"]),
        get("/{key}/{rest:path}", _nothing),
        get("/{rest:path}", _nothing),
    ]
    app = Starlette(routes=routes, lifespan=watching)
    app.state.bookcase, app.state.token, app.state.live = bookcase, token, live.Live(bookcase)
    return Guarded(app, token, port)


def _static(request: Request) -> Response:
    path = STATIC / str(request.path_params["name"])
    if path.parent != STATIC or path.suffix not in _KINDS or not path.is_file():
        return Response(status_code=404)
    return FileResponse(path, media_type=_KINDS[path.suffix], headers={"cache-control": "max-age=3600"})


def _nothing(page: _Page) -> Response:
    return failure(page, page.words("no-such-page"), 404)


def listening(port: int) -> socket.socket:
    """A socket on the loopback address alone; port 0 takes any that is free. Raises `OSError` for one that is taken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError:
        found.close()
        raise
    return found


def server(bookcase: Bookcase, at: socket.socket, token: str, ready: Callable[[str], None]) -> uvicorn.Server:
    """Serves on that socket once it is run; `ready` is told the address when pages are answered."""
    port = int(at.getsockname()[1])
    app = create_app(bookcase, token=token, port=lambda: port)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready(f"http://{HOST}:{port}/{token}/")

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.app.state.live.closing = True  # else it would wait for pages that are open
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=2, server_header=False, ws="none"
    )
    return Server(config)
