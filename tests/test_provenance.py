"""Where lines come from: task references at their end, and the tasks of conversations that do not count any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.document import Cite, Document, Insert, Provenance, Prune, Revise, safe_text
from sandbox_memory.models import EXTRACTION, Answer
from sandbox_memory.pipeline import commands

from .editing import begun, consistent, edit, read, settled, summary
from .kit import EchoModel, agree, handbook, pipeline, process, run, tell

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


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three records, of task 1."""
    return begun("few", tmp_path / "ws")


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
    assert "- the port is 8443 ^m-0000000001\n" in edited(GROUP, Cite(0, gone=(1,)))
    for nothing in (Cite(0), Cite(0, ("a_x.md",)), Cite(0, ("unknown.md",), (7,))):
        assert edited(GROUP, nothing) == GROUP.replace("memory:3", "memory:4")
    assert "[Task 1][Task 3] ^m-0000000001\n" in edited(GROUP.replace("[Task 1] ^", "[Task 3] ^"), Cite(0, ("a_x.md",)))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- the  port  is 8443 [Task 1]  ^m-0000000001", "- the  port  is 8443 [Task 2]  ^m-0000000001"),
        (
            "*   the port\n    is 8443\n    [Task 1] ^m-0000000001",
            "*   the port\n    is 8443\n    [Task 2] ^m-0000000001",
        ),
        ("1. [ ] the port\n   is 8443 ^m-0000000001", "1. [ ] the port\n   is 8443 [Task 2] ^m-0000000001"),
        ("- the __port__ [Task 1, 3]\n  - mine", "- the __port__ [Task 2][Task 3]\n  - mine"),
    ],
)
def test_a_citation_changes_no_other_byte(line: str, after: str, newline: str) -> None:
    group = GROUP.replace("## Reusable", "## Task 2: B\n\n### rollout_summary_files\n\n- b_y.md\n\n## Reusable")
    before, wanted = (
        group.replace("- the port is 8443 [Task 1] ^m-0000000001", each).replace("\n", newline)
        for each in (line, after)
    )
    done = edited(before, Cite(0, ("b_y.md",), (1,)))
    assert done == wanted.replace("memory:3", "memory:4")


def test_a_number_that_is_still_cited_is_not_given_again() -> None:
    before = GROUP.replace("Task 1]", "Task 5]")
    assert "## Task 6: Roll back\n" in edited(before, Provenance("Deploys", "Roll back", "b_y.md"))


TOLD = frozenset({"Deploy billing", "make", "deploy"})


def test_pruning_takes_a_task_that_says_no_more() -> None:
    text = edited(GROUP, Prune("Deploys", "rollout_summaries/a_x.md", told=TOLD))
    assert "Task 1:" not in text and "keywords" not in text
    assert text.startswith("# Task Group: Deploys\n\nscope: Deploys\n\n## Reusable knowledge\n\n- the port is 8443")


@pytest.mark.parametrize("mine", ["A note of mine.\n\n", "- mine.md and why\n\n", "| a |\n|---|\n| 1 |\n\n"])
def test_pruning_leaves_what_a_person_wrote_into_the_task(mine: str) -> None:
    text = edited(GROUP.replace("### keywords", f"{mine}### keywords"), Prune("Deploys", "a_x.md", told=TOLD))
    assert "a_x.md" not in text and mine in text
    assert "## Task 1: Deploy billing\n" in text and "- make, deploy\n" in text


@pytest.mark.parametrize(
    ("old", "mine"),
    [("Deploy billing", "My title"), ("make, deploy", "make, deploy, mine"), ("make", "make\n  - mine")],
)
def test_pruning_leaves_a_title_and_keywords_that_a_person_changed(old: str, mine: str) -> None:
    text = edited(GROUP.replace(old, mine), Prune("Deploys", "a_x.md", told=TOLD))
    assert "a_x.md" not in text and mine in text and "## Task 1: " in text


@pytest.mark.parametrize(
    ("old", "mine"), [("scope: Deploys", "scope: mine"), ("scope: Deploys\n\n", ""), ("p: D", "p: My d")]
)
def test_pruning_leaves_a_group_whose_name_or_scope_a_person_changed(old: str, mine: str) -> None:
    before = GROUP.replace(old, mine).replace(
        "- the port is 8443 [Task 1] ^m-0000000001\n- mine, with [Task 1] inside\n", ""
    )
    group = Document.parse(before.encode()).groups[1].title
    text = edited(before, Prune(group, "a_x.md", ("Reusable knowledge",), TOLD))
    assert "a_x.md" not in text and "Task 1" not in text and f"# Task Group: {group}\n" in text and mine in text


def test_pruning_leaves_a_group_that_a_person_named() -> None:
    before = GROUP.replace("- the port is 8443 [Task 1] ^m-0000000001\n- mine, with [Task 1] inside\n", "")
    kept = edited(before, Prune("Deploys", "a_x.md", ("Reusable knowledge",), TOLD, named=True))
    assert kept.startswith("# Task Group: Deploys\n\nscope: Deploys\n") and "Task 1" not in kept


@pytest.mark.parametrize("named", [True, False])
def test_a_group_that_a_person_named_stays_when_its_conversations_go(tmp_path: Path, named: bool) -> None:
    generate = MemoryGenerateConfig(max_raw_memories_for_consolidation=1)
    tell(tmp_path, "the port is 8443", rollout="first")
    process(tmp_path, generate=generate)
    if named:
        edit(handbook(tmp_path), "Group: Notes", "Group: Shipping")
        process(tmp_path, generate=generate)
    tell(tmp_path, "the region is eu-west", rollout="second")
    process(tmp_path, generate=generate)
    assert ("# Task Group: Shipping\n\nscope: Notes\n" in read(handbook(tmp_path))) is named
    assert "8443" not in read(handbook(tmp_path)) and "eu-west" in read(handbook(tmp_path))


@pytest.mark.parametrize(
    ("more", "stays"), [("", False), ("Prose of mine.\n\n", True), ("## My own heading\n\n", True)]
)
def test_pruning_takes_a_group_only_with_nothing_left(more: str, stays: bool) -> None:
    before = GROUP.replace("- the port is 8443 [Task 1] ^m-0000000001\n- mine, with [Task 1] inside\n", more)
    before = "# Task Group: Other\n\n- first\n\n" + before
    text = edited(before, Prune("Deploys", "a_x.md", ("Reusable knowledge", "User preferences"), TOLD))
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


def test_what_looks_like_a_reference_but_names_no_task_is_a_persons_word(root: Path) -> None:
    """In both files, in what is told, and when the markdown is lost; `[Task 1]` is the task that there is."""
    edit(summary(root), "<!-- memory:end", "- begin as in [Task 2]\n- of that [Task 1]\n<!-- memory:end")
    edit(summary(root), "port is 8443", "port is 8443 [Task 7]")
    edit(handbook(root), "- never", "- typed [Task 9]\n- link [Task 1](x)\n- never")
    process(root)
    consistent(root)
    settled(root)
    for words in ("begin as in [Task 2]", "port is 8443 [Task 7]", "typed [Task 9]", "link [Task 1](x)", "of that"):
        assert f"{words} ^m-" in read(summary(root))
    told = run(pipeline(root).briefing()).splitlines()
    assert {"- begin as in [Task 2]", "- typed [Task 9]", "- of that"} <= set(told)
    handbook(root).unlink()
    process(root)
    assert all(f"- {words} ^m-" in read(handbook(root)) for words in ("begin as in [Task 2]", "typed [Task 9]"))
    consistent(root)
    edit(summary(root), " [Task 7]", "")
    process(root)
    assert "[Task 7]" not in read(summary(root)) and "8443 [Task 1] ^m-" in read(handbook(root))
    settled(root)


def test_a_command_keeps_the_words_that_look_like_a_reference(root: Path) -> None:
    assert run(commands.add(pipeline(root), "begin as in [Task 2]")).text == "begin as in [Task 2]"
    assert "- begin as in [Task 2] ^m-" in read(handbook(root))
    settled(root)


@pytest.mark.parametrize("typed", [" [Task 9]", "", " [Task 1][Task 9]"])
def test_references_that_a_person_set_stay(root: Path, typed: str) -> None:
    edit(handbook(root), "8443 [Task 1]", f"8443{typed}")
    tell(root, "something new came in", rollout="other")
    for _ in range(2):
        process(root, EchoModel())
        assert f"- the staging port is 8443{typed} ^m-" in read(handbook(root))
    consistent(root)


def test_a_title_and_a_scope_of_a_person_outlive_their_conversation(tmp_path: Path) -> None:
    generate = MemoryGenerateConfig(max_raw_memories_for_consolidation=1)
    tell(tmp_path, "the staging port is 8443", rollout="first")
    process(tmp_path, generate=generate)
    edit(handbook(tmp_path), "# Task Group: Notes", "# Task Group: Ports, by Ana")
    edit(handbook(tmp_path), "## Task 1: Notes", "## Task 1: What Ana asked")
    tell(tmp_path, "deploys go out on Tuesday", rollout="second")
    process(tmp_path, generate=generate)
    text = read(handbook(tmp_path))
    assert "first_notes.md" not in text and "8443" not in text
    assert "# Task Group: Ports, by Ana\n" in text and "## Task 1: What Ana asked\n" in text
    settled(tmp_path, generate=generate)


def test_a_title_that_changed_with_the_conversation_is_no_persons(tmp_path: Path) -> None:
    """Each run of a conversation may give its task another title: the one that was written first goes with it."""

    class Titled(EchoModel):
        async def answer(self, request: Any) -> Answer[Any]:
            found = await super().answer(request)
            if request.task == EXTRACTION:
                found.value.task = f"Title {request.material.rollout.segments[-1].items[0].text}"
            return found

    generate = MemoryGenerateConfig(max_raw_memories_for_consolidation=1)
    for text in ("the port is 8443", "the log is in var/log"):
        tell(tmp_path, text, rollout="first")
        process(tmp_path, Titled(), generate=generate)
    assert "Title the port" in read(handbook(tmp_path))
    tell(tmp_path, "deploys go out on Tuesday", rollout="second")
    process(tmp_path, Titled(), generate=generate)
    assert "Title the" not in read(handbook(tmp_path)) and "Title deploys" in read(handbook(tmp_path))
