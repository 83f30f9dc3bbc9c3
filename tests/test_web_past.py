"""The page looks back: to a minute in this machine's zone, and to a commit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sandbox_memory.pipeline import commands

from .kit import pipeline, run
from .web_kit import HOME, Outline, client_of


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
        ("compare", {"from": "2026-11-20T18:05"}, ["The second.", "The third."], ["The first."]),
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
