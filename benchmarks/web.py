"""The local page at the size that a memory may have: 10,000 lines in sight, 4,000 conversations.

The memory is written with the library's own encoder, and `sandbox-memory web` is started on it as a person does. Then:

- open: from the start of the process to the first page's last byte, the history read and the markdown taken in.
- memory, line, history, work: the last byte of each page once the memory has been read; the least of the repetitions.
- search: the answer to one key, as the page's script asks for it; the median of a word that is typed key by key.
- edit: a form is sent, and the page that shows the outcome has come; the whole memory is taken in again for it. The
  next one also reads the file that the first has written.
- forget: the page that lists every place where a line stands, and, last of all, its end: every file is read for it, and
  searched once more.
- first paint, keystroke in the browser: with chromium and playwright, where both are installed, from the navigation to
  the first contentful paint, and from a key to the lines that it finds.
- status, why: `OpenMemory.status` and `why`, in a process that has read the memory.

`python -m benchmarks.web` prints them; `--quick` measures a tenth of the size.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from sandbox_memory import open_memory
from sandbox_memory.ledger import Commit, Operation, encode

from .filled import our_workspace
from .kit import clean_room
from .texts import conversation

RECORDS, CONVERSATIONS = 10_000, 4_000
TYPED = "drain ledger"
REPETITIONS = 5


def filled(root: Path, records: int, conversations: int) -> None:
    """A memory in which so many conversations taught two lines each, and people wrote the rest."""
    ledger = our_workspace(root, conversations, 4_096)
    by_hand = []
    for number in range(conversations, conversations + records - 2 * conversations):
        each = conversation(number)
        id = "m-" + hashlib.sha256(f"by hand {number}".encode()).hexdigest()[:10]
        facts = {"kind": "fact", "trust": "hand", "protected": True}
        body = {"text": each.knowledge, "group": each.group, "section": "Reusable knowledge"}
        by_hand.append(Commit(0, each.at, "cli", (Operation("add", id, facts, body),)))
    lines, _ = encode(ledger, by_hand)
    with (root / "memories" / "ledger.jsonl").open("ab") as file:
        file.write(lines)
    with open_memory(root) as memory:  # the markdown is written
        assert len(memory.records()) == records


@contextmanager
def served(root: Path) -> Iterator[tuple[str, float]]:
    """The address of the page of that memory, and when its process was started."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "sandbox_memory", "web", str(root), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), begun
        finally:
            process.send_signal(signal.SIGINT)


def measure(root: Path) -> Iterator[tuple[str, float]]:
    """What is measured and the milliseconds that it took."""
    with served(root) as (address, begun):
        base = f"{address}memories/"
        got(base)
        yield "open, in a new process", (time.perf_counter() - begun) * 1_000
        with open_memory(root) as memory:
            record = memory.records()[len(memory.records()) // 2]
            yield "status", least(memory.status)
            yield "why", least(lambda: memory.why(record.id))
        for name, path in (("memory", ""), ("line", f"line/{record.id}"), ("history", "history"), ("work", "work")):
            yield f"page: {name}, last byte", least(partial(got, base + path))
        keys = [TYPED[:length] for length in range(1, len(TYPED) + 1)]
        times = [least(partial(got, f"{base}?part=results&q={quote(key)}"), 2) for key in keys]
        yield "search: one key, last byte", statistics.median(times)
        yield "search: the slowest key", max(times)
        text, version = record.text, record.version
        for what in ("edit, until the page shows it", "the next edit"):
            new = f"{text} Looked at."
            form = {"do": "save", "text": new, "expected": version, "was": text}
            sent = time.perf_counter()
            post(f"{base}line/{record.id}", form)
            yield what, (time.perf_counter() - sent) * 1_000
            text, version = new, version + 1
        yield "forget: every place, looked for", least(partial(got, f"{base}line/{record.id}/forget"), 1)
        yield from in_the_browser(base)
        sent = time.perf_counter()
        post(f"{base}line/{record.id}/forget", {"expected": version})
        yield "forget, until the page says what is left", (time.perf_counter() - sent) * 1_000


def in_the_browser(base: str) -> Iterator[tuple[str, float]]:
    """First paint and keystroke in chromium; nothing where it is not there."""
    chromium = shutil.which("chromium")
    with suppress(ModuleNotFoundError):
        from playwright.sync_api import sync_playwright

        if chromium is None:
            return
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            paints = []
            for _ in range(REPETITIONS):
                page.goto(base)
                page.wait_for_timeout(200)
                paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            yield "browser: first contentful paint", min(paints)
            times = []
            page.locator("#q").focus()
            for key in TYPED:
                begun = time.perf_counter()
                with page.expect_response(lambda answer: "part=results" in answer.url) as answer:
                    page.keyboard.type(key)
                answer.value.finished()
                page.wait_for_timeout(1)
                times.append((time.perf_counter() - begun) * 1_000)
            yield "browser: key to result, 60 ms of waiting for more keys included", statistics.median(times)
            browser.close()


def got(address: str) -> bytes:
    """The page; of work that takes longer, the one that comes when it is done."""
    return ended(urlopen(address))


def ended(answer: HTTPResponse) -> bytes:
    """What an answer becomes, if it is a page that comes anew by itself until its work is done."""
    while True:
        with answer:
            body = answer.read()
        if b'http-equiv="refresh"' not in body:
            return body
        time.sleep(0.2)
        answer = urlopen(answer.url)


def post(address: str, form: dict[str, object]) -> bytes:
    """The page that answers a form."""
    origin = "/".join(address.split("/")[:3])
    return ended(urlopen(Request(address, urlencode(form).encode(), {"origin": origin})))


def least(work: Callable[[], object], times: int = REPETITIONS) -> float:
    """The least milliseconds of some repetitions, after one that is not counted."""
    work()
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found.append((time.perf_counter() - begun) * 1_000)
    return min(found)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.web", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    tenth = 10 if parser.parse_args().quick else 1
    records, conversations = RECORDS // tenth, CONVERSATIONS // tenth
    with clean_room() as folder:
        root = folder / "web"
        filled(root, records, conversations)
        print(
            f"{records:,} lines, {conversations:,} conversations, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
        )
        for what, milliseconds in measure(root):
            print(f"{what:<66} {milliseconds:>10,.0f} ms", flush=True)


if __name__ == "__main__":
    main()
