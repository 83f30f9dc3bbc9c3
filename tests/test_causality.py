"""What memory says changes what an agent does: the port of a command that a real shell runs comes from there."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from agents.sandbox import LocalSnapshotSpec
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryReadConfig
from sandbox_memory.doors.demo.model import Scene, Steps
from sandbox_memory.doors.demo.policies import developer
from sandbox_memory.doors.demo.show import Show
from sandbox_memory.doors.demo.story import FIX, RELEASE, Demo

EXPLORING = 7
"""Calls of a release by an agent that knows nothing: two for the tests, two for the port, and the three below."""
MENDING = 4
"""Calls that mending the failing test takes: search, read, patch, test."""
KNOWING = 3
"""Calls of a release by an agent that knows: the tests, the release, the answer."""


READ = MemoryReadConfig()


def memory(*, read: MemoryReadConfig | None = READ, generate: bool = True) -> Memory:
    return Memory(
        read=read,
        generate=MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline") if generate else None,
    )


class World:
    """A workspace, the runs in it, and the prompts that the agent got."""

    def __init__(self, folder: Path) -> None:
        self.demo = Demo(folder, Show.silent())
        self.root = folder / "invoices"
        self.client = UnixLocalSandboxClient()
        self.prompts: list[str] = []

    def _policy(self, scene: Scene) -> Steps:
        self.prompts.append(scene.prompt)
        return developer(scene)

    async def run(self, asked: str, memory: Memory, sandbox: Any = None) -> int:
        """One run in a session of its own, which is closed after it; returns the number of its model calls."""
        self.prompts.clear()
        sandbox = sandbox or await self.client.create(manifest=self.demo.manifest("invoices", files=()))
        async with sandbox:
            return await self.demo.run(self.demo.agent("developer", self._policy, memory), asked, sandbox)

    async def learn(self, memory: Memory, snapshots: Path | None = None) -> tuple[Any, int]:
        """The first run, in a new session; returns that session's state and the number of model calls."""
        spec = LocalSnapshotSpec(base_path=snapshots) if snapshots else None
        sandbox = await self.client.create(manifest=self.demo.manifest("invoices"), snapshot=spec)
        calls = await self.run(FIX, memory, sandbox)
        return sandbox.state, calls

    def edit(self, old: str = "8443", new: str = "9443") -> None:
        """What a person does in an editor."""
        handbook = self.root / "memories" / "MEMORY.md"
        text = handbook.read_text(encoding="utf-8")
        assert old in text
        handbook.write_text(text.replace(old, new), encoding="utf-8")

    @property
    def released(self) -> list[str]:
        """Where the shell released to, in order."""
        log = self.root / "ops" / "release.log"
        return [line.rpartition(":")[2] for line in log.read_text().split()] if log.exists() else []

    def everything(self) -> dict[str, bytes | None]:
        """Every path of the workspace with its bytes, None for folders."""
        return {
            str(path.relative_to(self.root)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.root.rglob("*"))
        }


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace in which the first run has become memory."""
    folder = tmp_path_factory.mktemp("learned")
    asyncio.run(World(folder).learn(memory()))
    return folder


@pytest.fixture
def world(learned: Path, tmp_path: Path) -> World:
    shutil.copytree(learned, tmp_path / "copy")
    return World(tmp_path / "copy")


def test_the_agent_knows_nothing_at_first(tmp_path: Path) -> None:
    world = World(tmp_path)
    sandbox = asyncio.run(world.client.create(manifest=world.demo.manifest("invoices")))
    assert asyncio.run(world.run(RELEASE, memory(), sandbox)) == EXPLORING + MENDING
    assert world.released == ["8443"]
    assert not any("MEMORY" in prompt for prompt in world.prompts)


@pytest.mark.parametrize("live_update", [True, False])
def test_an_edit_changes_the_command(world: World, live_update: bool) -> None:
    config = MemoryReadConfig(live_update=live_update)
    assert asyncio.run(world.run(RELEASE, memory(read=config))) == KNOWING
    assert world.released == ["8443"]
    world.edit()
    assert asyncio.run(world.run(RELEASE, memory(read=config))) == KNOWING
    assert world.released == ["8443", "9443"]
    assert all("9443" in prompt and "8443" not in prompt for prompt in world.prompts)
    assert all(("correct that line" in prompt) is live_update for prompt in world.prompts)


def test_after_a_resume_from_a_snapshot(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        state, first = await world.learn(memory(), tmp_path / "snapshots")
        shutil.rmtree(world.root)
        resumed = await world.client.resume(state)
        assert await world.run(RELEASE, memory(), resumed) == KNOWING < first
        shutil.rmtree(world.root)
        edited = await world.client.resume(resumed.state)
        async with edited:
            world.edit()
        shutil.rmtree(world.root)
        assert await world.run(RELEASE, memory(), await world.client.resume(edited.state)) == KNOWING
        assert world.released == ["8443", "9443"]

    asyncio.run(story(World(tmp_path)))


def test_after_a_resume_from_session_state(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        state, first = await world.learn(memory())
        for port in ("8443", "9443"):
            saved = json.loads(json.dumps(world.client.serialize_session_state(state)))
            resumed = await world.client.resume(world.client.deserialize_session_state(saved))
            world.edit("8443", port)
            # Without a snapshot, the SDK writes the manifest's files again: the bug is back. Memory stays as it was.
            assert await world.run(RELEASE, memory(), resumed) == KNOWING + MENDING < first
            state = resumed.state
        assert world.released == ["8443", "9443"]

    asyncio.run(story(World(tmp_path)))


def test_without_reading_memory_it_explores(world: World) -> None:
    world.edit()
    assert asyncio.run(world.run(RELEASE, memory(read=None))) == EXPLORING
    assert world.released == ["8443"]  # as a file of the project says; memory has the other
    assert not any("MEMORY" in prompt or "9443" in prompt for prompt in world.prompts)


def test_without_generating_it_reads_and_writes_nothing(world: World) -> None:
    world.edit()
    before = world.everything()
    assert asyncio.run(world.run("Please run the tests.", memory(generate=False))) == KNOWING - 1
    assert world.everything() == before
    assert all("9443" in prompt and "8443" not in prompt for prompt in world.prompts)
    asyncio.run(world.run(RELEASE, memory(generate=False)))
    assert world.released == ["9443"]


def test_a_deleted_line_is_not_known_any_more(world: World) -> None:
    handbook = world.root / "memories" / "MEMORY.md"
    lines = handbook.read_text(encoding="utf-8").splitlines(keepends=True)
    handbook.write_text("".join(line for line in lines if "8443" not in line), encoding="utf-8")
    asked = asyncio.run(world.run(RELEASE, memory()))
    assert asked == KNOWING + 3  # it opens MEMORY.md in vain, then finds the port as it would without memory
    assert not any("8443" in prompt for prompt in world.prompts)


def test_what_the_summary_leaves_out_is_taken_from_the_handbook(world: World) -> None:
    small = memory(read=MemoryReadConfig(summary_tokens=30))
    world.edit()
    asyncio.run(world.run("Please run the tests.", small))
    world.edit("Always end", "Please always end")  # of the lines changed by hand, the newest comes first
    calls = asyncio.run(world.run(RELEASE, small))
    assert all("Please always end" in prompt and "9443" not in prompt for prompt in world.prompts)
    assert (calls, world.released) == (KNOWING + 1, ["9443"])  # the one more opens MEMORY.md
