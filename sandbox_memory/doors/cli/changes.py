"""The commands that bring something about: `demo`, `process`, `add`, `forget`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...records import Kind
from . import places, reports, values
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, WorkspaceOption, app, opened
from .helped import NOT_DONE, Command, Held
from .places import Misuse
from .screen import FAINT, GOOD, ID, Screen, listed, many

if TYPE_CHECKING:
    from ..plain import OpenMemory

KINDS = f"{listed([kind.value for kind in Kind], 'or')}."


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
        str | None, typer.Option("--preset", metavar="NAME", help="What to remember; `layouts` lists them.")
    ] = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    again: Annotated[bool, typer.Option("--again", help="Read all transcripts again, from their start.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name each refusal with its reason.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn transcripts into memory.

    Reads what is new in sessions/ and writes what it teaches into memories/MEMORY.md. Your edits there stay. What fails
    stays pending with its cause, and the exit code is then 1. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions, preset), Screen(as_json=as_json)
    memory = opened(place)
    before, now = memory.state().settings.get("preset"), memory.layout.preset.name
    start = time.monotonic()
    with _progress() as progress:
        report = memory.process(model, again=again, progress=progress)
    seconds = time.monotonic() - start
    facts = memory.status()
    generate = memory.pipeline.generate
    names = [str(generate.phase_one_model), str(generate.phase_two_model)] if generate else []
    held: Held = context.obj
    held.told(*report.failed.values())
    done = not (report.failed or facts["unconsolidated"] or any(entry.get("cause") for entry in facts["pending"]))
    if as_json:
        left = {key: facts[key] for key in ("pending", "unconsolidated", "records")}
        screen.document({**values.heading(place, memory.layout), "ok": done, **values.report(report), **left})
    else:
        if before and before != now:
            screen.line(f"The layout of this memory was {before}, and is {now} from now on.")
        layout = memory.layout
        if preset and layout.memories_dir != layout.preset.memories_dir:
            given = f"memories_dir={layout.memories_dir!r}, sessions_dir={layout.sessions_dir!r}, preset_name={now!r}"
            screen.line(f"An agent finds it here with MemoryLayoutConfig({given}).", hang=2)
        used = " and ".join("the offline model" if name == "offline" else name for name in dict.fromkeys(names))
        reports.processed(screen, place, report, facts, model=used, seconds=seconds, verbose=verbose)
    if not done:
        raise typer.Exit(NOT_DONE)


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


@app.command(cls=Command, epilog='Example: sandbox-memory add "I review migrations myself." --kind preference')
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", hidden=True)],
    kind: Annotated[Kind, typer.Option("--kind", metavar="KIND", help=KINDS)] = Kind.FACT,
    group: Annotated[str, typer.Option("--group", metavar="TITLE", help="The task group to put it in.")] = "General",
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a line in so many words.

    It counts as written by hand, and no machine alters it.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    record = memory.add(text, kind=kind, group=group)
    if as_json:
        document = {"record": values.record(record, {record.id}, {item.id: item.line for item in memory.items()})}
        screen.document({**values.heading(place, memory.layout), **document})
        return
    screen.column(record.id, record.text, width=14, style=ID)
    where = place.path(memory.layout.handbook)
    screen.line(("remembered", GOOD), f" in {where} under {record.group} › {record.section}", indent=14, hang=2)


@app.command(cls=Command, epilog="Example: sandbox-memory forget m-7f3a9c2b1d")
def forget(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", hidden=True)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Erase memories, for good.

    Takes them out of the markdown and their words out of the history. What the transcripts say stays there, but is not
    learnt from them again. To be able to undo it, delete the line in MEMORY.md instead.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise Misuse("forgetting cannot be undone; add --yes to say that you mean it")
        _ask(screen, memory, ids)
    records = memory.forget(*dict.fromkeys(ids))
    if as_json:
        forgotten = [values.record(record, ()) for record in records]
        screen.document({**values.heading(place, memory.layout), "forgotten": forgotten})
        return
    for record in records:
        screen.column(record.id, (record.text, FAINT), width=14, style=ID)
    screen.line((f"{many(len(records), 'memory', 'memories')} erased", GOOD), indent=14)


def _ask(screen: Screen, memory: OpenMemory, ids: list[str]) -> None:
    known = memory.state().records
    for id in ids:
        record = known.get(id.lstrip("^"))
        if record is not None:
            screen.column(record.id, record.text, width=14, style=ID)
    if not typer.confirm(f"Erase {'it' if len(ids) == 1 else 'them'} for good?"):
        screen.line("Nothing was erased.")
        raise typer.Exit(NOT_DONE)
