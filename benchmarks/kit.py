"""What measurements share: workspaces that vanish, sessions on them, a clock, and models that follow a script."""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from agents import ModelSettings, Usage
from agents.items import ModelResponse
from agents.sandbox import Manifest
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionToolCall

from sandbox_memory.doors.demo.model import Unstreamed, unique
from sandbox_memory.doors.demo.model import say as says

T = TypeVar("T")
Progress = Callable[[str], None]
"""Called with what is being done, in a few words."""


@contextmanager
def clean_room() -> Iterator[Path]:
    """A temporary folder for workspaces, with a state folder of its own, no key and no tracing, while it lasts."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="sandbox-memory-bench-", ignore_cleanup_errors=True) as name:
        for key in [key for key in os.environ if key.startswith("OPENAI_")]:
            del os.environ[key]
        os.environ |= {"XDG_STATE_HOME": f"{name}/state", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        try:
            yield Path(name)
        finally:
            os.environ.clear()
            os.environ.update(before)


async def session_on(root: Path) -> Any:
    """A sandbox session on that folder of this machine, to be entered; what it leaves there stays."""
    root.mkdir(parents=True, exist_ok=True)
    return await UnixLocalSandboxClient().create(manifest=Manifest(root=str(root)))


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of the coroutine, in an event loop of its own."""
    return asyncio.run(work)


def settle() -> None:
    """Collect garbage, and let what was written go to the disk: else a call of fsync waits for what others wrote."""
    gc.collect()
    os.sync()


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    """Seconds that it takes, once what came before is settled."""
    settle()
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def interleaved(works: Mapping[str, Callable[[], Awaitable[Any]]], repetitions: int) -> dict[str, float]:
    """The median seconds of each work, taken in turn: first each of them once, then each of them again."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            taken[name].append(await timed(work))
    return {name: statistics.median(values) for name, values in taken.items()}


def calls(name: str, arguments: str) -> ResponseFunctionToolCall:
    """A call of a function tool; `arguments` is JSON."""
    return ResponseFunctionToolCall(type="function_call", name=name, call_id=unique("call"), arguments=arguments)


def patches(patch: str) -> ResponseCustomToolCall:
    """A call of the SDK's `apply_patch` tool."""
    return ResponseCustomToolCall(type="custom_tool_call", name="apply_patch", call_id=unique("call"), input=patch)


class Scripted(Unstreamed):
    """Answers what `answer(system, items)` gives: a text, or output items. `weigh` is told of every request.

    `delay` is how many seconds each answer takes.
    """

    def __init__(
        self,
        answer: Callable[[str, Sequence[Any]], Any],
        *,
        delay: float = 0.0,
        weigh: Callable[[str, Sequence[Any], Sequence[Any], Any], None] | None = None,
        name: str = "scripted",
    ) -> None:
        self.model, self._answer, self._delay, self._weigh = name, answer, delay, weigh

    async def _respond(self, system: str | None, given: Any, tools: Sequence[Any], schema: Any) -> list[Any]:
        items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        if self._weigh is not None:
            self._weigh(system or "", items, tools, schema)
        if self._delay:
            await asyncio.sleep(self._delay)
        found = self._answer(system or "", items)
        outputs = found if isinstance(found, list) else [found]
        return [says(each) if isinstance(each, str) else each for each in outputs]

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
        output = await self._respond(system_instructions, input, [*tools, *handoffs], output_schema)
        return ModelResponse(output=output, usage=Usage(requests=1), response_id=None)
