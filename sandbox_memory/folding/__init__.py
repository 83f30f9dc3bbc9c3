"""Folding: a ledger's commits, one after the other, into the state that they add up to."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..governance.lifetime import later
from ..ledger import Commit, Ledger, Operation
from ..records import Status
from ..state import State
from . import erasing, records, work

SETTINGS = {
    "max_raw_memories": int,
    "summary_tokens": int,
    "capacity": int,
    "sessions_dir": str,
    "preset": str,
    "shared": bool,
}
"""What the known settings are; one of another type is passed over."""
KEPT_FOLDS = 4
"""How many states of one ledger are kept for the next question."""


def fold(ledger: Ledger, upto: int | None = None) -> State:
    """The state after the first `upto` commits, or after all of them: the caller's own, to go on from."""
    end = len(ledger) if upto is None else min(upto, len(ledger))
    folds: dict[int, State] = dict(ledger.folds)  # a large markdown file is folded in a thread meanwhile
    if end not in folds:
        start = max((ordinal for ordinal in folds if ordinal < end), default=0)
        state = folds[start].copy() if start else State()
        for commit in ledger.commits[start:end]:
            (pass_over if commit.ordinal in ledger.passed else apply)(state, commit)
        if len(folds) >= KEPT_FOLDS:
            ledger.folds.pop(min(folds), None)
        ledger.folds[end] = folds[end] = state
    return folds[end].copy()


def fold_without(ledger: Ledger, left_out: Collection[int]) -> State:
    """The state as all commits but those give it, by their ordinals; at least one is left out."""
    start = min(left_out) - 1
    state = fold(ledger, start)
    for commit in ledger.commits[start:]:
        if commit.ordinal in left_out:
            state.ordinal, state.at = commit.ordinal, later(commit.at, state.at)
        else:
            (pass_over if commit.ordinal in ledger.passed else apply)(state, commit)
    return state


def apply(state: State, commit: Commit) -> None:
    """Take one more commit into a state. What nobody of ours can have written is passed over, and noted."""
    state.ordinal, state.at = commit.ordinal, later(commit.at, state.at)
    for name, value in (commit.settings or {}).items():
        if type(value) is SETTINGS.get(name, type(value)):
            state.settings[name] = value
    for position, operation in enumerate(commit.operations):
        try:
            OPERATIONS.get(operation.op, _nothing)(state, operation, commit, position)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            state.senseless[commit.ordinal] = f"{operation.op} {operation.id} ({type(error).__name__})"
    for key in commit.consolidated:
        state.pending.pop(key, None)
    if commit.consolidated:
        state.failures.pop("", None)
    for proposal in [p for p in state.proposals.values() if p.on_refusal and not _held(p.on_refusal, state)]:
        del state.proposals[proposal.id]  # a person brought all the lines back: the question has its answer


def pass_over(state: State, commit: Commit) -> None:
    """Go on to a state after a commit that something else wrote: nothing of it counts, and its ids are noted."""
    state.ordinal = commit.ordinal
    for operation in commit.operations:
        if operation.id.startswith("m-") and operation.id not in state.records:
            state.passed[operation.id] = commit.ordinal


def _held(operations: Iterable[Operation], state: State) -> bool:
    """True if one of the records still waits for its answer."""
    return any(o.id in state.records and state.records[o.id].status is Status.HELD for o in operations)


def _nothing(state: State, operation: Operation, commit: Commit, position: int) -> None:
    """A note, or an operation of a later version: kept in the history, without effect on records."""


OPERATIONS = {**records.OPERATIONS, **work.OPERATIONS, **erasing.OPERATIONS}
