"""Forgetting beside others, and through kills: what was begun is finished, and nobody's words are lost or come back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import open_memory
from sandbox_memory.models import CONSOLIDATION, EXTRACTION
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.pipeline.forgetting import forget as forgetting
from sandbox_memory.pipeline.forgetting.forget import Wanted
from sandbox_memory.workspace.session import SessionWorkspace

from . import forgetting_kit
from .forgetting_kit import CANARY, CODE, LOCKER, PORT, TEA, Talkative, places, spoken, talk
from .killing import Counter, calls_of, forked, started
from .kit import agree, layout, pipeline, process, run, said, state, texts
from .shell_session import ShellSession

WORDS = Wanted(texts=(CANARY,))


template, root = forgetting_kit.template, forgetting_kit.root


def clean(root: Path, *, known: bool = True) -> None:
    assert places(root, CANARY) == []
    assert CODE not in texts(root) and (not known or {PORT, TEA} <= texts(root))
    assert all(erasure.finished for erasure in state(root).erasures.values())
    agree(root)


def killed(template: Path, root: Path, wanted: Wanted, at: int, after: bool, by_forget: bool) -> None:
    """Kill a forgetting at one call, then let the next command finish it."""

    def work(acknowledge: Callable[[Any], None]) -> None:
        run(forgetting.forget(pipeline(root), wanted))

    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(template, root)
    _, dead = forked(work, Counter(at, after))
    begun = bool(state(root).erasures)
    if begun and not by_forget:
        run(pipeline(root).adopt())
    else:
        run(forgetting.forget(pipeline(root), WORDS))
    assert dead or begun
    clean(root)
    with open_memory(root) as memory:
        assert not [found for found in memory.check().findings if found.kind not in ("gone", "cut", "left")]


def calls(template: Path, root: Path, wanted: Wanted) -> int:
    shutil.copytree(template, root)
    return calls_of(lambda acknowledge: run(forgetting.forget(pipeline(root), wanted)) and None)


@pytest.mark.timeout(300)
def test_killed_at_some_calls(template: Path, tmp_path: Path) -> None:
    total = calls(template, tmp_path / "ws", WORDS)
    assert total > 30
    for turn, at in enumerate(range(2, total + 1, max(1, total // 14))):
        killed(template, tmp_path / "ws", WORDS, at, bool(turn % 2), bool(turn % 3 == 0))


@pytest.mark.proof
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("way", ["text", "rollout"])
def test_killed_at_every_call(template: Path, tmp_path: Path, way: str) -> None:
    wanted = WORDS if way == "text" else Wanted(rollouts=("locker",))
    total = calls(template, tmp_path / "ws", wanted)
    for at in range(1, total + 1):
        for after in (False, True):
            killed(template, tmp_path / "ws", wanted, at, after, bool(at % 2))


def test_beside_a_process_that_appends(root: Path) -> None:
    def appending(acknowledge: Callable[[Any], None]) -> None:
        async def go() -> None:
            line = pipeline(root)
            for n in range(12):
                await line.record(said(f"appended fact number {n}", rollout="locker"))

        run(go())

    wait = started(appending)
    outcome = run(forgetting.forget(pipeline(root), WORDS))
    wait()
    assert outcome.left == []
    model = Talkative()
    process(root, model)
    process(root, model)
    facts = {f"appended fact number {n}" for n in range(12)}
    assert facts <= set(spoken(root, "locker")) and facts <= texts(root)
    assert places(root, CANARY) == []
    agree(root)


@pytest.mark.parametrize("phase", [EXTRACTION, CONSOLIDATION])
def test_what_a_model_was_told_before_does_not_come_back(root: Path, phase: str) -> None:
    """Another process forgets while the model is thinking."""

    class Slow(Talkative):
        done = False

        async def answer(self, request: Any) -> Any:
            answer = await super().answer(request)
            if request.task == phase and not self.done:
                self.done = True
                await forgetting.forget(pipeline(root), WORDS)
            return answer

    run(pipeline(root).record(talk(("user", f"{LOCKER} Mind the gap."), ("assistant", "Yes."), rollout="locker")))
    process(root, Slow())
    assert places(root, CANARY) == []
    process(root, Talkative())
    clean(root)


def test_through_a_session(root: Path) -> None:
    line = Pipeline(SessionWorkspace(ShellSession(), str(root)), layout())
    outcome = run(forgetting.forget(line, WORDS))
    assert outcome.left == [] and len({place.path for place in outcome.found}) >= 12
    clean(root)
    process(root, Talkative(), again=True)
    clean(root)


def test_an_open_session_sees_it_gone(root: Path) -> None:
    """Its prompt, and what it writes when it closes, are of the memory as it is then."""

    async def work() -> None:
        line = pipeline(root)
        await line.open()
        await line.record(said("before the forgetting", rollout="mine"))
        assert CANARY in (await line.briefing())
        await forgetting.forget(pipeline(root), WORDS)
        assert CANARY not in (await line.briefing())
        await line.record(said("after the forgetting", rollout="mine"))
        from .kit import LIMITS

        model = Talkative()
        await line.process((model, model), LIMITS, actor="live")

    run(work())
    clean(root)
    assert {"before the forgetting", "after the forgetting"} <= texts(root)
