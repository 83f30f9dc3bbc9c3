"""The demo, as somebody without a key sees it when its output goes into a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_memory import open_memory


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
    line = re.search(r"why memories/MEMORY\.md:(\d+)", printed)
    assert line is not None
    assert "9443" in handbook.splitlines()[int(line[1]) - 1]
    with open_memory(workspace) as memory:
        reason = memory.why(f"memories/MEMORY.md:{line[1]}")
        assert reason.record.trust.label == "hand" and reason.record.protected
        assert [record for record in memory.records() if "end your answer" in record.text]
        assert memory.check().ok
