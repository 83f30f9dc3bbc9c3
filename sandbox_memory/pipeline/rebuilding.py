"""The markdown from the ledger: `MEMORY.md` as if it had never been there, the other views brought up to date."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from ..errors import Conflict, WorkspaceError
from ..workspace import ABSENT, Remove, Replace, digest
from . import Pipeline, keeping, losses
from .store import Step
from .tidying import tidy

TRIES = 20


@dataclass(frozen=True)
class Rebuilt:
    """The files that were written, or would be. `kept` is a copy of the `MEMORY.md` that was there, empty for none.

    A copy is kept where the old file says something that the new one does not: prose, tables, headings.
    """

    files: tuple[str, ...] = ()
    kept: str = ""


async def rebuild(pipeline: Pipeline, *, dry_run: bool = False) -> Rebuilt:
    """Write `MEMORY.md` anew from the ledger, after taking in what people changed in it; no model is called.

    Raises `WorkspaceError` where something else stands in the file's place, `Conflict` if it is saved again and again,
    `HistoryLost` where commits are missing, whose lines would go.
    """
    store, path = pipeline.store, pipeline.layout.handbook
    for _ in range(TRIES):
        await losses.whole(store, going_on=dry_run)
        known = await pipeline.adopt(dry=dry_run)
        seen = await store.see()
        if path in seen.unusable:
            raise WorkspaceError(path, seen.unusable[path], "Move it away, and it is written again")
        blank = replace(seen, handbook=None, ledger=known.ledger, kept={})
        prepared = await store.prepare(blank, "hand", ())
        if prepared.committed and not dry_run:
            continue  # saved in this moment: it is taken in first
        old = seen.handbook or b""
        new = next((s.data for s in prepared.steps if isinstance(s, Replace) and s.path == path), b"")
        files = [s.path for s in prepared.steps if isinstance(s, Replace) and (s.path != path or s.data != old)]
        kept = f"{path}.saved-{secrets.token_hex(4)}" if _lines(old) - _lines(new) else ""
        if dry_run or not files:
            return Rebuilt(tuple(files), kept if files else "")
        steps: list[Step] = [step for step in prepared.steps if step.path != path]
        if new != old:
            steps.append(Replace(path, new, expect=digest(old) if seen.handbook is not None else ABSENT))
            steps += [Replace(kept, old, expect=ABSENT)] if kept else []
            steps += [Remove(keeping.twin(pipeline.layout, path))] if path in seen.kept else []
        outcome = await store.workspace.transact(steps, lock=pipeline.layout.memory(".lock"))
        if not outcome.skipped:
            await tidy(store, "hand", None)
            return Rebuilt(tuple(files), kept if new != old else "")
    raise Conflict(path, f"it was saved again and again, {TRIES} times; nothing was rebuilt")


def _lines(data: bytes) -> set[bytes]:
    """What a file says, line by line, without ours that stand for nothing."""
    return {line.strip() for line in data.splitlines() if line.strip() and not line.startswith(b"<!-- memory:")}
