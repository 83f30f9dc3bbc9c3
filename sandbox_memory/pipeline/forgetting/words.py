"""Which words are those of what is forgotten alone, and which others say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...governance.forgetting import OFFERED, pieces, tokens
from ...governance.grounding import ungrounded
from ...governance.wording import CLAUSE, hard_words, meaning
from ...records import Evidence, Item, Record, Rollout, Status
from ...sameness import said
from ...state import State

TELLING = 4.0
"""Words, single characters counted half, from which on a row is sought everywhere, not only in the run it is from."""
KNOWN, MANY = 3, 5
"""Words with a meaning that a text has at least for others to be echoes of it; and so that longer ones are, too."""
RESTATED, MADE_OF, ALL_OF = 0.8, 0.8, 0.6
"""Share of its words that an echo repeats, and share of the echo's own from there; less where all is meant."""
DISTINCT = 4
"""Characters of a name with a digit from which on it may stand for what is forgotten by itself."""
RETOLD = 3.0
"""Words of a sentence from which on it is known in a history that is offered again; half of one needs `TELLING`."""
LONGEST = 2_000
"""Characters of a piece of text that is looked at as an echo."""

_CLAUSE = re.compile(CLAUSE.pattern, re.IGNORECASE)
Row = tuple[str, ...]


@dataclass
class Target:
    """What was found: records, places, runs, conversations, names of files, and rows of tokens."""

    records: dict[str, None] = field(default_factory=dict)
    spans: list[Evidence] = field(default_factory=list)
    wide: list[Evidence] = field(default_factory=list)
    """Those of them of which all is meant, whatever else rests on them."""
    segments: set[str] = field(default_factory=set)
    stems: dict[str, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    rows: set[Row] = field(default_factory=set)
    local: dict[str, set[Row]] = field(default_factory=dict)

    def loses(self, place: Evidence) -> bool:
        """True if that quote is among what is forgotten, in part at least."""
        return place.segment in self.segments or any(place.overlaps(span) for span in self.spans)

    def takes(self, place: Evidence) -> bool:
        """True if that quote is forgotten, also if others rest on it."""
        return place.segment in self.segments or any(place.overlaps(span) for span in self.wide)


class Words:
    """Sorts words into rows of the target; made when its records and places are known."""

    def __init__(self, target: Target, state: State, rollouts: dict[str, Rollout]) -> None:
        self.target, self.rollouts = target, rollouts
        self.about: list[str] = []
        self.spoken: list[str] = []
        """Those of a person: what a tool showed is no name for a matter."""
        self.terms: set[Row] = set()
        self._others: list[Evidence] = []
        texts: dict[str, None] = {}
        for record in state.records.values():
            if record.id in target.records or record.status not in (Status.ACTIVE, Status.HELD, Status.RETIRED):
                continue
            kept = [each for each in record.evidence if not target.loses(each)]
            sure = [each for each in record.evidence if not target.takes(each)]
            retold = len(sure) < len(record.evidence) and not record.protected
            body = record.text[len(name_before(record)) :]
            if not (retold and ungrounded(body, [each.quote for each in sure])):
                texts[record.text] = None
            texts.update({each.quote: None for each in kept})
            self._others += [each for each in record.evidence if each not in kept]
        self._stays = _rows(texts)

    def survives(self, text: str) -> bool:
        """True if the words stand in a line or a quote that stays."""
        return f" {' '.join(tokens(text))} " in self._stays

    def shared(self, place: Evidence) -> bool:
        """True if another line, which stays, rests on the same words."""
        return any(place.overlaps(other) for other in self._others)

    def distinct(self, texts: Iterable[str], stems: Iterable[str]) -> None:
        """Add the names and numbers of these texts that stand in no other conversation and in no line that stays."""
        rows: dict[Row, None] = {}
        for text in texts:
            for word in hard_words(text):
                row = tokens(word)
                if len("".join(row)) >= DISTINCT and any(char.isdigit() for char in word):
                    rows[row] = None
        if not rows:
            return
        inside = set(stems)
        said = (item.text for stem in self.rollouts if stem not in inside for item in _items(self.rollouts[stem]))
        elsewhere = _rows(said)
        for row in rows:
            if f" {' '.join(row)} " not in elsewhere and not self.survives(" ".join(row)):
                self.terms.add(row)
                self.target.rows.add(row)

    def take(self, text: str, segment: str = "", *, shared: bool = False) -> None:
        """Seek these words: everywhere if they tell, else only in their run; of shared ones the statements about it."""
        row = tokens(text)
        if not row:
            return
        if shared or self.survives(text):
            own = [each for each in clauses(text) if self._of_it(each) and not self.survives(each)]
            for each in own:
                self.take(each, segment)
            if own or self.survives(text):
                return
        if self._tells(row):
            self.target.rows.add(row)
        elif segment:
            self.target.local.setdefault(segment, set()).add(row)

    def retold(self, text: str) -> None:
        """Know the sentences of it, and their halves, in a history that is offered again: it may be cut or split."""
        for piece in pieces(text):
            if not self.survives(piece):
                self.target.local.setdefault(OFFERED, set()).update(parts_of(tokens(piece)))

    def echoes(self, text: str, segment: str = "", *, title: bool = False) -> None:
        """Seek what of a text says it in other words, sentence by sentence; of one that others share, by statement."""
        for piece in pieces(text):
            if len(piece) > LONGEST or not self._echoing(piece, title=title):
                continue
            parts = clauses(piece)
            if any(map(self.survives, parts)):
                found = [part for part in parts if self._echoing(part, title=title)]
            else:
                found = [piece]
            for part in found:
                row = tokens(part)
                if title or self._tells(row):
                    self.target.rows.add(row)
                elif segment:
                    self.target.local.setdefault(segment, set()).add(row)

    def _of_it(self, clause: str) -> bool:
        row = tokens(clause)
        return any(within(term, row) for term in self.terms) or self.echo(clause, self.about)

    def _echoing(self, piece: str, *, title: bool) -> bool:
        named = title or piece.startswith("#")
        made_of = ALL_OF if self.target.wide and not named else MADE_OF
        echo = self.echo(piece, self.spoken if named else self.about, made_of)
        return echo and not self.survives(piece)

    def echo(self, piece: str, about: Sequence[str], made_of: float = MADE_OF) -> bool:
        """True if a sentence says what one of these texts says: either has most of the other's words."""
        own = meaning(piece)
        for text in about if own else ():
            known = meaning(text)
            both = len(own & known)
            if len(known) >= MANY and both >= RESTATED * len(known):
                return True
            if len(known) >= KNOWN and both >= 2 and both >= made_of * len(own):
                return True
        return False

    def _tells(self, row: Row) -> bool:
        return weight(row) >= TELLING or any(within(term, row) for term in self.terms)


def name_before(record: Record) -> str:
    """The account or the name that a line begins with, up to its words: whose they are."""
    return record.text[: len(record.text) - len(said(record, "many").bare)]


def parts_of(row: Row) -> list[Row]:
    """A row, its begin and its end, as far as they are long enough to tell."""
    half = (len(row) + 1) // 2
    halves = [part for part in (row[:half], row[-half:]) if weight(part) >= TELLING]
    return [row, *halves] if weight(row) >= RETOLD else []


def within(row: Sequence[str], whole: Sequence[str]) -> bool:
    """True if the row stands in the other."""
    return bool(row) and f" {' '.join(row)} " in f" {' '.join(whole)} "


def clauses(text: str) -> list[str]:
    """The statements of a text, if there are several."""
    found = [part.strip() for part in _CLAUSE.split(text) if part and part.strip()]
    return found if len(found) > 1 else []


def _rows(texts: Iterable[str]) -> str:
    return " \0 ".join(["", *(" ".join(tokens(text)) for text in texts), ""])


def weight(row: Row) -> float:
    return sum(0.5 if len(token) == 1 and ord(token) > 0x2E7F else 1.0 for token in row)


def _items(rollout: Rollout) -> Iterable[Item]:
    for segment in rollout.segments:
        yield from segment.items
