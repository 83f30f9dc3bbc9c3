"""The command `web`."""

from __future__ import annotations

import contextlib
import os
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import SandboxMemoryError
from ..cli import places
from ..cli.common import MemoriesOption, PathArgument, SessionsOption, app, opened
from ..cli.helped import Command
from ..cli.places import Place

if TYPE_CHECKING:
    from ..plain import OpenMemory

EXTRA = "the page needs more packages: pip install 'sandbox-memory[web]'"


@app.command(cls=Command, epilog="Example: sandbox-memory web path/to/workspace")
def web(
    path: PathArgument = None,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="By default a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address, open no browser.")] = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
) -> None:
    """See, search and edit the memory on a local page.

    It is served to this machine alone, under an address with a random token, until Ctrl-C. PATH is the workspace; by
    default the one around you.
    """
    try:
        from .app import listening, server
        from .bookcase import Bookcase
        from .security import new_token
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "markupsafe"):
            raise
        raise SandboxMemoryError(EXTRA) from error

    chosen = _chosen(path, memories, sessions)
    named = {place.memories_dir: place for place in chosen}
    alone = bool(memories or sessions or places.SCOPE.get() or chosen[0].scope.folder)

    def names() -> list[str]:
        if not alone:
            named.update({folder: _beside(chosen[0], folder, beside) for folder, beside in places.elsewhere(chosen[0])})
        return list(named)

    def open_(folder: str) -> OpenMemory:
        memory = opened(named[folder])
        return memory.__enter__()

    try:
        at = listening(port)
    except OSError as error:
        what = error.strerror or str(error)
        raise SandboxMemoryError(f"port {port} cannot be used: {what}. Name another, or leave --port out") from error

    def ready(address: str) -> None:
        typer.echo(f"{address}\nYours alone, until Ctrl-C: who has this address can read and change the memory.")
        if not no_open and "SANDBOX_MEMORY_NO_BROWSER" not in os.environ:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(address)

    bookcase = Bookcase(chosen[0].root.resolve(), names, open_)  # so that `.` has a name to show
    bookcase.shelves()
    with at, contextlib.suppress(KeyboardInterrupt):  # that is how it ends
        server(bookcase, at, new_token(), ready).run(sockets=[at])


def _chosen(path: Path | None, memories: str | None, sessions: str | None) -> list[Place]:
    """The memory that is meant; of several, where none is named, all."""
    try:
        return [places.find(path, memories, sessions)]
    except places.Misuse:
        if memories or places.SCOPE.get():
            raise
        base = Place(path or Path.cwd(), places.MEMORIES, None, named=str(path) if path else None)
        found = places.elsewhere(base) if base.root.is_dir() else []
        if not found:
            raise
        return [_beside(base, folder, beside) for folder, beside in found]


def _beside(place: Place, memories: str, sessions: str) -> Place:
    return Place(place.root, memories, None, named=place.named, scope=place.scope)
