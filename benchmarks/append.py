"""Appending one segment of 8 KB to a rollout that has many.

Both sides get the same result of a real run (a user's message, a call of a tool, 8 KB of its output, an answer) and
append it to the rollout of one conversation in a sandbox session on a folder of this machine: the SDK through its
manager's `enqueue_result`, which is what its runtime calls; ours through `Memory.record`. The time ends when the call
returns, with the segment in the workspace. The segments that are there already were appended before, each side's in its
own format. The two take turns; medians.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from agents import Agent, Runner, function_tool
from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Memory as SdkMemory
from agents.sandbox.memory.manager import SandboxMemoryGenerationManager
from agents.sandbox.memory.rollouts import build_rollout_payload_from_result, dump_rollout_json

from sandbox_memory import Memory, MemoryGenerateConfig
from sandbox_memory.capture import as_input
from sandbox_memory.sdk import ended
from sandbox_memory.stages.segment import build_line

from .kit import Progress, Scripted, calls, interleaved, run, session_on
from .table import Row, divided
from .texts import prose

ROLLOUT = "chat"
SIZE = 8_000
JUDGED = (10, 3_000)
"""Between which numbers of segments the targets are set."""


@dataclass(frozen=True)
class Sizes:
    """How many segments are there already, and how often each side appends at each number."""

    existing: tuple[int, ...] = (10, 100, 1_000, 3_000)
    repetitions: int = 15


FULL = Sizes()
QUICK = Sizes((10, 3_000), 7)
TINY = Sizes((2, 5), 1)


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """A row for each number of segments, and one for how ours grows."""
    found = {}
    for existing in sizes.existing:
        progress(f"{existing:,} segments of 8 KB")
        found[existing] = run(_at(existing, sizes.repetitions, folder / str(existing)))
    rows = []
    for existing, taken in found.items():
        rows.append(
            Row(
                f"append a segment of 8 KB to {existing:,}",
                taken["sdk"] * 1_000,
                taken["ours"] * 1_000,
                "ms",
                divided(taken["sdk"], taken["ours"]),
                "times faster",
                at_least=25 if existing == JUDGED[1] else None,
            )
        )
    least, most = min(found), max(found)
    ratio = divided(found[most]["ours"], found[least]["ours"])
    how = f"ours at {most:,} / at {least:,}"
    rows.append(Row("the same as it grows", None, None, "", ratio, how, at_most=2 if (least, most) == JUDGED else None))
    return rows


async def _at(existing: int, repetitions: int, folder: Path) -> dict[str, float]:
    model = Scripted(lambda system, items: "Done.")
    sdks = SdkMemory(generate=sdk_config.MemoryGenerateConfig(phase_one_model=model, phase_two_model=model))
    ours = Memory(generate=MemoryGenerateConfig(phase_one_model=model, phase_two_model=model))
    results = [await _result(f"new {number}") for number in range(repetitions)]
    example = await _result("earlier")
    for side, line in (("sdk", _sdk_line(example)), ("ours", _our_line(example))):
        (folder / side / "sessions").mkdir(parents=True)
        for name in (".gitignore", ".ignore"):
            (folder / side / "sessions" / name).write_text("*\n", encoding="utf-8")
        (folder / side / "sessions" / f"{ROLLOUT}.jsonl").write_bytes(line * existing)
    sessions = {side: await session_on(folder / side) for side in ("sdk", "ours")}
    manager = SandboxMemoryGenerationManager(session=sessions["sdk"], memory=sdks)
    turns = {"sdk": iter(results), "ours": iter(results)}

    async def by_sdk() -> None:
        await manager.enqueue_result(next(turns["sdk"]), rollout_id=ROLLOUT)

    async def by_ours() -> None:
        await ours.record(sessions["ours"], next(turns["ours"]), rollout_id=ROLLOUT)

    works: dict[str, Callable[[], Awaitable[Any]]] = {"sdk": by_sdk, "ours": by_ours}
    taken = await interleaved(works, repetitions)
    for side in works:
        lines = (folder / side / "sessions" / f"{ROLLOUT}.jsonl").read_bytes().count(b"\n")
        assert lines == existing + repetitions, f"{side}: {lines} lines, not {existing + repetitions}"
    return taken


async def _result(seed: str) -> Any:
    """The result of a run in which a tool printed 8 KB."""
    output = partial(prose, seed, SIZE)

    @function_tool
    def read_log() -> str:
        """Read the log."""
        return output()

    def answer(system: str, items: Any) -> Any:
        return calls("read_log", "{}") if len(items) == 1 else f"The log of {seed} shows nothing unusual."

    agent = Agent(name="reader", model=Scripted(answer), tools=[read_log])
    return await Runner.run(agent, f"Is there anything unusual in the log of {seed}?")


def _sdk_line(result: Any) -> bytes:
    payload = build_rollout_payload_from_result(result)
    updated = payload.pop("updated_at")
    return dump_rollout_json({"updated_at": updated, "rollout_id": ROLLOUT, **payload}).encode().rstrip(b"\n") + b"\n"


def _our_line(result: Any) -> bytes:
    run_ = ended(result)
    return build_line(
        rollout_id=ROLLOUT,
        input_items=as_input(run_.input),
        generated=as_input(run_.items),
        terminal=run_.terminal,
        final_output=run_.final_output,
        agent="reader",
        now=datetime(2026, 1, 1, tzinfo=timezone.utc),
        segment="0123456789",
    )
