"""The append-only history of records: one line a commit, chained by digests that survive an erased text.

A line is a JSON object `{"commit", "prev", "at", "actor", "operations", "consolidated"?, "settings"?, "mac"?}`.
`prev` is the digest of the line before. What a line says in words stands in the `body` of its operations; the chain
covers `sha256(salt + body)`, so that a body and its salt can be erased and the chain still verifies. `mac` is a host's
seal, which the chain does not cover. `docs/formats.md` has examples.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from .workspace import Mark

_NOT_OURS = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading a line may raise that something else than this module wrote."""


@dataclass(frozen=True)
class Operation:
    """One change: `op` on `id`, with `facts` that stay for ever and a `body` of words that can be erased.

    `op` is one of add, revise, support, supersede, merge, move, delete, restore, forget, hold, release, propose,
    decide, extract, consume, fail, usage, write_skill, drop_skill. `id` names a record, a proposal, a rollout (for
    extract, consume, fail, usage) or a skill.
    """

    op: str
    id: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    erased: bool = False


@dataclass(frozen=True)
class Commit:
    """One line of the ledger, read or about to be written.

    `ordinal` counts from 1. `consolidated` lists the extractions, as (rollout, ordinal of its `extract`), that this
    commit took in. `digest` is that of the written line; of lines that were read, only the last one has it. `number` is
    what the line calls itself: the ordinal, unless lines before it are missing.
    """

    ordinal: int
    at: str
    actor: str
    operations: tuple[Operation, ...]
    consolidated: tuple[tuple[str, int], ...] = ()
    settings: Mapping[str, Any] | None = None
    prev: str = ""
    digest: str = ""
    line: int = 0
    number: int = 0


class Witness(Protocol):
    """Says of each commit whether it is to be believed, and signs those that are written."""

    def sign(self, digest: str) -> str:
        """The seal of a commit of ours with that digest; empty for none."""

    def judged(self, ledger: Ledger, fresh: Sequence[tuple[int, bytes, Mapping[str, Any]]]) -> Ledger:
        """The ledger with its `passed` brought up to date, given its new lines: ordinal, bytes, JSON."""


@dataclass(frozen=True)
class Problem:
    """Something about the ledger that does not verify: 1-based line, and what."""

    line: int
    what: str


@dataclass(frozen=True)
class Ledger:
    """All commits of a ledger file and its bytes. `lines` counts the lines of the file, a torn last one included."""

    commits: tuple[Commit, ...] = ()
    data: bytes = b""
    lines: int = 0
    folds: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)
    """States that were folded already, by ordinal; a ledger that goes on from this one shares them."""
    witness: Witness | None = field(default=None, repr=False, compare=False)
    passed: frozenset[int] = frozenset()
    """The ordinals of commits that something else wrote: they are in the chain, and count for nothing."""
    ours: bool = False
    """True if one of the lines is known to be ours."""

    @property
    def head(self) -> str:
        """Digest of the last line; empty for an empty ledger."""
        return self.commits[-1].digest if self.commits else ""

    @property
    def number(self) -> int:
        """What the last commit that is believed calls itself, and no less than their count."""
        believed = (commit.number for commit in reversed(self.commits) if commit.ordinal not in self.passed)
        return max(len(self.commits), next(believed, 0))

    def digest_at(self, ordinal: int) -> str:
        """The digest of that commit as the one after it names it; empty if there is no such commit."""
        if not 0 < ordinal <= len(self.commits):
            return ""
        return self.commits[ordinal].prev if ordinal < len(self.commits) else self.head

    @cached_property
    def mark(self) -> Mark:
        """What the next append expects the file to be."""
        return Mark.of(self.data)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What about the file does not verify. Reads it once more, and every digest in it: for those who ask."""
        return tuple(_problems(self.data))

    def __len__(self) -> int:
        return len(self.commits)


def parse(data: bytes, after: Ledger | None = None, witness: Witness | None = None) -> Ledger:
    """Read a ledger file; with `after`, the ledger of a prefix that ends in a whole line, only what follows it.

    A line that is not JSON (a torn append) is passed over; a line that breaks the chain or whose words are not the ones
    that its digest covers is kept. `Ledger.problems` tells of both, and `sandbox-memory check` is where it is judged. A
    `witness` says which of the commits are believed; that of `after` goes on.
    """
    commits: list[Commit] = list(after.commits) if after else []
    start, before = (len(after.data), after.lines) if after else (0, 0)
    new, last = data[start:].split(b"\n"), None
    witness = after.witness if after else witness
    fresh: list[tuple[int, bytes, Mapping[str, Any]]] = []
    for number, raw in enumerate(new, before + 1):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
            commits.append(_decode(line, len(commits) + 1, number))
        except _NOT_OURS:
            continue
        last = line
        if witness is not None:
            fresh.append((len(commits), raw, line))
    if last is not None:
        commits[-1] = replace(commits[-1], digest=chain_digest(last))
    lines = before + len(new) - (not new[-1])
    ledger = Ledger(tuple(commits), data, lines, after.folds if after else {}, witness)
    if after:
        ledger = replace(ledger, passed=after.passed, ours=after.ours)
    return witness.judged(ledger, fresh) if witness is not None and fresh else ledger


def _problems(data: bytes) -> Iterator[Problem]:
    ordinal, shift, digest = 0, 0, ""
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
            commit = _decode(line, ordinal + 1, number)
        except _NOT_OURS as error:
            yield Problem(number, f"not a ledger line ({type(error).__name__}); passed over")
            continue
        ordinal += 1
        ahead = line["commit"] - ordinal
        if ahead not in (0, shift):
            yield Problem(number, f"says commit {line['commit']}, but is the {ordinal}th")
        shift = ahead
        if commit.prev != digest:
            yield Problem(number, "does not follow from the line before: one was changed, added or removed")
        yield from (Problem(number, what) for what in _false_bodies(line["operations"]))
        digest = chain_digest(line)


def encode(ledger: Ledger, drafts: Iterable[Commit]) -> tuple[bytes, Ledger]:
    """The bytes to append for these commits, and the ledger as it is after that.

    Ordinals, `prev`, salts and digests of the drafts are set here.
    """
    commits, lines = list(ledger.commits), list[bytes]()
    for number, draft in enumerate(drafts, ledger.number + 1):
        line: dict[str, Any] = {
            "commit": number,
            "prev": commits[-1].digest if commits else "",
            "at": draft.at,
            "actor": draft.actor,
            "operations": [_encode_operation(operation) for operation in draft.operations],
        }
        if draft.consolidated:
            line["consolidated"] = [list(key) for key in draft.consolidated]
        if draft.settings is not None:
            line["settings"] = dict(draft.settings)
        commit = _decode(line, len(commits) + 1, ledger.lines + len(lines) + 1)
        commits.append(replace(commit, digest=chain_digest(line)))
        if ledger.witness is not None and (mac := ledger.witness.sign(commits[-1].digest)):
            line["mac"] = mac
        lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
    if not lines:
        return b"", ledger
    torn = b"" if not ledger.data or ledger.data.endswith(b"\n") else b"\n"  # a workspace's append ends it first
    data = b"".join((ledger.data, torn, *lines))
    after = Ledger(tuple(commits), data, ledger.lines + len(lines), dict(ledger.folds), ledger.witness)
    return b"".join(lines), replace(after, passed=ledger.passed, ours=True)


def erase(data: bytes, keep: Mapping[int, Sequence[bool]]) -> bytes:
    """The ledger file with the words of some operations erased; the chain of digests stays as it was.

    `keep` maps a commit's ordinal to one flag for each of its operations: False erases body and salt.
    """
    out, ordinal = [], 0
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw)
            operations = line["operations"]
        except (ValueError, KeyError, TypeError):
            out.append(raw)
            continue
        ordinal += 1
        flags = keep.get(ordinal)
        if flags is None or all(flags):
            out.append(raw)
            continue
        for operation, stays in zip(operations, flags, strict=True):
            if not stays:
                operation.pop("body", None)
                operation.pop("salt", None)
        out.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return b"\n".join(out)


def _encode_operation(operation: Operation) -> dict[str, Any]:
    encoded: dict[str, Any] = {"op": operation.op, "id": operation.id, **operation.facts}
    if operation.body:
        salt = secrets.token_hex(16)
        encoded |= {"digest": _body_digest(salt, operation.body), "salt": salt, "body": dict(operation.body)}
    return encoded


def _decode(line: Mapping[str, Any], ordinal: int, number: int) -> Commit:
    operations = tuple(_decode_operation(operation) for operation in line["operations"])
    settings = line.get("settings")
    if not isinstance(line["commit"], int) or not isinstance(settings, (dict, type(None))):
        raise TypeError("a commit has a number, and settings are an object")
    return Commit(
        ordinal=ordinal,
        at=str(line["at"]),
        actor=str(line["actor"]),
        operations=operations,
        consolidated=tuple((str(rollout), int(at)) for rollout, at in line.get("consolidated", ())),
        settings=settings,
        prev=str(line["prev"]),
        line=number,
        number=line["commit"],
    )


def _decode_operation(encoded: Mapping[str, Any]) -> Operation:
    body = encoded.get("body") or {}
    if not isinstance(body, dict) or not isinstance(encoded.get("salt", ""), str):
        raise TypeError("the words of an operation are an object, and their salt is a text")
    facts = {key: value for key, value in encoded.items() if key not in ("op", "id", "digest", "salt", "body")}
    return Operation(
        str(encoded["op"]),
        str(encoded["id"]),
        facts,
        body,
        erased="digest" in encoded and "body" not in encoded,
    )


def words_hold(line: Mapping[str, Any]) -> bool:
    """True if the words of all operations are those that their digests cover, or erased."""
    return not any(_false_bodies(line["operations"]))


def _false_bodies(operations: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for operation in operations:
        body, digest = operation.get("body"), operation.get("digest")
        if body and digest != _body_digest(operation.get("salt", ""), body):
            yield f"the words of {operation['op']} {operation['id']} are not the ones that were committed"


def chain_digest(line: Mapping[str, Any]) -> str:
    """sha256 of the line in canonical JSON, without the erasable words, their salts, and the seal."""
    bare = {
        **{key: value for key, value in line.items() if key != "mac"},
        "operations": [
            {key: value for key, value in operation.items() if key not in ("salt", "body")}
            for operation in line["operations"]
        ],
    }
    return hashlib.sha256(_canonical(bare)).hexdigest()


def _body_digest(salt: str, body: Mapping[str, Any]) -> str:
    return hashlib.sha256(salt.encode() + _canonical(body)).hexdigest()


def _canonical(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace")
