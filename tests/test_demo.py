"""The demo, as somebody without a key sees it when its output goes into a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sandbox_memory import open_memory
from sandbox_memory.doors.demo import main
from sandbox_memory.doors.demo.model import Done, PolicyModel, Scene, Steps, shell


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo printed, and the workspace that it kept."""
    folder = tmp_path_factory.mktemp("demo")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "sandbox_memory", "demo"],
        cwd=folder,
        env={**environment, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=55,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    kept = re.search(r"^ *cd (.+)$", done.stdout, re.MULTILINE)
    assert kept is not None
    return done.stdout, Path(kept[1])


def test_it_is_plain_in_a_pipe(played: tuple[str, Path]) -> None:
    printed, _ = played
    assert "\x1b" not in printed
    assert len(printed.splitlines()) < 260


def test_it_shows_what_really_ran(played: tuple[str, Path]) -> None:
    printed, workspace = played
    for shown in (
        "$ python3 -m unittest discover tests",
        "ModuleNotFoundError: No module named 'acme'",
        "AssertionError: Decimal('1.78') != Decimal('1.79')",
        "apply_patch src/acme/invoice.py",
        "+from decimal import ROUND_HALF_UP, Decimal",
        "released to staging.acme.example:8443",
        "# Task Group:",
        "MEMORY.md",
        "--model gpt-5.4-mini",
    ):
        assert shown in printed
    assert "ROUND_HALF_UP" in (workspace / "src" / "acme" / "invoice.py").read_text()
    log = (workspace / "ops" / "release.log").read_text().splitlines()
    assert log == ["staging.acme.example:8443", "staging.acme.example:9443"]


def test_memory_saves_calls(played: tuple[str, Path]) -> None:
    printed, _ = played
    found = re.search(r"(\d+) model calls in the first run, (\d+) in the second.* takes (\d+) without memory", printed)
    assert found is not None
    first, second, without = map(int, found.groups())
    assert second < without <= first


def test_layouts_do_not_mix(played: tuple[str, Path]) -> None:
    printed, workspace = played
    assert '"invoice.py" stands only below: memories/coding, sessions/coding' in printed
    assert '"never quote prices" stands only below: memories/gtm, sessions/gtm' in printed
    for layout in ("coding", "gtm"):
        assert (workspace.parent / "two-agents" / "memories" / layout / "MEMORY.md").is_file()


def test_the_workspace_is_kept_with_the_edit(played: tuple[str, Path]) -> None:
    printed, workspace = played
    handbook = (workspace / "memories" / "MEMORY.md").read_text(encoding="utf-8")
    assert "port 9443" in handbook and "port 8443" not in handbook
    said, edited = re.findall(r"why (memories/MEMORY\.md:\d+)", printed)
    with open_memory(workspace) as memory:
        assert memory.check().ok
        reason = memory.why(edited)
        assert "9443" in reason.record.text and reason.record.trust.label == "hand" and reason.record.protected
        receipts = memory.why(said).receipts
        assert [(receipt.trust, receipt.verdict) for receipt in receipts] == [("user", "")]
        assert receipts[0].quote.startswith("Always end your answer")


def test_without_a_key_a_real_model_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main("gpt-5.4-mini") == 1
    printed = capsys.readouterr().out
    assert "The demo stopped" in printed and "OPENAI_API_KEY" in printed and "Without --model" in printed


OUTPUT = "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nusage: x\n"


def test_the_scripted_agent_sees_what_a_model_would() -> None:
    scene = Scene.of(
        "prompt",
        [
            {"role": "user", "content": "first"},
            {"type": "function_call", "name": "exec_command", "call_id": "a", "arguments": '{"cmd": "ls"}'},
            {"type": "function_call_output", "call_id": "a", "output": "file"},
            {"role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
            {"role": "user", "content": [{"type": "input_text", "text": "second"}]},
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "b", "input": "*** Begin Patch"},
            {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "ok"}]},
            {"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": '{"cmd": "x"}'},
            {"type": "function_call_output", "call_id": "c", "output": OUTPUT},
        ],
    )
    assert (scene.asked, scene.heard) == ("second", "first\nsecond")
    assert scene.earlier == (Done("exec_command", "ls", "file"),)
    assert scene.done == (Done("apply_patch", "*** Begin Patch", "ok"), Done("exec_command", "x", OUTPUT))
    assert (scene.done[1].code, scene.done[1].text) == (2, "usage: x\n")
    assert (scene.done[0].code, scene.done[0].text) == (None, "ok")


def test_the_scripted_agent_decides_by_what_its_tools_printed() -> None:
    def policy(scene: Scene) -> Steps:
        looked = yield shell("ls")
        if "secret" in looked.text:
            yield shell("cat secret")
        return f"saw {looked.text}"

    model = PolicyModel(policy)
    looked = Scene("", "q", (Done("exec_command", "ls", "secret"),))
    assert model.decide(looked).arguments == '{"cmd": "cat secret"}'  # type: ignore[union-attr]
    looked = Scene("", "q", (Done("exec_command", "ls", "nothing"),))
    assert model.decide(looked).content[0].text == "saw nothing"  # type: ignore[union-attr]
