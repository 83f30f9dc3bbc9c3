"""What a statement says of an older one: that it holds no longer."""

from __future__ import annotations

import re
from functools import lru_cache

from ..governance.wording import CLAUSE, normal
from .comparing import STATEMENTS, Said
from .phrases import parse

_OVER = re.compile(
    r"\b(?:deprecated|obsolete|history|retired|discontinued|abandoned|decommissioned|turned off|out of date)\b"
    r"|废弃|停用|作废|下线|淘汰|过时|关闭了|弃用",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"\b(?:not|instead of|rather than|no longer|no more|never)\b|n't\b|不再|不是|而不是|不要|别用|不用|代替"
)
_AGAIN = re.compile(
    r",?\s*\b(?:(?:like|as) (?:i|we)(?:'ve| have)? (?:already )?(?:said|told you|mentioned)"
    r"(?: (?:before|earlier|already))?|as (?:always|usual|before)|same as (?:before|always|last time)"
    r"|i(?:'ve| have)? (?:already )?told you(?: that)?)\b"
    r"|(?:我)?(?:之前|以前|上次|早就)?说过(?:了|的)?|老规矩|老样子|照旧|和(?:之前|上次|以前)一样|跟(?:之前|上次|以前)一样",
    re.IGNORECASE,
)
LEAST = 2
"""How many telling words a repetition must have for it to be clear of what."""


def overrules(new: Said, old: Said) -> bool:
    """True if the new text denies what the old one says and gives something else instead.

    All that the old text affirms first stands in the new one, part of it only as denied: "use pnpm, not npm" overrules
    "we use npm", and "query lake, prod is no longer updated" overrules "query prod, not dev".
    """
    if not denies(new) or new.owner != old.owner or old.kind not in STATEMENTS:
        return False
    affirmed, denied = _sides(new.text)
    if not affirmed or not denied & old.phrase.names:
        return False
    held = _main(old.text)
    return bool(held & denied) and held <= affirmed | denied and bool(affirmed - held)


def denies(text: Said) -> bool:
    """True if a statement says of something that it is not, or no longer, so."""
    return text.kind in STATEMENTS and bool(_TURN.search(text.plain) or _OVER.search(text.plain))


@lru_cache(maxsize=1 << 12)
def _sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The telling words that a text affirms, and those that it only denies."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in _clauses(text):
        before, turn, after = _turned(clause)
        names = {token.name for token in parse(before).tokens if not token.weak}
        (denied if _OVER.search(clause) else affirmed).update(names)
        if turn:
            denied.update(token.name for token in parse(after).tokens if not token.weak)
    return frozenset(affirmed), frozenset(denied - affirmed)


@lru_cache(maxsize=1 << 12)
def _main(text: str) -> frozenset[str]:
    """The telling words of the first clause that affirms any."""
    parts = (_turned(clause)[0] for clause in _clauses(text))
    found = (frozenset(token.name for token in parse(part).tokens if not token.weak) for part in parts)
    return next((names for names in found if names), frozenset())


def _clauses(text: str) -> list[str]:
    return CLAUSE.split(normal(text).replace("，", ","))


def refers_back(text: Said) -> bool:
    """True if a statement says of itself that it was said before."""
    return text.kind in STATEMENTS and bool(_AGAIN.search(text.text))


def repeats(new: Said, old: Said) -> bool:
    """True if the new text says of itself that it was said before, and has no telling word that the old one lacks."""
    if new.owner != old.owner or old.kind not in STATEMENTS or not refers_back(new):
        return False
    own = parse(_AGAIN.sub(" ", new.text))
    names = frozenset(token.name for token in own.tokens if not token.weak)
    return len(names) >= LEAST and names <= old.phrase.names and set(own.turns) <= set(old.phrase.turns)


def _turned(clause: str) -> tuple[str, str, str]:
    """A clause before and after its denial; one that is denied as a whole has nothing before."""
    match = _TURN.search(clause)
    if not match:
        return clause, "", ""
    if match.group() in ("not", "instead of", "rather than", "而不是", "不是", "代替"):
        return clause[: match.start()], match.group(), clause[match.end() :]
    return "", match.group(), f"{clause[: match.start()]} {clause[match.end() :]}"
