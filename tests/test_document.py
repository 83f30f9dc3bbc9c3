from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox_memory.document import (
    Document,
    Edit,
    Insert,
    Provenance,
    RemoveItem,
    Revise,
    Stamp,
    normalise,
    safe_text,
    strip_for_prompt,
)

REPO = Path(__file__).parents[1]
SHAPE = """\
# Task Group: invoices & *tax*

scope: rounding

## Task 1: fix the rounding, done

### rollout_summary_files

- rollout_summaries/r1_fix_it.md (rollout_id=r1, updated_at=2025-01-01T00:00:00Z)

### keywords

- Decimal, quantize

## User preferences

- when a test fails, show the diff first -> then edit [Task 1][Task 2] ^m-7f3a9c2b1d
- I always review
  migrations `^m-0000000000` myself [Task 1, 3].
  - [x] nested one ^m-1111111111
  - [ ] nested two

<!-- memory:41 -->
"""


def document(*lines: str) -> Document:
    return Document.parse("\n".join(lines).encode())


def lines(of: Document) -> list[str]:
    return of.data.decode().split("\n")


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_reads_the_same_items_in_every_form_of_a_file(newline: str, bom: bytes) -> None:
    found = Document.parse(bom + SHAPE.replace("\n", newline).encode())
    assert [(item.id, item.text, item.checked, item.line) for item in found.items] == [
        ("m-7f3a9c2b1d", "when a test fails, show the diff first -> then edit", None, 17),
        ("", "I always review migrations `^m-0000000000` myself [Task 1, 3].", None, 18),
        ("m-1111111111", "nested one", True, 20),
        ("", "nested two", False, 21),
    ]
    assert {(item.group, item.section, item.task) for item in found.items} == {
        ("invoices & *tax*", "User preferences", None)
    }
    assert [item.refs for item in found.items] == [(1, 2), (1, 3), (), ()]
    assert found.marker == 41
    assert found.provenance == {("invoices & *tax*", 1): ("r1_fix_it.md",)}
    assert found.edit([], 41).data == found.data == found.edit([]).data


def test_what_is_no_item() -> None:
    found = document(
        "---", "tags:", "- front matter", "---", "", "```", "- fenced", "```", "", "    - indented code", "",
        "<div>", "- html", "</div>", "", "> - quoted", "", "| - cell | b |", "|---|---|", "", "- ```", "  only code",
        "  ```", "- <!-- only a comment -->", "-", "", "1. one", "2) two", "+ three", "- > a quote",
    )  # fmt: skip
    assert [item.text for item in found.items] == ["one", "two", "three", "> a quote"]


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert [item.text for item in document("---", "- a", "", "---", "- b").items] == ["a", "b"]
    assert [item.text for item in document("---", "a: 1", "", "b:", "- x", "...", "- b").items] == ["b"]
    assert [item.text for item in document("---", "a: 1", "", "- b").items] == ["b"]


def test_groups_sections_and_tasks_under_odd_headings() -> None:
    found = document(
        "- before all", "", "Setext title", "===", "", "- under it", "", "## Task 12 - with a dash", "",
        "- in the task", "", "### ROLLOUT_SUMMARY_FILES", "",
        "* <rollout_summaries/a_b.md> and [b](rollout_summaries/b.md)", "", "## Notes #", "", "#### keywords",
        "- no item", "", "# Task Group: 中文 组 \\#", "", "- 中文",
    )  # fmt: skip
    assert [(item.text, item.group, item.section, item.task) for item in found.items] == [
        ("before all", "", "", None),
        ("under it", "Setext title", "", None),
        ("in the task", "Setext title", "Task 12 - with a dash", 12),
        ("中文", "中文 组 #", "", None),
    ]
    assert found.provenance == {("Setext title", 12): ("a_b.md", "b.md")}


@pytest.mark.parametrize(
    ("source", "text", "identity"),
    [
        ("- a ^m-0123456789", "a", "m-0123456789"),
        ("- a\n  ^m-0123456789", "a", "m-0123456789"),
        ("- a   ^p-0123456789  ", "a", "p-0123456789"),
        ("- a\n\n  ^m-0123456789", "a", "m-0123456789"),
        ("- a ^m-0123456789 typed on", "a typed on", "m-0123456789"),
        ("- a ^m-0123456789\n  typed on", "a typed on", "m-0123456789"),
        ("- a ^m-0123456789 b ^m-1111111111", "a b", "m-1111111111"),
        ("- a ^m-0123456789\n  - b", "a", "m-0123456789"),
        ("- ^m-0123456789", "", "m-0123456789"),
        ("- a^m-0123456789", "a^m-0123456789", ""),
        ("- a ^m-012345678", "a", "m-012345678"),
        ("- a ^m-01234567890", "a", "m-01234567890"),
        ("- a ^m-012", "a ^m-012", ""),
        ("- a `^m-0123456789`", "a `^m-0123456789`", ""),
        ("- a \\^m-0123456789", "a \\^m-0123456789", ""),
        ("- a\n  ```\n  ^m-0123456789\n  ```", "a `^m-0123456789`", ""),
    ],
)
def test_block_ids(source: str, text: str, identity: str) -> None:
    item = Document.parse(source.encode()).items[0]
    assert (item.text, item.id) == (text, identity)


def test_an_undecodable_byte_stays_and_its_item_is_not_edited() -> None:
    data = b"- good ^m-0123456789\n- b\xd1d ^m-1111111111\n- parent \xff\n  - child\n"
    found = Document.parse(data)
    assert [item.readable for item in found.items] == [True, False, False, True]
    edited = found.edit([Revise(1, "x"), RemoveItem(2), Stamp(1, ""), RemoveItem(0), Insert("new")], 3)
    assert edited.data == b"- b\xd1d ^m-1111111111\n- parent \xff\n  - child\n- new\n\n<!-- memory:3 -->\n"


@pytest.mark.parametrize(
    ("source", "marker"),
    [
        ("", None),
        ("<!-- memory:1 -->\n\ntext\n\n<!-- memory:2 -->\n", 2),
        ("<!-- memory:1 -->\n\ntext", 1),
        ("<!--memory:3-->", 3),
        ("```\n<!-- memory:1 -->\n```\n\ntext", None),
        ("> <!-- memory:1 -->", None),
        ("- a\n  <!-- memory:1 -->", None),
        ("<!-- memory:4 -->\n\n```\nleft open\n\n<!-- memory:5 -->\n", 5),
        ("```\nleft open, then closed by a formatter\n\n<!-- memory:5 -->\n```\n", 5),
    ],
)
def test_marker(source: str, marker: int | None) -> None:
    assert Document.parse(source.encode()).marker == marker


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(
            st.sampled_from([b"- ", b"\xd1", b"[a\xff]: <http://\xd1\xe4>", b"\n", b"\r", b"\x00", b"#", b"> ", b"  ",
                             b"`", b"a", b"\xef\xbb\xbf", b"^m-0123456789", b"<!-- memory:3 -->", b"\xff\xfe", b"```",
                             b"[a\xff]"]),
            max_size=16,
        ).map(b"".join),
    )
)  # fmt: skip
def test_every_byte_string_is_a_document(data: bytes) -> None:
    found = Document.parse(data)
    for item in found.items:
        assert normalise(item.text) == item.normal
        assert item.readable or b"\xd1" in data or not data.isascii()
    assert found.edit([], found.marker).data == data
    edited = found.edit([Insert("new", "m-aaaaaaaaaa", "A title")], 5)
    assert [item.text for item in edited.items if item.id == "m-aaaaaaaaaa"] == ["new"]
    assert [(item.id, item.text) for item in edited.items if item.id != "m-aaaaaaaaaa"] == [
        (item.id, item.text) for item in found.items
    ]
    assert edited.marker == 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a _b_ __c__ ***d***", "a *b* **c** **_d_**"),
        ("a\\\n  b", "a b"),
        ("a  \nb", "a b"),
        ("1\\. `` a` `` &amp; \\<x>", "1. ``a` `` & \\<x\\>"),
        ("[Foo][BAR] and [Foo][]", "[Foo][bar] and [Foo]"),
        ("<https://x.y>", "[https://x.y](https://x.y)"),
        ("中文，\n测试 abc", "中文，测试abc"),
        ("[ ] task", "\\[x\\] task"),
    ],
)
def test_normalise_sees_no_difference_in_form(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"), [("never *do* it", "never do it"), ("a `b`", "a b"), ("port 1", "port 2"), ("[a](b)", "[a](c)")]
)
def test_normalise_sees_differences_in_substance(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


# --- text that is put in ---------------------------------------------------------------------------------------------

NASTY = [
    "", "# heading", "#", "- item", "* item", "+", "1. item", "12) item", "> quote", "```sh", "```", "~~~", "---",
    "***", "_ _ _", "- - -", "===", "[ ] box", "[x]", "[x] [ ] y", "[a]: /url", "[^1]: note", "<div>", "<b>", "<!-- x",
    "a <!-- memory:9 --> b", "<!-- memory:9 -->", "a ^m-0123456789", "^p-0123456789", "`^m-0123456789`", "a | b", "| a",
    "a \\| b", "line\nbreak", "line\\\nbreak", "a\r\n\r\n# b", "tail\\", "`open", "*open", "_a_ <i title='_b_'>*c*</i>",
    "\x00\x1b[31mred", "\ud800 lone", "\udcd1", "&#35; entity", "&nbsp;", "\u2028x\x85y", "中文 - 1. # ",
    "[x](<!--y-->)", "\\", "\\# x", "Task Group: x", "<script>", "<?php", "<!DOCTYPE x>", "<![CDATA[x", "</div>", "!",
    "![a](b)", "\u3000a", "<http://x.y/z>", "<http://x.y/z> http://q.w", "<a@b.c> d", "<x:y", "<ab:> c", "<pre:x> y",
]  # fmt: skip

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=30),
    st.text(alphabet="#-*+_`~<>[]()!|\\^&;:=1. \nax中", max_size=16),
    st.tuples(st.sampled_from(NASTY), st.sampled_from(NASTY)).map(" ".join),
)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("<http://x.y/z> http://q.w", "<http://x.y/z> http://q.w"),
        ("<https://a_b.c/*d*?e=1&f=2>", "<https://a_b.c/*d*?e=1&f=2>"),
        ("<ops@example.com> answers", "<ops@example.com> answers"),
        ("<tel:+49-30-1> 看", "<tel:+49-30-1> 看"),
        ("[ ] <http://x.y>", "<http://x.y>"),
        ("[x] use `a_b`", "use `a_b`"),
        ("1. <http://x.y>", "1\\. <http://x.y>"),
        ("> <http://x.y>", "\\> <http://x.y>"),
        ("<http://a b> c", "\\<http://a b> c"),
        ("<b>bold</b> c", "\\<b>bold</b> c"),
        ("<x:y> c", "\\<x:y> c"),
    ],
)
def test_what_begins_no_block_is_written_as_it_is(text: str, safe: str) -> None:
    assert safe_text(text) == safe and normalise(safe) == normalise(text)


@settings(max_examples=300, deadline=None)
@given(texts)
def test_any_text_reads_back_as_one_item_with_that_text(text: str) -> None:
    safe = safe_text(text)
    assert safe_text(safe) == safe
    assert normalise(safe) == normalise(text)
    around = Document.parse(b"# G\n\n- one ^m-1111111111\n- two\n\ntext\n\n## H\n\n- three\n\n<!-- memory:1 -->\n")
    edited = around.edit([Insert(text, "m-0123456789", "G", "H")], 2)
    *others, new = edited.items
    assert (new.id, new.normal, new.group, new.section) == ("m-0123456789", normalise(safe), "G", "H")
    assert [(item.id, item.text) for item in others] == [(item.id, item.text) for item in around.items]
    assert edited.marker == 2
    revised = around.edit([Revise(0, text), Revise(1, text)])
    assert [item.normal for item in revised.items if item.id] == [normalise(text)]
    if normalise(text):
        assert [item.normal for item in revised.items] == [normalise(text), normalise(text), "three"]


@settings(max_examples=100, deadline=None)
@given(texts, texts)
@example("Task Group: x", "Keywords")
def test_any_title_reads_back(group: str, heading: str) -> None:
    edited = Document.empty().edit([Insert("x", "m-0123456789", group, heading)], 1)
    item = edited.items[0]
    reserved = plain_line(heading).casefold() in ("keywords", "rollout_summary_files")
    assert (item.group, item.section) == (plain_line(group), "" if reserved else plain_line(heading))
    again = edited.edit([Insert("y", "m-1111111111", group, heading)])
    assert [(item.group, item.section) for item in again.items] == [(item.group, item.section)] * 2
    assert again.data.count(b"\n# ") <= 1


def plain_line(text: str) -> str:
    kept = "".join(
        "\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text if not re.match(r"[\0-\x08\x0e-\x1b\x7f]", c)
    )
    return " ".join(re.sub(r"\\(\r\n|\r|\n)", r"\1", kept).split())


# --- edits -----------------------------------------------------------------------------------------------------------


def test_a_new_file() -> None:
    edited = Document.empty().edit(
        [
            Provenance("Invoices", "Fix the rounding", "r1_fix.md", ("Decimal", "quantize"), note="rollout_id=r1"),
            Insert("show the diff first", "m-0123456789", "Invoices", "User preferences", scope="billing code"),
            Insert("uses Decimal", "m-1111111111", "Invoices", "Reusable knowledge"),
            Insert("- not a list", "m-2222222222", "Invoices", "User preferences"),
        ],
        1,
    )
    assert edited.data.decode() == (
        "# Task Group: Invoices\n\nscope: billing code\n\n## Task 1: Fix the rounding\n\n### rollout_summary_files\n\n"
        "- rollout_summaries/r1_fix.md (rollout_id=r1)\n\n### keywords\n\n- Decimal, quantize\n\n"
        "## User preferences\n\n- show the diff first ^m-0123456789\n- \\- not a list ^m-2222222222\n\n"
        "## Reusable knowledge\n\n- uses Decimal ^m-1111111111\n\n<!-- memory:1 -->\n"
    )


def test_provenance_is_added_once_and_under_the_task_of_that_title() -> None:
    found = Document.parse(SHAPE.encode())
    edited = found.edit(
        [
            Provenance("invoices & *tax*", "Something else", "r1_fix_it.md"),
            Provenance("Invoices & *TAX*", "Fix the  rounding, DONE", "r2.md"),
            Provenance("invoices & *tax*", "New task", "r__3__.md", ("k",)),
            Provenance("invoices & *tax*", "New task", "r__3__.md", ("k",)),
            Provenance("invoices & *tax*", "New task", "r4.md", ("l",)),
        ]
    )
    assert edited.provenance == {
        ("invoices & *tax*", 1): ("r1_fix_it.md", "r2.md"),
        ("invoices & *tax*", 4): ("r__3__.md", "r4.md"),  # a line cites task 3
    }
    text = edited.data.decode()
    assert "- k, l\n\n## User preferences\n" in text
    assert text.index("## Task 4: New task") > text.index("- Decimal, quantize")
    assert edited.items[0].normal == found.items[0].normal
    again = edited.edit([Provenance("invoices & *tax*", "New task", "r4.md")], 41)
    assert again.data == edited.data


def test_provenance_takes_no_item_of_a_task_without_lists() -> None:
    found = document("# G", "## Task 2: t", "- an item")
    edited = found.edit([Provenance("G", "t", "r.md")])
    assert [item.text for item in edited.items] == ["an item"]
    assert edited.provenance == {("G", 2): ("r.md",)}


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        pytest.param("- a\n- b\n- c\n", [RemoveItem(1)], "- a\n- c\n", id="from the middle"),
        pytest.param("- a\n\n- b\n\n- c\n", [RemoveItem(1)], "- a\n\n- c\n", id="no blank run"),
        pytest.param("## H\n\n- a\n\n## I\n", [RemoveItem(0)], "## H\n\n## I\n", id="the only one"),
        pytest.param("- a\n\n- b", [RemoveItem(1)], "- a\n", id="the last one"),
        pytest.param("- a\n\n- b\n", [RemoveItem(0)], "- b\n", id="the first one"),
        pytest.param("text\n1. a\n2. b\n", [RemoveItem(0)], "text\n\n2. b\n", id="glued list"),
        pytest.param("text\n- a\n---\n", [RemoveItem(0)], "text\n\n---\n", id="no heading from a rule"),
        pytest.param("- a\n  - b\n- c\n", [RemoveItem(0)], "- <!-- -->\n  - b\n- c\n", id="children stay"),
        pytest.param("- a\n  - b\n- c\n", [RemoveItem(0), RemoveItem(1)], "- c\n", id="children too"),
        pytest.param("10. a\n\n    - b\n\n    more a\n", [RemoveItem(0)], "10. <!-- -->\n\n    - b\n", id="wide"),
        pytest.param("- - a\n  - b\n", [RemoveItem(0)], "- - <!-- -->\n  - b\n", id="two bullets on a line"),
        pytest.param("- x\n---\n- y\n---\n", [RemoveItem(0)], "<!-- -->\n---\n- y\n---\n", id="no front matter"),
        pytest.param("-  [x]  a\n   b ^m-0123456789\n   - c\n", [Revise(0, "d")], "-  [x]  d ^m-0123456789\n   - c\n",
                     id="all but the text"),
        pytest.param("1) a\n\n   ```\n   code\n   ```\n\n   ^m-0123456789\n2) b\n", [Revise(0, "c")],
                     "1) c ^m-0123456789\n2) b\n", id="everything of its own"),
        pytest.param("- # a\ntext\n", [Revise(0, "b")], "- b\n\ntext\n", id="no lazy line"),
        pytest.param("- a\n---\n", [Revise(0, "a \\| b")], "- a \\| b\n\n---\n", id="no table"),
        pytest.param("- a  \n  b  \n", [Stamp(0, "m-0123456789")], "- a  \n  b ^m-0123456789  \n", id="stamp"),
        pytest.param("- a\n  ^m-0123456789\n- b\n", [Stamp(0, "m-1111111111")], "- a\n  ^m-1111111111\n- b\n",
                     id="stamp in place"),
        pytest.param("- a\n  ^m-0123456789\n- b\n", [Stamp(0, "")], "- a\n- b\n", id="unstamp"),
        pytest.param("- # a #\n- b\n  ---\n", [Stamp(0, "m-0123456789"), Stamp(1, "m-1111111111")],
                     "- # a ^m-0123456789 #\n- b ^m-1111111111\n  ---\n", id="stamp headings"),
        pytest.param("- [x]\n", [Stamp(0, "m-0123456789")], "- [x] ^m-0123456789\n", id="no box from brackets"),
        pytest.param("* a\n\n* b\n\ntext\n", [Insert("c")], "* a\n\n* b\n\n* c\n\ntext\n", id="in the list's manner"),
        pytest.param(" 8. a\n", [Insert("c"), Insert("d")], " 8. a\n\n- c\n- d\n", id="no step of a numbered list"),
        pytest.param("- a\n  - b\nlazy", [Insert("c")], "- a\n  - b\nlazy\n- c\n", id="after lazy lines"),
        pytest.param("- ```\n  x\n  ```\n- a\n\n  ```\n  x\n  ```\ntext\n", [Insert("c")],
                     "- ```\n  x\n  ```\n- a\n\n  ```\n  x\n  ```\n- c\n\ntext\n", id="text not taken in"),
        pytest.param("## H\n\n  # deep\n", [Insert("c", "", "", "H")], "## H\n\n- c\n\n<!-- -->\n  # deep\n",
                     id="indented heading not taken in"),
        pytest.param("# G\n## H\ntext\n### I\n", [Insert("c", "", "g", "h")], "# G\n## H\ntext\n\n- c\n\n### I\n",
                     id="section without items"),
        pytest.param("# G\n# H\n", [Insert("c", "", "G", "S")], "# G\n\n## S\n\n- c\n\n# H\n", id="new section"),
        pytest.param("a", [Insert("c", "", "G", "S")], "a\n\n# Task Group: G\n\nscope: G\n\n## S\n\n- c\n",
                     id="new group"),
    ],
)  # fmt: skip
def test_edit(before: str, edits: list[Edit], after: str) -> None:
    assert Document.parse(before.encode()).edit(edits).data.decode() == after
    dos = Document.parse(b"\xef\xbb\xbf" + before.replace("\n", "\r\n").encode()).edit(edits)
    if "\n" in before:
        assert dos.data == b"\xef\xbb\xbf" + after.replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    "tail",
    [
        "```\nleft open",
        "~~~~\n\n~~~",
        "<!-- left open",
        "<pre>\nx",
        "<div>\nx",
        "<script>",
        "    code",
        "> q",
        "| a |\n|---|",
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\n\n<!-- memory:3 -->\n"])
def test_additions_to_a_file_with_an_open_end(tail: str, end: str) -> None:
    before = f"# A\n\n## S\n\ntext\n\n# B\n\ntext b\n\n## T\n\nbefore\n\n{tail}{end}"
    found = Document.parse(before.encode())
    edited = found.edit(
        [Insert("one", "", "New", "V"), Insert("two", "", "B", "U"), Insert("three", "", "B", "T"),
         Insert("four", "", "A", "S"), Provenance("B", "task", "f.md")], 4,
    )  # fmt: skip
    assert {(item.text, item.group, item.section) for item in edited.items} == {
        ("one", "New", "V"), ("two", "B", "U"), ("three", "B", "T"), ("four", "A", "S"),
    }  # fmt: skip
    assert edited.provenance == {("B", 1): ("f.md",)}
    assert edited.marker == 4
    assert edited.data.endswith(b"<!-- memory:4 -->\n")
    kept = [line for line in before.split("\n") if line.strip() and "memory:" not in line]
    assert [line for line in lines(edited) if line in kept] == kept
    again = edited.edit([Insert("five", "", "New", "V")], 5)
    assert [item.text for item in again.items if item.group == "New"] == ["one", "five"]
    assert again.marker == 5 and again.data.count(b"memory:") == edited.data.count(b"memory:")


def test_the_marker_moves_to_the_end_and_stays_single() -> None:
    edited = document("<!-- memory:1 -->", "", "- a", "", "<!-- memory:2 -->", "", "text").edit([], 3)
    assert edited.data.decode() == "- a\n\ntext\n\n<!-- memory:3 -->\n"
    assert document("<!-- memory:2 -->", "", "text").edit([], 2).data.decode() == "<!-- memory:2 -->\n\ntext"
    kept = document("<!-- open", "<!-- memory:2 -->", "", "- a").edit([], 3)
    assert [item.text for item in kept.items] == ["a"] and kept.marker == 3


def test_mixed_line_ends_stay_and_new_lines_take_the_commonest() -> None:
    edited = Document.parse(b"# G\r\n\n- a\r- b\r\n\xe2\x80\xa8 c\x0b\x0c\r\n").edit([Insert("d", "", "G")], 1)
    assert edited.data == b"# G\r\n\n- a\r- b\r\n\xe2\x80\xa8 c\x0b\x0c\r\n- d\r\n\r\n<!-- memory:1 -->\r\n"


def test_two_line_ends_do_not_become_one() -> None:
    edited = Document.parse(b"- a\r- b\n\n1. c\n").edit([RemoveItem(1)])
    assert [item.text for item in edited.items] == ["a", "c"]
    assert edited.data == b"- a\r\r1. c\n"


def test_another_encoding_is_told() -> None:
    assert Document.parse("- a".encode("utf-16")).foreign
    assert Document.parse("- a".encode("utf-32")).foreign
    assert not Document.parse(b"\xef\xbb\xbf- \xff\xfe").foreign


def test_edits_that_are_wrong() -> None:
    with pytest.raises(IndexError, match="no item 1"):
        document("- a").edit([Revise(1, "x")])
    with pytest.raises(ValueError, match="block id"):
        Stamp(0, "m-xyz")
    assert document("- a").edit([Insert(" ")]).data == b"- a"


def test_strip_for_prompt() -> None:
    code = "- `^m-0123456789`\n\n```\nx ^m-0123456789\n```\n\n"
    text = f"\ufeff- a ^m-0123456789\r\n  ^p-0123456789\n{code}<!-- memory:2 -->\n"
    assert strip_for_prompt(text) == f"- a\r\n{code}"
    assert strip_for_prompt("no list ^m-0123456789, in prose ^m-0123456789") == "no list ^m-0123456789, in prose"


def test_a_large_file_is_quick() -> None:
    data = "# G\n\n## H\n\n" + "".join(
        f"- the `port` number {n} is *used* [Task 1] ^m-{n:010x}\n" for n in range(10_000)
    )
    start = time.perf_counter()
    found = Document.parse(data.encode())
    edited = found.edit([Revise(n, f"changed {n}") for n in range(0, 10_000, 3)] + [RemoveItem(1)], 7)
    assert len(found.items) == 10_000
    assert edited.data.count(b"changed") == 3334
    assert time.perf_counter() - start < 20  # seconds; a quadratic step takes minutes


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("先确认会员号，\n  再查订单", "先确认会员号，再查订单"),
        ("先确认会员号\n  再查订单 ^m-0123456789", "先确认会员号再查订单"),
        ("先确认会员号，\r\n    再查\r\n    订单", "先确认会员号，再查订单"),
        ("先确认会员号，\n再查订单", "先确认会员号，再查订单"),
        ("先说“好”\n  再查（见\n  下文）\n  订单", "先说“好”再查（见下文）订单"),
        ("顧客番号を\n  確認する", "顧客番号を確認する"),
        ("端口改为，\n  8443 见下", "端口改为，8443 见下"),
        ("先跑 make\n  （再部署）", "先跑 make（再部署）"),
        ("端口是\n  8443", "端口是 8443"),
        ("先跑 make\n  再部署", "先跑 make 再部署"),
        ("确认 ，\n  再查 订单", "确认 ，再查 订单"),
        ("**重要。**\n  再查", "**重要。** 再查"),
        ("`路\n  径` 在此", "`路 径` 在此"),
        ("见 [甲](/路\n  径)", "见 [甲](/路 径)"),
        ("고객 번호를\n  확인", "고객 번호를 확인"),
        ("the first line\n  the second", "the first line the second"),
        ("甲\\\n  乙", "甲 乙"),
        ("甲\n\n  乙", "甲 乙"),
        ("会员号 ^m-0123456789\n  再查订单", "会员号 再查订单"),
    ],
)
def test_lines_of_one_item_are_joined_as_their_script_is_written(source: str, text: str) -> None:
    (item,) = Document(f"- {source}\n".encode()).items
    assert item.text == text


@given(st.text(st.sampled_from("甲乙，。（）“”ab1 \n*_`[]()<>\\!&-・가"), max_size=30))
@settings(max_examples=300)
def test_how_lines_are_joined_does_not_change_what_an_item_is_known_by(text: str) -> None:
    for item in Document(f"- {text}".encode()).items:
        assert item.normal == normalise(safe_text(item.text))
    spaced = " ".join(part.strip() for part in text.replace("\\", "").split("\n") if part.strip())
    assert normalise(text.replace("\\", "")) == normalise(spaced)
