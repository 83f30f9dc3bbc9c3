"""What was known at an earlier time, and so at that time; and what one line said before."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..errors import ConfigError, Unknown
from ..governance.lifetime import asked_time, expired, later, moment, valid, written
from ..ledger import Ledger, Operation
from ..records import Record, Status
from ..state import State
from . import apply, fold

DIGITS = 7
"""A number of more digits is no commit: it may be a date without its hyphens."""
UNITS = (timedelta(minutes=1), timedelta(seconds=1))
_TO_THE_UNIT = re.compile(r"\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d(:?\d\d)?(Z|[+-]\d\d(:?\d\d)?)?")
"""A time to the minute, or to the second."""
WHOLE = ("add", "supersede", "merge", "restate")
"""Operations that say all of a record."""


@dataclass(frozen=True)
class Then:
    """What was known at `at`, after commit `commit`, and so at that time as far as was known then; oldest first.

    `since` is when that commit was made.
    """

    commit: int
    at: str
    records: tuple[Record, ...]
    since: str = ""


def as_of(ledger: Ledger, when: str | int | datetime) -> Then:
    """The records as they were at a time (ISO, local where it names no zone) or after a commit, by its number.

    A date alone means its last moment, and so does a time to the minute or to the second. Raises `ConfigError` for what
    is neither, `Unknown` for a time before the first commit and for a commit that there is not.
    """
    number = _number(when)
    if number is not None:
        if not 0 < number <= len(ledger):
            raise Unknown(f"there is no commit {number}; there are {len(ledger)}, counted from 1")
        state = fold(ledger, number)
        at = state.at
    else:
        try:
            at = written(when if isinstance(when, datetime) else _asked(str(when)))
        except ValueError as error:
            raise ConfigError(f"{error}, or the number of a commit") from error
        state = fold(ledger, _known_at(ledger, at))
        if not state.ordinal:
            first = f"; the first commit is of {_local(ledger.commits[0].at)}" if len(ledger) else ""
            raise Unknown(f"nothing was remembered yet at {_local(at)}{first}")
    replaced = (record for record in state.records.values() if record.status is Status.SUPERSEDED)
    records = (record for record in (*state.visible().values(), *replaced) if valid(record, at))
    in_order = tuple(sorted(records, key=lambda record: (record.created, record.id)))
    return Then(state.ordinal, at, in_order, ledger.commits[state.ordinal - 1].at)


def _local(at: str) -> str:
    try:
        return moment(at).astimezone().isoformat(" ", "seconds")[:19]
    except (ValueError, OverflowError):
        return at


def _asked(text: str) -> datetime:
    """The time that a person means who may have copied it from where it was told, to the minute or to the second."""
    found, at = _TO_THE_UNIT.fullmatch(text.strip()), asked_time(text)
    return at + UNITS[1 if found[1] else 0] - timedelta(milliseconds=1) if found else at


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


@dataclass(frozen=True)
class Wording:
    """What a record said and how it stood from a commit on, which was made `at` that time, until the next of them."""

    commit: int
    at: str
    record: Record

    @property
    def stood(self) -> bool:
        """True if it was in sight, as far as that can be told of a record alone."""
        return self.record.status is Status.ACTIVE and not expired(self.record, self.at)


def face(record: Record) -> tuple[object, ...]:
    """What of a record counts as what it says: words, place and kind, how long it counts, and how much."""
    place = (record.text, record.group, record.section, record.kind)
    return (*place, record.expires, record.pinned, record.importance)


def wordings(ledger: Ledger, id: str, upto: int | None = None) -> tuple[Wording, ...]:
    """What a record said, the oldest first: an entry for each of the first `upto` commits that changed that.

    As long as what it said is erased, or cannot be told for that, it is one that is forgotten.
    """
    state, found, known = State(), list[Wording](), False
    for commit in ledger.commits[:upto]:
        own = tuple(o for o in commit.operations if id in (o.id, *o.facts.get("replaces", ())))
        if not own or commit.ordinal in ledger.passed:
            continue
        apply(state, replace(commit, operations=own, consolidated=(), settings=None))
        for operation in own:
            known = _still_known(operation, known) if operation.id == id else known
        if (record := state.records.get(id)) is None:
            continue
        if not known or record.status is Status.FORGOTTEN:
            record = replace(record, text="", status=Status.FORGOTTEN, evidence=())
        last = found[-1].record if found else None
        if last is None or (face(record), record.status) != (face(last), last.status):
            found.append(Wording(commit.ordinal, state.at, record))
    return tuple(found)


def before_now(ledger: Ledger, record: Record) -> tuple[Wording, ...]:
    """What a record said before, in sight, that it does not say in sight now; the oldest first, the same once."""
    found: dict[tuple[object, ...], Wording] = {}
    for wording in wordings(ledger, record.id):
        says = face(wording.record)
        if wording.stood and (says != face(record) or record.status is not Status.ACTIVE):
            found.pop(says, None)
            found[says] = wording
    return tuple(found.values())


def _still_known(operation: Operation, before: bool) -> bool:
    """False from an operation on whose words were erased, true again from one on that says them anew."""
    if operation.op in WHOLE:
        return not operation.erased
    if operation.op == "support":
        return before
    return not operation.erased and (before or "text" in operation.body)
