"""What the ledger's commits add up to: the records now, or as they were at an earlier commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

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


PEOPLE = ("hand", "cli", "web")
"""Who commits what a person did, and nobody else may have done."""


@dataclass(frozen=True)
class Gone:
    """A record as it was when its words were taken out, `at` that time, `by` that actor."""

    record: Record
    at: str
    by: str
    changed: bool = False
    """True where others stand in their place."""

    @property
    def by_person(self) -> bool:
        """True if it was a person who took them out."""
        return self.by in PEOPLE


@dataclass(frozen=True)
class Typed:
    """A line without an id that a save of a file brought in: `record` as that save told it, `by` that actor.

    `marker` is the commit that the file said it showed, `since` the first commit of the saves of that editor which are
    known, `between` the records above and below of the same section that the file had shown ("" for none).
    """

    file: str
    marker: int
    since: int
    between: tuple[str, str]
    record: Record
    by: str


class Place(NamedTuple):
    """Where a record stands in a list: how deep, from 0, and whether its list is numbered."""

    id: str
    depth: int
    numbered: bool


@dataclass(frozen=True)
class Steps:
    """Records that are told together in this order: a numbered list, or an item with those below it.

    `start` is the first number; `by` says whose arrangement it is.
    """

    places: tuple[Place, ...]
    start: int = 1
    by: Trust = Trust.AGENT

    @property
    def together(self) -> bool:
        """True if it says more than its items do singly."""
        return len(self.places) > 1 and any(place.depth or place.numbered for place in self.places)

    def without(self, there: Collection[str]) -> Steps | None:
        """What is left of it where only those records are there."""
        left = replace(self, places=tuple(place for place in self.places if place.id in there))
        return left if left.together else None

    def leads(self, shown: Collection[str], mark: str = ".") -> dict[str, str]:
        """What stands before each record that is shown: its indentation, and its number with that mark, or a dash."""
        found: dict[str, str] = {}
        levels: list[tuple[int, str, int, int]] = []
        for id, depth, numbered in (place for place in self.places if place.id in shown):
            levels = [level for level in levels if level[0] <= depth]
            if not levels or levels[-1][0] < depth:
                inside = levels[-1][1] + " " * levels[-1][3] if levels else ""
                levels.append((depth, inside, 0 if depth else self.start - 1, 0))
            _, indent, number, _ = levels[-1]
            lead = f"{number + 1}{mark} " if numbered else "- "
            levels[-1] = (depth, indent, number + 1, len(lead))
            found[id] = indent + lead
        return found

    def to_json(self) -> dict[str, Any]:
        """As the ledger has it."""
        return {"by": self.by.label, "start": self.start, "items": [list(place) for place in self.places]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Steps:
        """Inverse of `to_json`; raises KeyError, TypeError or ValueError for data that it did not write."""
        places = (Place(str(id), int(depth), bool(numbered)) for id, depth, numbered in data["items"])
        return cls(tuple(places), int(data["start"]), Trust.of(data["by"]))


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
    gone: dict[str, tuple[Gone, ...]] = field(default_factory=dict)
    """What was deleted or overruled, by the id of the record that said it."""
    typed: dict[str, Typed] = field(default_factory=dict)
    """The lines that came in without an id, by the id that each got."""
    saved: dict[tuple[str, str, int, str], tuple[int, Record]] = field(default_factory=dict)
    """Records as the last save of a file left them, by id, file, the commit that it showed and the actor, each with the
    first commit of the saves of that editor which are known."""
    named: dict[str, int] = field(default_factory=dict)
    """The titles that people gave task groups, each with the commit that it came with."""
    lists: tuple[Steps, ...] = ()
    """The lines of `MEMORY.md` that are told together, in the order of the file."""
    boxes: dict[str, tuple[bool, Trust]] = field(default_factory=dict)
    """Whether the box of a line is ticked, and who is taken to have done that, by its id."""
    said: dict[tuple[str, str], str] = field(default_factory=dict)
    """When the segments that were quoted were recorded, by rollout and id."""
    _memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def said_before(self, evidence: Collection[Evidence], at: str) -> bool:
        """True for quotes that were all said before that time; of one whose time is not known that is not certain."""
        known = [self.said.get((e.rollout, e.segment)) or self._written(e.rollout) for e in evidence]
        return bool(known) and all("" < each < at for each in known)

    def _written(self, rollout: str) -> str:
        return self.rollouts[rollout].updated_at if rollout in self.rollouts else ""

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
