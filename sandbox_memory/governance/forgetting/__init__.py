"""Recognising what was forgotten without keeping its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .marks import FILLED, FORGOTTEN, Marks, cleared, filled, filler, masked, masked_value, remains
from .reading import pieces, tokens

__all__ = [
    "FILLED",
    "FORGOTTEN",
    "OFFERED",
    "Erasure",
    "Marks",
    "cleared",
    "filled",
    "filler",
    "masked",
    "masked_value",
    "pieces",
    "remains",
    "tokens",
]


OFFERED = ""
"""The key of `Erasure.local` for what is sought in histories alone that an application offers again."""


@dataclass(frozen=True)
class Erasure:
    """One forgetting as it is kept: enough to recognise what it was about, and to finish it, without its words.

    `way` is how it was named: id, subject, rollout, user, text. `marks` are sought everywhere, `local` only in the run
    of that segment id, where the words are too common for more; under `OFFERED` are sentences and halves of them. All
    of the runs in `segments` is forgotten. `names` holds digests of file names that told of it, `stems` of the rollouts
    that are forgotten as a whole, `topics` of what the forgotten memories were about, `records` the ids of records.
    `read` maps rollouts to the bytes and lines that had been read of them. A text said after `at` (ISO, UTC) is not
    meant.
    """

    id: str
    at: str
    actor: str
    way: str
    marks: Marks
    local: Mapping[str, Marks] = field(default_factory=dict)
    segments: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    read: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    finished: bool = False
    ordinal: int = 0

    def facts(self) -> dict[str, Any]:
        """What the ledger and a receipt keep of it."""
        return {
            "at": self.at,
            "way": self.way,
            "keyed": self.marks.salt,
            "marks": self.marks.to_json(),
            "local": {segment: marks.to_json() for segment, marks in sorted(self.local.items())},
            "segments": sorted(self.segments),
            "stems": sorted(self.stems),
            "names": sorted(self.names),
            "records": sorted(self.records),
            **({"topics": sorted(self.topics)} if self.topics else {}),
        }

    @classmethod
    def of(cls, id: str, facts: Mapping[str, Any], *, actor: str = "", ordinal: int = 0) -> Erasure:
        """The erasure that `facts` describe; for others a `ValueError`, `KeyError`, `TypeError` or `AttributeError`."""
        salt = str(facts["keyed"])
        return cls(
            id=id,
            at=str(facts["at"]),
            actor=actor or str(facts.get("actor", "")),
            way=str(facts["way"]),
            marks=_marks(salt, facts["marks"]),
            local={str(segment): _marks(salt, rows) for segment, rows in facts.get("local", {}).items()},
            segments=frozenset(map(str, facts.get("segments", ()))),
            stems=frozenset(map(str, facts.get("stems", ()))),
            names=frozenset(map(str, facts.get("names", ()))),
            records=frozenset(map(str, facts.get("records", ()))),
            topics=frozenset(map(str, facts.get("topics", ()))),
            read={str(stem): (int(size), int(lines)) for stem, (size, lines) in facts.get("read", {}).items()},
            ordinal=ordinal,
        )

    def within(self, segment: str) -> Marks:
        """What is sought in that run."""
        return self.marks.with_(self.local.get(segment))

    def whole(self, stem: str) -> bool:
        """True if that rollout is forgotten as a whole."""
        return bool(self.stems) and self.marks.digest(stem) in self.stems

    def on(self, topic: str) -> bool:
        """True if a memory on that topic, as `sameness.topic` tells it, is forgotten."""
        return bool(topic and self.topics) and self.marks.digest(topic) in self.topics

    def tells(self, name: str) -> bool:
        """True if the name of a file or folder, without folders, tells of what is forgotten."""
        return self.marks.digest(name) in self.names or bool(self.marks.spans(name))


def _marks(salt: str, rows: Iterable[Sequence[Any]]) -> Marks:
    return Marks(salt, ((int(length), int(bits), str(digest)) for length, bits, digest in rows))
