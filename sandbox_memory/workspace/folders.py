"""Reading one folder of this machine through a descriptor, so that no link on the way to it is ever followed."""

from __future__ import annotations

import errno
import os
import pwd
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import WorkspaceError
from . import (
    ABSENT,
    LARGEST,
    TAIL,
    TEMP_PREFIX,
    TEMP_SUFFIX,
    UNFIT,
    Ask,
    Mark,
    View,
    asked,
    digest,
    is_listed,
    relative_folder,
)

# Entering a folder needs the right to pass through it, not the right to list it.
_ENTER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
PLAIN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags for opening a file. Not to block: should a FIFO take the file's place just before, opening it must not hang."""
TEMPORARY = re.compile(re.escape(TEMP_PREFIX) + r"[0-9a-f]+(\.part)?" + re.escape(TEMP_SUFFIX))
"""The name of a file that is being written, or (group 1) of a part that a session has sent."""
DISPLACED = re.compile(
    re.escape(TEMP_PREFIX) + r"[0-9a-f]+-([0-9a-f]{16})-([0-9a-f]{16}|absent)-(.+)" + re.escape(TEMP_SUFFIX), re.DOTALL
)
"""The name of a displaced file: what was expected there, what takes its place, and the name that it had."""
_LONGEST_NAME = 255
_FULL, _CLOSED = "Free some space there, then try again", "Check the owner and the mode of the file and of its folder"
_HINTS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: "Mount the workspace writable",
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
}


class Unfit(Exception):
    """What is at a path is nothing to read or write; the argument is a key of `UNFIT`."""


def reason(error: Unfit | OSError) -> str:
    """What went wrong, as the end of a sentence that begins with the path."""
    if isinstance(error, Unfit):
        return UNFIT[error.args[0]]
    if error.errno in (errno.EACCES, errno.EPERM):
        return UNFIT["denied"]
    return f"cannot be opened: {error.strerror or error}"


def failure(path: str, error: Unfit | OSError) -> WorkspaceError:
    """The error to raise about that path."""
    if isinstance(error, Unfit) and error.args[0] == "denied":
        return WorkspaceError(path, reason(error), _CLOSED)
    if isinstance(error, Unfit):
        return WorkspaceError(path, reason(error), "Memory never goes through or into such a thing; move it away")
    return WorkspaceError(path, error.strerror or str(error), _HINTS.get(error.errno or 0, ""))


def group_of(users: Sequence[str]) -> int | None:
    """The group of the first of these users whom this machine has; None for this process's own, and for nobody."""
    for name in users:
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_gid if found.pw_uid != os.geteuid() else None
    return None


def share(handle: int, group: int | None, mode: int) -> None:
    """Let that group read what was just made; where this process may not give it away, it stays its owner's alone."""
    if group is not None:
        with suppress(PermissionError):
            os.fchown(handle, -1, group)
            os.fchmod(handle, mode)


def temporary_name(token: str) -> str:
    """What a file is called while it is being written; the token is a few hex digits."""
    return f"{TEMP_PREFIX}{token}{TEMP_SUFFIX}"


def displaced_name(token: str, expected: str, new: str, home: str) -> str | None:
    """What a file is called on its way in or out, None if that is too long; `DISPLACED` reads it."""
    name = f"{TEMP_PREFIX}{token}-{expected[:16]}-{new[:16]}-{home}{TEMP_SUFFIX}"
    return name if len(os.fsencode(name)) <= _LONGEST_NAME else None


@contextmanager
def parent(root: Path, path: str, make: Callable[[int, str], None] | None = None) -> Iterator[tuple[int, str]]:
    """The folder of a path in normal form, as an open descriptor, and the last name.

    `make` is called for each folder on the way before it is entered. Raises FileNotFoundError where one is missing,
    `Unfit` where one is a symlink or no folder.
    """
    *above, name = path.split("/")
    folder = os.open(root, _ENTER)
    try:
        for part in above:
            if make:
                make(folder, part)
            try:
                below = _enter(folder, part)
            except Unfit as error:
                raise Unfit("parent-symlink" if error.args[0] == "symlink" else "parent-other") from None
            os.close(folder)
            folder = below
        yield folder, name
    finally:
        os.close(folder)


@contextmanager
def listing(root: Path, path: str) -> Iterator[int]:
    """A folder as a descriptor that can be listed; `.` and the empty path are the root."""
    with parent(root, path or ".") as (above, name):
        entered = _enter(above, name)
    try:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=entered)
    finally:
        os.close(entered)
    try:
        yield folder
    finally:
        os.close(folder)


def _enter(folder: int, name: str) -> int:
    try:
        return os.open(name, _ENTER | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        is_link = stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        raise Unfit("symlink" if is_link else "file") from None


def plain(folder: int, name: str) -> os.stat_result | None:
    """The regular file of that name, None if there is nothing; raises `Unfit` if there is something else."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        kinds = {stat.S_IFLNK: "symlink", stat.S_IFDIR: "folder", stat.S_IFIFO: "fifo"}
        raise Unfit(kinds.get(stat.S_IFMT(found.st_mode), "special"))
    return found


def read(folder: int, name: str, start: int = 0, limit: int | None = None) -> bytes | None:
    """The content, or a part of it; None if there is no such file. Raises `Unfit` and OSError."""
    if plain(folder, name) is None:
        return None
    try:
        handle = os.open(name, os.O_RDONLY | PLAIN, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unfit("special")
        if limit is None and status.st_size - start > LARGEST:
            raise Unfit("large")
        file.seek(start)
        return file.read(-1 if limit is None else limit)


def content_digest(folder: int, name: str) -> str:
    """The digest of that file, `ABSENT` if there is none."""
    content = read(folder, name)
    return ABSENT if content is None else digest(content)


def mark(folder: int, name: str) -> Mark:
    """The mark of that file, an empty one's if there is none."""
    found = plain(folder, name)
    if found is None:
        return Mark.of(b"")
    tail = read(folder, name, max(0, found.st_size - TAIL), TAIL) or b""
    return Mark(found.st_size, digest(tail))


def sizes(folder: int) -> dict[str, int]:
    """The regular files directly inside, by name; our own temporary files are left out, see `is_listed`."""
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and is_listed(entry.name):
                    found[entry.name] = status.st_size
    return dict(sorted(found.items()))


def view(root: Path, asks: Sequence[Ask | str], folders: Sequence[str]) -> View:
    """See `Workspace.look`."""
    files: dict[str, bytes] = {}
    listings: dict[str, dict[str, int]] = {}
    problems: dict[str, str] = {}
    for ask, path in asked(asks):
        with _noting(problems, ask.path), parent(root, path) as (folder, name):
            content = read(folder, name, ask.start, ask.limit)
            if content is not None:
                files[ask.path] = content
    for key in folders:
        listings[key] = {}
        with _noting(problems, key), listing(root, relative_folder(key)) as folder:
            listings[key] = sizes(folder)
    return View(files, listings, problems)


@contextmanager
def _noting(problems: dict[str, str], key: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        pass
    except (Unfit, OSError) as error:
        problems[key] = reason(error)
