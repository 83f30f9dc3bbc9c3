"""What the tests of the local page share: a memory with something of everything, and the page of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from sandbox_memory import open_memory
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.doors.web.app import create_app
from sandbox_memory.doors.web.bookcase import Bookcase
from sandbox_memory.doors.web.wording import Words
from sandbox_memory.errors import ModelError
from sandbox_memory.ledger import Operation
from sandbox_memory.models import Answer, ExtractionDraft, Request
from sandbox_memory.proposals import new_id, propose, question
from sandbox_memory.records import Record, Usage

from .kit import LIMITS, EchoModel, pipeline, process, run, tell
from .kit import said as kit_said

TOKEN = "a-token-of-32-characters-or-so-00"
HOME = f"/{TOKEN}/memories/"
PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
SCRIPT = "Never <script>document.title='owned'</script> trust <img src=x onerror=\"document.title='owned'\"> this."
MARKDOWN = "See [the manual](javascript:document.title='owned'), ![a picture](https://example.com/pixel.png) **now**."
CHINESE = "测试环境的数据库端口是 5433。"


class Broken:
    """A model that is not there."""

    name = "broken"

    async def answer(self, request: object) -> None:
        raise ModelError("HTTP 429: the quota of this project is used up", retryable=False)


def furnished(root: Path) -> OpenMemory:
    """A memory with lines of people and conversations, questions, failed and pending work, and things out of sight."""
    tell(root, "Show me the diff before you change anything.", "The staging port is 8443.", rollout="release-42")
    tell(root, CHINESE, rollout="会话-1")
    process(root, EchoModel())
    memory = open_memory(root).__enter__()
    for text in (SCRIPT, MARKDOWN, "Deploys go out on Tuesdays."):
        memory.add(text, group="House rules")
    gone = memory.add("The printer is on the third floor.", group="House rules")
    memory.delete(gone.id)
    ask(memory, "Releases are cut from `main` only.")
    ask(memory, "The staging port is 9443.", instead_of=named(memory, "staging port"))
    tell(root, "The canary runs for an hour.", rollout="canary-7")
    process(root, Broken())
    tell(root, "The nightly job starts at 02:00 UTC.", rollout="nightly-3")
    return memory


def ask(memory: OpenMemory, text: str, *, instead_of: Record | None = None) -> str:
    """Put a question into the inbox, as a consolidation does; its id."""
    id, facts = new_id(), {"kind": "fact", "trust": "agent"}
    body = {"text": text, "group": "Release", "section": "Reusable knowledge"}
    op, replaces = ("supersede", {"replaces": [instead_of.id]}) if instead_of else ("add", {})
    operation = Operation(op, id, {**facts, **replaces}, body)
    asked = question(text, instead_of.text if instead_of else None)
    done = run(
        memory.pipeline.commit("consolidation", lambda now: list(propose(now, asked, (operation,), source="chat")))
    )
    return next(p.id for p in done.state.proposals.values() if p.text == asked)


def named(memory: OpenMemory, words: str) -> Record:
    """The line that has these words."""
    return next(record for record in memory.records() if words in record.text)


def fields(html: str, button: str) -> dict[str, str]:
    """What the first form that has a button of that kind sends: the value of its `do`, or what stands on it."""
    forms = re.findall(r"<form.*?</form>", html, re.DOTALL)
    form = next(each for each in forms if f'value="{button}"' in each or f">{button}" in each)
    sent = {str(each["name"]): str(each["value"]) for each in Outline(form).of("input")}
    return sent | ({"do": button} if f'name="do" value="{button}"' in form else {})


def bookcase(root: Path, *folders: str) -> Bookcase:
    """The memories of a workspace."""
    return Bookcase(
        root, lambda: list(folders or ("memories",)), lambda f: open_memory(root, memories_dir=f).__enter__()
    )


WEEKS = """
release-41|Release the billing service|preference|Show me the diff before you change anything.
release-41|Release the billing service|fact|The billing service listens on port 8443.
release-41|Release the billing service|procedure|Run `make migrate` before `make deploy`, never after.
oncall-7|Ledger exports|lesson|When the ledger export stalls, restart `export-worker` first and only then look at Kafka.
oncall-7|Ledger exports|fact|Exports older than 90 days are in cold storage and take an hour to come back.
pairing-3|Tests and databases|preference|I always review migrations myself.
pairing-3|Tests and databases|fact|The staging database is rebuilt every Sunday at 04:00 UTC.
pairing-3|Tests and databases|lesson|`pytest -k ledger` needs `DATABASE_URL`; without it 14 tests are skipped silently.
测试-5|测试环境|preference|请用中文回复我，代码注释用英文。
测试-5|测试环境|fact|测试环境的数据库端口是 5433，只能从跳板机访问。
"""
"""Conversations, a line a turn: name, task, what is learned, and what was said."""


USED = ("port 8443", "port 8443", "port 8443", "make migrate", "export-worker", "export-worker")
"""What later runs repeated."""


class Learner(EchoModel):
    """Remembers every message as its table says: under a task, and as a kind."""

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        found = await super().answer(request)
        if isinstance(found.value, ExtractionDraft):
            for memory in found.value.memories:
                _, found.value.task, memory.kind, _ = next(row for row in weeks() if row[3] == memory.text)
        return replace(found, usage=Usage(1, 5_200, 340))


def weeks() -> list[list[str]]:
    return [line.split("|") for line in WEEKS.strip().splitlines()]


def lived_in(root: Path) -> OpenMemory:
    """A memory as it looks after some weeks of work: what was said, and what people made of it."""
    said: dict[str, list[str]] = {}
    for name, _, _, text in weeks():
        said.setdefault(name, []).append(text)
    memory = open_memory(root)
    start = datetime.now(tz=timezone.utc) - timedelta(days=40)
    for number, (name, texts) in enumerate(said.items()):
        at = start + timedelta(days=9 * number, hours=3)
        line = pipeline(root, now=lambda at=at: at)
        for text in texts:
            run(line.record(kit_said(text, rollout=name)))
        run(line.process((Learner(), Learner()), LIMITS))
    memory.__enter__()
    memory.add("Deploys go out on Tuesdays, and nobody deploys on a Friday.", group="House rules", kind="preference")
    memory.add("The wiki is at wiki.billing.local; the runbook of the ledger is its first page.", group="House rules")
    memory.delete(named(memory, "skipped silently").id)
    memory.pin(named(memory, "port 8443").id)
    at = memory.history()[0]["at"]
    used = [json.dumps({"at": at, "cited": [named(memory, words).id]}) + "\n" for words in USED]
    (root / "memories" / "usage.jsonl").write_text("".join(used), encoding="utf-8")
    memory.revise(
        named(memory, "rebuilt every Sunday").id, "The staging database is rebuilt every Sunday at 05:00 UTC."
    )
    ask(memory, "The billing service listens on port 9443.", instead_of=named(memory, "port 8443"))
    ask(memory, "Releases are cut from `main` only.")
    return memory


def client_of(root: Path, *folders: str) -> TestClient:
    app = create_app(bookcase(root, *folders), token=TOKEN, port=lambda: PORT)
    return TestClient(app, base_url=ORIGIN, headers={"origin": ORIGIN}, follow_redirects=True)


def root_of(memory: OpenMemory) -> Path:
    assert memory.pipeline.store.root is not None
    return memory.pipeline.store.root


class Outline(HTMLParser):
    """The tags and attributes of a page, and the text that is seen."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def texts(language: str) -> dict[str, str]:
    found: dict[str, str] = Words(language)._texts
    return found


def everywhere(*folders: Path) -> bytes:
    """All that stands in the files of these folders, and their names."""
    paths = [path for folder in folders for path in folder.rglob("*")]
    return b"\n".join([*(str(path).encode() for path in paths), *(p.read_bytes() for p in paths if p.is_file())])
