"""A layout: which folders one memory uses, what it remembers, about whom, and under which headings."""

from __future__ import annotations

import math
import posixpath
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from .errors import ConfigError
from .records import Kind, Trust
from .shipped import folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AUDIENCES = ("one", "many")
DECISIONS = ("auto", "review", "deny")
"""What becomes of a line that a machine wants to write: it is written, a person is asked, or it is refused."""
_KEYS = frozenset(
    ("description", "memories_dir", "sessions_dir", "audience", "guidance", "headings", "policy", "half_life", "limits")
)
_KINDS = tuple(kind.value for kind in Kind)
_TRUSTS = tuple(trust.label for trust in reversed(Trust) if trust is not Trust.HAND)


@dataclass(frozen=True)
class Preset:
    """One `layouts/<name>/layout.toml`.

    `headings` maps each kind that is remembered to the level-2 heading that it stands under in `MEMORY.md`, in the
    order in which a prompt shows them; a kind that is missing there is not remembered. `audience` is "one" (a person or
    a team that works together) or "many": then what one said of themselves is not told to the run of the next.
    `guidance` is told to the models. `policy` says what becomes of lines of a kind and trust, where the preset differs
    from the defaults of `governance.gate`; a kind's `half_life` is in days. `capacity` is how many records the memory
    holds, None for as many as there are.
    """

    name: str
    description: str
    memories_dir: str
    sessions_dir: str
    audience: str
    headings: dict[Kind, str]
    guidance: str
    policy: Mapping[tuple[Kind, Trust], str] = field(default_factory=dict)
    half_life: Mapping[Kind, float] = field(default_factory=dict)
    capacity: int | None = None

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
    shared: bool = False
    """True for a team's: agents read it, and what they find is proposed to its people."""

    @classmethod
    def of(cls, memories_dir: str, sessions_dir: str, preset: str = "default", *, shared: bool = False) -> Layout:
        """A checked layout. Raises `ConfigError` for folders that are absolute, leave the workspace or are empty."""
        memories, sessions = checked("memories_dir", memories_dir), checked("sessions_dir", sessions_dir)
        if memories == sessions:
            raise ConfigError(f"layout.memories_dir and layout.sessions_dir are both {memories!r}; they must differ")
        return cls(memories, sessions, load_preset(preset), shared)

    def memory(self, name: str) -> str:
        """The workspace-relative path of a file in the memories folder."""
        return posixpath.join(self.memories_dir, name)

    def session(self, name: str) -> str:
        """The workspace-relative path of a file in the sessions folder."""
        return posixpath.join(self.sessions_dir, name)

    @property
    def closed(self) -> bool:
        """True where what an agent writes into the files is not told to the next: it is a team's, or serves many."""
        return self.shared or self.preset.audience == "many"

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
            headings={_kind("headings", kind): heading for kind, heading in data["headings"].items()},
            guidance=data.get("guidance", "").strip(),
            policy=_policy(_table(data, "policy")),
            half_life=_half_life(_table(data, "half_life")),
            capacity=_capacity(_table(data, "limits")),
        )
    except KeyError as error:
        raise ConfigError(f"layouts/{name}/layout.toml: there is no {error}") from error
    except ValueError as error:
        raise ConfigError(f"layouts/{name}/layout.toml: {error}") from error


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{name} must be a table, got: {table!r}")
    return table


def _kind(where: str, name: str) -> Kind:
    if name not in _KINDS:
        raise ValueError(f"{where}.{name}: there is no kind {name!r}; the kinds are: {', '.join(_KINDS)}")
    return Kind(name)


def _policy(table: Mapping[str, Any]) -> dict[tuple[Kind, Trust], str]:
    """What a `[policy]` table decides: `preference = "review"` for any trust, `preference.agent = "deny"` for one."""
    found: dict[tuple[Kind, Trust], str] = {}
    for name, value in table.items():
        kind = _kind("policy", name)
        each = value if isinstance(value, dict) else dict.fromkeys(_TRUSTS, value)
        for trust, decision in each.items():
            key = f"policy.{name}.{trust}" if isinstance(value, dict) else f"policy.{name}"
            if trust not in _TRUSTS:
                raise ValueError(f"{key}: there is no trust {trust!r} to decide about; there are: {', '.join(_TRUSTS)}")
            if decision not in DECISIONS:
                raise ValueError(f"{key} must be one of {', '.join(DECISIONS)}, got: {decision!r}")
            found[kind, Trust.of(trust)] = decision
    return found


def _half_life(table: Mapping[str, Any]) -> dict[Kind, float]:
    found = {}
    for name, days in table.items():
        kind = _kind("half_life", name)
        if isinstance(days, bool) or not isinstance(days, (int, float)) or not (math.isfinite(days) and days > 0):
            raise ValueError(f"half_life.{name} must be a positive, finite number of days, got: {days!r}")
        found[kind] = float(days)
    return found


def _capacity(table: Mapping[str, Any]) -> int | None:
    if unknown := sorted(table.keys() - {"capacity"}):
        raise ValueError(f"limits.{unknown[0]}: there is no such limit; the limits are: capacity")
    most = table.get("capacity")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise ValueError(f"limits.capacity must be a whole number of records, 1 or more, got: {most!r}")
    return most
