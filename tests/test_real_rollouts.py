"""Real transcripts become memory without a model: every one is read, and every line is covered by its quotes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sandbox_memory import open_memory
from sandbox_memory.governance.grounding import ungrounded

COUNTS = {"airline": 40, "coding": 6}


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
            assert not [receipt for receipt in memory.why(record.id).receipts if receipt.verdict]
        checked = memory.check()
        assert checked.ok and checked.standing_receipts == checked.receipts >= len(records)
        before = (root / "memories" / "MEMORY.md").read_bytes()
        assert not memory.process("offline").extracted
        assert (root / "memories" / "MEMORY.md").read_bytes() == before
