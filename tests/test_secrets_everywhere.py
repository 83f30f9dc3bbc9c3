"""Canaries of every kind, in every place, through real sessions: none is in a file, a log, a span or a prompt."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from agents import Runner, function_tool
from agents.tracing import TracingProcessor, set_trace_processors, set_tracing_disabled

from sandbox_memory import open_memory
from sandbox_memory.capability import Memory
from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.errors import SandboxMemoryError
from sandbox_memory.governance.redaction import PLACEHOLDER

from .canaries import KINDS, Canary
from .kit import EchoModel, pipeline, process, run, said
from .scripted import Scripted, agent, calls, config, session_in, shell
from .test_cli import of
from .test_secrets_kinds import pieces

USER, ARGUMENTS, NESTED, OUTPUT, ANSWER, FAILURE, NAME, DRAFT, TYPED = range(9)
KEPT = "The staging port is 8443."


def canaries(place: int) -> list[Canary]:
    """One of every kind, others in every place."""
    return [make(Random(1000 * place + n)) for n, (_, make) in enumerate(KINDS)]


def shown(place: int, sep: str = "\n") -> str:
    return sep.join(canary.shown for canary in canaries(place))


class Spans(TracingProcessor):
    """What the SDK tells of the runs that memory makes."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_trace_start(self, trace: Any) -> None:
        self.told.append(json.dumps(trace.export(), default=str))

    def on_trace_end(self, trace: Any) -> None: ...

    def on_span_start(self, span: Any) -> None: ...

    def on_span_end(self, span: Any) -> None:
        self.told.append(json.dumps(span.export(), default=str))

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


@pytest.fixture
def spans() -> Iterator[Spans]:
    spans = Spans()
    set_trace_processors([spans])
    set_tracing_disabled(False)
    yield spans
    set_tracing_disabled(True)
    set_trace_processors([])


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """All that this package logs, formatted, tracebacks included."""
    told = io.StringIO()
    handler = logging.StreamHandler(told)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("sandbox_memory")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield told
    logger.setLevel(before)
    logger.removeHandler(handler)


def searched(root: Path) -> Iterator[tuple[str, str]]:
    """Every file of a workspace and every name, as text."""
    for path in sorted(root.rglob("*")):
        yield f"name {path.name}", str(path.relative_to(root))
        if path.is_file():
            yield str(path), path.read_bytes().decode("utf-8", "backslashreplace")


def leaks(texts: Sequence[tuple[str, str]], places: Sequence[int]) -> list[tuple[str, str]]:
    found = []
    for place in places:
        for canary in canaries(place):
            forms = {form for piece in pieces(canary) for form in (piece, piece.lower()) if len(piece) > 8}
            found += [(where, form) for where, text in texts for form in forms if form in text]
    return found


def drafted(request: dict[str, Any]) -> str:
    """What an extraction model answers that puts secrets wherever words can stand."""
    words = shown(DRAFT, " ")
    memories: list[dict[str, Any]] = [
        {"kind": "fact", "text": KEPT, "subject": "staging port", "quotes": [{"item": "s1.0", "text": KEPT}]}
    ]
    for canary in canaries(DRAFT):
        memories.append(
            {
                "kind": "fact",
                "text": f"{KEPT} {canary.shown}",
                "subject": canary.shown,
                "quotes": [{"item": "s1.0", "text": KEPT}],
            }
        )
    return json.dumps(
        {
            "task": f"Release {words}",
            "slug": canaries(DRAFT)[7].secret.lower(),
            "summary": words,
            "raw_memory": words,
            "keywords": [canary.secret for canary in canaries(DRAFT)],
            "memories": memories,
        }
    )


def planned(request: dict[str, Any]) -> str:
    words = canaries(DRAFT)[7].shown
    operations = [
        {"op": "add", "candidates": ["c1"], "group": f"Release {words}", "text": KEPT, "reason": words},
        {"op": "add", "candidates": ["c1"], "group": words, "text": words, "subject": words},
        {"op": words, "candidates": [words], "records": [words], "reason": words},
    ]
    return json.dumps({"operations": operations})


@function_tool
def look_up(query: str) -> str:
    """Answers with JSON in JSON, which has a secret of every kind in it."""
    rows = [{"name": "x", "value": canary.shown} for canary in canaries(NESTED)]
    return json.dumps({"result": json.dumps({"rows": rows, "text": shown(NESTED)})})


def test_no_canary_is_anywhere(tmp_path: Path, spans: Spans, logs: io.StringIO) -> None:
    root = tmp_path / "work"
    extractor, planner = Scripted(drafted), Scripted(planned)
    generate = MemoryGenerateConfig(phase_one_model=extractor, phase_two_model=planner, retry_delay=0.001)
    name = canaries(NAME)[7].secret
    prompts: list[str] = []

    async def work() -> None:
        async with await session_in(root) as session:
            first = agent(
                [shell(f"printf '%s' '{canaries(OUTPUT)[7].secret}'; echo; cat canaries.txt")],
                calls("look_up", query=json.dumps({"deep": json.dumps({"deeper": shown(ARGUMENTS)})})),
                shown(ANSWER),
                memory=Memory(generate=generate),
                tools=[look_up],
            )
            (root / "canaries.txt").write_text(shown(OUTPUT), encoding="utf-8")
            await Runner.run(first, f"{KEPT}\n{shown(USER)}", run_config=config(session, group_id=name))
            (root / "canaries.txt").unlink()
            failing = agent(RuntimeError(shown(FAILURE)), memory=Memory(generate=generate))
            with pytest.raises(RuntimeError):
                await Runner.run(failing, "go on", run_config=config(session, group_id=name))
        for path in sorted((root / "memories").glob("*.md")):
            typed = f"\n\n- {shown(TYPED, ' ')}\n\n{shown(TYPED)}\n"
            path.write_bytes(path.read_bytes() + typed.encode())
        spans.told.clear()
        async with await session_in(root) as session:
            second = agent("Fine.", memory=Memory(generate=generate))
            await Runner.run(second, "what now?", run_config=config(session, group_id=name))
            prompts.extend(json.dumps(request["system"], ensure_ascii=False) for request in second.model.seen)

    run(work())
    assert extractor.seen and planner.seen
    assert "8443" in (root / "memories" / "MEMORY.md").read_text(encoding="utf-8")
    asked = [
        json.dumps([request["system"], request["input"]], ensure_ascii=False, default=str)
        for request in (*extractor.seen, *planner.seen)
    ]
    injected = [prompt for prompt in prompts if "8443" in prompt]
    assert injected
    assert any(PLACEHOLDER.search(text) for text in asked)
    assert "held a secret" in logs.getvalue()
    told = [*(("asked", text) for text in asked), *(("injected", text) for text in prompts), ("logs", logs.getvalue())]
    everywhere = [USER, ARGUMENTS, NESTED, OUTPUT, ANSWER, FAILURE, NAME, DRAFT, TYPED]
    assert not leaks([*searched(root), *told], everywhere)
    ours = [("span", text) for text in spans.told if "sandbox-memory-" in text or "Sandbox memory" in text]
    assert ours
    assert not leaks(ours, everywhere)
    printed = []
    for words in (["status"], ["show"], ["history"], ["check"]):
        printed.append((words[0], json.dumps(of(words[0], root), ensure_ascii=False)))
    assert not leaks(printed, everywhere)


def test_what_a_person_asks_to_keep_holds_no_secret(tmp_path: Path) -> None:
    texts = [canary.shown for canary in canaries(USER)]
    with open_memory(tmp_path) as memory:
        for text in texts:
            record = memory.add(f"Keep in mind: {text}")
            assert PLACEHOLDER.search(record.text), text
    assert not leaks(list(searched(tmp_path)), [USER])


def test_what_is_typed_into_the_files_is_replaced_where_it_stands(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(pipeline(tmp_path).record(said(KEPT)))
    process(tmp_path)
    canary = canaries(TYPED)[7]
    handbook = tmp_path / "memories" / "MEMORY.md"
    before = handbook.read_bytes()
    handbook.write_bytes(before + f"\n- the key is {canary.shown}\nprose \xff".encode("latin-1") + b"\n")
    caplog.clear()
    process(tmp_path)
    after = handbook.read_bytes()
    assert canary.secret.encode() not in after
    assert "the key is ⟦secret:".encode() in after
    assert b"prose \xff" in after
    line = before.count(b"\n") + 2
    assert f"memories/MEMORY.md:{line} held a secret" in caplog.text
    assert canary.secret not in caplog.text
    caplog.clear()
    process(tmp_path)
    assert handbook.read_bytes() == after
    assert "held a secret" not in caplog.text


def test_transcripts_that_something_else_wrote_go_no_further(tmp_path: Path) -> None:
    """What the SDK's own memory wrote, and what only calls itself ours."""
    for forged in (False, True):
        root = tmp_path / str(forged)
        (root / "sessions").mkdir(parents=True)
        line: dict[str, Any] = {
            "updated_at": "2026-11-29T22:17:32.108000+00:00",
            "rollout_id": "old",
            "input": [{"role": "user", "content": f"{KEPT} {shown(USER, ' ')}"}],
            "generated_items": [],
        }
        if forged:
            line |= {"segment": "c059901b96", "agent": "A"}
        (root / "sessions" / "old.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
        model = EchoModel()
        asked: list[str] = []
        answer = model.answer

        async def heard(request: Any, asked: list[str] = asked, answer: Any = answer) -> Any:
            asked.append(request.instructions + request.input)
            return await answer(request)

        model.answer = heard  # type: ignore[method-assign]
        process(root, model)
        assert any("8443" in text for text in asked)
        memories = [text for text in searched(root) if "sessions" not in text[0]]
        assert not leaks([*memories, *(("asked", text) for text in asked)], [USER])


def test_ids_that_are_secrets_stay_apart(tmp_path: Path) -> None:
    ids = [canary.secret for canary in canaries(NAME) if canary.secret == canary.shown and "\n" not in canary.secret]
    for id in [*ids, *ids]:
        run(pipeline(tmp_path).record(said(KEPT, rollout=id, source="conversation")))
    names = sorted(path.stem for path in (tmp_path / "sessions").glob("*.jsonl"))
    assert len(names) == len(set(ids))
    assert not leaks(list(searched(tmp_path)), [NAME])


def test_errors_say_no_secret(tmp_path: Path) -> None:
    """A provider's message, as a command shows it and as the ledger keeps it."""
    canary = canaries(FAILURE)[7]
    run(pipeline(tmp_path).record(said(KEPT)))
    failing = Scripted(RuntimeError(f"Incorrect API key provided: {canary.shown}"))
    generate = MemoryGenerateConfig(phase_one_model=failing, phase_two_model=failing, retry_delay=0.001)
    report = run(pipeline(tmp_path, generate).close())
    assert report.failed
    assert canary.secret not in json.dumps(report.failed)
    assert not leaks(list(searched(tmp_path)), [FAILURE])
    assert canary.secret not in json.dumps(of("status", tmp_path))


def test_a_log_record_says_no_secret_in_its_traceback(logs: io.StringIO, tmp_path: Path) -> None:
    pipeline(tmp_path)
    canary = canaries(FAILURE)[7]
    logger = logging.getLogger("sandbox_memory")
    try:
        raise SandboxMemoryError(canary.shown)
    except SandboxMemoryError:
        logger.warning("failed with %s", {"arguments": canary.shown}, exc_info=True)
    logger.info("a plain one of %d", 3)
    told = logs.getvalue()
    assert canary.secret not in told
    assert "Traceback" in told and "failed with" in told and "a plain one of 3" in told
