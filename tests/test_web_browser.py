"""The local page in Debian's chromium: by mouse and by keyboard, with files that change, and against other pages.

Run by `make web-test`. With WEB_SHOTS in the environment, the pictures in docs/ are made anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import util
from pathlib import Path
from typing import Any, TypeVar

import pytest

from sandbox_memory.doors.plain import OpenMemory

from .web_kit import CHINESE, TOKEN, bookcase, everywhere, furnished

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
NEEDS = "the browser tests need {}; `make web-test` says how"
DOCS = Path(__file__).resolve().parents[1] / "docs"
PATHS = [
    "",
    "inbox",
    "history",
    "history/4",
    "work",
    "check",
    "figures",
    "gone",
    "told",
    "compare?from=1",
    "?q=port",
    "?q=printer",
]
T = TypeVar("T")

if CHROMIUM is None or util.find_spec("playwright") is None:
    pytest.skip(NEEDS.format("Debian's package chromium and the extra `browser`"), allow_module_level=True)

from playwright.sync_api import Browser, Locator, Page, Route, expect, sync_playwright  # noqa: E402 - only where it is there


def apart(work: Callable[[], T]) -> T:
    """Do it in a thread of its own: playwright has an event loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


@dataclass
class Served:
    """A memory, and the address of its page."""

    root: Path
    memory: OpenMemory
    home: str
    port: int

    @property
    def handbook(self) -> Path:
        return self.root / "memories" / "MEMORY.md"

    def edit(self, old: str, new: str) -> None:
        """Save another text, as an editor does: into a file beside it, which takes its place."""
        text = self.handbook.read_text(encoding="utf-8")
        assert old in text
        beside = self.handbook.with_suffix(".tmp~")
        beside.write_text(text.replace(old, new), encoding="utf-8")
        beside.replace(self.handbook)

    def texts(self) -> set[str]:
        return apart(lambda: {record.text for record in self.memory.records()})


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"]
        launched = play.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        launched.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    root = tmp_path / "billing-service"
    root.mkdir()
    with serving(root, apart(lambda: furnished(root))) as found:
        yield found


class serving:  # noqa: N801 - reads as what it does
    """The page of a memory, served in a thread."""

    def __init__(self, root: Path, memory: OpenMemory, *folders: str) -> None:
        from sandbox_memory.doors.web.app import listening, server

        self._at = listening(0)
        port = int(self._at.getsockname()[1])
        self._server = server(bookcase(root, *folders), self._at, TOKEN, lambda address: None)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._at]})
        self.found = Served(root, memory, f"http://127.0.0.1:{port}/{TOKEN}/memories/", port)

    def __enter__(self) -> Served:
        self._thread.start()
        for _ in range(600):
            if self._server.started:
                return self.found
            time.sleep(0.05)
        raise AssertionError("the page was not served")

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        self._at.close()


class Seat:
    """A person at a page, who points with a mouse or has only a keyboard. What the page complains of is kept."""

    def __init__(self, browser: Browser, by: str = "mouse", **options: Any) -> None:
        self.by = by
        self.context = browser.new_context(**{"locale": "en-GB", "viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on(
            "console", lambda message: self.complaints.append(message.text) if message.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))

    def open(self, address: str) -> Page:
        self.page.goto(address, wait_until="domcontentloaded")
        expect(self.page.locator("html.scripted")).to_have_count(1)
        return self.page

    def reach(self, target: Locator) -> None:
        """Bring the focus to it by Tab, as somebody without a mouse has to."""
        for _ in range(250):
            if target.evaluate("each => each === document.activeElement"):
                seen = target.evaluate(
                    "each => each.matches(':focus-visible') || each.matches('input, textarea, select')"
                )
                assert seen, "the focus is not to be seen"
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to {target}")

    def press(self, target: Locator) -> None:
        if self.by == "mouse":
            target.click()
        else:
            self.reach(target)
            self.page.keyboard.press("Enter")

    def write(self, target: Locator, text: str) -> None:
        if self.by == "mouse":
            target.fill(text)
        else:
            self.reach(target)
            self.page.keyboard.press("Control+A")
            self.page.keyboard.type(text)

    def line(self, words: str) -> Locator:
        return self.page.locator(".line").filter(has_text=words).first


@pytest.fixture(params=["mouse", "keyboard"])
def seat(request: pytest.FixtureRequest, browser: Browser, served: Served) -> Iterator[Seat]:
    found = Seat(browser, request.param)
    yield found
    found.context.close()
    assert not found.complaints, found.complaints


@pytest.fixture
def one(browser: Browser) -> Iterator[Seat]:
    found = Seat(browser)
    yield found
    found.context.close()


# ---- each thing on the page, by mouse and by keyboard


def test_a_line_leads_to_who_said_it_and_to_the_conversation(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(seat.line("diff before").get_by_role("link", name="Why"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("diff before")
    expect(page.get_by_text("stands there")).to_be_visible()
    seat.press(page.get_by_role("link", name="sessions/release-42.jsonl:1"))
    expect(page.locator("mark").first).to_be_visible()
    seat.press(page.locator("mark a").first)
    expect(page).to_have_url(re.compile("/line/m-"))


def test_what_is_typed_is_found_at_once(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    if seat.by == "mouse":
        page.locator("#q").click()
    else:
        page.keyboard.press("Control+K")
    page.keyboard.type("Tues")
    expect(page.locator(".line")).to_have_count(1)
    expect(page.locator("#live")).to_contain_text("1 line for “Tues”")
    assert page.locator("#q").evaluate("each => each === document.activeElement"), "the typing goes on"
    page.keyboard.press("ArrowDown")
    assert seat.line("Tuesdays").evaluate("each => each === document.activeElement")
    page.reload()
    expect(page.locator("#q")).to_have_value("Tues")
    seat.press(page.get_by_role("link", name="The whole memory"))
    expect(seat.line("8443")).to_be_visible()


def test_a_place_in_the_file_and_a_line_that_is_gone_are_found(seat: Seat, served: Served) -> None:
    lines = served.handbook.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "Tuesdays" in line)
    page = seat.open(served.home)
    for typed, words, answer in (
        (f"MEMORY.md:{number}", "Tuesdays", "1 line for"),
        ("third floor", "printer", "1 out of sight"),
    ):
        if seat.by == "mouse":
            page.locator("#q").click()
        else:
            page.keyboard.press("Control+K")
        page.locator("#q").fill("")
        page.keyboard.type(typed)
        expect(seat.line(words)).to_be_visible()
        expect(page.locator("#live")).to_contain_text(answer)
    expect(seat.line("printer")).to_contain_text("Deleted")
    if seat.by == "keyboard":
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    else:
        seat.line("printer").get_by_role("link", name="Why").click()
    seat.press(page.get_by_role("button", name="Bring it back"))
    expect(page.locator(".line-title")).to_contain_text("printer")
    expect(page.get_by_text(re.compile(r"memories/MEMORY\.md:\d+"))).to_be_visible()


def test_lines_are_narrowed_to_a_kind_and_a_trust(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    if seat.by == "mouse":
        page.get_by_label("Whose word").select_option("hand")
    else:
        seat.reach(page.get_by_label("Whose word"))
        page.keyboard.type("written")
        page.keyboard.press("Enter")
    expect(page.locator("#found")).to_have_text("3 lines")


def test_a_line_is_added(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(page.locator("#add > summary"))
    seat.write(page.get_by_label("What to remember"), "The wiki is at wiki.local.")
    seat.write(page.get_by_label("Group", exact=True), "Places")
    seat.press(page.get_by_role("button", name="Remember"))
    expect(page.get_by_text("Remembered.")).to_be_visible()
    expect(page.get_by_role("heading", name="Places")).to_be_visible()
    assert "The wiki is at wiki.local." in served.texts()


def test_a_line_is_edited_where_it_stands(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    line = seat.line("Tuesdays")
    if seat.by == "mouse":
        line.locator("summary").click()
        line.locator("textarea").fill("Deploys go out on Fridays.")
        line.get_by_role("button", name="Save").click()
    else:
        seat.reach(line)
        page.keyboard.press("e")
        page.keyboard.press("Control+A")
        page.keyboard.type("Deploys go out on Fridays.")
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(seat.line("Fridays")).to_be_in_viewport()
    assert "Deploys go out on Fridays." in served.texts()


def test_an_edit_is_left_without_saving(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    line = seat.line("Tuesdays")
    seat.press(line.locator("summary"))
    page.keyboard.type("something else ")
    page.keyboard.press("Escape")
    expect(line.locator("textarea")).to_be_hidden()
    seat.press(line.locator("summary"))
    expect(line.locator("textarea")).to_have_value("Deploys go out on Tuesdays.")
    assert "Deploys go out on Tuesdays." in served.texts()


def test_a_line_is_deleted_and_brought_back(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    line = seat.line("Tuesdays")
    seat.press(line.locator("summary"))
    seat.press(line.get_by_role("button", name="Delete"))
    expect(page.get_by_text("Deleted.")).to_be_visible()
    expect(seat.line("Tuesdays")).to_have_count(0)
    seat.press(page.get_by_role("button", name="Bring it back"))
    expect(seat.line("Tuesdays")).to_be_visible()
    assert "Deploys go out on Tuesdays." in served.texts()


def test_a_line_is_forgotten_and_what_is_left_is_told(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    line = seat.line("diff before")
    if seat.by == "mouse":
        line.get_by_role("link", name="Forget").click()
    else:
        seat.reach(line)
        page.keyboard.press("f")
    expect(page.get_by_role("heading", level=1)).to_have_text("Forget this line for good?")
    expect(page.get_by_role("heading", name=re.compile(r"It stands in \d\d? places"))).to_be_visible()
    expect(page.locator(".places")).to_contain_text("sessions/release-42.jsonl")
    assert "Show me the diff before you change anything." in served.texts(), "looking changes nothing"
    sound(page)
    seat.press(page.get_by_role("button", name="Forget it for good"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Forgotten")
    expect(page.get_by_text("nothing of it is left")).to_be_visible()
    receipt = page.locator("code").filter(has_text="/forgotten/").inner_text()
    assert Path(receipt).is_file()
    sound(page)
    assert b"diff before" not in apart(lambda: everywhere(served.root))
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Forgotten")
    seat.press(page.locator("#tabs").get_by_role("link", name="History"))
    expect(page.locator(".commit").first).to_contain_text("by a person on the page")


def test_a_line_is_not_forgotten_after_all(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(seat.line("Tuesdays").get_by_role("link", name="Forget"))
    seat.press(page.get_by_role("link", name="Leave it"))
    expect(seat.line("Tuesdays")).to_be_in_viewport()
    seat.press(seat.line("Tuesdays").get_by_role("link", name="Why"))
    seat.press(page.get_by_role("link", name="Forget"))
    seat.press(page.get_by_role("button", name="Only delete it"))
    expect(page.get_by_text("the history keep its words")).to_be_visible()
    seat.press(page.get_by_role("link", name="Forget").first)
    expect(page.get_by_role("heading", level=1)).to_have_text("Forget this line for good?")


def test_a_line_that_changes_while_its_end_is_thought_over_stays(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(seat.line("Tuesdays").get_by_role("link", name="Forget"))
    expect(page.locator(".old")).to_contain_text("Tuesdays")
    served.edit("Deploys go out on Tuesdays.", "Deploys go out on Thursdays.")
    expect(page.locator("#stale")).to_be_visible(timeout=15_000)
    expect(page.locator(".old")).to_contain_text("Tuesdays")
    seat.press(page.get_by_role("button", name="Forget it for good"))
    expect(page.get_by_role("alert")).to_contain_text("changed meanwhile, so nothing was forgotten")
    expect(page.locator(".old")).to_contain_text("Thursdays")
    sound(page)
    assert "Deploys go out on Thursdays." in served.texts()
    seat.press(page.get_by_role("button", name="Forget it for good"))
    expect(page.get_by_text("nothing of it is left")).to_be_visible()
    seat.complaints = [each for each in seat.complaints if "409" not in each]


def test_a_line_is_forgotten_in_chinese(browser: Browser, served: Served) -> None:
    seat = Seat(browser, locale="zh-CN")
    page = seat.open(served.home)
    seat.line(CHINESE).get_by_role("link", name="遗忘").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("要彻底遗忘这一行吗？")
    sound(page)
    page.get_by_role("button", name="彻底遗忘").click()
    expect(page.get_by_text("没有任何残留")).to_be_visible()
    sound(page)
    seat.context.close()
    assert CHINESE.encode() not in apart(lambda: everywhere(served.root))


@pytest.mark.parametrize("way", ["add", "edit", "inbox"])
def test_a_secret_that_is_typed_is_told_at_once(seat: Seat, served: Served, way: str) -> None:
    secret = "Vq7#mTz9rLw2"
    page = seat.open(served.home if way != "inbox" else f"{served.home}inbox")
    if way == "add":
        seat.press(page.locator("#add > summary"))
        seat.write(page.get_by_label("What to remember"), f"The database password is {secret}")
        seat.press(page.get_by_role("button", name="Remember"))
    elif way == "edit":
        seat.press(seat.line("Tuesdays").locator("summary"))
        seat.write(seat.line("Tuesdays").locator("textarea"), f"The database password is {secret}")
        seat.press(seat.line("Tuesdays").get_by_role("button", name="Save"))
    else:
        question = page.locator(".question").filter(has_text="Releases")
        seat.press(question.locator("summary"))
        seat.write(question.get_by_label("New words"), f"The database password is {secret}")
        seat.press(question.get_by_role("button", name="Accept"))
    expect(page.get_by_text("A secret was replaced by")).to_be_in_viewport()
    expect(page.locator(".note.careful")).to_contain_text("⟦secret:password")
    assert secret not in page.content() and secret not in page.url
    served.edit("The staging port is 8443.", "The staging port is 8444.")
    if way != "inbox":
        expect(page.get_by_text("The staging port is 8444.").first).to_be_visible(timeout=15_000)
    expect(page.get_by_text("A secret was replaced by")).to_be_visible()
    assert secret.encode() not in apart(lambda: everywhere(served.root))


def test_the_memory_is_seen_as_it_was_at_a_minute_and_after_a_commit(seat: Seat, served: Served) -> None:
    page = seat.open(f"{served.home}history")
    wanted = page.locator(".commit").filter(has_text="Deploys go out on Tuesdays.")
    number = int(wanted.locator("h3").inner_text().split()[-1])
    for label, there in ((number, 1), (number - 1, 0)):
        page = seat.open(f"{served.home}history")
        seat.write(page.get_by_label("or after commit"), str(label))
        seat.press(page.get_by_role("button", name=re.compile("^Show *: or after commit$")))
        expect(page.get_by_role("heading", level=1)).to_contain_text("The memory as of")
        expect(seat.line("Tuesdays")).to_have_count(there)
    minute = page.get_by_label("The memory as it was at").input_value()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", minute), "the other field says when that was"
    page.get_by_label("The memory as it was at").fill(minute)
    seat.press(page.get_by_role("button", name=re.compile("^Show *: The memory as it was at$")))
    expect(seat.line("Tuesdays")).to_have_count(1)
    expect(page.get_by_text("Times are in the zone of the machine")).to_be_visible()
    page = seat.open(f"{served.home}history")
    seat.write(page.get_by_label("or since commit"), str(number - 1))
    seat.press(page.get_by_role("button", name=re.compile("^Show *: or since commit$")))
    expect(page.get_by_role("heading", level=1)).to_have_text("What changed")
    expect(page.locator(".new").filter(has_text="Tuesdays")).to_be_visible()
    seat.write(page.get_by_label("to commit"), str(number - 1))
    seat.press(page.get_by_role("button", name=re.compile("^Show *: or from commit$")))
    expect(page.get_by_text("Nothing changed in between")).to_be_visible()


def test_a_line_is_put_back_as_it_was(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    line = seat.line("Tuesdays")
    seat.press(line.locator("summary"))
    seat.write(line.get_by_label("New words"), "Deploys go out on Fridays.")
    seat.press(line.get_by_role("button", name="Save"))
    seat.press(seat.line("Fridays").get_by_role("link", name="Why"))
    expect(page.get_by_role("heading", name="What it said before")).to_be_visible()
    seat.press(page.get_by_role("button", name=re.compile("^Put this back *: Deploys go out on Tuesdays")))
    expect(page.get_by_text("Put back as it was then.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Deploys go out on Tuesdays.")
    assert "Deploys go out on Tuesdays." in served.texts()
    number = int(page.locator("#before a").first.get_attribute("href").rpartition("/")[2])
    seat.open(f"{served.home}then?when={number}")
    seat.press(seat.line("Fridays").get_by_role("button", name=re.compile("^Put this back")))
    expect(page.get_by_text("Put back as it was then.")).to_be_visible()
    assert "Deploys go out on Fridays." in served.texts()


def test_a_line_is_pinned(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(seat.line("Tuesdays").get_by_role("link", name="Why"))
    seat.press(page.get_by_role("button", name="Pin"))
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()


@pytest.mark.parametrize("answer", ["Accept", "Refuse"])
def test_a_question_is_answered(seat: Seat, served: Served, answer: str) -> None:
    page = seat.open(served.home)
    seat.press(page.locator("#tabs").get_by_role("link", name="Inbox"))
    question = page.locator(".question").filter(has_text="9443")
    expect(question.locator("del")).to_have_text("8443")
    seat.press(question.get_by_role("button", name=answer))
    expect(page.get_by_text("Accepted." if answer == "Accept" else "Refused.")).to_be_visible()
    expect(page.locator(".question")).to_have_count(1)
    assert ("The staging port is 9443." in served.texts()) == (answer == "Accept")


def test_a_question_is_accepted_in_other_words(seat: Seat, served: Served) -> None:
    page = seat.open(f"{served.home}inbox")
    question = page.locator(".question").filter(has_text="Releases")
    seat.press(question.locator("summary"))
    seat.write(question.get_by_label("New words"), "Releases come from main.")
    seat.press(question.get_by_role("button", name="Accept"))
    expect(page.get_by_text("Accepted.")).to_be_visible()
    assert "Releases come from main." in served.texts()


def test_a_commit_is_looked_at_and_undone(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(page.locator("#tabs").get_by_role("link", name="History"))
    commit = page.locator(".commit").filter(has_text="Deploys go out on Tuesdays.")
    expect(commit).to_have_count(1)
    seat.press(commit.get_by_role("link", name="Undo"))
    expect(page.locator(".old")).to_contain_text("Tuesdays")
    seat.press(page.get_by_role("button", name="Undo commit"))
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert "Deploys go out on Tuesdays." not in served.texts()


def test_pending_and_failed_work_is_told_with_its_cause(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(page.locator("#tabs").get_by_role("link", name="Work"))
    expect(page.get_by_text("HTTP 429: the quota of this project is used up").first).to_be_visible()
    expect(page.get_by_role("heading", name="1 conversation to read")).to_be_visible()
    seat.press(page.get_by_role("link", name="Check now"))
    expect(page.get_by_text("quotes stand where they say")).to_be_visible()


def test_figures_are_drawn_and_are_tables_too(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(page.locator("#tabs").get_by_role("link", name="Figures"))
    for name in ("Lines", "Tokens", "What went"):
        expect(page.get_by_role("img", name=name)).to_be_visible()
    seat.press(page.locator("#plot-growth summary"))
    expect(page.locator("#plot-growth table")).to_be_visible()


def test_what_is_out_of_sight_comes_back(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    seat.press(page.get_by_role("link", name="out of sight"))
    seat.press(page.locator(".line").filter(has_text="printer").get_by_role("button", name="Bring it back"))
    expect(page.locator(".note").get_by_text("Brought back.")).to_be_visible()
    assert "The printer is on the third floor." in served.texts()


def test_colours_and_language_are_switched(seat: Seat, served: Served) -> None:
    page = seat.open(served.home)
    bright = page.evaluate("getComputedStyle(document.body).backgroundColor")
    seat.press(page.locator(".menu > summary"))
    seat.press(page.get_by_role("button", name="Dark"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != bright
    seat.press(page.locator(".menu > summary"))
    seat.press(page.get_by_role("button", name="中文"))
    expect(page.get_by_role("heading", level=1)).to_have_text("记忆")
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"


def test_the_content_is_skipped_to(served: Served, browser: Browser) -> None:
    seat = Seat(browser, "keyboard")
    page = seat.open(served.home)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    seat.context.close()


# ---- files that change


def test_the_page_follows_the_files(one: Seat, served: Served) -> None:
    page = one.open(served.home)
    one.line("8443").focus()
    served.edit("Deploys go out on Tuesdays.", "Deploys go out on Wednesdays.")
    expect(one.line("Wednesdays")).to_be_visible(timeout=15_000)
    assert one.line("8443").evaluate("each => each === document.activeElement"), "the focus stays"
    expect(page.locator("#live")).to_have_text("The memory has changed.")
    served.handbook.write_text(served.handbook.read_text(encoding="utf-8").replace("Wednesdays", "Sundays"), "utf-8")
    expect(one.line("Sundays")).to_be_visible(timeout=15_000)
    assert not one.complaints


def test_what_was_saved_while_the_page_was_on_its_way_is_seen(one: Seat, served: Served) -> None:
    asked: list[str] = []

    def late(route: Route) -> None:
        if not asked:  # the page is there, and does not hear of changes yet
            served.edit("Deploys go out on Tuesdays.", "Deploys go out on Wednesdays.")
        asked.append(route.request.url)
        route.continue_()

    one.page.route("**/events?*", late)
    one.open(served.home)
    expect(one.line("Wednesdays")).to_be_visible(timeout=15_000)
    assert len(asked) == 1


def test_a_page_that_asks_for_a_decision_stays_when_files_change(one: Seat, served: Served) -> None:
    page = one.open(served.home)
    line = one.line("Tuesdays")
    line.locator("summary").click()
    line.locator("textarea").fill("Deploys go out on Mondays.")
    served.edit("Deploys go out on Tuesdays.", "Deploys go out on Thursdays.")
    expect(page.locator("#stale")).to_be_visible(timeout=15_000)
    line.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("This line was changed meanwhile")
    other = one.context.new_page()
    other.goto(served.home)
    served.edit("The staging port is 8443.", "The staging port is 8444.")
    expect(other.get_by_text("The staging port is 8444.").first).to_be_visible(timeout=15_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("This line was changed meanwhile")
    page.get_by_role("button", name="Write mine").click()
    expect(one.line("Deploys go out on Mondays.")).to_be_visible()


def test_while_somebody_types_nothing_is_pulled_away(one: Seat, served: Served) -> None:
    page = one.open(served.home)
    one.line("Tuesdays").locator("summary").click()
    one.line("Tuesdays").locator("textarea").fill("half a sen")
    served.edit("The staging port is 8443.", "The staging port is 8444.")
    expect(page.locator("#stale")).to_be_visible(timeout=15_000)
    expect(one.line("Tuesdays").locator("textarea")).to_have_value("half a sen")
    page.get_by_role("button", name="Show it").click()
    expect(one.line("8444")).to_be_visible()


@pytest.mark.parametrize("choice", ["theirs", "mine", "both"])
def test_an_edit_conflict_is_seen_and_solved(seat: Seat, served: Served, choice: str) -> None:
    page = seat.open(served.home)
    line = seat.line("Tuesdays")
    seat.press(line.locator("summary"))
    seat.write(line.locator("textarea"), "Deploys go out on Mondays.")
    served.edit("Deploys go out on Tuesdays.", "Deploys go out on Thursdays.")
    expect(page.locator("#stale")).to_be_visible(timeout=15_000)
    seat.press(line.get_by_role("button", name="Save"))
    expect(page.get_by_role("heading", level=1)).to_have_text("This line was changed meanwhile")
    expect(page.locator(".two")).to_contain_text("Thursdays")
    expect(page.locator(".two")).to_contain_text("Mondays")
    assert "Deploys go out on Thursdays." in served.texts()
    if choice == "theirs":
        seat.press(page.get_by_role("button", name="Leave it as it is now"))
    elif choice == "mine":
        seat.press(page.get_by_role("button", name="Write mine"))
    else:
        seat.write(page.locator("#merged"), "Deploys go out on Mondays and Thursdays.")
        seat.press(page.get_by_role("button", name="Write this"))
    wanted = {"theirs": "Thursdays.", "mine": "Mondays.", "both": "Mondays and Thursdays."}[choice]
    expect(seat.line(f"Deploys go out on {wanted}")).to_be_visible()
    assert f"Deploys go out on {wanted}" in served.texts()
    seat.complaints = [each for each in seat.complaints if "409" not in each]


# ---- what is remembered is untrusted, and so are other pages


def test_remembered_markup_is_inert(one: Seat, served: Served) -> None:
    for path in (*PATHS, "?q=trust"):
        page = one.open(served.home + path)
        page.wait_for_load_state("load")  # whatever would run by itself has run
        assert "owned" not in page.title()
        assert page.locator("main img, main script, main iframe").count() == 0
    page = one.open(served.home)
    expect(page.get_by_text("<script>document.title='owned'</script>").first).to_be_visible()
    page.get_by_text("the manual").first.click()
    assert "owned" not in page.title() and page.url == served.home
    assert all(url.startswith(f"http://127.0.0.1:{served.port}/{TOKEN}/") for url in one.asked), "something was loaded"
    assert not one.complaints


def test_a_script_that_got_in_would_not_run(one: Seat, served: Served) -> None:
    page = one.open(served.home)
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "document.title = 'owned'";
          document.body.append(script);
          const image = document.createElement("img");
          image.setAttribute("onerror", "document.title = 'owned'");
          image.src = "https://example.com/x.png";
          document.body.append(image);
        }"""
    )
    for what in ("inline script", "inline event handler", "the image"):
        while not any("Content Security Policy" in each and what in each for each in one.complaints):
            page.wait_for_event("console", timeout=15_000)
    assert "owned" not in page.title()


def test_a_page_of_another_origin_can_do_nothing(one: Seat, served: Served) -> None:
    before = served.texts()
    hostile = f"""<!doctype html><title>hostile</title>
      <iframe src="{served.home}"></iframe><img src="{served.home}"><script src="{served.home}"></script>
      <form id="f" method="post" target="sink" action="{served.home}lines">
      <input name="text" value="Planted by a form."><input name="kind" value="fact"></form><iframe name="sink"></iframe>
      <script>
        document.getElementById("f").submit();
        window.outcome = [];
        const note = (name) => [
          (answer) => answer.text().then((text) => outcome.push(name + text.length)),
          () => outcome.push(name + "refused"),
        ];
        const body = (text) => ({{ method: "POST", body: new URLSearchParams({{ text, kind: "fact" }}) }});
        fetch("{served.home}").then(...note("read "));
        fetch("{served.home}lines", body("Planted by a script.")).then(...note("write "));
        fetch("{served.home}lines", {{ ...body("Planted blindly."), mode: "no-cors" }}).then(...note("blind "));
        const events = new EventSource("{served.home}events");
        events.onmessage = events.onopen = () => outcome.push("events");
        events.onerror = () => outcome.push("events refused");
      </script>"""

    class Hostile(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = hostile.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for host in ("127.0.0.1", "localhost", "evil.example"):
            page = one.page
            page.goto(f"http://{host}:{server.server_address[1]}/", wait_until="load")
            page.wait_for_function("window.outcome.length >= 4", timeout=15_000)
            outcome = page.evaluate("window.outcome")
            assert {"read refused", "write refused", "events refused"} <= set(outcome), outcome
            inside = [frame.content() for frame in page.frames[1:]]
            assert not any("8443" in each for each in inside), "it was framed"
    finally:
        server.shutdown()
        server.server_close()
    assert served.texts() == before


def test_a_foreign_host_is_refused(one: Seat, served: Served) -> None:
    answer = one.page.goto(f"http://evil.example:{served.port}/{TOKEN}/memories/")
    assert answer is not None and answer.status == 421
    assert "8443" not in one.page.content()


# ---- for everybody


def axe() -> str:
    spec = util.find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip(NEEDS.format("axe-playwright-python"))
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


OPEN = """async () => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  const told = closed.map((each) => new Promise((done) => each.addEventListener("toggle", done, { once: true })));
  closed.forEach((each) => { each.open = true; });
  await Promise.all(told);
}"""
"""Opens all that can be opened, and waits until the page's script has heard of each."""
REST = """async () => {
  document.activeElement?.blur();
  scrollTo({ top: 0, behavior: "instant" });
  while (scrollY) await new Promise(requestAnimationFrame);
}"""
"""The page at rest at its top: a focus scrolls, and what the fixed header covers on the way counts as too small."""


def faults(page: Page) -> list[dict[str, Any]]:
    """What axe finds on the page as it is, once it stands still."""
    page.evaluate(axe())
    page.evaluate(REST)
    found: list[dict[str, Any]] = page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
    return found


def sound(page: Page) -> None:
    """axe finds nothing."""
    assert not [(each["id"], each["nodes"][0]["html"]) for each in faults(page)]


RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, furnished_once: Served, theme: Any, width: int, language: str) -> None:
    seen = {"color_scheme": theme, "viewport": {"width": width, "height": 800}, "locale": language}
    seat = Seat(browser, **seen, reduced_motion="reduce")
    record = apart(lambda: next(each for each in furnished_once.memory.records() if "8443" in each.text))
    wrong = []
    line = f"line/{record.id}"
    undo = ["history/4/undo", "undo?commits=3-4"]
    for path in [*PATHS, line, f"{line}/forget", "conversation/release-42", *undo, "then?when=4", "nothing"]:
        page = seat.open(furnished_once.home + path)
        page.evaluate(OPEN)
        found = faults(page)
        wrong += [f"{path}: {each['id']}: {json.dumps(each['nodes'][0]['html'])}" for each in found]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path or 'the memory'} is too wide"
    seat.context.close()
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def furnished_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("shown") / "billing-service"
    root.mkdir()
    with serving(root, apart(lambda: furnished(root))) as found:
        yield found


def test_targets_are_large_enough_to_be_hit(one: Seat, furnished_once: Served) -> None:
    page = one.open(furnished_once.home)
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, summary, nav a, .doing a, .facts a")]
          .filter((each) => each.checkVisibility() && each.type !== "hidden")
          .map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
          .filter(([, box]) => box.height < 24 || box.width < 20).map(([html, box]) => `${html} ${box.height}`)"""
    )
    assert not small, small


def test_everything_is_done_without_script(browser: Browser, served: Served) -> None:
    seat = Seat(browser, java_script_enabled=False)
    page = seat.page
    page.goto(served.home)
    page.get_by_label("Search").fill("Tuesdays")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".line")).to_have_count(1)
    seat.line("Tuesdays").locator("summary").click()
    seat.line("Tuesdays").locator("textarea").fill("Deploys go out on Fridays.")
    page.get_by_role("button", name="Save").click()
    expect(seat.line("Fridays")).to_be_visible()
    page.goto(f"{served.home}inbox")
    page.get_by_role("button", name="Accept").first.click()
    expect(page.get_by_text("Accepted.")).to_be_visible()
    page.goto(f"{served.home}history")
    page.get_by_role("link", name="Undo").first.click()
    page.get_by_role("button", name="Undo commit").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    seat.context.close()


# ---- pictures


@pytest.mark.parametrize(
    ("name", "path", "options"),
    [
        ("web-memory", "", {"color_scheme": "light"}),
        ("web-memory-dark", "", {"color_scheme": "dark"}),
        ("web-history", "history", {"color_scheme": "light"}),
        ("web-inbox-zh", "inbox", {"color_scheme": "light", "locale": "zh-CN"}),
        ("web-figures", "figures", {"color_scheme": "light"}),
        ("web-narrow", "", {"color_scheme": "dark", "viewport": {"width": 320, "height": 1100}}),
    ],
)
def test_pictures_are_made_where_they_are_asked_for(
    browser: Browser, pictured: Served, name: str, path: str, options: dict[str, Any]
) -> None:
    seat = Seat(browser, **{"viewport": {"width": 1200, "height": 860}, **options})
    page = seat.open(pictured.home + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    picture = page.screenshot()
    seat.context.close()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
    if "WEB_SHOTS" in os.environ:
        DOCS.joinpath(f"{name}.png").write_bytes(picture)


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A memory as one looks after some weeks of work."""
    from .web_kit import lived_in

    root = tmp_path_factory.mktemp("pictured") / "billing-service"
    root.mkdir()
    with serving(root, apart(lambda: lived_in(root))) as found:
        yield found


def test_chinese_reads_as_chinese(one: Seat, furnished_once: Served) -> None:
    page = one.open(furnished_once.home)
    text = page.locator(".text").filter(has_text=CHINESE)
    assert text.get_attribute("lang") == "zh-Hans"
