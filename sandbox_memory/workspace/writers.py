"""When files were saved, and whether another process is about to write into one, where the system can tell."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

PATIENCE = 0.2
"""Seconds for which a look waits while somebody has a file open to write: it may hold half of a save."""

_SET_LEASE = getattr(fcntl, "F_SETLEASE", None)
"""Linux only. A read lease is granted only on a file that nobody has open for writing: fcntl(2), "Leases"."""


async def saved(paths: Sequence[Path]) -> None:
    """Wait while somebody writes into one of these files, `PATIENCE` at most."""
    until = time.monotonic() + PATIENCE
    while any(map(being_written, paths)) and time.monotonic() < until:
        await asyncio.sleep(PATIENCE / 10)


def saved_at(paths: Sequence[Path]) -> str:
    """When the last of these files was saved, ISO 8601 in UTC; empty if there is none."""
    times = []
    for path in paths:
        with suppress(OSError):
            times.append(os.lstat(path).st_mtime)
    with suppress(ValueError, OverflowError, OSError):  # a time that no calendar has
        return datetime.fromtimestamp(max(times), tz=timezone.utc).isoformat(timespec="milliseconds")
    return ""


def being_written(path: Path) -> bool:
    """True if somebody has that file open for writing; False also where there is none, or it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return has_writer(handle)
    finally:
        os.close(handle)


def has_writer(handle: int) -> bool:
    """True if somebody has the file with this descriptor, which is open for reading, open for writing.

    False where it cannot be known: on other systems, on a file system without leases, or on somebody else's file.
    """
    if _SET_LEASE is None:
        return False
    # Whoever opened it meanwhile would have this process sent a SIGIO, which ends it; SIGURG is passed over.
    with suppress(OSError):
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        try:
            fcntl.fcntl(handle, _SET_LEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return True
        fcntl.fcntl(handle, _SET_LEASE, fcntl.F_UNLCK)
    return False
