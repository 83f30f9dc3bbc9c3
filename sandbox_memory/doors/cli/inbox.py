"""The command `inbox`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ...proposals import NAMED
from . import completing, places, values
from .common import JsonOption, MemoriesOption, PathArgument, SessionsOption, app, opened
from .helped import Command
from .places import Misuse
from .screen import FAINT, GOOD, ID, WARN, Screen, kept


@app.command(cls=Command, epilog="Example: sandbox-memory inbox --accept p-52d0d62f4a")
def inbox(
    path: PathArgument = None,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="ID", help="Say yes to that question.", autocompletion=completing.questions),
    ] = None,
    refuse: Annotated[
        list[str] | None,
        typer.Option("--refuse", metavar="ID", help="Say no to that question.", autocompletion=completing.questions),
    ] = None,
    words: Annotated[
        str, typer.Option("--words", metavar="TEXT", help="With one --accept: remember these words instead.")
    ] = "",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name each of the lines that a question about many is about.")
    ] = False,
    memories: MemoriesOption = None,
    sessions: SessionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the questions that wait for you, and answer them.

    The same as ticking a line of INBOX.md, or deleting it. Both options may be given several times. PATH is the
    workspace; by default the one around you.
    """
    wanted = [(id.lstrip("^"), True) for id in accept or ()] + [(id.lstrip("^"), False) for id in refuse or ()]
    if len({id for id, _ in wanted}) < len(wanted):
        raise Misuse("one question has two answers: name each of them once")
    if words and (len(wanted) != 1 or not accept):
        raise Misuse("--words are for one question: give one --accept beside it, and no --refuse")
    place, screen = places.find(path, memories, sessions), Screen(as_json=as_json)
    memory = opened(place)
    done = [memory.answer(id, yes, words) for id, yes in wanted]
    waiting = memory.inbox()
    if as_json:
        answered = [
            {**asdict(each.asked), "accepted": each.accepted, "records": values.all_of(memory, each.records)}
            for each in done
        ]
        open_now = [asdict(each) for each in waiting]
        screen.document({**values.heading(place, memory), "answered": answered, "questions": open_now})
        return
    for each in done:
        word, style = ("accepted", GOOD) if each.accepted else ("refused", WARN)
        screen.column(word, each.asked.question, width=10, style=style)
        for record in each.records:
            screen.line((record.id, ID), f"  {record.text}", (f"  {record.status.value}", FAINT), indent=10, hang=2)
        if each.accepted and not each.records:
            screen.line(("without effect: what it was about has changed since", WARN), indent=10, hang=2)
    if done and waiting:
        screen.gap()
    if not waiting:
        screen.line("No question waits." if not done else "No other question waits.")
        return
    for question in waiting:
        screen.column(question.id, question.question, (f"  from {question.source}", FAINT), width=14, style=ID)
        shown = question.lines if verbose else question.lines[:NAMED]
        for text in shown:
            screen.line(text, indent=14, hang=2)
        if len(shown) < len(question.lines):
            more = f"and {len(question.lines) - len(shown):,} more; --verbose names them all"
            screen.line((more, FAINT), indent=14)
    screen.gap()
    screen.line(
        kept(f"{place.command('inbox')} --accept {waiting[0].id}"), ("  or --refuse; or tick it in", FAINT), hang=2
    )
    screen.line(kept(place.path(memory.layout.inbox)), indent=2)
