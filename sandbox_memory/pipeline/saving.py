"""What people save in the files of a memory, taken in as they save it, and said in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..layout import Layout
from ..workspace.local import LocalWorkspace
from ..workspace.watching import Saved, Watching
from .settle import Prepared
from .tidying import tidy

if TYPE_CHECKING:
    from . import Pipeline

_WORDS = {
    "add": "added",
    "revise": "changed",
    "move": "moved",
    "delete": "deleted",
    "restore": "put back",
    "hold": "held",
    "release": "put back",
    "decide": "answered",
    "propose": "asked about",
}
"""What the operations of an adoption are called; what is not here is bookkeeping."""


def watched(pipeline: Pipeline, saved: Saved) -> Watching:
    """Watches the files that people edit, of a memory whose workspace is a folder of this machine."""
    workspace, layout = pipeline.store.workspace, pipeline.layout
    assert isinstance(workspace, LocalWorkspace)
    views = (layout.handbook, layout.summary, layout.inbox)
    return Watching(workspace.root, (layout.memories_dir,), for_people(layout), saved, views)


def for_people(layout: Layout) -> Callable[[str], bool]:
    """Whether a path is one of the files of that memory that people edit."""
    folder = re.escape(layout.memories_dir)
    names = r"(?:MEMORY|memory_summary|INBOX)\.md|raw_memories/[^/]+\.md|skills/[^/]+/SKILL\.md"
    return lambda path: re.fullmatch(f"{folder}/(?:{names})", path) is not None


async def take_in(pipeline: Pipeline, paths: Iterable[str], *, live: bool = False) -> Prepared:
    """Take in what was saved in these files; `live` while an agent's session is open in this process.

    Raises what `Pipeline.adopt` raises.
    """
    done = await (pipeline.store.settle("live") if live else pipeline.adopt())
    others = [path for path in paths if "/raw_memories/" in path or "/skills/" in path]
    if others and len(pipeline.store.ledger):
        await tidy(pipeline.store, "live" if live else "hand", None)
    return done


def told(done: Prepared) -> str:
    """What was taken in, such as "2 added, 1 deleted (commit 12)"; empty if nothing was."""
    counts = Counter(_WORDS[each.op] for each in done.adopted if each.op in _WORDS)
    parts = [f"{count:,} {word}" for word, count in counts.items()]
    parts += [f"{len(done.refused):,} not taken in: {done.refused[0].why}"] if done.refused else []
    return f"{', '.join(parts)} (commit {done.state.ordinal})" if parts else ""
