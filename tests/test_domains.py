"""Unseen domains: what the offline model makes of transcripts is what a careful colleague would note, and nothing else.

Each folder of `domains/` is a workspace with a gold list, written before anything was run on it.
"""

from __future__ import annotations

import itertools
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import open_memory

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOMAINS = Path(__file__).parent / "domains"
NAMES = sorted(path.parent.name for path in DOMAINS.glob("*/gold.toml"))
FOUND_AT_LEAST, NEAR_DUPLICATE, MOST_LINES = 0.8, 0.8, 200
PROVENANCE = {"rollout_summary_files", "keywords"}
PLAIN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})


@dataclass
class Score:
    """What a gold list says of the lines of one MEMORY.md."""

    lines: list[str]
    skills: list[str] = field(default_factory=list)
    found: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    forbidden: list[tuple[str, str]] = field(default_factory=list)
    duplicates: list[tuple[str, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        return len(self.found) / (len(self.found) + len(self.missing))

    @property
    def passes(self) -> bool:
        few = len(self.lines) <= MOST_LINES
        return self.share >= FOUND_AT_LEAST and not self.forbidden and not self.duplicates and few

    def __str__(self) -> str:
        parts = [f"{len(self.found)} of {len(self.found) + len(self.missing)} found, {len(self.lines)} lines"]
        parts += [f"missing: {name}" for name in self.missing]
        parts += [f"forbidden {name}: {line}" for name, line in self.forbidden]
        parts += [f"alike: {one} | {two}" for one, two in self.duplicates]
        return "\n".join(parts)


def memory_lines(markdown: str) -> list[str]:
    """The list items of a MEMORY.md, continuation lines joined, without ids, emphasis and provenance."""
    lines: list[str] = []
    provenance = open_item = False
    for raw in re.sub(r"<!--.*?-->", "", markdown, flags=re.S).splitlines():
        heading = re.match(r"#+\s+(.*?)\s*$", raw)
        item = re.match(r"\s*[-*+]\s+(.*)$", raw)
        if heading:
            provenance, open_item = heading[1] in PROVENANCE, False
        elif provenance or not raw.strip():
            open_item = False
        elif item:
            lines.append(item[1])
            open_item = True
        elif open_item:
            lines[-1] += " " + raw.strip()
    noise = r"\*\*|`|\s*\[Task [^\]]*\]|\s\^[\w-]+\s*$"
    return [re.sub(noise, "", line.translate(PLAIN)).strip() for line in lines]


def tokens(line: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]", line.lower()))


def alike(one: str, two: str) -> bool:
    first, second = tokens(one), tokens(two)
    return one == two or (bool(first | second) and len(first & second) / len(first | second) >= NEAR_DUPLICATE)


def score(gold: dict[str, Any], lines: list[str]) -> Score:
    def hits(groups: list[list[str]], line: str) -> bool:
        return all(any(re.search(pattern, line, re.I) for pattern in group) for group in groups)

    result, expected = Score(lines), {entry["id"]: entry for entry in gold["expected"]}
    known: set[str] = set()
    for name, entry in expected.items():
        matching = [line for line in lines if hits(entry["match"], line)]
        known.update(matching)
        if matching:
            result.found[name] = matching
        else:
            result.missing.append(name)
    for entry in gold["forbidden"]:
        if "duplicate_of" in entry:
            matching = result.found.get(entry["duplicate_of"], [])
            matching = matching if len(matching) > entry.get("max", 1) else []
        else:
            excused = entry.get("unless", [])
            matching = [
                line for line in lines if hits(entry["match"], line) and not (excused and hits([excused], line))
            ]
        known.update(matching)
        result.forbidden += [(entry["id"], line) for line in matching]
    result.duplicates = [pair for pair in itertools.combinations(lines, 2) if alike(*pair)]
    result.others = [line for line in lines if line not in known]
    return result


def gold_of(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "gold.toml").read_text(encoding="utf-8"))


def scored(folder: Path, root: Path) -> Score:
    """Process a copy of a domain without a model, and score what it says then."""
    shutil.copytree(folder / "sessions", root / "sessions", copy_function=shutil.copyfile)
    gold = gold_of(folder)
    with open_memory(root, preset=gold["preset"]) as memory:
        report = memory.process("offline")
        assert not report.failed
        assert len(report.extracted) == len(list((folder / "sessions").glob("*.jsonl")))
        assert memory.check().ok
    result = score(gold, memory_lines((root / "memories" / "MEMORY.md").read_text(encoding="utf-8")))
    skills = sorted((root / "memories" / "skills").glob("*/SKILL.md"))
    result.skills = [path.read_text(encoding="utf-8") for path in skills]
    return result


def test_there_are_domains() -> None:
    assert {"data_zh", "ops", "sales"} <= set(NAMES)
    for name in NAMES:
        gold = gold_of(DOMAINS / name)
        assert len(gold["expected"]) >= 10 and len(gold["forbidden"]) >= 8
        assert all(entry["why"] for entry in gold["expected"] + gold["forbidden"])
        assert all(path.stat().st_size < 30_000 for path in (DOMAINS / name / "sessions").glob("*.jsonl"))


@pytest.fixture(scope="module", params=NAMES)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Score:
    return scored(DOMAINS / request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.timeout(120)
def test_a_colleague_would_have_noted_it(result: Score) -> None:
    assert result.passes, str(result)


@pytest.mark.timeout(120)
def test_what_was_done_twice_alike_is_a_skill(result: Score, request: pytest.FixtureRequest) -> None:
    wanted: list[str] = gold_of(DOMAINS / request.node.callspec.params["result"]).get("skill", [])
    holding = [text for text in result.skills if wanted and all(re.search(step, text) for step in wanted)]
    assert len(holding) == (1 if wanted else 0), "\n\n".join(result.skills)
    assert len(result.skills) == len(holding), "\n\n".join(result.skills)


@pytest.mark.timeout(120)
def test_at_least_half_of_the_lines_are_worth_it(result: Score) -> None:
    """Lines that match nothing of the gold list are looked at by people; there must not be many."""
    assert len(result.others) <= len(result.lines) / 2, "\n".join(result.others)


def test_the_scorer_tells_good_from_bad() -> None:
    gold = {
        "expected": [{"id": "port", "match": [["9102"], ["health"]]}, {"id": "ask", "match": [["ask"]]}],
        "forbidden": [
            {"id": "hello", "match": [["^hello"]]},
            {"id": "old", "match": [["9120"]], "unless": ["9102"]},
            {"id": "twice", "duplicate_of": "port"},
        ],
    }
    page = "# G\n\n### keywords\n\n- hello\n\n## S\n\n- the health port is `9102`,\n  not 9120 ^m-01234\n- ask first\n"
    assert memory_lines(page) == ["the health port is 9102, not 9120", "ask first"]
    good = score(gold, memory_lines(page))
    assert good.passes and not good.others
    assert score(gold, [*good.lines, "hello there"]).forbidden == [("hello", "hello there")]
    assert score(gold, [*good.lines, "port 9120"]).forbidden == [("old", "port 9120")]
    assert [name for name, _ in score(gold, [*good.lines, "health: 9102"]).forbidden] == ["twice", "twice"]
    assert score(gold, [*good.lines, "first, ask!"]).duplicates == [("ask first", "first, ask!")]
    assert score(gold, good.lines[:1]).missing == ["ask"] and not score(gold, good.lines[:1]).passes
    assert score(gold, ["关键字大写吧", "关键字大写的"]).duplicates == [] and alike(
        "关键字都大写吧", "关键字都大写吧。"
    )
