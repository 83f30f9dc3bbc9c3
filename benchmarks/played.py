"""The demo as `make demo` plays it, with every request of its scripted agents weighed.

The agents look things up unless their prompt or an earlier turn tells them; everything else is real. A request is
counted as `counting` says, memory's part of the prompt with it; the path of the workspace, which the prompt repeats for
every file, as if it were /workspace. Output is what the agents answered: words, and the names and arguments of calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import Any

from agents.sandbox import SandboxAgent

from sandbox_memory import Memory
from sandbox_memory.doors.demo.model import Policy, PolicyModel
from sandbox_memory.doors.demo.show import Show
from sandbox_memory.doors.demo.story import Demo, one_agent, two_agents
from sandbox_memory.layout import Layout
from sandbox_memory.models import Answer, Request
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.pipeline import Limits, Pipeline
from sandbox_memory.records import Usage
from sandbox_memory.workspace.local import LocalWorkspace

from .counting import text_of, tokens, wire
from .kit import run


@dataclass
class Spent:
    """Model calls, and tokens in and out of them; `system` are the tokens of the last call's instructions."""

    calls: int = 0
    read: int = 0
    written: int = 0
    system: int = 0

    def add(self, system: str, items: Any, tools: Sequence[Any], schema: Any, answer: Iterable[Any]) -> None:
        """Count one more call."""
        given = [{"role": "user", "content": items}] if isinstance(items, str) else items
        self.calls += 1
        self.system = tokens(system)
        self.read += self.system + tokens(wire(tools, schema)) + sum(tokens(text_of(item)) for item in given)
        self.written += sum(tokens(text_of(item)) for item in answer)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, self.read + other.read, self.written + other.written)


class _Weighed(PolicyModel):
    def __init__(self, policy: Policy, demo: Weighed) -> None:
        super().__init__(policy)
        self._runs = demo.runs
        self._workspace = re.compile(rf"{re.escape(str(demo.root))}/[\w-]+")

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        *_: Any,
        **__: Any,
    ) -> AsyncIterator[Any]:
        async for event in super().stream_response(system_instructions, input):
            system = self._workspace.sub("/workspace", system_instructions or "")
            self._runs[-1].add(system, input, [*tools, *handoffs], output_schema, event.response.output)
            yield event


@dataclass
class Weighed(Demo):
    """A demo that keeps what each run spent, in their order; `forgetful` leaves memory out of every agent."""

    runs: list[Spent] = field(default_factory=list)
    forgetful: bool = False

    def agent(self, name: str, policy: Policy, memory: Memory | None) -> SandboxAgent[Any]:
        """An agent whose requests are weighed."""
        agent = super().agent(name, policy, None if self.forgetful else memory)
        agent.model = _Weighed(policy, self)
        return agent

    async def run(self, agent: SandboxAgent[Any], text: str, sandbox: Any, session: Any = None) -> int:
        """One run, which is one more entry of `runs`."""
        self.runs.append(Spent())
        return await super().run(agent, text, sandbox, session)


class _Writer:
    """The built-in model in the place of a language model: what it is asked, and answers, is weighed as if it were."""

    name = "weighed"

    def __init__(self) -> None:
        self.spent = Spent()
        self._model = OfflineModel()

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        answer = await self._model.answer(request)
        schema = json.dumps(request.output_type.model_json_schema(), ensure_ascii=False)
        said = {"role": "assistant", "content": answer.value.model_dump_json()}
        self.spent.add(request.instructions + schema, request.input, [], None, [said])
        return Answer(answer.value, Usage(1, 0, 0))


@dataclass(frozen=True)
class Played:
    """What the runs spent.

    `first` is the first run. `second` is the next request with memory, `without` the same without, `third` the same
    with memory after a person's edit. `pair` are all runs of the two agents, `pair_without` the same without memory.
    `writing` is what a model would spend on the memory of the first run; the built-in one spends nothing.
    """

    first: Spent
    second: Spent
    without: Spent
    third: Spent
    writing: Spent
    pair: Spent
    pair_without: Spent


def played(root: Path) -> Played:
    """Both stories of the demo, the second one also without memory, in folders below `root`."""
    root = root.resolve()
    one = Weighed(root / "one", Show.silent())
    run(one_agent(one))
    first, second, without, third = one.runs
    writing = _written(root / "one" / "invoices" / "sessions" / "a-cent-too-low.jsonl", root / "written")
    pairs = []
    for name, forgetful in (("two", False), ("two-without", True)):
        two = Weighed(root / name, Show.silent(), forgetful=forgetful)
        run(two_agents(two))
        pairs.append(sum(two.runs, Spent()))
    return Played(first, second, without, third, writing, *pairs)


def _written(rollout: Path, root: Path) -> Spent:
    (root / "sessions").mkdir(parents=True)
    copyfile(rollout, root / "sessions" / rollout.name)
    writer = _Writer()
    pipeline = Pipeline(LocalWorkspace(root), Layout.of("memories", "sessions"))
    run(pipeline.process((writer, writer), Limits(attempts=1), actor="hand"))
    return writer.spent
