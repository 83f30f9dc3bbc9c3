"""Consolidation without a model: the same again is support, a new value replaces the old, all else is new.

Several attempts at one task become one experience: what equals what another attempt did is its support.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...records import Candidate, Kind, Trust
from ...sameness import Said, Shelf, Telling, better, denies, overlap, overrules, refers_back, repeats, said, same
from .. import ConsolidationDraft, ConsolidationMaterial, DraftOperation
from .grouping import Groups

ONE_FIX = 0.5
"""Overlap of words from which two attempts changed one thing in one way."""
FIXES = 3
"""How many lines there are at most for what attempts at one task changed in one place."""
MERGED = 5
"""How many records one operation may replace."""


def consolidate(material: ConsolidationMaterial) -> ConsolidationDraft:
    """The operations that take these candidates in, each candidate once."""
    taking = _Taking(material)
    for number, candidate in enumerate(material.candidates, 1):
        taking.take(f"c{number}", candidate)
    return ConsolidationDraft(operations=list(taking.operations()))


@dataclass(eq=False)
class _Line:
    """A record that stands (`record` is its name) or a line to be added, and the candidates that say it."""

    said: Said
    group: str
    record: str = ""
    fixed: bool = False
    """A record whose words stay: a person's, or trusted more than what came in."""
    names: list[str] = field(default_factory=list)
    words: list[Said] = field(default_factory=list)
    merged: list[_Line] = field(default_factory=list)
    replaces: list[str] = field(default_factory=list)
    gone: bool = False

    def take(self, name: str, words: Said, fixed: bool) -> None:
        self.names.append(name)
        self.words.append(words)
        self.fixed = self.fixed or fixed

    def best(self) -> Said:
        """The wording to keep: of attempts what most did, of results the newest, else the better one."""
        kept = self.said
        if kept.kind in (Kind.TASK, Kind.EPISODE):
            times = Counter(each.plain for each in self.words)
            return max(self.words, key=lambda each: times[each.plain]) if not self.record and self.words else kept
        for each in self.words:
            if kept.shown and each.shown:
                kept = kept if each.hard <= kept.hard or kept.has_all(each.hard) else each
            else:
                kept = better(kept, each)
        return kept


class _Taking:
    def __init__(self, material: ConsolidationMaterial) -> None:
        self.audience = material.layout.preset.audience
        telling = Telling.of([*material.records, *material.candidates])
        self.groups = Groups(material.groups, (each.task for each in material.candidates), self.audience)
        self.shelf: Shelf[_Line] = Shelf(telling)
        self.telling = telling
        self.lines: list[_Line] = []
        self.by_key: dict[tuple[Kind, str, str], _Line] = {}
        self.by_group: dict[tuple[str, Kind], list[_Line]] = defaultdict(list)
        self.outdated: list[str] = []
        self.trusts: dict[str, Trust] = {}
        for number, record in enumerate(material.records, 1):
            line = _Line(said(record, self.audience), record.group, f"r{number}", record.protected)
            self.trusts[line.record] = record.trust
            self._stands(line)

    def _stands(self, line: _Line) -> None:
        self.lines.append(line)
        self.shelf.add(line.said, line)
        self.by_group[line.group, line.said.kind].append(line)
        if line.said.key:
            self.by_key[line.said.key] = line

    def take(self, name: str, candidate: Candidate) -> None:
        """Take one candidate in: as support, as a new value, or as a new line."""
        new = said(candidate, self.audience)
        group = self.groups.of(candidate.task, new.phrase)
        old = self.by_key.get(new.key) if new.key else None
        known = self._known(new, old, group)
        if known is not None:
            fixed = bool(known.record) and candidate.trust < self.trusts[known.record]
            known.take(name, new, fixed)
            return
        line = _Line(new, group, names=[name], words=[new])
        for other in ([old] if old else []) or self._outdated(line):
            line.replaces += [other.record] if other.record else other.replaces
            self.outdated.extend([] if other.record else other.names)
            other.gone = True
        self._stands(line)

    def _known(self, new: Said, old: _Line | None, group: str) -> _Line | None:
        """The line that says it already, the nearest first: the other records that say it are to be merged into it."""
        found = [line for line in self.shelf.same(new) if not line.gone]
        found.sort(key=lambda line: line.said.plain != new.plain)
        if found:
            first, *others = found
            for other in others[: MERGED - 1]:
                if other not in first.merged and self._are_one(first, other):
                    first.merged.append(other)
            return first
        if old is not None and not old.gone and _same_value(new, old.said):
            return old
        if refers_back(new):
            return next((line for line in self.lines if not line.gone and repeats(new, line.said)), None)
        if new.kind not in (Kind.TASK, Kind.PROCEDURE):
            return None
        return next((line for line in self.by_group[group, new.kind] if not line.gone and _again(new, line.said)), None)

    def _are_one(self, one: _Line, two: _Line) -> bool:
        """True if two records may be merged: nobody's words, and they say the same without what came in between."""
        free = one.record and two.record and not one.fixed and not two.fixed and not two.names
        return bool(free) and same(one.said, two.said, self.telling)

    def _outdated(self, line: _Line) -> list[_Line]:
        """What the line says no longer to hold; of too many lines about one place that attempts changed, the oldest."""
        if denies(line.said):
            return [other for other in self.lines if not other.gone and overrules(line.said, other.said)][:MERGED]
        if line.said.kind is not Kind.TASK:
            return []
        place = _places(line.said)
        alike = [
            other
            for other in self.by_group[line.group, Kind.TASK]
            if not other.gone and not other.fixed and place & _places(other.said)
        ]
        return alike[:1] if len(alike) >= FIXES else []

    def operations(self) -> Iterator[DraftOperation]:
        """Everything that was taken in: what records are said again, what is outdated, then new lines."""
        heard = [line for line in self.lines if line.names]
        for line in heard:
            if line.record:
                yield self._again(line)
        if self.outdated:
            yield DraftOperation(op="skip", candidates=self.outdated, reason="said otherwise later")
        for line in heard:
            if line.record or line.gone:
                continue
            best = line.best()
            yield DraftOperation(
                op="supersede" if line.replaces else "add",
                candidates=line.names,
                records=line.replaces[:MERGED],
                text=best.text,
                kind=line.said.kind.value,
                subject=line.said.subject,
                group=line.group,
                reason="a new value of what was known" if line.replaces else "new",
            )

    def _again(self, line: _Line) -> DraftOperation:
        best = line.best()
        for other in line.merged:
            best = better(best, other.said)
        change = {"text": best.text, "kind": best.kind.value, "subject": line.said.subject, "group": line.group}
        if line.merged and not line.gone:
            records = [line.record, *(other.record for other in line.merged)]
            return DraftOperation(op="merge", candidates=line.names, records=records, reason="one thing", **change)
        if best is not line.said and not line.fixed and not line.gone:
            reason = "its newest result" if best.shown else "said more clearly"
            return DraftOperation(op="revise", candidates=line.names, records=[line.record], reason=reason, **change)
        return DraftOperation(op="support", candidates=line.names, records=[line.record], reason="said again")


def _same_value(new: Said, old: Said) -> bool:
    """True if two statements about one subject have the same numbers and names, and deny as much."""
    mine = new.hard - frozenset(new.subject.casefold().split())
    return bool(mine) and new.hard == old.hard and new.denials == old.denials and new.phrase.turns == old.phrase.turns


def _again(new: Said, old: Said) -> bool:
    """True if two attempts at one task did the same: changed one place in one way, or got one result in two ways."""
    if new.kind is Kind.TASK:
        return bool(_places(new) & _places(old)) and overlap(new.tokens, old.tokens) >= ONE_FIX
    if new.shown and new.shown == old.shown:
        mine, yours = (each.plain.partition(f" {each.shown} ")[2] for each in (new, old))
        return mine == yours and any(char.isdigit() for char in mine)
    return False


def _places(text: Said) -> frozenset[str]:
    return frozenset(word for word in text.hard if "/" in word or "." in word.strip("."))
