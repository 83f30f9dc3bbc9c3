"""A person's edits win: whatever they do to the files, their bytes stay, and what they took out stays out."""

from __future__ import annotations

import difflib
import os
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mdformat
import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.document import Document, normalise
from sandbox_memory.doors.plain import open_memory
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
from sandbox_memory.pipeline import Pipeline, commands
from sandbox_memory.records import Record, Status, Trust, Usage
from sandbox_memory.state import State
from sandbox_memory.workspace.local import LocalWorkspace

from .killing import Counter, calls_of, forked
from .kit import LIMITS, EchoModel, agree, handbook, layout, pipeline, process, run, said, state, tell, texts

PORT = "the staging port is 8443"
REVIEW = "I always review migrations myself"
TABS = "never use tabs in this repository"
ID = re.compile(r"[ \t]*\^m-[0-9a-f]{10}(?=[ \t]*\r?$)", re.M)
MARKER = re.compile(r"\r?\n*<!-- memory:\d+ -->[ \t]*(?=\r?$)", re.M)


def summary(root: Path) -> Path:
    return root / "memories" / "memory_summary.md"


def inbox(root: Path) -> Path:
    return root / "memories" / "INBOX.md"


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def edit(path: Path, old: str, new: str) -> None:
    text = read(path)
    assert old in text, text
    write(path, text.replace(old, new))


def drop(path: Path, needle: str) -> None:
    write(path, "".join(line for line in read(path).splitlines(keepends=True) if needle not in line))


def bare(text: str) -> str:
    """The text without what is ours in it: block ids and the marker."""
    return ID.sub("", MARKER.sub("", text))


def consistent(root: Path) -> State:
    """Assert that ledger and markdown say the same, compared as a formatter leaves it; the state."""
    ledger = parse((root / "memories" / "ledger.jsonl").read_bytes())
    assert not ledger.problems
    now = state(root)
    document = Document.parse(handbook(root).read_bytes())
    assert document.marker == now.ordinal
    items = [(item.id, item.normal) for item in document.items if item.normal]
    assert len(items) == len(set(items)) == len({id for id, _ in items})
    assert dict(items) == {r.id: normalise(r.text) for r in now.visible().values()}
    return now


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def settled(root: Path) -> None:
    """Assert that taking in what is there once more writes nothing at all."""
    before = files(root)
    run(pipeline(root).adopt())
    process(root)
    assert files(root) == before


def record(root: Path, needle: str) -> Record:
    (found,) = [r for r in state(root).visible().values() if needle in r.text]
    return found


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
        lines[self.place(lines) :][:0] = []
        at = self.place(lines)
        style = self.rng.choice(["- {}", "- {}", "* {}", "1. {}", "- [ ] {}", "  - {}", "- **{}** `code`", "- 中文{}行"])
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

    def some(self, lines: list[str]) -> list[int]:
        found = self.bullets(lines)
        return [self.rng.choice(found)] if found else []

    def edit(self, text: str) -> str:
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(newline)
        tail = [line for line in lines if MARKER.fullmatch(line)]
        lines = [line for line in lines if not MARKER.fullmatch(line)]
        moves = [self.add, self.block, self.change, self.retype, self.delete, self.move]
        moves += [self.copy, self.split, self.strip, self.swap, self.rename]
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice(moves)(lines)
        text = newline.join([*lines, *tail, ""] if tail else lines)
        return text.replace(newline, self.rng.choice([newline, newline, "\n", "\r\n"]))


REWORDINGS: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: f"They said that {text}",
    lambda text: text.upper(),
    lambda text: f"Remember: {text}.",
]


class Renaming(EchoModel):
    """Rewords, renames the subject each time, and quotes with some of the words around."""

    turns = 0

    async def answer(self, request: Any) -> Answer[Any]:
        self.turns += 1
        found = await super().answer(request)
        if request.task == EXTRACTION:
            for memory in found.value.memories:
                memory.subject = f"subject {self.turns} of {len(memory.text)}"
        return found


@pytest.mark.parametrize("seed", range(60))
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
    """Assert that what the person saved is there byte for byte, and beside it only the lines for what was said since."""
    mine, theirs = bare(before).split("\n"), bare(after).split("\n")
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        assert not [line for line in mine[a1:a2] if line.strip()], (mine[a1:a2], theirs[b1:b2])
        for line in theirs[b1:b2]:
            own = line.strip().removeprefix("- ").removeprefix("* ")
            assert (
                not own
                or own in fresh
                or (fresh and re.match(r"#{1,3} |scope: |rollout_summaries/", own))
                or (fresh and re.match(r"\d+[.)] ", own) and own.split(" ", 1)[1] in fresh)
            ), (line, fresh)
    for text in fresh:
        assert after.count(text) == 1
