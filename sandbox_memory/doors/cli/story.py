"""The commands about what happened: `why`, `history`, `diff`, `undo`, `rebuild`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ...records import Status
from . import completing, places, timeline, values, whys
from .chapters import Chapter, chapters
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, WorkspaceOption, app, opened
from .helped import Command
from .places import Misuse
from .screen import FAINT, GOOD, Screen, kept, many

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only tell; nothing is written.")]
MOST = 1000
"""Commits that one range names at most."""


@app.command(
    cls=Command,
    epilog="Examples: sandbox-memory why memories/MEMORY.md:12; sandbox-memory why 'staging port'; "
    "sandbox-memory why memories/MEMORY.md",
)
def why(
    target: Annotated[
        str | None, typer.Argument(metavar="FILE:LINE|ID|WORDS|FILE", hidden=True, autocompletion=completing.reasons)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every line of MEMORY.md.")] = False,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who said it, when, and where.

    For a line of MEMORY.md or memory_summary.md, by its number, by an id such as m-7f3a9c2b1d, or by words that no
    other line has: the quotes, looked up in the transcripts now, and what happened to the memory since. For a file
    without a line: each line of it with a quote.
    """
    if everything == (target is not None):
        raise Misuse(
            "say what to explain: FILE:LINE, an ID, WORDS of a line, or a FILE; or --all alone for all of MEMORY.md"
        )
    target = target or "MEMORY.md"
    whole = target.rsplit("/", 1)[-1] in ("MEMORY.md", "memory_summary.md")
    if memories is None and (file := places.of_file(f"{target}:1" if whole else target, workspace)):
        workspace, memories = workspace or file[0], file[1]
        target = file[2].rpartition(":")[0] if whole else file[2]
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    if whole:
        reasons = memory.reasons(target)
        path = place.path(memory.layout.memory(target.rsplit("/", 1)[-1]))
        if as_json:
            told = [{"line": line, **values.reason(memory, reason)} for line, reason in reasons]
            screen.document({**values.heading(place, memory), "file": path, "lines": told})
        elif reasons:
            whys.every(screen, reasons, path)
        else:
            screen.line("No line of ", kept(path), " is a memory.")
        return
    reason = memory.why(target)
    left = memory.standing(reason.record.id) if reason.record.status is Status.DELETED else []
    if as_json:
        standing: dict[str, Any] = {"standing": [asdict(found) for found in left]} if left else {}
        standing |= {"asked": {"file": memory.layout.summary, "line": n}} if (n := _in_summary(target)) else {}
        standing["said_before"] = [values.wording(each) for each in memory.wordings(reason.record.id)]
        screen.document({**values.heading(place, memory), **values.reason(memory, reason), **standing})
        return
    from .items import places as places_of

    line = next((item.line for item in memory.items() if item.id == reason.record.id), 0)
    handbook = place.path(memory.layout.handbook)
    found = places_of(place.root, (*reason.receipts, *reason.earlier))
    times = timeline.moments(memory.pipeline.store.ledger.commits)
    stands = kept(f"{handbook}:{line}" if line else handbook, "")
    if asked := _in_summary(target):  # the line that was asked for, and the one that it is told from
        summary = place.path(memory.layout.summary)
        stands = kept(f"{summary}:{asked}", "").append_text(Text(", told from ")).append_text(stands)
    whys.why(screen, reason, stands, found, times)
    whys.said_before(screen, memory.wordings(reason.record.id), reason.record, times)
    whys.left_over(screen, reason.record.id, list(dict.fromkeys(place.path(found.path) for found in left)))


def _in_summary(target: str) -> int:
    """The line of `memory_summary.md` that was asked for; 0 for what is none."""
    file, _, number = target.strip().rpartition(":")
    return int(number) if file.rsplit("/", 1)[-1] == "memory_summary.md" and number.isdigit() else 0


@app.command(cls=Command, epilog="Example: sandbox-memory history -n 5")
def history(
    path: PathArgument = None,
    number: Annotated[int | None, typer.Option("-n", "--number", metavar="N", min=1, help="Only the newest N.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Each commit alone, also those that only read or clean up.")
    ] = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what changed, when, and by whom, the newest first.

    Questions with their answers, pins and expiries included. Commits in a row that only read conversations are told as
    one, and so is all that a forgetting did. PATH is the workspace; by default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    commits = memory.history()
    if as_json:
        chosen = commits[:number]
        screen.document({**values.heading(place, memory), "commits": chosen, "total": len(commits)})
        return
    if not commits:
        screen.line("Nothing has happened yet.")
    told = [Chapter("one", (commit,)) for commit in commits] if everything else chapters(commits)
    timeline.history(screen, told[:number], timeline.moments(memory.pipeline.store.ledger.commits))
    if older := sum(len(chapter.commits) for chapter in told[number:]) if number else 0:
        screen.gap()
        screen.line((f"{many(older, 'older commit')} left out", FAINT))


@app.command(cls=Command, epilog="Example: sandbox-memory diff 2026-12-01 41")
def diff(
    before: Annotated[str, typer.Argument(metavar="A", hidden=True, autocompletion=completing.commits)],
    after: Annotated[str | None, typer.Argument(metavar="B", hidden=True, autocompletion=completing.commits)] = None,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare what was remembered at two times.

    A and B are commits, by their numbers in `history`, or times such as 2026-12-31 or 2026-12-31T18:00; without B it is
    now.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    found = memory.diff(before, after)
    if not as_json:
        timeline.difference(screen, found, timeline.moments(memory.pipeline.store.ledger.commits))
        return
    document = {
        "from": {"commit": found.before.commit, "at": found.before.at},
        "to": {"commit": found.after.commit, "at": found.after.at},
        "added": values.all_of(memory, found.added),
        "gone": values.all_of(memory, found.gone),
        "changed": [dict(zip(("before", "after"), values.all_of(memory, pair), strict=True)) for pair in found.changed],
    }
    screen.document({**values.heading(place, memory), **document})


@app.command(cls=Command, epilog="Example: sandbox-memory undo 41 --dry-run")
def undo(
    commits: Annotated[list[str], typer.Argument(metavar="COMMIT...", hidden=True, autocompletion=completing.commits)],
    dry_run: DryRunOption = False,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take commits back, in a new one.

    A COMMIT is a number of `history`, or a range such as 41-45. What other commits did stays, and so does every line
    that a person has worked on since. An undo can be undone.
    """
    numbers = _numbers(commits)
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    done = memory.undo(*numbers, dry_run=dry_run)
    if not as_json:
        timeline.undone(screen, done, dry=dry_run)
        return
    document = {
        "undone": list(done.commits),
        "dry_run": dry_run,
        "commit": done.commit or None,
        "changed": [
            dict(zip(("before", "after"), values.all_of(memory, pair, dry=dry_run), strict=True))
            for pair in done.changed
        ],
        "kept": values.all_of(memory, done.kept, dry=dry_run),
        "asked": list(done.asked),
        "withdrawn": list(done.withdrawn),
    }
    screen.document({**values.heading(place, memory), **document})


def _numbers(words: list[str]) -> list[int]:
    found: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(word) > 15:
            raise Misuse(f"{word!r} is no commit; give its number, as `sandbox-memory history` tells it, or 41-45")
        numbers = range(int(first), int(last if dash else first) + 1)
        if not 0 < len(numbers) <= MOST:
            raise Misuse(f"{word!r} names no commits, or too many at once; give the lower number first")
        found += numbers
    return found


@app.command(cls=Command, epilog="Example: sandbox-memory rebuild --dry-run")
def rebuild(
    path: PathArgument = None,
    dry_run: DryRunOption = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the markdown anew from the history; no model is asked.

    First takes in what you edited. MEMORY.md then has every line under its group, as if it had never been there; where
    the old file says something else too, such as a table of yours, a copy of it is kept. PATH is the workspace; by
    default the one around you.
    """
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    done = memory.rebuild(dry_run=dry_run)
    if as_json:
        document = {"files": list(done.files), "kept": done.kept or None, "dry_run": dry_run}
        screen.document({**values.heading(place, memory), **document})
        return
    for file in done.files:
        screen.line(("would be written  " if dry_run else "written  ", GOOD), kept(place.path(file)), hang=2)
    if done.kept:
        copy = "a copy of the old one would be kept" if dry_run else f"the old one is kept as {Path(done.kept).name}"
        screen.line(f"What else stood there is not in the history: {copy}.", hang=2)
    if not done.files:
        screen.line("Nothing to do: the markdown is what the history makes of it.")
