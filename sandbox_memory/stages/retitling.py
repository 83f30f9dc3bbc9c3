"""Retitling: a heading that a person renamed gets its old name back in place when that is undone.

What stands below it stays where it is: lines, prose, tables, tasks and the references to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..document import Document, ListItem, Retitle
from ..document.additions import key
from ..document.model import Group, Section
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
    there = {item.index: state.visible().get(assigned.get(item.index, "")) for item in document.items}
    if not undone or not any(record is not None and record.id in undone for record in there.values()):
        return document
    places: dict[int, _Place] = {}
    for item, _, section in document.addressed:
        record = there[item.index]
        if record is not None:
            places.setdefault(section.start, _Place(section)).take(item, record, past, undone)
    made = document.edit(list(_edits(document, places, state)))
    # Underlined, a title may be read as something else: then the lines move.
    same = [item.normal for item in made.items] == [item.normal for item in document.items]
    return made if same else document


@dataclass
class _Place:
    """A section, and where all the records in it go back to; None once they do not all go to one place."""

    section: Section
    group: str | None = None
    title: str | None = None
    begun: bool = False

    def take(self, item: ListItem, record: Record, past: State, undone: Iterable[str]) -> None:
        before = past.records.get(record.id)
        back = (
            record.id in undone
            and before is not None
            and (item.group, item.section) == (before.group, before.section) != (record.group, record.section)
        )
        group, title = (record.group, record.section) if back else (item.group, item.section)
        if not self.begun:
            self.begun, self.group, self.title = True, group, title
        self.group = group if group == self.group else None
        self.title = title if title == self.title else None


def _edits(document: Document, places: Mapping[int, _Place], state: State) -> Iterator[Retitle]:
    titles = {key(group.title) for group in document.groups}
    new: dict[int, str] = {}
    comes_from: dict[str, set[str]] = {}
    for group in document.groups:
        goes = {places[section.start].group for section in group.sections if section.start in places}
        title = next(iter(goes), None) if len(goes) == 1 else None
        if group.heading and title and key(title) not in titles:
            new[group.start] = title
        for each in goes - {None}:
            comes_from.setdefault(key(each or ""), set()).add(key(group.title))
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
        if section.heading and place and place.group == title and place.title and key(place.title) not in known:
            yield Retitle(section.start, place.title)
