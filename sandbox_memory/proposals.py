"""Fresh ids for records, and questions that wait for a person in `INBOX.md`."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping

from .ledger import Operation
from .state import Proposal, State, operation_json

WRITES = ("add", "supersede", "merge", "revise", "restore")
"""Operations that bring a text into the memory."""


def new_id() -> str:
    """A fresh record id, random: `m-` and 10 hex digits."""
    return f"m-{secrets.token_hex(5)}"


def propose(
    state: State,
    text: str,
    operations: tuple[Operation, ...],
    *,
    source: str,
    on_refusal: tuple[Operation, ...] = (),
    again: bool = False,
    about: Mapping[str, str] | None = None,
) -> Iterator[Operation]:
    """The operation that asks this in the inbox; nothing if the same is being asked already.

    What was answered before is not asked once more, unless it came up `again`. `about` are the records as they are when
    it is asked, by default as they are in `state`.
    """
    key = "\n".join([text, *(f"{o.op} {o.facts.get('replaces', o.id)} {o.body.get('text', '')}" for o in operations)])
    id = _id(key)
    while again and id in state.decided:
        id = _id(key := f"{key}\nagain")
    if id in state.proposals or id in state.decided:
        return
    if about is None:
        names = {name for o in operations for name in (o.id, *o.facts.get("replaces", ())) if name in state.records}
        about = {name: state.records[name].text for name in sorted(names)}
    body = {
        "text": text,
        "operations": [operation_json(operation) for operation in operations],
        "on_refusal": [operation_json(operation) for operation in on_refusal],
        "about": dict(about),
    }
    yield Operation("propose", id, {"source": source}, body)


def question(new: str | None, old: str | None) -> str:
    """The question whether one text is to be remembered, to replace another, or to be deleted."""
    if new is None:
        return f"delete “{old}”?"
    return f"remember “{new}”?" if old is None else f"replace “{old}” by “{new}”?"


def _id(key: str) -> str:
    return f"p-{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:10]}"


def line(proposal: Proposal) -> str:
    """How the question stands in the inbox, without its box and its id."""
    unheard = "; answered while an agent's session was open, please answer again" if proposal.unheard else ""
    return f"{' '.join(proposal.text.split())} (from {origin(proposal)}{unheard})"


_ORIGINS = {
    "live": "what an agent changed in the files during its session",
    "hand": "what you changed in the files",
    "import": "the files that were there before",
    "consolidation": "several conversations",
    "cli": "a command",
}


def origin(proposal: Proposal) -> str:
    """Where a question comes from, for people: which conversations or whose edit, the day, and why it is asked."""
    who, _, why = proposal.source.partition("; ")
    names = who.split(", ")
    if who in _ORIGINS:
        who = _ORIGINS[who]
    elif not any(" " in name for name in names):
        who = f"the conversation{'s' if len(names) > 1 else ''} {who}"
    day = f", {proposal.at[:10]}" if proposal.at else ""
    return f"{who}{day}{f'; {why}' if why else ''}"
