"""Both workspaces, the session one with several sets of tools, keep one contract."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_memory.errors import Conflict, LockTimeout, WorkspaceError
from sandbox_memory.workspace import (
    ABSENT,
    Append,
    Ask,
    Mark,
    Outcome,
    Remove,
    Replace,
    Workspace,
    digest,
    displacing,
    folders,
)
from sandbox_memory.workspace import local as local_module
from sandbox_memory.workspace import locking as locking_module
from sandbox_memory.workspace import session as session_module
from sandbox_memory.workspace.local import LocalWorkspace
from sandbox_memory.workspace.session import SessionWorkspace

from .shell_session import TOOLS, ShellSession, tools
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

BUSYBOX = shutil.which("busybox")
RARE = ("perl", "bash")
KINDS = ("local", "session", "no-flock", "busybox", *(pytest.param(kind, marks=pytest.mark.proof) for kind in RARE))
EVERY_BYTE = bytes(range(256)) * 20


def make_workspace(kind: str, root: Path, bin_folder: Path) -> LocalWorkspace | SessionWorkspace:
    if kind == "local":
        return LocalWorkspace(root)
    if kind == "busybox":
        if BUSYBOX is None:
            pytest.skip("busybox is not on this machine")
        path = tools(bin_folder, TOOLS, program=BUSYBOX)
    elif kind == "bash":
        path = tools(bin_folder, ("flock", *TOOLS))
        (bin_folder / "sh").unlink()
        (bin_folder / "sh").symlink_to(shutil.which("bash") or pytest.skip("bash is not on this machine"))
    elif kind == "perl":
        if not shutil.which("perl"):
            pytest.skip("perl is not on this machine")
        path = tools(bin_folder, ("perl", *TOOLS))
    elif kind == "no-flock":
        path = tools(bin_folder)
    else:
        path = os.environ["PATH"]
    return SessionWorkspace(ShellSession(path), str(root))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work space").mkdir()
    return tmp_path / "work space"


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def workspace(kind: str, root: Path, tmp_path: Path) -> LocalWorkspace | SessionWorkspace:
    return make_workspace(kind, root, tmp_path / "bin")


# Looking


def test_look_reads_whole_files_parts_and_folders(workspace: Workspace, root: Path) -> None:
    put(root, "memories/a.md", EVERY_BYTE)
    put(root, "memories/empty.md")
    put(root, "memories/deep/b.md", b"b")
    (root / "memories/link.md").symlink_to("a.md")
    view = look(
        workspace,
        "memories/a.md",
        "memories/empty.md",
        "./memories/deep//b.md",
        Ask("memories/missing.md"),
        "nowhere/at/all.md",
        folders=("memories", "sessions", "."),
    )
    assert view.files == {
        "memories/a.md": EVERY_BYTE,
        "memories/empty.md": b"",
        "./memories/deep//b.md": b"b",
    }
    assert view.folders == {"memories": {"a.md": len(EVERY_BYTE), "empty.md": 0}, "sessions": {}, ".": {}}
    assert view.problems == {}


@pytest.mark.parametrize(
    ("start", "limit"),
    [(0, None), (0, 0), (0, 7), (5, None), (5, 300), (5119, None), (5120, None), (9999, 3), (9999, None)],
)
def test_look_reads_the_range_that_is_asked_for(
    workspace: Workspace, root: Path, start: int, limit: int | None
) -> None:
    put(root, "memories/a.md", EVERY_BYTE)
    end = None if limit is None else start + limit
    assert look(workspace, Ask("memories/a.md", start, limit)).files == {"memories/a.md": EVERY_BYTE[start:end]}


ODD_NAMES = (
    " leading and trailing ",
    "-n",
    "--help",
    "a*b?[c]",
    "back\\slash\\n",
    "cash$HOME`id`$(id)",
    'quote\'s "double"',
    "会话-1.md",
    "tab\there",
    "|bar|",
    "#hash",
    "~",
    "%s%d",
    "caf\udce9",  # bytes that are no UTF-8
)


def test_odd_names_are_read_listed_and_written(workspace: Workspace, root: Path) -> None:
    for name in ODD_NAMES:
        put(root, f"odd {name}/{name}", name.encode("utf-8", "surrogateescape"))
    paths = [f"odd {name}/{name}" for name in ODD_NAMES]
    view = look(workspace, *paths, folders=[f"odd {name}" for name in ODD_NAMES])
    contents = [name.encode("utf-8", "surrogateescape") for name in ODD_NAMES]
    assert view.problems == {}
    assert view.files == dict(zip(paths, contents, strict=True))
    assert [dict(sizes) for sizes in view.folders.values()] == [
        {name: len(content)} for name, content in zip(ODD_NAMES, contents, strict=True)
    ]
    steps = [Replace(path, b"new", digest(content)) for path, content in zip(paths, contents, strict=True)]
    assert transact(workspace, *steps).skipped == ()
    outcome = transact(workspace, *[Append(path, b"er\n") for path in paths])
    assert set(outcome.sizes.values()) == {7}
    assert set(everything(root).values()) == {b"new\ner\n"}


def test_a_file_that_is_too_large_is_left_alone(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (folders, session_module):
        monkeypatch.setattr(module, "LARGEST", 1000)
    for size in (1000, 1001):
        put(root, f"m/{size}.md", b"x" * size)
    view = look(workspace, "m/1000.md", "m/1001.md")
    assert list(view.files) == ["m/1000.md"] and "has more than" in view.problems["m/1001.md"]
    parts = look(workspace, Ask("m/1001.md", start=1), Ask("m/1000.md", limit=1000))
    assert {len(data) for data in parts.files.values()} == {1000} and parts.problems == {}


def test_a_name_with_a_line_break_is_not_listed(workspace: Workspace, root: Path) -> None:
    for name in ("good.jsonl", "two\nlines.jsonl"):
        put(root, f"sessions/{name}", b"x")
    view = look(workspace, folders=["sessions"])
    assert view.folders["sessions"]["good.jsonl"] == 1 and view.problems == {}
    assert not any("\n" in name for name in view.folders["sessions"])  # a remote `ls` may tell parts of it as names
    assert set(look(workspace, *(f"sessions/{name}" for name in view.folders["sessions"])).files) == {
        "sessions/good.jsonl"
    }


def make_obstacles(root: Path, outside: Path) -> dict[str, str]:
    """Things that are no file, by path, with why."""
    put(root, "m/real.md", b"real\n")
    put(outside, "secret.md", b"secret\n")
    os.mkfifo(root / "m/fifo.md")
    (root / "m/folder.md").mkdir()
    (root / "m/link.md").symlink_to("real.md")
    (root / "m/dangling.md").symlink_to("nothing.md")
    (root / "m/out.md").symlink_to(outside / "secret.md")
    (root / "m/linked").symlink_to(outside)
    return {
        "m/fifo.md": "is a FIFO",
        "m/folder.md": "is a folder",
        "m/link.md": "is a symlink",
        "m/dangling.md": "is a symlink",
        "m/out.md": "is a symlink",
        "m/linked/secret.md": "lies behind a symlink",
        "m/linked/new.md": "lies behind a symlink",
        "m/real.md/below.md": "lies behind something that is not a folder",
    }


def test_look_says_why_something_cannot_be_read(workspace: Workspace, root: Path, tmp_path: Path) -> None:
    obstacles = make_obstacles(root, tmp_path / "outside")
    folders = {
        "m/linked": "is a symlink",
        "m/linked/deeper": "lies behind a symlink",
        "lone": "is not a folder",
        "pipe": "is not a folder",
    }
    put(root, "lone", b"x")
    os.mkfifo(root / "pipe")
    view = look(workspace, *obstacles, folders=["m", *folders])
    assert view.files == {}
    assert view.problems == {**obstacles, **folders}
    assert view.folders == {"m": {"real.md": 5}, **{folder: {} for folder in folders}}


@pytest.mark.parametrize("path", ["", ".", "/etc/passwd", "../x", "a/../../x", "a/..", "a\nb", "a\0b"])
def test_paths_stay_inside(workspace: Workspace, root: Path, path: str) -> None:
    for call in (
        lambda: look(workspace, path),
        lambda: transact(workspace, Append(path, b"x\n")),
        lambda: asyncio.run(workspace.transact([Append("a", b"x\n")], lock=path)),
    ):
        with pytest.raises(WorkspaceError):
            call()
    assert everything(root) == {}


def test_a_root_that_does_not_exist_is_an_error(kind: str, tmp_path: Path) -> None:
    workspace = make_workspace(kind, tmp_path / "nowhere", tmp_path / "bin")
    with pytest.raises(WorkspaceError):
        look(workspace, "a.md")
    with pytest.raises(WorkspaceError):
        transact(workspace, Append("a.md", b"x\n"))
    assert not (tmp_path / "nowhere").exists()


def test_contradicting_requests_are_refused(workspace: Workspace) -> None:
    with pytest.raises(ValueError, match="asked for twice"):
        look(workspace, "a.md", Ask("a.md", 3))
    with pytest.raises(ValueError, match="two steps"):
        transact(workspace, Append("a.md", b"x\n"), Replace("./a.md", b"y"))
    with pytest.raises(ValueError, match="lock"):
        transact(workspace, Replace(LOCK, b"y"))
    with pytest.raises(ValueError, match="negative"):
        Ask("a.md", -1)


# Appending


def test_append_makes_folders_and_reports_sizes(workspace: Workspace, root: Path) -> None:
    outcome = transact(workspace, Append("sessions/deep/a.jsonl", b"one\n"), Append("b", EVERY_BYTE, private=True))
    assert outcome == Outcome((), {"sessions/deep/a.jsonl": 4, "b": len(EVERY_BYTE)})
    assert transact(workspace, Append("sessions/deep/a.jsonl", b"two\n")).sizes == {"sessions/deep/a.jsonl": 8}
    assert everything(root) == {"b": EVERY_BYTE, "sessions/deep/a.jsonl": b"one\ntwo\n"}
    assert stat.S_IMODE((root / "b").stat().st_mode) == 0o600
    assert transact(workspace) == Outcome((), {})


@pytest.mark.parametrize("torn", [b"half a li", b"whole\nhal", b"zeros\0\0\0", b"\xff", b"cr\r"])
def test_a_torn_tail_is_set_aside(workspace: Workspace, root: Path, torn: bytes) -> None:
    put(root, "a.jsonl", torn)
    outcome = transact(workspace, Append("a.jsonl", b"next\n", expect=Mark.of(torn)))
    assert (root / "a.jsonl").read_bytes() == torn + b"\nnext\n"
    assert outcome.sizes == {"a.jsonl": len(torn) + 6}


@pytest.mark.parametrize("content", [b"", b"one\n", b"x" * 4096 + b"\n", b"y" * 10_000 + b"\n"])
def test_append_keeps_to_its_mark(workspace: Workspace, root: Path, content: bytes) -> None:
    file = put(root, "a.jsonl", content)
    for wrong in (b"", b"two\n", content + b"x", b"z" + content[1:], content[:-2] + b"?\n"):
        if Mark.of(wrong) != Mark.of(content):  # a mark knows the size and the last 4096 bytes, no more
            with pytest.raises(Conflict) as caught:
                transact(workspace, Append("a.jsonl", b"new\n", expect=Mark.of(wrong)))
            assert caught.value.path == "a.jsonl"
            skipped = transact(workspace, Append("a.jsonl", b"new\n", expect=Mark.of(wrong), required=False))
            assert skipped == Outcome(("a.jsonl",), {})
    assert file.read_bytes() == content
    transact(workspace, Append("a.jsonl", b"new\n", expect=Mark.of(content)))
    assert file.read_bytes() == content + b"new\n"


def test_a_missing_file_has_the_mark_of_an_empty_one(workspace: Workspace, root: Path) -> None:
    transact(workspace, Append("new/a.jsonl", b"one\n", expect=Mark.of(b"")))
    with pytest.raises(Conflict):
        transact(workspace, Append("new/b.jsonl", b"one\n", expect=Mark.of(b"x")))
    with pytest.raises(Conflict):
        transact(workspace, Append("newer/b.jsonl", b"one\n", expect=Mark.of(b"x")))
    assert everything(root) == {"new/a.jsonl": b"one\n"}


# Replacing and removing


def test_replace_writes_whatever_bytes_there_are(workspace: Workspace, root: Path) -> None:
    large = os.urandom(300_000)
    put(root, "memories/old.md", b"old")
    outcome = transact(
        workspace,
        Replace("memories/new/a.md", EVERY_BYTE, ABSENT),
        Replace("memories/b.md", b"", None),
        Replace("memories/old.md", large, digest(b"old")),
        Replace("memories/text.md", "no newline at the end, 中文".encode()),
    )
    assert outcome == Outcome((), {})
    assert everything(root) == {
        "memories/new/a.md": EVERY_BYTE,
        "memories/b.md": b"",
        "memories/old.md": large,
        "memories/text.md": "no newline at the end, 中文".encode(),
    }


def test_replace_keeps_to_its_guard(workspace: Workspace, root: Path) -> None:
    there = put(root, "there.md", b"mine\n")
    wrong = (Replace("there.md", b"x", ABSENT), Replace("there.md", b"x", digest(b"other")))
    wrong += (Replace("gone.md", b"x", digest(b"mine\n")), Replace("no/gone.md", b"x", digest(b"mine\n")))
    for step in wrong:
        assert transact(workspace, step) == Outcome((step.path,), {})
        with pytest.raises(Conflict) as caught:
            transact(workspace, Replace(step.path, step.data, step.expect, required=True))
        assert caught.value.path == step.path
    assert everything(root) == {"there.md": b"mine\n"}
    assert transact(workspace, Replace("there.md", b"x", digest(b"mine\n"))).skipped == ()
    assert there.read_bytes() == b"x"


def test_an_existing_file_keeps_its_mode_and_a_new_one_is_its_owners_alone(workspace: Workspace, root: Path) -> None:
    old_umask = os.umask(0o022)
    try:
        for name, mode in (("a.md", 0o640), ("b.md", 0o755), ("c.md", 0o444), ("d.md", 0o600)):
            put(root, name, b"old").chmod(mode)
        transact(
            workspace,
            Replace("a.md", b"new", digest(b"old")),
            Replace("b.md", b"new", private=True),
            Replace("c.md", b"new", digest(b"old")),
            Replace("d.md", b"new"),
            Replace("e.md", b"new", ABSENT, private=True),
            Replace("f.md", b"new"),
        )
    finally:
        os.umask(old_umask)
    modes = {name: oct(stat.S_IMODE((root / name).stat().st_mode)) for name in everything(root)}
    assert modes == {
        "a.md": "0o640",
        "b.md": "0o755",
        "c.md": "0o444",
        "d.md": "0o600",
        "e.md": "0o600",
        "f.md": "0o600",
    }
    assert set(everything(root).values()) == {b"new"}


def test_new_files_and_folders_are_their_owners_alone(workspace: Workspace, root: Path) -> None:
    old_umask = os.umask(0)
    try:
        transact(workspace, Append("one/two/a.jsonl", b"a\n"), Replace("three/b.md", b"b"))
    finally:
        os.umask(old_umask)
    modes = {name: stat.S_IMODE((root / name).stat().st_mode) for name in ("one", "one/two", "three")}
    assert set(modes.values()) == {0o700}
    assert {stat.S_IMODE((root / name).stat().st_mode) for name in everything(root)} == {0o600}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to a group")
@pytest.mark.parametrize("how", ["local", "session"])
def test_the_group_of_the_user_that_an_agent_runs_as_may_read_what_is_not_private(how: str, root: Path) -> None:
    reader = pwd.getpwnam("nobody")
    workspace: Workspace = LocalWorkspace(root, ("nobody",))
    if how == "session":
        workspace = SessionWorkspace(ShellSession(os.environ["PATH"]), str(root), ("nobody",))
    put(root, "memories/old.md", b"old").chmod(0o604)
    transact(
        workspace,
        Replace("memories/deep/new.md", b"new"),
        Append("memories/ledger.jsonl", b"{}\n"),
        Append("sessions/chat.jsonl", b"{}\n", private=True),
        Replace("memories/old.md", b"newer"),
    )
    found = {name: (root / name).stat() for name in ("memories/deep", *everything(root), "sessions")}
    modes = {name: (oct(stat.S_IMODE(status.st_mode)), status.st_gid) for name, status in found.items()}
    assert modes == {
        "memories/deep": ("0o750", reader.pw_gid),
        "memories/deep/new.md": ("0o640", reader.pw_gid),
        "memories/ledger.jsonl": ("0o640", reader.pw_gid),
        "memories/old.md": ("0o604", 0),
        "sessions": ("0o700", 0),
        "sessions/chat.jsonl": ("0o600", 0),
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_replace_keeps_the_owner(workspace: Workspace, root: Path) -> None:
    os.chown(put(root, "a.md", b"old"), 1234, 4321)
    transact(workspace, Replace("a.md", b"new", digest(b"old")))
    assert ((root / "a.md").stat().st_uid, (root / "a.md").stat().st_gid) == (1234, 4321)


def test_equal_bytes_are_not_written_again(workspace: Workspace, root: Path) -> None:
    file = put(root, "a.md", b"same")
    before = file.stat()
    for guard in (None, digest(b"same")):
        assert transact(workspace, Replace("a.md", b"same", guard)) == Outcome((), {})
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_remove_keeps_to_its_guard(workspace: Workspace, root: Path) -> None:
    for name in ("a", "b", "c", "d"):
        put(root, f"m/{name}", b"old")
    outcome = transact(
        workspace,
        Remove("m/a"),
        Remove("m/b", digest(b"old")),
        Remove("m/c", digest(b"other")),
        Remove("m/d", ABSENT),
        Remove("m/never"),
        Remove("no/never"),
        Remove("m/never too", ABSENT),
        Remove("m/was", digest(b"old")),
    )
    assert outcome == Outcome(("m/c", "m/d", "m/was"), {})
    assert everything(root) == {"m/c": b"old", "m/d": b"old"}
    with pytest.raises(Conflict):
        transact(workspace, Remove("m/c", digest(b"other"), required=True))


def test_names_as_long_as_they_may_be(workspace: Workspace, root: Path) -> None:
    name = "n" * 255
    put(root, name, b"old")
    assert transact(workspace, Replace(name, b"new", digest(b"old"))).skipped == ()
    assert transact(workspace, Append(name, b"er\n")).skipped == ()
    assert everything(root) == {name: b"new\ner\n"}
    assert transact(workspace, Remove(name, digest(b"new\ner\n"))).skipped == ()
    assert everything(root) == {}


# The transaction as a whole


def test_one_failing_guard_of_a_required_step_leaves_everything_as_it_was(workspace: Workspace, root: Path) -> None:
    put(root, "a", b"a\n")
    put(root, "b", b"b\n")
    before = everything(root)
    with pytest.raises(Conflict):
        transact(
            workspace,
            Append("a", b"more\n"),
            Replace("b", b"x"),
            Remove("a2"),
            Replace("new", b"x", ABSENT),
            Append("c", b"more\n", expect=Mark.of(b"x")),
        )
    assert everything(root) == before


def test_optional_steps_are_skipped_and_the_rest_is_done(workspace: Workspace, root: Path, tmp_path: Path) -> None:
    obstacles = make_obstacles(root, tmp_path / "outside")
    steps: list[Append | Replace | Remove] = [Replace("first", b"1")]
    for number, path in enumerate(obstacles):
        kinds = (Append(path, b"x\n", required=False), Replace(path, b"x"), Remove(path))
        steps += [kinds[number % 3], Append(f"between-{number}", b"2\n")]
    outcome = transact(workspace, *steps)
    assert outcome.skipped == tuple(obstacles)
    assert everything(root) == {
        "first": b"1",
        **{f"between-{number}": b"2\n" for number in range(len(obstacles))},
        "m/real.md": b"real\n",
    }
    assert (tmp_path / "outside/secret.md").read_bytes() == b"secret\n"
    assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == ["secret.md"]
    assert (root / "m/link.md").is_symlink() and (root / "m/folder.md").is_dir()


def test_a_required_step_on_such_a_thing_is_an_error_with_nothing_done(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    obstacles = make_obstacles(root, tmp_path / "outside")
    before = everything(root)
    for number, (path, why) in enumerate(obstacles.items()):
        kinds = (Append(path, b"x\n"), Replace(path, b"x", required=True), Remove(path, required=True))
        with pytest.raises(WorkspaceError, match=why) as caught:
            transact(workspace, Append("m/fine", b"x\n"), kinds[number % 3])
        assert caught.value.path == path
    assert everything(root) == before
    assert (tmp_path / "outside/secret.md").read_bytes() == b"secret\n"


@pytest.mark.parametrize("obstacle", ["fifo", "symlink", "folder", "parent"])
def test_a_lock_that_is_no_file_is_an_error(workspace: Workspace, root: Path, tmp_path: Path, obstacle: str) -> None:
    (tmp_path / "outside").mkdir()
    if obstacle == "parent":
        (root / "memories").symlink_to(tmp_path / "outside")
    else:
        (root / "memories").mkdir()
    if obstacle == "fifo":
        os.mkfifo(root / LOCK)
    elif obstacle == "symlink":
        (root / LOCK).symlink_to(tmp_path / "outside/lock")
    elif obstacle == "folder":
        (root / LOCK).mkdir()
    with pytest.raises(WorkspaceError) as caught:
        transact(workspace, Append("a", b"x\n"))
    assert caught.value.path == LOCK
    assert everything(root) == {} and list((tmp_path / "outside").iterdir()) == []


def test_the_lock_is_waited_for_and_then_given_up(workspace: Workspace, kind: str, root: Path) -> None:
    (root / "memories").mkdir()
    if kind in ("no-flock", "busybox"):
        (root / f"{LOCK}.d/7").mkdir(parents=True)
    else:
        handle = os.open(root / LOCK, os.O_CREAT | os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_EX)
    began = time.monotonic()
    with pytest.raises(LockTimeout):
        transact(workspace, Append("a", b"x\n"), timeout=0.3)
    assert 0.25 < time.monotonic() - began < 5
    assert everything(root) == {}
    if kind in ("no-flock", "busybox"):
        long_ago = time.time() - 31
        os.utime(root / f"{LOCK}.d/7", (long_ago, long_ago))
    else:
        os.close(handle)
    transact(workspace, Append("a", b"x\n"), timeout=0.3)
    transact(workspace, Append("a", b"y\n"), timeout=0.3)
    assert everything(root) == {"a": b"x\ny\n"}


def test_what_killed_processes_left_is_cleared_away(workspace: Workspace, root: Path) -> None:
    old, new = digest(b"old")[:16], digest(b"new")[:16]
    prefix = "memories/.sandbox-memory-"
    put(root, f"{prefix}0a1b2c3d.tmp", b"half writ")
    stale = put(root, f"{prefix}00112233445566aa.part.tmp", b"sent, never used")
    os.utime(stale, (1, 1))
    put(root, f"{prefix}00112233445566bb.part.tmp", b"sent a moment ago")
    put(root, f"{prefix}not ours.tmp", b"x")
    # Killed before the exchange, after it, after one that displaced a save, and with another save since then.
    put(root, "memories/before.md", b"old")
    put(root, f"{prefix}01-{old}-{new}-before.md.tmp", b"new")
    put(root, "memories/after.md", b"new")
    put(root, f"{prefix}02-{old}-{new}-after.md.tmp", b"old")
    put(root, "memories/saved.md", b"new")
    put(root, f"{prefix}03-{old}-{new}-saved.md.tmp", b"by hand")
    put(root, "memories/twice.md", b"by hand, later")
    put(root, f"{prefix}04-{old}-{new}-twice.md.tmp", b"by hand")
    put(root, f"{prefix}05-{old}-absent-removed.md.tmp", b"old")
    put(root, f"{prefix}06-{old}-absent-kept.md.tmp", b"by hand")
    put(root, "memories/linked.md", b"by hand")
    os.link(root / "memories/linked.md", root / f"{prefix}07-{old}-{new}-linked.md.tmp")
    assert ".sandbox" not in str(look(workspace, folders=["memories"]).folders).replace("not ours", "")
    transact(workspace, Append("a", b"x\n"))
    found = everything(root)
    twice = [path for path in found if path.startswith("memories/twice.md.saved-")]
    assert len(twice) == 1 and found.pop(twice[0]) == b"by hand"
    assert found == {
        "a": b"x\n",
        f"{prefix}00112233445566bb.part.tmp": b"sent a moment ago",
        f"{prefix}not ours.tmp": b"x",
        "memories/before.md": b"old",
        "memories/after.md": b"new",
        "memories/saved.md": b"by hand",
        "memories/twice.md": b"by hand, later",
        "memories/kept.md": b"by hand",
        "memories/linked.md": b"by hand",
    }


# Disks that are full, read-only, or not ours


@pytest.fixture
def tiny(root: Path) -> Iterator[Path]:
    """A disk of 64 KiB at `disk`."""
    (root / "disk").mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", root / "disk"], capture_output=True)
    if mounted.returncode:
        pytest.skip("this process may not mount a file system")
    try:
        yield root / "disk"
    finally:
        subprocess.run(["umount", "-l", root / "disk"], check=True)


def fill(disk: Path, leave: int) -> None:
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            file.truncate(file.tell() - leave)


def test_a_full_disk_leaves_files_as_they_were(workspace: Workspace, root: Path, tiny: Path) -> None:
    put(root, "disk/a.jsonl", b"a" * 4095 + b"\n")
    put(root, "disk/b.md", b"b")
    fill(tiny, 8192)
    before = everything(root)
    line = b"x" * 20_000 + b"\n"
    for step in (
        Append("disk/a.jsonl", line),
        Append("disk/new.jsonl", line),
        Replace("disk/b.md", line, required=True),
    ):
        with pytest.raises(WorkspaceError, match=r"room|[Nn]o space|space left") as caught:
            transact(workspace, step, Append("after", b"x\n"))
        assert caught.value.path == step.path
        assert everything(root) == before
    outcome = transact(
        workspace,
        Append("disk/a.jsonl", line, required=False),
        Replace("disk/b.md", line, digest(b"b")),
        Replace("disk/c.md", line, ABSENT),
        Append("disk/a2.jsonl", b"fits\n"),
    )
    assert outcome == Outcome(("disk/a.jsonl", "disk/b.md", "disk/c.md"), {"disk/a2.jsonl": 5})
    assert everything(root) == {**before, "disk/a2.jsonl": b"fits\n"}


def test_a_full_disk_that_holds_the_lock_too(kind: str, root: Path, tiny: Path, tmp_path: Path) -> None:
    workspace = make_workspace(kind, tiny, tmp_path / "bin")
    put(tiny, "a.jsonl", b"a\n")
    transact(workspace, Append("b.jsonl", b"b\n"))
    fill(tiny, 0)
    before = everything(tiny)
    with pytest.raises(WorkspaceError, match=r"room|[Nn]o space|space left"):
        transact(workspace, Append("a.jsonl", b"x" * 20_000 + b"\n"))
    assert everything(tiny) == before
    (tiny / "filler").unlink()
    transact(workspace, Append("a.jsonl", b"x\n"))
    assert (tiny / "a.jsonl").read_bytes() == b"a\nx\n"


def test_a_read_only_disk(workspace: Workspace, root: Path, tiny: Path) -> None:
    put(root, "disk/a.jsonl", b"a\n")
    subprocess.run(["mount", "-o", "remount,ro", tiny], check=True)
    before = everything(root)
    for step in (
        Append("disk/a.jsonl", b"x\n"),
        Append("disk/new/b.jsonl", b"x\n"),
        Replace("disk/a.jsonl", b"x", digest(b"a\n"), required=True),
        Replace("disk/c.jsonl", b"x", ABSENT, required=True),
        Remove("disk/a.jsonl", required=True),
        Remove("disk/a.jsonl", digest(b"a\n"), required=True),
    ):
        with pytest.raises(WorkspaceError, match="Read-only") as caught:
            transact(workspace, step)
        assert caught.value.path == step.path
    outcome = transact(workspace, Replace("disk/a.jsonl", b"x"), Append("b", b"b\n"))
    assert outcome == Outcome(("disk/a.jsonl",), {"b": 2})
    assert everything(root) == {**before, "b": b"b\n"}
    assert look(workspace, "disk/a.jsonl", folders=["disk"]).files == {"disk/a.jsonl": b"a\n"}
    with pytest.raises(WorkspaceError, match="Read-only"):
        asyncio.run(workspace.transact([Append("b", b"x\n")], lock="disk/.lock"))


def open_to_all() -> str | None:
    """A folder for temporary files that every user may pass through; TMPDIR is often its owner's alone."""
    for base in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        way = Path(base).resolve()
        if way.is_dir() and all(folder.stat().st_mode & stat.S_IXOTH for folder in (way, *way.parents)):
            return base
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user and come back")
@pytest.mark.skipif(open_to_all() is None, reason="no folder for temporary files lets another user through")
@pytest.mark.parametrize("who", ["local", "session"])
def test_files_of_somebody_else(who: str) -> None:
    place = Path(tempfile.mkdtemp(dir=open_to_all()))
    try:
        place.chmod(0o755)
        put(place, "closed.md", b"theirs\n").chmod(0o600)
        put(place, "readable.md", b"theirs\n").chmod(0o644)
        put(place, "shut/inside.md", b"theirs\n")
        (place / "shut").chmod(0o700)
        (place / "memories").mkdir(mode=0o777)
        (place / "memories").chmod(0o777)
        session = ShellSession(user=65534)
        workspace = LocalWorkspace(place) if who == "local" else SessionWorkspace(session, str(place))
        if who == "local":
            os.seteuid(65534)
        view = look(workspace, "closed.md", "readable.md", "shut/inside.md", folders=["shut", "memories"])
        assert view.files == {"readable.md": b"theirs\n"}
        assert set(view.problems) == {"closed.md", "shut/inside.md", "shut"}
        assert all("permission denied" in why for why in view.problems.values())
        for step in (
            Append("closed.md", b"x\n"),
            Append("closed.md", b"x\n", expect=Mark.of(b"theirs\n")),
            Append("readable.md", b"x\n"),
            Append("shut/inside.md", b"x\n"),
            Append("new.md", b"x\n"),
            Replace("readable.md", b"x", digest(b"theirs\n"), required=True),
            Replace("closed.md", b"x", ABSENT, required=True),
            Remove("readable.md", required=True),
        ):
            with pytest.raises(WorkspaceError, match="denied") as caught:
                transact(workspace, Append("memories/ledger.jsonl", b"", required=False), step)
            assert caught.value.path == step.path
        outcome = transact(workspace, Replace("readable.md", b"x"), Append("memories/a", b"x\n"))
        assert outcome == Outcome(("readable.md",), {"memories/a": 2})
    finally:
        os.seteuid(0)
        shutil.rmtree(place)


# Several processes at once


def in_child(work: object) -> int:
    """Fork; the child runs the function and exits with 0, or with 1 when it raises."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            work()  # type: ignore[operator]
            status = 0
        finally:
            os._exit(status)
    return process


def test_two_processes_append_without_losing_a_line(root: Path) -> None:
    def work(who: str) -> None:
        asyncio.run(append_lines(LocalWorkspace(root), who, 200))

    children = [in_child(lambda: work("a")), in_child(lambda: work("b"))]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    check_lines(root, {"a": 200, "b": 200})


@pytest.mark.parametrize(
    "kinds", [("session", "session", "local"), ("perl", "session", "local"), ("no-flock", "no-flock"), ("busybox",) * 2]
)
def test_sessions_and_local_processes_exclude_each_other(kinds: tuple[str, ...], root: Path, tmp_path: Path) -> None:
    workspaces = [make_workspace(kind, root, tmp_path / f"bin-{n}") for n, kind in enumerate(kinds)]

    async def run() -> None:
        await asyncio.gather(*(append_lines(workspace, f"w{n}", 8) for n, workspace in enumerate(workspaces)))

    asyncio.run(run())
    check_lines(root, {f"w{n}": 8 for n in range(len(kinds))})


# Kills


CHANGES = ("mkdir", "write", "fsync", "ftruncate", "fchmod", "fchown", "rename", "replace", "link", "unlink")


class DeadlyOs:
    """The `os` module, except that the n-th call that changes a file, or the return from it, kills the process."""

    def __init__(self, deadly: int, before: bool) -> None:
        self.left, self.before = deadly, before

    def kills(self, function: object) -> object:
        def call(*args: object, **kwargs: object) -> object:
            self.left -= 1
            if self.left == 0 and self.before:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*args, **kwargs)  # type: ignore[operator]
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    def open(self, path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> object:
        if flags & os.O_CREAT:
            return self.kills(os.open)(path, flags, mode, dir_fd=dir_fd)  # type: ignore[operator]
        return os.open(path, flags, mode, dir_fd=dir_fd)

    def __getattr__(self, name: str) -> object:
        value = getattr(os, name)
        return self.kills(value) if name in CHANGES else value


@pytest.mark.parametrize("before", [True, False])
def test_a_kill_at_any_change_leaves_old_or_new(root: Path, before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, deaths = LocalWorkspace(root), 0
    for deadly in range(1, 200):
        start_over(root)
        deadly_os = DeadlyOs(deadly, before)
        with monkeypatch.context() as patch:
            for module in (local_module, displacing):
                patch.setattr(module, "os", deadly_os)
            patch.setattr(displacing, "exchange", deadly_os.kills(displacing.exchange))
            child = in_child(lambda: transact(workspace, *STEPS))
            status = os.waitpid(child, 0)[1]
        check_old_or_new(root)
        if status == 0:
            break
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        deaths += 1
        asyncio.run(finish(workspace))
        assert everything(root) == {**NEW, "memories/end": b"x\n"}
    assert everything(root) == NEW
    assert deaths > 20


# The local one: what happens between two of its calls


def test_a_short_write_is_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class ShortOs:
        def write(self, handle: int, data: bytes) -> int:
            return os.write(handle, bytes(data)[:5])

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    workspace = LocalWorkspace(root)
    put(root, "a.jsonl", b"torn")
    for module in (local_module, displacing):
        monkeypatch.setattr(module, "os", ShortOs())
    for path in ("a.jsonl", "new.jsonl"):
        with pytest.raises(WorkspaceError, match=rf"{path}: there was room for 5 of 1\d bytes"):
            transact(workspace, Append(path, b"0123456789\n"))
    assert everything(root) == {"a.jsonl": b"torn"}
    transact(workspace, Replace("b.md", b"0123456789"))  # a temporary file may be written in pieces
    assert (root / "b.md").read_bytes() == b"0123456789"


def test_a_failed_fsync_is_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class FailingOs:
        def fsync(self, handle: int) -> None:
            raise OSError(5, "Input/output error")

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    workspace = LocalWorkspace(root)
    put(root, "a.jsonl", b"a\n")
    put(root, "b.md", b"b")
    for module in (local_module, displacing):
        monkeypatch.setattr(module, "os", FailingOs())
    with pytest.raises(WorkspaceError, match="Input/output error"):
        transact(workspace, Append("a.jsonl", b"x\n"))
    assert transact(workspace, Replace("b.md", b"x"), Append("c", b"x\n", required=False)).skipped == ("b.md", "c")
    assert everything(root) == {"a.jsonl": b"a\n", "b.md": b"b"}


def save(path: Path, data: bytes, how: str) -> None:
    """What an editor does."""
    if how == "in place":
        path.write_bytes(data)
    elif how == "rename":
        (path.parent / "editor.swp").write_bytes(data)
        (path.parent / "editor.swp").replace(path)
    elif how == "delete":
        path.unlink()
    elif how == "link":
        path.unlink()
        path.symlink_to("elsewhere.md")
    else:
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("how", ["in place", "rename"])
def test_a_save_in_the_last_moment_stays(root: Path, how: str, required: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "MEMORY.md", b"old")
    real = displacing.exchange
    saves = [b"by hand"]

    def late(folder: int, first: str, second: str) -> None:
        if saves:
            save(file, saves.pop(), how)
        real(folder, first, second)

    monkeypatch.setattr(displacing, "exchange", late)
    step = Replace("MEMORY.md", b"new", digest(b"old"), required=required)
    if required:
        with pytest.raises(Conflict):
            transact(LocalWorkspace(root), step)
    else:
        assert transact(LocalWorkspace(root), step).skipped == ("MEMORY.md",)
    assert everything(root) == {"MEMORY.md": b"by hand"}


def test_two_saves_in_the_last_moment_both_stay(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "MEMORY.md", b"old")
    real = displacing.exchange
    saves = [b"by hand, again", b"by hand"]

    def late(folder: int, first: str, second: str) -> None:
        if saves:
            save(file, saves.pop(), "rename")
        real(folder, first, second)

    monkeypatch.setattr(displacing, "exchange", late)
    assert transact(LocalWorkspace(root), Replace("MEMORY.md", b"new", digest(b"old"))).skipped == ("MEMORY.md",)
    found = everything(root)
    assert found.pop("MEMORY.md") == b"by hand, again"
    assert list(found.values()) == [b"by hand"] and next(iter(found)).startswith("MEMORY.md.saved-")


@pytest.mark.parametrize("how", ["delete", "link", "folder"])
def test_other_changes_in_the_last_moment_stay_too(root: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "MEMORY.md", b"old")
    real = displacing.exchange
    hows = [how]

    def late(folder: int, first: str, second: str) -> None:
        if hows:
            save(file, b"", hows.pop())
        real(folder, first, second)

    monkeypatch.setattr(displacing, "exchange", late)
    assert transact(LocalWorkspace(root), Replace("MEMORY.md", b"new", digest(b"old"))).skipped == ("MEMORY.md",)
    assert everything(root) == {}
    assert (how == "link") is file.is_symlink() and (how == "folder") is file.is_dir()


@pytest.mark.parametrize("can", ["exchange", "no exchange", "refused"])
def test_a_save_while_the_new_file_is_written_stays(root: Path, can: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "MEMORY.md", b"old")
    made = root / "made.md"

    class SavingOs:
        def fsync(self, handle: int) -> None:
            os.fsync(handle)
            file.write_bytes(b"by hand")
            made.write_bytes(b"by hand")

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    def refuse(folder: int, first: str, second: str) -> None:
        raise OSError(22, "Invalid argument")

    if can == "no exchange":
        for module in (local_module, displacing):
            monkeypatch.setattr(module, "can_exchange", lambda: False, raising=False)
    elif can == "refused":
        monkeypatch.setattr(displacing, "exchange", refuse)
    workspace = LocalWorkspace(root)
    with monkeypatch.context() as patch:
        for module in (local_module, displacing):
            patch.setattr(module, "os", SavingOs())
        steps = (Replace("MEMORY.md", b"new", digest(b"old")), Replace("made.md", b"new", ABSENT))
        assert transact(workspace, *steps).skipped == ("MEMORY.md", "made.md")
    assert everything(root) == {"MEMORY.md": b"by hand", "made.md": b"by hand"}
    assert transact(workspace, Replace("MEMORY.md", b"new", digest(b"by hand"))).skipped == ()
    assert everything(root) == {"MEMORY.md": b"new", "made.md": b"by hand"}


def test_a_file_system_without_hard_links(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class LinklessOs:
        def link(self, *args: object, **kwargs: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    for module in (local_module, displacing):
        monkeypatch.setattr(module, "os", LinklessOs())
    put(root, "there.md", b"old")
    outcome = transact(LocalWorkspace(root), Replace("a.md", b"new", ABSENT), Replace("there.md", b"new", ABSENT))
    assert outcome.skipped == ("there.md",)
    assert everything(root) == {"a.md": b"new", "there.md": b"old"}


def test_a_lock_on_a_file_that_was_removed_meanwhile_does_not_count(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks: list[int] = []

    class LateFcntl:
        def flock(self, handle: int, how: int) -> None:
            if not locks:
                (root / LOCK).unlink()
                put(root, LOCK)
            locks.append(os.fstat(handle).st_ino)
            fcntl.flock(handle, how)

        def __getattr__(self, name: str) -> object:
            return getattr(fcntl, name)

    monkeypatch.setattr(locking_module, "fcntl", LateFcntl())
    transact(LocalWorkspace(root), Append("a", b"x\n"))
    assert len(locks) == 2 and locks[-1] == (root / LOCK).stat().st_ino
    assert everything(root) == {"a": b"x\n"}
