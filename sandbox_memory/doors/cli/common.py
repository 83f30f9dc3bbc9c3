"""The application that the commands belong to, and what several of them take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completing, keys, losing
from .helped import Commands
from .places import OPENED, Place

if TYPE_CHECKING:
    from ..plain import OpenMemory

completing.from_the_first_tab()
app = typer.Typer(
    name="sandbox-memory",
    cls=Commands,
    help="Memory that an agent writes and a person can edit: plain markdown in a workspace.\n\n"
    "PATH is a workspace, the folder that holds memories/ and sessions/. Inside one it may be left out.\n\n"
    "A command first takes in what was edited in the files, and says so; `check` and dry runs write nothing.",
    epilog="Example: sandbox-memory process path/to/workspace --model offline",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PathArgument = Annotated[Path | None, typer.Argument(metavar="PATH", hidden=True, autocompletion=completing.shell)]
WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="PATH",
        help="The workspace; by default the one around you.",
        autocompletion=completing.shell,
    ),
]
MemoriesOption = Annotated[
    str | None,
    typer.Option(
        "--memories", metavar="DIR", help="The memory's folder in the workspace.", autocompletion=completing.memories
    ),
]
SessionsOption = Annotated[
    str | None,
    typer.Option(
        "--sessions",
        metavar="DIR",
        help="The transcripts' folder in the workspace.",
        autocompletion=completing.shell,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document instead.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("sandbox-memory")
        except PackageNotFoundError:
            number = "(a checkout that is not installed)"
        typer.echo(f"sandbox-memory {number}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", metavar="FILE", help="The host's key; else SANDBOX_MEMORY_KEY(_FILE) says it."),
    ] = None,
) -> None:
    keys.CHOSEN.set(key_file)


def opened(place: Place) -> OpenMemory:
    """The memory of that place."""
    from ..plain import open_memory

    memory = open_memory(
        place.root,
        memories_dir=place.memories_dir,
        sessions_dir=place.sessions_dir,
        preset=place.preset,
        scope=place.scope,
        key=keys.key(),
    )
    losing.look(memory)
    OPENED.get().append(memory)
    return memory
