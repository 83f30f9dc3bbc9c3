"""The only way to a workspace's files: look at many at once, change several under one lock.

A workspace is a local folder (`local.LocalWorkspace`) or a remote sandbox session (`session.SessionWorkspace`). Paths
are relative to its root, with forward slashes. Neither the file nor a folder on the way to it may be a symlink: nothing
here follows one.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ..errors import WorkspaceError

TAIL = 4096
"""Bytes at the end of a file that a `Mark` covers."""
ABSENT = ""
"""The digest of a file that does not exist."""
LARGEST = 256 << 20
"""Bytes that one read takes in at most; a file that has more to give is left alone: it may be without end."""
TEMP_PREFIX, TEMP_SUFFIX = ".sandbox-memory-", ".tmp"
"""How the names of our temporary files begin and end; a look never lists them."""

UNFIT: Mapping[str, str] = {
    "symlink": "is a symlink",
    "folder": "is a folder",
    "fifo": "is a FIFO",
    "special": "is not a regular file",
    "file": "is not a folder",
    "denied": "cannot be opened: permission denied",
    "large": f"has more than {LARGEST >> 20} MiB",
    "parent-symlink": "lies behind a symlink",
    "parent-other": "lies behind something that is not a folder",
}
"""Why a path cannot be used, in words, by the code that both workspaces find it by."""


def digest(data: bytes) -> str:
    """The SHA-256 of the whole content, in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Ask:
    """What to read: `limit` bytes (None: all) from byte `start` on. Raises `ValueError` when one is negative."""

    path: str
    start: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.limit is not None and self.limit < 0):
            raise ValueError(f"Ask({self.path!r}): start and limit must not be negative")


@dataclass(frozen=True)
class View:
    """What one look saw, keyed by path as it was asked for.

    `files` holds only those that exist and are readable regular files. `folders` gives the regular files directly
    inside, name to size, save those with a line break in their name; a missing folder is an empty mapping. `problems`
    says why something cannot be read: a symlink, a FIFO, a folder in place of a file, no permission, more than
    `LARGEST` bytes without a limit. What is in none of them does not exist.
    """

    files: Mapping[str, bytes]
    folders: Mapping[str, Mapping[str, int]]
    problems: Mapping[str, str]


@dataclass(frozen=True)
class Mark:
    """How a file ended when it was read: its size, and the SHA-256 of its last `TAIL` bytes in hex.

    A missing file has the mark of an empty one. A stat and one read suffice to make one, however long the file is.
    """

    size: int
    tail: str

    @classmethod
    def of(cls, data: bytes) -> Mark:
        """The mark of a file with that content."""
        return cls(len(data), digest(data[-TAIL:]))


@dataclass(frozen=True)
class Append:
    """Add `data` at the end, in one write. A file that does not end in a newline gets one first."""

    path: str
    data: bytes
    expect: Mark | None = None
    required: bool = True
    private: bool = False


@dataclass(frozen=True)
class Replace:
    """Make `data` the whole content, by an atomic rename; an existing file keeps its mode and owner.

    `expect` is the digest of the content that it replaces, `ABSENT`, or None for whatever is there. Equal bytes are
    not written again.
    """

    path: str
    data: bytes
    expect: str | None = None
    required: bool = False
    private: bool = False


@dataclass(frozen=True)
class Remove:
    """Delete the file. A file that is already gone is no problem, unless `expect` is the digest of a content."""

    path: str
    expect: str | None = None
    required: bool = False


Step: TypeAlias = "Append | Replace | Remove"


@dataclass(frozen=True)
class Outcome:
    """What a transaction left undone, and the sizes of the files that it appended to.

    `skipped` has the paths, in the order of the steps, of optional steps whose guard failed or that met a problem.
    """

    skipped: tuple[str, ...]
    sizes: Mapping[str, int]


class Workspace(Protocol):
    """Files under one root. Both methods raise `WorkspaceError` for paths that are absolute or leave the root."""

    async def look(self, asks: Sequence[Ask | str], folders: Sequence[str] = ()) -> View:
        """Read files and list folders; one call on a remote session, whatever their number.

        Raises `WorkspaceError` when the root cannot be reached; a trouble with a single path is in `View.problems`.
        """
        ...

    async def transact(self, steps: Sequence[Step], *, lock: str, timeout: float = 30.0) -> Outcome:
        """Change files under the lock at path `lock`; at most two calls on a remote session.

        First the guard of every step is checked against the files as they are: a required one that fails raises
        `Conflict`, a required step on what is not a regular file raises `WorkspaceError`, both with nothing done. Then
        the steps run in order; missing folders are made; `private` files are created with mode 0600. A required step
        that fails while it runs (a full disk, a save that lands just before the rename) raises the same two errors:
        the steps before it stay done, it and those after it are not done. At most one step for each path.

        `timeout` is how many seconds to wait for the lock; then `LockTimeout`. Raises `ValueError` for two steps with
        one path.
        """
        ...


def relative(path: str) -> str:
    """The path in normal form. Raises `WorkspaceError` if it is empty, absolute, or leaves the root."""
    normal = posixpath.normpath(path) if path else "."
    if normal == ".":
        raise WorkspaceError(path or ".", "is not the path of a file in the workspace")
    return _inside(path, normal)


def relative_folder(path: str) -> str:
    """The same for a folder, where `.` is the root itself."""
    return _inside(path, posixpath.normpath(path) if path else ".")


def _inside(path: str, normal: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise WorkspaceError(path, "is outside the workspace", "Give a path relative to its root, without '..'")
    if "\n" in path or "\0" in path:
        raise WorkspaceError(repr(path), "holds a line break or a NUL")
    return normal


def asked(asks: Sequence[Ask | str]) -> list[tuple[Ask, str]]:
    """Each ask with its path in normal form. Raises `ValueError` if one path is asked for in two ways."""
    found: dict[str, Ask] = {}
    for item in asks:
        ask = Ask(item) if isinstance(item, str) else item
        if found.setdefault(ask.path, ask) != ask:
            raise ValueError(f"{ask.path} is asked for twice, with different ranges")
    return [(ask, relative(path)) for path, ask in found.items()]


def planned(steps: Sequence[Step], lock: str) -> list[tuple[Step, str]]:
    """Each step with its path in normal form. Raises `ValueError` if two steps, or a step and the lock, share one."""
    taken = {relative(lock)}
    pairs = []
    for step in steps:
        path = relative(step.path)
        if path in taken:
            raise ValueError(f"{step.path} has two steps in one transaction, or is its lock")
        taken.add(path)
        pairs.append((step, path))
    return pairs


def is_listed(name: str) -> bool:
    """False for our temporary files, and for names with a line break, which no path of a workspace may hold."""
    return not is_temporary(name) and "\n" not in name


def is_temporary(name: str) -> bool:
    """True for the file names that only we make, and that stand for nothing."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)
