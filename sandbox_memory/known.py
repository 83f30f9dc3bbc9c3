"""What is known, findable by words, by subject, and by the place where a quote stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from .governance.wording import subject_key
from .lexical import Index
from .records import Candidate, Evidence, Record
from .sameness import Said, said


class Known:
    """The visible records of a state. Bringing it up to date costs what changed, and a comparison for each record.

    `audience` is the layout's: where many are served, what one said of themselves is never what another said.
    """

    def __init__(self, visible: Mapping[str, Record] | None = None, *, audience: str = "one") -> None:
        self.audience = audience
        self.records: dict[str, Record] = {}
        self._words, self._groups = Index(), Index()
        self._subjects: dict[str, dict[str, None]] = defaultdict(dict)
        self._places: dict[tuple[str, str, int], dict[str, None]] = defaultdict(dict)
        self._grouped: dict[str, dict[str, None]] = defaultdict(dict)
        self._said: dict[str, Said] = {}
        self.update(visible or {})

    def update(self, visible: Mapping[str, Record]) -> None:
        """Take over these records instead of those before."""
        for old in [record for id, record in self.records.items() if visible.get(id) is not record]:
            self._drop(old)
        for record in visible.values():
            if record.id not in self.records:
                self._take(record)

    def _take(self, record: Record) -> None:
        self.records[record.id] = record
        self._words.add(record.id, f"{record.text}\n{record.subject}")
        if record.subject:
            self._subjects[subject_key(record.subject)][record.id] = None
        for evidence in record.evidence:
            self._places[_place(evidence)][record.id] = None
        if record.group:
            if record.group not in self._grouped:
                self._groups.add(record.group, record.group)
            self._grouped[record.group][record.id] = None

    def _drop(self, record: Record) -> None:
        del self.records[record.id]
        self._said.pop(record.id, None)
        self._words.remove(record.id)
        self._subjects[subject_key(record.subject)].pop(record.id, None)
        for evidence in record.evidence:
            self._places[_place(evidence)].pop(record.id, None)
        if record.group:
            del self._grouped[record.group][record.id]
            if not self._grouped[record.group]:
                del self._grouped[record.group]
                self._groups.remove(record.group)

    def alike(self, text: str, most: int) -> list[Record]:
        """The records whose words are most alike, best first."""
        return [self.records[id] for id in self._words.search(text, most)]

    def about(self, subject: str) -> list[Record]:
        """The records with that subject, oldest first; none for an empty one."""
        return [self.records[id] for id in self._subjects.get(subject_key(subject), ())] if subject else []

    def quoted(self, evidence: Evidence) -> list[Record]:
        """The records that quote the same item of a transcript."""
        return [self.records[id] for id in self._places.get(_place(evidence), ())]

    def groups(self, task: str, most: int) -> list[str]:
        """The titles of the groups that are most like that of a task."""
        return self._groups.search(task, most)

    def under(self, group: str) -> list[Record]:
        """The records of a group, oldest first."""
        return [self.records[id] for id in self._grouped.get(group, ())]

    def said(self, value: Candidate | Record) -> Said:
        """What a candidate or a record says; that of a record is prepared for comparison once."""
        if isinstance(value, Candidate):
            return said(value, self.audience)
        if value.id not in self._said:
            self._said[value.id] = said(value, self.audience)
        return self._said[value.id]


def _place(evidence: Evidence) -> tuple[str, str, int]:
    return evidence.rollout, evidence.segment, evidence.item
