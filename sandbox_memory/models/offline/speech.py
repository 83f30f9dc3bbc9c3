"""What a message tells for later: the parts of its sentences that outlast the run, and what kind each is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...governance.speech import passing, stated, wishes
from ...governance.speech.clauses import Clause, bare, joined, trimmed
from ...governance.speech.sentences import LONG, PLAIN, Sentence, shortened, size
from ...governance.speech.whole import is_whole, stands_alone
from ...records import Kind
from ...rollouts import is_document
from . import facts
from .sentences import own_words

SENTENCE, CHARACTERS = 160, 4_000
"""Words and characters above which something between two full stops is no sentence."""
EDGE = 3
"""How many sentences at either end of a document may be its sender's own words."""
FIRM = 4
"""Strength of what is said in so many words to hold for good."""

_CJK = re.compile("[\u3400-\u9fff]")
_IF = re.compile(r"(?:if|when|then|otherwise)\b", re.IGNORECASE)
_NEW_TURN_ZH = re.compile(r"^(?:我|你|您|另外|还有|对了|顺便|请问|帮|再|把)")
_ANNOUNCES = re.compile(
    r"\b(?:remember|note|keep in mind|from now on|going forward|(?:my|our) (?:\w+ ){0,2}(?:rules|preferences|"
    r"conventions|guidelines|habits|defaults)|(?:ground|house) rules|"
    r"for (?:the )?future)\b[^.]*[:：]$|(?:记住|牢记|以后|今后|偏好|习惯|规矩|约定|惯例|口径)[^。]*[:：]$",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?:as|like) (?:i|we)(?:'ve| have)? (?:said|told|mentioned|explained)|as (?:always|usual|before)|"
    r"same as (?:before|always)|(?:还是)?老(?:规矩|样子)|(?:之前|上次)(?:说|讲|提)过|我说过|照旧",
    re.IGNORECASE,
)
"""How somebody opens what they said before."""
_ADVERBIAL = re.compile(
    r"(?:for|in|on|at|with|from|by|during|as of|within|to|after|before|when|whenever|if|unless|once|because|"
    r"since)\b[^,，]{1,120}[,，]\s*",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"(?:please )?(?:don't|do not|never|avoid|no)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"(?:use|take|put|go|ask|call|write|send|post|do|open|try|choose)\b", re.IGNORECASE)
_EXCEPT = re.compile(r"(?:never|always|only|not)(?: \S+){1,3}", re.IGNORECASE)
_TELLS = re.compile(
    r"(?!(?:always|never|only|don't|do not|make|keep|use|ask|let|please|avoid)\b)[^,]{1,80}?\b(?:is|are|was|were|"
    r"has|have|must|cannot|can't|can|will|won't|needs?|goes|uses|doesn't|don't)\b",
    re.IGNORECASE,
)
_NAMED_ZH = re.compile(r"的|[A-Za-z0-9]")
_FIRMLY = re.compile(r"\b(?:always|never|only|must|no longer)\b|必须|只能|不再|停用|作废", re.IGNORECASE)
_PERSON = re.compile(r"(?:she|he|they|we)\b", re.IGNORECASE)
_AT_WORK = re.compile(r"(?:i'm|i am|we're|we are|i have|we have)\b", re.IGNORECASE)
_JOINS = re.compile(
    r"^(?:(?:new|old|other|the \w+) ones|it|its|they|their|them|this|that|these|those|he|she|his|her|它|他|她|这|那)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Told:
    """One thing that was told: its words in the message, its kind, how strongly (2 to 6), and what it is about.

    `own` is true if the speaker speaks of themselves in it, `alone` if it can be read without what stands before it.
    """

    part: Sentence
    kind: Kind
    score: int
    subject: str = ""
    own: bool = False
    alone: bool = True


@dataclass(frozen=True)
class _Unit:
    """Clauses that hang together: where they stand in the sentence, and what they tell.

    `now` if that is only for this once, because it is a request (`asks`), says so (`once`), or else. `firm` if it is
    more than what a request beside it needs: a rule, a wish, or a correction.
    """

    start: int
    end: int
    joint: str = ""
    kind: Kind | None = None
    score: int = 0
    now: bool = False
    subject: str = ""
    alone: bool = True
    asks: bool = False
    once: bool = False
    firm: bool = False

    @property
    def kept(self) -> bool:
        return self.kind is not None


def is_sentence(text: str) -> bool:
    """True for what somebody could have said in one breath."""
    return len(text) <= CHARACTERS and size(text) <= SENTENCE


def told(message: str) -> list[Told]:
    """What the message tells for later, in its order; of a document only what its sender says firmly at its edges."""
    document = is_document(message)
    own = list(own_words(message))
    if document and len(own) > 2 * EDGE:
        own = own[:EDGE] + own[-EDGE:]
    own = [sentence for sentence in own if is_sentence(sentence.text)]
    if any(passing.is_unrecorded(sentence.text.translate(PLAIN)) for sentence in own):
        return []
    found: list[Told] = []
    listed = False
    for place, sentence in enumerate(own):
        before = own[place - 1] if place else None
        listed = listed and "\n\n" not in message[(before or sentence).end : sentence.start]
        for heard in _sentence(sentence, listed):
            each = _completed(heard, before, message)
            if each is not None:
                found = [other for other in found if other.part.end <= each.part.start] + [each]
        listed = listed or bool(_ANNOUNCES.search(sentence.text.translate(PLAIN).strip()))
    if document:
        found = [each for each in found if each.score >= FIRM and each.own]
    return found


def _completed(each: Told, before: Sentence | None, message: str) -> Told | None:
    """With the sentence before it if it points to that one; None for what cannot be read alone nor so."""
    if each.alone:
        return each
    person = each.kind is Kind.EPISODE and _PERSON.match(each.part.text) is not None
    if before is None or not _JOINS.match(each.part.text.translate(PLAIN)):
        return each if person else None
    start = before.start + bare(before.text.translate(PLAIN)).start
    first = before.text.translate(PLAIN)[start - before.start :]
    whole = Sentence(message[start : each.part.end], start)
    if size(whole.text) > LONG or "\n\n" in whole.text or size(first) < 3 or not _introduces(first):
        return each if person else None
    return replace(each, part=whole, subject="")


def _introduces(text: str) -> bool:
    """True for a sentence that may be kept for the sake of the one after it."""
    if passing.is_request(text) or passing.is_question(text) or passing.is_private(text) or passing.is_unsure(text):
        return False
    return stands_alone(text) and (_AT_WORK.match(text) is not None or not passing.is_for_now(text))


def _sentence(sentence: Sentence, listed: bool) -> Iterator[Told]:
    plain = sentence.text.translate(PLAIN)
    asked = once = False
    for unit in _units(plain, listed):
        asked = asked or unit.asks
        once = once or unit.once
        if unit.kind is None or (asked and not unit.firm) or (once and unit.score < FIRM):
            continue
        opened = bare(plain, unit.start)
        end = trimmed(plain, opened.start, unit.end)
        part = shortened(sentence.part(opened.start, end), LONG)
        core = part.text.translate(PLAIN)
        if not is_whole(core):
            continue
        yield Told(part, unit.kind, unit.score, unit.subject, wishes.speaks(core), unit.alone)


def _units(plain: str, listed: bool) -> list[_Unit]:
    chinese = _CJK.search(plain) is not None
    parts = joined(plain)
    judged = [_judged(plain, clause, listed, clause is parts[-1]) for clause in parts]
    units: list[_Unit] = []
    for unit in judged:
        last = units[-1] if units else None
        if last is not None and _goes_on(plain, last, unit, chinese):
            first = last if last.kept else unit
            kind, score = (first.kind, max(last.score, unit.score))
            if last.kept and unit.kept and unit.kind is Kind.FACT and last.kind is Kind.PREFERENCE:
                kind = Kind.PREFERENCE
            units[-1] = replace(
                last,
                end=unit.end,
                kind=kind,
                score=score,
                subject=last.subject or unit.subject,
                firm=last.firm or unit.firm,
            )
        else:
            units.append(unit)
    return units


def _goes_on(plain: str, last: _Unit, unit: _Unit, chinese: bool) -> bool:
    """True if a part of a sentence belongs to the part before it: its reason, its example, or more of the same."""
    text = plain[bare(plain, unit.start).start : unit.end]
    if last.kept and unit.asks and not unit.joint and _REFUSES.match(plain[bare(plain, last.start).start :]):
        return _INSTEAD.match(text) is not None
    if last.asks and unit.kept and not unit.joint:
        return _EXCEPT.fullmatch(text.strip(" .!。")) is not None
    if last.now or unit.now or not (last.kept or unit.kept):
        return False
    if not stands_alone(text):
        return last.kept or _JOINS.match(text) is not None
    if unit.kept and not last.alone:
        return False
    if chinese:
        if _NEW_TURN_ZH.match(plain[unit.start :]) or bare(plain, unit.start).memo:
            return False
        if not last.kept:
            return not _NEW_TURN_ZH.match(plain[bare(plain, last.start).start :])
        return not (unit.kept and _NAMED_ZH.search(stated.subject_of(text)))
    if unit.joint in ("and", "but") and _IF.match(text):
        return True
    if not last.kept:
        return False
    return not (last.subject and unit.subject and unit.kept)


def _judged(plain: str, clause: Clause, listed: bool, last: bool) -> _Unit:
    unit = _Unit(clause.start, clause.end, clause.joint)
    opened = bare(plain, clause.start)
    whole = plain[clause.start : clause.end].strip()
    core = plain[opened.start : trimmed(plain, opened.start, clause.end)].strip()
    if not core:
        return replace(unit, now=True)
    framed = opened.memo or opened.lasting or listed
    unit = replace(unit, alone=stands_alone(core), subject=stated.subject_of(core))
    if facts.landed(core) and not passing.is_unsure(whole) and not passing.is_private(whole):
        return replace(unit, kind=Kind.EPISODE, score=3, firm=True)
    question = passing.is_question(plain if last else whole)
    if passing.is_this_time(whole) and not framed:
        return replace(unit, now=True, once=True)
    if not (listed or opened.lasting) and passing.is_reminder(plain, clause.start, clause.end):
        return replace(unit, now=True, asks=True)
    if _passes(core, whole, framed) or (question and not (framed or _asks_for_good(core, plain, clause))):
        return replace(unit, now=True)
    main = _ADVERBIAL.sub("", core, count=1) if _ADVERBIAL.match(core) else core
    wish = max(wishes.strength(core), wishes.strength(main))
    fact = max(facts.strength(core), facts.strength(main))
    lasts = framed or wishes.lasts(core)
    asked_for_more = wish >= FIRM or wishes.limits(core) or _asks_for_most(core) or facts.corrects(core)
    if not framed and passing.is_request(core) and not asked_for_more:
        return replace(unit, now=True, asks=True)
    if fact and passing.is_of_the_day(core) and not framed:
        fact = 0
    if not lasts and (passing.is_soon(core) or (wish and not fact and passing.is_dated(core))):
        return replace(unit, now=True)
    if passing.is_of_the_day(core) and not lasts and not fact and not wishes.limits(core):
        return replace(unit, now=not passing.is_state(core))
    kind = Kind.PREFERENCE
    if not (opened.to_do or (opened.lasting and not fact)) and _is_fact(core, wish, fact, framed):
        kind = Kind.FACT
    if stated.says_where(core):
        kind = Kind.FACT
    if _AGAIN.search(whole) and max(wish, fact) < FIRM:
        return replace(unit, now=True)
    if framed:
        wish = max(wish, 1) + FIRM - 1
    if not wish and not fact:
        return unit
    firm = bool(wish) or facts.corrects(core) or _FIRMLY.search(core) is not None
    return replace(unit, kind=kind, firm=firm, score=min(max(wish, fact) + bool(wish and fact), 6))


def _passes(core: str, whole: str, framed: bool) -> bool:
    """True for what is private, a guess, or said for this time only."""
    if passing.is_private(whole) or (passing.is_unsure(whole) and not _WOULD_RATHER.search(core)):
        return True
    return passing.is_for_now(core) and not (framed and wishes.lasts(core))


_WOULD_RATHER = re.compile(r"^i (?:think|guess|believe) i(?:'d| would) (?:prefer|rather|like)\b", re.IGNORECASE)
_FOR_GOOD = re.compile(
    r"\b(?:always|never|every|each time|in (?:the )?future|from now on|stop \w+ing)\b|以后|每次|一律|总是",
    re.IGNORECASE,
)


def _asks_for_good(core: str, plain: str, clause: Clause) -> bool:
    """True for a polite question that asks for something once and for all."""
    asked = re.match(r"(?:also |and |please )*(?:can|could|would|will) you\b", plain[clause.start :], re.IGNORECASE)
    return bool(asked) and _FOR_GOOD.match(core) is not None


def _asks_for_most(core: str) -> bool:
    return wishes.picks(core) or wishes.orders(core) or wishes.generalises(core)


def _is_fact(core: str, wish: int, fact: int, framed: bool) -> bool:
    """True if it states how things are rather than what somebody wants."""
    if facts.corrects(core) and fact >= 3 and wish < FIRM:
        return True
    if _WANTS_SOMETHING.match(core):
        return False
    if passing.is_request(core):
        return False
    return bool(fact) or (framed and (_TELLS.match(core) is not None or (not wish and not _ORDERS.match(core))))


_WANTS_SOMETHING = re.compile(
    r"(?:i|we)(?:'d| would)?(?: \w+ly| also| just| do| still| really)* (?:always|never|usually|prefer|want|like|"
    r"love|hate|dislike|need|insist|don't|do not|won't|can't|cannot|only|'d|would|"
    r"am (?:open|willing|happy|fine|ok)|rarely|normally)\b|i'm (?:open|willing|happy|fine|ok)|"
    r"my (?:\w+ ){0,3}(?:preference|preferred|favou?rite|usual|budget|limit|rule|maximum)\b|"
    r"(?:always|never|only|don't|do not|avoid|use|make sure|keep|ask|answer|reply|write|run|please|if|when|"
    r"whenever|before|after|for|no|sign|stop|post|send)\b"
    r"|我们?[^，。]{0,6}(?:喜欢|讨厌|习惯|偏好|想|要|希望|不吃|不喝|不接受|只|宁愿)|我的?预算|(?:请|别|不要|都|先|要|只|用|写|千万|务必|一律|统一|尽量|优先|最好|每次|如果|"
    r"以后|图表|报)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"(?:\w+ly )?[a-z]+ (?:the|a|an|any|all|every|my|our|me|us|in|with|to|by|it|them|before|after|first)\b|"
    r"[a-z]+ \w+$|[a-z]+$",
    re.IGNORECASE,
)
