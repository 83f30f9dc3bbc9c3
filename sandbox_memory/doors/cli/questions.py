"""The commands that only tell: `status`, `show`, `history`, `why`, `check`, `layouts`; and `vouch`, after a check."""

from __future__ import annotations

import logging
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from ...layout import load_preset, preset_names
from ...records import Status
from . import places, reports, values, views
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, WorkspaceOption, app, opened
from .helped import NOT_DONE, Command
from .screen import FAINT, GOOD, STRONG, Screen, many


@app.command(cls=Command, epilog="Example: sandbox-memory status")
def status(
    path: PathArgument = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is there, and what is pending and why.

    Counts memories and transcripts, and names pending work with its cause, questions in the inbox, files that cannot be
    used, and whether an agent's session is open. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
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
        bool, typer.Option("--all", help="Also what is hidden, superseded, expired, deleted or forgotten.")
    ] = False,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME|COMMIT", help="What was so then: 2026-12-31T18:00, or 41 of `history`."),
    ] = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what is remembered, as MEMORY.md groups it.

    Each memory with its id, its kind, whose word it is (hand, user, observed, agent or external), and the conversations
    that it comes from. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    if as_of is not None:
        then = memory.as_of(as_of)
        if as_json:
            records = [values.record(record, memory.state().visible()) for record in then.records]
            when = {"as_of": {"commit": then.commit, "at": then.at}}
            screen.document({**values.heading(place, memory.layout), **when, "records": records})
        else:
            views.then(screen, then)
        return
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
    as_json: JsonOption = False,
) -> None:
    """Tell what changed, when, and by whom, the newest first.

    PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
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
    as_json: JsonOption = False,
) -> None:
    """Show who said it, when, and where.

    For a line of MEMORY.md or memory_summary.md, or for an id such as m-7f3a9c2b1d: the quotes, looked up in the
    transcripts now, and what happened to the memory since.
    """
    if memories is None and (file := places.of_file(target, workspace)):
        workspace, memories, target = workspace or file[0], file[1], file[2]
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    reason = memory.why(target)
    left = memory.standing(reason.record.id) if reason.record.status is Status.DELETED else []
    if as_json:
        standing = {"standing": [asdict(found) for found in left]} if left else {}
        screen.document({**values.heading(place, memory.layout), **values.reason(reason), **standing})
        return
    line = next((item.line for item in memory.items() if item.id == reason.record.id), 0)
    handbook = place.path(memory.layout.handbook)
    views.why(screen, reason, f"{handbook}:{line}" if line else handbook)
    views.left_over(screen, reason.record.id, list(dict.fromkeys(place.path(found.path) for found in left)))


@app.command(cls=Command, epilog="Example: sandbox-memory check && echo all is well")
def check(
    path: PathArgument = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the history, every quote, and who wrote it.

    Finds commits that were changed, quotes that do not stand where they say, and lines that something else than this
    user's programs wrote. Writes nothing. Exits with 1 if something does not verify. PATH is the workspace; by default
    the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    logger = logging.getLogger("sandbox_memory")
    level = logger.level
    logger.setLevel(logging.ERROR)  # the report says it all
    try:
        memory = opened(place)
        report = memory.check()
    finally:
        logger.setLevel(level)
    if as_json:
        screen.document({**values.heading(place, memory.layout), **values.check(report)})
    else:
        reports.check(screen, report)
    if not report.ok:
        raise typer.Exit(NOT_DONE)


@app.command(cls=Command, epilog="Example: sandbox-memory vouch")
def vouch(
    path: PathArgument = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in what something else wrote, as it stands.

    For a memory that was restored, is shared between machines, or gets a key: from now on the commits that `check`
    names count as ours. With a key on every machine, without one on this. PATH is the workspace; by default the one
    around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise places.Misuse("what you vouch for counts as yours; look at `check` first, then add --yes")
        reports.check(screen, memory.check())
        if not typer.confirm("Take in what stands there as yours?"):
            screen.line("Nothing was taken in.")
            raise typer.Exit(NOT_DONE)
    done = memory.vouch()
    if as_json:
        screen.document({**values.heading(place, memory.layout), "commits": done.commits, "lines": done.lines})
        return
    screen.line((f"{many(done.commits, 'commit')} and {many(done.lines, 'transcript line')} taken in", GOOD))


@app.command(cls=Command, epilog="Example: sandbox-memory layouts")
def layouts(as_json: JsonOption = False) -> None:
    """List the presets: what to remember, and where.

    Each with its folders in the workspace and its headings in MEMORY.md.
    """
    screen, presets = Screen(as_json=as_json), [load_preset(name) for name in preset_names()]
    if as_json:
        screen.document({"layouts": [values.preset(preset) for preset in presets]})
    else:
        views.layouts(screen, presets)
