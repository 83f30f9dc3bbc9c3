"""What a person does on the page: each is a form, answered by going on to the page that shows the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import RedirectResponse, Response

from ...errors import ConfigError
from ...records import Kind, Record, Status
from ..plain import OpenMemory
from .page import COOKIE, THEMES, Page
from .wording import LANGUAGES

YEAR = 365 * 24 * 3600


def prefer(page: Page) -> Response:
    """Keep the language or the colours that were chosen, and go back."""
    back = page.form.get("back", "")
    response = RedirectResponse(f"{page.base}/{back}" if _plain(back) else f"{page.base}/", 303)
    for name, allowed in (("theme", THEMES), ("language", tuple(LANGUAGES))):
        if (value := page.form.get(name)) in allowed:
            response.set_cookie(COOKIE + name, str(value), max_age=YEAR, path="/", httponly=True, samesite="strict")
    return response


def _plain(back: str) -> bool:
    """True for an address that stays on the page."""
    return "//" not in back and "\\" not in back and ".." not in back and back.isprintable()


def add(page: Page) -> Response:
    """Remember a line in so many words."""
    text, group = page.form.get("text", ""), page.form.get("group", "").strip() or "General"
    kind = page.form.get("kind", "fact")
    if kind not in {each.value for each in Kind}:
        raise ConfigError(page.words("no-such-kind", kind=kind))
    record = page.shelf.do(lambda memory: memory.add(text, kind=kind, group=group))
    return _there(page, record, "added")


def change(page: Page) -> Response:
    """Do to one line what its form says: give it other words or those of before, delete it, bring it back, pin it."""
    id, what, text = str(page.path["id"]), page.form.get("do", ""), page.form.get("text", "")
    expected = page.form.get("expected", "")
    version = int(expected) if expected.isascii() and expected.isdigit() and len(expected) < 10 else 0

    def revise(memory: OpenMemory) -> Record:
        return memory.revise(id, text, expected_version=version)

    def revive(memory: OpenMemory) -> Record:
        """Bring a line back, with other words if some were given; what others made of it meanwhile is not lost."""
        at, seen = memory.state().records.get(id), version if "expected" in page.form else None
        if at is None or at.status is not Status.ACTIVE:
            at = memory.restore(id, expected_version=seen)[0]
            seen = at.version
        return memory.revise(id, text, expected_version=seen or 0) if text and text != at.text else at

    def put_back(memory: OpenMemory) -> Record:
        return memory.restore(id, as_of=page.form.get("as_of", ""), expected_version=version)[0]

    done: Mapping[str, tuple[str, Callable[[OpenMemory], Record]]] = {
        "save": ("saved", revise),
        "delete": ("deleted", lambda memory: memory.delete(id, expected_version=version)),
        "restore": ("restored", revive),
        "put-back": ("put-back", put_back),
        "pin": ("pinned", lambda memory: memory.revise(id, expected_version=version, pinned=True)),
        "unpin": ("unpinned", lambda memory: memory.revise(id, expected_version=version, pinned=False)),
    }
    if what not in done:
        raise ConfigError(page.words("no-such-action"))
    said, work = done[what]
    lines = page.shelf.do(lambda memory: _markdown(memory, id)) if what in ("save", "restore") else ""
    record = page.shelf.do(work)
    said = "saved-flat" if lines and not record.markdown else said
    if what == "delete":
        near = page.form.get("next", "")
        return page.turn(done="deleted", was=record.id, fragment=near if near.startswith("m-") else "")
    if page.form.get("back") == "line":
        return page.turn(f"line/{record.id}", done=said)
    return _there(page, record, said)


def _markdown(memory: OpenMemory, id: str) -> str:
    """The lines of a line that has several, "" for one that has not."""
    record = memory.state().records.get(id)
    return record.markdown if record else ""


def _there(page: Page, record: Record, done: str) -> Response:
    """Go on to the line on the page of the memory where it stands; to its own page if it is out of sight."""
    snapshot = page.shelf.snapshot()
    if record.id not in snapshot.place:
        return page.turn(f"line/{record.id}", done=done)
    return page.turn(at=record.id, done=done, fragment=record.id)


def answer(page: Page) -> Response:
    """Accept or refuse what waits in the inbox; accepted in other words, these are what is remembered."""
    id, yes = str(page.path["id"]), page.form.get("do") == "accept"
    words, asked = page.form.get("text", "").strip(), page.form.get("asked", "").strip()
    if page.form.get("do") not in ("accept", "refuse"):
        raise ConfigError(page.words("no-such-action"))
    other = words if words != asked else ""
    page.shelf.do(lambda memory: memory.answer(id, yes, other if yes else "", question=page.form.get("question")))
    return page.turn("inbox", done="accepted" if yes else "refused")
