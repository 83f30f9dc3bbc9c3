"""Taking commits back, over a random history of everything that changes a memory."""

from __future__ import annotations

import random
import re
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import open_memory
from sandbox_memory.document import Document
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.errors import SandboxMemoryError, Unknown
from sandbox_memory.folding import fold
from sandbox_memory.ledger import Ledger, parse
from sandbox_memory.models import Answer, ConsolidationDraft, ConsolidationMaterial, DraftOperation
from sandbox_memory.records import Record, Status, Usage
from sandbox_memory.state import State

from .editing import PORT, begun, consistent, decide, drop, drop_line, edit, record, settled
from .kit import EchoModel, handbook, history, pipeline, process, run, tell, texts

HANDS = ("hand", "live", "cli")


class Choosing(EchoModel):
    """Adds what it learns, or puts it in the place of a record that it touches, as the dice say."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.dice = dice

    async def answer(self, request: Any) -> Answer[Any]:
        material = request.material
        if isinstance(material, ConsolidationMaterial) and material.records and self.dice.random() < 0.7:
            op = self.dice.choice(["supersede", "support", "supersede"])
            record = f"r{self.dice.randint(1, len(material.records))}"
            names = [f"c{n}" for n, _ in enumerate(material.candidates, 1)]
            operations = [DraftOperation(op=op, candidates=names[:1], records=[record])]
            operations += [DraftOperation(op="add", candidates=[name]) for name in names[1:]]
            return Answer(ConsolidationDraft(operations=operations), Usage(1, 20, 5))
        return await super().answer(request)


class Life:
    """A workspace whose clock and whose people the dice move."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root, self.dice, self.count = root, dice, 0
        self.now = datetime(2026, 1, 1, tzinfo=timezone.utc)
        root.mkdir()

    def lived(self, length: int) -> Life:
        """Itself, once that many commits are in its history."""
        while not (self.root / "memories" / "ledger.jsonl").is_file() or len(history(self.root)) < length:
            self.step()
        return self

    def no_edit(self, root: Path) -> int:
        """Assert that what stands in the file of that copy is no edit; how many commits there are."""
        commits = len(history(root))
        self.memory(root).status()
        assert len(history(root)) == commits
        return commits

    def memory(self, root: Path | None = None) -> OpenMemory:
        return OpenMemory(pipeline(root or self.root, now=lambda: self.now))

    def text(self) -> str:
        self.count += 1
        where = self.dice.choice(["staging", "production", "the lab", "the office"])
        return f"port {8000 + self.count} is for service {self.count} in {where}"

    def step(self) -> None:
        self.now += timedelta(hours=self.dice.randint(1, 40))
        self.dice.choice([self.said, self.said, self.line_edit, self.line_edit, self.command, self.aged, self.inbox])()

    def said(self) -> None:
        again = [r.text for r in self.memory().records() if r.evidence]
        texts = [self.text() for _ in range(self.dice.randint(1, 2))]
        if again and self.dice.random() < 0.3:
            texts.append(self.dice.choice(again))
        tell(self.root, *texts, rollout=f"chat-{self.dice.randint(1, 4)}")
        process(self.root, Choosing(self.dice))

    def lines(self) -> list[str]:
        path = handbook(self.root)
        return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []

    def line_edit(self) -> None:
        lines = self.lines()
        numbers = [n for n, line in enumerate(lines) if re.search(r"\^m-[0-9a-f]{10}$", line.rstrip())]
        if not numbers:
            return
        at, way = self.dice.choice(numbers), self.dice.randint(0, 4)
        if way == 0:
            lines[at] = lines[at].replace("port", self.dice.choice(["PORT", "the port", "door"]), 1)
        elif way == 1:
            del lines[at]
        elif way == 2:
            lines.insert(at + 1, f"- {self.text()}, by hand\n")
        elif way == 3:
            moved = lines.pop(at)
            end = len(lines) - 1
            lines[end:end] = [f"# Task Group: {self.dice.choice('ABC')}\n\n## Reusable knowledge\n\n", moved, "\n"]
        else:
            lines = [line for n, line in enumerate(lines) if n not in numbers[:7]]
        handbook(self.root).write_text("".join(lines), encoding="utf-8")
        self.memory().status()

    def command(self) -> None:
        memory = self.memory()
        records, gone = memory.records(), [r for r in memory.state().records.values() if r.status is not Status.ACTIVE]
        way = self.dice.randint(0, 4)
        if way == 0 or not records:
            memory.add(self.text(), ttl=self.dice.choice([None, timedelta(days=2)]), group=self.dice.choice("ABC"))
        elif way == 1:
            memory.revise(self.dice.choice(records).id, self.text())
        elif way == 2:
            memory.revise(self.dice.choice(records).id, pinned=self.dice.random() < 0.7, importance=self.dice.random())
        elif way == 3:
            memory.delete(self.dice.choice(records).id)
        elif gone:
            memory.restore(self.dice.choice(gone).id)

    def aged(self) -> None:
        self.now += timedelta(days=self.dice.choice([3, 100]))
        run(self._aged())

    async def _aged(self) -> None:
        from sandbox_memory.pipeline import Report
        from sandbox_memory.pipeline.ageing import age

        line = pipeline(self.root, now=lambda: self.now)
        await line.adopt()
        await age(line.store, "hand", b"", self.dice.choice([None, 12]), Report())

    def inbox(self) -> None:
        path = self.root / "memories" / "INBOX.md"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if "- [ ] " not in text:
            return
        if self.dice.random() < 0.5:
            text = text.replace("- [ ] ", "- [x] ", 1)
        else:
            text = re.sub(r"- \[ \] .*\n", "", text, count=1)
        path.write_text(text, encoding="utf-8")
        self.memory().status()


def without(root: Path, number: int) -> State:
    """What the ledger says from which that line was cut."""
    lines = (root / "memories" / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    return fold(parse(b"".join(lines[: number - 1] + lines[number:])))


def face(record: Record, now: str) -> tuple[Any, ...]:
    """What of a record must be as in the replay; what has expired by now does not go again at once."""
    ends = "" if record.expires and record.expires <= now else record.expires
    return (
        *(record.text, record.group, record.section, record.kind, record.trust, record.protected, record.pinned),
        *(record.importance, ends, set(record.evidence), record.support, record.origin),
    )


def touched(ledger: Ledger, number: int) -> set[str]:
    words = ("add", "supersede", "revise", "restore", "move", "release")
    return {
        o.id
        for c in ledger.commits[number:]
        if c.actor in HANDS and not any(o.op == "undo" for o in c.operations)
        for o in c.operations
        if o.op in words
    }


def judged(life: Life, root: Path, number: int) -> bool:
    """Undo that commit in the copy `root`, and compare; False if there was nothing to take back."""
    ledger = history(root)
    before, wanted, by_hand = fold(ledger), without(root, number), touched(ledger, number)
    memory = life.memory(root)
    tables = "\n| a table | of mine |\n| --- | --- |\n"
    path = handbook(root)
    path.write_text(path.read_text(encoding="utf-8").replace("\n<!-- memory:", f"{tables}\n<!-- memory:"), "utf-8")
    try:
        done = memory.undo(number)
    except SandboxMemoryError as error:
        done, why = None, str(error)
        if "nothing" not in why:
            raise
    after = memory.state()
    ends = after.at
    expected = {id: face(r, ends) for id, r in wanted.visible().items() if r.status is Status.ACTIVE}
    for id in by_hand & before.visible().keys() - expected.keys():
        expected[id] = face(before.records[id], ends)
    expected = {id: each for id, each in expected.items() if before.records[id].status is not Status.FORGOTTEN}
    found = {id: face(r, ends) for id, r in after.visible().items()}
    assert found == expected, f"commit {number}: {ledger.commits[number - 1]}"
    text = path.read_text(encoding="utf-8")
    assert tables in text
    document = Document.parse(text.encode())
    shown = {item.id: (item.text, item.group, item.section) for item in document.items}
    assert shown == {id: each[:3] for id, each in found.items()}
    commits = life.no_edit(root)
    if done is not None:
        assert done.commit == commits and {r.id for r in done.kept} <= by_hand
        last = history(root).commits[-1]
        assert next((o.op, o.id) for o in last.operations) == ("undo", str(number))
        memory.undo(done.commit)
        again = {id: face(r, ends) for id, r in memory.state().visible().items()}
        assert again == {id: face(r, ends) for id, r in before.visible().items()}, "taken back, the undo itself"
    return done is not None


@pytest.mark.parametrize(
    ("seed", "length", "trials"), [(1, 50, 16), *(pytest.param(n, 90, 50, marks=pytest.mark.proof) for n in (2, 3, 4))]
)
def test_what_a_commit_did_is_taken_back_as_if_it_had_not_been(
    tmp_path: Path, seed: int, length: int, trials: int
) -> None:
    dice = random.Random(seed)
    life = Life(tmp_path / "workspace", dice).lived(length)
    total = len(history(life.root))
    taken = 0
    for number in dice.sample(range(1, total + 1), trials):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(life.root, copy)
        taken += judged(life, copy, number)
    assert taken >= trials // 3


def test_a_dry_run_tells_the_same_and_writes_nothing(tmp_path: Path) -> None:
    life = Life(tmp_path / "workspace", random.Random(7)).lived(12)
    path = handbook(life.root)
    path.write_text(
        path.read_text(encoding="utf-8").replace("<!-- memory:", "- mine, not taken in yet\n\n<!-- memory:"), "utf-8"
    )
    files = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    told = []
    for number in range(1, len(history(life.root)) + 1):
        try:
            told.append((number, life.memory().undo(number, dry_run=True)))
        except SandboxMemoryError:
            continue
    assert told and all(done.commit == 0 for _, done in told)
    assert {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()} == files
    number, dry = told[-1]
    done = life.memory().undo(number)
    assert [after.text for _, after in done.changed] == [after.text for _, after in dry.changed]
    assert "mine, not taken in yet" in {record.text for record in life.memory().records()}


def test_several_commits_at_once_and_what_cannot_be_taken_back(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        keep, first, second = (memory.add(text) for text in ("this stays", "one", "two"))
        numbers = [first.created, second.created]
        memory.revise(first.id, "one, as I say it")
        done = memory.undo(*numbers)
        assert [r.id for r in done.kept] == [first.id], "a person worked on it since"
        assert {r.text for r in memory.records()} == {"this stays", "one, as I say it"}
        with pytest.raises(SandboxMemoryError, match=r"taken back already|worked on by hand"):
            memory.undo(second.created)
        with pytest.raises(Unknown, match="there is no commit 99"):
            memory.undo(99)
        with pytest.raises(SandboxMemoryError, match="settings only"):
            memory.undo(next(c["commit"] for c in memory.history() if c["settings"]))
        memory.forget(keep.id)
        with pytest.raises(SandboxMemoryError, match="stays forgotten"):
            memory.undo(
                next(
                    c["commit"] for c in memory.history() if c["operations"][:1] and c["operations"][0]["op"] == "erase"
                )
            )
        with pytest.raises(SandboxMemoryError, match="nothing"):
            memory.undo(keep.created)
        assert "this stays" not in handbook(tmp_path).read_text(encoding="utf-8")


def test_what_a_later_commit_changed_again_is_named(tmp_path: Path) -> None:
    """With the commits that both are taken back with, where that takes them back."""
    with open_memory(tmp_path) as memory:
        one = memory.add("the staging port is 8443")
        memory.add("deploys go out on Tuesday")
        memory.revise(one.id, "the staging port is 9443")
        first = memory.pipeline.store.ledger.commits[-1].ordinal
        memory.add("tabs, not spaces")
        memory.revise(one.id, "the staging port is 7443")
        last = memory.pipeline.store.ledger.commits[-1].ordinal
        both = f"commit {last} has changed it since; `sandbox-memory undo {first} {last}` takes both back"
        with pytest.raises(SandboxMemoryError, match=f"nothing of commit {first} is left to take back: {both}"):
            memory.undo(first)
        memory.revise(one.id, "the staging port is 6443")
        three = f"commits {last} and {last + 1} have changed it since; `sandbox-memory undo {first} {last}-{last + 1}`"
        with pytest.raises(SandboxMemoryError, match=f"{three} takes all back"):
            memory.undo(first, dry_run=True)
        memory.undo(first, last, last + 1)
        assert {record.text for record in memory.records()} >= {"the staging port is 8443", "tabs, not spaces"}


RETYPED = {
    "as it was": "- the staging port is 8443\n",
    "with another end": "* The staging port is 8443.\n",
    "in another group": "\n# Task Group: Elsewhere\n\n- the staging port is 8443\n\n",
}


@pytest.mark.parametrize("way", ["undo", "undo with more", "restore", "inbox"])
@pytest.mark.parametrize("how", sorted(RETYPED))
def test_what_a_person_typed_again_does_not_come_back_beside_it(tmp_path: Path, how: str, way: str) -> None:
    root = begun("few", tmp_path / "workspace")
    memory, old = open_memory(root), record(root, PORT)
    if way == "inbox":
        stale = drop_line(handbook(root).read_text(encoding="utf-8"), "8443")
        memory.revise(old.id, f"{PORT}!")
        handbook(root).write_text(stale, encoding="utf-8")
    else:
        drop(handbook(root), "8443")
        edit(handbook(root), "never use tabs", "use no tabs" if "more" in way else "never use tabs")
    deleted = memory.adopt().state.ordinal
    edit(handbook(root), "<!--", f"{RETYPED[how]}<!--")
    now = texts(root)
    if way in ("restore", "inbox"):
        memory.adopt()
    if way == "undo with more":
        found = memory.undo(deleted)
        assert [each.text for each in found.kept] == [text for text in now if "8443" in text]
    elif way == "undo":
        with pytest.raises(SandboxMemoryError, match="what it took out was written again since"):
            memory.undo(deleted)
    elif way == "restore":
        with pytest.raises(Unknown, match="says the same, and is in sight"):
            memory.restore(old.id)
    else:
        decide(root, True, "8443")
    assert sorted(text for text in texts(root) if "8443" in text) == sorted(text for text in now if "8443" in text)
    assert ("use no tabs in this repository" in texts(root)) is False
    consistent(root)
    settled(root)
