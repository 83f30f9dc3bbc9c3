"""What every test runs under: a state folder of its own, no key, no tracing, no colours."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# Examples are drawn anew at each run, but in CI the same ones each time: a failure there is a change's own. There is no
# deadline, and no complaint about slowness: the machine may be doing other work.
settings.register_profile(
    "house",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

state = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    # In the environment, and before any test module is imported, so that processes which tests start inherit it.
    config.stash[state] = os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="sandbox-memory-state-")
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    for name in list(os.environ):
        if name.startswith("OPENAI_") and name != "OPENAI_AGENTS_DISABLE_TRACING":
            del os.environ[name]
    for name in ("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "COLUMNS", "LINES"):
        os.environ.pop(name, None)  # each changes what Rich prints into a pipe


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[state], ignore_errors=True)


@pytest.fixture
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder for one test alone: a host that knows no workspace."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory of three records."""
    from .editing import begun  # not before the environment is as it is to be

    return begun("few", tmp_path / "ws")


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """The same and twenty more."""
    from .editing import begun

    return begun("many", tmp_path / "ws")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real transcripts and cases beside the checkout; without it, a test that needs it is skipped."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared is not beside this checkout")
    return SHARED
