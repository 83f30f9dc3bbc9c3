"""Words, numbers, identifiers and negations of a text, English and Chinese, for the check of grounding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

CJK = r"\u3400-\u9fff\uf900-\ufaff"
CLAUSE = re.compile(
    rf"(?<!\d),|,(?!\d)|[.](?=\s|$|[{CJK}])|[;!?\n()。、…]|:(?=\s|$|[{CJK}])|\s[-–—→]+>?\s|->"
    r"|\b(?:but|whereas|although|and(?= (?:i|we|you|he|she|they|never|always|don't|do not|not|no|please)\b))\b"
)
"""Where one statement ends and the next begins, in a text that `normal` has been over."""
REACH = 4
"""How many words after a negation it may still negate."""
KEPT = 4_000
"""Characters up to which a text is kept in a cache."""

_PLAIN = str.maketrans({"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
"""Where a text is split into sentences, each with its mark."""
_WORD = re.compile(rf"(?P<cjk>[{CJK}]+)|(?P<word>[^\W_{CJK}]+(?:'[^\W\d_]+)?)")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:[.:/-]\d+)*|(?<=[^\W\d_])\d+(?:\.\d+)*|\d+")
_PARTS = re.compile(r"[:/-]")
_LITERAL = re.compile(r"(?<!`)`+([^`\n]+?)`+|\"([^\"\n]{2,}?)\"|「([^「」\n]+)」|《([^《》\n]+)》")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TWO_CJK = re.compile(rf"[{CJK}][^{CJK}]*[{CJK}]")
_PLAIN_WORD = re.compile(r"(?<![\w./@-])[a-z]+(?![\w./@-])|^[A-Z][a-z]+ ")
_ELLIPSIS = re.compile(r"\s*(?:…|\.\.\.)\s*")
_LETTERS = re.compile(r"[A-Za-z]+")
_PART = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
"""What a name goes on with."""
EDGE = "'\".,;:!?()[]{}<>`，。；：！？、"

# What begins with a run of signs is tried where the run begins and nowhere else: it costs its length, not its square.
IDENTIFIER = re.compile(
    r"(?<![\w#@])[#@][A-Za-z][\w-]+"  # a channel, a handle
    r"|(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^\s，。；、<>\"'`]+"  # an address
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+"  # an e-mail address
    r"|(?<![A-Za-z0-9_.@-])(?:[~.]{0,2}/)?[A-Za-z0-9_.@-]+(?:[/\\][A-Za-z0-9_.@*-]+)+/?"  # a path
    r"|(?<![\w/])/[A-Za-z0-9_.@-]+"  # an absolute path of one part
    r"|(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[_.][A-Za-z0-9]+)+"  # snake_case, dotted.names, file.ext
    r"|_\w+|(?<!\w)\w+_(?!\w)"
    r"|(?<![\w-])[A-Za-z]+(?:-[A-Za-z0-9]+)*-\d+(?:\.\d+)*(?![\d.]*[A-Za-z])"  # db-7, eu-west-1
    r"|(?<![A-Za-z])[A-Z]?[a-z]+(?:[A-Z][a-z0-9]*)+"  # camelCase
    r"|(?<![A-Za-z])[A-Za-z]+[0-9][A-Za-z0-9]*|(?<![0-9])[0-9]+[A-Za-z][A-Za-z0-9]*"  # names with digits
    r"|[A-Z]{2,}[a-z]*",  # CAPITALS
)
CODE = re.compile(r"^-|[_/\\]|\.\w|[a-z][A-Z]")
"""What tells that the case of a name matters."""
_OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_UNIT = re.compile(r"\d+(?:am|pm|[kmgt]?i?b|ms|s|min|h|d|th|st|nd|rd|x|px|k|m)", re.IGNORECASE)

_FIRM = frozenset("not no never without none nothing nobody nowhere neither nor cannot".split())
_BARE = frozenset(
    "dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt mustnt".split()
)
SOFT = frozenset(
    "avoid avoids avoided refuse refuses refused skip skips unable impossible instead stop stops decline declines "
    "declined forbid forbids forbidden reject rejects rejected lack lacks missing fail fails failed wrong unless "
    "except "
    "disallow disallows disallowed prohibit prohibits prohibited hate hates dislike dislikes".split()
)
_CJK_FIRM = "不没无勿别非未"
_CJK_SOFT = re.compile("避免|禁止|拒绝|停止|失败|讨厌|错误")
_CJK_HARMLESS = re.compile(
    "特别|分别|区别|类别|级别|个别|识别|性别|别人|别的|别名|非常|除非|未来|不过|不仅|不但|不断|不管|不论|不久|"
    "不少|不错|无论|无线|无锡|差不多|没关系"
)
STOP = frozenset(
    "a an the and or of to in on at by for from with as is are was were be been being am it its this that these "
    "those i "
    "me my mine you your yours he him his she her hers we us our ours they them their theirs do does did done "
    "has have had "
    "having will would shall should can could may might must so than then there here if when while which who "
    "whom whose "
    "what why how also just very too please user users said says asked wants want wanted s t d ll re ve m".split()
)
SPOKEN = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {word: f"{value}0" for value, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)}
_CJK_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CJK_TENS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_CJK_NUMBER = re.compile(r"[零〇一二两三四五六七八九十百千万亿]{1,40}")
_CJK_NO_NUMBER = re.compile("千万|万一|十分(?![钟之])|百姓|万分|[百千万亿]{1,40}|一")


@dataclass(frozen=True)
class Word:
    """A word of a text, stemmed; `negation` is "firm" (not), "soft" (avoid) or empty."""

    stem: str
    negation: str = ""
    plain: bool = True


def kept(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """A cache of what a function makes of a text, for that many short texts; of a long one it is made each time."""

    def around(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> T:
            return cached(text) if len(text) <= KEPT else function(text)

        return call

    return around


def normal(text: str) -> str:
    """The text with typographic quotes, dashes, full-width forms and thousands separators made plain."""
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN)
    return _THOUSANDS.sub("", text)


def subject_key(subject: str) -> str:
    """A subject as subjects are compared."""
    return " ".join(normal(subject).casefold().split())


def script(text: str) -> str:
    """`cjk` or `latin`, whichever carries the sentence; empty for a few names, numbers and commands."""
    if _TWO_CJK.search(text):
        return "cjk"
    return "latin" if len(_PLAIN_WORD.findall(text)) > 2 else ""


def squeezed(text: str) -> str:
    """Case-folded, blanks removed: how words in quotation marks are compared."""
    return "".join(text.split()).casefold().strip(EDGE)


def stated(text: str) -> Iterator[str]:
    """The parts of a text in code spans or quotation marks: they claim to be literal."""
    for match in _LITERAL.finditer(text):
        literal = next(group for group in match.groups() if group is not None)
        for part in _ELLIPSIS.split(literal):
            if part.strip(EDGE + " "):
                yield part


def numbers(text: str) -> Iterator[str]:
    """The numbers of a text in plain form; one that is composed (a date, a version, an address) also by its parts."""
    for match in NUMBER.finditer(text):
        whole = match.group().lstrip("+").rstrip(",")
        whole = whole[1:] if whole.startswith("-") else whole
        yield plain_number(whole)
        parts = _PARTS.split(whole)
        if len(parts) > 1:
            yield from (plain_number(part) for part in parts if part)


def plain_number(number: str) -> str:
    """Without thousands separators and leading zeros; a last zero stays, since 3.10 is not 3.1."""
    number = number.replace(",", "")
    return number.lstrip("0") or "0" if number.isdigit() else number


def spoken_numbers(text: str) -> Iterator[str]:
    """The numbers that are written as words, from two on, as digits: "one" is most often no number."""
    place = 0
    while found := _CJK_NUMBER.search(text, place):
        value, place = cjk_number(text, found.start())
        if value is None:
            place = found.end()
        else:
            yield value
    for match in _LETTERS.finditer(text):
        value = SPOKEN.get(match.group().lower())
        if value is not None and value not in ("0", "1"):
            yield value


def cjk_number(text: str, place: int) -> tuple[str | None, int]:
    """The Chinese numeral that stands there, as digits, and its end; None for none, and for idioms such as 万一."""
    match = _CJK_NUMBER.match(text, place)
    if match is None:
        return None, place
    numeral, of_week = match.group(), text[max(0, place - 2) : place].endswith(("周", "期", "拜", "第"))
    idiom = _CJK_NO_NUMBER.match(text, place)
    if idiom is not None and idiom.end() >= match.end() and not of_week:
        return None, match.end()
    whole = part = digit = 0
    for char in numeral:
        if char in _CJK_DIGITS:
            digit = digit * 10 + _CJK_DIGITS[char] if part == 0 and digit else _CJK_DIGITS[char]
        elif char in "万亿":
            whole, part, digit = (whole + part + (digit or (0 if whole or part else 1))) * _CJK_TENS[char], 0, 0
        else:
            part, digit = part + (digit or 1) * _CJK_TENS[char], 0
    return str(whole + part + digit), match.end()


def in_digits(text: str) -> str:
    """The text with its Chinese numerals as digits."""
    made, place = [], 0
    for found in _CJK_NUMBER.finditer(text):
        value, end = cjk_number(text, found.start())
        made += [text[place : found.start()], text[found.start() : end] if value is None else value]
        place = end
    return "".join([*made, text[place:]])


def identifiers(text: str) -> Iterator[str]:
    """Paths, addresses, options, names in code, words in capitals or with digits, and names inside a sentence."""
    for pattern in (IDENTIFIER, _OPTION, _NAME):
        for match in pattern.finditer(text):
            name = match.group().strip(EDGE)
            if len(name) > 1 and not _UNIT.fullmatch(name) and not name.isdigit():
                yield name


def stands(name: str, text: str, lower: str) -> bool:
    """True if a name stands in a text by itself, a number also inside a word, as in 11am; `lower` is that text too.

    The case counts for names of code.
    """
    if not CODE.search(name):
        name, text = name.lower(), lower
    number = name[0].isdigit() and name[-1].isdigit()
    ahead, behind = ("0123456789.", "0123456789") if number else (_PART, _PART)
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if (start == 0 or text[start - 1] not in ahead) and (end == len(text) or text[end] not in behind):
            return True
        start = text.find(name, start + 1)
    return False


def hard_words(text: str) -> list[str]:
    """Identifiers and numbers in the order in which they stand, each once, none that is part of another.

    Names of people and places are left out: their order says nothing.
    """
    found: list[tuple[int, str]] = []
    taken = bytearray(len(text))
    for pattern in (IDENTIFIER, _OPTION, NUMBER):
        for match in pattern.finditer(text):
            name = match.group().strip(EDGE)
            start = text.find(name, match.start())
            if name and not taken[start]:
                found.append((start, name))
                taken[start : start + len(name)] = b"\1" * len(name)
    return list(dict.fromkeys(name for _, name in sorted(found)))


def words(text: str) -> Iterator[Word]:
    """The words of a text in order; Chinese as pairs of characters, its negations as words of their own."""
    for match in _WORD.finditer(text):
        if match.lastgroup == "cjk":
            yield from _chinese(match.group())
            continue
        word = match.group().casefold()
        if is_negation(word):
            yield Word(word, "firm", plain=False)
        elif word in SOFT:
            yield Word(stem(word), "soft")
        else:
            word = word.split("'")[0]
            yield Word(stem(word), plain=word not in STOP)


def _chinese(run: str) -> Iterator[Word]:
    masked = _CJK_HARMLESS.sub(lambda match: "口" * len(match.group()), run)
    soft = {match.start() for match in _CJK_SOFT.finditer(run)}
    for place, char in enumerate(run):
        if masked[place] in _CJK_FIRM:
            yield Word(char, "firm", plain=False)
            continue
        if place in soft:
            yield Word(run[place : place + 2], "soft", plain=False)
        pair = run[place : place + 2]
        if len(pair) == 2 and masked[place + 1] not in _CJK_FIRM:
            yield Word(pair)
        elif len(run) == 1 or place == 0 or masked[place - 1] in _CJK_FIRM:
            yield Word(char)


def is_negation(word: str) -> bool:
    """True for not, never, without, isn't and their like."""
    return word in _FIRM or word in _BARE or word.endswith("n't")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The word without the commonest English endings, so that "modified" and "modify" meet."""
    for ending, rest in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            word = word[: -len(ending)] + rest
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def content(found: Iterable[Word]) -> frozenset[str]:
    """The stems that carry meaning."""
    return frozenset(word.stem for word in found if word.plain)


def meaning(*texts: str) -> frozenset[str]:
    """The stems of texts that carry meaning."""
    return frozenset().union(*(content(words(normal(text))) for text in texts))


def negated_heads(found: Sequence[Word]) -> Iterator[str]:
    """For each firm negation, the stem of the first word that it negates."""
    for place, word in enumerate(found):
        if word.negation == "firm":
            head = next((other.stem for other in found[place + 1 : place + 1 + REACH] if other.plain), None)
            if head is not None:
                yield head


def negates(found: Sequence[Word], head: str, reach: int = REACH) -> bool:
    """True if a negation of any strength stands before an occurrence of that stem, within reach."""
    for place, word in enumerate(found):
        if word.stem == head and any(other.negation for other in found[max(0, place - reach) : place]):
            return True
    return False
