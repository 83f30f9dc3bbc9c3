"""What the scripted models of both sides say: extractions for the SDK's schema and for ours, and our consolidations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from .counting import text_of
from .texts import Conversation, conversation

_NOTED = re.compile(r"Please take note (\d+), on ")
_CANDIDATE = re.compile(r"^(c\d+) ", re.M)


def opening(noted: Conversation) -> str:
    """What the user says first: the two things that the conversation is to teach, word for word."""
    return f"Please take note {noted.number}, on `{noted.keywords[4]}`: {noted.knowledge} {noted.lesson}"


def noted_in(items: Sequence[Any]) -> Conversation:
    """The conversation that a request is about: the last one that its user numbered."""
    return conversation(int(_NOTED.findall(text_of(items[0]))[-1]))


def sdk_extraction(system: str, items: Sequence[Any]) -> str:
    """An answer to the SDK's phase 1, with notes in the form that its instructions demand."""
    noted = noted_in(items)
    return json.dumps(
        {
            "rollout_slug": noted.slug,
            "rollout_summary": sdk_summary(noted),
            "raw_memory": sdk_notes(noted),
        }
    )


def our_extraction(system: str, items: Sequence[Any]) -> str:
    """An answer to our phase 1: the same notes, and the two memories with their quotes."""
    noted = noted_in(items)
    numbers = re.findall(r"^\[(s\d+\.\d+) user\]", text_of(items[0]), re.M)
    kinds = (("fact", noted.knowledge), ("lesson", noted.lesson))
    return json.dumps(
        {
            "task": noted.task,
            "slug": noted.slug,
            "summary": sdk_summary(noted),
            "raw_memory": f"{noted.knowledge} {noted.lesson}",
            "keywords": list(noted.keywords),
            "memories": [
                {"kind": kind, "text": text, "subject": "", "quotes": [{"item": numbers[-1], "text": text}]}
                for kind, text in kinds
            ],
        }
    )


def our_consolidation(group: Callable[[], str] | None = None) -> Callable[[str, Sequence[Any]], str]:
    """Answers our phase 2: every candidate is new, in the group that is given or in one of its own."""

    def answer(system: str, items: Sequence[Any]) -> str:
        names = dict.fromkeys(_CANDIDATE.findall(text_of(items[0])))
        title = group() if group else ""
        return json.dumps({"operations": [{"op": "add", "candidates": [name], "group": title} for name in names]})

    return answer


def sdk_notes(noted: Conversation) -> str:
    """A raw memory in the SDK's form."""
    return f"""---
description: {noted.task} for {noted.keywords[0]}, done and checked
task: {noted.task}
task_group: {noted.group}
task_outcome: success
keywords: {", ".join(noted.keywords)}
---

### Task 1: {noted.task}

task: {noted.task}
task_group: {noted.group}
task_outcome: success

Preference signals:
- the user said: "{noted.knowledge}" -> rely on it in similar runs

Reusable knowledge:
- {noted.knowledge}

Failures and how to do differently:
- {noted.lesson}

References:
- `{noted.keywords[4]}` in the settings of {noted.keywords[0]}
"""


def sdk_summary(noted: Conversation) -> str:
    """A rollout summary in the SDK's form."""
    return f"""# {noted.task}

Rollout context: the user wanted to {noted.task}.

## Task 1: {noted.task}

Outcome: success

Preference signals:
- the user said: "{noted.knowledge}"

Key steps:
- looked at the log of {noted.keywords[0]}, changed `{noted.keywords[4]}`, ran the checks again

Failures and how to do differently:
- {noted.lesson}

Reusable knowledge:
- {noted.knowledge}

References:
- `{noted.keywords[4]}`
"""
