"""Two small agents: a developer and an analyst. What they know from memory, they need not find out."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Generator

from .model import Act, Done, Scene, Steps, patch, shell

SUMMARY = r"MEMORY[ _]SUMMARY begins.*MEMORY[ _]SUMMARY ends"
TESTS = r"PYTHONPATH=\S+ python3 -m unittest discover [\w/.-]*\w"
PORT = r"staging\b[^\n]{0,80}?\b(\d{4,5})\b"
PROOF = r"end your answer with the command"
SOURCE = r"\bsrc/[\w/]+\.py\b"


class Notes:
    """What an agent knows before it looks: the summary in its prompt and earlier turns; if that fails, `MEMORY.md`."""

    def __init__(self, scene: Scene) -> None:
        summary = re.search(SUMMARY, scene.prompt, re.DOTALL | re.IGNORECASE)
        self.text = "\n".join([summary[0] if summary else "", *(done.call for done in scene.earlier)])
        self.unopened = first(r"`([\w./-]+/MEMORY\.md)`", scene.prompt)

    def find(self, pattern: str) -> Generator[Act, Done, str]:
        """What the pattern finds first there, empty for nothing."""
        found = first(pattern, self.text)
        if not found and self.unopened:
            page = yield shell(f"cat {self.unopened}")
            self.unopened, self.text = "", f"{self.text}\n{page.text}"
            found = first(pattern, page.text)
        return found


def developer(scene: Scene) -> Steps:
    """Mends what the tests show, adds a test, or releases to staging, as it is asked."""
    notes = Notes(scene)
    command, result = yield from run_tests(notes)
    if "regression test" in scene.asked:
        answer = yield from add_test(notes, command)
    elif result.code != 0:
        answer = yield from mend(command, result)
    else:
        answer = "The tests pass."
    if "release" in scene.asked.lower():
        answer += " " + (yield from release(notes))
    if re.search(PROOF, scene.prompt + scene.heard):
        answer += f"\n\nProof: `{command}`"
    return answer


def run_tests(notes: Notes) -> Generator[Act, Done, tuple[str, Done]]:
    """Run the tests as memory says, else the usual way; where a module is not found, look for its folder."""
    command = (yield from notes.find(TESTS)) or "python3 -m unittest discover tests"
    result = yield shell(command)
    missing = first(r"No module named '(\w+)", result.text)
    if missing:
        files = yield shell("find . -name '*.py'")
        folder = first(rf"^\./(\S+)/{missing}/", files.text)
        command = f"PYTHONPATH={folder or '.'} {command}"
        result = yield shell(command)
    return command, result


def mend(command: str, failed: Done) -> Steps:
    """Find the function that the failing test calls, and mend its rounding."""
    name = first(r"assertEqual\((\w+)\(", failed.text)
    where = yield shell(f"grep -rn 'def {name}(' --include='*.py' .")
    path = where.text.partition(":")[0].removeprefix("./")
    source = yield shell(f"cat {path}")
    written = first(r"^( *return round\(.+, 2\))$", source.text)
    exact = first(r"return round\((.+), 2\)$", source.text)
    if not written:
        return f"`{name}` in {path} fails, and I do not see why."
    better = f'{written.partition("return")[0]}return ({exact}).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)'
    yield patch(
        f"*** Update File: {path}\n@@\n-from decimal import Decimal\n+from decimal import ROUND_HALF_UP, Decimal\n"
        f"@@\n-{written}\n+{better}"
    )
    result = yield shell(command)
    if result.code != 0:
        return f"I changed {path}, but the tests still fail."
    return f"`{name}` in {path} rounded half a cent to the even cent. It rounds half up now, and the tests pass."


def add_test(notes: Notes, command: str) -> Steps:
    """Add a test of what was mended: the file that memory names, else one that says how it rounds."""
    path = yield from notes.find(SOURCE)
    if not path:
        listing = yield shell("grep -rln ROUND_HALF_UP --include='*.py' .")
        path = listing.text.splitlines()[0].removeprefix("./")
    source = yield shell(f"cat {path}")
    name = first(r"^def (\w+)\(", source.text)
    where = yield shell(f"grep -rl '{name}(' tests")
    file = where.text.splitlines()[0]
    test = yield shell(f"cat {file}")
    end = test.text.rstrip().splitlines()[-1]
    yield patch(
        f"*** Update File: {file}\n@@\n {end}\n+\n+    def test_half_a_cent_after_an_even_cent(self):\n"
        f'+        self.assertEqual({name}([(1, "5.50")]), Decimal("6.55"))'
    )
    result = yield shell(command)
    state = "passes" if result.code == 0 else "fails"
    return f"Added a regression test for `{name}` in {path} to {file}; it {state}."


def release(notes: Notes) -> Steps:
    """Release to the port that memory knows, else to the one that a file of the project names."""
    port = yield from notes.find(PORT)
    if not port:
        yield shell("python3 ops/release.py")
        named = yield shell("grep -rn staging README.md ops")
        port = first(PORT, named.text)
    done = yield shell(f"python3 ops/release.py --port {port}")
    return f"Staging on port {port} has the new version." if done.code == 0 else "The release failed."


def analyst(scene: Scene) -> Steps:
    """Finds the most promising segment in a list of leads; writes down a hypothesis if asked for a file."""
    table = next((done.text for done in scene.earlier if "leads.csv" in done.call), "")
    if not table:
        table = (yield shell("cat data/leads.csv")).text
    best, events = most_active(table)
    file = first(r"\b([\w/-]+\.md)\b", scene.asked)
    if not file:
        return f"The most promising segment is {best}: {events:.2f} trial events a seat, the most in data/leads.csv."
    lines = [
        f"# Outreach: {best}",
        "",
        f"Teams in {best} use the trial most ({events:.2f} events a seat).",
        "They may want help with a roll-out to the whole team.",
    ]
    if re.search(r"never quote prices", scene.prompt + scene.heard):
        lines += ["No prices in a first contact."]
    yield patch(f"*** Add File: {file}\n" + "\n".join("+" + line for line in lines))
    return f"Wrote the hypothesis for {best} to {file}."


def most_active(table: str) -> tuple[str, float]:
    """The segment with the most trial events a seat, and how many."""
    seats: dict[str, float] = defaultdict(float)
    events: dict[str, float] = defaultdict(float)
    for row in csv.DictReader(table.splitlines()):
        seats[row["segment"]] += float(row["seats"])
        events[row["segment"]] += float(row["trial_events"])
    best = max(seats, key=lambda segment: events[segment] / seats[segment])
    return best, events[best] / seats[best]


def first(pattern: str, text: str) -> str:
    """What the pattern finds first in the text: its group, or all of it if it has none; empty for nothing."""
    found = re.search(pattern, text, re.MULTILINE | re.IGNORECASE)
    return found[found.re.groups] if found else ""
