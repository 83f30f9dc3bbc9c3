"""Forgetting a line on the page: first every place where it stands, then, once that was seen, its end."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from ...errors import LostUpdate, Unknown
from ...pipeline.forgetting.carrying import Outcome
from ...pipeline.forgetting.files import Place
from ...records import Record, Status
from ..plain import OpenMemory
from .page import Page
from .snapshot import Forgotten

LISTED = 500
"""Places that are listed at most; all are counted."""


def look(page: Page) -> Response:
    """Where a line stands, and what goes with it; nothing is changed."""
    return _asked(page, str(page.path["id"]))


def forget(page: Page) -> Response:
    """Forget a line for good, if it still says what was seen; else show it as it is now."""
    id, expected = str(page.path["id"]), page.form.get("expected", "")
    version = int(expected) if expected.isascii() and expected.isdigit() and len(expected) < 10 else 0
    shelf = page.shelf
    with shelf.forgetting:
        if id not in shelf.forgotten:
            try:
                outcome = shelf.apart(lambda memory: memory.forget(id, expected_version=version))
            except LostUpdate:
                return _asked(page, id, changed=True)
            shelf.forgotten[id] = _told(outcome)
    return page.turn(f"line/{id}/forgotten")


def outcome(page: Page) -> Response:
    """What is left of a line that was forgotten on this page, and where the receipt lies."""
    id = str(page.path["id"])
    if (done := page.shelf.forgotten.get(id)) is None:
        return page.turn(f"line/{id}")
    retold = [page.snapshot.state.records[each] for each in done.retold if each in page.snapshot.state.records]
    folder = page.shelf.layout.memories_dir
    return page.render("forgotten.html", gone=done, left=_by_file(done.left), retold=retold, id=id, folder=folder)


def _asked(page: Page, id: str, *, changed: bool = False) -> Response:
    if id in page.shelf.forgotten:
        return page.turn(f"line/{id}/forgotten")

    def seen(memory: OpenMemory) -> tuple[Record, Outcome]:
        record = memory.state().records.get(id)
        if record is None or record.status is Status.FORGOTTEN:
            raise Unknown(page.words("no-such-line", id=id))
        return record, memory.forget(id, dry_run=True)

    record, found = page.shelf.apart(seen)
    return page.render(
        "forget.html",
        status=409 if changed else 200,
        changed=changed,
        record=record,
        standing=id in page.snapshot.state.visible(),
        others=[each for each in found.records if each.id != id and each.text],
        retold=found.retold,
        were=found.were,
        files=_by_file(found.found[:LISTED]),
        count=len(found.found),
        more=len(found.found) - LISTED,
        of_files=len({each.path for each in found.found}),
    )


def _by_file(places: Sequence[Place]) -> dict[str, list[Place]]:
    files: dict[str, list[Place]] = {}
    for each in places:
        files.setdefault(each.path, []).append(each)
    return files


def _told(done: Outcome) -> Forgotten:
    files = len({each.path for each in done.found})
    retold = tuple(record.id for record in done.retold)
    return Forgotten(len(done.found), files, tuple(done.left), tuple(done.receipts), retold)
