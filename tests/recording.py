"""A pipeline that only keeps what reaches it, and runs whose captures a test looks at."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent

from sandbox_memory.config import MemoryLayoutConfig
from sandbox_memory.records import RunCapture

from .scripted import agent, calls, config, session_in, shell

LAYOUT_A = MemoryLayoutConfig(memories_dir="memories/a", sessions_dir="sessions/a")
LAYOUT_B = MemoryLayoutConfig(memories_dir="memories/b", sessions_dir="sessions/b")


class Recording:
    """Keeps every call. A test replaces `on_close` or `on_record` to make them fail, and `note` to be briefed."""

    made: ClassVar[list[Recording]] = []
    note = "the port is 8443"

    def __init__(self, session: Any, layout: Any, generate: Any, read: Any) -> None:
        self.session, self.layout, self.generate, self.read = session, layout, generate, read
        self.opened = self.closed = self.briefed = 0
        self.captures: list[RunCapture] = []
        self.run_config: RunConfig | None = None
        self.settings_at_close: Any = None
        self.made.append(self)

    @classmethod
    def for_session(cls, session: Any, layout: Any, generate: Any, read: Any, guard: Any = None) -> Recording:
        return cls(session, layout, generate, read)

    async def open(self) -> None:
        self.opened += 1

    async def record(self, capture: RunCapture) -> None:
        await self.on_record(capture)
        self.captures.append(capture)

    async def briefing(self, about: str = "") -> str:
        self.briefed += 1
        return self.note

    async def close(self, *, run_config: RunConfig | None) -> None:
        self.closed += 1
        self.run_config, self.settings_at_close = run_config, self.generate
        await self.on_close()

    async def on_record(self, capture: RunCapture) -> None: ...

    async def on_close(self) -> None: ...


def captures(folder: str = "memories") -> list[RunCapture]:
    """What reached the pipelines of that memories folder, in order."""
    return [capture for each in Recording.made if each.layout.memories_dir == folder for capture in each.captures]


def captured(folder: str = "memories") -> RunCapture:
    (capture,) = captures(folder)
    return capture


def kinds(capture: RunCapture) -> list[str]:
    return [item.get("type", "message") for item in capture.generated]


def text(capture: RunCapture) -> str:
    return json.dumps([capture.input, capture.generated])


async def run(starting: Any, said: Any = "q", *, session: Any, streamed: bool = False, **more: Any) -> Any:
    """A run to its end, streamed or not."""
    kept = {key: more.pop(key) for key in ("group_id", "model_provider", "tracing_disabled") if key in more}
    if not streamed:
        return await Runner.run(starting, said, run_config=config(session, **kept), **more)
    result = Runner.run_streamed(starting, said, run_config=config(session, **kept), **more)
    async for _ in result.stream_events():
        pass
    return result


def in_session(tmp_path: Path, body: Callable[[Any], Awaitable[Any]], **more: Any) -> Any:
    """The body, inside a session on a folder of the test."""

    async def go() -> Any:
        session = await session_in(tmp_path / "workspace", **more)
        async with session:
            return await body(session)

    return asyncio.run(go())


def handing_over(to: Any, memory: Any) -> SandboxAgent[Any]:
    return agent(shell("echo work-by-A"), calls("transfer_to_b"), memory=memory, name="A", handoffs=[to])
