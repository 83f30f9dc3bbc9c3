"""Whose memory it is: the parts by which an application tells its tenants, users, projects and teams apart."""

from __future__ import annotations

import hashlib
import posixpath
import re
from dataclasses import dataclass, replace

from .characters import ascii_words
from .errors import ConfigError
from .layout import Layout

LONGEST_PART = 300
"""Characters that one part may have."""

PARTS = ("tenant", "team", "project", "user")
"""The parts in the order of their folders, so that all of a tenant's memories are below one folder."""

_COMPONENT = re.compile(rf"({'|'.join(PARTS)})=.+", re.DOTALL | re.IGNORECASE)
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
_HASHED = re.compile(r".*--[0-9a-f]{32}")


class _Missing(str):
    """The part that was not given; an empty text that was given is refused, as an identity that got lost."""

    __slots__ = ()


_MISSING = _Missing()


@dataclass(frozen=True)
class MemoryScope:
    """Whom one memory is about; only the application says so, never a model, a tool or a file.

    Each part may be left out. A part is any text of 1 to 300 characters, taken exactly as it is: `Ann` and `ann` are
    two users, and so are two Unicode forms of one name. Two scopes that differ in any part have folders of their own,
    and a part that is left out is not the same as any that is given. Without any part it is the layout's own memory.

    Raises `ConfigError` for a part that is not a text (None too: leave it out), is blank, too long, or holds a lone
    surrogate, which is no character.
    """

    tenant: str = _MISSING
    user: str = _MISSING
    project: str = _MISSING
    team: str = _MISSING

    def __post_init__(self) -> None:
        for part, value in self._given():
            _check(part, value)

    @property
    def folder(self) -> str:
        """The folders of this scope below those of a layout, as `tenant=acme/user=ann`; empty without any part.

        At most four names of at most 72 lower-case ASCII characters. A part stands there as it is if it is a plain
        lower-case file name; else its letters and digits that are ASCII, 30 at most, and 32 hex digits of the SHA-256
        of its UTF-8 bytes: nobody can find a name that meets somebody else's.
        """
        return posixpath.join("", *(f"{part}={_name(value)}" for part, value in self._given()))

    def within(self, layout: Layout) -> Layout:
        """The layout of this scope: the folders of `layout`, and this scope's below them.

        Raises `ConfigError` if a folder of the layout names a scope already: then two of them could meet.
        """
        if not self.folder:
            return layout
        for name in ("memories_dir", "sessions_dir"):
            if scopes_in(getattr(layout, name)):
                raise ConfigError(
                    f"layout.{name}={getattr(layout, name)!r} is the folder of a scope itself; give the folder above "
                    "it, or no scope"
                )
        return replace(
            layout,
            memories_dir=posixpath.join(layout.memories_dir, self.folder),
            sessions_dir=posixpath.join(layout.sessions_dir, self.folder),
        )

    def _given(self) -> list[tuple[str, str]]:
        return [(part, value) for part in PARTS if not isinstance(value := getattr(self, part), _Missing)]


def scope_of(folder: str) -> str:
    """The part of a memory's folder that is of a scope: `tenant=acme` of `memories/tenant=acme`, else an empty text."""
    parts = folder.split("/")
    first = len(parts)
    while first and is_scope(parts[first - 1]):
        first -= 1
    return "/".join(parts[first:])


def scopes_in(path: str) -> list[str]:
    """All names of scopes on a path, in its order."""
    return [part for part in posixpath.normpath(path).split("/") if is_scope(part)]


def base_of(folder: str) -> str:
    """The folder without its scope: `memories` of `memories/tenant=acme`."""
    return folder.removesuffix(scope_of(folder)).rstrip("/")


def tenant_of(folder: str) -> str:
    """The name of the tenant's folder on the way to that folder, an empty text if there is none."""
    return next((part for part in folder.split("/") if is_scope(part) and part.casefold().startswith("tenant=")), "")


def is_scope(name: str) -> bool:
    """True for the name of a folder that holds the memories of a scope; nothing that scans its parent goes into it."""
    return _COMPONENT.fullmatch(name) is not None


def _check(part: str, value: object) -> None:
    if not isinstance(value, str):
        raise ConfigError(
            f"MemoryScope.{part} must be a text, got {'None' if value is None else f'a {type(value).__name__}'}. "
            f"Leave it out for a memory that is not of one {part}"
        )
    if not value.strip():
        raise ConfigError(f"MemoryScope.{part} is blank. Leave it out for a memory that is not of one {part}")
    if len(value) > LONGEST_PART:
        raise ConfigError(f"MemoryScope.{part} has {len(value)} characters, and may have {LONGEST_PART}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError(f"MemoryScope.{part} holds a lone surrogate, which is no character") from None


def _name(value: str) -> str:
    if _PLAIN.fullmatch(value) and not _HASHED.fullmatch(value):
        return str(value)
    slug = "-".join(ascii_words(value))[:30].strip("-")
    return f"{slug}--{hashlib.sha256(value.encode('utf-8')).hexdigest()[:32]}"
