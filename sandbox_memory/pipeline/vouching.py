"""Vouching: who holds the key, or sits at this machine, takes in what something else wrote, as it stands."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SandboxMemoryError
from ..ledger import Operation
from ..trusting.witness import VOUCH
from . import Pipeline
from .losses import shown
from .settle import Change
from .takeover import takeover


@dataclass(frozen=True)
class Vouched:
    """How many commits and transcript lines are vouched for now that were not before."""

    commits: int
    lines: int


async def vouch(pipeline: Pipeline) -> Vouched:
    """Take in what stands in the history and, without a key, in the transcripts: from now on it counts as ours.

    With a key a sealed commit says so, for every machine; without one it is noted on this machine alone. Raises
    `SandboxMemoryError` without a key while another process has an agent's session open, which may be who asks.
    """
    store = pipeline.store
    seen = await store.see()
    if not store.witness.seal and store.agents_elsewhere(seen.open_marks):
        raise SandboxMemoryError("an agent's session is open here: vouch for what stands there when it is over")
    passed = len(seen.ledger.passed)
    if store.witness.seal:
        digests = store.witness.unsealed()
        if digests:
            operation = Operation(VOUCH, "", {"commits": digests})
            await store.append(lambda state: Change("cli", (operation,)))
        await store.reread()
        return Vouched(passed - await _settled(pipeline), 0)
    paths = [store.layout.session(name) for name in seen.sessions if name.endswith(".jsonl")]
    files = (await store.look([store.layout.ledger, *paths])).files
    store.witness.adopts(files.get(store.layout.ledger, b""))
    lines = sum(store.witness.adopts_lines(path, files[path]) for path in paths if path in files)
    await store.reread()
    return Vouched(passed - await _settled(pipeline), lines)


async def _settled(pipeline: Pipeline) -> int:
    """Miss nothing any more, and take in what only the markdown knows; how many commits are passed over now."""
    store = pipeline.store
    store.witness.settled(store.ledger)
    passed = len(store.ledger.passed)
    seen = await store.see()
    if shown(seen) > len(store.ledger):  # which still counts as missing, until it is taken in
        await store.settle("hand", await takeover(store, seen), seen=seen)
    return passed
