"""The settings of a memory: the SDK's own dataclasses, extended by keyword-only fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import isfinite
from numbers import Integral, Real

from agents.sandbox import config as sdk

from .errors import ConfigError
from .layout import load_preset
from .records import Asked

MAX_RAW_MEMORIES = 4096
LONGEST_KEY, LONGEST_VALUE = 128, 2_000
"""How many characters a subject, and what is remembered of it, may have."""


@dataclass
class MemoryLayoutConfig(sdk.MemoryLayoutConfig):
    """Where one memory lives in the workspace, and which preset says what it remembers."""

    preset_name: str = field(default="default", kw_only=True)
    """Name of a folder in `layouts/`: what is remembered, about whom, under which headings."""

    shared: bool = field(default=False, kw_only=True)
    """True for a team's memory, which many agents read and none writes: what they find is proposed in `INBOX.md`."""

    def __post_init__(self) -> None:
        for name in ("memories_dir", "sessions_dir", "preset_name"):
            _typed(self, name, str, "a text")
        _typed(self, "shared", bool, "True or False")
        load_preset(self.preset_name)

    @classmethod
    def preset(
        cls, name: str, *, memories_dir: str | None = None, sessions_dir: str | None = None, shared: bool = False
    ) -> MemoryLayoutConfig:
        """The layout that `layouts/<name>/layout.toml` describes, with other folders if given.

        Raises `ConfigError` naming the presets that exist when `name` is none of them.
        """
        found = load_preset(name)
        return cls(
            memories_dir=memories_dir or found.memories_dir,
            sessions_dir=sessions_dir or found.sessions_dir,
            preset_name=name,
            shared=shared,
        )


@dataclass
class MemoryReadConfig(sdk.MemoryReadConfig):
    """How memory reaches the agent."""

    summary_tokens: int = field(default=2_000, kw_only=True)
    """Token budget of the records in `memory_summary.md`: a person's own lines first, then kind by kind."""

    relevant_tokens: int = field(default=500, kw_only=True)
    """Token budget of the records that are like what a run is asked, told below the summary; 0 tells none."""

    def __post_init__(self) -> None:
        _typed(self, "live_update", bool, "True or False")
        _whole(self, "relevant_tokens", 0)
        _whole(self, "summary_tokens", 1)


class _Same(int):
    """A value that only repeats another field's, so that `dataclasses.replace` may change that one."""


@dataclass
class MemoryGenerateConfig(sdk.MemoryGenerateConfig):
    """How runs become memory. Every keyword of the SDK's class works with the same meaning.

    The two models also take `"offline"`, the built-in model that needs no key and no network.
    """

    max_raw_memories: int | None = field(default=None, kw_only=True)
    """Short name of `max_raw_memories_for_consolidation`: how many of the newest conversations count."""
    close_timeout: float = field(default=60.0, kw_only=True)
    """Seconds that the close of a sandbox session may spend on memory; what is left stays pending."""
    keep_rollouts: int | timedelta | None = field(default=None, kw_only=True)
    """How many transcripts, or transcripts of what age, to keep once they are consolidated; None keeps all."""
    capacity: int | None = field(default=None, kw_only=True)
    """How many records the memory holds; those that score least are then let go. None is what the preset says."""
    attempts: int = field(default=3, kw_only=True)
    """Tries of one model call at one close, before its work is left pending."""
    retry_delay: float = field(default=0.5, kw_only=True)
    """Seconds before the second try; doubled for each further one."""
    concurrency: int = field(default=10, kw_only=True)
    """How many rollouts are extracted at the same time; less if their requests together have over 600,000 tokens."""

    def __post_init__(self) -> None:
        if self.max_raw_memories is not None and not isinstance(self.max_raw_memories, _Same):
            _whole(self, "max_raw_memories", 1, MAX_RAW_MEMORIES)
            default = type(self).__dataclass_fields__["max_raw_memories_for_consolidation"].default
            if self.max_raw_memories_for_consolidation not in (default, self.max_raw_memories):
                raise ConfigError(
                    "MemoryGenerateConfig got max_raw_memories and max_raw_memories_for_consolidation with different "
                    "values; they are one setting, give one of them"
                )
            self.max_raw_memories_for_consolidation = self.max_raw_memories
        _whole(self, "max_raw_memories_for_consolidation")
        super().__post_init__()  # which names its bounds
        self.max_raw_memories = _Same(self.max_raw_memories_for_consolidation)
        for name in ("close_timeout", "retry_delay"):
            _seconds(self, name)
        for name in (
            "attempts",
            "concurrency",
            *(("phase_two_max_turns",) if hasattr(self, "phase_two_max_turns") else ()),
        ):
            _whole(self, name, 1)
        if self.capacity is not None:
            _whole(self, "capacity", 1)
        if isinstance(self.keep_rollouts, timedelta):
            if self.keep_rollouts < timedelta(0):
                raise ConfigError("MemoryGenerateConfig.keep_rollouts must not be negative")
        elif self.keep_rollouts is not None:
            _whole(self, "keep_rollouts", 0, what="a number of transcripts or a timedelta")
        for name in ("phase_one_model", "phase_two_model"):
            model = getattr(self, name)
            if not (model.strip() if isinstance(model, str) else hasattr(model, "get_response")):
                raise ConfigError(
                    f"MemoryGenerateConfig.{name} must name a model or be one of the Agents SDK's Model objects, got "
                    f'{_shown(model)}; "offline" is the built-in one'
                )
        if self.extra_prompt is not None:
            _typed(self, "extra_prompt", str, "a text or None")


Approve = Callable[[Asked], bool | Awaitable[bool]]
"""Decides about one proposal in place of a person: True accepts it, False refuses it."""


@dataclass(frozen=True)
class MemoryPolicy:
    """What an application allows a memory to write, beside the policy of its preset; it can narrow that, not widen it.

    `allow` maps the subjects that may be remembered to the values that each may have, or to None for any:
    `{"reply language": {"English", "中文"}, "seat": None}`. None allows every subject, an empty mapping none. A line is
    let in if its subject, as its extraction or `add(…, subject=…)` names it, is one of these in any case and spacing,
    and its text names one of the values: the value's words in their order, in any case and inflection ("aisle seats"
    for "aisle seat"), and not where the text denies them ("not in English"). What else a text says beside the value is
    not looked at. The models of both phases are told the list. A person's own edits of the files are not held to it.

    `approve` is asked about each new line that would wait in `INBOX.md`: True writes it, False refuses it for good. It
    may be a function, which gets a thread of its own, or a coroutine function, and is called outside of the memory's
    lock. Where it raises, whatever that is, takes longer than `approve_seconds` or answers anything else, nothing is
    written, the line waits for a person, and a warning says why; neither the run nor the close of the session fails.

    Raises `ConfigError` for keys and values out of bounds, and for anything of another type.
    """

    allow: Mapping[str, Collection[str] | None] | None = None
    approve: Approve | None = None
    approve_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.allow is not None:
            # As it is now: what the application does to its own mapping later is not taken for a new policy.
            object.__setattr__(self, "allow", _allowed(self.allow))
        if self.approve is not None and not callable(self.approve):
            raise ConfigError(
                f"MemoryPolicy.approve must be a function that takes what is asked, or None, got {_shown(self.approve)}"
            )
        _seconds(self, "approve_seconds")


def _allowed(allow: object) -> dict[str, Collection[str] | None]:
    if not isinstance(allow, Mapping):
        raise ConfigError(
            "MemoryPolicy.allow must map each subject to its values, or to None for any, as in "
            f'{{"reply language": {{"English", "中文"}}, "seat": None}}; got {_shown(allow)}'
        )
    found: dict[str, Collection[str] | None] = {}
    for key, values in allow.items():
        _bounded("a key", key, LONGEST_KEY)
        where = f"MemoryPolicy.allow[{key!r}]"
        if values is None:
            found[key] = None
            continue
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Collection):
            raise ConfigError(
                f"{where} must be a set or a list of values, or None for any; got {_shown(values)}. For one value, "
                "give a set that holds it"
            )
        if not values:
            raise ConfigError(f"{where} names no value. Leave the key out to allow nothing of it, or give None for any")
        for value in values:
            _bounded(f"a value of {key!r}", value, LONGEST_VALUE)
        found[key] = frozenset(values)
    return found


def _bounded(what: str, text: object, most: int) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > most:
        raise ConfigError(f"MemoryPolicy.allow: {what} must be a text of 1 to {most} characters, got {_shown(text)}")


def _whole(
    config: object, name: str, least: int | None = None, most: int | None = None, *, what: str = "a whole number"
) -> None:
    value = getattr(config, name)
    fits = isinstance(value, Integral) and not isinstance(value, bool)
    if not fits or (least is not None and value < least) or (most is not None and value > most):
        bounds = "" if least is None else f", from {least} on" if most is None else f", from {least} to {most}"
        raise ConfigError(f"{_named(config)}.{name} must be {what}{bounds}, got {_shown(value)}")


def _seconds(config: object, name: str) -> None:
    value = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or value <= 0:
        raise ConfigError(f"{_named(config)}.{name} must be a positive number of seconds, got {_shown(value)}")


def _typed(config: object, name: str, kind: type, what: str) -> None:
    value = getattr(config, name)
    if not isinstance(value, kind):
        raise ConfigError(f"{_named(config)}.{name} must be {what}, got {_shown(value)}")


def _named(config: object) -> str:
    """The class as users know it, also for a class of theirs that extends it."""
    ours = (each for each in type(config).__mro__ if each.__module__ == __name__)
    return next(ours, type(config)).__name__


def _shown(value: object) -> str:
    """What was given, for an error: a number, a truth and None as they are, of all else its type and its beginning."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    shown = f": {value!r:.60}" if isinstance(value, (str, list, tuple, set, frozenset)) else ""
    return f"a {type(value).__name__}{shown}"
