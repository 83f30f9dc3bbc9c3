"""A workspace inside a sandbox session: a look is one call, a transaction at most two, however many files there are."""

from __future__ import annotations

import base64
import errno
import io
import logging
import os
import posixpath
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Protocol

from ..errors import Conflict, LockTimeout, WorkspaceError
from ..governance.redaction import redact
from . import (
    ABSENT,
    LARGEST,
    TEMP_PREFIX,
    TEMP_SUFFIX,
    UNFIT,
    Append,
    Ask,
    Outcome,
    Replace,
    Step,
    View,
    asked,
    digest,
    is_listed,
    planned,
    relative,
    relative_folder,
)
from .folders import Unfit, failure

logger = logging.getLogger(__name__)

MAX_COMMAND = 100_000
"""Bytes of a command line after quoting it twice. The kernel's limit for one argument is 128 KiB."""
MAX_TEXT = 64 * 1024
"""Bytes of a bundle of one step that may travel as an argument, which saves a call; several steps never do, so that the
number of calls does not depend on the size of what they write."""
LOOK_SECONDS = 120.0
STEP_SECONDS = 0.25
"""What a step may take of a transaction's time, beyond the wait for the lock and a minute for the rest."""

_CANARY = b" \xff\x80\0\t\r\n"
_LS = re.compile(rb"-\S+\s+\d+\s+\S+\s+\S+\s+(\d+)\s+\S+\s+\S+\s+\S+ (.+)", re.DOTALL)


class Result(Protocol):
    """What `Session.exec` returns."""

    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...
    @property
    def exit_code(self) -> int: ...


class Session(Protocol):
    """What is used of the SDK's sandbox sessions."""

    async def exec(self, *command: str | Path, timeout: float | None = None, shell: bool = True) -> Result: ...
    async def write(self, path: Path, data: io.IOBase) -> None: ...


class SessionWorkspace:
    """The files under `root`, an absolute path inside the sandbox, reached through a running session.

    The sandbox needs a POSIX shell and the usual small tools, of GNU, busybox or BSD. Where it has `flock`, perl or
    Python, the lock is shared with a `LocalWorkspace` on the same folder; without any of them, sessions exclude each
    other only, by a lock folder with a lease of 30 seconds.
    """

    def __init__(self, session: Session, root: str, readers: Sequence[str] = ()) -> None:
        self.session, self._reader = session, next(iter(readers), "")
        self.root = PurePosixPath(root)
        self._output = "raw"
        self._arguments_arrive = True

    async def look(self, asks: Sequence[Ask | str], folders: Sequence[str] = ()) -> View:
        """See `Workspace.look`. A session that hands output on as text costs one call more, the first time."""
        wanted = asked(asks)
        listed = [(key, relative_folder(key)) for key in folders]
        lines = [b"F |%b|\n" % _bytes(path) for _, path in listed]
        for ask, path in wanted:
            limit = LARGEST + 1 if ask.limit is None else ask.limit
            lines.append(f"A {ask.start} {limit} ".encode() + b"|%b|\n" % _bytes(path))
        requests = b"".join(lines)
        while True:
            token = secrets.token_hex(8)
            source, text = await self._send(token, "", "look", (self._output,), requests)
            script = self._script("look", token)
            result = await self._exec(script, self._output, source, text, timeout=LOOK_SECONDS)
            output = result.stdout
            if self._output == "base64":
                output = base64.b64decode(output.partition(f"{token} base64\n".encode())[2])
            begin = output.find(token.encode())
            if begin >= 0 and output.startswith(_CANARY, begin + len(token)):
                return _view(wanted, listed, output[begin:], token)
            if self._output == "base64" or begin < 0:
                raise _broken(".", result, "the answer to a look came back damaged")
            self._output = "base64"

    async def transact(self, steps: Sequence[Step], *, lock: str, timeout: float = 30.0) -> Outcome:
        """See `Workspace.transact`."""
        plan = planned(steps, lock)
        if not plan:
            return Outcome((), {})
        lock = relative(lock)
        lines, data = _bundle(plan, lock)
        head = b"".join(lines)
        bundle = head + data
        first = next((step.path for step in steps if step.required), steps[0].path)
        while True:
            token = secrets.token_hex(8)
            fixed = (f"{lock}", f"{round(timeout * 100)}", f"{len(lines)}", f"{len(head)}", digest(bundle))
            source, text = await self._send(
                token, posixpath.dirname(lock), "transact", fixed, bundle, about=first, inline=len(plan) == 1
            )
            patience = 2 * timeout + 60 + STEP_SECONDS * len(lines)
            script = self._script("transact", token)
            result = await self._exec(script, *fixed, source, text, timeout=patience, about=first)
            said = _said(result, token)
            if ("damaged", 1, "") in said and source == "text":
                self._arguments_arrive = False
                continue
            return _outcome(said, plan, result, lock, first, timeout)

    async def _send(
        self,
        token: str,
        folder: str,
        name: str,
        fixed: Sequence[str],
        content: bytes,
        *,
        about: str = ".",
        inline: bool = True,
    ) -> tuple[str, str]:
        """How the script gets the content: as text in its arguments if that fits, else in a file written here.

        Without `inline` it is always a file, so that the number of calls does not follow the size of the content.
        """
        part = posixpath.join(folder, f"{TEMP_PREFIX}{token}.part{TEMP_SUFFIX}")
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if inline and self._arguments_arrive and "\0" not in text and len(content) < MAX_TEXT:
            command = shlex.join([*self._command(self._script(name, token)), *fixed, "text", text])
            if len(shlex.quote(command).encode()) <= MAX_COMMAND:
                return "text", text
        try:
            await self.session.write(Path(self.root / part), io.BytesIO(content))
        except Exception as error:  # any provider's, handed on with its cause
            raise WorkspaceError(about, f"the sandbox session cannot write: {redact(str(error))}") from error
        return "file", part

    def _script(self, name: str, token: str) -> str:
        head = f"cd {shlex.quote(str(self.root))} || exit 97\nid={token}\nreader={shlex.quote(self._reader)}"
        return f"{head}\n{_source(name)}"

    @staticmethod
    def _command(script: str) -> tuple[str, ...]:
        return ("sh", "-c", script, "sandbox-memory")

    async def _exec(self, script: str, *arguments: str, timeout: float, about: str = ".") -> Result:
        try:
            return await self.session.exec(*self._command(script), *arguments, timeout=timeout, shell=False)
        except Exception as error:  # any provider's, a timeout among them, handed on with its cause
            hint = "What it did before is whole; look again, then try again"
            told = f"the sandbox session failed to run a command: {redact(str(error))}"
            raise WorkspaceError(about, told, hint) from error


@cache
def _source(name: str) -> str:
    """The script without its comments and its indentation, which would count against the length of a command."""
    folder = Path(__file__).parent
    text = "".join((folder / f"{part}.sh").read_text(encoding="utf-8") for part in ("common", name))
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#"))


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _bundle(plan: Sequence[tuple[Step, str]], lock: str) -> tuple[list[bytes], bytes]:
    """The lines of the plan, the steps' own first and in order, and the data that they refer to."""
    lines, data = [], io.BytesIO()
    folders = {".", posixpath.dirname(lock) or "."}
    for step, path in plan:
        guard, tail, new, length = "-", "-", "-", 0
        if isinstance(step, Append):
            verb = "A"
            data.write(b"\n")  # used where the file ends in a torn line
            if step.expect is not None:
                guard, tail = str(step.expect.size), step.expect.tail
        else:
            verb = "R" if isinstance(step, Replace) else "D"
            folders.add(posixpath.dirname(path) or ".")
            if step.expect is not None:
                guard = "absent" if step.expect == ABSENT else step.expect
        offset = data.tell()
        if isinstance(step, (Append, Replace)):
            length = data.write(step.data)
        if isinstance(step, Replace):
            new = digest(step.data)
        private = getattr(step, "private", False)
        fields = (verb, f"{step.required:d}", f"{private:d}", str(offset), str(length), new, guard, tail)
        lines.append(" ".join(fields).encode() + b" |%b|\n" % _bytes(path))
    lines += (b"F 0 0 0 0 - - - |%b|\n" % _bytes(folder) for folder in sorted(folders))
    return lines, data.getvalue()


def _view(wanted: Sequence[tuple[Ask, str]], listed: Sequence[tuple[str, str]], output: bytes, token: str) -> View:
    pieces = [piece.partition(b"\n")[::2] for piece in output.split(f"\n{token} ".encode())[1:]]
    if not pieces or pieces.pop()[0] != b"E":
        raise WorkspaceError(".", "the answer to a look was cut off by the sandbox session", "Ask for less at a time")
    answers = iter(pieces)
    files: dict[str, bytes] = {}
    folders: dict[str, Mapping[str, int]] = {}
    problems: dict[str, str] = {}
    for key, _ in listed:
        head, body = next(answers)
        _, kind, *how = head.decode().split(" ")
        folders[key] = _sizes(how[0], body) if how else {}
        if not how and kind != "missing":
            problems[key] = UNFIT[kind]
    for ask, _ in wanted:
        head, body = next(answers)
        kind = head.decode().partition(" ")[2]
        if kind == "file":
            code = next(answers)[0]
            if len(body) > LARGEST and ask.limit is None:
                problems[ask.path] = UNFIT["large"]
            elif code == b"Z 0":
                files[ask.path] = body
            elif code != b"Z gone":
                problems[ask.path] = "cannot be read"
        elif kind != "missing":
            problems[ask.path] = UNFIT[kind]
    return View(files, folders, problems)


def _sizes(how: str, body: bytes) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in body.split(b"\0" if how == "printf" else b"\n"):
        if how == "ls":
            match = _LS.fullmatch(line)
            size, name = match.groups() if match else (b"", b"")
        else:
            size, _, name = line.partition(b" ")
            name = name.rpartition(b"/")[2] if how != "printf" else name
        if size.isdigit() and name:
            text = name.decode("utf-8", "surrogateescape")
            if is_listed(text):
                found[text] = int(size)
    return dict(sorted(found.items()))


def _said(result: Result, token: str) -> list[tuple[str, int, str]]:
    """What a transaction's script reported: word, line number of the plan, text."""
    found = []
    for line in result.stdout.decode("utf-8", "replace").splitlines():
        word, _, rest = line.removeprefix(f"{token} ").partition(" ")
        number, _, text = rest.partition(" ")
        if line.startswith(f"{token} "):
            found.append((word, int(number or 0), text.strip()))
    return found


def _outcome(
    said: Sequence[tuple[str, int, str]],
    plan: Sequence[tuple[Step, str]],
    result: Result,
    lock: str,
    first: str,
    timeout: float,
) -> Outcome:
    if not said or said[-1][0] != "end":
        raise _broken(first, result)
    skipped, sizes = set(), {}
    for word, number, text in said[:-1]:
        path = plan[number - 1][0].path if number else lock
        if word == "busy":
            raise LockTimeout(f"{lock}: another process held it for {timeout:g} s. Nothing was written; try again")
        if word == "conflict":
            raise Conflict(path)
        if word == "damaged":
            raise WorkspaceError(first, "what was sent to the sandbox session did not arrive whole", "Try again")
        if word in ("fail", "broken"):
            raise _failure(first if word == "broken" and number else path, text)
        if word == "skip":
            skipped.add(path)
            if text != "changed":
                logger.warning("%s; it was left as it is", _failure(path, text))
        if word == "size":
            sizes[path] = int(text)
    return Outcome(tuple(step.path for step, _ in plan if step.path in skipped), sizes)


def _failure(path: str, text: str) -> WorkspaceError:
    """The error about a step, from a code that the script found or from a tool's own message."""
    if text in UNFIT:
        return failure(path, Unfit(text))
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EIO):
        if os.strerror(number) in text:
            return failure(path, OSError(number, os.strerror(number)))
    what = f"could not be written whole ({text or 'the sandbox gives no reason'})"
    return WorkspaceError(path, what, "See whether there is space left on that disk")


def _broken(path: str, result: Result, what: str = "the sandbox session did not finish a command") -> WorkspaceError:
    message = redact(result.stderr.decode("utf-8", "replace").strip()[-4000:])[-300:]
    if result.exit_code == 97:
        what = "the root of the workspace cannot be entered"
    return WorkspaceError(path, f"{what} (exit code {result.exit_code}): {message or 'no message'}")
