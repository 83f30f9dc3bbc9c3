"""What was taken out: lines that were deleted, and what lines said before a person gave them other words.

What said the same before that is spent. What a person took out also stays out when a tool shows it again, or a page or
an agent says it: the word of a person brings it back.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .certain import ALIKE, says_no_more, trust_in
from .governance.wording import normal
from .known import Known
from .records import Candidate, Status, Trust
from .sameness import Said
from .sameness.restating import resembles
from .state import Gone, State

_NUMBER = re.compile(r"\d+")


class TakenOut:
    """What was taken out of a state and stands nowhere in it, findable by what it says; read at the first question.

    `audience` is the layout's.
    """

    def __init__(self, state: State, audience: str) -> None:
        self._state, self._audience = state, audience
        self._known: Known | None = None
        self._gone: dict[str, Gone] = {}

    def find(self, candidate: Candidate) -> Gone | None:
        """What was taken out that the candidate would bring back; None if there is none, or if it may."""
        if not self._state.gone:
            return None
        if self._known is None:
            self._known = self._read()
        own = self._known.said(candidate)
        near = (*self._known.about(candidate.subject), *self._known.alike(own.text, ALIKE))
        for record in {record.id: record for record in near}.values():
            gone = self._gone[record.id]
            if _says(own, self._known.said(record)) and self._stays_out(candidate, gone):
                return gone
        return None

    def _read(self) -> Known:
        there = {normal(record.text).casefold() for record in self._state.visible().values()}
        for id, some in self._state.gone.items():
            if id in self._state.records and self._state.records[id].status is Status.FORGOTTEN:
                continue
            for number, gone in enumerate(some):
                if gone.record.text and normal(gone.record.text).casefold() not in there:
                    self._gone[f"{id} {number}"] = gone
        return Known({n: replace(gone.record, id=n) for n, gone in self._gone.items()}, audience=self._audience)

    def _stays_out(self, candidate: Candidate, gone: Gone) -> bool:
        less = gone.by_person and trust_in(candidate) < Trust.USER
        return less or self._state.said_before(candidate.evidence, gone.at)


def _says(own: Said, gone: Said) -> bool:
    """True if it says what was taken out, or much of it in other words: it is not to come back by being reworded."""
    if says_no_more(own, gone):
        return True
    if own.owner != gone.owner or own.hard != gone.hard or bool(own.denials) is not bool(gone.denials):
        return False
    if sorted(_NUMBER.findall(own.plain)) != sorted(_NUMBER.findall(gone.plain)):
        return False
    return resembles(own.bare, gone.bare, bool(own.owner))
