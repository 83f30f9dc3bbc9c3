"""Measure sandbox_memory beside the SDK's own Memory, on this machine and in this run, and print one table.

Exit codes: 0 all targets are met, 1 one is missed, 2 wrong usage. Each module of this package says what it counts
and how.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from rich.console import Console

from .kit import Progress, clean_room
from .table import Row, show

MEASUREMENTS = tuple("append close adding resuming selecting importing instructions costs growth edits".split())
"""The modules of this package that measure something, in the order of the table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, and return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.markdown or options.data) and options.only != ["costs"]:
        parser.error("--markdown and --data go with --only costs")
    names = [name for name in MEASUREMENTS if not options.only or name in options.only]
    size = "TINY" if options.tiny else "QUICK" if options.quick else "FULL"
    results: dict[str, Sequence[Row]] = {}
    begun = time.monotonic()
    with _progress(Console(stderr=True, highlight=False)) as say, clean_room() as folder:
        for number, name in enumerate(names, 1):
            module = import_module(f".{name}", __package__)
            (folder / name).mkdir()
            more: dict[str, Any] = {"write": options.write} if name == "growth" else {}
            more |= {"data": options.data} if name == "costs" else {}
            head = f"{number} of {len(names)}, {name}"
            if options.markdown:
                print(module.markdown(getattr(module, size), folder / name, _under(head, say), **more))
                return 0
            results[name] = module.measure(getattr(module, size), folder / name, _under(head, say), **more)
    facts = {
        "openai-agents": metadata.version("openai-agents"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "seconds": round(time.monotonic() - begun, 1),
    }
    judged = [row for rows in results.values() for row in rows if row.met is not None]
    missed = [row.what for row in judged if not row.met]
    if options.json:
        figures = {name: [row.to_json() for row in rows] for name, rows in results.items()}
        print(json.dumps({**facts, "missed": missed, "figures": figures}, indent=2, ensure_ascii=False))
    else:
        show(
            Console(),
            results,
            f"sandbox_memory beside the Memory of openai-agents {facts['openai-agents']}, "
            f"Python {facts['python']}, {facts['machine']}",
        )
        told = f"{len(judged) - len(missed)} of {len(judged)} targets met"
        print(f"\n{facts['seconds']:.0f} s, {told}{'; missed: ' if missed else ''}{'; '.join(missed)}.")
    return 1 if missed else 0


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    """Shows the last thing that it was told on a terminal; else prints each."""
    if not console.is_terminal:
        yield console.print
        return
    with console.status("starting") as status:
        yield status.update


def _under(head: str, say: Callable[[str], None]) -> Progress:
    return lambda what: say(f"{head}: {what}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = ", ".join(MEASUREMENTS)
    parser.add_argument("--only", action="append", choices=MEASUREMENTS, metavar="NAME", help=f"one of: {names}")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="fewer repetitions, smaller growth: under a minute")
    sizes.add_argument("--tiny", action="store_true", help="to try out the programs; most targets are not judged")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write growth.md and growth.svg there")
    parser.add_argument("--markdown", action="store_true", help="costs: print the tables that stand in the README")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="costs: rollouts of conversations held twice")
    return parser


if __name__ == "__main__":
    sys.exit(main())
