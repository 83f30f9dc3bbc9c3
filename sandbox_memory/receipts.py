"""Receipts: a quote of a record, looked up in the transcript that it is from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .layout import Layout
from .records import Evidence, Rollout

_WORD = re.compile(r"^[^\W\u2e80-\u9fff]{1,30}(?=\W|[\u2e80-\u9fff])")
BESIDE = 120
"""How many characters beside a quote a receipt shows at most."""


@dataclass(frozen=True)
class Receipt:
    """A quote of a record, and whether it stands where it says now.

    `line` is the 1-based line of the rollout file, `speaker` who said it there, `at` when. `before` and `after` are
    what else stands in the lines of the quote, in whole words, with an ellipsis where that is not all. `verdict` is
    empty if it stands there, else what is wrong.
    """

    quote: str
    path: str
    line: int
    segment: str
    item: int
    speaker: str
    trust: str
    verdict: str = ""
    at: str = ""
    before: str = ""
    after: str = ""


def receipt(evidence: Evidence, rollout: Rollout | None, layout: Layout) -> Receipt:
    """The quote of `evidence`, looked up where it says."""
    path = layout.session(f"{evidence.rollout}.jsonl")
    base = Receipt(
        evidence.quote, path, 0, evidence.segment, evidence.item, "", evidence.trust.label, "its transcript is not kept"
    )
    if rollout is None:
        return base
    segment = next((s for s in rollout.segments if s.id == evidence.segment), None)
    if segment is None:
        return replace(base, verdict="its run is not in the transcript any more")
    item = next((i for i in segment.items if i.index == evidence.item), None)
    text = item.text if item else ""
    at = replace(base, line=segment.line, speaker=item.label if item else "", at=segment.updated_at)
    if text[evidence.start : evidence.end] != evidence.quote:
        return replace(at, verdict="the quote does not stand there")
    before = text[: evidence.start].rpartition("\n")[2]
    after = text[evidence.end :].partition("\n")[0]
    return replace(at, verdict="", before=_end(before), after=_end(after[::-1])[::-1])


def _end(text: str) -> str:
    """The end of a text that is too long, behind an ellipsis, from the beginning of a word."""
    if len(text) <= BESIDE:
        return text
    shown = text[-BESIDE:]
    inside = not text[-BESIDE - 1].isspace() and not shown[0].isspace()
    return f"…{_WORD.sub('', shown, count=1) if inside else shown}"
