"""The page looks back: to a minute in this machine's zone, and to a commit."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sandbox_memory import open_memory
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.doors.web.wording import Words
from sandbox_memory.folding.past import face
from sandbox_memory.ledger import Operation
from sandbox_memory.pipeline import commands
from sandbox_memory.records import Record, Status

from .editing import edit
from .kit import handbook, pipeline, process, run, tell
from .web_kit import HOME, Outline, client_of, fields, texts


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """This machine in a zone of its own."""
    with monkeypatch.context() as within:
        within.setenv("TZ", "Asia/Shanghai")
        time.tzset()
        yield "CST, UTC+08:00"
    time.tzset()


def timed(root: Path) -> TestClient:
    """A page whose memory was written to at 18:04:10, 18:05:32 and 18:05:50 in that zone."""
    for second, text in (("04:10", "The first."), ("05:32", "The second."), ("05:50", "The third.")):
        at = datetime.fromisoformat(f"2026-11-20T10:{second}+00:00")
        run(commands.add(pipeline(root, now=lambda at=at: at), text))
    return client_of(root)


@pytest.mark.parametrize(
    ("path", "query", "there", "gone"),
    [
        ("then", {"when": "2026-11-20T18:04"}, ["20 Nov 2026 18:04", "The first."], ["The second."]),
        ("then", {"when": "2026-11-20T18:05"}, ["18:05", "The first.", "The second.", "The third."], []),
        ("then", {"when": "2026-11-20"}, ["The third."], []),
        ("then", {"when": "3"}, ["The first.", "The second.", 'value="2026-11-20T18:05"'], ["The third."]),
        ("then", {"when": "2026-11-20T10:05+00:00"}, ["The first.", 'value="2026-11-20T18:05"'], ["The second."]),
        ("compare", {"from": "2026-11-20T18:04"}, ["The second.", "The third."], ["The first."]),
        ("compare", {"from": "2026-11-20T18:05", "to": "2026-11-20T18:05"}, ["18:05 to 20 Nov"], ["The first."]),
        ("compare", {"from": "2", "to": "3"}, ["The second."], ["The first.", "The third."]),
        ("compare", {"from": "2", "to": "2026-11-20T18:06"}, ["The second.", "The third."], ["The first."]),
    ],
)  # fmt: skip
def test_the_page_looks_back_to_the_minute_and_to_a_commit(
    tmp_path: Path, zone: str, path: str, query: dict[str, str], there: list[str], gone: list[str]
) -> None:
    answer = timed(tmp_path).get(HOME + path, params=query)
    assert answer.status_code == 200 and zone in answer.text
    assert [each for each in there if each not in answer.text] == []
    assert [each for each in gone if each in answer.text] == []


@pytest.mark.parametrize(
    ("query", "status", "told", "in_chinese"),
    [
        ({"when": "2026-11-20T18:03"}, 404, "18:03. The first commit is of 20 Nov 2026 18:04", "18:03 时还没有"),
        ({"when": "99"}, 404, "There is no commit 99", "没有提交 99"),
        ({"when": "0"}, 404, "There is no commit 0", "没有提交 0"),
        ({"when": "yesterday"}, 409, "“yesterday” is no moment", "不是时刻"),
        ({"when": ""}, 409, "is no moment", "不是时刻"),
        ({"when": "2026-11-31T10:00"}, 409, "is no moment", "不是时刻"),
        ({"when": "<b>"}, 409, "“&lt;b&gt;” is no moment", "&lt;b&gt;"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["then", "compare"])
def test_what_is_no_moment_of_the_memory_is_told_in_the_language_of_the_page(
    tmp_path: Path, zone: str, query: dict[str, str], status: int, told: str, in_chinese: str, path: str
) -> None:
    page = timed(tmp_path)
    given = query if path == "then" else {"from": query["when"]}
    for language, words in (("en", told), ("zh", in_chinese)):
        answer = page.get(HOME + path, params=given, headers={"accept-language": language})
        assert answer.status_code == status and words in answer.text


def test_history_asks_for_minutes_and_commits(tmp_path: Path) -> None:
    page = timed(tmp_path)
    found = {str(each.get("id")): each.get("type") for each in Outline(page.get(f"{HOME}history").text).of("input")}
    minute, number = "datetime-local", "number"
    assert found.items() >= {"when": minute, "from": minute, "when-commit": number, "from-commit": number}.items()


CHANGES: dict[str, Callable[[OpenMemory, Record], object]] = {
    "other words": lambda memory, line: memory.revise(line.id, "Deploys go out on Fridays."),
    "a pin": lambda memory, line: memory.pin(line.id),
    "words and a pin": lambda memory, line: memory.revise(line.id, "Nobody deploys.", pinned=True),
    "an expiry": lambda memory, line: memory.revise(line.id, expires="2999-12-31"),
    "deleted": lambda memory, line: memory.delete(line.id),
    "other words, then deleted": lambda memory, line: (memory.revise(line.id, "x"), memory.delete(line.id)),
}


def forms(text: str) -> list[dict[str, str]]:
    """The fields of each form that puts something back, with its button."""
    found = [each for each in re.findall(r"<form.*?</form>", text, re.DOTALL) if 'value="put-back"' in each]
    return [{str(i["name"]): str(i["value"]) for i in Outline(each).of("input")} | {"do": "put-back"} for each in found]


@pytest.mark.parametrize("where", ["line", "then, by commit", "then, by minute"])
@pytest.mark.parametrize("how", sorted(CHANGES))
def test_what_a_line_was_is_put_back_where_it_is_seen(tmp_path: Path, how: str, where: str) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    line, other = memory.add("Deploys go out on Tuesdays."), memory.add("The canary runs for an hour.")
    last = memory.state().ordinal
    time.sleep(0.002)
    CHANGES[how](memory, line)
    minute = f"{datetime.now().astimezone().isoformat(timespec='milliseconds')}"
    when = {"then, by commit": str(last), "then, by minute": minute}.get(where, "")
    path = f"{HOME}line/{line.id}" if where == "line" else f"{HOME}then"
    for language, label in (("zh", "恢复为这样"), ("en", "Put this back")):
        shown = page.get(path, params={"when": when} if when else {}, headers={"accept-language": language})
        assert shown.status_code == 200
        given = forms(shown.text)
        if where == "then, by minute":  # it is so now, but where it is gone: then it was gone at that minute too
            assert given == [] and label not in shown.text
            return
        assert label in shown.text
    oldest = given[-1]
    assert all(each["as_of"] for each in given) and len(given) == (2 if where == "line" and "then" in how else 1)
    done = page.post(f"{HOME}line/{line.id}", data=oldest)
    assert done.status_code == 200 and "Put back as it was then." in done.text
    back = memory.state().records[line.id]
    assert face(back) == face(line) and back.status is Status.ACTIVE
    assert memory.state().records[other.id] == other
    assert memory.history()[0]["actor"] == "web"
    again = page.get(path, params={"when": when} if when else {}).text
    assert (len(forms(again)) == 0) == (where != "line" or how == "deleted")


def test_a_line_that_changed_meanwhile_is_not_put_back_unseen(tmp_path: Path) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    line = memory.add("Deploys go out on Tuesdays.")
    memory.revise(line.id, "Deploys go out on Fridays.", pinned=True)
    (form,) = forms(page.get(f"{HOME}line/{line.id}").text)
    memory.revise(line.id, "Nobody deploys.")
    answer = page.post(f"{HOME}line/{line.id}", data=form)
    assert answer.status_code == 409 and "This line was changed meanwhile" in answer.text
    assert "Nobody deploys." in answer.text and "Deploys go out on Tuesdays." in answer.text
    (form,) = forms(answer.text)
    assert page.post(f"{HOME}line/{line.id}", data=form).status_code == 200
    now = memory.state().records[line.id]
    assert (now.text, now.pinned) == ("Deploys go out on Tuesdays.", False)


@pytest.mark.parametrize("as_of", ["", "99", "nonsense"])
def test_a_form_that_names_no_time_changes_nothing(tmp_path: Path, as_of: str) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    line = memory.add("Deploys go out on Tuesdays.")
    form = {"do": "put-back", "expected": str(line.version), "as_of": as_of}
    assert page.post(f"{HOME}line/{line.id}", data=form).status_code in (404, 409)
    assert memory.state().records[line.id] == line


def test_history_counts_all_commits_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    memory.add("The first.")
    memory.undo(memory.add("The second.").created)
    commits = memory.status()["commits"]
    shown = Outline(page.get(f"{HOME}history").text).text
    listed = page.get(f"{HOME}history").text.count('class="commit"')
    assert f"{commits} commits" in shown
    assert (f"{commits - listed} of them only noted settings" in shown) == (commits > listed)
    assert re.search(rf"commits\s*{commits}", Outline(page.get(f"{HOME}work").text).text, re.IGNORECASE)


@pytest.mark.parametrize(
    ("language", "link", "button"), [("en", "Undo these commits", "Undo"), ("zh", "撤销这些提交", "撤销")]
)
def test_what_changed_between_two_moments_is_undone_together(
    tmp_path: Path, language: str, link: str, button: str
) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    page.headers["accept-language"] = language
    stays = memory.add("The canary runs for an hour.")
    start = memory.state().ordinal
    tuesday, wiki = memory.add("Deploys go out on Tuesdays."), memory.add("The wiki is at wiki.local.")
    memory.delete(stays.id)
    printer = memory.add("The printer is on the third floor.")
    end = memory.state().ordinal
    memory.revise(wiki.id, "The wiki is at docs.local.")
    shown = page.get(f"{HOME}compare", params={"from": start, "to": end}).text
    (path,) = (a["href"] for a in Outline(shown).of("a") if f"commits={start + 1}-{end}" in str(a["href"]))
    assert link in shown
    look = page.get(str(path))
    assert look.status_code == 200 and len(memory.history()) == end + 1
    assert [text in Outline(look.text).text for text in ("Tuesdays", "canary", "printer", "docs.local")] == [True] * 4
    # Somebody else is at work meanwhile: what was seen is not what would be done.
    memory.revise(printer.id, "The printer is in the cellar.")
    form = fields(look.text, button)
    late = page.post(str(path), data=form)
    assert late.status_code == 409 and 'role="alert"' in late.text and "cellar" in late.text
    assert memory.state().ordinal == end + 2
    done = page.post(str(path), data=fields(late.text, button))
    assert done.status_code == 200
    note = re.search(r'<p class="note">.*?</p>', done.text, re.DOTALL)
    assert note and ["docs.local" in note[0], "cellar" in note[0], "Tuesdays" in note[0]] == [True, True, False]
    now = {record.id for record in memory.records()}
    assert now == {stays.id, wiki.id, printer.id} and tuesday.id not in now
    assert page.post(str(path), data=form).status_code == 409


def test_commits_that_cannot_be_undone_are_left_out_and_named(tmp_path: Path) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    memory.add("The canary runs for an hour.")
    start = memory.state().ordinal
    memory.add("Deploys go out on Tuesdays.")
    memory.forget(memory.add("The printer is on the third floor.").id)
    erased = [c["commit"] for c in memory.history() if any(o["op"] in ("erase", "erased") for o in c["operations"])]
    path = f"{HOME}undo?commits={start + 1}-{memory.state().ordinal}"
    look = page.get(path)
    assert look.status_code == 200
    assert all(f">Commit {number}</a>" in look.text for number in erased) and erased
    assert page.post(path, data=fields(look.text, "Undo")).status_code == 200
    assert [record.text for record in memory.records()] == ["The canary runs for an hour."]


def test_between_two_moments_in_which_nothing_changed_there_is_nothing_to_undo(tmp_path: Path) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    memory.add("The canary runs for an hour.")
    now = memory.state().ordinal
    assert "undo?" not in page.get(f"{HOME}compare", params={"from": now, "to": now}).text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_changed_beside_the_words_is_said(tmp_path: Path, language: str) -> None:
    page, memory = client_of(tmp_path), open_memory(tmp_path).__enter__()
    page.headers["accept-language"] = language
    line = memory.add("Deploys go out on Tuesdays.", group="House rules")
    memory.pin(line.id)
    first = memory.state().ordinal
    memory.revise(line.id, expires="2099-01-01")
    memory.revise(line.id, importance=0.2)
    handbook = tmp_path / "memories" / "MEMORY.md"
    text = handbook.read_text(encoding="utf-8")
    handbook.write_text(text.replace("Task Group: House rules", "Task Group: The week"), encoding="utf-8")
    memory.adopt()
    words = Words(language)
    told = {
        first: (words("is-pinned"), words("not-pinned")),
        first + 1: (words("until", at=words.time("2099-01-01T23:59:59+00:00")), words("no-end")),
        first + 2: (words("importance", value="0.2"), words("importance", value=f"{line.importance:g}")),
    }
    history = Outline(page.get(f"{HOME}history").text).text
    story = Outline(page.get(f"{HOME}line/{line.id}").text).text
    for number, (before, after) in told.items():
        shown = page.get(f"{HOME}history/{number}/undo").text
        (row,) = re.findall(r'<li class="op">.*?</li>', shown, re.DOTALL)
        assert before in row and after in row and row.count("Tuesdays") == 1, number
        assert before in history and before in story
        assert before in Outline(page.get(f"{HOME}history/{number}").text).text
    changed = Outline(page.get(f"{HOME}compare", params={"from": first - 1}).text).text
    assert all(before in changed and after in changed for before, after in told.values())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_line_that_is_back_names_the_one_that_took_its_place(tmp_path: Path, language: str) -> None:
    with open_memory(tmp_path) as memory:
        old = memory.add("Answer in short sentences.")
        edit(handbook(tmp_path), "Answer in short sentences.", "Write letters by hand, with a stamp on them.")
        (heir,) = [record for record in memory.records() if record.id != old.id]
        page = client_of(tmp_path)
        told = texts(language)["heir-in-sight"]
        assert told not in page.get(f"{HOME}line/{heir.id}", headers={"accept-language": language}).text
        memory.restore(old.id)
    shown = page.get(f"{HOME}line/{old.id}", headers={"accept-language": language}).text
    assert told in shown and f"line/{heir.id}" in shown


def test_a_line_without_quotes_says_when_its_words_came(tmp_path: Path) -> None:
    first, later = (datetime(2026, 3, day, 12, tzinfo=timezone.utc) for day in (1, 5))
    record = run(commands.add(pipeline(tmp_path, now=lambda: first), "Ask Bo first.", group="Notes"))
    moved = Operation("move", record.id, body={"group": "Elsewhere"})
    run(pipeline(tmp_path, now=lambda: later).commit("cli", lambda state: [moved]))
    shown = client_of(tmp_path).get(f"{HOME}line/{record.id}", headers={"accept-language": "en"}).text
    told = shown[shown.index(texts("en")["no-quotes"]) :].partition("</p>")[0]
    assert "1 Mar 2026" in told, told


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_quotes_of_what_a_line_said_before_are_shown(tmp_path: Path, language: str) -> None:
    tell(tmp_path, "the staging port is 8443", rollout="of two people")
    process(tmp_path)
    edit(handbook(tmp_path), "8443", "8443, says Ana")
    with open_memory(tmp_path) as memory:
        (record,) = memory.records()
    shown = client_of(tmp_path).get(f"{HOME}line/{record.id}", headers={"accept-language": language}).text
    _, found, quotes = shown.partition(texts(language)["earlier-quotes"])
    assert found and "the staging port is 8443</blockquote>" in re.sub(r"<span[^>]*></span>", "", quotes)
    (path,) = re.findall(r'href="[^"]*/(conversation/[^"]*)"', quotes.partition("</section>")[0])
    assert client_of(tmp_path).get(HOME + path.replace("&amp;", "&")).status_code == 200
