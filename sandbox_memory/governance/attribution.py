"""Whose word a memory rests on: what one said is not another's, and what a tool showed is not what the person wants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..records import Evidence, Kind, Trust
from .grounding import ungrounded
from .grounding.acts import AGENT, FIRST_PERSON, OTHER, TOOL, USER, introduced
from .grounding.tokenizing import SENTENCE
from .lexicon import guards
from .wording import is_negation, normal, squeezed, stated

CALL = 4_000
"""How many characters of a call are looked at for the words that name it."""
REACH = 400
"""How many characters around a quote are looked at for what belongs to it."""


@dataclass(frozen=True)
class Quoted:
    """A quote with what is known of it.

    `text` has what belongs to the quoted words too, such as a "not" right before them. `speaker` is user, agent,
    tool, or other for what a person pasted. `place` is (segment, item) in the order of the transcript, `answers`
    the text of the call that an output is of, and `failed` tells of a call that its output is a failure.
    """

    text: str
    speaker: str
    place: tuple[int, int] = (0, 0)
    answers: str | None = None
    failed: bool = False


def misattributed(text: str, kind: Kind, quotes: Sequence[Quoted]) -> str | None:
    """Why this is not said, wanted or shown by whom the text says, or None."""
    if kind is Kind.PREFERENCE and not any(quote.speaker == USER for quote in quotes):
        return "no quote is the person's own word"
    return _named(text, quotes) or _shown(text, quotes) or _sequence(text, quotes)


_PREFIX = re.compile(r"^(?P<name>[\w.@+-]{2,60}): (?P<rest>.+)", re.DOTALL)


def _named(text: str, quotes: Sequence[Quoted]) -> str | None:
    """A name put before words: its owner gave it, or it stands beside the words."""
    found = _PREFIX.match(normal(text))
    if found is None or not (re.search(r"[\d_@]", found["name"]) or FIRST_PERSON.search(found["rest"])):
        return None
    name = found["name"]
    if any(_has(quote.text, text) for quote in quotes):
        return None
    own = [normal(quote.text) for quote in quotes if quote.speaker == USER]
    if any(introduced(name, said) for said in own) or not FIRST_PERSON.search(found["rest"] + " ".join(own)):
        return None
    if any(name.casefold() in said.casefold() and _alike(found["rest"], said) for said in own):
        return None
    return f"nobody says in the quotes that they are {name!r}"


def _alike(text: str, said: str) -> bool:
    words = set(re.findall(r"\w{3,}", text.casefold()))
    return 2 * len(words & set(re.findall(r"\w{3,}", said.casefold()))) >= len(words)


_SHOWED = (
    r"\b(?:failed|fails|show(?:s|ed|n)?|print(?:s|ed)|return(?:s|ed)|gave|gives|raise[sd]|report(?:s|ed)|"
    r"output(?:s|ted)?|"
    r"refuse[sd]|reject(?:s|ed)|answer(?:s|ed)|crashe[sd])\b|失败|显示|输出|报错|返回|提示"
)
_CLAIM = re.compile(
    rf"`(?P<call>[^`\n]+)`[^`\"。;；]{{0,40}}?(?:{_SHOWED})[^`\"。;；]{{0,40}}?(?P<mark>[`\"])(?P<said>[^`\"\n]+)(?P=mark)",
    re.I,
)
_WORKED = re.compile(
    r"`(?P<call>[^`\n]+)`[^`\".。;；,，]{0,24}?(?:\b(?:worked|works|succeeded|succeeds|passed|passes)\b|成功|通过)",
    re.I,
)
_NOT = re.compile(r"\b(?:not|never|n't|until|unless|once)\b|n't|没|不|失败", re.I)


def _shown(text: str, quotes: Sequence[Quoted]) -> str | None:
    """What a command is said to have shown stands in the output of that command; what worked did not fail."""
    plain = normal(text)
    for found in _CLAIM.finditer(plain):
        named = any(quote.answers is None and _has(quote.text, found["call"]) for quote in quotes)
        calls = [quote.answers for quote in quotes if quote.answers is not None and _has(quote.text, found["said"])]
        if named and calls and not any(_has(call[:CALL], found["call"]) for call in calls):
            return f"{found['said']!r} is not what {found['call']!r} showed"
    for found in _WORKED.finditer(plain):
        if _NOT.search(found.group()[len(found["call"]) + 2 :]):
            continue
        calls_of = [quote for quote in quotes if quote.answers is None and _has(quote.text, found["call"])]
        if calls_of and all(quote.failed for quote in calls_of):
            return f"{found['call']!r} did not work"
    return None


def _has(text: str, literal: str) -> bool:
    known = squeezed(normal(text))
    return all(squeezed(part) in known for part in re.split(r"…|\.\.\.", normal(literal)))


_IN_TIME = re.compile(r"\bat first\b|\binitially\b|\bin the end\b|\bfinally\b|起初|最后|最终", re.I)


def _sequence(text: str, quotes: Sequence[Quoted]) -> str | None:
    """What is said to come first was shown first."""
    plain = normal(text)
    if not _IN_TIME.search(plain):
        return None
    shown = []
    for literal in stated(plain):
        places = [quote.place for quote in quotes if quote.answers is not None and _has(quote.text, literal)]
        if places:
            shown.append(places)
    if any(min(one) > max(two) for one, two in pairwise(shown)):
        return "it was shown in another order"
    return None


def mixed(text: str, evidence: Sequence[Evidence]) -> str | None:
    """Why a text with somebody's name must not rest on all of these: words of another conversation are not theirs.

    For memory that serves many people: whoever is named in one conversation is not who speaks in another, unless they
    give the same name there.
    """
    by_rollout: dict[str, list[str]] = {}
    for quote in evidence:
        by_rollout.setdefault(quote.rollout, []).append(normal(quote.quote))
    if len(by_rollout) < 2:
        return None
    plain = normal(text)
    for place, name in enumerate(dict.fromkeys(re.findall(r"[\w.@+-]*[\w]", plain))):
        if place and name.isascii() and name.isalpha() and name.islower():  # "I'm willing to pay a fee" names nobody
            continue
        givers = {rollout for rollout, said in by_rollout.items() if any(introduced(name, one) for one in said)}
        others = [
            rollout
            for rollout, said in by_rollout.items()
            if rollout not in givers and not any(name.casefold() in one.casefold() for one in said)
        ]
        speaks = {quote.rollout for quote in evidence if quote.trust >= Trust.USER}
        if givers and any(rollout in speaks for rollout in others):
            return f"what another person said is not the word of {name!r}"
    return None


_BOUND = re.compile(
    r"[.!?](?=\s|$)|[;\n。！？；，、]|(?<!\d),|,(?!\d)|:(?=\s)|\b(?:as|since|because|so|but|and|then|while|"
    r"whereas)\b|而且|但是?|因为|所以",
    re.I,
)
_HANGS = re.compile(
    r"^\W*(?:(?:and|but|so|also|only)\s+)?(?:if|unless|when|whenever|in case|except|as long as|provided)\b|"
    r"^\W*(?:如果|除非|要是|只有|假如|若|当)",
    re.I,
)
_TAIL = re.compile(
    r"^[,，]?\s*(?:unless|except|if|but only|only|otherwise|provided|as long as|除非|否则|但|只要)", re.I
)
_HARMLESS = re.compile(
    r"if (?:possible|you can|that's ok|needed)|^\W*(?:no|nope|wrong|不|不对|没错|不是)[\s,，.:。]+$", re.I
)
_WEIGHTY = frozenset(("most", "some", "rare", "only", "might", "unless", "about"))


def whole(text: str, start: int, end: int) -> str:
    """Characters `start` to `end` of an item's text, with what belongs to them though it was not quoted.

    That is a "not", an "only", a "maybe" in the same clause, a condition of the same sentence, a question mark.
    """
    low, high = max(0, start - REACH), min(len(text), end + REACH)
    begins = max((low + found.end() for found in SENTENCE.finditer(text[low:start])), default=low)
    stop = SENTENCE.search(text, end, high)
    ends = stop.start() if stop else high
    if stop and stop.group()[0] in "?？" and not text[end : stop.start()].strip():
        start, end = begins, max(end, stop.end())
    clause = max((begins + found.end() for found in _BOUND.finditer(text[begins:start])), default=begins)
    if _weighs(text[clause:start]):
        start = clause
    if start > begins and _HANGS.search(text[begins:start]) and not _HANGS.search(text[start:end]):
        start = begins
    if end < ends:
        bound = _BOUND.search(text, end + 1, ends)
        tail = text[end : bound.start() if bound else ends]
        if _weighs(tail):
            end += len(tail)
        if _TAIL.search(text[end:ends]) and not _HARMLESS.search(text[end:ends]):
            end = ends
    return text[start:end]


def _weighs(cut: str) -> bool:
    if not cut.strip() or _HARMLESS.search(cut):
        return False
    words = re.findall(r"[a-z']+", normal(cut).casefold())
    return (
        any(is_negation(word) for word in words)
        or re.search("[不没勿别]", cut) is not None
        or any(name in _WEIGHTY for name, _ in guards(cut))
    )


_FAILED = re.compile(
    r"^(?:error\b|err!|fatal:|panic:|traceback \(most recent|[\w.]*(?:Error|Exception)\b)|\"error\"\s*:|command "
    r"not found|permission denied"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)?[\"' :=]{1,3}(?!0\b)-?\d+|错误：|失败：",
    re.I | re.M,
)


def failed(output: str) -> bool:
    """True if a tool's output says at its beginning or end that it failed."""
    return _FAILED.search(output[:REACH]) is not None or _FAILED.search(output[-REACH:]) is not None


def unsupported(text: str, kind: Kind, evidence: Sequence[Evidence], *, many: bool) -> str | None:
    """Why a record with this text must not rest on this evidence, or None; `many` where memory serves many people."""
    speakers = [_VOICES[quote.trust] for quote in evidence]
    why = ungrounded(text, [quote.quote for quote in evidence], speakers)
    if why is None and kind is Kind.PREFERENCE and not {USER, OTHER} & set(speakers):
        why = "no quote is the person's own word"
    return why or (mixed(text, evidence) if many else None)


_VOICES = {Trust.HAND: USER, Trust.USER: USER, Trust.AGENT: AGENT, Trust.OBSERVED: TOOL, Trust.EXTERNAL: OTHER}
