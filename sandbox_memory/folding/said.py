"""Which line somebody means who says words of it: one in sight, one that is not, or one that said them before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..governance.wording import normal
from ..ledger import Ledger
from ..lexical import Index, terms
from ..records import Status
from ..state import State

BEFORE = "said before"
"""How a line stands whose earlier words are meant."""
OUT = {Status.RETIRED: "let go", Status.HELD: "put aside", Status.ACTIVE: "out of sight"}
"""How a line stands that is out of sight, where its status is no plain word."""


@dataclass(frozen=True)
class Said:
    """Words of a line: of one in sight (`how` is empty), of one that is not, or what it said before."""

    id: str
    text: str
    how: str = ""


def said(ledger: Ledger, state: State) -> tuple[list[Said], list[Said], list[Said]]:
    """What lines in sight say, what those out of sight said last, and what all of them said before that.

    Nothing that is erased is among it, nor what commits say that count for nothing.
    """
    seen, known = state.visible(), {id: r for id, r in state.records.items() if r.status is not Status.FORGOTTEN}
    now = [Said(id, record.text) for id, record in seen.items() if record.text]
    away = [Said(id, r.text, OUT.get(r.status, r.status.value)) for id, r in known.items() if r.text and id not in seen]
    before: dict[Said, None] = {}
    for commit in ledger.commits:
        if commit.ordinal in ledger.passed:
            continue
        for operation in commit.operations:
            record, text = known.get(operation.id), str(operation.body.get("text", ""))
            if record and text and text != record.text:
                before.setdefault(Said(operation.id, text, BEFORE))
    return now, away, list(before)


def having(found: Sequence[Said], words: str) -> list[Said]:
    """Those that have all these words, or begin words with them; each line once."""
    wanted = [_begins(word) for word in normal(words).casefold().split()]
    have = (each for each in found if wanted and all(word.search(normal(each.text).casefold()) for word in wanted))
    return list({each.id: each for each in have}.values())


def nearest(found: Sequence[Said], words: str, most: int) -> list[Said]:
    """Those most like these words, at most so many, best first; each line once, and none that shares no whole word."""
    index, whole = Index(), {term for term in terms(words) if len(term) > 1}
    for number, each in enumerate(found):
        index.add(str(number), each.text)
    near = (found[int(number)] for number in index.search(words, len(found)))
    lines: dict[str, Said] = {}
    for each in near:
        if not whole or whole.intersection(terms(each.text)):
            lines.setdefault(each.id, each)
        if len(lines) == most:
            break
    return list(lines.values())


def _begins(word: str) -> re.Pattern[str]:
    """Where a word begins with these letters; Chinese has no blanks to begin after."""
    return re.compile((r"(?<![a-z0-9])" if word[0].isascii() and word[0].isalnum() else "") + re.escape(word))
