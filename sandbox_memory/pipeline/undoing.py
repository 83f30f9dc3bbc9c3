"""Taking commits back: a new commit makes the records what all the other commits would have made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import Conflict, SandboxMemoryError, Unknown
from ..folding import apply, fold_without
from ..folding.records import revert
from ..governance.lifetime import later
from ..ledger import Commit, Ledger, Operation
from ..proposals import alike
from ..records import Record, Status
from ..state import PEOPLE, Proposal, State, operation_json
from . import Pipeline
from .commands import alone
from .settle import Prepared

UNDO = "undo"
"""The note, by its number, that a commit was taken back."""
TRIES = 20
HANDS = (*PEOPLE, "live")
"""Who commits what a person may have done."""
ERASING = ("erase", "erased", "restate", "retitle", "drop_rollout", "forget")
TOUCHES = ("add", "supersede", "merge", "revise", "restore", "move", "release", "revert")
"""Operations after which a line is one that a person has worked on."""
CHANGES = (*TOUCHES, "delete", "forget", "retire", "hold")
"""Operations that change what a line is."""
OUT = (Status.DELETED, Status.FORGOTTEN, Status.SUPERSEDED)


@dataclass(frozen=True)
class Undone:
    """What taking `commits` back did, or would do: `commit` is the number of the new one, 0 where none was written.

    `changed` are the records before and after. `kept` are those that would have gone but for a person's later work on
    them, and those that say already what would have come back beside them, `asked` the questions that are open again,
    `withdrawn` those that are asked no more.
    """

    commits: tuple[int, ...]
    changed: tuple[tuple[Record, Record], ...] = ()
    kept: tuple[Record, ...] = ()
    asked: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    commit: int = 0


async def undo(pipeline: Pipeline, commits: Sequence[int], *, dry_run: bool = False) -> Undone:
    """Take these commits back, by their numbers: what others did since stays, and so does what a person worked on.

    Records become what a replay without the commits gives. Transcripts that were read stay read, and settings stay as
    they are. With `dry_run` it is only told. Raises `Unknown` for a number that no commit has, `SandboxMemoryError` for
    commits that changed nothing or forgot something, and while an agent's session is open elsewhere.
    """
    numbers = tuple(dict.fromkeys(commits))
    if not dry_run:
        await alone(pipeline, "take commits back when it is over")
    for _ in range(TRIES):
        known = await pipeline.adopt(dry=dry_run)
        undone, operations = _planned(known.ledger, known.state, numbers, pipeline.store.at())
        if dry_run:
            return undone
        done = await committed(pipeline, known, operations)
        if done:
            return replace(undone, commit=done)
    raise Conflict(pipeline.layout.ledger, f"other writers were faster {TRIES} times; nothing was taken back")


async def committed(pipeline: Pipeline, known: Prepared, operations: Sequence[Operation]) -> int:
    """Commit these, decided on what is `known`: the number of the new commit, 0 if somebody was faster."""
    ordinal = 0

    def decide(state: State) -> Sequence[Operation]:
        nonlocal ordinal
        ordinal = state.ordinal + 1 if state.ordinal == known.state.ordinal else 0
        return operations if ordinal else ()

    await pipeline.commit(pipeline.store.asker, decide)
    return ordinal


def _planned(ledger: Ledger, now: State, numbers: Sequence[int], at: str) -> tuple[Undone, list[Operation]]:
    for number in numbers:
        _takeable(ledger, number)
    if not numbers:
        raise SandboxMemoryError("name the commit to take back; `sandbox-memory history` numbers them")
    then, touched = fold_without(ledger, numbers), _touched(ledger, numbers)
    kept: list[Record] = []
    operations: list[Operation] = []
    for record in now.records.values():
        made = _operation(record, then, now, later(at, now.at))
        if made is None:
            continue
        if record.id in touched and record.status is Status.ACTIVE and not _stays(made):
            kept.append(record)
        else:
            operations.append(made)
    again = _written_again(operations, now, then)
    kept += [now.records[id] for id in dict.fromkeys(again.values())]
    operations = [each for each in operations if each.id not in again]
    asked = [each for id, each in then.proposals.items() if id not in now.proposals and _answered(ledger, numbers, id)]
    gone = [each for id, each in now.proposals.items() if id not in then.proposals]
    operations += map(_asked_again, asked)
    operations += [
        Operation("decide", each.id, {"accepted": then.decided.get(each.id, False), "undone": True}) for each in gone
    ]
    if not operations:
        raise SandboxMemoryError(_nothing(ledger, now, numbers, kept, again))
    after = now.copy()
    notes = [Operation(UNDO, str(number)) for number in numbers]
    apply(after, Commit(now.ordinal + 1, later(at, now.at), "cli", (*notes, *operations)))
    both = [(now.records[o.id], after.records[o.id]) for o in operations if o.id in now.records]
    changed = tuple(pair for pair in both if Status.ACTIVE in (pair[0].status, pair[1].status))
    heirs = (pair[0].superseded_by for pair in both if pair not in changed)
    kept += [now.records[id] for id in heirs if id in touched & now.visible().keys() and now.records[id] not in kept]
    told = (tuple(kept), tuple(each.text for each in asked), tuple(each.text for each in gone))
    return Undone(tuple(numbers), changed, *told), [*notes, *operations]


def _written_again(operations: Sequence[Operation], now: State, then: State) -> dict[str, str]:
    """The records that would come back beside a line of the same words, with the record that this one is."""
    gone = {each.id for each in operations if not _stays(each)}
    there = {alike(r.text): r.id for r in now.visible().values() if r.id not in gone}
    back = [each.id for each in operations if _stays(each) and now.records[each.id].status is not Status.ACTIVE]
    return {id: there[words] for id in back if (words := alike(then.records[id].text)) in there}


def _takeable(ledger: Ledger, number: int) -> None:
    if not 0 < number <= len(ledger):
        raise Unknown(f"there is no commit {number}; there are {len(ledger)}, counted from 1")
    if number in ledger.passed:
        raise SandboxMemoryError(f"commit {number} was not written by us and counts for nothing: it need not be undone")
    if any(operation.op in ERASING for operation in ledger.commits[number - 1].operations):
        raise SandboxMemoryError(f"commit {number} forgot something, and what was forgotten stays forgotten")


def _touched(ledger: Ledger, numbers: Sequence[int]) -> set[str]:
    """The records that a person may have worked on since; what another undo did to them is no such work."""
    touched: set[str] = set()
    for commit in ledger.commits[min(numbers) :]:
        by_hand = commit.actor in HANDS and not any(operation.op == UNDO for operation in commit.operations)
        if by_hand and commit.ordinal not in numbers and commit.ordinal not in ledger.passed:
            touched |= {operation.id for operation in commit.operations if operation.op in TOUCHES}
    return touched


def _operation(record: Record, then: State, now: State, at: str) -> Operation | None:
    """What makes a record what it would be; None where it is that already, or its words are erased."""
    was = then.records.get(record.id)
    if record.status is Status.FORGOTTEN:
        return None
    if was is None:
        return None if record.status in OUT else Operation("delete", record.id)
    if was.status is Status.FORGOTTEN:
        return None
    if was.status is Status.ACTIVE and was.expires and was.expires <= at:
        was = replace(was, expires="")  # as with `restore`: else it would go again at once
    spent = (then.tombstones.get(record.id, ()), now.tombstones.get(record.id, ()))
    return revert(was, record, spent)


def _stays(operation: Operation) -> bool:
    """True if the record is in sight after it."""
    return operation.op == "revert" and operation.facts.get("status", Status.ACTIVE.value) == Status.ACTIVE.value


def _answered(ledger: Ledger, numbers: Sequence[int], id: str) -> bool:
    """True if one of these commits decided that question."""
    return any(o.op == "decide" and o.id == id for n in numbers for o in ledger.commits[n - 1].operations)


def _asked_again(proposal: Proposal) -> Operation:
    body = {
        "text": proposal.text,
        "operations": [operation_json(operation) for operation in proposal.operations],
        "on_refusal": [operation_json(operation) for operation in proposal.on_refusal],
        "about": dict(proposal.about),
    }
    return Operation("propose", proposal.id, {"source": proposal.source}, body)


_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("extract", "consume", "fail", "usage"), "noted what was read of transcripts"),
    (("write_skill", "drop_skill"), "was about skills"),
    (("arrange",), "changed the order of lines or the boxes in MEMORY.md, where you can change them back"),
)


def _nothing(
    ledger: Ledger, now: State, numbers: Sequence[int], kept: Sequence[Record], again: Mapping[str, str]
) -> str:
    which = f"commit {numbers[0]}" if len(numbers) == 1 else "these commits"
    if again and len(again) == len(kept):
        return f"nothing of {which} is taken back: what it took out was written again since, and stands there"
    if kept:
        return f"nothing of {which} is taken back: what it brought was worked on by hand since, and stays"
    commits = [ledger.commits[number - 1] for number in numbers]
    ops = {operation.op for commit in commits for operation in commit.operations}
    if not ops and any(commit.settings for commit in commits):
        return f"{which} changed settings only, and those are for the application to say; there is nothing to take back"
    for names, what in _KINDS:
        if ops and ops <= set(names):
            return f"{which} only {what}: no memory was changed, and there is nothing to take back"
    later_undo = next(_undone_by(ledger, numbers), 0)
    if later_undo:
        return f"{which} was taken back already; `sandbox-memory undo {later_undo}` brings it back"
    left = f"nothing of {which} is left to take back"
    since = _since(ledger, numbers)
    if not since:
        return f"{left}: later commits have changed all of it"
    some = f"commits {_listed(since)} have" if len(since) > 1 else f"commit {since[0]} has"
    why = f"{left}: {some} changed it since"
    if not _takes_back(ledger, now, [*numbers, *since]):
        return why
    runs = " ".join(_runs(sorted({*numbers, *since})))
    return f"{why}; `sandbox-memory undo {runs}` takes {'both' if len(numbers) + len(since) == 2 else 'all'} back"


def _since(ledger: Ledger, numbers: Sequence[int]) -> list[int]:
    """The later commits that worked on the same records."""
    done = [operation for number in numbers for operation in ledger.commits[number - 1].operations]
    names = {name for each in done for name in (each.id, *each.facts.get("replaces", ()))}
    later = [commit for commit in ledger.commits[min(numbers) :] if commit.ordinal not in {*numbers, *ledger.passed}]
    return [commit.ordinal for commit in later if any(_works_on(o, names) for o in commit.operations)]


def _works_on(operation: Operation, names: Collection[str]) -> bool:
    return operation.op in CHANGES and not {operation.id, *operation.facts.get("replaces", ())}.isdisjoint(names)


def _takes_back(ledger: Ledger, now: State, numbers: Sequence[int]) -> bool:
    """True if all of these can be taken back together."""
    try:
        _planned(ledger, now, numbers, now.at)
    except SandboxMemoryError:
        return False
    return True


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """The numbers in rising order, those that follow each other as one range."""
    start = end = numbers[0]
    for number in [*numbers[1:], 0]:
        if number != end + 1:
            yield f"{start}-{end}" if end > start else str(start)
            start = number
        end = number


def _listed(numbers: Sequence[int]) -> str:
    return " and ".join([", ".join(map(str, numbers[:-1])), str(numbers[-1])])


def _undone_by(ledger: Ledger, numbers: Sequence[int]) -> Iterator[int]:
    """The commits that took one of these back, the newest first."""
    wanted = {str(number) for number in numbers}
    for commit in reversed(ledger.commits):
        if any(operation.op == UNDO and operation.id in wanted for operation in commit.operations):
            yield commit.ordinal
