"""One agent object serves many users: whose memory a run has, the application says, by the context that it passes.

Run it with a key in OPENAI_API_KEY: python examples/one_agent_many_users.py [model]
Each user's memory stays in a folder of its own below ./many-users.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import NamedTuple

from agents import RunConfig, Runner
from agents.models.interface import Model
from agents.sandbox import Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryScope

MODEL = "gpt-5.4-mini"
TURNS = (
    ("ann", "Please keep your answers to one sentence."),
    ("bob", "I always review database migrations myself."),
    ("ann", "How should a release note look?"),
    ("bob", "What is next on the list?"),
)


class Request(NamedTuple):
    """What the application knows of a request once it has checked who is there."""

    company: str
    user: str


def whose(request: Request) -> MemoryScope:
    return MemoryScope(tenant=request.company, user=request.user)


async def answer(agent: SandboxAgent[Request], request: Request, text: str, workspace: Path) -> str:
    # A session of one's own keeps users apart: in a shared one, an agent with a shell could read the others' folders.
    manifest = Manifest(root=str(workspace / request.user))
    async with await UnixLocalSandboxClient().create(manifest=manifest) as session:
        config = RunConfig(sandbox=SandboxRunConfig(session=session), group_id=f"chat of {request.user}")
        # The SDK runs one agent object once at a time; a clone shares everything, the memory included.
        result = await Runner.run(agent.clone(), text, context=request, run_config=config)
    return str(result.final_output)


async def main(
    model: str | Model = MODEL, memory_model: str | Model = MODEL, workspace: Path = Path("many-users")
) -> Path:
    """Run the example; returns the folder of the workspaces, which is kept."""
    generate = MemoryGenerateConfig(phase_one_model=memory_model, phase_two_model=memory_model)
    agent = SandboxAgent[Request](
        name="assistant",
        model=model,
        instructions="You are an assistant.",
        capabilities=[Memory(scope=whose, generate=generate), Shell(), Filesystem()],
    )
    for user, text in TURNS:
        (workspace / user).mkdir(parents=True, exist_ok=True)
        print(f"\n{user}: {text}")
        print(f"assistant: {await answer(agent, Request('acme', user), text, workspace.resolve())}")
    for path in sorted(workspace.rglob("MEMORY.md")):
        print(f"\n{path.relative_to(workspace)}\n\n{path.read_text(encoding='utf-8')}")
    return workspace


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else MODEL
    asyncio.run(main(chosen, chosen))
