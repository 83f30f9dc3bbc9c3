"""What a person types and does on the page: secrets in it are written nowhere, and the history says who it was."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.records import Status

from .web_kit import HOME, Outline, client_of, everywhere, fields, furnished, named

SECRETS = {
    "a key": ("AKIA" + "QX3ZJ7N5WMB2RT4L", "AKIA" + "QX3ZJ7N5WMB2RT4L"),
    "a password": ("The database password is " + "Vq7#mTz9rLw2", "Vq7#mTz9rLw2"),
    "a token in Chinese": (
        "部署令牌是 ghp_" + "8sK2mQ9vXz4LpR7tYw3BnC6dFh1JgE5aUoI0",
        "ghp_8sK2mQ9vXz4LpR7tYw3BnC6dFh1JgE5aUoI0",
    ),
}
"""What somebody types by mistake, and what of it is written nowhere."""


@pytest.fixture
def memory(tmp_path: Path) -> OpenMemory:
    return furnished(tmp_path)


@pytest.fixture
def page(memory: OpenMemory, tmp_path: Path) -> TestClient:
    return client_of(tmp_path)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("way", ["add", "group", "edit", "inbox", "conflict"])
def test_a_secret_that_is_typed_is_written_nowhere_and_told_at_once(
    page: TestClient, memory: OpenMemory, tmp_path: Path, way: str, kind: str
) -> None:
    text, secret = SECRETS[kind]
    language = "zh" if "Chinese" in kind else "en"
    record = named(memory, "Tuesdays")
    change = {"expected": record.version, "was": record.text, "do": "save", "text": text}
    if way == "conflict":
        memory.revise(record.id, "Deploys go out on Thursdays.")
    asked = next(p for p in memory.state().proposals.values() if "Releases" in p.text)
    path, form = {
        "add": ("lines", {"text": text, "kind": "fact"}),
        "group": ("lines", {"text": "The door is blue.", "kind": "fact", "group": text}),
        "edit": (f"line/{record.id}", change),
        "conflict": (f"line/{record.id}", change),
        "inbox": (f"inbox/{asked.id}", {"do": "accept", "asked": "Releases are cut from `main` only.", "text": text}),
    }[way]
    answer = page.post(HOME + path, data=form, headers={"accept-language": language})
    assert answer.status_code == (409 if way == "conflict" else 200)
    assert secret not in answer.text and secret not in str(answer.url)
    (note,) = re.findall(r'<p class="note careful" data-stay>(.*?)</p>', answer.text)
    (placeholder,) = re.findall(r"⟦secret:[^⟧]+⟧", note)
    assert ("A secret was replaced by" if language == "en" else "密钥已换成") in note
    assert secret.encode() not in everywhere(tmp_path, Path(os.environ["XDG_STATE_HOME"]))
    told = {f"{each.text} {each.group}" for each in memory.records() if placeholder in f"{each.text} {each.group}"}
    assert bool(told) == (way != "conflict"), "the placeholder of the note is the one that was written"


def test_an_address_cannot_make_the_page_tell_of_secrets_in_words_of_its_own(page: TestClient) -> None:
    shown = page.get(HOME, params={"replaced": "Call <b>555</b> ⟦secret:password#12ab⟧ ⟦secret:call me⟧"}).text
    (note,) = re.findall(r'<p class="note careful" data-stay>(.*?)</p>', shown)
    assert "⟦secret:password#12ab⟧:" in note and "555" not in note and "call me" not in note
    assert "data-stay" not in page.get(HOME, params={"replaced": "nothing"}).text


def test_what_a_person_does_on_the_page_is_told_as_that(page: TestClient, memory: OpenMemory) -> None:
    earlier = memory.add("Whatever a command wrote.")
    since = len(memory.history())
    page.post(f"{HOME}lines", data={"text": "The wiki is at wiki.local.", "kind": "fact"})
    record = named(memory, "wiki.local")
    for form in (
        {"do": "save", "text": "The wiki is at docs.local."},
        {"do": "pin"},
        {"do": "delete"},
        {"do": "restore"},
    ):
        version = memory.state().records[record.id].version
        assert page.post(f"{HOME}line/{record.id}", data={**form, "expected": version}).status_code == 200
    for question in list(memory.state().proposals):
        page.post(f"{HOME}inbox/{question}", data={"do": "accept"})
    path = f"{HOME}history/{memory.state().ordinal}/undo"
    assert page.post(path, data=fields(page.get(path).text, "Undo")).status_code == 200
    version = memory.state().records[record.id].version
    page.post(f"{HOME}line/{record.id}/forget", data={"expected": version})
    made = [commit for commit in memory.history() if commit["commit"] > since and commit["operations"]]
    assert len(made) >= 8 and {commit["actor"] for commit in made} == {"web"}
    assert memory.state().records[earlier.id].origin == "cli"
    for path in ("history", f"history/{since + 1}", f"line/{named(memory, 'cut from').id}"):
        assert "by a person on the page" in Outline(page.get(HOME + path).text).text
    assert "by command" in Outline(page.get(f"{HOME}history/{since}").text).text
    assert "由人在页面上" in page.get(f"{HOME}history", headers={"accept-language": "zh"}).text


def test_a_script_is_edited_on_the_page_or_the_page_says_that_it_is_one_line(
    page: TestClient, memory: OpenMemory, tmp_path: Path
) -> None:
    handbook = tmp_path / memory.layout.handbook
    text = handbook.read_text("utf-8")
    script = "- To release, run:\n\n  ```sh\n  make build\n  make ship\n  ```\n\n"
    handbook.write_text(text.replace("<!-- memory:", f"{script}<!-- memory:"), "utf-8")
    memory.adopt()
    for old, new, kept in (("release,", "release it,", True), ("build make", "build now make", False)):
        record = named(memory, "To release")
        words = record.text.replace(old, new)
        change = {"expected": record.version, "was": record.text, "do": "save", "text": words}
        answer = page.post(HOME + f"line/{record.id}", data=change, headers={"accept-language": "en"})
        assert ("Saved, as one line" in answer.text) is not kept
        assert ("  make build\n  make ship\n" in handbook.read_text("utf-8")) is kept
        assert named(memory, "To release").text == words


def test_what_a_person_changed_on_the_page_stays_when_what_was_before_is_undone(
    page: TestClient, memory: OpenMemory
) -> None:
    record = named(memory, "Tuesdays")
    number = next(c["commit"] for c in memory.history() if any(o["id"] == record.id for o in c["operations"]))
    change = {"expected": record.version, "do": "save", "text": "Deploys go out on Mondays."}
    page.post(f"{HOME}line/{record.id}", data=change)
    assert page.post(f"{HOME}history/{number}/undo").status_code == 409
    assert named(memory, "Mondays").id == record.id


@pytest.mark.parametrize("meanwhile", ["typed over", "typed over twice", "deleted", "typed over, then deleted"])
@pytest.mark.parametrize("do", ["save", "delete"])
def test_a_conflict_shows_what_stands_there_now_who_wrote_it_and_what_can_be_done(
    page: TestClient, memory: OpenMemory, tmp_path: Path, meanwhile: str, do: str
) -> None:
    record = next(r for r in memory.records() if r.text == "The staging port is 8443.")
    path = f"{HOME}line/{record.id}"
    handbook = tmp_path / "memories" / "MEMORY.md"
    now = record.text
    words = {"typed over twice": ["The canteen closes at noon.", "Lunch is served in the yard."]}
    for text in words.get(meanwhile, ["The canteen closes at noon."] if "over" in meanwhile else []):
        handbook.write_text(handbook.read_text(encoding="utf-8").replace(now, text), encoding="utf-8")
        memory.records()
        now = text
    if "deleted" in meanwhile:
        lines = handbook.read_text(encoding="utf-8").splitlines(keepends=True)
        handbook.write_text("".join(line for line in lines if now not in line), encoding="utf-8")
    old = memory.state().records[record.id]
    assert old.status is (Status.DELETED if meanwhile == "deleted" else Status.SUPERSEDED)
    mine = "The staging port is 5443."
    answer = page.post(path, data={"expected": record.version, "was": record.text, "do": do, "text": mine})
    assert answer.status_code == 409
    theirs, yours = re.findall(r"<section>(.*?)</section>", answer.text, re.DOTALL)[:2]
    assert now in Outline(theirs).text and "by hand" in Outline(theirs).text
    assert "Replaced" not in theirs and ("Deleted" in theirs) == ("deleted" in meanwhile)
    assert (record.text in Outline(theirs).text) == (now == record.text)
    # What the person then chooses is done to the line that stands there now.
    forms = [form["action"] for form in Outline(yours).of("form")]
    buttons = [button["value"] for button in Outline(yours).of("button")]
    if do == "delete" and "deleted" in meanwhile:
        assert buttons == []
        return
    fields = {each["name"]: each["value"] for each in Outline(yours).of("input")}
    choice = page.post(str(forms[0]), data={**fields, "do": str(buttons[0])})
    assert choice.status_code == 200
    standing = [each.text for each in memory.records()]
    assert now not in standing and (mine in standing) == (do == "save")


def test_words_that_came_after_a_conflict_was_shown_are_not_written_over(page: TestClient, memory: OpenMemory) -> None:
    """One edits, another deletes, a third brings it back in other words: the first is asked once more."""
    record = named(memory, "Tuesdays")
    path = f"{HOME}line/{record.id}"
    memory.delete(record.id)
    mine = {"text": "Deploys go out on Mondays.", "was": record.text}
    first = page.post(path, data={**mine, "expected": record.version, "do": "save"})
    assert first.status_code == 409
    memory.revise(memory.restore(record.id)[0].id, "Deploys go out when Carol says so.")
    second = page.post(path, data=fields(first.text, "restore"))
    assert second.status_code == 409 and "when Carol says so" in second.text and "on Mondays" in second.text
    assert memory.state().records[record.id].text == "Deploys go out when Carol says so."
    assert page.post(path, data=fields(second.text, "save")).status_code == 200
    assert memory.state().records[record.id].text == mine["text"]


@pytest.mark.parametrize("do", ["pin", "unpin", "restore", "put-back", "save", "delete"])
def test_no_form_of_a_line_acts_on_what_it_was_not_made_for(page: TestClient, memory: OpenMemory, do: str) -> None:
    record = named(memory, "Tuesdays")
    path = f"{HOME}line/{record.id}"
    if do in ("unpin", "put-back"):
        record = memory.revise(record.id, "Deploys go out on Sundays.", pinned=do == "unpin")
    if do == "restore":
        memory.delete(record.id)
    form = fields(page.get(path).text, do) | ({"text": "Deploys are over."} if do == "save" else {})
    if do == "restore":
        memory.restore(record.id)
    memory.revise(record.id, "Ask Carol about deploys.")
    if do == "restore":
        memory.delete(record.id)
    before = memory.state().records[record.id]
    answer = page.post(path, data=form)
    assert answer.status_code == 409 and "Ask Carol" in answer.text and record.text in answer.text
    assert memory.state().records[record.id] == before
    assert 'value=""' not in fields(answer.text, do).values() and fields(answer.text, do)["expected"] == str(
        before.version
    )
    assert page.post(path, data=fields(answer.text, do)).status_code == 200
    after = memory.state().records[record.id]
    assert after != before and (after.text == before.text) == (do not in ("save", "put-back"))


def test_a_question_that_was_changed_meanwhile_is_not_answered(page: TestClient, memory: OpenMemory) -> None:
    def form() -> dict[str, str]:
        return fields(page.get(f"{HOME}inbox").text, "accept")

    asked = memory.inbox()[0]
    seen = form()
    assert seen["question"] == asked.question
    inbox = memory.pipeline.store.workspace.root / "memories" / "INBOX.md"
    inbox.write_text(inbox.read_text(encoding="utf-8").replace("`main` only", "a tag"), encoding="utf-8")
    answer = page.post(f"{HOME}inbox/{asked.id}", data=seen)
    assert answer.status_code == 409 and "cut from a tag" in Outline(answer.text).text
    assert asked.id in {each.id for each in memory.inbox()}
    assert page.post(f"{HOME}inbox/{asked.id}", data=form()).status_code == 200
    assert named(memory, "cut from a tag") and asked.id not in {each.id for each in memory.inbox()}
