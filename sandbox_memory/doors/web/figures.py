"""What a history adds up to over time: lines in sight, tokens spent, lines that went and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...folding import apply
from ...folding import pass_over as passed_over
from ...governance.lifetime import EXPIRED, later, moment
from ...ledger import Ledger
from ...records import Status
from ...state import State

REASONS = ("superseded", "deleted", "let-go", "expired", "forgotten")
"""Why a line went, in the order in which a bar shows them."""
POINTS = 240
"""How many points of time a plot has at most."""


@dataclass(frozen=True)
class Figures:
    """Each by the day, ISO, on which something happened, in their order.

    `lines` is how many were active at the day's end, `ever` how many there had been in all; `tokens` those spent by
    then in each phase, in and out; `went` how many went that day, by reason.
    """

    lines: Mapping[str, int] = field(default_factory=dict)
    ever: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    went: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True if nothing has happened."""
        return not self.lines


def of(ledger: Ledger) -> Figures:
    """The figures of a ledger."""
    state, at = State(), ""
    lines, ever, active = dict[str, int](), dict[str, int](), 0
    spent: Counter[str] = Counter()
    tokens, went = dict[str, Mapping[str, int]](), dict[str, Counter[str]]()
    for commit in ledger.commits:
        at = later(commit.at, at)
        touched = {id for o in commit.operations for id in (o.id, *o.facts.get("replaces", ())) if id.startswith("m-")}
        before = {id: state.records[id].status for id in touched if id in state.records}
        (passed_over if commit.ordinal in ledger.passed else apply)(state, commit)
        day = _day(at)
        for id in touched & state.records.keys():
            was, now = before.get(id), state.records[id].status
            active += (now is Status.ACTIVE) - (was is Status.ACTIVE)
            if was is Status.ACTIVE and (reason := _reason(state, id, now)):
                went.setdefault(day, Counter())[reason] += 1
        for operation in commit.operations:
            usage = operation.facts.get("usage")
            if operation.op in ("extract", "usage") and isinstance(usage, Mapping):
                phase = "reading" if operation.id else "planning"
                for way in ("input", "output"):
                    count = usage.get(f"{way}_tokens", 0)
                    spent[f"{phase}-{way}"] += count if isinstance(count, int) else 0
        lines[day], ever[day], tokens[day] = active, len(state.records), dict(spent)
    days = _thinned(list(lines))
    return Figures(
        {day: lines[day] for day in days}, {day: ever[day] for day in days}, {day: tokens[day] for day in days}, went
    )


def _day(at: str) -> str:
    try:
        return moment(at).astimezone().date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _thinned(days: list[str]) -> list[str]:
    """At most `POINTS` of the days, the last among them."""
    step = -(-len(days) // POINTS) or 1
    return [day for n, day in enumerate(days) if day and ((len(days) - 1 - n) % step == 0)]


def _reason(state: State, id: str, now: Status) -> str:
    if now is Status.RETIRED:
        return "expired" if state.records[id].retired == EXPIRED else "let-go"
    return {Status.SUPERSEDED: "superseded", Status.DELETED: "deleted", Status.FORGOTTEN: "forgotten"}.get(now, "")
