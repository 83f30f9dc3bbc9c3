"""What the ledger's commits add up to: the records now, or as they were at an earlier commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from .governance.forgetting import Erasure
from .governance.lifetime import expired, importance_of
from .ledger import Operation
from .records import Candidate, Evidence, Kind, Record, Status, Trust

DEFAULT_LIMIT = 256


@dataclass(frozen=True)
class RolloutState:
    """What has become of one rollout file, named by its stem.

    `consumed` is the watermark in bytes. `order` is recency: the ordinal at which the phase began that extracted it
    last, and its rank in that phase, whichever model call ended first.
    """

    consumed: int = 0
    order: tuple[int, int] = (0, 0)
    updated_at: str = ""
    summary_file: str = ""
    terminal_state: str = ""
    task: str = ""
    keywords: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()
    """All titles and keywords that it had so far."""
    usage: Mapping[str, int] = field(default_factory=dict)
    read: int = 0
    """The highest watermark that it ever had."""


@dataclass(frozen=True)
class Failure:
    """Why work was left pending: the cause, how many tries in all, and when the last one was."""

    cause: str
    attempts: int
    at: str


@dataclass(frozen=True)
class Proposal:
    """Something that waits for a person in `INBOX.md`: what is asked, and the operations that a yes would commit.

    `about` holds the records that it asks about, id to text, as they were then. It is `unheard` if an answer came while
    a session was open: that may be the agent's own. `at` is when it was asked, in ISO 8601.
    """

    id: str
    text: str
    operations: tuple[Operation, ...]
    source: str = ""
    on_refusal: tuple[Operation, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    unheard: bool = False
    at: str = ""


@dataclass(frozen=True)
class SkillState:
    """A skill that was written: the records that its steps are, and whether a person has made it theirs or deleted it.

    `text` is that of a person; what code wrote is made of the records. As long as it is `due`, its file may not have
    been written: then that it is missing says nothing.
    """

    records: tuple[str, ...] = ()
    edited: bool = False
    dropped: bool = False
    due: bool = False
    text: str = ""


@dataclass
class State:
    """The fold of a ledger up to `ordinal`. Built by `fold`; read it, do not change it elsewhere."""

    ordinal: int = 0
    at: str = ""
    """The latest time that a commit so far has: it never goes back, also where a clock did."""
    records: dict[str, Record] = field(default_factory=dict)
    rollouts: dict[str, RolloutState] = field(default_factory=dict)
    pending: dict[tuple[str, int], tuple[Candidate, ...]] = field(default_factory=dict)
    orders: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """The order of each extraction, by rollout and ordinal of its commit."""
    proposals: dict[str, Proposal] = field(default_factory=dict)
    decided: dict[str, bool] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    tombstones: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    consolidation_usage: Mapping[str, int] = field(default_factory=dict)
    skills: dict[str, SkillState] = field(default_factory=dict)
    """By the name of their folders, those included that a person deleted."""
    senseless: dict[int, str] = field(default_factory=dict)
    """Operations that could not be taken in, by the ordinal of their commit."""
    passed: dict[str, int] = field(default_factory=dict)
    """Records that only a commit names which something else wrote, by that commit's ordinal."""
    erasures: dict[str, Erasure] = field(default_factory=dict)
    """What was forgotten, by what recognises it."""
    prose: dict[str, Mapping[str, Trust]] = field(default_factory=dict)
    """Whose word the lines outside our block of a file are: digest to trust, by the file's name."""
    _memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def limit(self) -> int:
        """How many of the newest conversations support what is visible (`max_raw_memories`)."""
        return int(self.settings.get("max_raw_memories", DEFAULT_LIMIT))

    def selection(self) -> list[str]:
        """The stems of the newest conversations, newest first, at most `limit` of them."""
        found: list[str] = self._once("selection", self._selection)
        return found

    def _selection(self) -> list[str]:
        known = [stem for stem, rollout in self.rollouts.items() if rollout.order > (0, 0)]
        return sorted(known, key=lambda stem: self.rollouts[stem].order, reverse=True)[: self.limit]

    def visible(self) -> dict[str, Record]:
        """The records that stand in the markdown: active, and protected or supported by the selection."""
        found: dict[str, Record] = self._once("visible", self._visible)
        return found

    def expired(self, now: str) -> list[Record]:
        """The records that have expired at that time and are not retired yet."""
        ending: list[Record] = self._once("ending", self._ending)
        return [record for record in ending if expired(record, now)]

    def _ending(self) -> list[Record]:
        return [record for record in self.records.values() if record.expires and record.status is Status.ACTIVE]

    def _once(self, name: str, work: Callable[[], Any]) -> Any:
        """What `work` gives, worked out once for each ordinal."""
        if self._memo.get("ordinal") != self.ordinal:
            self._memo = {"ordinal": self.ordinal}
        if name not in self._memo:
            self._memo[name] = work()
        return self._memo[name]

    def _visible(self) -> dict[str, Record]:
        selected = set(self.selection())
        known = {stem for stem, rollout in self.rollouts.items() if rollout.order > (0, 0)}
        return {
            record.id: record
            for record in self.records.values()
            if record.status is Status.ACTIVE
            and (
                record.protected
                or not record.support
                or not selected.isdisjoint(record.support)
                or not record.support <= known  # what was asked in a conversation that was not extracted yet
            )
        }

    def copy(self) -> State:
        """A state of its own; the records and all else in it are shared, being immutable."""
        copied = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(copied, name, dict(value))
        return copied


def evidence_of(operation: Operation) -> tuple[Evidence, ...]:
    """The quotes of an operation with their places; the quotes are empty where they were erased."""
    places = operation.facts.get("evidence", ())
    quotes = operation.body.get("quotes", ())
    return tuple(Evidence.from_json(place, quotes[n] if n < len(quotes) else "") for n, place in enumerate(places))


def candidate_facts(candidate: Candidate) -> dict[str, Any]:
    """The part of a candidate that an erasure leaves: kind and the places of its quotes."""
    facts: dict[str, Any] = {"kind": candidate.kind.value, "evidence": [e.to_json() for e in candidate.evidence]}
    return facts if candidate.importance is None else {**facts, "importance": candidate.importance}


def candidate_body(candidate: Candidate) -> dict[str, Any]:
    """The erasable part of a candidate: its words."""
    return {
        "text": candidate.text,
        "subject": candidate.subject,
        "task": candidate.task,
        "quotes": [e.quote for e in candidate.evidence],
        **({"owner": candidate.owner} if candidate.owner else {}),
    }


def candidates_of(operation: Operation) -> tuple[Candidate, ...]:
    """The candidates of an `extract`; none where its words were erased."""
    return tuple(
        Candidate(
            Kind(fact["kind"]),
            str(word["text"]),
            tuple(
                Evidence.from_json(place, quote) for place, quote in zip(fact["evidence"], word["quotes"], strict=True)
            ),
            str(word.get("subject", "")),
            str(word.get("task", "")),
            importance_of(fact["importance"]) if "importance" in fact else None,
            str(word.get("owner", "")),
        )
        for fact, word in zip(operation.facts.get("candidates", ()), operation.body.get("candidates", ()), strict=False)
    )


def operation_json(operation: Operation) -> dict[str, Any]:
    """An operation as it is kept inside a proposal."""
    return {"op": operation.op, "id": operation.id, "facts": dict(operation.facts), "body": dict(operation.body)}
