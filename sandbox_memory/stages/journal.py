"""Journal: one line into `sessions/<rollout>.jsonl`, at the cost of the line."""

from __future__ import annotations

from collections.abc import Collection

from ..layout import Layout
from ..workspace import ABSENT, Append, Replace

IGNORED = {
    ".gitignore": b"# Transcripts of agent runs; not for version control.\n*\n",
    ".ignore": b"# Transcripts of agent runs; not for search tools.\n*\n",
}


def steps(layout: Layout, stem: str, line: bytes, existing: Collection[str]) -> list[Append | Replace]:
    """What appends `line` to the rollout, and, in a new folder, keeps transcripts away from git and rg.

    `existing` are the names in the sessions folder.
    """
    first: list[Append | Replace] = [
        Replace(layout.session(name), text, expect=ABSENT) for name, text in IGNORED.items() if name not in existing
    ]
    return [Append(layout.session(f"{stem}.jsonl"), line, private=True), *first]
