"""`open_memory`: the memory of a folder, for plain Python without an agent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from ..config import MemoryGenerateConfig
from ..document import Document, ListItem
from ..errors import Unknown
from ..folding import fold
from ..inquiry import CheckReport, Inquiry, Reason
from ..layout import Layout
from ..models.choice import choose
from ..pipeline import Limits, Pipeline, Report, commands
from ..pipeline.reports import Progress
from ..records import Kind, Record, RunCapture
from ..state import State
from ..workspace.local import LocalWorkspace

T = TypeVar("T")


def open_memory(
    workspace: str | Path,
    *,
    memories_dir: str = "memories",
    sessions_dir: str | None = None,
    preset: str | None = None,
    generate: MemoryGenerateConfig | None = None,
) -> OpenMemory:
    """The memory of a workspace folder, as a context manager.

    `sessions_dir` and `preset` are by default what the memory's ledger says, else `sessions` and `default`. Raises
    `Unknown` if the folder does not exist, and `ConfigError` for folders that leave it.
    """
    root = Path(workspace)
    if not root.is_dir():
        raise Unknown(f"there is no folder {root}; name a workspace that holds {memories_dir}/ or sessions/")
    local = LocalWorkspace(root)
    first = Layout.of(memories_dir, sessions_dir or _sessions_beside(memories_dir))
    settings = run(_settings(local, first))
    layout = Layout.of(
        memories_dir,
        sessions_dir or str(settings.get("sessions_dir", first.sessions_dir)),
        preset or str(settings.get("preset", "default")),
    )
    return OpenMemory(Pipeline(local, layout, generate=generate or _kept(settings)))


def _sessions_beside(memories_dir: str) -> str:
    """`sessions/gtm` for `memories/gtm`, `sessions` for a folder of another name."""
    top, _, rest = memories_dir.partition("/")
    return f"sessions/{rest}" if top == "memories" and rest.strip("/") else "sessions"


async def _settings(workspace: LocalWorkspace, layout: Layout) -> dict[str, Any]:
    pipeline = Pipeline(workspace, layout)
    await pipeline.store.see()
    return fold(pipeline.store.ledger).settings


def _kept(settings: dict[str, Any]) -> MemoryGenerateConfig:
    """The configuration that the memory was last used with."""
    return MemoryGenerateConfig(max_raw_memories=settings.get("max_raw_memories"))


class OpenMemory:
    """A memory in a local folder. Every method takes in first what people changed in the markdown.

    Safe beside agents, editors and other processes that use the same folder; nothing is held open between calls.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.inquiry = Inquiry(pipeline.store)

    def __enter__(self) -> OpenMemory:
        run(self.pipeline.adopt())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left to do: every call has committed what it did."""

    @property
    def layout(self) -> Layout:
        """The folders and the preset of this memory."""
        return self.pipeline.layout

    def records(self) -> list[Record]:
        """The records that stand in `MEMORY.md`, oldest first."""
        done = run(self.pipeline.adopt())
        return sorted(done.state.visible().values(), key=lambda record: (record.created, record.id))

    def state(self) -> State:
        """All that the ledger adds up to, the records out of sight included."""
        return run(self.pipeline.adopt()).state

    def items(self) -> tuple[ListItem, ...]:
        """The list items of `MEMORY.md` as it is, in the order of its lines."""
        view = run(self.pipeline.store.look([self.layout.handbook]))
        return Document.parse(view.files.get(self.layout.handbook, b"")).items

    def add(self, text: str, *, kind: Kind | str = Kind.FACT, group: str = "General") -> Record:
        """Remember a line in so many words; it counts as written by hand, and no machine alters it."""
        return run(commands.add(self.pipeline, text, kind=Kind(kind), group=group))

    def forget(self, *ids: str) -> list[Record]:
        """Erase records from the markdown and from the ledger; returns them as they were."""
        return run(commands.forget(self.pipeline, [id.lstrip("^") for id in ids]))

    def record(self, items: Sequence[dict[str, Any]], *, rollout_id: str, final_output: object = None) -> str:
        """Append the items of a run that did not go through `Runner`; returns the name of its rollout file."""
        ended = {"terminal_state": "completed", "exception_type": None, "exception_message": None}
        capture = RunCapture(
            rollout_id=rollout_id,
            source="conversation",
            input=list(items),
            generated=[],
            final_output=final_output,
            interruptions=[],
            terminal={**ended, "has_final_output": final_output is not None},
            agent=None,
            resumed=False,
        )
        return run(self.pipeline.record(capture))

    def process(
        self, model: Any = None, *, again: bool = False, progress: Progress = lambda what, done, of: None
    ) -> Report:
        """Extract and consolidate what is pending, without a time limit.

        `model` is used for both phases: `"offline"`, a name, or a `Model` object; by default the configured.
        """
        generate = self.pipeline.generate or MemoryGenerateConfig()
        if model is not None:
            generate = self.pipeline.generate = replace(generate, phase_one_model=model, phase_two_model=model)
        limits = Limits(generate.attempts, generate.retry_delay, generate.concurrency, None, generate.extra_prompt)
        return run(self.pipeline.process(choose(generate), limits, again=again, progress=progress))

    def status(self) -> dict[str, Any]:
        """Counts, pending work with its causes, usage."""
        run(self.pipeline.adopt())
        return run(self.inquiry.status())

    def history(self) -> list[dict[str, Any]]:
        """The commits, newest first."""
        run(self.pipeline.adopt())
        return run(self.inquiry.history())

    def why(self, target: str) -> Reason:
        """Why a record is there, by its id or by `FILE:LINE`, its quotes verified now."""
        run(self.pipeline.adopt())
        return run(self.inquiry.why(target))

    def check(self) -> CheckReport:
        """Whether chain, receipts and authors verify."""
        return run(self.inquiry.check())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - re-raised in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
