"""What one session's runs are told beside the summary, and what they make of it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import usage
from ..blocks import split
from ..layout import Layout, Preset
from ..records import Record
from ..stages import briefing, recall
from ..usage import Noticed, Use
from ..workspace import Append
from .settle import Prepared, Seen

MANY = 500
"""Records from which on they are read in a thread, so that the event loop goes on."""


@dataclass(frozen=True)
class Told:
    """Whether a run is told a line: `when` is "always", "alike" (to its request) or "never".

    `why` is "file" (it stands in `memory_summary.md`), "request" (that has no room for it), "gone" (it is out of
    sight), "orders" (see `briefing.unheard`), or what `recall.kept_back` says.
    """

    when: str = "never"
    why: str = "gone"


def told(record: Record, preset: Preset, visible: Collection[str], block: Collection[str]) -> Told:
    """Whether a run is told that record; `block` are the ids in `memory_summary.md`."""
    if record.id not in visible:
        return Told()
    if briefing.unheard(record):
        return Told("never", "orders")
    if record.id in block:
        return Told("always", "file")
    why = recall.kept_back(record, preset)
    return Told("never", why) if why else Told("alike", "request")


class Telling:
    """Knows the records that the last run was told; `uses` are those that the file told of at the last opening."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.uses: Mapping[str, Use] = {}
        self._related = recall.Related()
        self._told: dict[str, Record] = {}
        self._counted = True

    def opened(self, seen: Seen, now: str) -> None:
        """Take in what was counted before."""
        self.uses = usage.read(seen.usage, now)

    async def prompt(self, done: Prepared, about: str, budget: int, now: str) -> str:
        """The summary as it is told, and below it the records that are like the request that the run is about."""
        parts, visible = split(done.summary), done.state.visible()
        block = parts.block.text if parts.block else ""
        shown = [id for id in usage.ids(block) if id in visible]
        found = await self._found(done, about, budget, now, shown)
        self._told = {id: visible[id] for id in shown} | {record.id: record for record in found}
        self._counted = False
        text = briefing.briefing(done.summary, done.state, self.layout.preset, people_only=self.layout.closed)
        return "\n\n".join(part for part in (text, briefing.related(found)) if part)

    async def _found(self, done: Prepared, about: str, budget: int, now: str, shown: list[str]) -> list[Record]:
        def work() -> list[Record]:
            used = usage.last_used(self.uses)
            found = recall.relevant(
                self._related, done.state, self.layout.preset, about, budget, now, shown=shown, used=used
            )
            return [record for record in found if not briefing.unheard(record)]

        return await asyncio.to_thread(work) if len(done.state.visible()) > MANY else work()

    def counted(self, items: Iterable[Mapping[str, Any]], at: str) -> list[Append]:
        """The step that counts what these items of a run show of its use of memory, and what the run was told."""
        found = usage.noticed(items, self._told)
        if self._counted:
            found = replace(found, injected=Noticed().injected)
        self._counted = True
        line = found.line(at)
        path = self.layout.memory(usage.FILE)
        return [Append(path, line, required=False, private=True)] if line else []
