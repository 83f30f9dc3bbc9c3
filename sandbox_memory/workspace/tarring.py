"""What a tar archive holds of some folders, and the archive with that changed, all else block for block as it was."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import posixpath
import tarfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from ..errors import WorkspaceError

HINT = "Name the .tar file of a snapshot, or the folder of a workspace"
_BLOCK = 1 << 20
_FIT_TO_READ = (".md", ".json", ".jsonl")
_OF_ITS_OWN = ("path", "linkpath", "size", "mtime", "hdrcharset")
"""Extended headers that are made anew with a member."""


@dataclass(frozen=True)
class Member:
    """A member of an archive, with the range of its decompressed stream that it takes, extended headers included.

    `path` is where it is unpacked, None for one that is not ours; `origin` the plain file that it is, or, for a hard
    link, that it stands for.
    """

    info: tarfile.TarInfo
    start: int
    end: int
    path: str | None
    origin: tarfile.TarInfo | None

    @property
    def is_file(self) -> bool:
        """True for what comes out as a file."""
        return self.path is not None and self.origin is not None


def lead(archive: Path, folders: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """What stands before the folders in the archive, `./`, `NAME/` or `./NAME/`; and the names at its top."""
    try:
        with tarfile.open(archive) as tar:
            told = [member.name for member in tar]
    except (tarfile.TarError, EOFError, OSError) as error:
        raise WorkspaceError(str(archive), f"cannot be unpacked ({error})", HINT) from error
    names = [posixpath.normpath(name).split("/") for name in told]
    tops = sorted({name[0] for name in names} - {"", ".", ".."})
    below = {name[0] for name in names if len(name) > 1 and name[1] in folders and name[0] in tops}
    alone = len(below) == 1 and not set(tops).intersection(folders)
    dot = "./" if not alone or any(name.startswith("./") for name in told) else ""
    return f"{dot}{below.pop()}/" if alone else dot, tuple(tops)


def unpack(archive: Path, root: Path, folders: Collection[str], lead: str) -> None:
    """Write the plain files and folders, and as files the hard links to what else is in the archive.

    Raises `WorkspaceError` for what is no archive, and for a link in the place of a file that memory reads.
    """
    try:
        with tarfile.open(archive) as tar:
            for member in _members(tar, folders, lead):
                if member.path is None:
                    continue
                target = root / member.path
                if member.info.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                elif member.origin is None:
                    _refuse(archive, member.info, member.path)
                elif (source := tar.extractfile(member.origin)) is not None:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(source.read())
                    target.chmod(member.origin.mode & 0o777 | 0o600)
    except WorkspaceError:
        raise
    except (tarfile.TarError, EOFError, OSError) as error:
        raise WorkspaceError(str(archive), f"cannot be unpacked ({error})", HINT) from error


def _refuse(archive: Path, info: tarfile.TarInfo, path: str) -> None:
    if path.endswith(_FIT_TO_READ):
        kind = "symbolic link" if info.issym() else "hard link" if info.islnk() else "special file"
        to = f" to {info.linkname}" if info.linkname else ""
        why = ", which is not in it," if info.islnk() else ""
        raise WorkspaceError(
            str(archive),
            f"{path} in it is a {kind}{to}{why} and memory never goes through such a thing; nothing was changed",
            "Put the file itself there: `tar --dereference` packs what links lead to",
        )


def _members(tar: tarfile.TarFile, folders: Collection[str], lead: str) -> Iterator[Member]:
    """All of them, in order; raises `tarfile.ReadError` for an archive that is cut off."""
    files: dict[str, tarfile.TarInfo] = {}
    start = 0
    for info in tar:
        end = tar.offset
        if info.issparse() and "size" in info.pax_headers:  # of 8 GiB: tarfile takes its end to be elsewhere
            raise tarfile.ReadError(f"{info.name} is too large for a sparse file")
        name = posixpath.normpath(info.name)
        origin = info if info.isreg() else files.get(posixpath.normpath(info.linkname)) if info.islnk() else None
        if origin is not None:
            files[name] = origin
        else:
            files.pop(name, None)
        yield Member(info, start, end, inside(info.name, folders, lead), origin)
        start = end
    source = cast(IO[bytes], tar.fileobj)
    source.seek(start)
    if source.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("it is cut off")


def inside(name: str, folders: Collection[str], lead: str) -> str | None:
    """The path of a member below one of the folders, without what leads to them; None for any other."""
    path = posixpath.normpath(name)
    top = lead.removeprefix("./")
    if not path.startswith(top):
        return None
    path = path[len(top) :]
    ours = any(path == folder or path.startswith(f"{folder}/") for folder in folders)
    return path if ours and not path.startswith(("/", "..")) and "\0" not in path else None


@dataclass(frozen=True)
class Packing:
    """An archive, and what was made of the folders that were unpacked from it.

    `files` are the modes of the files below `root` as they are now; `changed` names those that are not as they were
    unpacked, and those that are gone.
    """

    archive: Path
    root: Path
    folders: Collection[str]
    lead: str
    files: Mapping[str, int]
    changed: Collection[str]

    def write(self, file: IO[bytes]) -> None:
        """Write the archive anew, compressed as the old one: what did not change block for block, then what is new.

        A hard link to a file that did change becomes a file of its own, with what it had.
        """
        with tarfile.open(self.archive) as tar:
            pieces, end = self._pieces(tar)
            source = cast(IO[bytes], tar.fileobj)
            source.seek(0)
            with _compressed(file, self.archive) as new:
                size = 0
                for piece in pieces:
                    if isinstance(piece, bytes):
                        size += new.write(piece)
                        continue
                    source.seek(piece[0])
                    size += _copy(source, new, piece[1] - piece[0])
                source.seek(end)
                size += _copy(source, new, None)
                new.write(bytes(-size % tarfile.RECORDSIZE))

    def _pieces(self, tar: tarfile.TarFile) -> tuple[list[tuple[int, int] | bytes], int]:
        pieces: list[tuple[int, int] | bytes] = []
        seen: set[str] = set()
        taken: set[str] = set()
        end = 0
        for member in _members(tar, self.folders, self.lead):
            info, path, end = member.info, member.path, member.end
            if path is not None and not member.is_file:
                (seen if info.isdir() else taken).add(path)
            if not self._touched(member):
                pieces.append((member.start, end))
                seen.update([path] if path is not None and member.is_file else [])
                continue
            pieces.append((member.start, info.offset))  # headers that are for all that follows
            if path is None:
                source = tar.extractfile(cast(tarfile.TarInfo, member.origin))
                pieces.append(_packed(info, source.read() if source else b"", info.mtime))
            elif path in self.files and path not in seen:
                pieces.append(self._packed(path, info))
                seen.add(path)
        for path in sorted(set(self.files) - seen):
            above = ["/".join(path.split("/")[:length]) for length in range(1, path.count("/") + 2)]
            if lost := taken.intersection(above):
                raise tarfile.TarError(f"{lost.pop()} is a link or a special file in it, and memory wrote {path}")
            for folder in above[:-1]:
                if folder not in seen:
                    seen.add(folder)
                    made = tarfile.TarInfo(f"{self.lead}{folder}")
                    made.type, made.mode = tarfile.DIRTYPE, 0o700
                    pieces.append(_packed(made, b"", made.mtime))
            like, made = self.archive.stat(), tarfile.TarInfo(f"{self.lead}{path}")
            made.mode, made.uid, made.gid = self.files[path], like.st_uid, like.st_gid
            pieces.append(self._packed(path, made))
        return pieces, end

    def _touched(self, member: Member) -> bool:
        """True for a file that changed, and for a hard link whose file did."""
        if member.origin is None:
            return False
        leads = [member.info.linkname, member.origin.name] if member.info.islnk() else []
        return not {member.path, *(inside(name, self.folders, self.lead) for name in leads)}.isdisjoint(self.changed)

    def _packed(self, path: str, info: tarfile.TarInfo) -> bytes:
        file = self.root / path
        return _packed(info, file.read_bytes(), file.stat().st_mtime)


def _packed(like: tarfile.TarInfo, data: bytes, time: float) -> bytes:
    """The blocks of a folder, or of a plain file with this content."""
    made = copy.copy(like)
    made.type, made.linkname = tarfile.DIRTYPE if like.isdir() else tarfile.REGTYPE, ""
    made.size, made.mtime = len(data), time
    headers = like.pax_headers.items()
    made.pax_headers = {key: value for key, value in headers if key not in _OF_ITS_OWN and "GNU.sparse" not in key}
    head = made.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    return head + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def _copy(source: IO[bytes], new: IO[bytes], length: int | None) -> int:
    """Copy so many bytes, or all to the end; returns how many."""
    done = 0
    while length is None or done < length:
        block = source.read(_BLOCK if length is None else min(_BLOCK, length - done))
        if not block:
            if length is None:
                break
            raise tarfile.ReadError("it is cut off")
        done += new.write(block)
    return done


def _compressed(file: IO[bytes], like: Path) -> IO[bytes]:
    """A stream to that file, compressed as the other one is; it flushes itself, and leaves the file open."""
    with like.open("rb") as other:
        head = other.read(6)
    if head.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file, mode="wb"))
    if head.startswith(b"BZh"):
        return cast(IO[bytes], bz2.BZ2File(file, "wb"))
    if head.startswith(b"\xfd7zXZ\x00"):
        return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return open(file.fileno(), "wb", closefd=False)
