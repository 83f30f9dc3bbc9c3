"""The README's code runs as it stands there."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from sandbox_memory import MemoryGenerateConfig, MemoryLayoutConfig, open_memory

from .scripted import Scripted

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def code(name: str, workspace: Path) -> str:
    match = re.search(rf"<!-- readme: {name} -->\n```python\n(.*?)```", README, re.DOTALL)
    assert match is not None
    return match[1].replace("/tmp/my-workspace", str(workspace))


def test_agent_example(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    namespace: dict[str, object] = {"__name__": "readme"}
    exec(compile(code("example", workspace), "README.md", "exec"), namespace)
    answer = asyncio.run(namespace["main"]("Remember that our staging port is 8443.", Scripted("Noted.")))  # type: ignore[operator]
    assert answer == "Noted."
    (transcript,) = (workspace / "sessions").glob("first-chat--*.jsonl")
    assert "8443" in transcript.read_text(encoding="utf-8")
    with open_memory(workspace) as memory:
        memory.process("offline")
        assert any("8443" in record.text for record in memory.records())


def test_plain_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code("plain", tmp_path), "README.md", "exec"), {"__name__": "readme"})
    assert "Deploys go out on Tuesdays." in capsys.readouterr().out
    with open_memory(tmp_path) as memory:
        assert memory.records() == []


def test_settings_named_in_the_text_exist() -> None:
    assert MemoryLayoutConfig.preset("coding").memories_dir == "memories/coding"
    MemoryLayoutConfig(memories_dir="memories/gtm", sessions_dir="sessions/gtm", preset_name="gtm")
    for name in ("max_raw_memories", "extra_prompt", "close_timeout", "keep_rollouts"):
        assert f"`{name}`" in README and hasattr(MemoryGenerateConfig(), name)
