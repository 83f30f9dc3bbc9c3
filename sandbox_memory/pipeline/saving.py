"""What people save in the files of a memory, taken in as they save it, and said in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..folding import fold
from ..layout import Layout
from ..workspace.local import LocalWorkspace
from ..workspace.watching import Saved, Watching
from . import acknowledging, legible
from .settle import Prepared
from .tidying import tidy

if TYPE_CHECKING:
    from . import Pipeline

_WORDS = {
    "add": "added",
    "revise": "changed",
    "supersede": "changed",
    "move": "moved",
    "arrange": "arranged",
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
    if any(map(_beside, paths)) and len(pipeline.store.ledger):
        await tidy(pipeline.store, "live" if live else "hand", None)
    return done


class Saves:
    """Takes in what a person saves in the files of one memory on this machine, and tells what became of each."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline, self.layout = pipeline, pipeline.layout
        assert pipeline.store.root is not None
        self.root = pipeline.store.root
        self._known: dict[str, bytes | None] = {}
        self.know((self.layout.handbook, self.layout.summary, self.layout.inbox))

    async def take_in(self, paths: Iterable[str]) -> list[str]:
        """Lines on what was saved in these files; none for a file that is as it was. Raises what adopting raises."""
        saved = {path: acknowledging.read(self.root / path) for path in sorted(paths)}
        saved = {path: data for path, data in saved.items() if path not in self._known or self._known[path] != data}
        store, waiting = self.pipeline.store, self.pipeline.noted.taken()
        done = await self.pipeline.adopt()
        others, self.pipeline.noted.lines = self.pipeline.noted.taken(), waiting
        if done.halted:
            self.know({*self._known, *saved})
            return [done.halted] if saved else []
        line = told(done)
        views = {path: data or b"" for path, data in saved.items() if not _beside(path)}
        before = {path: self._known.get(path) or b"" for path in views}
        lines = [line] if line else []
        lines += acknowledging.of_views(self.layout, before, views, done, told=bool(line))
        if handbook := views.get(self.layout.handbook):
            found = legible.mute(self.layout.handbook, handbook, before[self.layout.handbook])
            lines += [f"{where} {what}; {legible.LEAD}" for where, what in found]
        if len(store.ledger) and (notes := [path for path in saved if _beside(path)]):
            lines += acknowledging.of_notes(self.layout, self.root, notes, fold(store.ledger))
            who = "live" if store.others_open((await store.see(listing=False)).open_marks)[0] else "hand"
            lines += await acknowledging.tidied(store, who)
        self.know({*self._known, *saved})
        return list(dict.fromkeys([*lines, *others]))

    def know(self, paths: Iterable[str]) -> None:
        """Take these files as they are now for known."""
        self._known.update((path, acknowledging.read(self.root / path)) for path in paths)


def _beside(path: str) -> bool:
    """True for a raw memory or a skill."""
    return "/raw_memories/" in path or "/skills/" in path


def told(done: Prepared) -> str:
    """What was taken in, such as "2 added, 1 deleted (commit 12)"; empty if nothing was."""
    if done.halted:
        return done.halted
    counts = Counter(_WORDS[each.op] for each in done.adopted if each.op in _WORDS)
    parts = [f"{count:,} {word}" for word, count in counts.items()]
    parts += [f"{len(done.refused):,} not taken in: {done.refused[0].why}"] if done.refused else []
    return f"{', '.join(parts)} (commit {done.state.ordinal})" if parts else ""
