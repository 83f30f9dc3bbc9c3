"""Editors that never reload: a new line that their next saves go on with is one record, and nobody else's changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_memory import open_memory
from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.folding import fold
from sandbox_memory.ledger import Ledger, encode, parse
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.records import Trust

from .editing import (
    MARKER,
    PORT,
    REVIEW,
    TABS,
    Meanwhile,
    consistent,
    decide,
    drop_line,
    inbox,
    questions,
    read,
    record,
    settled,
    summary,
    write,
)
from .kit import LIMITS, EchoModel, handbook, layout, process, run, state, tell, texts

BEFORE = frozenset((PORT, REVIEW, TABS))


def above(text: str, *lines: str, line: str = f"- {TABS}") -> str:
    """A buffer with new lines above one of its own."""
    return text.replace(line, "".join(f"- {each}\n" for each in lines) + line)


def without_notes(root: Path) -> Ledger:
    """The ledger as earlier versions wrote it."""
    ledger = parse((root / "memories" / "ledger.jsonl").read_bytes())
    drafts = []
    for commit in ledger.commits:
        bare = (replace(o, facts={k: v for k, v in o.facts.items() if k != "buffer"}) for o in commit.operations)
        drafts.append(replace(commit, operations=tuple(bare)))
    return encode(Ledger(), drafts)[1]


def saved(root: Path, path: Path, text: str) -> set[str]:
    """What the memory has after that save, besides what it began with."""
    write(path, text)
    process(root)
    consistent(root)
    return texts(root) - BEFORE


GOING_ON = {
    "a word at a time": ("the", "the deploy", "the deploy window", "the deploy window is on Thursdays"),
    "and then other words": (
        "the deploy window",
        "the deploy window is on Thursdays",
        "the deploy window is on Thursdays, from nine",
        "the deploy window is on Fridays, from nine to ten",
    ),
    "in the middle of a word": ("the dep", "the deploy wind", "the deploy window"),
    "taken back a little": ("the deploy window is on Thursdays", "the deploy window is", "the deploy window is open"),
    "another number": ("the deploy takes nine minutes", "the deploy takes 12 minutes"),
    "a slip mended": ("teh deploy wnidow is on Mondays", "the deploy window is on Mondays"),
    "a word put in": ("the deploy window is on Mondays", "the weekly deploy window is on Mondays"),
    "in Chinese": ("部署窗口", "部署窗口在周四", "部署窗口在周五", "部署窗口在周五，从九点开始"),
    "the same again": ("the deploy window", "the deploy window", "the deploy window"),
    "one word": ("tea", "tea, always"),
}


@pytest.mark.parametrize("path", [handbook, summary], ids=["handbook", "summary"])
@pytest.mark.parametrize("name", sorted(GOING_ON))
def test_a_new_line_that_an_editor_goes_on_with_is_one_record(
    root: Path, name: str, path: Callable[[Path], Path]
) -> None:
    buffer, ids = read(path(root)), set()
    line = next(each for each in buffer.splitlines() if TABS in each)
    for text in GOING_ON[name]:
        assert saved(root, path(root), above(buffer, text, line=line)) == {text}
        ids |= {each.id for each in state(root).visible().values() if each.text == text}
        settled(root)
    assert len(ids) == 1 and not questions(root)
    known = record(root, GOING_ON[name][-1])
    assert known.trust is Trust.HAND and known.protected
    assert saved(root, path(root), buffer) == {known.text}, "it may be an older version that was put back"
    settled(root)


@pytest.mark.parametrize("path", [handbook, summary], ids=["handbook", "summary"])
def test_a_line_typed_over_another_and_gone_on_with(root: Path, path: Callable[[Path], Path]) -> None:
    buffer = read(path(root))
    for text in ("Alice prefers oolong tea", "Alice prefers oolong tea in the morning"):
        write(path(root), buffer.replace(PORT, text))
        process(root)
        assert texts(root) == {text, REVIEW, TABS}
    write(path(root), buffer)
    process(root)
    assert texts(root) == {text, REVIEW, TABS}, "an older version that was put back changes nothing"
    consistent(root)
    settled(root)


def test_a_line_split_off_and_gone_on_with(root: Path) -> None:
    buffer = read(handbook(root))
    line = next(each for each in buffer.splitlines() if PORT in each)
    for rest in ("and the staging host is blue", "and the staging host is blue and new"):
        assert saved(root, handbook(root), buffer.replace(line, f"- {rest}\n{line}")) == {rest}


TWO = {
    "another subject": ("the deploy window is on Thursdays", "Alice prefers oolong tea"),
    "another number at the end": ("service alpha listens on port 9001", "service beta listens on port 9002"),
    "another first word": ("the deploy takes nine minutes", "a build takes nine minutes"),
    "in Chinese": ("部署窗口在周四", "数据库端口是八千"),
    "short": ("tea", "coffee"),
}


@pytest.mark.parametrize("name", sorted(TWO))
def test_two_editors_that_add_different_lines_both_keep_theirs(root: Path, name: str) -> None:
    buffer, (hers, his) = read(handbook(root)), TWO[name]
    assert saved(root, handbook(root), above(buffer, hers)) == {hers}
    assert saved(root, handbook(root), above(buffer, his)) == {hers, his}
    assert saved(root, handbook(root), above(buffer, hers, "one more of hers")) == {hers, his, "one more of hers"}
    assert saved(root, handbook(root), above(buffer, f"{his} and so on")) == {
        hers,
        f"{his} and so on",
        "one more of hers",
    }
    assert saved(root, handbook(root), above(buffer, "one more of hers")) == {f"{his} and so on", "one more of hers"}
    assert not questions(root)
    settled(root)


def test_an_older_version_that_comes_back_takes_out_nothing(root: Path) -> None:
    """It may be a checkout: nothing in the file shows that it is the editor which the line was typed in."""
    buffer = read(handbook(root))
    assert saved(root, handbook(root), above(buffer, "the deploy window")) == {"the deploy window"}
    assert saved(root, handbook(root), buffer) == {"the deploy window"}
    assert not questions(root)
    settled(root)


def test_an_older_version_that_comes_back_takes_no_line_that_was_typed_before_others(root: Path) -> None:
    older = read(handbook(root))
    saved(root, handbook(root), above(older, "the deploy window"))
    write(handbook(root), read(handbook(root)).replace("8443", "9443"))
    process(root)
    write(handbook(root), older)
    process(root)
    assert texts(root) == {"the deploy window", "the staging port is 9443", REVIEW, TABS} and not questions(root)


def test_two_lines_are_told_apart_by_their_order(root: Path) -> None:
    buffer = read(handbook(root))
    saved(root, handbook(root), above(buffer, "the host of alpha", "the host of beta"))
    ids = [record(root, f"host of {name}").id for name in ("alpha", "beta")]
    saved(root, handbook(root), above(buffer, "the host of alpha is blue", "the host of beta is red"))
    assert [record(root, f"host of {name}").id for name in ("alpha", "beta")] == ids
    assert saved(root, handbook(root), above(buffer, "the host of beta is red")) == {"the host of beta is red"}
    assert not questions(root)


def test_no_agents_line_becomes_the_persons_nor_the_other_way(root: Path) -> None:
    buffer = read(handbook(root))

    async def agent(text: str) -> None:
        line = Pipeline(Meanwhile(root, lambda: None), layout(), generate=MemoryGenerateConfig())
        await line.open()
        write(handbook(root), text)
        await line.process((EchoModel(), EchoModel()), LIMITS, actor="live")

    run(agent(above(buffer, "the deploy window")))
    agents = record(root, "deploy window")
    assert agents.trust is Trust.AGENT
    assert saved(root, handbook(root), above(buffer, "the deploy window is closed")) == {
        "the deploy window",
        "the deploy window is closed",
    }
    mine = record(root, "closed")
    run(agent(above(buffer, "the deploy window is closed for ever")))
    assert state(root).records[mine.id] == mine and mine.trust is Trust.HAND
    assert {"the deploy window is closed", "the deploy window is closed for ever"} <= texts(root)


def test_a_command_in_between_is_asked_about(root: Path) -> None:
    buffer = read(handbook(root))
    saved(root, handbook(root), above(buffer, "the deploy window"))
    open_memory(root).revise(record(root, "deploy window").id, "the deploy window is on Sundays")
    settled(root)
    assert saved(root, handbook(root), above(buffer, "the deploy window")) == {"the deploy window is on Sundays"}
    assert saved(root, handbook(root), above(buffer, "the deploy window is shut")) == {"the deploy window is shut"}
    assert "replace “the deploy window is shut” by “the deploy window is on Sundays”?" in read(inbox(root))


def test_a_history_without_the_note_is_read_as_before(root: Path) -> None:
    buffer = read(handbook(root))
    saved(root, handbook(root), above(buffer, "the deploy window"))
    assert fold(without_notes(root)).typed == {} != state(root).typed
    assert fold(without_notes(root)).records == state(root).records


def test_what_is_noted_of_a_save_is_no_word(root: Path) -> None:
    buffer = read(handbook(root))
    saved(root, handbook(root), above(buffer, "the deploy window"))
    ledger = root / "memories" / "ledger.jsonl"
    (operation,) = parse(ledger.read_bytes()).commits[-1].operations
    assert operation.facts["buffer"] == {
        "file": "MEMORY.md",
        "marker": 3,
        "since": 4,
        "between": [record(root, REVIEW).id, record(root, TABS).id],
    }


UNMARKED = {
    "a comment of another kind": lambda text: MARKER.sub("\n\n<!-- mine -->", text),
    "gone": lambda text: MARKER.sub("", text),
    "not readable": lambda text: MARKER.sub("\n\n<!-- memory:?? -->", text),
}


@pytest.mark.parametrize("how", sorted(UNMARKED))
def test_a_save_without_the_last_line_deletes_nothing_that_came_since(root: Path, how: str) -> None:
    """And reverts nothing: what its editor cannot have seen is written into it."""
    buffer = UNMARKED[how](read(handbook(root)))
    tell(root, "the queue drains at nine", rollout="x")
    process(root)
    assert saved(root, handbook(root), buffer.replace("8443", "9443")) == {
        "the staging port is 9443",
        "the queue drains at nine",
    }
    assert "was saved without its last line, and “the queue drains at nine”, which was missing" in read(inbox(root))
    assert "cut off" not in read(inbox(root)) and questions(root) == 1
    decide(root, False)
    write(handbook(root), buffer.replace("8443", "9443"))
    process(root)
    assert questions(root) == 0 and "the queue drains at nine" in texts(root), "it is asked once"
    settled(root)


def test_what_nobody_can_have_seen_is_not_asked_about(root: Path) -> None:
    tell(root, "the queue drains at nine", rollout="x")

    def save() -> None:
        write(handbook(root), MARKER.sub("", read(handbook(root))).replace("8443", "8444"))

    model = EchoModel()
    run(Pipeline(Meanwhile(root, save), layout(), generate=MemoryGenerateConfig()).process((model, model), LIMITS))
    consistent(root)
    assert texts(root) == {"the staging port is 8444", REVIEW, TABS, "the queue drains at nine"} and not questions(root)


@pytest.mark.parametrize("needle", ["8443", "myself"])
def test_a_line_and_the_last_line_taken_out_together(root: Path, needle: str) -> None:
    write(handbook(root), MARKER.sub("", drop_line(read(handbook(root)), needle)))
    process(root)
    assert not any(needle in text for text in texts(root)) and len(texts(root)) == 2 and not questions(root)
    consistent(root)


def test_the_line_at_the_end_and_the_last_line_are_asked_about_once(root: Path) -> None:
    write(handbook(root), MARKER.sub("", drop_line(read(handbook(root)), TABS)))
    process(root)
    assert texts(root) == BEFORE and questions(root) == 1 and "cut off" not in read(inbox(root))
    decide(root, True)
    assert texts(root) == {PORT, REVIEW}
    settled(root)


def test_what_a_command_changed_since_is_not_reverted_by_a_save_without_the_last_line(root: Path) -> None:
    buffer = MARKER.sub("", read(handbook(root)))
    open_memory(root).revise(record(root, PORT).id, "the staging port is 9443")
    write(handbook(root), buffer)
    process(root)
    assert texts(root) == {"the staging port is 9443", REVIEW, TABS} and not questions(root)
    consistent(root)


def test_what_is_forgotten_does_not_come_back_from_a_buffer_that_never_reloaded(root: Path) -> None:
    buffer = read(handbook(root))
    saved(root, handbook(root), above(buffer, "my PIN idea is zebra"))
    with open_memory(root) as memory:
        assert not memory.forget(record(root, "zebra").id).left
    again = above(buffer, "my PIN idea is zebra", "lunch is at noon")
    assert saved(root, handbook(root), again) == {"lunch is at noon"}
    assert not any(b"zebra" in path.read_bytes() for path in root.rglob("*") if path.is_file())
    settled(root)


def test_an_editor_goes_on_with_its_own_lines_alone(root: Path) -> None:
    """Two editors, each of which has shown by a line of its own which one it is."""
    buffer = read(handbook(root))
    hers, his = "the deploy takes nine minutes", "our lunch is at noon"
    saved(root, handbook(root), above(buffer, hers))
    saved(root, handbook(root), above(buffer, his))
    bob, ann = "Bob owns the billing service", "Ann owns the billing service"
    saved(root, handbook(root), above(buffer, hers, bob))
    assert saved(root, handbook(root), above(buffer, his, ann)) == {hers, his, bob, ann}
    settled(root)
