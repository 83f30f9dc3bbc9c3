"""What `import sandbox_memory` adds to a program that imports the SDK anyway.

Each figure is the processor time of one import statement in a fresh process, so that other work on the machine does
not count; it is taken after what such a program imports of the SDK, whose own Memory `import agents` loads already.
Timed are `import sandbox_memory`, and `from sandbox_memory import Memory`, which loads what the former leaves for
later. What even that leaves for the first session is there for information. The processes take turns; medians. Byte
code is compiled before.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .kit import Progress
from .table import Row

SDKS = "import agents, agents.sandbox.capabilities"
CASES = {
    "import sandbox_memory, after the SDK": (SDKS, "import sandbox_memory", 150),
    "the same with Memory and its settings": (SDKS, "from sandbox_memory import Memory, MemoryGenerateConfig", 150),
    "what the first session loads besides": (
        f"{SDKS}; from sandbox_memory import Memory, MemoryGenerateConfig",
        "import sandbox_memory.pipeline",
        None,
    ),
}
"""What was imported before, what is timed, and the most milliseconds that it may take."""
_PROGRAM = "import time; {before}; start = time.process_time(); {work}; print(time.process_time() - start)"


@dataclass(frozen=True)
class Sizes:
    """How many processes each figure is the median of, besides a first one that compiles where there are many."""

    repetitions: int = 7


FULL = Sizes()
QUICK = Sizes(2)
TINY = Sizes(1)


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """A row for each case."""
    taken: dict[str, list[float]] = {what: [] for what in CASES}
    for repetition in range(sizes.repetitions + (sizes.repetitions > 2)):
        progress(f"round {repetition + 1} of fresh processes")
        for what, (before, work, _) in CASES.items():
            taken[what].append(_seconds(before, work))
    rows = []
    for what, values in taken.items():
        more = statistics.median(values[len(values) > 2 :]) * 1_000
        rows.append(Row(what, None, more, "ms", more, "ms more", at_most=CASES[what][2]))
    return rows


def _seconds(before: str, work: str) -> float:
    """Seconds that the statement takes in a fresh process."""
    command = [sys.executable, "-c", _PROGRAM.format(before=before, work=work)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    if done.returncode:
        raise RuntimeError(f"{work} failed in a fresh process:\n{done.stderr}")
    return float(done.stdout)
