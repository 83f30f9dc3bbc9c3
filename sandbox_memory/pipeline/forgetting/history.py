"""The ledger without what was forgotten: its words are erased, and the chain of digests still holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ... import ledger as ledgers
from ...governance.forgetting import Erasure, masked
from ...ledger import Commit, Ledger, Operation, Witness
from ...records import Evidence, Status
from ...state import State, candidates_of, evidence_of
from .files import Place, renamed

RESTATING = ("erase", "erased", "restate", "retitle", "drop_rollout")
"""Operations that a forgetting itself makes."""


@dataclass(frozen=True)
class Reach:
    """What one forgetting reaches in a history: by its marks, by ids, and by places in transcripts."""

    erasure: Erasure
    spans: tuple[Evidence, ...]
    gone: frozenset[str]

    @classmethod
    def of(cls, erasure: Erasure, state: State) -> Reach:
        """What it reaches as the state is now."""
        forgotten = (record.id for record in state.records.values() if record.status is Status.FORGOTTEN)
        spans = state.tombstones.get(erasure.id, ())
        return cls(erasure, spans, frozenset(forgotten) | erasure.records)

    def within(self, place: Evidence) -> bool:
        """True if a quote is of what is forgotten: of a run, of a conversation, or where it was said."""
        whole = place.segment in self.erasure.segments or self.erasure.whole(place.rollout)
        return whole or any(place.overlaps(span) for span in self.spans)

    def spoils(self, operation: Operation) -> bool:
        """True if the words of an operation are among those to be erased."""
        body = operation.body
        if not body:
            return False
        if self.erasure.marks.holds(body) or self._local(operation):
            return True
        if operation.op in RESTATING:
            return False
        if operation.op in ("extract", "fail", "consume") and self.erasure.whole(operation.id):
            return True
        if operation.op == "extract":
            return any(self.within(quote) for candidate in _candidates(operation) for quote in candidate)
        if operation.op == "propose":
            inner = [*body.get("operations", ()), *body.get("on_refusal", ())]
            named = {name for each in inner for name in (each["id"], *each["facts"].get("replaces", ()))}
            return not self.gone.isdisjoint({*named, *body.get("about", {})})
        return operation.id in self.gone or any(self.within(place) for place in evidence_of(operation))

    def _local(self, operation: Operation) -> bool:
        """True if a quote holds words that count only in its run."""
        local = self.erasure.local
        if not local:
            return False
        quotes = [*evidence_of(operation), *(quote for each in _candidates(operation) for quote in each)]
        return any(quote.segment in local and local[quote.segment].spans(quote.quote) for quote in quotes)


def _candidates(operation: Operation) -> Iterator[tuple[Evidence, ...]]:
    if operation.op == "extract":
        yield from (candidate.evidence for candidate in candidates_of(operation))


def erased(data: bytes, reaches: Sequence[Reach], witness: Witness | None) -> bytes:
    """The ledger file without the words that are reached, and with other names where they told.

    Where a name stands in what the chain covers, the lines from there on are chained anew, as far as they were chained
    and believed before; with a host's key they are sealed anew.
    """
    parsed = ledgers.parse(data)
    keep = {
        commit.ordinal: [not any(reach.spoils(operation) for reach in reaches) for operation in commit.operations]
        for commit in parsed.commits
    }
    clean = _without_torn(ledgers.erase(data, keep), reaches)
    names = [reach.erasure for reach in reaches]
    if not any(_telling(json.loads(line), names) for line in _whole(clean)):
        return clean
    return _chained(clean, names, witness)


def torn(data: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a ledger that are none, by their numbers."""
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip():
                json.loads(line)
        except ValueError:
            yield number, line.decode("utf-8", "surrogateescape")


def _without_torn(data: bytes, reaches: Sequence[Reach]) -> bytes:
    lines = data.split(b"\n")
    for number, text in torn(data):
        clean = text
        for reach in reaches:
            clean = masked(clean, reach.erasure.marks)
        lines[number - 1] = clean.encode("utf-8", "surrogateescape")
    return b"\n".join(lines)


def _whole(data: bytes) -> Iterator[bytes]:
    for line in data.split(b"\n"):
        try:
            if isinstance(json.loads(line), dict):
                yield line
        except ValueError:
            continue


def _telling(line: Mapping[str, Any], erasures: Iterable[Erasure]) -> bool:
    return any(_facts(line, erasure) != line for erasure in erasures)


_NAMING = frozenset(("rollout", "summary_file", "support", "source", "read"))
"""Facts whose texts are names of conversations and of files."""
_OF_NAMES = frozenset(("extract", "consume", "fail", "usage", "retitle", "drop_rollout", "write_skill", "drop_skill"))
"""Operations whose id is the name of a conversation or of a skill."""


def _facts(line: Mapping[str, Any], erasure: Erasure) -> dict[str, Any]:
    """The line with other names in what the chain covers."""
    if not erasure.names:
        return dict(line)
    operations = []
    for operation in line["operations"]:
        made = {key: entry if key == "body" else _renamed(entry, erasure, key) for key, entry in operation.items()}
        if operation.get("op") in _OF_NAMES:
            made["id"] = _other(operation["id"], erasure)
        operations.append(made)
    whole = {**line, "operations": operations}
    if "consolidated" in line:
        whole["consolidated"] = [[_other(stem, erasure), at] for stem, at in line["consolidated"]]
    return whole


def _renamed(found: Any, erasure: Erasure, key: str = "") -> Any:
    """A fact with other names, where it is one that holds names."""
    if isinstance(found, str):
        return _other(found, erasure) if key in _NAMING else found
    if isinstance(found, list):
        return [_renamed(entry, erasure, key) for entry in found]
    if isinstance(found, dict):
        if key == "read":
            return {_other(name, erasure): entry for name, entry in found.items()}
        return {name: _renamed(entry, erasure, name) for name, entry in found.items()}
    return found


def _other(path: str, erasure: Erasure) -> str:
    whole, slash, name = path.rpartition("/")
    return whole + slash + (renamed(name, erasure) if erasure.marks.digest(name) in erasure.names else name)


def _chained(data: bytes, erasures: Sequence[Erasure], witness: Witness | None) -> bytes:
    out: list[bytes] = []
    was = now = ""
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw)
            made: dict[str, Any] = dict(line)
            for erasure in erasures:
                made = _facts(made, erasure)
            digest = ledgers.chain_digest(line)
        except (ValueError, KeyError, TypeError, AttributeError):
            out.append(raw)
            continue
        if line.get("prev") == was:  # a break of the chain stays one
            made["prev"] = now
        was, now = digest, ledgers.chain_digest(made)
        if made == line:
            out.append(raw)
            continue
        believed = witness is not None and "mac" in line and line["mac"] == witness.sign(digest)
        if believed and witness is not None:
            made["mac"] = witness.sign(now)
        out.append(json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return b"\n".join(out)


def in_ledger(path: str, ledger: Ledger, reach: Reach) -> Iterator[Place]:
    """Where the ledger still says it."""
    for commit in ledger.commits:
        told = [f"{each.op} {each.id}" for each in commit.operations if reach.spoils(each)]
        told = [words if not reach.erasure.tells(words.split(" ")[-1]) else words.split(" ")[0] for words in told]
        if told:
            yield Place(path, commit.line, f"history: {', '.join(told[:3])}")
        elif _names_in(commit, reach.erasure):
            yield Place(path, commit.line, "history: a name")


def _names_in(commit: Commit, erasure: Erasure) -> bool:
    if not erasure.names:
        return False
    operations = [{"op": each.op, "id": each.id, **each.facts} for each in commit.operations]
    line = {"operations": operations, "consolidated": [list(key) for key in commit.consolidated]}
    return _facts(line, erasure) != line
