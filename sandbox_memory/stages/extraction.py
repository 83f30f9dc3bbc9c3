"""Extraction: new runs as a model request, and a model's answer as a raw memory that code verified."""

from __future__ import annotations

from ..errors import ModelError
from ..governance.grounding import ungrounded
from ..governance.redaction import redact
from ..layout import Layout
from ..models import EXTRACTION, ExtractionDraft, ExtractionMaterial, MemoryDraft, QuoteDraft, Request
from ..notes import raw_header, raw_memory_file, slug, summary_file, summary_name
from ..records import Candidate, Evidence, Kind, RawMemory, Refusal, Rollout
from ..rollouts import trust_of
from ..templates import one_line, render
from ..transcript import TOKENS, clipped, locate, transcribe

__all__ = ["raw_header", "raw_memory_file", "request", "summary_file", "verify"]

PREVIOUS_BYTES = 12_000
TASK_LENGTH = 100
TEXT_LENGTH = 500
QUOTE_LENGTH = 1_500
QUOTES = 8
MEMORIES = 40
KEYWORDS = 12


def request(
    rollout: Rollout, *, previous: str, layout: Layout, extra_prompt: str | None, tokens: int = TOKENS
) -> Request[ExtractionDraft]:
    """The request to extract what these runs teach.

    `previous` is the body of the conversation's raw memory so far, or empty. The transcript takes at most `tokens`.
    """
    shown = transcribe(rollout, tokens=tokens)
    return Request(
        task=EXTRACTION,
        instructions=render(
            "extraction_instructions",
            preset=layout.preset,
            kinds=[kind.value for kind in layout.preset.headings],
            extra_prompt=extra_prompt,
        ),
        input=render(
            "extraction_input",
            rollout_id=one_line(rollout.id),
            segments=len(rollout.segments),
            terminal_state=_terminal_state(rollout),
            previous=clipped(previous, PREVIOUS_BYTES),
            transcript=shown.text,
            left_out=shown.left_out,
        ),
        output_type=ExtractionDraft,
        material=ExtractionMaterial(rollout, previous, layout),
    )


def verify(draft: ExtractionDraft, rollout: Rollout, *, layout: Layout, summary_file: str = "") -> RawMemory:
    """The raw memory that a draft makes of these runs; what does not hold is left out, as a refusal with its reason.

    `summary_file` is the name that the conversation's summary already has; it is kept. A wholly empty draft means that
    there is nothing to learn: no candidates, no texts. Raises a retryable `ModelError` for one that is empty in part.
    """
    empty = not any((draft.task.strip(), draft.slug.strip(), draft.summary.strip(), draft.raw_memory.strip()))
    empty = empty and not draft.memories
    missing = [name for name in ("summary", "raw_memory") if not getattr(draft, name).strip()]
    if missing and not empty:
        raise ModelError(f"the model left {' and '.join(missing)} empty, but not all of its answer")
    task = redact(one_line(draft.task) or _first_line(draft.summary))[:TASK_LENGTH].strip()
    candidates, refused = _checked(draft, rollout, layout, task)
    chosen = slug(redact(draft.slug), task, fallback=rollout.id)
    return RawMemory(
        rollout_id=rollout.id,
        updated_at=rollout.segments[-1].updated_at if rollout.segments else "unknown",
        rollout_path=rollout.path,
        summary_file=summary_file or ("" if empty else summary_name(rollout.path, chosen)),
        terminal_state=_terminal_state(rollout),
        consumed=rollout.end,
        task=task,
        summary=redact(draft.summary.strip()),
        text=redact(draft.raw_memory.strip()),
        candidates=candidates,
        keywords=tuple(dict.fromkeys(word for word in map(one_line, map(redact, draft.keywords)) if word))[:KEYWORDS],
        refused=refused,
    )


def _terminal_state(rollout: Rollout) -> str:
    return rollout.segments[-1].terminal_state if rollout.segments else "unknown"


def _first_line(text: str) -> str:
    return next((line.strip(" #*-\t") for line in text.splitlines() if line.strip(" #*-\t")), "")


def _checked(
    draft: ExtractionDraft, rollout: Rollout, layout: Layout, task: str
) -> tuple[tuple[Candidate, ...], tuple[Refusal, ...]]:
    kept: dict[tuple[Kind, str], Candidate] = {}
    refused: list[Refusal] = []
    for memory in draft.memories[:MEMORIES]:
        text = one_line(memory.text)
        try:
            candidate = _candidate(memory, text, rollout, layout, task)
        except _Refused as refusal:
            refused.append(Refusal(redact(text), str(refusal)))
            continue
        key = (candidate.kind, candidate.text.casefold())
        if key not in kept:
            kept[key] = candidate
    if len(draft.memories) > MEMORIES:
        refused.append(
            Refusal(f"{len(draft.memories) - MEMORIES} more memories", f"at most {MEMORIES} from one extraction")
        )
    return tuple(kept.values()), tuple(refused)


def _candidate(memory: MemoryDraft, text: str, rollout: Rollout, layout: Layout, task: str) -> Candidate:
    try:
        kind = Kind(memory.kind.strip().lower())
    except ValueError:
        raise _Refused(f"{memory.kind!r} is no kind of memory") from None
    if kind not in layout.preset.headings:
        raise _Refused(f"the layout {layout.preset.name!r} does not remember a {kind.value}")
    if not text:
        raise _Refused("it has no text")
    if len(text) > TEXT_LENGTH:
        raise _Refused(f"it is longer than {TEXT_LENGTH} characters")
    found = [(quote.text.strip(), _evidence(quote, rollout)) for quote in memory.quotes[:QUOTES] if quote.text.strip()]
    evidence = tuple(dict.fromkeys(place for _, place in found if place is not None))
    if found and not evidence:
        raise _Refused(f"the transcript has no {one_line(found[0][0])[:80]!r}")
    quotes = [quote.quote for quote in evidence]
    if any(redact(part) != part for part in (text, *quotes)):
        raise _Refused("it holds a secret")
    why = ungrounded(text, quotes)
    if why:
        raise _Refused(redact(why))
    return Candidate(kind, text, evidence, redact(one_line(memory.subject)), task)


def _evidence(quote: QuoteDraft, rollout: Rollout) -> Evidence | None:
    """Where the quote stands; None if nowhere, or if it is too long to prove one thing."""
    found = locate(quote.text.strip()[: QUOTE_LENGTH + 1], quote.item, rollout)
    if found is None or found.end - found.start > QUOTE_LENGTH:
        return None
    trust = trust_of(found.item, found.start, found.end)
    return Evidence(rollout.id, found.segment, found.item.index, found.start, found.end, found.text, trust)


class _Refused(Exception):
    """Why one memory is not let in."""
