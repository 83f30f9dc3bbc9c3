"""Whether one of two statements says all that the other says, where agents tell one rule to person after person."""

from __future__ import annotations

import re
from functools import lru_cache

from .phrases import Phrase, Token, parse
from .synonyms import base, holder

MOST_MORE = 6
"""How many telling words the longer of two statements may have more than the shorter."""

_FRAME = frozenset(
    base(word)
    for word in "policy restriction rule strict term condition requirement typical typically usual usually general "
    "generally normally standard automatically quite very directly separately simply eligible willing open either "
    "back".split()
)
"""Words that a rule is told with, whatever it is about."""
_TAIL = re.compile(
    r"[,;]?\s+\(?(?:which (?:also )?includ|includ|such as|e\.g|i\.e|for (?:example|instance)|even (?:if|with|when|for)|"
    r"regardless of|due to|as per|per (?:the|our)|under (?:the|our)|in (?:line|accordance) with|according to|"
    r"in the form|from the|based on|as (?:it|they) (?:is|are)|because (?:it|they) (?:is|are)|once (?:it is )?"
    r"\w+ed\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_OF_CASE = re.compile(r"^if (?:the|a|an) \w+ (?:is|was) (?:(?:in|on|for|under|of) )?", re.IGNORECASE)
_PURPOSE = re.compile(r"\s+for (?:the|any|all|this|my|these|such) [\w -]{1,40}$", re.IGNORECASE)
_BOUND = re.compile(
    r"\b(?:only|must|ha(?:s|ve) to|need(?:s|ed)? to|requires?|required|shall|typically|usually|generally|normally|"
    r"always)\b|只|必须|须",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:as an?|if|for|when|since|with|without|on|in|once|unless|after|before|during) [^,]+,", re.IGNORECASE
)
"""For whom or when something holds."""
_OR = re.compile(r"\b(?:or|nor)\b|或", re.IGNORECASE)
_ONE = {base(word): base("one") for word in ("single", "sole")}
_TURNING = frozenset(("NOT", "CAN", "ONLY", "IF", "OPTIONAL"))


@lru_cache(maxsize=1 << 12)
def essence(text: str, owned: bool) -> Phrase:
    """The phrase of a statement without examples and grounds at its end; of somebody's wish, without what it is for."""
    text = _OF_CASE.sub("if it is ", _TAIL.sub("", text.strip(" .!")), count=1)
    if owned and any(char.isdigit() for char in text):
        text = _PURPOSE.sub("", text)
    return parse(text)


def matter(phrase: Phrase) -> frozenset[str]:
    """The telling words of a rule."""
    return frozenset(token.name for token in phrase.tokens if _tells(token))


def restates(one: str, two: str, owned: bool) -> bool:
    """True if all that one statement says is in the other, and what the other says beside it narrows nothing.

    Both must bind ("must", "can only") or neither; what is denied must be the same word, and bounds, exceptions and
    numbers the same. A word that only one has may not stand before a shared one: "basic economy" is not "economy".
    """
    first, second = essence(one, owned), essence(two, owned)
    mine, yours = matter(first), matter(second)
    if len(mine) > len(yours):
        one, two, first, second, mine, yours = two, one, second, first, yours, mine
    if not mine or not mine <= yours or len(yours - mine) > MOST_MORE:
        return False
    if bool(_BOUND.search(one)) is not bool(_BOUND.search(two)):
        return False
    if not _turned_alike(first, second, yours - mine, two, owned):
        return False
    lead = _LEAD.match(two)
    if lead and not matter(parse(_OF_CASE.sub("", lead.group()))) <= mine:
        return False
    denied = any(turn == "NOT" for turn, _ in first.turns)
    if len(mine) < 2 and not denied:
        return False
    anaphor = re.match(r"the \w+ (?:is|are|can|must|will)\b", one, re.IGNORECASE) is not None
    return anaphor or not _narrows(first, second)


def resembles(one: str, two: str, owned: bool) -> bool:
    """True if one statement has all that carries the other, and at most as much again: it may say more, or less.

    Looser than `restates`: for what must rather not be said than be said again. Numbers and denials are not looked at;
    where both name a bound ("before", "until") it must be the same.
    """
    first, second = essence(one, owned), essence(two, owned)
    bounds = [{turn for turn, _ in each.turns if turn not in _TURNING} for each in (first, second)]
    mine, yours = sorted(({_ONE.get(name, name) for name in matter(each)} for each in (first, second)), key=len)
    alike = len(mine) >= 2 and mine <= yours and len(yours) <= 2 * len(mine)
    return alike and (not all(bounds) or bounds[0] == bounds[1])


def _tells(token: Token) -> bool:
    return not token.weak and token.name not in _FRAME and not (token.head and holder(token.name))


def _turned_alike(short: Phrase, long: Phrase, more: frozenset[str], text: str, owned: bool) -> bool:
    """True if both have the same bounds, and the longer, which reads `text`, denies no less of what both say."""
    bounds = [{turn for turn in each.turns if turn[0] not in _TURNING} for each in (short, long)]
    if {turn for turn, _ in bounds[0]} != {turn for turn, _ in bounds[1]}:
        return False
    mine, yours = ({head for turn, head in each.turns if turn == "NOT"} for each in (short, long))
    spread = _OR.search(text) is not None and mine <= {token.name for token in long.tokens}
    known = mine <= yours or (owned and yours <= more) or spread
    return bool(mine) is bool(yours) and known and (yours - mine) <= more | {""}


def _narrows(short: Phrase, long: Phrase) -> bool:
    """True if a word that only the longer one has stands right before one of both, and is not what is denied."""
    known = short.names | _FRAME | {head for _, head in long.turns}
    holders = {holder(name) for name in short.names} - {""}
    pairs = zip(long.tokens, long.tokens[1:], strict=False)
    return any(
        not (before.head or before.weak)
        and before.name not in known
        and after.name not in _FRAME
        and (after.name in short.names or holder(after.name) in holders)
        for before, after in pairs
    )
