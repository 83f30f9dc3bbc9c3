"""Secrets that are told in a sentence, English or Chinese: "the password is …", 密码是…, 高德地图密钥是 …."""

from __future__ import annotations

import re

from .literals import CODE, literal, name_at
from .masks import Span
from .names import sensitive, told
from .values import Written, has_digit, is_secret

_SENTENCE = re.compile(
    r"(?P<name>pass(?:word|phrase|code|wort|wd)|pwd|pw|key|token|secret(?: key)?|credentials?)"
    r"(?:[ ](?:for|of|on|at|in)[ ](?:[^\s.,;:=]{1,40}[ ]){1,4}?|[ ])"
    r"(?:is|was|are|to|as|will be|must be|should be|(?:has been |was )?(?:changed|set|reset) to|->|→)"
    r"[ ](?:now |still |called )?",
    re.IGNORECASE,
)
_TOLD = re.compile(r"(?P<name>password|passphrase|passcode)[ ]", re.IGNORECASE)
_TELLING = re.compile(r"\b(?:with|using|use|enter|type|try) (?:the |my )?$", re.IGNORECASE)
_CHINESE = re.compile(
    r"(?P<name>密码|密碼|口令|密钥|密鑰|秘钥|金鑰|令牌|私钥|私鑰|授权码|授權碼|凭证|憑證|пароль|パスワード|비밀번호|비번)[”」\"']?"
    r"(?:[^\s，。；：:=\"'“「]{0,8}?(?:是|为|為|：|:|=|改成|改为|改為|设成|设为|設為|换成|換成|用|は|는|은)[ ]{0,4}"
    r"|[ ]{0,4}(?=[!-~]))"
)


def spoken(text: str, at: int) -> Span | None:
    """The secret that is told of the name that begins at `at`, if one is."""
    match = _SENTENCE.match(text, at)
    chinese = None if match else _CHINESE.match(text, at)
    match = match or chinese
    if match is None and (said := _TOLD.match(text, at)) and _TELLING.search(text[max(0, at - 16) : at]):
        match = said
    if match is None:
        return None
    start_of_name = name_at(text, at, match.end("name"))[0]
    name = match["name"]
    if name.lower() == "key":
        name = text[max(0, start_of_name - 8) : match.end("name")]
    kind = sensitive(name)
    value = literal(text, match.end(), start_of_name) if kind else None
    if kind is None or value is None:
        return None
    start, end, quoted = value
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


def _ascii_end(text: str, start: int, end: int) -> int:
    """In a Chinese sentence a secret ends where Chinese goes on."""
    if text[start : start + 1].isascii():
        for place in range(start, end):
            if text[place] > "\u2e7f":
                return place
    return end
