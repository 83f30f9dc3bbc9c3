"""What a memory's history costs as it grows: 10, 100, 1,000 and 10,000 commits.

The ledger is written with the library's own encoder, two commits for each conversation: its extraction, and a
consolidation that adds two records. The newest 256 conversations count, which is the default. Then, on a folder of
this machine:

- open: a session begins in a process that has not seen the memory before, and nothing has changed.
- record: one run is appended to a conversation.
- adopt: a person has changed one line of `MEMORY.md`, and a command or the next run takes that in.
- extract: from the beginning of a close to the model's request for the new conversation, and from its answer to the
  commit.
- plan: from there to the request for the consolidation.
- commit: from its answer until the operations are in the ledger and the markdown shows them.
- tidy: the rest of the close: intermediates, skills, what is beyond the limits.

Each in milliseconds, the least of the repetitions, since what else goes on only adds to it; in calls of the
workspace, which are what a remote sandbox takes time for; and in bytes read and written through it. Models answer
at once, and their time is not counted.

What a step changes is the same at every size: one conversation, two records, one line. What grows with the history,
and how: an opening in a new process reads the whole ledger once, in time and bytes. What comes after reads only
what is new, but for the names of the transcripts, one listing of `sessions/` for each look, which `keep_rollouts`
bounds. The markdown is read, parsed and written whole; it grows until 256 conversations are visible, at about 500
commits, and no further. A plan searches all records, in memory. Nothing grows faster than the history.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.layout import Layout
from sandbox_memory.models import CONSOLIDATION, EXTRACTION, Answer, Request
from sandbox_memory.pipeline import Limits, Pipeline
from sandbox_memory.records import RunCapture, Usage
from sandbox_memory.workspace import Append, Ask, Outcome, Replace, Step, View
from sandbox_memory.workspace.local import LocalWorkspace

from .answers import opening, our_consolidation, our_extraction
from .filled import our_workspace
from .kit import Progress, run, settle
from .plot import Panel, charts
from .table import Row, amount, divided, plural
from .texts import Conversation, conversation

LIMIT = 256
STEPS = ("open", "record", "adopt", "extract", "plan", "commit", "tidy")
JUDGED = (1_000, 10_000)
LINEAR = 10
"""How many times as long a step may take with ten times the commits. What it changes is the same."""
MOVED = 2
"""How many times as many bytes the steps after an opening may move with ten times the commits."""


@dataclass(frozen=True)
class Sizes:
    """How many commits there are, and how often each step is done at each number."""

    commits: tuple[int, ...] = (10, 100, 1_000, 10_000)
    repetitions: int = 5


FULL = Sizes()
QUICK = Sizes((10, 100, 1_000), 2)
TINY = Sizes((4, 8), 1)


@dataclass
class Cost:
    """What a step took: seconds, calls of the workspace, bytes read and written."""

    seconds: float = 0.0
    calls: int = 0
    read: int = 0
    written: int = 0


class Counted(LocalWorkspace):
    """A folder that adds up what is done through it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.cost = Cost()

    async def look(self, asks: Sequence[Ask | str], folders: Sequence[str] = ()) -> View:
        view = await super().look(asks, folders)
        self.cost.calls += 1
        self.cost.read += sum(map(len, view.files.values()))
        self.cost.read += sum(len(name) + 8 for names in view.folders.values() for name in names)
        return view

    async def transact(self, steps: Sequence[Step], *, lock: str, timeout: float = 30.0) -> Outcome:
        outcome = await super().transact(steps, lock=lock, timeout=timeout)
        self.cost.calls += 1
        self.cost.written += sum(len(step.data) for step in steps if isinstance(step, (Append, Replace)))
        return outcome


@dataclass
class Meter:
    """Costs by step. A step may have several stretches, which are added up; each repetition is kept apart."""

    found: dict[str, list[Cost]] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, workspace: Counted) -> Iterator[None]:
        """Count what happens inside as one repetition of a step."""
        settle()
        begun = Stretch(workspace)
        yield
        self.found.setdefault(name, []).append(begun.cost())

    def usual(self, name: str) -> Cost:
        """The least time of the repetitions, and the median of the other measures."""
        costs = self.found[name]
        return Cost(
            min(cost.seconds for cost in costs),
            round(statistics.median(cost.calls for cost in costs)),
            round(statistics.median(cost.read for cost in costs)),
            round(statistics.median(cost.written for cost in costs)),
        )


class Stretch:
    """What has happened in a workspace since."""

    def __init__(self, workspace: Counted) -> None:
        self._workspace, self._before = workspace, Cost(**vars(workspace.cost))
        self._start = time.perf_counter()

    def cost(self) -> Cost:
        """The cost until now."""
        now, before = self._workspace.cost, self._before
        seconds = time.perf_counter() - self._start
        return Cost(seconds, now.calls - before.calls, now.read - before.read, now.written - before.written)


class Stages:
    """Cuts a close into its stages at the requests of its models; is a model itself, which answers at once."""

    name = "stages"

    def __init__(self, workspace: Counted, group: str) -> None:
        self._workspace = workspace
        self._consolidate = our_consolidation(lambda: group)
        self.costs = {name: Cost() for name in ("extract", "plan", "commit", "tidy")}
        self._stage, self._stretch = "extract", Stretch(workspace)

    def enter(self, stage: str) -> None:
        """From here on it is that stage."""
        cost, total = self._stretch.cost(), self.costs[self._stage]
        for name, value in vars(cost).items():
            setattr(total, name, getattr(total, name) + value)
        self._stage, self._stretch = stage, Stretch(self._workspace)

    def progress(self, what: str, done: int, of: int) -> None:
        """Told by the pipeline as it goes on."""
        if what == "extracting":
            self.enter("plan")
        elif what == "consolidating" and done == of:
            self.enter("tidy")

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        """An answer; the time that it takes is nobody's."""
        self.enter(self._stage)
        items = [{"role": "user", "content": request.input}]
        answers = {EXTRACTION: our_extraction, CONSOLIDATION: self._consolidate}
        value = request.output_type.model_validate_json(answers[request.task](request.instructions, items))
        self._stage = "commit" if request.task == CONSOLIDATION else "extract"
        self._stretch = Stretch(self._workspace)
        return Answer(value, Usage(1, 100, 10))


def measure(sizes: Sizes, folder: Path, progress: Progress, write: Path | None = None) -> list[Row]:
    """A row for each step and number of commits. With `write`, a folder, also a page and a plot there."""
    found: dict[int, Meter] = {}
    our_workspace(folder / "first", 2, LIMIT)
    run(_steps(folder / "first", 2, 1))  # whatever is imported or compiled only once is, from here on
    for count in sizes.commits:
        progress(f"{count:,} commits, writing them")
        our_workspace(folder / str(count), count // 2, LIMIT)
        progress(f"{count:,} commits, measuring")
        found[count] = run(_steps(folder / str(count), count // 2, sizes.repetitions))
    if write is not None:
        write_page(found, write)
    rows = []
    for step in STEPS:
        before: Cost | None = None
        for count, meter in found.items():
            cost = meter.usual(step)
            ratio = divided(cost.seconds, before.seconds) if before else None
            judged = LINEAR if count == JUDGED[1] and JUDGED[0] in found else None
            how = f"times as long; {told(cost)}" if before else told(cost)
            what = f"{step}, {count:,} commits"
            rows.append(Row(what, None, cost.seconds * 1_000, "ms", ratio, how, at_most=judged if before else None))
            before = cost
    least, *_, most = found
    calls, moved = ({n: _sum(found[n], what) for n in found} for what in (("calls",), ("read", "written")))
    ratio, how = calls[most] / calls[least], f"at {most:,} / at {least:,}"
    rows.append(Row("workspace calls, all steps", None, calls[most], "calls", ratio, how, at_most=1))
    one, two = JUDGED if set(JUDGED) <= set(found) else (least, most)
    rows.append(
        Row(
            "bytes in and out, all steps but open",
            None,
            moved[two],
            "bytes",
            moved[two] / moved[one],
            f"at {two:,} / at {one:,}",
            at_most=MOVED if (one, two) == JUDGED else None,
        )
    )
    return rows


def _sum(meter: Meter, what: Sequence[str]) -> int:
    """A measure of all steps; bytes without those of the opening."""
    steps = STEPS if "calls" in what else STEPS[1:]
    return sum(getattr(meter.usual(step), name) for step in steps for name in what)


def told(cost: Cost) -> str:
    """Calls and bytes in words."""
    return f"{plural(cost.calls, 'call')}, {size(cost.read)} in, {size(cost.written)} out"


def size(value: float) -> str:
    """Bytes in a unit that suits them."""
    for limit, unit in ((1e6, "MB"), (1e3, "KB")):
        if value >= limit:
            return f"{value / limit:,.3g} {unit}"
    return f"{value:.0f} B"


async def _steps(root: Path, known: int, repetitions: int) -> Meter:
    meter = Meter()
    first = _pipeline(root)
    await first[1].adopt()  # the markdown is written
    await first[1].process((Stages(first[0], ""),) * 2, Limits(attempts=1), actor="hand")
    for repetition in range(repetitions):
        new = conversation(known + repetition)
        workspace, pipeline = _pipeline(root)
        with meter.step("open", workspace):
            await pipeline.open()
        with meter.step("record", workspace):
            await pipeline.record(_capture(new))
        _edit(root, repetition)
        with meter.step("adopt", workspace):
            done = await pipeline.adopt()
        assert len(done.adopted) == 1, f"{len(done.adopted)} lines were adopted"
        settle()
        stages = Stages(workspace, new.group)
        report = await pipeline.process((stages, stages), Limits(attempts=1), actor="hand", progress=stages.progress)
        stages.enter("tidy")
        assert report.operations.get("add") == 2, f"the close did not add what was said: {report}"
        for name, cost in stages.costs.items():
            meter.found.setdefault(name, []).append(cost)
    return meter


def _pipeline(root: Path) -> tuple[Counted, Pipeline]:
    """A memory as a new process sees it: what this one remembers of the files is dropped."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("sandbox_memory.pipeline", "sandbox_memory.document")):
            for value in vars(module).values():
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()
    workspace = Counted(root)
    generate = MemoryGenerateConfig(max_raw_memories=LIMIT)
    return workspace, Pipeline(workspace, Layout.of("memories", "sessions"), generate=generate)


def _capture(new: Conversation) -> RunCapture:
    terminal = {"terminal_state": "completed", "exception_type": None, "exception_message": None}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]}
    return RunCapture(
        rollout_id=new.id,
        source="conversation",
        input=[{"role": "user", "content": opening(new)}],
        generated=[answer],
        final_output="Noted.",
        terminal={**terminal, "has_final_output": True},
        agent="worker",
    )


def _edit(root: Path, repetition: int) -> None:
    """Change one line by hand: the first record that has not been changed yet."""
    path = root / "memories" / "MEMORY.md"
    lines = path.read_text(encoding="utf-8").split("\n")
    at = next(n for n, line in enumerate(lines) if " listens on port " in line and "by hand" not in line)
    lines[at] = lines[at].replace(" listens on port ", f" was moved by hand ({repetition}) to port ")
    path.write_text("\n".join(lines), encoding="utf-8")


def write_page(found: dict[int, Meter], folder: Path) -> None:
    """`growth.svg` and `growth.md`."""
    times: dict[str, list[tuple[float, float]]] = {}
    moved: dict[str, list[tuple[float, float]]] = {}
    for step in STEPS:
        at = {count: meter.usual(step) for count, meter in found.items()}
        times[step] = [(count, cost.seconds * 1_000) for count, cost in at.items()]
        if all(cost.read + cost.written for cost in at.values()):
            moved[step] = [(count, cost.read + cost.written) for count, cost in at.items()]
    panels: list[Panel] = [
        ("milliseconds", times, lambda value: f"{value:,g}"),
        ("bytes read and written", moved, size),
    ]
    (folder / "growth.svg").write_text(charts(panels, across="commits"), encoding="utf-8")
    counts = list(found)
    head = "| step | " + " | ".join(f"{count:,}" for count in counts) + " |"
    rule = "| --- | " + " | ".join("--:" for _ in counts) + " |"
    rows = []
    for step in STEPS:
        costs = [found[count].usual(step) for count in counts]
        rows.append(f"| {step} | " + " | ".join(amount(cost.seconds * 1_000, "ms") for cost in costs) + " |")
        for name in ("calls", "read", "written"):
            cells = [getattr(cost, name) for cost in costs]
            rows.append(f"| · {name} | " + " | ".join(str(c) if name == "calls" else size(c) for c in cells) + " |")
    table = "\n".join((head, rule, *rows))
    method = (__doc__ or "").partition("\n\n")[2].strip()
    image = "![Time and bytes of each step, by the number of commits](growth.svg)"
    page = "\n\n".join(("# Growth", image, table, method, NOTE)) + "\n"
    (folder / "growth.md").write_text(page, encoding="utf-8")


NOTE = "Written by `python -m benchmarks --only growth --write docs`."
