"""Real editors and tools save `MEMORY.md` while it is watched: each edit is taken in once, as a person's."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sandbox_memory import open_memory
from sandbox_memory.records import Trust

from .editing import REVIEW, TABS, begun, consistent, record, settled
from .kit import handbook, state, texts
from .test_watching import Noting, until

PROMPT = 60.0


def typed(path: Path, command: Sequence[str], keys: Sequence[str]) -> None:
    """Run an editor on a terminal of its own and type into it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm", "HOME": str(path.parent.parent)}
        os.execvp(command[0], [*command, str(path)])
    try:
        time.sleep(0.7)
        for key in keys:
            os.write(terminal, key.encode())
            time.sleep(0.15)
        _drain(terminal)
        os.waitpid(pid, 0)
    finally:
        os.close(terminal)


def _drain(terminal: int) -> None:
    """Read what it prints until it ends; an editor that nobody reads from stops."""
    end = time.monotonic() + PROMPT
    while time.monotonic() < end:
        try:
            if not os.read(terminal, 65536):
                return
        except OSError:  # how Linux says that the other side has ended
            return


def vim(*settings: str) -> Callable[[Path], None]:
    def work(path: Path) -> None:
        options = [part for each in settings for part in ("-c", f"set {each}")]
        edits = ["-c", "%s/8443/9443/", "-c", f"g/{TABS}/d", "-c", "normal ggO- a line of mine", "-c", "wq"]
        subprocess.run(
            ["vim", "-u", "NONE", "-N", "-es", *options, *edits, str(path)], check=True, timeout=PROMPT, env=_home(path)
        )

    return work


def nano(path: Path) -> None:
    # ^\ replaces: what, by what, all of them. Then a line at the top, and ^K takes the line with the cursor out.
    replaced, added = ("\x1c", "8443\r", "9443\r", "a"), ("\x1b\\", "- a line of mine\r")
    taken_out, saved = ("\x17", f"{TABS}\r", "\x01", "\x0b"), ("\x0f", "\r", "\x18")
    typed(path, ["nano", "--ignorercfiles"], [*replaced, *added, *taken_out, *saved])


def emacs(path: Path) -> None:
    program = (
        f'(progn (find-file "{path}") (while (search-forward "8443" nil t) (replace-match "9443")) '
        f'(goto-char (point-min)) (search-forward "{TABS}") (beginning-of-line) (kill-line 1) '
        '(goto-char (point-min)) (insert "- a line of mine\\n\\n") (save-buffer))'
    )
    subprocess.run(["emacs", "-Q", "--batch", "--eval", program], check=True, timeout=PROMPT, env=_home(path))


def ed(path: Path) -> None:
    script = f"g/8443/s//9443/\n/{TABS}/d\n0a\n- a line of mine\n\n.\nw\nq\n"
    subprocess.run(["ed", "-s", str(path)], input=script, text=True, check=True, timeout=PROMPT)


def sed(path: Path) -> None:
    edits = ["-e", "s/8443/9443/", "-e", f"/{TABS}/d", "-e", "1i - a line of mine\\n"]
    subprocess.run(["sed", "-i", *edits, str(path)], check=True, timeout=PROMPT)


def perl(path: Path) -> None:
    program = f"s/8443/9443/; $_ = '' if /{TABS}/; print \"- a line of mine\\n\\n\" if $. == 1"
    subprocess.run(["perl", "-pi.bak", "-e", program, str(path)], check=True, timeout=PROMPT)


def git(path: Path) -> None:
    """The edit comes with a checkout."""
    root = path.parent.parent

    def run(*arguments: str) -> None:
        names = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *names, *arguments], cwd=root, check=True, timeout=PROMPT, capture_output=True)

    run("init")
    run("add", path.relative_to(root).as_posix())
    run("commit", "-m", "before")
    run("switch", "-c", "edited")
    copy = path.with_name("copy.txt")
    copy.write_bytes(path.read_bytes())
    sed(copy)
    # By git's own hands alone: the file that is watched is not touched before the checkout.
    blob = subprocess.run(["git", "hash-object", "-w", str(copy)], cwd=root, check=True, capture_output=True, text=True)
    copy.unlink()
    run("update-index", "--cacheinfo", f"100644,{blob.stdout.strip()},{path.relative_to(root).as_posix()}")
    run("commit", "-m", "edited")
    run("checkout", "-f", "edited")


def formatted(path: Path) -> None:
    """An edit, and a formatter over it in the moment after."""
    sed(path)
    subprocess.run([sys.executable, "-m", "mdformat", str(path)], check=True, timeout=PROMPT)


def rsync(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.copy2(path, elsewhere / path.name)
    sed(elsewhere / path.name)
    subprocess.run(["rsync", "-a", f"{elsewhere}/", f"{path.parent}/"], check=True, timeout=PROMPT)


def _home(path: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(path.parent.parent), "TERM": "dumb"}


WAYS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "vim": ("vim", vim()),
    "vim, backup by copying": ("vim", vim("backup", "backupcopy=yes")),
    "vim, backup by renaming": ("vim", vim("backup", "backupcopy=no")),
    "nano": ("nano", nano),
    "emacs": ("emacs", emacs),
    "ed": ("ed", ed),
    "sed -i": ("sed", sed),
    "perl -pi": ("perl", perl),
    "git checkout": ("git", git),
    "mdformat": ("sed", formatted),
    "rsync": ("rsync", rsync),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the editors are called as on Linux")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", WAYS)
def test_an_edit_by_a_real_program(tmp_path: Path, name: str) -> None:
    program, work = WAYS[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    root, wanted = begun("few", tmp_path / "ws"), {"a line of mine", "the staging port is 9443", REVIEW}
    with Noting(root) as noting:
        work(handbook(root))
        until(lambda: {each.text for each in state(root).visible().values()} == wanted)
        until(lambda: noting.told)
    consistent(root)
    assert texts(root) == wanted
    assert record(root, "9443").trust is Trust.HAND and record(root, "of mine").trust is Trust.HAND
    settled(root)


def test_a_wrapped_chinese_line_is_the_line_that_was_read_with_a_blank_in_it(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        record = memory.add("请先确认会员号， 再查订单。")
        path = tmp_path / "memories" / "MEMORY.md"
        wrapped = path.read_text(encoding="utf-8").replace("会员号， 再", "会员号，\n  再")
        path.write_text(wrapped, encoding="utf-8")
        commits = len(memory.history())
        assert memory.records() == [record] and len(memory.history()) == commits
        assert path.read_text(encoding="utf-8") == wrapped
        path.write_text(wrapped + "- 退款要\n  三天，到账\n  会有短信。\n", encoding="utf-8")
        assert {each.text for each in memory.records()} == {record.text, "退款要三天，到账会有短信。"}
