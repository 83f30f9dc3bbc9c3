"""The benchmarks run, at sizes that say nothing: each gives its rows, and the runner prints, judges and exits."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bpe_openai", reason="the benchmarks count tokens with bpe-openai")

from benchmarks import counting, growth, instructions, plot, texts
from benchmarks.__main__ import MEASUREMENTS, main
from benchmarks.table import Row

SVG = "{http://www.w3.org/2000/svg}"
ROWS = {
    "append": 3,
    "close": 1,
    "adding": 3,
    "resuming": 3,
    "selecting": 2,
    "importing": 3,
    "instructions": 9,
    "costs": 6,
    "growth": 16,
    "edits": 4,
}


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_every_measurement_gives_its_figures(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not to be used")
    code = main(["--tiny", "--json", "--only", name])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["openai-agents"]
    assert list(document["figures"]) == [name]
    rows = document["figures"][name]
    assert len(rows) == ROWS[name]
    for row in rows:
        assert row["what"]
        assert row["ours"] is None or row["ours"] > 0 or row["at_most"] == 0
        assert row["ours"] or row["value"] is not None, f"{row['what']} has no figure"
    assert document["missed"] == [row["what"] for row in rows if row["met"] is False]
    assert code == (1 if document["missed"] else 0)
    assert f"1 of 1, {name}: " in err, "it shows how far it is"


def test_the_sdk_side_is_measured_wherever_it_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--tiny", "--json", "--only", "adding", "--only", "close"])
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert list(figures) == ["close", "adding"], "in the order of the table, whatever was asked for first"
    (closed,), (added, *_) = figures["close"], figures["adding"]
    assert closed["sdk"] > 0
    # Five turns that each carry the consolidation prompt of 10,000 tokens.
    assert added["sdk"] > 50_000 > added["ours"]
    assert added["value"] == pytest.approx(added["ours"] / added["sdk"])


@pytest.mark.parametrize(
    ("row", "code", "verdict"),
    [
        (Row("a figure", 4.0, 2.0, "ms", 2.0, "times faster", at_least=2), 0, "met"),
        (Row("a figure", 4.0, 2.1, "ms", 1.9, "times faster", at_least=2), 1, "MISSED"),
        (Row("a figure", 4.0, 2.0, "ms", 0.5, "of the SDK's", at_most=0.5), 0, "met"),
        (Row("a figure", 4.0, 2.4, "ms", 0.6, "of the SDK's", at_most=0.5), 1, "MISSED"),
        (Row("a figure", 4.0, 2.4, "ms", 0.6, "of the SDK's"), 0, ""),
    ],
)
def test_a_missed_target_is_shown_and_is_the_exit_code(
    row: Row, code: int, verdict: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "measure", lambda *_: [row])
    assert main(["--only", "instructions"]) == code
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if "a figure" in line)
    assert "4 ms" in line
    assert re.findall(r"met|MISSED", line) == ([verdict] if verdict else [])
    judged = int(bool(verdict))
    assert f"{judged - code} of {judged} targets met{'; missed: a figure' if code else ''}." in out


def test_wrong_usage_is_told_from_a_missed_target(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--only", "nothing"], ["--quick", "--tiny"], ["--never"]):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2
    assert "append" in capsys.readouterr().err, "the names are listed"


def test_growth_is_written_as_a_page_and_a_plot(tmp_path: Path) -> None:
    growth.measure(growth.TINY, tmp_path, lambda what: None, write=tmp_path)
    page = (tmp_path / "growth.md").read_text(encoding="utf-8")
    assert "| step | 4 | 8 |" in page
    for step in growth.STEPS:
        assert f"\n| {step} | " in page
    assert "(growth.svg)" in page
    picture = ET.fromstring((tmp_path / "growth.svg").read_text(encoding="utf-8"))
    shown = {text.text for text in picture.iter(f"{SVG}text")}
    assert {*growth.STEPS, "commits", "milliseconds"} <= shown


def test_growth_counts_what_goes_through_the_workspace(tmp_path: Path) -> None:
    from sandbox_memory.workspace import Append, Ask

    async def work() -> growth.Cost:
        workspace = growth.Counted(tmp_path)
        (tmp_path / "old").write_bytes(b"12345678")
        before = growth.Stretch(workspace)
        await workspace.look(["old", Ask("old", start=0)])
        await workspace.transact([Append("new", b"123")], lock=".lock")
        return before.cost()

    cost = growth.run(work())
    assert (cost.calls, cost.read, cost.written) == (2, 8, 3)


def test_a_plot_has_every_point_and_goes_up_where_the_figures_do() -> None:
    series = {"up": [(10.0, 1.0), (100.0, 10.0), (1_000.0, 100.0)], "flat <": [(10.0, 5.0), (1_000.0, 5.0)]}
    picture = ET.fromstring(plot.charts([("Times", series, str)], across="size"))
    lines = [path.attrib["d"] for path in picture.iter(f"{SVG}path") if "L" in path.attrib["d"]]
    points = [[tuple(map(float, point.split())) for point in line[1:].split("L")] for line in lines]
    up, flat = points
    assert [len(up), len(flat)] == [3, 2]
    assert up[0][1] > up[1][1] > up[2][1], "the y axis of a picture points down"
    assert up[1][1] == pytest.approx((up[0][1] + up[2][1]) / 2, abs=0.2), "both scales are logarithmic"
    assert up[1][0] == pytest.approx((up[0][0] + up[2][0]) / 2, abs=0.2)
    assert flat[0][1] == flat[1][1]
    assert "prefers-color-scheme: dark" in plot.STYLE


def test_tokens_are_those_of_the_tokenizer() -> None:
    assert counting.tokens("hello world") == 2
    long = texts.prose("long", 250_000)
    assert 0 <= counting.tokens(long) - len(counting._encoding().encode(long)) <= 2, (
        "cutting adds a token a cut at most"
    )


def test_a_request_is_weighed_whole() -> None:
    items: list[Any] = [
        {"role": "user", "content": "one two"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "three"}]},
        {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": "call_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "four"},
        {"type": "custom_tool_call", "name": "apply_patch", "input": "five", "call_id": "call_2"},
    ]
    read = ["one two", "three", 'exec_command\n{"cmd": "ls"}', "four", "apply_patch\nfive"]
    assert [counting.text_of(item) for item in items] == read
    weights = counting.Weights()
    for _ in range(2):
        weights.weigh("the system says", items, [], None)
    fixed = counting.tokens("the system says")
    assert (weights.requests, weights.fixed) == (2, 2 * fixed)
    assert weights.whole == 2 * (fixed + sum(map(counting.tokens, read)))


def test_made_up_work_is_the_same_at_every_run() -> None:
    assert texts.conversation(7) == texts.conversation(7)
    assert texts.conversation(7).at < texts.conversation(8).at
    assert texts.conversation(4).group == texts.conversation(7).group != texts.conversation(8).group
    known = [texts.conversation(number).knowledge for number in range(500)]
    assert len(set(known)) == 500
    assert texts.prose("seed", 1_000) == texts.prose("seed", 1_000) != texts.prose("other", 1_000)
    assert len(texts.prose("seed", 1_000)) == 1_000
