"""What a person asks for by command: remember this, forget that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import anchoring
from .. import ledger as ledgers
from ..document import safe_text
from ..errors import Conflict, SandboxMemoryError, Unknown
from ..folding import fold
from ..ledger import Ledger, Operation
from ..proposals import new_id
from ..records import Kind, Record, Status, Trust
from ..state import State, candidates_of
from ..templates import one_line
from ..workspace import Replace, digest
from . import Pipeline

TRIES = 20


async def add(
    pipeline: Pipeline, text: str, *, kind: Kind = Kind.FACT, group: str = "General", actor: str = "cli"
) -> Record:
    """Commit what a person asked to remember; the new record. Raises `SandboxMemoryError` for an empty text."""
    line = safe_text(one_line(text))
    if not line:
        raise SandboxMemoryError("there is nothing to remember: the text is empty")
    heading = pipeline.layout.preset.headings.get(kind, "Reusable knowledge")
    body = {"text": line, "group": one_line(group) or "General", "section": heading}
    facts = {"kind": kind.value, "trust": Trust.HAND.label, "protected": True}
    operation = Operation("add", new_id(), facts, body)
    done = await pipeline.commit(actor, lambda state: [operation])
    return done.state.records[operation.id]


async def forget(pipeline: Pipeline, ids: Sequence[str], *, actor: str = "cli") -> list[Record]:
    """Erase these records from the markdown and their words from the ledger; the records as they were.

    Raises `Unknown` for an id that no record has. What the transcripts and raw memories say stays there.
    """
    state = (await pipeline.adopt()).state
    unknown = [id for id in ids if id not in state.records or state.records[id].status is Status.FORGOTTEN]
    if unknown:
        raise Unknown(f"there is no record {unknown[0]}; `sandbox-memory show` lists the records with their ids")
    await pipeline.commit(actor, lambda now: _forgetting(now, ids))
    store, path = pipeline.store, pipeline.layout.ledger
    for _ in range(TRIES):
        data = (await store.look([path])).files.get(path, b"")
        parsed = ledgers.parse(data)
        stays = _staying(parsed, set(ids))
        keep = {commit.ordinal: [stays(o, commit.ordinal) for o in commit.operations] for commit in parsed.commits}
        try:
            erased = ledgers.erase(data, keep)
            await store.write([Replace(path, erased, expect=digest(data), required=True)])
        except Conflict:
            continue
        anchoring.follow(data.split(b"\n"), erased.split(b"\n"))
        return [state.records[id] for id in ids]
    raise Conflict(path, "the lines were forgotten, but their words still stand in the history; forget them once more")


def _forgetting(now: State, ids: Sequence[str]) -> list[Operation]:
    """Forget the records; what was extracted of the same words and waits for its consolidation is read anew."""
    spans = [span for id in ids for span in (*now.records[id].evidence, *now.tombstones.get(id, ()))]
    waiting = {
        stem
        for (stem, _), candidates in now.pending.items()
        if any(quote.overlaps(span) for candidate in candidates for quote in candidate.evidence for span in spans)
    }
    anew = [Operation("consume", stem, {"consumed": 0, "anew": True}) for stem in sorted(waiting)]
    return [*anew, *(Operation("forget", id) for id in ids)]


def _staying(ledger: Ledger, ids: set[str]) -> Callable[[Operation, int], bool]:
    """Whether the words of an operation have nothing to do with these records."""
    state = fold(ledger)
    spans = [span for id in ids for span in state.tombstones.get(id, ())]

    def stays(operation: Operation, ordinal: int) -> bool:
        if operation.op == "extract":
            candidates = () if (operation.id, ordinal) in state.pending else candidates_of(operation)
            return not any(quote.overlaps(span) for c in candidates for quote in c.evidence for span in spans)
        if operation.op == "propose":
            inner = [*operation.body.get("operations", ()), *operation.body.get("on_refusal", ())]
            return not any(ids & {o["id"], *o["facts"].get("replaces", ())} for o in inner)
        return operation.id not in ids

    return stays
