"""What a user gets: the wheel holds the package with its two folders, nothing else, and finds them wherever it is."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("sandbox_memory", "layouts", "prompts")


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("elsewhere")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-user",
        "--target",
        target,
    ]
    run(*pip, wheel, cwd=target)
    return target


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_the_wheel_holds_every_file_of_the_package_and_the_two_folders(wheel: Path) -> None:
    expected = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                inside = path.relative_to(ROOT).as_posix()
                expected.add(inside if folder == "sandbox_memory" else f"sandbox_memory/{inside}")
    assert {name for name in expected if name.startswith("sandbox_memory/layouts/")}
    assert {name for name in expected if name.endswith(".md.j2")}
    # Equal, not a subset: a file that git ignores is dropped silently, and one of a test or of a person must not ship.
    assert {name for name in names_in(wheel) if ".dist-info/" not in name} == expected


def test_the_wheel_says_its_licence_its_types_and_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {name.split(".dist-info/")[-1]: name for name in archive.namelist()}
        assert archive.read(files["licenses/LICENSE"]) == (ROOT / "LICENSE").read_bytes()
        assert "License-Expression: MIT" in archive.read(files["METADATA"]).decode("utf-8").splitlines()
        commands = archive.read(files["entry_points.txt"]).decode("utf-8")
    assert "sandbox-memory = sandbox_memory.doors.cli:main" in commands
    assert "sandbox_memory/py.typed" in names_in(wheel)
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


LOOK = """
import sys
sys.path.insert(0, sys.argv[1])
import sandbox_memory.shipped as shipped
from sandbox_memory.layout import preset_names
print(shipped.__file__)
print(shipped.folder("layouts"))
print(shipped.folder("prompts"))
print(*preset_names())
"""


def test_the_folders_are_found_in_an_installed_wheel(installed: Path, tmp_path: Path) -> None:
    module, layouts, prompts, presets = run(sys.executable, "-c", LOOK, installed, cwd=tmp_path).splitlines()
    package = installed / "sandbox_memory"
    assert Path(module) == package / "shipped.py"
    assert (Path(layouts), Path(prompts)) == (package / "layouts", package / "prompts")
    assert presets.split() == sorted(path.parent.name for path in (ROOT / "layouts").glob("*/layout.toml"))
    for folder in ("layouts", "prompts"):
        for path in (ROOT / folder).rglob("*.*"):
            assert (package / folder / path.relative_to(ROOT / folder)).read_bytes() == path.read_bytes()


def test_the_folders_are_found_in_a_bare_checkout(tmp_path: Path) -> None:
    module, layouts, prompts, presets = run(sys.executable, "-c", LOOK, ROOT, cwd=tmp_path).splitlines()
    assert Path(module) == ROOT / "sandbox_memory" / "shipped.py"
    assert (Path(layouts), Path(prompts)) == (ROOT / "layouts", ROOT / "prompts")
    assert "default" in presets.split()


def test_a_missing_folder_is_a_broken_installation_and_said_so() -> None:
    from sandbox_memory.errors import SandboxMemoryError
    from sandbox_memory.shipped import folder

    with pytest.raises(SandboxMemoryError, match=r"'nowhere' is missing.*reinstall"):
        folder("nowhere")
