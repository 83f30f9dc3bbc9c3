"""The commands that a person works with: look back, take back, answer, pin, edit, mend; and what all promise."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import Memory, open_memory
from sandbox_memory.doors.cli.editing import calling
from sandbox_memory.doors.cli.helped import parted
from sandbox_memory.doors.cli.items import place_of
from sandbox_memory.errors import ConfigError, SandboxMemoryError
from sandbox_memory.pipeline import presence
from sandbox_memory.rollouts.rendering import render

from .kit import handbook, process, tell
from .test_cli import PORT, REVIEW, app, ids, line_of, of, root, runner, sm

__all__ = ["root"]
SECRET = "my password is Winter2031!aa"


def files(*folders: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def last(root: Path) -> int:
    return int(of("history", root, "-n", "1")["commits"][0]["commit"])


def by_hand(root: Path, old: str, new: str) -> None:
    path = handbook(root)
    assert old in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


# ---- undo, diff, history


def test_undo_says_what_it_kept(root: Path) -> None:
    """Of several commits, the lines that a person has worked on since."""
    first, second = (of("add", text, "--workspace", root)["record"] for text in ("the wiki is on one", "tea at four"))
    end = last(root)
    of("edit", first["id"], "the wiki is on two", "--workspace", root)
    dry, said = (sm("undo", f"{end - 1}-{end}", "--workspace", root, *more).stdout for more in (["--dry-run"], []))
    assert f"stays        {first['id']}" in dry and f"goes out     {second['id']}" in dry
    assert f"kept         {first['id']}  the wiki is on two" in said and f"taken out    {second['id']}" in said
    assert f"commits {end - 1} to {end} taken back, but for 1 line kept as it is now, as commit {end + 2}" in said


def test_undo_takes_a_commit_back_and_itself_too(root: Path) -> None:
    added = of("add", "deploys go out on Tuesday", "--workspace", root)["record"]
    number = last(root)
    dry = sm("undo", number, "--workspace", root, "--dry-run").stdout
    assert f"goes out     {added['id']}  deploys go out on Tuesday" in dry and "Nothing was changed." in dry
    assert added["id"] in ids(root).values()
    said = sm("undo", number, "--workspace", root).stdout
    again = f"`sandbox-memory undo {number + 1} --workspace {root}` undoes that"
    assert f"commit {number} taken back, as commit {number + 1}; {again}" in said
    assert f"taken out    {added['id']}" in said
    assert "deploys" not in handbook(root).read_text(encoding="utf-8")
    assert re.search(rf"taken back +commit {number}\n +deleted +{added['id']}", sm("history", root, "-n", "1").stdout)
    document = of("undo", number + 1, "--workspace", root)
    assert [(pair["before"]["status"], pair["after"]["visible"]) for pair in document["changed"]] == [("deleted", True)]
    assert document["changed"][0]["after"]["line"] and document["commit"] == number + 2
    assert "deploys" in handbook(root).read_text(encoding="utf-8")


def test_delete_takes_out_of_sight_what_restore_brings_back(root: Path) -> None:
    known, talks = ids(root), files(root / "sessions")
    assert "m-0123456789" in sm("delete", known[PORT], "m-0123456789", "--workspace", root, code=1).stderr
    assert ids(root) == known, "all of them or none"
    told = " ".join(sm("delete", known[PORT], known[PORT], "--workspace", root).stdout.split())
    call = f"sandbox-memory restore {known[PORT]} --workspace {root}"
    assert f"{PORT} 1 memory deleted; `{call}` brings it back" in told
    assert PORT not in ids(root) and PORT not in handbook(root).read_text(encoding="utf-8")
    assert files(root / "sessions") == talks
    process(root, again=True)
    assert PORT not in ids(root), "reading again does not bring it back"
    told = " ".join(sm(*shlex.split(call)[1:]).stdout.split())
    assert ids(root)[PORT] == known[PORT]
    assert f"in {handbook(root)}:{line_of(root, PORT)} under" in told and "1 memory brought back" in told
    (gone,) = of("delete", f"^{known[PORT]}", "--workspace", root)["deleted"]
    assert (gone["status"], gone["visible"], gone["line"]) == ("deleted", False, None)


def test_one_line_is_put_back_as_it_was_by_what_why_tells(root: Path) -> None:
    id, number = ids(root)[PORT], last(root)
    sm("edit", id, "the staging port is 9443", "--workspace", root)
    sm("pin", id, "--workspace", root)
    told = sm("why", id, "--workspace", root).stdout
    (call,) = re.findall(rf"  \S+ \S+ +{PORT} \(not pinned\)\n +`(sandbox-memory .*)`", told)
    (when,) = re.findall(rf"  (\S+ \S+) +{PORT} \(not pinned\)\n", told)
    assert [each["text"] for each in of("why", id, "--workspace", root)["said_before"]] == [
        PORT,
        "the staging port is 9443",
    ]
    refused = sm("restore", id, "--workspace", root, code=1).stderr
    assert f"{id} is in sight already; `{call}` puts back “{PORT}”" in refused and f"why {id}" in refused
    said = " ".join(sm(*shlex.split(call)[1:]).stdout.split())
    assert f"{id} {PORT} (was: the staging port is 9443; pinned) in {handbook(root)}:{line_of(root, PORT)} " in said
    assert f"1 memory put back, as commit {number + 3}" in said
    assert PORT in handbook(root).read_text(encoding="utf-8")
    history = sm("history", root, "-n", "1").stdout
    assert re.search(rf"put back +{id}  {PORT} \(was: the staging port is 9443\)  not pinned any more, as of", history)
    assert "says now what it said then" in sm("restore", id, "--as-of", when, "--workspace", root, code=1).stderr
    sm("undo", number + 3, "--workspace", root)
    (back,) = of("restore", id, "--as-of", when, "--workspace", root)["restored"]
    assert (back["text"], back["pinned"], back["protected"], back["trust"]) == (PORT, False, True, "user")


def test_where_no_line_is_named_it_is_said_what_shows_them(root: Path) -> None:
    number, id = last(root), ids(root)[PORT]
    assert "nothing has changed since" in sm("restore", "--as-of", number, "--workspace", root, code=2).stderr
    sm("edit", id, "one", "--workspace", root)
    sm("edit", id, "two", "--workspace", root)
    said = sm("restore", "--as-of", number, "--workspace", root, code=2).stderr
    for call in (f"diff {number}", f"undo {number + 1}-{number + 2}"):
        assert f"`sandbox-memory {call} --workspace {root}`" in said
    assert "an ID" in sm("restore", "--workspace", root, code=2).stderr
    split = sm("restore", id, "--as-of", "2026-12-01", "18:00", "--workspace", root, code=2).stderr
    assert "write it as one, 2026-12-01T18:00" in split
    sm("forget", ids(root)[REVIEW], "--yes", "--workspace", root)
    assert "undo" not in sm("restore", "--as-of", number, "--workspace", root, code=2).stderr


def test_each_time_that_is_told_is_the_one_that_was_meant(root: Path) -> None:
    for word in "abcdef":
        sm("add", f"the letter {word}", "--workspace", root)
    told = sm("history", root, "--all").stdout
    times = re.findall(r"^(\d+)  (\d{4}-\S+ \S+)  ", told, re.M)
    assert len(times) == last(root) and len({at for _, at in times}) == len(times)
    for number, at in times[:4]:
        assert of("show", root, "--as-of", at)["as_of"]["commit"] == int(number)
        point = (
            rf"({at}, after commit {number} of {at}|commit {number}, {at})\n"  # the latter of one to the millisecond
        )
        assert re.match(f"As of {point}", sm("show", root, "--as-of", at).stdout)
        assert f"from  commit {number}, {at}\n" in sm("diff", number, "--workspace", root).stdout
        assert re.match(f"from  {point}", sm("diff", at, "--workspace", root).stdout)


def test_show_as_of_has_the_sections_that_show_has(root: Path) -> None:
    now, then = (sm("show", root, *words).stdout.split("\n") for words in ((), ("--as-of", last(root))))
    assert "  Reusable knowledge" in then and sorted(then[2:]) == sorted(now)


def test_what_undo_changed_beside_the_words_is_said(root: Path) -> None:
    id = ids(root)[PORT]
    sm("pin", id, "--workspace", root)
    assert f"changed      {id}  {PORT} (was: pinned)\n" in sm("undo", last(root), "--workspace", root).stdout
    text = handbook(root).read_text(encoding="utf-8")
    handbook(root).write_text(text.replace("Task Group: Notes", "Task Group: Ports"), encoding="utf-8")
    assert f"changed      {id}  {PORT} (was: under Ports › " in sm("undo", last(root), "--workspace", root).stdout
    sm("delete", id, "--workspace", root)
    sm("undo", last(root), "--workspace", root)
    assert re.search(rf"  back +{id}  {PORT}\n", sm("history", root, "-n", "1").stdout)
    sm("undo", last(root), "--workspace", root)
    assert re.search(rf"  out again +{id}  {PORT}\n", sm("history", root, "-n", "1").stdout)


def test_undo_takes_ranges_and_refuses_what_is_none(root: Path) -> None:
    for word in "abc":
        sm("add", f"the letter {word}", "--workspace", root)
    end = last(root)
    assert len(of("undo", f"{end - 1}-{end}", "--workspace", root, "--dry-run")["changed"]) == 2
    sm("undo", f"{end - 1}-{end}", "--workspace", root)
    assert {text for text in ids(root) if "letter" in text} == {"the letter a"}
    for wrong in ("x", "5-2", "1-99999", "1-", "-"):
        assert "is no commit" in sm("undo", "--workspace", root, "--", wrong, code=2).stderr.replace(
            "names no", "is no"
        )
    assert "there is no commit 99" in sm("undo", 99, "--workspace", root, code=1).stderr


def test_diff_tells_what_came_went_and_changed(root: Path) -> None:
    before, known = last(root), ids(root)
    sm("edit", known[PORT], "the staging port is 9443", "--pin", "--workspace", root)
    sm("add", "deploys go out on Tuesday", "--workspace", root)
    text = handbook(root).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if REVIEW not in line]
    handbook(root).write_text("".join(lines), encoding="utf-8")
    said = sm("diff", before, "--workspace", root).stdout
    assert re.search(rf"Added\n  m-\w+  deploys go out on Tuesday\n\nGone\n  {known[REVIEW]}  {REVIEW}\n", said)
    assert f"Changed\n  {known[PORT]}  the staging port is 9443 (was: {PORT}; not pinned)\n" in said
    document = of("diff", before, last(root), "--workspace", root)
    assert document["from"]["commit"] == before and len(document["added"]) == len(document["gone"]) == 1
    assert document["changed"][0]["before"]["text"] == PORT and document["changed"][0]["after"]["visible"] is True
    assert "Nothing of what is remembered differs." in sm("diff", before, before, "--workspace", root).stdout
    assert of("diff", last(root), before, "--workspace", root)["added"][0]["text"] == REVIEW, "backwards too"


def test_history_and_why_tell_of_pins_expiries_and_answers(root: Path) -> None:
    id = ids(root)[PORT]
    assert ", version 1" in sm("why", id, "--workspace", root).stdout
    sm("pin", id, "--workspace", root)
    sm("edit", id, "--expires", "2099-12-31", "--workspace", root)
    assert " · pinned · expires 2099-12-31 23:59" in sm("show", root).stdout
    record = of("show", root)["records"][0]
    assert record["pinned"] is True and record["expires"].startswith("2099-12-31")
    said = sm("edit", id, "--no-expiry", "--workspace", root).stdout
    assert "pinned" in said and "expires" not in said
    sm("pin", id, "--off", "--workspace", root)
    assert of("show", root)["records"][0]["expires"] is None
    told = sm("history", root, "-n", "4").stdout
    assert re.findall(r"^  (unpinned|pinned|changed) +m-", told, re.M) == ["unpinned", "changed", "changed", "pinned"]
    assert "does not expire any more" in told and "expires 2099-12-31 23:59" in told
    story = sm("why", id, "--workspace", root).stdout
    assert ", version 5" in story and re.search(r"set by command, pinned\n", story)
    assert "No quotes" not in story, "a pin changes no words"
    wrong = sm("edit", id, "--no-expiry", "--ttl", "3d", "--workspace", root, code=2)
    assert "give no --ttl" in wrong.stderr


def test_history_reads_well_after_a_forgetting_and_is_not_filled_by_reading_again(root: Path) -> None:
    known = ids(root)
    sm("add", "deploys go out on Tuesday", "--workspace", root)
    before = last(root)
    sm("forget", known[PORT], "--yes", "--workspace", root)
    forgotten = last(root)
    for _ in range(2):
        sm("process", root, "--model", "offline", "--again")
    end = last(root)
    said = sm("history", root).stdout
    assert "memories from" not in said and "0 memor" not in said and "passed over" not in said
    assert "named anew" not in said
    heads = re.findall(r"^(\S+)  \d{4}-", said, re.M)
    assert heads[:3] == [f"{forgotten + 1}-{end}", f"{before + 1}-{forgotten}", str(before)] and heads[-1] == "1"
    assert re.search(r"read again  2 conversations \(\w+ and \w+\), 2 times: nothing new\n", said)
    assert re.search(rf"forgotten +f-\w+\n  erased +{known[PORT]}\n", said)
    assert re.search(rf"added +{known[PORT]}  \(its words are erased\)", said)
    each = sm("history", root, "--all").stdout
    numbers = [int(head) for head in re.findall(r"^(\d+)  \d{4}-", each, re.M)]
    assert numbers == list(range(end, 0, -1)) == [commit["commit"] for commit in of("history", root)["commits"]]
    assert "its words are erased" in each and not re.search(r"memor\w+ from *$", each, re.M)
    short = sm("history", root, "-n", "2").stdout
    assert f"{before} older commits left out" in short and f"{before + 1}-{forgotten}" in short


def test_reading_that_led_to_something_says_what(root: Path) -> None:
    for name in "abcdefgh":
        tell(root, f"the {name} team deploys on Monday", rollout=name)
    process(root)
    said = sm("history", root, "-n", "2").stdout
    assert len(re.findall(r"added +m-", said)) == 8
    assert re.search(r"\n  read +8 conversations: 8 memories\n", said) and "again" not in said
    tell(root, "the z team deploys on Monday", rollout="z")
    process(root, again=True)
    assert re.search(r"\n  read +11 conversations, 10 of them again\n", sm("history", root, "-n", "2").stdout)
    process(root, again=True)
    assert re.search(r"\n  read again +11 conversations: nothing new\n", sm("history", root, "-n", "1").stdout)


@pytest.mark.parametrize("count", [1, 6, 8])
def test_of_deleted_lines_all_are_told_that_still_stand_elsewhere(root: Path, count: int) -> None:
    tell(root, *(f"the fleet car {number} is parked in hall {number}" for number in range(40)), rollout="fleet")
    process(root)
    known = {text: id for text, id in ids(root).items() if "fleet car" in text}
    chosen = list(known.items())[:count]
    text = handbook(root).read_text(encoding="utf-8")
    kept = [line for line in text.splitlines(keepends=True) if not any(id in line for _, id in chosen)]
    handbook(root).write_text("".join(kept), encoding="utf-8")
    warned = [line for line in sm("status", root).stderr.splitlines() if line.startswith("warning: ")]
    assert len(warned) == (count if count <= 6 else 6)
    assert {id for _, id in chosen} == {id for line in warned for id in re.findall("m-[0-9a-f]{10}", line)}
    assert all("sandbox-memory forget m-" in line for line in warned)
    assert (f"{count - 5} more were deleted" in warned[-1]) is (count > 6)


# ---- inbox


def asked(root: Path) -> str:
    for number in range(8):
        sm("add", f"note number {number}", "--workspace", root)
    text = handbook(root).read_text(encoding="utf-8")
    handbook(root).write_text(
        "".join(each for each in text.splitlines(keepends=True) if "note number" not in each), "utf-8"
    )
    (question,) = of("inbox", root)["questions"]
    return str(question["id"])


@pytest.mark.parametrize(("option", "word", "stay"), [("--accept", "accepted", 0), ("--refuse", "refused", 8)])
def test_a_question_is_answered_by_command(root: Path, option: str, word: str, stay: int) -> None:
    id = asked(root)
    assert f"sandbox-memory inbox {root} --accept {id}" in sm("inbox", root).stdout
    said = sm("inbox", root, option, id).stdout
    assert said.startswith(f"{word} ") and "No other question waits." in said
    assert sum("note number" in text for text in ids(root)) == stay
    assert re.search(rf"  {word} +{id}  8 lines vanished", sm("history", root, "-n", "1").stdout)
    assert "No question waits." in sm("inbox", root).stdout
    assert "was answered before" in sm("inbox", root, option, id, code=1).stderr
    document = of("inbox", root, option, "p-0123456789", code=1)
    assert "is not there" in document["error"]["message"] and "lists those" in document["error"]["hint"]
    sm("undo", last(root), "--workspace", root)
    assert of("inbox", root)["questions"][0]["id"] == id, "taken back, it is asked again"


def test_an_answer_is_one_and_words_are_for_one(root: Path) -> None:
    id = asked(root)
    assert "two answers" in sm("inbox", root, "--accept", id, "--refuse", f"^{id}", code=2).stderr
    assert "for one question" in sm("inbox", root, "--refuse", id, "--words", "x", code=2).stderr
    assert "takes no words" in sm("inbox", root, "--accept", id, "--words", "x", code=1).stderr
    assert of("inbox", root)["questions"]


def test_nobody_answers_or_undoes_while_an_agent_may_be_who_asks(root: Path) -> None:
    id = asked(root)
    mine = presence.new().split(".")
    mark = root / "memories" / ".open" / ".".join([mine[0], str(os.getppid()), *mine[2:]])
    mark.parent.mkdir(exist_ok=True)
    mark.write_bytes(b"open\n")
    number = last(root)
    with open_memory(root) as memory:
        line = memory.records()[0].id
        put_back = partial(memory.restore, line, as_of=number)
        for work in (lambda: memory.answer(id, True), lambda: memory.undo(number), put_back):
            with pytest.raises(SandboxMemoryError, match="an agent's session is open"):
                work()


# ---- edit in the editor


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    path = tmp_path / "vim"  # one of those that take +LINE
    path.write_text(f"#!{sys.executable}\nimport sys\npath = sys.argv[-1]\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return {"EDITOR": str(path), "VISUAL": ""}


def test_edit_opens_the_file_and_takes_in_what_is_saved(root: Path, tmp_path: Path) -> None:
    known = ids(root)
    line = next(n for n, text in enumerate(handbook(root).read_text("utf-8").splitlines(), 1) if PORT in text)
    script = (
        f"open({str(tmp_path / 'seen')!r}, 'w').write(' '.join(sys.argv[1:]))\n"
        f"text = open(path, encoding='utf-8').read().replace({PORT!r}, 'the port is 9443')\n"
        f"open(path, 'w', encoding='utf-8').write(text.replace('<!-- memory', '- {SECRET}\\n\\n<!-- memory'))"
    )
    result = sm("edit", known[PORT], "--workspace", root, env=editor(tmp_path, script))
    assert (tmp_path / "seen").read_text() == f"+{line} {handbook(root)}"
    assert f"changed     {known[PORT]}  the port is 9443 (was: {PORT})" in result.stdout
    assert "2 changes taken in: 1 changed, 1 added (commit " in result.stdout and "held a secret" in result.stderr
    assert "Winter2031" not in handbook(root).read_text(encoding="utf-8")
    assert "Nothing was changed." in sm("edit", "--workspace", root, env=editor(tmp_path, "pass")).stdout
    failing = sm("edit", "--workspace", root, env=editor(tmp_path, "sys.exit(3)"), code=1)
    assert "ended with 3" in failing.stderr
    nothing = {"EDITOR": "/nowhere/ed", "VISUAL": ""}
    assert "name another in EDITOR" in sm("edit", "--workspace", root, env=nothing, code=2).stderr
    assert "there is no record" in sm("edit", "m-0123456789", "--workspace", root, code=1).stderr


EDITORS = (
    ("vi", "+7 F"),
    ("/usr/bin/vim.basic", "+7 F"),
    ("nvim -p", "-p +7 F"),
    ("gvim", "--nofork +7 F"),
    ("gvim -f", "-f +7 F"),
    ("nano", "+7 F"),
    ("emacs -nw", "-nw +7 F"),
    ("emacsclient -t -a ''", "-t -a  +7 F"),
    ("micro", "+7 F"),
    ("jed", "F -g 7"),
    ("kak", "+7 F"),
    ("hx", "F:7"),
    ("helix", "F:7"),
    ("code", "--wait --goto F:7"),
    ("code --wait", "--wait --goto F:7"),
    ("code -w --new-window", "-w --new-window --goto F:7"),
    ("codium", "--wait --goto F:7"),
    ("subl", "--wait F:7"),
    ("zed", "--wait F:7"),
    ("kate", "--block --line 7 F"),
    ("gedit", "--wait +7 F"),
    ("env TERM=dumb vim", "TERM=dumb vim +7 F"),
    ("sensible-editor", "+7 F"),
    ("ed", "F"),
    ("/opt/strange/editor-of-mine", "F"),
)


def test_editors_are_told_the_line_as_they_take_it() -> None:
    for editor, wanted in EDITORS:
        words = calling(shlex.split(editor), Path("F"), 7)
        assert " ".join(words[1:]) == wanted, editor
        assert not [word for word in calling(shlex.split(editor), Path("F")) if "7" in word], "no line, no place"


@pytest.mark.parametrize("where", ["", "memories/raw_memories", "outside"])
def test_edit_opens_the_places_that_commands_print(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (root / "memories" / "skills" / "mine").mkdir(parents=True)
    for path in ("memories/INBOX.md", "memories/skills/mine/SKILL.md", "MEMORY.md", "skills/mine/SKILL.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("of its own\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path if where == "outside" else root / where)
    env = editor(tmp_path, f"open({str(tmp_path / 'seen')!r}, 'w').write(' '.join(sys.argv[1:]))")
    of_memory = ["--workspace", root] if where == "outside" else []
    printed = re.search(r"(\S+MEMORY\.md:\d+)", sm("why", ids(root)[PORT], *of_memory).stdout)
    names = ("MEMORY.md", "memory_summary.md", "INBOX.md", "raw_memories/ports.md", "skills/mine/SKILL.md")
    for name in names:
        for given, line in ((name, ":3"), (f"memories/{name}", ""), (str(root / "memories" / name), ":3")):
            said = sm("edit", f"{given}{line}", *of_memory, env=env).stdout
            plus, _, path = f" {(tmp_path / 'seen').read_text()}".rpartition(" ")
            assert Path(path).samefile(root / "memories" / name), (given, path)
            assert plus.strip() == line.replace(":", "+") and said == "Nothing was changed.\n"
    assert printed is not None
    sm("edit", printed[1], env=env)
    assert (tmp_path / "seen").read_text().startswith(f"+{line_of(root, PORT)} ")
    (tmp_path / "seen").unlink()
    for other in ("sessions/ports.jsonl:1", "memories/ledger.jsonl", "ledger.jsonl", "no.md", "skills/other/SKILL.md"):
        wrong = sm("edit", other, *of_memory, env=env, code=2).stderr
        assert "edit one of these: " in wrong and all(name in wrong for name in ("MEMORY.md", "ports.md", "SKILL.md"))
        assert ("is not for editing" in wrong) is (other in ("sessions/ports.jsonl:1",) or "ledger" in other)
    assert "give it alone" in sm("edit", "MEMORY.md:3", "other words", *of_memory, env=env, code=2).stderr
    assert not (tmp_path / "seen").exists()


def test_edit_opens_the_file_of_that_scope_and_no_other(root: Path, tmp_path: Path) -> None:
    sm("add", "bob likes tea", "--user", "bob", "--workspace", root)
    env = editor(tmp_path, f"open({str(tmp_path / 'seen')!r}, 'w').write(path)")
    sm("edit", "MEMORY.md:3", "--user", "bob", "--workspace", root, env=env)
    assert "bob likes tea" in Path((tmp_path / "seen").read_text()).read_text(encoding="utf-8")
    assert "edit one of these" in sm("edit", handbook(root), "--user", "bob", "--workspace", root, code=2).stderr


# ---- why: the item in the transcript

RUNS = [
    {"input": "the port is 1", "generated_items": [], "final_output": "Noted."},
    {
        "input": [{"role": "system", "content": "x"}, {"role": "user", "content": "one"}],
        "generated_items": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "shell", "arguments": '{"cmd": "ls"}'},
            {"type": "function_call_output", "call_id": "c", "output": "a.txt"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "two"}]},
            {"type": "message", "role": "assistant", "content": []},
            {"type": "shell_call", "call_id": "d", "action": {"commands": ["ls", "pwd"]}},
        ],
        "final_output": {"answer": 3},
    },
]


def runs() -> list[Any]:
    shared = Path(__file__).parents[2] / "shared" / "data" / "rollouts"
    lines = [line for path in sorted(shared.glob("*/sessions/*.jsonl"))[:12] for line in path.read_bytes().splitlines()]
    return [*RUNS, *(json.loads(line) for line in lines)]


def test_an_item_is_where_why_says() -> None:
    for payload in runs():
        for item in render(payload):
            place = place_of(payload, item.index)
            name, _, number = place.rstrip("]").partition("[")
            raw = payload[name][int(number)] if number else payload[name]
            alone = {"final_output": raw} if name == "final_output" else {"input": [raw] if number else raw}
            assert item.text in [each.text for each in render(alone)], place
        assert place_of(payload, 10_000) == ""
    assert [place_of(RUNS[1], n) for n in range(3)] == ["input[1]", "generated_items[1]", "generated_items[2]"]
    assert place_of(RUNS[0], 0) == "input" and place_of(None, 0) == place_of([], 0) == ""


def test_why_names_the_item_beside_the_line(root: Path) -> None:
    said = sm("why", ids(root)[PORT], "--workspace", root).stdout
    assert re.search(r"sessions/ports\.jsonl:1  \S+ \S+  user  item 0: input\[0\]\n", said)
    line = json.loads((root / "sessions" / "ports.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert PORT in json.dumps(line["input"][0])
    (root / "sessions" / "ports.jsonl").unlink()
    assert "item 0" not in sm("why", ids(root)[PORT], "--workspace", root).stdout


def test_why_names_the_quotes_of_what_a_line_said_before(root: Path) -> None:
    id = ids(root)[PORT]
    sm("edit", id, f"{PORT} (Ana looked)", "--workspace", root)
    said = sm("why", id, "--workspace", root).stdout
    assert "No quotes: it was changed by" in said
    assert re.search(r"What it said before rests on 1 quote, .*\n  sessions/ports\.jsonl:1 ", said)
    document = of("why", id, "--workspace", root)
    assert document["receipts"] == [] and [each["stands"] for each in document["earlier_receipts"]] == [True]
    sm("forget", id, "--yes", "--workspace", root)
    assert of("why", id, "--workspace", root)["earlier_receipts"] == []


# ---- why for all, rebuild, check --fix


def test_why_explains_every_line_of_a_file(root: Path) -> None:
    sm("add", "deploys go out on Tuesday", "--workspace", root)
    lines = of("why", "--all", "--workspace", root)["lines"]
    assert {each["record"]["text"] for each in lines} == set(ids(root))
    assert all(receipt["stands"] for each in lines for receipt in each["receipts"])
    for each in lines:
        assert each["line"] == each["record"]["line"]
        assert of("why", f"{handbook(root)}:{each['line']}")["record"]["id"] == each["record"]["id"]
    said = sm("why", handbook(root)).stdout
    assert f"sessions/ports.jsonl:1  “{PORT}”" in said and "no quotes: it came in by command" in said
    assert len(of("why", root / "memories" / "memory_summary.md")["lines"]) == 3
    assert "give" not in sm("why", "nothing.md:3", "--workspace", root, code=1).stdout
    assert "--all alone" in sm("why", "--workspace", root, code=2).stderr


def test_rebuild_writes_the_markdown_from_the_history(root: Path) -> None:
    path = handbook(root)
    known, table = ids(root), "| a | table |\n"
    path.write_text(table + path.read_text(encoding="utf-8").replace(REVIEW, f"{REVIEW}！"), encoding="utf-8")
    dry = sm("rebuild", root, "--dry-run").stdout
    assert "would be written" in dry and table in path.read_text(encoding="utf-8")
    old, document = path.read_text(encoding="utf-8"), of("rebuild", root)
    assert document["files"] == ["memories/MEMORY.md"] and document["adopted"] == 1
    kept = (root / document["kept"]).read_text(encoding="utf-8")
    assert table in kept and kept.splitlines()[:-1] == old.splitlines()[:-1]
    assert table not in path.read_text(encoding="utf-8")
    assert ids(root) == {PORT: known[PORT], f"{REVIEW}！": known[REVIEW]}
    assert "Nothing to do" in sm("rebuild", root).stdout
    path.unlink()
    assert of("rebuild", root)["files"] == [] and path.is_file(), "taking in edits has written it already"


def test_check_finds_what_should_not_be_there_and_mends_it(root: Path) -> None:
    orphan = root / "memories" / "raw_memories" / "nobody.md"
    orphan.write_bytes((root / "memories" / "raw_memories" / "ports.md").read_bytes())
    mine = root / "memories" / "rollout_summaries" / "nobody_mine.md"
    mine.write_text(f"# Mine\n\n{SECRET}\n", encoding="utf-8")
    (root / "memories" / "MEMORY.md.saved-0123abcd").write_text("old\n", encoding="utf-8")
    before = files(root)
    document = of("check", root, code=1)
    kinds = {(each["kind"], each["where"].partition(":")[0].rpartition("/")[2]) for each in document["findings"]}
    wanted = {("orphan", "nobody.md"), ("orphan", "nobody_mine.md"), ("secret", "nobody_mine.md")}
    assert kinds == wanted | {("left", "MEMORY.md.saved-0123abcd")}
    assert document["sizes"]["transcripts"] > 0 and document["mended"] == [] and files(root) == before
    assert f"`sandbox-memory check --fix {root}` mends it" in sm("check", root, code=1).stdout
    done = of("check", root, "--fix")
    assert len(done["mended"]) == 2 and not orphan.exists()
    assert "Winter2031" not in mine.read_text(encoding="utf-8") and mine.read_text(encoding="utf-8").startswith(
        "# Mine"
    )
    assert {each["kind"] for each in done["findings"]} == {"orphan", "left"}, "what a person edited is theirs to remove"
    assert of("check", root, "--fix")["mended"] == []
    handbook(root).unlink()
    assert ("behind", "is missing or empty") in {(e["kind"], e["what"]) for e in of("check", root)["findings"]}
    assert of("check", root, "--fix")["mended"] == [
        "memories/MEMORY.md was gone, and is written again: its lines from the history; "
        "to take one out, delete the line"
    ]
    assert PORT in handbook(root).read_text(encoding="utf-8")


# ---- what all commands promise


WRONG = (
    (["why", "m-0123456789"], 1),
    (["why", "MEMORY.md:1"], 1),
    (["edit", "m-0123456789", "x"], 1),
    (["pin", "m-0123456789"], 1),
    (["delete", "m-0123456789"], 1),
    (["restore", "m-0123456789"], 1),
    (["forget", "m-0123456789", "--yes"], 1),
    (["forget", "--apply", "nowhere.json"], 2),
    (["forget", "--text", "8443"], 2),
    (["undo", "99"], 1),
    (["undo", "x"], 2),
    (["diff", "never"], 2),
    (["diff", "99"], 1),
    (["add", "  "], 1),
    (["add", "x", "--ttl", "soon"], 2),
    (["add", "x", "--kind", "poem"], 2),
    (["add"], 2),
    (["edit", "m-0123456789", "--expect", "1"], 2),
    (["nonsense"], 2),
    (["show", "--nonsense"], 2),
)


def test_an_error_is_one_document_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    for words, code in WRONG:
        plain = sm(*words, code=code)
        assert plain.stdout == "" and plain.stderr
        result = sm(*words, "--json", code=code)
        error = json.loads(result.stdout)["error"]
        assert set(error) == {"message", "hint"} and error["message"] and "Traceback" not in error["message"]
        said = re.sub(r"\W+", " ", plain.stderr)
        assert re.sub(r"\W+", " ", error["message"]).strip() in said and result.stderr == ""


def test_a_hint_is_what_stands_last_and_outside_of_quotes() -> None:
    assert parted("it is so; do this") == ("it is so", "do this")
    assert parted("m-1 says “a; b. C”. Nothing was changed; decide") == (
        "m-1 says “a; b. C”. Nothing was changed",
        "decide",
    )
    assert parted("a.b is not `x; y`") == ("a.b is not `x; y`", "")


def test_a_dry_run_writes_nothing_anywhere(root: Path) -> None:
    state = Path(os.environ["XDG_STATE_HOME"])
    known, number = ids(root), last(root)
    by_hand(root, PORT, "the staging port is 8443, another line")
    (root / "memories" / "INBOX.md").write_text("a note of mine\n", encoding="utf-8")
    before = files(root, state)
    for words in (["forget", known[REVIEW]], ["forget", "--text", "another line"], ["undo", str(number)]):
        assert "Nothing was changed" in sm(*words, "--dry-run", "--workspace", root).stdout
        document = of(*words, "--dry-run", "--workspace", root)
        told = [*document.get("forgotten", ()), *(pair["before"] for pair in document.get("changed", ()))]
        assert all(record["visible"] and record["line"] for record in told if record["id"] == known[REVIEW])
    sm("rebuild", root, "--dry-run")
    sm("check", root)
    assert files(root, state) == before
    taken_in = f"1 change made in the files was taken in; `sandbox-memory history {root}` shows it"
    assert sm("show", root).stderr == f"note: {taken_in}\n"
    assert of("show", root)["adopted"] == 0


def test_a_secret_is_pointed_out(root: Path) -> None:
    result = sm("add", SECRET, "--workspace", root)
    assert (
        "warning: what you gave holds a secret" in result.stderr and "Winter2031" not in result.stderr + result.stdout
    )
    changed = sm("edit", ids(root)[PORT], SECRET, "--workspace", root)
    assert "holds a secret" in changed.stderr
    assert sm("add", "the password policy is on the wiki", "--workspace", root).stderr == ""
    assert not [path for path, data in files(root).items() if b"Winter2031" in data]


def test_paths_and_commands_are_never_broken(tmp_path: Path) -> None:
    deep = tmp_path / "a workspace with a name" / "that-is-rather-long-as-paths-go" / "and-goes-on-and-on"
    deep.mkdir(parents=True)
    tell(deep, PORT, rollout="ports")
    process(deep)
    tell(deep, REVIEW, rollout="waits")
    id, where = ids(deep)[PORT], f"{handbook(deep)}"
    quoted = f"'{deep}'"
    for columns in (40, 80):
        env = {"COLUMNS": str(columns)}
        assert str(deep) in sm("status", deep, env=env).stdout
        assert f"sandbox-memory process {quoted} --model offline" in sm("status", deep, env=env).stdout
        assert f"{where}:" in sm("why", id, "--workspace", deep, env=env).stdout
        assert where in sm("add", f"columns {columns}", "--workspace", deep, env=env).stdout
        assert f"{where}:" in sm("forget", id, "--dry-run", "--workspace", deep, env=env).stdout
        assert where in sm("process", deep, "--model", "offline", env=env).stdout
        assert f"{where}:" in sm("why", "--all", "--workspace", deep, env=env).stdout
        gone = sm("show", tmp_path / "none" / str(deep)[1:], env=env, code=2).stderr
        assert f"{tmp_path / 'none' / str(deep)[1:]};".replace(" ", "\n")[:9] in gone.replace(" ", "\n")
        tell(deep, f"more for {columns}", rollout=f"waits-{columns}")


COMPLETED = (
    ("wh", {"why"}),
    ("why {port_start}", {"{port}"}),
    ("why MEM", {"MEMORY.md"}),
    ("pin {port_start}", {"{port}"}),
    ("delete {port_start}", {"{port}"}),
    ("undo --workspace {root} 1", {"1"}),
    ("process --preset c", {"coding"}),
    ("add --kind pre", {"preference"}),
    ("show --memories mem", {"memories"}),
    ("restore m-", set()),
    ("restore --as-of 1 {port_start}", {"{port}"}),
    ("restore {port_start} --as-of 1", {"1"}),
    ("edit INB", set()),
    ("edit raw", {"raw_memories/ports.md", "raw_memories/reviews.md"}),
    ("show --te", {"--tenant", "--team"}),
    ("show /tm", set()),
)


def test_words_are_completed_and_nothing_is_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = ids(root)[PORT]
    by_hand(root, REVIEW, "not taken in by a completion")
    before = files(root)
    monkeypatch.chdir(root)
    known = {"port": port, "port_start": port[:6], "root": str(root)}
    for line, wanted in COMPLETED:
        words = line.format(**known)
        env = {"_SANDBOX_MEMORY_COMPLETE": "complete_bash", "COMP_WORDS": f"sandbox-memory {words}"}
        env["COMP_CWORD"] = str(len(words.split()))
        result = runner().invoke(app, [], env=env, prog_name="sandbox-memory")
        assert {word for word in result.stdout.split("\n") if word} == {each.format(**known) for each in wanted}, line
        assert result.stderr == ""
    assert files(root) == before


@pytest.mark.parametrize("command", ["history", "status", "show", "why", "add"])
def test_only_what_calls_a_model_loads_the_sdk(root: Path, command: str) -> None:
    words = {"why": ["memories/MEMORY.md"], "add": ["We deploy on Fridays."]}.get(command, [])
    code = (
        "import sys; from sandbox_memory.doors.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: sys.stderr.write(repr([name for name in ('agents', 'openai') if name in sys.modules]))"
    )
    arguments = [sys.executable, "-c", code, command, *words]
    done = subprocess.run(arguments, cwd=root, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (0, "[]"), done.stdout


def test_a_receipt_that_is_missing_is_named_plainly(tmp_path: Path) -> None:
    for make in (lambda path: Memory(forgotten=[path]), lambda path: open_memory(tmp_path, forgotten=[path])):
        with pytest.raises(ConfigError, match=r"^the receipt .*none\.json cannot be read: No such file"):
            make(tmp_path / "none.json")


def test_every_command_works_inside_the_workspace(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[str, Any] = ids(root)
    monkeypatch.chdir(root / "memories" / "raw_memories")
    for words in (
        *(["status"], ["show"], ["history"], ["why", known[PORT]], ["why", "--all"], ["add", "a line"], ["inbox"]),
        *(["edit", known[PORT], "the port is 1"], ["pin", known[PORT]], ["diff", "1"], ["undo", "5"], ["rebuild"]),
        *(["check"], ["process", "--model", "offline"], ["forget", known[PORT], "--yes"]),
    ):
        assert isinstance(json.loads(sm(*words, "--json").stdout), dict)
