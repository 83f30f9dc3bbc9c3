"""The examples of docs/formats.md are read as the files that they show; they are one workspace, and it verifies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sandbox_memory.blocks import split
from sandbox_memory.document import Document
from sandbox_memory.folding import fold
from sandbox_memory.layout import Layout
from sandbox_memory.ledger import parse
from sandbox_memory.notes import raw_header
from sandbox_memory.receipts import receipt
from sandbox_memory.records import Kind, Trust
from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.stages.recall import block
from sandbox_memory.state import evidence_of
from sandbox_memory.trusting.signed import is_ours

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

PAGE = Path(__file__).parents[1] / "docs" / "formats.md"
EXAMPLES = {
    match["name"]: match["text"]
    for match in re.finditer(
        r"^```\w+ (?P<name>\w+)\n(?P<text>.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
}


def example(name: str) -> bytes:
    return EXAMPLES[name].encode()


def test_the_ledger_verifies_and_the_handbook_shows_it() -> None:
    ledger = parse(example("ledger"))
    assert not ledger.problems and len(ledger) == 4
    state = fold(ledger)
    document = Document.parse(example("handbook"))
    assert document.marker == state.ordinal
    assert {item.id: item.text for item in document.items} == {r.id: r.text for r in state.visible().values()}
    assert split(example("summary")).block == block(state, Layout.of("memories", "sessions").preset)
    assert not split(example("summary")).touched


def test_the_quotes_stand_in_the_rollout() -> None:
    rollout = parse_rollout(example("rollout"), rollout_id="release-42", path="sessions/release-42.jsonl")
    layout = Layout.of("memories", "sessions")
    quotes = [
        quote for commit in parse(example("ledger")).commits for o in commit.operations for quote in evidence_of(o)
    ]
    found = [receipt(quote, rollout, layout) for quote in quotes if quote.quote]
    assert found and not any(entry.verdict for entry in found)
    line = json.loads(EXAMPLES["rollout"])
    assert list(line)[:2] == ["updated_at", "rollout_id"] and line["segment"] == quotes[0].segment
    assert fold(parse(example("ledger"))).rollouts["release-42"].consumed == len(example("rollout"))


@pytest.mark.parametrize("name", ["raw_memory", "rollout_summary"])
def test_notes_are_signed(name: str) -> None:
    assert is_ours(example(name)) and raw_header(EXAMPLES[name])["consumed_bytes"] == str(len(example("rollout")))


def test_a_skill_is_signed_and_in_the_agent_skills_form() -> None:
    assert is_ours(example("skill"))
    assert re.match(r'---\nname: [a-z0-9-]{1,64}\ndescription: ".{1,1024}"\nmetadata:\n', EXAMPLES["skill"])
    assert is_ours(example("skill").replace(b"\n", b"\r\n"))
    assert not is_ours(example("skill").replace(b"staging", b"production", 1))


def test_inbox_selection_and_layout() -> None:
    inbox = split(example("inbox"))
    assert inbox.block is not None and not inbox.touched
    (question,) = Document.parse(inbox.block.text.encode()).items
    assert question.checked is False and question.id.startswith("p-")
    selected = json.loads(EXAMPLES["selection"])["selected"]
    assert [entry["rollout_id"] for entry in selected] == fold(parse(example("ledger"))).selection()
    headings = tomllib.loads(EXAMPLES["layout"])["headings"]
    assert all(Kind(kind) for kind in headings)


def test_every_operation_and_trust_is_explained() -> None:
    from sandbox_memory.folding import OPERATIONS

    page = PAGE.read_text(encoding="utf-8")
    missing = [word for word in [*OPERATIONS, *(trust.label for trust in Trust)] if f"`{word}`" not in page]
    assert not missing


ROOT = PAGE.parents[1]


def test_every_promise_names_its_tests_and_they_are_there() -> None:
    from benchmarks.security import promises

    page = (PAGE.parent / "security.md").read_text(encoding="utf-8")
    rows = promises(page)
    table = page.partition("## The promises")[2].partition("\n## ")[0]
    assert len(rows) == table.count("\n| **") >= 8, "a row is not read as a promise"
    assert all(row.tests for row in rows), [row.name for row in rows if not row.tests]
    named = set(re.findall(r"(?:tests|benchmarks)/\w+\.py", page))
    assert not [file for file in sorted(named) if not (ROOT / file).is_file()]


def test_what_the_security_page_says_of_the_key_and_the_state_folder_is_so() -> None:
    from sandbox_memory.doors.cli import keys
    from sandbox_memory.guard import SHORTEST_KEY

    page = (PAGE.parent / "security.md").read_text(encoding="utf-8")
    assert f"{SHORTEST_KEY} bytes or more" in page and keys.KEY in page and keys.KEY_FILE in page
    assert "`make security`" in page and re.search(r"^security:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    order = re.search(r"Trust is (.+?);", page)
    assert order is not None
    assert re.findall(r"`(\w+)`", order[1]) == [trust.label for trust in sorted(Trust, reverse=True)]
