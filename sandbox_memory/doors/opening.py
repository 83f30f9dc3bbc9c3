"""What a memory says of itself before it is opened: the settings in its ledger, and where its transcripts are."""

from __future__ import annotations

import asyncio
import logging
import posixpath
import threading
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..folding import fold
from ..guard import Guard
from ..layout import Layout
from ..pipeline import Pipeline
from ..pipeline.configuring import Kept
from ..scope import scopes_in
from ..workspace.local import LocalWorkspace

if TYPE_CHECKING:
    from ..config import MemoryGenerateConfig

logger = logging.getLogger("sandbox_memory")

T = TypeVar("T")


def sessions(layout: Layout, settings: Mapping[str, Any], above: Mapping[str, Any]) -> str:
    """Where the transcripts are: as its own ledger says, or that of the layout without the scope, else beside it.

    A ledger is a file that an agent's shell can write: it never leads to another scope's transcripts.
    """
    scope, beside = scopes_in(layout.memories_dir), layout.sessions_dir
    named = str(settings.get("sessions_dir", beside))
    if "sessions_dir" in above and not scopes_in(str(above["sessions_dir"])):
        named = posixpath.join(str(above["sessions_dir"]), *scope)
    if scopes_in(named) != scope:
        logger.warning("%s names the transcripts of another scope; %s is used instead", layout.ledger, beside)
        return beside
    return named


def sessions_beside(memories_dir: str) -> str:
    """`sessions/gtm` for `memories/gtm`, `sessions` for a folder of another name."""
    top, _, rest = memories_dir.partition("/")
    return f"sessions/{rest}" if top == "memories" and rest.strip("/") else "sessions"


async def settings_of(workspace: LocalWorkspace, layout: Layout, guard: Guard) -> dict[str, Any]:
    pipeline = Pipeline(workspace, layout, guard=guard)
    await pipeline.store.see()
    return fold(pipeline.store.ledger).settings


def kept(settings: dict[str, Any]) -> Kept:
    """The configuration that the memory was last used with."""
    return Kept(settings.get("max_raw_memories"), settings.get("capacity") or None)


def generating(generate: MemoryGenerateConfig | Kept | None) -> MemoryGenerateConfig:
    """The whole configuration, with its models; raises `ConfigError` if what was kept of it is out of bounds."""
    from ..config import MemoryGenerateConfig

    if isinstance(generate, MemoryGenerateConfig):
        return generate
    known = generate or Kept()
    return MemoryGenerateConfig(max_raw_memories=known.max_raw_memories_for_consolidation, capacity=known.capacity)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end, also where an event loop is running already, as in a notebook."""
    outcome: list[T] = []

    async def main() -> None:
        # Not the task's result: asyncio.run has Python spell out the task at its end, a whole memory with it.
        outcome.append(await work)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(main())
        return outcome[0]
    failure: list[BaseException] = []

    def target() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001 - re-raised in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
