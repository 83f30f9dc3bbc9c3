"""An editor that saves at the worst moment: before every system call of a commit, quickly or slowly."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.workspace import displacing, exchange, folders, local, locking, writers

from .editing import REVIEW, TABS, begun, consistent, drop_line, inbox, questions, read, settled, summary
from .kit import handbook, process, tell, texts

MODULES = (displacing, exchange, folders, local, locking, writers)
NEWS, MINE = "deploys go out on Tuesday", "a line of my own"


class Calls:
    """Stands for `os` in the modules that touch files, and does something before chosen calls, numbered from 1."""

    def __init__(self, before: dict[int, Callable[[], None]] | None = None) -> None:
        self.before, self.count = before or {}, 0
        self.exchanges: list[int] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if not callable(real) or isinstance(real, type) or name == "fsencode":
            return real
        return lambda *args, **more: self.call(real, *args, **more)

    def call(self, real: Callable[..., Any], *args: Any, **more: Any) -> Any:
        self.count += 1
        for number in [number for number in self.before if number <= self.count]:
            self.before.pop(number)()
        if real is exchange.exchange:
            self.exchanges.append(self.count)
        return real(*args, **more)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Calls], Calls]:
    real = exchange.exchange

    def install(calls: Calls) -> Calls:
        for module in MODULES:
            if hasattr(module, "os"):
                monkeypatch.setattr(module, "os", calls)
        monkeypatch.setattr(displacing, "exchange", lambda *args: calls.call(real, *args))
        return calls

    return install


def edited(text: str) -> str:
    """What a person makes of the file: a line more, a line less."""
    lines = drop_line(text, TABS)
    return lines.replace("- I always", f"- {MINE}\n- I always", 1) if "- I always" in lines else f"- {MINE}\n\n{lines}"


def in_place(path: Path, data: bytes) -> list[Callable[[], None]]:
    return [lambda: path.write_bytes(data) and None]


def renamed(path: Path, data: bytes) -> list[Callable[[], None]]:
    def save() -> None:
        beside = path.with_name("4913.tmp~")
        beside.write_bytes(data)
        beside.replace(path)

    return [save]


def slowly(flags: int) -> Callable[[Path, bytes], list[Callable[[], None]]]:
    """Opens the file at one call, and writes and closes it at a later one."""

    def save(path: Path, data: bytes) -> list[Callable[[], None]]:
        opened: list[int] = []

        def end() -> None:
            os.ftruncate(opened[0], 0)
            os.write(opened[0], data)
            os.close(opened[0])

        return [lambda: opened.append(os.open(path, flags)), end]

    return save


HOWS: dict[str, Callable[[Path, bytes], list[Callable[[], None]]]] = {
    "in place": in_place,
    "rename": renamed,
    "opened early": slowly(os.O_WRONLY),
    "emptied early": slowly(os.O_WRONLY | os.O_TRUNC),
}
FILES = {"MEMORY.md": handbook, "memory_summary.md": summary}


def prepared(at: Path) -> Path:
    root = begun("few", at)
    tell(root, NEWS, rollout="news")
    return root


def undisturbed(at: Path, watched: Callable[[Calls], Calls]) -> Calls:
    """The calls that the commit of a consolidation makes."""
    root = prepared(at)
    calls = watched(Calls())
    process(root)
    assert calls.count > 100 and len(calls.exchanges) > 1
    return calls


def saved_at(root: Path, name: str, how: str, moment: int, later: int, watched: Callable[[Calls], Calls]) -> None:
    path, saved = FILES[name](root), []

    def begin() -> None:
        steps = HOWS[how](path, edited(read(path)).encode())
        saved.append(moment)
        steps[0]()
        if len(steps) > 1:
            calls.before[calls.count + later] = steps[1]

    calls = watched(Calls({moment: begin}))
    process(root)
    for step in list(calls.before.values()):
        step()
    calls.before.clear()
    assert saved
    process(root)
    process(root)
    consistent(root)
    now = texts(root)
    told = f"{name}, {how}, before call {moment}"
    assert MINE in now and TABS not in now, told
    assert {NEWS, REVIEW} <= now and len(now) == 4, told
    assert not list(root.rglob("*.saved-*")) and questions(root) == 0, (told, read(inbox(root)))
    settled(root)


@pytest.mark.parametrize("how", sorted(HOWS))
@pytest.mark.parametrize("name", sorted(FILES))
def test_no_save_is_lost(tmp_path: Path, name: str, how: str, watched: Callable[[Calls], Calls]) -> None:
    calls = undisturbed(tmp_path / "counted", watched)
    close = {place + by for place in calls.exchanges for by in (-9, -4, -1, 0, 1, 2)}
    for moment in sorted({*range(5, calls.count, 31), *close}):
        saved_at(prepared(tmp_path / f"at-{moment}"), name, how, moment, (8, 1, 20)[moment % 3], watched)


@pytest.mark.proof
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("how", sorted(HOWS))
@pytest.mark.parametrize("name", sorted(FILES))
def test_no_save_is_lost_at_any_call(tmp_path: Path, name: str, how: str, watched: Callable[[Calls], Calls]) -> None:
    for moment in range(1, undisturbed(tmp_path / "counted", watched).count + 1):
        for later in (1, 2, 3, 10, 40) if "early" in how else (1,):
            saved_at(prepared(tmp_path / f"at-{moment}-{later}"), name, how, moment, later, watched)
