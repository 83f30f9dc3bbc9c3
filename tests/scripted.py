"""Models that say what a test tells them to, and the few lines that every test of a real run needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agents import Agent, ModelSettings, RunConfig, Usage
from agents.items import ModelResponse
from agents.sandbox import LocalSnapshotSpec, Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
)

from sandbox_memory.doors.demo.model import Unstreamed, unique

Step = Any
"""What a model answers: a text, an output item, a list of these, an exception to raise, a function that gives one."""


def says(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(text=text, type="output_text", annotations=[])
    return message(content)


def refuses(text: str) -> ResponseOutputMessage:
    return message(ResponseOutputRefusal(refusal=text, type="refusal"))


def message(content: Any) -> ResponseOutputMessage:
    return ResponseOutputMessage(
        id=unique("msg"), type="message", role="assistant", status="completed", content=[content]
    )


def calls(name: str, **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call", name=name, call_id=unique("call"), arguments=json.dumps(arguments)
    )


def shell(command: str) -> ResponseFunctionToolCall:
    return calls("exec_command", cmd=command)


class Scripted(Unstreamed):
    """Answers with its steps in order, the last one again and again; `seen` keeps what it was asked.

    A step that is a function gets the request (a dict with system, input, tools, output, settings) and may be async.
    """

    def __init__(self, *steps: Step, name: str = "scripted") -> None:
        self.model = name
        self.steps = steps
        self.seen: list[dict[str, Any]] = []

    async def _answer(self, system: str | None, input: Any, settings: Any, tools: Any, output: Any) -> list[Any]:
        request = {"system": system, "input": input, "settings": settings, "tools": tools, "output": output}
        step = self.steps[min(len(self.seen), len(self.steps) - 1)]
        self.seen.append(request)
        if callable(step) and not isinstance(step, type):
            step = step(request)
        if hasattr(step, "__await__"):
            step = await step
        if isinstance(step, BaseException):
            raise step
        items = step if isinstance(step, list) else [step]
        return [says(item) if isinstance(item, str) else item for item in items]

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: ModelSettings,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        **_: Any,
    ) -> ModelResponse:
        output = await self._answer(system_instructions, input, model_settings, [*tools, *handoffs], output_schema)
        usage = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
        return ModelResponse(output=output, usage=usage, response_id=None)


def agent(*steps: Step, memory: Any = None, name: str = "A", **more: Any) -> SandboxAgent[Any]:
    """A sandbox agent with that script, the shell and the file tools, and a memory if given."""
    memories = memory if isinstance(memory, list) else [memory] if memory is not None else []
    return SandboxAgent(
        name=name,
        model=Scripted(*steps),
        instructions="Be brief.",
        capabilities=[*memories, Filesystem(), Shell()],
        **more,
    )


def plain(*steps: Step, name: str = "P", **more: Any) -> Agent[Any]:
    """An agent without a sandbox."""
    return Agent(name=name, model=Scripted(*steps), **more)


async def session_in(root: Path, *, snapshots: Path | None = None) -> Any:
    """A session on that folder, to be entered; what it leaves there stays."""
    root.mkdir(parents=True, exist_ok=True)
    snapshot = LocalSnapshotSpec(base_path=snapshots) if snapshots is not None else None
    return await UnixLocalSandboxClient().create(manifest=Manifest(root=str(root)), snapshot=snapshot)


def config(session: Any, **more: Any) -> RunConfig:
    return RunConfig(sandbox=SandboxRunConfig(session=session), **more)


def lines(root: Path, folder: str = "sessions") -> dict[str, list[dict[str, Any]]]:
    """The segments of every rollout in a sessions folder, by file name without its ending."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((root / folder).glob("*.jsonl"))
    }
