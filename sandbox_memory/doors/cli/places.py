"""Which workspace and which memory a command means, and how to name them back to the person."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import SandboxMemoryError
from ...layout import load_preset
from ...scope import PARTS, MemoryScope, is_scope

if TYPE_CHECKING:
    from ..plain import OpenMemory

MEMORIES, SESSIONS = "memories", "sessions"
SCOPE: ContextVar[Mapping[str, str]] = ContextVar("sandbox_memory_scope", default={})  # noqa: B039 - never changed
"""The parts of a scope that the command was given, by their names."""
EDITED = re.compile(r"/((?:MEMORY|memory_summary|INBOX)\.md|raw_memories/[^/]+\.md|skills/[^/]+/SKILL\.md)$")
"""The end of the path of a file that people edit; the group is its path below the memory's folder."""
CALL: ContextVar[str] = ContextVar("sandbox_memory_call", default="sandbox-memory status PATH")
"""How the command that runs is given a workspace."""
OPENED: ContextVar[list[OpenMemory]] = ContextVar("sandbox_memory_opened", default=[])  # noqa: B039 - set before use
"""The memories that the command has opened."""

HERE: ContextVar[Place | None] = ContextVar("sandbox_memory_here", default=None)
"""The memory that the command means, once it is found."""
FIRST = ("process", "status", "show", "web", "watch", "inbox", "history", "rebuild", "check", "vouch")
"""The commands that take a workspace as their first word; the others take it as an option."""
_TOLD = re.compile(r"PATH|--(?:workspace|memories|all-scopes|tenant|team|project|user)\b")
_ASKED = re.compile("“[^”]*”|`sandbox-memory (?P<verb>[a-z]+)(?P<rest>[^`]*)`")


class Misuse(SandboxMemoryError):
    """The command was called in a way that cannot work; it has done nothing."""


@dataclass(frozen=True)
class Place:
    """A memory of a workspace: the folder `root`, and inside it the folders; None for what the memory itself says.

    `named` is the workspace as the person named it, None where it was found by looking around. `scope` is below the
    two folders.
    """

    root: Path
    memories_dir: str
    sessions_dir: str | None
    preset: str | None = None
    named: str | None = None
    scope: MemoryScope = field(default_factory=MemoryScope)

    @property
    def whole(self) -> str:
        """The workspace's path from the root of the file system."""
        return str(_whole(self.root))

    def command(self, verb: str, *, option: str = "") -> str:
        """The command line that does `verb` to this memory, to be shown; `option` names the option for a workspace."""
        words = ["sandbox-memory", *verb.split(" ")]
        if self.named is not None:
            words += [option, shlex.quote(self.named)] if option else [shlex.quote(self.named)]
        if self.memories_dir != MEMORIES:
            words += ["--memories", shlex.quote(self.memories_dir)]
        words += [shlex.quote(f"--{part}={getattr(self.scope, part)}") for part in PARTS if getattr(self.scope, part)]
        return " ".join(words)

    def path(self, inside: str) -> str:
        """A file of the workspace as it can be opened from the current folder."""
        return shown(self.root / inside)


def here(text: str) -> str:
    """The text, its commands in backquotes naming the workspace and the memory as this command was given them.

    A person can then run them where they are. What is quoted stays as it is, and a command that names them already.
    """
    place = HERE.get()

    def named(found: re.Match[str]) -> str:
        verb, rest = found["verb"], found["rest"] or ""
        if place is None or not verb or verb in ("demo", "layouts") or _TOLD.search(rest):
            return found[0]
        if place.named is not None and shlex.quote(place.named) in rest.split(" "):
            return found[0]
        return f"`{place.command(verb + rest, option='' if verb in FIRST else '--workspace')}`"

    return _ASKED.sub(named, text)


def shown(path: Path) -> str:
    """The path from the current folder, if it is below it, else from the root."""
    relative = os.path.relpath(path)
    return str(_whole(path)) if relative.startswith("..") else relative


def _whole(path: Path) -> Path:
    """The path from the root, its links kept: the person knows them by these names."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links


def find(
    given: Path | None,
    memories_dir: str | None = None,
    sessions_dir: str | None = None,
    preset: str | None = None,
) -> Place:
    """The memory that these arguments mean; `Misuse` says what to do where they mean none, or one of several."""
    scope = MemoryScope(**SCOPE.get())
    root = _around(Path.cwd(), memories_dir) if given is None else _named(given)
    named = None if given is None else str(given)
    if preset is not None:
        memories_dir, sessions_dir = _of_preset(root, preset, memories_dir, sessions_dir)
    found = memories_dir or (_with(root, scope.folder) if scope.folder else _only(root))
    place = Place(root, found, sessions_dir, preset, named, scope)
    HERE.set(place)
    return place


def workspace(given: Path | None) -> Path:
    """The workspace that is meant; raises `Misuse` where none is."""
    return _around(Path.cwd(), None) if given is None else _named(Path(given))


def scopes(root: Path) -> list[str]:
    """The memories folders of the scopes that the workspace holds something of, sorted."""
    found = {folder for folder in _scopes_below(root, MEMORIES) if _begun(root, folder)}
    for sessions in _scopes_below(root, SESSIONS):
        if _transcripts(root / sessions):
            found.add(MEMORIES + sessions.removeprefix(SESSIONS))
    return sorted(found)


def every(given: Path | None, preset: str | None = None) -> list[Place]:
    """A place for each scope of the workspace, and first for its memory without one, if it has that."""
    root = workspace(given)
    own = [MEMORIES] if _begun(root) or _transcripts(root / SESSIONS) else []
    named = None if given is None else str(given)
    found = [*own, *scopes(root)]
    if not found:
        raise Misuse(f"{shown(root)} holds no memory and no transcripts yet")
    return [Place(root, folder, None, preset, named) for folder in found]


def of_file(target: str, workspace: Path | None = None) -> tuple[Path, str, str] | None:
    """For `FILE:LINE` with a file that is there: the workspace around it, its memories folder, and `NAME:LINE`.

    The file is looked for from the current folder, then from `workspace`.
    """
    file, colon, number = target.rpartition(":")
    if not (colon and number.isdigit()):
        return None
    tries = [Path(file), *([workspace / file] if workspace else [])]
    found = next((path for path in tries if path.is_file()), None)
    if found is None:
        return None
    path = _whole(found)
    name = f"{path.name}:{number}"
    for root in path.parent.parents if workspace is None else [_whole(workspace)]:
        if path.is_relative_to(root):
            memories_dir = path.parent.relative_to(root).as_posix()
            if memories_dir.split("/")[0] == MEMORIES:
                return root, memories_dir, name
    return (path.parent.parent, path.parent.name, name) if workspace is None else None


def around(file: Path) -> tuple[Path, str] | None:
    """For a file that is there and that people edit in a memory: its workspace, and the memory's folder in that."""
    found = EDITED.search(f"/{_whole(file).as_posix()}") if file.is_file() and not SCOPE.get() else None
    if found is None:
        return None
    folder = _whole(file).parents[found[1].count("/")]
    if not (folder / "ledger.jsonl").is_file():
        return None
    for root in folder.parents:
        inside = folder.relative_to(root)
        if inside.parts[0] == MEMORIES:
            return root, inside.as_posix()
    return folder.parent, folder.name


def elsewhere(place: Place) -> list[tuple[str, str]]:
    """The other memories of the workspace that hold something, as (memories folder, sessions folder).

    Those of scopes are not among them: what there is of others is nobody's business who asks about one.
    """
    if place.scope.folder or any(map(is_scope, place.memories_dir.split("/"))):
        return []
    found = {name: "sessions" + name.removeprefix(MEMORIES) for name in ledgers(place.root)}
    for folder in [place.root / SESSIONS, *_folders(place.root / SESSIONS)]:
        if _transcripts(folder) and not is_scope(folder.name):
            sessions = folder.relative_to(place.root).as_posix()
            found.setdefault(MEMORIES + sessions.removeprefix(SESSIONS), sessions)
    found.pop(place.memories_dir, None)
    return sorted(found.items())


def _named(given: Path) -> Path:
    if not given.exists():
        raise Misuse(f"there is no folder {given}; name a workspace, the folder that holds memories/ or sessions/")
    if not given.is_dir():
        raise Misuse(f"{given} is a file; name its workspace, the folder that holds memories/ or sessions/")
    if not (given / MEMORIES).exists() and not (given / SESSIONS).exists():
        above = shown(_whole(given).parent)
        if (given / "ledger.jsonl").is_file():
            raise Misuse(f"{given} is a memory itself; name the workspace that it is in: {above}")
        if _whole(given).name == SESSIONS and _transcripts(given):
            raise Misuse(f"{given} holds transcripts itself; name the workspace that it is in: {above}")
    return given


def _around(start: Path, memories_dir: str | None) -> Path:
    candidates = [start, *start.parents]
    for holds in (lambda root: _holds_memory(root, memories_dir), lambda root: (root / SESSIONS).is_dir()):
        for root in candidates:
            if holds(root):
                return root
    call = CALL.get()
    here = f"; `{call.replace('PATH', '.')}` begins one in this folder" if " add " in call else ""
    raise Misuse(
        f"no workspace is here: neither {start} nor a folder above it holds memories/ledger.jsonl, "
        f"memories/MEMORY.md or sessions/. Go into a workspace, or name one, as in `{call}`{here}"
    )


def _holds_memory(root: Path, memories_dir: str | None) -> bool:
    if memories_dir is not None:
        return (root / memories_dir).is_dir()
    return _begun(root) or bool(ledgers(root)) or _transcripts(root / SESSIONS) or bool(scopes(root))


def _begun(root: Path, memories_dir: str = MEMORIES) -> bool:
    return any((root / memories_dir / name).is_file() for name in ("ledger.jsonl", "MEMORY.md"))


def _with(root: Path, scope: str) -> str:
    """The memories folder that has that scope below it: the usual one, or the only other one."""
    has = [name for name in [MEMORIES, *_layouts(root)] if (root / name / scope).is_dir()]
    return has[0] if len(has) == 1 else MEMORIES


def _only(root: Path) -> str:
    """The memories folder to use where none is named: the usual one, or the only one that there is."""
    if _begun(root) or _transcripts(root / SESSIONS):
        return MEMORIES
    others = ledgers(root)
    if len(others) > 1:
        names = ", ".join(others)
        raise Misuse(f"{shown(root)} has several memories, {names}; say which, as in --memories {others[0]}")
    if not others and (of_scopes := scopes(root)):
        raise Misuse(f"{shown(root)} holds memories of scopes only. {which(of_scopes)}")
    return others[0] if others else MEMORIES


def which(of_scopes: list[str]) -> str:
    """What to say where a command may have meant one of several scopes."""
    told, more = of_scopes[:10], len(of_scopes) - 10
    rest = f" and {more} more" if more > 0 else ""
    return (
        f"Say whose, as in --tenant NAME or --user NAME, or by its folder, --memories DIR: {', '.join(told)}{rest}. "
        "`sandbox-memory process --all-scopes` processes all of them"
    )


def _of_preset(root: Path, name: str, memories: str | None, sessions: str | None) -> tuple[str | None, str | None]:
    """The preset's own folders, or the usual ones where the workspace has only those."""
    if memories is not None or sessions is not None:
        return memories or MEMORIES, sessions
    found = load_preset(name)
    has_own = (root / found.memories_dir / "ledger.jsonl").is_file() or _transcripts(root / found.sessions_dir)
    if not has_own and (_begun(root) or _transcripts(root / SESSIONS)):
        return MEMORIES, None
    return found.memories_dir, found.sessions_dir


def ledgers(root: Path) -> list[str]:
    """The memories folders below `memories/` that have a ledger of their own."""
    return [name for name in _layouts(root) if (root / name / "ledger.jsonl").is_file()]


def _layouts(root: Path) -> list[str]:
    """The folders below `memories/`, those of scopes excepted."""
    return [f"{MEMORIES}/{folder.name}" for folder in _folders(root / MEMORIES) if not is_scope(folder.name)]


def _scopes_below(root: Path, top: str) -> Iterator[str]:
    """The folders of scopes below `memories/` or `sessions/`, and below those of layouts there."""
    waiting = [top, *(f"{top}/{each.name}" for each in _folders(root / top) if not is_scope(each.name))]
    while waiting:
        above = waiting.pop()
        for folder in _folders(root / above):
            if is_scope(folder.name) and not folder.is_symlink():
                yield f"{above}/{folder.name}"
                waiting.append(f"{above}/{folder.name}")


def _transcripts(folder: Path) -> bool:
    try:
        return any(entry.suffix == ".jsonl" for entry in folder.iterdir())
    except OSError:
        return False


def _folders(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return
