"""Consolidation without a model: the same again is support, a new value replaces the old, all else is new."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

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

    Texts with different numbers or names never do, save the values in the errors of two lessons; nor do two of which
    each has a word of meaning that the other lacks, such as "unit tests" and "integration tests".
    """
    if one.plain == two.plain:
        return True
    if one.kind is not two.kind:
        return False
    if one.fault and two.fault:
        return one.fault == two.fault
    if one.denials != two.denials or not (one.has_all(two.hard) and two.has_all(one.hard)):
        return False
    if one.content - two.content and two.content - one.content:
        return False
    if overlap(one.tokens, two.tokens) >= SAME:
        return True
    shared, least = len(one.content & two.content), min(len(one.content), len(two.content))
    return shared >= 3 and shared >= REWORDED * least


@lru_cache(maxsize=4096)
def tokens(text: str) -> frozenset[str]:
    """Words, and pairs of characters where there are no blanks between words."""
    found = set(re.findall(r"[^\W_\u3400-\u9fff]+", text))
    for run in _CJK.findall(text):
        found.update(run[place : place + 2] for place in range(max(len(run) - 1, 1)))
    return frozenset(found)


def overlap(one: frozenset[str], two: frozenset[str]) -> float:
    """Jaccard's coefficient; 0 for two empty sets."""
    return len(one & two) / len(one | two) if one or two else 0.0


@dataclass(eq=False)
class _Line:
    """A record that stands (`record` is its name) or a line to be added, and the candidates that say it."""

    said: Said
    record: str = ""
    names: list[str] = field(default_factory=list)
    task: str = ""
    replaces: str = ""
    gone: bool = False


class _Index:
    """Finds the lines that may say the same as another, without a look at each."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self._by_word: dict[str, list[int]] = defaultdict(list)

    def add(self, line: _Line) -> None:
        for word in _keys(line.said):
            self._by_word[word].append(len(self.lines))
        self.lines.append(line)

    def find(self, said: Said) -> _Line | None:
        """The first line that says the same."""
        keys = _keys(said)
        shared = Counter(place for key in keys for place in self._by_word[key])
        likely = (self.lines[place] for place in sorted(shared) if shared[place] * 2 > min(len(keys), 4))
        return next((line for line in likely if not line.gone and same(said, line.said)), None)


def _keys(said: Said) -> set[str]:
    return {*said.content, f"={said.plain}", *([f"!{said.fault}"] * bool(said.fault))}


class _Taking:
    def __init__(self, material: ConsolidationMaterial) -> None:
        self.groups = list(material.groups)
        self.index = _Index()
        self.by_subject: dict[tuple[Kind, str], _Line] = {}
        self.outdated: list[str] = []
        for number, record in enumerate(material.records, 1):
            self._stands(_Line(_said(record), f"r{number}"))

    def _stands(self, line: _Line) -> None:
        self.index.add(line)
        if line.said.subject:
            self.by_subject[line.said.kind, line.said.subject.casefold()] = line

    def take(self, name: str, candidate: Candidate) -> None:
        """Take one candidate in: as support, as a new value, or as a new line."""
        said = _said(candidate)
        known = self.index.find(said)
        if known is not None:
            known.names.append(name)
            return
        line = _Line(said, names=[name], task=candidate.task)
        old = self.by_subject.get((said.kind, said.subject.casefold())) if said.subject else None
        if old is not None:
            line.replaces, old.gone = old.record or old.replaces, True
            self.outdated.extend([] if old.record else old.names)
        self._stands(line)

    def operations(self) -> list[DraftOperation]:
        """Everything that was taken in, as operations: support first, then what is outdated, then new lines."""
        said = [line for line in self.index.lines if line.names]
        found = [
            DraftOperation(op="support", candidates=line.names, records=[line.record], reason="said again")
            for line in said
            if line.record
        ]
        if self.outdated:
            found.append(DraftOperation(op="skip", candidates=self.outdated, reason="said otherwise later"))
        for line in said:
            if line.record or line.gone:
                continue
            found.append(
                DraftOperation(
                    op="supersede" if line.replaces else "add",
                    candidates=line.names,
                    records=[line.replaces] if line.replaces else [],
                    text=line.said.text,
                    kind=line.said.kind.value,
                    subject=line.said.subject,
                    group=self._group(line.task),
                    reason="a new value of its subject" if line.replaces else "new",
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
