"""Marks: each open session has an empty file in the workspace, so that an edit made meanwhile may be its agent's."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import time

AGE = 24 * 3600
"""Seconds after which the mark of an open session is taken to be left over."""


def new() -> str:
    """The name of a new mark: machine, process, time, and something of its own."""
    return f"{_host()}.{os.getpid()}.{int(time.time())}.{secrets.token_hex(4)}"


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def stale(mark: str) -> bool:
    """True for the mark of a killed session, of one that has not been heard of for long, and for what is no mark."""
    if older(mark, AGE):
        return True
    host, pid, *_ = mark.split(".")
    return host == _host() and not runs(pid)


def runs(pid: str) -> bool:
    """True if this machine has a process of that number, whoever's it is."""
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, OSError):
        return False
    return True


def older(mark: str, seconds: float) -> bool:
    """True if the mark was made so long ago, or says nothing of when."""
    try:
        _, _, since, _ = mark.split(".")
        return abs(time.time() - int(since)) > seconds
    except ValueError:
        return True


def elsewhere(mark: str) -> bool:
    """True if that is a session's of another process which is still there: its agent may be who gives a command."""
    return not stale(mark) and mark.split(".")[:2] != [_host(), str(os.getpid())]
