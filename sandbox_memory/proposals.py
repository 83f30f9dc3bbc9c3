"""Fresh ids for records, and questions that wait for a person in `INBOX.md`."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator

from .ledger import Operation
from .state import State, operation_json


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
) -> Iterator[Operation]:
    """The operation that asks this in the inbox; nothing if the same is asked already or was answered before."""
    key = "\n".join([text, *(f"{o.op} {o.id} {sorted(o.body.items())}" for o in operations)])
    id = f"p-{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:10]}"
    if id in state.proposals or id in state.decided:
        return
    body = {
        "text": text,
        "operations": [operation_json(operation) for operation in operations],
        "on_refusal": [operation_json(operation) for operation in on_refusal],
    }
    yield Operation("propose", id, {"source": source}, body)
