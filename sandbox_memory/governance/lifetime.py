"""How long a record counts: its score, when it expires, and what a full or an old memory lets go. Pure: no clock.

Times are ISO 8601 in UTC as the ledger writes them, ages and half-lives are days. A record's age counts from the last
time that it was said, confirmed or used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from functools import lru_cache
from typing import Any

from ..errors import ConfigError
from ..records import Kind, Record

HALF_LIFE = 30.0
"""Days after which a record counts half, where its layout says nothing else of its kind."""
IMPORTANCE: Mapping[Kind, float] = {
    Kind.PREFERENCE: 0.7,
    Kind.LESSON: 0.6,
    Kind.PROCEDURE: 0.6,
    Kind.FACT: 0.5,
    Kind.TASK: 0.3,
    Kind.EPISODE: 0.3,
}
"""How important a record is of whose importance nobody said anything, by its kind."""
BY_HAND = 0.9
"""The same of what a person asked to remember in so many words."""
LOW = 0.4
"""An importance from which on a record is not of low value."""
UNUSED, OLD = 3, 6
"""Half-lives after which a record of low value, and any record, is let go if nobody has said or used it since."""
NEVER = "never"
"""Said in place of a time: it does not expire, or not any more."""
EXPIRED = "expired"
LITTLE, AGED, FULL = "of little importance and long unused", "old and unused", "beyond the capacity"
"""Why a record is let go."""

_DAY = timedelta(days=1)
_TTL = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|min|h|d|w|y|天|小时|分钟|周|年)\s*", re.IGNORECASE)
_UNITS = {
    "s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400,
    "分钟": 60, "小时": 3600, "天": 86400, "周": 7 * 86400, "年": 365 * 86400,
}  # fmt: skip


@dataclass(frozen=True)
class LetGo:
    """A record that a memory lets go, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class Life:
    """What a person says of how long and how much a record counts; None where they say nothing.

    `ttl` is a timedelta or seconds, `expires` a time, text that `asked_time` reads, or `NEVER`. Raises `ConfigError`
    for an importance or a lifetime that is out of bounds, as far as it can be told without a clock.
    """

    importance: float | None = None
    pinned: bool | None = None
    ttl: timedelta | float | None = None
    expires: datetime | str | None = None

    def __post_init__(self) -> None:
        with _bounds():
            if self.importance is not None:
                importance_of(self.importance)
            if self.ttl is not None:
                checked_ttl(self.ttl)

    def facts(self, now: str) -> dict[str, Any]:
        """The facts of an operation at that time. Raises `ConfigError` for a time of expiry that is not after it."""
        never = self.expires == NEVER and self.ttl is None
        with _bounds():
            ends = None if never else expiry(now, ttl=self.ttl, expires=self.expires) or None
        facts: dict[str, Any] = {"importance": self.importance, "pinned": self.pinned, "expires": "" if never else ends}
        return {name: value for name, value in facts.items() if value is not None}


@contextmanager
def _bounds() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ConfigError(str(error)) from error


NO_LIFE = Life()


def importance_of(value: object) -> float:
    """The value as an importance; raises `ValueError` for anything but a finite number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"importance must be a number from 0 to 1, got: {value!r}")
    return float(value)


def clamped(value: float) -> float | None:
    """What a model gave as an importance, put within the bounds; None for what is no number."""
    return min(1.0, max(0.0, value)) if math.isfinite(value) else None


@lru_cache(maxsize=1 << 14)
def moment(text: str) -> datetime:
    """The time that an ISO text names, in UTC; without a zone it is one. Raises `ValueError` for any other text."""
    when = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    return (when if when.tzinfo else when.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)


def written(when: datetime) -> str:
    """A time as the ledger writes it; of one without a zone it is taken to be local."""
    return when.astimezone(timezone.utc).isoformat(timespec="milliseconds")


def later(one: str, other: str) -> str:
    """The later of two times; what is no time comes before any, and two that are none are empty."""
    if one.endswith("+00:00") and other.endswith("+00:00") and len(one) == len(other) == 29:
        return max(one, other)
    known = []
    for text in (one, other):
        try:
            known.append(written(moment(text)))
        except (ValueError, OverflowError):
            continue
    return max(known, default="")


def asked_time(text: str) -> datetime:
    """The time that a person means, local where no zone is named; a date alone is its last moment.

    Raises `ValueError` for what is no ISO date or time, or lies beyond the calendar.
    """
    plain = re.sub(r"^(\d{4})(\d{2})(\d{2})$", r"\1-\2-\3", text.strip())  # which Python 3.10 does not read
    try:
        when = datetime.fromisoformat(plain.replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(f"{text!r} is no date or time; write 2026-12-31 or 2026-12-31T18:00") from None
    if re.fullmatch(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d", plain):
        when = datetime.combine(when.date(), time.max)
    try:
        return when.astimezone(timezone.utc)
    except (OverflowError, OSError, ValueError):  # which of them depends on the version of Python
        raise ValueError(f"{text!r} is beyond the calendar in your time zone") from None


def exactly(at: str) -> str:
    """A time of the ledger to the second in the local zone, with its name: `2026-11-30 23:59:59 CET`."""
    return moment(at).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def ttl_of(text: str) -> timedelta:
    """How long a record is to live, as people write it: `30d`, `12h`, `45min`, `2w`. Raises `ValueError` otherwise."""
    match = _TTL.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no lifetime; write a number above 0 and a unit, as in 45min, 12h, 30d or 2w")
    seconds = float(match[1]) * _UNITS[match[2].lower()]
    return checked_ttl(seconds)


def checked_ttl(ttl: timedelta | float) -> timedelta:
    """The lifetime as a timedelta; a number is seconds. Raises `ValueError` unless it is finite and positive."""
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise ValueError(f"a lifetime is a timedelta or a number of seconds, got: {ttl!r}")
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"a lifetime must be finite and positive, got: {ttl!r}")
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(f"a lifetime of {seconds:g} seconds is longer than any calendar") from None


def expiry(now: str, *, ttl: timedelta | float | None = None, expires: datetime | str | None = None) -> str:
    """When a record of the time `now` expires, as ISO text; empty for never.

    Raises `ValueError` if both are given, if a lifetime is not finite and positive, or if the time is not after `now`.
    """
    if ttl is not None and expires is not None:
        raise ValueError("give a lifetime or the time of expiry, not both")
    try:
        if ttl is not None:
            when = moment(now) + checked_ttl(ttl)
        elif expires is None:
            return ""
        else:
            when = asked_time(expires) if isinstance(expires, str) else expires.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError("a lifetime must end before the year 10000") from None
    if written(when) <= now:
        raise ValueError(f"it would have expired already, {exactly(written(when))}; it is {exactly(now)} now")
    return written(when)


def expired(record: Record, now: str) -> bool:
    """True from the time on at which it expires."""
    return bool(record.expires) and record.expires <= now


def age(since: str, now: str) -> float:
    """Days from the one time to the other; 0 for what is no time, or lies ahead."""
    try:
        return max(0.0, (moment(now) - moment(since)) / _DAY)
    except (ValueError, OverflowError):
        return 0.0


def score(relevance: float, age: float, half_life: float, importance: float) -> float:
    """relevance × 0.5^(age / half-life) × (0.5 + importance); age and half-life in the same unit.

    Recency times importance times relevance, as in Generative Agents (Park et al. 2023), with a half-life for decay.
    """
    kept: float = 0.5 ** (max(0.0, age) / half_life)
    return relevance * kept * (0.5 + importance)


def scored(
    record: Record, now: str, half_life: Mapping[Kind, float], *, relevance: float = 1.0, used: str = ""
) -> float:
    """The score of a record at that time; `used` is when it was last of use."""
    since = later(record.updated_at, used) if used else record.updated_at
    return score(relevance, age(since, now), half_life.get(record.kind, HALF_LIFE), record.importance)


def let_go(
    records: Iterable[Record],
    now: str,
    *,
    half_life: Mapping[Kind, float],
    capacity: int | None = None,
    used: Mapping[str, str] | None = None,
) -> list[LetGo]:
    """What a memory with these records lets go at that time, and why.

    First what is of low value and long unused (`LOW`, `UNUSED`; one conversation at most speaks of it) and what is old
    and unused (`OLD`); of the rest what is beyond the `capacity`, the lowest score first. The first two never touch a
    line that a person made theirs; the capacity does when nothing else is left. What is pinned stays, and counts.
    `used` says when each record was last of use.
    """
    used = used or {}
    cutoffs = {kind: _cutoffs(now, half_life.get(kind, HALF_LIFE)) for kind in Kind}
    gone: list[LetGo] = []
    kept: list[Record] = []
    for record in records:
        unused, old = cutoffs[record.kind]
        at = used.get(record.id)
        since = later(record.updated_at, at) if at else record.updated_at or now
        if record.pinned or record.protected or since > unused:
            kept.append(record)
        elif record.importance < LOW and len(record.support) <= 1:
            gone.append(LetGo(record.id, LITTLE))
        elif since <= old:
            gone.append(LetGo(record.id, AGED))
        else:
            kept.append(record)
    beyond = len(kept) - capacity if capacity is not None else 0
    if beyond > 0:
        weighed = [
            (record.protected, scored(record, now, half_life, used=used.get(record.id, "")), record.updated, record.id)
            for record in kept
            if not record.pinned
        ]
        gone += [LetGo(id, FULL) for *_, id in sorted(weighed)[:beyond]]
    return gone


def _cutoffs(now: str, half_life: float) -> tuple[str, str]:
    """The times up to which a record counts as long unused, and as old."""
    when, found = moment(now), []
    for lives in (UNUSED, OLD):
        try:
            found.append(written(when - lives * half_life * _DAY))
        except OverflowError:
            found.append("")
    return found[0], found[1]


def valid(record: Record, now: str) -> bool:
    """True if it was so at that time, as far as is known: begun, not replaced and not expired."""
    begun = not record.valid_from or record.valid_from <= now
    return begun and not (record.valid_to and record.valid_to <= now) and not expired(record, now)
