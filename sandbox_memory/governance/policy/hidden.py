"""Secrets as the point of a line, and what somebody asked not to be kept."""

from __future__ import annotations

import re

from ..redaction import PLACEHOLDER
from .reading import masked, plain

_NOUN = (
    r"(?:pass ?word|passwd|passphrase|pass ?code|pin(?: ?(?:code|number))?|api[ -]?key|access[ -]?(?:key|token|code)|"
    r"secret(?: key)?|(?:bearer |auth |refresh |personal |bot |deploy )?token|credentials?|private key|signing key|"
    r"encryption key|licen[cs]e key|cvv|cvc|security code|recovery (?:code|key|phrase)|one-time (?:code|password)|otp|"
    r"(?:2fa|mfa|verification|login|door|alarm|gate|safe|unlock|entry) code|seed phrase|webhook secret|"
    r"(?:lock |safe |vault )?combination|access code|"
    r"client secret|wi-?fi key)"
)
_ASCII_VALUE = (
    r"(?P<value>⟦[^⟧]{1,60}⟧|[\"'`][^\"'`\s]{3,}[\"'`]|(?=[^\s,;。，]*\d)[^\s,;。，/⟦]{4,}|[a-z]{4,}(?=\W*$))"
)
_TELLS = re.compile(
    rf"\b{_NOUN}(?:\s+(?:for|of|to|on)\s+[^.;:=]{{1,50}}?)?\s*(?:\bis(?: still| now| just| set to)?|\bwas|'s|=|:|->|"
    rf"\breads|"
    rf"\b(?:was |has been )?(?:changed|reset|set|rotated) to)\s*{_ASCII_VALUE}",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\b(?:pass ?word|passwd|passphrase|pass ?code|pin|otp|"
    r"api[ -]?key)\s+(?P<value>(?=[^\s,;。，]*\d)(?=[^\s,;。，\d]*[^\W\d]|\d{4,})"
    r"[^\s,;。，/:⟦]{4,})(?=\W*$|[,;])|(?:密码|口令|验证码|"
    r"门禁码)\s+(?P<code>(?=[\w!@#$%^&*.-]*\d)[\w!@#$%^&*.-]{4,})(?=\W*$|"
    r"[，；])",
    re.IGNORECASE,
)
"""A secret right after its name."""
_USES = re.compile(
    rf"\b(?:use|try|enter|type|with|log ?in with)\s+{_ASCII_VALUE}\s+(?:as|for)\s+(?:the |my |your |a )?{_NOUN}\b", re.I
)
_TELLS_ZH = re.compile(
    r"(?:密码|口令|密钥|令牌|验证码|PIN码?|门禁码|卡密|私钥|授权码|校验码|提取码|登录码|动态码|暗号|token|api ?key|"
    r"secret)"
    r"(?:仍|还|现在|已)?(?:是|为|：|:|=|叫|改成了?|换成了?|改为|设成了?)\s*"
    r"(?P<value>⟦[^⟧]{1,60}⟧|[\"'`“「][^\"'`\s”」]{3,}[\"'`”」]|(?=[A-Za-z!@#$%^&*_.-]*\d)[\w!@#$%^&*.-]{4,}(?![\w]|"
    r"\s?[位个天分小])|[A-Za-z]{5,}(?=\W*$))",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"[\"'`“「]?(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[\w.-]*/[\w./-]*|\w+(?:ed|ory|ary|able|ible|al|ing|ly|id|ent|ive|en|"
    r"ous|less|ful)|"
    r"wrong|correct|empty|unset|missing|needed|public|private|secret|unknown|case-sensitive|fine|okay|ours|here|"
    r"there|below|"
    r"above|bad|good|long|short|weak|strong|safe|same|different|null|none|true|false|incorrect|lost|gone|base64|sha256|"
    r"\d+(?:st|nd|rd|th)|\d+[- ](?:char\w*|digits?|days?|bits?|bytes?|minutes?|hours?))[\"'`”」]?",
    re.IGNORECASE,
)
_CODE = re.compile(r"(`+)(?P<code>[^`\n]+?)\1")
_ASSIGNS = re.compile(r"\s*(?:export |set |\$env:)?[\w.-]+\s*[=:]\s*[\"']?⟦[^⟧]+⟧[\"']?\s*")

_UNRECORDED = re.compile(
    r"\b(?:this|that|it) (?:stays|is|remains) (?:strictly )?(?:confidential|secret|private)(?=\W*$|[,.;])|"
    r"\b(?:off the record|strictly between us|between (?:you and me|us)|"
    r"(?:don't|do not|dont|never|please don't|no need to) (?:ever )?(?:save|remember|store|record|memori[sz]e|keep|"
    r"note|write|log|jot|put)"
    r"(?: any of| down)? (?:this|that|it|what|the following)(?: (?:anywhere|down(?: anywhere)?|please|"
    r"in (?:your )?memory|on (?:the )?(?:record|file)|"
    r"i (?:just )?(?:said|told)\b[^.]{0,20}|about me))?(?=\W*$|[,.;:!]| (?:please|for later|but|and)\b)|"
    r"keep (?:this|it|that) (?:to yourself|between us|off the record|out of (?:your |the )?memory)|"
    r"(?<!n't )(?<!not )(?<!never )(?<!not ever )"
    r"forget (?:that|this|it|what i (?:just )?(?:said|told)|everything|about (?:that|this|it))(?=\W*$|[,.;!]| (?:i|"
    r"please)\b))|"
    r"(?:不要|别|不用|无需|请勿)(?:把[^，。]{1,12})?(?:记录|保存|记住|记下|记到记忆里|写进记忆|存下来|记)(?!错|混|"
    r"成|性|账|入日志|者)(?![^，。]{0,4}(?:密码|日志|密钥))|"
    r"(?:你知我知|别说出去|不要外传|说完就忘|忘掉(?:这|刚)|就当我没说)",
    re.IGNORECASE,
)


def secret(text: str) -> str:
    """What kind of secret a line is there to tell; empty if it is there for something else.

    A placeholder inside a command or an address is none: the command is what the line tells.
    """
    outside = _CODE.sub(_without_commands, text)
    words = plain(outside)
    for pattern in (_TELLS, _USES, _TELLS_ZH, _BESIDE):
        for found in pattern.finditer(words):
            value = (found["value"] or found["code"]).rstrip(".!?")
            if not _NO_VALUE.fullmatch(value):
                return found.group()[: found.group().index(value)].strip() or "a secret"
    for found in PLACEHOLDER.finditer(outside):
        before, after = outside[: found.start()][-1:], outside[found.end() :][:1]
        if not (before in ":/@=&?" and before and _within_address(outside, found.start())) and after != "@":
            return found.group()
    return ""


def _without_commands(found: re.Match[str]) -> str:
    """A code span, or nothing if it is a command that a placeholder is only part of."""
    code = found["code"].strip()
    part_of_more = len(PLACEHOLDER.sub("", code).split()) >= 2 or "://" in code
    return "" if part_of_more and not _ASSIGNS.fullmatch(code) else found.group()


def _within_address(text: str, place: int) -> bool:
    return re.search(r"[a-z][a-z0-9+.-]*://\S*$", text[:place], re.IGNORECASE) is not None


def unrecorded(text: str) -> str:
    """The words that ask for something not to be kept; empty if none do."""
    found = _UNRECORDED.search(masked(text))
    return found.group().strip() if found else ""
