"""Workspaces in which many conversations were remembered before: the SDK's and ours, with the same words in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from sandbox_memory.layout import Layout
from sandbox_memory.ledger import Commit, Ledger, Operation, encode
from sandbox_memory.notes import raw_memory_file, summary_file
from sandbox_memory.records import Candidate, Evidence, Kind, RawMemory, Trust
from sandbox_memory.state import candidate_body, candidate_facts
from sandbox_memory.trusting.signed import signed

from .answers import opening, sdk_notes, sdk_summary
from .texts import Conversation, conversation

LIMIT = 4_096
"""Conversations that count, for both sides: with the default of 256 neither would show more than 256."""


def sdk_workspace(root: Path, count: int) -> None:
    """What the SDK's Memory has after `count` conversations, in the form that its consolidation prompt demands."""
    memories = root / "memories"
    for name in ("raw_memories", "rollout_summaries", "skills"):
        (memories / name).mkdir(parents=True)
    known = [conversation(number) for number in range(count)]
    raws, selected = [], []
    for each in known:
        header = f"updated_at: {each.at}\nrollout_path: sessions/{each.id}.jsonl\n"
        file = f"rollout_summaries/{each.id}_{each.slug}.md"
        raw = (
            f"rollout_id: {each.id}\n{header}rollout_summary_file: {file}\nterminal_state: completed\n\n"
            f"{sdk_notes(each)}"
        )
        raws.append(raw.rstrip("\n"))
        (memories / "raw_memories" / f"{each.id}.md").write_text(raw, encoding="utf-8")
        summary = f"session_id: 0\n{header}terminal_state: completed\n\n{sdk_summary(each)}"
        (memories / file).write_text(summary, encoding="utf-8")
        selected.append(
            {
                "rollout_id": each.id,
                "updated_at": each.at,
                "rollout_path": f"sessions/{each.id}.jsonl",
                "rollout_summary_file": file,
                "terminal_state": "completed",
            }
        )
    (memories / "raw_memories.md").write_text("\n\n".join(reversed(raws)), encoding="utf-8")
    (memories / "MEMORY.md").write_text("\n".join(sdk_blocks(known)), encoding="utf-8")
    (memories / "memory_summary.md").write_text(sdk_index(known), encoding="utf-8")
    selection = {"version": 1, "updated_at": known[-1].at, "selected": selected[::-1]}
    (memories / "phase_two_selection.json").write_text(json.dumps(selection, indent=2) + "\n", encoding="utf-8")


def sdk_task(number: int, each: Conversation) -> str:
    """One task section of the SDK's MEMORY.md."""
    return (
        f"## Task {number}: {each.task}, success\n\n### rollout_summary_files\n\n"
        f"- rollout_summaries/{each.id}_{each.slug}.md (rollout_id={each.id}, updated_at={each.at}, "
        f"terminal_state=completed)\n\n### keywords\n\n- {', '.join(each.keywords)}\n"
    )


def sdk_blocks(known: list[Conversation]) -> Iterator[str]:
    """The blocks of the SDK's MEMORY.md, newest first."""
    for group, members in reversed([(group, list(each)) for group, each in groupby(known, lambda c: c.group)]):
        scope = f"how to {members[0].task.split(',')[0]} and the like; other groups have other ports"
        yield f"# Task Group: {group}\n\nscope: {scope}\n"
        yield from (sdk_task(number, each) for number, each in enumerate(members, 1))
        yield "## Reusable knowledge\n\n" + "".join(f"- {c.knowledge} [Task {n}]\n" for n, c in enumerate(members, 1))
        lessons = "".join(f"- {c.lesson} [Task {n}]\n" for n, c in enumerate(members, 1))
        yield f"## Failures and how to do differently\n\n{lessons}"


def sdk_index(known: list[Conversation]) -> str:
    """The SDK's memory_summary.md: a profile, preferences, and an index line for each block, as the prompt demands."""
    lines = [
        "## User Profile\n\nRuns a dozen services, wants exact ports and commands.\n",
        "## User preferences\n\n- when something fails, the user asked for the exact error code\n",
        "## General Tips\n\n- drain before you restart\n",
        "## What's in Memory\n\n### services\n",
    ]
    for group, members in reversed([(group, list(each)) for group, each in groupby(known, lambda c: c.group)]):
        lines.append(sdk_topic(group, members[-1]))
    return "\n".join(lines)


def sdk_topic(group: str, newest: Conversation) -> str:
    """One topic of the index."""
    described = f"{newest.task} and the steps before it; ports and error codes"
    return f"- {group}: {', '.join(newest.keywords)}\n  - desc: {described}\n"


def our_workspace(root: Path, count: int, limit: int = LIMIT) -> Ledger:
    """What ours has after `count` conversations, each extracted in one commit and consolidated in the next.

    At most `limit` conversations count; older ones have no raw memory any more. The markdown is not written yet: the
    next opening does that.
    """
    layout = Layout.of("memories", "sessions")
    for name in ("memories/raw_memories", "memories/rollout_summaries", "sessions"):
        (root / name).mkdir(parents=True)
    known = [conversation(number) for number in range(count)]
    lines, ledger = encode(Ledger(), list(commits(root, layout, known, limit)))
    (root / layout.ledger).write_bytes(lines)
    return ledger


def commits(root: Path, layout: Layout, known: list[Conversation], limit: int) -> Iterator[Commit]:
    """Two commits for each conversation, whose files are written on the way."""
    settings = {"sessions_dir": "sessions", "preset": "default", "max_raw_memories": limit, "summary_tokens": 2_000}
    for each in known:
        line = json.dumps({"rollout_id": each.id, "input": [{"role": "user", "content": opening(each)}]}).encode()
        (root / layout.session(f"{each.id}.jsonl")).write_bytes(line + b"\n")
        raw = raw_memory(each, len(line) + 1)
        if each.number >= len(known) - limit:
            (root / layout.memory(f"raw_memories/{each.id}.md")).write_bytes(signed(raw_memory_file(raw)))
        (root / layout.memory(raw.summary_file)).write_bytes(signed(summary_file(raw)))
        ordinal = 2 * each.number + 1
        yield Commit(ordinal, each.at, "extraction", (extracted(raw, ordinal),), (), settings if ordinal == 1 else None)
        adds = tuple(added(each, n, candidate) for n, candidate in enumerate(raw.candidates))
        yield Commit(ordinal + 1, each.at, "consolidation", adds, ((each.id, ordinal),))


def raw_memory(each: Conversation, size: int) -> RawMemory:
    """What one extraction found, of a transcript of that many bytes."""
    said = opening(each)
    candidates = []
    for kind, text in ((Kind.FACT, each.knowledge), (Kind.LESSON, each.lesson)):
        start = said.index(text)
        quote = Evidence(each.id, "0123456789", 0, start, start + len(text), text, Trust.USER)
        candidates.append(Candidate(kind, text, (quote,), "", each.group))
    return RawMemory(
        rollout_id=each.id,
        updated_at=each.at,
        rollout_path=f"sessions/{each.id}.jsonl",
        summary_file=f"rollout_summaries/{each.id}_{each.slug}.md",
        terminal_state="completed",
        consumed=size,
        task=each.task,
        summary=sdk_summary(each),
        text=f"{each.knowledge} {each.lesson}",
        candidates=tuple(candidates),
        keywords=each.keywords,
    )


def extracted(raw: RawMemory, ordinal: int) -> Operation:
    """The operation with which the ledger notes an extraction."""
    facts = {
        "consumed": raw.consumed,
        "order": [ordinal, 1],
        "updated_at": raw.updated_at,
        "summary_file": raw.summary_file,
        "terminal_state": raw.terminal_state,
        "candidates": [candidate_facts(candidate) for candidate in raw.candidates],
        "usage": {"requests": 1, "input_tokens": 4_000, "output_tokens": 300},
    }
    body = {
        "task": raw.task,
        "keywords": list(raw.keywords),
        "candidates": [candidate_body(candidate) for candidate in raw.candidates],
    }
    return Operation("extract", raw.rollout_id, facts, body)


def added(each: Conversation, place: int, candidate: Candidate) -> Operation:
    """The operation with which the ledger adds what a candidate says, under an id that is the same at every run."""
    headings = {Kind.FACT: "Reusable knowledge", Kind.LESSON: "Failures and how to do differently"}
    id = "m-" + hashlib.sha256(f"{each.id} {place}".encode()).hexdigest()[:10]
    facts = {
        "kind": candidate.kind.value,
        "trust": candidate.trust.label,
        "evidence": [quote.to_json() for quote in candidate.evidence],
    }
    body = {
        "text": candidate.text,
        "subject": "",
        "group": each.group,
        "section": headings[candidate.kind],
        "quotes": [quote.quote for quote in candidate.evidence],
    }
    return Operation("add", id, facts, body)
