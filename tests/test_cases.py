"""Small inputs that break memory systems: those of them that no other file of tests has.

Titles of any kind, answers that are nonsense, a line that is longer than a prompt, a clock that jumps, and the language
of a memory are in `test_nonsense.py`; a correction in 13 MB is in `test_long_rollouts.py`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.doors.plain import open_memory
from sandbox_memory.errors import SandboxMemoryError
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.pipeline import commands
from sandbox_memory.records import RunCapture, Status

from .kit import LIMITS, agree, handbook, lines, pipeline, process, run, said, state, tell, texts

PORT = "Remember: the port of staging is 8443."
FORMS = {
    "LF": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CRLF and BOM": lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
}


def offline(root: Path, **kwargs: Any) -> Any:
    return process(root, OfflineModel(), **kwargs)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_keeps_the_form_it_was_saved_in_while_memory_goes_on(tmp_path: Path, form: str) -> None:
    tell(tmp_path, PORT, "Never use tabs in this repository.")
    offline(tmp_path)
    before = lines(tmp_path)
    path = handbook(tmp_path)
    path.write_bytes(FORMS[form](path.read_bytes()))
    run(commands.add(pipeline(tmp_path), "backups are kept for ten days"))
    data = path.read_bytes()
    assert data == FORMS[form](data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n"))
    after = lines(tmp_path)
    assert {id: after[id] for id in before} == before
    assert set(after.values()) == {*before.values(), "backups are kept for ten days"}
    agree(tmp_path)


def test_a_line_with_a_bad_byte_is_named_as_unreadable_and_stays(tmp_path: Path) -> None:
    tell(tmp_path, PORT, "Never use tabs in this repository.")
    offline(tmp_path)
    path = handbook(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"8443", b"84\xd143"))
    kept = [line for line in path.read_bytes().split(b"\n") if b"\xd1" in line]
    with open_memory(tmp_path) as memory:
        memory.add("backups are kept for ten days")
        status = memory.status()
    shown = path.read_bytes().split(b"\n")
    (number,) = [n for n, line in enumerate(shown, 1) if b"^m-" in line and b"\xd1" in line]
    assert status["unusable"] == {f"memories/MEMORY.md:{number}": "holds bytes that are no UTF-8"}
    offline(tmp_path)
    assert [line for line in path.read_bytes().split(b"\n") if b"\xd1" in line] == kept
    assert {record.status for record in state(tmp_path).records.values()} == {Status.ACTIVE}
    assert any("backups" in text for text in texts(tmp_path)) and any("tabs" in text for text in texts(tmp_path))


def _starved(root: str, limit: int, answer: Any) -> None:
    """Processes with files that cannot grow beyond `limit` bytes: a write stops half-way, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        report = offline(Path(root))
        answer.send({**report.failed, "": ""} if not report.failed else report.failed)
    except (SandboxMemoryError, OSError) as error:
        answer.send({"error": str(error)})


@pytest.mark.skipif(sys.platform == "win32", reason="limits of this kind are of POSIX")
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 1.2, 2.0])
def test_a_write_that_stops_half_way_leaves_what_was_there(tmp_path: Path, share: float) -> None:
    tell(tmp_path, PORT)
    offline(tmp_path)
    tell(tmp_path, *[f"Remember: the owner of service {n} is team {n + 100}." for n in range(20)], rollout="more")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    limit = int(len(before[tmp_path / "memories" / "ledger.jsonl"]) * share)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_starved, args=(str(tmp_path), limit, there))
    child.start()
    assert here.poll(40), "the process with the small files does not end"
    told = here.recv()
    child.join(10)
    ledger = tmp_path / "memories" / "ledger.jsonl"
    if ledger.read_bytes() == before[ledger]:
        assert "memories/" in " ".join(told.values()), told
        for path, data in before.items():
            assert path.read_bytes() == data, path
    else:
        assert ledger.read_bytes().startswith(before[ledger]) and ledger.read_bytes().endswith(b"\n")
    assert offline(tmp_path).failed == {}
    agree(tmp_path)
    assert any("8443" in text for text in texts(tmp_path)) and len(texts(tmp_path)) > 5


def _adds(root: str, who: str) -> None:
    async def work() -> None:
        line = pipeline(Path(root))
        for n in range(100):
            await commands.add(line, f"{who} knows thing {n}")

    run(work())


@pytest.mark.timeout(240)
def test_two_processes_that_each_add_a_hundred_memories_make_two_hundred(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    children = [context.Process(target=_adds, args=(str(tmp_path), who)) for who in ("one", "two")]
    for child in children:
        child.start()
    for child in children:
        child.join(200)
        assert child.exitcode == 0
    assert texts(tmp_path) == {f"{who} knows thing {n}" for who in ("one", "two") for n in range(100)}
    agree(tmp_path)


def test_a_correction_leaves_one_fact_without_a_model_too(tmp_path: Path) -> None:
    tell(tmp_path, "Remember: the port of the staging server is 8080.", rollout="first")
    offline(tmp_path)
    assert any("8080" in text for text in texts(tmp_path))
    tell(tmp_path, "Remember: the port of the staging server is 8443.", rollout="second")
    offline(tmp_path)
    (now,) = texts(tmp_path)
    assert "8443" in now and "8080" not in now
    summary = (tmp_path / "memories" / "memory_summary.md").read_text(encoding="utf-8")
    assert "8443" in summary and "8080" not in summary
    with open_memory(tmp_path) as memory:
        (record,) = memory.records()
        (old,) = memory.why(record.id).replaced
    assert "8080" in old.text and old.status is Status.SUPERSEDED and old.created_at and old.updated_at


def heard(root: Path, rollout: str, *items: dict[str, Any]) -> None:
    ended = {"terminal_state": "completed"}
    run(pipeline(root).record(RunCapture(rollout, "conversation", list(items), [], None, [], ended, "A", False)))


def test_what_memory_said_teaches_the_offline_model_nothing(tmp_path: Path) -> None:
    tell(tmp_path, PORT, "Never use tabs in this repository.")
    offline(tmp_path)
    before, told = state(tmp_path), run(pipeline(tmp_path).briefing())
    files = {
        name: (tmp_path / "memories" / name).read_text(encoding="utf-8") for name in ("MEMORY.md", "memory_summary.md")
    }
    for n, (command, shown) in enumerate(
        (
            ("cat memories/MEMORY.md", files["MEMORY.md"]),
            ("sed -n 1,80p memories/memory_summary.md", files["memory_summary.md"]),
            ("rg -n port memories/", "memories/MEMORY.md:9:- the port of staging is 8443"),
        )
    ):
        call = {
            "type": "function_call",
            "call_id": "c",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": command}),
        }
        output = {"type": "function_call_output", "call_id": "c", "output": shown}
        heard(tmp_path, f"reading-{n}", {"role": "developer", "content": told}, call, output)
    offline(tmp_path)
    after = state(tmp_path)
    assert after.records.keys() == before.records.keys()
    for id, record in before.records.items():
        now = after.records[id]
        assert (now.evidence, now.updated, now.support, now.trust) == (
            record.evidence,
            record.updated,
            record.support,
            record.trust,
        )


def _closes(root: str) -> None:
    offline(Path(root))


def test_a_conversation_that_two_processes_read_at_once_is_no_line_twice(tmp_path: Path) -> None:
    tell(tmp_path, PORT, "Never use tabs in this repository.", rollout="one")
    (tmp_path / "sessions" / "copy.jsonl").write_bytes((tmp_path / "sessions" / "one.jsonl").read_bytes())
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    children = [context.Process(target=_closes, args=(str(tmp_path),)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(40)
        assert child.exitcode == 0

    async def resumed() -> None:
        line = pipeline(tmp_path)
        await line.record(said("And thank you.", rollout="one"))
        await line.process((OfflineModel(), OfflineModel()), LIMITS, again=True)

    run(resumed())
    found = list(lines(tmp_path).values())
    assert len(found) == len(set(found)) == 2
    agree(tmp_path)
