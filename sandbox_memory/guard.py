"""What an application decides about one memory in code, and no file of a workspace can change."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .errors import ConfigError
from .policy import MemoryPolicy

SHORTEST_KEY = 16
"""Bytes that a key has at least."""


class Key(bytes):
    """The host's key: bytes that no repr, log line or traceback shows."""

    def __repr__(self) -> str:
        return "<key>" if self else "<no key>"

    __str__ = __repr__


def as_key(value: object) -> Key:
    """The key as it was given: bytes, or a text that stands for its UTF-8; None and `b""` are no key.

    Raises `ConfigError` for anything else and for less than 16 bytes; what was given is not in the message.
    """
    if isinstance(value, Key):
        return value
    if value is None or (isinstance(value, bytes) and not value):
        return Key()
    if not isinstance(value, (str, bytes, bytearray)):
        raise ConfigError(f"the key must be bytes or a text, got a {type(value).__name__}")
    key = Key(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)
    if len(key) < SHORTEST_KEY:
        raise ConfigError(
            f"the key has {len(key)} bytes, and needs {SHORTEST_KEY} or more. Make one with secrets.token_hex(32), and "
            "keep it where no agent's shell can read it"
        )
    return key


@dataclass(frozen=True)
class Guard:
    """The rules that stand beside a layout.

    `policy` narrows what may be written. `key` is the host's: what is written is signed with it, if there is one.
    `forgotten` are the receipts of earlier forgettings, to be applied to whatever was restored. Raises `ConfigError`
    for a key that is none.
    """

    policy: MemoryPolicy = field(default_factory=MemoryPolicy)
    key: bytes = field(default=Key(), repr=False)
    forgotten: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", as_key(self.key))
        object.__setattr__(self, "forgotten", tuple(Path(each) for each in self.forgotten))
