"""The session workspace: its number of calls, poor tools and transports, kills."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox_memory.errors import Conflict, LockTimeout, WorkspaceError
from sandbox_memory.workspace import ABSENT, Append, Ask, Mark, Outcome, Remove, Replace, digest
from sandbox_memory.workspace.finding import files
from sandbox_memory.workspace.local import LocalWorkspace
from sandbox_memory.workspace.session import SessionWorkspace

from .shell_session import TOOLS, ShellResult, ShellSession, tools
from .workspaces import (
    LOCK,
    NEW,
    STEPS,
    append_lines,
    check_lines,
    check_old_or_new,
    everything,
    finish,
    look,
    put,
    start_over,
    transact,
)

EVERY_BYTE = bytes(range(256)) * 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work'space").mkdir()
    return tmp_path / "work'space"


@pytest.fixture
def session() -> ShellSession:
    return ShellSession()


@pytest.fixture
def workspace(session: ShellSession, root: Path) -> SessionWorkspace:
    return SessionWorkspace(session, str(root))


# Calls


@pytest.fixture(scope="module", params=[10, 4_000])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A workspace with that many files in `memories/raw_memories`."""
    root, count = tmp_path_factory.mktemp("many"), int(request.param)
    folder = root / "memories/raw_memories"
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"rollout {number:04d}.md").write_bytes(b"x" * (number % 7))
    return root, count


@pytest.mark.parametrize("lister", ["find", "stat", "ls"])
def test_the_number_of_calls_does_not_depend_on_the_number_of_files(
    many: tuple[Path, int], tmp_path: Path, lister: str
) -> None:
    root, count = many
    names = {f"rollout {number:04d}.md": number % 7 for number in range(count)}
    session = ShellSession()
    if lister != "find":
        busybox = shutil.which("busybox")
        if busybox is None:
            pytest.skip("busybox is not on this machine")
        path = tools(tmp_path / "bin", ["flock", *(tool for tool in TOOLS if tool not in ("find", "stat"))])
        if lister == "stat":
            tools(tmp_path / "bin", ["find", "stat"], program=busybox)
        session = ShellSession(path)
    workspace = SessionWorkspace(session, str(root))
    put(root, "memories/ledger.jsonl", b"x" * 10_000 + b"\n")
    began = time.monotonic()

    asks = ["memories/MEMORY.md", Ask("memories/ledger.jsonl", 9_000)]
    view = look(workspace, *asks, folders=["memories/raw_memories", "memories"])
    assert session.calls == ["exec"]
    assert view.folders["memories/raw_memories"] == names
    assert view.files == {"memories/ledger.jsonl": b"x" * 1_000 + b"\n"}

    session.calls.clear()
    transact(workspace, Append("memories/ledger.jsonl", b"line\n"))
    assert session.calls == ["exec"]

    for size in (1, 100):  # several steps make two calls whatever they write, so that calls never follow the size
        session.calls.clear()
        several = (Append("memories/ledger.jsonl", b"line\n"), Replace("memories/large.md", EVERY_BYTE * size))
        transact(workspace, *several, Remove("memories/raw_memories/new.md"))
        assert session.calls == ["write", "exec"]
        assert (root / "memories/large.md").read_bytes() == EVERY_BYTE * size
    assert time.monotonic() - began < 10


def test_thousands_of_asks_and_steps_still_fit(session: ShellSession, workspace: SessionWorkspace, root: Path) -> None:
    paths = [
        f"memories/rollout_summaries/{number:04d} quite a long name that fills the line.md" for number in range(1_200)
    ]
    for path in paths[:20]:
        put(root, path, path.encode())
    view = look(workspace, *paths)
    assert session.calls == ["write", "exec"]
    assert view.files == {path: path.encode() for path in paths[:20]}
    assert set(everything(root)) == set(paths[:20])

    session.calls.clear()
    steps = [Remove(path, digest(path.encode())) for path in paths]
    outcome = transact(workspace, *steps)
    assert session.calls == ["write", "exec"]
    assert set(outcome.skipped) == set(paths[20:])
    assert everything(root) == {}


@pytest.mark.parametrize("size", [1_000, 30_000, 60_000, 64_000, 70_000, 1_000_000])
@pytest.mark.parametrize(
    "unit", [b"plain text\n", b"it's all quotes: ''''''''\n", "中文和“引号”\n".encode(), b"NUL\0\n"]
)
def test_bundles_of_any_size_arrive_in_two_calls(
    session: ShellSession, workspace: SessionWorkspace, root: Path, size: int, unit: bytes
) -> None:
    data = unit * (size // len(unit))
    outcome = transact(workspace, Append("sessions/a.jsonl", data))
    assert session.calls == ["exec"] or (session.calls == ["write", "exec"] and (size > 10_000 or 0 in data))
    transact(workspace, Replace("memories/a.md", data[::-1]))
    assert outcome.sizes == {"sessions/a.jsonl": len(data)}
    assert everything(root) == {"sessions/a.jsonl": data, "memories/a.md": data[::-1]}


# Transports and tools that are poor


class Meddling(ShellSession):
    """A session that changes what passes through it."""

    banner = b""
    cut: int | None = None
    line_ends = False

    async def exec(
        self, *command: str | Path, timeout: float | None = None, shell: bool | list[str] = True
    ) -> ShellResult:
        if self.line_ends and len(command) > 6:
            command = (*command[:-1], str(command[-1]).replace("\r\n", "\n"))
        result = await super().exec(*command, timeout=timeout, shell=shell)
        return ShellResult((self.banner + result.stdout)[: self.cut], result.stderr, result.exit_code)


def test_output_that_comes_as_text_costs_one_call_once(root: Path) -> None:
    session = Meddling(text_output=True)
    session.banner = b"Welcome to your sandbox!\n"
    workspace = SessionWorkspace(session, str(root))
    put(root, "a", EVERY_BYTE)
    put(root, "m/caf\udce9", b"x")
    assert look(workspace, "a").files == {"a": EVERY_BYTE}
    assert session.calls == ["exec", "exec"]
    view = look(workspace, "a", folders=["m"])
    assert (view.files, view.folders) == ({"a": EVERY_BYTE}, {"m": {"caf\udce9": 1}})
    assert session.calls == ["exec"] * 3


def test_a_banner_before_the_output_does_no_harm(root: Path) -> None:
    session = Meddling()
    session.banner = b"Welcome to your sandbox!\n"
    workspace = SessionWorkspace(session, str(root))
    assert transact(workspace, Append("a", b"x\n")).sizes == {"a": 2}
    assert look(workspace, "a").files == {"a": b"x\n"}


def test_output_that_is_cut_off_is_an_error(root: Path) -> None:
    session = Meddling()
    workspace = SessionWorkspace(session, str(root))
    put(root, "a", b"x" * 10_000)
    session.cut = 5_000
    with pytest.raises(WorkspaceError, match="cut off"):
        look(workspace, "a")
    session.cut = 5
    with pytest.raises(WorkspaceError, match="did not finish"):
        transact(workspace, Append("b", b"x\n"))


def test_arguments_that_arrive_changed_are_sent_as_a_file(root: Path) -> None:
    session = Meddling()
    session.line_ends = True
    workspace = SessionWorkspace(session, str(root))
    transact(workspace, Append("a", b"one\r\n"))
    assert session.calls == ["exec", "write", "exec"]
    session.calls.clear()
    transact(workspace, Append("a", b"two\r\n"))
    assert session.calls == ["write", "exec"]
    assert everything(root) == {"a": b"one\r\ntwo\r\n"}


def test_a_file_that_arrives_damaged_changes_nothing(root: Path) -> None:
    class Losing(ShellSession):
        async def write(self, path: Path, data: io.IOBase) -> None:
            await super().write(path, io.BytesIO(data.read()[:-1]))

    with pytest.raises(WorkspaceError, match="did not arrive whole") as caught:
        transact(SessionWorkspace(Losing(), str(root)), Remove("b"), Append("a", EVERY_BYTE))
    assert caught.value.path == "a"
    assert everything(root) == {}


def test_a_session_that_fails_is_a_workspace_error(root: Path) -> None:
    class Failing(ShellSession):
        async def write(self, path: Path, data: io.IOBase) -> None:
            raise RuntimeError("the provider is away")

        async def exec(
            self, *command: str | Path, timeout: float | None = None, shell: bool | list[str] = True
        ) -> ShellResult:
            raise TimeoutError("timed out")

    workspace = SessionWorkspace(Failing(), str(root))
    with pytest.raises(WorkspaceError, match="timed out"):
        look(workspace, "a")
    with pytest.raises(WorkspaceError, match="timed out") as caught:
        transact(workspace, Append("b", b"x\n"))
    assert caught.value.path == "b"
    with pytest.raises(WorkspaceError, match="the provider is away") as caught:
        transact(workspace, Replace("a", b"x"), Append("b", b"x\n"))
    assert caught.value.path == "b"


def test_without_a_digest_program_nothing_is_done(root: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", [tool for tool in TOOLS if tool != "sha256sum"])
    with pytest.raises(WorkspaceError, match="SHA-256"):
        transact(SessionWorkspace(ShellSession(path), str(root)), Append("a", b"x\n"))
    assert everything(root) == {}


@pytest.mark.parametrize("program", ["shasum", "openssl"])
def test_other_digest_programs(root: Path, tmp_path: Path, program: str) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not on this machine")
    path = tools(tmp_path / "bin", [program, *(tool for tool in TOOLS if tool != "sha256sum")])
    workspace = SessionWorkspace(ShellSession(path), str(root))
    put(root, "a", b"old\n")
    steps = (Append("a", b"x\n", expect=Mark.of(b"old\n")), Replace("b", b"x", ABSENT))
    assert transact(workspace, *steps) == Outcome((), {"a": 6})
    with pytest.raises(Conflict):
        transact(workspace, Append("a", b"x\n", expect=Mark.of(b"new\n")))


def wrap(folder: Path, name: str, before: str = "", after: str = "") -> None:
    """Put shell lines before and after a tool."""
    real = shutil.which(name)
    (folder / name).unlink()
    (folder / name).write_text(f'#!/bin/sh\n{before}\n{real} "$@"\ncode=$?\n{after}\nexit $code\n')
    (folder / name).chmod(0o755)


# Locks


def test_a_stale_folder_lock_is_taken_over_by_one_at_a_time(root: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin")
    (root / f"{LOCK}.d/41").mkdir(parents=True)
    os.utime(root / f"{LOCK}.d/41", (1, 1))

    async def run() -> None:
        workspaces = [SessionWorkspace(ShellSession(path), str(root)) for _ in range(6)]
        await asyncio.gather(*(append_lines(workspace, f"w{n}", 3) for n, workspace in enumerate(workspaces)))

    asyncio.run(run())
    check_lines(root, {f"w{n}": 3 for n in range(6)})
    assert len(list((root / f"{LOCK}.d").iterdir())) == 1


def test_a_process_that_lost_its_folder_lock_stops(root: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin")
    thief = tmp_path / "bin/head"
    thief.unlink()
    thief.write_text(f'#!/bin/sh\n{shutil.which("mkdir")} -p "{root}/{LOCK}.d/99"\nexec {shutil.which("head")} "$@"\n')
    thief.chmod(0o755)
    with pytest.raises(WorkspaceError, match="lost the lock"):
        transact(SessionWorkspace(ShellSession(path), str(root)), Append("a", b"x\n"), Append("b", b"x\n"))
    assert everything(root) == {"a": b"x\n"}
    assert (root / f"{LOCK}.d/99").is_dir()


def test_a_generation_of_the_past_is_no_lock(root: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin")
    folder = root / f"{LOCK}.d"
    (folder / "41").mkdir(parents=True)
    os.utime(folder / "41", (1, 1))
    # Others take over 41, are done with 42 and hold 43, all between our look at the folder and our mkdir of 42.
    wrap(
        tmp_path / "bin",
        "mkdir",
        before=f'case $1 in *.d/42) rmdir "{folder}/41"; {shutil.which("mkdir")} "{folder}/43" ;; esac',
    )
    with pytest.raises(LockTimeout):
        transact(SessionWorkspace(ShellSession(path), str(root)), Append("a", b"x\n"), timeout=0.3)
    assert everything(root) == {}
    assert [entry.name for entry in folder.iterdir()] == ["43"]


def test_junk_in_the_lock_folder_does_no_harm(root: Path, tmp_path: Path) -> None:
    for name in ("junk", "007", "99999999999999999999999999", "-3"):
        (root / f"{LOCK}.d/{name}").mkdir(parents=True)
    workspace = SessionWorkspace(ShellSession(tools(tmp_path / "bin")), str(root))
    for _ in range(2):
        transact(workspace, Append("a", b"x\n"), timeout=1)
    assert everything(root) == {"a": b"x\nx\n"}


# Saves in the last moment, and kills

WRAPPED = "chmod dd head ln mkdir mv rm rmdir".split()


def test_a_save_between_the_last_check_and_the_rename_stays(root: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", ["flock", *TOOLS])
    wrap(
        tmp_path / "bin",
        "mv",
        before='for last in "$@"; do :; done; [ -e saved ] || printf "by hand" > "$last"; : > saved',
    )
    workspace = SessionWorkspace(ShellSession(path), str(root))
    put(root, "MEMORY.md", b"old")
    assert transact(workspace, Replace("MEMORY.md", b"new", digest(b"old"))).skipped == ("MEMORY.md",)
    assert everything(root) == {"MEMORY.md": b"by hand", "saved": b""}


@pytest.mark.parametrize(
    ("kind", "when"),
    [
        ("flock", "before"),
        pytest.param("flock", "after", marks=pytest.mark.proof),
        pytest.param("folder lock", "before", marks=pytest.mark.proof),
        pytest.param("folder lock", "after", marks=pytest.mark.proof),
    ],
)
def test_a_kill_at_any_program_leaves_old_or_new(root: Path, tmp_path: Path, kind: str, when: str) -> None:
    path = tools(tmp_path / "bin", [*(["flock"] if kind == "flock" else []), *TOOLS])
    count = f'read n < "{tmp_path}/count"; n=$((n + 1)); echo $n > "{tmp_path}/count"; '
    kill = '[ $n -ne "$DEADLY" ] || kill -9 0'
    for name in WRAPPED:
        wrap(tmp_path / "bin", name, count + (kill if when == "before" else ""), kill if when == "after" else "")
    deaths = 0
    for deadly in range(1, 200):
        start_over(root)
        (tmp_path / "count").write_text("0\n")
        workspace = SessionWorkspace(ShellSession(path, environment={"DEADLY": str(deadly)}), str(root))
        with suppress(WorkspaceError):
            transact(workspace, *STEPS)
        if int((tmp_path / "count").read_text()) < deadly:
            break
        check_old_or_new(root)
        deaths += 1
        for lock in (root / f"{LOCK}.d").glob("*"):
            os.utime(lock, (1, 1))
        for part in (root / "memories").glob(".sandbox-memory-*.part.tmp"):
            os.utime(part, (1, 1))
        asyncio.run(finish(LocalWorkspace(root) if deadly % 2 else SessionWorkspace(ShellSession(), str(root))))
        assert everything(root) == {**NEW, "memories/end": b"x\n"}
    assert everything(root) == NEW
    assert deaths > 20


def test_a_timeout_kills_and_the_next_call_clears_up(root: Path, tmp_path: Path) -> None:
    class Impatient(ShellSession):
        async def exec(
            self, *command: str | Path, timeout: float | None = None, shell: bool | list[str] = True
        ) -> ShellResult:
            return await super().exec(*command, timeout=0.5, shell=shell)

    path = tools(tmp_path / "bin", ["flock", *TOOLS])
    wrap(tmp_path / "bin", "mv", before="sleep 60")
    put(root, "MEMORY.md", b"old")
    with pytest.raises(WorkspaceError, match="failed to run"):
        transact(SessionWorkspace(Impatient(path), str(root)), Replace("MEMORY.md", b"new", digest(b"old")))
    parts = [path for path in everything(root) if path.endswith(".part.tmp")]
    assert len(parts) == 1 and (root / "MEMORY.md").read_bytes() == b"old"
    os.utime(root / parts[0], (1, 1))
    assert transact(LocalWorkspace(root), Replace("MEMORY.md", b"new", digest(b"old"))).skipped == ()
    assert everything(root) == {"MEMORY.md": b"new"}


# Finding


@pytest.mark.parametrize("remote", [False, True], ids=["local", "session"])
def test_every_file_is_found_whatever_its_name_and_no_link_is_followed(
    root: Path, workspace: SessionWorkspace, remote: bool
) -> None:
    names = ["m/.hidden", "m/[z]/a 'b'.md", "m/x\u2028y\x85z.md", os.fsdecode(b"m/\xff.md"), "s/会.jsonl"]
    for name in [*names, "elsewhere/a.md"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "m/link").symlink_to(root / "elsewhere")
    (root / "m/link.md").symlink_to(root / "elsewhere/a.md")
    there = workspace if remote else LocalWorkspace(root)
    assert asyncio.run(files(there, ["m", "s", "none", "m/link"])) == sorted(names)
