"""Kills a process at a chosen file-changing call: `os` is replaced in the modules that change files."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from sandbox_memory.workspace import displacing, exchange, folders, local, locking

CHANGING = frozenset(
    (
        "write",
        "replace",
        "rename",
        "unlink",
        "mkdir",
        "rmdir",
        "link",
        "symlink",
        "ftruncate",
        "fsync",
        "fchmod",
        "fchown",
    )
)


class Counter:
    """Counts file-changing calls, and kills this process before or after the `at`-th one."""

    def __init__(self, at: int = 0, after: bool = False) -> None:
        self.at, self.after, self.calls = at, after, 0

    def __call__(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        due = self.calls == self.at
        if due and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = call(*args, **kwargs)
        if due:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    def install(self) -> None:
        """Count from now on, in this process."""
        proxy = _Os(self)
        for module in (local, displacing, folders, locking):
            module.os = proxy  # type: ignore[attr-defined]
        real = exchange.exchange
        for module in (displacing, exchange):
            if hasattr(module, "exchange"):
                module.exchange = lambda *args, **kwargs: self(real, *args, **kwargs)  # type: ignore[attr-defined]


class _Os:
    def __init__(self, counter: Counter) -> None:
        self._counter = counter

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name in CHANGING:
            return lambda *args, **kwargs: self._counter(real, *args, **kwargs)
        if name == "open":
            return self._open
        return real

    def _open(self, path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & (os.O_CREAT | os.O_TRUNC):
            return int(self._counter(os.open, path, flags, *args, **kwargs))
        return os.open(path, flags, *args, **kwargs)


def forked(
    work: Callable[[Callable[[Any], None]], None], counter: Counter | None = None, *, after: float = 0.0
) -> tuple[list[Any], bool]:
    """Run `work(acknowledge)` in a forked process; what it acknowledged, and whether it was killed.

    With `after`, the process is killed from outside so many seconds after its start.
    """
    return started(work, counter, after=after)()


def started(
    work: Callable[[Callable[[Any], None]], None], counter: Counter | None = None, *, after: float = 0.0
) -> Callable[[], tuple[list[Any], bool]]:
    """Start `work` in a forked process; what is returned waits for its end, as `forked` does."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            if counter:
                counter.install()

            def acknowledge(value: Any) -> None:
                os.write(writing, pickle.dumps(value))

            work(acknowledge)
            if counter:
                acknowledge(("calls", counter.calls))
            code = 0
        except BaseException as error:  # noqa: BLE001 - the child must not return into the test
            print(f"in the forked process: {error!r}", file=sys.stderr)
        finally:
            os._exit(code)
    os.close(writing)

    def wait() -> tuple[list[Any], bool]:
        if after:
            time.sleep(after)
            os.kill(pid, signal.SIGKILL)
        received = []
        with os.fdopen(reading, "rb") as stream:
            while True:
                try:
                    received.append(pickle.load(stream))
                except (EOFError, pickle.UnpicklingError):
                    break
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or os.WEXITSTATUS(status) == 0
        return received, killed

    return wait


def calls_of(work: Callable[[Callable[[Any], None]], None]) -> int:
    """How many file-changing calls the work makes when nobody kills it."""
    received, killed = forked(work, Counter())
    assert not killed
    return int(received[-1][1])
