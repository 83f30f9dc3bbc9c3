"""Lines that a person deleted from the markdown, and where they still stand."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Sequence

from ...folding import fold
from ...governance.forgetting import Erasure, Marks, tokens
from ...records import Record
from ...skills import file_of
from ..settle import Prepared
from ..store import Store
from . import files, seeking

logger = logging.getLogger("sandbox_memory")

TOLD, MOST = 5, 4
"""Of how many deleted lines each is told where it still stands, and how many places of each."""


async def told(store: Store, done: Prepared) -> None:
    """Log where lines that a person has just deleted from the markdown still stand: of many, the last as one."""
    gone = [operation.id for operation in done.adopted if operation.op == "delete"]
    records = [done.state.records[id] for id in gone if id in done.state.records]
    few = records if len(records) <= TOLD + 1 else records[:TOLD]
    for record in few:
        paths = list(dict.fromkeys(named(place) for place in await standing(store, [record])))
        if paths:
            more = f" and {len(paths) - MOST} more" if len(paths) > MOST else ""
            logger.warning(
                "sandbox memory: %s was deleted from the markdown; it still stands in %s%s; `sandbox-memory forget %s` "
                "removes it there too",
                record.id,
                ", ".join(paths[:MOST]),
                more,
                record.id,
            )
    rest = records[len(few) :]
    if rest and await standing(store, rest):
        ids = " ".join(record.id for record in rest)
        logger.warning(
            "sandbox memory: %d more were deleted, and still stand in transcripts or notes: `sandbox-memory why ID` "
            "says where, `sandbox-memory forget %s` removes them there too",
            len(rest),
            ids,
        )


def named(place: files.Place) -> str:
    """A place as `FILE:LINE`; of notes the file alone."""
    return f"{place.path}:{place.line}" if place.path.endswith(".jsonl") and place.line else place.path


async def standing(store: Store, records: Sequence[Record]) -> list[files.Place]:
    """Where lines that were deleted still stand: edited skills, transcripts, and what was derived of these."""
    layout = store.layout
    texts = [text for record in records for text in (record.text, *(e.quote for e in record.evidence)) if text]
    erasure = Erasure("f-0000000000", store.at(), "", "id", Marks.of("00" * 16, map(tokens, texts)))
    state = fold(store.ledger)
    paths = dict.fromkeys(layout.memory(file_of(name)) for name, skill in state.skills.items() if skill.edited)
    for stem in sorted({e.rollout for record in records for e in record.evidence}):
        paths[layout.session(f"{stem}.jsonl")] = None
        paths[layout.memory(f"raw_memories/{stem}.md")] = None
        if stem in state.rollouts and state.rollouts[stem].summary_file:
            paths[layout.memory(state.rollouts[stem].summary_file)] = None
    data = await seeking.read(store, list(paths))
    found: list[files.Place] = []
    for path, content in data.items():
        stem = posixpath.basename(path).removesuffix(".jsonl")
        said = path.endswith(".jsonl")
        found += files.in_transcript(path, content, erasure, stem) if said else files.in_text(path, content, erasure)
    return found
