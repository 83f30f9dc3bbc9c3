"""An agent that does the SDK's phase 2 as its prompt demands, in the fewest turns that the prompt leaves room for.

The SDK consolidates with an agent that has a shell and `apply_patch`; what that costs depends on what the agent
does. This one is scripted and thrifty. For an update it needs five model calls:

1. read `memory_summary.md`, list `skills/` and `rollout_summaries/`, index the rollout references of `MEMORY.md`
   with one `grep`, and read the added conversation's section of `raw_memories.md` (all in one turn, as parallel
   calls);
2. open the one block of `MEMORY.md` that the new notes belong to, or the first one, to see where a new block goes;
3. write both files in one patch, `memory_summary.md` last;
4. the audit that the prompt's final pass asks for: references that stand twice, summaries that do not exist;
5. end.

It never opens the rest of `MEMORY.md`, older raw memories or a rollout summary, though the prompt tells it to dive
deep; a real model does more. Where `MEMORY.md` is empty it reads all raw memories and all summaries instead of 2,
and writes with the shell in 3. The commands run for real, in the session's sandbox.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from .counting import text_of
from .filled import sdk_blocks, sdk_index, sdk_task, sdk_topic
from .kit import calls, patches
from .texts import Conversation, conversation

ROOT = "memories"
_ADDED = re.compile(r"^- \[added\] rollout_id=chat-(\d{5})", re.M)
_HEADING = re.compile(r"^(\d+):# Task Group: (.*)$", re.M)
_AUDIT = (
    "cd memories; grep -o 'rollout_summaries/[^ ]*[.]md' MEMORY.md | sort | uniq -d; "
    "for f in $(grep -o 'rollout_summaries/[^ ]*[.]md' MEMORY.md | sort -u); do [ -e $f ] || echo missing $f; done"
)


class ShellAgent:
    """The script; give its method `answer` to a scripted model. One object for one model.

    `added` gives the conversations that are to be taken in; without it they are those that the prompt names as added.
    """

    def __init__(self, added: Callable[[], Sequence[Conversation]] | None = None) -> None:
        self._added = added
        self._turn = 0
        self._headings: list[tuple[str, str]] = []

    def answer(self, system: str, items: Sequence[Any]) -> Any:
        """The next step; a request with one item begins a new consolidation."""
        self._turn = 0 if len(items) == 1 else self._turn + 1
        added = self._added() if self._added else named(text_of(items[0]))
        shown = [text_of(item) for item in items[-4:] if isinstance(item, dict) and "output" in item]
        if self._turn == 0:
            return [_shell(command) for command in _first(added)]
        if self._turn == 1:
            self._headings = _HEADING.findall("\n".join(shown))
            if not self._headings:
                return _shell(f"cat {ROOT}/raw_memories.md {ROOT}/rollout_summaries/*.md")
            places = {title: int(line) for line, title in reversed(self._headings)}
            start = places.get(added[0].group, int(self._headings[0][0]))
            after = min((int(line) for line, _ in self._headings if int(line) > start), default=start + 60)
            return _shell(f"sed -n '{start},{after - 1}p' {ROOT}/MEMORY.md")
        if self._turn == 2:
            return patches(_update(added[0], shown[-1])) if self._headings else _shell(_init(added))
        if self._turn == 3:
            done = "Done!" in shown[-1] or "Updated" in shown[-1] or "exited with code 0" in shown[-1]
            assert done, f"the agent could not write: {shown[-1][:500]}"
            return _shell(_AUDIT)
        return "MEMORY.md and memory_summary.md are up to date."


def named(prompt: str) -> list[Conversation]:
    """The conversations that the SDK's prompt says were added."""
    return [conversation(int(number)) for number in _ADDED.findall(prompt)]


def _first(added: Sequence[Conversation]) -> list[str]:
    sections = [f"sed -n '/^rollout_id: {each.id}$/,/^rollout_id: /p' memories/raw_memories.md" for each in added]
    return [
        "cat memories/memory_summary.md; ls memories/skills",
        "ls memories/rollout_summaries",
        "grep -nE '^# Task Group|^scope:|rollout_id=' memories/MEMORY.md",
        *sections,
    ]


def _update(added: Conversation, block: str) -> str:
    """The patch that puts the new notes into the block that was shown, or into a new one before it."""
    shown = block[block.index("# Task Group: ") :].split("\n")
    title = shown[0]
    task = sdk_task(1, added).rstrip("\n").split("\n")
    if title == f"# Task Group: {added.group}":
        number = sum(line.startswith("## Task ") for line in shown) + 1
        task[0] = task[0].replace("## Task 1", f"## Task {number}")
        at = shown.index("## Reusable knowledge")
        failures = shown.index("## Failures and how to do differently")
        edits = [
            "@@ " + title,
            *(f" {line}" for line in shown[at - 3 : at]),
            *(f"+{line}" for line in [*task, ""]),
            *(f" {line}" for line in shown[at : at + 2]),
            f"+- {added.knowledge} [Task {number}]",
            f" {shown[at + 2]}",
            "@@",
            *(f" {line}" for line in shown[failures : failures + 2]),
            f"+- {added.lesson} [Task {number}]",
            f" {shown[failures + 2]}",
        ]
    else:
        new = [
            f"# Task Group: {added.group}",
            "",
            f"scope: how to {added.task}",
            "",
            *task,
            "",
            "## Reusable knowledge",
            "",
            f"- {added.knowledge} [Task 1]",
            "",
            "## Failures and how to do differently",
            "",
            f"- {added.lesson} [Task 1]",
            "",
        ]
        edits = ["@@", *(f"+{line}" for line in new), f" {title}", *(f" {line}" for line in shown[1:3])]
    topic = [f"+{line}" for line in sdk_topic(added.group, added).rstrip("\n").split("\n")]
    index = ["@@ ## What's in Memory", " ", " ### services", *topic]
    return _patch([("Update", "memories/MEMORY.md", edits), ("Update", "memories/memory_summary.md", index)])


def _init(added: Sequence[Conversation]) -> str:
    """The command that writes both files for the first time."""
    blocks, index = "\n".join(sdk_blocks(list(added))), sdk_index(list(added))
    return f"cat > {ROOT}/MEMORY.md <<'EOF'\n{blocks}\nEOF\ncat > {ROOT}/memory_summary.md <<'EOF'\n{index}\nEOF"


def _patch(files: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    lines = [line for what, path, edits in files for line in (f"*** {what} File: {path}", *edits)]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def _shell(command: str) -> Any:
    return calls("exec_command", json.dumps({"cmd": command}))
