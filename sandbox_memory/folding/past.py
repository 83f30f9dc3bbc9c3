"""What was known at an earlier time, and so at that time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..errors import ConfigError, Unknown
from ..governance.lifetime import asked_time, later, valid, written
from ..ledger import Ledger
from ..records import Record, Status
from . import fold

DIGITS = 7
"""A number of more digits is no commit: it may be a date without its hyphens."""


@dataclass(frozen=True)
class Then:
    """What was known at `at`, after commit `commit`, and so at that time as far as was known then; oldest first."""

    commit: int
    at: str
    records: tuple[Record, ...]


def as_of(ledger: Ledger, when: str | int | datetime) -> Then:
    """The records as they were at a time (ISO, local where it names no zone) or after a commit, by its number.

    A date alone means its last moment. Raises `ConfigError` for what is neither, `Unknown` for a time before the first
    commit and for a commit that there is not.
    """
    number = _number(when)
    if number is not None:
        if not 0 < number <= len(ledger):
            raise Unknown(f"there is no commit {number}; there are {len(ledger)}, counted from 1")
        state = fold(ledger, number)
        at = state.at
    else:
        try:
            at = written(when if isinstance(when, datetime) else asked_time(str(when)))
        except ValueError as error:
            raise ConfigError(f"{error}, or the number of a commit") from error
        state = fold(ledger, _known_at(ledger, at))
        if not state.ordinal:
            first = f"; the first commit is of {ledger.commits[0].at}" if len(ledger) else ""
            raise Unknown(f"nothing was remembered yet at {at}{first}")
    replaced = (record for record in state.records.values() if record.status is Status.SUPERSEDED)
    records = (record for record in (*state.visible().values(), *replaced) if valid(record, at))
    return Then(state.ordinal, at, tuple(sorted(records, key=lambda record: (record.created, record.id))))


def _number(when: str | int | datetime) -> int | None:
    if isinstance(when, int):
        return when
    plain = when.strip() if isinstance(when, str) else ""
    return int(plain) if plain.isdecimal() and len(plain) <= DIGITS else None


def _known_at(ledger: Ledger, when: str) -> int:
    """How many commits there were at that time; where a clock was set back, a commit counts from that before it on."""
    latest = ""
    for number, commit in enumerate(ledger.commits):
        latest = later(commit.at, latest)
        if latest > when:
            return number
    return len(ledger)
