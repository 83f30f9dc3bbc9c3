"""Which names hold a secret, and which values are one: a name is read word by word, a value by how it is written."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from .formats import varied

Written = Literal["quoted", "tight", "spaced", "line", "sentence"]
"""How a value stands: in quotes; `name=value`; `name = value`; `name: value` to the end of its line; in a sentence."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_REFERENCE = re.compile(r"\$(?:\{.*|\(.*|[A-Za-z_][\w:]*-?$)|%[A-Za-z_(].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\W?$")
_ENTITY = re.compile(r"&(?:quot|[lr][sd]quo|lt|gt|amp|nbsp|#)")
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:\\|[a-z][a-z0-9+]{1,9}://")
SLUG = re.compile(r"[a-z]+(?:[_-][a-z]+)+")
_IDENTIFIER_OF_A_RUN = re.compile(r"(?:call|msg|rs|fc|resp|run|conv)_[A-Za-z0-9]{4,}")
_NAME_OF_A_METHOD = re.compile(
    r"(?:sha|md|base|utf|aes|rsa|bcrypt|argon|pbkdf|scrypt|hmac|oauth|http|ascii|latin|iso|v)-?\d|\d+-", re.I
)

_LAST = {
    "password": tuple(
        "password passwd passphrase passcode passwort contraseña contrasena pwd pass pw 密码 口令".split()
    ),
    "secret": ("secret", "密钥"),
    "token": ("token", "令牌"),
    "credential": ("credential", "credentials", "creds"),
    "api-key": ("apikey", "authkey", "secretkey", "accesskey", "privatekey"),
}
_KIND_OF_LAST = {word: kind for kind, words in _LAST.items() for word in words}
_ENDINGS = (
    *((word, "password") for word in ("password", "passwd", "passphrase")),
    *((word, "secret") for word in ("clientsecret", "appsecret", "apisecret", "jwtsecret")),
    *((word, "token") for word in ("authtoken", "accesstoken", "apitoken", "bottoken", "refreshtoken", "usertoken")),
    *((word, "api-key") for word in ("apikey", "accesskey", "secretkey", "authkey", "privatekey")),
)
"""Names in one word, as `PGPASSWORD` and `authtoken` are."""
_KEYS = frozenset(
    "api access secret private auth account signing signature encryption master service client subscription storage "
    "shared admin webhook hmac aes consumer function deploy aws".split()
)
SHORT_NAMES = frozenset(("pass", "pwd", "pw"))
_QUALIFIERS = frozenset(
    "prod production dev test testing staging stage live old new current default value val plain plaintext raw base "
    "main primary secondary backup confirm confirmation again repeat v".split()
)
_NOT_SECRET_BEFORE = frozenset(
    "page next previous prev continuation cursor sync stop eos bos pad unk mask sep cls start end special num max min "
    "total prompt completion input output hashed public per first last each no cancel cancellation".split()
)
_ORDINARY = frozenset(
    "none null nil true false undefined void any str string text char varchar bytes byte int integer number float bool "
    "boolean object list dict array map optional required missing invalid valid wrong incorrect correct expired empty "
    "blank unset set hidden visible masked redacted secret secrets password passwords passwd pass pwd token tokens key "
    "keys value values name names field fields form input output default example sample placeholder disabled enabled "
    "yes no on off here there this that it is was be are the a an and or of for to in from with by as at not must "
    "should can may will your my our their user users username login auth authentication authorization bearer basic "
    "header cookie option options argument arguments parameter parameters flag flags file path env environment "
    "variable config type hash hashed encrypted plain "
    "stdin prompt ask enter please provide protected generated random changed updated reset forgot forgotten change "
    "new old current same only never always validation validator error failed failure success ok needed see "
    "using use used when if then else return raise import class def self other another unknown unauthorized denied "
    "rotated revoked leaked stored saved sent accepted rejected short long weak strong safe ready available stale "
    "ignored checked verified verify match matches mismatch policy manager reader store fixture mock fake "
    "必填 可选 错误 无效 过期 为空 字段 不能为空".split()
)
_SENTENCE_WORDS = frozenset(
    "a an the is are be was must should cannot can not no your my our this that please enter at to for of and or with "
    "least required invalid incorrect wrong password character characters".split()
)
_OF_NAMES = frozenset(
    "my your the a db database user new old some test password passwd pass secret token key api access client auth "
    "name field env value string here app service account root admin".split()
)


def has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


@lru_cache(maxsize=4096)
def sensitive(name: str) -> str | None:
    """The kind of secret that a variable, key or option of that name holds; None for other names."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _QUALIFIERS):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "key":
        return "api-key" if before in _KEYS else None
    if before in _NOT_SECRET_BEFORE:
        return None
    return _KIND_OF_LAST.get(last) or next((kind for end, kind in _ENDINGS if last.endswith(end)), None)


def is_placeholder(value: str) -> bool:
    """True for what stands where a secret would: a reference, a mask, a type, an ordinary word."""
    lower = value.lower()
    if lower.rstrip(".,:;!?") in _ORDINARY or len(set(value)) == 1 or set(value) <= set("*.xX•-_#?"):
        return True
    if "\ufffd" in value or _ENTITY.search(value) or not value.isprintable():
        return True
    if value[0] in "<[⟦(&:" or value.startswith("--") or ("{" in value and "}" in value):
        return True
    if lower.startswith(("your", "placeholder", "redacted", "masked", "changeme-")):
        return True
    if any(mark in lower for mark in ("xxxx", "***", "⟦secret:")):
        return True
    if _REFERENCE.match(value) or _PATH.match(value) or _IDENTIFIER_OF_A_RUN.fullmatch(value):
        return True
    return len(value) < 64 and not has_digit(value) and {word.lower() for word in _WORDS.findall(value)} <= _OF_NAMES


def is_secret(kind: str, value: str, written: Written, *, short: bool = False) -> bool:
    """Whether a value under a sensitive name is a secret rather than a word, a type or code.

    `short` marks the abbreviations `pass`, `pwd` and `pw`, which also mean other things.
    """
    value = value.strip()
    if not value or is_placeholder(value):
        return False
    letters, digits = any(map(str.isalpha, value)), has_digit(value)
    symbols = any(not character.isalnum() and character not in "_-. " for character in value)
    length = len(value)
    if any(map(str.isspace, value)):
        words = [word.strip(".,:;!?'\"").lower() for word in value.split()]
        return kind == "password" and written == "quoted" and not short and not _SENTENCE_WORDS & set(words)
    if kind in ("password", "secret"):
        if not letters and not symbols:
            return kind == "password" and length >= 4 and value.isdigit() and not short
        mixed = digits or symbols
        if short and not (mixed and length >= 5):
            return False
        if kind == "secret" and not mixed and SLUG.fullmatch(value):
            return False
        least = {"quoted": 3, "tight": 4, "spaced": 5, "line": 4, "sentence": 6}[written]
        if kind == "secret":
            least = max(least, 5)
        if length < least:
            return False
        if written in ("quoted", "tight"):
            return True
        if _NAME_OF_A_METHOD.match(value):
            return False
        if written == "line":
            return mixed or (length >= 5 and value.islower() and value.isalpha())
        return mixed and letters and (digits or not SLUG.fullmatch(value)) and value[0] not in "(["
    if written == "sentence":
        return length >= 10 and letters and digits and not _NAME_OF_A_METHOD.match(value) and varied(value + "00")
    if SLUG.fullmatch(value) or length < 8:
        return False
    if letters and (digits or symbols):
        return True
    return length >= 16 and letters and not value.istitle() and "_" not in value
