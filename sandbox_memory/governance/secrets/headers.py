"""Secrets in what HTTP carries: authorization headers, cookies, signed addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .masks import Masked, Span
from .values import SLUG, has_digit, is_placeholder, looks_random

_HEADER = re.compile(
    r"authorization\\{0,7}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,7}[\"']?"
    r"(?:(?P<scheme>bearer|basic|token|apikey|digest|negotiate|ntlm|bot|key|sso-key|aws4-hmac-sha256)[ \t]{1,4}"
    r"|(?P<other>[A-Za-z][A-Za-z0-9_-]{1,24})[ \t]{1,2}(?=[A-Za-z0-9._~+/=:-]{12}))?"
    r"(?P<value>[A-Za-z0-9._~+/=:-]{6,4096})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\bbearer(?:[ \t]{1,4}|=)\\{0,3}[\"']?(?P<value>[A-Za-z0-9._~+/=-]{12,4096})", re.IGNORECASE)
_BASIC = re.compile(r"\bbasic[ \t]{1,4}(?P<value>[A-Za-z0-9+/]{8,1024}={0,2})(?![\w+/=])", re.IGNORECASE)
_COOKIE = re.compile(
    r"(?<![A-Za-z0-9_-])(?:set-)?cookie\\{0,3}[\"']?:[ \t]{0,4}\\{0,3}[\"']?"
    r"(?P<value>[^\s=;\"']{1,80}=[^\r\n\"']{4,4096})",
    re.I,
)
_SIGNATURE = re.compile(
    r"[?&](?:sig|x-amz-signature|x-goog-signature|x-amz-security-token|signature)=(?P<value>[\w%+/=.~-]{16,2048})", re.I
)
_FIELD = re.compile(r"signature=(?P<value>[0-9a-f]{64})", re.I)


def _drawn(value: str) -> bool:
    """True for what follows the name of a scheme that nobody knows and is no word of a sentence."""
    return looks_random(value) or (sum(map(str.isdigit, value)) >= 4 and any(map(str.isalpha, value)))


def _is_pair(value: str) -> bool:
    """True for base64 of `user:password`."""
    import base64
    import binascii

    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (ValueError, binascii.Error):
        return False
    return ":" in decoded and decoded.isprintable()


def headers(masked: Masked) -> Iterator[Span]:
    """The spans of what authorizes a request; spans may overlap."""
    text, lower = masked.spaced, masked.lower
    if b"authorization" in lower:
        for match in _HEADER.finditer(text):
            group = "other" if match["other"] and not _drawn(match["value"]) else "value"
            value = match[group]
            mixed_case = not value.islower() and not value.isupper() and not value.istitle()
            known = has_digit(value) or len(value) >= 16 or (match["scheme"] and mixed_case)
            if known and len(value) >= 6 and not is_placeholder(value) and not SLUG.fullmatch(value):
                yield *match.span(group), "authorization"
    if b"bearer" in lower:
        for match in _BEARER.finditer(text):
            value = match["value"]
            if not is_placeholder(value) and has_digit(value) and not SLUG.fullmatch(value):
                yield *match.span("value"), "authorization"
    if b"basic " in lower:
        for match in _BASIC.finditer(text):
            if _is_pair(match["value"]):
                yield *match.span("value"), "authorization"
    if b"cookie" in lower:
        for match in _COOKIE.finditer(text):
            if not is_placeholder(match["value"]):
                yield *match.span("value"), "cookie"
    if b"sig" in lower and (b"sig=" in lower or b"signature=" in lower or b"token=" in lower):
        for match in _SIGNATURE.finditer(text):
            yield *match.span("value"), "signature"
        if b"aws4-hmac" in lower:
            for match in _FIELD.finditer(text):
                yield *match.span("value"), "signature"
