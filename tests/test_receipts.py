"""What stands beside a quote is shown in whole words."""

from __future__ import annotations

import pytest

from sandbox_memory.receipts import BESIDE, receipt
from sandbox_memory.records import Evidence, Item, Rollout, Segment, Trust

from .kit import layout

QUOTE = "the port is 8443"
LONG = "passengers " * 40
CHINESE = "端口是八四四三，" * 40


@pytest.mark.parametrize(("before", "after", "shown"), [
    ("so ", " now", ("so ", " now")),
    (f"above\n{LONG}", f" {LONG}\nbelow", ("… passengers", "passengers …")),
    (CHINESE, CHINESE, ("…", "…")),
    ("x" * 300, "x" * 300, ("…" + "x" * BESIDE, "x" * BESIDE + "…")),
])  # fmt: skip
def test_the_words_beside_a_quote(before: str, after: str, shown: tuple[str, str]) -> None:
    text = f"{before}{QUOTE}{after}"
    evidence = Evidence("chat", "s1", 0, len(before), len(before) + len(QUOTE), QUOTE, Trust.USER)
    said = Item(0, "user", "user", text, Trust.USER)
    rollout = Rollout("chat", "sessions/chat.jsonl", (Segment("s1", "chat", "", (said,)),), 0, 9)
    found = receipt(evidence, rollout, layout())
    assert found.quote == QUOTE and not found.verdict
    assert found.before.startswith(shown[0]) and found.after.endswith(shown[1])
    assert max(len(found.before), len(found.after)) <= BESIDE + 1
    words = {*text.replace(QUOTE, " ").split(), "…"}
    assert " " not in before or {*found.before.split(), *found.after.split()} <= words
