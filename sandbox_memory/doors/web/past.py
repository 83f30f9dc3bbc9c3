"""The pages that look back: the history, one commit, what changed between two moments, the memory as it was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starlette.responses import Response

from ...errors import ConfigError, Unknown
from ...folding.past import face
from ...governance.lifetime import asked_time, moment, written
from ...records import Record
from .page import Page

COMMITS = 40
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_NUMBER = re.compile(r"[0-9]{1,7}")


@dataclass(frozen=True)
class Moment:
    """A moment as it was asked for: `when` as `OpenMemory.as_of` takes it, and the same as a form shows it.

    Of `minute` (local, as `datetime-local` has it) and `commit` one is given, the other empty.
    """

    when: str
    minute: str = ""
    commit: str = ""


def asked(page: Page, name: str) -> Moment:
    """The moment that a field of the query names: a time, in this machine's zone, or the number of a commit.

    A time is given by the minute and means its end, so that all that the page shows as of that minute has happened.
    Raises `ConfigError` for what is neither, and `Unknown` for a commit that there is not and for a time before the
    first.
    """
    text, history = str(page.query.get(name, "")).strip(), page.snapshot.history
    if _NUMBER.fullmatch(text):
        if not 0 < int(text) <= len(history):
            raise Unknown(page.words("no-such-commit", number=text))
        return Moment(text, commit=str(int(text)))
    try:
        at = asked_time(text)
    except ValueError:
        raise ConfigError(page.words("no-such-moment", when=text)) from None
    minute = f"{at.astimezone():%Y-%m-%dT%H:%M}"
    if _MINUTE.fullmatch(text):
        at += timedelta(seconds=59, milliseconds=999)
    if not history:
        raise Unknown(page.words("history-empty"))
    first_at = str(history[-1]["at"])
    if at < moment(first_at):
        raise Unknown(page.words("too-early", when=page.words.time(minute_at(minute)), at=page.words.time(first_at)))
    return Moment(written(at), minute=minute)


def minute_at(minute: str) -> str:
    """A local minute as the ledger writes times."""
    return written(datetime.fromisoformat(minute).astimezone())


def _filled(given: Moment, commit: int, at: str) -> Mapping[str, str]:
    """What the two fields for one moment show, whichever of them it was given in."""
    minute = given.minute or f"{moment(at).astimezone():%Y-%m-%dT%H:%M}"
    return {"minute": minute, "commit": str(commit), "at": minute_at(given.minute) if given.minute else at}


def history(page: Page) -> Response:
    """The commits, newest first, by their days."""
    commits, known = page.snapshot.history, page.snapshot.state.records
    maker = str(page.query.get("by", ""))
    makers = sorted({str(commit["actor"]) for commit in commits})
    chosen = [c for c in commits if (not maker or c["actor"] == maker) and _tells(c)]
    number, pages = page.number("page"), max(1, -(-len(chosen) // COMMITS))
    part = chosen[(number - 1) * COMMITS : number * COMMITS]
    days: dict[str, list[Mapping[str, Any]]] = {}
    for commit in part:
        days.setdefault(page.words.day(str(commit["at"])), []).append(commit)
    return page.render(
        "history.html",
        days=days,
        total=sum(not maker or each["actor"] == maker for each in commits),
        untold=sum((not maker or each["actor"] == maker) and not _tells(each) for each in commits),
        last=len(commits),
        makers=makers,
        maker=maker,
        number=number,
        pages=pages,
        kept=[known[id] for id in str(page.query.get("kept", "")).split(",")[:COMMITS] if id in known],
    )


def _tells(commit: Mapping[str, Any]) -> bool:
    """False for a commit in which nothing but costs and settings was noted."""
    return any(operation["op"] != "usage" for operation in commit["operations"])


def commit(page: Page) -> Response:
    """One commit as a whole."""
    number = int(page.path["number"])
    found = next((c for c in page.snapshot.history if c["commit"] == number), None)
    if found is None:
        raise Unknown(page.words("no-such-commit", number=number))
    return page.render("commit.html", commit=found)


def compare(page: Page) -> Response:
    """What changed between two moments; without the second, until now."""
    before = asked(page, "from")
    after = asked(page, "to") if str(page.query.get("to", "")).strip() else Moment("")
    found = page.shelf.do(lambda memory: memory.diff(before.when, after.when or None))
    now = {"minute": "", "commit": "", "at": found.after.at}
    return page.render(
        "compare.html",
        found=found,
        before=_filled(before, found.before.commit, found.before.at),
        after=_filled(after, found.after.commit, found.after.at) if after.when else now,
        last=len(page.snapshot.history),
    )


def then(page: Page) -> Response:
    """The memory as it was at a moment, and what has become of each line."""
    given = asked(page, "when")
    known = page.shelf.do(lambda memory: memory.as_of(given.when))
    groups: dict[str, list[Record]] = {}
    for record in known.records:
        groups.setdefault(record.group, []).append(record)
    state, seen = page.snapshot.state, page.snapshot.state.visible()
    return page.render(
        "then.html",
        then=known,
        groups=groups,
        now=state.records,
        seen=seen,
        same={record.id for record in known.records if record.id in seen and face(seen[record.id]) == face(record)},
        given=given.when,
        when=_filled(given, known.commit, known.at),
        last=len(page.snapshot.history),
    )
