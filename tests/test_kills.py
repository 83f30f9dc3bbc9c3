"""SIGKILL before and after every file-changing call, with real processes; then reopen and close."""

from __future__ import annotations

import random
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_memory.rollouts import parse_rollout

from .killing import Counter, calls_of, forked
from .kit import LIMITS, EchoModel, agree, handbook, pipeline, process, run, said, state, tell, texts

DELETED, CHANGED, MINE = "never use tabs in this repository", "the staging port is 9443", "a line of my own"
NEW = ("deploys go out on Tuesday", "the log lives in var/log/app.txt")


def prepared(root: Path) -> None:
    """A memory with history: consolidated, deleted, changed and added lines, and something pending."""
    tell(root, "the staging port is 8443", DELETED, "I always review migrations myself", rollout="old")
    process(root)
    path = handbook(root)
    text = path.read_text(encoding="utf-8").replace("8443", "9443")
    kept = [line for line in text.splitlines() if DELETED not in line]
    path.write_text("\n".join(["Free text.", "", *kept, ""]), encoding="utf-8")
    process(root)
    tell(root, NEW[0], rollout="new")


def hand_edit(root: Path) -> None:
    path = handbook(root)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"- {MINE}\n\n" + text.replace("9443", "9444"), encoding="utf-8")


def append_work(root: Path) -> Callable[[Callable[[object], None]], None]:
    def work(acknowledge: Callable[[object], None]) -> None:
        async def go() -> None:
            line = pipeline(root)
            for n in range(3):
                await line.record(said(f"acknowledged fact {n}", rollout="acks"))
                acknowledge(f"acknowledged fact {n}")

        run(go())

    return work


def close_work(root: Path) -> Callable[[Callable[[object], None]], None]:
    def work(acknowledge: Callable[[object], None]) -> None:
        async def go() -> None:
            line = pipeline(root)
            await line.open()
            await line.record(said(NEW[1], rollout="new"))
            acknowledge(NEW[1])

            class Telling(EchoModel):
                async def answer(self, request):  # type: ignore[no-untyped-def]
                    if request.task == "extraction":
                        acknowledge(("extracted", request.material.rollout.id))
                    return await super().answer(request)

            model = Telling()
            await line.process((model, model), LIMITS, actor="live")

        run(go())

    return work


def adopt_work(root: Path) -> Callable[[Callable[[object], None]], None]:
    def work(acknowledge: Callable[[object], None]) -> None:
        run(pipeline(root).adopt())

    return work


def said_in(root: Path) -> list[str]:
    found = []
    for path in sorted((root / "sessions").glob("*.jsonl")):
        rollout = parse_rollout(path.read_bytes(), rollout_id=path.stem, path=path.name)
        found += [item.text for segment in rollout.segments for item in segment.items if item.role == "user"]
    return found


def verify(root: Path, acknowledged: list[object], edited: bool) -> None:
    model = EchoModel()
    process(root, model)
    process(root, model)
    agree(root)
    spoken = said_in(root)
    for text in acknowledged:
        if isinstance(text, str):
            assert spoken.count(text) == 1
    assert len(spoken) == len(set(spoken))
    extracted = [value[1] for value in acknowledged if isinstance(value, tuple) and value[0] == "extracted"]
    for stem in {*extracted, *model.extracted}:
        assert model.extracted.count(stem) <= 1
    now = texts(root)
    assert DELETED not in now
    assert NEW[0] in now
    expected = "the staging port is 9444" if edited else CHANGED
    assert expected in now
    assert (MINE in now) == edited
    assert "Free text." in handbook(root).read_text(encoding="utf-8")
    for text in acknowledged:
        if isinstance(text, str):
            assert text in now
    assert len(now) == len(state(root).visible())


WORKS = {"append": append_work, "close": close_work, "adopt": adopt_work}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template")
    prepared(root)
    return root


def fresh(template: Path, folder: Path) -> Path:
    """The template at a place where this machine has seen nothing yet: else what came after it would be missed."""
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(template, folder / uuid.uuid4().hex))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("both", [False, pytest.param(True, marks=pytest.mark.proof)], ids=["before", "both"])
@pytest.mark.parametrize("edited", [False, True], ids=["plain", "edited-before-reopening"])
@pytest.mark.parametrize("name", sorted(WORKS))
def test_killed_at_every_call(template: Path, tmp_path: Path, name: str, edited: bool, both: bool) -> None:
    """Before each call, and after the last: on the disk, after one call and before the next are the same."""

    def start() -> Path:
        root = fresh(template, tmp_path / "ws")
        if name == "adopt":
            path = handbook(root)
            path.write_text(path.read_text(encoding="utf-8") + "\n- typed before the crash\n", encoding="utf-8")
        return root

    total = calls_of(WORKS[name](start()))
    assert total > 3
    for at in range(1, total + 1):
        for after in (False, True) if both or at == total else (False,):
            root = start()
            acknowledged, killed = forked(WORKS[name](root), Counter(at, after))
            assert killed
            if edited:
                hand_edit(root)
            verify(root, acknowledged, edited)
            if name == "adopt":
                assert "typed before the crash" in texts(root)


@pytest.mark.proof
@pytest.mark.timeout(1200)
def test_killed_at_random(template: Path, tmp_path: Path) -> None:
    rng = random.Random(20260901)
    for _ in range(200):
        root = fresh(template, tmp_path / "ws")
        name = rng.choice(["append", "close"])
        edited = rng.random() < 0.5
        acknowledged, _ = forked(WORKS[name](root), after=rng.uniform(0.0005, 0.06))
        if edited:
            hand_edit(root)
        verify(root, acknowledged, edited)
