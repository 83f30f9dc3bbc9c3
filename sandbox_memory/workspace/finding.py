"""Which folders of a workspace there are, by shell patterns: names only, nothing inside them is read."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import WorkspaceError
from .session import LOOK_SECONDS, SessionWorkspace


async def folders(workspace: object, patterns: Sequence[str]) -> list[str]:
    """The folders that match patterns such as `memories/tenant=*`, sorted; one call on a remote session.

    `*` is the one sign of a pattern that means more than itself. Raises `WorkspaceError` when the workspace cannot be
    reached.
    """
    if isinstance(workspace, SessionWorkspace):
        return await _in_session(workspace, patterns)
    return local_folders(Path(getattr(workspace, "root", ".")), patterns)


def local_folders(root: Path, patterns: Sequence[str]) -> list[str]:
    """The same below a folder of this machine."""
    literal = (re.sub(r"[\[?]", r"[\g<0>]", pattern) for pattern in patterns)
    found = {path for pattern in literal for path in root.glob(pattern) if path.is_dir()}
    return sorted(path.relative_to(root).as_posix() for path in found)


async def _in_session(workspace: SessionWorkspace, patterns: Sequence[str]) -> list[str]:
    token = secrets.token_hex(8)
    words = " ".join("*".join(shlex.quote(each) if each else "" for each in p.split("*")) for p in patterns)
    show = f'[ ! -d "$p" ] || printf "%s\\n" "{token} $p"'
    script = f'cd {shlex.quote(str(workspace.root))} || exit 97\nfor p in {words}; do {show}; done\necho "{token} end"'
    try:
        result = await workspace.session.exec("sh", "-c", script, timeout=LOOK_SECONDS, shell=False)
    except Exception as error:  # any provider's, handed on with its cause
        raise WorkspaceError(".", f"the sandbox session failed to list folders: {error}") from error
    lines = result.stdout.decode("utf-8", "replace").splitlines()
    found = [line.removeprefix(f"{token} ") for line in lines if line.startswith(f"{token} ")]
    if not found or found.pop() != "end":
        raise WorkspaceError(".", f"the sandbox session did not list its folders (exit code {result.exit_code})")
    return sorted(set(found))
