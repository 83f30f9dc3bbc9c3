"""The values that pass between stages: frozen, without file access, without the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from typing import Any


class Trust(IntEnum):
    """Whose word a text is, weakest first. A record has the lowest trust among its quotes."""

    EXTERNAL = 1
    """The web, an MCP server, file contents, and what a user pasted."""
    AGENT = 2
    """The agent claims it."""
    OBSERVED = 3
    """A tool reported it: an exit code, a test result, an error text."""
    USER = 4
    """The user said it in a run."""
    HAND = 5
    """A person wrote it into the markdown, or through our commands."""

    @property
    def label(self) -> str:
        """The lower-case name that files and command output use."""
        return self.name.lower()

    @classmethod
    def of(cls, label: str) -> Trust:
        """The member with that lower-case name; raises `KeyError` for any other text."""
        return _TRUST[label]


_TRUST = {trust.label: trust for trust in Trust}


class Kind(str, Enum):
    """What a record is about, which decides the section of `MEMORY.md` that it stands in."""

    PREFERENCE = "preference"
    FACT = "fact"
    PROCEDURE = "procedure"
    LESSON = "lesson"
    TASK = "task"
    EPISODE = "episode"


@dataclass(frozen=True)
class Item:
    """One message, tool call or tool output of a segment, as the text in which quotes stand.

    `index` counts the items of the segment from 0. `role` is one of user, assistant, call, output. `label` names the
    speaker or the tool. `trust` is what a quote from this item is worth. `attached` are the spans of a person's message
    that came as documents in parts of their own.
    """

    index: int
    role: str
    label: str
    text: str
    trust: Trust
    call_id: str | None = None
    attached: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Segment:
    """One run, as one line of `sessions/<rollout-id>.jsonl` holds it, redacted.

    `id` is unique in its rollout. `items` are rendered once, by `rollouts.render`; prompts and quote checks both
    read them. `updated_at` is ISO 8601 in UTC, `terminal_state` the SDK's word (completed, interrupted, cancelled,
    failed, max_turns_exceeded, guardrail_tripped).
    """

    id: str
    rollout_id: str
    updated_at: str
    items: tuple[Item, ...]
    terminal_state: str = "unknown"
    agent: str | None = None
    line: int = 0
    """1-based number of the line that held it when read; for people only, never stored."""
    interrupted: bool = False


@dataclass(frozen=True)
class RunCapture:
    """One finished run as it reaches memory: not yet redacted, and only the part that one layout is to remember.

    `source` says what gave the rollout its id: conversation, session, group or run. `input` and `generated` are items
    in the form that a model takes as input, `interruptions` the tool calls that wait for an approval. `terminal` has
    terminal_state, exception_type, exception_message and has_final_output. `agent` names who made `generated`. A
    `resumed` run repeats what its earlier part did. In a `nested` run, which a tool of another run started, the input
    is that run's agent's word.
    """

    rollout_id: str
    source: str
    input: list[dict[str, Any]]
    generated: list[dict[str, Any]]
    final_output: object = None
    interruptions: list[object] = field(default_factory=list)
    terminal: dict[str, Any] = field(default_factory=dict)
    agent: str | None = None
    resumed: bool = False
    nested: bool = False


@dataclass(frozen=True)
class Rollout:
    """The segments read from one rollout file, from byte `start` up to byte `end` (the end of its last whole line).

    `torn` counts lines that are not rollout lines: a crash cut them off, or something else wrote them.
    """

    id: str
    path: str
    segments: tuple[Segment, ...]
    start: int
    end: int
    torn: int = 0


@dataclass(frozen=True)
class Evidence:
    """A verbatim quote and where it stands: characters `start` to `end` of item `item` of that segment's rendering."""

    rollout: str
    segment: str
    item: int
    start: int
    end: int
    quote: str = ""
    trust: Trust = Trust.AGENT

    def overlaps(self, other: Evidence) -> bool:
        """True if both quotes share at least one character of the same item."""
        return (
            (self.rollout, self.segment, self.item) == (other.rollout, other.segment, other.item)
            and self.start < other.end
            and other.start < self.end
        )

    def to_json(self) -> dict[str, Any]:
        """The place without the quote, which is erasable and kept apart."""
        return {
            "rollout": self.rollout,
            "segment": self.segment,
            "item": self.item,
            "start": self.start,
            "end": self.end,
            "trust": self.trust.label,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], quote: str = "") -> Evidence:
        """Inverse of `to_json`; raises KeyError or ValueError for data that it did not write."""
        return cls(
            str(data["rollout"]),
            str(data["segment"]),
            int(data["item"]),
            int(data["start"]),
            int(data["end"]),
            quote,
            Trust.of(str(data["trust"])),
        )


@dataclass(frozen=True)
class Candidate:
    """One thing that an extraction found worth remembering, its quotes already verified.

    `subject` is a stable key of what it is about ("port of the staging server"): a new value of the same subject
    replaces the old one. Empty where the extractor knows none. `task` is the short title of the task it belongs to.
    """

    kind: Kind
    text: str
    evidence: tuple[Evidence, ...]
    subject: str = ""
    task: str = ""
    importance: float | None = None
    """From 0 to 1; None where the extractor did not say, so that its kind decides."""
    owner: str = ""
    """The conversation of the one customer whose it is, where many are served; empty for what is for everybody."""

    @property
    def trust(self) -> Trust:
        """The lowest trust among the quotes."""
        return min((e.trust for e in self.evidence), default=Trust.EXTERNAL)


@dataclass(frozen=True)
class RawMemory:
    """What one extraction made of one rollout: the body of `raw_memories/<rollout-id>.md`, and its candidates.

    `consumed` is the watermark: the bytes of the rollout file that have been read. `said` tells when each segment that
    was read was recorded, by its id.
    """

    rollout_id: str
    updated_at: str
    rollout_path: str
    summary_file: str
    terminal_state: str
    consumed: int
    task: str
    summary: str
    text: str
    candidates: tuple[Candidate, ...] = ()
    keywords: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    def said_at(self, segment: str) -> str:
        """When that segment was recorded; for one that was not read here the time of the last one."""
        return self.said.get(segment) or self.updated_at


@dataclass(frozen=True)
class Refusal:
    """Something that code did not let in, and why; kept for the log and for `status`."""

    what: str
    why: str


@dataclass(frozen=True)
class Asked:
    """Something that waits for a decision: the question as the inbox shows it, and what a yes would write.

    `kind` and `trust` are those of the new text; a question that writes none has an empty `text`. `source` names the
    conversation or the actor that it comes from. `lines` are the texts of a question about several lines at once.
    """

    id: str
    question: str
    text: str = ""
    kind: str = ""
    trust: str = ""
    source: str = ""
    lines: tuple[str, ...] = ()


class Status(str, Enum):
    """Where a record is in its life."""

    ACTIVE = "active"
    HELD = "held"
    """Vanished from the file with many others; out of sight until a person answers in the inbox."""
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    """Let go by code: expired, long unused, old, or beyond the capacity; out of sight, and back with a `restore`."""
    DELETED = "deleted"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True)
class Record:
    """One remembered thing: one list item of `MEMORY.md`, addressed by its block id.

    `group` is the title of its task group, `section` overrides the section that `kind` gives it (the heading text).
    `origin` says how its text came to be: consolidation, hand, live, tool, cli, web, import. A protected record is
    never altered by the machine. `created` and `updated` are commit ordinals; `created_at`, `updated_at` are ISO times.
    """

    id: str
    kind: Kind
    text: str
    group: str
    subject: str = ""
    evidence: tuple[Evidence, ...] = ()
    trust: Trust = Trust.AGENT
    protected: bool = False
    status: Status = Status.ACTIVE
    origin: str = "consolidation"
    section: str = ""
    created: int = 0
    created_at: str = ""
    updated: int = 0
    updated_at: str = ""
    version: int = 1
    superseded_by: str = ""
    support: frozenset[str] = field(default_factory=frozenset)
    """Rollouts that the record rests on: those of its evidence, and those that an import named."""
    importance: float = 0.5
    """From 0 to 1; half of it makes no difference to a score."""
    expires: str = ""
    """ISO time in UTC from which on it is out of sight; empty for never."""
    pinned: bool = False
    """True if it is never let go, however old it gets."""
    valid_from: str = ""
    valid_to: str = ""
    """ISO times between which it was so; `valid_to` is set when another record replaced it, or when it expired."""
    retired: str = ""
    """Why it was let go, if it was."""
    owner: str = ""
    """Whose it is, as of a candidate."""
    markdown: str = ""
    """The text in the blocks or lines in which a person wrote it, where that is more than one plain line."""

    def changed(self, **values: Any) -> Record:
        """A copy with those fields replaced and the version counted up."""
        return replace(self, version=self.version + 1, **values)


@dataclass(frozen=True)
class Usage:
    """Tokens of one or several model calls."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def to_json(self) -> dict[str, int]:
        """The three counts by name."""
        return {"requests": self.requests, "input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
