"""Every promise of docs/security.md with its figure: the tests that the page names, and the measurements on corpora.

`python -m benchmarks.security`, or `make security`, which installs the corpora first. A row of the page's first table
is a promise; its last column names the files that test it. Exit codes: 0 all hold, 1 otherwise, 2 there is no page.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from .corpora import installed

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "security.md"
_ROW = re.compile(r"^\| \*\*(?P<name>.+?)\.\*\* (?P<text>.+?) \| (?P<against>.+?) \| (?P<tests>.+?) \|$", re.MULTILINE)
_TEST = re.compile(r"tests/test_\w+\.py")


@dataclass(frozen=True)
class Promise:
    """A row of the page: its name, what is promised, against whom, and the files that test it."""

    name: str
    text: str
    against: str
    tests: tuple[str, ...]


def promises(page: str) -> list[Promise]:
    """The promises of the page, in its order."""
    return [
        Promise(row["name"], row["text"], row["against"], tuple(_TEST.findall(row["tests"])))
        for row in _ROW.finditer(page)
    ]


def outcomes(files: Sequence[str]) -> dict[str, Counter[str]]:
    """Runs these test files in one go: for each how many tests passed, failed or were skipped."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "tests.xml"
        pytest = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
        subprocess.run([*pytest, "-o", "junit_family=xunit1", f"--junitxml={told}", *files], cwd=ROOT, check=False)
        found: dict[str, Counter[str]] = {file: Counter() for file in files}
        if not told.is_file():
            return found
        for case in ElementTree.parse(told).iter("testcase"):
            kinds = {child.tag for child in case}
            kind = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
            file = case.get("file") or f"{str(case.get('classname')).replace('.', '/')}.py"
            if file in found:
                found[file][kind] += 1
    return found


def injection(*, quick: bool) -> tuple[bool, list[str]]:
    """Whether nothing leaked and little was held back, and the figures; nothing of a corpus that is not there."""
    names = installed()
    if not names:
        return True, ["injection: left out, neither bastioncorpus nor agentdojo could be installed"]
    command = [sys.executable, "-m", "benchmarks.injection", "--json", *(["--quick"] if quick else [])]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    lines = []
    for name, rows in json.loads(done.stdout)["corpora"].items() if done.stdout.strip() else ():
        total: Counter[str] = Counter()
        for row in rows.values():
            total.update({key: row[key] for key in ("attacks", "leaked", "benign", "held_back") if key in row})
        share = 100 * total["held_back"] / max(total["benign"], 1)
        lines.append(
            f"injection, {name}: {total['leaked']} of {total['attacks']:,} attacks outside a labelled quote, "
            f"{share:.1f} % of {total['benign']:,} benign texts held back"
        )
    return done.returncode == 0, lines


def secrets(data: Path | None) -> tuple[bool, list[str]]:
    """Whether the measurement ran, and what it printed."""
    if data is None:
        return True, ["secrets: left out, --data FOLDER says where the samples and logs are"]
    command = [sys.executable, "-m", "benchmarks.secrets", "--data", str(data)]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    return done.returncode == 0, [f"secrets: {line}" for line in done.stdout.splitlines() if line.strip()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.security", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with labelled/ and ordinary/ for the measurement of secrets")
    parser.add_argument("--quick", action="store_true", help="at most 40 texts of a kind of the injection corpora")
    parser.add_argument("--tests-only", action="store_true", help="no measurements")
    options = parser.parse_args(arguments)
    if not PAGE.is_file():
        print(f"error: {PAGE} is not there: this needs the checkout", file=sys.stderr)
        return 2
    rows = promises(PAGE.read_text(encoding="utf-8"))
    found = outcomes(list(dict.fromkeys(file for row in rows for file in row.tests)))
    measured = [] if options.tests_only else [injection(quick=options.quick), secrets(options.data)]
    print()
    good = all(fine for fine, _ in measured)
    for row in rows:
        counts: Counter[str] = sum((found[file] for file in row.tests), Counter())
        empty = [file for file in row.tests if not found[file]["passed"]]
        holds = not counts["failed"] and not empty
        good = good and holds
        beside = "".join(f", {counts[kind]:,} {kind}" for kind in ("failed", "skipped") if counts[kind])
        beside += f", nothing ran of {', '.join(empty)}" if empty else ""
        print(f"{'holds' if holds else 'FAILS'}  {row.name:<28} {counts['passed']:>5,} tests passed{beside}")
    print()
    for fine, lines in measured:
        for line in lines:
            print(line if fine else f"FAILS  {line}")
    print("\nAll promises hold." if good else "\nNot all promises hold.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
