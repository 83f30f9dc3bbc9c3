"""Headings that a person renames: taken back, they get their old names where they stand, and nothing else moves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox_memory.document import Document, Retitle
from sandbox_memory.doors.plain import OpenMemory

from .editing import MARKER, consistent, edit, read, settled, write
from .kit import handbook, history, look, pipeline, process, tell

PROSE = "\nAnn wrote this.\n\n| desk | opens |\n| --- | --- |\n| north | nine |\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tell(tmp_path, "the staging port is 8443", "never use tabs in this repository", "the region is eu-west")
    process(tmp_path)
    text = read(handbook(tmp_path))
    steps = "\n1. stop it\n2. start it\n3. tell Bo\n\n- mine, in two\n  lines  \n  of text\n"
    write(
        handbook(tmp_path),
        text.replace("scope: Notes\n", f"scope: Notes\n{PROSE}").replace("\n<!-- mem", f"{steps}\n<!-- mem"),
    )
    adopted(tmp_path)
    return tmp_path


def adopted(root: Path) -> int:
    """The number of the last commit, what the files say taken in."""
    look(root)
    return len(history(root))


def undone(root: Path) -> str:
    """The file without its marker, its last commit taken back."""
    OpenMemory(pipeline(root)).undo(adopted(root))
    consistent(root)
    settled(root)
    return bare(root)


def bare(root: Path) -> str:
    return MARKER.sub("", read(handbook(root)))


RENAMINGS = {
    "plain": [("# Task Group: Notes", "# Task Group: Airline desk")],
    "without our prefix": [("# Task Group: Notes", "# Task Group: Airline *desk*")],
    "chinese": [("# Task Group: Notes", "# Task Group: 航空柜台")],
    "a section": [("## Reusable knowledge", "## What we know")],
    "both": [("# Task Group: Notes", "# Task Group: Airline desk"), ("## Reusable knowledge", "## What we know")],
    "closed": [("# Task Group: Notes", "# Task Group: Airline desk ##")],
}


@pytest.mark.parametrize("changes", RENAMINGS.values(), ids=RENAMINGS.keys())
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_renaming_is_taken_back_and_made_again(root: Path, changes: list[tuple[str, str]], newline: str) -> None:
    if newline != "\n":
        handbook(root).write_bytes(handbook(root).read_bytes().replace(b"\n", newline.encode()))
        adopted(root)
    before = bare(root)
    for old, new in changes:
        edit(handbook(root), old, new)
    renamed = bare(root)
    adopted(root)
    assert bare(root) == renamed
    assert undone(root).replace("Notes ##", "Notes") == before
    assert undone(root) == renamed
    assert undone(root).replace("Notes ##", "Notes") == before


def test_a_scope_line_that_a_person_renamed_too_goes_back_with_it(root: Path) -> None:
    before = bare(root)
    write(handbook(root), re.sub(r"(?m)^(# Task Group|scope): Notes$", r"\1: Airline desk", read(handbook(root))))
    adopted(root)
    assert undone(root) == before


def test_a_scope_line_of_a_persons_own_stays(root: Path) -> None:
    edit(handbook(root), "scope: Notes", "scope: how we ship")
    before, _ = bare(root), adopted(root)
    edit(handbook(root), "# Task Group: Notes", "# Task Group: Airline desk")
    adopted(root)
    assert undone(root) == before


def test_every_group_goes_back_to_its_name(root: Path) -> None:
    text = read(handbook(root))
    write(handbook(root), text.replace("<!-- mem", "# Task Group: Places\n\n- the office is in Graz\n\n<!-- mem"))
    adopted(root)
    before = bare(root)
    write(handbook(root), read(handbook(root)).replace("Group: Notes", "Group: A").replace("Group: Places", "Group: B"))
    adopted(root)
    assert undone(root) == before
    write(handbook(root), read(handbook(root)).replace("Group: Notes", "Group: Places"))  # both are one now
    merged, _ = bare(root), adopted(root)
    assert undone(root) == merged.replace("Group: Places", "Group: Notes", 1)


def test_a_line_added_since_keeps_its_group(root: Path) -> None:
    edit(handbook(root), "# Task Group: Notes", "# Task Group: Airline desk")
    number = adopted(root)
    edit(handbook(root), "\n\n1. stop it", "\n- a new one\n\n1. stop it")
    adopted(root)
    OpenMemory(pipeline(root)).undo(number)
    state = consistent(root)
    groups = {record.text: record.group for record in state.visible().values()}
    assert groups["a new one"] == "Airline desk" and groups["the region is eu-west"] == "Notes"
    assert "Ann wrote this." in read(handbook(root))
    settled(root)


@pytest.mark.parametrize("old", ["- never use tabs", "- the staging port", "1. stop it"])
def test_a_split_that_is_taken_back_is_no_renaming(root: Path, old: str) -> None:
    edit(handbook(root), old, f"# Task Group: Places\n\nWhere it is.\n\n{old}")
    OpenMemory(pipeline(root)).undo(adopted(root))
    adopted(root)
    settled(root)
    text = read(handbook(root))
    assert text.count("# Task Group: Notes") == text.count("# Task Group: Places") == 1
    assert not [item for item in Document(text.encode()).items if item.group == "Places"]


def test_a_group_split_in_two_of_other_names_is_no_renaming(root: Path) -> None:
    edit(handbook(root), "# Task Group: Notes", "# Task Group: Desk")
    edit(handbook(root), "1. stop it", "# Task Group: Steps\n\n1. stop it")
    adopted(root)
    undone(root)
    assert read(handbook(root)).count("# Task Group: Notes") == 1


def test_a_title_that_cannot_stand_underlined_moves_its_lines(root: Path) -> None:
    edit(handbook(root), "# Task Group: Notes", "# 1. a list")
    adopted(root)
    edit(handbook(root), "# 1. a list", "Underlined\n==========")
    adopted(root)
    OpenMemory(pipeline(root)).undo(adopted(root))
    assert {r.group for r in consistent(root).visible().values()} == {"1. a list"}
    adopted(root)
    settled(root)


def test_putting_one_line_back_renames_no_group(root: Path) -> None:
    number = adopted(root)
    edit(handbook(root), "# Task Group: Notes", "# Task Group: Airline desk")
    adopted(root)
    (id,) = (item.id for item in Document(handbook(root).read_bytes()).items if "eu-west" in item.text)
    OpenMemory(pipeline(root)).restore(id, as_of=number)
    assert "# Task Group: Airline desk" in read(handbook(root)) and "# Task Group: Notes" in read(handbook(root))
    settled(root)


@pytest.mark.parametrize(
    ("text", "line", "new"),
    [
        ("# Task Group: A\n\nscope: A\n\n- x\n", 1, "# Task Group: B c\n\nscope: B c\n\n- x\n"),
        ("# a #  \n\n- x\n", 1, "# B c #  \n\n- x\n"),
        ("A\n===\n\n- x\n", 2, "B c\n===\n\n- x\n"),
        ("  Task Group:  A\n  and more\n===\r\n\n- x\n", 3, "  B c\n===\r\n\n- x\n"),
        ("#\tTASK GROUP:A\nscope: mine\n- x\n", 1, "#\tTASK GROUP:B c\nscope: B c\n- x\n"),
        ("\ufeff# A\n## Old ##\n- x", 2, "\ufeff# A\n## B c ##\n- x"),
        ("# A\n\nTwo\n---\n- x\n", 4, "# A\n\nB c\n---\n- x\n"),
        ("#\n- x\n", 1, "# B c\n- x\n"),
    ],
)
def test_a_heading_is_given_another_title(text: str, line: int, new: str) -> None:
    made = Document(text.encode()).edit([Retitle(line, "B c", scope=True)])
    assert made.data.decode() == new
    assert "B c" in (made.items[0].group, made.items[0].section)
