"""The local page as a server: who is let through, what forms do, that nothing remembered is ever markup."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from sandbox_memory import open_memory
from sandbox_memory.document import Document
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.doors.web import command, finding, markdown
from sandbox_memory.doors.web.app import create_app, listening
from sandbox_memory.doors.web.bookcase import Bookcase
from sandbox_memory.doors.web.page import Page
from sandbox_memory.doors.web.wording import chosen
from sandbox_memory.errors import SandboxMemoryError
from sandbox_memory.pipeline import presence
from sandbox_memory.records import Status
from sandbox_memory.scope import MemoryScope

from .kit import process
from .web_kit import (
    CHINESE,
    HOME,
    ORIGIN,
    PORT,
    SCRIPT,
    TOKEN,
    Outline,
    ask,
    bookcase,
    client_of,
    fields,
    furnished,
    named,
    root_of,
    texts,
)

HERE = Path(markdown.__file__).parent
PAGES = (
    "",
    "told",
    "gone",
    "inbox",
    "history",
    "history/1",
    "work",
    "check",
    "figures",
    "then?when=1",
    "compare?from=1",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> OpenMemory:
    """A memory that nothing changes."""
    return furnished(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def memory(tmp_path: Path) -> OpenMemory:
    return furnished(tmp_path)


@pytest.fixture(scope="module")
def reader(whole: OpenMemory) -> TestClient:
    return client_of(root_of(whole))


@pytest.fixture
def page(memory: OpenMemory, tmp_path: Path) -> TestClient:
    return client_of(tmp_path)


# ---- who is let through


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (HOME, {}, 200),
        (HOME, {"host": f"localhost:{PORT}", "origin": f"http://localhost:{PORT}"}, 200),
        (HOME, {"origin": "", "sec-fetch-site": "none"}, 403),
        ("/", {}, 404),
        ("/memories/", {}, 404),
        (f"/{TOKEN[:-1]}/memories/", {}, 404),
        (f"/{TOKEN.upper()}/memories/", {}, 404),
        (f"/x/../{TOKEN}x/memories/", {}, 404),
        (HOME, {"host": "evil.example"}, 421),
        (HOME, {"host": f"evil.example:{PORT}"}, 421),
        (HOME, {"host": "127.0.0.1"}, 421),
        (HOME, {"host": f"127.0.0.1:{PORT + 1}"}, 421),
        (HOME, {"host": f"127.0.0.1.evil.example:{PORT}"}, 421),
        (HOME, {"origin": "https://evil.example"}, 403),
        (HOME, {"origin": "null"}, 403),
        (HOME, {"origin": f"http://127.0.0.1:{PORT + 1}"}, 403),
        (HOME, {"origin": f"https://127.0.0.1:{PORT}"}, 403),
        (HOME, {"sec-fetch-site": "cross-site"}, 403),
        (HOME, {"sec-fetch-site": "same-site"}, 403),
        (f"/{TOKEN}/static/page.css", {"host": "evil.example"}, 421),
        (f"/{TOKEN}/static/../app.py", {}, 404),
        (f"/{TOKEN}/static/%2e%2e%2fapp.py", {}, 404),
        (f"/{TOKEN}/static/page.py", {}, 404),
        (f"{HOME}conversation/..%2f..%2fetc%2fpasswd", {}, 404),
        (f"{HOME}line/m-0000000000", {}, 404),
        (f"/{TOKEN}/memories-of-others/", {}, 404),
    ],
)
def test_only_the_page_itself_is_let_through(
    reader: TestClient, path: str, headers: dict[str, str], status: int
) -> None:
    answer = reader.get(path, headers=headers)
    assert answer.status_code == status
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY" and answer.headers["x-content-type-options"] == "nosniff"
    if status in (403, 404, 421) and TOKEN not in path:
        assert TOKEN not in answer.text and "8443" not in answer.text


@pytest.mark.parametrize("path", ["lines", "undo?commits=1-4"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://localhost:{PORT}"},
        {"host": "evil.example", "origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_nothing_is_changed_by_others(
    reader: TestClient, whole: OpenMemory, headers: dict[str, str], path: str
) -> None:
    before = whole.history()
    form = {"text": "Planted by a stranger.", "kind": "fact"}
    if path != "lines":
        form = fields(reader.get(HOME + path).text, "Undo")
    answer = reader.post(HOME + path, data=form, headers=headers)
    assert answer.status_code in (403, 421)
    assert whole.history() == before


def test_a_program_without_an_origin_and_other_methods_change_nothing(whole: OpenMemory) -> None:
    bare = TestClient(create_app(bookcase(root_of(whole)), token=TOKEN, port=lambda: PORT), base_url=ORIGIN)
    assert bare.post(f"{HOME}lines", data={"text": "Planted.", "kind": "fact"}).status_code == 403
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert bare.request(method, HOME).status_code == 405
    assert bare.get(HOME, headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200
    assert not any("Planted" in record.text for record in whole.records())


def test_a_form_that_is_too_long_is_not_read(reader: TestClient, whole: OpenMemory) -> None:
    answer = reader.post(f"{HOME}lines", data={"text": "x" * 100_000, "kind": "fact"})
    assert answer.status_code == 413


def test_the_server_listens_on_the_loopback_address_alone() -> None:
    with listening(0) as at:
        assert at.getsockname()[0] == "127.0.0.1"
        with pytest.raises(OSError, match="in use"):
            at.listen() or listening(at.getsockname()[1])


# ---- what is shown


@pytest.mark.parametrize("path", [*PAGES, "?q=trust", "?kind=fact", "?q=nothing+like+it", "?page=99", "?q=长长长"])
@pytest.mark.parametrize("language", ["en", "zh-CN,zh;q=0.9"])
def test_every_page_is_sound(reader: TestClient, path: str, language: str) -> None:
    answer = reader.get(HOME + path, headers={"accept-language": language})
    assert answer.status_code == 200
    found = Outline(answer.text)
    assert found.of("html") == [{"lang": "zh-Hans" if language.startswith("zh") else "en", "data-theme": "auto"}]
    assert len(found.of("h1")) == 1 and len(found.of("main")) == 1
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids)), "an id stands twice"
    assert all(attributes.get("src", "").startswith(f"/{TOKEN}/static/") for attributes in found.of("script"))
    assert not [attributes for _, attributes in found.tags if "style" in attributes], "the policy allows no style"
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert {"img", "iframe", "object", "style", "base"}.isdisjoint(tag for tag, _ in found.tags)
    for attributes in found.of("a"):
        assert str(attributes.get("href")).startswith((f"/{TOKEN}/", "#")), "the page leads nowhere else"
    labelled = {attributes.get("for") for attributes in found.of("label")}
    for tag in ("input", "select", "textarea"):
        assert all(each.get("type") == "hidden" or each.get("id") in labelled for each in found.of(tag))


def test_what_is_remembered_is_text_wherever_it_stands(reader: TestClient, whole: OpenMemory) -> None:
    script, link = named(whole, "<script>"), named(whole, "the manual")
    for path in (
        "",
        "?q=trust",
        f"line/{script.id}",
        f"line/{link.id}",
        "told",
        "history",
        "then?when=99",
        "compare?from=1",
    ):
        found = Outline(reader.get(HOME + path).text) if path != "then?when=99" else Outline(reader.get(HOME).text)
        assert len(found.of("script")) == 1 and not found.of("img")
        assert not [each for each in found.of("a") if "javascript" in str(each.get("href"))]
    shown = Outline(reader.get(HOME).text).text
    assert "<script>document.title='owned'</script>" in shown
    assert "javascript:document.title='owned'" in shown and "https://example.com/pixel.png" in shown


def test_what_is_told_is_shown_as_it_is_told(reader: TestClient, whole: OpenMemory) -> None:
    shown = reader.get(HOME + "told").text
    assert "^m-" not in shown and "memory:begin" not in shown
    assert "## " in shown and named(whole, "the manual").text.partition("[")[0] in Outline(shown).text


def test_a_transcript_a_question_and_a_name_are_text_too(tmp_path: Path) -> None:
    from .kit import EchoModel, tell

    root = tmp_path / "<b>work & co"
    root.mkdir()
    tell(root, "Remember <script>alert(1)</script> well.", rollout='"><script>alert(2)</script>')
    process(root, EchoModel())
    memory = open_memory(root).__enter__()
    ask(memory, "</textarea><script>alert(3)</script>")
    page = client_of(root)
    (stem,) = {each.rollout for record in memory.records() for each in record.evidence}
    for path in (
        "",
        "inbox",
        "history",
        "work",
        f"conversation/{stem}",
        f"line/{memory.records()[0].id}",
        "?q=</script>",
    ):
        answer = page.get(HOME + path)
        assert answer.status_code == 200
        assert len(Outline(answer.text).of("script")) == 1, path
    assert not Outline(page.get(HOME).text).of("b")


def test_what_turns_the_direction_of_writing_is_shown_as_a_mark() -> None:
    assert markdown.visible("safe\u202egpj.exe\x07") == "safe\ufffdgpj.exe\ufffd"
    assert "\u202e" not in markdown.inline("safe\u202egpj.exe")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a **b** `c<d>`", "a <strong>b</strong> <code>c&lt;d&gt;</code>"),
        ("[x](http://e.com)", '<span class="link">x</span> <span class="address">(http://e.com)</span>'),
        ("<http://e.com>", '<span class="link">http://e.com</span>'),
        ("![p](http://e.com/p.png)", '[p] <span class="address">(http://e.com/p.png)</span>'),
        ("<b onclick=x>hi</b>", "&lt;b onclick=x&gt;hi&lt;/b&gt;"),
        ('[x](http://e.com "a&quot;b")', '<span class="link">x</span> <span class="address">(http://e.com)</span>'),
    ],
)
def test_markdown_is_shown_without_anything_to_follow_or_load(source: str, shown: str) -> None:
    assert markdown.inline(source) == shown


def test_a_line_has_its_receipt_beside_it(reader: TestClient, whole: OpenMemory) -> None:
    record = named(whole, "diff before")
    found = Outline(reader.get(HOME).text)
    assert {"class": "line", "id": record.id, "tabindex": "-1"} in found.of("li")
    assert "release-42" in found.text and "the user said it" in found.text
    why = Outline(reader.get(f"{HOME}line/{record.id}").text)
    assert "stands there" in why.text and "sessions/release-42.jsonl:1" in why.text
    said = Outline(reader.get(f"{HOME}conversation/release-42").text)
    assert {"id": record.id} in said.of("mark")


def test_prose_tables_and_headings_of_a_person_are_shown_in_their_place(page: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "memories" / "MEMORY.md"
    text = path.read_text(encoding="utf-8")
    own = "\n# My own notes\n\nA paragraph of mine.\n\n| a | b |\n|---|--:|\n| 1 | <i>2</i> |\n\n1. first of mine\n"
    own += "   - nested\n"
    path.write_text(text.replace("\n<!-- memory:", f"{own}\n<!-- memory:"), encoding="utf-8")
    found = Outline(page.get(HOME).text)
    assert "A paragraph of mine." in found.text and found.of("table") and not found.of("i")
    assert found.text.index("A paragraph") < found.text.index("first of mine") < found.text.index("nested")
    assert "<!-- memory" not in found.text


def test_a_group_that_is_longer_than_a_page_is_cut(tmp_path: Path) -> None:
    memories = tmp_path / "memories"
    memories.mkdir()
    lines = "".join(f"- Fact number {n} of many.\n" for n in range(400))
    (memories / "MEMORY.md").write_text(f"# Task Group: Long\n\n## Reusable knowledge\n\n{lines}", encoding="utf-8")
    page = client_of(tmp_path)
    seen: set[str] = set()
    for number in range(1, 6):
        text = page.get(f"{HOME}?page={number}").text
        seen |= set(re.findall(r"Fact number \d+ of many", Outline(text).text))
        assert len(Outline(text).of("li")) < 300
    assert len(seen) == 400


# ---- search


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("8443", "The staging port is 8443."),
        ("deploys tuesday", "Deploys go out on Tuesdays."),
        ("Tues", "Deploys go out on Tuesdays."),
        ("数据库", CHINESE),
        ("库端", CHINESE),
        ("ONERROR", SCRIPT),
    ],
)
def test_a_search_finds_words_and_parts_of_them(reader: TestClient, query: str, found: str) -> None:
    answer = reader.get(HOME, params={"q": query, "part": "results"})
    assert "<html" not in answer.text
    shown = " ".join(Outline(answer.text).text.split())
    assert found in shown
    assert "1 line" in shown


@pytest.mark.parametrize(
    ("language", "none"), [("en", "No line of the memory stands there"), ("zh", "那里没有记忆的行")]
)
def test_a_search_takes_a_line_of_a_file_and_a_line_says_where_it_stands(
    page: TestClient, memory: OpenMemory, tmp_path: Path, language: str, none: str
) -> None:
    page.headers["accept-language"] = language
    record = named(memory, "Tuesdays")
    shown = Outline(page.get(f"{HOME}line/{record.id}").text).text
    ((place, number),) = re.findall(r"(memories/MEMORY\.md):(\d+)", shown)
    assert record.id in (tmp_path / place).read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert f"{record.group} › {record.section}" in " ".join(shown.split())
    summary = (tmp_path / "memories" / "memory_summary.md").read_text(encoding="utf-8").splitlines()
    told = next(n for n, line in enumerate(summary, 1) if "Tuesdays" in line)
    for query in (f"MEMORY.md:{number}", f" memories/memory.md:{number} ", f"memory_summary.md:{told}"):
        answer = page.get(HOME, params={"q": query, "part": "results"}).text
        assert re.findall(r'class="line" id="(m-\w+)"', answer) == [record.id], query
    for query in ("MEMORY.md:1", "MEMORY.md:9999", "memory_summary.md:0"):
        assert none in page.get(HOME, params={"q": query}).text
    narrowed = page.get(HOME, params={"q": f"MEMORY.md:{number}", "trust": "user"})
    assert none in narrowed.text
    memory.delete(record.id)
    assert "MEMORY.md:" not in Outline(page.get(f"{HOME}line/{record.id}").text).text


def test_a_place_is_looked_up_as_the_parser_reads_it() -> None:
    a, b, c, d = (f"m-000000000{n}" for n in "abcd")
    text = (
        f"# Group\r\n\r\n- one\n  goes on ^{a}\n  - nested ^{b}\n\nprose, and m-0000000001\n\n"
        f"1. step\n   goes on\n\n   and on ^{c}\n"
        f"* no id\n## Section\n\n+ last ^{d}\n<!-- memory:4 -->\nprose"
    ).encode()
    document = Document.parse(text)
    known = {item.id: item for item in document.items if item.id}
    snapshot: Any = SimpleNamespace(seen=SimpleNamespace(handbook=text), state=SimpleNamespace(visible=lambda: known))
    assert known.keys() == {a, b, c, d}
    for number, (line, _) in enumerate(document.lines, 1):
        within = [item for item, node, _ in document.addressed if node.start < number <= node.end]
        wanted = [item for item in within[-1:] if line.strip() and item.id]
        assert finding.at_place(snapshot, f"MEMORY.md:{number}") == wanted, number
    assert [finding.line_of(snapshot, id) for id in known] == [item.line for item in known.values()]
    assert finding.line_of(snapshot, "m-0000000001") == 0


def test_a_search_finds_what_was_deleted_and_what_a_line_said_before(page: TestClient, memory: OpenMemory) -> None:
    record, gone = named(memory, "Tuesdays"), next(r for r in memory.state().records.values() if "printer" in r.text)
    memory.revise(record.id, "Deploys go out on Thursdays.")

    def found(query: str, **more: str) -> str:
        return page.get(HOME, params={"q": query, **more}).text

    for query in ("printer floor", "rinter", gone.id, "The printer is on the third"):
        shown = found(query)
        assert f'id="{gone.id}"' in shown and "Deleted" in shown and "1 out of sight" in shown, query
        assert "Nothing is found" not in shown
    assert found("the printer port").count('class="line"') == found("staging port").count('class="line"')
    assert gone.id not in found("printer", trust="user") and gone.id in found("printer", trust="hand")
    # What says just that stands before what only shares words with it.
    memory.add("A floor plan hangs at the door.")
    assert found("on the third floor").index(gone.id) < found("on the third floor").index("floor plan")
    before = found("go out on tuesdays")
    assert before.count(f'id="{record.id}"') == 1
    assert "Deploys go out on Tuesdays." not in found("Thursdays")
    other = found("Tuesdays.")
    assert "It said this before" in other and "now: Deploys go out on Thursdays." in " ".join(
        Outline(other).text.split()
    )
    (link,) = re.findall(rf'href="([^"]+/line/{record.id}#before)"', other)
    assert "Put this back" in page.get(link).text
    page.headers["accept-language"] = "zh"
    assert "已删除" in found("printer floor") and "此前的文字" in found("Tuesdays.")
    answer = page.post(f"{HOME}line/{gone.id}", data=fields(found("printer floor"), "restore"))
    assert answer.status_code == 200 and named(memory, "printer").id == gone.id
    memory.forget(gone.id)
    assert gone.id not in found("printer floor")


def test_a_search_can_be_narrowed(reader: TestClient) -> None:
    hand = Outline(reader.get(HOME, params={"trust": "hand"}).text).text
    assert "Tuesdays" in hand and "8443" not in hand
    none = Outline(reader.get(HOME, params={"q": "Tuesdays", "trust": "user"}).text).text
    assert "Nothing is found" in none


# ---- what a person does


def test_a_line_is_added_changed_pinned_deleted_and_brought_back(page: TestClient, memory: OpenMemory) -> None:
    page.post(f"{HOME}lines", data={"text": "The wiki is at wiki.local.", "kind": "fact", "group": "Places"})
    record = named(memory, "wiki.local")
    assert record.trust.label == "hand" and record.group == "Places"
    change = {"expected": record.version, "was": record.text, "do": "save", "text": "The wiki is at docs.local."}
    answer = page.post(f"{HOME}line/{record.id}", data=change)
    assert "Saved." in answer.text and "docs.local" in answer.text
    record = named(memory, "docs.local")
    page.post(f"{HOME}line/{record.id}", data={"expected": record.version, "do": "pin", "back": "line"})
    record = named(memory, "docs.local")
    assert record.pinned
    answer = page.post(f"{HOME}line/{record.id}", data={"expected": record.version, "do": "delete"})
    assert "Deleted." in answer.text and "Bring it back" in answer.text
    assert not any("docs.local" in each.text for each in memory.records())
    page.post(f"{HOME}line/{record.id}", data={"do": "restore"})
    assert named(memory, "docs.local").id == record.id


@pytest.mark.parametrize("do", ["save", "delete"])
def test_who_was_slower_sees_both_texts_and_decides(page: TestClient, memory: OpenMemory, do: str) -> None:
    record = named(memory, "Tuesdays")
    memory.revise(record.id, "Deploys go out on Thursdays.")
    change = {"expected": record.version, "was": record.text, "do": do, "text": "Deploys go out on Mondays."}
    answer = page.post(f"{HOME}line/{record.id}", data=change)
    assert answer.status_code == 409
    shown = Outline(answer.text).text
    assert "Thursdays" in shown and (do == "delete" or "Mondays" in shown)
    assert named(memory, "Thursdays").id == record.id, "nothing was written"
    (expected,) = {each["value"] for each in Outline(answer.text).of("input") if each.get("name") == "expected"}
    page.post(f"{HOME}line/{record.id}", data={**change, "expected": expected})
    texts = {each.text for each in memory.records()}
    assert "Deploys go out on Thursdays." not in texts
    assert ("Deploys go out on Mondays." in texts) == (do == "save")


def test_a_line_that_somebody_deleted_meanwhile_comes_back_with_the_words_of_the_page(
    page: TestClient, memory: OpenMemory
) -> None:
    record = named(memory, "Tuesdays")
    memory.delete(record.id)
    change = {"expected": record.version, "was": record.text, "do": "save", "text": "Deploys go out on Mondays."}
    answer = page.post(f"{HOME}line/{record.id}", data=change)
    assert answer.status_code == 409 and 'value="restore"' in answer.text
    deleted = memory.state().records[record.id].version
    page.post(f"{HOME}line/{record.id}", data={**change, "expected": deleted, "do": "restore"})
    assert named(memory, "Mondays").id == record.id


@pytest.mark.parametrize(
    ("form", "there", "trust"),
    [
        ({"do": "accept"}, "Releases are cut from `main` only.", "hand"),
        ({"do": "accept", "asked": "Releases are cut from `main` only.", "text": "Releases come from `main`."},
         "Releases come from `main`.", "hand"),
        ({"do": "refuse"}, "", ""),
    ],
)  # fmt: skip
def test_a_question_is_answered(
    page: TestClient, memory: OpenMemory, form: dict[str, str], there: str, trust: str
) -> None:
    (asked,) = [p for p in memory.state().proposals.values() if "Releases" in p.text]
    page.post(f"{HOME}inbox/{asked.id}", data=form)
    assert asked.id not in memory.state().proposals
    found = {record.text: record.trust.label for record in memory.records() if "Releases" in record.text}
    assert found == ({there: trust} if there else {})
    assert page.post(f"{HOME}inbox/{asked.id}", data=form).status_code == 404, "it is not asked any more"


def test_a_commit_is_taken_back_after_a_look_at_what_that_does(page: TestClient, memory: OpenMemory) -> None:
    record = named(memory, "Tuesdays")
    number = next(c["commit"] for c in memory.history() if any(o["id"] == record.id for o in c["operations"]))
    look = page.get(f"{HOME}history/{number}/undo")
    assert look.status_code == 200 and "Tuesdays" in look.text
    assert named(memory, "Tuesdays"), "looking changes nothing"
    answer = page.post(f"{HOME}history/{number}/undo", data=fields(look.text, "Undo"))
    assert "Undone." in answer.text
    assert memory.state().records[record.id].status is Status.DELETED
    again = page.post(f"{HOME}history/{number}/undo")
    assert again.status_code == 409 and "taken back already" in again.text


def test_what_stood_there_earlier_is_put_back(page: TestClient, memory: OpenMemory) -> None:
    record = named(memory, "Tuesdays")
    before = memory.history()[0]["commit"]
    memory.revise(record.id, "Deploys go out on Thursdays.")
    shown = page.get(f"{HOME}then", params={"when": before}).text
    assert "Deploys go out on Tuesdays." in shown and "Deploys go out on Thursdays." in shown
    assert "Put this back" in shown


def test_while_an_agent_is_at_work_a_person_is_told_and_questions_wait(
    page: TestClient, memory: OpenMemory, tmp_path: Path
) -> None:
    mark = presence.new().replace(f".{os.getpid()}.", f".{os.getppid()}.")
    marks = tmp_path / memory.pipeline.store.marks_folder
    marks.mkdir(exist_ok=True)
    (marks / mark).touch()
    assert "An agent’s session is open" in page.get(HOME).text
    (asked, *_) = memory.state().proposals
    answer = page.post(f"{HOME}inbox/{asked}", data={"do": "accept"})
    assert answer.status_code == 409 and asked in memory.state().proposals
    (marks / mark).unlink()
    assert "An agent’s session is open" not in page.get(HOME).text
    assert page.post(f"{HOME}inbox/{asked}", data={"do": "accept"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("lines", {"text": "   ", "kind": "fact"}),
        ("lines", {"text": "fine", "kind": "no such"}),
        ("line/m-0000000000", {"do": "save", "text": "x", "expected": "1"}),
        ("line/m-0000000000", {"do": "explode"}),
        ("inbox/p-0000000000", {"do": "accept"}),
        ("history/99999/undo", {}),
        ("undo?commits=2-99999", {}),
        ("undo?commits=4-2", {}),
        ("undo", {}),
        ("nothing", {}),
    ],
)
def test_what_cannot_be_done_is_told_on_a_page(reader: TestClient, path: str, form: dict[str, str]) -> None:
    answer = reader.post(HOME + path, data=form)
    assert answer.status_code in (404, 405, 409)
    if path != "nothing":
        assert len(Outline(answer.text).of("h1")) == 1 and Outline(answer.text).of("p")


# ---- layouts, languages, colours


def test_several_layouts_have_a_page_each_and_never_mix(tmp_path: Path) -> None:
    for folder, text in (("memories/coding", "Run ruff first."), ("memories/gtm", "Acme renews in May.")):
        (tmp_path / folder).mkdir(parents=True)
        open_memory(tmp_path, memories_dir=folder).add(text)
    page = client_of(tmp_path, "memories/coding", "memories/gtm")
    coding, gtm = page.get(f"/{TOKEN}/memories-coding/").text, page.get(f"/{TOKEN}/memories-gtm/").text
    assert "Run ruff first." in coding and "Acme" not in coding
    assert "Acme renews" in gtm and "ruff" not in gtm
    assert f'href="/{TOKEN}/memories-gtm/"' in coding


def test_the_command_shows_the_memories_of_all_layouts_and_no_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Bookcase] = []

    class Never:
        def run(self, sockets: object) -> None: ...

    def server(bookcase: Bookcase, *arguments: object) -> Never:
        kept.append(bookcase)
        return Never()

    monkeypatch.setattr("sandbox_memory.doors.web.app.server", server)
    for folder, scope in (("memories/coding", None), ("memories/gtm", None), ("memories", MemoryScope(user="u-7"))):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        open_memory(tmp_path, memories_dir=folder, scope=scope).add("Something.")
    command.web(tmp_path, port=0, no_open=True)
    command.web(tmp_path, port=0, no_open=True, memories="memories/gtm")
    assert [list(each.shelves()) for each in kept] == [["memories-coding", "memories-gtm"], ["memories-gtm"]]


def test_language_and_colours_are_chosen_and_kept(reader: TestClient) -> None:
    answer = reader.post(f"/{TOKEN}/prefs", data={"language": "zh", "theme": "dark", "back": "memories/inbox"})
    assert str(answer.url).endswith("/memories/inbox")
    assert Outline(answer.text).of("html") == [{"lang": "zh-Hans", "data-theme": "dark"}]
    assert "接受" in answer.text
    for back in ("//evil.example", "/\\evil.example", "../..", "x\r\nset-cookie: a=b", "https://evil.example"):
        gone = reader.post(f"/{TOKEN}/prefs", data={"theme": "light", "back": back}, follow_redirects=False)
        assert gone.headers["location"].startswith(f"/{TOKEN}/")
    cookie = reader.post(f"/{TOKEN}/prefs", data={"theme": "light"}, follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie


@pytest.mark.parametrize(
    ("given", "accepted", "language"),
    [
        (None, "", "en"),
        (None, "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        (None, "en-GB,en;q=0.9,zh;q=0.8", "en"),
        (None, "de,zh;q=0.5", "zh"),
        (None, "zh;q=0, en;q=0.1", "en"),
        (None, ";;q=,,", "en"),
        ("zh", "en", "zh"),
        ("xx", "zh", "zh"),
    ],
)
def test_the_language_is_the_one_that_is_wanted(given: str | None, accepted: str, language: str) -> None:
    assert chosen(given, accepted) == language


def test_both_languages_have_every_text_with_the_same_places_in_it() -> None:
    assert texts("en").keys() == texts("zh").keys()

    def fields(text: str) -> set[str | None]:
        return {field for part in text.split(" | ") for _, field, _, _ in Formatter().parse(part) if field}

    for name, text in texts("en").items():
        assert fields(text) >= fields(texts("zh")[name]), name
    names = [line.partition(" = ")[0] for line in (HERE / "words" / "en.txt").read_text(encoding="utf-8").splitlines()]
    assert len(names) == len(set(names))


def used() -> Iterator[str]:
    source = [path.read_text(encoding="utf-8") for path in (*HERE.glob("templates/*.html"), *HERE.glob("*.py"))]
    for text in source:
        yield from re.findall(r"\b(?:t|words|page\.words)\(\s*[\"']([a-z_-]+[a-z])[\"'] *[,)]", text)


def test_every_text_that_a_template_names_is_there() -> None:
    assert set(used()) <= texts("en").keys()
    assert len(set(used())) > 100


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith(("starlette", "sandbox_memory.doors.web.app"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(SandboxMemoryError, match=r"sandbox-memory\[web\]"):
        command.web(tmp_path)


def test_a_fault_of_ours_is_told_too(reader: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Page, *arguments: Any, **more: Any) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr("sandbox_memory.doors.web.views._contents", broken)
    answer = reader.get(HOME)
    assert answer.status_code == 500 and "ZeroDivisionError" in answer.text and "secret words" not in answer.text


# ---- the command


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    with listening(0) as at:
        at.listen()
        taken = at.getsockname()[1]
        with pytest.raises(SandboxMemoryError, match=f"port {taken} cannot be used"):
            command.web(tmp_path, port=taken, no_open=True)


def started(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sandbox_memory", "web", str(root), "--no-open"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.timeout(180)  # a process that begins on a busy machine
def test_the_command_prints_an_address_and_ends_with_ctrl_c_while_a_page_is_open(whole: OpenMemory) -> None:
    with started(root_of(whole)) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
        with urlopen(address, timeout=20) as answer:
            assert "8443" in answer.read().decode("utf-8")
        events = urlopen(f"{address}memories/events", timeout=20)
        assert events.readline().startswith(b"retry")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None and not process.stderr.read()
        events.close()
