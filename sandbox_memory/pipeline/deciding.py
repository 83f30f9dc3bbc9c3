"""Questions that the application decides in place of a person, through `MemoryPolicy.approve`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from inspect import isawaitable, iscoroutinefunction

from ..folding import fold
from ..governance.gate import AUTO, Gate
from ..ledger import Operation
from ..proposals import WRITES, propose, question
from ..records import Asked, Kind, Trust
from ..stages import answers
from ..state import Proposal, State
from .settle import Change
from .store import Store

BY = "approve"
"""Who decided, as the ledger says it."""
logger = logging.getLogger("sandbox_memory")


async def decide(store: Store, since: int, actor: str, deadline: float | None = None) -> None:
    """Ask the application about the questions that came up after commit `since`, and commit what it says.

    It is asked one by one and outside of the lock, each time for at most `approve_seconds` and not beyond the
    `deadline` on the event loop's clock. What it does not answer waits in the inbox. `actor` is who is taken to have
    edited the markdown meanwhile.
    """
    policy = store.guard.policy
    fresh = {o.id: None for commit in store.ledger.commits[since:] for o in commit.operations if o.op == "propose"}
    if policy.approve is None or not fresh:
        return
    loop = asyncio.get_running_loop()
    open_ = fold(store.ledger).proposals
    said: dict[str, bool] = {}
    for proposal in (open_[id] for id in fresh if id in open_):
        left = policy.approve_seconds if deadline is None else min(policy.approve_seconds, deadline - loop.time())
        answer = await _answer(policy.approve, asked(proposal), left) if left > 0 else None
        if answer is not None:
            said[proposal.id] = answer
    if said:
        gate = Gate(store.layout.preset, policy)
        await store.settle(actor, [lambda state: Change(BY, tuple(_decided(said, state, gate)))])


def as_the_agents(operations: Sequence[Operation], state: State, gate: Gate) -> Change:
    """What a command decided that an agent may have given: on its word, and what the gate holds back as a question."""
    made: list[Operation] = []
    for operation in map(_on_its_word, operations):
        if operation.op in WRITES and "text" in operation.body:
            text, record = str(operation.body["text"]), state.records.get(operation.id)
            kind = Kind(operation.facts.get("kind", record.kind.value if record else Kind.FACT.value))
            verdict = gate.admits(text, kind, Trust.AGENT, str(operation.body.get("subject", "")))
            if verdict.decision != AUTO:
                what = question(text, record.text if record else None)
                made += propose(state, what, (operation,), source=f"a command while a session is open; {verdict.why}")
                continue
        made.append(operation)
    return Change("live", tuple(made))


def _on_its_word(operation: Operation) -> Operation:
    if operation.facts.get("trust") != Trust.HAND.label:
        return operation
    return replace(operation, facts={**operation.facts, "trust": Trust.AGENT.label})


def asked(proposal: Proposal) -> Asked:
    """A question as the application is asked it."""
    first = next((o for o in proposal.operations if o.op in WRITES), None)
    if first is None:
        return Asked(proposal.id, proposal.text, source=proposal.source)
    facts = first.facts
    text, kind, trust = first.body.get("text", ""), facts.get("kind", ""), facts.get("trust", "")
    return Asked(proposal.id, proposal.text, str(text), str(kind), str(trust), proposal.source)


async def _answer(approve: Callable[[Asked], object], question: Asked, seconds: float) -> bool | None:
    """What the application says; None, and a line in the log, where it says neither yes nor no in time."""
    try:
        answer = await asyncio.wait_for(_called(approve, question), seconds)
    except Exception as error:  # noqa: BLE001 - the application's code: whatever it raises, the question waits
        logger.warning("sandbox memory: approve did not decide about %s: %s", question.id, type(error).__name__)
        return None
    if isinstance(answer, bool):
        return answer
    logger.warning(
        "sandbox memory: approve answered %s by a %s, not by True or False", question.id, type(answer).__name__
    )
    return None


async def _called(approve: Callable[[Asked], object], question: Asked) -> object:
    """The answer of a function of either kind; one that is no coroutine function has a thread to itself."""
    called = approve(question) if iscoroutinefunction(approve) else await asyncio.to_thread(approve, question)
    return await called if isawaitable(called) else called


def _decided(said: dict[str, bool], state: State, gate: Gate) -> Iterator[Operation]:
    for id, yes in said.items():
        proposal = state.proposals.get(id)
        if proposal is None:
            continue
        allowed = not any(
            gate.disallows(str(o.body.get("text", "")), str(o.body.get("subject", "")))
            for o in proposal.operations
            if o.op in WRITES
        )
        if yes and allowed:
            yield from answers.accepted(proposal, state, by=BY)
        elif not yes:
            yield from answers.refused(proposal, by=BY)
