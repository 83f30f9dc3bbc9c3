"""What takes lines out of sight, brings them back, and makes them what they were: `delete`, `restore`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import SandboxMemoryError
from ...records import Status
from . import completing, places, timeline, values, whys
from .common import JsonOption, MemoriesOption, SessionsOption, WorkspaceOption, app, opened
from .helped import Command
from .places import Misuse, here
from .screen import FAINT, GOOD, ID, WARN, Screen, many
from .standing import standing

if TYPE_CHECKING:
    from ..plain import OpenMemory

_CLOCK = re.compile(r"\d\d?:\d\d(:\d\d([.]\d+)?)?")


@app.command(cls=Command, epilog="Example: sandbox-memory delete m-7f3a9c2b1d")
def delete(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", hidden=True, autocompletion=completing.records)],
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take memories out of sight; `restore` brings them back.

    No run is told them any more, as if you had deleted their lines in MEMORY.md. Nothing is erased: the conversations
    and the history keep the words. `forget` erases these too, for good.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    known = memory.adopt().state.visible()
    names = sorted(dict.fromkeys(id.lstrip("^") for id in ids), key=lambda id: id in known)
    records = [memory.delete(id) for id in names]  # one that is not there first, so that it ends before the others go
    if as_json:
        screen.document({**values.heading(place, memory), "deleted": values.all_of(memory, records)})
        return
    for record in records:
        screen.column(record.id, record.text, width=14, style=ID)
    back = here(f"; `sandbox-memory restore {' '.join(names)}` brings {'it' if len(names) == 1 else 'them'} back")
    screen.line((f"{many(len(records), 'memory', 'memories')} deleted", GOOD), back, indent=14, hang=2)
    left = {record.id: memory.standing(record.id) for record in records}
    paths = dict.fromkeys(place.path(found.path) for each in left.values() for found in each)
    whys.left_over(screen, " ".join(id for id, found in left.items() if found), list(paths))


@app.command(
    cls=Command, epilog="Examples: sandbox-memory restore m-7f3a9c2b1d; sandbox-memory restore m-7f3a9c2b1d --as-of 41"
)
def restore(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", hidden=True, autocompletion=completing.gone)
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="TIME|COMMIT",
            help="As it was then: 2026-12-31T18:00, or 41 of `history`.",
            autocompletion=completing.commits,
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring back what is out of sight, or make a line what it was.

    Without --as-of: what expired, or was let go, deleted or superseded, as it last was; `show --all` lists these. With
    it each of these lines becomes what it was then, its words, its place and its pin, also one that is in sight; `why
    ID` shows what it said before. It counts as written by hand. What was forgotten does not come back.
    """
    if not ids and as_of is None:
        raise Misuse("say what to bring back: an ID; `sandbox-memory show --all` lists what is out of sight")
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    if not ids:
        raise Misuse(_which_lines(memory, str(as_of)))
    if loose := next((id for id in ids if as_of and _CLOCK.fullmatch(id)), ""):
        raise Misuse(f"{loose} is the second half of a time: write it as one, {as_of}T{loose}, or in quotation marks")
    known = memory.state().records
    records = memory.restore(*ids, as_of=as_of)
    if as_json:
        restored = [values.standing(memory, record) for record in records]
        screen.document({**values.heading(place, memory), "restored": restored})
        return
    for record, stands in standing(place, memory, records):
        before = timeline.was(known[record.id], record) if known[record.id].status is Status.ACTIVE else ""
        screen.column(record.id, record.text, (before, FAINT), width=14, style=ID)
        if stands:
            screen.line("in ", *stands, indent=14, hang=2)
    count, number = many(len(records), "memory", "memories"), records[0].updated
    if as_of is None:
        screen.line((f"{count} brought back", GOOD), indent=14)
    else:
        again = here(f", as commit {number}; `sandbox-memory undo {number}` undoes that")
        screen.line((f"{count} put back", GOOD), again, indent=14, hang=2)
    for heir in dict.fromkeys(known[record.id].superseded_by for record in records):
        if heir in memory.state().visible() and heir not in {record.id for record in records}:
            told = f"{heir} took its place and is still in sight; `sandbox-memory delete {heir}` takes it out"
            screen.line((here(told), WARN), indent=14, hang=2)


def _which_lines(memory: OpenMemory, when: str) -> str:
    """What to do where a time is given and no line."""
    then, last = memory.as_of(when), len(memory.pipeline.store.ledger)
    if then.commit == last:
        return f"nothing has changed since {when}: that is how it is now"
    told = f"say which lines: `sandbox-memory diff {shlex.quote(when)}` shows what changed since, with their IDs"
    span = range(then.commit + 1, last + 1)
    try:
        memory.undo(*span, dry_run=True)
    except SandboxMemoryError:
        return told
    named = f"{span[0]}-{last}" if len(span) > 1 else f"{last}"
    return f"{told}; `sandbox-memory undo {named}` takes all of it back"
