"""Questions that the application decides in place of a person, through `MemoryPolicy.approve`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from signal import SIGINT, default_int_handler, getsignal
from threading import Thread, current_thread, main_thread

from ..folding import fold
from ..governance.gate import AUTO, Gate
from ..ledger import Operation
from ..policy import MemoryPolicy
from ..proposals import WRITES, listed, propose, question
from ..records import Asked, Kind, Trust
from ..stages import answers
from ..state import Proposal, State
from ..templates import render
from .settle import Change
from .store import Store

BY = "approve"
"""Who decided, as the ledger says it."""
logger = logging.getLogger("sandbox_memory")


async def decide(store: Store, since: int, actor: str, deadline: float | None = None) -> None:
    """Ask the application about the questions that came up after commit `since`, and commit what it says.

    It is asked one by one and outside of the lock, each time for at most `approve_seconds` and not beyond the
    `deadline` on the event loop's clock. What it does not answer waits in the inbox, and a warning says why; once an
    answer did not come in time, nothing more is asked. `actor` is who is taken to have edited the markdown meanwhile.
    """
    policy = store.guard.policy
    fresh = {o.id: None for commit in store.ledger.commits[since:] for o in commit.operations if o.op == "propose"}
    if policy.approve is None or not fresh:
        return
    loop = asyncio.get_running_loop()
    open_ = fold(store.ledger).proposals
    said: dict[str, bool] = {}
    causes: dict[str, None] = {}
    waiting = [open_[id] for id in fresh if id in open_]
    for proposal in waiting:
        left = policy.approve_seconds if deadline is None else min(policy.approve_seconds, deadline - loop.time())
        answer = (
            await _answer(policy.approve, asked(proposal), left) if left > 0 else _Undecided("no time left", late=True)
        )
        if isinstance(answer, bool):
            said[proposal.id] = answer
            continue
        causes[answer.why] = None
        if answer.late:
            break
    if causes:
        logger.warning(
            "sandbox memory: approve did not decide (%s); %s in %s",
            "; ".join(causes),
            "1 question waits" if len(waiting) - len(said) == 1 else f"{len(waiting) - len(said)} questions wait",
            store.layout.inbox,
        )
    if said:
        gate = Gate(store.layout.preset, policy)
        await store.settle(actor, [lambda state: Change(BY, tuple(_decided(said, state, gate)))])


def told(policy: MemoryPolicy, extra_prompt: str | None) -> str | None:
    """What the models of both phases are told beside the rest: with an allow-list, that nothing else is remembered."""
    if policy.allow is None:
        return extra_prompt
    allow = {subject: None if values is None else sorted(values) for subject, values in sorted(policy.allow.items())}
    return render("allowed", allow=allow, extra_prompt=extra_prompt or "").strip()


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
        return Asked(proposal.id, proposal.text, source=proposal.source, lines=tuple(listed(proposal)))
    facts = first.facts
    text, kind, trust = first.body.get("text", ""), facts.get("kind", ""), facts.get("trust", "")
    return Asked(proposal.id, proposal.text, str(text), str(kind), str(trust), proposal.source)


@dataclass(frozen=True)
class _Undecided:
    """No answer, for this reason; `late` where it may still come, so that nothing more is asked."""

    why: str
    late: bool = False


_LEFT: set[asyncio.Future[object]] = set()
"""Askings that were given up and have not ended; the loop itself would let go of them."""


async def _answer(approve: Callable[[Asked], object], question: Asked, seconds: float) -> bool | _Undecided:
    """What the application says, or why that is neither yes nor no. Raises nothing of its own but a cancellation."""
    asking: asyncio.Future[object] = asyncio.ensure_future(_heard(approve, question))
    _LEFT.add(asking)
    asking.add_done_callback(_LEFT.discard)
    try:
        await asyncio.wait({asking}, timeout=seconds)
    finally:
        asking.cancel()
    if not asking.done():
        return _Undecided(f"no answer in {seconds:.3g} s", late=True)
    answer = _Undecided("it raised CancelledError") if asking.cancelled() else asking.result()
    if isinstance(answer, (bool, _Undecided)):
        return answer
    return _Undecided(f"it answered by a {type(answer).__name__}, not by True or False")


async def _heard(approve: Callable[[Asked], object], question: Asked) -> object:
    try:
        called = approve(question) if iscoroutinefunction(approve) else await _in_a_thread(approve, question)
        return await called if isawaitable(called) else called
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # the application's code: whatever it raises, the question waits
        if isinstance(error, KeyboardInterrupt) and _may_be_a_person():
            raise
        return _Undecided(f"it raised {type(error).__name__}")


def _may_be_a_person() -> bool:
    """True where Ctrl-C raises in whatever is running; `asyncio.run` cancels its task instead, from Python 3.11 on."""
    return current_thread() is main_thread() and getsignal(SIGINT) is default_int_handler


async def _in_a_thread(approve: Callable[[Asked], object], question: Asked) -> object:
    """The answer of a plain function, in a thread for which neither the loop nor the process waits at its end."""
    loop, context = asyncio.get_running_loop(), copy_context()
    answer: asyncio.Future[object] = loop.create_future()

    def told(said: object) -> None:
        if not answer.done():
            answer.set_result(said)
        elif iscoroutine(said):
            said.close()

    def work() -> None:
        said: object
        try:
            said = context.run(approve, question)
        except BaseException as error:  # noqa: BLE001 - the application's code; and no Ctrl-C arrives in a thread
            said = _Undecided(f"it raised {type(error).__name__}")
        with suppress(RuntimeError):  # the loop is closed by now
            loop.call_soon_threadsafe(told, said)

    Thread(target=work, name="sandbox-memory-approve", daemon=True).start()
    return await answer


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
            yield from answers.refused(proposal, state, by=BY)
