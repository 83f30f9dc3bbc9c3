"""Extraction: new runs as a model request, and a model's answer as a raw memory that code verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..belonging import Customer, Place, Titles
from ..document.text import cleaned
from ..errors import ModelError
from ..governance.attribution import Quoted, failed, misattributed, whole
from ..governance.borrowing import Borrowed, borrowed
from ..governance.grounding import ungrounded
from ..governance.grounding.acts import AGENT, OTHER, TOOL, USER
from ..governance.idle import idle
from ..governance.language import TRANSLATED, foreign, in_own_words
from ..governance.lifetime import clamped
from ..governance.policy import RULES, Surroundings, refuses
from ..governance.prose import Said, fit_title, without_unsaid
from ..governance.redaction import redact
from ..governance.taint import Taint
from ..layout import Layout
from ..models import EXTRACTION, ExtractionDraft, ExtractionMaterial, MemoryDraft, QuoteDraft, Request
from ..notes import raw_header, raw_memory_file, slug, summary_file, summary_name
from ..records import Candidate, Evidence, Item, Kind, RawMemory, Refusal, Rollout, Segment, Trust
from ..rollouts import first_request, is_document, others_words, pieces, trust_of
from ..templates import render
from ..tokens import estimate
from ..transcript import MEMORY, TOKENS, Found, fitted, locate, transcribe

__all__ = ["again", "raw_header", "raw_memory_file", "request", "summary_file", "verify"]

PREVIOUS = 1_000
"""Tokens of earlier notes that are shown: the newest; each resumption pays for them again."""
FRAME = 400
"""Tokens that the input has beside the notes and the transcript."""
TASK_LENGTH = 100
TEXT_LENGTH = 500
QUOTE_LENGTH = 1_500
QUOTES = 8
MEMORIES = 40
KEYWORDS = 12
WORDS_LENGTH = 120
"""How many characters a keyword and a subject have at most."""
EDGE = 600
"""Characters at either end of a document in which its sender may speak for themselves."""


def request(
    rollout: Rollout, *, previous: str, layout: Layout, extra_prompt: str | None, tokens: int = TOKENS
) -> Request[ExtractionDraft]:
    """The request to extract what these runs teach.

    `previous` is the body of the conversation's raw memory so far, or empty: of it at most `PREVIOUS` tokens are shown.
    Instructions and input together take at most `tokens`.
    """
    instructions = render(
        "extraction_instructions",
        preset=layout.preset,
        kinds=[kind.value for kind in layout.preset.headings],
        extra_prompt=extra_prompt,
    )
    notes = fitted(previous, PREVIOUS)
    shown = transcribe(rollout, tokens=tokens - estimate(instructions) - estimate(notes) - FRAME)
    return Request(
        task=EXTRACTION,
        instructions=instructions,
        input=render(
            "extraction_input",
            rollout_id=cleaned(rollout.id),
            segments=len(rollout.segments),
            terminal_state=_terminal_state(rollout),
            previous=notes,
            transcript=shown.text,
            left_out=shown.left_out,
        ),
        output_type=ExtractionDraft,
        material=ExtractionMaterial(rollout, previous, layout),
    )


def again(raw: RawMemory) -> str:
    """What a model is told when it is asked once more, since it translated; empty if there is no need to."""
    texts = [refusal.what for refusal in raw.refused if refusal.why == TRANSLATED]
    return render("extraction_again", texts=texts) if texts else ""


def verify(
    draft: ExtractionDraft,
    rollout: Rollout,
    *,
    layout: Layout,
    summary_file: str = "",
    previous: str = "",
    earlier: Sequence[Segment] = (),
    told: Sequence[str] = (),
) -> RawMemory:
    """The raw memory that a draft makes of these runs; what does not hold is left out, as a refusal with its reason.

    Of the summary and the notes, which are free prose, sentences go that have a number, a path or a name which neither
    the transcript nor `previous`, the notes that the request showed, has. `earlier` are runs of
    the conversation before these: they tell who said a thing first and, where many are served, whose a memory is.
    `told` are texts that memory gave its agent: that it says them again proves nothing. `summary_file` is the name that
    the conversation's summary already has; it is kept. A wholly empty draft means that there is nothing to learn: no
    candidates, no texts; so do runs of greetings alone. Raises a retryable `ModelError` for one that is empty in part.
    """
    draft = ExtractionDraft() if not draft.memories and idle(rollout) else draft
    empty = not any((draft.task.strip(), draft.slug.strip(), draft.summary.strip(), draft.raw_memory.strip()))
    empty = empty and not draft.memories
    missing = [name for name in ("summary", "raw_memory") if not getattr(draft, name).strip()]
    if missing and not empty:
        raise ModelError(f"the model left {' and '.join(missing)} empty, but not all of its answer")
    said = _said(rollout, previous)
    talk = replace(rollout, segments=(*earlier, *rollout.segments))
    others = borrowed(talk, pieces(talk))
    task = redact(cleaned(draft.task) or _first_line(draft.summary))[:TASK_LENGTH].strip()
    asked = "" if empty else _asked(rollout)
    task = asked if others.made(task) else fit_title(task, asked, said)
    customer = _customer(rollout, earlier, layout)
    taint = Taint(pieces(talk), told)
    checking = _Checking(rollout, layout, task, said, customer, taint, others, len(earlier))
    candidates, refused = _checked(draft, checking)
    titles = Titles.of(customer, candidates)
    task = titles.title(task)
    refused += tuple(Refusal(redact(each), TRANSLATED) for each in checking.translated)
    summary, unsaid = without_unsaid(redact(draft.summary.strip()), said)
    text, more = without_unsaid(redact(draft.raw_memory.strip()), said)
    refused += tuple(Refusal(f"a sentence of the notes with {word!r}", "nobody said that") for word in (*unsaid, *more))
    wish = titles.title(redact(draft.slug).replace("-", " "))
    chosen = slug("" if others.made(wish) else wish, task, fallback=rollout.id)
    return RawMemory(
        rollout_id=rollout.id,
        updated_at=rollout.segments[-1].updated_at if rollout.segments else "unknown",
        rollout_path=rollout.path,
        summary_file=summary_file or ("" if empty else summary_name(rollout.path, chosen)),
        terminal_state=_terminal_state(rollout),
        consumed=rollout.end,
        task=task,
        summary=summary or task,
        text=text or task,
        candidates=titles.under(candidates, task),
        keywords=titles.words(
            word for word in _keywords(draft.keywords[: 2 * KEYWORDS], said) if not others.made(word)
        ),
        refused=refused,
        said={segment.id: segment.updated_at for segment in rollout.segments},
    )


def _customer(rollout: Rollout, earlier: Sequence[Segment], layout: Layout) -> Customer | None:
    """Who is served in the conversation, where the layout serves many."""
    if layout.preset.audience != "many":
        return None
    return Customer(replace(rollout, segments=(*earlier, *rollout.segments)))


def _terminal_state(rollout: Rollout) -> str:
    return rollout.segments[-1].terminal_state if rollout.segments else "unknown"


def _said(rollout: Rollout, previous: str) -> Said:
    texts = [item.text for segment in rollout.segments for item in segment.items if item.label != MEMORY]
    about = [f"{segment.updated_at} {segment.agent or ''} {segment.terminal_state}" for segment in rollout.segments]
    return Said([*texts, *about, rollout.id, previous])


def _asked(rollout: Rollout) -> str:
    """What a person asked for first, in their own words: a sentence, or as much of it as a title holds."""
    text = redact(cleaned(first_request(rollout))).strip()
    return text if len(text) <= TASK_LENGTH else text[:TASK_LENGTH].rpartition(" ")[0] or text[:TASK_LENGTH]


def _keywords(wanted: Sequence[str], said: Said) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in (_words(each, said) for each in wanted) if word))[:KEYWORDS]


def _words(text: str, said: Said) -> str:
    """A keyword or a subject on one line, without a secret; empty if it names what nobody said, or gives orders."""
    return fit_title(redact(cleaned(text))[:WORDS_LENGTH].strip(), "", said)


def _first_line(text: str) -> str:
    return next((line.strip(" #*-\t") for line in text.splitlines() if line.strip(" #*-\t")), "")


def _checked(draft: ExtractionDraft, checking: _Checking) -> tuple[tuple[Candidate, ...], tuple[Refusal, ...]]:
    kept: dict[tuple[Kind, str], Candidate] = {}
    refused: list[Refusal] = []
    for memory in draft.memories[:MEMORIES]:
        text = cleaned(memory.text)
        try:
            candidate = checking.candidate(memory, text)
        except _Refused as refusal:
            what = "a memory" if str(refusal) == RULES["secret"] else redact(text)
            refused.append(Refusal(what, redact(str(refusal))))
            continue
        key = (candidate.kind, candidate.text.casefold())
        if key not in kept:
            kept[key] = candidate
    if len(draft.memories) > MEMORIES:
        refused.append(
            Refusal(f"{len(draft.memories) - MEMORIES} more memories", f"at most {MEMORIES} from one extraction")
        )
    return tuple(kept.values()), tuple(refused)


class _Checking:
    """Makes candidates of memories, one by one; knows which output is of which call, and who speaks where."""

    def __init__(
        self,
        rollout: Rollout,
        layout: Layout,
        task: str,
        said: Said,
        customer: Customer | None,
        taint: Taint,
        others: Borrowed,
        earlier: int,
    ) -> None:
        self.rollout, self.layout, self.task, self.said, self.customer = rollout, layout, task, said, customer
        self.taint, self.borrowed, self.earlier = taint, others, earlier
        self.ranks = {segment.id: rank for rank, segment in enumerate(rollout.segments)}
        self.answers: dict[tuple[str, int], Item] = {}
        self.outputs: dict[tuple[str, int], Item] = {}
        for segment in rollout.segments:
            # By order, not by id alone: some models give two calls the same id.
            calls: dict[str | None, Item] = {}
            last: Item | None = None
            for item in segment.items:
                if item.role == "call":
                    last = item
                    if item.call_id:
                        calls[item.call_id] = item
                elif item.role == "output" and (call := calls.get(item.call_id, last)) is not None:
                    self.answers[segment.id, item.index] = call
                    self.outputs.setdefault((segment.id, call.index), item)
        self.others: dict[tuple[str, int], tuple[bool, tuple[tuple[int, int], ...]]] = {}
        self.surroundings = Surroundings(rollout)
        self.translated: list[str] = []

    def candidate(self, memory: MemoryDraft, text: str) -> Candidate:
        """The memory with its evidence. Raises `_Refused` with the reason why it is not let in."""
        try:
            kind = Kind(memory.kind.strip().lower())
        except ValueError:
            raise _Refused(f"{memory.kind!r} is no kind of memory") from None
        if kind not in self.layout.preset.headings:
            raise _Refused(f"the layout {self.layout.preset.name!r} does not remember a {kind.value}")
        if not text:
            raise _Refused("it has no text")
        if len(text) > TEXT_LENGTH:
            raise _Refused(f"it is longer than {TEXT_LENGTH} characters")
        given = [quote for quote in memory.quotes[:QUOTES] if quote.text.strip()]
        found = [place for place in map(self._place, given) if place is not None]
        if given and not found:
            if foreign(given[0].text, self._typed()):
                self.translated.append(text)
            raise _Refused(f"the transcript has no {cleaned(given[0].text)[:80]!r}")
        heard = [place for place in found if self._worth(place) is not None]
        if found and not heard:
            raise _Refused("memory itself told it to the agent")
        found = heard
        if foreign(text, said := [place.text for place in found]):
            self.translated.append(text)
            text = in_own_words(text, said)
        evidence = tuple(dict.fromkeys(self._evidence(place) for place in found))
        if any(redact(part) != part for part in (text, *(place.text for place in found))):
            raise _Refused("it holds a secret")
        breach = refuses(text, kind, [self.surroundings.around(place) for place in found])
        why = breach.why if breach else self._unfounded(text, kind, found)
        if why:
            raise _Refused(why)
        weight = None if memory.importance is None else clamped(memory.importance)
        subject = _words(memory.subject, self.said)
        if self.borrowed.made(subject) and all(each.trust > Trust.EXTERNAL for each in evidence):
            subject = ""
        places = [Place(place.segment, place.item, place.text) for place in found]
        theirs = self.customer is not None and self.customer.owns(text, kind, places, subject)
        return Candidate(kind, text, evidence, subject, self.task, weight, self.rollout.id if theirs else "")

    def _typed(self) -> list[str]:
        """The beginnings of what people said: quotes that nobody said may be translations of it."""
        items = (item for segment in self.rollout.segments for item in segment.items)
        return [item.text[:QUOTE_LENGTH] for item in items if item.role == "user"]

    def _place(self, quote: QuoteDraft) -> Found | None:
        """Where the quote stands; None if nowhere, or if it is too long to prove one thing."""
        found = locate(quote.text.strip()[: QUOTE_LENGTH + 1], quote.item, self.rollout)
        if found is None or found.end - found.start > QUOTE_LENGTH or _cuts_a_number(found):
            return None
        return found

    def _evidence(self, found: Found) -> Evidence:
        trust = self._worth(found) or Trust.EXTERNAL
        return Evidence(self.rollout.id, found.segment, found.item.index, found.start, found.end, found.text, trust)

    def _worth(self, found: Found) -> Trust | None:
        """Whose word the quote is, also where somebody says again what another said; None for what memory told."""
        trust = trust_of(found.item, found.start, found.end)
        return self._tainted(found, trust)

    def _tainted(self, found: Found, trust: Trust) -> Trust | None:
        if found.item.role == "call":
            return trust  # what an agent did is its own doing, whoever told it to
        place = (self.earlier + self.ranks[found.segment], found.item.index)
        return self.taint.lowered(place, found.start, found.end, found.text, trust)

    def _unfounded(self, text: str, kind: Kind, found: Sequence[Found]) -> str | None:
        quotes = [self._quoted(place) for place in found]
        speakers = [quote.speaker for quote in quotes]
        why = ungrounded(text, [place.text for place in found], speakers) or misattributed(text, kind, quotes)
        if why or all(quote.text == place.text for quote, place in zip(quotes, found, strict=True)):
            return why
        return ungrounded(text, [quote.text for quote in quotes], speakers)

    def _quoted(self, found: Found) -> Quoted:
        segment, item = found.segment, found.item
        answers = self.answers.get((segment, item.index))
        output = self.outputs.get((segment, item.index)) if item.role == "call" else None
        return Quoted(
            found.text if item.role == "call" else whole(item.text, found.start, found.end),  # a command is no sentence
            self._speaker(found),
            (self.ranks[segment], item.index),
            answers.text if answers is not None else None,
            output is not None and failed(output.text),
        )

    def _speaker(self, found: Found) -> str:
        item = found.item
        if item.role != "user":
            return TOOL if item.role == "output" else AGENT
        key = (found.segment, item.index)
        if key not in self.others:
            self.others[key] = (is_document(item.text), others_words(item))
        document, spans = self.others[key]
        inside = document and found.start > EDGE and found.end < len(item.text) - EDGE
        inside = inside or self._tainted(found, Trust.USER) is not Trust.USER
        return OTHER if inside or any(found.start < last and first < found.end for first, last in spans) else USER


def _cuts_a_number(found: Found) -> bool:
    text, start, end = found.item.text, found.start, found.end
    before = start > 0 and text[start - 1 : start + 1].isdigit()
    return before or (end < len(text) and text[end - 1 : end + 1].isdigit())


class _Refused(Exception):
    """Why one memory is not let in."""
