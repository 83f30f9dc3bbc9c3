"""A memory in the archive of a snapshot: unpacked to be worked on, and packed again without touching anything else."""

from __future__ import annotations

import copy
import hashlib
import io
import logging
import os
import posixpath
import secrets
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..errors import Conflict, WorkspaceError

logger = logging.getLogger("sandbox_memory")

_COMPRESSIONS = ((b"\x1f\x8b", "gz"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"))
_BLOCK = 1 << 20


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
    top, but below one other folder alone, they are taken from there. Only plain files and folders come
    out of it, and only below `folders`. Everything else in it stays as it is, byte for byte. Where nothing was changed
    it is not written; else it is replaced in one step, and only while it is the one that was unpacked: otherwise
    `Conflict` is raised. Then, and after any exception, work that was done is kept in a folder that the log names.
    Raises `WorkspaceError` for what is no such archive.
    """
    archive = archive.resolve()
    with tempfile.TemporaryDirectory(prefix="sandbox-memory-", ignore_cleanup_errors=True) as name:
        root = Path(name) / "workspace"
        root.mkdir()
        before = _digest(archive)
        lead, tops = _lead(archive, tuple(folders))
        taken = _unpack(archive, root, tuple(folders), lead)
        work = Unpacked(archive, root, tops)
        try:
            yield work
            now = _files(root, tuple(folders))
            if now == taken:
                return
            if not archive.is_file() or _digest(archive) != before:
                raise Conflict(str(archive), "it was written or removed meanwhile; nothing was packed")
            _pack(archive, root, tuple(folders), now, lead)
        except BaseException:
            if _files(root, tuple(folders)) != taken:
                kept = Path(tempfile.mkdtemp(prefix="sandbox-memory-kept-")) / "workspace"
                shutil.copytree(root, kept)
                logger.warning("what was done in the memory of %s is kept in %s", archive, kept)
            raise
        work.changed = True


def is_archive(path: Path) -> bool:
    """True for a file that begins like a tar archive, compressed or not."""
    try:
        return path.is_file() and tarfile.is_tarfile(path)
    except OSError:
        return False


_HINT = "Name the .tar file of a snapshot, or the folder of a workspace"


def _lead(archive: Path, folders: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """What stands before the folders in the archive, `./`, `NAME/` or `./NAME/`; and the names at its top."""
    try:
        with tarfile.open(archive) as tar:
            told = [member.name for member in tar]
    except (tarfile.TarError, EOFError, OSError) as error:
        raise WorkspaceError(str(archive), f"cannot be unpacked ({error})", _HINT) from error
    names = [posixpath.normpath(name).split("/") for name in told]
    tops = sorted({name[0] for name in names} - {"", ".", ".."})
    below = {name[0] for name in names if len(name) > 1 and name[1] in folders and name[0] in tops}
    alone = len(below) == 1 and not set(tops).intersection(folders)
    dot = "./" if not alone or any(name.startswith("./") for name in told) else ""
    return f"{dot}{below.pop()}/" if alone else dot, tuple(tops)


def _unpack(archive: Path, root: Path, folders: tuple[str, ...], lead: str) -> dict[str, tuple[str, int]]:
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = _inside(member.name, folders, lead)
                if path is None or not (member.isdir() or member.isreg()):
                    continue
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                if member.isdir():
                    target.mkdir(exist_ok=True)
                elif (source := tar.extractfile(member)) is not None:
                    target.write_bytes(source.read())
                    target.chmod(member.mode & 0o777 | 0o600)
            assert tar.fileobj is not None
            tar.fileobj.seek(tar.offset)
            if tar.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
                raise tarfile.ReadError("it is cut off")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise WorkspaceError(str(archive), f"cannot be unpacked ({error})", _HINT) from error
    return _files(root, folders)


def _inside(name: str, folders: tuple[str, ...], lead: str) -> str | None:
    """The path of a member below one of the folders, without what leads to them; None for any other."""
    path = posixpath.normpath(name)
    top = lead.removeprefix("./")
    if not path.startswith(top):
        return None
    path = path[len(top) :]
    inside = any(path == folder or path.startswith(f"{folder}/") for folder in folders)
    return path if inside and not path.startswith(("/", "..")) and "\0" not in path else None


def _files(root: Path, folders: tuple[str, ...]) -> dict[str, tuple[str, int]]:
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


def _pack(archive: Path, root: Path, folders: tuple[str, ...], files: dict[str, tuple[str, int]], lead: str) -> None:
    """Write the archive anew: every member that is not ours as it was, then ours; and put it in the old one's place."""
    beside = archive.with_name(f".{archive.name}.{secrets.token_hex(4)}.tmp")
    status = archive.stat()
    try:
        with os.fdopen(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            with tarfile.open(archive) as old, _written(file, archive) as new:
                new.pax_headers = dict(old.pax_headers)
                seen: set[str] = set()
                for member in old:
                    path = _inside(member.name, folders, lead)
                    if path is None or not (member.isreg() or member.isdir()):
                        new.addfile(member, old.extractfile(member) if member.isreg() else None)
                    elif member.isdir():
                        new.addfile(member)
                        seen.add(path)
                    elif path in files and path not in seen:
                        _add(new, root / path, member)
                        seen.add(path)
                for path in sorted(files):
                    if path not in seen:
                        _parents(new, path, seen, lead)
                        _add(new, root / path, _made(f"{lead}{path}", files[path][1], status))
            file.flush()
            os.fchmod(file.fileno(), status.st_mode & 0o777)
            with suppress(PermissionError):
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fsync(file.fileno())
        beside.replace(archive)
    except (tarfile.TarError, OSError) as error:
        with suppress(OSError):
            beside.unlink()
        raise WorkspaceError(str(archive), f"cannot be packed ({error})", "Nothing in it was changed") from error


def _parents(new: tarfile.TarFile, path: str, seen: set[str], lead: str) -> None:
    parts = path.split("/")[:-1]
    for length in range(1, len(parts) + 1):
        folder = "/".join(parts[:length])
        if folder not in seen:
            seen.add(folder)
            made = tarfile.TarInfo(f"{lead}{folder}")
            made.type, made.mode = tarfile.DIRTYPE, 0o700
            new.addfile(made)


def _made(name: str, mode: int, like: os.stat_result) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.mode, made.uid, made.gid = mode, like.st_uid, like.st_gid
    return made


def _add(new: tarfile.TarFile, path: Path, member: tarfile.TarInfo) -> None:
    data, status = path.read_bytes(), path.stat()
    made = copy.copy(member)
    made.size, made.mode, made.mtime = len(data), member.mode, status.st_mtime
    made.pax_headers = {key: value for key, value in member.pax_headers.items() if key not in ("size", "mtime")}
    new.addfile(made, io.BytesIO(data))


def _written(file: IO[bytes], like: Path) -> tarfile.TarFile:
    """An archive to be written, compressed as the other one is."""
    with like.open("rb") as other:
        head = other.read(6)
    kind = next((name for magic, name in _COMPRESSIONS if head.startswith(magic)), "")
    # The stubs take the mode as a literal only.
    mode: Any = f"w:{kind}"
    return tarfile.open(fileobj=file, mode=mode)
