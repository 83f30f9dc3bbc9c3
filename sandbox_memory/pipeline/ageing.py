"""After a consolidation: episodes of one matter become one conclusion, and what a memory no longer holds goes."""

from __future__ import annotations

from collections.abc import Mapping

from .. import usage
from ..folding import fold
from ..governance.lifetime import later, let_go
from ..layout import Preset
from ..ledger import Operation
from ..stages.concluding import conclusions
from ..state import State
from .reports import Report
from .settle import Change, Maker
from .store import Store


async def age(store: Store, actor: str, uses: bytes, capacity: int | None, report: Report) -> None:
    """Conclude from episodes, and let go what is old and unused or beyond the capacity.

    Without any of that, nothing is read or written.

    `uses` is the file that says when records were last of use. The `report` counts what was done.
    """
    at = store.at()
    used = usage.last_used(usage.read(uses, at))

    def retired(state: State) -> Change:
        return Change("time", tuple(_retired(state, store.layout.preset, at, used, capacity)))

    def concluded(state: State) -> Change:
        return Change("consolidation", tuple(conclusions(state.visible().values(), store.layout.preset)))

    makers: list[Maker] = [concluded, retired]
    state, before = fold(store.ledger), len(store.ledger)
    if all(maker(state).empty for maker in makers):
        return
    await store.settle(actor, makers)
    for commit in store.ledger.commits[before:]:
        report.count(commit.operations if commit.actor in ("consolidation", "time") else ())


def _retired(state: State, preset: Preset, at: str, used: Mapping[str, str], capacity: int | None) -> list[Operation]:
    most = preset.capacity if capacity is None else capacity
    gone = let_go(state.visible().values(), later(at, state.at), half_life=preset.half_life, capacity=most, used=used)
    return [Operation("retire", each.id, {"reason": each.reason}) for each in gone]
