"""The shells complete our words: each is started for real, in a home of its own, and has its tab key pressed."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from .test_cli import of

PROGRAM = Path(sys.executable).with_name("sandbox-memory")
PATIENCE = 40.0


def pressed(shell: str, folder: Path, env: dict[str, str], keys: bytes) -> bytes:
    """Type into an interactive shell until the file `out` is there and whole; what stood on the screen."""
    child, screen = pty.fork()
    if not child:
        os.chdir(folder)
        os.execve(str(shutil.which(shell)), [shell, "-i"], env)
    seen, end, typed = b"", time.monotonic() + PATIENCE, False
    try:
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 300, 0, 0))
        quiet = time.monotonic()
        while time.monotonic() < end and not (folder / "done").exists():
            if select.select([screen], [], [], 0.05)[0]:
                seen += os.read(screen, 65536)
                quiet = time.monotonic()
            elif not typed and seen and time.monotonic() - quiet > 0.5:  # its prompt stands there
                os.write(screen, keys)
                typed = True
    finally:
        os.close(screen)
        os.waitpid(child, 0)
    return seen


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the program is not installed beside this Python")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_command_option_scope_and_id(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    folder, programs = tmp_path / "ws", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    (programs / "sandbox-memory").symlink_to(PROGRAM)
    kept = {name: os.environ[name] for name in ("XDG_STATE_HOME", "LANG") if name in os.environ}
    env = {"HOME": str(tmp_path), "PATH": f"{programs}:/usr/bin:/bin", "TERM": "xterm", **kept}
    record = of("add", "bob likes tea", "--user", "bob", "--workspace", folder)["record"]
    of("add", "ann likes coffee", "--user", "ann", "--workspace", folder)
    installed = subprocess.run([shell, "-c", "sandbox-memory --install-completion; true"], env=env, timeout=30)
    assert installed.returncode == 0
    # pin --user bob m-… --json
    screen = pressed(shell, folder, env, b"sandbox-memory pi\t--use\tbo\tm-\t--js\t> out; touch done\n")
    assert (folder / "done").exists(), screen
    pinned = json.loads((folder / "out").read_text(encoding="utf-8"))
    assert [each["id"] for each in pinned["records"]] == [record["id"]] and pinned["records"][0]["pinned"] is True, (
        screen
    )
