"""Two agents work in one sandbox session over several turns; each has its own conversation and its own memory.

Run it with a key in OPENAI_API_KEY: python examples/two_agents_two_layouts.py [model]
The workspace, with both memories in it, stays in the folder ./two-agents.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from agents import RunConfig, Runner, SQLiteSession
from agents.memory import Session
from agents.models.interface import Model
from agents.result import RunResultBase
from agents.sandbox import Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import File
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from agents.sandbox.session.sandbox_session import SandboxSession

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryLayoutConfig

MODEL = "gpt-5.4-mini"
TURNS = (
    ("sales", "Look at data/leads.csv. Which segment should we talk to first, and why?"),
    ("engineering", "The test suite fails. Fix the invoice total, and run the tests again."),
    (
        "sales",
        "Write that up in outreach.md as a hypothesis. We never quote prices in a first contact.",
    ),
    ("engineering", "Please add a regression test for it."),
)
INSTRUCTIONS = {
    "sales": "You are a sales analyst. Look at the data before you answer, and name the files that you used.",
    "engineering": (
        "You are an engineer. Read before you change anything, keep changes small, and check them with "
        "python3 -m unittest. Search with grep and find."
    ),
}
FILES = {
    "data/leads.csv": """\
account,segment,seats,trial_events
Harbour Dental,health,60,41
Kiosk24,retail,220,35
Moss & Sons,crafts,18,6
Vita Labs,health,110,72
""",
    "src/billing/__init__.py": "",
    "src/billing/invoice.py": """\
from decimal import Decimal


def invoice_total(lines, vat=Decimal("0.19")):
    net = sum(quantity * Decimal(price) for quantity, price in lines)
    return round(net * (1 + vat), 2)
""",
    "tests/test_invoice.py": """\
import unittest
from decimal import Decimal

from billing.invoice import invoice_total


class InvoiceTest(unittest.TestCase):
    def test_half_cents_are_rounded_up(self):
        self.assertEqual(invoice_total([(1, "1.50")]), Decimal("1.79"))
""",
}


def build_agent(team: str, model: str | Model, memory_model: str | Model) -> SandboxAgent[None]:
    # Agents with the same layout share a memory; with another layout they never see each other's.
    layout = MemoryLayoutConfig(memories_dir=f"memories/{team}", sessions_dir=f"sessions/{team}")
    generate = MemoryGenerateConfig(phase_one_model=memory_model, phase_two_model=memory_model)
    return SandboxAgent(
        name=team,
        model=model,
        instructions=INSTRUCTIONS[team],
        capabilities=[Memory(layout=layout, generate=generate), Shell(), Filesystem()],
    )


async def run(
    agent: SandboxAgent[None], text: str, sandbox: SandboxSession, conversation: Session, *, stream: bool
) -> None:
    # The id of the SDK session names the rollout: all turns of a conversation are one, in one file below sessions/.
    config = RunConfig(sandbox=SandboxRunConfig(session=sandbox))
    print(f"\nUser to {agent.name}: {text}")
    result: RunResultBase
    if stream:
        result = streamed = Runner.run_streamed(agent, text, session=conversation, run_config=config, max_turns=30)
        async for event in streamed.stream_events():
            if event.type == "run_item_stream_event" and event.name == "tool_called":
                print(f"  ... {getattr(event.item.raw_item, 'name', 'a tool')}")
    else:
        result = await Runner.run(agent, text, session=conversation, run_config=config, max_turns=30)
    print(f"{agent.name}: {result.final_output}")


async def main(
    model: str | Model = MODEL,
    memory_model: str | Model = MODEL,
    stream: bool = False,
    workspace: Path = Path("two-agents"),
) -> Path:
    """Run the example; returns the workspace, which is kept."""
    agents = {team: build_agent(team, model, memory_model) for team in INSTRUCTIONS}
    conversations = {"sales": SQLiteSession("first-contacts"), "engineering": SQLiteSession("invoice-total")}
    # A manifest with a root of yours keeps the files where you can edit them; by default their folder is temporary.
    manifest = Manifest(
        root=str(workspace.resolve()), entries={path: File(content=text.encode()) for path, text in FILES.items()}
    )
    async with await UnixLocalSandboxClient().create(manifest=manifest) as sandbox:
        for team, text in TURNS:
            await run(agents[team], text, sandbox, conversations[team], stream=stream)
    for conversation in conversations.values():
        conversation.close()

    for path in sorted(path for folder in ("memories", "sessions") for path in (workspace / folder).rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            print(path.relative_to(workspace))
    for team in agents:
        print(f"\nWhat {team} remembers:\n")
        print((workspace / "memories" / team / "memory_summary.md").read_text(encoding="utf-8"))
    return workspace


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else MODEL
    asyncio.run(main(chosen, chosen))
