"""Answers: what a person decided in `INBOX.md`."""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document, ListItem, normalise
from ..ledger import Operation
from ..proposals import line
from ..records import Status
from ..state import Proposal, State


def answers(document: Document, past: State, now: State) -> Iterator[Operation]:
    """What a person decided in the block of `INBOX.md`: a ticked line is a yes, a deleted one a no.

    A yes to something that is not any more as it was asked decides without effect.
    """
    there = answered(document, past)
    for proposal in past.proposals.values():
        if proposal.id not in now.proposals:
            continue
        answer = there.get(proposal.id)
        if answer is None:
            yield Operation("decide", proposal.id, {"accepted": False})
            yield from proposal.on_refusal
        elif answer.checked:
            yield Operation("decide", proposal.id, {"accepted": True})
            yield from (operation for operation in proposal.operations if _stands(operation, proposal, now))


def answered(document: Document, past: State) -> dict[str, ListItem]:
    """The lines that are questions, by their ids; one that lost its id is known by its text."""
    found = {item.id: item for item in document.items if item.id in past.proposals}
    texts = {normalise(line(proposal)): id for id, proposal in past.proposals.items() if id not in found}
    for item in document.items:
        if not item.id and item.normal in texts:
            found.setdefault(texts[item.normal], item)
    return found


def unheard(document: Document, past: State, now: State) -> Iterator[Operation]:
    """The same while a session is open: the agent may have answered, so nothing is decided, and all is asked again."""
    for operation in answers(document, past, now):
        if operation.op == "decide" and not now.proposals[operation.id].unheard:
            yield Operation("unheard", operation.id)


def _stands(operation: Operation, proposal: Proposal, now: State) -> bool:
    """True if the records that an operation is about are as they were when it was proposed."""
    held = {each.id for each in proposal.on_refusal}
    for id in (operation.id, *operation.facts.get("replaces", ())):
        if id not in proposal.about:
            continue
        record = now.records[id]
        fit = {Status.HELD} if id in held else {Status.ACTIVE}
        if operation.op == "restore":
            fit = {Status.DELETED, Status.SUPERSEDED}
        if record.status not in fit or normalise(record.text) != normalise(proposal.about[id]):
            return False
    return True
