"""Secrets that are known by the name that they are given: `password=…`, `"api_key": "…"`, `--token …`.

They are looked for where a word like "password" stands, which makes this fast and linear; `values` then judges the name
and the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .below import BEGINS, CELL_SIGNS, alone, below, beside
from .literals import CODE, line_start, literal, name_at
from .masks import Masked, Span
from .names import SHORT_NAMES, sensitive, told
from .placeholders import PLACEHOLDER, pieces
from .spoken import others, spoken
from .tables import header_at, table
from .values import Written, has_digit, is_secret, looks_random

_STEMS = (
    *(b"pass", b"pw", b"secret", b"token", b"key", b"cred", b"sw", b"auth", b"psk"),
    *(b"kennwort", b"contrase", b"clave"),
)
"""What every sensitive name has in it. The patterns below are tried where one begins, and there only."""
_WITHIN = {
    b"sw": re.compile(rb"[^pas]sw|sw"),
    b"auth": re.compile(rb".?author", re.DOTALL),
    b"pass": re.compile(rb".?pass(?:eng|ed|es|ing|age|ive|ion|port)", re.DOTALL),
    b"token": re.compile(rb".?tokens[\"\\_]", re.DOTALL),
}
"""Where the most common stems begin words that are no names: `answer`, `author`, `passenger`, `total_tokens`."""
_WIDE_STEMS = re.compile(
    "密码|密碼|口令|密钥|密鑰|秘钥|金鑰|令牌|私钥|私鑰|授权码|授權碼|凭证|憑證|[Пп]ароль|パスワード|비밀번호|비번|hasło|Hasło|şifre|Şifre|lösenord|Lösenord"
)
_REST = re.compile(r"[A-Za-z0-9_ñÑ-]{0,60}")
_CLOSED = r"[ \t]?</(?:b|strong|em|i|u|code|span|label|font|mark)>"
"""What ends a word that is set off in HTML."""
_NAMED = re.compile(
    rf"(?P<close>\\{{0,7}}[\"'`]?\]?\*{{0,3}}|\[\]|{_CLOSED})[ \t]{{0,8}}"
    r"(?P<sep>:[ \t]{0,4}[A-Za-z_][\w.|\[\]]{0,40}[ \t]{1,4}=(?!=)|:=|=>|[=!]==?|\|?\|=|=|：|:(?!:)|%3[dD])"
    rf"(?:[*_]{{1,3}}(?=[ \t\r\n`])|(?<=：)\*\*|{_CLOSED})?"
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
_RAW = re.compile(
    r"(?: is| was|[:=])?\\{0,2}[\"'`]{0,2}\s{0,4}[\"'`]{0,2}"
    r"(?P<value>(?:0x)?[0-9a-fA-F]{64})(?![0-9a-zA-Z])"
)
"""A key of a wallet, as it is told."""
_PRIVATE = re.compile(r"private|secret|signing|wallet", re.I)
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
            if stem not in _WITHIN or not _WITHIN[stem].match(lower, max(0, at - 1)):
                found.add(at)
            at = lower.find(stem, at + 1)
    if not masked.text.isascii():
        found.update(match.start() for match in _WIDE_STEMS.finditer(masked.text))
    return sorted(found)


def _in_address(text: str, first: int, name: str) -> bool:
    """True for what only looks like a name, where an address has a password: `//user:pass:word@host`."""
    return name.lower() in SHORT_NAMES and text[first - 1 : first] == ":" and "//" in text[max(0, first - 24) : first]


def _assigned(text: str, first: int, name: str, kind: str, after: int) -> Iterator[Span]:
    match = _NAMED.match(text, after)
    if match is None or (text[first - 1 : first] == "⟦" and PLACEHOLDER.match(text, first - 1)):
        return
    short = name.lower() in SHORT_NAMES
    if text.startswith(BEGINS, match.end()) and (found := below(text, match.end(), kind, match["sep"])):
        yield found
        return
    value = literal(text, match.end(), first)
    if value is None or _in_address(text, first, name):
        return
    start, end, quoted = value
    if match["sep"][0] == "%":
        end = min(end, text.find("%", start, end) if "%" in text[start:end] else end)
    parts = pieces(text, start, end)
    if parts != [(start, end)]:
        for one, other in parts:
            if text[one] < "\x7f" and is_secret(kind, text[one:other], "sentence", short=short):
                yield one, other, told(kind)
        return
    written: Written | None = "quoted"
    if not quoted:
        gap = match["gap"] or text[match.end("close") : match.start("sep")]
        written = _written(
            kind,
            text,
            first,
            "" if "<" in match["close"] else match["close"].strip("][*"),
            match["sep"],
            gap,
            start,
            end,
        )
    if not quoted and text.startswith("**", start) and text.endswith("**", start + 3, end):
        start, end = start + 2, end - 2
    word = text[start:end]
    if written and _letters(word) != _letters(name) and is_secret(kind, word, written, short=short):
        yield start, end, told(kind)


_BY_WHAT_IS_BEFORE = frozenset(("clave", "passe", "key", "keys"))


def _spaced(text: str, first: int, name: str) -> str:
    """The name with the word before it where that tells what is meant: `secret key`, `access key`, `mot de passe`."""
    if (lower := name.lower()) not in _BY_WHAT_IS_BEFORE:
        return name
    before = text[max(0, first - 22) : first]
    if lower == "clave":
        return "" if before.lower().endswith(("palabra ", "palabras ")) else name
    if lower == "passe":
        return "password" if before.lower().endswith(("mot de ", "mots de ")) else name
    word = re.search(r"[A-Za-z]{2,20} $", before) if before[-1:] == " " else None
    return f"{word[0]}{name}" if word else name


def _option(text: str, first: int, name: str, after: int) -> Span | None:
    kind = sensitive(name) if text[first] == "-" else None
    value = literal(text, after + 1, first) if kind else None
    if kind is None or value is None:
        return None
    start, end, quoted = value
    word = text[start:end]
    if (word.isupper() and word.isalpha()) or "=" in word[:12] or word[:1] == "-":
        return None
    return (start, end, told(kind)) if is_secret(kind, word, "quoted" if quoted else "tight") else None


def _beside(text: str, first: int, name: str, after: int) -> Span | None:
    """A value that stands beside its name some other way: in a call, an element, a definition, or under `value`."""
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


_ASSIGNING = frozenset(" \t=:\"'`]\\[：|%>!\r\n*<")
_BESIDE = frozenset("\"'`])\\>")
_SPEAKING = frozenset(("", "?", ".", ",", "\n"))


def _says(following: str) -> bool:
    """True for what may follow a name in a sentence."""
    return following == " " or following in _SPEAKING or following > "\x7f"


def _at(text: str, at: int, after: int, first: int, name: str, kind: str | None) -> Span | None:
    """The secret that is given to the name from `first` to `after` whose last part begins at `at`, if one is."""
    following = text[after : after + 1]
    if _says(following):
        if (found := spoken(text, at)) or kind is None:
            return found
    elif kind is None:
        return None
    if name[-3:].lower() == "key" and (raw := _RAW.match(text, after)) and _PRIVATE.search(_spaced(text, first, name)):
        return *raw.span("value"), "private-key"
    found = None
    if following in (" ", "\t"):
        found = _option(text, first, name, after) or _beside(text, first, name, after)
    elif following in _BESIDE:
        found = _beside(text, first, name, after)
    if found is None and following in ("\r", "\n", "\\"):
        return alone(text, first, after)
    if found is None and not CELL_SIGNS.isdisjoint(text[after : after + 6]):
        return beside(text, first, after)
    return found


def assigned(masked: Masked) -> Iterator[Span]:
    """The spans of values that a sensitive name stands before; spans may overlap. Linear in the text's length."""
    text, done, tabled = masked.text, 0, 0
    ascii_only = text.isascii()
    for at in _stems(masked):
        if at < done:
            continue
        wide = None if ascii_only else _WIDE_STEMS.match(text, at)
        rest = wide or _REST.match(text, at)
        after = rest.end() if rest else at
        first, name = name_at(text, at, after)
        kind = sensitive(_spaced(text, first, name))
        if kind is None and not wide and not _says(text[after : after + 1]):
            done = after
            continue
        if kind and at >= tabled and (sign := header_at(text, first, after)):
            spans, tabled = table(text, at, sign)
            yield from spans
        found: list[Span] = []
        if wide and (said := spoken(text, at)):
            found = [said]
        elif kind and text[after : after + 1] in _ASSIGNING:
            found = [*_assigned(text, first, name, kind, after)]
        if not found and not wide and (span := _at(text, at, after, first, name, kind)):
            found = [span, *others(text, *span)]
        done = max(at if wide else after, *(end for _, end, _ in found), 0)
        yield from found
