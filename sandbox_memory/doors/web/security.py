"""Who may talk to the page: whoever was given its address, from this machine, from the page itself.

The token stands in the path, not in a cookie: browsers hand a cookie of 127.0.0.1 to every other port of it, and count
all of them as one site, so that neither SameSite nor a cookie would keep another local server out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from .wording import english

LARGEST_FORM = 64 << 10
"""Bytes of a form that are read at most."""
LOOPBACK = ("127.0.0.1", "localhost")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    "cache-control": "no-store",
}
"""What every answer carries. `same-origin` and not `no-referrer`: with the latter a form of the page has no origin."""


def new_token() -> str:
    """A random token of 32 characters, 192 bits."""
    return secrets.token_urlsafe(24)


class Guarded:
    """Lets through to `app` what has the token in its path, one of our names as its host, and no foreign origin.

    `port` gives the port that is served, once it is known. Everything else is refused with a line that says what to do.
    """

    def __init__(self, app: Starlette, token: str, port: Callable[[], int]) -> None:
        self.app, self._token, self._port = app, token, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket is refused by the server when nobody accepts it

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        status, why = self._refused(scope)
        if why:
            await PlainTextResponse(english(why), status)(scope, receive, guarded)
            return
        path = "/" + scope["path"].removeprefix("/").partition("/")[2]
        await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, guarded)

    def _refused(self, scope: Scope) -> tuple[int, str]:
        headers, port = Headers(scope=scope), self._port()
        hosts = {f"{name}:{port}" for name in LOOPBACK} | (set(LOOPBACK) if port == 80 else set())
        if headers.getlist("host") != [headers.get("host", "")] or headers.get("host", "") not in hosts:
            return 421, "refused-host"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "refused-method"
        first = scope["path"].removeprefix("/").partition("/")[0]
        if not secrets.compare_digest(first.encode(), self._token.encode()):
            return 404, "refused-token"
        if not _same_origin(headers, writes=scope["method"] == "POST"):
            return 403, "refused-origin"
        if scope["method"] == "POST" and not _form(headers):
            return 413, "refused-form"
        return 0, ""


def _same_origin(headers: Mapping[str, str], *, writes: bool) -> bool:
    """True for a request of the page itself, or for one that opens a page and changes nothing.

    A browser names the origin with every POST; a program that names none does not get to write.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if origin is None:
        opens = headers.get("sec-fetch-mode") == "navigate"
        return not writes and (opens or site in (None, "none", "same-origin"))
    return origin == f"http://{headers['host']}" and site in (None, "same-origin")


def _form(headers: Mapping[str, str]) -> bool:
    length = headers.get("content-length", "")
    return length.isdigit() and int(length) <= LARGEST_FORM and "transfer-encoding" not in headers
