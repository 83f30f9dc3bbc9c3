"""Forgetting a line on the page: first every place where it stands, then, once that was seen, its end.

Both read every file of the memory. What takes long goes on in a thread, and a page says so meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from ...errors import LostUpdate, Unknown
from ...pipeline.forgetting.carrying import Outcome
from ...pipeline.forgetting.files import Place
from ...records import Record, Status
from ..plain import OpenMemory
from .page import Page
from .snapshot import Forgotten, Shelf

LISTED = 500
"""Places that are listed at most; all are counted."""
SOON = 2.0
"""Seconds after which a page says that it takes longer."""
MANY = 300
"""Conversations beyond which the page says beforehand that it takes long."""
FRESH = 30.0
"""Seconds for which the outcome of a look is shown; after that it is looked again."""


@dataclass
class Job:
    """Work on one line that goes on in a thread: a look, or with `erases` its end."""

    erases: bool
    outcome: Future[Any]
    began: float = field(default_factory=time.monotonic)
    ended: float = 0.0


def look(page: Page) -> Response:
    """Where a line stands, and what goes with it; nothing is changed."""
    return _asked(page, str(page.path["id"]))


def forget(page: Page) -> Response:
    """Forget a line for good, if it still says what was seen; else show it as it is now."""
    id, expected = str(page.path["id"]), page.form.get("expected", "")
    version = int(expected) if expected.isascii() and expected.isdigit() and len(expected) < 10 else 0
    shelf = page.shelf
    with shelf.forgetting:  # whoever presses twice forgets once
        if id not in shelf.forgotten and _job(shelf, id, erases=True) is None:
            _start(shelf, id, lambda memory: memory.forget(id, expected_version=version), erases=True)
        return _came_to_nothing(page, id) or page.turn(f"line/{id}/forgotten")


def outcome(page: Page) -> Response:
    """What is left of a line that was forgotten on this page, and where the receipt lies; or that it goes on."""
    id, shelf = str(page.path["id"]), page.shelf
    with shelf.forgetting:
        if answer := _came_to_nothing(page, id):
            return answer
        if job := _job(shelf, id, erases=True):
            return _working(page, job)
    if (done := shelf.forgotten.get(id)) is None:
        return page.turn(f"line/{id}")
    retold = [page.snapshot.state.records[each] for each in done.retold if each in page.snapshot.state.records]
    folder = shelf.layout.memories_dir
    return page.render("forgotten.html", gone=done, left=_by_file(done.left), retold=retold, id=id, folder=folder)


def _came_to_nothing(page: Page, id: str) -> Response | None:
    """What is said of a forgetting that was not done; None for one that is done, or goes on. Raises what it raised."""
    shelf = page.shelf
    job = _job(shelf, id, erases=True)
    if job is None or not wait([job.outcome], SOON).done:
        return None
    del shelf.jobs[id]
    try:
        shelf.forgotten[id] = _told(job.outcome.result())
    except LostUpdate:
        return _asked(page, id, changed=True)
    return None


def _asked(page: Page, id: str, *, changed: bool = False) -> Response:
    shelf = page.shelf
    if id in shelf.forgotten or _job(shelf, id, erases=True):
        return page.turn(f"line/{id}/forgotten")

    def seen(memory: OpenMemory) -> tuple[Record, Outcome]:
        record = memory.state().records.get(id)
        if record is None or record.status is Status.FORGOTTEN:
            raise Unknown(page.words("no-such-line", id=id))
        return record, memory.forget(id, dry_run=True)

    job = _job(shelf, id, erases=False)
    if job is None or changed or (job.ended and time.monotonic() - job.ended > FRESH):
        job = _start(shelf, id, seen, erases=False)
    if not wait([job.outcome], None if changed else SOON).done:
        return _working(page, job)
    if shelf.jobs.get(id) is job:
        del shelf.jobs[id]
    record, found = job.outcome.result()
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
        many=MANY,
    )


def _job(shelf: Shelf, id: str, *, erases: bool) -> Job | None:
    """The work on that line that goes on, or whose outcome nobody has seen yet."""
    job = shelf.jobs.get(id)
    return job if isinstance(job, Job) and job.erases is erases else None


def _start(shelf: Shelf, id: str, work: Callable[[OpenMemory], Any], *, erases: bool) -> Job:
    """Begin that work in a thread; the page's command waits for it before it ends."""
    threads = ThreadPoolExecutor(1)
    job = Job(erases, threads.submit(shelf.apart, work))
    job.outcome.add_done_callback(lambda _: setattr(job, "ended", time.monotonic()))
    threads.shutdown(wait=False)
    shelf.jobs[id] = job
    return job


def _working(page: Page, job: Job) -> Response:
    """A page that says for how long it has been at work, and looks again by itself."""
    what = "working-forget" if job.erases else "working"
    return page.render("working.html", what=what, seconds=int(time.monotonic() - job.began))


def _by_file(places: Sequence[Place]) -> dict[str, list[Place]]:
    files: dict[str, list[Place]] = {}
    for each in places:
        files.setdefault(each.path, []).append(each)
    return files


def _told(done: Outcome) -> Forgotten:
    files = len({each.path for each in done.found})
    retold = tuple(record.id for record in done.retold)
    return Forgotten(len(done.found), files, tuple(done.left), tuple(done.receipts), retold)
