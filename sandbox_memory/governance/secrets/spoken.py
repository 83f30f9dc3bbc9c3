"""Secrets that are told in a sentence, English or Chinese: "the password is …", 密码是…, 高德地图密钥是 …."""

from __future__ import annotations

import re

from .literals import CODE, literal, name_at
from .masks import Span
from .names import sensitive, told
from .placeholders import pieces
from .values import Written, has_digit, is_secret

_OF = r"(?:for|of|on|at|in|to|für|von|zu|de|del|para|du|pour)"
_SENTENCE = re.compile(
    r"(?P<name>pass(?:word|phrase|code|wort|wd|e)|pwd|pw|key|token|secret(?: key)?|credentials?|kennwort|contraseña"
    r"|contrasena|clave|senha|wachtwoord)"
    rf"(?:[ ]{_OF}[ ](?:[^\s.,;:=]{{1,40}}[ ]){{0,3}}?[^\s.,;:=]{{1,40}}?)?"
    r"(?:[ ](?:is|was|are|to|as|will be|must be|should be|(?:has been |was )?(?:changed|set|reset) to"
    r"|es|est|ist|lautet|é)|[ ]?(?:->|→|=>|➜|[:：?—–])|[ ]from(?=[ ]\S{4,64}[ ]to[ ]))"
    r"(?:[ ](?:now |still |called |either )?|[:：][ ]?\r?\n[ \t]{0,8})",
    re.IGNORECASE,
)
_ASKED = re.compile(r"(?:user|username|account|login|e?mail|id|name|host|server|at|domain)[ ]?[:：?]\s$", re.IGNORECASE)
"""What stands there is asked for beside the password, and is not it."""
_TURNED = re.compile(
    r"(?:\b(?:type|types|enter|use|put|input|try|fill in|paste)[ ][\"'`]?(?P<put>[^\s\"'`]{6,64})[\"'`]?[ ]"
    r"(?:in|into|as|for)"
    r"|(?<!\S)[\"'`]?(?P<is>[^\s\"'`]{6,64})[\"'`]?[ ](?:is|was))"
    r"[ ](?:the|my|our|your|a)[ ](?:\w{1,20}[ ]){0,2}$",
    re.IGNORECASE,
)
_POINTING = frozenset(("the", "my", "our", "your", "a"))
"""The value first: `… is my password`, `type … into the password field`."""
_FRENCH = re.compile(r"mots? de $", re.IGNORECASE)
_NAME = re.compile(r"pass(?:word|phrase|code)(?![\w-])(?! (?:manager|policy|hash|reset|generator))", re.IGNORECASE)
_TOLD = re.compile(r"(?P<name>password|passphrase|passcode)[ ]", re.IGNORECASE)
_TELLING = re.compile(r"\b(?:with|using|use|enter|type|try) (?:the |my )?$", re.IGNORECASE)
_CHINESE = re.compile(
    r"(?P<name>密码|密碼|口令|密钥|密鑰|秘钥|金鑰|令牌|私钥|私鑰|授权码|授權碼|凭证|憑證|[Пп]ароль|パスワード|비밀번호|비번)[”」\"']?"
    r"(?:[^\s，。；：:=\"'“「]{0,8}?(?:(?:是|为|為)?[：:][ ]{0,2}\r?\n[ \t]{0,8}"
    r"|(?:是|为|為|：|:|=|改成|改为|改為|设成|设为|設為|换成|換成|用|は|는|은)[ ]{0,4})"
    r"|[ ]{0,4}(?=[!-~]))"
)


_EXCHANGED = re.compile(
    r"\b(?:chang|rotat|updat|reset|switch|renam|set)(?:e|ed|es|ing|t?ing|ted)?\b[^\n.]{0,40}$", re.I
)
_OTHER = re.compile(
    r"[\"'`]?(?:[ ](?:or|to)[ ]"
    r"|[,;.]?[ ](?:and[ ]|but[ ]|now[ ])?(?:the|my|our)[ ](?:new|old|other|current|previous|next|second|right)"
    r"(?:[ ]one)?[ ](?:is|was)[ ])(?:now[ ])?",
    re.IGNORECASE,
)


def others(text: str, start: int, end: int, kind: str) -> list[Span]:
    """What is told beside a secret as another: `from … to …`, `either … or …`, `…, the new one is …`."""
    joint = _OTHER.match(text, end) if kind in ("password", "secret", "token", "api-key") else None
    value = literal(text, joint.end(), start) if joint else None
    if value is None or not is_secret(kind, text[value[0] : value[1]], "sentence"):
        return []
    word = text[value[0] : value[1]]
    return [(value[0], value[1], kind)] if has_digit(word) and not CODE.match(word) else []


def spoken(text: str, at: int) -> Span | None:
    """The secret that is told of the name that begins at `at`, if one is."""
    match = _SENTENCE.match(text, at)
    chinese = None if match else _CHINESE.match(text, at)
    match = match or chinese
    if match is None and (said := _TOLD.match(text, at)) and _TELLING.search(text[max(0, at - 16) : at]):
        match = said
    if match is None:
        return _turned(text, at)
    start_of_name = name_at(text, at, match.end("name"))[0]
    if match[0].endswith("from ") and not _EXCHANGED.search(text, max(0, at - 60), at):
        return None
    name = match["name"]
    if name.lower() == "key":
        name = text[max(0, start_of_name - 8) : match.end("name")]
    elif name.lower() == "passe":
        name = "password" if _FRENCH.search(text, max(0, at - 10), at) else ""
    kind = sensitive(name)
    value = literal(text, match.end(), start_of_name) if kind else None
    if kind is None or value is None or (not chinese and _ASKED.search(match.group())):
        return None
    start, end, quoted = value
    parts = pieces(text, start, end)
    if parts != [(start, end)]:
        start, end = next(((one, other) for one, other in parts if text[one] < "\x7f"), (end, end))
        return (start, end, told(kind)) if start < end and is_secret(kind, text[start:end], "sentence") else None
    if chinese and not quoted:
        end = _ascii_end(text, start, end)
    written: Written = "quoted" if quoted and text[start - 1 : start] != "'" else "sentence"
    word = text[start:end]
    bare = chinese and match.end() - match.end("name") <= 1 and text[match.end("name") : match.end()].strip() == ""
    if (
        not word
        or (word.istitle() and not has_digit(word))
        or CODE.match(word)
        or (bare and not (has_digit(word) and len(word) >= 6))
    ):
        return None
    return (start, end, told(kind)) if is_secret(kind, word, written) else None


def _turned(text: str, at: int) -> Span | None:
    """The value that stands before its name in a sentence."""
    if not _NAME.match(text, at):
        return None
    start = max(0, at - 120)
    before = text[start:at]
    if not before.endswith(" ") or _POINTING.isdisjoint(before.lower().split()[-3:]):
        return None
    match = _TURNED.search(before)
    name = match.lastgroup if match else None
    if match is None or name is None:
        return None
    word = match[name].rstrip(".,;:")
    if not has_digit(word) or CODE.match(word) or not is_secret("password", word, "sentence"):
        return None
    return start + match.start(name), start + match.start(name) + len(word), "password"


def _ascii_end(text: str, start: int, end: int) -> int:
    """In a Chinese sentence a secret ends where Chinese goes on."""
    if text[start : start + 1].isascii():
        for place in range(start, end):
            if text[place] > "\u2e7f":
                return place
    return end
