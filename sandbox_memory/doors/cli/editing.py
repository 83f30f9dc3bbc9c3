"""The person's own editor on a file."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import typer

from ...errors import SandboxMemoryError
from .places import EDITED, Misuse, Place, around, find, shown

FOR_PEOPLE = ("MEMORY.md", "memory_summary.md", "INBOX.md", "raw_memories/*.md", "skills/*/SKILL.md")
"""The files of a memory that people edit, below its folder."""
ARCHIVE = re.compile(r"\.(?:tar(?:\.\w+)?|t[gbx]z2?)$", re.IGNORECASE)
MOST = 6
"""How many of one kind are named."""

USUAL = ("editor", "sensible-editor", "nano", "vi")
"""Editors that are looked for where the variables name none."""
WAITS = {
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "zed", "atom"), "--wait"),
    **dict.fromkeys(("subl", "mate", "gedit", "pluma", "xed", "bbedit"), "--wait"),
    **dict.fromkeys(("gvim", "mvim"), "--nofork"),
    "kate": "--block",
}
"""Editors that come back at once, and what makes them stay until the file is closed."""
AT_A_LINE = {
    **dict.fromkeys("vi vim nvim gvim mvim view vis nano pico emacs emacsclient micro joe mg ne".split(), "+{line}"),
    **dict.fromkeys("kak mcedit gedit xed pluma geany bbedit editor sensible-editor".split(), "+{line}"),
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"), "--goto {file}:{line}"),
    **dict.fromkeys(("hx", "helix", "subl", "zed", "atom"), "{file}:{line}"),
    **dict.fromkeys(("kate", "mate"), "--line {line}"),
    "jed": "{file} -g {line}",
}
"""How editors are told the line: what stands before the file's name, or in the place of it."""
PATIENCE = 3.0
"""Seconds that an editor has to close when it is told to."""


@dataclass
class Ending:
    """What `deferred` has held back: the number of a signal that asks to end, 0 for none, and the open editor."""

    number: int = 0
    editor: subprocess.Popen[bytes] | None = None

    def pass_on(self) -> None:
        """Tell the editor to end, and end it if it does not."""
        if self.editor and self.number:
            with suppress(OSError):
                self.editor.send_signal(self.number)
            last = threading.Timer(PATIENCE, self.editor.kill)
            last.daemon = True
            last.start()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        self.pass_on()


@contextmanager
def deferred(archive: Path) -> Iterator[Ending]:
    """A hangup or a request to end closes the editor alone; the process ends when the block is done.

    For what is lost otherwise: an `archive` has what was saved only once it is packed.
    """
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    numbers = [each for each in (signal.SIGHUP, signal.SIGTERM) if signal.getsignal(each) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, ending)
    try:
        yield ending
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
    if ending.number:
        with suppress(OSError):  # after a hangup there is no terminal
            typer.echo(f"ended by a signal; what was saved until then is in {archive}", err=True)
        raise SystemExit(128 + ending.number)


def at_work(path: Path, line: int = 0, archive: Path | None = None, ending: Ending | None = None) -> None:
    """Open the file, at that line where the editor knows how, and come back when the editor has closed.

    One of an `archive` is there for that time only.

    Raises `Misuse` where no editor is known, `SandboxMemoryError` for one that cannot be started or fails.
    """
    words, ending = calling(_editor(), path, line), ending or Ending()
    if ending.number:
        return
    try:  # its screen is the terminal's, whatever becomes of our output
        code = _run(words, None if sys.stdout.isatty() else 2, ending)
    except OSError as error:
        raise Misuse(
            f"the editor {words[0]} cannot be started: {error.strerror or error}; name another in EDITOR"
        ) from error
    if code and not ending.number:
        after = f"what it saved in {shown(path)} is taken in by the next command"
        after = f"{archive} was not changed" if archive else after
        raise SandboxMemoryError(f"the editor {words[0]} ended with {code}; {after}")


def _run(words: list[str], output: int | None, ending: Ending) -> int:
    with subprocess.Popen(words, stdout=output) as editor:
        ending.editor = editor
        ending.pass_on()  # of a signal that came in while it was started
        try:
            return editor.wait()
        except BaseException:
            editor.kill()
            raise
        finally:
            ending.editor = None


def target(word: str) -> tuple[str, int] | None:
    """For `FILE` or `FILE:LINE` the file and the line, 0 for none; None for what can only be an id."""
    file, colon, number = word.rpartition(":")
    file, line = (file, int(number)) if colon and number.isdecimal() else (word, 0)
    return (file, line) if "/" in file or "." in file else None


def found(file: str, workspace: Path | None, memories: str | None, sessions: str | None) -> tuple[Place, Path]:
    """The memory that the file belongs to, and the file; it is looked for from here, and in the memory's folder.

    Raises `Misuse` for a file that is not for people to edit, or not there, with those that are.
    """
    if ARCHIVE.search(file):
        there = Path(file).exists()
        raise Misuse(f"{file} is no tar archive that can be read" if there else f"there is no file {file}")
    if workspace is None and memories is None and (known := around(Path(file))):
        return find(known[0], known[1], sessions), Path(file)
    try:
        place = find(workspace, memories, sessions)
    except Misuse as error:
        if Path(file).exists():
            raise
        raise Misuse(f"there is no file {file}; {error}") from error
    folder = place.root / place.memories_dir / place.scope.folder
    tries = [folder / file, place.root / file, Path(file)]
    real = next((path for path in tries if path.is_file() and _for_people(path, folder)), None)
    if real is not None:
        return place, real
    names = [shown(folder / name) for name in files(folder)]
    few = names if len(names) <= MOST + 4 else [*names[:MOST], f"{len(names) - MOST} more of raw_memories/ and skills/"]
    such = next((path for path in tries if path.exists()), None)
    why = ": no question waits" if Path(file).name == "INBOX.md" else ""
    what = f"{shown(such)} is not for editing" if such else f"there is no {file}{why}"
    raise Misuse(f"{what}; edit one of these: {', '.join(few)}" if few else f"{what}, and nothing else to edit yet")


def files(folder: Path) -> list[str]:
    """The files below a memory's folder that people edit, as far as they are there."""
    there = [path for name in FOR_PEOPLE for path in sorted(folder.glob(name)) if path.is_file()]
    return [path.relative_to(folder).as_posix() for path in there]


def _for_people(path: Path, folder: Path) -> bool:
    """True for one of the files that people edit in that memory's folder."""
    inside = EDITED.search(f"/{os.path.relpath(path, folder)}")
    return inside is not None and inside[1] == os.path.relpath(path, folder)


def calling(editor: list[str], path: Path, line: int = 0) -> list[str]:
    """The words that start this `editor` on the file, at the line if there is one and the editor can be told."""
    names = [Path(word).name.partition(".")[0] for word in editor]
    known = next((name for name in names if name in AT_A_LINE), "")
    wait = WAITS.get(known, "")
    words = [*editor, *([wait] if wait and wait not in editor and not {"-w", "-b", "-f"}.intersection(editor) else [])]
    if not line or not known:
        return [*words, str(path)]
    place = [part.format(file=path, line=line) for part in AT_A_LINE[known].split(" ")]
    return [*words, *place, *([] if "{file}" in AT_A_LINE[known] else [str(path)])]


def _editor() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(variable, "")):
            return words
    found = next((name for name in USUAL if shutil.which(name)), "")
    if not found:
        raise Misuse("no editor is known; name yours, as in `EDITOR=nano sandbox-memory edit`")
    return [found]
