"""The settings of a memory: the SDK's own dataclasses, extended by keyword-only fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

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
        if self.relevant_tokens < 0:
            raise ConfigError(f"MemoryReadConfig.relevant_tokens must not be negative, got: {self.relevant_tokens}")
        if self.summary_tokens <= 0:
            raise ConfigError(f"MemoryReadConfig.summary_tokens must be greater than 0, got: {self.summary_tokens}")


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
            default = type(self).__dataclass_fields__["max_raw_memories_for_consolidation"].default
            if self.max_raw_memories_for_consolidation not in (default, self.max_raw_memories):
                raise ConfigError(
                    "MemoryGenerateConfig got max_raw_memories and max_raw_memories_for_consolidation with different "
                    "values; they are one setting, give one of them"
                )
            if not 0 < self.max_raw_memories <= MAX_RAW_MEMORIES:
                raise ConfigError(
                    f"MemoryGenerateConfig.max_raw_memories must be from 1 to {MAX_RAW_MEMORIES}, "
                    f"got: {self.max_raw_memories}"
                )
            self.max_raw_memories_for_consolidation = self.max_raw_memories
        super().__post_init__()
        self.max_raw_memories = _Same(self.max_raw_memories_for_consolidation)
        for name in ("close_timeout", "retry_delay"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"MemoryGenerateConfig.{name} must be a positive number of seconds")
        for name in ("attempts", "concurrency"):
            if getattr(self, name) < 1:
                raise ConfigError(f"MemoryGenerateConfig.{name} must be at least 1, got: {getattr(self, name)}")
        if self.capacity is not None and (type(self.capacity) is not int or self.capacity < 1):
            raise ConfigError(f"MemoryGenerateConfig.capacity must be a whole number from 1 on, got: {self.capacity!r}")
        if self.keep_rollouts is not None and (
            isinstance(self.keep_rollouts, bool) or not isinstance(self.keep_rollouts, (int, timedelta))
        ):
            raise ConfigError(
                "MemoryGenerateConfig.keep_rollouts must be a number of transcripts or a timedelta, "
                f"got: {self.keep_rollouts!r}"
            )
        for name in ("phase_one_model", "phase_two_model"):
            if getattr(self, name) == "":
                raise ConfigError(f'MemoryGenerateConfig.{name} must name a model; "offline" is the built-in one')
        if isinstance(self.keep_rollouts, int) and self.keep_rollouts < 0:
            raise ConfigError("MemoryGenerateConfig.keep_rollouts must not be negative")
        if isinstance(self.keep_rollouts, timedelta) and self.keep_rollouts < timedelta(0):
            raise ConfigError("MemoryGenerateConfig.keep_rollouts must not be negative")


Approve = Callable[[Asked], bool | Awaitable[bool]]
"""Decides about one proposal in place of a person: True accepts it, False refuses it."""


@dataclass(frozen=True)
class MemoryPolicy:
    """What an application allows a memory to write, beside the policy of its preset; it can narrow that, not widen it.

    `allow` names the subjects that may be remembered, each with the values that it may have, or None for any; None
    allows every subject, an empty mapping none. A line's text must name one of the values, as whole words. `approve` is
    asked about each new line that would wait in `INBOX.md`: True writes it, False refuses it for good; where it raises,
    takes longer than `approve_seconds` or answers anything else, the line waits for a person. It may be a coroutine
    function; it is called outside of the memory's lock. Raises `ConfigError` for keys and values out of bounds.
    """

    allow: Mapping[str, Collection[str] | None] | None = None
    approve: Approve | None = None
    approve_seconds: float = 30.0

    def __post_init__(self) -> None:
        for key, values in (self.allow or {}).items():
            _bounded("key", key, LONGEST_KEY)
            if isinstance(values, str):
                raise ConfigError(f"MemoryPolicy.allow[{key!r}] must be a collection of values or None, got a text")
            for value in values or ():
                _bounded(f"value for {key!r}", value, LONGEST_VALUE)
        if self.approve is not None and not callable(self.approve):
            raise ConfigError("MemoryPolicy.approve must be a function that takes what is asked, or None")
        if not 0 < self.approve_seconds < float("inf"):
            raise ConfigError("MemoryPolicy.approve_seconds must be a positive number of seconds")


def _bounded(what: str, text: object, most: int) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > most:
        raise ConfigError(f"MemoryPolicy.allow: a {what} must be a text of 1 to {most} characters, got: {text!r:.80}")
