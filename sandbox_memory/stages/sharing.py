"""Sharing: a team's memory is read by many agents and written by its people; what agents find becomes questions.

Each question stands in `INBOX.md` with its source. A person ticks it, or the application decides; what an agent edited
in the files themselves is put back and asked about as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..document import normalise
from ..ledger import Operation
from ..proposals import propose
from ..records import Kind, Refusal
from ..sameness import Said, same
from ..state import State

AGENTS = frozenset(("consolidation", "remember", "live"))
"""Actors that work for agents."""
NEW, OTHER = ("add", "supersede", "merge"), ("revise", "delete", "restore")
SILENT = ("support", "hold", "release")
"""What needs no question: what is known already is not said again."""


def asked(
    operations: Sequence[Operation], state: State, source: str
) -> tuple[tuple[Operation, ...], tuple[Refusal, ...]]:
    """These operations of an agent as questions to the team; what touches no record stays as it is.

    A question names the conversations that its quotes are from, or else `source`.
    """
    made: list[Operation] = []
    refused: list[Refusal] = []
    more = {o.id: o for o in operations if o.op == "support" and o.id not in state.records}
    for operation in operations:
        if _arranges(operation):
            record = state.records.get(operation.id)
            refused.append(Refusal(record.text if record else operation.id, "a team arranges its memory by itself"))
        elif operation.op in NEW or operation.op in OTHER:
            made.extend(_question(operation, more.get(operation.id), state, source, made))
        elif operation.op not in SILENT:
            made.append(operation)
    return tuple(made), tuple(refused)


def put_back(
    assigned: Mapping[int, str], dropped: Collection[int], operations: Sequence[Operation], state: State
) -> tuple[dict[int, str], frozenset[int]]:
    """Which items of the file are which records, and which go, where an agent's edits do not count.

    A line that was moved goes from where it is, so that it is written again where it belongs; so does one whose words
    were only put into other blocks, and one of a list that was told in another order, or whose box was ticked.
    """
    moved = {operation.id for operation in operations if _arranges(operation)}
    for lists in (operation.facts for operation in operations if operation.op == "arrange"):
        there = [steps.to_json() for each in state.lists if (steps := each.without(set(assigned.values())))]
        now, known = {*map(_told, lists["lists"])}, {*map(_told, there)}
        boxes = {id: [checked, by.label] for id, (checked, by) in state.boxes.items()}
        moved |= {id for _, places in now ^ known for id, *_ in places}
        moved |= {id for id in {*boxes, *lists["boxes"]} if boxes.get(id) != lists["boxes"].get(id)}
    gone = {index for index, id in assigned.items() if id in moved}
    kept = {index: id for index, id in assigned.items() if index not in gone}
    return kept, frozenset(dropped) | gone


def without_questions(operations: Sequence[Operation], state: State) -> Iterator[Operation]:
    """Those that ask nothing about a line as it would be if the others were carried out."""
    for operation in operations:
        about = operation.body.get("about", {}).items() if operation.op == "propose" else ()
        wanted = {each["op"] for each in operation.body.get("operations", ())} if operation.op == "propose" else set()
        if "restore" not in wanted and all(state.records[id].text == text for id, text in about):
            yield operation


def _told(steps: Mapping[str, Any]) -> tuple[int, tuple[tuple[Any, ...], ...]]:
    """A list as an `arrange` tells it, without whose it is."""
    return steps["start"], tuple(map(tuple, steps["items"]))


def _arranges(operation: Operation) -> bool:
    """True for what leaves the words of a line as they are."""
    return operation.op == "move" or (operation.op == "revise" and set(operation.body) == {"markdown"})


def _question(
    operation: Operation, support: Operation | None, state: State, source: str, made: Sequence[Operation]
) -> Iterator[Operation]:
    text = str(operation.body.get("text", ""))
    olds = [operation.id] if operation.op in OTHER else list(operation.facts.get("replaces", ()))
    old = "”, “".join(state.records[id].text for id in olds if id in state.records)
    if operation.op in NEW and not old:
        if _waits(text, str(operation.facts.get("kind", "")), state, made):
            return
        # The id says what it is about: the same found again is the same question.
        id = f"m-{hashlib.sha256(normalise(text).casefold().encode('utf-8', 'replace')).hexdigest()[:10]}"
        operation = replace(operation, id=id)
        support = replace(support, id=id) if support else None
        what = f"remember “{text}”?"
    elif operation.op == "delete":
        what = f"delete “{old}”?"
    elif operation.op == "restore":
        what = f"put back “{text or old}”?"
    else:
        what = f"replace “{old}” by “{text}”?"
    rollouts = sorted({str(place["rollout"]) for place in operation.facts.get("evidence", ())})
    wanted = (operation, support) if support else (operation,)
    yield from propose(state, what, wanted, source=", ".join(rollouts) or source)


def _waits(text: str, kind: str, state: State, made: Sequence[Operation]) -> bool:
    """True if a question that waits says the same."""
    own = Said(_kind(kind), text, "")
    waiting = [
        (o.body.get("text", ""), o.facts.get("kind", "")) for p in state.proposals.values() for o in p.operations
    ]
    waiting += [
        (o["body"].get("text", ""), o["facts"].get("kind", "")) for m in made for o in m.body.get("operations", ())
    ]
    return any(same(own, Said(_kind(str(other)), str(words), "")) for words, other in waiting if words)


def _kind(name: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        return Kind.FACT
