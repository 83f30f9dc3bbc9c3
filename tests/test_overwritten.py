"""Two saves of one line: the last one stands in the file, and what the other had made of it is asked about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox_memory import open_memory

from .editing import (
    ID,
    PORT,
    REVIEW,
    TABS,
    begun,
    consistent,
    decide,
    drop_line,
    edit,
    inbox,
    read,
    record,
    settled,
    summary,
    write,
)
from .kit import handbook, process, state, texts
from .test_live import in_session
from .web_kit import HOME, client_of

HERS, HIS = "the staging port is 9443", "the staging port is 7443"
OOLONG = "Alice prefers oolong tea"
Edit = Callable[[str], str]


def swap(old: str, new: str) -> Edit:
    return lambda text: text.replace(old, new)


def without(needle: str) -> Edit:
    return lambda text: drop_line(text, needle)


def rearranged(text: str) -> str:
    """All lines in another order, in a group of another name, with a line of their own between them."""
    head, *rest = text.split("## Reusable knowledge\n")
    body, marker = rest[0].split("<!--")
    turned = "\n".join(sorted(body.split("\n"), reverse=True))
    return f"{head.replace('Notes', 'All my notes')}## Reusable knowledge\n{turned}\n- a line of mine\n\n<!--{marker}"


@dataclass(frozen=True)
class Case:
    """She saves, it is taken in, and he saves over it what he had opened before; `kept` is what is asked about."""

    hers: Edit
    his: Edit
    stands: set[str]
    kept: tuple[str, ...] = ()
    she: Callable[[Path], Path] = handbook
    he: Callable[[Path], Path] = handbook


def nameless(text: str) -> str:
    """The port in his words, and no line with its id."""
    return ID.sub("", text.replace("8443", "7443"))


BOTH = frozenset((REVIEW, TABS))
CASES = {
    "both change it": Case(swap("8443", "9443"), swap("8443", "7443"), {HIS, *BOTH}, (HERS,)),
    "changed, then deleted": Case(swap("8443", "9443"), without("8443"), {*BOTH}, (HERS,)),
    "changed, then typed over": Case(swap("8443", "9443"), swap(PORT, OOLONG), {OOLONG, *BOTH}, (HERS,)),
    "added, then unknown": Case(swap("- never", f"- {OOLONG}\n- never"), swap("8443", "7443"), {OOLONG, HIS, *BOTH}),
    "changed, then left": Case(swap("8443", "9443"), swap("myself", "alone"), {HERS, REVIEW[:-6] + "alone", TABS}),
    "left, then deleted": Case(swap("myself", "alone"), without("8443"), {REVIEW[:-6] + "alone", TABS}),
    "the same twice": Case(swap("8443", "9443"), swap("8443", "9443"), {HERS, *BOTH}),
    "gone on with": Case(swap("8443", "9443"), swap("8443", "9443, since May"), {f"{HERS}, since May", *BOTH}),
    "old summary": Case(swap("8443", "9443"), swap("8443", "7443"), {HIS, *BOTH}, (HERS,), he=summary),
    "rearranged": Case(swap("8443", "9443"), rearranged, {HERS, "a line of mine", *BOTH}),
    "ids gone": Case(swap("8443", "9443"), nameless, {HIS, *BOTH}, (HERS,)),
    "in Chinese": Case(
        swap("never use tabs in this repository", "never use tabs in this repository 仓库"),
        swap("never use tabs in this repository", "never use tabs in this 项目"),
        {PORT, REVIEW, "never use tabs in this 项目"},
        ("never use tabs in this repository 仓库",),
    ),
    "her old words cut": Case(
        swap(" in this repository", ""),
        swap("repository", "repository, ever"),
        {PORT, REVIEW, f"{TABS}, ever"},
        ("never use tabs",),
    ),
    "his denies hers": Case(
        swap("8443", "8443 and stays"),
        swap("8443", "8443 and never stays"),
        {f"{PORT} and never stays", *BOTH},
        (f"{PORT} and stays",),
    ),
    "two of three": Case(
        lambda text: text.replace("8443", "9443").replace("myself", "alone"),
        lambda text: text.replace("8443", "7443").replace("myself", "with Bo"),
        {HIS, REVIEW[:-6] + "with Bo", TABS},
        (HERS, REVIEW[:-6] + "alone"),
    ),
    "deleted, then changed": Case(without("8443"), swap("8443", "7443"), {HIS, *BOTH}),
    "wrapped by his editor": Case(
        swap("8443", "9443"), swap("- the staging port", "* the staging\n  port"), {HERS, *BOTH}
    ),
    "her summary": Case(swap("8443", "9443"), swap("8443", "7443"), {HIS, *BOTH}, (HERS,), she=summary),
    "out of an old summary": Case(swap("8443", "9443"), without("8443"), {*BOTH}, (HERS,), he=summary),
    "over an old summary": Case(swap("8443", "9443"), swap(PORT, OOLONG), {OOLONG, *BOTH}, (HERS,), he=summary),
    "typed over twice": Case(swap(PORT, OOLONG), swap(PORT, "Bo drives"), {OOLONG, "Bo drives", *BOTH}),
    "typed over, then changed": Case(swap(PORT, OOLONG), swap("8443", "7443"), {OOLONG, HIS, *BOTH}),
    "typed over, then deleted": Case(swap(PORT, OOLONG), without("8443"), {OOLONG, *BOTH}),
}


@pytest.mark.parametrize("accept", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_the_last_save_stands_and_the_other_is_asked_about(tmp_path: Path, name: str, accept: bool) -> None:
    root, case = begun("few", tmp_path / "ws"), CASES[name]
    his = case.his(read(case.he(root)))
    write(case.she(root), case.hers(read(case.she(root))))
    process(root)
    write(case.he(root), his)
    process(root)
    consistent(root)
    assert texts(root) == case.stands
    asked = re.findall(
        r"^- \[ \] (?:replace “.*?” by|put back) “(.*)”\? \(from what you changed", read(inbox(root)), re.M
    )
    assert asked == list(case.kept)
    settled(root)
    for text in case.kept:
        decide(root, accept, text)
        assert (text in texts(root)) is accept
    assert "- [" not in read(inbox(root))
    consistent(root)
    settled(root)


def test_what_a_command_changed_is_kept_from_an_old_buffer(tmp_path: Path) -> None:
    root = begun("few", tmp_path / "ws")
    buffer = read(handbook(root)).replace("8443", "7443").replace(f"- {TABS}", "- tea")
    open_memory(root).revise(record(root, PORT).id, HERS)
    write(handbook(root), buffer)
    process(root)
    assert texts(root) == {HIS, REVIEW, "tea"}
    assert f"replace “{HIS}” by “{HERS}”? (from a command, " in read(inbox(root))


def test_an_editor_that_does_not_look_again_is_asked_nothing_about_its_own_words(tmp_path: Path) -> None:
    root = begun("few", tmp_path / "ws")
    buffer = read(handbook(root)).replace("- never", "- mine\n- never")
    for port in ("9443", "7443", "6443", ""):
        buffer = re.sub(r"port is \d+", f"port is {port}", buffer) if port else drop_line(buffer, "port is")
        write(handbook(root), buffer)
        process(root)
        assert texts(root) == {*BOTH, "mine", *({f"the staging port is {port}"} if port else ())}
        assert not state(root).proposals


FIRST: dict[str, Edit] = {
    "changed": swap("8443", "9443"),
    "deleted": without("8443"),
    "typed over": swap(PORT, OOLONG),
    "typed over, its id gone": lambda text: re.sub(rf"{PORT}.*", OOLONG, text),
}


def undo(root: Path) -> None:
    with open_memory(root) as memory:
        memory.undo(memory.history()[0]["commit"])


def put_back(root: Path) -> None:
    with open_memory(root) as memory:
        memory.restore(next(id for id, each in state(root).records.items() if "staging" in each.text), as_of="3")


def by_hand(do: Edit) -> Callable[[Path], None]:
    """By another editor, that reads the file first."""
    return lambda root: write(handbook(root), do(read(handbook(root))))


LATER: dict[str, tuple[str, Callable[[Path], None]]] = {
    "changed by command": ("changed", lambda root: open_memory(root).revise(record(root, "9443").id, HIS) and None),
    "deleted by command": ("changed", lambda root: open_memory(root).delete(record(root, "9443").id) and None),
    "undone": ("changed", undo),
    "put back": ("changed", put_back),
    "changed by hand": ("changed", by_hand(swap("9443", "7443"))),
    "deleted by hand": ("changed", by_hand(without("9443"))),
    "typed over by hand": ("changed", by_hand(swap(HERS, OOLONG))),
    "deletion undone": ("deleted", undo),
    "deletion put back": ("deleted", put_back),
    "replacement undone": ("typed over", undo),
    "replacement without an id undone": ("typed over, its id gone", undo),
    "replacement deleted": ("typed over", lambda root: open_memory(root).delete(record(root, OOLONG).id) and None),
}


@pytest.mark.parametrize("path", [handbook, summary], ids=["handbook", "summary"])
@pytest.mark.parametrize("name", sorted(LATER))
def test_what_was_done_later_stands_where_a_save_leaves_that_line_as_it_was(
    tmp_path: Path, name: str, path: Callable[[Path], Path]
) -> None:
    """An editor that never reloads saves another line: what it still has of the first one is no edit."""
    root, (first, later) = begun("few", tmp_path / "ws"), LATER[name]
    buffer = FIRST[first](read(path(root)))
    write(path(root), buffer)
    process(root)
    later(root)
    process(root)
    known = {text for text in texts(root) if text != REVIEW}
    assert len(known) in (1, 2)
    for end in ("alone", "with Bo", "at last"):
        write(path(root), buffer.replace("myself", end))
        process(root)
        consistent(root)
        assert texts(root) == {*known, f"{REVIEW[:-6]}{end}"} and not state(root).proposals
        settled(root)


@pytest.mark.parametrize("name", ["changed by command", "changed by hand", "put back"])
def test_what_was_done_later_is_asked_about_where_a_save_changes_that_line_once_more(tmp_path: Path, name: str) -> None:
    root, (first, later) = begun("few", tmp_path / "ws"), LATER[name]
    buffer = FIRST[first](read(handbook(root)))
    for end in ("alone", "with Bo"):
        buffer = re.sub("review migrations .*?(?= \\^)", f"review migrations {end}", buffer)
        write(handbook(root), buffer)
        process(root)
    later(root)
    process(root)
    (theirs,) = (text for text in texts(root) if "port" in text)
    write(handbook(root), buffer.replace("9443", "6443"))
    process(root)
    consistent(root)
    assert "the staging port is 6443" in texts(root) and len(state(root).proposals) == 1
    assert f"replace “the staging port is 6443” by “{theirs}”?" in read(inbox(root))


def test_lines_that_a_person_kept_are_not_asked_about_where_a_save_still_lacks_them(tmp_path: Path) -> None:
    root = begun("many", tmp_path / "ws")
    buffer, before = drop_line(read(handbook(root)), "fact number"), texts(root)
    write(handbook(root), buffer)
    process(root)
    decide(root, False)
    assert texts(root) == before
    write(handbook(root), buffer.replace("myself", "alone"))
    process(root)
    assert texts(root) == {*before, f"{REVIEW[:-6]}alone"} - {REVIEW} and not state(root).proposals
    consistent(root)
    settled(root)


@pytest.mark.parametrize("first", [True, False])
def test_a_deletion_stands_where_a_session_was_open_at_one_of_the_saves(tmp_path: Path, first: bool) -> None:
    root = begun("few", tmp_path / "ws")
    buffer = read(handbook(root)).replace("8443", "9443")
    for n, text in enumerate((buffer, buffer.replace("myself", "alone"))):
        if first is (n == 0):
            in_session(root, lambda text=text: write(handbook(root), text))
        else:
            write(handbook(root), text)
            process(root)
        if n == 0:
            with open_memory(root) as memory:
                memory.delete(record(root, "9443").id)
    assert texts(root) == {f"{REVIEW[:-6]}alone", TABS} and not state(root).proposals
    settled(root)


def test_a_line_that_its_editor_took_out_and_put_back_is_back(tmp_path: Path) -> None:
    root = begun("few", tmp_path / "ws")
    buffer = read(handbook(root)).replace("8443", "9443").replace("myself", "alone")
    for text in (buffer, without("9443")(buffer), buffer):
        write(handbook(root), text)
        process(root)
        assert (HERS in texts(root)) is ("9443" in text) and not state(root).proposals
    consistent(root)
    settled(root)


@pytest.mark.parametrize("other", ["web", "command", "editor"])
def test_an_editor_that_saved_before_is_asked_about_what_it_did_not_write(tmp_path: Path, other: str) -> None:
    root = begun("few", tmp_path / "ws")
    buffer = read(handbook(root)).replace("never use", "never ever use")
    write(handbook(root), buffer)
    process(root)
    if other == "editor":
        edit(handbook(root), "8443", "9443")
        process(root)
    elif other == "command":
        open_memory(root).revise(record(root, PORT).id, HERS)
    else:
        answer = client_of(root).post(
            f"{HOME}line/{record(root, PORT).id}",
            data={"expected": record(root, PORT).version, "was": PORT, "do": "save", "text": HERS},
        )
        assert answer.status_code == 200
    write(handbook(root), buffer.replace("8443", "6443"))
    process(root)
    assert texts(root) == {"the staging port is 6443", REVIEW, "never ever use tabs in this repository"}
    assert f"replace “the staging port is 6443” by “{HERS}”?" in read(inbox(root)) and len(state(root).proposals) == 1


def test_two_editors_that_opened_the_same_file_are_told_apart_by_their_lines(tmp_path: Path) -> None:
    root = begun("few", tmp_path / "ws")
    hers, his = (read(handbook(root)).replace("tabs", word) for word in ("spaces", "tabs"))
    for buffer in (hers, his := his.replace("8443", "9443"), hers := hers.replace("8443", "6443")):
        write(handbook(root), buffer)
        process(root)
    assert "replace “the staging port is 6443” by “the staging port is 9443”?" in read(inbox(root))


def test_it_is_said_in_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = begun("few", tmp_path / "ws")
    his = read(handbook(root)).replace("8443", "7443").replace("myself", "with Bo")
    edit(handbook(root), "8443", "9443")
    process(root)
    assert not caplog.messages
    write(handbook(root), his)
    process(root)
    process(root)
    assert caplog.messages == [
        "sandbox memory: a line was changed by two saves; the last one stands, memories/INBOX.md asks about the other"
    ]


@pytest.mark.parametrize("cut", [1, 4, 6])
def test_an_id_that_lost_some_digits_is_put_right(tmp_path: Path, cut: int) -> None:
    root = begun("few", tmp_path / "ws")
    before, text = state(root).visible(), read(handbook(root))
    write(handbook(root), re.sub(rf"(\^m-[0-9a-f]{{{10 - cut}}})[0-9a-f]{{{cut}}}", r"\1", text))
    process(root)
    assert state(root).visible().keys() == before.keys()
    assert read(handbook(root)) == text
