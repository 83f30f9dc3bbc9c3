"""A text cut into tokens that can be held against those of another: what a word stands for, and what part it plays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..lexicon import CANONICAL, CANONICAL_ZH, GLUE, GLUE_ZH, GUARDS, IRREGULAR
from ..wording import CJK, EDGE, IDENTIFIER, NUMBER, SPOKEN, STOP, cjk_number, is_negation, kept, plain_number, stem

MOST_TOKENS = 1_600
"""Tokens of one sentence that are looked at: a longer one is a listing, which no wording follows word by word."""
NEAREST = 6
"""Sentences that a clause is compared with."""
SENTENCE = re.compile(rf"[.!?]+(?=\s|$|[{CJK}])|[\n。！？；;]+")
_JOINT = re.compile(r"(?<!\d),|,(?!\d)|[、，()|]|:(?![\d/])|\s[-–—→]+>?\s|->|→")
_MARKS = {
    word: group.split()[0]
    for group in (
        "for",
        "from",
        "to into onto toward towards",
        "over above",
        "under below",
        "than",
        "by",
        "with",
        "via through",
        "in on at within inside",
        "of",
        "as",
        "against",
        "before",
        "after",
        "between",
        "about regarding",
        "without",
        "instead",
        "until till",
        "off",
        "out",
        "up",
        "down",
        "back",
        "away",
    )
    for word in group.split()
}
_MARKS_ZH = (
    "从|到|把|将|给|比|对|代替|换成|改成|改为|换为|替换|取代|变成|迁移到|而不是|而非|被|由|在|用|向|为|前|之前|"
    "以前|后|之后|先"
)
_JOINS = frozenset("and or but while whereas so because then nor plus although".split())
_PERSONS = frozenset(
    "guest guests caller callers visitor visitors i we you user users customer customers client clients person "
    "agent assistant they he she somebody someone".split()
)
_ONES = frozenset("one ones thing things something any anything anyone anybody".split())
_GLUE = frozenset(CANONICAL.get(word, stem(word)) for word in GLUE) | GLUE
REPORTS = frozenset(
    CANONICAL.get(word, stem(word)) for word in "want ask say use show set get make be have go need work keep".split()
)
_GUARDWORDS = frozenset(
    word for english, _ in GUARDS.values() for word in english.split("|") if re.fullmatch("[a-z]+", word)
) - frozenset("required requires insists once while".split())
_KINDS_ZH = (
    dict.fromkeys(GLUE_ZH.split("|"), "glue")
    | dict.fromkeys(CANONICAL_ZH, "same")
    | dict.fromkeys(_MARKS_ZH.split("|"), "mark")
    | dict.fromkeys("和 与 及 或 并且 以及 而且 但是 但".split(), "join")
    | dict.fromkeys("我 我们 你 你们 您 用户 客户 助手 对方".split(), "person")
    | dict.fromkeys("里 中 上 内 里面 当中".split(), "within")
    | dict.fromkeys("不 没 无 勿 别 非 未 不要 不想 不用 不准 不得 没有".split(), "not")
)
_CHINESE = re.compile(
    rf"(?P<guard>{'|'.join(chinese for _, chinese in GUARDS.values())})"
    rf"|{'|'.join(sorted(_KINDS_ZH, key=len, reverse=True))}|."
)
_PIECE = re.compile(
    rf"(?P<sealed>[\ue000-\uefff])|(?P<joint>{_JOINT.pattern})|(?P<hard>{IDENTIFIER.pattern})"
    rf"|(?P<option>(?<!\S)--?[A-Za-z][\w-]*)|(?P<number>{NUMBER.pattern})|(?P<cjk>[{CJK}]+)"
    rf"|(?P<word>[^\W_{CJK}]+(?:'[^\W\d_]+)?)",
)
_UNIT = re.compile(r"(?<=\d)(?=(?:am|pm|[kmgt]i?b|ms|s|min|h|x|px|k)\b)", re.IGNORECASE)
_WANTS = frozenset("want wants wanted need needs asked asks requires required expects".split())
_PHRASE = {
    "instead of": "instead",
    "rather than": "instead",
    "in place of": "instead",
    "pull request": "PR",
    "pull requests": "PRs",
    "merge request": "MR",
    "merge requests": "MRs",
}
_PHRASES = re.compile(rf"\b(?:{'|'.join(sorted(_PHRASE, key=len, reverse=True))})\b", re.IGNORECASE)
_CLITIC = re.compile(r"'(?!t\b)[a-z]+$")
_COMPOSED = re.compile(r"[\d_./@\\]")
_PARTICIPLES = frozenset("cut put set read hit shut split cost run become come hurt".split())
_BE = frozenset("be been being is are was were get gets got getting".split())
WORDS = ("word", "hard", "sealed", "glue")
"""Kinds of token that stand for something."""


_PARTS = re.compile(
    rf"{SENTENCE.pattern}|{_JOINT.pattern}|\b(?:and|but|whereas|although|because|so that|while|which)\b|(?:并且|"
    rf"但是?|而且|因为|所以)"
)


@dataclass(frozen=True)
class Token:
    """One word, name, number or mark of a text.

    `kind` is word, hard (a name or number), sealed (a literal as one sign), glue (a word that says little), mark (from,
    to, 把), join (and, a comma), person or not. `passive` marks a verb whose object comes first.
    """

    key: str
    kind: str
    cjk: bool = False
    passive: bool = False

    @property
    def weighs(self) -> bool:
        """True for a word that says something of its own, be it as plain as "change"."""
        return self.tells or (self.kind == "glue" and not self.cjk and self.key not in REPORTS)

    @property
    def tells(self) -> bool:
        return self.kind in ("word", "hard", "sealed")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a quote: which quote, its text and its tokens."""

    quote: int
    text: str
    tokens: tuple[Token, ...]
    keys: frozenset[str]


@kept(2048)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text that `normal` has been over; of one that is said over and over, two."""
    made: list[Token] = []
    for token in _tokens(_UNIT.sub(" ", text)):
        if made[-2:] != [token, token]:
            made.append(token)
        if len(made) == MOST_TOKENS:
            break
    return tuple(made)


def _tokens(text: str) -> Iterator[Token]:
    text = _PHRASES.sub(lambda match: _PHRASE[match.group().casefold()], text)
    before = ""
    wanted = False
    for match in _PIECE.finditer(text):
        found, kind = match.group(), match.lastgroup
        if kind == "sealed":
            yield Token(found, "sealed")
        elif kind == "joint":
            yield Token(",", "join")
        elif kind == "cjk":
            yield from _chinese(found)
        elif kind == "number":
            yield Token(plain_number(found), "hard")
        elif kind == "option":
            yield Token(found, "hard")
        else:
            found = found.strip(EDGE) or found
            wanted = wanted or found.casefold() in _WANTS
            yield from _word(found, before, wanted)
            before = before if found.casefold().endswith("ly") else found.casefold()


def _word(found: str, before: str, wanted: bool) -> Iterator[Token]:
    word = _CLITIC.sub("", found.casefold())
    if is_negation(word):
        yield Token("not", "not")
    elif word in _PERSONS:
        yield Token("person", "person")
    elif word in _MARKS:
        yield Token(_MARKS[word], "mark")
    elif word in _JOINS:
        yield Token("and", "join")
    elif word in STOP or word in _GUARDWORDS or word in _ONES:
        return
    elif SPOKEN.get(word, "0") != "0":
        yield Token(SPOKEN[word], "hard")
    else:
        base = IRREGULAR.get(word, word)
        key = CANONICAL.get(base) or CANONICAL.get(stem(base)) or _root(stem(base))
        kind = "glue" if base in GLUE or key in _GLUE else "hard" if _COMPOSED.search(found) else "word"
        yield Token(key, kind, passive=_passive(word, base, before, wanted))


def _passive(word: str, base: str, before: str, wanted: bool) -> bool:
    """True for "is called", and for "wants it called" and "wants it to call", where the object comes first too."""
    participle = base != word or word.endswith("ed") or word in _PARTICIPLES
    return (participle and (before in _BE or wanted)) or (wanted and before == "to")


def _root(stemmed: str) -> str:
    """The stem without the commonest endings that make a noun of a verb, so that "renewal" and "renew" meet."""
    for ending in ("ment", "al", "ion", "er"):
        if stemmed.endswith(ending) and len(stemmed) - len(ending) >= 5:
            return stemmed[: -len(ending)]
    return stemmed


def _chinese(run: str) -> Iterator[Token]:
    made: list[Token] = []
    place = 0
    while place < len(run):
        value, end = cjk_number(run, place)
        if value is not None:
            made.append(Token(value, "hard"))
            place = end
            continue
        match = _CHINESE.match(run, place)
        found = match.group() if match else run[place]
        place += len(found)
        kind = "guard" if match and match["guard"] else _KINDS_ZH.get(found, "word")
        if kind == "within" and made and made[-1].kind in ("word", "hard"):
            first = next((n for n in range(len(made), 0, -1) if made[n - 1].kind not in ("word", "hard")), 0)
            if first == 0 or made[first - 1].kind != "mark":
                made.insert(first, Token("在", "mark"))
        elif kind == "same":
            made.append(Token(CANONICAL_ZH[found], "glue", cjk=True))
        elif kind in ("not", "join", "person"):
            made.append(Token("and" if kind == "join" else kind, kind))
        elif kind in ("mark", "word", "within"):
            made.append(Token(found, "word" if kind == "within" else kind, cjk=True))
    yield from made


@kept(512)
def sentences(quote: str) -> tuple[tuple[str, tuple[Token, ...]], ...]:
    """The sentences of a quote with their tokens."""
    parts, start = [], 0
    for end in SENTENCE.finditer(quote):
        parts.append(quote[start : end.end()])
        start = end.end()
    return tuple((part, found) for part in (*parts, quote[start:]) if (found := tokens(part)))


class Sources:
    """The sentences of the quotes, found by their words."""

    def __init__(self, quotes: Sequence[str]) -> None:
        self.all = [
            Sentence(number, text, found, frozenset(token.key for token in found if token.kind in WORDS))
            for number, quote in enumerate(quotes)
            for text, found in sentences(quote)
        ]
        self._by_key: dict[str, list[int]] = {}
        for place, sentence in enumerate(self.all):
            for key in sentence.keys:
                self._by_key.setdefault(key, []).append(place)

    def has(self, key: str) -> bool:
        return key in self._by_key

    def nearest(self, clause: Sequence[Token]) -> list[Sentence]:
        """The sentences that share most words with the clause, telling words first."""
        score: dict[int, float] = {}
        for token in {token.key: token for token in clause}.values():
            for place in self._by_key.get(token.key, ()):
                score[place] = score.get(place, 0) + (1.0 if token.tells else 0.3)
        ranked = sorted(score, key=lambda place: (-score[place], place))
        return [self.all[place] for place in ranked[:NEAREST]]


def clauses(text: str) -> Iterator[tuple[str, tuple[Token, ...]]]:
    """The clauses of a wording with their tokens."""
    for part in _PARTS.split(text):
        found = tokens(part)
        if found:
            yield part, found
