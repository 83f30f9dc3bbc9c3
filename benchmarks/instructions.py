"""What the models are told each time, in tokens, for every preset, beside the SDK's.

Of the read prompt the part beside the summary is counted, with live updates on: it is paid at every turn of every
run. Of both phases the instructions are counted that are there whatever was said: ours are the system instructions.
The SDK's are an agent of its own, whose system instructions are those of any sandbox agent and, in phase 1, the
extraction prompt; its consolidation prompt goes as the first message, here with no conversations listed. Tools and
output schemas are left out here; `adding` and `resuming` count them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.memory.interface import RolloutExtractionArtifacts
from agents.sandbox.memory.prompts import (
    render_memory_consolidation_prompt,
    render_memory_read_prompt,
    render_rollout_extraction_prompt,
)
from agents.sandbox.memory.storage import PhaseTwoInputSelection

from sandbox_memory.layout import Layout, preset_names
from sandbox_memory.records import Rollout
from sandbox_memory.screening import Inputs
from sandbox_memory.stages import extraction, planning
from sandbox_memory.templates import render

from .counting import Weights, tokens
from .kit import Progress, Scripted, run, session_on
from .table import Row

SUMMARY = "SUMMARY"
READ, EXTRACTION, CONSOLIDATION = 250, 2_000, 1_500


@dataclass(frozen=True)
class Sizes:
    """Which presets are counted; none means all."""

    presets: tuple[str, ...] = ()


FULL = QUICK = TINY = Sizes()


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """A row for the read prompt, and two for each preset."""
    progress("counting tokens")
    sdk_read = tokens(render_memory_read_prompt(memory_dir="memories", memory_summary="", live_update=True))
    read = max(
        tokens(render("read", memory_dir="memories", summary=SUMMARY, live_update=live)) - tokens(SUMMARY)
        for live in (True, False)
    )
    alone = "ours alone"
    what = "read prompt beside the summary"
    rows = [Row(what, sdk_read, read, "tokens", read, alone, at_most=READ - 1)]
    sdk_one, sdk_two = run(_sdk(folder / "sdk"))
    for name in sizes.presets or preset_names():
        layout = Layout.of("memories", "sessions", name)
        one = tokens(extraction.request(_NOTHING, previous="", layout=layout, extra_prompt=None).instructions)
        two = tokens(planning.request(_NO_INPUTS, layout=layout, extra_prompt=None).instructions)
        for what, sdk, ours, most in (
            ("extraction", sdk_one, one, EXTRACTION),
            ("consolidation", sdk_two, two, CONSOLIDATION),
        ):
            title = f"{what} instructions, preset {name}"
            rows.append(Row(title, sdk, ours, "tokens", ours, alone, at_most=most - 1))
    return rows


_NOTHING = Rollout("chat", "sessions/chat.jsonl", (), 0, 0)
_NO_INPUTS = Inputs((), (), (), ())


def says_nothing(system: str, items: Any) -> str:
    """An extraction that found nothing."""
    return '{"rollout_slug": "", "rollout_summary": "", "raw_memory": ""}'


def says_done(system: str, items: Any) -> str:
    """The end of a consolidation."""
    return "Done."


async def _sdk(root: Path) -> tuple[int, int]:
    """The instructions of the SDK's two phases, as an agent of that kind is given them."""
    session = await session_on(root)
    found = []
    async with session:
        for instructions, output in ((render_rollout_extraction_prompt(), RolloutExtractionArtifacts), (None, None)):
            weights = Weights()
            model = Scripted(says_nothing if output else says_done, weigh=weights.weigh)
            agent: Any = SandboxAgent(name="phase", instructions=instructions, model=model, output_type=output)
            await Runner.run(agent, "", run_config=RunConfig(sandbox=SandboxRunConfig(session=session)))
            found.append(tokens(weights.system))
    nothing = PhaseTwoInputSelection(selected=[], retained_rollout_ids=set(), removed=[])
    prompt = render_memory_consolidation_prompt(memory_root="memories", selection=nothing)
    return found[0], found[1] + tokens(prompt)
