"""What a consolidation works on: candidates whose quotes are not spent, and the records that they touch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from .certain import Sure, Waiting, decide
from .gone import TakenOut
from .governance.forgetting import FILLED, remains
from .governance.wording import hard_words, meaning, normal
from .known import Known
from .records import Candidate, Evidence, RawMemory, Record, Refusal, Rollout, Status, Trust
from .sameness import overlap, tokens, topic
from .state import State, evidence_of
from .tokens import estimate

DELETED, CHANGED, REPLACED, KNOWN, RETIRED, DECIDED, ASKED = (
    "a person deleted it",
    "a person changed it",
    "it was replaced since",
    "it is known already",
    "it expired, or was let go unused",
    "a person decided about it",
    "it waits for an answer in the inbox",
)
"""Why a candidate says nothing new."""
OLD_NEWS = (DELETED, CHANGED, REPLACED, KNOWN, RETIRED, DECIDED, ASKED)
TELLING = 3
"""How many words that carry meaning it takes to be an echo: fewer stand anywhere."""
RESTATED, MADE_OF = 0.8, 0.5
"""Share of the spent words that a text repeats, and share of its own words that are spent, to be an echo."""
NEAR = 5
"""How many of the records that it touches are shown for one candidate."""
TOUCHED, TOUCHED_TOKENS, OVERHEAD = 40, 6_000, 40
"""How many existing records a plan is shown at most, in number and tokens; one takes so many beside its text."""
NEW_TOKENS = 24_000
"""How many tokens the new candidates of several conversations take at most."""
NEAR_GROUPS, GROUPS = 3, 20
"""How many titles of groups are shown for one task, and in all."""
SUMMARIES = 12
"""How many rollout summaries may be opened."""
SAME_TASK = 0.5
"""How much the titles of two attempts must overlap (Jaccard) to be of one task."""


@dataclass(frozen=True)
class Inputs:
    """What one consolidation works on: numbered candidates and records, as the prompt shows them.

    `sure` is what code decided before. `ages` has the age rank of the conversation of each candidate, 1 for the oldest.
    `summaries` maps rollouts that candidates and records quote to their summary files, candidates' first.
    """

    keys: tuple[tuple[str, int], ...]
    candidates: tuple[Candidate, ...] = ()
    records: tuple[Record, ...] = ()
    groups: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    sure: tuple[Sure, ...] = ()
    ages: tuple[int, ...] = ()
    summaries: Mapping[str, str] = field(default_factory=dict)


def inputs(state: State, most: int, known: Known | None = None) -> Inputs:
    """The oldest pending candidates that may come in, about `most` of them, and the records that they touch.

    What is certain is decided, and left out of the candidates. `known` is brought up to date: kept for the next call,
    it saves reading every record again.
    """
    known = known or Known()
    known.update(state.visible())
    screen = Screen(state, known.audience)
    waiting, keys, refused = _waiting(state, screen, most)
    decided = decide(waiting, known, lambda stem: state.rollouts[stem].order if stem in state.rollouts else (0, 0))
    refused += [Refusal(candidate.text, REPLACED) for candidate in decided.outdated]
    left = []
    for each in _by_task(decided.left):
        if why := screen.brings_back(each.candidate):
            refused.append(Refusal(each.candidate.text, why))
        else:
            left.append(each)
    candidates = tuple(each.candidate for each in left)
    turns = sorted({each.turn[:3] for each in left})
    records = touched(candidates, known)
    return Inputs(
        keys=tuple(keys),
        candidates=candidates,
        records=records,
        groups=_groups(candidates, records, known),
        refused=tuple(refused),
        sure=decided.sure,
        ages=tuple(turns.index(each.turn[:3]) + 1 for each in left),
        summaries=_summaries(candidates, records, state),
    )


def _waiting(state: State, screen: Screen, most: int) -> tuple[list[Waiting], list[tuple[str, int]], list[Refusal]]:
    kept: list[Waiting] = []
    keys: list[tuple[str, int]] = []
    refused: list[Refusal] = []
    size = 0
    for key in sorted(state.pending, key=lambda key: (state.orders[key], key[1])):
        size += sum(2 * estimate(candidate.text) + OVERHEAD for candidate in state.pending[key])
        if keys and (len(kept) + len(state.pending[key]) > most or size > NEW_TOKENS):
            break
        keys.append(key)
        segments: dict[str, int] = {}
        for candidate in state.pending[key]:
            why = screen.refuses(candidate)
            if why:
                refused.append(Refusal(candidate.text, why))
                continue
            for e in candidate.evidence:
                segments.setdefault(e.segment, len(segments))
            place = max(((segments[e.segment], e.item, e.start) for e in candidate.evidence), default=(0, 0, 0))
            kept.append(Waiting(candidate, (*state.orders[key], key[1], *place), screen.repeated(candidate)))
    return kept, keys, refused


def _by_task(left: Sequence[Waiting]) -> list[Waiting]:
    """In order of turn, but the candidates of one task side by side: its attempts may make one experience."""
    tasks: list[tuple[frozenset[str], list[Waiting]]] = []
    for each in sorted(left, key=lambda each: each.turn):
        title = tokens(each.candidate.task.casefold())
        alike = next((task for words, task in tasks if words == title or overlap(words, title) >= SAME_TASK), None)
        if alike is None:
            tasks.append((title, alike := []))
        alike.append(each)
    return [each for _, task in tasks for each in task]


def touched(candidates: Sequence[Candidate], known: Known) -> tuple[Record, ...]:
    """The records that candidates touch, at most `TOUCHED`: the nearest of each, then the second nearest, and so on.

    Nearest are those of the same subject, with a quote from the same item, or of the same task, then those most alike
    in words.
    """
    near = [_near(candidate, known) for candidate in candidates]
    ranked = (record for rank in zip_longest(*near) for record in rank if record is not None)
    found = dict[str, Record]()
    size = 0
    for record in ranked:
        if record.id not in found:
            size += estimate(record.text) + OVERHEAD
            if found and (len(found) == TOUCHED or size > TOUCHED_TOKENS):
                break
            found[record.id] = record
    return tuple(found.values())


def _near(candidate: Candidate, known: Known) -> list[Record]:
    about = known.about(candidate.subject)[-NEAR:]
    quoted = [record for evidence in candidate.evidence for record in known.quoted(evidence)[-NEAR:]]
    alike = known.alike(f"{candidate.text}\n{candidate.subject}", NEAR)
    ranked = (*about, *alike[:1], *quoted[:2], *_attempts(candidate, known)[-2:], *alike)
    return list({record.id: record for record in ranked}.values())[:NEAR]


def _attempts(candidate: Candidate, known: Known) -> list[Record]:
    """What earlier attempts at the task of a candidate left, of its kind."""
    title = tokens(candidate.task.casefold())
    group = next((group for group in known.groups(candidate.task, 1) if _one_task(title, group)), "")
    return [record for record in known.under(group) if record.kind is candidate.kind] if group else []


def _one_task(title: frozenset[str], other: str) -> bool:
    return overlap(title, tokens(other.casefold())) >= SAME_TASK


def _groups(candidates: Sequence[Candidate], records: Sequence[Record], known: Known) -> tuple[str, ...]:
    """The titles that a candidate may belong under: those like its task, and those of the records that it touches."""
    tasks = dict.fromkeys(candidate.task for candidate in candidates if candidate.task)
    near = [known.groups(task, NEAR_GROUPS) for task in tasks]
    titles = [title for rank in zip_longest(*near) for title in rank if title]
    titles += [record.group for record in records if record.group]
    return tuple(dict.fromkeys(titles))[:GROUPS]


def _summaries(candidates: Sequence[Candidate], records: Sequence[Record], state: State) -> dict[str, str]:
    shown: tuple[Candidate | Record, ...] = (*candidates, *records)
    stems = dict.fromkeys(e.rollout for each in shown for e in each.evidence)
    files = {stem: state.rollouts[stem].summary_file for stem in stems if stem in state.rollouts}
    return dict(list({stem: file for stem, file in files.items() if file}.items())[:SUMMARIES])


def without_forgotten(raw: RawMemory, state: State) -> RawMemory:
    """The raw memory without what a person had forgotten: its words must not come into the ledger once more."""
    forgotten = [r.id for r in state.records.values() if r.status is Status.FORGOTTEN]
    spans = [span for id in (*forgotten, *state.erasures) for span in state.tombstones.get(id, ())]
    erasures = state.erasures.values() if raw.updated_at else ()
    kept = tuple(
        candidate
        for candidate in raw.candidates
        if not any(quote.overlaps(span) for quote in candidate.evidence for span in spans)
        and not any(FILLED.search(text) for text in (candidate.text, candidate.subject))
        and (not candidate.evidence or any(meaning(remains(quote.quote)) for quote in candidate.evidence))
        and not any(_last(candidate, raw) < erasure.at and erasure.on(topic(candidate)) for erasure in erasures)
    )
    gone = len(raw.candidates) - len(kept)
    refused = (Refusal(f"{gone} of the memories", "a person had this forgotten"),) if gone else ()
    return replace(raw, candidates=kept, refused=(*raw.refused, *refused))


def _last(candidate: Candidate, raw: RawMemory) -> str:
    """When it was said last."""
    return max((raw.said_at(quote.segment) for quote in candidate.evidence), default=raw.updated_at)


class Screen:
    """Which quotes are spent: of what a person deleted or overruled, of what was replaced, of what is known already.

    What was said before a person deleted a line, on the matter of that line, is spent as well, in whatever words.
    `audience` is the layout's.
    """

    def __init__(self, state: State, audience: str = "one") -> None:
        self._spent: dict[tuple[str, str], list[tuple[Evidence, str]]] = {}
        self._words: dict[tuple[str, str], list[str]] = {}
        self._state, self._taken_out = state, TakenOut(state, audience)
        self._deleted: dict[str, str] = {}
        for gone in [record for record in state.records.values() if record.status is Status.DELETED]:
            if about := topic(gone):
                self._deleted[about] = max(gone.updated_at, self._deleted.get(about, ""))
        for id, spans in state.tombstones.items():
            record = state.records.get(id)
            let_go = record is None or record.status is not Status.ACTIVE
            self._add(spans, DECIDED if id.startswith("p-") else DELETED if let_go else CHANGED)
        for proposal in state.proposals.values():
            for operation in proposal.operations:
                self._add(evidence_of(operation), ASKED)
        for record in state.records.values():
            if record.status in (Status.ACTIVE, Status.HELD):
                self._add(record.evidence, KNOWN)
            elif record.status is Status.SUPERSEDED:
                self._add(record.evidence, REPLACED)
            elif record.status is Status.RETIRED:
                self._add(record.evidence, RETIRED)

    def _add(self, spans: Iterable[Evidence], why: str) -> None:
        for span in spans:
            self._spent.setdefault((span.rollout, span.segment), []).append((span, why))

    def refuses(self, candidate: Candidate) -> str:
        """Why the candidate says nothing new: all its quotes are spent, or echo one that is; else an empty text."""
        whys = [self._why(quote, candidate.text) for quote in candidate.evidence]
        if whys and all(whys):
            return whys[0]
        since = self._deleted.get(topic(candidate), "")
        return DELETED if since and self._state.said_before(candidate.evidence, since) else ""

    def brings_back(self, candidate: Candidate) -> str:
        """Why a candidate that would be a new line must be none: it says what was taken out; else an empty text."""
        gone = self._taken_out.find(candidate)
        if gone is None:
            return ""
        return CHANGED if gone.changed else DELETED

    def repeated(self, candidate: Candidate) -> bool:
        """True if each quote is from a run of which something was taken in before."""
        return all((quote.rollout, quote.segment) in self._spent for quote in candidate.evidence)

    def _why(self, quote: Evidence, text: str) -> str:
        place = quote.rollout, quote.segment
        spent = self._spent.get(place, ())
        if not spent:
            return ""
        if place not in self._words:
            self._words[place] = [_bare(span.quote) for span, _ in spent]
        whole = normal(quote.quote).casefold()
        for (span, why), said in zip(spent, self._words[place], strict=True):
            if span.overlaps(quote) or (said in whole and _echoes(text, span.quote)):
                return why
            if quote.trust is Trust.AGENT and span.trust >= Trust.USER and _says_back(text, quote, span):
                return why
        return ""


def _bare(quote: str) -> str:
    return normal(quote).casefold().strip(" .!。！")


def _echoes(text: str, spent: str) -> bool:
    """True if a text uses the spent words that stand in its quote, as when an agent repeats what it was told.

    A text that is about something else in the same message is none: it has neither most of the spent words, nor most
    of its own from them.
    """
    known = meaning(spent)
    if len(known) < TELLING:
        return False
    own = meaning(text)
    both = len(own & known)
    return both >= RESTATED * len(known) or both >= MADE_OF * max(len(own), 1)


def _says_back(text: str, quote: Evidence, span: Evidence) -> bool:
    """True for what an agent answers to the spent words of a person, in nearly the same words and with no new value."""
    known = meaning(span.quote)
    values = {word.casefold() for word in hard_words(normal(span.quote))}
    return (
        len(known) >= TELLING
        and all(len(meaning(each) & known) >= RESTATED * len(known) for each in (text, quote.quote))
        and all(word.casefold() in values for word in hard_words(normal(text)))
    )


def echoes(evidence: Sequence[Evidence], rollouts: Mapping[str, Rollout]) -> Iterator[Evidence]:
    """Where else the quotes stand, word by word, in the transcripts that they are from."""
    for quote in evidence:
        said = quote.quote.strip().rstrip(".!。！")
        if len(meaning(said)) < TELLING or quote.rollout not in rollouts:
            continue
        for segment in rollouts[quote.rollout].segments:
            for item in segment.items:
                for found in re.finditer(re.escape(said), item.text, re.IGNORECASE):
                    place = replace(quote, segment=segment.id, item=item.index, start=found.start(), end=found.end())
                    if not place.overlaps(quote):
                        yield place
