"""What memory writes itself around people's words: names of its files, marks, keys and headings.

Where a forgotten text reads like one of these, it is sought beside them, and they stay as they are.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache

from ...layout import load_preset, preset_names
from ...stages import journal

NAMES = frozenset(
    "MEMORY.md memory_summary.md INBOX.md ledger.jsonl usage.jsonl raw_memories.md phase_two_selection.json "
    "raw_memories rollout_summaries skills SKILL.md .open .lock".split()
).union(journal.IGNORED)
"""Names of files and folders that every memory has."""
KEYS = frozenset("version updated_at rollout_path rollout_summary_file terminal_state".split())
"""Keys of the selection of conversations whose values are ours; names in them are looked at as names."""

_KINDS = "preference|fact|procedure|lesson|task|episode"
_TRUST = "hand|user|observed|agent|external"
_STATE = "completed|interrupted|cancelled|failed|max_turns_exceeded|guardrail_tripped|unknown"
_PATTERN = re.compile(
    r"<!-- memory:(?:begin |end )?[0-9a-f]+ -->"
    r"|^# Task Group:|^scope:|^## Task \d+:?|^### (?:rollout_summary_files|keywords)[ \t]*$|^More in MEMORY\.md:"
    r"|^# Inbox[ \t]*$|^Tick a line to accept it, delete it to refuse it\."
    r"|^## From earlier runs of this conversation[ \t]*$|[ ]\[Task \d+\]|[ ]\^[a-z]-[0-9a-f]{10}\b"
    rf"|^- (?:{_KINDS}):|^[ ]{{2}}> — (?:{_TRUST}), [0-9a-f-]+ item \d+[ \t]*$|^keywords:"
    r"|^[ ]*(?:-|\d+[.)]) (?:\[[ x]\] )?(?:tool|agent|quoted):(?= \")"
    rf"|^updated_at: ?[\dT:.+-]*|^terminal_state:(?: (?:{_STATE})[ \t]*$)?|^consumed_bytes: ?\d*|^written: ?[0-9a-f]*"
    r"|^(?:session_id|rollout_id):(?: unknown[ \t]*$)?"
    r"|^(?:rollout_path|rollout_summary_file): ?(?:[^\s/]+/)*|^- rollout_summaries/"
    r"|^(?:name|description|metadata):|^  (?:written: \"?[0-9a-f]*\"?|source: sandbox_memory)[ \t]*$"
    r"|: commands that worked before\. Use when the task is of this kind\."
    r"|^(?:## What failed before|## 曾经失败)[ \t]*$"
    r"|^These commands worked in \d+ conversations, the last time on [\d-]+\. Check first what may have changed\."
    r"|^以下命令在 \d+ 次会话中都成功过，最近一次是 [\d-]+。使用前先确认情况没有变化。"
    r"|^[0-9a-f]{64} (?:[^\s/]+/)*|\"(?:at|injected|searched|cited|uses)\":",
    re.MULTILINE,
)


def is_own(path: str, data: bytes) -> bool:
    """True for a file of which every byte is ours."""
    return journal.IGNORED.get(posixpath.basename(path)) == data


def beside(found: Iterable[tuple[int, int]], said: str) -> Iterator[tuple[int, int]]:
    """The places in a text but those that lie within what is ours."""
    places = list(found)
    ours = sorted(_ours(said)) if places else []
    starts = [start for start, _ in ours]
    for start, end in places:
        at = bisect_right(starts, start) - 1
        if at < 0 or ours[at][1] < end:
            yield start, end


def _ours(said: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _PATTERN.finditer(said))
    for match in re.finditer(r"^## ([^\r\n]+?)[ \t]*\r?$", said, re.MULTILINE):
        if match[1] in _headings():
            yield match.span()


@cache
def _headings() -> frozenset[str]:
    return frozenset(heading for name in preset_names() for heading in load_preset(name).headings.values())
