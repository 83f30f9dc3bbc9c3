"""The command `forget`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import Unknown
from ...scope import MemoryScope
from . import completing, places, values
from .common import JsonOption, MemoriesOption, SessionsOption, WorkspaceOption, app, opened
from .helped import NOT_DONE, Command
from .places import Misuse, Place
from .screen import BAD, FAINT, GOOD, ID, Screen, kept, many

if TYPE_CHECKING:
    from ...pipeline.forgetting.carrying import Outcome

SHOWN = 40
"""Places that are listed on the screen at most; --json lists them all."""


@app.command(cls=Command, epilog="Example: sandbox-memory forget m-7f3a9c2b1d")
def forget(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", hidden=True, autocompletion=completing.records)
    ] = None,
    subject: Annotated[str, typer.Option("--subject", metavar="TEXT", help="What the memories are about.")] = "",
    rollout: Annotated[str, typer.Option("--rollout", metavar="ID", help="A whole conversation.")] = "",
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="What that user said of themselves.")] = "",
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="Everything that holds these words.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list where it stands.")] = False,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", metavar="FILE", help="Write the receipt to this file, too.")
    ] = None,
    again: Annotated[
        Path | None, typer.Option("--apply", metavar="RECEIPT", help="Forget that again, in a restored workspace.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    workspace: WorkspaceOption = None,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget memories, for good.

    Takes them out of every file: markdown, history, transcripts, notes, names. Lines that other conversations support
    stay, told from these. It then searches again; the exit code is 1 if anything is left. To be able to undo it,
    delete the line in MEMORY.md instead.
    """
    ways: dict[str, Any] = {"subject": subject, "rollout": rollout, "text": text}
    named = bool(ids) or any(ways.values())
    if user and named:  # then it says whose memory, as with every other command
        places.SCOPE.set({**places.SCOPE.get(), "user": user})
    elif user:
        ways["user"] = user
    if bool(again) == (named or bool(user)):
        raise Misuse("say what to forget: an ID, --subject, --rollout, --user or --text; or give --apply alone")
    if again and dry_run:
        raise Misuse("--apply takes no --dry-run; to see where words stand, use --text with --dry-run")
    place, screen = places.find(workspace, memories, sessions), Screen(as_json=as_json)
    scopes = _of_user(place, user) if "user" in ways else []
    if not (yes or dry_run or again):
        if as_json or not sys.stdin.isatty():
            raise Misuse(_unasked(place, ids or [], ways, receipt, sessions))
        for each, given in [(place, ways), *((scope, {"everything": True}) for scope in scopes)]:
            _ask(screen, each, ids or [], given, optional=bool(scopes))
    done: list[tuple[Place, Outcome]] = []
    if again:
        done.append((place, opened(place).apply_receipt(again)))
    for each in scopes:
        done.append((each, opened(each).forget(everything=True, dry_run=dry_run, receipt=_beside(receipt, len(done)))))
    try:
        if not again:
            kept = _beside(receipt, len(done))
            done.append((place, opened(place).forget(*(ids or ()), **ways, dry_run=dry_run, receipt=kept)))
    except Unknown:
        if not scopes:
            raise
    if as_json:
        documents = [_document(each, outcome) for each, outcome in done]
        screen.document(documents[0] if len(documents) == 1 else {"memories": documents})
    else:
        for each, outcome in done:
            _told(screen, each, outcome)
    if not all(outcome.done for _, outcome in done):
        raise typer.Exit(NOT_DONE)


def _of_user(place: Place, user: str) -> list[Place]:
    """The memories of the scopes of that user in the workspace, of those within the scope that was given."""
    parts = {*MemoryScope(**{**places.SCOPE.get(), "user": user}).folder.split("/")}
    found = [folder for folder in places.scopes(place.root) if parts <= {*folder.split("/")}]
    # A folder of a scope is that memory's own: the scope is not put below it once more.
    alone = replace(place, sessions_dir=None, scope=MemoryScope())
    return [replace(alone, memories_dir=folder) for folder in found if folder != place.memories_dir]


def _unasked(place: Place, ids: list[str], ways: dict[str, Any], receipt: Path | None, sessions: str | None) -> str:
    """What to do where nobody can be asked whether it is meant: the command as it was given, and a yes."""
    given = {**ways, "receipt": str(receipt or ""), "sessions": sessions or ""}
    options = [word for name, value in given.items() if value for word in (f"--{name}", value)]
    words = shlex.join(["forget", *ids, *options])
    look, mean = (place.command(f"{words} {option}", option="--workspace") for option in ("--dry-run", "--yes"))
    return f"nothing was erased: that cannot be undone. `{look}` shows what would go; `{mean}` erases it"


def _beside(receipt: Path | None, number: int) -> Path | None:
    """The file for one receipt of several: `receipt.json`, `receipt-2.json`, …"""
    if receipt is None or not number:
        return receipt
    return receipt.with_name(f"{receipt.stem}-{number + 1}{receipt.suffix}")


def _document(place: Place, outcome: Outcome) -> dict[str, Any]:
    memory = opened(place)
    return {
        **values.heading(place, memory),
        "id": outcome.erasure.id,
        "way": outcome.erasure.way,
        "dry_run": outcome.dry,
        "ok": outcome.done,
        "of": outcome.of,
        "wide": outcome.wide,
        "forgotten": values.all_of(memory, outcome.records, dry=outcome.dry),
        "retold": [
            {**each, "was": outcome.were.get(each["id"], each["text"])}
            for each in values.all_of(memory, outcome.retold, dry=outcome.dry)
        ],
        "found": [asdict(place) for place in outcome.found],
        "left": [asdict(place) for place in outcome.left],
        "receipts": outcome.receipts,
    }


def _told(screen: Screen, place: Place, outcome: Outcome) -> None:
    for record in outcome.records:
        screen.column(record.id, (record.text or "(its words are erased)", FAINT), width=14, style=ID)
    for record in outcome.retold:
        was = outcome.were.get(record.id, record.text)
        how = f" (was: {was}; told from other evidence)" if was != record.text else " (stays, from other evidence)"
        screen.column(record.id, record.text, (how, FAINT), width=14, style=ID)
    if outcome.dry:
        _listed(screen, place, outcome)
        _would(screen, outcome)
        screen.line("Nothing was changed.", indent=14)
        return
    count = len({found.path for found in outcome.found})
    erased = f"{many(len(outcome.records), 'memory', 'memories')} erased"
    screen.line((erased, GOOD), f", {many(count, 'file')} rewritten", indent=14)
    for path in outcome.receipts:
        screen.line("receipt: ", kept(path, FAINT), indent=14, hang=2)
    if outcome.left:
        screen.line(("It still stands here:", BAD))
        for left in outcome.left:
            screen.line(kept(_where(place, left.path, left.line), ""), (f"  {left.what}", FAINT), indent=2, hang=2)


def _listed(screen: Screen, place: Place, outcome: Outcome) -> None:
    for found in outcome.found[:SHOWN]:
        screen.line(kept(_where(place, found.path, found.line), ""), (f"  {found.what}", FAINT), indent=2, hang=2)
    if (more := len(outcome.found) - SHOWN) > 0:
        screen.line((f"and {more:,} more; --json lists all", FAINT), indent=2)


def _would(screen: Screen, outcome: Outcome) -> None:
    """How much it would take, and that more words would say better what is meant, where that is much."""
    told = many(len(outcome.retold), "is", "are")
    stays = f", {told} told from other evidence" if outcome.retold else ""
    taken = f"{many(len(outcome.records), 'memory goes', 'memories go')}{stays}"
    screen.line(f"{taken}; it stands in {many(len(outcome.found), 'place')}.", indent=14, hang=2)
    if outcome.wide:
        share = f"{len(outcome.records) + len(outcome.retold):,} of {many(outcome.of, 'memory', 'memories')}"
        screen.line(
            (f"These words are in {share}: more of them would say better which are meant.", BAD), indent=14, hang=2
        )


def _where(place: Place, path: str, line: int) -> str:
    shown = path if path.startswith("/") else place.path(path)
    return f"{shown}:{line}" if line else shown


def _ask(screen: Screen, place: Place, ids: list[str], ways: dict[str, Any], *, optional: bool) -> None:
    try:
        outcome = opened(place).forget(*ids, **ways, dry_run=True)
    except Unknown:
        if not optional:
            raise
        return
    for record in outcome.records:
        screen.column(record.id, record.text, width=14, style=ID)
    _listed(screen, place, outcome)
    _would(screen, outcome)
    if not typer.confirm(f"Erase {'it' if len(outcome.records) < 2 else 'them'} for good?"):
        screen.line("Nothing was erased.")
        raise typer.Exit(NOT_DONE)
