"""Selecting what counts at a close, with many raw memories on disk.

What is timed is what each side does at a close besides calling models: find the conversations that count and bring
`raw_memories.md` and `phase_two_selection.json` up to date. The SDK: `build_phase_two_input_selection`,
`rebuild_raw_memories` and `write_phase_two_selection` of its storage. Ours: `tidy`, in a process that has opened
the memory before, as the one that closes a session has. The limit of conversations that count is 4,096 on both
sides. Before each repetition one raw memory is made to look new, so that there is something to do. The two take
turns; medians. The second row is a whole close of a session, from the outside: one new conversation, models that
answer at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.capabilities import Memory as SdkMemory
from agents.sandbox.memory.storage import SandboxMemoryStorage

from sandbox_memory import Memory, MemoryGenerateConfig
from sandbox_memory.layout import Layout
from sandbox_memory.pipeline.store import Store
from sandbox_memory.pipeline.tidying import tidy
from sandbox_memory.workspace.local import LocalWorkspace

from .answers import opening, our_consolidation, our_extraction, sdk_extraction
from .filled import LIMIT, our_workspace, sdk_workspace
from .kit import Progress, Scripted, interleaved, run, session_on, timed
from .shell_agent import ShellAgent
from .table import Row, divided
from .texts import conversation

JUDGED = 4_000


@dataclass(frozen=True)
class Sizes:
    """How many raw memories there are, how often each side selects, and how often each closes a session, if at all."""

    memories: int = 4_000
    repetitions: int = 5
    closes: int = 2


FULL = Sizes()
QUICK = Sizes(repetitions=2, closes=0)
TINY = Sizes(8, 1, 1)


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """Two rows: the selection alone, and a whole close."""
    progress(f"{sizes.memories:,} raw memories, writing them")
    sdk_workspace(folder / "sdk", sizes.memories)
    our_workspace(folder / "ours", sizes.memories)
    progress(f"{sizes.memories:,} raw memories, selecting")
    taken = run(_selected(folder, sizes))
    judged = sizes.memories == JUDGED
    how = "of the SDK's"
    rows = [
        Row(
            f"selection at close with {sizes.memories:,} raw memories",
            taken["sdk"] * 1_000,
            taken["ours"] * 1_000,
            "ms",
            divided(taken["ours"], taken["sdk"]),
            how,
            at_most=0.1 if judged else None,
        )
    ]
    if sizes.closes:
        progress(f"{sizes.memories:,} raw memories, closing a session")
        sdk, ours = run(_closed(folder, sizes)).values()
        what = "a whole close there, instant models"
        rows.append(Row(what, sdk * 1_000, ours * 1_000, "ms", divided(ours, sdk), how))
    return rows


async def _selected(folder: Path, sizes: Sizes) -> dict[str, float]:
    layout = Layout.of("memories", "sessions")
    storage = SandboxMemoryStorage(session=await session_on(folder / "sdk"), layout=sdk_config.MemoryLayoutConfig())
    store = Store(LocalWorkspace(folder / "ours"), layout)
    await store.settle("hand")
    await tidy(store, "hand", None)
    counts = {"sdk": 0, "ours": 0}

    def touch(side: str) -> None:
        counts[side] += 1
        path = folder / side / "memories" / "raw_memories" / f"{conversation(counts[side]).id}.md"
        path.write_bytes(path.read_bytes() + b"- one more note\n")

    async def by_sdk() -> None:
        selection = await storage.build_phase_two_input_selection(max_raw_memories_for_consolidation=LIMIT)
        assert await storage.rebuild_raw_memories(selected_items=selection.selected)
        await storage.write_phase_two_selection(selected_items=selection.selected)

    async def by_ours() -> None:
        await tidy(store, "hand", None)

    works: dict[str, Callable[[], Awaitable[Any]]] = {}
    for side, work in (("sdk", by_sdk), ("ours", by_ours)):
        works[f"{side}-touched"] = _sync(touch, side)
        works[side] = work
    taken = await interleaved(works, sizes.repetitions)
    for side in ("sdk", "ours"):
        merged = (folder / side / "memories" / "raw_memories.md").read_text(encoding="utf-8")
        found = merged.count("\nrollout_id: ") + merged.startswith("rollout_id: ")
        assert found == sizes.memories, f"{side}: raw_memories.md has {found} of {sizes.memories} raw memories"
        assert merged.count("- one more note") == sizes.repetitions, f"{side}: raw_memories.md is not up to date"
    return taken


def _sync(work: Callable[[str], None], side: str) -> Callable[[], Awaitable[None]]:
    async def wrapped() -> None:
        work(side)

    return wrapped


async def _closed(folder: Path, sizes: Sizes) -> dict[str, float]:
    taken: dict[str, list[float]] = {"sdk": [], "ours": []}
    for repetition in range(sizes.closes):
        new = conversation(sizes.memories + repetition)
        for side, memory in (("sdk", _sdk()), ("ours", _ours(new.group))):
            session = await session_on(folder / side)
            agent = SandboxAgent(
                name="worker",
                model=Scripted(lambda system, items: "Noted."),
                instructions="Be brief.",
                capabilities=[memory, Filesystem(), Shell()],
            )
            async with session:
                config = RunConfig(sandbox=SandboxRunConfig(session=session), group_id=new.id)
                await Runner.run(agent, opening(new), run_config=config)
                taken[side].append(await timed(session.aclose))
            assert new.keywords[4] in (folder / side / "memories" / "raw_memories.md").read_text(encoding="utf-8")
    return {side: sorted(values)[len(values) // 2] for side, values in taken.items()}


def _sdk() -> SdkMemory:
    return SdkMemory(
        generate=sdk_config.MemoryGenerateConfig(
            max_raw_memories_for_consolidation=LIMIT,
            phase_one_model=Scripted(sdk_extraction),
            phase_two_model=Scripted(ShellAgent().answer),
        )
    )


def _ours(group: str) -> Memory:
    return Memory(
        generate=MemoryGenerateConfig(
            max_raw_memories=LIMIT,
            phase_one_model=Scripted(our_extraction),
            phase_two_model=Scripted(our_consolidation(lambda: group)),
        )
    )
