"""What a person saves in any file of a memory is acknowledged: by `edit`, by `watch`, and by the next command."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_memory.pipeline import saving

from .kit import pipeline, run, state
from .test_cli import sm
from .test_skills import DEPLOY, NAME, deployed, skill

WORD = "I like my tea black.\n"


def append(path: Path, text: str = WORD) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{text}")


def above(path: Path) -> None:
    path.write_text(f"{WORD}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


Done = Callable[[Path], None]
CASES: tuple[tuple[str, Done, str], ...] = (
    ("MEMORY.md", lambda path: append(path, "- a line of mine\n"), "1 added"),
    ("MEMORY.md", append, "memories/MEMORY.md is kept as you saved it; a run is told its list items"),
    ("memory_summary.md", append, "memories/memory_summary.md is kept as you saved it; the next run is told the words"),
    ("memory_summary.md", above, "memories/memory_summary.md is kept as you saved it; the next run is told the words"),
    ("memory_summary.md", lambda path: append(path, "\n"), "the words that a run is told did not change"),
    ("INBOX.md", append, "memories/INBOX.md is kept as you saved it; it answers no question"),
    ("raw_memories/monday.md", append, "memories/raw_memories/monday.md is kept as you wrote it: read again when"),
    ("raw_memories/monday.md", Path.unlink, "memories/raw_memories/monday.md is gone; the lines that it taught stay"),
    (f"skills/{NAME}/SKILL.md", append, f"memories/skills/{NAME}/SKILL.md is yours now: it is never written again"),
    (f"skills/{NAME}/SKILL.md", Path.unlink, f"memories/skills/{NAME}/SKILL.md stays deleted"),
    (
        "skills/tea/SKILL.md",
        append,
        "memories/skills/tea/SKILL.md is kept as you wrote it; this memory did not make it",
    ),
)
SILENT = ("MEMORY.md", "INBOX.md", "skills/tea/SKILL.md")
"""Files in which a command that comes later finds nothing that it had not known: prose around the lines stays."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("begun") / "ws"
    root.mkdir()
    deployed(root, "monday", "tuesday")
    (root / "memories" / "INBOX.md").write_text("My questions.\n", encoding="utf-8")
    (root / "memories" / "skills" / "tea").mkdir()
    (root / "memories" / "skills" / "tea" / "SKILL.md").write_text("Tea.\n", encoding="utf-8")
    return root


@pytest.fixture
def root(begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(begun, tmp_path / "ws")
    monkeypatch.chdir(tmp_path / "ws")
    return tmp_path / "ws"


@pytest.mark.parametrize(("name", "change", "wanted"), CASES)
def test_edit_says_what_became_of_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: Done, wanted: str
) -> None:
    path = root / "memories" / name
    old = path.read_bytes()
    change(path)
    new = path.read_bytes() if path.exists() else None
    path.write_bytes(old)
    script = tmp_path / "vi"
    done = f"open(path, 'wb').write({new!r})" if new is not None else "os.remove(path)"
    script.write_text(f"#!{sys.executable}\nimport os, sys\npath = sys.argv[-1]\n{done}\n", encoding="utf-8")
    script.chmod(0o755)
    result = sm("edit", name, env={"EDITOR": str(script), "VISUAL": ""})
    assert wanted in result.stdout and "Nothing was changed" not in result.stdout and result.stderr == ""
    assert len([line for line in result.stdout.splitlines() if "memories/" in line or "taken in" in line]) == 1
    assert sm("status").stderr == "", "it is said once"
    assert new is None or WORD.encode() not in new or WORD.encode() in path.read_bytes()


@pytest.mark.parametrize(("name", "change", "wanted"), CASES)
def test_saves_are_told_once_and_what_we_write_is_no_save(root: Path, name: str, change: Done, wanted: str) -> None:
    path = root / "memories" / name
    saves = saving.Saves(pipeline(root))
    change(path)
    changed = f"memories/{name}"
    (line,) = run(saves.take_in([changed]))
    assert wanted in line
    assert run(saves.take_in([changed, "memories/MEMORY.md", "memories/memory_summary.md"])) == []
    deployed(root, "wednesday")
    every = [f"memories/{each}" for each in ("MEMORY.md", "memory_summary.md", "INBOX.md", "raw_memories/wednesday.md")]
    assert run(saves.take_in([*every, f"memories/skills/{NAME}/SKILL.md"])) == []


@pytest.mark.parametrize(("name", "change", "wanted"), [case for case in CASES if case[0] not in SILENT])
def test_the_next_command_says_it_too_and_once(root: Path, name: str, change: Done, wanted: str) -> None:
    path = root / "memories" / name
    time.sleep(0.02)  # a save is later than what it was made of
    change(path)
    said = sm("status").stderr
    quiet = "did not change" in wanted or "is gone" in wanted
    assert (f"note: {wanted}" in said) is not quiet and said.count("\n") == (0 if quiet else 1)
    assert sm("show").stderr == ""
    if name.startswith("skills") and "yours" in wanted:
        assert state(root).skills[NAME].edited and DEPLOY in skill(root).read_text(encoding="utf-8")


def test_several_notes_are_one_line(root: Path) -> None:
    time.sleep(0.02)
    for name in ("monday", "tuesday"):
        append(root / "memories" / "raw_memories" / f"{name}.md")
    assert "monday.md and 1 more are kept as you wrote them" in sm("show").stderr
    merged = (root / "memories" / "raw_memories.md").read_text(encoding="utf-8")
    assert merged.count(WORD.strip()) == 2 and sm("show").stderr == ""


def test_a_dry_run_takes_nothing_in(root: Path) -> None:
    time.sleep(0.02)
    append(skill(root))
    before = (root / "memories" / "ledger.jsonl").read_bytes()
    assert sm("rebuild", "--dry-run").stderr == sm("check").stderr == ""
    assert (root / "memories" / "ledger.jsonl").read_bytes() == before
    assert "is yours now" in sm("status").stderr


def test_watch_says_it(root: Path) -> None:
    command = [sys.executable, "-m", "sandbox_memory", "watch", "--once"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("watching ")
        time.sleep(1.0)
        append(skill(root))
        out, _ = watching.communicate(timeout=30)
    said = " ".join(out.split())
    assert f"memories/skills/{NAME}/SKILL.md is yours now: it is never written again" in said
    assert said.count("SKILL.md") == 1


@pytest.mark.parametrize("name", ["MEMORY.md", "memory_summary.md", "INBOX.md"])
def test_a_merge_conflict_is_not_said_to_be_kept(root: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    saves = saving.Saves(pipeline(root))
    append(root / "memories" / name, "<<<<<<< HEAD\n- mine\n=======\n- theirs\n>>>>>>> other\n")
    assert run(saves.take_in([f"memories/{name}"])) == [] and "left alone" in caplog.text


def test_many_lines_that_vanished_are_counted_without_the_question(tmp_path: Path) -> None:
    path = tmp_path / "memories" / "MEMORY.md"
    path.parent.mkdir()
    path.write_text("# Task Group: mine\n\n" + "".join(f"- fact number {n}\n" for n in range(30)), encoding="utf-8")
    sm("status", tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    gone = [line for line in lines if "fact number" in line][:21]
    path.write_text("".join(line for line in lines if line not in gone), encoding="utf-8")
    assert sm("status", tmp_path).stderr.startswith("note: 21 changes made in the files were taken in")
