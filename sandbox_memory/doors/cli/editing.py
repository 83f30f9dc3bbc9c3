"""The person's own editor on a file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ...errors import SandboxMemoryError
from .places import Misuse, shown

USUAL = ("editor", "sensible-editor", "nano", "vi")
"""Editors that are looked for where the variables name none."""
AT_A_LINE = frozenset("vi vim nvim nano pico emacs emacsclient micro joe jed mg ne kak kate gedit editor".split())
"""Editors that take `+LINE` before the file."""


def at_work(path: Path, line: int = 0) -> None:
    """Open the file, at that line where the editor knows how, and come back when the editor has closed.

    Raises `Misuse` where no editor is known, `SandboxMemoryError` for one that cannot be started or fails.
    """
    words = _editor()
    name = Path(words[0]).name
    place = [f"+{line}"] if line and name in AT_A_LINE else []
    try:  # its screen is the terminal's, whatever becomes of our output
        output = None if sys.stdout.isatty() else 2
        code = subprocess.run([*words, *place, str(path)], stdout=output, check=False).returncode
    except OSError as error:
        raise Misuse(
            f"the editor {words[0]} cannot be started: {error.strerror or error}; name another in EDITOR"
        ) from error
    if code:
        raise SandboxMemoryError(
            f"the editor {words[0]} ended with {code}; what it saved in {shown(path)} is taken in by the next command"
        )


def _editor() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(variable, "")):
            return words
    found = next((name for name in USUAL if shutil.which(name)), "")
    if not found:
        raise Misuse("no editor is known; name yours, as in `EDITOR=nano sandbox-memory edit`")
    return [found]
