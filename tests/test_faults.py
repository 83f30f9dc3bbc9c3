"""Faults around real runs: whatever stands in memory's way, the run and the snapshot are as they are without memory."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryLayoutConfig, open_memory
from sandbox_memory.host import Host
from sandbox_memory.ledger import parse
from sandbox_memory.notes import EARLIER
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.workspace.session import SessionWorkspace

from .kit import agree, state
from .recording import run
from .scripted import Scripted, agent, lines, session_in, shell

FACTS = {
    "g0": "I always review database migrations myself.",
    "g1": "We never deploy on Fridays.",
    "g2": "The staging server listens on port 8443.",
}
OUTSIDE = "the word of a file outside, which is nobody's memory"
PATIENCE = 8.0
"""Seconds within which a session with a fault must be through; without one it takes a fifth of a second."""


OFFLINE = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")


def offline(**more: Any) -> Memory:
    return Memory(generate=dataclasses.replace(OFFLINE, **more))


@dataclass
class Seen:
    """What a caller sees of a session with one run, and what its agent was told."""

    output: object = None
    told: str = ""
    snapshot: bool = False
    raised: str = ""
    seconds: float = 0.0


class Bench:
    """A workspace that remembers one conversation, beside a folder that memory has no business in."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder, self.root = folder, root or folder / "workspace"
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "file").write_text(OUTSIDE, encoding="utf-8")
        (self.outside / "folder").mkdir()
        (self.outside / "folder/MEMORY.md").write_text(f"# Task Group: x\n\n- {OUTSIDE}\n", encoding="utf-8")
        (self.outside / "folder/memory_summary.md").write_text(OUTSIDE, encoding="utf-8")

    async def visit(
        self,
        name: str = "g1",
        *,
        memory: Memory | list[Memory] | None,
        during: Callable[[], None] = lambda: None,
        does: str = "",
        snapshots: bool = True,
        streamed: bool = False,
    ) -> Seen:
        """One session with one run, in which the agent `does` a command; `during` is between the run and the close."""
        kept = self.folder / f"snapshots-{time.monotonic_ns()}"
        seen, began = Seen(), time.monotonic()
        acting = agent(*([shell(does)] if does else []), "ok", memory=memory)
        try:
            session = await session_in(self.root, snapshots=kept if snapshots else None)
            async with session:
                more: dict[str, Any] = {"session": session, "streamed": streamed, "conversation_id": name}
                seen.output = (await run(acting, FACTS[name], **more)).final_output
                during()
        except Exception as error:  # noqa: BLE001 - compared with what happens without memory
            seen.raised = type(error).__name__
        seen.told = acting.model.seen[0]["system"] if acting.model.seen else ""  # type: ignore[union-attr]
        seen.snapshot = kept.is_dir() and any(kept.iterdir())
        seen.seconds = time.monotonic() - began
        return seen

    def stands(self) -> dict[str, Any]:
        """What there is beside the workspace and its snapshots."""
        assert all(
            path.name.startswith(("workspace", "outside", "snapshots", "disk")) for path in self.folder.iterdir()
        )
        return picture(self.outside)


def picture(top: Path) -> dict[str, Any]:
    """All that can be told of a tree without following or opening anything special."""
    found: dict[str, Any] = {}
    for path in [top, *sorted(top.rglob("*"))]:
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        what: Any = None
        if stat.S_ISREG(kind):
            what = path.read_bytes()
        elif stat.S_ISLNK(kind):
            what = os.readlink(path)  # noqa: PTH115
        found[str(path.relative_to(top))] = (status.st_mode, status.st_ino, what)
    return found


def stems(root: Path) -> set[str]:
    return set(lines(root))


def finished(root: Path, *names: str, extractions: int = 1) -> None:
    """Assert that these conversations are recorded once, extracted, consolidated, and shown."""
    written = lines(root)
    assert sorted(segment["rollout_id"] for segments in written.values() for segment in segments) == sorted(names)
    now = state(root)
    for stem in written:
        assert now.rollouts[stem].consumed == (root / f"sessions/{stem}.jsonl").stat().st_size
        assert now.rollouts[stem].summary_file
        for noted in (f"raw_memories/{stem}.md", now.rollouts[stem].summary_file):
            text = (root / "memories" / noted).read_text(encoding="utf-8")
            assert EARLIER not in text, "the notes of one run stand there twice"
    assert not now.pending and not now.failures
    known = [record.text for record in now.visible().values()]
    for name in names:
        fact = FACTS[name].rstrip(".")
        assert sum(fact in text for text in known) == 1, (name, known)
    agree(root)
    merged = (root / "memories/raw_memories.md").read_text(encoding="utf-8")
    assert all(f"rollout_id: {stem}\n" in merged for stem in written)
    counts: dict[str, int] = {}
    for commit in parse((root / "memories/ledger.jsonl").read_bytes()).commits:
        for operation in commit.operations:
            if operation.op == "extract":
                counts[operation.id] = counts.get(operation.id, 0) + 1
    assert max(counts.values()) <= extractions, counts


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which memory worked once, to be copied."""
    bench = Bench(tmp_path_factory.mktemp("seed"))
    seen = asyncio.run(bench.visit("g0", memory=offline()))
    assert (seen.output, seen.snapshot) == ("ok", True)
    finished(bench.root, "g0")
    return bench.root


@pytest.fixture
def bench(tmp_path: Path, seed: Path) -> Bench:
    made = Bench(tmp_path)
    shutil.copytree(seed, made.root)
    return made


def same_as_without(seen: Seen, without: Seen) -> None:
    assert (seen.output, seen.snapshot, seen.raised) == (without.output, without.snapshot, without.raised)
    assert seen.seconds < PATIENCE
    assert OUTSIDE not in seen.told


# ---- something else in the place of a file or a folder

FILES = (
    "memories/MEMORY.md",
    "memories/memory_summary.md",
    "memories/INBOX.md",
    "memories/ledger.jsonl",
    "memories/raw_memories.md",
    "memories/phase_two_selection.json",
    "memories/.lock",
    "sessions/g1.jsonl",
    "sessions/g0.jsonl",
    "memories/raw_memories/g1.md",
)
UNWRITABLE = ("memories", "memories/.lock", "sessions", "sessions/g1.jsonl")
"""Where nothing of a run can be written; it is kept, and the next session of the process writes it."""
FOLDERS = ("memories", "sessions", "memories/raw_memories", "memories/rollout_summaries", "memories/.open")


def obstruct(bench: Bench, place: str, obstacle: str) -> Callable[[], None]:
    """Put something into that place; what is returned takes it away, puts back what was there, and looks at both."""
    path, aside = bench.root / place, bench.outside / "aside"
    was_there = path.exists()
    if was_there:
        path.rename(aside)
    path.parent.mkdir(parents=True, exist_ok=True)
    if obstacle == "link to a file":
        path.symlink_to(bench.outside / "file")
    elif obstacle == "link to a folder":
        path.symlink_to(bench.outside / "folder")
    elif obstacle == "dangling link":
        path.symlink_to(bench.outside / "not-there")
    elif obstacle == "FIFO":
        os.mkfifo(path)
    elif obstacle == "folder":
        path.mkdir()
        (path / "kept.txt").write_text("kept", encoding="utf-8")
    else:
        path.write_text("a file that somebody needs", encoding="utf-8")
    before = (bench.stands(), picture(path))

    def remove() -> None:
        assert (bench.stands(), picture(path)) == before
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        if was_there:
            aside.rename(path)

    return remove


WITHOUT: dict[str, Seen] = {}
"""How a session without memory goes past each obstacle."""
REMOTE = ("memories", "sessions", "sessions/g1.jsonl", "memories/MEMORY.md", "memories/ledger.jsonl", "memories/.lock")
CASES = [
    (place, obstacle)
    for places, obstacles in (
        (FILES, ("link to a file", "dangling link", "FIFO", "folder")),
        (FOLDERS, ("link to a folder", "dangling link", "FIFO", "file")),
    )
    for place in places
    for obstacle in obstacles
    if obstacle != "dangling link" or place in (*REMOTE, "memories/raw_memories/g1.md")
]


def through_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memory reach the session as it does a remote one: by commands that the session runs."""

    def remote(session: Any, layout: Any, generate: Any, read: Any, guard: Any) -> Pipeline:
        workspace = SessionWorkspace(session, str(session.state.manifest.root))
        return Pipeline(workspace, layout, generate=generate, read=read, guard=guard)

    monkeypatch.setattr(Pipeline, "for_session", remote)


@pytest.mark.parametrize(("place", "obstacle"), CASES)
def test_what_stands_in_the_way_costs_nothing_and_is_left_alone(bench: Bench, place: str, obstacle: str) -> None:
    stands_in_the_way(bench, place, obstacle)


@pytest.mark.parametrize(
    ("place", "obstacle"), [case for case in CASES if case[1].startswith("link") and case[0] in REMOTE]
)
def test_nor_does_a_remote_session_follow_a_link(
    bench: Bench, place: str, obstacle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    through_commands(monkeypatch)
    stands_in_the_way(bench, place, obstacle)


def stands_in_the_way(bench: Bench, place: str, obstacle: str) -> None:
    remove = obstruct(bench, place, obstacle)
    if obstacle not in WITHOUT:
        WITHOUT[obstacle] = asyncio.run(bench.visit(memory=None))
    seen = asyncio.run(bench.visit(memory=offline(), streamed=obstacle in ("FIFO", "file")))
    same_as_without(seen, WITHOUT[obstacle])
    assert seen.output == "ok" and seen.snapshot
    remove()
    if "g1" in stems(bench.root):
        with open_memory(bench.root) as memory:
            memory.process("offline")
        finished(bench.root, "g0", "g1", extractions=2 if place == "sessions/g0.jsonl" else 1)
    else:
        assert place in UNWRITABLE
        asyncio.run(bench.visit("g2", memory=offline()))
        finished(bench.root, "g0", "g1", "g2")


def test_no_model_is_asked_about_what_could_not_be_written_down(bench: Bench) -> None:
    os.mkfifo(bench.root / "memories/raw_memories/g1.md")
    model = Scripted("never asked")
    asyncio.run(bench.visit(memory=Memory(generate=dataclasses.replace(OFFLINE, phase_one_model=model))))
    assert model.seen == []
    with open_memory(bench.root) as memory:
        (waiting,) = memory.status()["pending"]
    assert waiting["rollout"] == "g1" and "raw_memories/g1.md is a FIFO" in waiting["cause"]


def test_a_fault_in_one_layout_is_none_in_another(bench: Bench) -> None:
    (bench.root / "memories/bad").symlink_to(bench.outside / "folder")
    layouts = [MemoryLayoutConfig(f"memories/{name}", f"sessions/{name}") for name in ("bad", "good")]
    memories = [Memory(layout=layout, generate=OFFLINE) for layout in layouts]
    before = bench.stands()
    seen = asyncio.run(bench.visit(memory=memories))
    assert (seen.output, seen.snapshot) == ("ok", True) and bench.stands() == before
    assert "never deploy on Fridays" in (bench.root / "memories/good/MEMORY.md").read_text(encoding="utf-8")
    (bench.root / "memories/bad").unlink()
    asyncio.run(bench.visit("g2", memory=memories))
    for name in ("good", "bad"):
        text = (bench.root / f"memories/{name}/MEMORY.md").read_text(encoding="utf-8")
        assert "never deploy on Fridays" in text and "port 8443" in text


def test_files_without_end_are_left_alone(bench: Bench) -> None:
    names = ("MEMORY.md", "memory_summary.md", "INBOX.md", "raw_memories.md", "raw_memories/g1.md")
    endless = [*(bench.root / "memories" / name for name in names), bench.root / "sessions/endless.jsonl"]
    for path in endless:
        if path.exists():
            path.rename(bench.outside / path.name)
        path.touch()
        os.truncate(path, 3 << 30)
    seen = asyncio.run(bench.visit(memory=offline(), snapshots=False))
    assert (seen.output, seen.raised) == ("ok", "") and seen.seconds < PATIENCE
    assert "review database migrations" in seen.told
    for path in endless:
        assert path.stat().st_size == 3 << 30
        path.unlink()
        if (bench.outside / path.name).exists():
            (bench.outside / path.name).rename(path)
    with open_memory(bench.root) as memory:
        memory.process("offline")
    finished(bench.root, "g0", "g1")


def test_a_large_handbook_does_not_stop_the_clock(bench: Bench) -> None:
    """Reading it takes seconds; the close must not take longer than it may, and other tasks go on meanwhile."""
    handbook = bench.root / "memories/MEMORY.md"
    before = handbook.read_bytes()
    ticks: list[float] = []

    def grow() -> None:
        handbook.write_bytes(
            before + b"".join(b"- line %d of something else %s\n" % (n, b"x" * 60) for n in range(5_000))
        )
        ticks.append(time.monotonic())

    async def go() -> Seen:
        async def tick() -> None:
            while True:
                await asyncio.sleep(0.01)
                ticks.append(time.monotonic())

        ticking = asyncio.ensure_future(tick())
        seen = await bench.visit(memory=offline(close_timeout=0.4), during=grow)
        ticks.append(time.monotonic())
        ticking.cancel()
        return seen

    seen = asyncio.run(go())
    assert (seen.output, seen.snapshot) == ("ok", True)
    gaps = [after - earlier for earlier, after in itertools.pairwise(ticks)]
    assert max(gaps) < 0.8, "the event loop stood still"


# ---- an agent whose shell does not spare memory

HAVOC = {
    "all gone": "rm -rf memories sessions",
    "the ledger gone": "rm memories/ledger.jsonl",
    "the ledger cut off": "truncate -s -40 memories/ledger.jsonl",
    "the ledger is noise": "head -c 3000 /dev/urandom > memories/ledger.jsonl",
    "the ledger is nonsense": 'echo \'{"commit":1,"prev":"","at":1,"actor":[],"operations":'
    '[{"op":"add","id":{}}]}\' > memories/ledger.jsonl',
    "the handbook is noise": "head -c 3000 /dev/urandom > memories/MEMORY.md",
    "a marker of the future": "printf '<!-- memory:99999999999999999999 -->\\n' > memories/MEMORY.md",
    "a rollout with a line break in its name": "cp sessions/g0.jsonl 'sessions/two\nlines.jsonl'",
    "a rollout that is no rollout": "printf '%s\\n' '[[[[' 5 null '{}' "
    '\'{"input":[5],"generated_items":[null]}\' > sessions/x.jsonl',
    "a folder that is not to be entered": "chmod 000 memories sessions",
}


@pytest.mark.parametrize("havoc", HAVOC)
def test_an_agent_that_wrecks_its_memory_still_has_one_next_time(bench: Bench, havoc: str) -> None:
    seen = asyncio.run(bench.visit(memory=offline(), does=HAVOC[havoc]))
    assert (seen.output, seen.snapshot, seen.raised) == ("ok", True, "") and seen.seconds < PATIENCE
    for name in ("memories", "sessions"):
        if (bench.root / name).exists():
            (bench.root / name).chmod(0o755)
    asyncio.run(bench.visit("g2", memory=offline()))
    with open_memory(bench.root) as memory:
        memory.process("offline")
        known = [record.text for record in memory.records()]
        assert not memory.status()["pending"] and not memory.status()["unconsolidated"]
    for name in ("g1", "g2"):
        assert sum(FACTS[name].rstrip(".") in text for text in known) == 1


# ---- a disk that is full, and one that is read-only


@dataclass
class Disk:
    """A small file system of its own."""

    path: Path

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.path)], check=True, capture_output=True)

    def fill(self, free: int) -> None:
        """Leave so many bytes, and no more."""
        with contextlib.suppress(OSError), (self.path / "ballast").open("wb", buffering=0) as ballast:
            while ballast.write(bytes(64 << 10)):
                pass
        size = (self.path / "ballast").stat().st_size
        os.truncate(self.path / "ballast", max(0, size - free))

    def empty(self) -> None:
        (self.path / "ballast").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk")
    made.path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "sandbox-memory-test", str(made.path)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.decode().strip()}")
    try:
        yield made
    finally:
        subprocess.run(["umount", "-l", str(made.path)], check=True, capture_output=True)


def on(disk: Disk, tmp_path: Path, seed: Path) -> Bench:
    made = Bench(tmp_path, disk.path / "workspace")
    shutil.copytree(seed, made.root)
    return made


PAGE = 4096


@pytest.mark.parametrize("moment", ["before the run", "before the close"])
@pytest.mark.parametrize("free", [0, 1, 2, 4, 8])
def test_a_full_disk(disk: Disk, tmp_path: Path, seed: Path, free: int, moment: str) -> None:
    """With room for so many pages some files can be written and others not; each may be where the room ends."""
    bench = on(disk, tmp_path, seed)

    def fill() -> None:
        disk.fill(free * PAGE)

    if moment == "before the run":
        fill()
    during = fill if moment == "before the close" else lambda: None
    if "full disk" not in WITHOUT:
        WITHOUT["full disk"] = asyncio.run(bench.visit(memory=None, during=during))
        assert WITHOUT["full disk"].snapshot
    seen = asyncio.run(bench.visit(memory=offline(), during=during))
    same_as_without(seen, WITHOUT["full disk"])
    written = "g1" in stems(bench.root)
    assert written or moment == "before the run"
    assert free or "g1" not in state(bench.root).rollouts
    disk.empty()
    if written:
        with open_memory(bench.root) as memory:
            memory.process("offline")
        finished(bench.root, "g0", "g1")
    else:
        asyncio.run(bench.visit("g2", memory=offline()))
        finished(bench.root, "g0", "g1", "g2")


@pytest.mark.parametrize("moment", ["before the run", "before the close"])
def test_a_read_only_mount(disk: Disk, tmp_path: Path, seed: Path, moment: str) -> None:
    bench = on(disk, tmp_path, seed)

    def lock() -> None:
        disk.remount("ro")

    before = picture(bench.root)
    outcomes = []
    for memory in (None, offline()):
        if moment == "before the run":
            lock()
        outcomes.append(
            asyncio.run(bench.visit(memory=memory, during=lock if moment == "before the close" else lambda: None))
        )
        if memory is None:
            disk.remount("rw")
    same_as_without(outcomes[1], outcomes[0])
    assert outcomes[1].snapshot and outcomes[1].output == "ok"
    if moment == "before the run":
        assert picture(bench.root) == before
    assert "review database migrations" in outcomes[1].told
    disk.remount("rw")
    if moment == "before the close":
        with open_memory(bench.root) as memory:
            memory.process("offline")
        finished(bench.root, "g0", "g1")
    else:
        asyncio.run(bench.visit("g2", memory=offline()))
        finished(bench.root, "g0", "g1", "g2")


# ---- models that hang, and closes that are cancelled


async def hang(_: Any) -> str:
    await asyncio.sleep(60)
    return ""


async def swallow(_: Any) -> str:
    """Hangs, and does not let itself be cancelled for a while."""
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(end - time.monotonic())
    raise RuntimeError("too late for anybody to hear")


async def give_up(_: Any) -> str:
    """Raises the exception of a cancellation though nobody cancelled, as some clients do when their connection dies."""
    raise asyncio.CancelledError


HANGS = {"hangs": hang, "swallows its cancellation": swallow, "is cancelled from within": give_up}


def with_model(step: Any, phase: int, **more: Any) -> Memory:
    models = {f"phase_{name}_model": "offline" for name in ("one", "two")}
    return Memory(
        generate=MemoryGenerateConfig(
            **{**models, f"phase_{'one' if phase == 1 else 'two'}_model": Scripted(step)},  # type: ignore[arg-type]
            **{"retry_delay": 0.01, "close_timeout": 1.0, **more},
        )
    )


@pytest.mark.parametrize("phase", [1, 2])
@pytest.mark.parametrize("how", HANGS)
def test_a_model_that_never_answers(bench: Bench, how: str, phase: int) -> None:
    seen = asyncio.run(bench.visit(memory=with_model(HANGS[how], phase)))
    assert (seen.output, seen.snapshot, seen.raised) == ("ok", True, "")
    assert seen.seconds < PATIENCE
    now = state(bench.root)
    assert ("g1" in now.rollouts, bool(now.pending)) == (phase == 2, phase == 2)
    (failure,) = now.failures.values()
    assert ("cancelled" if how == "is cancelled from within" else "did not answer") in failure.cause
    with open_memory(bench.root) as memory:
        memory.process("offline")
    finished(bench.root, "g0", "g1")


def test_without_a_usable_model_one_warning_says_what_to_do_and_nothing_is_lost(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(generate=MemoryGenerateConfig(concurrency=1))  # the default models, for which there is no key here

    async def go() -> None:
        async with await session_in(bench.root) as session:
            for name in ("g1", "g2"):
                await run(agent("ok", memory=memory), FACTS[name], session=session, conversation_id=name)

    for _ in range(2):
        caplog.clear()
        asyncio.run(go())
        warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert len(warnings) == 1 and 'phase_one_model="offline"' in warnings[0]
    with open_memory(bench.root) as opened:
        pending = {entry["rollout"]: entry for entry in opened.status()["pending"]}
        assert [pending[name]["attempts"] for name in ("g1", "g2")] == [2, 0], "the second was never worth a call"
        assert all('phase_two_model="offline"' in entry["cause"] for entry in pending.values())
        opened.process("offline")
    assert {"g1", "g2"} <= set(state(bench.root).rollouts) and not state(bench.root).failures


class Closing:
    """Cancels `aclose` at a moment of our hook."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.reached = bench, asyncio.Event()
        self.snapshots = bench.folder / "snapshots"

    async def hold(self, _: Any) -> str:
        self.reached.set()
        return await hang(_)

    async def cancelled(self, memory: Memory, steps: int = 0) -> tuple[bool, bool]:
        """Whether the cancellation came through, and whether there is a snapshot."""
        session = await session_in(self.bench.root, snapshots=self.snapshots)
        await session.start()
        assert (await run(agent("ok", memory=memory), FACTS["g1"], session=session, conversation_id="g1")).final_output
        closing = asyncio.ensure_future(session.aclose())
        await asyncio.wait_for(self.reached.wait(), 5)
        for _ in range(steps):
            await asyncio.sleep(0)
        closing.cancel()
        began = time.monotonic()
        await asyncio.wait({closing}, timeout=5)
        assert closing.done() and time.monotonic() - began < 3
        return closing.cancelled(), self.snapshots.is_dir() and any(self.snapshots.iterdir())


@pytest.mark.parametrize("phase", [1, 2])
def test_a_close_that_is_cancelled_while_a_model_works(bench: Bench, phase: int) -> None:
    async def go() -> tuple[bool, bool]:
        closing = Closing(bench)
        return await closing.cancelled(with_model(closing.hold, phase, close_timeout=30.0))

    assert asyncio.run(go()) == (False, True)
    with open_memory(bench.root) as memory:
        memory.process("offline")
    finished(bench.root, "g0", "g1")


@pytest.mark.parametrize("steps", [0, 1, 2, 4, 6, 8])
def test_a_close_that_is_cancelled_at_any_step_of_our_hook(
    bench: Bench, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, ended = Host._before_stop, asyncio.Event()

    async def go() -> tuple[bool, bool]:
        closing = Closing(bench)

        async def hook(self: Host) -> None:
            closing.reached.set()
            await real(self)
            ended.set()

        monkeypatch.setattr(Host, "_before_stop", hook)
        return await closing.cancelled(offline(), steps)

    cancelled, snapshot = asyncio.run(go())
    assert ended.is_set()
    assert snapshot and not cancelled
    with open_memory(bench.root) as memory:
        memory.process("offline")
    finished(bench.root, "g0", "g1")


HOLD = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); input()"


def test_another_process_that_does_not_let_go_of_the_lock(bench: Bench) -> None:
    holders: list[subprocess.Popen[bytes]] = []

    def hold() -> None:
        command = [sys.executable, "-c", HOLD, str(bench.root / "memories/.lock")]
        holders.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert holders[0].stdout is not None and holders[0].stdout.readline() == b"held\n"

    seen = asyncio.run(bench.visit(memory=offline(close_timeout=0.3), during=hold))
    holders[0].communicate(b"\n")
    assert (seen.output, seen.snapshot) == ("ok", True) and seen.seconds < 4
    assert "g1" not in state(bench.root).rollouts
    with open_memory(bench.root) as memory:
        memory.process("offline")
    finished(bench.root, "g0", "g1")
