"""Swapping two names of one folder in a single step, where the system can."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache

# renameat2(2) RENAME_EXCHANGE of Linux, renameatx_np(2) RENAME_SWAP of macOS: both are bit 1, arguments in one order.
_SWAP = 2


@cache
def _function() -> Callable[..., int] | None:
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    try:
        found = getattr(ctypes.CDLL(None, use_errno=True), name) if name else None
    except (OSError, AttributeError):
        return None
    if found is not None:
        found.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        found.restype = ctypes.c_int
    return found


def can_exchange() -> bool:
    """True if the system has the call; a file system may still refuse it."""
    return _function() is not None


def exchange(folder: int, first: str, second: str) -> None:
    """Swap two names in the folder with that descriptor; raises `OSError`, with nothing done, if it cannot."""
    function = _function()
    if function is None:
        raise NotImplementedError("this system cannot exchange two names; ask can_exchange() first")
    if function(folder, os.fsencode(first), folder, os.fsencode(second), _SWAP) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), first, None, second)
