"""What a person asks for by command: remember this, forget that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import anchoring, screening
from .. import ledger as ledgers
from ..document.additions import body_of
from ..errors import Conflict, SandboxMemoryError, Unknown
from ..folding import fold
from ..ledger import Ledger, Operation
from ..proposals import new_id, propose
from ..records import Evidence, Kind, Record, Rollout, Status, Trust
from ..rollouts import parse_rollout
from ..state import State, candidates_of
from ..templates import one_line
from ..workspace import Replace, digest
from . import Pipeline
from .tidying import tidy

TRIES = 20


async def add(
    pipeline: Pipeline, text: str, *, kind: Kind = Kind.FACT, group: str = "General", actor: str = "cli"
) -> Record:
    """Commit what a person asked to remember; the new record. Raises `SandboxMemoryError` for an empty text."""
    line = body_of(one_line(text))
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
    store, path = pipeline.store, pipeline.layout.ledger
    rollouts = await _transcripts(pipeline, [state.records[id] for id in ids])
    await pipeline.commit(actor, lambda now: _forgetting(now, ids, rollouts))
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
        await tidy(store, "hand", None)
        return [state.records[id] for id in ids]
    raise Conflict(path, "the lines were forgotten, but their words still stand in the history; forget them once more")


async def _transcripts(pipeline: Pipeline, records: Sequence[Record]) -> dict[str, Rollout]:
    """The transcripts that the records rest on, as far as they are kept."""
    layout = pipeline.layout
    paths = {e.rollout: layout.session(f"{e.rollout}.jsonl") for record in records for e in record.evidence}
    files = (await pipeline.store.look(list(paths.values()))).files if paths else {}
    return {
        stem: parse_rollout(files[path], rollout_id=stem, path=path, memories_dir=layout.memories_dir)
        for stem, path in paths.items()
        if path in files
    }


def _forgetting(now: State, ids: Sequence[str], rollouts: Mapping[str, Rollout]) -> list[Operation]:
    """Forget the records with every echo of their quotes; what was extracted of them and waits is read anew."""
    echoes = {id: list(screening.echoes(now.records[id].evidence, rollouts)) for id in ids}
    spans = [span for id in ids for span in (*now.records[id].evidence, *now.tombstones.get(id, ()), *echoes[id])]
    waiting = {
        stem
        for (stem, _), candidates in now.pending.items()
        if any(quote.overlaps(span) for candidate in candidates for quote in candidate.evidence for span in spans)
    }
    anew = [Operation("consume", stem, {"consumed": 0, "anew": True}) for stem in sorted(waiting)]
    forgets = (Operation("forget", id, _places(echoes[id])) for id in ids)
    return [*anew, *_withdrawn(now, set(ids)), *forgets]


def _withdrawn(now: State, ids: Collection[str]) -> Iterator[Operation]:
    """Take back what is asked about these records; what the same question asks about others is asked anew."""
    for proposal in now.proposals.values():
        if not _concerns(proposal.text, [*proposal.operations, *proposal.on_refusal], now, ids):
            continue
        yield Operation("decide", proposal.id, {"accepted": False})
        kept, refusing = (
            tuple(o for o in operations if not _concerns("", [o], now, ids))
            for operations in (proposal.operations, proposal.on_refusal)
        )
        if kept and not _concerns(proposal.text, (), now, ids):
            yield from propose(now, proposal.text, kept, source=proposal.source, on_refusal=refusing, again=True)


def _concerns(text: str, operations: Iterable[Operation], now: State, ids: Collection[str]) -> bool:
    """True if a question is about one of these records, or repeats its words."""
    named = {name for o in operations for name in (o.id, *o.facts.get("replaces", ()))}
    return not named.isdisjoint(ids) or any(now.records[id].text in text for id in ids if now.records[id].text)


def _places(spans: Sequence[Evidence]) -> dict[str, Any]:
    return {"evidence": [span.to_json() for span in spans]} if spans else {}


def _staying(ledger: Ledger, ids: set[str]) -> Callable[[Operation, int], bool]:
    """Whether the words of an operation have nothing to do with these records."""
    state = fold(ledger)
    spans = [span for id in ids for span in state.tombstones.get(id, ())]
    said = [state.records[id].text for id in ids if id in state.records and state.records[id].text]

    def stays(operation: Operation, ordinal: int) -> bool:
        if operation.op == "extract":
            candidates = () if (operation.id, ordinal) in state.pending else candidates_of(operation)
            return not any(quote.overlaps(span) for c in candidates for quote in c.evidence for span in spans)
        if operation.op == "propose":
            inner = [*operation.body.get("operations", ()), *operation.body.get("on_refusal", ())]
            named = {name for o in inner for name in (o["id"], *o["facts"].get("replaces", ()))}
            return ids.isdisjoint(named) and not any(words in operation.body.get("text", "") for words in said)
        if operation.op == "write_skill":
            return not any(words in operation.body.get("text", "") for words in said)
        return operation.id not in ids

    return stays
