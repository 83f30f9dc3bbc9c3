"""Which values are secrets, given how they stand under a sensitive name."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Literal

from .placeholders import PLACEHOLDER
from .tokens import varied

Written = Literal["quoted", "tight", "spaced", "line", "sentence"]
"""How a value stands: in quotes; `name=value`; `name = value`; `name: value` to the end of its line; in a sentence."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_REFERENCE = re.compile(r"\$(?:\{.*|\(.*|[A-Za-z_][\w:]*-?$)|%[A-Za-z_(].*|[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]\w*)+\W?$")
_ENTITY = re.compile(r"&(?:quot|[lr][sd]quo|lt|gt|amp|nbsp|#)")
_PATH = re.compile(r"(?:~|\.{1,2})?/(?=[\w.-]{1,40}(?:/|$))|[A-Za-z]:\\|[a-z][a-z0-9+]{1,9}://")
SLUG = re.compile(r"[a-z]+(?:[_-][a-z]+)+")
_IDENTIFIER_OF_A_RUN = re.compile(r"(?:call|msg|rs|fc|resp|run|conv|toolu|chatcmpl|req|item|ctc|ws)_[A-Za-z0-9]{4,}")
_NAME_OF_A_METHOD = re.compile(
    r"(?:sha|md|base|utf|aes|rsa|bcrypt|argon|pbkdf|scrypt|hmac|oauth|http|ascii|latin|iso|v)-?\d{1,4}"
    r"(?:[-_.][a-z0-9]{1,12})*[.,;]?$|\d+-[a-z]+$",
    re.I,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_DIGESTS = re.compile(r"(?:sha\d{1,3}|md5|blake2b|h1)[-:]", re.I)
_RANDOM = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*:-]{16,512}")
_PIECES = re.compile(r"[A-Za-z0-9]+")
_SHIFTS = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])")

_OBJECT = re.compile(
    r"[A-Za-z_$][\w.$]*\{[0-9a-f]{4,}|[A-Za-z_$][\w$]*(?:\.[\w$]+)+@[0-9a-f]{4,}"
    r"|(?:com|org|net|io|java|javax|android)\.[a-z]\w*\.[\w.]+|[A-Za-z_]\w*=[\"']"
)
"""How programs show an object, a name in reversed domains, an argument of a call."""
_ADVICE = re.compile("你的|您的|自己|输入|填写|改成|密码|示例|自定义|替换|随意|任意")
"""What stands where a reader is to put a secret of their own."""

_STAND_INS = ("your", "xxx", "placeholder", "redacted", "masked", "changeme-")
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
    "ignored checked verified verify match matches mismatch policy manager reader store fixture mock fake changeme "
    "obligatoria obligatorio requerida requerido incorrecta incorrecto olvidada nueva actual inválida obligatoire "
    "requis incorrect oublié nouveau actuel erforderlich vergessen falsch ungültig neu aktuell obrigatória incorreta "
    "verplicht "
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


def entropy(value: str) -> float:
    """Shannon's, in bits a character."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


def is_identifier(value: str) -> bool:
    """True for a UUID, a digest in hex or with its method's name before it, and the id of something in a run."""
    return bool(
        _UUID.fullmatch(value)
        or _HEX.fullmatch(value)
        or _DIGESTS.match(value)
        or _IDENTIFIER_OF_A_RUN.fullmatch(value)
    )


def looks_random(value: str) -> bool:
    """True for what nobody would type or name: letters of both cases and digits in no order, 16 or more together."""
    if not _RANDOM.fullmatch(value) or is_identifier(value) or _PATH.match(value):
        return False
    longest = max(_PIECES.findall(value), key=len, default="")
    digits = sum(map(str.isdigit, longest))
    if len(longest) < 12 or digits < 2 or digits == len(longest):
        return False
    mixed = longest.lower() != longest and longest.upper() != longest
    shifts = len(_SHIFTS.findall(longest))
    return shifts >= (4 if mixed else 6) and entropy(value) >= (3.3 if len(value) < 24 else 3.7)


def is_placeholder(value: str) -> bool:
    """True for what stands where a secret would: a reference, a mask, a type, an ordinary word."""
    lower = value.lower()
    if lower.rstrip(".,:;!?") in _ORDINARY or len(set(value)) == 1 or set(value) <= set("*.xX•-_#?"):
        return True
    if "\ufffd" in value or _ENTITY.search(value) or not value.isprintable():
        return True
    if value[0] in "<[(&:" or value.startswith("--") or ("{" in value and "}" in value):
        return True
    if "***" in value or PLACEHOLDER.search(value):
        return True
    if (lower.startswith(_STAND_INS) or "xxxx" in lower) and not looks_random(value):
        return True
    if _ADVICE.search(value) or _OBJECT.match(value):
        return True
    if _REFERENCE.match(value) or _PATH.match(value) or _IDENTIFIER_OF_A_RUN.fullmatch(value):
        return True
    return len(value) < 64 and not has_digit(value) and {word.lower() for word in _WORDS.findall(value)} <= _OF_NAMES


CODES = {"pin": (4, 8), "card-code": (3, 4), "one-time-code": (4, 8)}
"""Kinds of secrets that are short numbers, and how many digits they have."""
_COUNTED = re.compile(r"passwords$|^(?:pass|pwd|pw)$|fail|invalid|wrong|count|weak|strong|leaked", re.I)


def is_number(name: str, value: int | float) -> bool:
    """Whether a number under the name of a password is one, rather than a flag, a count or a share."""
    return abs(value) >= 10 and not _COUNTED.search(name)


def is_secret(kind: str, value: str, written: Written, *, short: bool = False) -> bool:
    """Whether a value under a sensitive name is a secret rather than a word, a type or code.

    `short` marks the abbreviations `pass`, `pwd` and `pw`, which also mean other things.
    """
    value = value.strip()
    if not value or is_placeholder(value):
        return False
    if kind == "key":
        return looks_random(value)
    if kind in CODES:
        return value.isdigit() and CODES[kind][0] <= len(value) <= CODES[kind][1]
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
    if written == "sentence" and not looks_random(value):
        return length >= 10 and letters and digits and not _NAME_OF_A_METHOD.match(value) and varied(value + "00")
    if SLUG.fullmatch(value) or length < 8:
        return False
    if letters and (digits or symbols):
        return True
    return length >= 16 and letters and not value.istitle() and "_" not in value
