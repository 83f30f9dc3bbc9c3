"""Edits are taken in as they are saved, in all the ways in which editors and tools save."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agents import Runner

from sandbox_memory import Memory, MemoryGenerateConfig
from sandbox_memory.pipeline import saving
from sandbox_memory.records import Trust
from sandbox_memory.workspace.watching import Watching

from .editing import TABS, begun, consistent, drop, edit, read, record, settled, summary, write
from .kit import handbook, pipeline, run, state, texts
from .scripted import agent, config, session_in

OFFLINE = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")
PATIENCE = 20.0


class Noting:
    """Watches one memory in this process, as `sandbox-memory watch` does; keeps what was told."""

    def __init__(self, root: Path) -> None:
        self.lines: list[str] = []
        self.pipeline = pipeline(root)
        self.watching = saving.watched(self.pipeline, self._saved)
        self.lock = threading.Lock()

    def _saved(self, paths: frozenset[str]) -> None:
        with self.lock:
            self.lines.append(saving.told(run(saving.take_in(self.pipeline, paths))))

    def __enter__(self) -> Noting:
        self.watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.watching.stop()

    @property
    def told(self) -> list[str]:
        return [line for line in self.lines if line]


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def renamed_over(path: Path, data: bytes) -> None:
    beside = path.with_name(f"{path.name}.tmp")
    beside.write_bytes(data)
    beside.replace(path)


def backed_up(path: Path, data: bytes) -> None:
    """As vim does with `backupcopy=no`: the old file gets another name, a new one is written, the old one goes."""
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_bytes(data)
    backup.unlink()


def in_pieces(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        for start in range(0, len(data), 97):
            file.write(data[start : start + 97])
            file.flush()
            time.sleep(0.02)


def deleted_first(path: Path, data: bytes) -> None:
    """As some sync tools do."""
    path.unlink()
    time.sleep(0.05)
    path.write_bytes(data)


def folder_swapped(path: Path, data: bytes) -> None:
    """The whole folder is put in place anew, as a checkout or a restore does."""
    copy = path.parent.with_name("copy")
    shutil.copytree(path.parent, copy)
    (copy / path.name).write_bytes(data)
    path.parent.rename(path.parent.with_name("old"))
    copy.rename(path.parent)


def kept_time(path: Path, data: bytes) -> None:
    """As `rsync -t`: the new file comes with an old time."""
    status = path.stat()
    renamed_over(path, data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


WAYS = (in_place, renamed_over, backed_up, in_pieces, deleted_first, folder_swapped, kept_time)


@pytest.mark.parametrize("save", WAYS, ids=lambda way: way.__name__)
def test_what_is_saved_is_taken_in_once(root: Path, save: Callable[[Path, bytes], None]) -> None:
    text = read(handbook(root)).replace("8443", "9443").replace("- I always", "- a line of mine\n- I always")
    with Noting(root) as noting:
        save(handbook(root), "\n".join(line for line in text.split("\n") if TABS not in line).encode())
        until(lambda: noting.told)
    consistent(root)
    assert "a line of mine" in texts(root) and not any(TABS in text for text in texts(root))
    assert record(root, "9443").trust is Trust.HAND
    (line,) = noting.told
    assert "1 changed" in line and "1 added" in line and "1 deleted" in line
    assert line.endswith(f"(commit {state(root).ordinal})")
    settled(root)


def test_what_we_write_ourselves_is_no_edit(root: Path) -> None:
    with Noting(root) as noting:
        edit(handbook(root), "8443", "9443")
        until(lambda: noting.told)
        edit(summary(root), "9443", "9444")
        until(lambda: len(noting.told) > 1)
        until(lambda: "9444" in read(handbook(root)))
        time.sleep(0.5)
    assert len(noting.told) == 2 and record(root, "9444").protected
    assert len(noting.lines) < 6


def test_the_other_files_count_too(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    (raw,) = (root / "memories" / "raw_memories").glob("*.md")
    with Noting(root) as noting:
        with raw.open("a", encoding="utf-8") as file:
            file.write("\nMy note: password = correct-Horse7-battery\n")
        until(lambda: "correct-Horse7" not in read(raw))
        until(lambda: "My note" in read(root / "memories" / "raw_memories.md"))
        write(root / "memories" / "elsewhere.md", "nothing of ours")
        time.sleep(0.3)
    assert "correct-Horse7" not in "".join(read(path) for path in root.rglob("*") if path.is_file())
    assert not noting.told and "held a secret" in caplog.text


def test_a_secret_is_pointed_out_at_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Noting(root) as noting:
        edit(handbook(root), "- I always", "- the db password is hunter2Zebra9!\n- I always")
        until(lambda: noting.told)
    assert "hunter2Zebra9" not in "".join(read(path) for path in root.rglob("*") if path.is_file())
    assert f"{handbook(root).relative_to(root).as_posix()}:" in caplog.text and "held a secret" in caplog.text


def test_a_memory_that_is_not_there_yet(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    with Noting(root) as noting:
        shutil.copytree(begun("few", tmp_path / "other"), root, dirs_exist_ok=True)
        edit(handbook(root), "8443", "9443")
        until(lambda: any("1 changed" in line for line in noting.told))
    consistent(root)


def test_an_error_ends_nothing(root: Path) -> None:
    calls = []

    def failing(paths: frozenset[str]) -> None:
        calls.append(paths)
        raise OSError("no")

    watching = Watching(root, ("memories",), lambda path: path.endswith("MEMORY.md"), failing)
    watching.start()
    edit(handbook(root), "8443", "9443")
    until(lambda: calls)
    edit(handbook(root), "9443", "9444")
    until(lambda: len(calls) > 1)
    watching.stop()
    assert set(calls) == {frozenset(("memories/MEMORY.md",))}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of writers")
def test_a_file_that_is_being_written_is_waited_for(root: Path) -> None:
    text = read(handbook(root)).replace("8443", "9443")
    with Noting(root) as noting:
        with handbook(root).open("w", encoding="utf-8") as file:
            file.write(text[: len(text) // 2])
            file.flush()
            time.sleep(0.6)
            assert not noting.lines
            file.write(text[len(text) // 2 :])
        until(lambda: noting.told)
    assert [line.partition(" (")[0] for line in noting.told] == ["1 changed"]
    consistent(root)


@pytest.fixture
def told_of_saves(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="sandbox_memory"):
        yield caplog


async def deleted_while_open(root: Path) -> None:
    """A person deletes a line while a session is open, and waits until it is gone from the memory."""
    async with await session_in(root) as session:
        await Runner.run(agent("ok", memory=Memory(generate=OFFLINE)), "hi", run_config=config(session))
        drop(handbook(root), TABS)
        end = time.monotonic() + PATIENCE
        while any(TABS in each.text for each in state(root).visible().values()):
            assert time.monotonic() < end, "it was not taken in"
            await asyncio.sleep(0.02)


def test_while_a_session_is_open(root: Path, told_of_saves: pytest.LogCaptureFixture) -> None:
    before = threading.active_count()
    asyncio.run(deleted_while_open(root))
    assert threading.active_count() <= before + 1, "its threads have ended"
    assert "MEMORY.md was saved: 1 deleted (commit" in told_of_saves.text
    consistent(root)


def test_an_event_that_comes_while_the_watch_is_stopped_is_no_error(
    root: Path, told_of_saves: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        watching = Watching(root, ["memories"], lambda path: True, lambda paths: None)
        watching.start()
        for n in range(5):
            (root / "memories" / f"note-{n}.md").write_text("x", encoding="utf-8")
        for emitter in watching._observer.emitters:
            emitter.stop()  # the race as it is lost: the thread asks for events once more
            emitter.queue_events(0.1)
        watching.stop()
    assert "inactive" not in told_of_saves.text


def test_sessions_that_nobody_closed_take_no_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they are still referred to, or wait for the collector of garbage."""
    monkeypatch.setattr("sandbox_memory.host.watching.MOST", 2)
    monkeypatch.setattr("sandbox_memory.host.watching._open", weakref.WeakSet())
    kept = []

    async def left() -> None:
        session = await session_in(root)
        await session.start()
        await Runner.run(agent("ok", memory=Memory(generate=OFFLINE)), "hi", run_config=config(session))
        kept.append(session)

    for _ in range(3):
        asyncio.run(left())
    asyncio.run(deleted_while_open(root))


def test_a_session_that_nobody_closes(root: Path) -> None:
    async def go() -> None:
        session = await session_in(root)
        await session.start()
        await Runner.run(agent("ok", memory=Memory(generate=OFFLINE)), "hi", run_config=config(session))
        await asyncio.sleep(0.3)

    before = set(threading.enumerate())
    asyncio.run(go())
    mine = [each for each in threading.enumerate() if each not in before and each.name == "sandbox-memory-watch"]
    drop(handbook(root), TABS)
    until(lambda: not any(each.is_alive() for each in mine))
