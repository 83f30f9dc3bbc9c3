"""The commands about how it stands: `status`, `show`, `check`, `layouts`; and `vouch`, after a check."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from ...layout import load_preset, preset_names
from . import completing, places, reports, timeline, values, views
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, app, opened
from .helped import NOT_DONE, Command
from .screen import GOOD, STRONG, Screen, many


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
        screen.document({**values.heading(place, memory), **facts})
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
        typer.Option(
            "--as-of",
            metavar="TIME|COMMIT",
            help="What was so then: 2026-12-31T18:00, or 41 of `history`.",
            autocompletion=completing.commits,
        ),
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
            records = values.all_of(memory, then.records)
            when = {"as_of": {"commit": then.commit, "at": then.at}}
            screen.document({**values.heading(place, memory), **when, "records": records})
        else:
            views.then(screen, then, timeline.moments(memory.pipeline.store.ledger.commits))
        return
    state, items = memory.state(), memory.items()
    visible = state.visible()
    if as_json:
        lines = {item.id: item.line for item in items}
        order = [record for _, _, record in views.in_order(visible, items)]
        rest = [record for id, record in state.records.items() if id not in visible] if everything else []
        records = [values.record(record, visible, lines) for record in [*order, *rest]]
        screen.document({**values.heading(place, memory), "records": records})
        return
    if not visible:
        screen.line((f"Nothing is remembered in {place.path(memory.layout.memories_dir)} yet.", STRONG), hang=2)
        screen.gap()
        reports.empty(screen, place, memory.status())
    else:
        views.standing(screen, state, items)
    if everything:
        views.out_of_sight(screen, state)


@app.command(cls=Command, epilog="Example: sandbox-memory check && echo all is well")
def check(
    path: PathArgument = None,
    fix: Annotated[bool, typer.Option("--fix", help="First mend what can be mended without you.")] = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the history, every quote, and who wrote it.

    Finds commits that were changed, quotes that do not stand where they say, lines that something else than this user's
    programs wrote, secrets, and files that are behind, orphaned or left over. Writes nothing, unless --fix is given.
    Exits with 1 if something does not verify. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    logger = logging.getLogger("sandbox_memory")
    level = logger.level
    logger.setLevel(logging.ERROR)  # the report says it all
    try:
        memory = opened(place)
        report = memory.check(fix=fix)
    finally:
        logger.setLevel(level)
    if as_json:
        screen.document({**values.heading(place, memory), **values.check(report)})
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
        screen.document({**values.heading(place, memory), "commits": done.commits, "lines": done.lines})
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
