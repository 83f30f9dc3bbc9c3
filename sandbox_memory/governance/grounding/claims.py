"""What a sentence claims beside its words: how strong, how sure, on which condition, in which order, when.

Each check compares one clause of a wording with the sentences that it was made from, and says what was changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lexicon import (
    CANONICAL,
    DAYS,
    MONTHS,
    OPPOSITES,
    SEQUENCE,
    guards,
    lemma,
)
from ..wording import CJK, STOP, kept

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
    found = {lemma(word) for word in re.findall(r"[^\W_]+", text.casefold()) if word not in STOP}
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


@kept(64)
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


_DATES = re.compile(rf"\b(?:{'|'.join([*MONTHS, *DAYS])})s?\b", re.I)


def dates(clause: str, said: str) -> str | None:
    """Names of days and months are the quotes' own."""
    known = said.casefold()
    for match in _DATES.finditer(clause):
        name = match.group().casefold().removesuffix("s")
        if name != "may" and name[:3] not in known:
            return f"no quote has {match.group()!r}"
    return None
