"""What the tests of the pipeline share: workspaces, captures, and a model that remembers every user message."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.saying import adding_all, answered, captured
from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.document import Document
from sandbox_memory.folding import fold
from sandbox_memory.layout import Layout
from sandbox_memory.ledger import Ledger, parse
from sandbox_memory.models import (
    EXTRACTION,
    Answer,
    ExtractionDraft,
    ExtractionMaterial,
    MemoryDraft,
    QuoteDraft,
    Request,
)
from sandbox_memory.pipeline import Limits, Pipeline, Report
from sandbox_memory.records import RunCapture, Usage
from sandbox_memory.state import State
from sandbox_memory.workspace.local import LocalWorkspace

T = TypeVar("T")
LIMITS = Limits(attempts=2, retry_delay=0.001)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


class EchoModel:
    """Remembers every user message as it was said, and adds whatever is proposed to it."""

    name = "echo"

    def __init__(self, rephrase: Any = None) -> None:
        self.extracted: list[str] = []
        self.consolidations = 0
        self.rephrase = rephrase or (lambda text: text)

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        await asyncio.sleep(0)
        if request.task == EXTRACTION:
            assert isinstance(request.material, ExtractionMaterial)
            rollout = request.material.rollout
            self.extracted.append(rollout.id)
            memories = [
                MemoryDraft(
                    kind="fact",
                    text=self.rephrase(item.text),
                    quotes=[QuoteDraft(item=f"s{n}.{item.index}", text=item.text)],
                )
                for n, segment in enumerate(rollout.segments, 1)
                for item in segment.items
                if item.role == "user"
            ]
            draft = ExtractionDraft(
                task="Notes", slug="notes", summary="What was said.", raw_memory="Notes.", memories=memories
            )
            return Answer(draft, Usage(1, 10, 5))
        self.consolidations += 1
        return adding_all(request)


def layout(memories: str = "memories", sessions: str = "sessions") -> Layout:
    return Layout.of(memories, sessions)


def pipeline(root: Path, generate: MemoryGenerateConfig | None = None, **kwargs: Any) -> Pipeline:
    """A pipeline on a folder; writes unless `generate=False`."""
    return Pipeline(LocalWorkspace(root), layout(), generate=generate or MemoryGenerateConfig(), **kwargs)


def said(text: str, *, rollout: str = "chat", source: str = "conversation", answer: str = "Noted.") -> RunCapture:
    return captured(
        [{"role": "user", "content": text}], [answered(answer)], rollout=rollout, source=source, final=answer
    )


def tell(root: Path, *texts: str, rollout: str = "chat") -> None:
    """Record one run for each text."""

    async def work() -> None:
        line = pipeline(root)
        for text in texts:
            await line.record(said(text, rollout=rollout))

    run(work())


def process(root: Path, model: Any = None, generate: MemoryGenerateConfig | None = None, **kwargs: Any) -> Report:
    model = model or EchoModel()
    return run(pipeline(root, generate).process((model, model), LIMITS, **kwargs))


def handbook(root: Path) -> Path:
    return root / "memories" / "MEMORY.md"


def delete_line(root: Path, needle: str) -> None:
    """Delete by hand every line of MEMORY.md that has the needle in it."""
    kept = [line for line in handbook(root).read_text(encoding="utf-8").splitlines(keepends=True) if needle not in line]
    handbook(root).write_text("".join(kept), encoding="utf-8")


def lines(root: Path) -> dict[str, str]:
    """The list items of MEMORY.md by block id (those without one by their text)."""
    document = Document.parse(handbook(root).read_bytes())
    return {item.id or item.text: item.text for item in document.items}


def texts(root: Path) -> set[str]:
    return set(lines(root).values())


def look(root: Path) -> None:
    """Take in what stands in the files."""
    run(pipeline(root).adopt())


def history(root: Path) -> Ledger:
    return parse((root / "memories" / "ledger.jsonl").read_bytes())


def state(root: Path) -> State:
    return fold(history(root))


def agree(root: Path) -> None:
    """Assert that ledger and markdown say the same, and that the chain holds."""
    ledger = history(root)
    assert not ledger.problems, ledger.problems
    now = fold(ledger)
    document = Document.parse(handbook(root).read_bytes())
    assert document.marker == now.ordinal
    assert {item.id: item.text for item in document.items} == {r.id: r.text for r in now.visible().values()}
