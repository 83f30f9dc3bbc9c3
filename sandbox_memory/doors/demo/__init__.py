"""The demo: a memory is written, used and edited, on a real sandbox; without a key, a scripted agent plays."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from agents.exceptions import AgentsException
from openai import OpenAIError

from .show import Show
from .story import Demo, one_agent, two_agents

__all__ = ["main"]


def main(model: str | None = None) -> int:
    """Play the demo and return the exit code: 0, or 1 if a run failed, as with a model that cannot be reached.

    `model` plays the agents and both phases of memory in place of the script. The workspaces stay in a temporary folder
    whose path is printed.
    """
    show = Show()
    root = Path(tempfile.mkdtemp(prefix="sandbox-memory-demo-")).resolve()
    demo = Demo(root, show, model)
    show.say(f"Agents: {model or 'scripted, no key needed'}. Shell, patches and files are real, in {root}")
    try:
        asyncio.run(_play(demo))
    except (AgentsException, OpenAIError) as error:
        show.say(f"The demo stopped: {error}", "bold red")
        if model is not None:
            show.say(f"Is OPENAI_API_KEY set, and may it use {model}? Without --model the demo needs neither.")
        return 1
    _goodbye(show, root, model)
    return 0


async def _play(demo: Demo) -> None:
    await one_agent(demo)
    await two_agents(demo)


def _goodbye(show: Show, root: Path, model: str | None) -> None:
    show.act("Now you", "The workspace is kept. Edit a line of its MEMORY.md, or ask who said one:")
    show.say(f"  cd {root / 'invoices'}")
    show.say("  $EDITOR memories/MEMORY.md")
    command = _command()
    show.say(f"  {command} show")
    for words in ("end your answer", "9443"):
        line = _line_with(words, root / "invoices" / "memories" / "MEMORY.md")
        if line:
            show.say(f"  {command} why memories/MEMORY.md:{line}")
    if model is None:
        show.say("The same with a real model:", "dim")
        show.say(f"  OPENAI_API_KEY=... {command} demo --model gpt-5.4-mini")


def _command() -> str:
    """How this reader starts the command: by its name if the shell finds it, else by its path."""
    beside = Path(sys.executable).parent / "sandbox-memory"
    if shutil.which("sandbox-memory") or not beside.is_file():
        return "sandbox-memory"
    return str(beside)


def _line_with(words: str, handbook: Path) -> int:
    """The number of the first line with these words; 0 if a model wrote none."""
    lines = handbook.read_text(encoding="utf-8").splitlines() if handbook.is_file() else []
    return next((number for number, line in enumerate(lines, 1) if words in line), 0)
