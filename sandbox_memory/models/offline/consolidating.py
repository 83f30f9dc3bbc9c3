"""Consolidation without a model: the same again is support, a new value replaces the old, all else is new."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from ...governance.wording import content, hard_words, normal, words
from ...records import Candidate, Kind, Record
from .. import ConsolidationDraft, ConsolidationMaterial, DraftOperation

SAME = 0.8
"""Token overlap (Jaccard) from which two texts are the same."""
REWORDED = 0.75
"""Share of the plain words of the shorter text that both must have to count as the same in other words."""
SAME_GROUP = 0.5

_VALUE = re.compile(r"[\w./-]*\d[\w./-]*")
_CJK = re.compile(r"[\u3400-\u9fff]+")
_LITERAL = re.compile(r'"([^"]+)"')


def consolidate(material: ConsolidationMaterial) -> ConsolidationDraft:
    """The operations that take these candidates in, each candidate once."""
    taking = _Taking(material)
    for number, candidate in enumerate(material.candidates, 1):
        taking.take(f"c{number}", candidate)
    return ConsolidationDraft(operations=taking.operations())


@dataclass
class Said:
    """A text with what it takes to tell whether another says the same."""

    kind: Kind
    text: str
    subject: str

    @cached_property
    def plain(self) -> str:
        text = (
            normal(self.text).casefold().replace("can't", "cannot").replace("won't", "will not").replace("n't", " not")
        )
        return " ".join(re.sub(r"(?<=\d)(?=[ap]m\b)", " ", text).split()).rstrip(".!。！")

    @cached_property
    def tokens(self) -> frozenset[str]:
        return tokens(self.plain)

    @cached_property
    def content(self) -> frozenset[str]:
        return content(words(self.plain))

    @cached_property
    def squeezed(self) -> str:
        return re.sub(r"\s+", "", self.plain)

    @cached_property
    def hard(self) -> frozenset[str]:
        return frozenset(re.sub(r"\s+", "", word.casefold()) for word in hard_words(normal(self.text)))

    def has_all(self, hard: frozenset[str]) -> bool:
        return all(word in self.squeezed for word in hard)

    @cached_property
    def denials(self) -> int:
        return sum(1 for word in words(self.plain) if word.negation == "firm")

    @cached_property
    def fault(self) -> str:
        """A lesson's error text without the values of this time."""
        match = _LITERAL.search(self.plain) if self.kind is Kind.LESSON else None
        return " ".join(re.findall(r"[^\W\d_]+", _VALUE.sub("", match[1]))) if match else ""


def same(one: Said, two: Said) -> bool:
    """True if both say the same: the same words, nearly the same, or for one kind the same in other words.

    Texts with different numbers or names never do, save the values in the errors of two lessons.
    """
    if one.plain == two.plain:
        return True
    if one.kind is not two.kind:
        return False
    if one.fault and two.fault:
        return one.fault == two.fault
    if one.denials != two.denials or not (one.has_all(two.hard) and two.has_all(one.hard)):
        return False
    if overlap(one.tokens, two.tokens) >= SAME:
        return True
    shared, least = len(one.content & two.content), min(len(one.content), len(two.content))
    return shared >= 3 and shared >= REWORDED * least


def tokens(text: str) -> frozenset[str]:
    """Words, and pairs of characters where there are no blanks between words."""
    found = set(re.findall(r"[^\W_\u3400-\u9fff]+", text))
    for run in _CJK.findall(text):
        found.update(run[place : place + 2] for place in range(max(len(run) - 1, 1)))
    return frozenset(found)


def overlap(one: frozenset[str], two: frozenset[str]) -> float:
    """Jaccard's coefficient; 0 for two empty sets."""
    return len(one & two) / len(one | two) if one or two else 0.0


@dataclass
class _New:
    """A line to be added, and the candidates that say it."""

    said: Said
    candidate: Candidate
    names: list[str]
    replaces: str = ""


@dataclass
class _Taking:
    material: ConsolidationMaterial
    new: list[_New] = field(default_factory=list)
    supported: dict[str, list[str]] = field(default_factory=dict)
    outdated: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = {f"r{n}": _said(record) for n, record in enumerate(self.material.records, 1)}
        self.groups = list(self.material.groups)

    def take(self, name: str, candidate: Candidate) -> None:
        said = _said(candidate)
        for other in self.new:
            if same(said, other.said):
                other.names.append(name)
                return
        known = next((id for id, record in self.known.items() if same(said, record)), "")
        if known:
            self.supported.setdefault(known, []).append(name)
            return
        for other in [other for other in self.new if _replaces(said, other.said)]:
            self.new.remove(other)
            self.outdated.extend(other.names)
        taken = {other.replaces for other in self.new}
        replaced = next((id for id, record in self.known.items() if _replaces(said, record) and id not in taken), "")
        self.new.append(_New(said, candidate, [name], replaced))

    def operations(self) -> list[DraftOperation]:
        found = [
            DraftOperation(op="support", candidates=names, records=[id], reason="said again")
            for id, names in self.supported.items()
        ]
        if self.outdated:
            found.append(DraftOperation(op="skip", candidates=self.outdated, reason="said otherwise later"))
        for new in self.new:
            found.append(
                DraftOperation(
                    op="supersede" if new.replaces else "add",
                    candidates=new.names,
                    records=[new.replaces] if new.replaces else [],
                    text=new.said.text,
                    kind=new.said.kind.value,
                    subject=new.said.subject,
                    group=self._group(new.candidate.task),
                    reason="a new value of its subject" if new.replaces else "new",
                )
            )
        return found

    def _group(self, task: str) -> str:
        title = tokens(task.casefold())
        best = max(self.groups, key=lambda group: overlap(title, tokens(group.casefold())), default="")
        if best and overlap(title, tokens(best.casefold())) >= SAME_GROUP:
            return best
        if task:
            self.groups.append(task)
        return task


def _said(value: Candidate | Record) -> Said:
    return Said(value.kind, value.text, value.subject)


def _replaces(new: Said, old: Said) -> bool:
    return bool(new.subject) and new.kind is old.kind and new.subject.casefold() == old.subject.casefold()
