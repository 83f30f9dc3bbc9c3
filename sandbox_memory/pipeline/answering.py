"""Answering a question of the inbox by command, as ticking or deleting its line does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..document import normalise
from ..errors import SandboxMemoryError, Unknown
from ..ledger import Operation
from ..proposals import WRITES
from ..records import Asked, Record
from ..stages import answers
from ..state import Proposal, State
from . import Pipeline
from .commands import alone, checked
from .deciding import asked


@dataclass(frozen=True)
class Answered:
    """What was asked, and the records that the answer made or changed, as they are now; none where it had no effect."""

    asked: Asked
    accepted: bool
    records: tuple[Record, ...] = ()


def questions(state: State) -> list[Asked]:
    """The open questions, the oldest first."""
    return [asked(proposal) for proposal in state.proposals.values()]


async def answer(
    pipeline: Pipeline, id: str, *, accept: bool, words: str = "", question: str | None = None
) -> Answered:
    """Say yes or no to a question; `words` are those to remember in place of what it proposes.

    `question` is what the person saw, None where that is not known. Raises `Unknown` for one that is not open, and
    `SandboxMemoryError` for one that asks something else by now, for words that may not be remembered, for words where
    nothing is to be remembered, and while an agent's session is open elsewhere.
    """
    await alone(pipeline, "answer when it is over")
    line = checked(pipeline, words) if words else ""
    found: list[Proposal] = []
    made: list[Operation] = []

    def decide(state: State) -> list[Operation]:
        proposal = state.proposals.get(id)
        if proposal is None:
            told = "was answered before" if id in state.decided else "is not there"
            raise Unknown(f"the question {id} {told}; `sandbox-memory inbox` lists those that are open")
        if question is not None and normalise(question) != normalise(proposal.text):
            raise SandboxMemoryError(f"the question {id} was changed meanwhile, and not answered: now {proposal.text}")
        found[:], made[:] = [proposal], _operations(proposal, state, accept=accept, words=line)
        return made

    state = (await pipeline.commit(pipeline.store.asker, decide)).state
    touched = dict.fromkeys(operation.id for operation in made if operation.id in state.records)
    return Answered(asked(found[0]), accept, tuple(state.records[each] for each in touched))


def _operations(proposal: Proposal, state: State, *, accept: bool, words: str) -> Iterator[Operation]:
    writes = any(operation.op in WRITES for operation in proposal.operations)
    if words and not (accept and writes):
        raise SandboxMemoryError(f"the question {proposal.id} remembers nothing that way: it takes no words of yours")
    if not accept:
        return answers.refused(proposal, state)
    return answers.accepted(proposal, state, words=words, by_hand=True)
