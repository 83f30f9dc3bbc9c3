"""Secrets that are known by the name that they are given: `password=…`, `"api_key": "…"`, `--token …`.

They are looked for where a word like "password" stands, which makes this fast and linear; `values` then judges the name
and the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .literals import CODE, line_start, literal, name_at
from .masks import Masked, Span
from .names import SHORT_NAMES, sensitive, told
from .spoken import spoken
from .values import Written, has_digit, is_secret, looks_random

_STEMS = (b"pass", b"pw", b"secret", b"token", b"key", b"cred", b"sw", b"auth")
"""What every sensitive name has in it. The patterns below are tried where one begins, and there only."""
_WIDE_STEMS = re.compile(
    "contraseña|密码|密碼|口令|密钥|密鑰|秘钥|金鑰|令牌|私钥|私鑰|授权码|授權碼|凭证|憑證|пароль|パスワード|비밀번호|비번"
)
_REST = re.compile(r"[A-Za-z0-9_-]{0,60}")
_NAMED = re.compile(
    r"(?P<close>\\{0,7}[\"'`]?\]?|\[\])[ \t]{0,8}"
    r"(?P<sep>:[ \t]{0,4}[A-Za-z_][\w.|\[\]]{0,40}[ \t]{1,4}=(?!=)|:=|=>|[=!]==?|\|?\|=|=|：|:(?!:)|%3[dD])"
    r"(?P<gap>[ \t]{0,8})"
)
_PAIRED = re.compile(
    r"\\{0,3}[\"']\)?[ \t]{0,4}(?:,[ \t]{0,4}|or[ \t]{1,4}|\|\|[ \t]{0,4}|\?\?[ \t]{0,4}|\?:[ \t]{0,4})(?=\\{0,3}[\"'])"
)
"""A name in quotes and what stands instead of it, or beside it in a call: `get("PASSWORD", "…")`, `get("X") or "…"`."""
_VALUED = re.compile(
    r"\\{0,3}[\"']?[ \t]{0,4}(?:,[ \t]{0,4}|\r?\n[ \t]{1,16})?"
    r"\\{0,3}[\"']?[Vv]alue\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
)
"""`"name": "DB_PASSWORD", "value": "…"`, in JSON, YAML and XML."""
_DEFINED = re.compile(
    r"[#%](?:define|global)[ \t]{1,4}$|(?:^|[\n;]|\\n)[ \t]{0,8}(?:set|setx|export|let|SET|ENV)[ \t]{1,4}$"
)
_MIXED = re.compile(r"(?=.*[A-Za-z]).*[0-9!@#$%^&*+?]")
"""A word with a digit or a sign in it: names beside each other in a call are words."""
_BLANK = re.compile(r"[ \t]{1,8}")
_ELEMENT = re.compile(r">[ \t]{0,4}([^<>\n]{3,256}?)[ \t]{0,4}</")


def _names_one(word: str) -> bool:
    """True for the name of another secret: a variable, not a value."""
    return word.isidentifier() and sensitive(word) is not None and not looks_random(word)


def _written(kind: str, text: str, first: int, close: str, sep: str, gap: str, start: int, end: int) -> Written | None:
    """How an unquoted value that ends at `end` stands; None if it is plainly code."""
    following = text[end : end + 1]
    word = text[start:end]
    if CODE.match(word) or (_names_one(word) and not (has_digit(word) and kind == "password")):
        return None
    if following == "(":
        return None
    if sep in ("==", "===", "!=", "!==", "=>"):
        return "sentence" if has_digit(word) and not gap else None
    if sep in ("=", ":=", "%3d", "%3D") or sep.endswith("="):
        if gap:
            return "spaced"
        inside_call = "(" in text[line_start(text, first, 200) : first]
        return "spaced" if inside_call and following in (")", ",") else "tight"
    alone = text[line_start(text, first, 80) : first].strip(" \t-*\"'") == ""
    rest = text[end : end + 3].lstrip(" \t\\")
    if alone and not close and (rest == "" or rest[0] in "\r\n#") and gap:
        return "line"
    return "sentence" if not close and rest[:1].isalnum() else "spaced"


def _letters(value: str) -> str:
    return "".join(filter(str.isalnum, value.lower()))


def _stems(masked: Masked) -> list[int]:
    """Where a sensitive name may have its last part, in order."""
    found: set[int] = set()
    lower = masked.lower
    for stem in _STEMS:
        at = lower.find(stem)
        while at >= 0:
            found.add(at)
            at = lower.find(stem, at + 1)
    if not masked.text.isascii():
        found.update(match.start() for match in _WIDE_STEMS.finditer(masked.text))
    return sorted(found)


def _in_address(text: str, first: int, name: str) -> bool:
    """True for what only looks like a name, where an address has a password: `//user:pass:word@host`."""
    return name.lower() in SHORT_NAMES and text[first - 1 : first] == ":" and "//" in text[max(0, first - 24) : first]


def _assigned(text: str, at: int, after: int) -> Span | None:
    match = _NAMED.match(text, after)
    if match is None:
        return None
    first, name = name_at(text, at, after)
    kind = sensitive(_spaced(text, first, name))
    value = literal(text, match.end(), first) if kind and text[first - 1 : first] != "⟦" else None
    if kind is None or value is None or _in_address(text, first, name):
        return None
    start, end, quoted = value
    if match["sep"][0] == "%":
        end = min(end, text.find("%", start, end) if "%" in text[start:end] else end)
    written: Written | None = "quoted"
    if not quoted:
        gap = match["gap"] or text[match.end("close") : match.start("sep")]
        written = _written(kind, text, first, match["close"].strip("]["), match["sep"], gap, start, end)
    word = text[start:end]
    if (
        written
        and _letters(word) != _letters(name)
        and is_secret(kind, word, written, short=name.lower() in SHORT_NAMES)
    ):
        return start, end, told(kind)
    return None


def _spaced(text: str, first: int, name: str) -> str:
    """The name with the word before it where that tells which key is meant: `secret key`, `access key`."""
    if name.lower() not in ("key", "keys") or text[first - 1 : first] != " ":
        return name
    before = re.search(r"[A-Za-z]{2,20} $", text[max(0, first - 22) : first])
    return f"{before[0]}{name}" if before else name


def _option(text: str, at: int, after: int) -> Span | None:
    first, name = name_at(text, at, after)
    kind = sensitive(name) if text[first] == "-" else None
    value = literal(text, after + 1, first) if kind else None
    if kind is None or value is None:
        return None
    start, end, quoted = value
    word = text[start:end]
    if (word.isupper() and word.isalpha()) or "=" in word[:12] or word[:1] == "-":
        return None
    return (start, end, told(kind)) if is_secret(kind, word, "quoted" if quoted else "tight") else None


def _beside(text: str, at: int, after: int) -> Span | None:
    """A value that stands beside its name some other way: in a call, an element, a definition, or under `value`."""
    first, name = name_at(text, at, after)
    kind = sensitive(name)
    if kind is None:
        return None
    if text[after] == ">":
        element = _ELEMENT.match(text, after) if text[first - 1 : first] in ("<", ":") else None
        known = element and " " not in element[1] and is_secret(kind, element[1], "quoted")
        return (*element.span(1), told(kind)) if element and known else None
    valued = _VALUED.match(text, after)
    joint = valued or _PAIRED.match(text, after)
    if joint is None and text[after] in " \t" and _DEFINED.search(text[max(0, first - 20) : first]):
        joint = _BLANK.match(text, after)
    value = literal(text, joint.end(), first) if joint else None
    if value is None:
        return None
    start, end, quoted = value
    word = text[start:end]
    if not valued and (" " in word or not _MIXED.search(word)):
        return None
    if not quoted and not valued and not looks_random(word):
        return None
    return (start, end, told(kind)) if is_secret(kind, word, "quoted" if quoted else "line") else None


def _at(text: str, at: int, after: int) -> Span | None:
    """The secret that is given to the name whose last part goes from `at` to `after`, if one is."""
    following = text[after : after + 1]
    if not following:
        return None
    if following in " \t":
        return _assigned(text, at, after) or spoken(text, at) or _option(text, at, after) or _beside(text, at, after)
    if following in "=:\"'`]\\[：|%>!\r\n":
        return _assigned(text, at, after) or _beside(text, at, after)
    return spoken(text, at) if following > "\x7f" else None


def assigned(masked: Masked) -> Iterator[Span]:
    """The spans of values that a sensitive name stands before; spans may overlap. Linear in the text's length."""
    text, done = masked.text, 0
    for at in _stems(masked):
        if at < done:
            continue
        rest = _REST.match(text, at)
        after = rest.end() if rest else at
        found = _at(text, at, after) if after > at else spoken(text, at)
        done = max(after, found[1] if found else 0)
        if found:
            yield found
