"""Whose a memory is where many people are served: what is one customer's is never told to the run of the next.

One conversation is one customer's. Theirs is what rests on their own words, typed or pasted, also as the agent or a
tool says them again; what names them or a thing of theirs, by a name or a number of this conversation; and what a tool
showed of it. For everybody are rules, errors, and how things are done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..records import Item, Kind, Rollout
from .attribution import failed
from .grounding import ungrounded
from .grounding.acts import AGENT, OTHER, TOOL, USER
from .wording import CJK, IDENTIFIER, SENTENCE_END, is_negation, meaning, normal, numbers

ECHO = 0.7
"""Which share of its words a text has from what the customer said to be only that said again."""
LEAST = 2
"""Words that carry meaning which it takes to tell."""
LONG = 3
"""Digits from which on a number may be one customer's balance or sum."""
LONGEST = 40_000
"""Characters of an item that are looked at."""
LONGEST_CODE = 80
"""Characters that a name or a number of one customer has at most."""
ROUNDS = 3
"""How often what was learned of the customer may tell more of them."""

_VOICES = {"user": USER, "assistant": AGENT, "call": AGENT, "output": TOOL}
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
_OF_THEM = re.compile(
    r"\b(?:the|this) (?:customer|user|caller|client|member|passenger|patient|guest|traveler|traveller)\b(?:'s)?"
    r"|\b(?:your|you(?:'re|'ve| are| have| had| were| will|'ll))\b|这位?(?:客户|用户|顾客|乘客)|客户|用户|您的?|你的",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:if|unless|when|whenever|can|cannot|can't|could|must|may|only|within|per|each|every|any|all|never|always|"
    r"not possible|required?|requires|allowed|eligible|refuses?|should|needs? to|have to|"
    r"has to|before|after|until|depends?|typically|usually|generally)\b"
    r"|如果|若|可以|不能|不可|必须|只能|只有|每|任何|所有|以内|需要?|应|请|当|凡|才|通常|一般|取决于",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$€£¥￥]\s?\d[\d,.]*|\d[\d,.]*\s?(?:dollars|euros|usd|eur|元|块)", re.IGNORECASE)
_ASKS = re.compile(r"[?？]\s*$|[吗么呢]\s*[。！]?$")
_SHOWS = (Kind.FACT, Kind.TASK, Kind.EPISODE)


@dataclass(frozen=True)
class Place:
    """A quote: its words, and the item and the run that it stands in."""

    segment: str
    item: Item
    text: str


class Customer:
    """What a conversation tells of the one who is served in it."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout
        self.order = {
            (segment.id, item.index): place
            for place, (segment, item) in enumerate((s, i) for s in rollout.segments for i in s.items)
        }
        typed: list[str] = []
        self.said: list[tuple[int, str, frozenset[str]]] = []
        for segment in rollout.segments:
            for item in segment.items:
                if item.role == "user":
                    told = _told(item.text[:LONGEST])
                    self.said.append((self.order[segment.id, item.index], told, meaning(told)))
                    typed.append(item.text[:LONGEST])
        self.codes: set[str] = set()
        self.names: set[str] = set()
        self.things = set(self._things())
        self.shown: dict[tuple[str, int], str] = {}
        """Outputs that tell of this customer, and are no errors."""
        for text in typed:
            self._typed(text)
        before = -1
        for _ in range(ROUNDS):
            if before == (before := len(self.codes) + len(self.names) + len(self.shown)):
                break
            self._look()
        self.values = {value for text in self.shown.values() for value in _values(text)} - self.things

    def owns(self, text: str, kind: Kind, quotes: Sequence[Place], subject: str = "") -> bool:
        """True if a memory with this text, resting on these quotes, is this customer's alone."""
        if kind is Kind.PREFERENCE or self.named(f"{text}\n{subject}"):
            return True
        others = [q for q in quotes if q.item.role == "call" or (q.item.role != "user" and not self._echo(q.text, q))]
        if not others or (len(others) < len(quotes) and _needs_more(text, others)) or self._echo(text, others[0]):
            return True
        rule = _RULE.search(text) is not None
        if not rule and _OF_THEM.search(text):
            return True
        if _values(text) & self.values and (not rule or _MONEY.search(text)):
            return True
        theirs = [(quote.segment, quote.item.index) in self.shown for quote in others]
        return kind in _SHOWS and all(theirs)

    def named(self, text: str) -> bool:
        """True if the text has a name or a number of this customer, or of a thing of theirs."""
        low = normal(text).casefold()
        if any(_stands(code, low) for code in self.codes):
            return True
        return any(_stands(name, normal(text)) for name in self.names)

    def _known(self, codes: Iterable[str]) -> None:
        self.codes |= {code.casefold() for code in codes} - self.things

    def _things(self) -> Iterator[str]:
        """The numbers of what anybody may ask for, such as a flight: they are nobody's."""
        for segment in self.rollout.segments:
            for item in segment.items:
                text = item.text[:LONGEST]
                for found in _FIELD.finditer(text) if item.role in ("call", "output") else ():
                    if _NAME_OF_A_THING.search(found["key"]):
                        yield from (code.casefold() for code in _codes(found["text"] or found["bare"]))
                for found in _CALLED_A_THING.finditer(text) if item.role != "user" else ():
                    yield from (code.casefold() for code in _codes(found["code"]))

    def _typed(self, text: str) -> None:
        self._known(_codes(text))
        for found in _IS_CALLED.finditer(text):
            self.codes.add((found["id"] or found["zh"]).casefold())
        for found in _INTRODUCES.finditer(text):
            name = found["zh"] or found["name"]
            words = name.split()
            if words[0].casefold() in _NO_NAME or (found["name"] and len(words) == 1 and words[0].islower()):
                continue
            self._name(" ".join(word for word in words if word.casefold() not in ("and", "with", "from")))

    def _name(self, name: str) -> None:
        name = " ".join(normal(name).split())
        if re.fullmatch(rf"[{CJK}]{{2,6}}", name):
            self.names.add(name)
            return
        words = [word for word in re.findall(r"[^\W\d_][\w'-]+", name) if len(word) > 1]
        if 0 < len(words) <= 4:
            self.names |= {word[:1].upper() + word[1:] for word in words if len(word) > 2} | {" ".join(words)}

    def _look(self) -> None:
        """Calls about this customer, and what they showed: each may tell more of them."""
        for segment in self.rollout.segments:
            calls: dict[str | None, Item] = {}
            last: Item | None = None
            for item in segment.items:
                text = item.text[:LONGEST]
                if item.role == "call":
                    last = calls[item.call_id] = item
                    self._known(_codes(text))
                    if self.named(text):
                        self._fields(text)
                elif item.role == "output":
                    call = calls.get(item.call_id, last)
                    if (call is not None and self.named(call.text[:LONGEST])) or self.named(text):
                        self._fields(text)
                        if not failed(text):
                            self.shown[segment.id, item.index] = text

    def _fields(self, text: str) -> None:
        for found in _FIELD.finditer(text):
            key, value = found["key"].strip(), (found["text"] or found["bare"]).strip()
            if _NAME_OF_A_THING.search(key) or _DATE.fullmatch(value):
                continue
            if _NAMES.search(key):
                self._name(value)
            elif _PERSONAL.search(key):
                self._known([*_codes(value), *([value] if len(value) > 4 else [])])

    def _echo(self, text: str, quote: Place) -> bool:
        """True for what says only again what the customer had said before."""
        own = meaning(text)
        if len(own) < LEAST:
            return False
        place = self.order[quote.segment, quote.item.index]
        denies = _denies(text)
        for when, said, words in self.said:
            alike = when < place and len(own & words) >= ECHO * len(own) and (not denies or _denies(said))
            if alike and set(numbers(normal(text))) <= set(numbers(normal(said))):
                return True
        return False


def _told(text: str) -> str:
    """What somebody says, without what they ask."""
    return " ".join(part for part in SENTENCE_END.split(text) if not _ASKS.search(part))


def _needs_more(text: str, quotes: Sequence[Place]) -> bool:
    return ungrounded(text, [q.text for q in quotes], [_VOICES.get(q.item.role, OTHER) for q in quotes]) is not None


def _denies(text: str) -> bool:
    return any(is_negation(word) for word in re.findall(r"[a-z']+", normal(text).casefold())) or any(
        char in text for char in "不没无未"
    )


def _codes(text: str) -> Iterator[str]:
    plain = normal(text)
    for found in _TOKEN.finditer(plain):
        word = found.group()[:LONGEST_CODE].strip(".-+")
        if len(word) > 3 and _CODE.fullmatch(word) and not _DATE.fullmatch(word):
            yield word.lstrip("#")
    for found in _PHONE.finditer(plain):
        if not _DATE.match(found.group()):
            yield found.group()


def _values(text: str) -> frozenset[str]:
    """The numbers of a text that may be a sum, a balance or an amount, and its names of code."""
    plain = _DATE.sub(" ", normal(text))
    names = {found.group().casefold() for found in IDENTIFIER.finditer(plain) if _has_digit(found.group())}
    bare = IDENTIFIER.sub(" ", plain)
    sums = {word for word in numbers(bare) if len(word.replace(".", "").replace("-", "")) >= LONG}
    return frozenset(sums | names)


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)


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
