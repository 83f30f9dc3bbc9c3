"""What reaches the pipeline from real runs of the SDK, and what a session does with it; the pipeline is a double."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agents import (
    GuardrailFunctionOutput,
    InputGuardrail,
    OutputGuardrail,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    UserError,
    function_tool,
)
from agents.sandbox import MemoryGenerateConfig as SdkGenerate
from agents.sandbox import MemoryLayoutConfig as SdkLayout
from agents.sandbox import MemoryReadConfig as SdkRead
from agents.sandbox import SandboxAgent
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.capabilities import Memory as SdkMemory

from sandbox_memory import host, pipeline
from sandbox_memory.capability import Memory
from sandbox_memory.config import MemoryGenerateConfig, MemoryLayoutConfig, MemoryReadConfig
from sandbox_memory.errors import ConfigError, WorkspaceError

from .recording import (
    LAYOUT_A,
    LAYOUT_B,
    Recording,
    captured,
    captures,
    handing_over,
    in_session,
    kinds,
    run,
    text,
)
from .scripted import Scripted, agent, calls, config, lines, plain, session_in, shell


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[Recording]:
    """The pipelines that the test caused to be made."""
    monkeypatch.setattr(pipeline, "Pipeline", Recording)
    Recording.made = []
    return Recording.made


@contextlib.contextmanager
def conversation(session_id: str) -> Iterator[SQLiteSession]:
    made = SQLiteSession(session_id)
    try:
        yield made
    finally:
        made.close()


streamed_or_not = pytest.mark.parametrize("streamed", [False, True], ids=["run", "streamed"])


# ---- which rollout


def test_the_rollout_id_comes_from_conversation_then_session_then_group_then_the_run(tmp_path: Path) -> None:
    async def body(session: Any) -> None:
        with conversation("42") as history:
            await run(agent("ok", memory=Memory()), session=session, conversation_id="conv 1", group_id="42")
            await run(agent("ok", memory=Memory()), session=session, group_id="42")
            await run_with(history, session, group_id="42")
            await run_with(history, session)
            await run(agent("ok", memory=Memory()), session=session)
            await run(agent("ok", memory=Memory()), session=session, group_id="  ")

    async def run_with(history: Any, session: Any, **more: Any) -> None:
        await Runner.run(agent("ok", memory=Memory()), "q", session=history, run_config=config(session, **more))

    in_session(tmp_path, body)
    found = [(capture.source, capture.rollout_id) for capture in captures()]
    assert found[:4] == [("conversation", "conv 1"), ("group", "42"), ("session", "42"), ("session", "42")]
    assert [source for source, _ in found[4:]] == ["run", "run"]
    assert found[4][1] != found[5][1]


@pytest.mark.parametrize("name", ["user/42", "会话-1", "a@b.example", "my chat", "x" * 200, "../up"])
@streamed_or_not
def test_any_id_is_taken_as_it_is(tmp_path: Path, name: str, streamed: bool) -> None:
    in_session(
        tmp_path, lambda session: run(agent("ok", memory=Memory()), session=session, streamed=streamed, group_id=name)
    )
    assert (captured().source, captured().rollout_id) == ("group", name)


# ---- whose part


@streamed_or_not
def test_after_a_handoff_each_agent_has_its_own_part(tmp_path: Path, streamed: bool) -> None:
    b = agent(shell("echo work-by-B"), "done by B", memory=Memory(layout=LAYOUT_B), name="B")
    a = handing_over(b, Memory(layout=LAYOUT_A))
    in_session(tmp_path, lambda session: run(a, "do it", session=session, streamed=streamed, group_id="g"))
    first, second = captured("memories/a"), captured("memories/b")
    assert "work-by-A" in text(first) and "work-by-B" not in text(first) and "done by B" not in text(first)
    assert "work-by-B" in text(second) and "work-by-A" not in text(second)
    assert kinds(first) == ["function_call", "function_call_output", "function_call", "function_call_output"]
    assert kinds(second) == ["function_call", "function_call_output", "message"]
    assert first.input == second.input == [{"content": "do it", "role": "user"}]
    assert (first.agent, second.agent) == ("A", "B")
    assert (first.final_output, second.final_output) == (None, "done by B")
    assert first.terminal["terminal_state"] == second.terminal["terminal_state"] == "completed"
    assert (first.terminal["has_final_output"], second.terminal["has_final_output"]) == (False, True)


@streamed_or_not
def test_a_failure_after_a_handoff_leaves_both_parts(tmp_path: Path, streamed: bool) -> None:
    b = agent(shell("echo work-by-B"), RuntimeError("boom"), memory=Memory(layout=LAYOUT_B), name="B")
    a = handing_over(b, Memory(layout=LAYOUT_A))

    async def body(session: Any) -> None:
        with pytest.raises(RuntimeError, match="boom"):
            await run(a, session=session, streamed=streamed)

    in_session(tmp_path, body)
    for part, mine, other in ((captured("memories/a"), "A", "B"), (captured("memories/b"), "B", "A")):
        assert f"work-by-{mine}" in text(part) and f"work-by-{other}" not in text(part)
        assert (part.terminal["terminal_state"], part.terminal["exception_type"]) == ("failed", "RuntimeError")
        assert part.terminal["exception_message"] == "boom"


@streamed_or_not
@pytest.mark.parametrize("kind", [agent, plain], ids=["sandbox agent", "plain agent"])
def test_the_part_of_an_agent_without_memory_goes_nowhere(tmp_path: Path, kind: Any, streamed: bool) -> None:
    a = handing_over(kind("secret of B", name="B"), Memory(layout=LAYOUT_A))
    in_session(tmp_path, lambda session: run(a, session=session, streamed=streamed))
    assert "work-by-A" in text(captured("memories/a")) and "secret of B" not in text(captured("memories/a"))
    assert captured("memories/a").final_output is None
    assert len(Recording.made) == 1


def test_a_plain_agent_may_come_first(tmp_path: Path) -> None:
    b = agent("done by B", memory=Memory(layout=LAYOUT_B), name="B")
    in_session(tmp_path, lambda session: run(plain(calls("transfer_to_b"), handoffs=[b]), session=session))
    assert kinds(captured("memories/b")) == ["message"]


def test_agents_that_share_a_layout_make_one_capture(tmp_path: Path) -> None:
    a = handing_over(agent("done by B", memory=Memory(), name="B"), Memory())
    in_session(tmp_path, lambda session: run(a, session=session))
    assert kinds(captured())[-1] == "message" and len(kinds(captured())) == 5
    assert (captured().agent, captured().final_output) == ("A, B", "done by B")


def test_an_agent_may_have_two_memories(tmp_path: Path) -> None:
    both = [Memory(layout=LAYOUT_A), Memory(layout=LAYOUT_B)]
    in_session(tmp_path, lambda session: run(agent("ok", memory=both), session=session))
    assert captured("memories/a") == captured("memories/b")


def test_where_the_runner_makes_a_session_for_each_agent_each_writes_in_its_own(tmp_path: Path) -> None:
    from agents.sandbox import Manifest, SandboxRunConfig
    from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

    b = agent("done by B", memory=Memory(), name="B", default_manifest=Manifest(root=str(tmp_path / "b")))
    a = handing_over(b, Memory())
    a.default_manifest = Manifest(root=str(tmp_path / "a"))
    sandbox = SandboxRunConfig(client=UnixLocalSandboxClient())
    asyncio.run(Runner.run(a, "q", run_config=RunConfig(sandbox=sandbox)))
    (first, second) = Recording.made
    assert first.session is not second.session
    assert "work-by-A" in text(first.captures[0]) and kinds(second.captures[0]) == ["message"]
    assert first.closed == second.closed == 1


# ---- how it ended


def trips(*_: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)


@function_tool(needs_approval=True)
def deploy(target: str) -> str:
    """Deploys."""
    return f"deployed {target}"


ENDINGS: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any]]] = {
    "completed": (["ok"], {}, {}),
    "failed": ([RuntimeError("boom")], {}, {}),
    "max_turns_exceeded": ([shell("echo again")], {}, {"max_turns": 2}),
    "guardrail_tripped": (["bad words"], {"output_guardrails": [OutputGuardrail(guardrail_function=trips)]}, {}),
    "interrupted": ([calls("deploy", target="prod")], {"tools": [deploy]}, {}),
}


@pytest.mark.parametrize("state", ENDINGS)
@streamed_or_not
def test_every_ending_is_recorded_with_its_state(tmp_path: Path, state: str, streamed: bool) -> None:
    steps, of_agent, of_run = ENDINGS[state]

    async def body(session: Any) -> None:
        with contextlib.suppress(Exception):
            await run(agent(*steps, memory=Memory(), **of_agent), session=session, streamed=streamed, **of_run)

    in_session(tmp_path, body)
    assert captured().terminal["terminal_state"] == state
    assert captured().input == [{"content": "q", "role": "user"}]
    if state == "interrupted":
        (waiting,) = captured().interruptions
        assert waiting["name"] == "deploy" and kinds(captured()) == ["function_call"]  # type: ignore[index]


@streamed_or_not
def test_a_tripped_input_guardrail_is_recorded_if_the_session_was_there(tmp_path: Path, streamed: bool) -> None:
    tripped = agent("ok", memory=Memory(), input_guardrails=[InputGuardrail(guardrail_function=trips)])

    async def body(session: Any) -> None:
        with contextlib.suppress(Exception):
            await run(tripped, session=session, streamed=streamed)

    in_session(tmp_path, body)
    assert captured().terminal["terminal_state"] == "guardrail_tripped"


def test_a_cancelled_run_is_recorded_and_stays_cancelled(tmp_path: Path) -> None:
    async def body(session: Any) -> None:
        started = asyncio.Event()

        async def hangs(_: Any) -> str:
            started.set()
            await asyncio.sleep(60)
            return ""

        task = asyncio.create_task(run(agent(shell("echo first"), hangs, memory=Memory()), session=session))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert captured().terminal["terminal_state"] == "cancelled" and "echo first" in text(captured())

    in_session(tmp_path, body)


def test_a_cancellation_while_a_segment_is_written_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(session: Any) -> None:
        writing = asyncio.Event()

        async def slowly(*_: Any) -> None:
            writing.set()
            await asyncio.sleep(0.05)

        monkeypatch.setattr(Recording, "on_record", slowly)
        task = asyncio.create_task(run(agent("ok", memory=Memory()), session=session))
        await writing.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert captured().final_output == "ok"

    in_session(tmp_path, body)


def test_the_part_of_a_stream_is_written_when_its_events_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slowly(*_: Any) -> None:
        await asyncio.sleep(0.02)

    monkeypatch.setattr(Recording, "on_record", slowly)

    async def body(session: Any) -> None:
        result = Runner.run_streamed(agent("ok", memory=Memory()), "q", run_config=config(session))
        async for _ in result.stream_events():
            assert not captures()
        assert captured().final_output == "ok"

    in_session(tmp_path, body)


@pytest.mark.parametrize("how", ["broken off", "never consumed", "immediate", "after_turn"])
def test_a_stream_that_is_left_is_recorded_though_the_session_closes_at_once(tmp_path: Path, how: str) -> None:
    async def body(session: Any) -> None:
        began = asyncio.Event()

        def first(_: Any) -> Any:
            began.set()
            return shell("echo work-one")

        steps = [first, shell("echo work-two"), "done"]
        result = Runner.run_streamed(agent(*steps, memory=Memory()), "q", run_config=config(session))
        if how == "never consumed":
            await began.wait()
            return
        events = result.stream_events()
        async for event in events:
            if event.type == "run_item_stream_event" and event.name == "tool_output":
                if how == "broken off":
                    break
                result.cancel(mode=how)  # type: ignore[arg-type]
        await events.aclose()  # type: ignore[attr-defined]

    in_session(tmp_path, body)
    state = captured().terminal["terminal_state"]
    expected = {
        "broken off": "completed",
        "never consumed": "completed",
        "immediate": "cancelled",
        "after_turn": "failed",
    }
    assert state == expected[how]
    assert "work-one" in text(captured()) or how == "immediate"
    assert ("work-two" in text(captured())) == (state == "completed")


# ---- resuming


def test_a_resumed_run_without_any_id_belongs_to_the_rollout_that_stopped(tmp_path: Path) -> None:
    def made() -> SandboxAgent[Any]:
        return agent(calls("deploy", target="prod"), memory=Memory(), tools=[deploy])

    async def stop(session: Any) -> str:
        result = await run(made(), "ship it", session=session)
        return json.dumps(result.to_state().to_json())

    async def resume(session: Any, stored: str) -> None:
        fresh = agent("shipped", memory=Memory(), tools=[deploy])
        state = await RunState.from_json(fresh, json.loads(stored))
        for waiting in state.get_interruptions():
            state.approve(waiting)
        await run(fresh, state, session=session)

    stored = in_session(tmp_path, stop)
    in_session(tmp_path, lambda session: resume(session, stored))
    before, after = captures()
    assert before.rollout_id == after.rollout_id and before.source == "run"
    assert (before.resumed, after.resumed) == (False, True)
    assert after.generated[: len(before.generated)] == before.generated
    assert kinds(after) == ["function_call", "function_call_output", "message"]


def test_a_run_resumed_after_a_handoff_repeats_only_what_its_layout_has(tmp_path: Path) -> None:
    def made(*steps: Any, shared: bool) -> SandboxAgent[Any]:
        b = agent(*steps, memory=Memory(layout=LAYOUT_B), name="B", tools=[deploy])
        return handing_over(b, Memory(layout=LAYOUT_B if shared else LAYOUT_A))

    async def both(session: Any, shared: bool) -> None:
        result = await run(made(calls("deploy", target="x"), shared=shared), session=session, group_id="g")
        fresh = made("shipped", shared=shared)
        state = await RunState.from_json(fresh, json.loads(json.dumps(result.to_state().to_json())))
        state.approve(state.get_interruptions()[0])
        await run(fresh, state, session=session, group_id="g")

    in_session(tmp_path, lambda session: both(session, False))
    assert len(captures("memories/a")) == 1
    before, after = captures("memories/b")
    assert "work-by-A" not in text(after) and after.generated[:1] == before.generated
    Recording.made.clear()
    in_session(tmp_path, lambda session: both(session, True))
    before, after = captures("memories/b")
    assert "work-by-A" in text(after) and after.generated[: len(before.generated)] == before.generated


# ---- the session


def test_factories_lose_no_run_and_the_newest_settings_count_at_close(tmp_path: Path) -> None:
    made_for = [MemoryGenerateConfig(phase_one_model=Scripted("{}"), extra_prompt=str(number)) for number in range(3)]

    async def body(session: Any) -> None:
        for number, generate in enumerate(made_for):
            memory = Memory(generate=generate)
            await run(agent("ok", memory=memory), session=session, group_id=f"g{number}", tracing_disabled=number == 2)

    in_session(tmp_path, body)
    (pipeline,) = Recording.made
    assert [capture.rollout_id for capture in pipeline.captures] == ["g0", "g1", "g2"]
    assert pipeline.settings_at_close is made_for[-1]
    assert pipeline.run_config is not None and pipeline.run_config.tracing_disabled
    assert (pipeline.opened, pipeline.closed) == (1, 1)


def test_a_session_object_may_be_entered_twice(tmp_path: Path) -> None:
    async def go() -> None:
        session = await session_in(tmp_path / "workspace")
        for number in range(3):
            async with session:
                await run(agent("ok", memory=Memory()), session=session, group_id=f"g{number}")

    asyncio.run(go())
    assert [(each.opened, each.closed, len(each.captures)) for each in Recording.made] == [(1, 1, 1)] * 3


def test_one_session_holds_two_layouts_but_no_folder_twice(tmp_path: Path) -> None:
    crossed = MemoryLayoutConfig(memories_dir="memories/a", sessions_dir="elsewhere")
    mixed = MemoryLayoutConfig(memories_dir="memories/c", sessions_dir="sessions/b/")

    async def body(session: Any) -> None:
        for layout in (LAYOUT_A, LAYOUT_B, LAYOUT_A):
            await run(agent("ok", memory=Memory(layout=layout)), session=session)
        with pytest.raises(UserError, match=r"memories_dir='memories/a'"):
            await run(agent("ok", memory=Memory(layout=crossed)), session=session)
        with pytest.raises(UserError, match=r"sessions_dir='sessions/b'"):
            await run(agent("ok", memory=Memory(layout=mixed)), session=session)
        await run(agent("ok", memory=Memory(layout=crossed, generate=None)), session=session)

    in_session(tmp_path, body)
    assert (len(captures("memories/a")), len(captures("memories/b")), len(captures("memories/c"))) == (2, 1, 0)


def test_what_cannot_be_written_is_kept_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full = True

    async def disk(*_: Any) -> None:
        if full:
            raise WorkspaceError("sessions/g0.jsonl", "no space left")

    monkeypatch.setattr(Recording, "on_record", disk)

    async def body(session: Any) -> None:
        nonlocal full
        for number in range(2):
            assert (
                await run(agent("ok", memory=Memory()), session=session, group_id=f"g{number}")
            ).final_output == "ok"
        assert not captures()
        full = False
        await run(agent("ok", memory=Memory()), session=session, group_id="g2")
        assert [each.rollout_id for each in captures()] == ["g0", "g1", "g2"]
        full = True
        await run(agent("ok", memory=Memory()), session=session, group_id="g3")
        full = False

    in_session(tmp_path, body)
    assert [each.rollout_id for each in captures()] == ["g0", "g1", "g2", "g3"]
    assert [record.getMessage().count("no space left") for record in caplog.records] == [1, 1]


def test_what_could_not_be_written_outlives_the_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise WorkspaceError("sessions", "is a FIFO")

    async def go() -> None:
        session = await session_in(tmp_path / "workspace")
        with monkeypatch.context() as patch:
            patch.setattr(Recording, "on_record", broken)
            async with session:
                await run(agent("ok", memory=Memory()), session=session, group_id="g0")
        async with session:
            await run(agent("ok", memory=Memory()), session=session, group_id="g1")

    asyncio.run(go())
    assert [each.rollout_id for each in captures()] == ["g0", "g1"]


def test_a_session_that_is_never_closed_can_be_freed(tmp_path: Path) -> None:
    async def go() -> weakref.ref[Any]:
        session = await session_in(tmp_path / "workspace")
        await session.start()
        await run(agent("ok", memory=Memory()), session=session)
        return weakref.ref(session)

    gone = asyncio.run(go())
    Recording.made.clear()
    gc.collect()
    assert gone() is None


# ---- the hook: whatever memory does, the snapshot is written


async def raises(_: Any, about: str = "") -> None:
    raise RuntimeError("a broken pipeline")


async def hangs(_: Any, about: str = "") -> None:
    await asyncio.sleep(60)


async def ignores_cancellation(_: Any) -> None:
    for _number in range(3):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.6)


@pytest.mark.parametrize("fault", [raises, hangs, ignores_cancellation])
def test_no_fault_at_close_costs_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Any
) -> None:
    monkeypatch.setattr(Recording, "on_close", fault)
    generate = MemoryGenerateConfig(close_timeout=0.1)
    snapshots = tmp_path / "snapshots"

    async def body(session: Any) -> float:
        await run(agent("ok", memory=Memory(generate=generate)), session=session)
        return time.monotonic()

    async def go() -> float:
        session = await session_in(tmp_path / "workspace", snapshots=snapshots)
        async with session:
            began = await body(session)
        return time.monotonic() - began

    took = asyncio.run(go())
    assert took < 1.5 and list(snapshots.iterdir())
    assert len([record for record in caplog.records if "stays pending" in record.getMessage()]) == 1
    assert ("a broken pipeline" if fault is raises else "close_timeout") in caplog.text


def test_a_slow_memory_does_not_take_the_time_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    async def by_layout(self: Recording) -> None:
        await asyncio.sleep(60 if self.layout.memories_dir == "memories/a" else 0.15)
        done.append(self.layout.memories_dir)

    monkeypatch.setattr(Recording, "on_close", by_layout)

    async def body(session: Any) -> None:
        for layout, limit in ((LAYOUT_A, 0.05), (LAYOUT_B, 5.0)):
            memory = Memory(layout=layout, generate=MemoryGenerateConfig(close_timeout=limit))
            await run(agent("ok", memory=memory), session=session)

    began = time.monotonic()
    in_session(tmp_path, body)
    assert done == ["memories/b"] and time.monotonic() - began < 3


@pytest.mark.parametrize("fault", [hangs, ignores_cancellation])
def test_a_cancelled_close_still_writes_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    closing = asyncio.Event()

    async def close(self: Recording) -> None:
        closing.set()
        await fault(self)

    monkeypatch.setattr(Recording, "on_close", close)
    snapshots = tmp_path / "snapshots"

    async def go() -> tuple[int, float]:
        session = await session_in(tmp_path / "workspace", snapshots=snapshots)
        await session.start()
        await run(agent("ok", memory=Memory()), session=session)

        async def closes() -> int:
            await session.aclose()
            task = asyncio.current_task()
            return task.cancelling() if hasattr(task, "cancelling") else 0  # type: ignore[union-attr]

        task = asyncio.create_task(closes())
        await closing.wait()
        began = time.monotonic()
        task.cancel()
        return await task, time.monotonic() - began

    cancelling, took = asyncio.run(go())
    assert cancelling == 0 and took < 0.5
    assert list(snapshots.iterdir())


# ---- beside the SDK's own


def sdk_memory(layout: SdkLayout) -> SdkMemory:
    answer = json.dumps({"rollout_slug": "task", "rollout_summary": "# s\n", "raw_memory": "---\nd: d\n---\nraw\n"})
    return SdkMemory(
        layout=layout, generate=SdkGenerate(phase_one_model=Scripted(answer), phase_two_model=Scripted(""))
    )


@pytest.mark.parametrize("last", ["SDK's", "ours"])
def test_the_sdks_memory_behaves_as_before_beside_ours(tmp_path: Path, last: str) -> None:
    theirs = sdk_memory(SdkLayout(memories_dir="memories/sdk", sessions_dir="sessions/sdk"))
    ours = Memory(layout=LAYOUT_A)
    b = agent("done by B", memory=theirs if last == "SDK's" else ours, name="B")
    a = handing_over(b, ours if last == "SDK's" else theirs)
    in_session(tmp_path, lambda session: run(a, session=session, group_id="g"))
    written = lines(tmp_path / "workspace", "sessions/sdk")
    assert ("done by B" in text(captured("memories/a"))) == (last == "ours")
    if last == "SDK's":  # it gets the whole run, as it would without ours
        assert len(written["g"]) == 1 and "work-by-A" in json.dumps(written["g"])
        assert (tmp_path / "workspace/memories/sdk/raw_memories/g.md").is_file()
    else:
        assert written == {}


def test_an_sdk_memory_alone_is_not_touched(tmp_path: Path) -> None:
    Memory()  # installs the wrappers
    theirs = sdk_memory(SdkLayout())
    in_session(tmp_path, lambda session: run(agent("ok", memory=theirs), session=session, group_id="g"))
    (segment,) = lines(tmp_path / "workspace")["g"]
    assert list(segment) == [
        "updated_at", "rollout_id", "input", "generated_items", "terminal_metadata", "final_output"
    ]  # fmt: skip
    assert not Recording.made


# ---- what the agent is told


def briefed(starting: SandboxAgent[Any]) -> list[str]:
    return [request["system"] for request in starting.model.seen]  # type: ignore[union-attr]


def test_the_briefing_is_the_same_at_every_turn_and_new_at_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = iter(["the port is 8443", "the port is 9443"])

    async def briefing(_: Any, about: str) -> str:
        return next(notes)

    monkeypatch.setattr(Recording, "briefing", briefing)
    starting = agent(shell("echo 1"), shell("echo 2"), "ok", memory=Memory())

    async def body(session: Any) -> None:
        await run(starting, session=session)
        await run(starting, session=session)

    in_session(tmp_path, body)
    first, second, third, later = briefed(starting)
    assert first == second == third and "port is 8443" in first and "memories" in first
    assert "port is 9443" in later and "port is 8443" not in later


@pytest.mark.parametrize(
    ("memory", "told", "recorded"),
    [
        (Memory(read=None), False, 1),
        (Memory(generate=None), True, 0),
        (Memory(read=MemoryReadConfig(live_update=False)), True, 1),
    ],
    ids=["read=None", "generate=None", "live_update=False"],
)
def test_reading_and_generating_can_be_switched_off(tmp_path: Path, memory: Memory, told: bool, recorded: int) -> None:
    starting = agent("ok", memory=memory)
    in_session(tmp_path, lambda session: run(starting, session=session))
    (pipeline,) = Recording.made
    assert ("port is 8443" in briefed(starting)[0]) is told
    assert (len(pipeline.captures), pipeline.closed, pipeline.opened) == (recorded, recorded, 1)
    assert (pipeline.generate is None) == (recorded == 0)
    if told:
        live = bool(memory.read and memory.read.live_update)
        assert ("correct that line" in briefed(starting)[0]) is live


def test_a_memory_that_cannot_be_read_does_not_fail_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(host, "OPEN_TIMEOUT", 0.05)
    for fault, cause in ((raises, "a broken pipeline"), (hangs, "did not open")):
        monkeypatch.setattr(Recording, "briefing", fault)
        starting = agent("ok", memory=Memory())
        result = in_session(tmp_path, lambda session, starting=starting: run(starting, session=session))
        assert result.final_output == "ok" and cause in caplog.text and "port is" not in briefed(starting)[0]
    assert len(captures()) == 2


def test_the_folder_is_named_as_the_agent_sees_it(tmp_path: Path) -> None:
    from agents.sandbox import SandboxRunConfig

    starting = agent("ok", memory=Memory())

    async def body(session: Any) -> None:
        await session.mkdir(Path("sub"))
        await Runner.run(starting, "q", run_config=RunConfig(sandbox=SandboxRunConfig(session=session, cwd="sub")))

    in_session(tmp_path, body)
    assert f"`{tmp_path / 'workspace' / 'memories'}/`" in briefed(starting)[0]


@pytest.mark.parametrize(
    ("capabilities", "missing", "advice"),
    [
        ([Filesystem()], "shell", "Shell()"),
        ([Shell()], "filesystem", "live_update=False"),
        ([], "filesystem, shell", "agents.sandbox.capabilities"),
    ],
)
def test_a_missing_capability_is_named_with_what_to_do(
    tmp_path: Path, capabilities: list[Any], missing: str, advice: str
) -> None:
    lacking = SandboxAgent(name="Ann", model=Scripted("ok"), capabilities=[Memory(), *capabilities])

    async def body(session: Any) -> None:
        with pytest.raises(UserError, match=f"Memory requires missing capabilities: {missing}") as error:
            await run(lacking, session=session)
        assert "'Ann'" in str(error.value) and advice in str(error.value)

    in_session(tmp_path, body)


# ---- keeping runs out, and bringing others in


def test_paused_keeps_out_only_what_is_started_inside(tmp_path: Path) -> None:
    memory, other = Memory(), Memory(layout=LAYOUT_B)

    async def body(session: Any) -> None:
        async def one(name: str, pause: bool, streamed: bool = False) -> None:
            with memory.paused() if pause else contextlib.nullcontext():
                await asyncio.sleep(0)
                await run(agent("ok", memory=[memory, other]), session=session, group_id=name, streamed=streamed)

        await asyncio.gather(one("in", True), one("out", False), one("stream in", True, True), one("out too", False))
        with memory.paused():
            result = Runner.run_streamed(agent("ok", memory=memory), "q", run_config=config(session, group_id="left"))
        async for _ in result.stream_events():
            pass

    in_session(tmp_path, body)
    assert sorted(each.rollout_id for each in captures()) == ["out", "out too"]
    assert len(captures("memories/b")) == 4


def test_a_conversation_can_be_switched_off_and_on(tmp_path: Path) -> None:
    memory = Memory()

    async def body(session: Any) -> None:
        async def one(name: str, *steps: Any) -> None:
            await run(agent(*(steps or ["ok"]), memory=memory), session=session, group_id=name)

        memory.switch_off("private")
        await one("private")
        await one("public")
        memory.switch_on("private")
        await one("private")
        await one("late", lambda _: memory.switch_off("late") or "ok")
        await one("late", lambda _: memory.switch_on("late") or "ok")

    in_session(tmp_path, body)
    assert [each.rollout_id for each in captures()] == ["public", "private"]


def test_record_takes_what_did_not_come_through_the_runner(tmp_path: Path) -> None:
    memory = Memory()
    items = [
        {"role": "user", "content": "which port?"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "8443"},
        {"role": "assistant", "content": "8443"},
    ]

    async def body(session: Any) -> None:
        await memory.record(session, items, rollout_id="chat/1", agent="bot", final_output="8443")
        await memory.record(session, "remember me")
        result = await Runner.run(plain("hello", name="P"), "hi")
        await memory.record(session, result, rollout_id="chat/2")
        with memory.paused():
            await memory.record(session, "not this")

    in_session(tmp_path, body)
    first, second, third = captures()
    assert (first.input, first.generated) == (items[:1], items[1:])
    assert (first.source, first.rollout_id, first.agent, first.final_output) == (
        "conversation",
        "chat/1",
        "bot",
        "8443",
    )
    assert second.source == "run" and second.input == [{"content": "remember me", "role": "user"}]
    assert (third.agent, third.final_output, kinds(third)) == ("P", "hello", ["message"])
    assert third.terminal["terminal_state"] == "completed" and Recording.made[0].closed == 1


def test_record_raises_what_went_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: Any) -> None:
        raise WorkspaceError("sessions", "no space left")

    monkeypatch.setattr(Recording, "on_record", full)

    async def body(session: Any) -> None:
        with pytest.raises(WorkspaceError, match="no space left"):
            await Memory().record(session, "hello")
        with pytest.raises(ConfigError, match="generate=None"):
            await Memory(generate=None).record(session, "hello")

    in_session(tmp_path, body)


# ---- settings


def test_the_sdks_configs_are_accepted_and_extended(tmp_path: Path) -> None:
    memory = Memory(
        layout=SdkLayout(memories_dir="m", sessions_dir="s"),
        read=SdkRead(live_update=False),
        generate=SdkGenerate(max_raw_memories_for_consolidation=7, extra_prompt="x"),
    )
    in_session(tmp_path, lambda session: run(agent("ok", memory=memory), session=session))
    (pipeline,) = Recording.made
    assert (pipeline.layout.memories_dir, pipeline.layout.sessions_dir, pipeline.layout.preset.name) == (
        "m",
        "s",
        "default",
    )
    assert isinstance(pipeline.generate, MemoryGenerateConfig) and pipeline.generate.max_raw_memories == 7
    assert pipeline.generate.extra_prompt == "x" and pipeline.generate.close_timeout == 60
    assert isinstance(pipeline.read, MemoryReadConfig) and not pipeline.read.live_update
    assert isinstance(Memory().layout, MemoryLayoutConfig) and isinstance(Memory(), SdkMemory)


@pytest.mark.parametrize(
    "wrong",
    [
        {"read": None, "generate": None},
        {"layout": SdkLayout(memories_dir="/abs")},
        {"layout": SdkLayout(sessions_dir="../up")},
        {"layout": SdkLayout(memories_dir="same", sessions_dir="same/")},
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Memory(**wrong)


def test_a_clone_keeps_settings_and_switches_but_not_the_session() -> None:
    memory = Memory(generate=MemoryGenerateConfig(phase_one_model=Scripted("{}")))
    clone = memory.clone()
    assert clone.generate is memory.generate and clone.switches is memory.switches and clone.session is None
    clone.switch_off("x")
    assert not memory.wants("x", ())
    clone._told = ("what this run was told",)
    assert clone.clone()._told is None


def test_items_that_cannot_be_converted_cost_only_themselves(caplog: pytest.LogCaptureFixture) -> None:
    from sandbox_memory.capture import as_input

    class Broken:
        type = "tool_call_output_item"
        raw_item: ClassVar[dict[str, str]] = {"type": "function_call_output", "output": "kept"}

        def to_input_item(self) -> dict[str, str]:
            raise TypeError("no")

    class Hopeless(Broken):
        raw_item = None  # type: ignore[assignment]

    with caplog.at_level(logging.WARNING):
        assert as_input([Broken(), Hopeless(), {"role": "user", "content": "x", "status": None}]) == [
            {"type": "function_call_output", "output": "kept"},
            {"role": "user", "content": "x"},
        ]
    assert "Hopeless" in caplog.text
