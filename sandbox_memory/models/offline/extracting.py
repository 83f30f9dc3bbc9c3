"""Extraction without a model: memories that are sentences of the transcript, and results that stand in it."""

from __future__ import annotations

import re

from ...governance.grounding import ungrounded
from ...governance.wording import STOP
from ...records import Kind
from ...transcript import MEMORY
from .. import ExtractionDraft, ExtractionMaterial, MemoryDraft
from . import commands, lookups, observed, outcomes, said, tools
from .reading import Reading
from .summing import summary

MOST = {Kind.PREFERENCE: 14, Kind.FACT: 12, Kind.LESSON: 8, Kind.PROCEDURE: 6, Kind.TASK: 4, Kind.EPISODE: 2}
"""How many memories of a kind one extraction gives at most: the strongest, in the order of the transcript."""
SOURCES = (
    said.said,
    observed.failed,
    observed.emptied,
    observed.shown,
    outcomes.outcome,
    lookups.lookups,
    lookups.found_for,
    said.rules,
)
"""The readers, in the order in which a text that two of them give is taken from the first."""


def extract(material: ExtractionMaterial) -> ExtractionDraft:
    """What the runs teach, in their own words."""
    reading = _reading(material)
    if not reading.items:
        return ExtractionDraft()
    memories = _kept(reading)
    return ExtractionDraft(
        task=reading.task or "Work without a request",
        slug=reading.task,
        summary=summary(reading, memories),
        raw_memory=_notes(len(memories), len(reading.segments)),
        keywords=_keywords(reading),
        memories=memories,
    )


def _reading(material: ExtractionMaterial) -> Reading:
    segments, preset = material.rollout.segments, material.layout.preset
    items = [(n, item) for n, segment in enumerate(segments, 1) for item in segment.items if item.label != MEMORY]
    asked = [(n, item) for n, item in items if item.role == "user"]
    task, task_quote = said.task(asked)
    who = said.who(asked) if preset.audience == "many" else None
    calls = tuple(tools.calls(segments))
    return Reading(segments, preset, tuple(items), tuple(asked), calls, task, task_quote, who)


def _kept(reading: Reading) -> list[MemoryDraft]:
    found = [memory for source in SOURCES for memory in source(reading)]
    kept: list[MemoryDraft] = []
    seen: set[str] = set()
    for kind, most in MOST.items():
        if kind not in reading.preset.headings:
            continue
        mine = [(score, memory) for score, memory in found if memory.kind == kind.value]
        mine = [each for each in mine if not _said_better(each[1], mine) and _holds(each[1], seen)]
        best = sorted(range(len(mine)), key=lambda place: -mine[place][0])[:most]
        kept.extend(mine[place][1] for place in sorted(best))
    return kept


def _said_better(memory: MemoryDraft, found: list[tuple[int, MemoryDraft]]) -> bool:
    """True if another memory says the same and goes on."""
    return any(other.text.startswith(memory.text) and other.text != memory.text for _, other in found)


def _holds(memory: MemoryDraft, seen: set[str]) -> bool:
    key = memory.text.casefold()
    if key in seen:
        return False
    seen.add(key)
    return ungrounded(memory.text, [quote.text for quote in memory.quotes]) is None


def _notes(memories: int, runs: int) -> str:
    what = "1 memory" if memories == 1 else f"{memories or 'No'} memories"
    return f"{what} quoted from {runs} runs by the built-in model."


def _keywords(reading: Reading) -> list[str]:
    """Tools, programs and the words of the task that are neither numbers nor common."""
    words = [call.name for call in reading.calls if call.name]
    words += [commands.verb(call.command.text) for call in reading.calls if call.command and not call.is_code]
    words += [word for word in re.findall(r"[\w./-]+", reading.task) if word.casefold() not in STOP]
    return list(dict.fromkeys(word for word in words if any(char.isalpha() for char in word)))[:12]
