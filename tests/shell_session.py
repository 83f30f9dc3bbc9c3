"""A sandbox session for tests: real shells on this machine, nothing but `exec` and `write`, and every call counted."""

from __future__ import annotations

import asyncio
import io
import os
import shlex
import shutil
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_ARGUMENT = 128 * 1024
TOOLS = (
    "sh base64 cat chmod chown date dd find head ln ls mkdir mv rm rmdir sha256sum sleep stat tail touch tr wc"
).split()


@dataclass(frozen=True)
class ShellResult:
    """The three fields that a session's result has."""

    stdout: bytes
    stderr: bytes
    exit_code: int


class ShellSession:
    """Runs commands below a folder with a PATH of its own; refuses a command line that a remote session could not run.

    `text_output` hands output on as text, as some providers do; `user` is the numeric id to run commands as.
    """

    def __init__(
        self,
        path: str | None = None,
        *,
        text_output: bool = False,
        user: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.environment = {"PATH": path or os.environ["PATH"], **(environment or {})}
        self.text_output = text_output
        self.user = user
        self.calls: list[str] = []

    async def exec(
        self, *command: str | Path, timeout: float | None = None, shell: bool | list[str] = True
    ) -> ShellResult:
        self.calls.append("exec")
        assert shell is False
        words = [str(word) for word in command]
        assert len(shlex.quote(shlex.join(words)).encode()) < MAX_ARGUMENT, "the command line is too long"
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env=self.environment,
            start_new_session=True,
            user=self.user,
        )
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), timeout)
        except asyncio.TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        if self.text_output:
            stdout = stdout.decode("utf-8", "replace").encode()
        return ShellResult(stdout, stderr, process.returncode or 0)

    async def write(self, path: Path, data: io.IOBase) -> None:
        self.calls.append("write")
        assert path.is_absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.read())


def tools(folder: Path, names: Iterable[str] = TOOLS, *, program: str | None = None) -> str:
    """A PATH with those tools only; with a program, all of them are that one (busybox)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        found = program or shutil.which(name)
        assert found, f"{name} is not on this machine"
        (folder / name).symlink_to(found)
    return str(folder)
