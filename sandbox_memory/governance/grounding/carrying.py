"""Whether one sentence of the quotes, or several that belong together, has the words of a clause."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .acts import FIRST_PERSON, introduced
from .alignment import Match, match, role
from .tokenizing import Sentence, Sources, Token

MOST_NEW = 2
"""How many telling words of a clause must be a sentence's own before it may bring along one that is not."""


def carried(
    clause: Sequence[Token], known: Sources, everywhere: Collection[str], sources: Sequence[str]
) -> tuple[str | None, list[Sentence]]:
    """Why no quote carries the clause, and the sentences that it was made from."""
    tells = [place for place, token in enumerate(clause) if token.tells]
    matches = [match(clause, sentence) for sentence in known.nearest(clause)]
    sound = [found for found in matches if found.why is None and found.anchors]
    covered, used = _linked(clause, sound)
    if (
        not used
        and matches
        and any(token.weighs for token in clause)
        and all(token.kind != "sealed" for token in clause)
    ):
        return matches[0].why, used
    if (
        not matches
        and tells
        and all(clause[place].kind == "word" and clause[place].key not in everywhere for place in tells)
    ):
        return "the quotes are about something else", used
    if not tells:
        return None, used
    there = covered | {place for found in sound if found.sentence in used for place in found.anchors}
    missing = [place for place, token in enumerate(clause) if token.weighs and place not in there]
    missing = [place for place in missing if clause[place].kind != "sealed"]
    for place in missing:
        key = clause[place].key
        if not known.has(key) or (clause[place].kind == "hard" and any(introduced(key, source) for source in sources)):
            continue
        if clause[place].tells or all(token.kind != "sealed" for token in clause):
            return next((found.why for found in matches if found.why), None) or "it joins what two quotes say", used
    novel = [place for place in missing if clause[place].tells and clause[place].key not in everywhere]
    left = any(found.left for found in sound if found.sentence in used[:1])
    hangs = [place for place in novel if role(clause, place) or clause[place - 1 if place else 0].kind == "not"]
    named = novel[:1] == [0] and any(_by_a_person(sentence) for sentence in used)
    if len(novel) > 1 or (novel and (left or hangs or named or len(covered) < MOST_NEW)):
        return f"no quote has {clause[novel[0]].key!r}", used
    return None, used


def _by_a_person(sentence: Sentence) -> bool:
    return FIRST_PERSON.search(sentence.text) is not None or sentence.tokens[0].kind == "person"


def _linked(clause: Sequence[Token], sound: Sequence[Match]) -> tuple[set[int], list[Sentence]]:
    """The words of the clause that one sentence has, or several that share words of it; and these sentences."""
    telling = {
        found.sentence: {p for p in found.anchors if clause[p].kind in ("word", "hard")} or set(found.anchors)
        for found in sound
    }
    ranked = sorted(telling, key=lambda sentence: -sum(clause[p].kind in ("word", "hard") for p in telling[sentence]))
    covered: set[int] = set()
    used: list[Sentence] = []
    for _ in range(2):
        for sentence in ranked:
            own = telling[sentence]
            if sentence not in used and (not covered or (own & covered and own - covered)):
                covered |= own
                used.append(sentence)
    return covered, used
