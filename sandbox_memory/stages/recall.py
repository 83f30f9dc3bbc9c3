"""Recall: records, chosen and laid out, as the marked block of `memory_summary.md` that goes into the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ..blocks import Block
from ..layout import Preset
from ..records import Record
from ..state import State
from ..tokens import estimate

SUMMARY_TOKENS = 2_000


def chosen(state: State, preset: Preset) -> list[Record]:
    """The records that fit the budget, most trusted and newest first, in the order in which they are shown.

    The budget is the setting `summary_tokens`; a record is shown whole or not at all.
    """
    budget = int(state.settings.get("summary_tokens", SUMMARY_TOKENS))
    order = sorted(
        state.visible().values(), key=lambda r: (r.protected, r.trust, len(r.support), r.updated, r.id), reverse=True
    )
    kept = []
    for record in order:
        cost = estimate(record.text) + 8
        if cost <= budget:
            budget -= cost
            kept.append(record)
    headings = list(dict.fromkeys(preset.headings.values()))
    rank = {heading: n for n, heading in enumerate(headings)}
    return sorted(kept, key=lambda r: (rank.get(_heading(r, preset), len(rank)), r.group, r.created, r.id))


def _heading(record: Record, preset: Preset) -> str:
    return preset.headings.get(record.kind, "Reusable knowledge")


def block(state: State, preset: Preset) -> Block:
    """The block that shows `state`; empty text when there is nothing to show."""
    return Block(state.ordinal, layout_lines(chosen(state, preset), preset))


def layout_lines(records: Sequence[Record], preset: Preset) -> str:
    """The lines of the block: a heading for each section, a list item with its id for each record."""
    lines: list[str] = []
    heading = ""
    for record in records:
        if _heading(record, preset) != heading:
            heading = _heading(record, preset)
            lines += ["", f"## {heading}", ""] if lines else [f"## {heading}", ""]
        lines.append(f"- {record.text} ^{record.id}")
    return "\n".join(lines)
