"""The commands: arguments in, one call of `OpenMemory`, its outcome on the screen."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...layout import load_preset, preset_names
from ...records import Kind
from . import places, reports, values, views
from .helped import NOT_DONE, Command, Commands, Held
from .places import Misuse, Place
from .screen import FAINT, GOOD, ID, STRONG, Screen, listed, many

if TYPE_CHECKING:
    from ..plain import OpenMemory

app = typer.Typer(
    name="sandbox-memory",
    cls=Commands,
    help="Memory that an agent writes and a person can edit: plain markdown in a workspace.\n\n"
    "PATH is a workspace, the folder that holds memories/ and sessions/. Inside one it may be left out.",
    epilog="Example: sandbox-memory process path/to/workspace --model offline",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PathArgument = Annotated[Path | None, typer.Argument(metavar="PATH", hidden=True)]
WorkspaceOption = Annotated[
    Path | None, typer.Option("--workspace", metavar="PATH", help="The workspace; by default the one around you.")
]
MemoriesOption = Annotated[
    str | None, typer.Option("--memories", metavar="DIR", help="The memory's folder in the workspace.")
]
SessionsOption = Annotated[
    str | None, typer.Option("--sessions", metavar="DIR", help="The transcripts' folder in the workspace.")
]
KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document instead.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sandbox-memory {version('sandbox-memory')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def _open(place: Place) -> OpenMemory:
    from ..plain import open_memory

    return open_memory(
        place.root, memories_dir=place.memories_dir, sessions_dir=place.sessions_dir, preset=place.preset
    )


@app.command(cls=Command, epilog="Example: sandbox-memory demo")
def demo(
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="A real model instead of the scripted one.")
    ] = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
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
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Turn transcripts into memory.

    Reads what is new in sessions/ and writes what it teaches into memories/MEMORY.md. Your edits there stay. What fails
    stays pending with its cause, and the exit code is then 1. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions, preset), Screen(as_json=as_json)
    memory = _open(place)
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
    doing = TextColumn("{task.description}")
    columns = (SpinnerColumn(), doing, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shows = console.is_terminal and not console.is_dumb_terminal
    with Progress(*columns, console=console, transient=True, disable=not shows) as bars:
        task = bars.add_task("reading", total=None)

        def told(what: str, done: int, of: int) -> None:
            bars.update(task, description=what, completed=done, total=of)

        yield told


@app.command(cls=Command, epilog="Example: sandbox-memory status")
def status(
    path: PathArgument = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Say what is there, and what is pending and why.

    Counts memories and transcripts, and names pending work with its cause, questions in the inbox, files that cannot be
    used, and whether an agent's session is open. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
    facts = memory.status()
    if as_json:
        screen.document({**values.heading(place, memory.layout), **facts})
        return
    reports.status(screen, place, facts)
    if not facts["records"] or facts["pending"] or facts["unconsolidated"]:
        screen.gap()
        reports.following(screen, place, facts, model="")


@app.command(cls=Command, epilog="Example: sandbox-memory show --all")
def show(
    path: PathArgument = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is hidden, superseded, deleted or forgotten.")
    ] = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """List what is remembered, as MEMORY.md groups it.

    Each memory with its id, its kind, whose word it is (hand, user, observed, agent or external), and the conversations
    that it comes from. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
    state, items = memory.state(), memory.items()
    visible = state.visible()
    if as_json:
        lines = {item.id: item.line for item in items}
        order = [record for _, _, record in views.in_order(visible, items)]
        rest = [record for id, record in state.records.items() if id not in visible] if everything else []
        records = [values.record(record, visible, lines) for record in [*order, *rest]]
        screen.document({**values.heading(place, memory.layout), "records": records})
        return
    if not visible:
        screen.line((f"Nothing is remembered in {place.path(memory.layout.memories_dir)} yet.", STRONG), hang=2)
        screen.gap()
        reports.empty(screen, place, memory.status())
    else:
        views.standing(screen, state, items)
    if everything:
        views.out_of_sight(screen, state)


@app.command(cls=Command, epilog="Example: sandbox-memory history -n 5")
def history(
    path: PathArgument = None,
    number: Annotated[
        int | None, typer.Option("-n", "--number", metavar="N", min=1, help="Only the newest N commits.")
    ] = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Tell what changed, when, and by whom, the newest first.

    PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
    commits = memory.history()
    chosen = commits[:number]
    if as_json:
        screen.document({**values.heading(place, memory.layout), "commits": chosen, "total": len(commits)})
        return
    if not commits:
        screen.line("Nothing has happened yet.")
    views.history(screen, chosen)
    if len(chosen) < len(commits):
        screen.gap()
        screen.line((f"{many(len(commits) - len(chosen), 'older commit')} left out", FAINT))


@app.command(cls=Command, epilog="Example: sandbox-memory why memories/MEMORY.md:12")
def why(
    target: Annotated[str, typer.Argument(metavar="FILE:LINE|ID", hidden=True)],
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Show who said it, when, and where.

    For a line of MEMORY.md or memory_summary.md, or for an id such as m-7f3a9c2b1d: the quotes, looked up in the
    transcripts now, and what happened to the memory since.
    """
    if memories is None and (file := places.of_file(target, workspace)):
        workspace, memories, target = workspace or file[0], file[1], file[2]
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
    reason = memory.why(target)
    if as_json:
        screen.document({**values.heading(place, memory.layout), **values.reason(reason)})
        return
    line = next((item.line for item in memory.items() if item.id == reason.record.id), 0)
    handbook = place.path(memory.layout.handbook)
    views.why(screen, reason, f"{handbook}:{line}" if line else handbook)


@app.command(cls=Command, epilog='Example: sandbox-memory add "I review migrations myself." --kind preference')
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", hidden=True)],
    kind: Annotated[Kind, typer.Option("--kind", metavar="KIND", help=KINDS)] = Kind.FACT,
    group: Annotated[str, typer.Option("--group", metavar="TITLE", help="The task group to put it in.")] = "General",
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Remember a line in so many words.

    It counts as written by hand, and no machine alters it.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
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
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Erase memories, for good.

    Takes them out of the markdown and their words out of the history. What the transcripts say stays there, but is not
    learnt from them again. To be able to undo it, delete the line in MEMORY.md instead.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
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


@app.command(cls=Command, epilog="Example: sandbox-memory check && echo all is well")
def check(
    path: PathArgument = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False,
) -> None:
    """Verify the history, every quote, and who wrote it.

    Finds commits that were changed, quotes that do not stand where they say, and lines that something else than this
    user's programs wrote. Writes nothing. Exits with 1 if something does not verify. PATH is the workspace; by default
    the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = _open(place)
    report = memory.check()
    if as_json:
        screen.document({**values.heading(place, memory.layout), **values.check(report)})
    else:
        reports.check(screen, report)
    if not report.ok:
        raise typer.Exit(NOT_DONE)


@app.command(cls=Command, epilog="Example: sandbox-memory layouts")
def layouts(as_json: KINDS = f"{listed([kind.value for kind in Kind], 'or')}."
JsonOption = False) -> None:
    """List the presets: what to remember, and where.

    Each with its folders in the workspace and its headings in MEMORY.md.
    """
    screen, presets = Screen(as_json=as_json), [load_preset(name) for name in preset_names()]
    if as_json:
        screen.document({"layouts": [values.preset(preset) for preset in presets]})
    else:
        views.layouts(screen, presets)
