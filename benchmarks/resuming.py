"""One chat that is resumed again and again, and extracted at the end of each session: what memory reads of it in
all.

Each session has one real run in the same conversation, with about 2,200 new tokens: a user's message, a shell
command, its output, and an answer; then the session is closed. Counted is every request of both phases of all
sessions; `counting` says what is counted of one. The new text is the texts of the new items alone, without JSON or
references. The SDK's phase 2 is `shell_agent.ShellAgent`. `fixed` are instructions, tools and output schemas, the
same at each request.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents import RunConfig, Runner, SQLiteSession
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.capabilities import Memory as SdkMemory

from sandbox_memory import Memory, MemoryGenerateConfig

from .answers import opening, our_consolidation, our_extraction, sdk_extraction
from .counting import Weights, tokens
from .kit import Progress, Scripted, calls, run, session_on
from .shell_agent import ShellAgent
from .table import Row, divided
from .texts import Conversation, conversation, prose

JUDGED = 60
CHAT, SLUG = "chat", "long-chat"
OUTPUT, ANSWER = 6_900, 1_300
"""Characters of the tool's output and of the answer that make a session's new text 2,200 tokens."""


@dataclass(frozen=True)
class Sizes:
    """How many sessions the chat has."""

    sessions: int = 60


FULL = Sizes()
QUICK = Sizes(20)
TINY = Sizes(3)


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """Three rows: phase 1, both phases, and ours without the fixed part beside the new text."""
    new = sum(map(tokens, (text for number in range(sizes.sessions) for text in texts(number))))
    sides = {}
    for side, make in (("sdk", _sdk), ("ours", _ours)):
        progress(f"{sizes.sessions} sessions of one chat, {side}")
        sides[side] = run(_chat(folder / side, sizes.sessions, make))
    (sdk_one, sdk_two), (one, two) = sides["sdk"], sides["ours"]
    judged = sizes.sessions == JUDGED
    each = f"{new / sizes.sessions:,.0f} new tokens in each"
    sdk, ours = sdk_one.whole + sdk_two.whole, one.whole + two.whole
    bare = ours - one.fixed - two.fixed
    share, how = 0.08 if judged else None, "of the SDK's"
    return [
        Row(
            f"{sizes.sessions} sessions of one chat: phase 1",
            sdk_one.whole,
            one.whole,
            "tokens",
            divided(one.whole, sdk_one.whole),
            f"{how}; {each}",
            at_most=share,
        ),
        Row("both phases", sdk, ours, "tokens", divided(ours, sdk), how, at_most=share),
        Row(
            "both phases without what is fixed",
            sdk - sdk_one.fixed - sdk_two.fixed,
            bare,
            "tokens",
            divided(bare, new),
            f"times the new text, {new:,} tokens",
            at_most=2.2 if judged else None,
        ),
    ]


def of_chat(number: int) -> Conversation:
    """The conversation of that number as one session of the chat."""
    return replace(conversation(number), id=CHAT, slug=SLUG)


def texts(number: int) -> tuple[str, str, str, str]:
    """The new texts of a session: what the user says, the command, its output, the answer."""
    noted = of_chat(number)
    said = f"{opening(noted)} Then look at the log of {noted.keywords[0]} and tell me what is slow."
    answer = f"I noted both. What the log shows:\n{prose(f'answer {number}', ANSWER)}"
    return said, f"cat log-{number}.txt", prose(f"log {number}", OUTPUT), answer


async def _chat(root: Path, sessions: int, make: Any) -> tuple[Weights, Weights]:
    """What both phases weighed, over all sessions."""
    one, two = Weights(), Weights()
    current = [0]
    memory = make(one, two, current)
    for number in range(sessions):
        current[0] = number
        said, command, output, answer = texts(number)
        session = await session_on(root)
        (root / f"log-{number}.txt").write_text(output, encoding="utf-8")

        def act(system: str, items: Any, command: str = command, answer: str = answer) -> Any:
            is_asked = not isinstance(items[-1], dict) or items[-1].get("role") == "user"
            return calls("exec_command", json.dumps({"cmd": command})) if is_asked else answer

        agent = SandboxAgent(
            name="worker", model=Scripted(act), instructions="Be brief.", capabilities=[memory, Filesystem(), Shell()]
        )
        chat = SQLiteSession(CHAT, root.parent / f"{root.name}.db")
        async with session:
            await Runner.run(agent, said, session=chat, run_config=RunConfig(sandbox=SandboxRunConfig(session=session)))
        chat.close()
    newest = of_chat(sessions - 1)
    assert newest.knowledge in (root / "memories" / "MEMORY.md").read_text(encoding="utf-8"), f"{root.name} lost a note"
    assert one.requests == sessions, f"{root.name}: {one.requests} extractions"
    return one, two


def _sdk(one: Weights, two: Weights, current: list[int]) -> SdkMemory:
    def extract(system: str, items: Any) -> str:
        return json.dumps({**json.loads(sdk_extraction(system, items)), "rollout_slug": SLUG})

    agent = ShellAgent(lambda: [of_chat(current[0])])
    return SdkMemory(
        generate=sdk_config.MemoryGenerateConfig(
            phase_one_model=Scripted(extract, weigh=one.weigh), phase_two_model=Scripted(agent.answer, weigh=two.weigh)
        )
    )


def _ours(one: Weights, two: Weights, current: list[int]) -> Memory:
    consolidate = our_consolidation(lambda: of_chat(current[0]).group)
    return Memory(
        generate=MemoryGenerateConfig(
            phase_one_model=Scripted(our_extraction, weigh=one.weigh),
            phase_two_model=Scripted(consolidate, weigh=two.weigh),
        )
    )
