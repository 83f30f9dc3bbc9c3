"""Digests of what this user's processes wrote, kept outside the workspace, where an agent's shell has no business.

An agent with a shell can write anything in the workspace, the ledger with a valid chain included. What it wrote there
is not among these digests: it counts for nothing, and `sandbox-memory check` names it. A digest covers a line and the
file that it was written to, as the workspace calls it, so that no line can be moved to another conversation or layout;
the digests of all workspaces are one set, in files by their first two hex digits, so that a workspace may be copied.

Transcripts may also come from elsewhere: a person puts them there, to be read. Those that are there while no session is
open are vouched for; those that appear during a session are doubted, and no later look vouches for them.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

logger = logging.getLogger(__name__)

ANCHORS, DOUBTS = "anchors", "doubts"
TAKEN = "taken"
"""Lines of a history from elsewhere that stood there when this machine first wrote to it: believed as they were."""
GONE = "gone"
"""Lines of ours that we have rewritten or removed ourselves, as forgetting does: they need not be there any more."""
CACHED = 500_000
"""Digests that a process keeps in memory at most; beyond that it reads their files again."""


def digest(line: bytes, path: str = "") -> str:
    """What is kept of a written line: sha256 of the file's name in the workspace and its bytes without the line end."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape") + b"\0" + line.rstrip(b"\n")).hexdigest()


def folder(name: str = ANCHORS) -> Path:
    """Where the digests are: `$XDG_STATE_HOME/sandbox-memory/anchors`, by default below `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "sandbox-memory" / name


def keep(lines: Iterable[bytes], path: str = "", name: str = ANCHORS) -> None:
    """Note that these lines were written to that file by us. Without a state folder they stay unanchored."""
    keep_digests((digest(line, path) for line in lines), name)


def keep_digests(values: Iterable[str], name: str = ANCHORS) -> None:
    """Note these digests; a state folder that cannot be written is logged."""
    files: dict[str, list[str]] = {}
    for value in values:
        files.setdefault(value[:2], []).append(value)
    try:
        for prefix, found in files.items():
            with private_file(private(folder(name)) / prefix).open("a", encoding="ascii") as file:
                file.write("\n".join([*found, ""]))
    except OSError as error:
        logger.warning("sandbox memory: the state folder cannot be written, so that nothing is anchored: %s", error)


def private(place: Path) -> Path:
    """The folder, made if need be, for this user only."""
    missing = [each for each in (place, *place.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True, mode=0o700)  # with `parents` the ones above would get the mode that is usual
    return place


def private_file(path: Path) -> Path:
    """The file, made if need be, for this user only."""
    if not path.exists():
        path.touch(mode=0o600)
    return path


def follow(before: Sequence[bytes], after: Sequence[bytes], path: str) -> None:
    """Note the lines that were made from others by us, position by position: they are what those were.

    `after` may have an empty line where a line was taken out.
    """
    changed = [n for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    old, new = [before[n] for n in changed], [after[n] for n in changed]
    for name in (ANCHORS, TAKEN, DOUBTS):
        missing = set(unknown(old, path, name))
        keep((line for n, line in enumerate(new) if n not in missing and line.strip()), path, name)
    keep(old, path, GONE)


def vouch(lines: Sequence[bytes], path: str, *, session_open: bool) -> None:
    """Vouch for the lines of transcripts that something else wrote, or doubt them while a session is open."""
    foreign = [lines[n] for n in unknown(lines, path)]
    if session_open:
        keep(foreign, path, DOUBTS)
    elif foreign:
        keep((foreign[n] for n in unknown(foreign, path, DOUBTS)), path)


def doubted(lines: Sequence[bytes], path: str) -> set[int]:
    """The positions of those lines that something else wrote while a session was open: it may have been the agent."""
    return set(range(len(lines))).difference(unknown(lines, path, DOUBTS))


def unknown(lines: Iterable[bytes], path: str, name: str = ANCHORS) -> list[int]:
    """The positions of those lines that were not written by us, or not on this machine."""
    return [n for n, known in enumerate(known_among([digest(line, path) for line in lines], (name,))) if not known]


def known_among(values: Sequence[str], names: Collection[str] = (ANCHORS,)) -> list[bool]:
    """For each of these digests whether it is in one of the sets."""
    found = [False] * len(values)
    for name in names:
        place = str(folder(name))
        for n, value in enumerate(values):
            found[n] = found[n] or _within(f"{place}/{value[:2]}", value)
    return found


_SETS: dict[str, tuple[int, set[bytes]]] = {}


def forget_sets() -> None:
    """Read all sets again: the state folder was put back, or is another."""
    _SETS.clear()


def _within(path: str, value: str) -> bool:
    """Looks in the set as it was read; what is not there may have been added since."""
    wanted = bytes.fromhex(value)
    read, found = _SETS.get(path, (0, set()))
    if wanted in found:
        return True
    try:
        size = os.stat(path).st_size  # noqa: PTH116 - a Path for every line of a history takes longer than the look
        if size == read:
            return False
        start = read if size > read else 0
        with open(path, "rb") as file:  # noqa: PTH123 - as above: the path is a text here
            file.seek(start)
            data = file.read()
    except OSError:
        return False
    if not start:
        found = set()
    end = data.rfind(b"\n") + 1
    found |= {bytes.fromhex(word.decode("ascii")) for word in data[:end].split() if len(word) == 64}
    if sum(len(values) for _, values in _SETS.values()) + len(found) > CACHED:
        _SETS.clear()
    _SETS[path] = (start + end, found)
    return wanted in found
