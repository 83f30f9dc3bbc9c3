"""Forgetting a line on the page: what is shown before, what is left after, and nothing without a look."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.doors.web import causes, forgetting
from sandbox_memory.governance.forgetting import Erasure
from sandbox_memory.pipeline.forgetting import carrying, forget
from sandbox_memory.pipeline.forgetting.files import Place
from sandbox_memory.pipeline.store import Store
from sandbox_memory.records import Status

from .web_kit import HOME, Outline, client_of, everywhere, furnished, named, texts


@pytest.fixture
def memory(tmp_path: Path) -> OpenMemory:
    return furnished(tmp_path)


@pytest.fixture
def page(memory: OpenMemory, tmp_path: Path) -> TestClient:
    return client_of(tmp_path)


def version_in(answer: str) -> str:
    """The version that the form of a page expects."""
    (expected,) = {str(each["value"]) for each in Outline(answer).of("input") if each.get("name") == "expected"}
    return expected


def test_a_line_is_forgotten_after_a_look_at_every_place(page: TestClient, memory: OpenMemory, tmp_path: Path) -> None:
    record, before = named(memory, "diff before"), memory.history()
    wanted = memory.forget(record.id, dry_run=True).found
    assert len({place.path for place in wanted}) > 3, "it stands in transcripts, notes and the history too"
    look = page.get(f"{HOME}line/{record.id}/forget")
    shown = Outline(look.text)
    assert f"It stands in {len(wanted)} places" in shown.text and "Nothing has been changed yet." in shown.text
    for place in wanted:
        assert place.path in shown.text and (not place.line or f"line {place.line}:" in shown.text)
    assert memory.history() == before, "looking changes nothing"

    done = page.post(f"{HOME}line/{record.id}/forget", data={"expected": version_in(look.text)})
    assert done.status_code == 200 and str(done.url).endswith(f"/line/{record.id}/forgotten")
    told = Outline(done.text).text
    assert "nothing of it is left" in told and f"It stood in {len(wanted)} places" in told
    (receipt,) = re.findall(r"/\S+/forgotten/\S+\.json", told)
    assert Path(receipt).is_file() and tmp_path not in Path(receipt).parents
    assert b"diff before" not in everywhere(tmp_path)
    again = page.post(f"{HOME}line/{record.id}/forget", data={"expected": version_in(look.text)})
    assert again.url == done.url and again.status_code == 200, "whoever presses twice sees the same"
    assert page.get(f"{HOME}line/{record.id}/forget").url == done.url
    assert "diff before" not in page.get(HOME).text


def test_a_line_that_changed_since_it_was_looked_at_is_not_forgotten(page: TestClient, memory: OpenMemory) -> None:
    record = named(memory, "Tuesdays")
    memory.revise(record.id, "Deploys go out on Thursdays.")
    for version in (record.version, ""):
        answer = page.post(f"{HOME}line/{record.id}/forget", data={"expected": version})
        assert answer.status_code == 409 and "was changed meanwhile" in answer.text and "Thursdays" in answer.text
        assert named(memory, "Thursdays").id == record.id, "nothing was forgotten"
    page.post(f"{HOME}line/{record.id}/forget", data={"expected": version_in(answer.text)})
    assert memory.state().records[record.id].status is Status.FORGOTTEN


def test_a_line_out_of_sight_is_forgotten_too_and_deleting_is_told_from_it(
    page: TestClient, memory: OpenMemory, tmp_path: Path
) -> None:
    record = named(memory, "diff before")
    deleted = page.post(f"{HOME}line/{record.id}", data={"expected": record.version, "do": "delete"})
    assert "transcripts and the history keep its words" in deleted.text and b"diff before" in everywhere(tmp_path)
    leads = [str(each.get("href")) for each in Outline(deleted.text).of("a")]
    assert f"{HOME}line/{record.id}/forget" in leads
    for path in ("gone", f"line/{record.id}"):
        assert f"{HOME}line/{record.id}/forget" in [
            str(e.get("href")) for e in Outline(page.get(HOME + path).text).of("a")
        ]
    look = page.get(f"{HOME}line/{record.id}/forget").text
    page.post(f"{HOME}line/{record.id}/forget", data={"expected": version_in(look)})
    assert b"diff before" not in everywhere(tmp_path)


def test_what_is_left_of_it_is_told_with_what_to_do(
    page: TestClient, memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [Place("/home/me/state/names.json", 0, "a file of the state folder that cannot be written")]
    monkeypatch.setattr(forget, "_in_state_folder", lambda erasure: left)
    record = named(memory, "Tuesdays")
    for language, words in (
        ("en", ("It still stands in 1 place", "cannot be written")),
        ("zh", ("仍有 1 处残留", "无法写入")),
    ):
        headers = {"accept-language": language}
        answer = page.post(f"{HOME}line/{record.id}/forget", data={"expected": record.version}, headers=headers)
        assert all(each in answer.text for each in (*words, "/home/me/state/names.json", "forget --apply /"))
        assert "nothing of it is left" not in answer.text


def test_what_takes_long_says_so_and_ends_by_itself(
    page: TestClient, memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, let_go = named(memory, "diff before"), threading.Event()
    forgotten = OpenMemory.forget

    def slowly(self: OpenMemory, *args: Any, **options: Any) -> Any:
        assert let_go.wait(20)
        return forgotten(self, *args, **options)

    monkeypatch.setattr(OpenMemory, "forget", slowly)
    monkeypatch.setattr(forgetting, "SOON", 0.05)
    address = f"{HOME}line/{record.id}/forget"

    def over() -> str:
        """The page, once it is no page about work that goes on."""
        let_go.set()
        answers = (page.get(address) for _ in range(400))
        answer = next(answer.text for answer in answers if 'http-equiv="refresh"' not in answer.text)
        let_go.clear()
        return answer

    looking = page.get(address)
    assert 'http-equiv="refresh"' in looking.text and "Searching every file" in looking.text
    assert str(looking.url).endswith("/forget"), "it is the page itself that looks again"
    look = over()
    erasing = page.post(address, data={"expected": version_in(look)})
    assert 'http-equiv="refresh"' in erasing.text and "Erasing it from every file" in erasing.text
    assert str(erasing.url).endswith("/forgotten") and "diff before" not in Outline(erasing.text).text
    assert page.get(HOME).status_code == 200, "other pages are answered meanwhile"
    assert page.post(address, data={"expected": version_in(look)}).url == erasing.url, "it is not begun twice"
    assert "nothing of it is left" in Outline(over()).text
    assert sum(any(o["op"] == "forget" for o in each["operations"]) for each in memory.history()) == 1


def test_pages_answer_while_files_are_rewritten_and_it_is_done_once(
    page: TestClient, memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, other = named(memory, "diff before"), named(memory, "Tuesdays")
    let_go, rewriting, begun = threading.Event(), threading.Event(), list[str]()
    rewritten = carrying._files

    async def slowly(store: Store, erasure: Erasure) -> None:
        begun.append(erasure.id)
        rewriting.set()
        await asyncio.to_thread(let_go.wait, 5)
        await rewritten(store, erasure)

    monkeypatch.setattr(carrying, "_files", slowly)
    monkeypatch.setattr(forgetting, "SOON", 0.05)
    erasing = page.post(f"{HOME}line/{record.id}/forget", data={"expected": record.version})
    assert rewriting.wait(5) and 'http-equiv="refresh"' in erasing.text
    assert "diff before" not in page.get(HOME).text
    assert page.get(f"{HOME}line/{other.id}").status_code == 200
    page.post(f"{HOME}line/{other.id}", data={"do": "save", "text": "Deploys rest.", "expected": other.version})
    assert "Deploys rest." in page.get(HOME).text
    let_go.set()
    while 'http-equiv="refresh"' in (answer := page.get(str(erasing.url)).text):
        pass
    assert "nothing of it is left" in Outline(answer).text and len(begun) == 1
    assert all(erasure.finished for erasure in memory.state().erasures.values())


def test_a_line_that_is_changed_while_it_is_to_be_erased_is_shown_again(
    page: TestClient, memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = named(memory, "diff before")
    look = page.get(f"{HOME}line/{record.id}/forget")
    forgotten = OpenMemory.forget

    def late(self: OpenMemory, *args: Any, **options: Any) -> Any:
        if not options.get("dry_run"):
            time.sleep(0.3)
            memory.revise(record.id, "Show me nothing.")
        return forgotten(self, *args, **options)

    monkeypatch.setattr(OpenMemory, "forget", late)
    monkeypatch.setattr(forgetting, "SOON", 0.05)
    answer = page.post(f"{HOME}line/{record.id}/forget", data={"expected": version_in(look.text)})
    while 'http-equiv="refresh"' in answer.text:
        answer = page.get(str(answer.url))
    assert "changed meanwhile" in answer.text and "Show me nothing." in answer.text


@pytest.mark.parametrize("id", ["m-0000000000", "nothing"])
def test_what_is_not_there_cannot_be_forgotten(page: TestClient, id: str) -> None:
    for answer in (
        page.get(f"{HOME}line/{id}/forget"),
        page.post(f"{HOME}line/{id}/forget", data={"expected": "1"}),
    ):
        assert answer.status_code == 404 and "Traceback" not in answer.text


def test_every_place_has_its_words_in_both_languages() -> None:
    found: set[str] = set()
    for path in Path(forget.__file__).parent.glob("*.py"):
        found |= set(re.findall(r'Place\([^"\n]*"([a-z ]+)"\)', path.read_text(encoding="utf-8")))
    assert len(found) > 6
    for language in ("en", "zh"):
        assert all(f"place-{causes.place(what)}" in texts(language) for what in (*found, "history: add m-0123456789"))
    assert {what for what in found if causes.place(what) == "text"} == set(), "each is told apart"
