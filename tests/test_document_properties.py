"""Random hand-written documents, random edits: what was not meant stays, byte for byte."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import mdformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_memory.document import Document, Edit, Insert, Provenance, RemoveItem, Revise, Stamp, normalise, safe_text

REPO = Path(__file__).parents[1]
GROUPS = ("", "invoices", "Odd _title_ #1", "部署 说明", "New one")
HEADINGS = ("", "User preferences", "Reusable knowledge", "Failures and how to do differently", "Brand new")
WORDS = (
    "uses `x_y` here", "_never_ **push** to main", "中文，测试 code 混排", "a|b and c", "see [docs](https://x.y/a_b)",
    "<b>bold</b> &amp; more", "5 * 3 * 2", "\\*stars\\* \\# hash", "[Task 1][Task 2]", "port: 8443",
    "\"quoted\" -> then", "snake_case_name", "<https://a.b>", "emoji 🚀 ok", "ends in backslash\\", "[ref][one]",
    "2 < 3 & 4 > 1",
)  # fmt: skip
NEW_TEXTS = (
    "plain new text", "# not a heading", "- not a list", "1. not numbered", "`open", "a \\| b", "> q", "[ ] box",
    "<!-- memory:99 -->", "say ^m-aaaaaaaaaa", "新的 事实，中文", "line\nbreak", "[x]: /y", "***", "<div>",
)  # fmt: skip


@dataclass
class Draft:
    """A document in the making. Each line that can be an operated item's has a token of its own."""

    rng: Random
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def token(self) -> str:
        self.count += 1
        return f"t{self.count}q"

    def words(self) -> str:
        return f"{self.token()} {self.rng.choice(WORDS)}"

    def identity(self) -> str:
        return f" ^m-{self.count:010x}" if self.rng.random() < 0.6 else ""

    def item(self, indent: str = "") -> None:
        bullet = self.rng.choice(["-", "-", "-", "*", "+", f"{self.count + 1}.", "1)"])
        space = self.rng.choice([" ", " ", " ", "   ", "\t"])
        box = self.rng.choice(["", "", "", "[ ] ", "[x] "])
        lead = indent + bullet + space
        inside = " " * len((indent + bullet + space).expandtabs(4))
        lines = [lead + box + self.words()]
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            lines.append(self.rng.choice([inside, inside, indent]) + self.words())
        self.lines += lines
        if self.rng.random() < 0.15:
            self.lines += ["", inside + self.words()]
        self.lines[-1] += self.identity()
        for _ in range(self.rng.choice([0, 0, 0, 1, 2]) if len(indent) < 6 else 0):
            self.lines += [""] * self.rng.choice([0, 0, 1])
            self.item(inside)

    def items(self) -> None:
        gap = [""] * self.rng.choice([0, 0, 0, 1])
        for _ in range(self.rng.choice([1, 2, 3])):
            self.item()
            self.lines += gap

    def other(self) -> None:
        word = self.words
        part = self.rng.choice([
            [word()], [word(), word()], ["| a | b |", "|---|:--|", f"| {self.token()} | *d* |"],
            ["```sh", f"- {word()}", "", "```"], ["~~~~", "```", word(), "~~~~"], ["<div>", f"- {word()}", "</div>"],
            [f"> {word()}", f"> - {word()}"], [f"<!-- {self.token()}", "", f"- {self.token()} -->"],
            [f"<!-- {word()} -->"], ["---"], ["", ""], [f"    - {word()}"], [f"[{self.token()}]: https://x.y"],
            ["- ", "-"],
            ["- ```", f"  - {self.token()}", "  ```"], [f"### {self.token()}"],
            ["### keywords", "", f"- {self.token()}"],
            ["### rollout_summary_files", "", f"- rollout_summaries/{self.token()}_x.md (rollout_id={self.token()})"],
        ])  # fmt: skip
        if "q" not in part[0] and (not self.lines or self.lines[-1]):
            self.lines.append("")  # else it would be text of an item above, or front matter
        self.lines += [*part, ""]

    def heading(self) -> None:
        rng = self.rng
        title = rng.choice([*GROUPS[1:4], self.token()])
        section = rng.choice([*HEADINGS[1:4], f"Task {rng.randrange(1, 4)}: {self.token()}", "Odd *one* ##", "#"])
        self.lines += rng.choice([
            [f"# Task Group: {title}", "", f"scope: {self.token()}", ""], [f"# {title}"], ["", title, "=" * 5, ""],
            [f"## {section}", ""], [f"## {section}"], ["", section, "---", ""],
        ])  # fmt: skip

    def data(self, *, plain: bool = False) -> bytes:
        rng = self.rng
        for _ in range(rng.randrange(1, 9)):
            rng.choice([self.items, self.items, self.heading, self.other])()
            if rng.random() < 0.8:
                self.lines.append("")
        if not plain and rng.random() < 0.2:
            self.lines += ["", *rng.choice([["```", self.words()], [f"<!-- {self.token()}"], ["<div>", self.token()]])]
        if rng.random() < 0.5:
            self.lines += ["", f"<!-- memory:{rng.randrange(50)} -->"]
        ends = [rng.choice(["\n", "\r\n", "\r"])] if plain or rng.random() < 0.8 else ["\n", "\r\n", "\r"]
        text = ""
        for line in self.lines:  # a blank line after "\r" must not make "\r\n" of it
            text += line + (text[-1] if not line and text.endswith("\r") else rng.choice(ends))
        data = (text if plain or rng.random() < 0.7 else text.rstrip("\r\n")).encode()
        if not plain and rng.random() < 0.2:
            token = f"t{rng.randrange(1, self.count + 2)}q".encode()
            data = data.replace(token, token + b"\xd1", 1)
        return data if plain or rng.random() < 0.8 else b"\xef\xbb\xbf" + data


def batch(rng: Random, of: Document) -> list[Edit]:
    edits: list[Edit] = []
    for number in range(rng.randrange(1, 6)):
        identity = f"m-ffff{number:06x}"
        if of.items and rng.random() < 0.6:
            index = rng.randrange(len(of.items))
            stamp = Stamp(index, rng.choice([identity, ""]))
            choices: list[Edit] = [Revise(index, rng.choice(NEW_TEXTS)), RemoveItem(index), stamp]
            edits.append(rng.choice(choices))
        elif rng.random() < 0.7:
            edits.append(Insert(rng.choice(NEW_TEXTS), identity, rng.choice(GROUPS), rng.choice(HEADINGS)))
        else:
            title = rng.choice(["first task", "second task"])
            edits.append(Provenance(rng.choice(GROUPS), title, f"f{number}.md", ("kw",)))
    return edits


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_edits_change_what_they_mean_and_nothing_else(seed: int) -> None:
    rng = Random(seed)
    before = Document.parse(Draft(rng).data())
    assert before.edit([], before.marker).data == before.data
    edits = batch(rng, before)
    marker = rng.choice([None, 77])
    after = before.edit(edits, marker)
    changed = meant(before, edits)
    check_items(before, after, changed, edits)
    check_lines(before.data, after.data, allowed(before, changed, edits, marker))
    if marker is not None:
        assert after.marker == marker
        assert after.data.decode("utf-8", "replace").rstrip().endswith("<!-- memory:77 -->")
    assert after.edit([], after.marker).data == after.data


def meant(before: Document, edits: Sequence[Edit]) -> dict[int, dict[str, str]]:
    """Item index to what becomes of it: "gone", "text", "id"."""
    changed: dict[int, dict[str, str]] = {}
    for edit in edits:
        if isinstance(edit, (Revise, RemoveItem, Stamp)) and before.items[edit.item_index].readable:
            into = changed.setdefault(edit.item_index, {})
            if isinstance(edit, RemoveItem):
                into["gone"] = "yes"
            elif isinstance(edit, Revise):
                into["text"] = edit.text
            else:
                into["id"] = edit.id
    return changed


def check_items(before: Document, after: Document, changed: dict[int, dict[str, str]], edits: Sequence[Edit]) -> None:
    inserted = {edit.id: edit for edit in edits if isinstance(edit, Insert)}
    expected = []
    for item in before.items:
        change = changed.get(item.index, {})
        if "gone" not in change:
            text = normalise(change["text"]) if "text" in change else item.normal
            place = (item.group, item.section, item.task, item.checked, item.readable)
            expected.append((change.get("id", item.id), text, *place))
    found = []
    seen = set()
    for item in after.items:
        if item.id in inserted and item.id not in {change.get("id") for change in changed.values()}:
            new = inserted[item.id]
            assert (item.normal, item.group, item.section) == (normalise(new.text), new.group, new.heading)
            seen.add(item.id)
        else:
            found.append((item.id, item.normal, item.group, item.section, item.task, item.checked, item.readable))
    assert found == expected
    assert seen == set(inserted)
    for part, files in before.provenance.items():
        assert set(files) <= set(after.provenance[part])
    for edit in edits:
        if isinstance(edit, Provenance):
            named = [file for (group, _), files in after.provenance.items() if group == edit.group for file in files]
            assert named.count(edit.summary_file) == 1


@dataclass
class Allowed:
    """Which lines may go, and which may come."""

    old: set[str]
    new: set[str]
    whole: set[str]
    marker: bool

    def may_go(self, line: str) -> bool:
        return any(part in line for part in self.old) or (
            self.marker and bool(re.fullmatch("<!-- memory:[0-9]+ -->", line))
        )

    def may_come(self, line: str) -> bool:
        return self.may_go(line) or line in self.whole or any(part in line for part in self.new)


def allowed(before: Document, changed: dict[int, dict[str, str]], edits: Sequence[Edit], marker: int | None) -> Allowed:
    old: set[str] = set()
    new: set[str] = set()
    whole = {"<!-- -->"} if any(isinstance(edit, (Insert, RemoveItem)) for edit in edits) else set()
    for index, change in changed.items():
        old.update(re.findall(r"t[0-9]+q", before.items[index].text))
        if "gone" in change:
            new.add("<!-- -->")
        if "text" in change:
            new.add(safe_text(change["text"]))
        new |= {change["id"]} - {""} if "id" in change else set()
    for edit in edits:
        if isinstance(edit, (Insert, Provenance)):
            title = edit.group.replace("_", "\\_").replace("#", "\\#")
            whole |= {f"# Task Group: {edit.group}", f"# Task Group: {title}", f"scope: {edit.group}"}
        if isinstance(edit, Insert):
            new.add(f"^{edit.id}")
            whole.add(f"## {edit.heading}")
        elif isinstance(edit, Provenance):
            whole |= {f"## Task {n}: {edit.task_title}" for n in range(1, 9)}
            whole |= {"### rollout_summary_files", "### keywords", "- kw"}
            new.add(f"rollout_summaries/{edit.summary_file}")
    return Allowed(old, new, whole, marker is not None)


def check_lines(before: bytes, after: bytes, may: Allowed) -> None:
    """All other lines are there, in order and byte for byte, and blank lines change only beside a change."""
    bom = b"\xef\xbb\xbf"
    assert before.startswith(bom) == after.startswith(bom)
    old, new = split(before.removeprefix(bom)), split(after.removeprefix(bom))
    kept, gaps_old = parted(old, lambda line: not may.may_go(line.rstrip("\r\n")))
    waiting = iter(kept)
    expected = next(waiting, "")

    def stays(line: str) -> bool:
        nonlocal expected
        # What comes after a last line without a line end gives it one.
        if line == expected or (not ended(expected) and line.rstrip("\r\n") == expected):
            expected = next(waiting, "")
            return True
        assert may.may_come(line.rstrip("\r\n")), line
        return False

    kept_new, gaps_new = parted(new, stays)
    assert expected == "" and len(kept_new) == len(kept)
    for one, other in zip(gaps_old, gaps_new, strict=True):
        if not any(line.strip() for line in [*one, *other]):
            assert one == other
        assert longest_run(other) <= max(1, longest_run(one))


def split(data: bytes) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", data.decode("utf-8", "surrogateescape"))


def ended(line: str) -> bool:
    return line.endswith(("\r", "\n"))


def parted(lines: list[str], stays: Callable[[str], bool]) -> tuple[list[str], list[list[str]]]:
    """The lines that stay, and before, between and after them those that do not and the blank ones."""
    kept: list[str] = []
    gaps: list[list[str]] = [[]]
    for line in lines:
        if line.strip() and stays(line):
            kept.append(line)
            gaps.append([])
        else:
            gaps[-1].append(line)
    return kept, gaps


def longest_run(gap: list[str]) -> int:
    return max(
        (len(list(run)) for blank, run in itertools.groupby(gap, lambda line: not line.strip()) if blank), default=0
    )


# --- formatters ------------------------------------------------------------------------------------------------------


def what_is_said(of: Document) -> list[tuple[object, ...]]:
    return [(item.id, item.normal, item.group, item.section, item.task, item.refs, item.checked) for item in of.items]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_mdformat_is_no_edit(seed: int) -> None:
    rng = Random(seed)
    before = Document.parse(Draft(rng).data(plain=True)).edit(
        [Insert(rng.choice(NEW_TEXTS), "m-ffffffffff", "invoices")], 8
    )
    after = Document.parse(mdformat.text(before.data.decode()).encode())
    assert what_is_said(after) == what_is_said(before)
    assert after.provenance == before.provenance
    assert after.marker == 8


def prettier() -> list[str] | None:
    local = REPO / "node_modules" / ".bin" / "prettier"
    named = os.environ.get("PRETTIER", str(local) if local.exists() else "")
    return [named] if named and shutil.which("node") else None


@pytest.mark.skipif(prettier() is None, reason="prettier is not installed (node_modules, or its path in PRETTIER)")
@pytest.mark.timeout(120)
def test_prettier_is_no_edit(tmp_path: Path) -> None:
    written = {}
    for seed in range(100):
        rng = Random(seed)
        before = Document.parse(Draft(rng).data(plain=True)).edit([Insert(rng.choice(NEW_TEXTS), "m-ffffffffff")], 8)
        written[tmp_path / f"{seed}.md"] = before
        (tmp_path / f"{seed}.md").write_bytes(before.data)
    subprocess.run([*(prettier() or []), "--write", "--log-level", "warn", str(tmp_path)], check=True, timeout=100)
    for path, before in written.items():
        after = Document.parse(path.read_bytes())
        assert what_is_said(after) == what_is_said(before), path.name
        assert after.provenance == before.provenance
        assert after.marker == 8
