"""The history as it is told: each commit with what it did, in the words that it had, or still has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..ledger import Ledger, Operation
from ..state import candidates_of

WRITING = ("add", "supersede", "merge", "revise", "restore", "restate", "revert")
MARKS = ("pinned", "expires", "importance", "status", "reason", "by", "undone", "source", "as_of", "same")
"""Facts of an operation that are told beside its words."""

ERASED = "its words are erased"
"""What is told of an extraction whose words were forgotten."""
_MASKS = re.compile("⟦[^⟧]*⟧")
"""What stands for words that were forgotten."""


def chronicle(ledger: Ledger) -> list[dict[str, Any]]:
    """The commits, newest first: ordinal, time, actor, operations, and what was consolidated and set.

    An operation has its `text` (of a question, what was asked), the text `before`, also that of what it `replaces`,
    whether it `accepted`, and `marks`: what of `MARKS` it says, and `group` and `section` where it put a line there.
    """
    texts: dict[str, str] = {}
    lines = []
    for commit in ledger.commits:
        told = [_told(operation, texts) for operation in commit.operations]
        lines.append(
            {
                "commit": commit.ordinal,
                "at": commit.at,
                "actor": commit.actor,
                "operations": told,
                "consolidated": [stem for stem, _ in commit.consolidated],
                "settings": dict(commit.settings or {}),
                **({"believed": False} if commit.ordinal in ledger.passed else {}),
            }
        )
    return lines[::-1]


def _told(operation: Operation, texts: dict[str, str]) -> dict[str, Any]:
    replaced = [texts[old] for old in operation.facts.get("replaces", ()) if texts.get(old)]
    before = texts.get(operation.id, "") or "; ".join(replaced)
    if operation.op in WRITING and operation.body.get("text"):
        texts[operation.id] = str(operation.body["text"])
    if operation.op == "propose":
        before = texts[operation.id] = str(operation.body.get("text", ""))
    told: dict[str, Any] = {
        "op": operation.op,
        "id": operation.id,
        "text": _words(operation, texts),
        "before": before if before != texts.get(operation.id, "") else "",
        "replaces": list(operation.facts.get("replaces", ())),
    }
    if "accepted" in operation.facts:
        told["accepted"] = operation.facts["accepted"]
    if marks := marks_of(operation):
        told["marks"] = marks
    return told


def marks_of(operation: Operation) -> dict[str, Any]:
    """What an operation says beside its words."""
    marks = {name: operation.facts[name] for name in MARKS if name in operation.facts}
    if operation.op in ("move", "revert"):
        marks |= {name: operation.body[name] for name in ("group", "section") if name in operation.body}
    return marks


def _words(operation: Operation, texts: Mapping[str, str]) -> str:
    if operation.op == "extract":
        if not operation.body:
            return ERASED
        count, task = len(candidates_of(operation)), str(operation.body.get("task", ""))
        title = f" from {task}" if _MASKS.sub("", task).strip() else ""
        return f"{count} {'memory' if count == 1 else 'memories'}{title}" if count else "nothing to learn"
    if operation.op == "fail":
        return str(operation.body.get("cause", ""))
    if operation.op in ("write_skill", "drop_skill"):
        return ""
    return str(operation.body.get("text", "") or texts.get(operation.id, ""))
