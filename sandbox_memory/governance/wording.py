"""Words, numbers, identifiers and negations of a text, English and Chinese, for the check of grounding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

CJK = r"\u3400-\u9fff\uf900-\ufaff"
CLAUSE = re.compile(
    rf"(?<!\d),|,(?!\d)|[.](?=\s|$|[{CJK}])|[;!?\n()。、…]|:(?=\s|$|[{CJK}])|\s[-–—→]+>?\s|->"
    r"|\b(?:but|whereas|although)\b"
)
"""Where one statement ends and the next begins, in a text that `normal` has been over."""
REACH = 4
"""How many words after a negation it may still negate."""

_PLAIN = str.maketrans({"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})
_WORD = re.compile(rf"(?P<cjk>[{CJK}]+)|(?P<word>[^\W_{CJK}]+(?:'[^\W\d_]+)?)")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:[.:/-]\d+)*|(?<=[^\W\d_])\d+(?:\.\d+)*|\d+")
_PARTS = re.compile(r"[:/-]")
_LITERAL = re.compile(r"`+([^`\n]+?)`+|\"([^\"\n]{2,}?)\"|「([^」\n]+)」|《([^》\n]+)》")
_EDGE = "'\".,;:!?()[]{}<>`，。；：！？、"

_IDENTIFIER = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s，。；、<>\"'`]+"  # an address
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"  # an e-mail address
    r"|(?:[~.]{0,2}/)?[A-Za-z0-9_.@-]+(?:[/\\][A-Za-z0-9_.@*-]+)+/?"  # a path
    r"|(?<![\w/])/[A-Za-z0-9_.@-]+"  # an absolute path of one part
    r"|[A-Za-z0-9]+(?:[_.][A-Za-z0-9]+)+"  # snake_case, dotted.names, file.ext
    r"|_\w+|\w+_(?!\w)"
    r"|(?:[A-Z]?[a-z]+)(?:[A-Z][a-z0-9]*)+"  # camelCase
    r"|[A-Z]{2,}[a-z0-9]*|[A-Za-z]+[0-9][A-Za-z0-9]*|[0-9]+[A-Za-z][A-Za-z0-9]*",  # CAPITALS, names with digits
)
_OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_UNIT = re.compile(r"\d+(?:am|pm|[kmgt]?i?b|ms|s|min|h|d|th|st|nd|rd|x|px|k|m)", re.IGNORECASE)

_FIRM = frozenset("not no never without none nothing nobody nowhere neither nor cannot".split())
_BARE = frozenset(
    "dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt mustnt".split()
)
_SOFT = frozenset(
    "avoid avoids avoided refuse refuses refused skip skips unable impossible instead stop stops decline declines "
    "declined forbid forbids forbidden reject rejects rejected lack lacks missing fail fails failed wrong unless "
    "except "
    "disallow disallows disallowed prohibit prohibits prohibited hate hates dislike dislikes".split()
)
_CJK_FIRM = "不没无勿别非未"
_CJK_SOFT = re.compile("避免|禁止|拒绝|停止|失败|讨厌|错误")
_CJK_HARMLESS = re.compile(
    "特别|分别|区别|类别|级别|个别|识别|性别|别人|别的|别名|非常|除非|未来|不过|不仅|不但|不断|不管|不论|不久|不少|不错|无论|无线|无锡|差不多|没关系"
)
_STOP = frozenset(
    "a an the and or of to in on at by for from with as is are was were be been being am it its this that these "
    "those i "
    "me my mine you your yours he him his she her hers we us our ours they them their theirs do does did done "
    "has have had "
    "having will would shall should can could may might must so than then there here if when while which who "
    "whom whose "
    "what why how also just very too please user users said says asked wants want wanted s t d ll re ve m".split()
)
_SPOKEN = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
    )
}


@dataclass(frozen=True)
class Word:
    """A word of a text, stemmed; `negation` is "firm" (not), "soft" (avoid) or empty."""

    stem: str
    negation: str = ""
    plain: bool = True


def normal(text: str) -> str:
    """The text with typographic quotes, dashes, full-width forms and thousands separators made plain."""
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN)
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)


def squeezed(text: str) -> str:
    """Case-folded, blanks removed: how words in quotation marks are compared."""
    return re.sub(r"\s+", "", text).casefold().strip(_EDGE)


def stated(text: str) -> Iterator[str]:
    """The parts of a text in code spans or quotation marks: they claim to be literal."""
    for match in _LITERAL.finditer(text):
        literal = next(group for group in match.groups() if group is not None)
        for part in re.split(r"\s*(?:…|\.\.\.)\s*", literal):
            if part.strip(_EDGE + " "):
                yield part


def numbers(text: str) -> Iterator[str]:
    """The numbers of a text in plain form; one that is composed (a date, a version, an address) also by its parts."""
    for match in _NUMBER.finditer(text):
        whole = match.group().lstrip("+").rstrip(",")
        whole = whole[1:] if whole.startswith("-") else whole
        yield _plain_number(whole)
        parts = _PARTS.split(whole)
        if len(parts) > 1:
            yield from (_plain_number(part) for part in parts if part)


def _plain_number(number: str) -> str:
    number = number.replace(",", "")
    if re.fullmatch(r"\d+\.\d+", number):
        return number.rstrip("0").rstrip(".").lstrip("0") or "0"
    return number.lstrip("0") or "0" if number.isdigit() else number


def spoken_numbers(text: str) -> Iterator[str]:
    """The numbers that are written as words, from two on, as digits: "one" is most often no number."""
    for match in re.finditer(r"[A-Za-z]+", text):
        value = _SPOKEN.get(match.group().lower())
        if value is not None and value not in ("0", "1"):
            yield value


def identifiers(text: str) -> Iterator[str]:
    """Paths, addresses, options, names in code, words in capitals or with digits, and names inside a sentence."""
    for pattern in (_IDENTIFIER, _OPTION, _NAME):
        for match in pattern.finditer(text):
            name = match.group().strip(_EDGE)
            if len(name) > 1 and not _UNIT.fullmatch(name) and not name.isdigit():
                yield name


def hard_words(text: str) -> list[str]:
    """Identifiers and numbers in the order in which they stand, each once, none that is part of another.

    Names of people and places are left out: their order says nothing.
    """
    found: list[tuple[int, int, str]] = []
    for pattern in (_IDENTIFIER, _OPTION, _NUMBER):
        for match in pattern.finditer(text):
            name = match.group().strip(_EDGE)
            start = text.find(name, match.start())
            inside = any(first <= start < end for first, end, _ in found)
            if name and not inside:
                found.append((start, start + len(name), name))
    return list(dict.fromkeys(name for *_, name in sorted(found)))


def words(text: str) -> Iterator[Word]:
    """The words of a text in order; Chinese as pairs of characters, its negations as words of their own."""
    for match in _WORD.finditer(text):
        if match.lastgroup == "cjk":
            yield from _chinese(match.group())
            continue
        word = match.group().casefold()
        if word in _FIRM or word in _BARE or word.endswith("n't"):
            yield Word(word, "firm", plain=False)
        elif word in _SOFT:
            yield Word(stem(word), "soft")
        else:
            word = word.split("'")[0]
            yield Word(stem(word), plain=word not in _STOP)


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


def stem(word: str) -> str:
    """The word without the commonest English endings, so that "modified" and "modify" meet."""
    for ending, rest in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + rest
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def content(found: Iterable[Word]) -> frozenset[str]:
    """The stems that carry meaning."""
    return frozenset(word.stem for word in found if word.plain)


def negated_heads(found: Sequence[Word]) -> Iterator[str]:
    """For each firm negation, the stem of the first word that it negates."""
    for place, word in enumerate(found):
        if word.negation == "firm":
            head = next((other.stem for other in found[place + 1 : place + 1 + REACH] if other.plain), None)
            if head is not None:
                yield head


def negates(found: Sequence[Word], head: str) -> bool:
    """True if a negation of any strength stands before an occurrence of that stem, within reach."""
    for place, word in enumerate(found):
        if word.stem == head and any(other.negation for other in found[max(0, place - REACH) : place]):
            return True
    return False
