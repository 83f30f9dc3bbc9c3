"""The examples, run as they stand but for the model: a scripted agent plays, on a real sandbox."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sandbox_memory.doors.demo.model import PolicyModel, Scene, Steps
from sandbox_memory.doors.demo.policies import analyst, developer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

scenes: list[Scene] = []


def policy(scene: Scene) -> Steps:
    scenes.append(scene)
    return analyst(scene) if "sales analyst" in scene.prompt else developer(scene)


@pytest.fixture(autouse=True)
def python_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox's shell finds a `python3`, whichever Python runs the tests."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    scenes.clear()


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(name: str, **more: Any) -> Any:
    return asyncio.run(load(name).main(model=PolicyModel(policy), memory_model="offline", **more))


@pytest.mark.parametrize("stream", [False, True])
def test_one_agent_with_snapshot(stream: bool, capsys: pytest.CaptureFixture[str]) -> None:
    handbook = play("one_agent_with_snapshot", stream=stream)
    printed = capsys.readouterr().out
    assert "rounds half up now, and the tests pass" in printed
    assert "Added a regression test for `invoice_total` in src/billing/invoice.py" in printed and "it passes" in printed
    assert ("... apply_patch" in printed) is stream
    assert "PYTHONPATH=src python3 -m unittest" in handbook and handbook.rstrip().splitlines()[-1].startswith("<!--")

    follow_up = [scene for scene in scenes if "regression" in scene.asked]
    assert all("MEMORY SUMMARY" in scene.prompt and not scene.earlier for scene in follow_up)
    first = follow_up[-1].done[0]
    assert first.call.startswith("PYTHONPATH=src") and first.code == 0  # known from memory, not found out again
    assert not any("MEMORY SUMMARY" in scene.prompt for scene in scenes if "regression" not in scene.asked)


@pytest.mark.parametrize("stream", [False, True])
def test_two_agents_two_layouts(stream: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = play("two_agents_two_layouts", stream=stream, workspace=tmp_path / "two")
    printed = capsys.readouterr().out
    assert "most promising segment is health" in printed and "Wrote the hypothesis for health" in printed
    assert "rounds half up now, and the tests pass" in printed and "it passes" in printed
    assert "No prices in a first contact." in (workspace / "outreach.md").read_text()

    names = sorted(str(path.relative_to(workspace)) for path in workspace.glob("sessions/*/*.jsonl"))
    assert names == ["sessions/engineering/invoice-total.jsonl", "sessions/sales/first-contacts.jsonl"]
    for name in names:
        assert len((workspace / name).read_text().splitlines()) == 2  # one conversation, a segment a turn

    texts = {team: everything(workspace, team) for team in ("sales", "engineering")}
    assert "never quote prices" in texts["sales"] and "invoice_total" not in texts["sales"]
    assert "ModuleNotFoundError" in texts["engineering"] and "prices" not in texts["engineering"]
    assert "We never quote prices" in (workspace / "memories" / "sales" / "MEMORY.md").read_text()


def agreeing(scene: Scene) -> Steps:
    scenes.append(scene)
    yield from ()
    return "Understood."


def test_one_agent_many_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = load("one_agent_many_users")
    asyncio.run(module.main(model=PolicyModel(agreeing), memory_model="offline", workspace=tmp_path / "many"))
    said = {"ann": "keep your answers to one sentence", "bob": "I always review database migrations myself"}
    for user, other in (("ann", "bob"), ("bob", "ann")):
        (handbook,) = (tmp_path / "many" / user).rglob("MEMORY.md")
        assert handbook.parent == tmp_path / "many" / user / "memories" / "tenant=acme" / f"user={user}"
        asked = [text for name, text in module.TURNS if name == user][1]
        (later,) = [scene for scene in scenes if scene.asked == asked]
        assert "MEMORY SUMMARY" in later.prompt and said[other] not in later.prompt
        assert said[user] in handbook.read_text() and said[user] in later.prompt
    assert "user=ann/MEMORY.md" in capsys.readouterr().out


def everything(workspace: Path, team: str) -> str:
    """All text of a team's memories and transcripts."""
    folders = (workspace / "memories" / team, workspace / "sessions" / team)
    return "\n".join(
        path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*") if path.is_file()
    )
