"""Real runs of the SDK, real files: what stands in the workspace when a run has returned, and after the close."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from agents import Runner, RunState, SQLiteSession, function_tool
from agents.sandbox import SandboxAgent

from sandbox_memory.capability import Memory
from sandbox_memory.config import MemoryGenerateConfig, MemoryLayoutConfig

from .recording import LAYOUT_A, LAYOUT_B, handing_over, in_session, run
from .scripted import agent, calls, config, lines, session_in, shell

streamed_or_not = pytest.mark.parametrize("streamed", [False, True], ids=["run", "streamed"])


def offline(layout: MemoryLayoutConfig | None = None, **more: Any) -> Memory:
    generate = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")
    return Memory(layout=layout or MemoryLayoutConfig(), generate=generate, **more)


def all_files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@streamed_or_not
def test_the_segment_is_there_when_the_run_returns(tmp_path: Path, streamed: bool) -> None:
    async def body(session: Any) -> None:
        await run(
            agent(shell("echo hi"), "done", memory=offline()),
            "say hi",
            session=session,
            streamed=streamed,
            group_id="g",
        )
        ((segment,),) = lines(tmp_path / "workspace").values()
        assert segment["rollout_id"] == "g" and json.dumps(segment).count("done") == 1
        assert segment["terminal_metadata"]["terminal_state"] == "completed" and segment["agent"] == "A"
        assert [item.get("type", "message") for item in segment["generated_items"]] == [
            "function_call",
            "function_call_output",
            "message",
        ]
        assert "say hi" in json.dumps(segment["input"])

    in_session(tmp_path, body)


def test_ids_that_look_alike_are_different_rollouts(tmp_path: Path) -> None:
    names = ["42", "a", "A", "user/42", "会话-1", "x" * 200, "CON"]

    async def body(session: Any) -> None:
        for name in names:
            await run(agent("ok", memory=offline()), session=session, group_id=name)
            history = SQLiteSession(name)
            await Runner.run(agent("ok", memory=offline()), "q", session=history, run_config=config(session))
            history.close()

    in_session(tmp_path, body)
    written = lines(tmp_path / "workspace")
    assert sorted(segment["rollout_id"] for (segment,) in written.values()) == sorted(names * 2)
    assert len({name.lower() for name in written}) == 2 * len(names)


@function_tool(needs_approval=True)
def deploy(target: str) -> str:
    """Deploys."""
    return f"deployed {target}"


@streamed_or_not
@pytest.mark.parametrize("named", ["group", "session", "nothing"])
def test_what_is_approved_and_resumed_elsewhere_is_recorded_once(tmp_path: Path, streamed: bool, named: str) -> None:
    more: dict[str, Any] = {"group_id": "g"} if named == "group" else {}

    def history() -> dict[str, Any]:
        return {"session": SQLiteSession("s", tmp_path / "history.db")} if named == "session" else {}

    async def go(session: Any, starting: SandboxAgent[Any], said: Any) -> Any:
        kept = history()
        try:
            if not streamed:
                return await Runner.run(starting, said, run_config=config(session, **more), **kept)
            result = Runner.run_streamed(starting, said, run_config=config(session, **more), **kept)
            async for _ in result.stream_events():
                pass
            return result
        finally:
            for each in kept.values():
                each.close()

    async def stop(session: Any) -> str:
        starting = agent(shell("echo first"), calls("deploy", target="prod"), memory=offline(), tools=[deploy])
        return json.dumps((await go(session, starting, "ship it")).to_state().to_json())

    async def resume(session: Any, stored: str) -> None:
        fresh = agent("shipped", memory=offline(), tools=[deploy])
        state = await RunState.from_json(fresh, json.loads(stored))
        state.approve(state.get_interruptions()[0])
        await go(session, fresh, state)

    stored = in_session(tmp_path, stop)
    in_session(tmp_path, lambda session: resume(session, stored))
    (segments,) = lines(tmp_path / "workspace").values()
    assert [segment["terminal_metadata"]["terminal_state"] for segment in segments] == ["interrupted", "completed"]
    items = [item for segment in segments for item in (*segment["input"], *segment["generated_items"])]
    assert [item.get("type", "message") for item in items] == [
        "message",
        "function_call",
        "function_call_output",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert json.dumps(segments).count("ship it") == json.dumps(segments).count('"shipped"') == 1


@dataclass
class Report:
    at: datetime
    id: UUID
    price: Decimal


def test_any_output_type_is_recorded(tmp_path: Path) -> None:
    report = {"at": "2026-01-02T03:04:05Z", "id": "12345678-1234-5678-1234-567812345678", "price": "9.90"}
    starting = agent(json.dumps({"response": report}), memory=offline(), output_type=Report)
    result = in_session(tmp_path, lambda session: run(starting, session=session, group_id="g"))
    assert result.final_output.at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    ((segment,),) = lines(tmp_path / "workspace").values()
    assert segment["terminal_metadata"]["has_final_output"] and json.dumps(segment).count("12345678-1234") >= 1


def test_without_generate_nothing_is_written(tmp_path: Path) -> None:
    async def body(session: Any) -> set[str]:
        before = all_files(tmp_path / "workspace")
        await run(agent("ok", memory=Memory(generate=None)), session=session)
        return before

    before = in_session(tmp_path, body)
    assert all_files(tmp_path / "workspace") == before


@streamed_or_not
def test_two_agents_two_layouts_and_the_next_run_knows(tmp_path: Path, streamed: bool) -> None:
    def team() -> SandboxAgent[Any]:
        return handing_over(agent("done by B", memory=offline(LAYOUT_B), name="B"), offline(LAYOUT_A))

    rule = "Remember: I always review database migrations myself."
    in_session(tmp_path, lambda session: run(team(), rule, session=session, streamed=streamed, group_id="g"))
    root = tmp_path / "workspace"
    for folder, mine, other in (("a", "work-by-A", "done by B"), ("b", "done by B", "work-by-A")):
        whole = json.dumps(lines(root, f"sessions/{folder}"))
        assert mine in whole and other not in whole
        assert "review database migrations" in (root / f"memories/{folder}/MEMORY.md").read_text(encoding="utf-8")
    again = team()
    in_session(tmp_path, lambda session: run(again, "next", session=session, streamed=streamed, group_id="h"))
    assert "review database migrations" in again.model.seen[0]["system"]  # type: ignore[union-attr]


@pytest.mark.parametrize("obstacle", ["symlink", "folder", "file"])
def test_an_obstacle_in_the_workspace_costs_neither_run_nor_snapshot(tmp_path: Path, obstacle: str) -> None:
    root, snapshots = tmp_path / "workspace", tmp_path / "snapshots"
    (root / "memories").mkdir(parents=True)
    if obstacle == "symlink":
        (root / "memories/ledger.jsonl").symlink_to("/dev/zero")
    elif obstacle == "folder":
        (root / "memories/MEMORY.md").mkdir()
    else:
        (root / "sessions").write_text("in the way", encoding="utf-8")

    async def go() -> Any:
        session = await session_in(root, snapshots=snapshots)
        async with session:
            return await run(agent("ok", memory=offline()), "hello", session=session)

    assert asyncio.run(go()).final_output == "ok"
    assert list(snapshots.iterdir())
