"""Forgetting, as commands and openings ask for it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...document import Document
from ...errors import ConfigError, Conflict, LostUpdate, SandboxMemoryError
from ...folding import fold
from ...governance.forgetting import Erasure
from ...ledger import Operation
from ...notes import body
from ...records import Evidence, Status
from ...state import State
from ...trusting import anchoring
from ...workspace import Replace, digest
from ..reports import Due, due
from ..settle import Change, Maker, Seen
from ..store import Store
from . import carrying, files, receipts, seeking
from .carrying import Outcome
from .history import Reach
from .leftover import standing, told
from .naming import Naming, Wanted
from .planning import changes
from .receipts import Receipt

if TYPE_CHECKING:
    from .. import Pipeline

__all__ = [
    "Outcome",
    "Wanted",
    "apply",
    "finish",
    "forget",
    "scrub",
    "seen",
    "standing",
    "told",
    "unwritten",
]

logger = logging.getLogger("sandbox_memory")

ACTOR = "forgetting"
"""Who commits it where nobody is known to have asked for it."""
TRIES = 20

_under_way: list[tuple[object, str, str]] = []
"""The forgettings that this process is carrying out: a look at the memory meanwhile does not do them once more."""


async def forget(
    pipeline: Pipeline,
    wanted: Wanted,
    *,
    expected: Mapping[str, int] | None = None,
    dry_run: bool = False,
    receipt: Path | None = None,
) -> Outcome:
    """Forget what is wanted, everywhere in this memory, and search again; with `dry_run` only tell where it stands.

    A receipt goes into the user's state folder and, with `receipt`, to that file. Raises `Unknown` for what is not
    there, `LostUpdate` for a record that is not at its `expected` version, and `SandboxMemoryError` for nothing to look
    for.
    """
    if not wanted.way:
        raise SandboxMemoryError("say what to forget: an id, a subject, a conversation, a user or some words")
    store, actor = pipeline.store, pipeline.store.asker
    for _ in range(TRIES):
        state = (await pipeline.adopt(dry=dry_run)).state
        for id, version in (expected or {}).items():
            if id in state.records and state.records[id].version != version:
                raise LostUpdate(id, version, state.records[id].version, state.records[id].text, "")
        paths = await seeking.everything(store)
        data = await seeking.read(store, paths)
        erasure, spans = _erasure(store, state, data, wanted, actor)
        found = await seeking.search(store, erasure)
        known = {(place.path, place.line) for place in found}
        found += [each for each in _lines(store, data, erasure) if (each.path, each.line) not in known]
        reach = Reach(erasure, spans, erasure.records)
        operations = carrying.plan(store, state, reach, data)
        outcome = Outcome(erasure, sorted(found, key=lambda place: (place.path, place.line)), dry=dry_run)
        gone = {each.id for each in operations if each.op == "forget"}
        outcome.of = sum(record.status is not Status.FORGOTTEN for record in state.records.values())
        outcome.records = [record for record in state.records.values() if record.id in gone]
        told = {each.id: each for each in operations if each.op == "restate" and changes(each, state.records[each.id])}
        outcome.retold = [replace(state.records[id], text=str(each.body["text"])) for id, each in told.items()]
        outcome.were = {id: state.records[id].text for id in told}
        if dry_run or not (found or operations):
            return outcome
        with _at_work(store, erasure.id):
            if await _committed(store, state, erasure, spans, data, operations, actor):
                await _carried_out(store, erasure.id, actor, outcome, [receipt] if receipt else [])
                return outcome
    raise Conflict(store.layout.ledger, f"other writers were faster {TRIES} times; nothing was forgotten; try again")


def _erasure(
    store: Store, state: State, data: Mapping[str, bytes], wanted: Wanted, actor: str
) -> tuple[Erasure, tuple[Evidence, ...]]:
    layout = store.layout
    notes: dict[str, list[str]] = {}
    for stem, known in state.rollouts.items():
        for name in (f"raw_memories/{stem}.md", known.summary_file):
            if name and (content := data.get(layout.memory(name))):
                notes.setdefault(stem, []).append(body(content.decode("utf-8", "replace")))
    handbook = Document.parse(data.get(layout.handbook, b""))
    rollouts = carrying.transcripts(store, data)
    naming = Naming(state, store.ledger, rollouts, notes, handbook)
    target = naming.find(wanted)
    erasure = naming.erasure(store.at(), actor, wanted.way)
    return erasure, tuple(dict.fromkeys(replace(span, quote="") for span in target.spans))


def _lines(store: Store, data: Mapping[str, bytes], erasure: Erasure) -> list[files.Place]:
    """The lines of the markdown that are those records, by their ids."""
    path = store.layout.handbook
    items = Document.parse(data.get(path, b"")).items
    return [files.Place(path, item.line, "a line") for item in items if item.id in erasure.records]


async def _committed(
    store: Store,
    state: State,
    erasure: Erasure,
    spans: Sequence[Evidence],
    data: Mapping[str, bytes],
    operations: Sequence[Operation],
    actor: str,
) -> bool:
    """Commit it, with what is needed to finish it; False if somebody committed something in between."""
    facts = {**erasure.facts(), "read": carrying.watermarks(state, data, store)}
    facts |= {"evidence": [span.to_json() for span in spans]} if spans else {}
    done = False

    def maker(now: State) -> Change:
        nonlocal done
        done = now.ordinal == state.ordinal
        return Change(actor, (Operation("erase", erasure.id, facts), *operations) if done else ())

    await store.settle("hand", [maker])
    return done


async def _carried_out(store: Store, id: str, actor: str, outcome: Outcome, wanted: Sequence[Path]) -> None:
    with _at_work(store, id):
        erasure = fold(store.ledger).erasures[id]
        outcome.left = await carrying.carry_out(store, erasure, actor)
        outcome.left += _in_state_folder(erasure)
        state = fold(store.ledger)
        receipt = Receipt(erasure, state.tombstones.get(id, ()), store.layout.memories_dir, store.layout.sessions_dir)
        outcome.receipts = [str(path) for path in receipts.keep(receipt, wanted)]
        await carrying.finished(store, erasure, len(outcome.left))


@contextmanager
def _at_work(store: Store, id: str) -> Iterator[None]:
    place = _place(store, id)
    _under_way.append(place)
    try:
        yield
    finally:
        _under_way.remove(place)


def _place(store: Store, id: str) -> tuple[object, str, str]:
    return store.root or store.workspace, store.layout.memories_dir, id


def _in_state_folder(erasure: Erasure) -> list[files.Place]:
    """Take it out of the user's state folder, where names of files stand; where it still stands after that."""
    folder, left = anchoring.folder(""), []
    sets = {anchoring.ANCHORS, anchoring.DOUBTS, anchoring.GONE, anchoring.TAKEN, receipts.FOLDER, "salt"}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.relative_to(folder).parts[0] in sets or not path.is_file() or path.is_symlink():
            continue
        try:
            data = path.read_bytes()
            clean = files.text(data, [erasure])
            if clean != data:
                receipts.written(path, clean)
        except OSError:
            left.append(files.Place(str(path), 0, "a file of the state folder that cannot be written"))
    return left


def _begun(store: Store, *, under_way: bool) -> tuple[list[Receipt], list[Erasure]]:
    """The receipts that have not been applied, and the forgettings that were begun and not finished.

    Those that this process is carrying out are among them only with `under_way`.
    """
    state = fold(store.ledger)
    given = [each for each in receipts.given(store.guard.forgotten, store.layout) if _new(state, each)]
    begun = [erasure for erasure in state.erasures.values() if not erasure.finished]

    def wanted(erasure: Erasure) -> bool:
        return under_way or _place(store, erasure.id) not in _under_way

    return [each for each in given if wanted(each.erasure)], [each for each in begun if wanted(each)]


def _new(state: State, receipt: Receipt) -> bool:
    known = state.erasures.get(receipt.erasure.id)
    return known is None or not known.finished


async def seen(store: Store) -> Seen:
    """What a look at the memory sees, once forgettings that were begun are finished and receipts are applied."""
    return await finished(store, await store.see(), under_way=True)


async def finished(store: Store, found: Seen, *, under_way: bool = False) -> Seen:
    """What was `found`, or where a forgetting had to be finished what is there now.

    What this process is carrying out is not done once more for a look meanwhile, unless it is `under_way` that matters.
    """
    if not any(_begun(store, under_way=under_way)):
        return found
    await finish(store, under_way=under_way)
    return await store.see()


def readable(paths: Iterable[Path]) -> None:
    """Raise `ConfigError` if one of these is no receipt that can be read."""
    for path in paths:
        receipts.read(path)


def unwritten(store: Store) -> list[Maker]:
    """What shows a memory that is only read as it is without what was forgotten: receipts count, nothing is written."""
    state = fold(store.ledger)
    given = receipts.given(store.guard.forgotten, store.layout)
    new = [each.erasure for each in given if _new(state, each)]
    new += [erasure for erasure in state.erasures.values() if not erasure.finished]
    return [partial(_unwritten, store, erasure) for erasure in new]


def _unwritten(store: Store, erasure: Erasure, state: State) -> Change:
    reach = Reach.of(erasure, state)
    operations = carrying.plan(store, state, reach, {})
    return Change(erasure.actor or ACTOR, (Operation("erase", erasure.id, erasure.facts()), *operations))


async def finish(store: Store, *, under_way: bool = True) -> list[Outcome]:
    """Finish what was begun and not finished, and apply the receipts that the application gave."""
    done = [await _applied(store, receipt) for receipt in _begun(store, under_way=under_way)[0]]
    for erasure in _begun(store, under_way=under_way)[1]:
        outcome = Outcome(erasure)
        await _carried_out(store, erasure.id, erasure.actor, outcome, [])
        done.append(outcome)
    return done


async def apply(pipeline: Pipeline, path: Path) -> Outcome:
    """Forget once more what a receipt is of: after a snapshot from before was restored.

    Raises `ConfigError` if the file is no receipt, or one of a memory in other folders.
    """
    receipt = receipts.read(path)
    layout = pipeline.layout
    if not receipts.layout_of(receipt, layout):
        raise ConfigError(
            f"{path} is the receipt of a memory in {receipt.memories_dir} and {receipt.sessions_dir}, not in "
            f"{layout.memories_dir} and {layout.sessions_dir}; name that one with --memories"
        )
    await pipeline.adopt()
    return await _applied(pipeline.store, receipt)


async def _applied(store: Store, receipt: Receipt) -> Outcome:
    await store.see()
    state, erasure = fold(store.ledger), receipt.erasure
    outcome = Outcome(erasure, found=await seeking.search(store, erasure))
    spans = _named(receipt, state)
    facts = {**erasure.facts(), "again": True}
    facts |= {"evidence": [span.to_json() for span in spans]} if spans else {}
    data = await seeking.read(store, await seeking.everything(store))
    before = {record.id: record for record in state.records.values() if record.status is not Status.FORGOTTEN}

    def maker(now: State) -> Change:
        reach = Reach(erasure, tuple(spans), erasure.records)
        operations = carrying.plan(store, now, reach, data)
        return Change(erasure.actor or ACTOR, (Operation("erase", erasure.id, facts), *operations))

    await store.settle("hand", [maker])
    await _carried_out(store, erasure.id, erasure.actor or ACTOR, outcome, [])
    after = fold(store.ledger).records
    outcome.records = [record for id, record in before.items() if after[id].status is Status.FORGOTTEN]
    return outcome


def _named(receipt: Receipt, state: State) -> list[Evidence]:
    """The places of the receipt under the names that conversations have in this memory."""
    digest_of = receipt.erasure.marks.digest
    stems = {digest_of(stem): stem for stem in {*state.rollouts, *(e.rollout for e in _places(state))}}
    return [replace(span, rollout=stems[span.rollout]) for span in receipt.spans if span.rollout in stems]


def _places(state: State) -> list[Evidence]:
    return [place for record in state.records.values() for place in record.evidence]


async def scrub(store: Store, pending: list[Due]) -> list[Due]:
    """Take what was forgotten out of transcripts that are to be read, as of an old copy; what is to be read then."""
    erasures = [erasure for erasure in fold(store.ledger).erasures.values() if erasure.finished]
    if not erasures or not pending:
        return pending
    found = False
    for item in pending:
        path = store.layout.session(f"{item.stem}.jsonl")
        for _ in range(TRIES):
            data = (await store.workspace.look([path])).files.get(path)
            if data is None:
                break
            clean = files.transcript(data, erasures, item.stem, store.witness.seal)
            if clean == data:
                break
            found = True
            anchoring.follow(data.split(b"\n"), clean.split(b"\n"), path)
            try:
                await store.write([Replace(path, clean, expect=digest(data), required=True)])
                break
            except Conflict:
                continue
    return due(await store.see(), fold(store.ledger)) if found else pending
