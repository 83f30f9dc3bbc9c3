"""The names of what there is in a workspace, beyond what a look lists; nothing inside is read."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import WorkspaceError
from ..governance.redaction import redact
from .session import LOOK_SECONDS, SessionWorkspace


async def folders(workspace: object, patterns: Sequence[str]) -> list[str]:
    """The folders that match patterns such as `memories/tenant=*`, sorted; one call on a remote session.

    `*` is the one sign of a pattern that means more than itself. Raises `WorkspaceError` when the workspace cannot be
    reached.
    """
    if isinstance(workspace, SessionWorkspace):
        words = ["*".join(shlex.quote(each) if each else "" for each in p.split("*")) for p in patterns]
        return await _in_session(workspace, words, '[ ! -d "$p" ] || printf "%s\\n" "$p"')
    root = Path(getattr(workspace, "root", "."))
    literal = (re.sub(r"[\[?]", r"[\g<0>]", pattern) for pattern in patterns)
    found = {path for pattern in literal for path in root.glob(pattern) if path.is_dir()}
    return sorted(path.relative_to(root).as_posix() for path in found)


async def files(workspace: object, tops: Sequence[str]) -> list[str]:
    """All regular files below these folders, sorted, those included that a look leaves out; no symlink is followed.

    One call on a remote session. Names with a line break are left out. Raises `WorkspaceError` when the workspace
    cannot be reached.
    """
    if isinstance(workspace, SessionWorkspace):
        words = [shlex.quote(top) for top in tops]
        return await _in_session(workspace, words, '[ -h "$p" ] || [ ! -d "$p" ] || find "$p" -type f')
    root = Path(getattr(workspace, "root", "."))
    found = set[str]()
    for top in tops:
        if any(part.is_symlink() for part in _on_the_way(root, top)):
            continue
        for place, _, names in os.walk(root / top):
            paths = (Path(place) / name for name in names if "\n" not in name)
            found.update(
                path.relative_to(root).as_posix() for path in paths if path.is_file() and not path.is_symlink()
            )
    return sorted(found)


def _on_the_way(root: Path, folder: str) -> list[Path]:
    path = root / folder
    return [path, *(above for above in path.parents if root in above.parents)]


async def _in_session(workspace: SessionWorkspace, words: Sequence[str], show: str) -> list[str]:
    """The paths that the shell command `show` prints for each `$p` that the quoted words stand for."""
    token = secrets.token_hex(8)
    places = " ".join(f"./{word}" for word in words)
    script = f'cd {shlex.quote(str(workspace.root))} || exit 97\nfor p in {places}; do {show}; done\necho "{token} end"'
    try:
        result = await workspace.session.exec("sh", "-c", script, timeout=LOOK_SECONDS, shell=False)
    except Exception as error:  # any provider's, handed on with its cause
        told = f"the sandbox session failed to list what there is: {redact(str(error))}"
        raise WorkspaceError(".", told) from error
    # Not by `splitlines`, which also breaks names at signs that only Unicode takes for line ends.
    lines = re.split(r"\r?\n", result.stdout.decode("utf-8", "surrogateescape").rstrip("\r\n"))
    if lines.pop() != f"{token} end":
        raise WorkspaceError(".", f"the sandbox session did not list what there is (exit code {result.exit_code})")
    return sorted({line.removeprefix("./") for line in lines if line.startswith("./")})
