"""Retitling: a heading that a person renamed gets its old name back in place when that is undone.

What stands below it stays where it is: lines, prose, tables, tasks and the references to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..document import Document, ListItem, Retitle
from ..document.additions import key
from ..document.model import Group
from ..document.pruning import repeats, scope_of
from ..ledger import Ledger
from ..records import Record
from ..state import State

UNDO = "undo"


def retitled(document: Document, assigned: Mapping[int, str], past: State, state: State, ledger: Ledger) -> Document:
    """The file with the titles that its groups and sections have again, by what was undone since the state `past`.

    That is where all records below a heading are moved back at once from where they stand to one and the same place,
    and nothing is called so. Where only some of them are, or several groups were made of one, lines move instead.
    """
    undone = {
        operation.id
        for commit in ledger.commits[past.ordinal :]
        if any(operation.op == UNDO for operation in commit.operations)
        for operation in commit.operations
        if operation.op == "revert" and not {"group", "section"}.isdisjoint(operation.body)
    }
    if not undone:
        return document
    there = {item.index: state.visible().get(assigned.get(item.index, "")) for item in document.items}
    if not any(record is not None and record.id in undone for record in there.values()):
        return document
    places: dict[int, _Place] = {}
    for item, _, section in document.addressed:
        record = there[item.index]
        if record is not None:
            places.setdefault(section.start, _Place()).take(item, record, past, undone)
    made = document.edit(list(_edits(document, places, state)))
    # Underlined, a title may be read as something else: then the lines move.
    same = [item.normal for item in made.items] == [item.normal for item in document.items]
    return made if same else document


@dataclass
class _Place:
    """The groups and the titles that the records of a section go back to, or stay in."""

    groups: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)

    def take(self, item: ListItem, record: Record, past: State, undone: Collection[str]) -> None:
        before = past.records.get(record.id)
        back = (
            record.id in undone
            and before is not None
            and (item.group, item.section) == (before.group, before.section) != (record.group, record.section)
        )
        self.groups.add(record.group if back else item.group)
        self.titles.add(record.section if back else item.section)


def _only(found: Collection[str]) -> str:
    return next(iter(found)) if len(found) == 1 else ""


def _edits(document: Document, places: Mapping[int, _Place], state: State) -> Iterator[Retitle]:
    titles = {key(group.title) for group in document.groups}
    new: dict[int, str] = {}
    comes_from: dict[str, set[str]] = {}
    for group in document.groups:
        goes = {_only(places[section.start].groups) for section in group.sections if section.start in places}
        if group.heading and (title := _only(goes)) and key(title) not in titles:
            new[group.start] = title
        for each in goes - {""}:
            comes_from.setdefault(key(each), set()).add(key(group.title))
    for group in document.groups:
        title = new.get(group.start, "")
        if title and len(comes_from[key(title)]) == 1:
            scope = scope_of(document, group)
            named = scope is not None and repeats(scope, group.title) and group.title in state.named
            yield Retitle(group.start, title, named)
        else:
            title = group.title
        yield from _sections(document, group, title, places)


def _sections(document: Document, group: Group, title: str, places: Mapping[int, _Place]) -> Iterator[Retitle]:
    same = [each for each in document.groups if key(each.title) == key(group.title)]
    known = {key(section.title) for each in same for section in each.sections}
    for section in group.sections:
        place = places.get(section.start)
        new = _only(place.titles) if place and place.groups == {title} else ""
        if section.heading and new and key(new) not in known:
            yield Retitle(section.start, new)
