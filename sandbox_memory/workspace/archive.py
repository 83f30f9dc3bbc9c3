"""A memory in the archive of a snapshot: unpacked to be worked on, and packed again without touching anything else."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import secrets
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import Conflict, WorkspaceError
from . import tarring

logger = logging.getLogger("sandbox_memory")

_BLOCK = 1 << 20
_BEGINS = "sandbox-memory-"
"""How the temporary folders are named; in one lie the `workspace` and `_NOTE`."""
_NOTE = "archive.json"
"""Says of which archive a temporary folder is, and what was unpacked; locked for as long as somebody works in it."""

Files = dict[str, tuple[str, int]]
"""Paths to digests and modes."""


@dataclass
class Unpacked:
    """What of an archive was unpacked below `root`; `changed` is true once it was packed again with changes.

    `tops` are the names at the top of the archive.
    """

    archive: Path
    root: Path
    tops: tuple[str, ...] = ()
    changed: bool = False


@contextmanager
def unpacked(archive: Path, folders: Sequence[str]) -> Iterator[Unpacked]:
    """The files of these folders of the archive, in a temporary folder; at the end they take their places in it.

    The archive is a tar file, compressed or not, as the SDK's snapshots write it. Where none of the folders is at its
    top, but below one other folder alone, they are taken from there. Only plain files and folders come out of it, and
    only below `folders`; a hard link there comes out as the file that it is, as far as that is in the archive.
    Everything else in it stays as it is, byte for byte. Where nothing was changed it is not written; else it is
    replaced in one step, and only while it is the one that was unpacked: otherwise `Conflict` is raised. Then, and
    after any exception, work that was done is kept in a folder that the log names; so is work that an earlier process
    left when it was killed. Raises `WorkspaceError` for what is no such archive, and for one with another link in the
    place of a file that memory reads.
    """
    archive = archive.resolve()
    _tell_of_left(archive, folders)
    with tempfile.TemporaryDirectory(prefix=_BEGINS, ignore_cleanup_errors=True) as name, _noted(Path(name)) as note:
        root = Path(name) / "workspace"
        root.mkdir()
        before = _digest(archive)
        lead, tops = tarring.lead(archive, folders)
        tarring.unpack(archive, root, folders, lead)
        taken = _files(root, folders)
        note.write_text(_about(archive, taken))
        work = Unpacked(archive, root, tops)
        try:
            yield work
            now = _files(root, folders)
            if now == taken:
                return
            if not archive.is_file() or _digest(archive) != before:
                raise Conflict(str(archive), "it was written or removed meanwhile; nothing was packed")
            changed = {path for path in {*taken, *now} if taken.get(path) != now.get(path)}
            modes = {path: mode for path, (_, mode) in now.items()}
            _replace(archive, tarring.Packing(archive, root, folders, lead, modes, changed))
        except BaseException:
            if _files(root, folders) != taken:
                kept = Path(tempfile.mkdtemp(prefix=f"{_BEGINS}kept-"))
                shutil.copytree(root, kept / "workspace")
                (kept / _NOTE).write_text(_about(archive, taken))
                logger.warning("what was done in the memory of %s is kept in %s", archive, kept / "workspace")
            raise
        work.changed = True


def is_archive(path: Path) -> bool:
    """True for a file that begins like a tar archive, compressed or not."""
    try:
        return path.is_file() and tarfile.is_tarfile(path)
    except OSError:
        return False


@contextmanager
def _noted(folder: Path) -> Iterator[Path]:
    """The note in a temporary folder, locked: as long as it is, somebody works there."""
    with (folder / _NOTE).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder / _NOTE


def _about(archive: Path, files: Files) -> str:
    return json.dumps({"archive": str(archive), "files": files})


def _tell_of_left(archive: Path, folders: Sequence[str]) -> None:
    """Name the work of earlier processes that never came into the archive: they were killed, or it was in their way."""
    for note in sorted(Path(tempfile.gettempdir()).glob(f"{_BEGINS}*/{_NOTE}")):
        with suppress(OSError, ValueError, TypeError, LookupError):
            if note.lstat().st_uid != os.geteuid() or not note.is_file():
                continue
            with note.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                about, root = json.load(file), note.parent / "workspace"
            now = {path: list(facts) for path, facts in _files(root, folders).items()}
            if about["archive"] == str(archive) and about["files"] != now:
                told = "an earlier edit of %s did not come into it; its files are in %s, remove that once you have them"
                logger.warning(told, archive, root)


def _files(root: Path, folders: Sequence[str]) -> Files:
    """The digest and the mode of every plain file in the folders."""
    found = {}
    for folder in folders:
        for at, _, names in os.walk(root / folder):
            for name in names:
                path = Path(at) / name
                if path.is_file() and not path.is_symlink():
                    found[path.relative_to(root).as_posix()] = (_digest(path), path.stat().st_mode & 0o777)
    return found


def _digest(path: Path) -> str:
    made = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                made.update(block)
    except OSError as error:
        raise WorkspaceError(str(path), f"cannot be read ({error.strerror or error})") from error
    return made.hexdigest()


def _replace(archive: Path, packing: tarring.Packing) -> None:
    """Write the archive anew and put it in the old one's place."""
    beside = archive.with_name(f".{archive.name}.{secrets.token_hex(4)}.tmp")
    status = archive.stat()
    try:
        with os.fdopen(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            packing.write(file)
            file.flush()
            os.fchmod(file.fileno(), status.st_mode & 0o777)
            with suppress(PermissionError):
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fsync(file.fileno())
        beside.replace(archive)
    except (tarfile.TarError, EOFError, OSError) as error:
        with suppress(OSError):
            beside.unlink()
        raise WorkspaceError(str(archive), f"cannot be packed ({error})", "Nothing in it was changed") from error
