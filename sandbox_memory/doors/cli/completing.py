"""What the shell offers for a half-typed word: ids with texts, questions, commits, presets. Nothing is written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import typer
from typer import _completion_shared

from ...errors import SandboxMemoryError
from ...layout import preset_names
from ...records import Kind, Status
from ...scope import MemoryScope
from . import editing, keys, places

if TYPE_CHECKING:
    from ...ledger import Ledger
    from ...state import State

Offers = list[tuple[str, str]]
LONGEST = 60
"""Characters of a text that an offer shows."""


_BACK = (Status.DELETED, Status.RETIRED, Status.SUPERSEDED)
_IN = (Status.ACTIVE, Status.HELD)


def records(ctx: typer.Context, incomplete: str) -> Offers:
    """The ids of what is remembered."""
    known = _known(ctx)
    return _offers(incomplete, ((r.id, r.text) for r in known[0].visible().values()) if known else ())


def gone(ctx: typer.Context, incomplete: str) -> Offers:
    """The ids of what `restore` can bring back; with a time, also of what it can make what it was then."""
    known = _known(ctx)
    if known and ctx.params.get("as_of"):
        return _offers(incomplete, ((r.id, r.text) for r in known[0].records.values() if r.status in (*_IN, *_BACK)))
    return _offers(
        incomplete, ((r.id, r.text) for r in known[0].records.values() if r.status in _BACK) if known else ()
    )


def reasons(ctx: typer.Context, incomplete: str) -> Offers:
    """What `why` takes: ids, and the files whose lines it explains; others are for the shell to complete."""
    files = (("MEMORY.md", "every line of it"), ("memory_summary.md", "every line of it"))
    return [*records(ctx, incomplete), *_offers(incomplete, files)]


def editable(ctx: typer.Context, incomplete: str) -> Offers:
    """What `edit` takes: ids, and the files of the memory that people edit."""
    found: list[str] = []
    with suppress(SandboxMemoryError, OSError):
        place = _place(ctx)
        found = editing.files(place.root / place.memories_dir / place.scope.folder)
    return [*records(ctx, incomplete), *_offers(incomplete, ((name, "") for name in found))]


def questions(ctx: typer.Context, incomplete: str) -> Offers:
    """The ids of the questions in the inbox."""
    known = _known(ctx)
    return _offers(incomplete, ((p.id, p.text) for p in known[0].proposals.values()) if known else ())


def commits(ctx: typer.Context, incomplete: str) -> Offers:
    """The numbers of the newest commits."""
    known = _known(ctx)
    newest = reversed(known[1].commits[-50:]) if known else ()
    return _offers(incomplete, ((str(c.ordinal), f"{c.at[:16]} {c.actor}") for c in newest))


def memories(ctx: typer.Context, incomplete: str) -> Offers:
    """The memories folders of the workspace."""
    given = ctx.params.get("workspace") or ctx.params.get("path")
    with suppress(SandboxMemoryError, OSError):
        place = places.find(given, places.MEMORIES)
        return _offers(incomplete, ((name, "") for name in [places.MEMORIES, *places.ledgers(place.root)]))
    return []


def scopes(part: str) -> Callable[[typer.Context, str], Offers]:
    """What completes the names of a part of a scope: those that the workspace has folders of, beside the parts so far.

    A name that is not plain is not to be told from its folder.
    """

    def names(ctx: typer.Context, incomplete: str) -> Offers:
        with suppress(SandboxMemoryError, OSError):
            given = {name: value for name, value in places.SCOPE.get().items() if name != part}
            beside = set(MemoryScope(**given).folder.split("/")) - {""}
            root = places.workspace(ctx.params.get("workspace") or ctx.params.get("path"))
            parts = [set(folder.split("/")) for folder in places.scopes(root)]
            found = {name for whole in parts if beside <= whole for name in whole if name.startswith(f"{part}=")}
            plain = [name.partition("=")[2] for name in sorted(found)]
            return _offers(incomplete, ((n, "") for n in plain if MemoryScope(user=n).folder == f"user={n}"))
        return []

    return names


def presets(incomplete: str) -> Offers:
    """The presets that ship."""
    return _offers(incomplete, ((name, "") for name in preset_names()))


def kinds(incomplete: str) -> Offers:
    """The kinds of what is remembered."""
    return _offers(incomplete, ((kind.value, "") for kind in Kind))


def shell(incomplete: str) -> Offers:
    """Nothing: the shell itself completes the names of files and folders."""
    return []


def from_the_first_tab() -> None:
    """Have the script for zsh complete when it is called first, too: Typer's only makes itself known then."""
    scripts = getattr(_completion_shared, "_completion_scripts", {})
    if "zsh" in scripts and "funcstack" not in scripts["zsh"]:
        scripts["zsh"] += '\n[ "$funcstack[1]" != "_%(prog_name)s" ] || %(complete_func)s "$@"\n'


def _offers(incomplete: str, found: Iterable[tuple[str, str]]) -> Offers:
    return [(name, text[:LONGEST]) for name, text in found if name.startswith(incomplete.lstrip("^"))]


def _place(ctx: typer.Context) -> places.Place:
    given = ctx.params.get("workspace") or ctx.params.get("path")
    return places.find(given, ctx.params.get("memories"), ctx.params.get("sessions"))


def _known(ctx: typer.Context) -> tuple[State, Ledger] | None:
    """The memory that the words so far mean, read and not touched; None where they mean none."""
    from ..plain import open_memory, run

    logging.getLogger("sandbox_memory").addHandler(logging.NullHandler())  # a warning would stand in the command line
    with suppress(SandboxMemoryError, OSError):
        place = _place(ctx)
        memory = open_memory(
            place.root,
            memories_dir=place.memories_dir,
            sessions_dir=place.sessions_dir,
            scope=place.scope,
            key=keys.key(),
        )
        return run(memory.inquiry.state()), memory.pipeline.store.ledger
    return None
