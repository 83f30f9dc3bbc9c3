"""The acts of the demo, on real sandbox sessions in a folder that stays."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents import RunConfig, Runner, SQLiteSession
from agents.sandbox import LocalSnapshotSpec, Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import File
from agents.sandbox.manifest import Environment
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

from ...capability import Memory
from ...config import MemoryGenerateConfig, MemoryLayoutConfig
from .model import Policy, PolicyModel
from .policies import analyst, developer
from .project import FILES
from .show import Show

FIX = (
    "A test fails: some invoices come out a cent too low. Please find out why and fix it. "
    "Always end your answer with the command that proves it. "
    "Our staging server listens on port 8443."
)
RELEASE = "Please run the tests again, then release to staging with ops/release.py."
LEADS = "Which segment in data/leads.csv is the most promising? We never quote prices in a first contact."
REPAIR = "One of our tests fails. Please fix what is wrong."
OUTREACH = "Good. Can you put that into gtm_hypothesis.md?"
REGRESSION = "Thanks. Can you add a regression test?"
"""What the users say."""


@dataclass
class Demo:
    """Where it happens, what shows it, and which model plays: its name, or None for the scripted one."""

    root: Path
    show: Show
    model: str | None = None

    def agent(self, name: str, policy: Policy, memory: Memory | None) -> SandboxAgent[Any]:
        """An agent with the shell, the file tools, and that memory."""
        return SandboxAgent(
            name=name,
            model=self.model or PolicyModel(policy),
            instructions=(
                "You work in a small project. Look before you change anything, change little, check what you did with "
                "a command, and answer in two sentences. Use python3; search with grep and find."
            ),
            capabilities=[*([memory] if memory else []), Filesystem(), Shell()],
        )

    def memory(self, layout: MemoryLayoutConfig | None = None) -> Memory:
        """A memory whose two phases use the model of the demo, else the built-in one that needs no key."""
        model = self.model or "offline"
        return Memory(
            layout=layout or MemoryLayoutConfig(),
            generate=MemoryGenerateConfig(phase_one_model=model, phase_two_model=model),
        )

    def manifest(self, name: str, files: Iterable[str] = FILES) -> Manifest:
        """A workspace of that name that holds these files of the project."""
        here = str(Path(sys.executable).parent)
        return Manifest(
            root=str(self.root / name),
            entries={path: File(content=FILES[path].encode()) for path in files},
            environment=Environment(
                value={"PATH": f"{here}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONDONTWRITEBYTECODE": "1"}
            ),
        )

    async def run(self, agent: SandboxAgent[Any], text: str, sandbox: Any, session: Any = None) -> int:
        """One run, shown step by step; returns how many model calls it took."""
        self.show.user(text)
        config = RunConfig(sandbox=SandboxRunConfig(session=sandbox), tracing_disabled=True)
        result = Runner.run_streamed(agent, text, session=session, run_config=config, max_turns=30)
        async for event in result.stream_events():
            if event.type == "run_item_stream_event":
                self.show.item(event.item)
        calls = len(result.raw_responses)
        self.show.agent(str(result.final_output), agent.name, calls)
        return calls


async def one_agent(demo: Demo) -> None:
    """An agent fixes a bug; its memory travels in a snapshot, helps the next run, and is edited by a person."""
    show, client = demo.show, UnixLocalSandboxClient()
    workspace, snapshots = demo.root / "invoices", demo.root / "snapshots"
    memory = demo.memory()

    show.act("1. A run becomes memory", "An agent with a shell fixes a bug. Its session closes, and memory is written.")
    sandbox = await client.create(manifest=demo.manifest("invoices"), snapshot=LocalSnapshotSpec(base_path=snapshots))
    async with sandbox:
        with conversation("a-cent-too-low") as chat:
            first = await demo.run(demo.agent("developer", developer, memory), FIX, sandbox, chat)
    show.tree(workspace, "memories", "sessions")
    show.file(workspace / "memories" / "MEMORY.md", workspace)

    show.act(
        "2. The next run uses it",
        "The workspace is deleted and comes back from its snapshot. A new agent is told this summary:",
    )
    shutil.rmtree(workspace)
    sandbox = await client.resume(sandbox.state)
    async with sandbox:
        show.file(workspace / "memories" / "memory_summary.md", workspace)
        with conversation("release") as chat:
            second = await demo.run(demo.agent("developer", developer, memory), RELEASE, sandbox, chat)
    without = await _without_memory(demo)
    show.say(
        f"{first} model calls in the first run, {second} in the second; the second takes {without} without memory.",
        "bold",
    )

    show.act("3. You edit it", "Staging moves: somebody opens MEMORY.md in an editor, and 8443 becomes 9443.")
    show.brief = True
    handbook = workspace / "memories" / "MEMORY.md"
    if handbook.is_file():
        text = handbook.read_text(encoding="utf-8")
        handbook.write_text(text.replace("8443", "9443"), encoding="utf-8")
    # A session on the folder as it is. (A resume would put the snapshot in its place, without the edit.)
    async with await client.create(manifest=demo.manifest("invoices", files=())) as sandbox:
        with conversation("release-again") as chat:
            await demo.run(demo.agent("developer", developer, memory), RELEASE, sandbox, chat)


def conversation(name: str) -> closing[SQLiteSession]:
    """A conversation of that name, in memory, closed when it is over."""
    return closing(SQLiteSession(name))


async def _without_memory(demo: Demo) -> int:
    """How many model calls the second request takes with the fix and without memory; nothing is shown."""
    quiet = replace(demo, show=Show.silent())
    manifest = demo.manifest("without-memory")
    mended = (demo.root / "invoices" / "src" / "acme" / "invoice.py").read_bytes()
    manifest.entries["src/acme/invoice.py"] = File(content=mended)
    async with await UnixLocalSandboxClient().create(manifest=manifest) as sandbox:
        calls = await quiet.run(quiet.agent("developer", developer, None), RELEASE, sandbox)
    shutil.rmtree(demo.root / "without-memory")
    return calls


async def two_agents(demo: Demo) -> None:
    """Two agents take turns in one session, each with its layout and its conversation."""
    show, workspace = demo.show, demo.root / "two-agents"
    show.act(
        "4. Two agents, two layouts",
        "They share a session and its files, but each has its own conversation and its own memory.",
    )
    show.brief = True
    engineer = demo.agent("engineer", developer, demo.memory(MemoryLayoutConfig.preset("coding")))
    seller = demo.agent("analyst", analyst, demo.memory(MemoryLayoutConfig.preset("gtm")))
    with conversation("invoice-rounding") as rounding, conversation("pipeline-review") as pipeline:
        async with await UnixLocalSandboxClient().create(manifest=demo.manifest("two-agents")) as sandbox:
            await demo.run(seller, LEADS, sandbox, pipeline)
            await demo.run(engineer, REPAIR, sandbox, rounding)
            await demo.run(seller, OUTREACH, sandbox, pipeline)
            await demo.run(engineer, REGRESSION, sandbox, rounding)
    for layout in ("coding", "gtm"):
        show.file(workspace / "memories" / layout / "memory_summary.md", workspace)
    for words in ("invoice.py", "never quote prices"):
        show.say(f'"{words}" stands only below: {", ".join(_holding(workspace, words))}', "bold")


def _holding(workspace: Path, words: str) -> list[str]:
    """The folders of memories and transcripts that hold these words in some file."""
    folders = sorted(path for top in ("memories", "sessions") for path in (workspace / top).glob("*"))
    return [
        str(folder.relative_to(workspace))
        for folder in folders
        if any(words.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    ]
