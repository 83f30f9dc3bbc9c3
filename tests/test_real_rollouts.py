"""Real transcripts become memory without a model: every one is read, and every line is covered by its quotes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import open_memory
from sandbox_memory.governance.grounding import ungrounded

COUNTS = {"airline": 40, "coding": 6}


def strings(value: Any) -> Iterator[str]:
    """Every text of a transcript's line, also of JSON inside a text."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            with suppress(ValueError):
                yield from strings(json.loads(value))
    elif isinstance(value, (dict, list)):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from strings(entry)


def bare(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", sorted(COUNTS))
def test_every_line_stands_where_it_says(name: str, shared: Path, tmp_path: Path) -> None:
    root = tmp_path / name
    shutil.copytree(shared / "data" / "rollouts" / name, root, copy_function=shutil.copyfile)
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with open_memory(root) as memory:
        report = memory.process("offline")
        assert len(report.extracted) == COUNTS[name] and not report.failed
        records = memory.records()
        assert records
        for record in records:
            assert record.evidence, record.text
            assert ungrounded(record.text, [quote.quote for quote in record.evidence]) is None
        reasons = memory.reasons()
        assert {reason.record.id for _, reason in reasons} == {record.id for record in records}
        for _, reason in reasons:
            assert reason.receipts
            for receipt in reason.receipts:
                line = json.loads((root / receipt.path).read_bytes().split(b"\n")[receipt.line - 1])
                assert not receipt.verdict and any(bare(receipt.quote) in bare(text) for text in strings(line))
        checked = memory.check()
        assert checked.ok and checked.standing_receipts == checked.receipts >= len(records)
        before = (root / "memories" / "MEMORY.md").read_bytes()
        assert not memory.process("offline").extracted
        assert (root / "memories" / "MEMORY.md").read_bytes() == before
