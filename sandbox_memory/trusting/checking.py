"""Checking: who wrote the lines of a ledger, of its transcripts and of `MEMORY.md`, as far as can be told.

With a host's key that is told by seals, on any machine. Without one it is told by what this user's processes have noted
outside the workspace: a line that they did not, in a memory whose history began here, was written by something else, an
agent's shell most likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..blocks import split
from ..document import Document, normalise
from ..folding import fold
from ..ledger import Commit, Ledger
from ..records import Status
from ..rollouts import payloads
from ..state import State
from . import anchoring
from .sealing import Order
from .witness import Head, Witness

VOUCH = "`sandbox-memory vouch` takes in what stands there, if you trust it"
PASTED = "if you pasted it from another memory, all is well: it gets an id of its own"
NAMED = 3
"""Lines of the lost part that are named."""
LEFT = "; `check --fix` leaves that to you"
PUT_BACK = f"put the whole folder back from a copy (git, a snapshot), if you have one; else {VOUCH}{LEFT}"
RETURNED = (
    f"if you put a copy back, all is well, and {VOUCH}; if not, put the newest copy of the whole folder back{LEFT}"
)
ELSEWHERE = "it counts for nothing; if it was not written elsewhere, something in the workspace forged it"
DOUBTED = "it is worth the agent's word; if it was not written elsewhere, something in the workspace forged it"
NOT_HERE = "was not written by this user's sandbox_memory on this machine"
UNSEALED = "is not sealed with this key"
MOST_PLANTED = 50
"""How many files of one kind are named."""
OLDER = f"if you put an older copy back, all is well: {VOUCH}"
NOTES = ("unanchored", "torn", "gone", "missing", "live", "planted", "orphan", "behind", "left", "untold")
"""What is told and fails no check: nobody here can vouch for it, or it counts for no more than it says."""


@dataclass(frozen=True)
class Finding:
    """Something that `check` found: what kind, where, what, what to do.

    Kinds: forged (something else wrote it), chain (does not follow), cut (lines or words of ours are missing), receipt
    (a quote does not stand there), file (not usable), secret (one stands there); and of those in `NOTES`: unanchored
    (nobody here can tell), torn, gone (a transcript is not kept), missing (notes that were there are not), live (an
    agent's edit), planted (a file that looks like ours and is never read), orphan (notes on no known conversation),
    behind (a file that does not show the last commit), left (left over), untold (what no run is told).
    """

    kind: str
    where: str
    what: str
    hint: str = ""


@dataclass
class CheckReport:
    """What was verified, how much of it, and what does not hold. `ok` ignores what is merely a note.

    Each commit is sealed with the host's key, vouched for by its holder, anchored (noted as written by this user on
    this machine), or none of these. Of the `segments`, `sealed_segments` and `anchored_segments` are ours;
    `foreign_segments` are another program's, and not forged. `passed_commits` count for nothing.
    """

    key: bool = False
    commits: int = 0
    sealed_commits: int = 0
    vouched_commits: int = 0
    anchored_commits: int = 0
    passed_commits: int = 0
    segments: int = 0
    sealed_segments: int = 0
    anchored_segments: int = 0
    foreign_segments: int = 0
    receipts: int = 0
    standing_receipts: int = 0
    findings: list[Finding] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of the history, the transcripts and the markdown."""
    mended: list[str] = field(default_factory=list)
    """What was done about what was found before, where that was asked for."""

    @property
    def ok(self) -> bool:
        """True if nothing worse was found than notes."""
        return not [f for f in self.findings if f.kind not in NOTES]

    @property
    def anchored(self) -> str:
        """By what the history is known to be ours: key, machine, both in part, or nothing (empty)."""
        held = self.sealed_commits + self.vouched_commits
        if self.key:
            return "key" if held == self.commits else "partly" if held else ""
        return "machine" if self.anchored_commits == self.commits else "partly" if self.anchored_commits else ""


def chain(path: str, ledger: Ledger, state: State) -> Iterator[Finding]:
    """What about the ledger does not follow, or makes no sense."""
    for problem in ledger.problems:
        kind = "torn" if "passed over" in problem.what else "chain"
        yield Finding(kind, f"{path}:{problem.line}", problem.what)
    lines = {commit.ordinal: commit.line for commit in ledger.commits}
    for ordinal, what in state.senseless.items():
        yield Finding("chain", f"{path}:{lines[ordinal]}", f"holds what makes no sense, and is passed over: {what}")


def commits(path: str, data: bytes, ledger: Ledger, witness: Witness, report: CheckReport) -> bool:
    """Who wrote the commits. True if all of them are known to be ours, from the first one on.

    Without a key, commits before the first of our own are a history from elsewhere, and believed unless this machine
    had written another one there. A foreign one after ours is forged.
    """
    lines = data.split(b"\n")
    raw = [lines[commit.line - 1] for commit in ledger.commits]
    missing = set(anchoring.unknown(raw, path))
    report.key, report.passed_commits = bool(witness.seal), len(ledger.passed)
    report.anchored_commits = len(ledger) - len(missing)
    if report.key:
        report.sealed_commits, report.vouched_commits = witness.held(ledger)
    altered = [n for n in sorted(missing) if n + 1 not in ledger.passed]
    erased = [n for n in altered if witness.erased(raw[n])] if ledger.ours else []
    for position in erased:
        what = f"words of commit {ledger.commits[position].number} were erased, and not by this machine"
        hint = f"if they were forgotten elsewhere, all is well: {VOUCH}"
        report.findings.append(Finding("cut", f"{path}:{ledger.commits[position].line}", what, hint))
    believed = [n for n in altered if n not in erased] if not report.key else []
    if believed:
        what = f"{len(believed)} of {len(ledger)} commits were not written on this machine by this user"
        if len(believed) == len(ledger):
            what = "no commit was written on this machine by this user"
        report.findings.append(Finding("unanchored", path, what, "with a host's key every machine can tell"))
    how = UNSEALED if report.key else NOT_HERE
    whole = len(ledger.passed) == len(ledger) > 1
    if whole:
        what = f"not one of the {len(ledger)} commits {UNSEALED if report.key else 'is one of those written here'}"
        what = what.replace("is not sealed", "is sealed")
        report.findings.append(Finding("forged", path, what, f"they count for nothing; {VOUCH}"))
    for commit in ledger.commits if not whole else ():
        if commit.ordinal in ledger.passed:
            what = f"commit {commit.number} ({commit.actor}: {_said(commit)}) {how}"
            report.findings.append(Finding("forged", f"{path}:{commit.line}", what, ELSEWHERE))
    report.findings += _lost(path, ledger, witness)
    return not missing or (report.key and not ledger.passed)


def _lost(path: str, ledger: Ledger, witness: Witness) -> Iterator[Finding]:
    head = witness.recall()
    gone = gone_from(head, ledger)
    if gone:
        marked = {"commits": max(gone), "head": ""} in head.lost  # by a file that stood there alone
        where = "here" if marked else "written here"
        what = f"a history of {max(gone)} commits was {where}, and this is not that one nor goes on from it"
        yield Finding("cut", path, what, RETURNED)


def gone_from(head: Head, ledger: Ledger) -> list[int]:
    """How many commits each history had that was here once, and that this one neither is nor goes on from."""
    lost = [(int(each["commits"]), str(each["head"])) for each in head.lost] + [(head.commits, head.digest)]
    return [n for n, digest in lost if n and (ledger.digest_at(n) != digest if digest else n > len(ledger))]


def transcript(
    path: str, data: bytes, *, consumed: int, ours: bool, witness: Witness, report: CheckReport, recorded: Sequence[str]
) -> set[int]:
    """Who wrote the lines of one transcript; returns the numbers of those that were forged.

    `ours` tells that the memory has no history from elsewhere. A line without our key `segment` that no extraction has
    read, up to the byte `consumed`, may have been put there by a person, to be read. `recorded` are the digests of the
    lines that were written to it here.
    """
    found = list(payloads(data))
    rows = [(number, line, payload) for number, line, payload in found if payload is not None]
    digests = [anchoring.digest(line, path) for _, line, _ in rows]
    missing = {n for n, known in enumerate(anchoring.known_among(digests)) if not known}
    ends = [0]
    for line in data.split(b"\n"):
        ends.append(ends[-1] + len(line) + 1)
    first = next((n for n in range(len(rows)) if n not in missing), len(rows))
    stem = path.rpartition("/")[2].removesuffix(".jsonl")
    forged: set[int] = set()
    waiting: list[int] = []
    before_the_key: list[int] = []
    order = Order()
    for position, (number, line, payload) in enumerate(rows):
        foreign, sealed = not payload.get("segment"), witness.seal.holds_line(stem, line)
        report.segments += 1
        report.sealed_segments += sealed
        if (wrong := order.next(payload)) and sealed:
            report.findings.append(Finding("cut", f"{path}:{number}", wrong))
        if sealed:
            report.anchored_segments += position not in missing
        elif position not in missing and not (witness.seal and not foreign):
            report.anchored_segments += not foreign
            report.foreign_segments += foreign
        elif position > first or (ours and (not foreign or ends[number] <= consumed)) or (witness.seal and not foreign):
            if position not in missing:
                report.anchored_segments += 1
                before_the_key.append(number)
                continue
            forged.add(number)
            how = UNSEALED if witness.seal and not foreign else NOT_HERE
            report.findings.append(Finding("forged", f"{path}:{number}", f"this line {how}", DOUBTED))
        else:
            report.foreign_segments += foreign
            waiting.append(number)
    if torn := len(found) - len(rows):
        report.findings.append(Finding("torn", path, f"{torn} torn line(s), set aside", "nothing needs doing"))
    if waiting:
        which = f"line {waiting[0]}" if len(waiting) == 1 else f"{len(waiting)} lines, up to line {waiting[-1]},"
        verb = NOT_HERE if len(waiting) == 1 else NOT_HERE.replace("was", "were", 1)
        report.findings.append(Finding("unanchored", path, f"{which} {verb}"))
    if before_the_key:
        what = (
            f"line {before_the_key[-1]} {UNSEALED}"
            if len(before_the_key) == 1
            else f"{len(before_the_key)} lines are not"
        )
        what = what.replace("lines are not", f"lines, up to line {before_the_key[-1]}, are not sealed with this key")
        hint = "written here, as this machine has it, before there was a key; read again, it is worth the agent's word"
        report.findings.append(Finding("unanchored", path, what, hint))
    report.findings += _missing(path, digests, recorded)
    return forged


def _missing(path: str, digests: Sequence[str], recorded: Sequence[str]) -> Iterator[Finding]:
    """Lines that were written to this transcript here and are gone, changed, or in another order."""
    there = {value: place for place, value in reversed(list(enumerate(digests)))}
    lacking = [value for value in recorded if value not in there]
    gone = [
        value
        for value, known in zip(lacking, anchoring.known_among(lacking, (anchoring.GONE,)), strict=True)
        if not known
    ]
    if gone:
        many = "a line" if len(gone) == 1 else f"{len(gone)} lines"
        yield Finding("cut", path, f"{many} that was written here is gone, or was changed", OLDER)
    places = [there[value] for value in recorded if value in there]
    if places != sorted(places):
        yield Finding("cut", path, "its lines stand in another order than they were written in", OLDER)


def bullets(path: str, data: bytes, state: State, ledger: Ledger) -> Iterator[Finding]:
    """List items with an id that this memory never gave out, and a file that knows of commits which are not there."""
    document = Document.parse(data)
    shown = split(data).block
    last = document.marker or (shown.ordinal if shown else None) or 0
    unknown = [item for item in document.items if item.id.startswith("m-") and item.id not in state.records]
    for item in unknown if last <= len(ledger) else ():
        what = f"“{item.text}” carries the id {item.id}, which this memory never gave out"
        yield Finding("forged", f"{path}:{item.line}", what, PASTED)
    if (document.marker or 0) > len(ledger):
        what = f"reflects commit {document.marker}, but the ledger ends with {len(ledger)}: lines of it were removed"
        if unknown:
            few = ", ".join(f"“{item.text}”" for item in unknown[:NAMED])
            more = f" and {len(unknown) - NAMED:,} more" if len(unknown) > NAMED else ""
            what += f", and with them {len(unknown):,} of the ids in it: {few}{more}"
        yield Finding("chain", path, what, PUT_BACK)


def block(path: str, data: bytes, ledger: Ledger) -> Iterator[Finding]:
    """Lines between the markers of `memory_summary.md` that are not its record's, though its digest fits: see `blocks`.

    It is written anew at the next opening; a run is never told of it.
    """
    parts = split(data)
    if parts.block is None or parts.touched:
        return
    state = fold(ledger, min(parts.block.ordinal or 0, len(ledger)))
    for item in Document.parse(parts.block.text.encode("utf-8", "surrogateescape")).items:
        record = state.records.get(item.id)
        if item.id.startswith("m-") and record is not None and normalise(record.text) not in (item.normal, ""):
            if normalise(item.words) != normalise(record.text):
                what = f"“{item.text}” is not what its record says, and the block's digest was made to fit it"
                yield Finding("forged", path, what, "it is written anew when the memory is opened")
        elif not item.id and item.normal and not item.text.startswith("More in"):
            yield Finding("forged", path, f"“{item.text}” is no record's, and the block's digest was made to fit it")


def edits(ledger: Ledger, state: State) -> Iterator[Finding]:
    """What came in while an agent's session was open, and stands as it came: it counts as the agent's, not as yours."""
    done: dict[str, str] = {}
    skills: dict[str, str] = {}
    for commit in ledger.commits:
        for operation in commit.operations if commit.ordinal not in ledger.passed else ():
            if operation.op in ("write_skill", "drop_skill"):
                if commit.actor == "live" and (operation.facts.get("edited") or operation.facts.get("deleted")):
                    skills[operation.id] = operation.op
                else:
                    skills.pop(operation.id, None)
                continue
            if operation.op not in ("add", "revise", "restore", "delete", "hold", "forget", "revert"):
                continue
            if commit.actor == "live" and operation.id.startswith("m-") and not operation.facts.get("claimed"):
                done[operation.id] = operation.op
            else:
                done.pop(operation.id, None)
    hint = "an agent's edit; say it yourself, or put it back, where it should count as yours"
    for id, op in done.items():
        record = state.records.get(id)
        if record is not None and op in ("add", "revise", "restore") and record.status is Status.ACTIVE:
            word = {"add": "added", "revise": "changed", "restore": "brought back"}[op]
            yield Finding(
                "live", id, f"“{record.text}” was {word} while a session was open ({record.trust.label})", hint
            )
        elif record is not None and record.status in (Status.DELETED, Status.HELD):
            yield Finding("live", id, f"“{record.text}” was deleted while a session was open", hint)
    for proposal in state.proposals.values():
        if proposal.unheard:
            what = f"“{proposal.text}” was answered while a session was open: that did not count"
            yield Finding("live", proposal.id, what, "answer it again, now that nobody else does")
    for name, op in skills.items():
        word = "edited" if op == "write_skill" else "deleted"
        yield Finding("live", f"skills/{name}", f"was {word} while a session was open", hint)


def planted(root: Path, memories_dir: str, state: State) -> Iterator[Finding]:
    """Files of a workspace on this machine that look like presets, prompts or skills of ours, and are none."""
    hint = "nothing reads it: presets and prompts come from the package, settings from code"
    for pattern in ("layouts/*/layout.toml", f"{memories_dir}/layout.toml", "prompts/*.md.j2"):
        for path in sorted(root.glob(pattern))[:MOST_PLANTED]:
            yield Finding("planted", path.relative_to(root).as_posix(), "looks like a preset or a prompt of ours", hint)
    for path in sorted(root.glob(f"{memories_dir}/skills/*/SKILL.md"))[:MOST_PLANTED]:
        if path.parent.name not in state.skills:
            what = "is a skill that this memory did not make"
            yield Finding("planted", path.relative_to(root).as_posix(), what, "an agent with the SDK's Skills sees it")


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
