"""What an extraction leaves behind: its two files, and the commit that has the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..document import Document
from ..errors import Conflict
from ..governance.redaction import redact
from ..ledger import Operation
from ..notes import raw_header, raw_memory_file, summary_file
from ..records import RawMemory, Usage
from ..state import State, candidate_body, candidate_facts
from ..trusting.signed import is_ours, signed
from ..workspace import ABSENT, Replace, digest
from .gathering import Work
from .settle import Change, Maker
from .store import Store

SAVES = 5
"""How often the two files of an extraction may be saved by somebody else while they are written."""


async def write(store: Store, work: Work, raw: RawMemory, maker: Maker) -> None:
    """Write the two files and commit; what somebody saved into one of them meanwhile is read again and kept."""
    summary = store.layout.memory(raw.summary_file)
    for _ in range(SAVES):
        try:
            await store.append(maker, _files(store, work, raw))
            return
        except Conflict as conflict:
            if conflict.path not in (work.raw_path, summary):
                raise
        files = (await store.look([work.raw_path, summary])).files
        work = replace(work, raw=files.get(work.raw_path), summary=files.get(summary))
    raise Conflict(work.raw_path, f"somebody saved it, or {summary}, {SAVES} times while it was written")


def operation(work: Work, raw: RawMemory, usage: Usage) -> Operation:
    """The commit's entry for what was extracted, and what it did cost."""
    facts: dict[str, Any] = {
        "consumed": raw.consumed,
        "order": list(work.order),
        "updated_at": raw.updated_at,
        "summary_file": raw.summary_file,
        "terminal_state": raw.terminal_state,
        "candidates": [candidate_facts(candidate) for candidate in raw.candidates],
        "usage": usage.to_json(),
    }
    quoted = {quote.segment: raw.said_at(quote.segment) for each in raw.candidates for quote in each.evidence}
    if earlier := {segment: at for segment, at in quoted.items() if at != raw.updated_at}:
        facts["said"] = earlier
    body = {
        "task": raw.task,
        "keywords": list(raw.keywords),
        "candidates": [candidate_body(candidate) for candidate in raw.candidates],
    }
    return Operation("extract", work.due.stem, facts, body)


def _files(store: Store, work: Work, raw: RawMemory) -> list[Replace]:
    """The two files of an extraction, with what they said before below; one that a person edited stays unsigned."""
    if not raw.summary_file or not (raw.text or raw.summary or raw.candidates):
        return []  # nothing was learned: what earlier runs taught stays as it is
    previous = redact(work.raw.decode("utf-8", "replace"), store.salt) if work.raw else ""
    before = redact(work.summary.decode("utf-8", "replace"), store.salt) if work.summary else ""
    texts = (
        (work.raw_path, work.raw, previous, raw_memory_file(raw, previous=previous)),
        (store.layout.memory(raw.summary_file), work.summary, before, summary_file(raw, previous=before)),
    )
    return [
        Replace(
            path,
            signed(text) if old is None or is_ours(old) else _ended(text, old),
            expect=ABSENT if old is None and path == work.raw_path else digest(old) if old is not None else None,
            required=True,
        )
        for path, old, was, text in texts
        if old is None or is_ours(old) or was != old.decode("utf-8", "replace") or not _same_runs(was, raw)
    ]


def _ended(text: str, old: bytes) -> bytes:
    """The text in bytes, with the line ends of what somebody saved."""
    return text.replace("\n", Document.parse(old).newline).encode("utf-8", "replace")


def _same_runs(text: str, raw: RawMemory) -> bool:
    """True for notes on the very runs that were read again: what a person has made of these stays as it is."""
    return raw_header(text).get("consumed_bytes") == str(raw.consumed)


def consumed(works: list[Work], state: State) -> Change:
    """The commit that these conversations were read and had nothing to extract."""
    operations = tuple(
        Operation("consume", work.due.stem, {"consumed": work.rollout.end})
        for work in works
        if work.rollout.end != (state.rollouts[work.due.stem].consumed if work.due.stem in state.rollouts else 0)
    )
    return Change("extraction", operations)
