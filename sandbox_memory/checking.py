"""Checking: who wrote the lines of a ledger, of its transcripts and of `MEMORY.md`, as far as this machine can tell.

What this user's processes wrote is anchored outside the workspace. A line that is not, in a memory whose history began
here, was written by something else: an agent's shell most likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from . import anchoring
from .document import Document
from .ledger import Commit, Ledger
from .records import Status
from .rollouts import payloads
from .state import State

PASTED = "if you pasted it from another memory, all is well: it gets an id of its own"
ELSEWHERE = "if it was not written elsewhere, something in the workspace forged it"
NOT_HERE = "was not written by this user's sandbox_memory on this machine"


@dataclass(frozen=True)
class Finding:
    """Something that `check` found: what kind (forged, chain, receipt, unanchored, file), where, what, what to do."""

    kind: str
    where: str
    what: str
    hint: str = ""


@dataclass
class CheckReport:
    """What was verified, how much of it, and what does not hold. `ok` ignores what is merely unanchored.

    Of the `segments`, `anchored_segments` were written here; `foreign_segments` are another program's, and not forged.
    """

    commits: int = 0
    anchored_commits: int = 0
    segments: int = 0
    anchored_segments: int = 0
    foreign_segments: int = 0
    receipts: int = 0
    standing_receipts: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True if nothing worse was found than lines that this machine cannot vouch for."""
        return not [f for f in self.findings if f.kind not in ("unanchored", "torn", "gone")]


def chain(path: str, ledger: Ledger, state: State) -> Iterator[Finding]:
    """What about the ledger does not follow, or makes no sense."""
    for problem in ledger.problems:
        kind = "torn" if "passed over" in problem.what else "chain"
        yield Finding(kind, f"{path}:{problem.line}", problem.what)
    lines = {commit.ordinal: commit.line for commit in ledger.commits}
    for ordinal, what in state.senseless.items():
        yield Finding("chain", f"{path}:{lines[ordinal]}", f"holds what makes no sense, and is passed over: {what}")


def commits(path: str, data: bytes, ledger: Ledger, report: CheckReport) -> bool:
    """Who wrote the commits. True if all of them were written here, from the first one on.

    Commits before the first of our own are a history from elsewhere; a foreign one between or after ours is forged.
    """
    lines = data.split(b"\n")
    missing = sorted(set(anchoring.unknown([lines[commit.line - 1] for commit in ledger.commits])))
    before = next((n for n, position in enumerate(missing) if n != position), len(missing))
    report.anchored_commits = len(ledger) - len(missing)
    if before:
        what = f"the first {before} of {len(ledger)} commits were not written on this machine by this user"
        if before == len(ledger):
            what = "no commit was written on this machine by this user"
        report.findings.append(Finding("unanchored", path, what))
    for position in missing[before:]:
        commit = ledger.commits[position]
        what = f"commit {commit.ordinal} ({commit.actor}: {_said(commit)}) {NOT_HERE}"
        report.findings.append(Finding("forged", f"{path}:{commit.line}", what, ELSEWHERE))
    return not before


def transcript(path: str, data: bytes, *, consumed: int, ours: bool, report: CheckReport) -> set[int]:
    """Who wrote the lines of one transcript; returns the numbers of those that were forged.

    `ours` tells that the memory has no history from elsewhere. A line without our key `segment` that no extraction has
    read, up to the byte `consumed`, may have been put there by a person, to be read.
    """
    found = list(payloads(data))
    rows = [(number, line, payload) for number, line, payload in found if payload is not None]
    missing = set(anchoring.unknown([line for _, line, _ in rows]))
    ends = [0]
    for line in data.split(b"\n"):
        ends.append(ends[-1] + len(line) + 1)
    first = next((n for n in range(len(rows)) if n not in missing), len(rows))
    forged: set[int] = set()
    waiting: list[int] = []
    for position, (number, _, payload) in enumerate(rows):
        foreign = not payload.get("segment")
        report.segments += 1
        if position not in missing:
            report.anchored_segments += not foreign
            report.foreign_segments += foreign
        elif position > first or (ours and (not foreign or ends[number] <= consumed)):
            forged.add(number)
            report.findings.append(Finding("forged", f"{path}:{number}", f"this line {NOT_HERE}", ELSEWHERE))
        else:
            report.foreign_segments += foreign
            waiting.append(number)
    if torn := len(found) - len(rows):
        report.findings.append(Finding("torn", path, f"{torn} torn line(s), set aside", "nothing needs doing"))
    if waiting:
        which = f"line {waiting[0]}" if len(waiting) == 1 else f"{len(waiting)} lines, up to line {waiting[-1]},"
        verb = NOT_HERE if len(waiting) == 1 else NOT_HERE.replace("was", "were", 1)
        report.findings.append(Finding("unanchored", path, f"{which} {verb}"))
    return forged


def bullets(path: str, data: bytes, state: State, ledger: Ledger) -> Iterator[Finding]:
    """List items with an id that this memory never gave out, and a file that knows of commits which are not there."""
    document = Document.parse(data)
    for item in document.items:
        if item.id.startswith("m-") and item.id not in state.records:
            what = f"“{item.text}” carries the id {item.id}, which this memory never gave out"
            yield Finding("forged", f"{path}:{item.line}", what, PASTED)
    if (document.marker or 0) > len(ledger):
        what = f"reflects commit {document.marker}, but the ledger ends with {len(ledger)}: lines of it were removed"
        yield Finding("chain", path, what, "if you put an older copy of the ledger back, all is well")


def claims(ledger: Ledger, state: State) -> Iterator[Finding]:
    """Records that came into the file under a made-up id while a session was open."""
    for commit in ledger.commits:
        for operation in commit.operations:
            record = state.records.get(operation.id)
            if operation.facts.get("claimed") and record is not None and record.status is Status.ACTIVE:
                what = f"“{record.text}” came in under a made-up id, {operation.facts['claimed']}; it is not by hand"
                hint = f"`sandbox-memory forget {record.id}` removes it"
                yield Finding("forged", record.id, what, hint)


def _said(commit: Commit) -> str:
    texts = [f"{o.op} {o.id} {o.body.get('text', '')!r}" for o in commit.operations[:3]]
    return "; ".join(texts)
