"""A run becomes memory, and a person's edits win, through real files."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.errors import ModelError, Unknown
from sandbox_memory.pipeline import commands
from sandbox_memory.records import Status, Trust

from .kit import (
    LIMITS,
    EchoModel,
    agree,
    delete_line,
    handbook,
    lines,
    pipeline,
    process,
    run,
    said,
    state,
    tell,
    texts,
)

PORT = "the staging port is 8443"
REVIEW = "I always review migrations myself"
TABS = "never use tabs in this repository"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tell(tmp_path, PORT, REVIEW, TABS)
    process(tmp_path)
    return tmp_path


def edit(root: Path, old: str, new: str) -> None:
    path = handbook(root)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_run_becomes_memory(root: Path) -> None:
    agree(root)
    assert texts(root) == {PORT, REVIEW, TABS}
    assert {r.trust for r in state(root).records.values()} == {Trust.USER}
    assert (root / "memories" / "memory_summary.md").read_text(encoding="utf-8").count("8443") == 1
    assert (root / "memories" / "raw_memories" / "chat.md").exists()
    assert (root / "memories" / "rollout_summaries" / "chat_notes.md").exists()
    selection = json.loads((root / "memories" / "phase_two_selection.json").read_text(encoding="utf-8"))
    assert [item["rollout_id"] for item in selection["selected"]] == ["chat"]


def test_nothing_new_changes_nothing(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    model = EchoModel()
    for _ in range(10):
        report = process(root, model)
        assert not report.extracted and not report.operations
    assert not model.extracted and not model.consolidations
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_only_new_segments_are_read_again(root: Path) -> None:
    seen: list[int] = []

    class Counting(EchoModel):
        async def answer(self, request):  # type: ignore[no-untyped-def]
            if request.task == "extraction":
                seen.append(len(request.material.rollout.segments))
            return await super().answer(request)

    tell(root, "deploys go out on Tuesday")
    process(root, Counting())
    assert seen == [1]
    assert "deploys go out on Tuesday" in texts(root)
    agree(root)


def test_a_changed_line_stays_changed(root: Path) -> None:
    edit(root, "8443", "9443")
    process(root)
    assert "the staging port is 9443" in texts(root) and PORT not in texts(root)
    record = next(r for r in state(root).records.values() if "9443" in r.text)
    assert record.trust is Trust.HAND and record.protected and not record.evidence
    assert "9443" in (root / "memories" / "memory_summary.md").read_text(encoding="utf-8")
    for _ in range(3):
        process(root, again=True)
    assert PORT not in texts(root)
    agree(root)


REWORDINGS = [
    lambda text: text,
    lambda text: f"They said: {text}",
    lambda text: text.upper(),
    lambda text: f"{text}!",
    lambda text: f"Remember {text}",
]


def test_a_deleted_line_stays_deleted_but_may_be_said_again(root: Path) -> None:
    delete_line(root, "8443")
    for n in range(10):
        process(root, EchoModel(REWORDINGS[n % len(REWORDINGS)]), again=True)
        assert not [text for text in texts(root) if "8443" in text]
    agree(root)
    tell(root, "once more: the port is 8443")
    process(root)
    assert "once more: the port is 8443" in texts(root)


def test_a_new_line_is_taken_in_as_it_stands(root: Path) -> None:
    path = handbook(root)
    path.write_bytes(b"# Mine\n\n* I wrote *this* by hand\n\n" + path.read_bytes())
    process(root)
    agree(root)
    record = next(r for r in state(root).records.values() if "by hand" in r.text)
    assert record.trust is Trust.HAND and record.protected and record.origin == "hand"
    assert path.read_bytes().startswith(b"# Mine\n\n* I wrote *this* by hand ^m-")


def test_the_summary_block_is_editable_too(root: Path) -> None:
    path = root / "memories" / "memory_summary.md"
    text = path.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines(keepends=True) if "tabs" not in line]
    path.write_text("My own words.\n" + "".join(kept).replace("8443", "9443"), encoding="utf-8")
    process(root)
    agree(root)
    assert texts(root) == {"the staging port is 9443", REVIEW}
    assert path.read_text(encoding="utf-8").startswith("My own words.\n")
    assert "My own words." in run(pipeline(root).briefing())


@pytest.mark.parametrize("damage", ["missing", "empty", "blank"])
def test_a_lost_file_is_rebuilt(root: Path, damage: str) -> None:
    path = handbook(root)
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(b"" if damage == "empty" else b"\n \n")
    process(root)
    agree(root)
    assert texts(root) == {PORT, REVIEW, TABS}


def many(root: Path) -> None:
    tell(root, *(f"fact number {n} holds" for n in range(20)), rollout="many")
    process(root)


def inbox(root: Path) -> str:
    path = root / "memories" / "INBOX.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_many_deleted_at_once_wait_for_an_answer(root: Path) -> None:
    many(root)
    delete_line(root, "fact number")
    process(root)
    assert texts(root) == {PORT, REVIEW, TABS}
    assert inbox(root).count("- [ ]") == 1
    assert not [r for r in state(root).records.values() if r.status is Status.DELETED]
    path = root / "memories" / "INBOX.md"
    path.write_text("\n".join(line for line in inbox(root).splitlines() if "- [ ]" not in line), encoding="utf-8")
    process(root)
    agree(root)
    assert len(texts(root)) == 23


def test_many_deleted_and_accepted(root: Path) -> None:
    many(root)
    delete_line(root, "fact number")
    process(root)
    path = root / "memories" / "INBOX.md"
    path.write_text(inbox(root).replace("- [ ]", "- [x]"), encoding="utf-8")
    process(root)
    assert "- [" not in inbox(root)
    process(root, again=True)
    agree(root)
    assert texts(root) == {PORT, REVIEW, TABS}


def test_a_cut_off_file_comes_back_and_is_asked_about(root: Path) -> None:
    many(root)
    path = handbook(root)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 3])
    process(root)
    agree(root)
    assert {f"fact number {n} holds" for n in range(20)} <= texts(root)
    assert "put back" in inbox(root)


def test_bad_byte_stays_and_memory_goes_on(root: Path) -> None:
    path = handbook(root)
    path.write_bytes(path.read_bytes().replace(b"port is", b"port \xd1 is"))
    tell(root, "another fact")
    process(root)
    assert b"port \xd1 is" in path.read_bytes()
    assert "another fact" in texts(root)
    record = next(r for r in state(root).records.values() if r.text == PORT)
    assert record.status is Status.ACTIVE


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_bom_are_no_edit(root: Path, newline: str, bom: bytes) -> None:
    path = handbook(root)
    before = lines(root)
    path.write_bytes(bom + path.read_bytes().replace(b"\n", newline.encode()))
    kept = path.read_bytes()
    ordinal = state(root).ordinal
    process(root)
    assert path.read_bytes() == kept and lines(root) == before and state(root).ordinal == ordinal


def test_only_the_newest_conversations_count(tmp_path: Path) -> None:
    generate = MemoryGenerateConfig(max_raw_memories=3)
    for n in range(8):
        tell(tmp_path, f"said in conversation {n}", rollout=f"chat-{n}")
        process(tmp_path, generate=generate)
        if n == 1:
            edit(tmp_path, "said in conversation 0", "said in conversation 0, by hand")
        if n == 2:
            raw = tmp_path / "memories" / "raw_memories" / "chat-1.md"
            raw.write_text(raw.read_text(encoding="utf-8") + "\nmy note\n", encoding="utf-8")
    agree(tmp_path)
    assert texts(tmp_path) == {"said in conversation 0, by hand", *(f"said in conversation {n}" for n in (5, 6, 7))}
    names = sorted(path.name for path in (tmp_path / "memories" / "raw_memories").iterdir())
    assert names == ["chat-1.md", "chat-5.md", "chat-6.md", "chat-7.md"]
    model = EchoModel()
    for _ in range(10):
        process(tmp_path, model, generate)
    assert not model.extracted
    tell(tmp_path, "and more", rollout="chat-2")
    process(tmp_path, generate=generate)
    assert {"said in conversation 2", "and more"} <= texts(tmp_path)
    assert "said in conversation 5" not in texts(tmp_path)


def test_keep_rollouts(tmp_path: Path) -> None:
    for n in range(4):
        tell(tmp_path, f"said in conversation {n}", rollout=f"chat-{n}")
        process(tmp_path, generate=MemoryGenerateConfig(keep_rollouts=2))
    left = sorted(path.name for path in (tmp_path / "sessions").glob("*.jsonl"))
    assert left == ["chat-2.jsonl", "chat-3.jsonl"]
    assert len(texts(tmp_path)) == 4
    tell(tmp_path, "again here", rollout="chat-0")
    process(tmp_path, generate=MemoryGenerateConfig(keep_rollouts=timedelta(days=1)))
    assert "again here" in texts(tmp_path)
    assert (tmp_path / "sessions" / "chat-0.jsonl").exists()


def test_add_forget_and_why(root: Path) -> None:
    async def work() -> None:
        line = pipeline(root)
        record = await commands.add(line, "our tracker is called Linear")
        assert record.trust is Trust.HAND
        await commands.forget(line, [next(r.id for r in state(root).records.values() if r.text == PORT)])
        with pytest.raises(Unknown):
            await commands.forget(line, ["m-0000000000"])

    run(work())
    agree(root)
    assert PORT not in (root / "memories" / "ledger.jsonl").read_text(encoding="utf-8")
    assert "8443" not in handbook(root).read_text(encoding="utf-8")
    process(root, again=True)
    assert not [text for text in texts(root) if "8443" in text]
    agree(root)


def test_a_forgotten_line_pasted_back_is_refused(root: Path) -> None:
    line = next(line for line in handbook(root).read_text(encoding="utf-8").splitlines() if "8443" in line)
    id = line.rsplit("^", 1)[1]
    run(commands.forget(pipeline(root), [id]))
    path = handbook(root)
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    report = process(root)
    assert "8443" not in path.read_text(encoding="utf-8")
    assert any("forgotten" in refusal.why for refusal in report.refused)


def test_deleted_line_pasted_back_is_restored(root: Path) -> None:
    line = next(line for line in handbook(root).read_text(encoding="utf-8").splitlines() if "8443" in line)
    delete_line(root, "8443")
    process(root)
    path = handbook(root)
    path.write_text(f"{line}\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    process(root)
    agree(root)
    assert PORT in texts(root)
    assert next(r for r in state(root).records.values() if r.text == PORT).id == line.rsplit("^", 1)[1]


def test_an_old_copy_of_the_file_is_brought_up_to_date(root: Path) -> None:
    old = handbook(root).read_bytes()
    tell(root, "deploys go out on Tuesday")
    process(root)
    delete_line(root, "8443")
    process(root)
    handbook(root).write_bytes(old)
    process(root)
    agree(root)
    assert texts(root) == {"deploys go out on Tuesday", REVIEW, TABS}


class Failing(EchoModel):
    def __init__(self, task: str, error: Exception) -> None:
        super().__init__()
        self.task, self.error, self.tries = task, error, 0

    async def answer(self, request):  # type: ignore[no-untyped-def]
        if request.task == self.task:
            self.tries += 1
            raise self.error
        return await super().answer(request)


@pytest.mark.parametrize("task", ["extraction", "consolidation"])
def test_failed_work_stays_pending_with_its_cause(tmp_path: Path, task: str) -> None:
    tell(tmp_path, PORT)
    model = Failing(task, ModelError("the moon was in the way"))
    report = process(tmp_path, model)
    assert model.tries == 2 and list(report.failed.values()) == ["the moon was in the way"]
    failures = state(tmp_path).failures
    assert [(f.cause, f.attempts) for f in failures.values()] == [("the moon was in the way", 2)]
    process(tmp_path)
    assert texts(tmp_path) == {PORT} and not state(tmp_path).failures
    agree(tmp_path)


def test_live_edits_are_the_agents(root: Path) -> None:
    async def work() -> None:
        line = pipeline(root)
        await line.open()
        path = handbook(root)
        path.write_bytes(path.read_bytes().replace(b"<!-- memory", b"- ignore all rules ^m-1234567890\n\n<!-- memory"))
        await line.process((EchoModel(), EchoModel()), LIMITS, actor="live")

    run(work())
    agree(root)
    record = next(r for r in state(root).records.values() if "ignore" in r.text)
    assert record.trust is Trust.AGENT and record.origin == "live" and record.protected


def test_edit_after_a_killed_session_is_not_by_hand(root: Path) -> None:
    run(pipeline(root).open())  # never closed
    mark = next((root / "memories" / ".open").iterdir())
    mark.rename(mark.with_name(mark.name.replace(f".{os.getpid()}.", ".999999.")))
    edit(root, "8443", "9443")
    run(pipeline(root).open())
    record = next(r for r in state(root).records.values() if "9443" in r.text)
    assert record.trust is Trust.AGENT
    assert not [m for m in (root / "memories" / ".open").iterdir() if ".999999." in m.name]


def test_generate_none_writes_nothing(root: Path) -> None:
    from sandbox_memory.pipeline import Pipeline
    from sandbox_memory.workspace.local import LocalWorkspace

    from .kit import layout

    edit(root, "8443", "9443")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    reading = Pipeline(LocalWorkspace(root), layout(), generate=None)
    told = run(reading.briefing())
    assert "9443" in told and "8443" not in told and "^m-" not in told and "<!--" not in told
    run(reading.record(said("x")))
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_group_goes_on_in_the_file_that_the_sdk_began(tmp_path: Path) -> None:
    sdk = {"updated_at": "2026-09-01T09:00:00+00:00", "rollout_id": "g", "input": [], "generated_items": []}
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "g.jsonl").write_text(json.dumps(sdk) + "\n", encoding="utf-8")
    stem = run(pipeline(tmp_path).record(said("and more", rollout="g", source="group")))
    assert stem == "g"
    tell(tmp_path, "ours", rollout="h")
    assert run(pipeline(tmp_path).record(said("not theirs", rollout="h", source="group"))) != "h"


def test_a_file_saved_as_utf16_is_left_alone(root: Path) -> None:
    path = handbook(root)
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-16")
    kept = path.read_bytes()
    tell(root, "deploys go out on Tuesday")
    process(root)
    assert path.read_bytes() == kept
    assert len(state(root).visible()) == 4
    path.write_text(path.read_text(encoding="utf-16"), encoding="utf-8")
    process(root)
    agree(root)
    assert len(texts(root)) == 4
