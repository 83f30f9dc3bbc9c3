"""A small agent in the place of a language model: it decides from its prompt and from what its tools printed."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents import Usage
from agents.items import ModelResponse
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCustomToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

Act = ResponseFunctionToolCall | ResponseCustomToolCall | ResponseOutputMessage


@dataclass(frozen=True)
class Done:
    """A tool call and what came back. `call` is the shell command, the patch, or the arguments of another tool."""

    tool: str
    call: str
    output: str = ""

    @property
    def text(self) -> str:
        """What the command printed, without the lines that the shell tool puts before it."""
        return self.output.partition("\nOutput:\n")[2] if self.output.startswith("Chunk ID") else self.output

    @property
    def code(self) -> int | None:
        """The exit code, if the tool told one."""
        found = re.search(r"^Process exited with code (-?\d+)$", self.output, re.MULTILINE)
        return int(found[1]) if found else None


@dataclass(frozen=True)
class Scene:
    """All that the agent can see. `heard` is every message of the user, `asked` the newest; `done` came after it."""

    prompt: str
    asked: str
    done: tuple[Done, ...] = ()
    earlier: tuple[Done, ...] = ()
    heard: str = ""

    @classmethod
    def of(cls, system: str | None, items: Any) -> Scene:
        """The scene of one model request."""
        if isinstance(items, str):
            return cls(system or "", items, heard=items)
        outputs = {item["call_id"]: plain(item["output"]) for item in items if "output" in item and "call_id" in item}
        heard: list[str] = []
        earlier: list[Done] = []
        done: list[Done] = []
        for item in items:
            if item.get("role") == "user":
                heard.append(plain(item.get("content")))
                earlier, done = [*earlier, *done], []
            elif item.get("call_id") in outputs and "output" not in item:
                done.append(Done(item["name"], call_of(item), outputs[item["call_id"]]))
        return cls(system or "", heard[-1] if heard else "", tuple(done), tuple(earlier), "\n".join(heard))


Steps = Generator[Act, Done, str]
"""An agent's course: each step is yielded and answered with what it showed; the returned text is the last message."""
Policy = Callable[[Scene], Steps]


class Unstreamed(Model):
    """A model whose stream is its whole answer at once; `model` is its name."""

    model = "scripted"

    async def stream_response(self, *given: Any, **more: Any) -> AsyncIterator[ResponseCompletedEvent]:
        answer = await self.get_response(*given, **more)
        response = Response(
            id=unique("resp"),
            created_at=0,
            model=self.model,
            object="response",
            output=answer.output,
            tool_choice="none",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(type="response.completed", sequence_number=0, response=response)


class PolicyModel(Unstreamed):
    """Answers as its policy does; `calls` counts its answers.

    Keeps nothing else: at each request the policy starts again and is told what its steps showed, as the input has it.
    """

    def __init__(self, policy: Policy, name: str = "scripted") -> None:
        self.policy, self.model = policy, name
        self.calls = 0

    def decide(self, scene: Scene) -> Act:
        """The next step, or the last message."""
        steps = self.policy(scene)
        try:
            act = next(steps)
            for done in scene.done:
                act = steps.send(done)
        except StopIteration as end:
            return say(end.value)
        return act

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.calls += 1
        act = self.decide(Scene.of(system_instructions, input))
        return ModelResponse(output=[act], usage=Usage(requests=1), response_id=None)


def shell(command: str) -> Act:
    """A call of the shell tool."""
    return ResponseFunctionToolCall(
        type="function_call", name="exec_command", call_id=unique("call"), arguments=json.dumps({"cmd": command})
    )


def patch(text: str) -> Act:
    """A call of `apply_patch`; the text goes between the lines that begin and end a patch."""
    body = f"*** Begin Patch\n{text.strip()}\n*** End Patch\n"
    return ResponseCustomToolCall(type="custom_tool_call", name="apply_patch", call_id=unique("call"), input=body)


def say(text: str) -> Act:
    """A message, which ends the run."""
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id=unique("msg"), type="message", role="assistant", status="completed", content=[content]
    )


def unique(kind: str) -> str:
    """A fresh id for an item."""
    return f"{kind}_{uuid.uuid4().hex}"


def call_of(item: Mapping[str, Any]) -> str:
    """What a tool call asks for, in words: the command of the shell, the text of a patch, else the arguments."""
    given = item.get("input") or item.get("arguments") or ""
    try:
        return str(json.loads(given)["cmd"])
    except (ValueError, KeyError, TypeError):
        return str(given)


def plain(content: Any) -> str:
    """The text of a message's content or a tool's output, which are a text or a list of parts."""
    return content if isinstance(content, str) else "\n".join(_parts(content))


def _parts(content: Any) -> Iterator[str]:
    for part in content or ():
        if isinstance(part, Mapping) and isinstance(part.get("text"), str):
            yield part["text"]
