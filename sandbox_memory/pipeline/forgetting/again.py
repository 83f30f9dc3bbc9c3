"""What a run repeats of what was taken out: an application keeps its own history, and hands it on with every turn.

What stands in it before the newest message is old, whatever conversation it is offered in. What a person types now is
theirs to say again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import WorkspaceError
from ...folding import fold
from ...governance.forgetting import FORGOTTEN, OFFERED, Erasure, Marks, cleared, masked_value, pieces, remains, tokens
from ...records import RunCapture, Status
from ...rollouts import message_text
from ...rollouts.history import History, marks, repeated
from ...rollouts.retelling import retold_until, speeches, unlabelled
from ...rollouts.values import jsonable
from ...state import State
from ..store import Store
from .words import RETOLD, parts_of, weight

logger = logging.getLogger("sandbox_memory")

LEFT = 0.6
"""Share of its words that are left of a message that was told again, at most."""


@dataclass(frozen=True)
class Offered:
    """A run without what was taken out.

    `known_by` are the marks of its items, `old` the places of those that the rollout holds already, or that say nothing
    but what was taken out.
    """

    capture: RunCapture
    known_by: list[str]
    old: frozenset[int]


@dataclass(frozen=True)
class _Taken:
    """What was forgotten once, or deleted.

    `marks` are sought everywhere, `retold` in what may tell it again, `near` where a copy of it stands beside.
    """

    marks: Marks
    retold: Marks
    near: Marks
    gone: bool = False
    deleted: bool = False


async def offered(store: Store, stem: str, capture: RunCapture, history: History) -> Offered:
    """The run as it may be recorded in the rollout `stem`, of which that `history` is known."""
    known_by = marks([*capture.input, *capture.generated], store.salt)
    known, newest = set(history.items), _newest(capture)
    if any(mark and mark not in known for mark in known_by[:newest]) or retold_until(_text(capture.input[newest:])):
        try:
            await store.see(listing=False)  # another process may have forgotten it
        except WorkspaceError as error:  # nothing said is lost for want of the ledger: what was read before counts
            logger.warning("sandbox memory: what was forgotten since could not be read: %s", error)
    state = fold(store.ledger)
    taken = [_forgotten(erasure, stem) for erasure in state.erasures.values()]
    if state.tombstones:
        taken.append(_deleted(state))
    if not taken:
        return Offered(capture, known_by, repeated(history, known_by, len(capture.input), resumed=capture.resumed))
    return _Offer(state, capture, known_by, history, store.salt).made(taken)


def _newest(capture: RunCapture) -> int:
    """The place of the newest message of the user in a run's input; 0 if there is none."""
    return max((place for place, item in enumerate(capture.input) if item.get("role") == "user"), default=0)


def _text(items: Sequence[Mapping[str, Any]]) -> str:
    """The text of the first of these items, if it is a message of one part."""
    content = items[0].get("content") if items and items[0].get("role") == "user" else None
    parts = content if isinstance(content, list) else [content]
    text = parts[0].get("text") if len(parts) == 1 and isinstance(parts[0], Mapping) else parts[0] if parts else None
    return text if isinstance(text, str) and len(parts) == 1 else ""


def _forgotten(erasure: Erasure, stem: str) -> _Taken:
    near = retold = erasure.within(OFFERED)
    for local in erasure.local.values():
        near = near.with_(local)
    return _Taken(erasure.marks, retold, near, erasure.whole(stem))


def _deleted(state: State) -> _Taken:
    """Lines that a person deleted or changed, and the quotes that they rested on."""
    texts: dict[str, None] = {}
    for id, spans in state.tombstones.items():
        record = state.records.get(id)
        if record is not None and record.status is Status.DELETED:
            texts[record.text] = None
        texts.update({span.quote: None for span in spans})
    whole = {tokens(text) for text in texts}
    parts = {part for text in texts for piece in pieces(text) for part in parts_of(tokens(piece))}
    salt = "00" * 16
    long = Marks.of(salt, (row for row in whole if weight(row) >= RETOLD))
    return _Taken(long, long.with_(Marks.of(salt, parts)), Marks.of(salt, whole | parts), deleted=True)


class _Offer:
    def __init__(
        self, state: State, capture: RunCapture, known_by: Sequence[str], history: History, salt: bytes
    ) -> None:
        self.state, self.capture, self.history, self.salt = state, capture, history, salt
        self.known = set(history.items)
        self.count, self.newest = len(capture.input), _newest(capture)
        self.items: list[Mapping[str, Any]] = [*capture.input, *capture.generated]
        self.marks = list(known_by)
        self.spoiled: set[int] = set()
        self.old: set[int] = set()

    def made(self, taken: Sequence[_Taken]) -> Offered:
        capture = self.capture
        for each in taken:
            self._told(each, self._new(range(self.newest)))
            if not each.deleted:
                self._resumed(each)
                capture = self._said_again(each, capture)
            self._dialogue(each)
        self._answers()
        self.old |= repeated(self.history, self.marks, self.count, resumed=capture.resumed)
        twice = [n for n in range(self.newest) if n not in self.old and self.marks[n] in self.known]
        for each in taken if twice else ():
            self._told(each, twice)
        inputs = [dict(item) for item in self.items[: self.count]]
        generated = [dict(item) for item in self.items[self.count :]]
        return Offered(replace(capture, input=inputs, generated=generated), self.marks, frozenset(self.old))

    def _new(self, places: Iterable[int]) -> Iterator[int]:
        """Those that memory holds at all, and that the rollout does not."""
        return (place for place in places if self.marks[place] and self.marks[place] not in self.known)

    def _told(self, taken: _Taken, places: Iterable[int]) -> None:
        """Take it out of what stands before the newest message."""
        found = {place: plain for place in places if taken.near.holds(plain := jsonable(dict(self.items[place])))}
        clean = {place: masked_value(plain, taken.marks) for place, plain in found.items()}
        parts = {place: masked_value(plain, taken.retold) for place, plain in found.items()}
        copied = taken.gone or any(clean[n] != plain or _gone(plain, parts[n]) for n, plain in found.items())
        for place, plain in found.items():
            without = masked_value(plain, taken.near)
            mark = marks([without], self.salt)[0]
            if mark in self.known:  # as the transcript has it
                self.marks[place] = mark
                self._put(place, plain, without)
            elif _gone(plain, parts[place]) or (copied and not taken.deleted and _gone(plain, without)):
                self.spoiled.add(place)
                self.old.add(place)
            elif taken.deleted:
                self._put(place, plain, _alone(clean[place], taken))
            elif self._put(place, plain, clean[place]):
                self.marks[place] = marks([self.items[place]], self.salt)[0]

    def _put(self, place: int, plain: Mapping[str, Any], clean: Mapping[str, Any]) -> bool:
        if clean == plain:
            return False
        self.items[place] = clean
        self.spoiled.add(place)
        if not _says(clean):
            self.old.add(place)
        return True

    def _answers(self) -> None:
        """What an agent answered to it is told in other words, as the rest was."""
        answering = whole = False
        for place in range(self.newest):
            if self.items[place].get("role") == "user":
                answering, whole = place in self.spoiled, place in self.old
            elif answering and (whole or self.items[place].get("role") == "assistant"):
                self.old.add(place)

    def _resumed(self, taken: _Taken) -> None:
        """Know what the rollout holds without forgotten words as it holds it."""
        for place in self._new(range(self.newest, len(self.items))):
            plain = jsonable(dict(self.items[place]))
            without = masked_value(plain, taken.near)
            if without != plain and (mark := marks([without], self.salt)[0]) in self.known:
                self.marks[place] = mark

    def _said_again(self, taken: _Taken, capture: RunCapture) -> RunCapture:
        """Take it out of what the agent said in this run, if nobody told it to it anew."""
        made = {
            place: masked_value(plain, taken.marks)
            for place in self._new(range(self.count, len(self.items)))
            if "output" not in self.items[place] and taken.marks.holds(plain := jsonable(dict(self.items[place])))
        }
        final = jsonable(capture.final_output)
        if not made and not taken.marks.holds(final):
            return capture
        fresh = [item for item in self.items[self.newest : self.count] if item.get("role") == "user"]
        seen = [item.get("output") for item in self.items[self.newest :] if "output" in item]
        living = [record.text for record in self.state.visible().values()]
        if taken.marks.holds(jsonable([*fresh, *seen, *living])):
            return capture
        for place, without in made.items():
            self.items[place] = without
            self.marks[place] = marks([without], self.salt)[0]
        waiting = [masked_value(jsonable(each), taken.marks) for each in capture.interruptions]
        return replace(capture, final_output=masked_value(final, taken.marks), interruptions=waiting)

    def _dialogue(self, taken: _Taken) -> None:
        """Take it out of a conversation that the newest message tells before what its user says now."""
        text = _text(self.items[self.newest : self.count])
        end = retold_until(text)
        made, spoiled = [], False
        for agent, said in speeches(text[:end]):
            clean = cleared(said, taken.retold)
            if agent and spoiled:  # an answer to it, in other words
                label, mark, _ = re.split(r"([:：])", said, maxsplit=1)
                clean = f"{label}{mark} {FORGOTTEN}\n"
            spoiled = clean != said
            made.append(clean)
        without = "".join(made) + text[end:]
        if without != text:
            self.items[self.newest] = {**self.items[self.newest], "content": without}


def _alone(clean: Mapping[str, Any], taken: _Taken) -> Mapping[str, Any]:
    """An item without deleted lines: also without a short one that is a whole sentence of it."""
    said = message_text(clean.get("content")) if clean.get("role") else ""
    short = [row for piece in pieces(said) if (row := tokens(unlabelled(piece))) and weight(row) < RETOLD]
    own = Marks.of(taken.near.salt, short)
    rows = set(taken.near.rows) & set(own.rows)
    made: Mapping[str, Any] = masked_value(dict(clean), Marks(taken.near.salt, rows)) if rows else clean
    return made


def _gone(plain: Mapping[str, Any], clean: Mapping[str, Any]) -> bool:
    """True if most of what an item says was taken out."""
    return _words(clean) <= LEFT * _words(plain) and clean != plain


def _says(item: Mapping[str, Any]) -> bool:
    """True if a masked item still holds a word of its own."""
    return _words(item) > 0


def _words(item: Mapping[str, Any]) -> int:
    said = message_text(item.get("content")) if item.get("role") else str(item.get("arguments", item.get("output", "")))
    return sum(name[0].isalnum() for name in tokens(unlabelled(remains(said))))
