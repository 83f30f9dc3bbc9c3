"""What a sentence claims beside its words: how strong, how sure, on which condition, in which order, how much.

Each check compares one clause of a wording with the sentences that it was made from, and says what was changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from .lexicon import (
    AFTER,
    AFTER_ZH,
    AFTER_ZH_BEHIND,
    BEFORE,
    BEFORE_ZH,
    BEFORE_ZH_BEHIND,
    CANONICAL,
    DAYS,
    IRREGULAR,
    MONTHS,
    OPPOSITES,
    SEQUENCE,
    guards,
)
from .wording import CJK, STOP, in_digits, stem

_NOUNS = {
    "always": "“always”",
    "all": "“all” or “every”",
    "most": "“usually” or “most”",
    "some": "“sometimes” or “some”",
    "rare": "“rarely”",
    "only": "“only”",
    "must": "“must”",
    "should": "“should”",
    "might": "“might”",
    "unless": "“unless”",
    "if": "its condition",
    "about": "“about”",
}
_STATED = ("always", "all", "most", "some", "rare", "only", "must", "should", "might", "unless", "about")
"""What a wording may not bring in."""
_KEPT = ("most", "some", "rare", "only", "might", "unless", "about")
"""What a wording may not leave out: without it the sentence says more."""
_FIRM_ORDER = re.compile(
    r"\b(?:don't|do not|never|make sure|ensure|be sure|cannot|can't|must not|remember)\b|^\W*no\b|"
    r"不要|不得|不准|不能|别|勿|千万|务必|一定|记住",
    re.I,
)
_ORDERED = re.compile(
    r"^\W*(?:(?:and|but|so|ok|also|then|please|pls|kindly|no|wrong)\b\W*)*(?!(?:i|we|the|it|this|that|my|our|you|"
    r"he|she|they|a|an|\w+ing|is|are)\b)[a-z]+\b"
    r"|\b(?:please|pls|i want|i'd like|we want|prefer|want|wish|need)\b|请|希望|想|要|喜欢|麻烦",
    re.I,
)


def strength(clause: str, whole: str, sources: Sequence[str]) -> str | None:
    """How sure, how often, how many, and under which condition: neither more nor less than the sentences say.

    `clause` is a part of the text `whole`; `sources` are the sentences with its words.
    """
    mine = {name for name, _ in guards(clause)}
    whole_has = {name for name, _ in guards(whole)}
    theirs = {name for source in sources for name, _ in guards(source)}
    said = " ".join(sources)
    for name in _STATED:
        if name in mine and name not in theirs and not _allowed(name, theirs, said):
            return f"no quote has {_NOUNS[name]}"
    if "can" in mine and "must" in theirs and not theirs & {"can", "might"}:
        return "the quote demands what the text only allows"
    if "must" in mine and "can" in theirs and "must" not in theirs:
        return "the quote only allows what the text demands"
    for source in sources[:1]:
        for name, place in guards(source):
            if (
                name in _KEPT
                and name not in whole_has
                and (name == "unless" or _near(clause, source, place))
                and not _kept_otherwise(name, whole_has, whole)
            ):
                return f"the text leaves out {_NOUNS[name]} of the quote"
    return None


def _allowed(name: str, theirs: set[str], said: str) -> bool:
    if name == "must":
        return bool(theirs & {"always", "all", "only"}) or _FIRM_ORDER.search(said) is not None
    if name == "should":
        return "must" not in theirs and (_FIRM_ORDER.search(said) is not None or _ORDERED.search(said) is not None)
    if name == "always":
        return re.search(r"\bnever\b|\bevery\b|\bwhenever\b|\beach\b|从不|以后|今后|每", said, re.I) is not None
    if name == "all":
        return "always" in theirs or re.search(r"\bno\b|\bnever\b|\bany|从不|都|每", said, re.I) is not None
    if name == "might":
        return "can" in theirs
    if name == "unless":
        return re.search(r"\bif not\b|\bonly (?:if|when|with|after)\b|\bwithout\b|只有", said, re.I) is not None
    return False


def _kept_otherwise(name: str, mine: set[str], whole: str) -> bool:
    if name == "unless":
        return (
            "only" in mine
            or re.search(r"\bwithout\b|\bif not\b|只有|未经|才|没有?.{0,4}(?:同意|允许|许可|批准)", whole, re.I)
            is not None
        )
    if name == "might":
        return "can" in mine
    return False


_ENDS = re.compile(r"(?<!\d),|,(?!\d)|[;:，、()]|\s-\s|\b(?:but|whereas|although|because|so|and)\b")


def _near(clause: str, source: str, place: int) -> bool:
    """True if the guard stands in a part of the sentence from which the clause has a word."""
    start, end = 0, len(source)
    for cut in _ENDS.finditer(source):
        if cut.end() <= place:
            start = cut.end()
        elif cut.start() >= place:
            end = cut.start()
            break
    return bool(_telling(source[start:end]) & _telling(clause))


def _telling(text: str) -> set[str]:
    found = {stem(IRREGULAR.get(word, word)) for word in re.findall(r"[^\W_]+", text.casefold()) if word not in STOP}
    for run in re.findall(rf"[{CJK}]+", text):
        found.update(run[place : place + 2] for place in range(len(run) - 1))
    return found


_CONDITION = re.compile(
    r"\b(?:if|unless|in case|provided that|as long as|only when|whenever|when)\b|如果|假如|要是|除非|"
    r"只要(?=.*就)|一旦|的话",
    re.I,
)
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|in case|provided|as long as|when|whenever|once|while|until|after|before|for|on|during|upon|"
    r"where|without|only|with)\b"
    r"|如果|假如|要是|除非|只要|一旦|的话|时|后|前|若|当|才|否则|只有",
    re.I,
)


@lru_cache(maxsize=64)
def conditional(text: str) -> bool:
    """True if a text tells when something holds."""
    return _CONDITIONAL.search(text) is not None


def condition(whole: str, source: str) -> str | None:
    """A condition of the sentence that the text leaves out, though it has what hangs on it."""
    if _CONDITION.search(source) is None or conditional(whole):
        return None
    return "the text leaves out the condition of the quote"


def order(clause: str, sources: Sequence[str]) -> str | None:
    """Before and after, as the sentences have it."""
    said = " ".join(sources)
    for name, other in (("before", "after"), ("after", "before")):
        mine = SEQUENCE[name].search(clause) and not SEQUENCE[other].search(clause)
        if mine and SEQUENCE[other].search(said) and not SEQUENCE[name].search(said):
            return f"the quote says {other!r}, the text {name!r}"
    return None


def opposite(clause: str, said: str) -> str | None:
    """A word of the clause whose contrary is what the quotes say."""
    known = _words(said)
    roots = {CANONICAL.get(word, word) for word in known}
    for word in _words(clause) - known:
        if CANONICAL.get(word, word) in roots:
            continue
        turned = OPPOSITES.get(word, frozenset()) & known
        if turned:
            return f"the text says {word!r} where the quote says {min(turned)!r}"
    for word, contrary in OPPOSITES.items():
        if (
            word[0] >= "\u3400"
            and len(word) > 1
            and word in clause
            and word not in said
            and any(c in said for c in contrary)
        ):
            return f"the text says {word!r} where the quote says the contrary"
    return None


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.casefold()))


# ---------------------------------------------------------------- numbers

_AMOUNT = re.compile(
    r"(?P<money>[$€£¥])?\s?(?<![\w.])(?P<number>\d+(?:[.:/-]\d+)*)\s?(?P<unit>%|‰|°[CF]?|[A-Za-z]+\b|"
    r"[\u3400-\u9fff]{1,3})?",
    re.IGNORECASE,
)
_UNITS = {
    word: group.split()[0]
    for group in (
        "second s sec secs seconds 秒 秒钟|millisecond ms milliseconds 毫秒|minute m min mins minutes 分钟 分|"
        "hour h hr hrs hours 小时 个小时|"
        "day d days 天 日|week w weeks 周 个星期|month months 个月 月|year y yr years 年|am|pm|kb|mb|gb|tb|kib|"
        "mib|gib|k|percent % pct|permille ‰|"
        "dollar $ usd dollars bucks 美元|euro € eur euros 欧元|pound £ gbp pounds 英镑|yuan ¥ rmb cny 元 块|万元|"
        "万|亿|千|百|km kilometers kilometres 公里|"
        "m meters metres 米|cm|mm|kg kilograms 公斤|g grams 克|mile miles|px pixels|business|point points|times x 次|"
        "°c celsius|°f fahrenheit|rpm|fps|mbps|gbps|workday 工作日 个工作日|space spaces 个空格|request requests|"
        "row rows 行|page pages 页|"
        "user users|person people persons 人|student students|seat seats|passenger passengers|character "
        "characters chars 字符"
    ).split("|")
    for word in group.split()
}
_APPROX = re.compile(r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|~|大约|约|将近)\s*[$€£¥]?$", re.I)
_LESS = re.compile(rf"(?:\b(?:{BEFORE})|<=?|≤|{BEFORE_ZH})\s*(?:the\s|of\s|a\s)?[$€£¥]?$", re.I)
_MORE = re.compile(rf"(?:\b(?:{AFTER})|>=?|≥|{AFTER_ZH})\s*(?:the\s|of\s|a\s)?[$€£¥]?$", re.I)
_TURNS = re.compile(r"\b(?:not|no|never|n't)\s*$|不\s*$", re.I)
_LESS_BEHIND = re.compile(
    rf"^.{{0,4}}?(?:{BEFORE_ZH_BEHIND})|^\s?(?:\S+\s)?(?:or (?:less|fewer|earlier|below)|at (?:the )?(?:most|"
    rf"latest)|max(?:imum)?)\b",
    re.I,
)
_MORE_BEHIND = re.compile(
    rf"^.{{0,4}}?(?:{AFTER_ZH_BEHIND})|^\s?(?:\S+\s)?(?:or (?:more|later|above|newer|higher)|at (?:the "
    rf")?(?:least|earliest)|min(?:imum)?)\b|^\+",
    re.I,
)


@lru_cache(maxsize=512)
def amounts(text: str) -> tuple[tuple[str, str, str], ...]:
    """The numbers of a text as (number, unit, bound): bound is less, more, about or empty."""
    return tuple(_amounts(in_digits(text)))


def _amounts(text: str) -> Iterator[tuple[str, str, str]]:
    for match in _AMOUNT.finditer(text):
        before, behind = text[max(0, match.start() - 28) : match.start("number")], text[match.end() : match.end() + 18]
        word = match["unit"] or ""
        unit = _UNITS.get(word.casefold(), "")
        if word and word[0] >= "\u3400":
            unit = unit or next((_UNITS[word[:n]] for n in (3, 2, 1) if word[:n] in _UNITS), "")
            unit = unit or re.sub("^[个条次张份名只台本]", "", word)[:2]
            behind = word + behind
        yield match["number"], unit or _UNITS.get(match["money"] or "", ""), _bound(before, behind)


_CAPPED = re.compile(r"\b(?:budget|limit|cap|quota|max(?:imum)?)\b|预算|上限|限额", re.I)
"""What is a bound already, whether it is called up to so much or just so much."""

_PAIR = re.compile(
    r"(?P<one>\d+(?:[.:]\d+)*)\s*(?:(?P<range>to|through|until|-|~|至|到)|and|or|,|和|或|、)\s*"
    r"(?P<two>\d+(?:[.:]\d+)*)",
    re.I,
)


def ranges(clause: str, said: str) -> str | None:
    """From one number to another is not the one and the other."""
    known = {(match["one"], match["two"]): match["range"] for match in _PAIR.finditer(said)}
    for match in _PAIR.finditer(clause):
        pair = match["one"], match["two"]
        if pair in known and bool(known[pair]) != bool(match["range"]) and "between" not in clause + said:
            return f"the quote has {pair[0]} and {pair[1]} otherwise"
    return None


def _bound(before: str, behind: str) -> str:
    if _APPROX.search(before) or behind.startswith("左右"):
        return "about"
    for name, ahead, after in (("less", _LESS, _LESS_BEHIND), ("more", _MORE, _MORE_BEHIND)):
        found = ahead.search(before)
        if found:
            turned = _TURNS.search(before[: found.start()]) is not None
            return name if not turned else {"less": "more", "more": "less"}[name]
        if after.search(behind):
            return name
    return ""


def bounds(clause: str, sources: Sequence[str]) -> str | None:
    """Each number with the unit and the bound (at least, before, about) that it has in a sentence."""
    if not amounts(clause):
        return None
    known: dict[str, set[tuple[str, str]]] = {}
    for source in sources:
        for number, unit, bound in amounts(source):
            known.setdefault(number, set()).add((unit, bound))
    for number, unit, bound in amounts(clause):
        there = known.get(number)
        if not there:
            continue
        if unit not in {u for u, _ in there} and not (unit and unit[0] >= "\u3400" and "" in {u for u, _ in there}):
            return f"the quote has {number} with another unit"
        if bound in ("", "less") and _CAPPED.search(clause):
            continue
        if bound not in {b for u, b in there if u == unit or unit not in {u for u, _ in there}}:
            return f"the quote has another bound for {number}"
    return None


_DATES = re.compile(rf"\b(?:{'|'.join([*MONTHS, *DAYS])})s?\b", re.I)


def dates(clause: str, said: str) -> str | None:
    """Names of days and months are the quotes' own."""
    known = said.casefold()
    for match in _DATES.finditer(clause):
        name = match.group().casefold().removesuffix("s")
        if name != "may" and name[:3] not in known:
            return f"no quote has {match.group()!r}"
    return None
