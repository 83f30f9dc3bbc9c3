"""Reminders: "remember to run the tests first" orders something in the work at hand; no rule for later is in it.

Unless its words say so: "always", "every time", "in future", on a condition of a general kind, or for a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ..wording import CJK
from .reading import masked

_PARTS = re.compile(
    r"[;；]|\b(?:but|however|whereas)\b|但是?|不过|然而|可是|[.!?。！？](?=\s|$|[\u3400-\u9fff])", re.IGNORECASE
)
"""Where what is said before has no bearing on what is said after."""
_REMEMBER = re.compile(
    r"\b(?:remember|(?:do not|don't|dont) forget|(?:keep|bear) in mind)(?:,? please,?)? to (?=\w)", re.IGNORECASE
)
_TOLD = re.compile(
    r"\b(?:i|we|he|she|they|it|who|people|every(?:one|body)|no(?:body| one)|some(?:one|body)|users?|never|not|to|n't)"
    r"(?: (?:can|could|will|would|did|do|does|must|should|had|have|has|always|just|also|often|usually))*\s*$",
    re.IGNORECASE,
)
"""What tells of remembering instead of asking for it."""
_ASKED = re.compile(
    r"\b(?:you|we) (?:should|must|need to|have to|ought to)(?: please| also)*\s*$|"
    r"\b(?:(?:want|need|like|ask|asking|tell|telling) you|(?:be|make) sure) to\s*$",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r",\s*(?:(?:and|so|as|since)\s+)?(?:i|we|our|my|it|they|there|this|that|these|those)\b|，\s*(?:我|它|这|那|他|她)",
    re.IGNORECASE,
)
"""Where something else begins to be told."""
_HOLDS = re.compile(
    r"\b(?:always|never|every\w*|each|whenever|(?:from (?:now|here)|later) on|going forward|in (?:the )?future|"
    r"(?:for|the)? ?next time|by default|as a (?:general )?rule|in general|generally|usually|normally|ever|"
    r"at all times|no matter|as a habit|daily|weekly|monthly|nightly|on (?:[a-z]+day|weekend|weekday|holiday)s|"
    r"because|otherwise|or else|any ?more|for good|long[- ]term|permanently)\b|"
    r"\b(?:when|if|unless|in case|before|after|where) (?:(?:there (?:is|are)|there's|you (?:see|get|have|find)) )?"
    r"(?:an?|any\w*|some(?:one|body)|no(?:body| one)?|people|\w*(?<!thi)(?<!ha)(?<!wa)(?<!i)(?<!\bit)[^\Ws]s)\b|"
    r"每|(?<![完了好过成定束])以后|今后|往后|日后|将来|总是|永远|一律|统一|默认|都[要得用应会]|凡是|任何|始终|从不|下次|下回|一直|平时|通常|"
    r"一贯|一旦|只要|从现在起|如果有|遇到|万一|因为|否则|不然|周[一二三四五六日]都",
    re.IGNORECASE,
)
_LOOSELY = re.compile(r"\b(?:all|any\w*)\b", re.IGNORECASE)
_NOW = re.compile(
    r"\b(?:first|now|today|tonight|right away|immediately|this|when (?:you(?:'re| are)|it's) (?:done|finished|ready)|"
    r"before you (?:start|begin|continue|finish|go on|do (?:that|this|it|anything)|stop|leave))\b",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"(?:call|address) me\b|(?:answer|reply|respond|speak|talk|write)(?: to me| me| back)?(?: only)? in [A-Z]\w+|"
    r"(?:answer|reply|respond|speak|talk)(?: to me| me)? (?:briefly|shortly|politely|formally|informally)",
    re.IGNORECASE,
)
"""How somebody wants to be spoken to, which is for longer than a turn."""
_REMEMBER_ZH = re.compile(
    r"(?<![还不没我们人会能你])(?:记得|[别勿莫]忘[了记]?|不要忘[了记]?)(?:要|得)?(?![不吗么，,。！!？?：:\s]|$)"
)
_DOES_ZH = re.compile(r"(?:也|顺便|马上|立刻|现在|就|先|再|把|将|给|帮|替|为|在|去|来|用|按|到|跟|向)")
_TELLS_ZH = re.compile(
    r"^(?:我|你|他|她|它|咱|这|那)们?(?!明天|今天|晚上|下午|待会)|^[^，。]{1,12}[是叫]|过敏|喜欢|不[吃喝用]|[\u3400-\u9fff]在(?!线)"
)
_MANNER_ZH = re.compile(r"(?:用|说|讲)(?:中文|英文|英语|日语|德语|法语|粤语|普通话)|(?:叫|称呼)我")


_ANNOUNCES = re.compile(
    r"(?:\b(?:rules?|conventions?|guidelines?|polic(?:y|ies)|preferences?|habits?|standing orders?|checklist|"
    r"how (?:i|we) work)\b|规则|规矩|约定|规范|原则|习惯|偏好)[^.\n。]{0,40}[:：]\s*$",
    re.IGNORECASE,
)


def announced(before: str) -> bool:
    """True if what stands right before, in the same paragraph, is headed as rules, or as what holds for later."""
    lines = masked(before).split("\n\n")[-1].split("\n")
    return any(
        _ANNOUNCES.search(line) or (_HOLDS.search(line) and line.rstrip().endswith((":", "："))) for line in lines
    )


def reminders(text: str) -> Iterator[tuple[int, int]]:
    """Where a text reminds of something to be done now: from the verb of remembering to where that ends."""
    words = masked(text)
    bounds = [0, *(found.end() for found in _PARTS.finditer(words)), len(words)]
    for begin, end in pairwise(bounds):
        if not _HOLDS.search(words, begin, end):
            yield from _english(words, begin, end)
            yield from _chinese(words, begin, end)


def reminder(text: str, said: str) -> str:
    """The reminder among the words `said` that a text repeats, or is; empty where there is none."""
    tokens = _tokens(text)
    for start, end in reminders(said):
        own = _tokens(said[start:end])
        if own and len(own & tokens) * 2 >= len(own):
            return said[start:end].strip(" .!。！")
    return ""


def _english(words: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    for found in _REMEMBER.finditer(words, begin, end):
        before = re.split(r"[,:—–]|\s-\s", words[begin : found.start()])[-1]
        if (_TOLD.search(before) and not _ASKED.search(before)) or _MANNER.match(words, found.end(), end):
            continue
        if _LOOSELY.search(words, found.end(), end) and not _NOW.search(words, begin, end):
            continue
        over = _ENDS.search(words, found.end(), end)
        yield found.start(), over.start() if over else end


def _chinese(words: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    for found in _REMEMBER_ZH.finditer(words, begin, end):
        rest = words[found.end() : end]
        if _MANNER_ZH.search(rest) or (_TELLS_ZH.search(rest) and not _DOES_ZH.match(rest)):
            continue
        over = _ENDS.search(words, found.end(), end)
        yield found.start(), over.start() if over else end


def _tokens(text: str) -> set[str]:
    """What a text is made of, to be compared: its longer words, and its Chinese characters."""
    plain = masked(text).casefold()
    words = {word for word in re.findall(rf"[^\W{CJK}]{{3,}}", plain) if word not in _FRAME}
    return words | {char for char in re.findall(rf"[{CJK}]", plain) if char not in "记得别忘了要不勿莫的把先"}


_FRAME = frozenset("remember don't dont not forget keep bear mind please and the that this you your for with".split())
