"""The offline model goes by how people and tools speak: other names, ports, paths, ids and numbers, the same memory."""

from __future__ import annotations

import difflib
import json
import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import open_memory
from tests.renaming import Renaming, payload

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOMAINS = Path(__file__).parent / "domains"
NAMES = sorted(path.parent.name for path in DOMAINS.glob("*/gold.toml"))
PRESETS = {"airline": "support", "coding": "coding"}
SEEDS = (1, 2, 3)

Lines = dict[str, list[dict[str, Any]]]


def read(sessions: Path) -> Lines:
    return {
        path.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(sessions.glob("*.jsonl"))
    }


def remembered(lines: Lines, root: Path, preset: str) -> str:
    """The MEMORY.md that the offline model makes of these lines."""
    (root / "sessions").mkdir(parents=True)
    for name, entries in lines.items():
        text = "".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in entries)
        (root / "sessions" / name).write_text(text, encoding="utf-8")
    with open_memory(root, preset=preset) as memory:
        assert not memory.process("offline").failed
    return (root / "memories" / "MEMORY.md").read_text(encoding="utf-8")


def plain(markdown: str, rollouts: list[str]) -> str:
    """The page without what ids and hashes make of it: block ids, commits, task numbers, names of summary files."""
    text = re.sub(r" \^m-[0-9a-f]+|\n<!-- memory:\d+ -->", "", markdown)
    text = re.sub(r"(?m)^## Task \d+:", "## Task:", text)
    text = text.replace("### rollout_summary_files", "### Conversations")
    text = re.sub(r"(?: ?\[Task \d+(?:, Task \d+)*\])+", " [Task]", text)
    numbers = {rollout: chr(ord("a") + n % 26) * (1 + n // 26) for n, rollout in enumerate(rollouts)}
    return re.sub(r"(?m)^- rollout_summaries/(.+?)_.*$", lambda match: f"- <{numbers[match[1]]}>", text)


@cache
def original(sessions: Path, preset: str) -> tuple[Lines, str]:
    """What stands in a folder of sessions, and the memory made of it."""
    lines = read(sessions)
    with tempfile.TemporaryDirectory() as root:
        return lines, remembered(lines, Path(root), preset)


def differences(sessions: Path, names: list[str], preset: str, seed: int, root: Path) -> list[str]:
    """The lines of two pages that differ: the first one renamed, and the one made of the renamed transcripts."""
    lines, page = original(sessions, preset)
    renaming = Renaming([line for entries in lines.values() for line in entries], names, seed)
    renamed = {name: [renaming.line(line) for line in entries] for name, entries in lines.items()}
    assert renamed != lines
    rollouts = [entries[0]["rollout_id"] for entries in lines.values()]
    before = renaming.text(plain(page, rollouts))
    after = plain(remembered(renamed, root, preset), rollouts)
    delta = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in delta if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_other_names_the_same_memory(name: str, seed: int, tmp_path: Path) -> None:
    gold = tomllib.loads((DOMAINS / name / "gold.toml").read_text(encoding="utf-8"))
    changed = differences(DOMAINS / name / "sessions", gold["names"], gold["preset"], seed, tmp_path)
    assert not changed, "\n".join(changed)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_other_names_the_same_memory_of_the_samples(name: str, shared: Path, tmp_path: Path) -> None:
    changed = differences(shared / "data" / "rollouts" / name / "sessions", [], PRESETS[name], 7, tmp_path)
    assert not changed, "\n".join(changed)


ASKED = "Hi, ask Marit Dahlberg: is port 8443 on May 20 at 10:30 for /srv/kobold/app.yaml?"
TALK: list[dict[str, Any]] = [
    {
        "input": [
            {
                "role": "user",
                "content": ASKED,
            }
        ],
        "generated_items": [
            {
                "type": "function_call",
                "name": "get_ship_state",
                "arguments": '{"ship_id":"KX4471","user_id":"marit_77"}',
            },
            {"type": "function_call_output", "output": '{"error": "port 8443 is closed", "price": 49, "exit_code": 1}'},
        ],
    },
    {"input": [{"role": "user", "content": "No, 8443 costs $49, mail marit@dahlberg.example"}], "generated_items": []},
]


@pytest.mark.parametrize("seed", range(20))
def test_the_renaming_is_consistent_and_plausible(seed: int) -> None:
    renaming = Renaming(TALK, [], seed)
    first, second = (renaming.line(line) for line in TALK)
    asked, answered = first["input"][0]["content"], second["input"][0]["content"]
    name = re.fullmatch(
        r"Hi, ask ([A-Z]\w+) ([A-Z]\w+): is port ([1-9]\d{1,4}) on May 20 at 10:30 for /srv/(\w+)/\w+.yaml\?", asked
    )
    assert name and {"Marit", "Dahlberg", "8443", "kobold"}.isdisjoint(name.groups())
    reply = re.fullmatch(rf"No, {name[3]} costs \$(\d{{2,5}}), mail (\w+)@(\w+)\.example", answered)
    assert reply and (reply[2], reply[3]) == (name[1].lower(), name[2].lower())
    call, output = first["generated_items"]
    assert re.fullmatch(r"[a-z]+_[a-z]+_[a-z]+", call["name"]) and call["name"] != "get_ship_state"
    arguments = json.loads(call["arguments"])
    assert "ship_id" not in arguments and "user_id" in arguments and ":" in call["arguments"].replace(": ", "")
    data = json.loads(output["output"])
    assert data == {"error": f"port {name[3]} is closed", "price": int(reply[1]), "exit_code": 1}
    assert renaming.text(TALK[0]["input"][0]["content"]) == asked


def test_payloads_are_told_from_texts() -> None:
    assert payload('{"a": 1}') == ({"a": 1}, (", ", ": ")) and payload('{"a":1}') == ({"a": 1}, (",", ":"))
    assert payload("{not json}") is None and payload("a text") is None
