"""The presets: each remembers other things, under headings of its own, for whom it serves; models are told which."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory import MemoryLayoutConfig, layout, open_memory
from sandbox_memory.errors import ConfigError
from sandbox_memory.layout import Layout, Preset, load_preset, preset_names
from sandbox_memory.models import (
    EXTRACTION,
    Answer,
    ConsolidationDraft,
    ConsolidationMaterial,
    DraftOperation,
    ExtractionDraft,
    Request,
)
from sandbox_memory.records import Kind, Record, Trust, Usage
from sandbox_memory.templates import render

from .kit import LIMITS, run
from .tokenizing import count

NAMES = ("coding", "default", "gtm", "support")
MEMORY_DIRS = ("memories", "memories/support", "/workspace/services/billing/memories/support")


@pytest.fixture(params=NAMES)
def preset(request: pytest.FixtureRequest) -> Preset:
    return load_preset(request.param)


def instructions(preset: Preset, name: str = "extraction_instructions") -> str:
    return render(name, preset=preset, kinds=[kind.value for kind in preset.headings], extra_prompt=None)


# ---------------------------------------------------------------- what stands in the files


def test_there_are_four_and_no_two_are_alike() -> None:
    assert tuple(preset_names()) == NAMES
    presets = [load_preset(name) for name in NAMES]
    for one, two in combinations(presets, 2):
        assert one.headings != two.headings and one.description != two.description
        assert one.guidance != two.guidance and not set(lines_of(one)) & set(lines_of(two))
        assert {one.memories_dir, one.sessions_dir}.isdisjoint({two.memories_dir, two.sessions_dir})
    kinds = {preset.name: set(preset.headings) for preset in presets}
    assert kinds["default"] == set(Kind)
    assert kinds["coding"] == set(Kind) - {Kind.EPISODE}, "an incident that teaches nothing is in the tracker"
    assert kinds["gtm"] == set(Kind) - {Kind.TASK}, "what was sent once is in the CRM"
    assert kinds["support"] == set(Kind) - {Kind.TASK, Kind.EPISODE}, "what was booked once is in the service's records"
    assert [preset.name for preset in presets if preset.audience == "many"] == ["support"]


def lines_of(preset: Preset) -> list[str]:
    return [line for line in preset.guidance.splitlines() if line.startswith("- ")]


def test_the_headings_are_those_of_the_sdk_where_the_sdk_has_one(preset: Preset) -> None:
    assert preset.headings[Kind.LESSON] == "Failures and how to do differently"
    if preset.audience == "one":
        assert preset.headings[Kind.PREFERENCE] == "User preferences"


def bad(folder: Path, old: str, new: str) -> str:
    shutil.copytree(Path(__file__).parents[1] / "layouts" / "coding", folder / "mine")
    path = folder / "mine" / "layout.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return "mine"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('audience = "one"', 'audience = "everybody"', "audience must be one of one, many"),
        ('audience = "one"\n', "", "audience"),
        ("fact =", "facts =", "facts"),
        ('fact = "Reusable knowledge"', "", "must have a fact"),
        ('"Outcomes"', '"## Outcomes"', "one line of plain words"),
        ('"Outcomes"', '""', "one line of plain words"),
        ("guidance =", "guidence =", "unknown key 'guidence'"),
        ("[headings]", "[headings", "layouts/mine/layout.toml"),
    ],
)
def test_a_malformed_preset_is_an_error_that_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    name = bad(tmp_path, old, new)
    monkeypatch.setattr(layout, "folder", lambda _: tmp_path)
    with pytest.raises(ConfigError, match=told):
        load_preset.__wrapped__(name)


# ---------------------------------------------------------------- what models are told


@pytest.mark.parametrize(("name", "most"), [("extraction_instructions", 2_000), ("consolidation_instructions", 1_500)])
def test_instructions_are_short(preset: Preset, name: str, most: int) -> None:
    assert count(instructions(preset, name)) < most


def test_extraction_is_told_what_this_layout_remembers_and_nothing_of_others(preset: Preset) -> None:
    text = instructions(preset)
    assert preset.guidance in text
    for other in NAMES:
        assert other == preset.name or not any(line in text for line in lines_of(load_preset(other)))
    explained = [kind for kind in Kind if f"`{kind.value}`, what " in text or f"`{kind.value}`, how " in text]
    assert set(explained) == set(preset.headings), "a kind that is not remembered is not asked for"
    many = preset.audience == "many"
    assert ("This memory serves many people" in text) is many and ("`name_123: …`" in text) is many


@pytest.mark.parametrize("live_update", [True, False])
@pytest.mark.parametrize("memory_dir", MEMORY_DIRS)
def test_the_read_prompt_is_short_and_names_the_ways_deeper(memory_dir: str, live_update: bool) -> None:
    text = render("read", memory_dir=memory_dir, live_update=live_update, summary="")
    assert count(text) < 280
    for way in (
        f"`{memory_dir}/MEMORY.md`",
        "`skills/<name>/SKILL.md`",
        f"`{memory_dir}/rollout_summaries/`",
        "[Task n]",
    ):
        assert way in text
    assert ("correct that line" in text) is live_update and ("Do not write" in text) is not live_update


# ---------------------------------------------------------------- one transcript, four memories


def call(number: int, name: str, output: str, **arguments: Any) -> list[dict[str, Any]]:
    id = f"call_{number}"
    return [
        {"type": "function_call", "name": name, "call_id": id, "arguments": json.dumps(arguments)},
        {"type": "function_call_output", "call_id": id, "output": output},
    ]


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


CHECK = "make check RATE_FILE=rates.csv"
PATCH = "*** Begin Patch\n*** Update File: src/export.py\n@@\n-rate = 0.19\n+rate = 0.21\n*** End Patch"
TALK = [
    says("user", "Please mend the rate of the export. My user id is ada_lovelace_77."),
    says("user", "I prefer short answers, never more than three lines. The port of the export is 8443."),
    *call(1, "exec_command", "Process exited with code 2\nOutput:\nError: RATE_FILE is not set", cmd="make check"),
    *call(2, "exec_command", "Process exited with code 0\nOutput:\n12 passed", cmd=CHECK),
    *call(3, "apply_patch", "Done", patch=PATCH),
    *call(4, "exec_command", "Process exited with code 0\nOutput:\n13 passed", cmd=CHECK),
    *call(5, "exec_command", "Process exited with code 0\nOutput:\ndocs built successfully", cmd="make docs OUT=site"),
    says("user", "The dashboard demo fell flat with Brightwater."),
    says("assistant", "Exports cannot be changed after 24 hours. The rate is mended."),
]
WISH = "I prefer short answers, never more than three lines"
FLAT, PORT, RULE = (
    "The dashboard demo fell flat with Brightwater",
    "The port of the export is 8443",
    "Exports cannot be changed after 24 hours",
)


def learned(root: Path, preset: str) -> tuple[list[Record], str, str]:
    """The records that the offline model makes of the talk, the handbook, and what the next run is told."""
    root.mkdir()
    with open_memory(root, preset=preset) as memory:
        memory.record(TALK, rollout_id="one")
        assert not memory.process("offline").failed
        told = run(memory.pipeline.briefing())
        return memory.records(), (root / memory.layout.handbook).read_text(encoding="utf-8"), told


def test_the_same_transcript_gives_other_memories(tmp_path: Path) -> None:
    found = {name: learned(tmp_path / name, name) for name in NAMES}
    texts = {name: {record.text for record in records} for name, (records, _, _) in found.items()}
    kinds = {name: {record.kind for record in records} for name, (records, _, _) in found.items()}
    assert {FLAT, PORT, RULE, WISH} <= texts["default"] and kinds["default"] == set(Kind)
    assert FLAT not in texts["coding"] and Kind.TASK in kinds["coding"]
    assert FLAT in texts["gtm"] and Kind.TASK not in kinds["gtm"]
    assert not any("src/export.py" in text for text in texts["gtm"] | texts["support"])
    assert f"ada_lovelace_77: {WISH}" in texts["support"] and WISH not in texts["support"]
    assert PORT not in texts["support"] and RULE in texts["support"], "what a customer claims is no rule"
    for name, (records, handbook, _) in found.items():
        preset = load_preset(name)
        assert all(record.section == preset.headings[record.kind] for record in records)
        assert {f"## {record.section}" for record in records} <= set(handbook.splitlines())


def test_what_the_next_run_is_told_follows_the_order_of_the_headings(tmp_path: Path, preset: Preset) -> None:
    records, _, told = learned(tmp_path / "ws", preset.name)
    shown = [line[3:] for line in told.splitlines() if line.startswith("## ")]
    headings = list(dict.fromkeys(preset.headings.values()))
    assert shown == [heading for heading in headings if heading in shown] and len(shown) >= 3
    if preset.audience == "many":
        assert WISH not in told and "ada_lovelace_77" not in told
        assert f"More in MEMORY.md: {preset.headings[Kind.PREFERENCE]} (search for the account)" in told
    else:
        plain = told.replace('"', "'")
        assert all(record.text.replace('"', "'") in plain for record in records) and "More in" not in told
        own = [record for record in records if record.trust >= Trust.USER]
        assert own and all(f"- {record.text}" in told.splitlines() for record in own)


def every_kind() -> Iterator[dict[str, Any]]:
    for kind, text, quotes in (
        ("preference", WISH, [("s1.1", WISH)]),
        ("fact", RULE, [("s1.11", RULE)]),
        (
            "lesson",
            "`make check` failed: RATE_FILE is not set",
            [("s1.2", "make check"), ("s1.3", "RATE_FILE is not set")],
        ),
        ("procedure", f"`{CHECK}` showed 13 passed", [("s1.8", CHECK), ("s1.9", "13 passed")]),
        ("task", "The rate is mended", [("s1.11", "The rate is mended")]),
        ("episode", FLAT, [("s1.10", FLAT)]),
    ):
        yield {"kind": kind, "text": text, "quotes": [{"item": item, "text": words} for item, words in quotes]}


class Eager:
    """Proposes a memory of every kind, and adds all that is left of them."""

    name = "eager"

    def __init__(self) -> None:
        self.asked: list[Request[Any]] = []

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        self.asked.append(request)
        if request.task == EXTRACTION:
            draft = {
                "task": "Mend",
                "slug": "mend",
                "summary": "S.",
                "raw_memory": "R.",
                "memories": list(every_kind()),
            }
            return Answer(ExtractionDraft.model_validate(draft), Usage())
        assert isinstance(request.material, ConsolidationMaterial)
        names = [f"c{n}" for n, _ in enumerate(request.material.candidates, 1)]
        return Answer(
            ConsolidationDraft(operations=[DraftOperation(op="add", candidates=[name]) for name in names]), Usage()
        )


def test_a_model_is_told_and_what_the_layout_does_not_remember_is_refused(tmp_path: Path, preset: Preset) -> None:
    model = Eager()
    with open_memory(tmp_path, preset=preset.name) as memory:
        memory.record(TALK, rollout_id="one")
        report = run(memory.pipeline.process((model, model), LIMITS))
        assert {record.kind: record.section for record in memory.records()} == preset.headings
    one, two = model.asked
    assert one.instructions == instructions(preset) and two.instructions == instructions(
        preset, "consolidation_instructions"
    )
    refused = {kind for kind in Kind if any(f"does not remember a {kind.value}" in each.why for each in report.refused)}
    assert refused == set(Kind) - set(preset.headings)


def test_folders_may_be_other_than_the_presets(preset: Preset) -> None:
    made = MemoryLayoutConfig.preset(preset.name, memories_dir="m", sessions_dir="s")
    assert Layout.of(made.memories_dir, made.sessions_dir, made.preset_name) == Layout("m", "s", preset)
