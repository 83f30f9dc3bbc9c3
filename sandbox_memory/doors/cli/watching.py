"""`sandbox-memory watch`: takes in what is saved, as it is saved, and says so in one line each time."""

from __future__ import annotations

import json
import queue
import signal
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import SandboxMemoryError
from . import places
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, app, opened
from .helped import Command, Held
from .screen import FAINT, GOOD, ID, WARN, Screen, kept, safe

if TYPE_CHECKING:
    from ..plain import OpenMemory


@app.command(cls=Command, epilog="Example: sandbox-memory watch path/to/workspace")
def watch(
    context: typer.Context,
    path: PathArgument = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    once: Annotated[bool, typer.Option("--once", help="End after the first save that was taken in.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take in what you save in the markdown, as you save it.

    Says in one line what was taken in, and points out a secret that was typed. Ends with Ctrl-C. With --json, one JSON
    document a line.
    """
    from ...pipeline import saving
    from ..opening import run

    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    saved: queue.SimpleQueue[frozenset[str] | None] = queue.SimpleQueue()
    # SimpleQueue.put may be called in a signal handler.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: saved.put(None))
    if not as_json:
        folder = place.path(memory.layout.memories_dir)
        screen.line(("watching ", FAINT), kept(f"{folder}/"), ("; Ctrl-C ends it", FAINT))
    held: Held = context.obj
    watching = saving.watched(memory.pipeline, saved.put)
    watching.start()
    try:
        first = saving.told(memory.adopt())
        _told([first] if first else [], memory, [], held, screen)
        saves = saving.Saves(memory.pipeline)
        while (paths := saved.get()) is not None:
            try:
                lines = run(saves.take_in(paths))
            except (SandboxMemoryError, OSError) as error:
                _tell(screen, "error", str(error), sorted(paths))
                continue
            if _told(lines, memory, sorted(paths), held, screen) and once:
                return
    finally:
        watching.stop()


def _told(lines: list[str], memory: OpenMemory, paths: list[str], held: Held, screen: Screen) -> bool:
    """Tell what was taken in, and what was warned of meanwhile; True if there was something."""
    lines, warnings = [*lines, *memory.pipeline.noted.taken()], held.taken()
    memory.pipeline.adopted = 0  # it has been told
    for line in lines:
        _tell(screen, "saved", line, paths)
    for line in warnings:
        _tell(screen, "warning", line, paths)
    return bool(lines or warnings)


def _tell(screen: Screen, event: str, text: str, paths: list[str]) -> None:
    now = datetime.now().astimezone()
    if screen.as_json:
        document = {"at": now.isoformat(timespec="seconds"), "event": event, "files": paths, "text": text}
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return
    named = text.startswith(tuple(paths)) if paths else True
    names = "" if named else ", ".join(path.rsplit("/", 1)[-1] for path in paths)
    style = GOOD if event == "saved" else WARN
    screen.line((f"{now:%H:%M:%S}  ", FAINT), (f"{safe(names)}  " if names else "", ID), (text, style), hang=10)
    screen.console.file.flush()
