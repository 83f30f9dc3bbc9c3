"""Many lines gone at once are asked about, and the answer counts, whenever it comes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.records import Status
from sandbox_memory.workspace import writers
from sandbox_memory.workspace.writers import being_written

from .editing import (
    MARKER,
    PORT,
    REVIEW,
    TABS,
    Meanwhile,
    Renaming,
    consistent,
    decide,
    drop,
    drop_line,
    edit,
    inbox,
    questions,
    read,
    settled,
    write,
)
from .kit import LIMITS, EchoModel, handbook, layout, process, run, state, tell, texts
from .test_cli import sm

LOSSES: dict[str, Callable[[Path], None]] = {
    "mass": lambda path: drop(path, "fact number"),
    "emptied": lambda path: path.write_bytes(b""),
    "blank": lambda path: path.write_bytes(b"\n\n"),
    "removed": Path.unlink,
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 3]),
    "cut off in a line": lambda path: write(path, read(path)[: read(path).index("number 7") + 4]),
    "cut off in an id": lambda path: write(path, read(path)[: re.search(r"number 7.*\^m-..", read(path)).end()]),  # type: ignore[union-attr]
    "cut off near the end": lambda path: write(path, read(path)[: read(path).index("number 18") + 4]),
    "cut off at a line end": lambda path: write(path, read(path)[: read(path).index("- fact number 7")]),
    "cut off at a line end near the end": lambda path: write(path, read(path)[: read(path).index("- fact number 18")]),
    "cut off before the last line": lambda path: write(path, read(path)[: read(path).index("- fact number 19")]),
    "marker and lines": lambda path: write(path, MARKER.sub("", drop_line(read(path), "fact number"))),
}


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("accept", [False, True])
def test_a_great_loss_is_asked_about(full: Path, name: str, accept: bool) -> None:
    before = texts(full)
    LOSSES[name](handbook(full))
    process(full)
    consistent(full)
    asked = name not in ("emptied", "blank", "removed")
    held = name == "mass"
    assert questions(full) == asked
    assert texts(full) == ({PORT, REVIEW, TABS} if held else before)
    assert not [r for r in state(full).records.values() if r.status is Status.DELETED]
    settled(full)
    tell(full, "and another thing", rollout="more")
    process(full, again=True)
    assert texts(full) == ({PORT, REVIEW, TABS} if held else before) | {"and another thing"}
    if not asked:
        return
    decide(full, accept)
    consistent(full)
    assert questions(full) == 0
    left = before | {"and another thing"} if not accept else {t for t in texts(full) if "fact number" not in t}
    if accept and name in ("mass", "marker and lines"):
        assert left == {PORT, REVIEW, TABS, "and another thing"}
    assert left <= texts(full) and (accept or texts(full) == left)
    process(full, Renaming(), again=True)
    assert left <= texts(full) and (accept or texts(full) == left)
    settled(full)


NAMES = "“fact number 0 holds”, “fact number 1 holds”, “fact number 2 holds” and 17 more"
ANSWERS: dict[str, tuple[Callable[[str], str], bool | None]] = {
    "ticked": (lambda line: line.replace("[ ]", "[x]"), True),
    "deleted": (lambda line: "", False),
    "ticked without the names": (lambda line: line.replace("[ ]", "[x]").replace(f": {NAMES}", ""), True),
    "ticked without its end": (lambda line: re.sub(r" \(from .*", "", line.replace("[ ]", "[x]")), True),
    "ticked without its id": (lambda line: re.sub(r" \^p-.*", "", line.replace("[ ]", "[x]")), True),
    "a name changed": (lambda line: line.replace("[ ]", "[x]").replace("number 1 holds", "number 1 stays"), True),
    "a name half deleted": (lambda line: line.replace("number 1 holds", "num"), None),
    "moved below": (lambda line: f"\n\n{line}", None),
}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_the_question_names_the_first_lines_and_is_answered_as_any_other(full: Path, name: str) -> None:
    drop(handbook(full), "fact number")
    process(full)
    (line,) = [each for each in read(inbox(full)).splitlines() if each.startswith("- [ ]")]
    assert f": {NAMES}) ^p-" in line
    settled(full)
    change, answer = ANSWERS[name]
    write(inbox(full), read(inbox(full)).replace(line, change(line)))
    process(full)
    process(full)
    assert len(texts(full)) == (23 if answer is False else 3)
    assert questions(full) == (answer is None)
    gone = [r for r in state(full).records.values() if r.status is Status.DELETED]
    assert len(gone) == (20 if answer else 0)


def test_all_of_them_are_named_by_a_command(full: Path) -> None:
    drop(handbook(full), "fact number")
    said = sm("inbox", full).stdout
    assert said.count("fact number") == 3 and "and 17 more; --verbose names them all" in said
    assert sm("inbox", full, "--verbose").stdout.count("fact number") == 20
    (asked,) = json.loads(sm("inbox", full, "--json").stdout)["questions"]
    assert [text for text in asked["lines"] if "fact number" in text] == asked["lines"] and len(asked["lines"]) == 20
    assert not json.loads(sm("show", full, "--json").stdout)["records"][3:], "they are out of sight meanwhile"
    briefing = read(full / "memories" / "memory_summary.md")
    assert "fact number" not in briefing


def test_the_same_loss_is_asked_about_each_time(full: Path) -> None:
    for _ in range(3):
        drop(handbook(full), "fact number")
        process(full)
        assert questions(full) == 1
        decide(full, False)
        assert len(texts(full)) == 23
        settled(full)


def test_undoing_a_great_loss_answers_the_question(full: Path) -> None:
    before = handbook(full).read_bytes()
    drop(handbook(full), "fact number")
    process(full)
    assert questions(full) == 1
    handbook(full).write_bytes(before)  # the editor's undo, and saved
    process(full)
    consistent(full)
    assert len(texts(full)) == 23 and questions(full) == 0
    settled(full)


def test_lines_put_back_are_not_deleted_by_a_late_yes(full: Path) -> None:
    lines = [line for line in read(handbook(full)).splitlines() if "fact number" in line]
    drop(handbook(full), "fact number")
    process(full)
    write(handbook(full), "\n".join([lines[3], lines[7].replace("holds", "holds firmly"), "", read(handbook(full))]))
    process(full)
    back = {"fact number 3 holds", "fact number 7 holds firmly"}
    assert back <= texts(full)
    decide(full, True)
    assert texts(full) == {PORT, REVIEW, TABS} | back
    consistent(full)


def test_a_line_changed_since_the_question_is_not_deleted_by_a_yes(full: Path) -> None:
    LOSSES["marker and lines"](handbook(full))
    process(full)
    edit(handbook(full), "fact number 3 holds", "fact number 3 holds firmly")
    process(full)
    decide(full, True)
    assert texts(full) == {PORT, REVIEW, TABS, "fact number 3 holds firmly"}


def test_an_answer_in_a_hurry(full: Path) -> None:
    """Answered while a consolidation commits, with ids stripped from the inbox, and a note of the person's in it."""
    drop(handbook(full), "fact number")
    process(full)
    tell(full, "deploys go out on Tuesday", rollout="more")

    def save() -> None:
        text = re.sub(r" \^p-\w+", "", read(inbox(full))).replace("- [ ]", "- [x]")
        write(inbox(full), text.replace("<!-- memory:end", "- [ ] call Bob ^m-nonsense\n\nA note.\n<!-- memory:end"))

    model = EchoModel()
    run(Pipeline(Meanwhile(full, save), layout(), generate=MemoryGenerateConfig()).process((model, model), LIMITS))
    consistent(full)
    assert texts(full) == {PORT, REVIEW, TABS, "deploys go out on Tuesday"}
    text = read(inbox(full))
    assert "- [ ] call Bob ^m-nonsense\n\nA note.\n" in text and text.count("call Bob") == 1
    settled(full)
    assert "call Bob" in read(inbox(full))


def test_a_line_deleted_above_others_is_deleted_though_the_marker_is_gone(root: Path) -> None:
    write(handbook(root), f"# Task Group: Elsewhere\n\n- mine\n- mine too\n\n{read(handbook(root))}")
    process(root)
    write(handbook(root), MARKER.sub("", drop_line(read(handbook(root)), "mine too")))
    process(root)
    assert texts(root) == {PORT, REVIEW, TABS, "mine"} and questions(root) == 0


def test_a_file_saved_in_two_writes_is_whole_once_both_are_there(root: Path) -> None:
    """An untouched line is never lost, and the question of the half is gone with the whole."""
    whole = read(handbook(root)).replace("8443", "9443")
    write(handbook(root), whole[: whole.index("- never")])
    process(root)
    write(handbook(root), whole)
    process(root)
    assert texts(root) == {PORT.replace("8443", "9443"), REVIEW, TABS}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
def test_a_look_waits_for_the_second_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(handbook(root)).replace("8443", "9443")
    looked = []
    with handbook(root).open("w") as file:
        file.write(whole[: whole.index("- I always")])
        file.flush()

        def asked(path: Path) -> bool:
            found = being_written(path)
            if found:
                looked.append(path)
                file.write(whole[whole.index("- I always") :])
                file.close()
            return found

        monkeypatch.setattr(writers, "being_written", asked)
        process(root)
    assert looked == [handbook(root)]
    assert texts(root) == {PORT.replace("8443", "9443"), REVIEW, TABS} and questions(root) == 0
    settled(root)
