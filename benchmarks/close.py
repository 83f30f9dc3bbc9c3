"""Closing a session in which twenty conversations ended, with models that take 0.2 s for each answer.

Each side has twenty real runs in one sandbox session, each its own conversation. What is timed is the session's
`aclose`, which waits for memory. Phase 1 is one call a conversation on both sides. The SDK's phase 2 is an agent
with a shell: its script here needs the fewest turns that leave the two files written, one call that writes them and
one that ends, and so 0.4 s; ours is one call. Before, each side has closed one session, so that nothing is loaded
while the clock runs. The two take turns; medians.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.capabilities import Memory as SdkMemory

from sandbox_memory import Memory, MemoryGenerateConfig

from .answers import opening, our_consolidation, our_extraction, sdk_extraction
from .kit import Progress, Scripted, calls, run, session_on, timed
from .table import Row, divided
from .texts import conversation

JUDGED = (20, 0.2)


@dataclass(frozen=True)
class Sizes:
    """How many conversations end in the session, how long a model takes, and how often each side is closed."""

    rollouts: int = 20
    delay: float = 0.2
    repetitions: int = 5


FULL = Sizes()
QUICK = Sizes(repetitions=1)
TINY = Sizes(2, 0.01, 1)


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """One row."""
    taken: dict[str, list[float]] = {"sdk": [], "ours": []}
    for side, memory in (("sdk", _sdk), ("ours", _ours)):
        run(_closed(folder / f"{side}-first", memory(0), 1))
    for repetition in range(sizes.repetitions):
        for side, memory in (("sdk", _sdk), ("ours", _ours)):
            progress(f"{repetition + 1} of {sizes.repetitions}, {side}")
            taken[side].append(run(_closed(folder / f"{side}-{repetition}", memory(sizes.delay), sizes.rollouts)))
    sdk, ours = (sorted(values)[len(values) // 2] for values in taken.values())
    judged = (sizes.rollouts, sizes.delay) == JUDGED
    what = f"close with {sizes.rollouts} rollouts, {sizes.delay} s a model call"
    return [Row(what, sdk, ours, "s", divided(ours, sdk), "of the SDK's", at_most=0.25 if judged else None)]


async def _closed(root: Path, memory: Any, rollouts: int) -> float:
    """Seconds that the session's close takes."""
    session = await session_on(root)
    agent = SandboxAgent(
        name="worker",
        model=Scripted(lambda system, items: "Noted."),
        instructions="Be brief.",
        capabilities=[memory, Filesystem(), Shell()],
    )
    async with session:
        for number in range(rollouts):
            noted = conversation(number)
            config = RunConfig(sandbox=SandboxRunConfig(session=session), group_id=noted.id)
            await Runner.run(agent, opening(noted), run_config=config)
        taken = await timed(session.aclose)
    found = (root / "memories" / "MEMORY.md").read_text(encoding="utf-8")
    assert "listens on port" in found, f"{root.name}: the close wrote no memory"
    assert len(list((root / "memories" / "raw_memories").glob("*.md"))) == rollouts
    return taken


def _sdk(delay: float) -> SdkMemory:
    body = f"# Task Group: Notes\n\nscope: notes\n\n## Reusable knowledge\n\n- {conversation(0).knowledge}\n"
    command = f"cat > memories/MEMORY.md <<'EOF'\n{body}EOF\ncp memories/MEMORY.md memories/memory_summary.md"

    def consolidate(system: str, items: Any) -> Any:
        return calls("exec_command", json.dumps({"cmd": command})) if len(items) == 1 else "Done."

    return SdkMemory(
        generate=sdk_config.MemoryGenerateConfig(
            phase_one_model=Scripted(sdk_extraction, delay=delay), phase_two_model=Scripted(consolidate, delay=delay)
        )
    )


def _ours(delay: float) -> Memory:
    return Memory(
        generate=MemoryGenerateConfig(
            phase_one_model=Scripted(our_extraction, delay=delay),
            phase_two_model=Scripted(our_consolidation(), delay=delay),
        )
    )
