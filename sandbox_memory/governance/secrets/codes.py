"""Short numbers and words that only their name makes secrets: PINs, codes of cards and of one use, wallets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .masks import Masked, Span, places

_IS = r"(?:\s{0,2}(?:is now|is|was|ist|est|es|[:：=是为為])\s{0,2}|\s)[\"'`*「“]{0,2}"
_END = r"(?![\w%])(?![.,:/-]\d)(?!\s?(?:位|秒|分钟|digits?\b|seconds?\b|minutes?\b|min\b))"
_CHINESE_END = r"(?!\d)(?![.,:/-]\d)(?!\s?(?:位|秒|分钟|个|次))"
_PIN = re.compile(
    r"\b(?:PIN(?:[- ](?:is|number))?|(?:card|sim|bank|atm|unlock|my|your|her|his|our) (?:pin|Pin|PIN)(?: number)?)"
    rf"{_IS}(?P<value>\d{{4,8}}){_END}"
    rf"|\bPIN[- ]?(?:[Cc]ode|码){_IS}(?P<code>\d{{4,5}}){_END}"
)
_CARD = re.compile(rf"\b(?i:cv[vc]2?|csc|card security code)\b(?: code| number)?{_IS}(?P<value>\d{{3,4}}){_END}")
_ONCE = re.compile(
    r"(?:\b(?i:(?:verification|security|one[- ]time|login|log-in|sign-in|2fa|mfa|authentication|sms) (?:pass)?code)"
    rf"|\b(?:OTP|TOTP)(?: code)?){_IS}(?P<value>\d{{4,8}}){_END}"
)
_ONCE_CHINESE = re.compile(
    rf"(?:验证码|驗證碼|校验码|动态码|动态口令|一次性密码)(?:[^\d\n，。；]{{0,8}}?[:：是为為]|)\s{{0,3}}(?P<value>\d{{4,8}}){_CHINESE_END}"
)
_WORDS = re.compile(
    r"(?:(?i:seed|recovery|mnemonic|backup|wallet|secret)(?: recovery)? (?i:phrase|words?|seed)|(?i:mnemonic)"
    r"|助记词|助記詞)"
    r"[^\n]{0,30}?[:：=是为]?[ \t]{0,3}\n?[ \t]{0,3}[\"'`「“]?"
    r"(?P<value>(?:(?:\d{1,2}[.)] ?)?[a-z]{3,8}[ ,]{1,3}){11,23}(?:\d{1,2}[.)] ?)?[a-z]{3,8})(?![a-z])"
)
_PROSE = frozenset("the and are for was not but has had his her its our from been were must should which these".split())
_FORMS = (
    ("card-code", b"cv", _CARD),
    ("one-time-code", b" code", _ONCE),
    ("seed-phrase", b" phrase", _WORDS),
)
"""Kinds, what is in their names, in lower case, and how they stand around that."""
_BEFORE, _AFTER, _PHRASE = 24, 48, 400
_CHINESE = (("one-time-code", _ONCE_CHINESE), ("seed-phrase", _WORDS), ("pin", _PIN))
_ANY_CHINESE = re.compile("验证码|驗證碼|校验码|动态|一次性|助记词|助記詞|PIN码")


def codes(masked: Masked) -> Iterator[Span]:
    """The spans of numbers and words that stand directly beside the name of such a secret."""
    text, lower = masked.spaced, masked.lower
    for kind, name, pattern in (("pin", b"PIN", _PIN), ("one-time-code", b"OTP", _ONCE)):
        for at in places(masked.data, name) if name in masked.data else ():
            yield from _each(pattern, kind, text, max(0, at - 1), at + _AFTER)
    for kind, stem, pattern in _FORMS:
        done = 0
        for at in places(lower, stem) if stem in lower else ():
            if at >= done:
                for span in _each(
                    pattern, kind, text, max(0, at - _BEFORE), at + (_PHRASE if pattern is _WORDS else _AFTER)
                ):
                    yield span
                    done = span[1]
    if not text.isascii() and _ANY_CHINESE.search(text):
        for kind, pattern in _CHINESE:
            yield from _each(pattern, kind, text, 0, len(text))


def _each(pattern: re.Pattern[str], kind: str, text: str, start: int, end: int) -> Iterator[Span]:
    for match in pattern.finditer(text, start, end):
        name = "value" if match["value"] else "code"
        if kind != "seed-phrase" or _PROSE.isdisjoint(re.findall("[a-z]+", match[name])):
            yield *match.span(name), kind
