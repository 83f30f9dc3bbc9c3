"""Every file below folders of a workspace, those that a look leaves out included: for a search that must miss none."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import WorkspaceError
from .session import LOOK_SECONDS, SessionWorkspace


async def files(workspace: object, folders: Sequence[str]) -> list[str]:
    """The regular files below these folders, workspace-relative and sorted; no symlink is followed.

    One call on a remote session. Names with a line break are left out. Raises `WorkspaceError` when the workspace
    cannot be reached.
    """
    if isinstance(workspace, SessionWorkspace):
        return await _in_session(workspace, folders)
    root = Path(getattr(workspace, "root", "."))
    found = set[str]()
    for folder in folders:
        if any(part.is_symlink() for part in _on_the_way(root, folder)):
            continue
        for place, _, names in os.walk(root / folder):
            paths = (Path(place) / name for name in names if "\n" not in name)
            found.update(
                path.relative_to(root).as_posix() for path in paths if path.is_file() and not path.is_symlink()
            )
    return sorted(found)


def _on_the_way(root: Path, folder: str) -> list[Path]:
    path = root / folder
    return [path, *(above for above in path.parents if root in above.parents)]


async def _in_session(workspace: SessionWorkspace, folders: Sequence[str]) -> list[str]:
    token = secrets.token_hex(8)
    words = " ".join(shlex.quote(f"./{folder}") for folder in folders)
    script = (
        f"cd {shlex.quote(str(workspace.root))} || exit 97\n"
        f'for p in {words}; do [ -h "$p" ] || [ ! -d "$p" ] || find "$p" -type f; done\necho "{token} end"'
    )
    try:
        result = await workspace.session.exec("sh", "-c", script, timeout=LOOK_SECONDS, shell=False)
    except Exception as error:  # any provider's, handed on with its cause
        raise WorkspaceError(".", f"the sandbox session failed to list its files: {error}") from error
    lines = result.stdout.decode("utf-8", "surrogateescape").splitlines()
    if not lines or lines.pop() != f"{token} end":
        raise WorkspaceError(".", f"the sandbox session did not list its files (exit code {result.exit_code})")
    return sorted({line.removeprefix("./") for line in lines if line.startswith("./")})
