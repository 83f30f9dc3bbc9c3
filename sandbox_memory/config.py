"""The settings of a memory: the SDK's own dataclasses, extended by keyword-only fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from agents.sandbox import config as sdk

from .checked import seconds, shown, typed, whole
from .errors import ConfigError
from .layout import load_preset
from .policy import MemoryPolicy

__all__ = ["MemoryGenerateConfig", "MemoryLayoutConfig", "MemoryPolicy", "MemoryReadConfig"]

MAX_RAW_MEMORIES = 4096


@dataclass
class MemoryLayoutConfig(sdk.MemoryLayoutConfig):
    """Where one memory lives in the workspace, and which preset says what it remembers."""

    preset_name: str = field(default="default", kw_only=True)
    """Name of a folder in `layouts/`: what is remembered, about whom, under which headings."""

    shared: bool = field(default=False, kw_only=True)
    """True for a team's memory, which many agents read and none writes: what they find is proposed in `INBOX.md`."""

    def __post_init__(self) -> None:
        for name in ("memories_dir", "sessions_dir", "preset_name"):
            typed(self, name, str, "a text")
        typed(self, "shared", bool, "True or False")
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
        typed(self, "live_update", bool, "True or False")
        whole(self, "relevant_tokens", 0)
        whole(self, "summary_tokens", 1)


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
            whole(self, "max_raw_memories", 1, MAX_RAW_MEMORIES)
            default = type(self).__dataclass_fields__["max_raw_memories_for_consolidation"].default
            if self.max_raw_memories_for_consolidation not in (default, self.max_raw_memories):
                raise ConfigError(
                    "MemoryGenerateConfig got max_raw_memories and max_raw_memories_for_consolidation with different "
                    "values; they are one setting, give one of them"
                )
            self.max_raw_memories_for_consolidation = self.max_raw_memories
        whole(self, "max_raw_memories_for_consolidation")
        super().__post_init__()  # which names its bounds
        self.max_raw_memories = _Same(self.max_raw_memories_for_consolidation)
        for name in ("close_timeout", "retry_delay"):
            seconds(self, name)
        for name in (
            "attempts",
            "concurrency",
            *(("phase_two_max_turns",) if hasattr(self, "phase_two_max_turns") else ()),
        ):
            whole(self, name, 1)
        if self.capacity is not None:
            whole(self, "capacity", 1)
        if isinstance(self.keep_rollouts, timedelta):
            if self.keep_rollouts < timedelta(0):
                raise ConfigError("MemoryGenerateConfig.keep_rollouts must not be negative")
        elif self.keep_rollouts is not None:
            whole(self, "keep_rollouts", 0, what="a number of transcripts or a timedelta")
        for name in ("phase_one_model", "phase_two_model"):
            model = getattr(self, name)
            if not (model.strip() if isinstance(model, str) else hasattr(model, "get_response")):
                raise ConfigError(
                    f"MemoryGenerateConfig.{name} must name a model or be one of the Agents SDK's Model objects, got "
                    f'{shown(model)}; "offline" is the built-in one'
                )
        if self.extra_prompt is not None:
            typed(self, "extra_prompt", str, "a text or None")
