"""A workspace that is a folder on this machine."""

from __future__ import annotations

import errno
import logging
import os
import posixpath
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from ..errors import Conflict, WorkspaceError
from . import ABSENT, Append, Ask, Mark, Outcome, Remove, Replace, Step, View, digest, is_temporary, planned, relative
from .displacing import Changed, put_new, remove, settle, swap
from .exchange import can_exchange
from .folders import (
    DISPLACED,
    PLAIN,
    TEMPORARY,
    Unfit,
    content_digest,
    displaced_name,
    failure,
    group_of,
    listing,
    mark,
    parent,
    plain,
    read,
    reason,
    share,
    temporary_name,
    view,
)
from .locking import locked

logger = logging.getLogger(__name__)

_PART_SECONDS = 600.0


class LocalWorkspace:
    """The files under a folder of this machine. That folder must exist; it alone may be a symlink.

    What is made new is its owner's alone, 0600 and 0700 or what is left of that by the umask. The group of the first of
    the `readers`, users whom an agent runs as, may read it too, but for what is private.
    """

    def __init__(self, root: Path, readers: Sequence[str] = ()) -> None:
        self.root = Path(root)
        self._group = group_of(readers)

    async def look(self, asks: Sequence[Ask | str], folders: Sequence[str] = ()) -> View:
        """See `Workspace.look`."""
        self._reach()
        return view(self.root, asks, folders)

    async def transact(self, steps: Sequence[Step], *, lock: str, timeout: float = 30.0) -> Outcome:
        """See `Workspace.transact`. The lock is `flock(2)` on the lock file; nothing awaits while it is held."""
        plan, lock = planned(steps, lock), relative(lock)
        if not plan:
            return Outcome((), {})
        self._reach()
        held = await locked(self.root, lock, timeout, partial(_make, self._group))
        try:
            rewritten = {posixpath.dirname(path) for step, path in plan if not isinstance(step, Append)}
            for folder in sorted(rewritten | {posixpath.dirname(lock)}):
                self._sweep(folder)
            skipped = {step.path for step, path in plan if self._attempt(self._check, step, path) is None}
            ends = {}
            for step, path in plan:
                if step.path not in skipped:
                    end = self._attempt(self._run, step, path)
                    if end is None:
                        skipped.add(step.path)
                    elif isinstance(step, Append):
                        ends[step.path] = end
            return Outcome(tuple(step.path for step in steps if step.path in skipped), ends)
        finally:
            os.close(held)

    def _reach(self) -> None:
        try:
            reached = self.root.is_dir()
        except OSError as error:
            raise failure(".", error) from error
        if not reached:
            raise WorkspaceError(".", f"the workspace folder {self.root} does not exist", "Make it, or name another")

    @contextmanager
    def _parent(self, path: str, *, make: Callable[[int, str], None] | None = None) -> Iterator[tuple[int, str]]:
        with parent(self.root, path, make) as found:
            yield found

    def _sweep(self, path: str) -> None:
        """Clear away what killed processes left in that folder. Under the lock, nobody is at work on any of it."""
        with suppress(Unfit, OSError), listing(self.root, path) as folder:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if is_temporary(entry.name)]
            for name in names:
                with suppress(Unfit, OSError):
                    if displaced := DISPLACED.fullmatch(name):
                        settle(folder, name, displaced[3], displaced[1], displaced[2], patience=0.0)
                    elif (kind := TEMPORARY.fullmatch(name)) and (found := plain(folder, name)):
                        is_part = kind[1]  # which a session writes before it takes the lock
                        if not is_part or time.time() - found.st_mtime > _PART_SECONDS:
                            os.unlink(name, dir_fd=folder)

    def _attempt(self, call: Callable[[Step, str], int], step: Step, path: str) -> int | None:
        """What the call returns; None if an optional step is to be skipped."""
        try:
            return call(step, path)
        except Changed:
            if step.required:
                raise Conflict(step.path) from None
        except (Unfit, OSError) as error:
            if step.required:
                raise failure(step.path, error) from error
            logger.warning("%s %s; it was left as it is", step.path, reason(error))
        return None

    def _check(self, step: Step, path: str) -> int:
        try:
            with self._parent(path) as (folder, name):
                plain(folder, name)
                if step.expect is not None:
                    find = mark if isinstance(step, Append) else content_digest
                    if find(folder, name) != step.expect:
                        raise Changed
        except FileNotFoundError:
            if step.expect not in (None, ABSENT, Mark.of(b"")):
                raise Changed from None
        return 0

    def _run(self, step: Step, path: str) -> int:
        """Do the step; returns the file's new size for an Append."""
        if isinstance(step, Remove):
            with suppress(FileNotFoundError), self._parent(path) as (folder, name):
                remove(folder, name, step.expect)
            return 0
        group = None if step.private else self._group
        with self._parent(path, make=partial(_make, group)) as (folder, name):
            if isinstance(step, Append):
                return _append(folder, name, step, group)
            _replace(folder, name, step, group)
            return 0


# What follows works on one name in an open folder.


def _make(group: int | None, folder: int, name: str) -> None:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
            if group is not None:
                handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                try:
                    share(handle, group, 0o750)
                finally:
                    os.close(handle)


def _append(folder: int, name: str, step: Append, group: int | None) -> int:
    handle, created = _open_end(folder, name)
    if created:
        share(handle, group, 0o640)
    try:
        old, written = os.fstat(handle).st_size, 0
        torn = old > 0 and os.pread(handle, 1, old - 1) != b"\n"
        data = b"\n" + step.data if torn else step.data
        try:
            written = os.write(handle, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, f"there was room for {written} of {len(data)} bytes only")
            os.fsync(handle)
        except OSError:
            # Taken back only while the end of the file is still ours: a shell may append without asking for a lock.
            with suppress(OSError):
                if os.fstat(handle).st_size == old + written:
                    os.ftruncate(handle, old)
                    if created:
                        os.unlink(name, dir_fd=folder)
            raise
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


def _open_end(folder: int, name: str) -> tuple[int, bool]:
    """The file, open for reading and appending, and whether it was made just now."""
    flags = os.O_RDWR | os.O_APPEND | PLAIN
    if plain(folder, name) is None:
        with suppress(FileExistsError):
            return os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder), True
        plain(folder, name)
    handle = os.open(name, flags, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unfit("special")
    return handle, False


def _replace(folder: int, name: str, step: Replace, group: int | None) -> None:
    before, content, new = plain(folder, name), read(folder, name), digest(step.data)
    if step.expect is not None and step.expect != (ABSENT if content is None else digest(content)):
        raise Changed
    if content == step.data:
        return
    token = secrets.token_hex(4)
    temporary = temporary_name(token)
    try:
        _write(folder, temporary, step, before, group)
        if step.expect is None:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        elif step.expect == ABSENT:
            put_new(folder, temporary, name)
        elif can_exchange() and (aside := displaced_name(token, step.expect, new, name)):
            os.rename(temporary, aside, src_dir_fd=folder, dst_dir_fd=folder)
            swap(folder, aside, name, step.expect, new)
        elif content_digest(folder, name) == step.expect:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            raise Changed
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _write(folder: int, temporary: str, step: Replace, before: os.stat_result | None, group: int | None) -> None:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN, 0o600, dir_fd=folder)
    try:
        left = memoryview(step.data)
        while left:
            written = os.write(handle, left)
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left = left[written:]
        if before:
            with suppress(PermissionError):
                os.fchown(handle, before.st_uid, before.st_gid)
            os.fchmod(handle, stat.S_IMODE(before.st_mode))
        else:
            share(handle, group, 0o640)
        os.fsync(handle)
    finally:
        os.close(handle)
