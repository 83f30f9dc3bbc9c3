"""Concluding: several episodes of one matter become one record, in their own words; they stay reachable from it.

Code does it, whatever model consolidates: the text is that of the episodes, the newest last, without what another one
says too, and rests on all their quotes. A model may put it better by a `merge` of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..governance.attribution import unsupported
from ..governance.wording import CJK, meaning, subject_key
from ..layout import Preset
from ..ledger import Operation
from ..proposals import new_id
from ..records import Kind, Record
from ..sameness import overlap, said, tokens

SEVERAL, MOST = 3, 5
"""How many episodes of one matter make a conclusion, and how many one conclusion takes in at a time."""
ALIKE = 0.3
"""How much episodes of one task must overlap in words (Jaccard) to be of one matter; those of one subject are."""
SAID_TOO = 0.8
"""Share of the words of an episode that stand in another for it to add nothing."""
LENGTH = 500
"""Characters that a conclusion has at most."""


def conclusions(records: Iterable[Record], preset: Preset) -> Iterator[Operation]:
    """For each matter of which these records have several episodes: the merge that replaces them.

    What a person made theirs, what is pinned or expires, and what was said by different people or is trusted
    differently stays as it is.
    """
    episodes = [
        record
        for record in sorted(records, key=lambda record: (record.created, record.id))
        if record.kind is Kind.EPISODE and not (record.protected or record.pinned or record.expires)
    ]
    for matter in _matters(episodes, preset):
        for most in range(min(len(matter), MOST), SEVERAL - 1, -1):
            if operation := _merged(matter[:most], preset):
                yield operation
                break


def _matters(episodes: Sequence[Record], preset: Preset) -> list[list[Record]]:
    matters: list[list[Record]] = []
    for record in episodes:
        own = next((matter for matter in matters if _of_one(matter[-1], record, preset)), None)
        if own is None:
            matters.append([record])
        else:
            own.append(record)
    return [matter for matter in matters if len(matter) >= SEVERAL]


def _of_one(one: Record, other: Record, preset: Preset) -> bool:
    if one.trust is not other.trust or said(one, preset.audience).owner != said(other, preset.audience).owner:
        return False
    if one.subject and other.subject:
        return subject_key(one.subject) == subject_key(other.subject)
    alike = overlap(tokens(one.text.casefold()), tokens(other.text.casefold()))
    return one.group == other.group and alike >= ALIKE


def _merged(matter: Sequence[Record], preset: Preset) -> Operation | None:
    """The conclusion of these episodes, oldest first; None if it is too long, or not carried by their quotes."""
    evidence = [quote for record in matter for quote in record.evidence]
    text = _told(matter)
    if len(text) > LENGTH or unsupported(text, Kind.EPISODE, evidence, many=preset.audience == "many"):
        return None
    facts: dict[str, Any] = {
        "kind": Kind.EPISODE.value,
        "trust": matter[0].trust.label,
        "evidence": [quote.to_json() for quote in evidence],
        "support": sorted({stem for record in matter for stem in record.support}),
        "importance": max(record.importance for record in matter),
        "replaces": [record.id for record in matter],
    }
    body = {
        "text": text,
        "subject": next((record.subject for record in reversed(matter) if record.subject), ""),
        "group": matter[-1].group,
        "section": matter[-1].section,
        "quotes": [quote.quote for quote in evidence],
    }
    if matter[0].owner:
        body["owner"] = matter[0].owner
    return Operation("merge", new_id(), facts, body)


def _told(matter: Sequence[Record]) -> str:
    words = [meaning(record.text) for record in matter]
    kept = [
        record.text.strip()
        for n, record in enumerate(matter)
        if not any(len(words[n] & later) >= SAID_TOO * len(words[n]) for later in words[n + 1 :])
    ]
    chinese = all(re.search(f"[{CJK}]", text) for text in kept)
    inner = [text.rstrip(" .。;；") for text in kept[:-1]]
    return ("；" if chinese else "; ").join([*inner, kept[-1]])
