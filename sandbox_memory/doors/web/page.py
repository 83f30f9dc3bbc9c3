"""One request: who asks for which memory, in which language, and how the answer is rendered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...certain import telling_first
from ...errors import LostUpdate, SandboxMemoryError, Unknown
from ...governance.redaction import redact
from ...governance.secrets import PLACEHOLDER
from ...records import Record, Status
from . import causes, markdown
from .bookcase import Bookcase
from .snapshot import Shelf, Snapshot
from .wording import LANGUAGES, Words, chosen

TYPED = ("text", "group")
"""The fields of forms that hold what a person typed to be remembered."""
THEMES = ("auto", "light", "dark")
WORDLESS = ("pin", "unpin", "restore")
"""What is done to a line without words for it, unless its form has some."""
TOLD = 5
"""How many secrets of one form are told."""
COOKIE = "sandbox-memory-"
"""What the names of the two cookies begin with; they hold how the page looks, and nothing else."""
RECENT = 1.0
"""Seconds for which a search may answer from what was looked at before: it asks with every key."""
logger = logging.getLogger("sandbox_memory")


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    loader = FileSystemLoader(folder)
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.globals |= {"inline": markdown.inline, "block": markdown.block, "compared": markdown.compared}
    made.globals |= {"cause": causes.cause, "standing_place": causes.place}
    made.filters |= {"visible": markdown.visible, "lang": _lang, "quotes": telling_first}
    return made


def _lang(text: str) -> str:
    """The attribute that names a remembered text's language, for a template."""
    tag = markdown.language_of(text)
    return Markup(f' lang="{tag}"') if tag else ""


class Page:
    """What a view is given: the request's parts, the memory that it is about, and `render`."""

    def __init__(self, request: Request, form: Mapping[str, str]) -> None:
        self.request, self.form = request, form
        self.query: Mapping[str, str] = request.query_params
        self.path: Mapping[str, Any] = request.path_params
        self.bookcase: Bookcase = request.app.state.bookcase
        self.base = f"/{request.app.state.token}"
        theme, language = (request.cookies.get(COOKIE + name, "") for name in ("theme", "language"))
        self.theme = theme if theme in THEMES else "auto"
        self.words = Words(chosen(language, request.headers.get("accept-language", "")))
        self.shelves: Mapping[str, Shelf] = self.bookcase.shelves()
        self.key = str(self.path.get("key", ""))
        if self.key and self.key not in self.shelves:
            raise Unknown(self.words("no-such-memory"))
        self.replaced: tuple[str, ...] = ()
        if self.key and not form.keys().isdisjoint(TYPED):
            self._clean()

    def _clean(self) -> None:
        """Replace the secrets in what was typed before anything else sees it; `replaced` are their placeholders."""
        salt = self.shelf.memory.pipeline.store.salt
        clean = {name: redact(text, salt) if name in TYPED else text for name, text in self.form.items()}
        found = (each for name in TYPED for each in PLACEHOLDER.findall(clean.get(name, "")))
        typed = "\n".join(self.form.get(name, "") for name in TYPED)
        self.form, self.replaced = clean, tuple(dict.fromkeys(each for each in found if each not in typed))

    @property
    def shelf(self) -> Shelf:
        """The memory that the address names."""
        return self.shelves[self.key]

    @cached_property
    def snapshot(self) -> Snapshot:
        """The memory as it is now; what a search is typed for may be a moment old."""
        return self.shelf.snapshot(recent=RECENT if self.part else 0.0)

    @property
    def part(self) -> bool:
        """True if only what a search finds is asked for."""
        return self.query.get("part") == "results"

    def to(self, path: str = "", fragment: str = "", **query: object) -> str:
        """The address of a page of this memory."""
        asked = urlencode({name: value for name, value in query.items() if value not in ("", None)})
        at = f"{self.base}/{self.key}/{path}"
        return at + (f"?{asked}" if asked else "") + (f"#{fragment}" if fragment else "")

    def number(self, name: str, least: int = 1) -> int:
        """A whole number of the query, at least `least`."""
        text = str(self.query.get(name, ""))
        return max(least, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else least

    def render(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """The page of that template."""
        snapshot = self.snapshot if self.key else None
        common = {
            "page": self,
            "t": self.words,
            "to": self.to,
            "base": self.base,
            "here": template.removesuffix(".html"),
            "snapshot": snapshot,
            "languages": LANGUAGES,
            "themes": THEMES,
            "done": str(self.query.get("done", "")),
            "replaced": self.replaced or tuple(PLACEHOLDER.findall(self.query.get("replaced", "")))[:TOLD],
            "folders": {key: self.bookcase.folder(key) for key in self.shelves},
            "root": self.bookcase.root,
            "again": self.request.url.path.removeprefix("/") + (f"?{self.request.url.query}" if self.query else ""),
        }
        return HTMLResponse(_environment().get_template(template).render(common | context), status)

    def turn(self, path: str = "", fragment: str = "", **query: object) -> Response:
        """Go on to a page of this memory after something was done; it says at its top which secrets were replaced."""
        replaced = "".join(self.replaced[:TOLD])
        return RedirectResponse(self.to(path, "" if replaced else fragment, **query, replaced=replaced), 303)


View = Callable[[Page], Response]


def shown(view: View) -> Callable[[Request], Any]:
    """The endpoint of a view: it runs in a thread, and what goes wrong is told on a page with what to do next."""

    async def endpoint(request: Request) -> Response:
        body = await request.body() if request.method == "POST" else b""
        found = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)
        form = {name: values[-1].replace("\r\n", "\n") for name, values in found.items()}
        return await asyncio.to_thread(_answered, view, request, form)

    return endpoint


def _answered(view: View, request: Request, form: Mapping[str, str]) -> Response:
    page: Page | None = None
    try:
        page = Page(request, form)
        return view(page)
    except LostUpdate as lost:
        assert page is not None
        return conflict(page, lost)
    except SandboxMemoryError as error:
        return failure(page or _bare(request), str(error), 404 if isinstance(error, Unknown) else 409)
    except Exception as error:  # the person is told where they look; the cause is in the log
        logger.exception("sandbox memory: the page %s could not be made", request.url.path.rpartition("/")[2])
        return failure(_bare(request), Words("en")("fault", what=type(error).__name__), 500)


def _bare(request: Request) -> Page:
    """A page without a memory, where the address names none that there is."""
    request.scope["path_params"] = {}
    return Page(request, {})


def failure(page: Page, told: str, status: int) -> Response:
    """What could not be done, why, and what to do next."""
    if page.key:
        try:
            page.snapshot  # noqa: B018 - whether it can be made is the question
        except SandboxMemoryError as deeper:  # the memory itself cannot be read: the page stands without it
            logger.warning("sandbox memory: the page cannot read %s: %s", page.key, deeper)
            page.key = ""
    return page.render("failure.html", status=status, told=told, yours=page.form.get("text", ""))


def conflict(page: Page, lost: LostUpdate) -> Response:
    """Somebody was faster: both texts, and what can be done."""
    snapshot = page.shelf.snapshot()
    record = _now(snapshot, lost.id)
    return page.render(
        "conflict.html",
        status=409,
        record=record,
        standing=record.id in snapshot.state.visible(),
        change=_last_change(snapshot, record),
        yours=page.form.get("text", lost.yours),
        was=page.form.get("was", ""),
        deletes=page.form.get("do") == "delete",
        wordless=page.form.get("do") if "text" not in page.form and page.form.get("do") in WORDLESS else "",
        as_of=page.form.get("as_of", ""),
        same=record.id == lost.id,
    )


def _now(snapshot: Snapshot, id: str) -> Record:
    """What stands where that line stood, if others took its place one after the other."""
    records, passed = snapshot.state.records, {id}
    while (by := records.get(records[id].superseded_by)) and by.id not in passed and by.status is not Status.FORGOTTEN:
        id = by.id
        passed.add(id)
    return records[id]


def _last_change(snapshot: Snapshot, record: Record) -> tuple[str, str]:
    """Who made the line what it is, and when."""
    for commit in snapshot.history:
        if commit.get("believed", True) and any(
            record.id in (operation["id"], *operation["replaces"]) and operation["op"] != "support"
            for operation in commit["operations"]
        ):
            return str(commit["actor"]), str(commit["at"])
    return record.origin, record.updated_at or record.created_at
