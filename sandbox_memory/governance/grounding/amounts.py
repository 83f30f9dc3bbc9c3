"""How much a sentence claims: each number with its unit and bound (at least, before, about), and from what to what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..lexicon import AFTER, AFTER_ZH, AFTER_ZH_BEHIND, BEFORE, BEFORE_ZH, BEFORE_ZH_BEHIND
from ..wording import in_digits, kept

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


@kept(512)
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
    r"(?<!\d)(?<!\d[.:])(?P<one>\d+(?:[.:]\d+)*)\s*(?:(?P<range>to|through|until|-|~|至|到)|and|or|,|和|或|、)\s*"
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
        if ahead.search(before) or after.search(behind):
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
