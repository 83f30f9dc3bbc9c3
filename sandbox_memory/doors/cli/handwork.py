"""What a person does to single lines: `add`, `edit`, `pin`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ...governance.lifetime import NEVER, exactly, ttl_of
from ...records import Kind, Record
from ...workspace.archive import Unpacked, is_archive, unpacked
from . import completing, places, timeline, values
from .chapters import chapters
from .common import JsonOption, MemoriesOption, SessionsOption, WorkspaceOption, app, opened
from .editing import Ending, at_work, deferred, found, target
from .helped import Command
from .places import Misuse, Place
from .screen import GOOD, ID, WARN, Screen, kept, listed, many
from .standing import not_yet, standing

TtlOption = Annotated[
    str | None, typer.Option("--ttl", metavar="TIME", help="How long it counts: 45min, 12h, 30d or 2w.")
]
ExpiresOption = Annotated[
    str | None, typer.Option("--expires", metavar="DATE", help="Until when it counts: 2026-12-31, or 2026-12-31T18:00.")
]
ImportanceOption = Annotated[
    float | None, typer.Option("--importance", metavar="0..1", help="How much it counts against others of its age.")
]
PinOption = Annotated[bool | None, typer.Option("--pin/--no-pin", help="Never let it go for want of room.")]
KINDS = f"{listed([kind.value for kind in Kind], 'or')}."


@app.command(cls=Command, epilog='Example: sandbox-memory add "I review migrations myself." --kind preference')
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", hidden=True, autocompletion=completing.shell)],
    kind: Annotated[
        Kind, typer.Option("--kind", metavar="KIND", help=KINDS, autocompletion=completing.kinds)
    ] = Kind.FACT,
    group: Annotated[str, typer.Option("--group", metavar="TITLE", help="The task group to put it in.")] = "General",
    ttl: TtlOption = None,
    expires: ExpiresOption = None,
    importance: ImportanceOption = None,
    pin: PinOption = None,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a line in so many words.

    It counts as written by hand, and no machine alters it. With --ttl or --expires it is out of sight from then on.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    record = memory.add(text, kind=kind, group=group, **_life(ttl, expires, importance, pin))
    if as_json:
        waits = {"waits": not_yet(place.root / memory.layout.handbook) or None}
        screen.document({**values.heading(place, memory), "record": values.standing(memory, record), **waits})
        return
    screen.column(record.id, record.text, width=14, style=ID)
    ((_, stands),) = standing(place, memory, [record])
    if not_yet(place.root / memory.layout.handbook):
        history = kept(place.path(memory.layout.ledger), "")
        screen.line(("remembered", GOOD), " in the history, ", history, indent=14, hang=2)
        screen.line("written in ", *stands, indent=14, hang=2)
    else:
        screen.line(("remembered", GOOD), " in ", *stands, indent=14, hang=2)
    _set(screen, record)
    if (told := memory.why(record.id).told).when == "never":
        screen.line((f"told {values.TOLD[told.why]}", WARN), indent=14, hang=2)
    if record.trust.label != "hand":
        why = "as the agent's word: a session is open, whose agent may give commands too; a key tells you from it"
        screen.line((why, WARN), indent=14, hang=2)


@app.command(
    cls=Command,
    epilog='Examples: sandbox-memory edit m-7f3a9c2b1d "The staging port is 9443."; sandbox-memory edit; '
    "sandbox-memory edit MEMORY.md:17; sandbox-memory edit snapshots/42.tar",
)
def edit(
    id: Annotated[
        str | None, typer.Argument(metavar="ID|FILE", hidden=True, autocompletion=completing.editable)
    ] = None,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", hidden=True, autocompletion=completing.shell)] = None,
    expect: Annotated[
        int | None, typer.Option("--expect", metavar="VERSION", help="Only if it is at that version; `why` says which.")
    ] = None,
    ttl: TtlOption = None,
    expires: ExpiresOption = None,
    no_expiry: Annotated[bool, typer.Option("--no-expiry", help="It does not expire any more.")] = False,
    importance: ImportanceOption = None,
    pin: PinOption = None,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a memory other words, or open a file of it.

    With an ID and a TEXT or an option that memory is changed, and counts as written by hand. With --expect, nothing is
    changed if somebody was faster: both texts are shown. Without them your editor ($VISUAL or $EDITOR) opens MEMORY.md,
    at the line of the ID if there is one, and what you save is taken in when it closes. With a FILE or FILE:LINE it
    opens that: MEMORY.md, memory_summary.md, INBOX.md, one of raw_memories/, or a SKILL.md. With the .tar file of a
    snapshot its memory is unpacked for that, and packed again; nothing else in it is touched.
    """
    if id is not None and is_archive(Path(id)):
        if text is not None or workspace is not None:
            raise Misuse("a snapshot is edited as a whole: give its .tar file alone")
        _in_snapshot(Path(id), memories, sessions, Screen(as_json=as_json))
        return
    if no_expiry and (ttl or expires):
        raise Misuse("--no-expiry takes the expiry away: give no --ttl and no --expires beside it")
    life = _life(ttl, NEVER if no_expiry else expires, importance, pin)
    if id is not None and (named := target(id)):
        if text is not None or life or expect is not None:
            raise Misuse("a file is opened in your editor: give it alone; a TEXT or an option needs an ID")
        place, path = found(named[0], workspace, memories, sessions)
        _in_editor(place, Screen(as_json=as_json), path=path, line=named[1])
        return
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    if id is None and (life or expect is not None):
        raise Misuse("say which memory: give its ID; `sandbox-memory show` lists them")
    if id is None or (text is None and not life):
        if expect is not None:
            raise Misuse("there is nothing to change: give the new TEXT, or an option such as --ttl, beside --expect")
        _in_editor(place, screen, id)
        return
    memory = opened(place)
    record = memory.revise(id, text, expected_version=expect, **life)
    if as_json:
        screen.document({**values.heading(place, memory), "record": values.standing(memory, record)})
        return
    screen.column(record.id, record.text, width=14, style=ID)
    ((_, stands),) = standing(place, memory, [record])
    screen.line(("changed", GOOD), ", in " if stands else "", *stands, f", version {record.version}", indent=14, hang=2)
    _set(screen, record)


def _in_editor(
    place: Place,
    screen: Screen,
    id: str | None = None,
    *,
    path: Path | None = None,
    line: int = 0,
    archive: Unpacked | None = None,
    ending: Ending | None = None,
) -> None:
    from ...pipeline.saving import Saves  # brings watchdog along
    from ..opening import run

    memory = opened(place)
    memory.adopt()
    told, held = memory.adopted, memory.pipeline.noted.taken()
    path = path or place.root / memory.layout.handbook
    if not path.is_file() and archive:
        inside, tops = memory.layout.memories_dir, ", ".join(archive.tops[:8]) or "nothing"
        if (place.root / inside).is_dir():
            raise Misuse(f"{archive.archive} holds no {memory.layout.handbook}")
        raise Misuse(f"{archive.archive} holds no {inside}/ at its top or below one folder alone; at its top: {tops}")
    if not path.is_file():
        call = place.command("add", option="--workspace")
        raise Misuse(f"there is no {place.path(memory.layout.handbook)} yet; `{call} TEXT` begins it")
    record = memory.why(id).record if id else None
    line = line or next((item.line for item in memory.items() if record and item.id == record.id), 0)
    before, saves = memory.pipeline.store.ledger, Saves(memory.pipeline)
    inside = Path(os.path.relpath(path, place.root)).as_posix()
    saves.know([inside])
    at_work(path, line, archive.archive if archive else None, ending)
    lines = run(saves.take_in([inside]))
    if ending and ending.number:
        return  # to nobody: the terminal may be gone
    commits = memory.history()[: len(memory.pipeline.store.ledger) - len(before)]
    changes = memory.adopted - told
    memory.pipeline.adopted, memory.pipeline.noted.lines = told, held  # what came since is told here
    if screen.as_json:
        document = {"file": place.path(inside), "taken_in": changes, "commits": commits, "told": lines}
        screen.document({**values.heading(place, memory), **document})
        return
    shown = [each for each in commits if {operation["op"] for operation in each["operations"]} - {"prose", "usage"}]
    timeline.history(screen, chapters(shown), timeline.moments(memory.pipeline.store.ledger.commits))
    if shown:
        screen.gap()
    if not changes and not lines and (later := not_yet(path)):
        lines = [f"Nothing is taken in yet: that is done {later}."]
    if changes:
        lines[:1] = [f"{many(changes, 'change')} taken in: {lines[0]}"]
    for said in lines:
        screen.line((said, GOOD), hang=2)
    if not changes and not lines:
        screen.line("Nothing was changed.")


def _in_snapshot(archive: Path, memories: str | None, sessions: str | None, screen: Screen) -> None:
    folders = {(memories or "memories").partition("/")[0], (sessions or "sessions").partition("/")[0]}
    with deferred(archive) as ending, unpacked(archive, sorted(folders)) as work:
        _in_editor(places.find(work.root, memories, sessions), screen, archive=work, ending=ending)
    if not screen.as_json and work.changed:
        told = "; a session whose workspace is still there goes on with that, not with its snapshot"
        screen.line(("packed again into ", GOOD), kept(str(archive)), told)


@app.command(cls=Command, epilog="Example: sandbox-memory pin m-7f3a9c2b1d")
def pin(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", hidden=True, autocompletion=completing.records)],
    off: Annotated[bool, typer.Option("--off", help="Not any more.")] = False,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep memories for good, whatever their age.

    What is pinned is never let go for want of room, or because nobody has used it for long. It may still be changed,
    deleted or replaced, and what has an expiry still expires: `edit ID --no-expiry` takes that away.
    """
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    records = [memory.pin(id, not off) for id in dict.fromkeys(ids)]
    if as_json:
        pinned = [values.standing(memory, record) for record in records]
        screen.document({**values.heading(place, memory), "records": pinned})
        return
    for record in records:
        screen.column(record.id, record.text, width=14, style=ID)
        _set(screen, record)
    if off:
        screen.line((f"{many(len(records), 'memory', 'memories')} not pinned any more", GOOD), indent=14)


def _set(screen: Screen, record: Record) -> None:
    """What a line has beside its words."""
    said = {"pinned": True} if record.pinned else {}
    if record.expires:
        screen.line((f"expires {exactly(record.expires)}", WARN), indent=14, hang=2)
    if told := timeline.marks(said):
        screen.line((told, WARN), indent=14, hang=2)


def _life(ttl: str | None, expires: str | None, importance: float | None, pin: bool | None) -> dict[str, Any]:
    """The options that say how long and how much a memory counts, as far as they are given."""
    try:
        given: dict[str, Any] = {"ttl": ttl_of(ttl) if ttl is not None else None, "expires": expires}
    except ValueError as error:
        raise Misuse(f"--ttl: {error}") from error
    given |= {"importance": importance, "pinned": pin}
    return {name: value for name, value in given.items() if value is not None}
