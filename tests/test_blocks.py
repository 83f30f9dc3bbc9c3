"""A list item of several blocks or lines: what a person wrote comes back as it was, whoever writes it back."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import mdformat
import pytest

from sandbox_memory.document import Document, Insert, Revise, normalise
from sandbox_memory.document.carried import carried
from sandbox_memory.document.source import LONGEST, differs, source
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.errors import Unknown
from sandbox_memory.pipeline.rebuilding import rebuild
from sandbox_memory.pipeline.saving import Saves
from sandbox_memory.records import Record, Trust
from sandbox_memory.stages import adoption

from .editing import PORT, TABS, bare, consistent, decide, edit, read, settled, summary, write
from .kit import LIMITS, EchoModel, handbook, history, look, pipeline, process, run, state, tell

FENCE = "- To release, run these:\n\n  ```sh\n  make build\n  # then look at the log\n  make ship\n  ```\n"
BLOCKS = {
    "fence": FENCE,
    "paragraphs": "- Ask Bo first.\n\n  He signs every release.\n\n  > In writing.\n",
    "table": "- Desks:\n\n  | desk | opens |\n  | ---- | ----- |\n  | north | nine |\n",
    "breaks": "- Elm Street 5  \n  Springfield\\\n  the yellow door\n",
    "quote": "- > Never on Fridays\n  > Ann\n",
    "heading": "- ### Rule one\n\n  Never alone.\n",
    "wrapped": "- a line that somebody\n  wrapped by hand\n",
    "tabs": "-\tAsk first:\n\n\t```\n\tall:\n\t\tmake x\n\t```\n",
    "chinese": "- 发布前运行：\n\n  ```sh\n  make build\n  # 看日志\n  make ship\n  ```\n",
    "html": "- Note\n\n  <details>\n  <b>x</b>\n  </details>\n\n  and more\n",
    "code first": "- ~~~\n  a\n     \n\n   b\n  ~~~\n\n  what they do\n",
    "indented": "- Type:\n\n      ls -l\n        x\n\n  and wait\n",
    "box": "- [ ] Ship it\n\n  ```\n  a\n  b\n  ```\n",
}


def typed(root: Path, block: str) -> None:
    """A person adds an item after the first line of ours."""
    text = read(handbook(root))
    at = text.index("\n", text.index(PORT)) + 1
    write(handbook(root), text[:at] + block + text[at:])
    look(root)


def at(root: Path, id: str) -> Record:
    return state(root).records[id]


def memory(root: Path) -> OpenMemory:
    return OpenMemory(pipeline(root))


def undo(root: Path) -> None:
    memory(root).undo(commits(root))


def id_of(root: Path, words: str) -> str:
    return next(r.id for r in state(root).records.values() if words in r.text)


def commits(root: Path) -> int:
    return len(history(root))


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_it_is_told_and_written_again(block: str, newline: str) -> None:
    document = Document(block.replace("\n", newline).encode())
    ((item, node, _),) = document.addressed
    markdown = source(document, item, node)
    assert markdown and "\r" not in markdown
    other = Document("# Task Group: G\n\n- old\n\nprose\n".replace("\n", newline).encode())
    box = "" if item.checked is None else "[ ] "
    insert = Insert(item.text, "m-0123456789", "G", lead="- ", box=box, markdown=markdown)
    made = other.edit([insert], marker=3)
    again, below, _ = made.addressed[1]
    assert (again.normal, again.id, again.checked) == (item.normal, "m-0123456789", item.checked)
    assert not differs(made, again, markdown) and source(made, again, below) == markdown
    assert made.data.count(b"\r\n") == (made.data.count(b"\n") if newline == "\r\n" else 0)
    flat = document.edit([Revise(0, "other words")])
    back = flat.edit([Revise(0, item.text, markdown)])
    assert not differs(back, back.items[0], markdown)
    wide = Document(b"1. a\n").edit(
        [Insert("x", "", lead="10. "), Insert(item.text, "", "H", "S", lead="10. ", markdown=markdown)]
    )
    assert not differs(wide, wide.items[-1], markdown)
    nested = [Insert("outer", "", "N", "S"), Insert(item.text, "", "N", "S", lead="  - ", markdown=markdown)]
    inner = Document().edit(nested)
    assert len(inner.items) == 2 and not differs(inner, inner.items[1], markdown)


def test_what_is_nested_is_told_by_itself() -> None:
    text = "- outer\n\n  - inner\n\n    ```\n    a\n    b\n    ```\n\n  more of outer\n"
    document = Document(text.encode())
    told = [source(document, item, node) for item, node, _ in document.addressed]
    assert told == ["outer\n\nmore of outer", "inner\n\n```\na\nb\n```"]
    flat = document.edit([Revise(0, "something else")])
    back = flat.edit([Revise(0, document.items[0].text, told[0])])
    assert [item.normal for item in back.items] == [item.normal for item in document.items]
    assert [source(back, item, node) for item, node, _ in back.addressed] == told


@pytest.mark.parametrize("markdown", [
    "other words", "x\n\n# A heading of the file\n\nx", "x\n- y", "x\n\n<!-- memory:9 -->", "", "- x", "x\n\n- y\n",
    "x ^m-0000000000\n\n```\nx\n```", "x\n\n```\n<!-- memory:9 -->\n```", "a\x00x", "```\nx",
])  # fmt: skip
def test_markdown_that_says_something_else_is_not_written(markdown: str) -> None:
    made = Document(b"# Task Group: G\n\n- old\n").edit([Insert("x", "m-0123456789", "G", markdown=markdown)], marker=3)
    assert made.data == b"# Task Group: G\n\n- old\n- x ^m-0123456789\n\n<!-- memory:3 -->\n"


@pytest.mark.parametrize("opening", ["~~~", "```sh", "<script>"])
def test_what_nobody_closed_takes_in_nothing(opening: str) -> None:
    text = f"- outer\n\n  - inner ^m-0000000001\n\n  {opening}\n  a\n\n- next ^m-0000000002\n"
    document = Document(text.encode())
    back = document.edit([Revise(0, "other")]).edit([Revise(0, document.items[0].text, f"outer\n\n{opening}\na")])
    assert [(item.id, item.normal) for item in back.items] == [(item.id, item.normal) for item in document.items]
    alone = Document(f"- outer\n\n  {opening}\n  a\n".encode())
    ((item, node, _),) = alone.addressed
    assert source(alone, item, node) == f"outer\n\n{opening}\na"
    inserts = [Insert(item.text, "m-0000000003", "G", markdown=source(alone, item, node)), Insert("more", "", "G")]
    made = Document(b"# Task Group: G\n\n- a\n\nprose\n").edit(inserts, marker=4)
    assert [each.normal for each in made.items] == ["a", item.normal, "more"] and made.marker == 4
    assert b"\nprose\n" in made.data


@pytest.mark.parametrize("long", [" ", "\\", "|", "| ", "- ", "\t"])
def test_a_long_run_of_anything_is_read_at_once(root: Path, long: str) -> None:
    typed(root, f"- begun\n  ---|{long * 100_000}end\n  and more\n")
    assert "and more" in at(root, id_of(root, "begun")).text
    settled(root)


def test_one_line_costs_nothing(root: Path) -> None:
    typed(root, "- one plain line with `code` and *more*\n")
    assert "markdown" not in (root / "memories" / "ledger.jsonl").read_text()
    assert all(record.markdown == "" for record in state(root).records.values())


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
def test_an_undone_deletion_brings_it_back(root: Path, block: str) -> None:
    typed(root, block)
    before = read(handbook(root))
    start = before.index(block.partition("\n")[0].rstrip())
    end = next(i for i in range(start + 2, len(before)) if before[i - 1] == "\n" and before[i] not in " \t\n")
    write(handbook(root), before[:start] + before[end:])
    look(root)
    undo(root)
    text = read(handbook(root))
    consistent(root)
    settled(root)
    document, was = Document(text.encode()), Document(before.encode())
    told = {source(document, item, node) for item, node, _ in document.addressed}
    assert {source(was, item, node) for item, node, _ in was.addressed} == told and len(told) == 2


def test_every_way_back(root: Path) -> None:
    old = handbook(root).read_bytes()
    typed(root, FENCE)
    text, number = read(handbook(root)), commits(root)
    id = id_of(root, "To release")
    assert bare(FENCE) in bare(text)
    tell(root, "deploys go out on Tuesdays", rollout="more")
    process(root)
    handbook(root).write_bytes(old)  # an older version of the file
    look(root)
    if "make ship" not in read(handbook(root)):  # an editor may have taken it out: that is asked
        decide(root, True)
    assert bare(FENCE) in bare(read(handbook(root)))
    memory(root).delete(id)
    assert "make ship" not in read(handbook(root))
    memory(root).restore(id)
    assert bare(FENCE) in bare(read(handbook(root)))
    memory(root).revise(id, "Ask Bo to release")
    assert f"- Ask Bo to release ^{id}\n" in read(handbook(root)) and at(root, id).markdown == ""
    memory(root).restore(id, as_of=number)
    assert bare(FENCE) in bare(read(handbook(root)))
    run(rebuild(pipeline(root)))
    assert bare(FENCE) in bare(read(handbook(root)))
    handbook(root).unlink()
    look(root)
    assert bare(FENCE) in bare(read(handbook(root)))
    consistent(root)
    settled(root)


def test_a_move_keeps_it(root: Path) -> None:
    typed(root, FENCE)
    text = read(handbook(root))
    block = text[text.index("- To release") : text.index("  ```\n", text.index("make ship")) + 6]
    write(
        handbook(root),
        text.replace(block, "").replace("<!-- memory", f"# Task Group: Releases\n\n{block}\n<!-- memory"),
    )
    look(root)
    assert at(root, id_of(root, "To release")).group == "Releases"
    assert at(root, id_of(root, "To release")).markdown == textwrap.dedent(f"  {FENCE[2:]}").rstrip()
    undo(root)
    assert bare(FENCE) in bare(read(handbook(root)))
    settled(root)


@pytest.mark.parametrize(("old", "new"), [
    ("  make build\n  # then", "  make build # then"), ("make ship", "  make ship"),
    ("  ```sh\n  make", "  ```sh\n\n  make"),
])  # fmt: skip
def test_a_change_that_only_the_blocks_show(root: Path, old: str, new: str) -> None:
    typed(root, FENCE)
    before, number = read(handbook(root)), commits(root)
    id = id_of(root, "To release")
    edit(handbook(root), old, new)
    after = read(handbook(root))
    look(root)
    assert bare(read(handbook(root))) == bare(after)
    assert commits(root) == number + 1 and at(root, id).text.startswith("To release")
    undo(root)
    assert bare(read(handbook(root))) == bare(before)
    undo(root)
    assert bare(read(handbook(root))) == bare(after)
    settled(root)


def test_a_line_of_ours_that_becomes_blocks_is_a_persons(root: Path) -> None:
    tell(root, "start with `make up`")
    process(root)
    id, before = id_of(root, "make up"), read(handbook(root))
    edit(handbook(root), "start with `make up`", "start with\n\n  ```\n  make up\n  ```\n\n ")
    look(root)
    assert at(root, id).protected and "```" in at(root, id).markdown
    undo(root)
    assert "```" not in read(handbook(root)) and at(root, id).text in before
    settled(root)


@pytest.mark.parametrize("item", [
    "- <!-- ask Bo -->\n  by train\n",
    "- <details><summary>how</summary>\n\n  by train\n\n  </details>\n",
    "- \\- by train\n",
    "- 1\\. by train\n",
    "- > by train\n",
    "- ![by train](x.png)\n",
])  # fmt: skip
def test_what_begins_like_a_block_is_one_line_of_the_summary(root: Path, item: str) -> None:
    """Edits beside it copy it nowhere, and it goes when it is deleted."""
    typed(root, item)
    for old, new in ((TABS, "tabs one"), ("tabs one", "tabs two")):
        edit(summary(root), old, new)
        run(pipeline(root).adopt())
        assert read(summary(root)).count("by train") == 1
    memory(root).delete(id_of(root, "by train"))
    assert "by train" not in read(summary(root))


def test_an_old_ledger_learns_of_it_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(adoption, "told", lambda *_: {})
        before.setattr(adoption, "differs", lambda *_: False)
        typed(root, FENCE)
    id, text, number = id_of(root, "To release"), read(handbook(root)), commits(root)
    assert at(root, id).markdown == "" and bare(FENCE) in bare(text)
    process(root)
    assert at(root, id).markdown and bare(read(handbook(root))) == bare(text)
    assert at(root, id).trust is Trust.HAND and commits(root) == number + 1
    settled(root)


def test_an_older_version_of_the_blocks_is_put_back(root: Path) -> None:
    typed(root, FENCE)
    id, number, before = id_of(root, "To release"), commits(root), read(handbook(root))
    edit(handbook(root), "  make build\n  #", "  make build #")
    look(root)
    memory(root).restore(id, as_of=number)
    assert bare(read(handbook(root))) == bare(before)
    with pytest.raises(Unknown, match="says now what it said then"):
        memory(root).restore(id, as_of=number)


def test_a_formatters_pass_is_no_edit(root: Path) -> None:
    for block in BLOCKS.values():
        if block != BLOCKS["tabs"]:  # which it takes for a rule
            typed(root, block)
    number = commits(root)
    text = read(handbook(root))
    formatted = mdformat.text(text)
    assert formatted != text
    write(handbook(root), formatted)
    look(root)
    assert commits(root) == number
    consistent(root)


PADDED = """
| desk  | opens |
| ----- | ----: |
| north | nine  | {id} |
| south |       |
"""
"""What a formatter makes of the table of `test_a_padded_table_is_the_same`; an older version put the id at its end."""


@pytest.mark.parametrize("lines", [
    "desk | opens\n--- | ---:\nnorth | nine {id}\nsouth |", "|desk|opens|\n|-|-:|\n|north|nine| {id}\n|south|", PADDED,
])  # fmt: skip
def test_a_padded_table_is_the_same(root: Path, lines: str) -> None:
    """Whoever wrote it: padding, the length of the dashes and bars at the ends of a row are nobody's edit."""

    async def agent() -> None:
        session = pipeline(root)
        await session.open()
        typed_in = "\n- Desks of the office:\n\n  | desk | opens |\n  |---|--:|\n  | north | nine |\n  | south | |\n"
        write(handbook(root), read(handbook(root)).replace("\n<!-- memory:", f"{typed_in}\n<!-- memory:"))
        await session.process((EchoModel(), EchoModel()), LIMITS, actor="live")

    run(agent())
    id, number = id_of(root, "Desks"), commits(root)
    text = read(handbook(root))
    assert f"- Desks of the office: ^{id}\n" in text and at(root, id).origin == "live"
    start = text.index("- Desks of")
    head = "- Desks of the office:" if "{id}" in lines else f"- Desks of the office: ^{id}"
    told = textwrap.indent(lines.strip().replace("{id}", f"^{id}"), "  ")
    write(handbook(root), f"{text[:start]}{head}\n\n{told}\n\n{text[text.index('<!-- memory:') :]}")
    look(root)
    assert commits(root) == number and at(root, id).trust is Trust.AGENT
    edit(handbook(root), "nine", "ten")
    look(root)
    assert "ten" in at(root, id).text and at(root, id).trust is Trust.HAND
    assert re.search(r"north *\| *ten *\|?$", at(root, id).markdown, re.MULTILINE)


@pytest.mark.parametrize(("old", "new"), [
    ("| north | nine |", "| north nine | |"), ("| ---- | ----- |", "| ---- | ----: |"),
    ("  | north | nine |", "  | north | nine |\n  | | |"),
])  # fmt: skip
def test_a_cell_that_moves_is_an_edit(root: Path, old: str, new: str) -> None:
    typed(root, BLOCKS["table"])
    number = commits(root)
    edit(handbook(root), old, new)
    look(root)
    assert commits(root) == number + 1 and new.rpartition("\n")[2].strip() in at(root, id_of(root, "Desks")).markdown
    settled(root)


@pytest.mark.parametrize("definition", ["[docs]: http://example.org/a 'x'", "[^1]: Bo", "> [docs]: http://example.org"])
def test_a_link_definition_in_a_line_of_ours_is_a_persons(root: Path, definition: str) -> None:
    text = read(handbook(root))
    end = text.index("\n", text.index(PORT)) + 1
    write(handbook(root), f"{text[:end]}\n  {definition}\n\n{text[end:]}")
    look(root)
    record = at(root, id_of(root, PORT))
    assert record.protected and definition in record.markdown and record.text == PORT
    memory(root).delete(record.id)
    assert definition not in read(handbook(root))
    memory(root).restore(record.id)
    assert f"  {definition}\n" in read(handbook(root))
    settled(root)


EDITS = [
    ("fence", [("To release", "To release a version")], "To release a version, run"),
    ("fence", [("make ship", "make ship --now")], "\nmake ship --now\n```"),
    ("fence", [("sh make build", "sh sudo make build")], "```sh\nsudo make build\n#"),
    ("fence", [("`sh ", "`bash ")], "```bash\nmake build"),
    ("fence", [("then look", "look"), ("these:", "these:  now")], "these:  now\n\n```sh\nmake build\n# look at"),
    ("fence", [("# then look at the log ", "")], "make build\n\nmake ship"),
    ("fence", [("make build #", "make build now #")], ""),
    ("fence", [("build", "all"), ("make ship", "sudo make ship")], ""),
    ("fence", [("ship`", "ship` and wait")], ""),
    (
        "paragraphs",
        [("Bo first", "Ann first"), ("He", "She"), ("writing.", "writing, please.")],
        "> In writing, please.",
    ),
    ("paragraphs", [("first. He", "first. Then he")], ""),
    (
        "table",
        [("nine", "ten past 9"), ("Desks", "Our desks")],
        "Our desks:\n\n| desk | opens |\n| ---- | ----- |\n| north | ten past 9 |",
    ),
    ("table", [("nine ", "")], "| north | |"),
    ("table", [("| nine", "nine")], ""),
    ("table", [("nine |", "nine | | south | ten |")], ""),
    ("breaks", [("yellow", "green")], "Springfield\\\nthe green door"),
    ("breaks", [("5 Springfield", "5 b Springfield")], ""),
    ("quote", [("Fridays", "Mondays")], "> Never on Mondays\n> Ann"),
    ("heading", [("Rule one", "Rule two")], "### Rule two\n\nNever alone."),
    (
        "chinese",
        [("发布前", "每次发布前"), ("看日志", "先看日志")],
        "每次发布前运行：\n\n```sh\nmake build\n# 先看日志",
    ),
    ("html", [("<b>x", "<b>y"), ("more", "so on")], "<details>\n<b>y</b>\n</details>\n\nand so on"),
    ("code first", [("what", "this is what")], "~~~\n\nthis is what they do"),
    ("indented", [("ls -l", "ls -la")], "Type:\n\n    ls -la\n      x\n\nand wait"),
    ("box", [("Ship it", "Ship them")], "Ship them\n\n```\na\nb\n```"),
    ("tabs", [("make x", "make y")], "\n```\nall:\n"),
]


@pytest.mark.parametrize(("block", "changes", "held"), EDITS)
def test_an_edit_of_its_line_is_carried_over(block: str, changes: list[tuple[str, str]], held: str) -> None:
    document = Document(BLOCKS[block].encode())
    ((item, node, _),) = document.addressed
    markdown = source(document, item, node)
    text = item.text
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    made = carried(markdown, item.text, text)
    assert held in made if held else made == ""
    if made:
        again = Document(b"- x\n").edit([Revise(0, text, made)])
        ((item, node, _),) = again.addressed
        assert item.normal == normalise(text) and source(again, item, node) == made
    assert carried(markdown, text, "other") == "" != text


@pytest.mark.parametrize("way", ["summary", "command"])
def test_a_word_in_its_line_leaves_the_script(root: Path, way: str, caplog: pytest.LogCaptureFixture) -> None:
    def change(old: str, new: str) -> None:
        if way == "summary":
            edit(summary(root), old, new)
            run(pipeline(root).adopt())
        else:
            memory(root).revise(id, at(root, id).text.replace(old, new))

    typed(root, FENCE)
    id, before, number = id_of(root, "To release"), read(handbook(root)), commits(root)
    change("To release", "To relase a version")
    assert bare(read(handbook(root))) == bare(before).replace("To release", "To relase a version")
    assert (commits(root), at(root, id).trust, caplog.records) == (number + 1, Trust.HAND, [])
    settled(root)
    change("make build #", "make build now #")
    assert "make build now # then" in read(handbook(root)) and at(root, id).markdown == ""
    assert f"{id} is one line now" in caplog.text
    undo(root)
    assert bare(read(handbook(root))) == bare(before).replace("To release", "To relase a version")
    settled(root)


def test_forgetting_finds_it(root: Path) -> None:
    typed(
        root, '- To release:\n\n  ```sh\n  make quuxly\n  make ship\n  ```\n\n  [desk]: http://zanzibar.example/ "x"\n'
    )
    id = id_of(root, "To release")
    memory(root).forget(text="zanzibar")
    files = [path for path in (root / "memories").rglob("*") if path.is_file()]
    assert not any(b"zanzibar" in path.read_bytes() for path in files)
    assert "quuxly" in at(root, id).text and "make ship" in read(handbook(root))
    memory(root).forget(text="quuxly")
    files = [path for path in (root / "memories").rglob("*") if path.is_file()]
    assert not any(b"quuxly" in path.read_bytes() for path in files)


def test_a_secret_in_it_is_redacted(root: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    typed(root, f"- Deploy:\n\n  ```sh\n  export TOKEN={token}\n  make ship\n  ```\n")
    assert token not in (root / "memories" / "ledger.jsonl").read_text() + read(handbook(root))
    assert "make ship" in at(root, id_of(root, "Deploy:")).markdown
    settled(root)


def test_a_very_long_one_is_known_by_its_line(root: Path) -> None:
    rows = "\n".join(f"  line {n}" for n in range(LONGEST // 6))
    typed(root, f"- Long:\n\n  ```\n{rows}\n  ```\n")
    assert at(root, id_of(root, "Long:")).markdown == ""
    settled(root)


@pytest.mark.parametrize("item", ["- ```sh\n  make ship\n  ```\n", "* ~~~\n  make ship\n  ~~~\n", "1.     make ship\n"])
def test_an_item_of_code_alone_is_named(root: Path, item: str) -> None:
    """It stays in the file, byte for byte, and `check` and `watch` say what to do about it."""
    line = pipeline(root)
    saves = Saves(line)
    text = read(handbook(root)).replace("<!-- memory:", f"\n{item}\n<!-- memory:")
    write(handbook(root), text)
    at = text[: text.index(item)].count("\n") + 1
    said = run(saves.take_in([line.layout.handbook]))
    assert [each for each in said if f"MEMORY.md:{at}" in each and "begin it with a word" in each], said
    assert run(saves.take_in([line.layout.handbook])) == []
    (found,) = [each for each in memory(root).check().findings if each.kind == "untold"]
    assert found.where.endswith(f":{at}") and memory(root).check().ok
    assert item in read(handbook(root))
    edit(handbook(root), item, FENCE)
    assert not [each for each in memory(root).check().findings if each.kind == "untold"]
