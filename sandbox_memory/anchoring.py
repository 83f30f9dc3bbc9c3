"""Digests of what this user's processes wrote, kept outside the workspace, where an agent's shell has no business.

An agent with a shell can write anything in the workspace, the ledger with a valid chain included. What it wrote there
is not among these digests, and `sandbox-memory check` says so. The digests of all workspaces are one set, in files by
their first two hex digits, so that a workspace may be copied, moved or restored.

Transcripts may also come from elsewhere: a person puts them there, to be read. Those that are there while no session is
open are vouched for; those that appear during a session are doubted, and no later look vouches for them.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

logger = logging.getLogger(__name__)

ANCHORS, DOUBTS = "anchors", "doubts"


def digest(line: bytes) -> str:
    """What is kept of a written line: sha256 of its bytes without the line end."""
    return hashlib.sha256(line.rstrip(b"\n")).hexdigest()


def folder(name: str = ANCHORS) -> Path:
    """Where the digests are: `$XDG_STATE_HOME/sandbox-memory/anchors`, by default below `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "sandbox-memory" / name


def keep(lines: Iterable[bytes], name: str = ANCHORS) -> None:
    """Note that these lines were written by us. A state folder that cannot be written leaves them unanchored."""
    try:
        place = folder(name)
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        for line in lines:
            value = digest(line)
            with (place / value[:2]).open("a", encoding="ascii") as file:
                file.write(value + "\n")
    except OSError as error:
        logger.debug("sandbox memory: nothing was anchored: %s", error)


def follow(before: Sequence[bytes], after: Sequence[bytes]) -> None:
    """Note the lines that were made from others by us, position by position, if those were written by us."""
    missing = set(unknown(before))
    keep(new for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new and n not in missing)


def vouch(lines: Sequence[bytes], *, session_open: bool) -> None:
    """Vouch for the lines of transcripts that something else wrote, or doubt them while a session is open."""
    foreign = [lines[n] for n in unknown(lines)]
    if session_open:
        keep(foreign, DOUBTS)
    elif foreign:
        keep(foreign[n] for n in unknown(foreign, DOUBTS))


def doubted(lines: Sequence[bytes]) -> set[int]:
    """The positions of those lines that something else wrote while a session was open: it may have been the agent."""
    return set(range(len(lines))).difference(unknown(lines, DOUBTS))


def unknown(lines: Iterable[bytes], name: str = ANCHORS) -> list[int]:
    """The positions of those lines that were not written by us, or not on this machine."""
    place, sets = folder(name), {}
    missing = []
    for position, line in enumerate(lines):
        value = digest(line)
        if value[:2] not in sets:
            try:
                sets[value[:2]] = set((place / value[:2]).read_text(encoding="ascii").split())
            except OSError:
                sets[value[:2]] = set()
        if value not in sets[value[:2]]:
            missing.append(position)
    return missing
