"""A memory inside a snapshot's archive is edited without touching anything else in it."""

from __future__ import annotations

import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from agents import Runner
from agents.sandbox import LocalSnapshotSpec, Manifest
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

from sandbox_memory import Memory, MemoryGenerateConfig, open_memory
from sandbox_memory.doors.cli import main
from sandbox_memory.errors import Conflict, WorkspaceError
from sandbox_memory.workspace.archive import is_archive, unpacked

from .editing import edit, read
from .kit import handbook
from .scripted import agent, config

FOLDERS = ("memories", "sessions")
OFFLINE = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the SDK wrote for a workspace with a memory, other files, a link and a Chinese name in it."""
    base = tmp_path_factory.mktemp("snapshots")

    async def go() -> None:
        client = UnixLocalSandboxClient()
        session = await client.create(manifest=Manifest(), snapshot=LocalSnapshotSpec(base_path=base))
        async with session:
            root = Path(session.state.manifest.root)
            (root / "src").mkdir()
            (root / "src" / "数据.bin").write_bytes(os.urandom(3000))
            (root / "src" / "run.sh").write_text("true")
            (root / "src" / "run.sh").chmod(0o755)
            (root / "link").symlink_to("src/run.sh")
            said = agent("ok", memory=Memory(generate=OFFLINE))
            await Runner.run(said, "Remember that the staging port is 8443.", run_config=config(session))
        await client.delete(session)

    asyncio.run(go())
    (path,) = base.glob("*.tar")
    return path.read_bytes()


@pytest.fixture
def archive(snapshot: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "w.tar"
    path.write_bytes(snapshot)
    path.chmod(0o640)
    return path


def others(path: Path) -> list[tuple[object, ...]]:
    """All that is not memory's."""
    found: list[tuple[object, ...]] = []
    with tarfile.open(path) as tar:
        for member in tar:
            if not member.name.startswith(("./memories", "./sessions")):
                source = tar.extractfile(member) if member.isreg() else None
                facts = (member.name, member.type, member.mode, member.mtime, member.uid, member.gid, member.linkname)
                found.append((*facts, source.read() if source else b""))
    return found


def text_of(path: Path, name: str) -> str:
    with tarfile.open(path) as tar:
        source = tar.extractfile(f"./{name}")
        assert source is not None
        return source.read().decode()


def change(root: Path) -> None:
    edit(handbook(root), "8443", "9443")


def test_an_edit_is_adopted_and_packed(archive: Path) -> None:
    before = others(archive)
    assert is_archive(archive)
    with unpacked(archive, FOLDERS) as work:
        change(work.root)
        with open_memory(work.root) as memory:
            assert [record.text for record in memory.records()] == ["The staging port is 9443"]
        assert not (work.root / "src").exists(), "only memory comes out"
    assert work.changed and not work.root.exists()
    assert others(archive) == before and archive.stat().st_mode & 0o777 == 0o640
    assert "9443" in text_of(archive, "memories/MEMORY.md") and "8443" not in text_of(archive, "memories/MEMORY.md")
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    with unpacked(archive, FOLDERS) as work, open_memory(work.root) as memory:
        assert [record.text for record in memory.records()] == ["The staging port is 9443"]
        assert memory.records()[0].protected


def test_the_sdk_takes_it_up(archive: Path, tmp_path: Path) -> None:
    with unpacked(archive, FOLDERS) as work:
        change(work.root)

    async def go() -> str:
        client = UnixLocalSandboxClient()
        spec = LocalSnapshotSpec(base_path=archive.parent)
        first = await client.create(manifest=Manifest(), snapshot=spec)
        state = first.state.model_copy(update={"snapshot": spec.build("w")})
        session = await client.resume(state)
        async with session:
            said = agent("ok", memory=Memory(generate=OFFLINE))
            await Runner.run(said, "hi", run_config=config(session))
            return str(said.model.seen[0]["system"])

    assert "9443" in asyncio.run(go())


def test_without_a_change_nothing_is_written(archive: Path) -> None:
    before = (archive.read_bytes(), archive.stat().st_ino)
    with unpacked(archive, FOLDERS) as work:
        read(handbook(work.root))
    assert not work.changed and (archive.read_bytes(), archive.stat().st_ino) == before


def kept_in(caplog: pytest.LogCaptureFixture) -> Path:
    """The folder that the log names."""
    (line,) = [record.getMessage() for record in caplog.records if "is kept in" in record.getMessage()]
    return Path(line.rpartition(" is kept in ")[2])


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_after_an_error_nothing_is_written_and_the_work_is_kept(
    archive: Path, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    before = archive.read_bytes()

    def fail() -> None:
        with unpacked(archive, FOLDERS) as work:
            change(work.root)
            raise error

    with pytest.raises(error):
        fail()
    assert archive.read_bytes() == before
    assert "9443" in read(handbook(kept_in(caplog)))


@pytest.mark.parametrize("how", ["written", "removed"])
def test_a_snapshot_that_changed_meanwhile(archive: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    def work_on_it() -> None:
        with unpacked(archive, FOLDERS) as work:
            change(work.root)
            if how == "written":
                archive.write_bytes(archive.read_bytes() + b"\0" * 512)
            else:
                archive.unlink()

    with pytest.raises(Conflict, match="meanwhile"):
        work_on_it()
    assert "9443" in read(handbook(kept_in(caplog)))
    assert how == "removed" or "8443" in text_of(archive, "memories/MEMORY.md")


def test_a_link_to_a_snapshot_stays_one(archive: Path) -> None:
    link = archive.with_name("newest.tar")
    link.symlink_to(archive.name)
    with unpacked(link, FOLDERS) as work:
        change(work.root)
    assert link.is_symlink() and "9443" in text_of(archive, "memories/MEMORY.md")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_it_stays_compressed(snapshot: bytes, tmp_path: Path, kind: str) -> None:
    archive = tmp_path / f"w.tar.{kind}"
    with tarfile.open(fileobj=io.BytesIO(snapshot)) as old, tarfile.open(archive, f"w:{kind}") as new:
        for member in old:
            new.addfile(member, old.extractfile(member) if member.isreg() else None)
    before = archive.read_bytes()[:3]
    with unpacked(archive, FOLDERS) as work:
        change(work.root)
    assert archive.read_bytes()[:3] == before and "9443" in text_of(archive, "memories/MEMORY.md")


def _link(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


def _file(name: str) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = 3
    return made


HOSTILE: dict[str, Callable[[], tarfile.TarInfo]] = {
    "up": lambda: _file("memories/../../out.txt"),
    "absolute": lambda: _file("/tmp/memories/out.txt"),
    "a link out": lambda: _link("./memories/out.txt", "/etc/passwd", tarfile.SYMTYPE),
    "a hard link out": lambda: _link("./memories/out.txt", "/etc/passwd", tarfile.LNKTYPE),
    "a link for a folder": lambda: _link("./sessions/more", "/tmp", tarfile.SYMTYPE),
    "a pipe": lambda: _link("./memories/pipe", "", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_nothing_comes_out_elsewhere(archive: Path, name: str) -> None:
    with tarfile.open(archive, "a") as tar:
        member = HOSTILE[name]()
        tar.addfile(member, io.BytesIO(b"abc") if member.isreg() else None)
    with unpacked(archive, FOLDERS) as work:
        found = {path.name for path in work.root.rglob("*")} | {path.name for path in work.root.parent.iterdir()}
        assert found.isdisjoint({"out.txt", "pipe", "more"})
        change(work.root)
    with tarfile.open(archive) as tar:
        assert any(each.name == member.name and each.type == member.type for each in tar), "it stays as it is"


@pytest.mark.parametrize("data", [b"", b"no archive", None])
def test_what_is_no_archive(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "w.tar"
    if data is not None:
        path.write_bytes(data)
    assert not is_archive(path)
    with pytest.raises(WorkspaceError, match=r"w\.tar"), unpacked(path, FOLDERS):
        pass


def test_a_damaged_archive(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:2000])
    with pytest.raises(WorkspaceError, match="unpacked"), unpacked(archive, FOLDERS):
        pass


def test_by_command(archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/8443/9443/")
    monkeypatch.delenv("VISUAL", raising=False)
    with pytest.raises(SystemExit, match="0"):
        main(["edit", str(archive)])
    assert "1 change taken in" in (told := capsys.readouterr().out) and f"packed again into {archive}" in told
    assert "9443" in text_of(archive, "memories/MEMORY.md")
    with pytest.raises(SystemExit, match="2"):
        main(["edit", str(archive), "other words"])
    assert "snapshot is edited as a whole" in capsys.readouterr().err


def test_an_editor_that_fails_after_saving(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EDITOR", "sh -c 'sed -i s/8443/9443/ \"$1\"; exit 1' sh")
    monkeypatch.delenv("VISUAL", raising=False)
    with pytest.raises(SystemExit, match="1"):
        main(["edit", str(archive)])
    told = capsys.readouterr().err
    assert f"ended with 1; {archive} was not changed" in told and "taken in by the next" not in told
    assert set(re.findall(r"/\S*/sandbox-memory-\S+", told)) == {told.rpartition("is kept in ")[2].split()[0]}
    assert "is kept in" in told


def below(archive: Path, *tops: str) -> Path:
    """An archive in which the same lies below each of these folders."""
    other = archive.with_name("below.tar")
    with tarfile.open(archive) as old, tarfile.open(other, "w") as new:
        for top in tops:
            for member in old.getmembers():
                data = old.extractfile(member) if member.isreg() else None
                moved = member.replace(name=os.path.normpath(f"{top}/{member.name}"), deep=True)
                moved.pax_headers.pop("path", None)
                new.addfile(moved, data)
    return other


def test_a_memory_below_one_top_folder_is_found(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/8443/9443/")
    other = below(archive, "air0")
    with pytest.raises(SystemExit, match="0"):
        main(["edit", str(other)])
    with tarfile.open(other) as tar:
        assert b"9443" in tar.extractfile("air0/memories/MEMORY.md").read()
        assert {name.split("/")[0] for name in tar.getnames()} == {"air0"}
        assert len(tar.getnames()) == len(set(tar.getnames()))
    capsys.readouterr()
    for tops, said in (("a", "b"), "a, b"), (("deep/er",), "deep"):
        other = below(archive, *tops)
        before = other.read_bytes()
        with pytest.raises(SystemExit, match="2"):
            main(["edit", str(other)])
        told = " ".join(capsys.readouterr().err.split())
        assert f"{other} holds no memories/ at its top or below one folder alone; at its top: {said}" in told
        assert "sandbox-memory-" not in told and other.read_bytes() == before


@pytest.mark.parametrize("name", ["no.tar", "no.tar.gz", "no.tgz", "no/MEMORY.md"])
def test_a_file_that_is_not_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["edit", name])
    assert f"there is no file {name}" in capsys.readouterr().err
    Path("no.tar").write_bytes(b"x" * 600)
    with pytest.raises(SystemExit, match="2"):
        main(["edit", "no.tar"])
    assert "no.tar is no tar archive that can be read" in capsys.readouterr().err


def blocks(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The members with such names, headers and all, as they stand in the archive."""
    found = {}
    with tarfile.open(path) as tar:
        start = 0
        for member in tar:
            end = tar.offset
            if wanted(member.name):
                tar.fileobj.seek(start)
                found[member.name] = tar.fileobj.read(end - start)
            start = end
    return found


def packed_from(archive: Path, folder: Path, *options: str) -> Path:
    """The archive as GNU tar packs what is in it, with what `folder` has beside it."""
    if not shutil.which("tar"):
        pytest.skip("no tar")
    subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
    made = archive.with_name("made.tar")
    subprocess.run(["tar", "-C", folder, *options, "-cf", made, "."], check=True)
    return made


@pytest.mark.parametrize("options", [["--format=gnu", "-S"], ["--format=pax", "-S"], ["--format=pax", "-S", "-z"]])
def test_a_sparse_file_stays_byte_for_byte(archive: Path, tmp_path: Path, options: list[str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (folder / "disk.img").open("wb") as file:
        for at in range(1, 40):
            file.seek(at * 100_000)
            file.write(b"hello")
        file.truncate(5_000_000)
    made = packed_from(archive, folder, *options)
    before = blocks(made, lambda name: not name.endswith(("MEMORY.md", "ledger.jsonl")))
    with unpacked(made, FOLDERS) as work:
        change(work.root)
    after = blocks(made, lambda name: True)
    assert {name: after[name] for name in before} == before and "./disk.img" in before
    assert "9443" in text_of(made, "memories/MEMORY.md")
    subprocess.run(["tar", "-C", folder, "-df", made, "./disk.img", "./src"], check=True)


@pytest.mark.parametrize("name", ["MEMORY.md", "ledger.jsonl"])
@pytest.mark.parametrize("other", ["A", "z"])
def test_a_hard_link_loses_nothing(archive: Path, tmp_path: Path, name: str, other: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    packed_from(archive, folder)
    os.link(folder / "memories" / name, folder / other)
    made, prose = tmp_path / "made.tar", "Prose of my own."
    text = read(handbook(folder)).replace("\n## ", f"\n{prose}\n\n## ", 1)
    with handbook(folder).open("r+", encoding="utf-8") as file:
        file.write(text)
    was, commits = (folder / other).read_bytes(), len((folder / "memories/ledger.jsonl").read_text().splitlines())
    subprocess.run(["tar", "-C", folder, "-cf", made, *sorted(["./memories", "./sessions", f"./{other}"])], check=True)
    with unpacked(made, FOLDERS) as work:
        change(work.root)
        with open_memory(work.root) as memory:
            assert [record.text for record in memory.records()] == ["The staging port is 9443"]
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["tar", "-C", out, "-xf", made], check=True)
    assert prose in read(handbook(out)) and "9443" in read(handbook(out))
    assert len((out / "memories/ledger.jsonl").read_text().splitlines()) > commits
    assert (out / other).read_bytes() == was


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
@pytest.mark.parametrize("name", ["MEMORY.md", "ledger.jsonl", "raw_memories/chat.md"])
def test_another_link_in_the_place_of_a_file_is_refused(
    archive: Path, kind: bytes, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = archive.with_name("other.tar")
    with tarfile.open(archive) as old, tarfile.open(other, "w") as new:
        for member in old:
            if member.name != f"./memories/{name}":
                new.addfile(member, old.extractfile(member) if member.isreg() else None)
        new.addfile(_link(f"./memories/{name}", "/data/elsewhere", kind))
    before = other.read_bytes()
    with pytest.raises(SystemExit, match="1"):
        main(["edit", str(other)])
    told = " ".join(capsys.readouterr().err.split())
    assert f"memories/{name} in it is a" in told and "link to /data/elsewhere" in told and "--dereference" in told
    assert other.read_bytes() == before


def test_a_link_in_the_way_of_what_memory_writes(archive: Path) -> None:
    with tarfile.open(archive, "a") as tar:
        tar.addfile(_link("./memories/skills", "/tmp", tarfile.SYMTYPE))
    before = archive.read_bytes()

    def work_on_it() -> None:
        with unpacked(archive, FOLDERS) as work:
            (work.root / "memories" / "skills" / "mine").mkdir(parents=True)
            (work.root / "memories" / "skills" / "mine" / "SKILL.md").write_text("mine")

    with pytest.raises(WorkspaceError, match="memories/skills is a link"):
        work_on_it()
    assert archive.read_bytes() == before


def test_what_stands_behind_the_end_stays(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes() + archive.read_bytes())
    with tarfile.open(archive, ignore_zeros=True) as tar:
        before = [member.name for member in tar]
    with unpacked(archive, FOLDERS) as work:
        change(work.root)
    with tarfile.open(archive, ignore_zeros=True) as tar:
        after = [member.name for member in tar]
    assert sorted(set(after)) == sorted(set(before)) and len(after) >= len(before)
    assert archive.stat().st_size % tarfile.RECORDSIZE == 0


EDITORS = {
    "ends": 'sed -i s/8443/9443/ "$1"; kill -{0} $PPID; exec sleep 30',
    "stays": "trap '' {0}; sed -i s/8443/9443/ \"$1\"; kill -{0} $PPID; while :; do sleep 1; done",
}


@pytest.mark.parametrize(("how", "number"), [("ends", "HUP"), ("ends", "TERM"), ("stays", "HUP")])
def test_a_signal_after_a_save(archive: Path, tmp_path: Path, how: str, number: str) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\n" + EDITORS[how].format(number))
    editor.chmod(0o755)
    call = [sys.executable, "-c", "from sandbox_memory.doors.cli import main; main()", "edit", str(archive)]
    told = subprocess.run(call, env={**os.environ, "VISUAL": str(editor)}, capture_output=True, text=True, check=False)
    assert told.returncode == {"HUP": 129, "TERM": 143}[number]
    assert f"what was saved until then is in {archive}" in told.stderr
    with unpacked(archive, FOLDERS) as work, open_memory(work.root) as memory:
        assert [record.text for record in memory.records()] == ["The staging port is 9443"]


def test_what_a_killed_edit_left_is_found(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/8443/9443/ "$1"; kill -KILL $PPID')
    editor.chmod(0o755)
    call = [sys.executable, "-c", "from sandbox_memory.doors.cli import main; main()", "edit", str(archive)]
    env = {**os.environ, "VISUAL": str(editor), "TMPDIR": str(tmp_path)}
    subprocess.run(call, env=env, capture_output=True, check=False)
    with unpacked(archive, FOLDERS) as work:
        (told,) = [message for message in caplog.messages if "an earlier edit" in message]
        left = Path(told.partition(" files are in ")[2].partition(",")[0])
        assert "9443" in read(handbook(left)) and left != work.root
        with unpacked(archive, FOLDERS):
            assert not any(str(work.root) in message for message in caplog.messages), "that one is still at work"
    shutil.rmtree(left.parent)
    caplog.clear()
    with unpacked(archive, FOLDERS):
        assert not caplog.messages


def test_what_only_looks_like_such_a_note_is_passed_over(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Anybody may put anything into the folder for temporary files; a pipe there would be waited for."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name, make in {"pipe": os.mkfifo, "other": lambda note: note.write_text("{}"), "folder": Path.mkdir}.items():
        folder = tmp_path / f"sandbox-memory-{name}"
        folder.mkdir()
        make(folder / "archive.json")
    with unpacked(archive, FOLDERS):
        assert not caplog.messages
