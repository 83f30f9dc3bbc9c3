"""Taking commits back on the page: first what that would do, then, if it would still do just that, the doing."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from starlette.responses import Response

from ...errors import Unknown
from ...pipeline.undoing import ERASING, Undone
from ..plain import OpenMemory
from .page import Page

KEPT = 20
"""Lines that stay which are named after the doing; the look beforehand names all."""
_RANGE = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


@dataclass(frozen=True)
class Wanted:
    """The commits from `first` to `last`: `numbers` are those to take back, `left` those that cannot be."""

    first: int
    last: int
    numbers: tuple[int, ...]
    left: tuple[int, ...] = ()


def look(page: Page) -> Response:
    """What taking a commit back would do, or several that follow each other; nothing is changed."""
    wanted = _wanted(page)
    return _shown(page, wanted, page.shelf.do(lambda memory: memory.undo(*wanted.numbers, dry_run=True)))


def undo(page: Page) -> Response:
    """Take them back, if that does what was seen; else show what it would do now."""
    wanted, expected = _wanted(page), page.form.get("expected", "")

    def work(memory: OpenMemory) -> Undone:
        planned = memory.undo(*wanted.numbers, dry_run=True)
        return memory.undo(*wanted.numbers) if _digest(planned) == expected else planned

    done = page.shelf.do(work)
    if not done.commit:
        return _shown(page, wanted, done, changed=True)
    kept = ",".join(record.id for record in done.kept[:KEPT])
    return page.turn("history", done="undone", was=wanted.last, kept=kept)


def _wanted(page: Page) -> Wanted:
    """The commits that the address names: one in its path, or `commits` as 41 or 41-45. Raises `Unknown` for others."""
    text = str(page.path.get("number", page.query.get("commits", ""))).strip()
    found, history = _RANGE.fullmatch(text), page.snapshot.history
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 0 < first <= last <= len(history):
        raise Unknown(page.words("no-such-commit", number=text))
    if first == last:
        return Wanted(first, last, (first,))
    fixed = {
        commit["commit"]
        for commit in history
        if not commit.get("believed", True) or any(operation["op"] in ERASING for operation in commit["operations"])
    }
    numbers = range(first, last + 1)
    return Wanted(first, last, tuple(n for n in numbers if n not in fixed), tuple(n for n in numbers if n in fixed))


def _shown(page: Page, wanted: Wanted, undone: Undone, *, changed: bool = False) -> Response:
    return page.render(
        "undo.html",
        status=409 if changed else 200,
        wanted=wanted,
        undone=undone,
        changed=changed,
        expected=_digest(undone),
    )


def _digest(undone: Undone) -> str:
    """What tells whether an undo does the same as the one that was shown."""
    changed = [
        (
            old.id,
            old.version,
            new.text,
            new.group,
            new.section,
            new.kind.value,
            new.status.value,
            new.pinned,
            new.expires,
        )
        for old, new in undone.changed
    ]
    kept = [(record.id, record.version) for record in undone.kept]
    told = repr((undone.commits, changed, kept, undone.asked, undone.withdrawn))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
