"""The command line: what a person reads, what a program reads, and how it ends.

`python -m tests.test_cli` writes tests/golden/help.txt anew.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from typer.main import get_command
from typer.testing import CliRunner

from sandbox_memory import MemoryGenerateConfig, open_memory
from sandbox_memory.doors import plain
from sandbox_memory.doors.cli import main
from sandbox_memory.doors.cli.app import app
from sandbox_memory.doors.cli.helped import ORDER
from sandbox_memory.doors.cli.places import find, of_file
from sandbox_memory.doors.cli.screen import listed, many, safe, size, when, wrapped
from sandbox_memory.errors import ModelError
from sandbox_memory.models import Answer, ConsolidationDraft, ConsolidationMaterial, DraftOperation
from sandbox_memory.records import Usage

from .kit import EchoModel, handbook, pipeline, process, run, said, tell

GOLDEN = Path(__file__).parent / "golden" / "help.txt"
COMMANDS = tuple(get_command(app).list_commands(None))
PORT = "the staging port is 8443"
NEW_PORT = "the staging port is 9443 now"
REVIEW = "我总是自己检查数据库迁移，请不要跳过这一步，也不要在没有我同意的情况下合并到主分支。"


def runner() -> CliRunner:
    try:
        return CliRunner(mix_stderr=False)  # as newer ones do without being asked
    except TypeError:
        return CliRunner()


def sm(*words: object, code: int = 0, env: dict[str, str] | None = None) -> Any:
    """Run a command in this process; `result.stdout` is what a pipe would get."""
    result = runner().invoke(app, [str(word) for word in words], env=env, prog_name="sandbox-memory")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, f"{words} ended with {result.exit_code}\n{result.stdout}\n{result.stderr}"
    return result


def of(*words: object, code: int = 0) -> Any:
    """The JSON document that a command writes, which is all that it writes."""
    result = sm(*words, "--json", code=code)
    assert result.stderr == ""
    return json.loads(result.stdout)


class Replacing(EchoModel):
    """As `EchoModel`, but what it learns takes the place of the one record that it touches."""

    async def answer(self, request: Any) -> Answer[Any]:
        if isinstance(request.material, ConsolidationMaterial) and request.material.records:
            operation = DraftOperation(op="supersede", candidates=["c1"], records=["r1"])
            return Answer(ConsolidationDraft(operations=[operation]), Usage(1, 20, 5))
        return await super().answer(request)


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of two conversations and two memories."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    tell(folder, PORT, rollout="ports")
    tell(folder, REVIEW, rollout="reviews")
    process(folder)
    return folder


def ids(root: Path) -> dict[str, str]:
    with open_memory(root) as memory:
        return {record.text: record.id for record in memory.records()}


def line_of(root: Path, text: str) -> int:
    lines = handbook(root).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


# ---- help


def helps() -> str:
    each = [["--help"], *([command, "--help"] for command in COMMANDS)]
    pages = [runner().invoke(app, words, prog_name="sandbox-memory").stdout.rstrip("\n") for words in each]
    return "\n\n".join(pages) + "\n"


def test_help_is_the_golden_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert helps() == GOLDEN.read_text(encoding="utf-8"), "if this is meant: python -m tests.test_cli"


def test_every_command_has_an_example_that_is_valid() -> None:
    text = GOLDEN.read_text(encoding="utf-8")
    examples = re.findall(r"^Examples?:\n  sandbox-memory (\w+)", text, re.MULTILINE)
    assert set(examples) == set(COMMANDS) == set(ORDER), "and each has its place in the list"


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_help_fits_and_nothing_of_it_is_cut_or_broken(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = re.sub(r"\\\n", " ", helps())
    monkeypatch.setenv("COLUMNS", str(columns))
    narrow = helps()
    assert max(map(cell_len, narrow.splitlines())) <= columns and not re.search(r"[a-z,;]\.\.\.", narrow)
    assert re.sub(r"\\\n", " ", narrow).split() == wide.split(), "the same words in the same order, none of them broken"
    for page in narrow.split("\nUsage: ")[1:]:
        for shown in re.split(r"^Examples?:\n", page, flags=re.MULTILINE)[1].replace("\\\n", "").splitlines():
            if shown.strip():
                assert shlex.split(shown)[0] == "sandbox-memory", "what is on two lines is still one command"
        for option in re.findall(r"^  (--?\S.*)$", page.partition("\nOptions:\n")[2], re.MULTILINE):
            assert re.fullmatch(r"(-\w, )?--[\w-]+( / --[\w-]+)?( [A-Z][\w|:]*| 0\.\.1)?( {2,}\S.*)?", option)


def test_version() -> None:
    assert re.fullmatch(r"sandbox-memory \d+\.\d+\.\d+\S*\n", sm("--version").stdout)


def test_wrong_use_ends_with_2_and_says_how(root: Path) -> None:
    assert "--help" in sm("status", root, "--nonsense", code=2).stderr.replace("-h'", "--help'")
    assert "TEXT" in sm("add", code=2).stderr
    assert "coding, default, gtm" in sm("process", root, "--preset", "none", code=2).stderr
    assert "error: layout.memories_dir must not escape root" in sm("show", root, "--memories", "../x", code=2).stderr


# ---- process


def test_process_reports_what_it_did_and_where_to_look(tmp_path: Path) -> None:
    tell(tmp_path, "I always prefer small pull requests")
    result = sm("process", tmp_path, "--model", "offline")
    assert "Read 1 transcript with the offline model in " in result.stdout
    assert "1 memory added" in result.stdout
    assert str(handbook(tmp_path)) in result.stdout
    assert f"sandbox-memory show {tmp_path}" in result.stdout
    assert result.stderr == ""
    again = sm("process", tmp_path, "--model", "offline")
    assert "Nothing new: the one transcript was read before." in again.stdout


def test_process_tells_refusals_when_asked(root: Path) -> None:
    tell(root, "I prefer tabs", rollout="tabs")
    sm("process", root, "--model", "offline")
    short = sm("process", root, "--model", "offline", "--again").stdout
    assert "said nothing new" in short and "--verbose" in short and "it is known already" not in short
    summary = root / "memories" / "memory_summary.md"
    answer = f"I see: {PORT[0].lower()}{PORT[1:]}"
    run(pipeline(root).record(said("Which port is it?", rollout="told", answer=answer)))
    quiet = sm("process", root, "--model", "offline", "--again")
    assert "refused" not in quiet.stderr and summary.is_file(), "what is refused is told once, and on the screen"
    assert quiet.stderr == sm("process", root, "--model", "offline", "--again", "-v").stderr
    assert "it is known already" in sm("process", root, "--model", "offline", "--again", "-v").stdout
    whole = sm("process", root, "--model", "offline", "--again", "-v").stdout.splitlines()
    heads = [n for n, line in enumerate(whole) if re.match(r"  \d+ candidates? (said|refused)", line)]
    for start, end in zip(heads, [*heads[1:], whole.index("", heads[-1])], strict=True):
        times = [re.search(r"\((\d+) times\)$", line) for line in whole[start + 1 : end]]
        assert int(whole[start].split()[0]) == sum(int(found[1]) if found else 1 for found in times), "each is counted"
    document = of("process", root, "--model", "offline", "--again")
    assert document["refused"] and {"what", "why"} == set(document["refused"][0])


def test_process_without_a_usable_model_says_why_and_what_to_do(tmp_path: Path) -> None:
    tell(tmp_path, PORT, rollout="a")
    tell(tmp_path, PORT, rollout="b")
    result = sm("process", tmp_path, code=1)
    assert result.stdout.count("cannot be used") == 1, "one cause, said once"
    assert "OPENAI_API_KEY" in result.stdout
    assert "Left pending" in result.stdout and "a (" in result.stdout and "b (" in result.stdout
    assert f"sandbox-memory process {tmp_path} --model offline" in result.stdout
    assert "phase_one_model" not in result.stdout
    assert result.stderr == "", "the report has said it all"
    assert "cannot be used" in sm("status", tmp_path).stdout
    document = of("process", tmp_path, code=1)
    assert document["ok"] is False and set(document["failed"]) == {"a", "b"}
    assert all("OPENAI_API_KEY" in entry["cause"] for entry in document["pending"])
    sm("process", tmp_path, "--model", "offline")


def test_process_with_a_preset_uses_its_folders_or_those_that_are_there(tmp_path: Path) -> None:
    own, usual = tmp_path / "own", tmp_path / "usual"
    own.mkdir()
    usual.mkdir()
    tell(usual, "I always prefer small pull requests")
    assert of("process", usual, "--preset", "coding", "--model", "offline")["memories_dir"] == "memories"
    assert of("status", usual)["preset"] == "coding"
    document = of("process", own, "--preset", "coding", "--model", "offline")
    assert (document["memories_dir"], document["sessions_dir"]) == ("memories/coding", "sessions/coding")


def test_process_can_be_interrupted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plain.OpenMemory, "process", interrupted)
    assert sm("process", root, code=130).stderr.startswith("error: interrupted. What was done is kept")


# ---- status, show, history


def test_status_names_what_is_pending_asked_open_and_unusable(root: Path) -> None:
    tell(root, "a new one", rollout="later")
    (root / "memories" / "memory_summary.md").unlink()
    (root / "memories" / "memory_summary.md").mkdir()
    (root / "memories" / ".open").mkdir(exist_ok=True)
    (root / "memories" / ".open" / f"other.1.{int(time.time())}.x").write_bytes(b"open\n")
    result = sm("status", root)
    said = result.stdout
    assert re.search(r"memories +2: 2 facts", said)
    assert re.search(r"transcripts +3 in sessions/", said)
    assert re.search(r"to read +1 transcript, \d+ bytes", said) and re.search(r"later \(\d+ bytes\)", said)
    assert "1 agent session is open" in said
    assert "memories/memory_summary.md" in said and "left alone" in said
    assert result.stderr.count("memories/memory_summary.md") <= 1


def test_status_shows_the_questions_of_the_inbox(root: Path) -> None:
    sm("add", "the port is 1", "--workspace", root)
    for number in range(8):
        sm("add", f"note number {number}", "--workspace", root)
    kept = [line for line in handbook(root).read_text(encoding="utf-8").splitlines() if "note number" not in line]
    handbook(root).write_text("\n".join(kept) + "\n", encoding="utf-8")
    said = sm("status", root).stdout
    assert re.search(r"inbox +\d questions? for you", said) and "INBOX.md" in said
    assert of("status", root)["inbox"]


def test_status_tells_why_consolidation_waits(tmp_path: Path) -> None:
    class Failing(EchoModel):
        async def answer(self, request: Any) -> Answer[Any]:
            if isinstance(request.material, ConsolidationMaterial):
                raise ModelError("the model is on holiday")
            return await super().answer(request)

    tell(tmp_path, PORT, rollout="ports")
    process(tmp_path, Failing())
    said = sm("status", tmp_path).stdout
    assert re.search(r"to take in +1 memory from transcripts that are read\n +ports \(1\)\n", said)
    assert "the model is on holiday (2 tries, the last 20" in said
    assert "sandbox-memory process" in sm("show", tmp_path).stdout
    assert "Took in what was read before" in sm("process", tmp_path, "--model", "offline").stdout
    assert "holiday" not in sm("status", tmp_path).stdout


def test_show_lists_the_file_in_its_order(root: Path) -> None:
    sm("add", "deploys go out on Tuesday", "--group", "Operations", "--kind", "procedure", "--workspace", root)
    said = sm("show", root).stdout
    known = ids(root)
    assert [line for line in said.splitlines() if line and not line.startswith(" ")] == ["Notes", "Operations"]
    assert f"    {known[PORT]}  {PORT}\n                  fact · user · from ports\n" in said
    assert f"    {known[REVIEW]}  {REVIEW}\n" in said
    assert "procedure · hand, protected" in said
    document = of("show", root)
    assert [r["line"] for r in document["records"]] == sorted(r["line"] for r in document["records"])
    first = document["records"][0]
    assert first["text"] == PORT and first["support"] == ["ports"] and first["quotes"][0]["quote"] == PORT
    assert first["line"] == line_of(root, PORT)


def test_show_all_tells_what_is_out_of_sight_and_why(root: Path) -> None:
    tell(root, NEW_PORT, rollout="ports")
    process(root, Replacing())
    known = ids(root)
    sm("add", "a line to delete", "--workspace", root)
    lines = handbook(root).read_text(encoding="utf-8").splitlines(keepends=True)
    handbook(root).write_text("".join(line for line in lines if "a line to delete" not in line), encoding="utf-8")
    secret = of("add", "a line to forget", "--workspace", root)["record"]["id"]
    sm("forget", secret, "--yes", "--workspace", root)
    process(root, generate=MemoryGenerateConfig(max_raw_memories=1))
    short, whole = sm("show", root).stdout, sm("show", root, "--all").stdout
    assert REVIEW not in short and "a line to delete" not in whole.split("Superseded")[0]
    parts = re.split(r"\n\n(?=\S)", whole)
    titles = [part.splitlines()[0] for part in parts[1:]]
    assert titles == [
        "Only older conversations than the newest 1 speak of these",
        "Superseded",
        "Deleted",
        "Forgotten",
    ]
    assert REVIEW in parts[1]
    assert PORT in parts[2] and f"superseded by {known[NEW_PORT]}" in parts[2]
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d", parts[2])
    assert "a line to delete" in parts[3]
    assert "a line to forget" not in whole and secret in parts[4]
    states = {record["text"]: record["status"] for record in of("show", root, "--all")["records"]}
    assert states[PORT] == "superseded" and states[""] == "forgotten" and states["a line to delete"] == "deleted"
    assert {record["status"] for record in of("show", root)["records"]} == {"active"}


def test_show_on_an_empty_workspace_says_what_to_do(tmp_path: Path) -> None:
    assert "sandbox-memory add --workspace" in sm("show", tmp_path).stdout
    tell(tmp_path, PORT)
    said = sm("show", tmp_path).stdout
    assert "1 transcript waits in sessions/" in said and f"sandbox-memory process {tmp_path} --model offline" in said
    assert of("show", tmp_path)["records"] == []


def test_history_is_newest_first_and_can_be_cut(root: Path) -> None:
    sm("add", "deploys go out on Tuesday", "--workspace", root)
    said = sm("history", root, "--all").stdout
    heads = [int(line.split()[0]) for line in said.splitlines() if line[:1].isdigit()]
    assert heads == sorted(heads, reverse=True) and heads[-1] == 1
    assert "by command" in said.splitlines()[0]
    assert re.search(rf"added +{ids(root)[PORT]}  {PORT}", said)
    short = sm("history", root, "-n", "1").stdout
    assert PORT not in short and "older commits left out" in short
    document = of("history", root, "-n", "2")
    assert len(document["commits"]) == 2 and document["total"] == heads[0]


# ---- why


def test_why_shows_who_said_it_where_and_that_it_stands_there(root: Path) -> None:
    said = sm("why", ids(root)[PORT], "--workspace", root).stdout
    assert said.splitlines()[0] == PORT
    assert "user: the user said it in a run" in said
    assert f"{handbook(root)}:{line_of(root, PORT)}" in said
    assert "1 quote, which stands where it says" in said
    assert "sessions/ports.jsonl:1" in said and f"“{PORT}”" in said
    assert re.search(r"History\n  \d{4}-\d\d-\d\d \d\d:\d\d  added from conversations", said)


def test_why_takes_a_line_of_a_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"MEMORY.md:{line_of(root, PORT)}"
    monkeypatch.chdir(root / "memories" / "raw_memories")
    wanted = ids(root)[PORT]
    assert of("why", place)["record"]["id"] == wanted
    assert of("why", f"../{place}")["record"]["id"] == wanted
    monkeypatch.chdir(root.parent)
    assert of("why", handbook(root).parent / place)["record"]["id"] == wanted
    assert of("why", f"memories/{place}", "--workspace", root)["record"]["id"] == wanted
    assert "belongs to no list item" in sm("why", "MEMORY.md:1", "--workspace", root, code=1).stderr


def test_why_takes_words_of_a_line(root: Path) -> None:
    assert of("why", "STAGING 8443", "--workspace", root)["record"]["text"] == PORT
    assert "no line says “443 nowhere”" in sm("why", "443 nowhere", "--workspace", root, code=1).stderr
    sm("add", "the staging host is db-7", "--workspace", root)
    several = sm("why", "staging", "--workspace", root, code=1).stderr
    assert "2 lines say “staging”; name one of these by its id" in several
    listed = dict(line.split(maxsplit=1) for line in several.splitlines()[1:])
    assert listed == {ids(root)[text]: text for text in (PORT, "the staging host is db-7")}, "one a line"
    named = of("why", "staging", "--workspace", root, code=1)["error"]["lines"]
    assert {each["id"]: each["text"] for each in named} == listed


def test_why_names_the_nearest_lines_where_none_has_the_words(root: Path) -> None:
    known, host = ids(root), of("add", "测试环境的主机是 db-7", "--workspace", root)["record"]["id"]
    for words, id in (("which port does staging use", known[PORT]), ("测试环境在哪里", host)):
        failed = sm("why", words, "--workspace", root, code=1, env={"COLUMNS": "60"}).stderr
        assert "name one of the nearest by its id" in " ".join(failed.split()) and f"  {id}  " in failed
        assert all(cell_len(line) <= 60 for line in failed.splitlines())
        error = of("why", words, "--workspace", root, code=1)["error"]
        assert error["lines"][0] == {"id": id, "text": next(t for t, i in ids(root).items() if i == id), "how": None}
    for words in ("zebra crossing", "怎么办", "at 10:30"):
        assert "lines" not in of("why", words, "--workspace", root, code=1)["error"], words
    sm("delete", known[PORT], "--workspace", root)
    assert f"{PORT}  (deleted)" in sm("why", "which port does staging use", "--workspace", root, code=1).stderr


def test_why_takes_words_of_lines_that_are_gone_and_words_that_a_line_had(root: Path) -> None:
    id = ids(root)[PORT]
    sm("edit", id, "staging listens on 9443", "--workspace", root)
    told = sm("why", PORT, "--workspace", root).stdout
    assert told.startswith("staging listens on 9443\n") and f"restore {id} --as-of" in told
    other = of("add", "8443 is what staging had", "--workspace", root)["record"]["id"]
    assert of("why", "8443", "--workspace", root)["record"]["id"] == other, "what stands there comes first"
    sm("delete", id, other, "--workspace", root)
    assert of("why", "9443", "--workspace", root)["record"]["status"] == "deleted"
    sm("forget", id, "--yes", "--workspace", root)
    assert "lines" not in of("why", "listens port 9443", "--workspace", root, code=1)["error"]


def test_why_on_a_line_of_the_summary_names_that_line_and_the_one_it_comes_from(root: Path) -> None:
    summary = root / "memories" / "memory_summary.md"
    number = next(n for n, line in enumerate(summary.read_text(encoding="utf-8").splitlines(), 1) if PORT in line)
    told = sm("why", f"{summary}:{number}", "--workspace", root).stdout
    assert f"{summary}:{number}, told from {handbook(root)}:{line_of(root, PORT)}" in told
    document = of("why", f"memory_summary.md:{number}", "--workspace", root)
    assert document["asked"] == {"file": "memories/memory_summary.md", "line": number}
    assert "asked" not in of("why", f"MEMORY.md:{line_of(root, PORT)}", "--workspace", root)


def test_why_shows_a_few_of_very_many_quotes_and_counts_the_others(tmp_path: Path) -> None:
    for n in range(12):
        tell(tmp_path, PORT, rollout=f"chat-{n:02}")
    process(tmp_path)
    id = ids(tmp_path)[PORT]
    (tmp_path / "sessions" / "chat-07.jsonl").unlink()
    shown = sm("why", id, "--workspace", tmp_path).stdout
    assert "12 quotes, 1 of which does not stand where it says" in shown
    assert shown.count(f"“{PORT}”") == 5
    assert "chat-07.jsonl" in shown, "what is wrong is always shown"
    assert "and 7 more quotes from 7 more conversations; `--json` has each" in shown
    assert len(of("why", id, "--workspace", tmp_path)["receipts"]) == 12


def test_why_tells_of_what_was_superseded_with_both_dates(root: Path) -> None:
    old = ids(root)[PORT]
    tell(root, NEW_PORT, rollout="ports")
    process(root, Replacing())
    new = ids(root)[NEW_PORT]
    said = sm("why", old, "--workspace", root).stdout
    assert re.search(rf"no file since \S+ \S+: superseded by {new} “{NEW_PORT}”", said)
    assert re.search(rf"replaced by {new}: {NEW_PORT}", said)
    later = sm("why", new, "--workspace", root).stdout
    assert re.search(rf"replaced +{old} {PORT} \(\d{{4}}-\S+ \S+ to \d{{4}}-\S+ \S+\)", later)
    document = of("why", old, "--workspace", root)
    assert document["superseded_by"]["id"] == new and document["record"]["status"] == "superseded"
    assert [each["id"] for each in of("why", new, "--workspace", root)["replaced"]] == [old]
    (again,) = re.findall(r"`sandbox-memory (edit .*)` makes it say that again", later)
    sm(*shlex.split(again))
    assert PORT in ids(root) and NEW_PORT not in ids(root)


def test_why_looks_the_quotes_up_now(root: Path) -> None:
    path = root / "sessions" / "ports.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("8443", "1111"), encoding="utf-8")
    said = sm("why", ids(root)[PORT], "--workspace", root).stdout
    assert "1 quote, which does not stand where it says" in said and "the quote does not stand there" in said
    path.unlink()
    receipt = of("why", ids(root)[PORT], "--workspace", root)["receipts"][0]
    assert receipt["verdict"] == "its transcript is not kept" and receipt["stands"] is False


def test_why_shows_the_words_around_a_quote(tmp_path: Path) -> None:
    tell(tmp_path, "Good morning.\nPlease note: I always prefer small pull requests, as you know.\nBye.")
    sm("process", tmp_path, "--model", "offline")
    with open_memory(tmp_path) as memory:
        (record,) = memory.records()
    receipt = of("why", record.id, "--workspace", tmp_path)["receipts"][0]
    assert receipt["before"] + receipt["quote"] + receipt["after"] in (
        "Please note: I always prefer small pull requests, as you know.",
        "I always prefer small pull requests, as you know.",
    )
    assert receipt["at"].startswith("20") and receipt["line"] == 1


def test_an_id_that_no_record_has(root: Path) -> None:
    for words in (["why", "m-0123456789"], ["forget", "m-0123456789", "--yes"]):
        result = sm(*words, "--workspace", root, code=1)
        assert result.stderr.startswith("error: there is no record m-0123456789; ") and result.stdout == ""
        assert result.stderr.count("\n") == 1


# ---- add, forget


def test_add_says_where_it_went(root: Path) -> None:
    said = sm("add", REVIEW[:12], "--kind", "preference", "--group", "评审", "--workspace", root).stdout
    assert REVIEW[:12] in said
    id = said.split()[0]
    number = of("why", id, "--workspace", root)["record"]["line"]
    assert f"remembered in {handbook(root)}:{number} under 评审 › User preferences" in said
    changed = " ".join(sm("edit", id, "改过了", "--workspace", root).stdout.split())
    assert f"changed, in {handbook(root)}:{line_of(root, '改过了')} under 评审" in changed
    document = of("add", "一行", "--workspace", root)
    assert document["record"]["trust"] == "hand" and document["record"]["line"] == line_of(root, "一行")
    assert sm("add", "  ", "--workspace", root, code=1).stderr.startswith("error: there is nothing to remember")


@pytest.mark.parametrize(
    ("zone", "expires", "ends"),
    [
        ("Asia/Shanghai", "2099-12-31", "2099-12-31 23:59:59 CST"),
        ("America/New_York", "2099-12-31T18:00", "2099-12-31 18:00:00 EST"),
        ("America/New_York", "2099-12-31T18:00Z", "2099-12-31 13:00:00 EST"),
        ("UTC", "20991231", "2099-12-31 23:59:59 UTC"),
    ],
)
def test_when_a_line_expires_is_said_to_the_second_and_in_which_zone(
    root: Path, monkeypatch: pytest.MonkeyPatch, zone: str, expires: str, ends: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    said = sm("add", "The freeze is on.", "--expires", expires, "--workspace", root).stdout
    assert f"expires {ends}" in said
    assert f"expires      {ends}" in sm("why", said.split()[0], "--workspace", root).stdout


def test_a_day_that_is_over_is_refused_with_its_end_and_the_time_now(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    failed = sm("add", "The freeze is on.", "--expires", "2020-11-30", "--workspace", root, code=2).stderr
    assert "it would have expired already, 2020-11-30 23:59:59 EST; it is " in failed
    for day in ("9999-12-31", "0000-01-01"):
        failed = sm("add", "The freeze is on.", "--expires", day, "--workspace", root, code=2).stderr
        assert ("beyond the calendar" if day[0] == "9" else "is no date or time") in failed


def test_forget_wants_a_yes(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    known = ids(root)
    refused = sm("forget", known[PORT], "--workspace", root, code=2).stderr
    assert f"`sandbox-memory forget {known[PORT]} --yes --workspace {root}` erases it" in refused
    look = re.findall("`sandbox-memory ([^`]*)` shows", refused)
    assert PORT in sm(*shlex.split(look[0])).stdout and PORT in ids(root)

    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    for answer, code in (("n\n", 1), ("y\n", 0)):
        assert PORT in handbook(root).read_text(encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", Keyboard(answer))
        with pytest.raises(SystemExit) as ended:
            main(["forget", known[PORT], "--workspace", str(root)])
        assert ended.value.code == code
    said = capsys.readouterr().out
    assert PORT in said and "Erase it for good?" in said and "1 memory erased" in said
    assert PORT not in handbook(root).read_text(encoding="utf-8")
    for words, told in (
        (["--text", "a b", "--receipt", "it's.json"], """--text 'a b' --receipt 'it'"'"'s.json' --yes --workspace"""),
        (["--user", "mia li"], "--user 'mia li' --yes --workspace"),
        ([known[REVIEW], "--user=mia"], f"forget {known[REVIEW]} --yes --workspace {root} --user=mia` erases it"),
    ):
        assert told in sm("forget", *words, "--workspace", root, code=2).stderr
    document = of("forget", f"^{known[REVIEW]}", "--yes", "--workspace", root)
    assert [record["text"] for record in document["forgotten"]] == [REVIEW]
    assert "(its words are erased)" in sm("why", known[PORT], "--workspace", root).stdout


# ---- check, layouts, demo


def test_check_verifies_or_ends_with_1(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert "Everything verifies." in sm("check", root).stdout
    assert of("check", root)["ok"] is True
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    ledger = root / "memories" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"8443", b"1111"))
    result = sm("check", root, code=1)
    assert "not verify." in result.stdout and "memories/ledger.jsonl:" in result.stdout
    document = of("check", root, code=1)
    assert document["ok"] is False and document["findings"]


def test_check_counts_what_is_too_much_to_tell(root: Path) -> None:
    for number in range(12):
        tell(root, f"note {number}", rollout="ports")
    path = root / "sessions" / "ports.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("note ", "nose "), encoding="utf-8")
    said = sm("check", root, code=1).stdout
    assert "and 4 more of this kind" in said
    found = [each["kind"] for each in of("check", root, code=1)["findings"]]
    assert found.count("forged") == 12 and found.count("cut") == 1 == len(found) - 12


def test_layouts_are_listed() -> None:
    said = sm("layouts").stdout
    assert [line for line in said.splitlines() if line and line[0] != " "] == ["coding", "default", "gtm", "support"]
    names = [preset["name"] for preset in of("layouts")["layouts"]]
    assert names == ["coding", "default", "gtm", "support"]


def test_demo_is_called_with_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox_memory.doors import demo

    called: list[str | None] = []

    def story(model: str | None) -> int:
        called.append(model)
        print("Once upon a time", flush=True)
        return 3

    monkeypatch.setattr(demo, "main", story)
    assert "Once" in sm("demo", code=3).stdout
    result = sm("demo", "--model", "gpt", "--json", code=3)
    assert json.loads(result.stdout) == {"model": "gpt", "ok": False, "exit_code": 3} and "Once" in result.stderr
    assert called == [None, "gpt"]


# ---- which workspace


def test_the_workspace_is_found_from_inside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = root / "src" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert find(None).root == root
    said = sm("show").stdout
    assert PORT in said
    monkeypatch.chdir(root)
    assert "  memories/MEMORY.md" in sm("process", "--model", "offline").stdout
    assert "sandbox-memory show  " in sm("process", "--model", "offline").stdout


def test_without_a_workspace_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("process", "status", "show", "history", "check", "inbox", "rebuild"):
        result = sm(*command.split(), code=2)
        assert result.stdout == "" and f"`sandbox-memory {command} PATH`" in result.stderr
    for command, names in (("why x", ""), ("forget x", ""), ("pin x", " ID..."), ("undo 1", " COMMIT...")):
        result = sm(*command.split(), code=2)
        assert f"`sandbox-memory {command.split()[0]}{names} --workspace PATH`" in result.stderr
        assert "--workspace ." not in result.stderr
    said = sm("add", "x", code=2).stderr
    assert "`sandbox-memory add TEXT --workspace PATH`" in said and "`sandbox-memory add TEXT --workspace .`" in said
    assert "there is no folder" in sm("show", tmp_path / "none", code=2).stderr
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "is a file; name its workspace" in sm("show", tmp_path / "file", code=2).stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "file"], "nothing was made"


def test_a_memory_folder_is_no_workspace(root: Path) -> None:
    for folder in ("memories", "sessions"):
        result = sm("show", root / folder, code=2)
        assert f"name the workspace that it is in: {root}" in result.stderr


def test_the_only_memory_of_a_workspace_is_meant_and_of_several_none(tmp_path: Path) -> None:
    for name in ("gtm", "coding"):
        with open_memory(tmp_path, memories_dir=f"memories/{name}") as memory:
            memory.add(f"about {name}")
        if name == "gtm":
            assert "about gtm" in sm("show", tmp_path).stdout
    assert "--memories memories/coding" in sm("show", tmp_path, code=2).stderr
    assert "about gtm" in sm("show", tmp_path, "--memories", "memories/gtm").stdout
    place = of_file(f"{tmp_path}/memories/gtm/MEMORY.md:5")
    assert place == (tmp_path, "memories/gtm", "MEMORY.md:5")


def test_an_empty_memory_names_the_others(tmp_path: Path) -> None:
    (tmp_path / "sessions" / "gtm").mkdir(parents=True)
    (tmp_path / "sessions" / "gtm" / "a.jsonl").write_bytes(b"")
    said = sm("process", tmp_path, "--model", "offline").stdout
    assert f"sandbox-memory process {tmp_path} --memories memories/gtm --sessions sessions/gtm" in said


def test_a_memory_may_have_any_folder(tmp_path: Path) -> None:
    document = of("add", "a note", "--workspace", tmp_path, "--memories", "notes")
    assert (document["memories_dir"], document["sessions_dir"]) == ("notes", "sessions")


# ---- errors


def test_a_fault_keeps_its_traceback(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(plain, "open_memory", fault)
    with pytest.raises(ZeroDivisionError):
        sm("show", root)


def test_a_ledger_that_cannot_be_read_is_one_line(root: Path) -> None:
    ledger = root / "memories" / "ledger.jsonl"
    ledger.unlink()
    ledger.mkdir()
    result = sm("status", root, code=1)
    assert result.stderr.startswith("error: memories/ledger.jsonl: ") and "Traceback" not in result.stderr


# ---- the screen


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_nothing_is_wider_than_the_terminal_and_nothing_is_cut(root: Path, columns: int) -> None:
    sm("add", "a" * 150 + " " + "a path /with/a/rather/long/name.txt " * 9, "--workspace", root)
    tell(root, NEW_PORT, rollout="ports")
    process(root, Replacing())
    env = {"COLUMNS": str(columns)}
    known = ids(root)
    outputs = [sm(*words, env=env).stdout for words in (["show", root, "--all"], ["history", root], ["status", root])]
    outputs += [sm("why", known[text], "--workspace", root, env=env).stdout for text in (NEW_PORT, REVIEW)]
    outputs += [sm("check", root, env=env).stdout, sm("layouts", env=env).stdout]
    for output in outputs:
        for line in output.splitlines():
            if cell_len(line) > columns:
                assert " " not in re.sub("`[^`]*`", "", line.strip()), "only what cannot be broken may be too wide"
    bare = re.sub(r"\s", "", outputs[0])
    assert REVIEW in bare and "a" * 150 in bare and "name.txtapath" in bare


def test_into_a_pipe_a_text_is_one_line_without_colour(root: Path) -> None:
    long = "a rather long line " * 20
    sm("add", long, "--workspace", root)
    said = sm("show", root).stdout
    assert any(long.strip() in line for line in said.splitlines())
    assert "\x1b" not in said


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("no_color", [False, True])
def test_colour_is_for_terminals(root: Path, monkeypatch: pytest.MonkeyPatch, no_color: bool) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    screen = Terminal(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", screen)
    with pytest.raises(SystemExit):
        main(["show", str(root)])
    screen.flush()
    said = screen.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", said)) is not no_color
    assert PORT in said


def test_a_text_cannot_act_on_the_terminal(root: Path) -> None:
    with open_memory(root) as memory:
        memory.add("ring \x07 the bell, \x9b31m red, turn \u202e round")
    path = root / "sessions" / "ports.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace(PORT, PORT + " \\u001b[2J"), encoding="utf-8")
    for words in (["show", root], ["history", root], ["why", ids(root)[PORT], "--workspace", root]):
        said = sm(*words).stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)


def test_a_text_that_the_output_cannot_encode_is_no_failure(root: Path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [sys.executable, "-m", "sandbox_memory", "show", str(root), "--json"]
    done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=50)
    assert json.loads(done.stdout.decode("ascii"))["records"][1]["text"] == REVIEW


def test_a_reader_that_goes_away_is_no_failure(root: Path) -> None:
    for number in range(40):
        tell(root, f"note {number} " + "x" * 4000, rollout="long")
    process(root)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "sandbox_memory", "show", str(root)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=50)
    os.close(writing)
    assert b"Traceback" not in done.stderr and done.stderr == b""


@given(
    st.text(st.sampled_from("ab c，。（）“”用户检查 \u0301ｗ🙂/-"), max_size=120),
    st.integers(10, 50),
    st.integers(0, 9),
)
@example("aaaa。。”a/", 10, 0)
@example("用户检查ab/-ab，", 10, 9)
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int, hang: int) -> None:
    lines = [line.plain for line in wrapped(Text(text), width, hang)]
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", text)
    room = max(width, hang + 8)
    for number, line in enumerate(lines):
        alone = not re.search(r"[ ，。（）“”用户检查ｗ]", line)
        assert alone or cell_len(line) <= (room - hang if number else room)
    for word in re.findall(r"[ab/-]+", text):
        assert any(word in line for line in lines), "no word is broken"


def test_wrapping_keeps_words_and_marks_together() -> None:
    lines = [line.plain for line in wrapped(Text("先跑测试，再提交（不要跳过）。"), 10, 0)]
    assert lines == ["先跑测试，", "再提交（不", "要跳过）。"]
    assert [line.plain for line in wrapped(Text("one two three"), 9, 2)] == ["one two", "three"]


def test_small_words() -> None:
    assert size(812) == "812 bytes" and size(12_300) == "12.3 kB"
    assert many(1, "memory", "memories") == "1 memory" and many(1204, "record") == "1,204 records"
    assert [listed([]), listed("a"), listed("ab"), listed("abc")] == ["", "a", "a and b", "a, b and c"]
    assert when("2026-01-05T14:03:00.123+00:00") == when("2026-01-05T14:03:00Z") == "2026-01-05 14:03"
    assert when("2026-01-05T23:03:00+08:00") == "2026-01-05 15:03" and when("unknown") == "unknown"
    assert safe("a\tb\nc\x1b[0m\udc80") == "a b c\\x1b[0m\ufffd"


def test_times_are_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    assert when("2026-01-05T14:03:00+00:00") == "2026-01-05 22:03"


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    GOLDEN.write_text(helps(), encoding="utf-8")
    print(f"wrote {GOLDEN}")
