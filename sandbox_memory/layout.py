"""A layout: which folders one memory uses, what it remembers, about whom, and under which headings."""

from __future__ import annotations

import posixpath
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from .errors import ConfigError
from .records import Kind
from .shipped import folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AUDIENCES = ("one", "many")
_KEYS = frozenset(("description", "memories_dir", "sessions_dir", "audience", "guidance", "headings"))


@dataclass(frozen=True)
class Preset:
    """One `layouts/<name>/layout.toml`.

    `headings` maps each kind that is remembered to the level-2 heading that it stands under in `MEMORY.md`, in the
    order in which a prompt shows them; a kind that is missing there is not remembered. `audience` is "one" (a person or
    a team that works together) or "many": then what one said of themselves is not told to the run of the next.
    `guidance` is told to the models.
    """

    name: str
    description: str
    memories_dir: str
    sessions_dir: str
    audience: str
    headings: dict[Kind, str]
    guidance: str

    def __post_init__(self) -> None:
        if self.audience not in AUDIENCES:
            raise ValueError(f"audience must be one of {', '.join(AUDIENCES)}, got: {self.audience!r}")
        for heading in self.headings.values():
            if heading != " ".join(heading.split()) or not heading or heading.startswith("#"):
                raise ValueError(f"a heading must be one line of plain words, got: {heading!r}")
        if Kind.FACT not in self.headings:
            raise ValueError("headings must have a fact: what a person writes anywhere else is one")


@dataclass(frozen=True)
class Layout:
    """The folders of one memory, workspace-relative with forward slashes, and its preset."""

    memories_dir: str
    sessions_dir: str
    preset: Preset

    @classmethod
    def of(cls, memories_dir: str, sessions_dir: str, preset: str = "default") -> Layout:
        """A checked layout. Raises `ConfigError` for folders that are absolute, leave the workspace or are empty."""
        memories, sessions = checked("memories_dir", memories_dir), checked("sessions_dir", sessions_dir)
        if memories == sessions:
            raise ConfigError(f"layout.memories_dir and layout.sessions_dir are both {memories!r}; they must differ")
        return cls(memories, sessions, load_preset(preset))

    def memory(self, name: str) -> str:
        """The workspace-relative path of a file in the memories folder."""
        return posixpath.join(self.memories_dir, name)

    def session(self, name: str) -> str:
        """The workspace-relative path of a file in the sessions folder."""
        return posixpath.join(self.sessions_dir, name)

    @property
    def handbook(self) -> str:
        return self.memory("MEMORY.md")

    @property
    def summary(self) -> str:
        return self.memory("memory_summary.md")

    @property
    def inbox(self) -> str:
        return self.memory("INBOX.md")

    @property
    def ledger(self) -> str:
        return self.memory("ledger.jsonl")


def checked(name: str, value: str) -> str:
    """The folder in normal form. Raises `ConfigError` if it is absolute, empty, or leaves the workspace root."""
    path = PurePosixPath(value)
    if path.is_absolute():
        raise ConfigError(f"layout.{name} must be relative to the sandbox workspace root, got: {value}")
    if ".." in path.parts:
        raise ConfigError(f"layout.{name} must not escape root, got: {value}")
    if path.parts == ():
        raise ConfigError(f"layout.{name} must be non-empty")
    return posixpath.normpath(value)


def preset_names() -> list[str]:
    """The names of the presets that ship, sorted."""
    return sorted(path.parent.name for path in folder("layouts").glob("*/layout.toml"))


@cache
def load_preset(name: str) -> Preset:
    """Read `layouts/<name>/layout.toml`. Raises `ConfigError` that lists the valid names, or says what is malformed."""
    if name not in preset_names():
        raise ConfigError(f"there is no layout preset {name!r}; the presets are: {', '.join(preset_names())}")
    path = folder("layouts") / name / "layout.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if unknown := sorted(data.keys() - _KEYS):
            raise ValueError(f"unknown key {unknown[0]!r}; the keys are: {', '.join(sorted(_KEYS))}")
        return Preset(
            name=name,
            description=data["description"],
            memories_dir=data["memories_dir"],
            sessions_dir=data["sessions_dir"],
            audience=data["audience"],
            headings={Kind(kind): heading for kind, heading in data["headings"].items()},
            guidance=data.get("guidance", "").strip(),
        )
    except (KeyError, ValueError) as error:
        raise ConfigError(f"layouts/{name}/layout.toml: {error}") from error
