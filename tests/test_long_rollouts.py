from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.errors import ModelError
from sandbox_memory.inquiry import Inquiry
from sandbox_memory.layout import Layout
from sandbox_memory.models import EXTRACTION, Answer, ExtractionDraft, Request
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.pipeline import Limits, extracting, gathering
from sandbox_memory.pipeline.store import Store
from sandbox_memory.records import Usage
from sandbox_memory.transcript import TOKENS
from sandbox_memory.workspace.local import LocalWorkspace

from . import mixed
from .kit import EchoModel, agree, lines, pipeline, process, run, state, tell, texts
from .tokenizing import count

CORRECTION = "no, the port is 8443, not 8080"


class Watching(EchoModel):
    """Keeps the requests, and counts how many, and how many tokens, are under way at once."""

    def __init__(self, seconds: float = 0.0, fail: Sequence[str] = ()) -> None:
        super().__init__()
        self.requests: list[Request[Any]] = []
        self.seconds, self.fail = seconds, fail
        self.now: list[int] = []
        self.most = self.most_tokens = 0

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        self.requests.append(request)
        self.now.append(count(request.input) + count(request.instructions))
        self.most, self.most_tokens = max(self.most, len(self.now)), max(self.most_tokens, sum(self.now))
        try:
            await asyncio.sleep(self.seconds)
            if any(word in request.input for word in self.fail):
                error = ModelError("it said nothing of use")
                error.spent = (1, 100, 1)
                raise error
            return await super().answer(request)
        finally:
            self.now.pop()

    @property
    def extractions(self) -> list[Request[Any]]:
        return [request for request in self.requests if request.task == EXTRACTION]


def line(rollout: str, segment: str, said: str, outputs: Sequence[str] = ()) -> str:
    generated: list[dict[str, Any]] = []
    for number, output in enumerate(outputs):
        made = f"{segment}-{number}"
        arguments = json.dumps({"cmd": f"tail -n 4000 worker-{number}.log"})
        generated.append({"type": "function_call", "call_id": made, "name": "exec_command", "arguments": arguments})
        generated.append({"type": "function_call_output", "call_id": made, "output": output})
    payload = {
        "updated_at": "2026-09-01T09:00:00+00:00",
        "rollout_id": rollout,
        "input": [{"role": "user", "content": said}],
        "generated_items": generated,
        "interruptions": [],
        "terminal_metadata": {"terminal_state": "completed"},
        "final_output": None,
        "segment": segment,
        "agent": "A",
    }
    return json.dumps(payload, ensure_ascii=False) + "\n"


@pytest.fixture(params=[13, pytest.param(52, marks=pytest.mark.proof)], ids=["3 MB", "13 MB"])
def huge(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A workspace with one rollout of tool output, too much to be told; in its middle the user corrects a port."""
    rng, outputs = random.Random(8), request.param
    noise = [
        "".join(
            f"2026-09-01 INFO [worker-{n}] handled {rng.getrandbits(32):08x} in {k % 900} ms\n" for k in range(4_500)
        )
        for n in range(outputs)
    ]
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "huge.jsonl").write_text(
        line("huge", "a", "Start the server and look through the logs.", noise[: outputs // 2])
        + line("huge", "b", CORRECTION, noise[outputs // 2 :]),
        encoding="utf-8",
    )
    assert (tmp_path / "sessions" / "huge.jsonl").stat().st_size > 240_000 * outputs
    return tmp_path


def test_a_correction_in_megabytes_reaches_the_model_within_the_budget_and_once(huge: Path) -> None:
    model = Watching()
    start = time.perf_counter()
    report = process(huge, model)
    print(f"with a model that answers at once: {time.perf_counter() - start:.1f} s")
    assert report.failed == {} and len(model.extractions) == 1
    (request,) = model.extractions
    assert CORRECTION in request.input and "Start the server and look through the logs." in request.input
    assert TOKENS * 0.7 < count(request.instructions) + count(request.input) <= TOKENS * 1.02
    assert "tokens, are missing here …]" in request.input and "The transcript was too long:" in request.input
    assert CORRECTION in texts(huge)
    process(huge, model)
    assert len(model.extractions) == 1, "what was read is not asked again"
    agree(huge)


def test_the_correction_becomes_a_record_without_a_model(huge: Path) -> None:
    start = time.perf_counter()
    report = process(huge, OfflineModel())
    print(f"offline: {time.perf_counter() - start:.1f} s")
    assert report.failed == {} and any("8443" in text for text in texts(huge))
    agree(huge)


def test_only_what_is_new_is_read_again_and_earlier_notes_are_context_within_bounds(tmp_path: Path) -> None:
    model = Watching()
    tell(tmp_path, "the first thing is blue")
    process(tmp_path, model)
    tell(tmp_path, "the second thing is green")
    process(tmp_path, model)
    first, second = model.extractions
    assert "the first thing is blue" in first.input and "EARLIER NOTES" not in first.input
    transcript = second.input[second.input.index("<<<<<<<< TRANSCRIPT") :]
    assert "the second thing is green" in transcript and "the first thing is blue" not in transcript
    assert "EARLIER NOTES" in second.input
    raw = tmp_path / "memories" / "raw_memories" / "chat.md"
    raw.write_text(raw.read_text(encoding="utf-8") + "\n" + "an old note that says little\n" * 20_000, encoding="utf-8")
    tell(tmp_path, "the third thing is red")
    process(tmp_path, model)
    third = model.extractions[-1]
    assert "the third thing is red" in third.input and count(third.input) < 5_000
    assert "are missing here" in third.input


# ---- several at once


def limits(**values: Any) -> Limits:
    return Limits(**{"attempts": 1, "retry_delay": 0.001, **values})


def several(root: Path, names: Sequence[str], size: int = 0) -> None:
    (root / "sessions").mkdir(exist_ok=True)
    for name in names:
        noise = [f"{name} row {n} of a long table of numbers\n" * 40 for n in range(size)]
        (root / "sessions" / f"{name}.jsonl").write_text(line(name, name, f"{name} is a name", noise), encoding="utf-8")


def test_several_rollouts_are_asked_about_at_once_but_no_more_than_allowed(tmp_path: Path) -> None:
    several(tmp_path, [f"r{n}" for n in range(12)])
    model = Watching(seconds=0.02)
    report = run(pipeline(tmp_path).process((model, model), limits(concurrency=3)))
    assert len(report.extracted) == 12 and model.most == 3


def test_the_tokens_under_way_are_bounded_and_the_largest_request_still_goes(tmp_path: Path) -> None:
    several(tmp_path, [f"r{n}" for n in range(6)], size=10)
    model = Watching(seconds=0.02)
    report = run(pipeline(tmp_path).process((model, model), limits(in_flight=15_000)))
    one = count(model.extractions[0].input) + count(model.extractions[0].instructions)
    assert 4_000 < one < 7_500 and len(report.extracted) == 6
    assert 1 < model.most < 6 and model.most_tokens <= 15_000 * 1.02
    tell(tmp_path, "another thing")
    assert run(pipeline(tmp_path).process((model, model), limits(in_flight=10))).failed == {}


def test_what_has_no_turn_before_the_close_must_end_is_not_asked(tmp_path: Path) -> None:
    several(tmp_path, [f"r{n}" for n in range(6)])
    model = Watching(seconds=0.3)

    async def work() -> Any:
        deadline = asyncio.get_running_loop().time() + 0.25
        return await pipeline(tmp_path).process((model, model), limits(concurrency=2, deadline=deadline))

    report = run(work())
    assert len(model.extractions) == 2 and len(report.failed) == 6
    assert sum(cause == extracting.LATE for cause in report.failed.values()) == 4
    assert len(process(tmp_path, EchoModel()).extracted) == 6
    agree(tmp_path)


def test_what_each_rollout_cost_is_kept_and_told(tmp_path: Path) -> None:
    several(tmp_path, ["good", "bad"])
    model = Watching(fail=["bad is a name"])
    report = run(pipeline(tmp_path).process((model, model), limits(attempts=2)))
    assert (report.usage.requests, report.usage.input_tokens) == (1 + 2 + 1, 10 + 200 + 20)
    store = Store(LocalWorkspace(tmp_path), Layout.of("memories", "sessions"))
    facts = run(Inquiry(store).status())
    assert facts["usage"] == {
        "bad": {"requests": 2, "input_tokens": 200, "output_tokens": 2},
        "good": {"requests": 1, "input_tokens": 10, "output_tokens": 5},
    }
    assert facts["consolidation_usage"]["input_tokens"] == 20
    command = [sys.executable, "-m", "sandbox_memory", "status", str(tmp_path)]
    told = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "120"}
    ).stdout
    assert "bad: 200 in and 2 out, in 2 requests" in told and "good: 10 in and 5 out, in 1 request" in told
    assert "consolidation: 20 in and 5 out, in 1 request" in told
    assert process(tmp_path, EchoModel()).extracted == ["bad"]
    assert state(tmp_path).rollouts["bad"].usage == {"requests": 3, "input_tokens": 210, "output_tokens": 7}


class Empty:
    """Finds nothing to learn anywhere."""

    name = "empty"

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        return Answer(ExtractionDraft(), Usage())


def test_what_is_read_at_once_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several(tmp_path, [f"r{n}" for n in range(30)], size=3)
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "sessions").iterdir()}
    monkeypatch.setattr(gathering, "BATCH_BYTES", 3 * max(sizes.values()))
    read: list[int] = []
    looked = LocalWorkspace.look

    async def look(self: LocalWorkspace, files: Any = (), folders: Any = ()) -> Any:
        view = await looked(self, files, folders)
        read.append(sum(len(data) for path, data in view.files.items() if path.startswith("sessions/")))
        return view

    monkeypatch.setattr(LocalWorkspace, "look", look)
    assert len(process(tmp_path, Empty()).extracted) == 30
    assert 0 < max(read) <= 3 * max(sizes.values()) and sum(read) >= sum(sizes.values())


# ---- many, in many languages


def many(root: Path, count: int) -> None:
    """That many rollouts are read offline: none fails, memory is valid, and reading them again changes nothing."""
    size = mixed.write(root, seed=20_260_901, count=count)
    start = time.perf_counter()
    report = process(root, OfflineModel(), MemoryGenerateConfig(max_raw_memories=4_096))
    taken = time.perf_counter() - start
    assert report.failed == {} and len(report.extracted) == count
    agree(root)
    now = state(root)
    assert not now.pending and not now.failures
    assert len(texts(root)) > count / 20
    print(f"{count} rollouts, {size / 1e6:.1f} MB: {taken:.1f} s, {len(texts(root))} records")
    found = run(Inquiry(Store(LocalWorkspace(root), Layout.of("memories", "sessions"))).check())
    assert found.receipts == found.standing_receipts > 0, "every quote stands where it says"
    before = lines(root)
    again = process(root, OfflineModel(), MemoryGenerateConfig(max_raw_memories=4_096))
    assert again.extracted == [] and lines(root) == before


def test_rollouts_of_mixed_languages_are_all_read_offline(tmp_path: Path) -> None:
    many(tmp_path, 40)


@pytest.mark.proof
def test_a_thousand_rollouts_of_mixed_languages_are_all_read_offline(tmp_path: Path) -> None:
    many(tmp_path, 1_000)
