"""Taking a file's place: what stood there is set aside, looked at, and put back if somebody saved it meanwhile."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import time
from contextlib import suppress

from . import ABSENT
from .exchange import can_exchange, exchange
from .folders import PLAIN, Unfit, content_digest, displaced_name, plain
from .writers import has_writer

logger = logging.getLogger(__name__)

UNKNOWN = "unknown"
PATIENCE = 0.1
"""Seconds to wait for an editor that was just saving into the file that was displaced."""


class Changed(Exception):
    """A guard does not hold."""


def put_new(folder: int, temporary: str, name: str) -> None:
    """Give the file its name, which nothing may have by now."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:  # something is there, or the file system knows no links
        if plain(folder, name) is not None:
            raise Changed from None
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    with suppress(OSError):
        os.unlink(temporary, dir_fd=folder)


def swap(folder: int, aside: str, name: str, expected: str, new: str) -> None:
    """Exchange the two files; if what comes out is not what was expected, exchange them back: somebody saved meanwhile.

    A process that is killed in between leaves `aside` behind, whose name tells the next one what to do.
    """
    try:
        if content_digest(folder, name) != expected:
            raise Changed
        try:
            exchange(folder, aside, name)
        except FileNotFoundError:
            raise Changed from None
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
            os.replace(aside, name, src_dir_fd=folder, dst_dir_fd=folder)  # this file system cannot
            return
    except (Changed, OSError):
        with suppress(OSError):
            os.unlink(aside, dir_fd=folder)
        raise
    if not settle(folder, aside, name, expected[:16], new[:16]):
        raise Changed


def remove(folder: int, name: str, expected: str | None) -> None:
    """Delete the file. What `expected` guards is set aside first, so that it can be put back when it is not that."""
    if plain(folder, name) is None:
        if expected:
            raise Changed
        return
    if expected is None:
        os.unlink(name, dir_fd=folder)
        return
    if content_digest(folder, name) != expected:
        raise Changed
    aside = displaced_name(secrets.token_hex(4), expected, "absent", name)
    if aside is None:
        os.unlink(name, dir_fd=folder)
        return
    os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    if not settle(folder, aside, name, expected, "absent"):
        raise Changed


def settle(folder: int, aside: str, home: str, expected: str, new: str, *, patience: float = PATIENCE) -> bool:
    """Decide about a displaced file: drop what was expected there, or our own; put back what somebody else saved.

    `expected` and `new` begin the digests of what should have stood at `home`, and of what took its place. A file that
    an editor has open to write is waited for, `patience` seconds long; then it stays, for the next one to decide. True
    if nothing but what was expected was displaced.
    """
    until = time.monotonic() + patience
    while busy := _in_use(folder, aside):
        if time.monotonic() >= until:
            break
        time.sleep(0.002)
    out, here = _print(folder, aside), _print(folder, home)
    if out.startswith((expected, new)) or out == here != UNKNOWN:
        if busy:
            return out.startswith(expected)
        os.unlink(aside, dir_fd=folder)
        return out.startswith(expected)
    if here == ABSENT:
        put_new(folder, aside, home)
        return False
    if here.startswith(new):
        if not can_exchange():
            os.replace(aside, home, src_dir_fd=folder, dst_dir_fd=folder)
            return False
        exchange(folder, aside, home)
        if _in_use(folder, aside):
            return False
        if _print(folder, aside).startswith(new):
            os.unlink(aside, dir_fd=folder)
            return False
        exchange(folder, aside, home)  # saved once more in this moment: the newest stays in the file's place
    kept = f"{home}.saved-{secrets.token_hex(4)}"
    os.rename(aside, kept, src_dir_fd=folder, dst_dir_fd=folder)
    logger.warning("%s was saved twice while it was being replaced; the earlier save is kept as %s", home, kept)
    return False


def _in_use(folder: int, name: str) -> bool:
    try:
        handle = os.open(name, os.O_RDONLY | PLAIN, dir_fd=folder)
    except OSError:
        return False
    try:
        return has_writer(handle)
    finally:
        os.close(handle)


def _print(folder: int, name: str) -> str:
    try:
        return content_digest(folder, name)
    except Unfit:
        return UNKNOWN
