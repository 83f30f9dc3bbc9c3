"""Secrets that are known by the name that they are given: `password=…`, `"api_key": "…"`, an authorization header.

They are looked for where a word like "password" stands, which makes this fast and linear; `values` then judges the name
and the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .formats import Span
from .values import SHORT_NAMES, SLUG, Written, has_digit, is_placeholder, is_secret, sensitive

_STEMS = ("pass", "pwd", "pw", "secret", "token", "key", "credential", "contrase", "密码", "口令", "密钥", "令牌")
"""What every sensitive name has in it. The patterns below are tried where one begins, and there only."""
_REST = re.compile(r"[A-Za-z0-9_-]{2,60}")
_NAMED = re.compile(
    r"(?P<close>\\{0,3}[\"'`]?\]?|\[\])[ \t]{0,8}"
    r"(?P<sep>:[ \t]{0,4}[A-Za-z_][\w.|\[\]]{0,40}[ \t]{1,4}=(?!=)|:=|=>|[=!]==?|=|：|:(?!:))(?P<gap>[ \t]{0,8})"
)
_SENTENCE = re.compile(
    r"(?P<name>pass(?:word|phrase|code|wort)|pwd|key|token|secret(?: key)?|credentials?)"
    r"(?:[ ](?:for|of|on|at|in)[ ](?:[^\s.,;:=]{1,40}[ ]){1,4}?|[ ])(?:is|was|are|to|as|should be|changed to)"
    r"[ ](?:now |still |called )?",
    re.IGNORECASE,
)
_TOLD = re.compile(r"(?P<name>password|passphrase|passcode)[ ]", re.IGNORECASE)
_TELLING = re.compile(r"\b(?:with|using|use|enter|type|try) (?:the |my )?$", re.IGNORECASE)
_CHINESE = re.compile(
    r"(?P<name>密码|口令|密钥|令牌)[^\s，。；：:=\"'“「]{0,6}?(?:是|为|：|:|=|改成|改为|设成|设为)[ ]{0,4}"
)
_HEADER = re.compile(
    r"authorization\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
    r"(?:(?P<scheme>bearer|basic|token|apikey|digest|negotiate|bot|key)[ \t]{1,4})?"
    r"(?P<value>[A-Za-z0-9._~+/=:-]{6,4096})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\bbearer[ \t]{1,4}(?P<value>[A-Za-z0-9._~+/=-]{12,4096})", re.IGNORECASE)
_COOKIE = re.compile(
    r"(?:^|[\"'\s])(?:set-)?cookie\\{0,3}[\"']?:[ \t]{0,4}\\{0,3}[\"']?(?P<value>[^\s=;\"']{1,80}=[^\r\n\"']{4,4096})",
    re.I,
)
_SIGNATURE = re.compile(
    r"[?&](?:sig|x-amz-signature|x-goog-signature|x-amz-security-token|signature)=(?P<value>[\w%+/=.~-]{16,2048})", re.I
)
_NETRC = re.compile(r"\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(?P<value>\S{1,128})")

_QUOTED = re.compile(r"(?:[brufBRUF]{1,2}|@)?(?P<escape>\\{0,3})(?P<quote>[\"'`“「])")
_PLAIN = re.compile(r"(?:[^\s\"'`<>|;,()&，。；、）」”]|&(?!&|[\w.-]{1,40}=|\s|$)){1,256}")
_WHOLE_LINE = re.compile(r"[^\s\"'`]{1,256}(?=\s*$)", re.MULTILINE)
_BEFORE_WHOLE_LINE = re.compile(r"\s*(?:-\s+|export\s+|set\s+|ENV\s+|\+\s*)?")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_CODE = re.compile(r"[A-Za-z_][\w.]*[\[(]|qr?[/{]")


def _line_start(text: str, at: int, reach: int) -> int:
    """Where the line that holds `at` begins, looking back no further than `reach` characters."""
    least = max(0, at - reach)
    return text.rfind("\n", least, at) + 1 or least


def _literal(text: str, at: int, first: int) -> tuple[int, int, bool] | None:
    """The value that begins at `at`: its start, its end, and whether it is quoted. None if there is none.

    `first` is where the name before it begins. An unquoted value ends at punctuation, or with its line where nothing
    but the assignment stands on it.
    """
    if quoted := _QUOTED.match(text, at):
        escape, quote = quoted["escape"], {"“": "”", "「": "」"}.get(quoted["quote"], quoted["quote"])
        start = position = quoted.end()
        limit = min(len(text), start + 1024)
        while (position := text.find(escape + quote, position, limit)) >= 0:
            before = position
            while before > start and text[before - 1] == "\\":
                before -= 1
            if escape or (position - before) % 2 == 0:
                break
            position += 1
        end = position if position >= 0 else -1
        if end >= 0 and "\n" not in text[start:end]:
            return start, end, True
        at = start
    plain = _PLAIN.match(text, at)
    if not plain:
        return None
    if text[plain.end() : plain.end() + 1] not in ("", "(", " ", "\n"):
        whole = _BEFORE_WHOLE_LINE.fullmatch(text, _line_start(text, first, 80), first) and _WHOLE_LINE.match(text, at)
        plain = whole or plain
    value = plain.group().rstrip(".,;:?").rstrip("\\")
    while value and value[-1] in _PAIRS and _PAIRS[value[-1]] not in value:
        value = value[:-1]
    return (at, at + len(value), False) if value else None


_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _name(text: str, start: int, end: int) -> tuple[int, str]:
    """The whole identifier of which `start` to `end` is the last part, and where it begins."""
    first = start
    while first > 0 and start - first < 60 and text[first - 1] in _NAME_CHARACTERS:
        first -= 1
    return first, text[first:end].strip("- \t")


def _written(kind: str, text: str, first: int, close: str, sep: str, gap: str, start: int, end: int) -> Written | None:
    """How an unquoted value that ends at `end` stands; None if it is plainly code."""
    following = text[end : end + 1]
    word = text[start:end]
    if _CODE.match(word) or (sensitive(word) and word.isidentifier() and not (has_digit(word) and kind == "password")):
        return None
    if following == "(" or sep in ("==", "===", "!=", "!==", "=>"):
        return None
    if sep in ("=", ":=") or sep.endswith("="):
        if gap:
            return "spaced"
        inside_call = "(" in text[_line_start(text, first, 200) : first]
        return "spaced" if inside_call and following in (")", ",") else "tight"
    alone = text[_line_start(text, first, 80) : first].strip(" \t-*\"'") == ""
    rest = text[end : end + 3].lstrip(" \t\\")
    if alone and not close and (rest == "" or rest[0] in "\r\n#") and gap:
        return "line"
    return "sentence" if not close and rest[:1].isalnum() else "spaced"


def _letters(value: str) -> str:
    return "".join(filter(str.isalnum, value.lower()))


def _lower(text: str) -> str:
    """The text in lower case, every character where it was; `str.lower` makes two of some letters."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _stems(lower_case: str) -> list[int]:
    """Where a sensitive name may have its last part, in order."""
    places: set[int] = set()
    for stem in _STEMS:
        at = lower_case.find(stem)
        while at >= 0:
            places.add(at)
            at = lower_case.find(stem, at + 1)
    return sorted(places)


def _assigned(text: str, at: int, after: int) -> Span | None:
    match = _NAMED.match(text, after)
    if match is None:
        return None
    first, name = _name(text, at, after)
    kind = sensitive(name)
    value = _literal(text, match.end(), first) if kind and text[first - 1 : first] != "⟦" else None
    if kind is None or value is None:
        return None
    start, end, quoted = value
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
        return start, end, kind
    return None


def _option(text: str, at: int, after: int) -> Span | None:
    first, name = _name(text, at, after)
    kind = sensitive(name) if text[first] == "-" else None
    value = _literal(text, after + 1, first) if kind else None
    if kind is None or value is None:
        return None
    start, end, quoted = value
    word = text[start:end]
    if (word.isupper() and word.isalpha()) or "=" in word[:12] or word[:1] == "-":
        return None
    return (start, end, kind) if is_secret(kind, word, "quoted" if quoted else "tight") else None


def _spoken(text: str, at: int) -> Span | None:
    match = _SENTENCE.match(text, at) or _CHINESE.match(text, at)
    if match is None and (told := _TOLD.match(text, at)) and _TELLING.search(text[max(0, at - 16) : at]):
        match = told
    if match is None:
        return None
    start_of_name = _name(text, at, match.end("name"))[0]
    name = match["name"]
    if name.lower() == "key":
        name = text[max(0, start_of_name - 8) : match.end("name")]
    kind = sensitive(name)
    value = _literal(text, match.end(), start_of_name) if kind else None
    if kind is None or value is None:
        return None
    start, end, quoted = value
    written: Written = "quoted" if quoted and text[start - 1 : start] != "'" else "sentence"
    word = text[start:end]
    if word.istitle() or _CODE.match(word):
        return None
    return (start, end, kind) if is_secret(kind, word, written) else None


def _headers(text: str, lower_case: str) -> Iterator[Span]:
    if "authorization" in lower_case:
        for match in _HEADER.finditer(text):
            value = match["value"]
            mixed_case = not value.islower() and not value.isupper() and not value.istitle()
            known = has_digit(value) or len(value) >= 16 or (match["scheme"] and mixed_case)
            if known and not is_placeholder(value) and not SLUG.fullmatch(value):
                yield *match.span("value"), "authorization"
    if "bearer" in lower_case:
        for match in _BEARER.finditer(text):
            value = match["value"]
            if not is_placeholder(value) and has_digit(value) and not SLUG.fullmatch(value):
                yield *match.span("value"), "authorization"
    if "cookie" in lower_case:
        for match in _COOKIE.finditer(text):
            if not is_placeholder(match["value"]):
                yield *match.span("value"), "cookie"


def _at(text: str, at: int) -> Span | None:
    """The secret that is given to the name whose last part begins at `at`, if one is."""
    rest = _REST.match(text, at)
    if rest is None:
        return _spoken(text, at)
    after = rest.end()
    following = text[after : after + 1]
    if following and following in " \t":
        return _assigned(text, at, after) or _spoken(text, at) or _option(text, at, after)
    if following and following in "=:\"'`]\\[：":
        return _assigned(text, at, after)
    return _spoken(text, at) if following > "\x7f" else None


def named_values(text: str) -> Iterator[Span]:
    """The spans of values that a sensitive name stands before; spans may overlap. Linear in the text's length."""
    lower_case = _lower(text)
    done = 0
    for at in _stems(lower_case):
        found = _at(text, at) if at >= done else None
        if found:
            yield found
            done = found[1]
    yield from _headers(text, lower_case)
    if "=" in text and ("?" in text or "&" in text):
        for match in _SIGNATURE.finditer(text):
            yield *match.span("value"), "signature"
    if "login" in text:
        for match in _NETRC.finditer(text):
            if not is_placeholder(match["value"]):
                yield *match.span("value"), "password"
