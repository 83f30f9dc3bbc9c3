"""The lock of a local workspace: `flock(2)`, which the system lets go of when its holder dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import LockTimeout
from .folders import PLAIN, Unfit, failure, parent, plain


async def locked(root: Path, lock: str, timeout: float, make: Callable[[int, str], None]) -> int:
    """The descriptor that holds the lock until it is closed. Raises `LockTimeout` and `WorkspaceError`.

    `make` is called for each folder on the way to the lock file, before it is entered.
    """
    deadline, pause = time.monotonic() + timeout, 0.002
    while (held := _try(root, lock, make)) is None:
        if time.monotonic() >= deadline:
            raise LockTimeout(f"{lock}: another process held it for {timeout:g} s. Nothing was written; try again")
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 1.5, 0.05)
    return held


def _try(root: Path, lock: str, make: Callable[[int, str], None]) -> int | None:
    handle = -1
    try:
        with parent(root, lock, make) as (folder, name):
            plain(folder, name)
            handle = os.open(name, os.O_RDWR | os.O_CREAT | PLAIN, 0o600, dir_fd=folder)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A lock on a file that somebody has removed meanwhile excludes nobody.
            found = plain(folder, name)
            if found is not None and os.path.samestat(found, os.fstat(handle)):
                held, handle = handle, -1
                return held
    except BlockingIOError:
        pass
    except (Unfit, OSError) as error:
        raise failure(lock, error) from error
    finally:
        if handle >= 0:
            os.close(handle)
    return None
