"""Seeking: every file of a memory, and where something that was forgotten still stands in one."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from ...folding import fold
from ...governance.forgetting import Erasure
from ...ledger import parse
from ...scope import is_scope
from ...workspace.finding import files as listed
from ..store import Store
from . import files, history
from .files import Place
from .history import Reach

NEVER = frozenset((".lock",))
BATCH = 100
"""Files that are read at once."""


async def everything(store: Store) -> list[str]:
    """The paths of all files of this memory, temporary ones included; other memories in its folders are left out."""
    layout = store.layout
    tops = [layout.memories_dir, layout.sessions_dir]
    paths = await listed(store.workspace, tops)
    others = {posixpath.dirname(path) for path in paths if posixpath.basename(path) == "ledger.jsonl"}
    others.discard(layout.memories_dir)
    found = []
    for path in paths:
        top = next(top for top in sorted(tops, key=len, reverse=True) if path.startswith(f"{top}/"))
        inner = path[len(top) + 1 :].split("/")
        if any(is_scope(part) for part in inner[:-1]) or any(path.startswith(f"{other}/") for other in others):
            continue
        if posixpath.dirname(path) != layout.sessions_dir and path.endswith(".jsonl") and top == layout.sessions_dir:
            continue  # another memory's transcripts, in a folder below
        if inner[-1] not in NEVER:
            found.append(path)
    return found


async def read(store: Store, paths: Sequence[str]) -> Mapping[str, bytes]:
    """The content of these files, as far as they can be read."""
    found: dict[str, bytes] = {}
    for start in range(0, len(paths), BATCH):
        found.update((await store.workspace.look(list(paths[start : start + BATCH]))).files)
    return found


async def reach_of(store: Store, erasure: Erasure) -> Reach:
    """What it reaches as the memory is now."""
    await store.see(listing=False)
    return Reach.of(erasure, fold(store.ledger))


def of_whole(path: str, data: bytes, erasure: Erasure, store: Store) -> bool:
    """True for a file of a conversation that is forgotten as a whole, or of which nothing else is left."""
    name = posixpath.basename(path)
    folder = posixpath.dirname(path)
    layout = store.layout
    if folder == layout.sessions_dir and name.endswith(".jsonl"):
        clean = files.clean(path, data, [erasure], layout)
        return bool(data.strip()) and not clean.strip()
    if folder == layout.memory("raw_memories"):
        return erasure.whole(name.removesuffix(".md"))
    if folder == layout.memory("rollout_summaries"):
        return erasure.whole(name.removesuffix(".md").rpartition("_")[0])
    return False


async def search(store: Store, erasure: Erasure) -> list[Place]:
    """Where it still stands: in every file, its name included, decoded and normalised."""
    found: list[Place] = []
    paths = await everything(store)
    layout = store.layout
    reach = await reach_of(store, erasure)
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        data = await read(store, batch)
        for path in batch:
            found += _in_name(path, erasure, layout.memories_dir, layout.sessions_dir)
            content = data.get(path)
            if content is None:
                continue
            if path == layout.ledger:
                found += history.in_ledger(path, parse(content), reach)
                torn = history.torn(content)
                found += [Place(path, n, "a torn line") for n, text in torn if erasure.marks.spans(text)]
            elif path.endswith(".jsonl") and posixpath.dirname(path) == layout.sessions_dir:
                found += files.in_transcript(path, content, erasure, posixpath.basename(path).removesuffix(".jsonl"))
            elif of_whole(path, content, erasure, store):
                found.append(Place(path, 0, "notes on a conversation that is to be forgotten"))
            else:
                found += files.in_text(path, content, erasure)
    return found


def _in_name(path: str, erasure: Erasure, *tops: str) -> list[Place]:
    top = next((top for top in sorted(tops, key=len, reverse=True) if path.startswith(f"{top}/")), "")
    inner = path[len(top) + 1 :].split("/")
    return [Place(path, 0, "a name")] if any(files.renamed(part, erasure) != part for part in inner) else []
