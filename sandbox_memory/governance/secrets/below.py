"""Values on the line below their name, and in the cell beside it."""

from __future__ import annotations

import re

from .literals import CODE, line_start, phrase_at
from .masks import Span
from .names import SHORT_NAMES, sensitive, told
from .values import Written, has_digit, is_secret, looks_random

_NEXT = re.compile(
    r"[ \t]{0,8}(?:(?P<block>[|>][+-]?\d?)[ \t]{0,8})?(?P<fence>\\{0,3}\"{3}|\\{0,3}'{3})?\\?"
    r"(?:(?P<break>(?:\r?\n|(?:\\+r)?\\+n)[ \t]{0,16}){1,3}|(?<=\"{3})|(?<='{3}))"
    r"(?P<open>[\"'`*]{0,3})(?P<value>[^\s\"'`\\]{3,256})(?P<close>\\{0,3}[\"'`*]{0,3})[ \t]{0,8}(?=$|[\r\n]|\\+[rn])"
)
"""A value that stands on the line after its name: in a block of YAML, a long string of TOML, or just so."""
_NO_VALUE = re.compile(
    r"[\w.-]{1,60}[:=]|[\w.+-]+@[\w.-]+(?:[:~]\S*)?[#$%>]?$"
    r"|\w*sh-[\d.]+[#$%>]?$|[-#>|*+({\[]|</?\w|\d{1,2}[.)]"
)
"""How the next line of a list, a form, a prompt or a program begins."""
_CELL = re.compile(
    r"[*_`\"' ]{0,4}(?:\|[ \t]{0,8}"
    r"|</t[dh]>\s{0,8}<t[dh][^>\n]{0,80}>\s{0,8}|</dt>\s{0,8}<dd[^>\n]{0,80}>\s{0,8}|\t)[*_`]{0,3}"
    r"(?P<value>[^\s|<>\"'`*]{4,256})(?=[*_`]{0,3}[ \t]{0,8}(?:\||<|\t|$|[\r\n]))"
)
CELL_SIGNS = frozenset("|<\t")
"""The cell beside that of the name: `| password | … |`."""
BEGINS = ("\n", "\r", "|", ">", "\\", '"""', "'''", " ", "\t")
"""How what stands after the sign begins if the value is below it."""


def below(text: str, at: int, kind: str, sep: str) -> Span | None:
    """The value on the line after the name, or in a long string, if one is."""
    match = _NEXT.match(text, at)
    if match is None or not (match["block"] or match["fence"] or match["break"]):
        return None
    start, end = match.span("value")
    word = text[start:end].rstrip(".,;") if not match["fence"] else text[start:end]
    quoted = bool(match["open"] and match["close"]) or bool(match["fence"])
    if "=" in sep and not quoted:
        return None
    explicit = bool(match["block"] or match["fence"])
    if not explicit and (_NO_VALUE.match(word) or CODE.match(word)):
        return None
    written: Written = "line" if explicit else "sentence" if kind in ("password", "secret") else "spaced"
    return (start, start + len(word), told(kind)) if is_secret(kind, word, written) else None


def alone(text: str, first: int, after: int) -> Span | None:
    """The value below a name that is a line of its own, as a form shows them: only one that no word looks like."""
    if text[first:after].lower() in SHORT_NAMES or text[line_start(text, first, 40) : first].strip(" \t#*-_"):
        return None
    kind, match = sensitive(text[first:after]), _NEXT.match(text, after)
    if kind not in ("password", "token", "api-key", "secret") or match is None or match["block"] or match["fence"]:
        return None
    word = match["value"]
    signs = any(not sign.isalnum() and sign not in "_-.:/" for sign in word)
    if _NO_VALUE.match(word) or not (looks_random(word) or (kind == "password" and signs and has_digit(word))):
        return None
    return (*match.span("value"), told(kind)) if is_secret(kind, word, "sentence") else None


def beside(text: str, first: int, after: int) -> Span | None:
    """The value in the cell after the name's."""
    match = _CELL.match(text, after)
    first = phrase_at(text, first)
    kind = sensitive(text[first:after])
    before = text[max(0, first - 6) : first].rstrip(" \t*_`\"'")[-1:]
    if match is None or kind is None or before not in ("|", ">", "\n", ""):
        return None
    known = (
        has_digit(match["value"])
        and "(" not in match["value"]
        and is_secret(kind, match["value"], "spaced", short=text[first:after] in SHORT_NAMES)
    )
    return (*match.span("value"), told(kind)) if known else None
