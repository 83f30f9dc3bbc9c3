"""What code decides about candidates without a model, where there is no doubt: said again, or another value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .governance.grounding import ungrounded
from .governance.wording import content, hard_words, meaning, normal, subject_key, words
from .known import Known
from .lexical import Index
from .records import Candidate, Evidence, Kind, Record, Trust
from .sameness import Said, same, topic

ALIKE = 12
"""How many of the texts most alike are compared in full."""
VALUED = (Kind.FACT, Kind.PREFERENCE)
"""Kinds of which a subject has one value at a time; of a lesson or a procedure there may be several."""
_OF_TIME = content(words("now currently today new newly changed moved already again anymore instead since"))
_LINKING = re.compile("现在|目前|已经|今天|如今|改为|改成|换成|变成|变为|[是为]")
"""Chinese words that link a subject and its value, or say since when: without blanks they would hide both."""


@dataclass(frozen=True)
class Waiting:
    """A candidate that is not decided yet.

    `turn` orders candidates by when they were said, oldest first. `repeated` is True if its quotes are from runs that
    were consolidated before, so that it may be older than what is known.
    """

    candidate: Candidate
    turn: tuple[int, ...]
    repeated: bool = False


@dataclass(frozen=True)
class Sure:
    """What code decided: that a candidate supports, or supersedes, the record with that id."""

    op: str
    candidate: Candidate
    record: str


@dataclass(frozen=True)
class Decided:
    """What is decided, what is left for a model, and what was said otherwise later."""

    sure: tuple[Sure, ...] = ()
    left: tuple[Waiting, ...] = ()
    outdated: tuple[Candidate, ...] = ()


def decide(waiting: Sequence[Waiting], known: Known, order: Callable[[str], tuple[int, ...]]) -> Decided:
    """Decide about candidates, given oldest first, as far as it is certain.

    Candidates that say the same become one, with the quotes of all; of two values of a subject the older is left out.
    `order` is the recency of a rollout.
    """
    heads, outdated = _latest(_joined(waiting, known), known)
    sure: list[Sure] = []
    left: list[Waiting] = []
    for each in heads:
        own = known.said(each.candidate)
        record = _said_already(each.candidate, own, known)
        if record is not None:
            sure.append(Sure("support", each.candidate, record.id))
            continue
        replaced = [r for r in known.about(each.candidate.subject) if new_value(known.said(r), own)]
        ages = {_is_newer(each, record, order) for record in replaced}
        if ages == {False} or _passed_over(each, known, order):
            outdated.append(each.candidate)
        elif ages == {True} and len(replaced) == 1 and _gives_way(replaced[0], each.candidate):
            sure.append(Sure("supersede", each.candidate, replaced[0].id))
        else:
            left.append(each)
    return Decided(tuple(sure), tuple(left), tuple(outdated))


def says_no_more(new: Said, old: Said) -> bool:
    """True if both say the same, and the new text has no word of meaning that the old one lacks.

    Of two lessons from the same error only what stands beside the error counts: its values are those of one time.
    """
    lost = new.content - old.content
    if new.fault and new.fault == old.fault:
        lost = frozenset(word for word in lost if not any(char.isdigit() for char in word))
    return not lost and same(new, old)


def new_value(old: Said, new: Said) -> bool:
    """True if the new text certainly says another value of the old one's subject, and is the word of the same person.

    Both begin alike, have the subject's words, and then differ, as far as they go on, only in values (numbers and
    identifiers) and words of time. A plural subject may have several values.
    """
    subject = subject_key(new.subject)
    if old.kind is not new.kind or old.kind not in VALUED or old.owner != new.owner:
        return False
    if not subject or subject != subject_key(old.subject) or (subject.endswith("s") and not subject.endswith("ss")):
        return False
    was, now = _framed(old.plain), _framed(new.plain)
    before, after = was - now, now - was
    if not _framed(subject) <= was & now or not after or not after <= _values(new.text) or old.denials:
        return False
    if not new.denials:
        ours, theirs = _values(old.text), _values(new.text)
        return bool(before) and before <= ours and frozenset.intersection(*_tails(old, new)) <= ours & theirs
    # "the port is 9443, not 8443" after "the port is 8443": what was is denied, and nothing else.
    denied = _denied(new)
    return new.denials == 1 and not before and bool(denied) and denied <= _values(old.text) & was


def bearing(text: str, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The quotes that carry a text by themselves, of the most trusted that do; all of them if it takes all."""
    for trust in sorted({quote.trust for quote in evidence}, reverse=True)[:-1]:
        best = tuple(quote for quote in evidence if quote.trust >= trust)
        if ungrounded(text, [quote.quote for quote in best]) is None:
            return best
    return tuple(evidence)


def telling_first(record: Record) -> list[Evidence]:
    """The quotes of a record in their order, but last those that only say who speaks, or answer.

    Those have less than half of its words that the best quote has.
    """
    own = meaning(Said(record.kind, record.text, "").bare)
    shares = [len(own & meaning(quote.quote)) for quote in record.evidence]
    few = {quote: 2 * share < max(shares) for quote, share in zip(record.evidence, shares, strict=True)}
    return sorted(record.evidence, key=few.__getitem__)


def trust_in(candidate: Candidate) -> Trust:
    """The trust of the least trusted quote that it takes to carry a candidate."""
    return min((quote.trust for quote in bearing(candidate.text, candidate.evidence)), default=Trust.EXTERNAL)


def _framed(plain: str) -> frozenset[str]:
    """The words of meaning, those of time left out."""
    return content(words(_LINKING.sub(" ", plain))) - _OF_TIME


def _values(text: str) -> frozenset[str]:
    plain = _LINKING.sub(" ", normal(text))
    return content(words(" ".join(hard_words(plain))))


def _tails(old: Said, new: Said) -> tuple[frozenset[str], frozenset[str]]:
    """The words of meaning of both from where they first differ."""
    one, two = (
        [word.stem for word in words(_LINKING.sub(" ", text.plain)) if word.plain and word.stem not in _OF_TIME]
        for text in (old, new)
    )
    place = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return frozenset(one[place:]), frozenset(two[place:])


def _denied(new: Said) -> frozenset[str]:
    """The words after the negation."""
    found = list(words(_LINKING.sub(" ", new.plain)))
    place = next((n for n, word in enumerate(found) if word.negation == "firm"), len(found))
    return content(found[place:])


def _said_already(candidate: Candidate, own: Said, known: Known) -> Record | None:
    """The first record that says it, of those most alike."""
    near = {record.id: record for record in (*known.about(candidate.subject), *known.alike(own.text, ALIKE))}
    return next((record for record in near.values() if says_no_more(own, known.said(record))), None)


def _gives_way(record: Record, candidate: Candidate) -> bool:
    return not record.protected and bool(record.evidence) and trust_in(candidate) >= record.trust


def _is_newer(waiting: Waiting, record: Record, order: Callable[[str], tuple[int, ...]]) -> bool | None:
    """Whether a candidate was said after what the record rests on; None if that cannot be told."""
    if not waiting.repeated:
        return True
    ages = {_after(quote, old, order) for quote in waiting.candidate.evidence for old in record.evidence}
    return ages.pop() if len(ages) == 1 else None


def _passed_over(waiting: Waiting, known: Known, order: Callable[[str], tuple[int, ...]]) -> bool:
    """True for what was weighed before, and is older than all that is known on its topic."""
    about = topic(waiting.candidate) if waiting.repeated else ""
    there = [record for record in known.about(waiting.candidate.subject) if topic(record) == about] if about else []
    return bool(there) and all(_is_newer(waiting, record, order) is False for record in there)


def _after(one: Evidence, two: Evidence, order: Callable[[str], tuple[int, ...]]) -> bool | None:
    if one.rollout != two.rollout:
        return order(one.rollout) > order(two.rollout)
    return (one.item, one.start) > (two.item, two.start) if one.segment == two.segment else None


def _joined(waiting: Sequence[Waiting], known: Known) -> list[Waiting]:
    """One for each thing said: in the words that say most and are trusted most, as of when it was said last."""
    index, heads, texts, trusts = Index(), dict[str, Waiting](), dict[str, Said](), dict[str, Trust]()
    for number, each in enumerate(waiting):
        own, name = known.said(each.candidate), str(number)
        trusts[name] = trust_in(each.candidate)
        for head in index.search(own.text, ALIKE):
            first, second = heads[head].candidate, each.candidate
            if trusts[name] <= trusts[head] and says_no_more(own, texts[head]):
                kept, other = first, second
            elif trusts[name] >= trusts[head] and says_no_more(texts[head], own):
                kept, other = second, first
            else:
                continue
            evidence = tuple(dict.fromkeys((*kept.evidence, *other.evidence)))
            subject = kept.subject or other.subject
            joined = replace(kept, evidence=evidence, subject=subject, task=first.task or second.task)
            heads[head] = replace(each, candidate=joined, repeated=each.repeated and heads[head].repeated)
            texts[head], trusts[head] = known.said(joined), max(trusts[head], trusts[name])
            index.add(head, joined.text)
            break
        else:
            heads[name], texts[name] = each, own
            index.add(name, own.text)
    return list(heads.values())


def _latest(heads: Sequence[Waiting], known: Known) -> tuple[list[Waiting], list[Candidate]]:
    """Those that no other of the same subject made outdated, and the outdated."""
    subjects: dict[str, list[Waiting]] = {}
    outdated: dict[int, Candidate] = {}
    for each in sorted(heads, key=lambda head: head.turn):
        if not each.candidate.subject:
            continue
        others = subjects.setdefault(subject_key(each.candidate.subject), [])
        own = known.said(each.candidate)
        for old in others:
            if trust_in(each.candidate) >= trust_in(old.candidate) and new_value(known.said(old.candidate), own):
                outdated[id(old)] = old.candidate
        others.append(each)
    return [each for each in heads if id(each) not in outdated], list(outdated.values())
