"""Commit: what the files must say to show a state, as edits of the text that is there.

The appended ledger line is the commit point; these views follow it, and are caught up at the next opening if they did
not get written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ..blocks import Block, Split, join, split
from ..document import Cite, Document, Edit, Insert, Provenance, Prune, RemoveItem, Revise, Stamp, Tick, normalise
from ..document.additions import key
from ..document.blocks import Node
from ..document.model import ListItem
from ..document.source import differs
from ..proposals import line
from ..records import Record
from ..state import Place, State

CITED = 4
"""How many conversations a line cites at most: the first of those that count."""

INBOX_HEAD = "# Inbox\n\nTick a line to accept it, delete it to refuse it.\n"


def catch_up(
    document: Document,
    assigned: Mapping[int, str],
    dropped: Collection[int],
    past: State,
    state: State,
    headings: Collection[str] = (),
) -> list[Edit]:
    """The edits that make the file show `state`: stamped ids, removed, revised and inserted lines, provenance.

    `past` is the state that the file shows so far. `headings` are those of sections that may go with a group in which
    nothing is left. Items without a record (unreadable, or empty) and unreadable items of a record stay as they are.
    """
    visible = state.visible()
    sources = _Sources(document, state)
    before = sources if past.ordinal == state.ordinal else _Sources(document, past)
    there = set(assigned.values())
    absent = sorted((r for r in visible.values() if r.id not in there), key=lambda r: r.created)
    named: list[Edit] = [edit for record in absent for edit in sources.named(record)]
    edits: list[Edit] = []
    for item in document.items:
        record = visible.get(assigned.get(item.index, ""))
        if record is None or not item.readable:
            continue
        if sources.bereft(item, record) or sources.begun(record, before):
            named.extend(sources.named(record))
    for item in document.items:
        id = assigned.get(item.index)
        if item.index in dropped:
            edits.append(RemoveItem(item.index))
        elif id is None or not item.readable:
            continue
        elif id not in visible:
            edits.append(RemoveItem(item.index))
        elif _brought_back(item, visible[id], past):
            edits.append(RemoveItem(item.index))
            named.extend(sources.named(visible[id]))
            absent.append(visible[id])
        else:
            if normalise(visible[id].text) != item.normal or _reshaped(document, item, visible[id], past):
                edits.append(Revise(item.index, visible[id].text, visible[id].markdown))
            if item.id != id:
                edits.append(Stamp(item.index, id))
            if id in state.boxes and item.checked not in (None, state.boxes[id][0]):
                edits.append(Tick(item.index, state.boxes[id][0]))
            edits.extend(sources.cited(item, visible[id], before))
    edits.extend(named)
    edits.extend(_inserted(absent, sources, state, _hollow(document, assigned, absent, state)))
    edits.extend(sources.unwanted(tuple(headings)))
    return list(dict.fromkeys(edits))


def _hollow(
    document: Document, assigned: Mapping[int, str], absent: Collection[Record], state: State
) -> dict[str, str]:
    """The absent records of which the bullet is there without any words, each with a record that stands below it."""
    left, above = {record.id: record for record in absent}, dict[str, Record]()
    for steps in state.lists if left else ():
        over: list[Place] = []
        for place in steps.places:
            over = [*(each for each in over if each.depth < place.depth), place]
            if len(over) > 1 and over[-2].id in left:
                above[place.id] = left[over[-2].id]
    found: dict[str, str] = {}
    for item, node, _ in document.addressed if above else ():
        id = assigned.get(item.index, "")
        if id in above and node.parent and node.parent.hollow and (item.group, item.section) == _place(above[id]):
            found.setdefault(above[id].id, id)
    return found


def _inserted(absent: Sequence[Record], sources: _Sources, state: State, hollow: Mapping[str, str]) -> Iterator[Edit]:
    """The absent lines, those of a list of which nothing is there as that list was, and each with its box."""
    left, visible = {record.id: record for record in absent}, state.visible()
    lists: dict[str, list[str]] = {}
    leads: dict[str, str] = {}
    mark = ")"
    for steps in state.lists:
        ids = [place.id for place in steps.places if place.id in visible]
        if len(ids) > 1 and all(id in left for id in ids):
            mark = "." if mark == ")" else ")"  # two numbered lists below each other are one, unless their marks differ
            leads |= steps.leads(ids, mark)
            lists |= dict.fromkeys(ids, ids)
    done: set[str] = set()
    for record in absent:
        for each in (left[id] for id in lists.get(record.id, [record.id]) if id not in done):
            done.add(each.id)
            ticked = state.boxes.get(each.id)
            box = "" if ticked is None else "[x] " if ticked[0] else "[ ] "
            cited, place = tuple(sources.of(each)), _place(each)
            lead, own = leads.get(each.id, "- "), each.markdown
            beside, offset, depth = ("", 0, 0) if each.id in leads else _beside(each, left, state)
            if each.id in hollow:
                beside, offset, depth = hollow[each.id], 0, -1
            insert = Insert(each.text, each.id, *place, sources=cited, lead=lead, box=box, markdown=own)
            yield replace(insert, beside=beside, offset=offset, depth=depth)


def _beside(record: Record, left: Collection[str], state: State) -> tuple[str, int, int]:
    """Where a line stood in its list: which line of it is there, and offset and depth from it as of an `Insert`."""
    visible = state.visible()
    steps = next((steps for steps in state.lists if record.id in {place.id for place in steps.places}), None)
    places = [place for place in steps.places if place.id in visible] if steps else []
    at = next((n for n, place in enumerate(places) if place.id == record.id), 0)
    above, below = places[:at][::-1], places[at + 1 :]
    for step, others in ((1, above), (-1, below)):
        offset = step
        for place in others:
            if place.depth < places[at].depth or _place(visible[place.id]) != _place(record):
                break
            if place.depth == places[at].depth:
                if place.id not in left:
                    return place.id, offset, 0
                offset += step
    parent = next((visible[place.id] for place in above if place.depth < places[at].depth), None)
    if parent is None or _place(parent) != _place(record):
        return "", 0, 0
    if parent.id not in left:
        return parent.id, 0, 1
    beside, offset, depth = _beside(parent, left, state)
    return beside, offset, depth + bool(beside)


def _place(record: Record) -> tuple[str, str]:
    return record.group, record.section


def _reshaped(document: Document, item: ListItem, record: Record, past: State) -> bool:
    """True for a line whose record has got other blocks since, or again those that it had."""
    before = past.records.get(record.id)
    return record.markdown != (before.markdown if before else "") and differs(document, item, record.markdown)


def _brought_back(item: ListItem, record: Record, past: State) -> bool:
    """True for a line that stands where its record was at the file's marker, and is not any more: a move taken back."""
    before = past.records.get(record.id)
    if before is None or (before.group, before.section) == (record.group, record.section):
        return False
    return (item.group, item.section) == (before.group, before.section)


class _Sources:
    """Which summary files a line comes from, and which of them the document names where."""

    def __init__(self, document: Document, state: State) -> None:
        self.document, self.state = document, state
        self.selected = {stem: place for place, stem in enumerate(reversed(state.selection()))}
        self.gone = {
            _name(rollout.summary_file)
            for stem, rollout in state.rollouts.items()
            if rollout.summary_file and stem not in self.selected
        }
        self.tasks: dict[str, dict[str, int | None]] = {}
        self.added: dict[str, set[str]] = {}
        for (group, task), files in document.provenance.items():
            self.tasks.setdefault(key(group), {}).update(dict.fromkeys(files, task))

    def of(self, record: Record) -> Iterator[str]:
        """The summary files of the first conversations that support the record, of those that count."""
        stems = sorted((stem for stem in record.support if stem in self.selected), key=self.selected.__getitem__)
        files = (self.state.rollouts[stem].summary_file for stem in stems)
        yield from islice((file for file in files if file), CITED)

    def named(self, record: Record) -> Iterator[Edit]:
        """What names them in the record's group, with the title and the keywords of the conversation."""
        files = set(self.of(record))
        self.added.setdefault(key(record.group), set()).update(map(_name, files))
        for stem in sorted(record.support, key=lambda stem: self.selected.get(stem, -1)):
            rollout = self.state.rollouts.get(stem)
            if rollout and rollout.summary_file in files:
                title = rollout.task or record.group or stem
                yield Provenance(record.group, title, rollout.summary_file, rollout.keywords)

    def bereft(self, item: ListItem, record: Record) -> bool:
        """True for a line of ours whose cited sources do not count any more, while others do that are not named."""
        tasks = self.tasks.get(key(item.group), {})
        outdated = {tasks[file] for file in self.gone & tasks.keys()}
        return (
            _is_ours(record)
            and not outdated.isdisjoint(item.refs_at_end)
            and not any(_name(file) in tasks for file in self.of(record))
        )

    def begun(self, record: Record, before: _Sources) -> bool:
        """True for a line of ours that had no source before: its conversation was only now extracted."""
        old = before.state.visible().get(record.id) if before is not self and _is_ours(record) else None
        return old is not None and not any(before.of(old)) and any(self.of(record))

    def cited(self, item: ListItem, record: Record, before: _Sources) -> Iterator[Edit]:
        """What the sources of a line of ours that its group names have become since; a reference by hand stays."""
        old, files = before.state.visible().get(record.id), tuple(self.of(record))
        if before is self or not _is_ours(record) or not files or old is None:
            return
        tasks, added = self.tasks.get(key(item.group), {}), self.added.get(key(item.group), ())
        was, now = ({tasks.get(_name(file)) for file in these} for these in (before.of(old), files))
        more = tuple(
            file
            for file in files
            if tasks.get(_name(file)) not in {None, *was} or (_name(file) in added and _name(file) not in tasks)
        )
        gone = tuple(number for number in was - now if number is not None)
        if more or gone:
            yield Cite(item.index, more, gone)

    def unwanted(self, headings: tuple[str, ...]) -> Iterator[Edit]:
        """The files of conversations that do not count any more."""
        found = [(group, file) for (group, _), files in self.document.provenance.items() for file in files]
        found = [(group, file) for group, file in found if file in self.gone]
        if found:
            told = {name for stem, rollout in self.state.rollouts.items() for name in (stem, *rollout.told)}
            told |= {record.group for record in self.state.records.values()} | {group for group, _ in found}
            named = {key(title) for title in self.state.named}
            yield from (Prune(group, file, headings, frozenset(told), key(group) in named) for group, file in found)


def _is_ours(record: Record) -> bool:
    return record.origin in ("consolidation", "remember", "approve") and not record.protected


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def with_block(before: bytes | None, new: Block, *, head: str = "", prose: str = "") -> bytes:
    """A file with our block brought up to date; `head` is what a new file starts with.

    `prose` is what a person wrote into the old block that is no record and no answer: it goes below the new one. The
    bytes stay as they are if the old block says the same, or if there is nothing to show and never was.
    """
    parts = split(before or b"")
    if parts.block is None and not new.text:
        return before or b""
    if parts.block is not None and not parts.touched and parts.block.text.replace("\r\n", "\n") == new.text:
        return before or b""
    return join(Split(head, None, "") if before is None else parts, new, below=prose)


def prose(document: Document, taken: Collection[int], headings: Collection[str]) -> str:
    """The lines of an edited block that would be lost with it: neither in an item that was taken in, nor ours."""
    ours = {n for item, node, _ in document.addressed if item.index in taken for n in _lines(node)}
    ours |= {n for h in document.outline.headings if h.content in headings for n in range(h.start, h.end)}
    ours |= {n for n, _ in document.outline.markers}
    runs: list[list[str]] = [[]]
    for number, (content, _) in enumerate(document.lines):
        if number not in ours:
            runs[-1].append(content)
        elif runs[-1]:
            runs.append([])
    parts = ("\n".join(run).strip("\r\n") for run in runs)
    return "\n\n".join(part for part in parts if part.strip())


def _lines(node: Node) -> Iterator[int]:
    for start, end in [(node.start, node.start + 1), *node.own_ranges()]:
        yield from range(start, end)


def inbox_block(state: State, elsewhere: Collection[str] = ()) -> Block:
    """The open questions, one line each with its source, without those that stand `elsewhere` in the file."""
    lines = [f"- [ ] {line(each)} ^{each.id}" for each in state.proposals.values() if each.id not in elsewhere]
    return Block(state.ordinal, "\n".join(lines))


def selection_bytes(state: State, sessions_dir: str, at: str, before: bytes | None) -> bytes:
    """`phase_two_selection.json` in the SDK's form: the conversations that count, newest first.

    The old bytes when only the time would differ.
    """
    selected = [
        {
            "rollout_id": stem,
            "updated_at": rollout.updated_at,
            "rollout_path": f"{sessions_dir}/{stem}.jsonl",
            "rollout_summary_file": rollout.summary_file,
            "terminal_state": rollout.terminal_state,
        }
        for stem in state.selection()
        if (rollout := state.rollouts[stem]).summary_file
    ]
    if before and _selected(before) == selected:
        return before
    new = {"version": 1, "updated_at": at, "selected": selected}
    return (json.dumps(new, indent=2, ensure_ascii=False) + "\n").encode()


def _selected(data: bytes) -> Any:
    try:
        return json.loads(data)["selected"]
    except (ValueError, KeyError, TypeError):
        return None
