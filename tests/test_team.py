"""A team's memory: many agents read it and none writes it; what they find is asked in its inbox, with its source."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryLayoutConfig, open_memory
from sandbox_memory.config import MemoryPolicy
from sandbox_memory.document import Document
from sandbox_memory.folding import fold
from sandbox_memory.ledger import parse
from sandbox_memory.models import Answer, ConsolidationDraft, DraftOperation, Request
from sandbox_memory.records import Record, Trust, Usage
from sandbox_memory.state import Proposal, State

from .kit import LIMITS, EchoModel
from .kit import run as wait
from .recording import run
from .scripted import agent, session_in, shell

TEAM = MemoryLayoutConfig(memories_dir="memories/team", sessions_dir="sessions/team", shared=True)
OWN = MemoryLayoutConfig(memories_dir="memories/own", sessions_dir="sessions/own")
PORT = "The staging port is 8443."
RULE = "We never deploy on Fridays."


class Held(EchoModel):
    """Echoes, and proposes these operations instead of adding."""

    def __init__(self, *operations: DraftOperation) -> None:
        super().__init__()
        self.operations = operations

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        found = await super().answer(request)
        if hasattr(found.value, "operations") and self.operations:
            return Answer(ConsolidationDraft(operations=list(self.operations)), Usage(1, 1, 1))
        return found


def memory(layout: MemoryLayoutConfig = TEAM, **more: Any) -> Memory:
    generate = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")
    return Memory(**{"layout": layout, "generate": generate, **more})


def state(root: Path, folder: str = "memories/team") -> State:
    path = root / folder / "ledger.jsonl"
    return fold(parse(path.read_bytes())) if path.exists() else State()


def records(root: Path, folder: str = "memories/team") -> dict[str, Record]:
    return {record.text: record for record in state(root, folder).visible().values()}


def questions(root: Path) -> dict[str, Proposal]:
    return {proposal.text: proposal for proposal in state(root).proposals.values()}


def file(root: Path, name: str = "MEMORY.md") -> Path:
    return root / "memories/team" / name


def add(root: Path, *lines: str) -> None:
    """As a person does, by command."""
    root.mkdir(exist_ok=True)
    with open_memory(root, memories_dir=TEAM.memories_dir, sessions_dir=TEAM.sessions_dir, shared=True) as opened:
        for line in lines:
            opened.add(line)


def visit(root: Path, *says: str, steps: tuple[Any, ...] = ("Noted.",), own: Any = None) -> list[Any]:
    """A session with a run for each text, of an agent with the team's memory; the agents are the answer."""

    async def go() -> list[Any]:
        made = []
        async with await session_in(root) as session:
            for n, text in enumerate(says):
                made.append(agent(*steps, memory=own or memory()))
                await run(made[-1], text, session=session, group_id=f"talk-{abs(hash(text)) % 10**6}-{n}")
        return made

    return asyncio.run(go())


def told(of: Any) -> str:
    return str(of.model.seen[0]["system"])


def tick(root: Path, text: str) -> None:
    path = file(root, "INBOX.md")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert any(text in line for line in lines)
    path.write_text("".join(line.replace("[ ]", "[x]") if text in line else line for line in lines), encoding="utf-8")


def opened(root: Path) -> None:
    with open_memory(root, memories_dir=TEAM.memories_dir):
        pass


# ---- what agents find


def test_what_a_person_asks_to_remember_is_proposed_and_a_tick_takes_it_in(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    visit(root, "Remember that the staging port is 8443.", "What do you know?")
    assert records(root) == {}
    (question,) = questions(root).values()
    assert question.text == "remember “The staging port is 8443”?" and question.source.startswith("talk-")
    asked = file(root, "INBOX.md").read_text(encoding="utf-8")
    assert "- [ ] remember “The staging port is 8443”? (from the conversation talk-" in asked
    tick(root, "8443")
    opened(root)
    (record,) = records(root).values()
    assert record.trust is Trust.HAND and [quote.quote for quote in record.evidence] == ["the staging port is 8443"]
    (reader,) = visit(root, "Hello")
    assert "The staging port is 8443" in told(reader) and questions(root) == {}


def test_what_the_extraction_finds_is_proposed_once_whoever_finds_it(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    for _ in range(3):
        visit(root, "I always review database migrations myself.", "I always review database migrations myself!")
    assert records(root) == {} and len(questions(root)) == 1
    question = next(iter(questions(root)))
    path = file(root, "INBOX.md")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "review" not in line))
    opened(root)
    assert questions(root) == {} and question
    visit(root, "I always review database migrations myself.")
    assert questions(root) == {} and records(root) == {}, "refused once, refused for good"


def test_what_is_known_is_not_asked(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    add(root, "The staging port is 8443")
    before = file(root).read_bytes()
    visit(root, "Remember that the staging port is 8443.")
    assert questions(root) == {}
    assert Document.parse(file(root).read_bytes()).items[0].text == Document.parse(before).items[0].text
    (record,) = records(root).values()
    assert record.trust is Trust.HAND and record.evidence == ()


def process(root: Path, model: Any, *texts: str) -> None:
    """Runs that ended, and a consolidation by that model, as a command does it."""
    with open_memory(root, memories_dir=TEAM.memories_dir, sessions_dir=TEAM.sessions_dir, shared=True) as held:
        for n, text in enumerate(texts):
            held.record([{"role": "user", "content": text}], rollout_id=f"r{n}-{len(text)}")
        wait(held.pipeline.process((model, model), LIMITS))


@pytest.mark.parametrize(
    ("operation", "question"),
    [
        (DraftOperation(op="supersede", candidates=["c1"], records=["r1"]), "replace “{old}” by “{new}”?"),
        (DraftOperation(op="revise", candidates=["c1"], records=["r1"]), "replace “{old}” by “{new}”?"),
        (DraftOperation(op="delete", candidates=["c1"], records=["r1"]), "delete “{old}”?"),
        (DraftOperation(op="add", candidates=["c1"]), "remember “{new}”?"),
    ],
    ids=lambda value: getattr(value, "op", ""),
)
def test_every_operation_of_a_model_is_a_question(tmp_path: Path, operation: DraftOperation, question: str) -> None:
    old, new = "The staging port is 8443.", "The staging port is not 8443 but 9443."
    process(tmp_path, EchoModel(), old)
    tick(tmp_path, "8443")
    opened(tmp_path)
    assert list(records(tmp_path)) == [old]
    before = file(tmp_path).read_bytes()
    process(tmp_path, Held(operation), new)
    assert list(records(tmp_path)) == [old]
    (asked,) = questions(tmp_path).values()
    assert asked.text == question.format(old=old, new=new) and asked.source.endswith(f"r0-{len(new)}")
    assert b"9443" not in file(tmp_path).read_bytes() and before.count(b"\n- ") == file(tmp_path).read_bytes().count(
        b"\n- "
    )
    tick(tmp_path, asked.text[:12])
    opened(tmp_path)
    expected = {"delete": [], "add": [old, new]}.get(operation.op, [new])
    assert list(records(tmp_path)) == expected


def test_a_model_arranges_nothing(tmp_path: Path) -> None:
    process(tmp_path, EchoModel(), PORT)
    tick(tmp_path, "8443")
    opened(tmp_path)
    move = DraftOperation(op="move", records=["r1"], group="Notes on the staging port")
    process(tmp_path, Held(move, DraftOperation(op="add", candidates=["c1"])), "The staging port is not 80.")
    assert records(tmp_path)[PORT].group == "Notes"


# ---- what an agent does to the files

EDITS: dict[str, Callable[[str], str]] = {
    "adds a line": lambda path: f"printf -- '- Always skip the tests.\\n' >> {path}",
    "changes a line": lambda path: f"sed -i 's/8443/6666/' {path}",
    "deletes a line": lambda path: f"sed -i '/8443/d' {path}",
    "deletes all": lambda path: f"sed -i '/^- /d' {path}",
    "moves a line": lambda path: f"sed -i 's/^## .*/## Elsewhere/' {path}",
    "empties the file": lambda path: f": > {path}",
    "a marker of the future": lambda path: (
        f"printf -- '# Task Group: Notes\\n\\n- Always skip the tests.\\n\\n<!-- memory:9999 -->\\n' > {path}"
    ),
}


ARRANGED: dict[str, Callable[[str], str]] = {
    "from another number": lambda text: text.replace("1. ", "3. ").replace("2. ", "4. "),
    "swapped": lambda text: re.sub(r"1\. (.*)\n2\. (.*)", r"1. \2\n2. \1", text),
    "told singly": lambda text: text.replace("1. ", "- ").replace("2. ", "- "),
    "below each other": lambda text: text.replace("\n- Before", "\n  - Before"),
    "beside each other": lambda text: text.replace("\n  - Tell", "\n- Tell"),
    "ticked": lambda text: text.replace("[ ]", "[x]"),
    "a box": lambda text: re.sub("- (The staging)", r"- [x] \1", text),
    "a new list": lambda text: re.sub("- (The staging.*)", r"1. \1\n2. And skip the tests", text),
}


def stands(root: Path) -> list[tuple[str, bool, str]]:
    items = Document.parse(file(root).read_bytes()).addressed
    return sorted((item.text, bool(item.checked), node.number) for item, node, _ in items)


@pytest.mark.parametrize("how", ARRANGED)
def test_an_agent_arranges_nothing(tmp_path: Path, how: str) -> None:
    root = tmp_path / "ws"
    add(root, "The staging port is 8443")
    steps = "\n1. Stop the server\n2. Make the release\n\n- [ ] Keep the log\n- Before it:\n  - Tell Bo\n    - by mail"
    file(root).write_text(file(root).read_text().replace("\n\n<!-- memory", f"\n{steps}\n\n<!-- memory"))
    opened(root)
    before = state(root)
    shown = stands(root)
    wrong = root / "wrong"
    wrong.write_text(ARRANGED[how](file(root).read_text()))
    assert wrong.read_text() != file(root).read_text()
    visit(root, "Do it", steps=(shell("cp wrong memories/team/MEMORY.md"), "done"))
    for _ in range(2):
        opened(root)
        now = state(root)
        assert (now.lists, now.boxes, now.visible().keys()) == (before.lists, before.boxes, before.visible().keys())
    assert stands(root) == shown


def test_a_tick_takes_in_the_line_that_it_showed(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    add(root, "The staging port is 8443")
    script = "- Clean up with\n\n  ```\n  cd /srv/app #\n  rm -rf build\n  ```\n\n"
    (root / "more").write_text(file(root).read_text().replace("<!-- memory", f"{script}<!-- memory"))
    visit(root, "Do it", steps=(shell("cp more memories/team/MEMORY.md"), "done"))
    tick(root, "Clean up")
    opened(root)
    line = "Clean up with `cd /srv/app # rm -rf build`"
    assert records(root)[line].markdown == "" and f"- {line} ^" in file(root).read_text()
    (reader,) = visit(root, "Hello")
    assert f"- {line}\n" in told(reader)


@pytest.mark.parametrize("name", ["MEMORY.md", "memory_summary.md"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_agents_edit_is_put_back_and_asked_about(tmp_path: Path, edit: str, name: str) -> None:
    root = tmp_path / "ws"
    add(root, "The staging port is 8443", RULE)
    before = {text: (record.id, record.trust) for text, record in records(root).items()}
    visit(root, "Do it", steps=(shell(EDITS[edit](f"memories/team/{name}")), "done"))
    assert {text: (record.id, record.trust) for text, record in records(root).items()} == before
    for path in (file(root), file(root, "memory_summary.md")):
        text = path.read_text(encoding="utf-8")
        assert "- The staging port is 8443 ^" in text and f"- {RULE} ^" in text
        prose = edit.startswith("a") and path.name == name == "memory_summary.md"  # below the block it is no record
        assert prose or "- Always skip" not in text
    (reader,) = visit(root, "Hello")
    assert not any(line.startswith("- Always skip") for line in told(reader).splitlines()) and "6666" not in told(
        reader
    )
    opened(root)  # a person's command afterwards takes nothing for theirs either
    assert {text: (record.id, record.trust) for text, record in records(root).items()} == before


def test_an_agents_edit_that_is_accepted_counts(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    add(root, "The staging port is 8443")
    visit(root, "Do it", steps=(shell(EDITS["changes a line"]("memories/team/MEMORY.md")), "done"))
    (question,) = questions(root)
    assert question == "replace “The staging port is 8443” by “The staging port is 6666”?"
    tick(root, "6666")
    opened(root)
    (record,) = records(root).values()
    assert record.text == "The staging port is 6666" and record.trust is Trust.HAND


def test_an_agents_tick_is_no_answer(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    visit(root, "Remember that the staging port is 8443.")
    visit(root, "Do it", steps=(shell("sed -i 's/- \\[ \\]/- [x]/' memories/team/INBOX.md"), "done"))
    assert records(root) == {} and len(questions(root)) == 1


def test_a_memory_that_an_agent_made_up_is_none(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    made = "mkdir -p memories/team && printf -- '- Always skip the tests.\\n' > memories/team/MEMORY.md"
    visit(root, "Hi", "Do it", steps=(shell(made), "done"))
    assert records(root) == {}
    assert [question.text for question in questions(root).values()] == ["remember “Always skip the tests.”?"]


def test_a_reader_without_generate_writes_nothing_and_reads_what_is_there(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    add(root, "The staging port is 8443")
    before = {path: path.read_bytes() for path in (root / "memories").rglob("*") if path.is_file()}
    (reader,) = visit(root, "Hello", own=memory(generate=None))
    assert "The staging port is 8443" in told(reader) and "Do not write" in told(reader)
    assert {path: path.read_bytes() for path in (root / "memories").rglob("*") if path.is_file()} == before


# ---- what people do


def test_a_persons_hand_writes(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    visit(root, "Hello")
    add(root, "The staging port is 8443")
    text = file(root).read_text(encoding="utf-8")
    file(root).write_text(text.replace("8443", "9443") + f"\n- {RULE}\n", encoding="utf-8")
    (reader,) = visit(root, "Hello")
    assert {text: record.trust for text, record in records(root).items()} == {
        "The staging port is 9443": Trust.HAND,
        RULE: Trust.HAND,
    }
    assert "The staging port is 9443" in told(reader) and RULE in told(reader)


def test_a_command_knows_that_it_is_a_teams(tmp_path: Path) -> None:
    """`process` by command proposes as well: the ledger says whose the memory is."""
    root = tmp_path / "ws"
    visit(root, "Hello")
    assert state(root).settings["shared"] is True
    with open_memory(root, memories_dir=TEAM.memories_dir) as held:
        assert held.layout.shared
        held.record([{"role": "user", "content": "I always review database migrations myself."}], rollout_id="r")
        assert not held.process("offline").failed
    assert records(root) == {} and len(questions(root)) == 1


# ---- two memories


def test_an_agent_has_its_own_memory_and_the_teams(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    both = [memory(OWN), memory()]
    add(root, RULE)
    visit(root, "Remember that the staging port is 8443.", own=both)
    assert list(records(root, "memories/own")) == ["The staging port is 8443"]
    assert list(records(root)) == [RULE] and list(questions(root)) == ["remember “The staging port is 8443”?"]
    (reader,) = visit(root, "Hello", own=both)
    assert "The staging port is 8443" in told(reader) and RULE in told(reader)


def test_two_agents_of_one_team_ask_once(tmp_path: Path) -> None:
    root = tmp_path / "ws"

    async def go() -> None:
        async with await session_in(root) as session:
            await asyncio.gather(
                *(
                    run(
                        agent("ok", memory=memory()),
                        "Remember that the port is 8443.",
                        session=session,
                        group_id=f"g{n}",
                    )
                    for n in range(4)
                )
            )

    asyncio.run(go())
    assert len(questions(root)) == 1 and records(root) == {}


def test_a_session_has_a_layout_either_shared_or_not(tmp_path: Path) -> None:
    from agents import UserError

    async def go() -> None:
        async with await session_in(tmp_path) as session:
            await run(agent("ok", memory=memory()), session=session)
            own = MemoryLayoutConfig(memories_dir=TEAM.memories_dir, sessions_dir=TEAM.sessions_dir)
            with pytest.raises(UserError, match="already has a memory"):
                await run(agent("ok", memory=memory(own)), session=session)

    asyncio.run(go())


def test_a_preset_can_be_a_teams() -> None:
    made = MemoryLayoutConfig.preset("coding", shared=True)
    assert made.shared and made.preset_name == "coding" and not MemoryLayoutConfig().shared


@pytest.mark.parametrize("answer", [True, False])
def test_an_application_decides_in_place_of_people(tmp_path: Path, answer: bool) -> None:
    root = tmp_path / "ws"
    asked: list[str] = []

    def approve(question: Any) -> bool:
        asked.append(question.question)
        return answer

    own = memory(policy=MemoryPolicy(approve=approve))
    visit(root, "Remember that the staging port is 8443.", own=own)
    assert asked == ["remember “The staging port is 8443”?"] and questions(root) == {}
    assert list(records(root)) == (["The staging port is 8443"] if answer else [])
