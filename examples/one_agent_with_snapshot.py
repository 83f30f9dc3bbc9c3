"""One agent fixes a bug, its session is closed, and a new session on the workspace's snapshot follows up.

Run it with a key in OPENAI_API_KEY: python examples/one_agent_with_snapshot.py [model]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from agents import RunConfig, Runner
from agents.models.interface import Model
from agents.result import RunResultBase
from agents.sandbox import LocalSnapshotSpec, Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import File
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from agents.sandbox.session.sandbox_session import SandboxSession

from sandbox_memory import Memory, MemoryGenerateConfig

FIX = "Customers complain that invoices are a cent too low now and then. Find out why, and fix it."
FOLLOW_UP = "Please add a regression test for the bug that you fixed last time."

MODEL = "gpt-5.4-mini"
FILES = {
    "src/billing/__init__.py": "",
    "src/billing/invoice.py": '''\
from decimal import Decimal


def invoice_total(lines, vat=Decimal("0.19")):
    """Quantity times price of each line, with VAT, in whole cents."""
    net = sum(quantity * Decimal(price) for quantity, price in lines)
    return round(net * (1 + vat), 2)
''',
    "tests/test_invoice.py": """\
import unittest
from decimal import Decimal

from billing.invoice import invoice_total


class InvoiceTest(unittest.TestCase):
    def test_half_cents_are_rounded_up(self):
        self.assertEqual(invoice_total([(1, "1.50")]), Decimal("1.79"))
""",
}


def build_agent(model: str | Model, memory_model: str | Model) -> SandboxAgent[None]:
    return SandboxAgent(
        name="Billing developer",
        model=model,
        instructions=(
            "You maintain a small Python project. Read before you change anything, keep changes small, and run "
            "the tests with python3 -m unittest. Search with grep and find. Answer in a few sentences."
        ),
        capabilities=[
            # `Memory()` alone is a memory that the agent reads, corrects and extends. The configuration here only says
            # which model takes the notes; "offline" is a built-in one that needs no key.
            Memory(generate=MemoryGenerateConfig(phase_one_model=memory_model, phase_two_model=memory_model)),
            Shell(),
            Filesystem(),
        ],
    )


async def run(agent: SandboxAgent[None], text: str, sandbox: SandboxSession, *, stream: bool) -> None:
    config = RunConfig(sandbox=SandboxRunConfig(session=sandbox))
    print(f"\nUser: {text}")
    result: RunResultBase
    if stream:
        result = streamed = Runner.run_streamed(agent, text, run_config=config, max_turns=30)
        async for event in streamed.stream_events():
            if event.type == "run_item_stream_event" and event.name == "tool_called":
                print(f"  ... {getattr(event.item.raw_item, 'name', 'a tool')}")
    else:
        result = await Runner.run(agent, text, run_config=config, max_turns=30)
    print(f"Agent: {result.final_output}")


async def main(model: str | Model = MODEL, memory_model: str | Model = MODEL, stream: bool = False) -> str:
    """Run the example; returns what `MEMORY.md` says in the end."""
    client = UnixLocalSandboxClient()
    agent = build_agent(model, memory_model)
    manifest = Manifest(entries={path: File(content=text.encode()) for path, text in FILES.items()})

    with tempfile.TemporaryDirectory() as snapshots:
        sandbox = await client.create(manifest=manifest, snapshot=LocalSnapshotSpec(base_path=Path(snapshots)))
        try:
            async with sandbox:
                await run(agent, FIX, sandbox, stream=stream)
            # The session is closed: memory is written, and after it the snapshot, which holds the memory too.

            resumed = await client.resume(sandbox.state)
            async with resumed:
                # A new run without the old conversation. What it knows of the bug it knows from memory.
                await run(agent, FOLLOW_UP, resumed, stream=stream)

            handbook = (Path(resumed.state.manifest.root) / "memories" / "MEMORY.md").read_text(encoding="utf-8")
            print(f"\nMEMORY.md:\n\n{handbook}")
            return handbook
        finally:
            await client.delete(sandbox)  # the workspace was a temporary folder of the client


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else MODEL
    asyncio.run(main(chosen, chosen))
