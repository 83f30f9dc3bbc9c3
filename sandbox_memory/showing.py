"""How candidates and records stand in the prompt of a consolidation, and which rollout summaries it may open."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import Any

from .certain import trust_in
from .lexical import bare
from .records import Candidate, Record
from .screening import Inputs
from .templates import one_line

QUOTES, QUOTE_LENGTH = 2, 240
"""How many quotes of a candidate are shown, and how many characters of each; of a record that is one."""


def candidates(given: Inputs) -> list[dict[str, Any]]:
    """What the prompt shows of each candidate."""
    return [_candidate(n, candidate, given) for n, candidate in enumerate(given.candidates, 1)]


def records(given: Inputs) -> list[dict[str, Any]]:
    """What the prompt shows of each record."""
    return [_record(n, record) for n, record in enumerate(given.records, 1)]


def openable(given: Inputs) -> dict[str, tuple[str, ...]]:
    """The names of the summaries that may be opened, and which candidates and records each is about."""
    about: dict[str, dict[str, None]] = defaultdict(dict)
    numbered: tuple[tuple[str, tuple[Candidate | Record, ...]], ...] = (("c", given.candidates), ("r", given.records))
    for letter, shown in numbered:
        for n, each in enumerate(shown, 1):
            for stem in sorted({e.rollout for e in each.evidence} & given.summaries.keys()):
                about[posixpath.basename(given.summaries[stem])][f"{letter}{n}"] = None
    return {name: tuple(names) for name, names in about.items()}


def _candidate(number: int, candidate: Candidate, given: Inputs) -> dict[str, Any]:
    age = f"conversation {given.ages[number - 1]}" if number <= len(given.ages) else ""
    return {
        "name": f"c{number}",
        "marks": [candidate.kind.value, trust_in(candidate).label, *([age] if age else [])],
        "text": candidate.text,
        "subject": candidate.subject,
        "group": "",
        "task": candidate.task,
        "quotes": _quotes(candidate, QUOTES),
    }


def _record(number: int, record: Record) -> dict[str, Any]:
    return {
        "name": f"r{number}",
        "marks": [record.kind.value, record.trust.label, *(["protected"] if record.protected else [])],
        "text": record.text,
        "subject": record.subject,
        "group": record.group,
        "quotes": _quotes(record, 1),
    }


def _quotes(value: Candidate | Record, most: int) -> list[str]:
    """The first quotes that say more than the text does."""
    text = bare(value.text)
    telling = dict.fromkeys(one_line(e.quote) for e in value.evidence if bare(e.quote) not in text)
    return [quote if len(quote) <= QUOTE_LENGTH else f"{quote[:QUOTE_LENGTH]}…" for quote in telling][:most]
