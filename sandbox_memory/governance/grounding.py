"""Whether quotes carry a text: every number, path, identifier and negation of it must be theirs, and all it claims.

A check of form, not of meaning: it lets no hard fact in that nobody said, no "not" out or in, no word put for another,
nothing made surer, more often, done, or somebody else's. What is left to a wording's author is the choice of plain
words, and most of those must be the quotes' too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from .acts import FIRST_PERSON, introduced, only_asked, only_wondered, other_doer
from .alignment import Match, match, role
from .claims import bounds, condition, dates, opposite, order, ranges, strength
from .tokenizing import Sentence, Sources, Token, clauses
from .wording import (
    CLAUSE,
    CODE,
    REACH,
    Word,
    content,
    identifiers,
    negated_heads,
    negates,
    normal,
    numbers,
    script,
    spoken_numbers,
    squeezed,
    stated,
    words,
)

SAME_CLAUSE = 0.5
"""Share of the words of a clause that a clause of a quote must have to count as what it was made from."""
MOST_NEW = 2
"""How many telling words of a clause must be a sentence's own before it may bring along one that is not."""


@dataclass(frozen=True)
class _Clause:
    words: tuple[Word, ...]
    content: frozenset[str]

    @property
    def firmly(self) -> bool:
        return any(word.negation == "firm" for word in self.words)

    @property
    def negations(self) -> int:
        return sum(1 for word in self.words if word.negation)


def ungrounded(text: str, quotes: Sequence[str], speakers: Sequence[str] = ()) -> str | None:
    """Why these quotes do not carry the text, or None if they do.

    `speakers` tells for each quote who says it: `user`, `agent`, or an empty text. Compared without regard to case (but
    that of code), typographic quotes, thousands separators and contractions. Takes time in proportion to the text and
    its quotes.
    """
    if not any(quote.strip() for quote in quotes):
        return "it has no quote"
    plain = normal(text)
    sources = [normal(quote) for quote in quotes]
    if any(_bare(plain) == _bare(source) for source in sources):
        return None
    for check in (_literals, _hard_words, _negations):
        why = check(plain, sources)
        if why:
            return why
    plain, sealed = _sealed(plain, sources)
    return (
        _translated(plain, sealed)
        or _order(plain, sealed)
        or _claims(plain, sealed, sources, [*speakers, *[""] * (len(sources) - len(speakers))])
    )


def _bare(text: str) -> str:
    return " ".join(text.split()).strip(" .!。！")


def _translated(text: str, sources: Sequence[str]) -> str | None:
    """A text in another language than what was said: nobody can hold its words against the quotes."""
    mine, theirs = ({script(source) for source in group} - {""} for group in ([text], sources))
    return "it is a translation of its quotes" if mine and theirs and not mine & theirs else None


def _claims(text: str, sources: Sequence[str], quotes: Sequence[str], speakers: Sequence[str]) -> str | None:
    """Each clause against the sentences that it was made from; `sources` are the quotes with sealed literals."""
    known, everywhere = Sources(sources), {key for sentence in Sources(quotes).all for key in sentence.keys}
    said = "\n".join(quotes)
    why = ranges(text, said)
    if why:
        return why
    common = False
    for part, found in clauses(text):
        why, used = _carried(found, known, everywhere, sources)
        texts = [sentence.text for sentence in used]
        why = (
            why
            or bounds(part, sources)
            or dates(part, said)
            or opposite(part, " ".join(texts))
            or strength(part, text, texts)
            or order(part, texts)
            or only_asked(part, texts)
            or only_wondered(part, texts)
            or other_doer(part, [(sentence.text, speakers[sentence.quote]) for sentence in used])
            or next((why for sentence in used[:1] if (why := condition(text, sentence.text))), None)
        )
        if why:
            return why
        common = common or bool(used)
    return _steps(text, known) if common else "the quotes are about something else"


_NAMING = ("word", "hard", "glue")
_IN_STEPS = re.compile(r"\bfirst\b.*\bthen\b|\bfirst\b[^.]*,|先.*(?:再|然后|之后|最后)", re.IGNORECASE | re.DOTALL)


def _steps(text: str, known: Sources) -> str | None:
    """What comes first, and what then, as a sentence has it."""
    if not _IN_STEPS.search(text):
        return None
    for sentence in known.all:
        if not _IN_STEPS.search(sentence.text):
            continue
        named = [token.key for token in sentence.tokens if token.kind in _NAMING]
        at = {key: place for place, key in enumerate(named) if named.count(key) == 1}
        places = [[at[token.key] for token in found if token.key in at] for _, found in clauses(text)]
        firsts = [min(found) for found in places if found]
        if firsts != sorted(firsts):
            return "the quote has the steps in another order"
    return None


def _sealed(text: str, sources: Sequence[str]) -> tuple[str, list[str]]:
    """Each literal of the text as one sign, there and where a quote has the same words: it is compared as a whole."""
    sealed = list(sources)
    for number, literal in enumerate(dict.fromkeys(stated(text))):
        sign = f" {chr(0xE000 + number % 0x1000)} "
        words = r"\s*".join(re.escape(word) for word in literal.split())
        pattern = re.compile(rf"[`\"「《]*(?<![A-Za-z0-9_]){words}(?![A-Za-z0-9_])[`\"」》]*", re.IGNORECASE)
        text = pattern.sub(sign, text)
        sealed = [pattern.sub(sign, source) for source in sealed]
    return text, sealed


def _carried(
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


def _literals(text: str, sources: Sequence[str]) -> str | None:
    together = "\n".join(squeezed(source) for source in sources)
    for literal in stated(text):
        bare = squeezed(literal)
        edges = [r"(?<!\d)" if bare[:1].isdigit() else "", r"(?!\d)" if bare[-1:].isdigit() else ""]
        if not re.search(re.escape(bare).join(edges), together):
            return f"no quote has the words {literal!r}"
    return None


def _hard_words(text: str, sources: Sequence[str]) -> str | None:
    known = {number for source in sources for number in numbers(source)}
    known |= {number for source in sources for number in spoken_numbers(source)}
    for number in (*numbers(text), *spoken_numbers(text)):
        if number not in known:
            return f"no quote has the number {number!r}"
    for name in identifiers(text):
        if not any(_stands(name, source) for source in sources):
            return f"no quote has {name!r}"
    return None


def _order(text: str, sources: Sequence[str]) -> str | None:
    """Two literals of one quote stand in the same order in the text: swapped, they say another thing."""
    for (one, first), (two, _) in pairwise((sign.group(), sign.end()) for sign in _SIGN.finditer(text)):
        shared = [(source.find(one), source.rfind(two)) for source in sources if one in source and two in source]
        turned = _FROM.match(text, first) is not None
        if one != two and shared and all((a > b) != turned for a, b in shared) and not _INSTEAD.match(text, first):
            return "the quote has the quoted words the other way round"
    return None


_PART = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
"""What a name goes on with."""
_SIGN = re.compile("[\ue000-\uefff]")
_FROM = re.compile(r"\W*(?:\w+ )?from\W")
_INSTEAD = re.compile(r"[^.;。；\ue000-\uefff]*(?:instead|rather|replac|not|代替|而不是|取代)", re.IGNORECASE)


def _stands(name: str, source: str) -> bool:
    """Where a name stands by itself; a number also inside a word, as in 11am. The case counts for names of code."""
    if not CODE.search(name):
        name, source = name.lower(), source.lower()
    number = name[0].isdigit() and name[-1].isdigit()
    ahead, behind = ("0123456789.", "0123456789") if number else (_PART, _PART)
    start = source.find(name)
    while start >= 0:
        end = start + len(name)
        if (start == 0 or source[start - 1] not in ahead) and (end == len(source) or source[end] not in behind):
            return True
        start = source.find(name, start + 1)
    return False


def _clauses(text: str) -> Iterator[_Clause]:
    for part in CLAUSE.split(text):
        found = tuple(words(part))
        if found:
            yield _Clause(found, content(found))


@lru_cache(maxsize=512)
def _known_clauses(source: str) -> tuple[_Clause, ...]:
    return tuple(_clauses(source))


def _negations(text: str, sources: Sequence[str]) -> str | None:
    """Each clause is held against the clauses of the quotes that it was most likely made from."""
    theirs = [clause for source in sources for clause in _known_clauses(source)]
    denied = _denied(theirs)
    for clause in _clauses(text):
        if not clause.content:
            continue
        for head in sorted(denied & clause.content):
            if not negates(clause.words, head):
                return f"the quotes only deny {head!r}"
        shares = [len(clause.content & other.content) / len(clause.content) for other in theirs]
        best = max(shares, default=0.0)
        if best < SAME_CLAUSE:
            if clause.firmly and not any(other.negations for other in theirs):
                return "it denies something that no quote denies"
            continue
        near = [other for other, share in zip(theirs, shares, strict=True) if share == best]
        whys = [_turned(clause, other) for other in near]
        if all(whys):
            return whys[0]
    return None


def _denied(clauses: Sequence[_Clause]) -> frozenset[str]:
    """Values that the quotes name only to deny them: 8080 in "8443, not 8080"."""
    values = {stem for clause in clauses for stem in clause.content if any(char.isdigit() for char in stem)}
    return frozenset(
        value for value in values if all(negates(clause.words, value) for clause in clauses if value in clause.content)
    )


def _turned(clause: _Clause, source: _Clause) -> str | None:
    """How the clause turns what the source clause says into its opposite, or None."""
    if source.firmly and not clause.negations:
        return "the quote has a negation that the text drops"
    if clause.firmly and not source.negations:
        return "it denies something that no quote denies"
    theirs = [head for head in negated_heads(source.words) if head in clause.content]
    if len(theirs) > clause.negations or not all(negates(clause.words, head, 2 * REACH) for head in theirs):
        return "the quote has a negation that the text drops"
    mine = [head for head in negated_heads(clause.words) if head in source.content]
    if len(mine) > source.negations or not all(negates(source.words, head) for head in mine):
        return "it denies something that no quote denies"
    return None
