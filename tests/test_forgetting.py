"""Forgetting: what is named is in no file any more, does not come back, and what others support stays."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import open_memory
from sandbox_memory.pipeline.forgetting import forget as forgetting
from sandbox_memory.pipeline.forgetting.forget import Outcome, Wanted
from sandbox_memory.trusting import anchoring

from . import forgetting_kit
from .forgetting_kit import CANARY, CODE, LOCKER, PORT, TEA, Talkative, places, spoken, talk
from .kit import agree, pipeline, process, run, state, texts

template, root = forgetting_kit.template, forgetting_kit.root


def record_of(root: Path, text: str) -> Any:
    return next(record for record in state(root).records.values() if record.text == text)


def wanted(root: Path, way: str) -> Wanted:
    if way == "id":
        return Wanted(ids=(record_of(root, CODE).id,))
    if way == "subject":
        return Wanted(subjects=("locker code",))
    if way == "rollout":
        return Wanted(rollouts=("locker",))
    if way == "user":
        return Wanted(users=("kumquat-7731",))
    return Wanted(texts=(CANARY,))


def forget(root: Path, way: str = "text", **given: Any) -> Outcome:
    return run(forgetting.forget(pipeline(root), wanted(root, way), **given))


WAYS = ("id", "subject", "rollout", "user", "text")


@pytest.mark.parametrize("way", WAYS)
def test_what_stood_everywhere_stands_nowhere(root: Path, tmp_path: Path, way: str) -> None:
    before = places(root, CANARY)
    assert len(before) >= 12, before
    old = Path(shutil.copytree(root, tmp_path / "old"))
    outcome = forget(root, way, receipt=tmp_path / "receipt.json")
    assert outcome.left == [] and len({place.path for place in outcome.found}) >= 12
    assert places(root, CANARY) == []
    assert CODE not in texts(root) and {PORT, TEA} <= texts(root)
    agree(root)
    with open_memory(root) as memory:
        report = memory.check()
        assert report.ok and not [f for f in report.findings if f.kind not in ("gone", "left")], report.findings
        tea = next(record for record in memory.records() if record.text == TEA)
        assert all(not receipt.verdict for receipt in memory.why(tea.id).receipts)
    assert CANARY not in (tmp_path / "receipt.json").read_text()
    # Ten later consolidations, with the old transcripts offered again.
    for n in range(10):
        if n == 3:
            shutil.copy(old / "sessions" / "locker.jsonl", root / "sessions" / "locker.jsonl")
        if n == 6:
            shutil.copy(old / "sessions" / "locker.jsonl", root / "sessions" / f"import-{n}.jsonl")
        process(root, Talkative(lambda text: text.upper()), again=n % 2 == 0)
        assert places(root, CANARY) == [], n
        assert CODE not in texts(root)
    agree(root)
    # A snapshot from before, with the receipt.
    assert len(places(old, CANARY)) >= 12
    with open_memory(old) as memory:
        outcome = run(forgetting.apply(memory.pipeline, tmp_path / "receipt.json"))
    assert outcome.left == [] and outcome.found
    assert places(old, CANARY) == [] and CODE not in texts(old) and {PORT, TEA} <= texts(old)
    agree(old)
    with open_memory(old) as memory:
        assert memory.check().ok
    process(old, Talkative(), again=True)
    assert places(old, CANARY) == []


def test_a_dry_run_lists_every_place_and_changes_nothing(root: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != ".lock"}

    run(pipeline(root).adopt())
    before, stood = files(), places(root, CANARY)
    outcome = forget(root, dry_run=True)
    assert files() == before and outcome.dry and not outcome.receipts
    told = {place.path for place in outcome.found}
    assert set(stood) - told <= {"memories/.sandbox-memory-0a1b2c3d.tmp", "memories/skills/open-the-locker"}
    lines = (root / "memories" / "MEMORY.md").read_text(encoding="utf-8").splitlines()
    numbers = [place.line for place in outcome.found if place.path == "memories/MEMORY.md"]
    assert numbers == [n for n, line in enumerate(lines, 1) if CANARY in line]


def test_other_quotes_of_the_transcript_keep_their_places(root: Path) -> None:
    said = spoken(root, "locker")
    forget(root, "text")
    now = spoken(root, "locker")
    assert [len(text) for text in now] == [len(text) for text in said]
    assert now[0].endswith("and I like tea in the morning.") and "the list has 4 lines" in now[2]
    assert "⟦forgotten" in now[0]


def test_what_is_said_anew_is_remembered(root: Path) -> None:
    forget(root, "text")
    run(pipeline(root).record(talk(("user", LOCKER), ("assistant", "Noted."), rollout="anew")))
    process(root, Talkative())
    assert CODE in texts(root) and any(CANARY in text for text in spoken(root, "anew"))


def test_a_history_that_grows_does_not_bring_it_back(root: Path) -> None:
    forget(root, "text")
    history = talk(("user", LOCKER), ("assistant", f"Noted: the locker code is {CANARY}."), rollout="locker")
    more = talk(("user", "What is next?"), ("assistant", "Lunch."), rollout="locker")
    grown = type(more)(
        "locker", "conversation", [*history.input, *history.generated, *more.input], more.generated, "Lunch.", [],
        more.terminal, "A",
    )  # fmt: skip
    run(pipeline(root).record(grown))
    assert places(root, CANARY) == []
    assert "What is next?" in spoken(root, "locker")


def test_receipts_hold_no_words_and_are_private(root: Path) -> None:
    outcome = forget(root, "id")
    (path,) = map(Path, outcome.receipts)
    assert path.parent == anchoring.folder("forgotten") and path.stat().st_mode & 0o077 == 0
    words = {"locker", "kumquat", "7731", "tea", "code"}
    assert not [word for word in words if word in path.read_text()]


def test_the_command(root: Path, tmp_path: Path) -> None:
    from .test_cli import of, sm

    old = Path(shutil.copytree(root, tmp_path / "old"))
    kept = tmp_path / "receipt.json"
    for wrong in ([], ["--apply", kept, "--text", "x"]):
        assert "say what to forget" in sm("forget", *wrong, "--yes", "--workspace", root, code=2).stderr
    assert "--yes" in sm("forget", "--text", CANARY, "--workspace", root, code=2).stderr
    told = sm("forget", "--text", CANARY, "--dry-run", "--workspace", root).stdout
    assert "MEMORY.md:1 " in told and "Nothing was changed" in told and places(root, CANARY)
    document = of("forget", "--text", CANARY, "--yes", "--receipt", kept, "--workspace", root)
    assert document["ok"] and document["left"] == [] and len(document["found"]) >= 12
    assert document["receipts"][-1] == str(kept) and places(root, CANARY) == []
    assert CANARY not in kept.read_text()
    again = sm("forget", "--apply", kept, "--workspace", old).stdout
    assert "erased" in again and places(old, CANARY) == []


def test_what_cannot_be_erased_is_told(root: Path) -> None:
    """A part that a session has just sent may be of a transaction that goes on."""
    part = root / "memories" / ".sandbox-memory-0011223344556677.part.tmp"
    part.write_text(f"sent: {CANARY}", encoding="utf-8")
    outcome = forget(root, "text")
    assert [place.path for place in outcome.left] == [f"memories/{part.name}"]
    assert places(root, CANARY) == [f"memories/{part.name}"] and not outcome.done
