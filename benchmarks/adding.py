"""Whole input tokens of phase 2 to add one conversation to what is known.

Each side has a workspace in which that many conversations were remembered before, with the same two things learned
from each (a port, and a failure with its remedy), four conversations to a group. Then one more conversation ends in
a sandbox session, and the session is closed. Counted is every request of phase 2, over all its turns; `counting`
says what is counted of one. The limit of conversations that count is the highest, 4,096, for both. The SDK's agent
is `shell_agent.ShellAgent`, the thriftiest that its prompt admits; our phase 2 is asked once, for structured
operations.
"""

from __future__ import annotations

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
from .counting import Weights
from .filled import LIMIT, our_workspace, sdk_workspace
from .kit import Progress, Scripted, run, session_on
from .shell_agent import ShellAgent
from .table import Row, divided, plural
from .texts import Conversation, conversation

JUDGED = 256
LEAST, MOST = 10, 4_000


@dataclass(frozen=True)
class Sizes:
    """How many conversations are known already, for the SDK and for ours; a number may be of one side only."""

    sdk: tuple[int, ...] = (10, 100, 256, 4_000)
    ours: tuple[int, ...] = (10, 100, 256, 4_000)


FULL = Sizes()
QUICK = Sizes((10, 256), (10, 256, 4_000))
TINY = Sizes((6,), (6, 12))


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """A row for each number of conversations, and one for how ours grows."""
    found: dict[int, dict[str, Weights]] = {}
    for count in sorted({*sizes.sdk, *sizes.ours}):
        found[count] = {}
        for side, counts, add in (("sdk", sizes.sdk, _by_sdk), ("ours", sizes.ours, _by_ours)):
            if count in counts:
                progress(f"to {count:,} memories, {side}")
                found[count][side] = run(add(folder / f"{side}-{count}", count))
    rows = []
    for count, sides in found.items():
        sdk, ours = (sides[side].whole if side in sides else None for side in ("sdk", "ours"))
        calls = " and ".join(plural(weights.requests, "call") for weights in sides.values())
        rows.append(
            Row(
                f"phase 2 to add one memory to {count:,}",
                sdk,
                ours,
                "tokens",
                divided(ours, sdk),
                f"of the SDK's; {calls}" if sdk else calls,
                at_most=0.05 if count == JUDGED else None,
            )
        )
    least, most = min(sizes.ours), max(sizes.ours)
    ratio = divided(found[most]["ours"].whole, found[least]["ours"].whole)
    at_most = 1.3 if (least, most) == (LEAST, MOST) else None
    rows.append(Row("the same as it grows", None, None, "", ratio, f"ours at {most:,} / at {least:,}", at_most=at_most))
    return rows


async def _by_sdk(root: Path, count: int) -> Weights:
    sdk_workspace(root, count)
    weights = Weights()
    memory = SdkMemory(
        generate=sdk_config.MemoryGenerateConfig(
            max_raw_memories_for_consolidation=LIMIT,
            phase_one_model=Scripted(sdk_extraction),
            phase_two_model=Scripted(ShellAgent().answer, weigh=weights.weigh),
        )
    )
    new = conversation(count)
    await one_more(root, memory, new)
    assert weights.requests == 5, f"the SDK's phase 2 took {weights.requests} calls"
    for name in ("MEMORY.md", "memory_summary.md"):
        assert new.keywords[4] in (root / "memories" / name).read_text(encoding="utf-8"), f"{name} lacks the new memory"
    return weights


async def _by_ours(root: Path, count: int) -> Weights:
    our_workspace(root, count)
    weights = Weights()
    new = conversation(count)
    memory = Memory(
        generate=MemoryGenerateConfig(
            max_raw_memories=LIMIT,
            phase_one_model=Scripted(our_extraction),
            phase_two_model=Scripted(our_consolidation(lambda: new.group), weigh=weights.weigh),
        )
    )
    await one_more(root, memory, new)
    assert weights.requests, "our phase 2 was never called"
    handbook = (root / "memories" / "MEMORY.md").read_text(encoding="utf-8")
    assert new.knowledge in handbook, "MEMORY.md lacks the new memory"
    assert conversation(count - 1).knowledge in handbook, "MEMORY.md lacks what was known before"
    return weights


async def one_more(root: Path, memory: Any, new: Conversation) -> None:
    """A session in which that conversation takes place and ends."""
    session = await session_on(root)
    agent = SandboxAgent(
        name="worker",
        model=Scripted(lambda system, items: "Noted."),
        instructions="Be brief.",
        capabilities=[memory, Filesystem(), Shell()],
    )
    async with session:
        config = RunConfig(sandbox=SandboxRunConfig(session=session), group_id=new.id)
        await Runner.run(agent, opening(new), run_config=config)
