"""Arranging: which list items of `MEMORY.md` belong together, in what order, and whose boxes are ticked.

A numbered list is steps, and an item with others below it is what they are about: told singly they would say something
else. The ledger learns of it as of prose: whoever arranged it first is whose word it is, until somebody changes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..document import Document
from ..document.blocks import Node
from ..ledger import Operation
from ..records import Trust
from ..state import Place, State, Steps
from ..typed import HANDBOOK


def noticed(
    document: Document, assigned: Mapping[int, str], state: State, actor: str, ticked: Mapping[str, bool]
) -> Iterator[Operation]:
    """What the ledger must learn of the lists of `MEMORY.md`, whose items are the `assigned` records; mostly nothing.

    `actor` is who is taken to have edited; `ticked` are the boxes that somebody ticked, or not any more, in another
    file. An agent that puts lines of its own among a person's steps does not make the steps its own.
    """
    if not document.items and document.marker is None:
        return
    there, trust = set(assigned.values()), Trust.HAND if actor == "hand" else Trust.AGENT
    known = [steps for each in state.lists if (steps := each.without(there)) is not None]
    lists = [_judged(steps, known, state, trust) for steps in _lists(document, assigned)]
    boxes = {}
    for item in document.items:
        id = assigned.get(item.index, "")
        checked = ticked.get(id, item.checked)
        if id and item.checked is not None and checked is not None:
            before = state.boxes.get(id)
            boxes[id] = before if before and before[0] is checked else (checked, trust)
    if set(lists) != set(known) or boxes != {id: box for id, box in state.boxes.items() if id in there}:
        told: dict[str, Any] = {
            "lists": [steps.to_json() for steps in lists],
            "boxes": {id: [checked, by.label] for id, (checked, by) in boxes.items()},
        }
        yield Operation("arrange", HANDBOOK, told)


def ticked(before: Document, after: Document, boxes: Collection[str]) -> dict[str, bool]:
    """The `boxes` that are ticked, or not any more, in one of two versions of a text whose items have ids."""
    was = {item.id: item.checked for item in before.items}
    return {
        item.id: item.checked
        for item in after.items
        if item.id in boxes and item.checked is not None and item.checked is not was.get(item.id, item.checked)
    }


def _judged(steps: Steps, known: Sequence[Steps], state: State, trust: Trust) -> Steps:
    """The list with whose arrangement it is: as before where it is the same, else its author's."""
    for other in known:
        if other.places == steps.places:
            # Where the first step is gone the others keep the numbers with which they are told.
            first = any(each.places[:1] == steps.places[:1] for each in state.lists)
            return replace(other, start=steps.start) if first else other
        before = set(other.places)
        ours = tuple(place for place in steps.places if place in before)
        more = [state.records.get(id) for id in {place.id for place in steps.places} - {place.id for place in ours}]
        if trust < Trust.USER and ours == other.places and all(r is None or r.trust < Trust.USER for r in more):
            return replace(steps, by=other.by)
    return replace(steps, by=trust)


def _lists(document: Document, assigned: Mapping[int, str]) -> Iterator[Steps]:
    """The lists whose items belong together, each in the order of the file; a numbered one may go on further below."""
    found: dict[tuple[str, int], tuple[list[int], list[Place]]] = {}
    numbered: dict[int, int] = {}
    last: tuple[int, Node] | None = None
    for item, node, section in document.addressed:
        top, key = node.top, ("item", node.top.start)
        if not top.number and not top.children:  # it stands alone, as most do
            continue
        if top.number:
            goes_on = last is not None and last[0] == section.start and int(last[1].number) + 1 == int(top.number)
            begun = numbered[last[1].list_number] if last is not None and goes_on else top.list_number
            key = ("list", numbered.setdefault(top.list_number, begun))
            last = (section.start, top)
        numbers, places = found.setdefault(key, ([], []))
        numbers.append(int(top.number or 1))
        if id := assigned.get(item.index, ""):
            places.append(Place(id, _depth(node), bool(node.number)))
    # Who puts a step elsewhere does not always number the others anew.
    lists = (Steps(tuple(places), min(numbers)) for numbers, places in found.values())
    yield from (steps for steps in lists if steps.together)


def _depth(node: Node) -> int:
    return 0 if node.parent is None else _depth(node.parent) + 1
