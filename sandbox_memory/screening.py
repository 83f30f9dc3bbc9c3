"""What a consolidation works on: candidates whose quotes are not spent, and the records that they touch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .governance.wording import content, normal, words
from .records import Candidate, Evidence, RawMemory, Record, Refusal, Rollout, Status
from .state import State

DELETED, CHANGED, REPLACED, KNOWN = (
    "a person deleted it",
    "a person changed it",
    "it was replaced since",
    "it is known already",
)
"""Why a candidate says nothing new."""
TELLING = 3
"""How many words that carry meaning it takes to be an echo: fewer stand anywhere."""
RESTATED, MADE_OF = 0.8, 0.5
"""Share of the spent words that a text repeats, and share of its own words that are spent, to be an echo."""
TOUCHED = 40
"""How many existing records a plan is shown at most."""


@dataclass(frozen=True)
class Inputs:
    """What one consolidation works on: numbered candidates and records, as the prompt shows them."""

    keys: tuple[tuple[str, int], ...]
    candidates: tuple[Candidate, ...]
    records: tuple[Record, ...]
    groups: tuple[str, ...]
    refused: tuple[Refusal, ...] = ()


def inputs(state: State, most: int) -> Inputs:
    """The oldest pending candidates that may come in, about `most` of them, and the records that they touch."""
    kept: list[Candidate] = []
    refused: list[Refusal] = []
    screen = Screen(state)
    keys: list[tuple[str, int]] = []
    for key in sorted(state.pending, key=lambda key: (state.orders[key], key[1])):
        if keys and len(kept) + len(state.pending[key]) > most:
            break
        keys.append(key)
        for candidate in state.pending[key]:
            why = screen.refuses(candidate)
            if why:
                refused.append(Refusal(candidate.text, why))
            else:
                kept.append(candidate)
    visible = state.visible()
    groups = tuple(dict.fromkeys(record.group for record in visible.values() if record.group))
    return Inputs(tuple(keys), tuple(kept), touched(kept, visible.values()), groups, tuple(refused))


def without_forgotten(raw: RawMemory, state: State) -> RawMemory:
    """The raw memory without what a person had forgotten: its words must not come into the ledger once more."""
    forgotten = [r.id for r in state.records.values() if r.status is Status.FORGOTTEN]
    spans = [span for id in forgotten for span in state.tombstones.get(id, ())]
    kept = tuple(
        candidate
        for candidate in raw.candidates
        if not any(quote.overlaps(span) for quote in candidate.evidence for span in spans)
    )
    gone = len(raw.candidates) - len(kept)
    refused = (Refusal(f"{gone} of the memories", "a person had this forgotten"),) if gone else ()
    return replace(raw, candidates=kept, refused=(*raw.refused, *refused))


class Screen:
    """Which quotes are spent: of what a person deleted or overruled, of what was replaced, of what is known already."""

    def __init__(self, state: State) -> None:
        self._spent: dict[tuple[str, str], list[tuple[Evidence, str]]] = {}
        for id, spans in state.tombstones.items():
            record = state.records.get(id)
            gone = record is None or record.status is not Status.ACTIVE
            self._add(spans, DELETED if gone else CHANGED)
        for record in state.records.values():
            if record.status in (Status.ACTIVE, Status.HELD):
                self._add(record.evidence, KNOWN)
            elif record.status is Status.SUPERSEDED:
                self._add(record.evidence, REPLACED)

    def _add(self, spans: Iterable[Evidence], why: str) -> None:
        for span in spans:
            self._spent.setdefault((span.rollout, span.segment), []).append((span, why))

    def refuses(self, candidate: Candidate) -> str:
        """Why the candidate says nothing new: all its quotes are spent, or echo one that is; else an empty text."""
        whys = [self._why(quote, candidate.text) for quote in candidate.evidence]
        return whys[0] if whys and all(whys) else ""

    def _why(self, quote: Evidence, text: str) -> str:
        for span, why in self._spent.get((quote.rollout, quote.segment), ()):
            if span.overlaps(quote) or _echoes(quote.quote, text, span.quote):
                return why
        return ""


def _echoes(quote: str, text: str, spent: str) -> bool:
    """True if the quote has the spent words in it, as when an agent repeats what it was told, and the text uses them.

    A text that is about something else in the same message is none: it has neither most of the spent words, nor most
    of its own from them.
    """
    said, known = normal(spent).casefold().strip(" .!。！"), _content(spent)
    if len(known) < TELLING or said not in normal(quote).casefold():
        return False
    own = _content(text)
    both = len(own & known)
    return both >= RESTATED * len(known) or both >= MADE_OF * max(len(own), 1)


def echoes(evidence: Sequence[Evidence], rollouts: Mapping[str, Rollout]) -> Iterator[Evidence]:
    """Where else the quotes stand, word by word, in the transcripts that they are from."""
    for quote in evidence:
        said = quote.quote.strip().rstrip(".!。！")
        if len(_content(said)) < TELLING or quote.rollout not in rollouts:
            continue
        for segment in rollouts[quote.rollout].segments:
            for item in segment.items:
                for found in re.finditer(re.escape(said), item.text, re.IGNORECASE):
                    place = replace(quote, segment=segment.id, item=item.index, start=found.start(), end=found.end())
                    if not place.overlaps(quote):
                        yield place


def _content(text: str) -> frozenset[str]:
    return content(words(normal(text)))


def touched(candidates: Sequence[Candidate], records: Iterable[Record]) -> tuple[Record, ...]:
    """The records that share a subject or words with the candidates, most shared first, at most `TOUCHED`."""
    subjects = {candidate.subject for candidate in candidates if candidate.subject}
    words = [_words(candidate.text) for candidate in candidates]
    scored = []
    for record in records:
        own = _words(record.text)
        score = max((len(own & other) / (len(own | other) or 1) for other in words), default=0.0)
        if record.subject and record.subject in subjects:
            score += 1.0
        if score > 0.1:
            scored.append((score, record.created, record))
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return tuple(record for *_, record in scored[:TOUCHED])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]{2,}|[\u3400-\u9fff]", text.casefold()))
