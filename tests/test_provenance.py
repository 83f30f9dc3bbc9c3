"""Where lines come from: task references at their end, and the tasks of conversations that do not count any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.document import Cite, Document, Insert, Provenance, Prune, Revise, safe_text

from .kit import agree, handbook, process, tell

GROUP = """# Task Group: Deploys

scope: Deploys

## Task 1: Deploy billing

### rollout_summary_files

- rollout_summaries/a_x.md

### keywords

- make, deploy

## Reusable knowledge

- the port is 8443 [Task 1] ^m-0000000001
- mine, with [Task 1] inside

<!-- memory:3 -->
"""


def edited(text: str, *edits: object) -> str:
    return Document.parse(text.encode()).edit(list(edits), marker=4).data.decode()  # type: ignore[arg-type]


def test_references_at_the_end_are_not_the_text() -> None:
    items = Document.parse(GROUP.encode()).items
    assert [(item.text, item.cited, item.refs) for item in items] == [
        ("the port is 8443", "[Task 1]", (1,)),
        ("mine, with [Task 1] inside", "", (1,)),
    ]
    assert Document.parse(b"- [Task 1] ^m-0000000001\n").items[0].text == "[Task 1]"
    assert Document.parse(b"- see `[Task 1]`\n").items[0].text == "see `[Task 1]`"
    assert safe_text("the port is 8443 [Task 7]") == "the port is 8443"


def test_a_new_line_cites_the_tasks_that_name_its_sources() -> None:
    text = edited(
        GROUP,
        Provenance("Deploys", "Roll back", "rollout_summaries/b_y.md"),
        Insert("roll back first", "m-0000000002", "Deploys", "Reusable knowledge", sources=("b_y.md",)),
        Insert("both", "m-0000000003", "Deploys", "Reusable knowledge", sources=("x/b_y.md", "a_x.md", "unknown.md")),
        Provenance("New", "First", "rollout_summaries/c_z.md"),
        Insert("a new group", "m-0000000004", "New", "Reusable knowledge", sources=("c_z.md",)),
    )
    assert "- roll back first [Task 2] ^m-0000000002\n" in text
    assert "- both [Task 1][Task 2] ^m-0000000003\n" in text
    assert "- a new group [Task 1] ^m-0000000004\n" in text
    assert "## Task 2: Roll back\n" in text and "# Task Group: New\n" in text


def test_a_changed_line_keeps_its_references_and_cite_sets_them() -> None:
    assert "- the port is 9443 [Task 1] ^m-0000000001\n" in edited(GROUP, Revise(0, "the port is 9443"))
    assert "- the port is 8443 ^m-0000000001\n" in edited(GROUP, Cite(0, ()))
    once = edited(GROUP, Cite(0, ("a_x.md",)))
    assert once == GROUP.replace("memory:3", "memory:4")


def test_pruning_takes_a_task_that_says_no_more() -> None:
    text = edited(GROUP, Prune("Deploys", "rollout_summaries/a_x.md"))
    assert "Task 1:" not in text and "keywords" not in text
    assert text.startswith("# Task Group: Deploys\n\nscope: Deploys\n\n## Reusable knowledge\n\n- the port is 8443")


@pytest.mark.parametrize("mine", ["A note of mine.\n\n", "- mine.md and why\n\n", "| a |\n|---|\n| 1 |\n\n"])
def test_pruning_leaves_what_a_person_wrote_into_the_task(mine: str) -> None:
    text = edited(GROUP.replace("### keywords", f"{mine}### keywords"), Prune("Deploys", "a_x.md"))
    assert "a_x.md" not in text and mine in text
    assert "## Task 1: Deploy billing\n" in text and "- make, deploy\n" in text


@pytest.mark.parametrize(
    ("more", "stays"), [("", False), ("Prose of mine.\n\n", True), ("## My own heading\n\n", True)]
)
def test_pruning_takes_a_group_only_with_nothing_left(more: str, stays: bool) -> None:
    before = GROUP.replace("- the port is 8443 [Task 1] ^m-0000000001\n- mine, with [Task 1] inside\n", more)
    before = "# Task Group: Other\n\n- first\n\n" + before
    text = edited(before, Prune("Deploys", "a_x.md", ("Reusable knowledge", "User preferences")))
    assert ("Deploys" in text) is stays and more in text
    assert text.startswith("# Task Group: Other\n\n- first\n") and text.endswith("\n<!-- memory:4 -->\n")


def test_what_only_dropped_conversations_supported_goes_with_its_tasks(tmp_path: Path) -> None:
    generate = MemoryGenerateConfig(max_raw_memories_for_consolidation=2)
    shared = "the staging port is 8443"
    for n in range(5):
        tell(tmp_path, shared, f"fact number {n} holds", rollout=f"chat-{n}")
        process(tmp_path, generate=generate)
        agree(tmp_path)
    text = handbook(tmp_path).read_text(encoding="utf-8")
    assert "fact number 3 holds" in text and "fact number 4 holds" in text and "fact number 2 holds" not in text
    named = [line for line in text.splitlines() if line.startswith("- rollout_summaries/")]
    assert named == ["- rollout_summaries/chat-3_notes.md", "- rollout_summaries/chat-4_notes.md"]
    before = handbook(tmp_path).read_bytes()
    process(tmp_path, generate=generate)
    assert handbook(tmp_path).read_bytes() == before
