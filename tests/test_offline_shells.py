# ruff: noqa: E501 - a transcript reads best with a call on a line
"""The offline model on the work of shell agents: the frames of their runners, their edits, and what made things work."""

from __future__ import annotations

import pytest

from sandbox_memory.models.offline.edited import in_diff
from sandbox_memory.models.offline.failing import failure
from sandbox_memory.models.offline.outputs import result_line, shown
from sandbox_memory.models.offline.sentences import title
from sandbox_memory.records import Kind

from .test_offline_tools import Step, acted, extracted, lines, sh

# ---------------------------------------------------------------- frames of runners

FRAMES = {
    "brackets below": (
        "boom\n[The command completed with exit code 3.]\n[Current working directory: /w]\n[Command finished with exit code 3]",
        "3",
        ["boom"],
    ),
    "labels and notes": (
        "Command: x\nStdout: 4 passed\nStderr: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 4411",
        "0",
        ["Command: x", "4 passed"],
    ),
    "tags": ("<returncode>0</returncode>\n<output>\nfine\n</output>", "0", ["fine"]),
    "a word to the agent": (
        "<returncode>1</returncode>\n<warning>\nThe output was too long.\n</warning>\n<output_head>\nfirst\n</output_head>",
        "1",
        ["first"],
    ),
    "round brackets": ("ok\n(exit status 4)", "4", ["ok"]),
    "a hook's own words": ("- exit code: 1\nFound it\n[exit 1]", "1", ["- exit code: 1", "Found it"]),
    "nothing to show": ("Your command ran successfully and did not produce any output.", "", []),
}


@pytest.mark.parametrize(("text", "code", "kept"), FRAMES.values(), ids=FRAMES.keys())
def test_a_runners_frame_is_no_output(text: str, code: str, kept: list[str]) -> None:
    out = shown(text)
    assert (out.code, [line.text for line in out.lines]) == (code, kept)


FAILURES = {
    "a place in a file, not the summary": (
        "pkg/a.go:9:2: missing entry for module lib/x\nFAIL\tacme/pkg [setup failed]\nFAIL\nexit code: 1",
        "pkg/a.go:9:2: missing entry for module lib/x",
    ),
    "the count of several failures": (
        "E   KeyError: 'a'\nFAILED t.py::a\nFAILED t.py::b\n==== 2 failed, 5 passed in 1.2s ====\nexit code: 1",
        "2 failed, 5 passed",
    ),
    "the first of two complaints": (
        "Error: no credentials found\nhelp: see the docs\nError: failed to refresh the cache\nexit code: 1",
        "Error: no credentials found",
    ),
    "the last of two exceptions": (
        "KeyError: 'a'\nDuring handling of the above exception, another one occurred:\nacme.Oops.LoadError: no plan\nexit code: 1",
        "acme.Oops.LoadError: no plan",
    ),
    "no usage line": (
        "ERROR: usage: tool [options]\ntool: error: unrecognized arguments: -n\nexit code: 4",
        "tool: error: unrecognized arguments: -n",
    ),
    "a tag": (
        "<tool_use_error>The file was modified since it was read.</tool_use_error>",
        "The file was modified since it was read.",
    ),
    "a command that was killed": (
        "The last command <command>make all</command> timed out and has been killed.\nThe output was:\nok 1\nok 2",
        "The last command <command>make all</command> timed out and has been killed.",
    ),
    "a panic with its reason": (
        "running 1 test\nthread 'a::b' panicked at src/a.rs:4:9:\nassertion failed: x\nexit code: 101",
        "thread 'a::b' panicked at src/a.rs:4:9:\nassertion failed: x",
    ),
    "none behind a warning": ("Warning: could not find the terminal database\n[+] all 3 received", None),
    "none where the exit code is 0": ("Unable to find image 'db:16' locally\n16: Pulling\n(exit status 0)", None),
}


@pytest.mark.parametrize(("text", "error"), FAILURES.values(), ids=FAILURES.keys())
def test_the_line_that_says_what_went_wrong(text: str, error: str | None) -> None:
    found = failure(text)
    assert (found.text.replace("\n ", "\n") if found else None) == error


def test_a_result_that_is_said_twice_is_told_with_its_count_and_not_from_far_above() -> None:
    assert result_line(" Files  1 passed (1)\n Tests  3 passed (3)\n Start at  10:12:44").text == "Tests  3 passed (3)"  # type: ignore[union-attr]
    far = (
        "Testing against the version installed in /opt with 8 workers\nFound 60\nchecks: none\nRan 60\n\nOK\n"
        + "Destroying the store...\n" * 9
    )
    assert result_line(far).text == "OK"  # type: ignore[union-attr]


# ---------------------------------------------------------------- what made the difference

WAYS = {
    "an obstacle before another": (
        [
            sh("git rebase origin/main", "error: cannot rebase: You have unstaged changes.\nexit code: 1"),
            sh("git stash", "Saved the working directory\nexit code: 0"),
            sh("git rebase origin/main", "CONFLICT (content): Merge conflict in a.py\nhint: run \"git rebase --continue\"\nexit code: 1"),
            sh("git add a.py && git rebase --continue", "Successfully rebased.\nexit code: 0"),
        ],
        [
            '`git rebase origin/main` failed: "error: cannot rebase: You have unstaged changes."; fixed by `git stash`',
            '`git rebase origin/main` failed: "CONFLICT (content): Merge conflict in a.py"; then `git add a.py && git rebase --continue` worked',
        ],
    ),
    "what was missing": (
        [
            sh('python -c "import shapes"', "ModuleNotFoundError: No module named 'shapes'\nexit code: 1"),
            sh("ls"),
            sh("pip install shapes", "Successfully installed shapes-2.0\nexit code: 0"),
        ],
        ['`python -c "import shapes"` failed: "ModuleNotFoundError: No module named \'shapes\'"; fixed by `pip install shapes`'],
    ),
    "a setting before the next failure": (
        [
            sh("pytest tests/api", "KeyError: 'API_KEY'\nexit code: 1"),
            sh("API_KEY=x pytest tests/api", "ConnectionError: nobody answers\nexit code: 1"),
            sh("make db", "started\nexit code: 0"),
            sh("API_KEY=x pytest tests/api", "9 passed\nexit code: 0"),
        ],
        [
            "`pytest tests/api` failed: \"KeyError: 'API_KEY'\"; fixed by `API_KEY=x`",
            '`API_KEY=x pytest tests/api` failed: "ConnectionError: nobody answers"; worked after `make db`',
        ],
    ),
    "a file that was changed, and not a look at something else": (
        [
            sh("docker build .", "Error: pg_config executable not found.\nexit code: 1"),
            ("edit", {"path": "requirements.txt", "old": "psycopg2==2.9", "new": "psycopg2-binary==2.9"}, "ok"),
            sh('python -c "print(1)"', "1"),
            sh("docker build .", "built\nexit code: 0"),
            sh("docker run app", "up and running\nexit code: 0"),
        ],
        [],
    ),
    "no answer is no success": (
        [sh("submit {a}", "Wrong flag!"), sh("submit '{a}'"), sh("ls", "x")],
        ['`submit {a}` failed: "Wrong flag!"'],
    ),
    "no question of the moment": (
        [sh("cat > try.py <<'EOF'\nx()\nEOF"), sh("python try.py", "NameError: x\nexit code: 1"), sh("rm try.py other.py", "rm: cannot remove 'other.py': No such file or directory\nexit code: 1")],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "kept"), WAYS.values(), ids=WAYS.keys())
def test_a_failure_is_told_with_what_ended_it(steps: list[Step], kept: list[str]) -> None:
    assert lines("Get it done.", *steps, kinds=(Kind.LESSON,)) == kept


# ---------------------------------------------------------------- changes

EDITS = {
    "a line by its number": (sh("sed -i '504s/return attrs\\[0\\]/return dict(attrs[0])/' core/merge.py", "exit code: 0"), "changed `core/merge.py` to `return dict(attrs[0])`"),
    "a line put in": (sh("sed -i '73i\\    name = str(name)' ext/mock.py", "exit code: 0"), "changed `ext/mock.py` with `name = str(name)`"),
    "a delimiter in the text": (sh("sed -i 's/a = b \\/ c/a = b \\/ c or 1/' run.py", "exit code: 0"), "changed `run.py` from `a = b \\/ c` to `a = b \\/ c or 1`"),
    "a condition": (sh("sed -i 's/if names and x/if names is not None and x/' forms.py", "exit code: 0"), "changed `forms.py` from `if names and x` to `if names is not None and x`"),
    "lines of an editor that keeps a file open": (sh("edit 15:15\n    d = abs(a - b)\nend_of_edit", "[File: /w/main.py (23 lines total)]\n15:    d = abs(a - b)\nFile updated."), "changed `/w/main.py` to `d = abs(a - b)`"),
    "more lines in one tool call": (("Edit", {"file_path": "hub.go", "old_string": "\th.all[c] = c\n", "new_string": "\th.mu.Lock()\n\tdefer h.mu.Unlock()\n\th.all[c] = c\n"}, "updated"), "changed `hub.go` with `h.mu.Lock()` and other lines"),
    "a tool with a command and a path": (("editor", {"command": "str_replace", "path": "deps.txt", "old_str": "left==2.9", "new_str": "left-binary==2.9"}, "edited"), "changed `deps.txt` from `left==2.9` to `left-binary==2.9`"),
    "a diff in the answer": (("edit_file", {"target": "audit.tf", "edit": "  days = 400\n"}, "Changed:\n@@ -1 +1 @@\n-    days = 180\n+    days = 400\n"), "changed `audit.tf` from `days = 180` to `days = 400`"),
}  # fmt: skip


@pytest.mark.parametrize(("step", "line"), EDITS.values(), ids=EDITS.keys())
def test_a_change_is_told_with_its_line(step: Step, line: str) -> None:
    assert lines("Get it done.", step, kinds=(Kind.TASK,)) == [f"Get it done: {line}"]


def test_what_was_tried_with_a_file_that_went_again_is_told_with_the_change() -> None:
    steps = [
        sh("cat > try.py <<'EOF'\nimport a\nEOF"),
        sh("python try.py", "made without a name\nmade with a name"),
        sh("sed -i 's/pass/raise ValueError(name)/' a.py"),
        sh("python try.py", "refused: none given\nmade with a name\nexit code: 0"),
        sh("python other.py", "fine\nexit code: 0"),
        sh("rm try.py other.py"),
    ]
    line = "Get it done: changed `a.py` from `pass` to `raise ValueError(name)`; `python try.py` showed `made without a name` before, `refused: none given` after"
    assert lines("Get it done.", *steps) == [line]


def test_a_file_that_was_taken_back_was_not_changed() -> None:
    steps = [
        sh("sed -i 's/a/b/' setup.cfg"),
        sh("sed -i 's/one/two/' src/x.py"),
        sh("git checkout setup.cfg", "Updated 1 path from the index"),
    ]
    assert lines("Get it done.", *steps) == ["Get it done: changed `src/x.py` from `one` to `two`"]


def test_the_first_change_of_a_file_stays_when_another_line_of_it_changes() -> None:
    steps = [
        sh("sed -i 's/total += x/total = min(x, cap)/' src/x.py"),
        sh("sed -i 's/assert y == 4/assert y == 3/' src/x.py", "exit code: 0"),
    ]
    assert lines("Get it done.", *steps) == [
        "Get it done: changed `src/x.py` from `total += x` to `total = min(x, cap)`"
    ]


def test_imports_and_comments_are_not_the_line_of_a_diff() -> None:
    (change,) = in_diff("--- a/x.py\n+++ b/x.py\n@@ -1 +1,3 @@\n+import os\n+# why\n+os.sync()\n")
    assert change.new and change.new.text == "os.sync()" and change.added


# ---------------------------------------------------------------- what is asked and thought

TEMPLATE = "<ticket>\nConsider the following description:\nBlueprints may have an empty name\nThings break.\n</ticket>\n\n<rules>\nAlways issue one command.\n</rules>\n"


def test_a_text_between_tags_has_a_title_that_is_not_taken_as_a_persons() -> None:
    assert title(TEMPLATE) == "Blueprints may have an empty name"
    assert extracted(acted(TEMPLATE, sh("ls"))).task == ""


def test_a_templates_rules_are_nobodys_wishes() -> None:
    said = "Solve the puzzle in rock.c.\n\nINSTRUCTIONS:\nAlways wait for feedback after every command.\nNever run interactive commands.\n"
    assert lines(said, sh("ls"), kinds=(Kind.PREFERENCE, Kind.FACT)) == []
    own = "Here is how we work.\n\nOUR RULES:\nAlways wait for a review before you merge.\n"
    assert lines(own, sh("ls"), kinds=(Kind.PREFERENCE, Kind.FACT)) == ["Always wait for a review before you merge"]


def test_what_an_agent_thinks_before_a_call_is_no_knowledge() -> None:
    thought = ("says", "A name is always a string and must not be None.", None)
    assert lines("Get it done.", thought, sh("make", "built"), kinds=(Kind.FACT,)) == []
