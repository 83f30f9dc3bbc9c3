"""The commands that have models work: `demo`, `process`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from . import completing, places, reports, values
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, app, opened
from .helped import NOT_DONE, Command, Held
from .places import Misuse, Place
from .screen import Screen


@app.command(cls=Command, epilog="Example: sandbox-memory demo")
def demo(
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="A real model instead of the scripted one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Watch an agent get a memory, and use it.

    Runs real agents in a folder of their own, shows the files that come about, and needs no key.
    """
    from ..demo import main as run_demo

    if not as_json:
        raise typer.Exit(run_demo(model))
    with contextlib.redirect_stdout(sys.stderr):
        code = run_demo(model)
    Screen(as_json=True).document({"model": model, "ok": code == 0, "exit_code": code})
    raise typer.Exit(code)


@app.command(cls=Command, epilog="Example: sandbox-memory process path/to/workspace --model offline")
def process(
    context: typer.Context,
    path: PathArgument = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="offline, or a model that the Agents SDK knows.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="What to remember; `layouts` lists them.",
            autocompletion=completing.presets,
        ),
    ] = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    all_scopes: Annotated[
        bool, typer.Option("--all-scopes", help="The memory of the workspace, and those of all scopes in it.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Read all transcripts again, from their start.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name each refusal with its reason.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn transcripts into memory.

    Reads what is new in sessions/ and writes what it teaches into memories/MEMORY.md. Your edits there stay. What fails
    stays pending with its cause, and the exit code is then 1. PATH is the workspace; by default the one around you.
    """
    screen = Screen(as_json=as_json)
    if all_scopes:
        if memories or sessions or places.SCOPE.get():
            raise Misuse("--all-scopes is for all of them: name no folder and no scope beside it")
        chosen = places.every(path, preset)
    else:
        chosen = [places.find(path, memories, sessions, preset)]
    documents = []
    for number, place in enumerate(chosen):
        if number and not as_json:
            screen.gap()
        documents.append(_process(context.obj, place, screen, model, again=again, verbose=verbose))
    done = all(document["ok"] for document in documents)
    if all_scopes and as_json:
        screen.document({"ok": done, "memories": documents})
    elif as_json:
        screen.document(documents[0])
    elif not all_scopes and not chosen[0].scope.folder and (others := places.scopes(chosen[0].root)):
        screen.gap()
        screen.line(f"There are memories of scopes too. {places.which(others)}.", hang=2)
    if not done:
        raise typer.Exit(NOT_DONE)


def _process(held: Held, place: Place, screen: Screen, model: str | None, *, again: bool, verbose: bool) -> Any:
    """Process one memory and tell of it on the screen; the document that says the same."""
    preset = place.preset
    memory = opened(place)
    before, now = memory.state().settings.get("preset"), memory.layout.preset.name
    start = time.monotonic()
    with _progress() as progress:
        report = memory.process(model, again=again, progress=progress)
    seconds = time.monotonic() - start
    facts = memory.status()
    from ..opening import generating

    generate = generating(memory.pipeline.generate)
    names = [str(generate.phase_one_model), str(generate.phase_two_model)]
    held.told(*report.failed.values(), *(refusal.why for refusal in report.refused))
    done = not (report.failed or facts["unconsolidated"] or any(entry.get("cause") for entry in facts["pending"]))
    if not screen.as_json:
        if before and before != now:
            screen.line(f"The layout of this memory was {before}, and is {now} from now on.")
        layout = memory.layout
        if preset and layout.memories_dir != layout.preset.memories_dir:
            given = f"memories_dir={layout.memories_dir!r}, sessions_dir={layout.sessions_dir!r}, preset_name={now!r}"
            screen.line(f"An agent finds it here with MemoryLayoutConfig({given}).", hang=2)
        used = " and ".join("the offline model" if name == "offline" else name for name in dict.fromkeys(names))
        reports.processed(screen, place, report, facts, model=used, seconds=seconds, verbose=verbose)
    left = {key: facts[key] for key in ("pending", "unconsolidated", "records")}
    return {**values.heading(place, memory), "ok": done, **values.report(report), **left}


@contextlib.contextmanager
def _progress() -> Iterator[Any]:
    """A bar on stderr while long work goes on, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda what, done, of: None
        return
    doing = TextColumn("{task.description}")
    columns = (SpinnerColumn(), doing, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("reading", total=None)

        def told(what: str, done: int, of: int) -> None:
            bars.update(task, description=what, completed=done, total=of)

        yield told
