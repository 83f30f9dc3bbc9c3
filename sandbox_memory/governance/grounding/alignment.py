"""A wording held against the sentences that it was made from, word by word: what was put for what, moved or joined.

Both are matched in order, and judged by what stands between the matches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from ..lexicon import CANONICAL
from ..wording import SOFT, stem
from .tokenizing import REPORTS, WORDS, Sentence, Token

SHORT = 2
SHORT_CJK = 4
"""How many words, or Chinese characters, put for as few others are a word put for another."""

_LOOSE = frozenset("for in of as about with by via".split())
"""Marks of which a wording may take another, as in "the port of staging" and "the port for staging"."""
_PARTICLES = frozenset(("off", "out", "up", "down", "back", "away"))
_NOUNS = frozenset(("of", "for", "in"))
_SEQUENCE = frozenset(("first", "last", "final"))
_SOFT = frozenset(CANONICAL.get(stem(word), stem(word)) for word in SOFT | {"deny"})


@dataclass(frozen=True)
class Match:
    """How a clause stands against a sentence: which of its tokens the sentence has, and what is wrong."""

    sentence: Sentence
    anchors: frozenset[int]
    why: str | None
    left: bool
    """True if the part of the sentence that it is from has words that the clause leaves out."""


def match(clause: Sequence[Token], sentence: Sentence) -> Match:
    """The clause against one sentence."""
    mine, theirs = [token.key for token in clause], [token.key for token in sentence.tokens]
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    pairs = [(b.a + n, b.b + n) for b in blocks for n in range(b.size)]
    why = _wrong(clause, sentence, pairs)
    anchors = {a for a, _ in pairs if clause[a].kind in WORDS}
    anchors |= {place for place, token in enumerate(clause) if token.weighs and token.key in sentence.keys}
    return Match(sentence, frozenset(anchors), why, _left(sentence, {b for _, b in pairs}))


def _left(sentence: Sentence, theirs: set[int]) -> bool:
    for first, last in _segments(sentence.tokens):
        inside = range(first, last)
        if any(place in theirs and sentence.tokens[place].tells for place in inside) and any(
            place not in theirs and sentence.tokens[place].weighs for place in inside
        ):
            return True
    return False


def _segments(found: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The parts of a sentence between its joins."""
    start = 0
    for place, token in enumerate(found):
        if token.kind == "join":
            yield start, place
            start = place + 1
    yield start, len(found)


def _segment(found: Sequence[Token], place: int) -> tuple[int, int]:
    """Start and end of the part that a token is in."""
    first = next((n + 1 for n in range(place - 1, -1, -1) if found[n].kind == "join"), 0)
    return first, next((n for n in range(place, len(found)) if found[n].kind == "join"), len(found))


def _wrong(clause: Sequence[Token], sentence: Sentence, pairs: Sequence[tuple[int, int]]) -> str | None:
    telling = [pair for pair in pairs if clause[pair[0]].kind in WORDS]
    if not telling:
        return None
    edges = [(-1, -1), *telling, (len(clause), len(sentence.tokens))]
    for place, ((a, b), (c, d)) in enumerate(pairwise(edges)):
        between: Sequence[Token] = clause[a + 1 : c]
        skipped: Sequence[Token] = sentence.tokens[b + 1 : d]
        if place == 0:
            between, skipped = _after_join(between), _after_join(skipped)
        elif place == len(edges) - 2:
            between, skipped = _before_join(between), _before_join(skipped)
        edge = place in (0, len(edges) - 2)
        why = (
            _put_for(between, skipped, sentence.keys)
            or (None if edge and not _PARTICLES & _marks(skipped) else _marked_otherwise(between, skipped))
            or (None if edge or between else _leapt(skipped, role(sentence.tokens, b) if not role(clause, a) else ""))
        )
        if why:
            return why
    return (
        _denied(clause, sentence.tokens, pairs) or _turned(clause, sentence, pairs) or _moved(clause, sentence, pairs)
    )


def _after_join(found: Sequence[Token]) -> Sequence[Token]:
    last = max((place for place, token in enumerate(found) if token.kind == "join"), default=-1)
    return found[last + 1 :]


def _before_join(found: Sequence[Token]) -> Sequence[Token]:
    first = next((place for place, token in enumerate(found) if token.kind == "join"), len(found))
    return found[:first]


def _put_for(mine: Sequence[Token], theirs: Sequence[Token], known: Collection[str]) -> str | None:
    """A word that stands where the sentence has another; a literal of another quote is none."""
    new = [token for token in mine if token.kind in WORDS and (token.kind != "sealed" or token.key in known)]
    old = [token for token in theirs if token.kind in WORDS]
    alone = len(new) == len(old) == 1
    if not alone:
        new, old = [t for t in new if t.tells], [t for t in old if t.tells]
    elif (
        not (new[0].tells or (new[0].key not in REPORTS and not new[0].cjk))
        or old[0].key in new[0].key
        or (old[0].kind == "sealed" and new[0].kind == "glue")
    ):
        return None
    if new and not old and any(token.kind in ("mark", "join") for token in theirs) and _only_words(mine):
        return f"where the text has {_said(new)} the quote has another word"
    if not new or not old:
        return None
    if sorted(token.key for token in new) == sorted(token.key for token in old):
        return None
    short = SHORT_CJK if new[0].cjk else SHORT
    if len(new) <= short and len(old) <= (SHORT_CJK if old[0].cjk else SHORT):
        return f"where the text has {_said(new)} the quote has {_said(old)}"
    return None


def _only_words(found: Sequence[Token]) -> bool:
    return all(token.kind not in ("mark", "join", "not", "person") for token in found)


def _marks(found: Sequence[Token]) -> set[str]:
    return {token.key for token in found if token.kind == "mark"}


def _marked_otherwise(mine: Sequence[Token], theirs: Sequence[Token]) -> str | None:
    """Another word of relation between the same words: from for to, before for after."""
    new, old = ([token.key for token in found if token.kind == "mark"] for found in (mine, theirs))
    if not new or not old:
        return None
    for one, two in zip(new, old, strict=True) if len(new) == len(old) else [(new[-1], old[-1])]:
        if one != two and not _LOOSE.issuperset((one, two)) and {one, two} != {"over", "instead"}:
            return f"where the text has {one!r} the quote has {two!r}"
    return None


def _denied(clause: Sequence[Token], there: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> str | None:
    """A "not" stays with the word that it denies."""
    matched, back = dict(pairs), {b: a for a, b in pairs}
    for found, other, to, why in (
        (there, clause, back, "the quote has a negation that the text drops"),
        (clause, there, matched, "it denies something that no quote denies"),
    ):
        for place, token in enumerate(found):
            if token.kind != "not":
                continue
            _, end = _segment(found, place)
            after = range(place + 1, end)
            head = next((p for p in after if found[p].weighs or found[p].cjk), None)
            head = next((p for p in after if found[p].kind in WORDS), None) if head is None else head
            if head is None and found is there:
                first, _ = _segment(found, place)
                denials = sum(one.kind == "not" for one in found[first:end])
                if any(first <= b < end for b in back) and denials > sum(one.kind == "not" for one in clause):
                    return why
            if head is None or head not in to:
                continue
            first, _ = _segment(other, to[head])
            own = {one.key for one in found}
            before = other[first : to[head]]
            if not any(one.kind == "not" or (one.key in _SOFT and one.key not in own) for one in before):
                return why
    return None


def _said(found: Sequence[Token]) -> str:
    joint = "" if found and found[0].cjk else " "
    return repr(joint.join(token.key for token in found))


def _leapt(skipped: Sequence[Token], hung: str) -> str | None:
    """Words of two statements as if they were one: left out are the end of the first and the start of the second."""
    joins = [place for place, token in enumerate(skipped) if token.kind == "join"]
    if not joins:
        return None
    before = hung or any(token.weighs for token in skipped[: joins[0]])
    after = any(token.weighs for token in skipped[joins[-1] + 1 :])
    return "it joins what the quote says of different things" if before and after else None


def _moved(clause: Sequence[Token], sentence: Sentence, pairs: Sequence[tuple[int, int]]) -> str | None:
    """A telling word that stands elsewhere in the sentence, in another role."""
    there = sentence.tokens
    mine, theirs = {a for a, _ in pairs}, {b for _, b in pairs}
    loose = {
        token.key: place
        for place, token in enumerate(there)
        if place not in theirs and (token.weighs or token.key in _SEQUENCE)
    }
    for place, token in enumerate(clause):
        if place in mine or token.key not in loose:
            continue
        other = loose[token.key]
        if token.key in _SEQUENCE:
            first, last = _segment(there, other)
            if all(first <= b <= last for a, b in pairs if (a < place) != (b < other) and clause[a].tells):
                continue
        one, two = role(clause, place), role(there, other)
        if one == two and one and not (token.passive or there[other].passive):
            continue  # the whole phrase moved: "on Tuesdays we deploy"
        if _compound(one, two, place, other, pairs, there) or _compound(two, one, other, place, _back(pairs), clause):
            continue  # "the port of staging", "the staging port"
        jumped = [(a, b) for a, b in pairs if (a < place) != (b < other) and clause[a].kind in WORDS]
        if jumped and all(
            role(clause, a) == role(there, b) != "" and clause[a].passive == there[b].passive for a, b in jumped
        ):
            continue
        if _bent(clause, there):
            continue  # "the worker calls it", "it is called by the worker", "wants it called"
        return f"in the quote {token.key!r} has another place"
    return None


def _compound(
    one: str, two: str, place: int, other: int, pairs: Sequence[tuple[int, int]], there: Sequence[Token]
) -> bool:
    """True for a word that hangs on another by a mark here, and stands before it without any mark there."""
    if one not in _NOUNS or two or one in _marks(there):
        return False
    here, its = max((pair for pair in pairs if pair[0] < place), default=(-9, -9))
    return its > other and place - here <= 3 and its - other <= 2


def _back(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(b, a) for a, b in pairs]


def _bent(clause: Sequence[Token], there: Sequence[Token]) -> bool:
    """True if a verb is passive on one side only, and what it is done to is the same on both."""
    theirs = {token.key: place for place, token in enumerate(there) if token.kind in WORDS}
    for place, token in enumerate(clause):
        if token.kind not in WORDS or token.key not in theirs:
            continue
        other = theirs[token.key]
        if token.passive == there[other].passive:
            continue
        before, after = (clause[:place], there[other + 1 :]) if token.passive else (there[:other], clause[place + 1 :])
        done_to = next((one.key for one in after if one.weighs), None)
        if done_to is None or done_to in {one.key for one in before}:
            return True
    return False


def _turned(clause: Sequence[Token], sentence: Sentence, pairs: Sequence[tuple[int, int]]) -> str | None:
    """A verb made passive around words that stay where they are: who does it to whom is the other way round."""
    for (a, b), (c, d) in pairwise([pair for pair in pairs if clause[pair[0]].kind in WORDS]):
        if clause[a].passive != sentence.tokens[b].passive and "by" in {role(clause, c)} ^ {role(sentence.tokens, d)}:
            return "who does it to whom is the other way round in the quote"
    return None


def role(found: Sequence[Token], place: int) -> str:
    """The word before it that says what it is to the others, within its phrase."""
    for token in reversed(found[max(0, place - 3) : place]):
        if token.kind == "mark":
            return token.key
        if token.kind in ("join", "not", "person"):
            return ""
    return ""
