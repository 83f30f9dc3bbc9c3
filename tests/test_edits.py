"""A person's edits win: whatever they do to the files, their bytes stay, and what they took out stays out."""

from __future__ import annotations

import difflib
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import mdformat
import pytest

from sandbox_memory import open_memory
from sandbox_memory.blocks import split
from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.document import Document
from sandbox_memory.ledger import parse
from sandbox_memory.models import (
    EXTRACTION,
    Answer,
    ConsolidationDraft,
    DraftOperation,
    ExtractionDraft,
    MemoryDraft,
    QuoteDraft,
)
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.records import Status, Trust, Usage
from sandbox_memory.workspace.local import LocalWorkspace

from .editing import (
    ID,
    MARKER,
    PORT,
    REVIEW,
    REWORDINGS,
    TABS,
    TOKEN,
    Meanwhile,
    Renaming,
    bare,
    consistent,
    decide,
    drop,
    drop_line,
    edit,
    inbox,
    read,
    record,
    settled,
    summary,
    write,
)
from .killing import Counter, calls_of, forked
from .kit import LIMITS, EchoModel, handbook, layout, pipeline, process, run, said, state, tell, texts

# ---------------------------------------------------------------- random edits


class Person:
    """Makes random edits of a MEMORY.md as its lines, bare of what is ours only where an edit means it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.count = rng, 0
        self.deleted = 0

    def word(self) -> str:
        self.count += 1
        return f"H{self.rng.randrange(10**6)}x{self.count}"

    def bullets(self, lines: Sequence[str]) -> list[int]:
        return [n for n, line in enumerate(lines) if re.match(r"\s*[-*] .*\^m-", line)]

    def place(self, lines: Sequence[str]) -> int:
        """Before a line that is blank or a bullet, so that nothing is torn apart."""
        free = [n for n, line in enumerate(lines) if not line.strip() or line.startswith(("- ", "#"))]
        return self.rng.choice(free or [len(lines)])

    def add(self, lines: list[str]) -> None:
        at = self.place(lines)
        style = self.rng.choice(
            ["- {}", "- {}", "* {}", "1. {}", "- [ ] {}", "  - {}", "- **{}** `code`", "- 中文{}行"]
        )
        lines[at:at] = [style.format(f"mine {self.word()}")]

    def block(self, lines: list[str]) -> None:
        token = self.word()
        kinds = [
            ["", f"A paragraph {token} of mine.", ""],
            ["", "| a | b |", "|---|---|", f"| {token} | 2 |", ""],
            ["", "```sh", f"- not a line {token} ^m-0123456789", "```", ""],
            ["", "<details>", f"<p>{token}</p>", "</details>", ""],
            ["", f"> - quoted {token}", ""],
            ["", f"中文段落 {token}。", ""],
            ["", f"<!-- a comment {token} -->", ""],
            ["", f"## Section {token}", ""],
        ]
        at = self.place(lines)
        lines[at:at] = self.rng.choice(kinds)

    def change(self, lines: list[str]) -> None:
        for n in self.some(lines):
            head, mark, id = lines[n].rpartition(" ^m-")
            lines[n] = f"{head} really {self.word()}{mark}{id}"

    def retype(self, lines: list[str]) -> None:
        for n in self.some(lines):
            lines[n] = f"- wholly other words {self.word()}{lines[n][lines[n].index(' ^m-') :]}"

    def delete(self, lines: list[str]) -> None:
        for n in self.some(lines):
            del lines[n]
            self.deleted += 1

    def move(self, lines: list[str]) -> None:
        for n in self.some(lines):
            line = lines.pop(n)
            at = self.place(lines)
            lines[at:at] = [line.strip()]

    def copy(self, lines: list[str]) -> None:
        for n in self.some(lines):
            at = self.place(lines)
            lines[at:at] = [lines[n].strip()]

    def split(self, lines: list[str]) -> None:
        for n in self.some(lines):
            first, mark, id = lines[n].rpartition(" ^m-")
            words = first.split(" ")
            half = len(words) // 2
            lines[n : n + 1] = [" ".join(words[:half]) + mark + id, f"- {self.word()} " + " ".join(words[half:])]

    def strip(self, lines: list[str]) -> None:
        for n in self.bullets(lines)[: self.rng.choice([1, 2, 100])]:
            lines[n] = ID.sub("", lines[n])

    def swap(self, lines: list[str]) -> None:
        found = self.bullets(lines)
        if len(found) > 1:
            one, two = self.rng.sample(found, 2)
            (a, ia), (b, ib) = (lines[n].rsplit(" ^", 1) for n in (one, two))
            lines[one], lines[two] = f"{a} ^{ib}", f"{b} ^{ia}"

    def rename(self, lines: list[str]) -> None:
        for n, line in enumerate(lines):
            if line.startswith("# "):
                lines[n] = f"{line} {self.word()}"
                return

    def remove(self, lines: list[str]) -> None:
        others = [n for n in range(len(lines)) if n not in self.bullets(lines)]
        if others:
            del lines[self.rng.choice(others)]

    def indent(self, lines: list[str]) -> None:
        for n in self.some(lines):
            lines[n] = self.rng.choice(["  ", "    ", "> ", "\t"]) + lines[n]

    def join(self, lines: list[str]) -> None:
        """Two lines become one, as when the line end between them is deleted."""
        for n in self.some(lines)[:1]:
            if n + 1 < len(lines):
                lines[n : n + 2] = [ID.sub("", lines[n]) + " " + lines[n + 1].strip()]

    def some(self, lines: list[str]) -> list[int]:
        found = self.bullets(lines)
        return [self.rng.choice(found)] if found else []

    def moves(self) -> list[Callable[[list[str]], None]]:
        moves = [self.add, self.block, self.change, self.retype, self.delete, self.move]
        return [*moves, self.copy, self.split, self.strip, self.swap, self.rename, self.remove, self.indent, self.join]

    def edit(self, text: str) -> str:
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(newline)
        tail = [line for line in lines if MARKER.fullmatch(line)]
        lines = [line for line in lines if not MARKER.fullmatch(line)]
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice(self.moves())(lines)
        text = newline.join([*lines, *tail, ""] if tail else lines)
        return text.replace(newline, self.rng.choice([newline, newline, "\n", "\r\n"]))


SEEDS = [*range(7), *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(7, 80))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_edits(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    person = Person(rng)
    for part in range(2):
        tell(tmp_path, *(f"fact {part}{n} says F{part}{n}z holds" for n in range(5)), rollout=f"old-{part}")
    process(tmp_path)
    for turn in range(12):
        before = person.edit(read(handbook(tmp_path)))
        write(handbook(tmp_path), before)
        fresh = [f"news {seed} {turn} {n} came in" for n in range(rng.choice([0, 0, 1]))]
        tell(tmp_path, *fresh, rollout=f"news-{rng.randrange(3)}")
        reword = rng.choice(REWORDINGS)
        model = Renaming(lambda text, fresh=fresh, reword=reword: text if text in fresh else reword(text))
        process(tmp_path, model, again=rng.random() < 0.4)
        after = read(handbook(tmp_path))
        unchanged(before, after, fresh)
        consistent(tmp_path)
        settled(tmp_path)
        if rng.random() < 0.15:
            write(handbook(tmp_path), mdformat.text(read(handbook(tmp_path))))
            formatted, ordinal = bare(read(handbook(tmp_path))), state(tmp_path).ordinal
            process(tmp_path)
            assert bare(read(handbook(tmp_path))) == formatted and state(tmp_path).ordinal == ordinal
    found = [c.actor for c in parse((tmp_path / "memories" / "ledger.jsonl").read_bytes()).commits]
    assert "live" not in found and "import" not in found


def unchanged(before: str, after: str, fresh: Sequence[str]) -> None:
    """Assert that what the person saved is there byte for byte, beside it only the lines for what was said since."""
    mine, theirs = bare(before).split("\n"), bare(after).split("\n")
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        assert not [line for line in mine[a1:a2] if line.strip()], (mine[a1:a2], theirs[b1:b2])
        for line in theirs[b1:b2]:
            own = re.sub(r"^([-*+]|\d+[.)])\s+(\[.\] )?", "", line.strip())
            made = fresh and re.match(r"#{1,3} |scope: |rollout_summaries/", own)
            assert not own or own in fresh or made, (line, fresh)
    for text in fresh:
        assert after.count(text) == 1


@pytest.mark.parametrize("seed", SEEDS[:4] + SEEDS[7:40])
def test_random_edits_in_both_files(tmp_path: Path, seed: int) -> None:
    """Every word that the person wrote stands in one of the files until they take it out themselves."""
    rng = random.Random(seed + 1000)
    person = Person(rng)
    tell(tmp_path, *(f"fact {n} says F{n}z holds" for n in range(9)), rollout="old")
    process(tmp_path)
    paths = [handbook(tmp_path), summary(tmp_path)]
    for turn in range(10):
        before = [set(TOKEN.findall(read(path))) for path in paths]
        for path in rng.choice([paths, paths[1:]]):
            write(path, person.edit(read(path)))
        after = [set(TOKEN.findall(read(path))) for path in paths]
        if rng.random() < 0.3:
            tell(tmp_path, f"news {seed} {turn} came in", rollout=f"news-{rng.randrange(3)}")
        process(tmp_path, Renaming(rng.choice(REWORDINGS)), again=rng.random() < 0.4)
        consistent(tmp_path)
        there = "".join(read(path) for path in [*paths, inbox(tmp_path)])
        taken_out = (before[0] - after[0]) | (before[1] - after[1])
        assert (after[0] | after[1]) - taken_out <= set(TOKEN.findall(there))
        assert split(paths[1].read_bytes()).touched is False
        settled(tmp_path)


class Tasks(Person):
    """Edits what frames the lines as well: tasks, their numbers and files, references, groups, line breaks."""

    def renumber(self, lines: list[str]) -> None:
        for n, line in enumerate(lines):
            if (found := re.match(r"## Task (\d+): ", line)) and self.rng.random() < 0.5:
                lines[n] = line.replace(found[1], str(int(found[1]) + self.rng.choice([1, 2, 5])), 1)

    def task(self, lines: list[str]) -> None:
        found = [n for n, line in enumerate(lines) if line.startswith("## Task")]
        if found:
            first = last = self.rng.choice(found)
            stop = self.rng.choice([("#",), ("## ", "# ")])
            while last + 1 < len(lines) and not lines[last + 1].startswith(stop):
                last += 1
            del lines[first : last + 1]

    def cite(self, lines: list[str]) -> None:
        for n in self.some(lines):
            head, mark, id = lines[n].rpartition(" ^m-")
            lines[n] = f"{head} [Task {self.rng.randint(1, 4)}]{mark}{id}"

    def uncite(self, lines: list[str]) -> None:
        for n in self.some(lines):
            lines[n] = re.sub(r" \[Task \d+\](?=.*\^m-)", "", lines[n])

    def note(self, lines: list[str]) -> None:
        found = [n for n, line in enumerate(lines) if line.startswith(("- rollout_s", "## Task", "### ", "scope"))]
        if found:
            n = self.rng.choice(found)
            added = [["", "Prose {}.", ""], ["- bullet {}"], ["", "### {}", ""], ["", "# Task Group: {}", ""]]
            more = self.rng.choice([None, *added])
            if more is None:
                lines[n] += f" {self.word()}"
            else:
                lines[n + 1 : n + 1] = [line.format(self.word()) for line in more]

    def wrap(self, lines: list[str]) -> None:
        for n in self.some(lines):
            words = lines[n].split(" ")
            lines[n : n + 1] = [" ".join(words[:4]), *(["  " + " ".join(words[4:])] if words[4:] else [])]

    def type(self, lines: list[str]) -> None:
        at = self.place(lines)
        forms = ["see {} [Task 2]", "{} [Task 1](x)", "[Task 3] {}", "{} `[Task 1]`", "{} [Task 1], [Task 2]"]
        lines[at:at] = ["- " + self.rng.choice(forms).format(self.word())]

    def merge(self, lines: list[str]) -> None:
        found = [n for n, line in enumerate(lines) if line.startswith("# ")]
        if len(found) > 1:
            del lines[self.rng.choice(found[1:])]

    def moves(self) -> list[Callable[[list[str]], None]]:
        mine = [self.renumber, self.task, self.cite, self.uncite, self.note, self.wrap, self.type, self.merge]
        return [*super().moves(), *mine]


@pytest.mark.parametrize("seed", SEEDS[:4] + SEEDS[7:60])
def test_random_edits_while_conversations_drop_out(tmp_path: Path, seed: int) -> None:
    """Lines of ours and their tasks go with their conversations; what the person wrote stays, references too."""
    rng = random.Random(seed + 2000)
    person, generate = Tasks(rng), MemoryGenerateConfig(max_raw_memories_for_consolidation=2)
    for part in range(2):
        tell(tmp_path, *(f"fact {part}{n} says F{part}{n}z holds" for n in range(4)), rollout=f"old-{part}")
    process(tmp_path, generate=generate)
    for turn in range(10):
        before = person.edit(read(handbook(tmp_path)))
        write(handbook(tmp_path), before)
        if rng.random() < 0.5:
            tell(tmp_path, f"news {seed} {turn} came in", rollout=f"news-{rng.randrange(4)}")
        process(tmp_path, Renaming(lambda text: text), generate=generate, again=rng.random() < 0.2)
        after = read(handbook(tmp_path))
        consistent(tmp_path)
        old, new = (set(re.sub(r"[ \t]*\^m-[0-9a-f]{10}", "", text).splitlines()) for text in (before, after))
        assert {line for line in old if TOKEN.search(line)} <= new
        cited(before, after)
        settled(tmp_path, generate=generate)


def cited(before: str, after: str) -> None:
    """Assert that lines lost only references to tasks of dropped conversations, and won only such to known ones."""
    old, new = (Document.parse(text.encode()) for text in (before, after))
    dropped = {file for files in old.provenance.values() for file in files}
    dropped -= {file for files in new.provenance.values() for file in files}
    for item in old.items:
        same = [[each for each in of.items if each.normal == item.normal] for of in (old, new)]
        if [len(each) for each in same] == [1, 1]:
            now = same[1][0]
            lost, won = (set(a.refs_at_end) - set(b.refs_at_end) for a, b in ((item, now), (now, item)))
            assert all(dropped.intersection(old.provenance.get((item.group, number), ())) for number in lost)
            assert all((now.group, number) in new.provenance for number in won)


# ---------------------------------------------------------------- the summary, and both files at once


def test_whatever_is_written_into_the_summary_stays(root: Path) -> None:
    path = summary(root)
    outside = "\ufeff# My summary\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    below = "\n\nBelow: 中文 **words**\n<b>html</b>\n"
    text = read(path).replace("- never", "- a line of mine\n- never").replace("8443", "9443")
    text = text.replace(
        "<!-- memory:end", "\nA paragraph of mine.\n\n```sh\n- no line\n```\n\n## A heading\n\n<!-- memory:end"
    )
    write(path, outside + drop_line(text, "review") + below)
    process(root)
    now = consistent(root)
    assert texts(root) == {"the staging port is 9443", "a line of mine", TABS}
    assert record(root, "of mine").trust is Trust.HAND and record(root, "9443").protected
    written = read(path)
    assert written.startswith(outside) and written.endswith(below)
    assert "A paragraph of mine.\n\n```sh\n- no line\n```\n\n## A heading\n" in written
    assert written.count("a line of mine") == 1 and len(now.proposals) == 0
    settled(root)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("part", ["begin", "end", "both", "half", "all"])
def test_a_broken_block_is_mended(root: Path, part: str, newline: str) -> None:
    path = summary(root)
    before = texts(root)
    text = "Mine above.\n\n" + read(path) + "\nMine below.\n"
    if part == "half":
        text = text[: text.index("never use") + 6]
    elif part == "all":
        text = "Mine above.\n\nMine below.\n"
    else:
        for name in ("begin", "end") if part == "both" else (part,):
            text = re.sub(rf"<!-- memory:{name} \w+ -->\n", "", text)
    write(path, text.replace("\n", newline))
    process(root)
    consistent(root)
    assert texts(root) == before
    written = read(path).replace(newline, "\n")
    assert written.startswith("Mine above.\n") and ("Mine below." in written or part == "half")
    if part != "both":
        assert all(written.count(text) == 1 for text in before)
    settled(root)


def test_edits_in_both_files_are_both_kept(root: Path) -> None:
    line = next(line for line in read(handbook(root)).splitlines() if "8443" in line)
    drop(handbook(root), "8443")
    write(handbook(root), f"# Task Group: Elsewhere\n\n{line}\n\n" + read(handbook(root)))
    edit(summary(root), "8443", "9443")
    edit(handbook(root), "use tabs", "use hard tabs")
    drop(summary(root), "review")
    process(root)
    consistent(root)
    assert texts(root) == {"the staging port is 9443", "never use hard tabs in this repository"}
    assert record(root, "9443").group == "Elsewhere"
    settled(root)


@pytest.mark.parametrize("accept", [False, True])
@pytest.mark.parametrize("gone", [False, True], ids=["changed", "deleted"])
def test_one_line_changed_twice_is_asked_about(root: Path, gone: bool, accept: bool) -> None:
    if gone:
        drop(handbook(root), "8443")
    else:
        edit(handbook(root), "8443", "9443")
    edit(summary(root), "8443", "7443")
    process(root)
    consistent(root)
    there = {REVIEW, TABS} | (set() if gone else {"the staging port is 9443"})
    assert texts(root) == there
    assert "7443" in read(inbox(root))
    settled(root)
    decide(root, accept, "7443")
    assert texts(root) == (({REVIEW, TABS, "the staging port is 7443"}) if accept else there)
    assert "- [" not in read(inbox(root))
    consistent(root)


def test_the_same_change_in_both_files_is_one(root: Path) -> None:
    edit(handbook(root), "8443", "9443")
    edit(summary(root), "8443", "9443")
    process(root)
    assert texts(root) == {"the staging port is 9443", REVIEW, TABS} and not state(root).proposals


def test_a_line_of_the_summary_is_not_taken_in_twice(root: Path) -> None:
    edit(summary(root), "<!-- memory:end", "- a line of mine\n<!-- memory:end")
    line = Pipeline(Crashing(root), layout(), generate=MemoryGenerateConfig())
    with pytest.raises(OSError, match="crash"):
        run(line.adopt())
    process(root)
    consistent(root)
    assert [text for text in texts(root) if "mine" in text] == ["a line of mine"]
    items = [item.text for item in Document.parse(handbook(root).read_bytes()).items]
    assert items.count("a line of mine") == 1


class Crashing(LocalWorkspace):
    """Dies between the commit and the views of the first transaction that has both."""

    dead = False

    async def transact(self, steps: Any, **options: Any) -> Any:
        from sandbox_memory.workspace import Append

        first = [step for step in steps if isinstance(step, Append) and step.path.endswith("ledger.jsonl")]
        if first and len(steps) > 1 and any(step.path.endswith("MEMORY.md") for step in steps):
            await super().transact(first, **options)
            raise OSError("crash")
        return await super().transact(steps, **options)


class Planned(EchoModel):
    """Extracts as it was said, and proposes what it is told to for the first record that has the needle."""

    def __init__(self, op: str, needle: str, text: str = "") -> None:
        super().__init__()
        self.op, self.needle, self.text = op, needle, text

    async def answer(self, request: Any) -> Answer[Any]:
        if request.task == EXTRACTION:
            return await super().answer(request)
        names = [f"r{n}" for n, r in enumerate(request.material.records, 1) if self.needle in r.text][:1]
        draft = DraftOperation(op=self.op, candidates=["c1"], records=names if self.op != "add" else [], text=self.text)
        return Answer(ConsolidationDraft(operations=[draft]), Usage(1, 1, 1))


EDITS: dict[str, Callable[[Path], None]] = {
    "change": lambda root: edit(handbook(root), "8443", "7443"),
    "delete": lambda root: drop(handbook(root), "8443"),
    "add": lambda root: edit(handbook(root), "- never", "- mine, meanwhile\n- never"),
    "move": lambda root: move_up(root, "8443"),
    "change in the summary": lambda root: edit(summary(root), "8443", "7443"),
    "delete in the summary": lambda root: drop(summary(root), "8443"),
    "add in the summary": lambda root: edit(summary(root), "- never", "- mine, meanwhile\n- never"),
}


def move_up(root: Path, needle: str) -> None:
    line = next(line for line in read(handbook(root)).splitlines() if needle in line)
    drop(handbook(root), needle)
    write(handbook(root), f"# Task Group: Elsewhere\n\n{line}\n\n" + read(handbook(root)))


@pytest.mark.parametrize("how", ["race", "crash"])
@pytest.mark.parametrize("op", ["add", "support", "supersede", "merge"])
@pytest.mark.parametrize("name", sorted(EDITS))
def test_edits_while_a_consolidation_commits(root: Path, op: str, name: str, how: str) -> None:
    tell(root, "the staging port is 9443 now")
    text = "the staging port is 9443 now" if op != "merge" else "the staging port is 9443 now, was 8443"
    model = Planned(op, "8443", text)
    if how == "race":
        workspace: LocalWorkspace = Meanwhile(root, lambda: EDITS[name](root))
        run(Pipeline(workspace, layout(), generate=MemoryGenerateConfig()).process((model, model), LIMITS))
    else:
        crash = Pipeline(Crashing(root), layout(), generate=MemoryGenerateConfig())
        with pytest.raises(OSError, match="crash"):
            run(crash.process((model, model), LIMITS))
        EDITS[name](root)
    process(root)
    now = consistent(root)
    seen = texts(root)
    assert {REVIEW, TABS} <= seen
    if name.startswith("change"):
        assert "the staging port is 7443" in seen and PORT not in seen
        mine = record(root, "7443")
        assert mine.trust is Trust.HAND and mine.protected
    elif name.startswith("delete"):
        assert PORT not in seen
    elif name.startswith("add"):
        assert "mine, meanwhile" in seen
    elif op in ("add", "support"):
        assert record(root, "8443").group == "Elsewhere"
    if op in ("supersede", "merge") and name in ("change", "delete"):
        assert [p for p in now.proposals.values() if text in p.text], "what replaced the line is asked about"
    if op in ("add", "supersede", "merge"):
        assert text in seen
    settled(root)
    process(root, Renaming(REWORDINGS[len(name + op) % len(REWORDINGS)]), again=True)
    assert texts(root) == seen


# ---------------------------------------------------------------- deletions


class Echoing(EchoModel):
    """Quotes the agent, who repeated what the user said, in words of the extractor's own."""

    async def answer(self, request: Any) -> Answer[Any]:
        if request.task != EXTRACTION:
            return await super().answer(request)
        memories = [
            MemoryDraft(
                kind="fact",
                text=self.rephrase(item.text),
                quotes=[QuoteDraft(item=f"s{n}.{item.index}", text=item.text)],
            )
            for n, segment in enumerate(request.material.rollout.segments, 1)
            for item in segment.items
            if item.role == "assistant"
        ]
        draft = ExtractionDraft(task="T", slug="t", summary="S.", raw_memory="R.", memories=memories)
        return Answer(draft, Usage(1, 1, 1))


def test_a_deleted_line_does_not_come_back_by_an_echo(tmp_path: Path) -> None:
    async def hear(text: str, answer: str) -> None:
        await pipeline(tmp_path).record(said(text, answer=answer))

    run(hear(PORT, f"Noted: {PORT}. I also found that the log is in var/log/app.txt."))
    process(tmp_path)
    drop(handbook(tmp_path), "8443")
    for reword in REWORDINGS:
        process(tmp_path, Echoing(reword), again=True)
        assert not texts(tmp_path)
    for text in (PORT, "staging 端口是 8443", "the port of staging is 8443"):
        process(tmp_path, Echoing(lambda _, text=text: text), again=True)
        assert not texts(tmp_path)
    process(tmp_path, Echoing(lambda _: "the log is in var/log/app.txt"), again=True)
    assert texts(tmp_path) == {"the log is in var/log/app.txt"}
    run(hear("hm", f"I looked: {PORT}."))
    process(tmp_path, Echoing())
    assert texts(tmp_path) == {"the log is in var/log/app.txt"}, "a person took it out, and a person brings it back"


def translated(text: str) -> str:
    return {
        PORT: "staging 端口是 8443",
        REVIEW: "migrations 我总是自己 review",
        TABS: "never use tabs, 本仓库 repository",
    }.get(text, text)


def test_changed_stays_changed_also_when_deleted_and_pasted_back(root: Path) -> None:
    edit(handbook(root), "8443", "9443")
    process(root)
    line = next(line for line in read(handbook(root)).splitlines() if "9443" in line)
    drop(handbook(root), "9443")
    process(root)
    write(handbook(root), f"{line}\n\n{read(handbook(root))}")
    process(root)
    for reword in REWORDINGS:
        process(root, Renaming(reword), again=True)
        assert texts(root) == {"the staging port is 9443", REVIEW, TABS}


def test_deleted_stays_deleted_over_ten_extractions(root: Path) -> None:
    drop(handbook(root), "8443")
    edit(handbook(root), "myself", "with a colleague")
    rewordings = [*REWORDINGS, translated] * 2
    for reword in rewordings:
        process(root, Renaming(reword), again=True)
        assert texts(root) == {"I always review migrations with a colleague", TABS}
    tell(root, "by the way, the staging port is 8443 again")
    process(root, Renaming(), again=True)
    assert "by the way, the staging port is 8443 again" in texts(root)
    consistent(root)


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("first", ["deleted", "said"])
def test_a_deletion_counts_from_when_it_was_saved(tmp_path: Path, first: str, goes_on: bool) -> None:
    """What is said about it in other words stays away if it was said before that, however late anybody looks.

    So it does where that conversation goes on after the deletion, about something else.
    """

    class Model(EchoModel):
        async def answer(self, request: Any) -> Answer[Any]:
            found = await super().answer(request)
            for memory in found.value.memories if request.task == EXTRACTION else ():
                memory.subject = "seat"
            return found

    acts = [partial(drop, handbook(tmp_path), "prefers"), partial(tell, tmp_path, "row 12 would be fine", rollout="b")]
    tell(tmp_path, "the user prefers to sit at a window", rollout="a")
    process(tmp_path, Model())
    for act in acts if first == "deleted" else reversed(acts):
        act()
        time.sleep(0.02)  # the clock of a file system ticks every few milliseconds
    if goes_on:
        tell(tmp_path, "that is all", rollout="b")
    process(tmp_path, Model())
    assert ("row 12 would be fine" in texts(tmp_path)) is (first == "deleted")


def test_history_tells_when_an_edit_was_saved(root: Path) -> None:
    """Not when it was taken in; never before what was committed, nor later than now, whatever a file's time says."""
    looked = datetime.now(tz=timezone.utc) + timedelta(days=3)
    day = timedelta(days=1).total_seconds()
    for saved, told in ((day, day), (-9 * day, day), (2 * day, 2 * day), (99 * day, 3 * day)):
        edit(handbook(root), "# Task Group: ", "# Task Group: Our ")
        status, begun_at = handbook(root).stat(), looked.timestamp() - 3 * day
        os.utime(handbook(root), (status.st_atime, begun_at + saved))
        run(pipeline(root, now=lambda: looked).adopt())
        newest = parse((root / layout().ledger).read_bytes()).commits[-1]
        assert abs(datetime.fromisoformat(newest.at).timestamp() - begun_at - told) < 0.002


# ---------------------------------------------------------------- killed, edited, reopened


@pytest.mark.parametrize("name", ["change", "delete"])
def test_edited_between_a_kill_and_the_reopening(
    root: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    tell(root, "the staging port is 9443 now")
    copy = tmp_path_factory.mktemp("killed") / "ws"

    def work(acknowledge: Callable[[Any], None]) -> None:
        model = Planned("supersede", "8443", "the staging port is 9443 now")
        run(pipeline(copy).process((model, model), LIMITS))

    def start() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy)

    start()
    for at in range(2, calls_of(work) + 1, 5):
        start()
        forked(work, Counter(at))
        shown = PORT in texts(copy)
        if shown:
            EDITS[name](copy)
        model = Planned("supersede", "8443", "the staging port is 9443 now")
        process(copy, model)
        consistent(copy)
        seen = texts(copy)
        assert not shown or PORT not in seen
        assert not (shown and name == "change") or "the staging port is 7443" in seen
        assert {REVIEW, TABS} <= seen


def test_notes_that_a_person_worked_on_stay_as_they_are(root: Path) -> None:
    """Reading the same runs again adds nothing below them."""
    (notes,) = (root / "memories" / "raw_memories").glob("*.md")
    write(notes, read(notes).replace("- fact", "* fact") + "\nMy own remark.\n")
    mine = read(notes)
    for _ in range(3):
        process(root, again=True)
        assert read(notes) == mine and mine.strip() in read(root / "memories" / "raw_memories.md")


RETOLD = {
    "the same memory": "ask Ada for the number before you connect",
    "in Chinese": "连接之前先问 Ada 端口号",
    "another memory": "Alice prefers oolong tea",
}


@pytest.mark.parametrize("path", [handbook, summary], ids=["handbook", "summary"])
@pytest.mark.parametrize("words", sorted(RETOLD))
def test_a_line_typed_over_another_takes_its_place(root: Path, words: str, path: Callable[[Path], Path]) -> None:
    """With its pin and its importance; the old words stay in the history, and out of the memory."""
    memory, text = open_memory(root), RETOLD[words]
    old = record(root, PORT)
    memory.revise(old.id, importance=0.35, pinned=True)
    if path is summary:
        write(summary(root), read(summary(root)).replace(f"- {PORT}", f"- {text}"))
    else:
        edit(handbook(root), PORT, text)
    process(root)
    consistent(root)
    new = record(root, text)
    assert (new.pinned, new.importance, new.kind, new.trust) == (True, 0.35, old.kind, Trust.HAND) and new.protected
    gone = state(root).records[old.id]
    assert (gone.status, gone.superseded_by, gone.text) == (Status.SUPERSEDED, new.id, PORT)
    (told,) = memory.history()[0]["operations"]
    assert (told["op"], told["text"], told["before"], told["replaces"]) == ("supersede", text, PORT, [old.id])
    assert [each.text for each in memory.why(new.id).replaced] == [PORT]
    for reword in REWORDINGS:
        process(root, Renaming(reword), again=True)
        assert texts(root) == {text, REVIEW, TABS}
    memory.undo(new.created)
    assert texts(root) == {PORT, REVIEW, TABS} and record(root, PORT).pinned
    consistent(root)


@pytest.mark.parametrize("extra", ["", "- typed later\n"])
def test_a_buffer_that_never_reloads_says_each_line_once(root: Path, extra: str) -> None:
    """A line typed over keeps the old id in it, and the old marker stands below."""
    buffer = read(handbook(root)).replace(PORT, "Alice prefers oolong tea")
    for _ in range(3):
        write(handbook(root), buffer)
        process(root)
        buffer = buffer.replace("\n<!--", f"{extra}\n<!--").replace(extra * 2, extra) if extra else buffer
    assert texts(root) == {"Alice prefers oolong tea", REVIEW, TABS} | ({"typed later"} if extra else set())
    consistent(root)


@pytest.mark.parametrize("name", ["MEMORY.md", "memory_summary.md", "INBOX.md"])
def test_a_merge_conflict_is_left_alone_until_it_is_solved(
    full: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    drop(handbook(full), "fact number")  # so many that the inbox asks
    process(full)
    path = full / "memories" / name
    before, known = read(path), state(full).ordinal
    line = next(line for line in before.splitlines() if line.startswith("- "))
    write(path, before.replace(line, f"<<<<<<< HEAD\n{line}\n=======\n- theirs\n>>>>>>> other", 1))
    conflict = read(path)
    process(full)
    assert read(path) == conflict and state(full).ordinal == known
    assert f"{name} has marks of a merge conflict" in caplog.text
    write(path, before)
    process(full)
    assert read(path) == before and state(full).ordinal == known
