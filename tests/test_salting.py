"""The salt of tags: of one user and one memory, never in a workspace, and never two where processes race for it."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox_memory.trusting import salting
from sandbox_memory.trusting.salting import salt_for


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "sandbox-memory"


def test_it_stays_the_same_and_is_another_for_another_memory(home: Path) -> None:
    first = salt_for("memories")
    assert len(first) == 32
    assert salt_for("memories") == first != salt_for("memories/other")
    assert stat.S_IMODE((home / "salt").stat().st_mode) == 0o600
    assert (home / "salt").read_bytes() != first
    assert [path.name for path in home.iterdir()] == ["salt"], "nothing half-written stays"


def test_it_is_random(home: Path) -> None:
    first = salt_for("memories")
    (home / "salt").unlink()
    assert salt_for("memories") != first


def test_a_key_of_the_host_makes_it_the_same_on_every_machine(home: Path) -> None:
    assert salt_for("memories", b"k" * 32) == salt_for("memories", b"k" * 32) != salt_for("memories", b"l" * 32)
    assert salt_for("memories", b"k" * 32) != salt_for("other", b"k" * 32)
    assert not home.exists()


def test_who_comes_second_takes_what_the_first_made(home: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(lambda _: salt_for("memories"), range(200)))) == 1


def test_without_a_state_folder_it_is_this_processes_own(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    first = salt_for("memories")
    assert first == salt_for("memories")
    salting._of_this_process.cache_clear()
    assert salt_for("memories") != first


def test_what_is_no_salt_is_not_used(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "salt").write_bytes(b"short")
    assert len(salt_for("memories")) == 32
    assert (home / "salt").read_bytes() == b"short"
