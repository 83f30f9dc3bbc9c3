"""What a person asked to remember in so many words: code commits it when that run ends, and asks no model.

What is asked is found by `governance.asked`, in what people typed themselves. From there on it goes the way of every
candidate: its quote may be spent, it may be known, its words are checked, and the policy has its say.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from ..certain import Waiting, decide
from ..document.text import cleaned
from ..errors import SandboxMemoryError
from ..governance.asked import BACK, HINT, Asked, asked
from ..governance.policy import Around, refuses
from ..governance.taint import Taint
from ..governance.wording import STOP
from ..known import Known
from ..layout import Layout, Preset
from ..models import ConsolidationDraft, DraftOperation
from ..policy import MemoryPolicy
from ..records import Candidate, Evidence, Item, Kind, Rollout, Segment, Trust
from ..rollouts import is_document, message_text, parse_rollout, pasted, pieces, trust_of
from ..screening import Inputs, Screen
from ..stages import planning
from ..state import State
from . import deciding
from .settle import Change, Maker, Seen
from .store import Store
from .takeover import takeover

logger = logging.getLogger("sandbox_memory")

ACTOR, MANY = "remember", "many"
IMPORTANCE = 0.9
"""What somebody asked for in so many words matters more than what was only said."""
MOST = 20
"""How many things one run may ask to have remembered."""
LONGEST = 480
"""Characters: what is longer is left to the extraction."""
LEAST = 2
"""Words of which it must have as many to say something."""
FIRM = 4
"""Strength from which on a wish is one that outlasts the run."""

_OPENING = STOP | frozenset("always never every each all any no don't only before after until unless use keep".split())
SECRET = "⟦secret:"
"""How what was redacted begins: a line of it would tell nothing."""

_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,2}[.)]|(?:\d{1,2}|[一二三四五六七八九十]+)[、．）]|[①-⑳])[ \t]*")
_ORDER = re.compile(
    r"(?:always|never|only|do not|don't|avoid|please|prefer|use|make sure|no|you|if|when|whenever|before|after)\b"
    r"|(?:以后|以後|每次|每当|请|請|不要|别|別|总是|總是|永远|永遠|一律|凡是|千万|务必|只|先|尽量)",
    re.IGNORECASE,
)


def hinted(items: Iterable[Mapping[str, Any]]) -> bool:
    """True if one of these input items may ask to have something remembered; all that most runs pay for it."""
    return any(item.get("role") == "user" and HINT.search(message_text(item.get("content"))) for item in items)


async def keep(store: Store, stem: str, line: bytes, settings: Callable[[Seen], Maker], *, live: bool) -> None:
    """Commit what a run, written as that line, asked to have remembered; without such an asking nothing is done.

    `live` says that a session is open, whose agent may have edited the markdown. What fails is left to the extraction.
    """
    path = store.layout.session(f"{stem}.jsonl")
    read = partial(parse_rollout, rollout_id=stem, path=path, memories_dir=store.layout.memories_dir)
    try:
        found = wanted(read(line), store.layout.preset)
        if found and store.layout.preset.audience == MANY:
            whole = (await store.look([path])).files.get(path, line)
            found = wanted(read(whole), store.layout.preset)
        if not found:
            return
        seen = await store.see()
        makers = [*await takeover(store, seen), maker(found, store.layout, stem, store.guard.policy), settings(seen)]
        done = await store.settle("live" if live else "hand", makers, seen=seen)
        await deciding.decide(store, len(seen.ledger), "live" if live else "hand")
    except SandboxMemoryError as error:
        logger.warning("sandbox memory: what a person asked to remember is left to the extraction: %s", error)
        return
    for refused in done.refused:
        logger.info("sandbox memory: not remembered: %s (%s)", refused.what, refused.why)


def wanted(rollout: Rollout, preset: Preset) -> tuple[Candidate, ...]:
    """What the last segment of a rollout asks to have remembered, in order.

    Where many are served each is its customer's: after their account name, if they gave one in this conversation. The
    segments before the last are looked at for that name only.
    """
    if not rollout.segments:
        return ()
    last = rollout.segments[-1]
    found = [each for item in last.items if item.role == "user" for each in _of(item, last, rollout.id)]
    found = [each for each in found if _fit(each, rollout)][:MOST] if found else []
    who = speaker(rollout) if preset.audience == MANY else None
    theirs = [replace(each, owner=rollout.id) if preset.audience == MANY else each for each in found]
    return tuple(each if who is None else _owned(each, *who) for each in theirs)


def maker(candidates: Sequence[Candidate], layout: Layout, stem: str, policy: MemoryPolicy | None = None) -> Maker:
    """What commits them on a state: new records, or support for those that say so already, as the policy allows it."""

    def make(state: State) -> Change:
        screen, task = Screen(state), _task(state, stem)
        new = [replace(each, task=task) for each in candidates if not screen.refuses(each)]
        if not new:
            return Change(ACTOR)
        known = Known(state.visible(), audience=layout.preset.audience)
        decided = decide(
            [Waiting(each, (place,)) for place, each in enumerate(new)],
            known,
            lambda other: state.rollouts[other].order if other in state.rollouts else (0, 0),
        )
        left = tuple(each.candidate for each in decided.left)
        draft = [DraftOperation(op="add", candidates=[f"c{number}"]) for number in range(1, len(left) + 1)]
        given = Inputs((), candidates=left, sure=decided.sure)
        plan = planning.check(ConsolidationDraft(operations=draft), given, state, layout.preset, policy)
        return Change(ACTOR, plan.operations, refused=plan.refused)

    return make


def speaker(rollout: Rollout) -> tuple[str, Evidence] | None:
    """The account name, else the full name, that the person gave as theirs, with the words that say so."""
    from ..governance.speech import stated  # loaded when it is needed: most runs ask for nothing

    for find in (stated.speaker, stated.named):
        for segment in rollout.segments:
            for item in segment.items:
                found = find(item.text) if item.role == "user" and not is_document(item.text) else None
                if found is not None and trust_of(item, found[1], found[2]) is Trust.USER:
                    return found[0], _evidence(item, segment, rollout.id, found[1], found[2])
    return None


def _fit(candidate: Candidate, rollout: Rollout) -> bool:
    """False for what is not remembered whoever asks, and for words that are somebody else's in this conversation."""
    last = rollout.segments[-1]
    texts = {item.index: item.text for item in last.items}
    quotes = [Around(texts[quote.item], quote.start, quote.end) for quote in candidate.evidence]
    if refuses(candidate.text, candidate.kind, quotes) is not None:
        return False
    taint, rank = Taint(pieces(rollout)), len(rollout.segments) - 1
    return all(
        taint.lowered((rank, quote.item), quote.start, quote.end, quote.quote, Trust.USER) is Trust.USER
        for quote in candidate.evidence
    )


def _task(state: State, stem: str) -> str:
    return state.rollouts[stem].task if stem in state.rollouts else ""


def _owned(candidate: Candidate, name: str, gave: Evidence) -> Candidate:
    subject = f"{name} {candidate.subject}" if candidate.subject else ""
    evidence = tuple(dict.fromkeys((gave, *candidate.evidence)))
    return replace(candidate, text=f"{name}: {candidate.text}", subject=subject, evidence=evidence)


def _of(item: Item, segment: Segment, stem: str) -> Iterator[Candidate]:
    """What one message asks to have remembered."""
    from ..governance.speech import passing, stated
    from ..governance.speech.sentences import PLAIN

    if not HINT.search(item.text) or is_document(item.text):
        return
    for places, wish in dict.fromkeys(_spans(item.text)):
        if not all(trust_of(item, start, end) is Trust.USER for start, end in places):
            continue
        line = cleaned(". ".join(_begun(item.text[start:end]) for start, end in places))
        plain = line.translate(PLAIN)
        if not 0 < len(line) <= LONGEST or SECRET in line:
            continue
        if passing.is_this_time(plain) or passing.is_unrecorded(plain) or passing.is_question(plain):
            continue
        kind = Kind.PREFERENCE if _wishes(plain, wish) else Kind.FACT
        yield Candidate(
            kind,
            line,
            tuple(_evidence(item, segment, stem, start, end) for start, end in places),
            stated.subject_of(plain) if kind is Kind.FACT and len(places) == 1 else "",
            importance=IMPORTANCE,
        )


def _begun(words: str) -> str:
    """The words as a sentence begins; what may be a name of code stays as it is written."""
    first = re.match(r"[a-z']+(?= )", words.replace("’", "'"))
    return words[:1].upper() + words[1:] if first and first.group() in _OPENING else words


def _evidence(item: Item, segment: Segment, stem: str, start: int, end: int) -> Evidence:
    return Evidence(stem, segment.id, item.index, start, end, item.text[start:end], Trust.USER)


def _spans(message: str) -> Iterator[tuple[tuple[tuple[int, int], ...], bool]]:
    """Where in a message stands what it asks to have remembered, and whether that is to be done each time.

    Words that cannot be read alone come with the sentence before them.
    """
    from ..governance.speech.sentences import PLAIN, own_words, size
    from ..governance.speech.whole import stands_alone

    said = list(own_words(message, pasted(message)))
    for place, sentence in enumerate(said):
        found = asked(sentence.text)
        if found is None:
            continue
        before = said[place - 1] if place else None
        if before is not None and ("\n\n" in message[before.end : sentence.start] or not _goes_back(before.text)):
            before = None
        if found.points == BACK:
            if before is not None and stands_alone(before.text.translate(PLAIN)):
                yield ((before.start, before.start + _trimmed(before.text)),), False
            continue
        if found.end > found.start:
            start, end = _meant(message, sentence.start, found)
            alone = stands_alone(message[start:end].translate(PLAIN))
            if size(message[start:end]) >= LEAST and alone:
                yield ((start, end),), found.wish
            elif not alone and before is not None:
                yield ((before.start, before.start + _trimmed(before.text)), (start, end)), found.wish
        if found.points or found.all:
            for each in said[place + 1 : place + 1 + _following(message, said[place:], found)]:
                yield ((each.start, each.start + _trimmed(each.text)),), False


def _goes_back(text: str) -> bool:
    """True for a sentence that can be meant by "remember that" after it."""
    from ..governance.speech import passing
    from ..governance.speech.sentences import PLAIN

    plain = text.translate(PLAIN)
    return not (passing.is_question(plain) or passing.is_request(plain) or asked(text) is not None)


def _following(message: str, said: Sequence[Any], found: Asked) -> int:
    """How many of the sentences after the first are meant: a list, else one, or the rest of the paragraph."""
    count = 0
    listed = False
    for before, each in pairwise(said):
        between = message[before.end : each.start]
        line = message[message.rfind("\n", 0, each.start) + 1 : each.start]
        item = _ITEM.fullmatch(line) is not None
        if (count and "\n\n" in between) or (listed and not item and "\n" in between):
            break
        if not item and not listed and count and not found.all:
            break
        listed = listed or item
        count += 1
    return count


def _meant(message: str, offset: int, found: Asked) -> tuple[int, int]:
    """Where the words stand that are meant, without what the sentence goes on to ask for now."""
    from ..governance.speech import passing, wishes
    from ..governance.speech.clauses import joined
    from ..governance.speech.sentences import PLAIN

    start, end = offset + found.start, offset + found.end
    plain = message[start:end].translate(PLAIN)
    for clause in joined(plain)[1:]:
        text = plain[clause.start : clause.end].strip()
        if passing.is_question(text) or (passing.is_request(text) and not wishes.lasts(text)):
            return start, start + _trimmed(plain[: clause.start])
    return start, end


def _trimmed(text: str) -> int:
    """The length of a text without the marks, and the joining words, at its end."""
    joints = r"(?<=[\s,;])(?:and|but|so|then|now)(?=[\s,;]|$)|(?<=[，,；;\s])(?:然后|接着|现在|另外|再|并且|而且)"
    return len(re.sub(rf"(?:[\s.!。！,，;；:：–—-]|{joints})+$", "", text))


def _wishes(plain: str, wish: bool) -> bool:
    """True for how something is to be done, or what somebody likes; anything else is a fact."""
    from ..governance.speech import stated, wishes

    if wish:
        return True
    if stated.states(plain) or stated.says_where(plain):
        return False
    order, strength = _ORDER.match(plain) is not None, wishes.strength(plain)
    return (order and strength > 0) or (wishes.speaks(plain) and (strength >= FIRM or wishes.lasts(plain)))
