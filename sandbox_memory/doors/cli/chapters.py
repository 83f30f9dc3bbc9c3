"""The history in chapters: commits that only read conversations, or clean up after a forgetting, are told as one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...folding.chronicle import ERASED
from .screen import listed, many

_READING = frozenset(("extract", "consume", "usage"))
_CLEANING = frozenset(("retitle", "consume", "erased", "usage"))
_COUNT = re.compile(r"[0-9]+ memor")
NAMED = 6
"""How many conversations are named."""


@dataclass(frozen=True)
class Chapter:
    """Commits that belong together, the newest first; `kind` is `read`, `forgotten`, or `one` for a commit alone.

    `last` is false where the commit after it says what its reading led to.
    """

    kind: str
    commits: tuple[Mapping[str, Any], ...]
    last: bool = True

    @property
    def numbers(self) -> str:
        """`41`, or `41-45` as `undo` takes it."""
        newest, oldest = self.commits[0]["commit"], self.commits[-1]["commit"]
        return f"{oldest}-{newest}" if newest != oldest else f"{newest}"

    @property
    def operations(self) -> list[Mapping[str, Any]]:
        """What is told of it: of a forgetting what was asked for, of anything else all."""
        own = [o for commit in reversed(self.commits) for o in commit["operations"] if o["op"] != "usage"]
        return [o for o in own if o["op"] not in _CLEANING and not _stays(o)] if self.kind == "forgotten" else own

    @property
    def reading(self) -> tuple[str, str]:
        """For conversations that were read: what was done, and with what outcome."""
        own = self.operations
        reads = [str(operation["id"]) for operation in own if operation["op"] == "extract"]
        stems = list(dict.fromkeys(reads))
        if not stems:
            passed = list(dict.fromkeys(str(operation["id"]) for operation in own))
            new = sorted({stem for commit in self.commits for stem in commit["consolidated"]})
            return ("passed over", _named(passed)) if passed else ("read", f"{_named(new)}: nothing new")
        passed_over = {str(operation["id"]) for operation in own if operation["op"] == "consume"}
        old = [stem for stem in stems if stem in passed_over or reads.count(stem) > 1]
        times = max(map(reads.count, stems))
        often = f", {times} times" if times > 1 else ""
        texts = [str(operation["text"]) for operation in own if operation["op"] == "extract"]
        if len(old) == len(stems):
            return "read again", f"{_named(stems)}{often}{': nothing new' if self.last else ''}"
        if old:
            return "read", f"{_named(stems)}, {len(old)} of them again"
        count = sum(int(text.split()[0]) for text in texts if _COUNT.match(text))
        return "read", f"{_named(stems)}: {ERASED if ERASED in texts else many(count, 'memory', 'memories')}"


def chapters(commits: Sequence[Mapping[str, Any]]) -> list[Chapter]:
    """The commits, given with the newest first, in chapters with the newest first."""
    found: list[Chapter] = []
    for commit in reversed(commits):
        operations = {operation["op"] for operation in commit["operations"]}
        before = found[-1] if found else None
        cleaning = operations and operations <= _CLEANING and commit["actor"] != "extraction"
        if before and before.kind == "forgotten" and cleaning:
            found[-1] = Chapter("forgotten", (commit, *before.commits))
        elif "erase" in operations:
            found.append(Chapter("forgotten", (commit,)))
        elif operations <= _READING and (operations or commit["consolidated"]) and not commit["settings"]:
            if before and before.kind == "read":
                found[-1] = Chapter("read", (commit, *before.commits))
            else:
                found.append(Chapter("read", (commit,)))
        else:
            if before and before.kind == "read" and commit["actor"] == "consolidation":
                found[-1] = Chapter("read", before.commits, last=False)
            found.append(Chapter("one", (commit,)))
    return found[::-1]


def _stays(operation: Mapping[str, Any]) -> bool:
    """True of a line that a forgetting wrote down anew as it is, since its history went."""
    return operation["op"] == "restate" and bool(operation.get("marks", {}).get("same"))


def _named(stems: Sequence[str]) -> str:
    whole = many(len(stems), "conversation")
    return f"{whole} ({listed(stems)})" if len(stems) <= NAMED else whole
