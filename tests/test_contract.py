"""What this package takes from the SDK under private names is there, and what it does if it is not."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agents import RunConfig
from agents.sandbox import MemoryGenerateConfig as SdkGenerate
from agents.sandbox import SandboxRunConfig
from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Memory as SdkMemory
from agents.sandbox.runtime import SandboxRuntime
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession

from sandbox_memory import pipeline, sdk
from sandbox_memory.capability import _DOOR, Memory
from sandbox_memory.capture import RolloutId
from sandbox_memory.config import MemoryGenerateConfig, MemoryLayoutConfig, MemoryReadConfig

from .recording import LAYOUT_A, LAYOUT_B, Recording, captured, captures, handing_over, in_session, kinds, run, text
from .scripted import Scripted, agent, calls, plain, shell


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[Recording]:
    monkeypatch.setattr(pipeline, "Pipeline", Recording)
    Recording.made = []
    return Recording.made


def test_no_private_name_of_the_sdk_has_moved() -> None:
    assert sdk.moved() == [], "openai-agents changed under us; see sandbox_memory/sdk.py"


def test_the_runtime_calls_memory_the_way_it_is_wrapped() -> None:
    """The wrappers take keywords; a call that passes them by position would not get through."""
    Memory()
    for name in ("__init__", "prepare_agent", "enqueue_memory_payload"):
        original = inspect.unwrap(getattr(SandboxRuntime, name))
        positional = [
            each.name
            for each in inspect.signature(original).parameters.values()
            if each.kind is not inspect.Parameter.KEYWORD_ONLY
        ]
        assert positional == ["self"], f"SandboxRuntime.{name} takes {positional[1:]} by position now"


def test_what_is_public_is_there_too() -> None:
    for name in ("register_pre_stop_hook", "exec", "read", "write", "ls", "mkdir", "rm"):
        assert callable(getattr(BaseSandboxSession, name)), f"BaseSandboxSession.{name} is gone"
    fields = set(SdkMemory.model_fields)
    assert {"layout", "read", "generate", "session", "run_as", "workspace_scope"} <= fields, f"Memory has only {fields}"
    ours = {MemoryGenerateConfig: "MemoryGenerateConfig", MemoryLayoutConfig: "MemoryLayoutConfig"}
    for kind, name in {**ours, MemoryReadConfig: "MemoryReadConfig"}.items():
        theirs = getattr(sdk_config, name)
        assert issubclass(kind, theirs) and set(theirs.__dataclass_fields__) <= set(kind.__dataclass_fields__)


def test_what_moved_is_said_in_words() -> None:
    names = (
        sdk.Name("agents.sandbox.runtime", "SandboxRuntime.enqueue_something", (), "a run ended"),
        sdk.Name("agents.nowhere", "x", (), "nothing"),
        sdk.Name("agents.sandbox.runtime", "SandboxRuntime.prepare_agent", ("current_agent", "mood"), "its mood"),
    )
    assert sdk.moved(names) == [
        "agents.sandbox.runtime.SandboxRuntime.enqueue_something is gone; it was used for this: a run ended",
        "agents.nowhere.x is gone; it was used for this: nothing",
        "agents.sandbox.runtime.SandboxRuntime.prepare_agent has no parameter mood any more; it was for this: its mood",
    ]


def test_the_wrappers_are_put_on_once() -> None:
    Memory()
    wrapped = SandboxRuntime.__init__
    assert sdk.install(_DOOR) == "seam"
    Memory()
    assert SandboxRuntime.__init__ is wrapped
    assert inspect.unwrap(wrapped).__module__ == "agents.sandbox.runtime"


def test_the_source_of_an_id_is_known_where_it_is_resolved_and_guessed_elsewhere() -> None:
    Memory()
    resolve = importlib.import_module("agents.run")._sandbox_memory_rollout_id
    config = RunConfig(group_id="42", sandbox=SandboxRunConfig())

    class Nameless:
        @property
        def session_id(self) -> str:
            raise RuntimeError("not connected")

    def source(conversation_id: str | None, session_id: str | None) -> tuple[str, str]:
        session = SimpleNamespace(session_id=session_id) if session_id else Nameless() if session_id == "" else None
        found = resolve(run_config=config, conversation_id=conversation_id, session=session)
        return found.source, str(found)

    assert source("c", "42") == ("conversation", "c")
    assert source(" ", " 42 ") == ("session", "42")
    assert source(None, " ") == source(None, None) == ("group", "42")
    assert source(None, "") == ("group", "42")
    assert resolve(run_config=RunConfig(), conversation_id="c", session=None) is None
    assert sdk.identified("42", config).source == "group"
    assert sdk.identified("run-" + "0f" * 16, config).source == "run"
    assert sdk.identified("x", config).source == "session"
    assert sdk.identified(RolloutId("42", "session"), config).source == "session"


def test_how_a_run_ended_is_told_without_the_sdks_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "EXTRAS", (sdk.EXTRAS[0], sdk.Name("agents.nowhere", "x", (), "")))
    done, waits = SimpleNamespace(final_output="x"), SimpleNamespace(final_output=None, interruptions=[1])
    assert sdk.terminal(done)["terminal_state"] == "completed" and sdk.terminal(done)["has_final_output"]
    assert sdk.terminal(waits)["terminal_state"] == "interrupted"
    assert sdk.terminal(SimpleNamespace(final_output=None), ValueError("no"))["exception_message"] == "no"


@pytest.fixture
def through_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with an SDK in which a name of the seam is gone."""
    Memory()
    for name in ("__init__", "prepare_agent", "cleanup", "enqueue_memory_result", "enqueue_memory_payload"):
        monkeypatch.setattr(SandboxRuntime, name, inspect.unwrap(getattr(SandboxRuntime, name)))
    runner = importlib.import_module("agents.run")
    monkeypatch.setattr(runner, "_sandbox_memory_rollout_id", inspect.unwrap(runner._sandbox_memory_rollout_id))
    monkeypatch.setattr(sdk, "SEAM", (*sdk.SEAM, sdk.Name("agents.sandbox.runtime", "gone", (), "something")))
    monkeypatch.setattr(sdk, "_through", "")


def go(tmp_path: Path, *starting: Any, **more: Any) -> None:
    async def body(session: Any) -> None:
        for each in starting:
            await run(each, session=session, **more)

    in_session(tmp_path, body)


@pytest.mark.usefixtures("through_the_registry")
def test_without_the_seam_runs_come_through_the_registry(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    factories = [
        agent("ok", memory=Memory(generate=MemoryGenerateConfig(phase_one_model=Scripted("")))) for _ in range(3)
    ]
    go(tmp_path, *factories, group_id="42")
    assert [(each.source, each.rollout_id, each.final_output) for each in captures()] == [("group", "42", "ok")] * 3
    assert Recording.made[0].closed == 1
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "agents.sandbox.runtime.gone is gone; it was used for this: something" in warning


@pytest.mark.usefixtures("through_the_registry")
def test_without_the_seam_a_handoff_is_split_if_the_last_agent_has_a_memory(tmp_path: Path) -> None:
    b = agent("done by B", memory=Memory(layout=LAYOUT_B), name="B")
    go(tmp_path, handing_over(b, Memory(layout=LAYOUT_A)))
    assert "work-by-A" in text(captured("memories/a")) and kinds(captured("memories/b")) == ["message"]


@pytest.mark.usefixtures("through_the_registry")
def test_without_the_seam_failures_and_pauses_are_kept_apart(tmp_path: Path) -> None:
    memory = Memory()
    with pytest.raises(RuntimeError, match="boom"):
        go(tmp_path, agent(shell("echo first"), RuntimeError("boom"), memory=memory))
    assert "echo first" in text(captured()) and captured().terminal["terminal_state"] == "failed"
    with memory.paused():
        go(tmp_path, agent("ok", memory=memory))
    go(tmp_path, agent("ok", memory=Memory(generate=None)), plain(calls("transfer_to_a"), handoffs=[agent("ok")]))
    assert len(captures()) == 1


@pytest.mark.usefixtures("through_the_registry")
def test_without_the_seam_the_sdks_memory_still_works(tmp_path: Path) -> None:
    answer = json.dumps({"rollout_slug": "s", "rollout_summary": "# s\n", "raw_memory": "---\nd: d\n---\nraw\n"})
    theirs = SdkMemory(generate=SdkGenerate(phase_one_model=Scripted(answer), phase_two_model=Scripted("")))
    go(tmp_path, agent("ok", memory=theirs), agent("ok", memory=Memory(layout=LAYOUT_A)), group_id="g")
    assert (tmp_path / "workspace/memories/raw_memories/g.md").is_file()
    assert len(captures("memories/a")) == 1


def test_with_neither_runs_go_on_unrecorded(
    tmp_path: Path, through_the_registry: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sdk, "REGISTRY", sdk.Name("agents.nowhere", "x", (), ""))
    assert sdk.install(_DOOR) == "nothing"
    assert "Runs are not recorded" in caplog.text
