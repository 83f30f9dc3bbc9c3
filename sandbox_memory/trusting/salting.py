"""The salt of the tags in placeholders: by it one memory sees that two mentions are of one secret, and nobody else.

It never stands in the workspace, where an agent with a shell could try short secrets against the tags.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from . import anchoring

logger = logging.getLogger(__name__)

_NAME, _BYTES = "salt", 32


def salt_for(memories_dir: str, key: bytes = b"") -> bytes:
    """The 32 bytes that tags of this memory are made with: another for each folder of memories.

    Made from the host's `key` by HMAC if there is one, so that they are the same on every machine. Else from a random
    file of this user, `salt` beside the folder of anchors, made when it is first needed. Where that cannot be read or
    written, the salt is this process's own, and its tags are not those of the next.
    """
    of = b"sandbox-memory placeholders\0" + memories_dir.encode("utf-8", "surrogateescape")
    return hmac.new(key or _of_this_user(anchoring.folder("")), of, hashlib.sha256).digest()


def _of_this_user(folder: Path) -> bytes:
    place = folder / _NAME
    try:
        return _read(place) or _made(place)
    except OSError as error:
        logger.debug("sandbox memory: the tags of placeholders hold for this process only: %s", error)
        return _of_this_process()


def _read(place: Path) -> bytes:
    with suppress(FileNotFoundError):
        found = place.read_bytes()
        if len(found) == _BYTES:
            return found
        raise OSError(f"{place} does not hold {_BYTES} bytes; remove it, and another is made")
    return b""


def _made(place: Path) -> bytes:
    """A new salt, or the one that another process was faster to put there: the file gets its name when it is whole."""
    part = anchoring.private(place.parent) / f"{_NAME}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(part, place)
    finally:
        part.unlink()
    return _read(place)


@lru_cache(maxsize=1)
def _of_this_process() -> bytes:
    return secrets.token_bytes(_BYTES)
