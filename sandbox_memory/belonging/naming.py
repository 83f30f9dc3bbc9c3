"""Names and numbers that one customer, or a thing of theirs, is known by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..governance.wording import CJK, normal
from ..records import Rollout

LONGEST = 40_000
"""Characters of an item that are looked at."""
LONGEST_CODE = 80
"""Characters that a name or a number of one customer has at most."""

_TOKEN = re.compile(r"#?[A-Za-z0-9][A-Za-z0-9_.@+-]*")
_CODE = re.compile(
    r"#\w*\d\w*|[\w.+-]+@[\w-]+\.\w[\w.-]*|(?=.*\d)\w+_\w+|(?=.*\d{3})(?=.*[A-Za-z])\w+(?:-\w+)+|\d{5,}"
    r"|(?=.*\d)(?=.*[A-Z])[A-Z0-9]{5,}|[a-z]+\d{3,}[a-z0-9]*|\d{3,}[a-z][a-z0-9]*"
)
"""What a customer, an order or a card is known by, as a whole word."""
_PHONE = re.compile(r"(?<![\w.])\+?\d[\d -]{7,20}\d(?!\w)")
_DATE = re.compile(r"\d{4}-\d\d?(?:-\d\d?)?(?:T[\d:.Z+-]*)?|\d\d?:\d\d(?::\d\d)?")
_FIELD = re.compile(
    r"(?<!\w)(?P<key>\w(?:[\w .-]{0,38}\w)?)[\"']?[ \t]{0,4}[:：=][ \t]{0,4}"
    r"(?:[\"'](?P<text>[^\"'\n]{2,120})[\"']|(?P<bare>[^\"'{\[\s,][^\n,}\]]{1,120}))"
)
_NAMES = re.compile(
    r"(?:^|[_ .-])(?:first|last|full|given|family|sur|user|customer|passenger|member|guest|holder|contact)?[_ -]?"
    r"names?$"
    r"|^(?:first|last)$|(?:姓名|名字|乘客|客户|联系人)$",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"(?:^|[_ .-])(?:ids?|uid|e-?mails?|phones?|mobile|tel|numbers?|no|account|login|user|username|customer|address\w*|"
    r"street|zip\w*|postal\w*|dob|birth\w*|passports?|cards?|licen[cs]e|code)$|(?:号码?|编号|账号|邮箱|电话|地址|生日)$",
    re.IGNORECASE,
)
_NAME_OF_A_THING = re.compile(r"(?:flight|product|item|airport|city|tool|function|file|model|policy)", re.IGNORECASE)
_CALLED_A_THING = re.compile(
    r"\b(?:flight|product|model)s? (?:number |no\.? )?(?P<code>[A-Z0-9][\w-]*\d)", re.IGNORECASE
)
_SHORT = re.compile(r"(?<![\w-])[A-Z]{1,3}\d{1,3}(?![\w-])")
_INTRODUCES = re.compile(
    r"\b(?:my (?:full |last |first )?name(?: is|'s)|name's|this is|i am|i'm|call me|(?:my )?name:)\s+"
    r"(?P<name>[A-Za-z][\w'-]+(?: [A-Z]\.?)?(?: [A-Za-z][\w'-]+)?|[\u4e00-\u9fff]{2,4})"
    r"|(?:我叫|我的名字(?:是|叫)|我是|姓名[是：:])\s*(?P<zh>[\u4e00-\u9fff]{2,4})",
    re.IGNORECASE,
)
_IS_CALLED = re.compile(
    r"\b(?:user|account|customer|member|client|login|profile|handle)(?:[ -]?(?:id|name|number|no\.?))?(?: is|'s|:)?\s+"
    r"[\"'`]?(?P<id>(?=[\w.@-]*[\d_@.])[A-Za-z0-9][\w.@-]*\w)"
    r"|(?:用户|账号|账户|会员|客户|工号|卡号)(?:ID|id|名|号|编号)?(?:是|为|叫|：|:)\s*(?P<zh>[A-Za-z0-9][\w.@-]*\w)",
    re.IGNORECASE,
)
_NO_NAME = frozenset(
    "a an the in at on not so very here just also from with looking trying going calling writing sorry sure fine ok "
    "happy glad afraid unable flying travelling traveling having being planning hoping interested wondering your my "
    "allergic vegetarian vegan new currently still really already".split()
)


class Names:
    """The names and the numbers of a conversation's customer, as far as they have been met."""

    def __init__(self, rollout: Rollout) -> None:
        self.codes: set[str] = set()
        self.names: set[str] = set()
        self.things = set(_things(rollout))

    def meets(self, text: str) -> bool:
        """True if the text has one of them."""
        low = normal(text).casefold()
        if any(_stands(code, low) for code in self.codes):
            return True
        return any(_stands(name, normal(text)) for name in self.names)

    def without_things(self, text: str) -> str:
        """The text without the numbers of what anybody may ask for."""
        plain = normal(text)
        return _TOKEN.sub(
            lambda found: " " if found.group().strip(".-+#").casefold() in self.things else found[0], plain
        )

    def typed(self, text: str) -> None:
        """Learns from what the customer wrote."""
        self.known(codes(text))
        for found in _IS_CALLED.finditer(text):
            self.codes.add((found["id"] or found["zh"]).casefold())
        for found in _INTRODUCES.finditer(text):
            name = found["zh"] or found["name"]
            words = name.split()
            first = words[0].casefold()
            if first in _NO_NAME or (found["name"] and len(words) == 1 and words[0].islower()):
                continue
            self.name(" ".join(word for word in words if word.casefold() not in ("and", "with", "from")))

    def known(self, found: Iterable[str]) -> None:
        """Learns numbers."""
        self.codes |= {code.casefold() for code in found} - self.things

    def name(self, name: str) -> None:
        """Learns a name, and its parts."""
        name = " ".join(normal(name).split())
        if re.fullmatch(rf"[{CJK}]{{2,6}}", name):
            self.names.add(name)
            return
        words = [word for word in re.findall(r"[^\W\d_][\w'-]+", name) if len(word) > 1]
        if 0 < len(words) <= 4:
            self.names |= {word[:1].upper() + word[1:] for word in words if len(word) > 2} | {" ".join(words)}

    def fields(self, text: str) -> None:
        """Learns from a call about the customer, or an output that tells of them."""
        for found in _FIELD.finditer(text):
            key, value = found["key"].strip(), (found["text"] or found["bare"]).strip()
            if _NAME_OF_A_THING.search(key) or _DATE.fullmatch(value):
                continue
            if _NAMES.search(key):
                self.name(value)
            elif _PERSONAL.search(key):
                self.known([*codes(value), *([value] if len(value) > 4 else [])])


def _things(rollout: Rollout) -> Iterator[str]:
    """The numbers of what anybody may ask for, such as a flight: they are nobody's."""
    for segment in rollout.segments:
        for item in segment.items:
            text = item.text[:LONGEST]
            for found in _FIELD.finditer(text) if item.role in ("call", "output") else ():
                if _NAME_OF_A_THING.search(found["key"]):
                    yield from _called(found["text"] or found["bare"])
            for found in _CALLED_A_THING.finditer(text) if item.role != "user" else ():
                yield from _called(found["code"])


def _called(text: str) -> Iterator[str]:
    """What a thing is called by: also a number that is too short to tell a person by, such as `LH47`."""
    for code in (*codes(text), *_SHORT.findall(text)):
        yield code.casefold()


def codes(text: str) -> Iterator[str]:
    """The numbers of a text that somebody or something may be known by."""
    plain = normal(text)
    for found in _TOKEN.finditer(plain):
        word = found.group()[:LONGEST_CODE].strip(".-+")
        if len(word) > 3 and _CODE.fullmatch(word) and not _DATE.fullmatch(word):
            yield word.lstrip("#")
    for found in _PHONE.finditer(plain):
        if not _DATE.match(found.group()):
            yield found.group()


def _stands(word: str, text: str) -> bool:
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not _GOES_ON.match(before) and not _GOES_ON.match(after):
            return True
        start = text.find(word, start + 1)
    return False


_GOES_ON = re.compile(r"[A-Za-z0-9_]")
