"""A text as the words that carry its matter and the words that turn it, without its frame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..governance.wording import CJK, normal, spoken_numbers
from .synonyms import LONGEST_ZH, MARKS, PHRASES, ZH, base, holder, is_weak

_NAME = (
    r"[a-z]+://[^\s，。；、<>\"'`)]+|[\w.+-]+@[\w-]+\.[\w.-]*\w|[a-z0-9_.~-]*/(?=[a-z0-9_./-]*[a-z])[a-z0-9_./-]*[a-z0-9_]|[a-z0-9]*_[a-z0-9_]*[a-z0-9]"
    r"|[a-z0-9-]{2,}(?:\.[a-z][a-z0-9-]+)+|[a-z]+\d[a-z0-9]*"
)
_TOKEN = re.compile(
    rf"(?P<cjk>[{CJK}]+)|(?P<to>->|→)|(?P<name>{_NAME})|(?P<word>\d+(?:\.\d+)+|\d+|[^\W\d_{CJK}]+(?:'[a-z]+)?)"
    r"|(?P<stop>[,.;:!?，。；：！？、()]+)"
)
_LETTER = re.compile(r"(?<=[\w,:] )A(?=[\s.,:;]|$)")
"""A name of one letter, which is no article inside a sentence."""
_SHORT = (
    ("and/or", "or"),
    ("can't", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("'m ", " am "),
    ("'d ", " would "),
)
_PLACES = frozenset(
    "the a an this that these those its it his her their our my your i we you they he she there".split()
)
_LINKS = frozenset(
    "is are was were be been being am has have had do does did which who whom whose and or to so also too".split()
)
_FIRST, _SECOND = frozenset("i my me mine we our us".split()), frozenset("you your yours".split())
_PASSIVE = re.compile(
    r"^(?P<what>[^,;]{3,80}?) (?:is|are|was|were|gets?|be) (?P<verb>\w+(?:ed|en|t)) by (?P<who>[^,;]{2,60})$"
)
_PASSIVE_VERB = re.compile(
    r"^(?P<what>[^,;]{3,80}?) (?P<modal>must|should|can|cannot|will|may) be (?P<verb>\w+(?:ed|en|t)) "
    r"by (?P<who>[^,;]{2,60})$"
)
_IS_NAME = re.compile(r"[_/.@]|[a-z]\d")
_ADVERB = re.compile(r"(?:al|iv|ent|ant|ect|at|ular|ous|ed|ing|ab|ib|ick|ear|ul|ort|ight|aily|eek|onth)ly$")
_SUFFIX_ZH = frozenset("号码价费表名量页类额率员数款")
"""What makes a name of the word before it, as "number" does in "flight number"."""
_SPOKEN_ZH = re.compile(
    r"(?<![一二三四五六七八九十百千万第])(?P<n>[二两三四五六七八九十])(?=[个天次小分人张件条元块年月周点倍遍位份行列页])"
)


@dataclass(frozen=True)
class Token:
    """A word of the matter, as the name of its class.

    `mark` is the preposition or the turn before it. A `weak` word says nothing by its mere presence. `head` is True
    unless another word of the matter follows at once; `predicate` is True right after a turn or a form of "be",
    `joined` after "and" or "or", `free` where its place in the sentence says nothing.
    """

    name: str
    mark: str = ""
    weak: bool = False
    head: bool = True
    predicate: bool = False
    joined: bool = False
    free: bool = False

    @property
    def holder(self) -> str:
        """The kind of holder that it is as the head of its phrase."""
        return holder(self.name) if self.head else ""


@dataclass(frozen=True)
class Phrase:
    """What a text says: its words in order, and each turn with the name of the word that it turns."""

    tokens: tuple[Token, ...]
    turns: tuple[tuple[str, str], ...]
    persons: tuple[str, ...] = ()
    """Who speaks and who is spoken to, "I" and "you", in the order in which they stand."""

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(token.name for token in self.tokens)

    @cached_property
    def solid(self) -> frozenset[str]:
        """The names that are neither weak nor ever a holder."""
        return frozenset(t.name for t in self.tokens if not t.weak and not holder(t.name))

    @cached_property
    def terms(self) -> frozenset[str]:
        """What a text is found by: names, and pairs of Chinese characters."""
        found = set()
        before = ""
        for token in self.tokens:
            single = len(token.name) == 1 and not token.name.isascii()
            if single and before:
                found.add(before + token.name)
            if not single:
                found.add(token.name)
            before = token.name if single else ""
        return frozenset(found)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(token.name for token in self.tokens)


@lru_cache(maxsize=1 << 14)
def parse(text: str) -> Phrase:
    """The phrase of a text, compared without regard to case."""
    plain = _LETTER.sub("letter_a", normal(text)).casefold()
    for short, long in _SHORT:
        plain = plain.replace(short, long)
    plain = _SPOKEN_ZH.sub(lambda match: str("二三四五六七八九十".find(match["n"].replace("两", "二")) + 2), plain)
    plain = _active(plain.strip(" .!。！"))
    return _Reading(list(_stream(plain))).phrase()


def _active(text: str) -> str:
    """ "The plan is reviewed by Alice" -> "Alice reviewed the plan"."""
    match = _PASSIVE.match(text)
    if match:
        return f"{match['who']} {match['verb']} {match['what']}"
    match = _PASSIVE_VERB.match(text)
    if match:
        return f"{match['who']} {match['modal']} {match['verb']} {match['what']}"
    return text


def _stream(text: str) -> Iterator[str]:
    """Words, Chinese words, "." for a stop, and turns in capitals."""
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup in ("word", "name"):
            words.append(match.group().removesuffix("'s"))
            continue
        yield from _phrases(words)
        words = []
        if match.lastgroup == "cjk":
            yield from _chinese(match.group())
        else:
            yield "to" if match.lastgroup == "to" else "."
    yield from _phrases(words)


def _starts() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for turn, phrases in PHRASES.items():
        for phrase in phrases.split("|"):
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, turn))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return found


_STARTS = _starts()


def _phrases(words: list[str]) -> Iterator[str]:
    place = 0
    while place < len(words):
        word = words[place]
        for phrase, turn in _STARTS.get(word, ()):
            if tuple(words[place : place + len(phrase)]) == phrase and not _is_space(phrase, words, place):
                if turn:
                    yield turn
                place += len(phrase)
                break
        else:
            yield word
            place += 1


def _is_space(phrase: tuple[str, ...], words: list[str], place: int) -> bool:
    """True if "over", "above" or "past" stands before no number: there it is no comparison."""
    if phrase not in (("over",), ("above",), ("past",), ("below",), ("under",)):
        return False
    return not any(word[0].isdigit() for word in words[place + 1 : place + 2])


def _chinese(run: str) -> Iterator[str]:
    place = 0
    while place < len(run):
        for length in range(min(LONGEST_ZH, len(run) - place), 0, -1):
            word = run[place : place + length]
            if word not in ZH:
                continue
            sort, name = ZH[word]
            if sort == "turn" and name == "AFTER" and place == 0:  # "以后" that opens a text means from now on
                sort = "weak"
            if sort in ("turn", "word"):
                yield name
            else:
                yield "~"
            place += length
            break
        else:
            yield run[place]
            place += 1


class _Reading:
    def __init__(self, stream: list[str]) -> None:
        self.stream = stream
        self.tokens: list[Token] = []
        self.turns: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.mark = ""
        self.near = False
        self.and_ = False
        self.persons: list[str] = []

    def phrase(self) -> Phrase:
        for place, word in enumerate(self.stream):
            self._read(word, place)
        self._close("")
        turns = [(turn, head) for turn, head in self.turns if turn != "IF"]
        if any(turn == "NOT" for turn, _ in turns):
            turns = [(turn, head) for turn, head in turns if turn != "CAN"]
        return Phrase(tuple(self.tokens), tuple(sorted(turns)), tuple(self.persons))

    def _read(self, word: str, place: int) -> None:
        if word == "~":
            return
        if word == ".":
            self._close("")
            self.mark, self.near = "", False
        elif word.isupper() and word.isascii():
            self.open.append(word)
            self.near = True
        elif word in MARKS:
            self.mark, self.near = word, False
        elif word in _FIRST or word in _SECOND:
            self.persons.append("I" if word in _FIRST else "you")
            self.near = False
        elif word in _LINKS:
            self.near = word in ("is", "are", "was", "were", "be", "been", "being", "to")
            self.and_ = word in ("and", "or")
        elif word in _PLACES:
            self.near = False
        else:
            self._word(word, place)

    def _word(self, word: str, place: int) -> None:
        chinese = not word.isascii()
        name = word if chinese or _IS_NAME.search(word) else base(word)
        weak = is_weak(name)
        if not weak:
            self._close(name)
        following = self.stream[place + 1] if place + 1 < len(self.stream) else "."
        head = following not in _SUFFIX_ZH if chinese else not self._is_matter(following)
        self.tokens.append(Token(name, self.mark, weak, head, self.near and not weak, self.and_, _is_adverb(word)))
        self.mark, self.and_ = "", False
        self.near = self.near and weak

    @staticmethod
    def _is_matter(word: str) -> bool:
        if word in "~." or (word.isascii() and word.isupper()):
            return False
        if word in MARKS or word in _LINKS or word in _PLACES or word in _FIRST or word in _SECOND:
            return False
        return not word.isascii() or not is_weak(base(word))

    def _close(self, name: str) -> None:
        for turn in self.open:
            self.turns.append((turn, name))
        if self.open and self.open[-1] in ("NOT", "BEFORE", "AFTER", "IF", "INSTEAD") and name:
            self.mark = self.mark or self.open[-1]
        self.open = []


def _is_adverb(word: str) -> bool:
    """By an ending that names do not have."""
    return bool(_ADVERB.search(word))


def spoken(text: str) -> frozenset[str]:
    """The numbers that are written as words, as digits."""
    return frozenset(spoken_numbers(normal(text)))
