"""Consolidation by code: support, new values, attempts, groups, owners; equal up to a renaming, and quick."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_memory.layout import Layout
from sandbox_memory.models import ConsolidationMaterial, DraftOperation
from sandbox_memory.models.offline.consolidating import consolidate
from sandbox_memory.models.offline.grouping import Groups, core
from sandbox_memory.records import Candidate, Evidence, Kind, Record, Trust

from .rollouts_kit import CODING, DEFAULT

SUPPORT = Layout.of("memories/support", "sessions/support", "support")


def new(
    text: str,
    kind: Kind = Kind.FACT,
    *,
    rollout: str = "",
    task: str = "Fix the server",
    subject: str = "",
    trust: Trust = Trust.USER,
) -> Candidate:
    evidence = (Evidence(rollout, "s1", 0, 0, len(text), text, trust),) if rollout else ()
    return Candidate(kind, text, evidence, subject, task)


def known(
    text: str, kind: Kind = Kind.FACT, *, group: str = "Fix the server", subject: str = "", protected: bool = False
) -> Record:
    evidence = (Evidence("r0", "s1", 0, 0, len(text), text, Trust.AGENT),)
    return Record("m-0123456789", kind, text, group, subject, evidence=evidence, protected=protected)


def planned(
    candidates: Sequence[Candidate],
    records: Sequence[Record] = (),
    groups: Sequence[str] = (),
    layout: Layout = DEFAULT,
) -> list[DraftOperation]:
    found = consolidate(ConsolidationMaterial(tuple(candidates), tuple(records), tuple(groups), layout)).operations
    named = [name for operation in found for name in operation.candidates]
    assert sorted(named) == sorted(f"c{n}" for n in range(1, len(candidates) + 1)), "each candidate exactly once"
    assert all(operation.records for operation in found if operation.op not in ("add", "skip"))
    return found


def shape(operations: Sequence[DraftOperation]) -> list[tuple[str, list[str], list[str]]]:
    return [(operation.op, operation.candidates, operation.records) for operation in operations]


# ---------------------------------------------------------------- the same again


def test_one_rule_in_many_words_is_one_line_in_the_words_that_need_no_context() -> None:
    said = (
        "this reservation is in basic economy, which cannot be modified",
        "basic economy flights cannot be modified",
        "Basic economy tickets cannot be changed",
        "If your reservation was booked under basic economy, it is not eligible for changes",
        "Since this reservation is in basic economy, please note that the flights cannot be modified",
    )
    for turned in (said, said[::-1], said[2:] + said[:2]):
        (line,) = planned([new(text, rollout=f"r{n}", trust=Trust.AGENT) for n, text in enumerate(turned)])
        assert line.op == "add"
        assert line.text in said[1:3]


def test_a_record_gets_better_words_only_where_it_is_nobodys() -> None:
    vague, clear = "your basic ticket cannot be modified", "basic tickets cannot be modified"
    (found,) = planned([new(clear, rollout="r1")], [known(vague)])
    assert (found.op, found.text, found.records) == ("revise", clear, ["r1"])
    assert shape(planned([new(clear, rollout="r1")], [known(vague, protected=True)])) == [("support", ["c1"], ["r1"])]
    assert shape(planned([new(vague)], [known(clear)])) == [("support", ["c1"], ["r1"])]
    trusted = replace(known(vague), trust=Trust.USER)
    assert planned([new(clear, rollout="r1", trust=Trust.AGENT)], [trusted])[0].op == "support"


def test_two_records_that_a_candidate_shows_to_be_one_are_merged() -> None:
    records = [known("basic tickets cannot be modified"), known("basic bookings cannot be changed")]
    (found,) = planned([new("a basic reservation can't be modified")], records)
    assert (found.op, found.records) == ("merge", ["r1", "r2"])
    guarded = [records[0], replace(records[1], protected=True)]
    assert planned([new("a basic reservation can't be modified")], guarded)[0].op == "support"


def test_a_command_run_again_keeps_its_evidence_and_its_newest_result() -> None:
    old = known("`make test` showed 12 passed in 0.31s", Kind.PROCEDURE)
    (found,) = planned([new("`make test` showed 13 passed in 0.29s", Kind.PROCEDURE, rollout="r1")], [old])
    assert (found.op, found.text) == ("revise", "`make test` showed 13 passed in 0.29s")
    told = known("`make test` showed 3 failed at first, 13 passed in the end", Kind.PROCEDURE)
    (found,) = planned([new("`make test` showed 13 passed", Kind.PROCEDURE, rollout="r1")], [told])
    assert (found.op, found.text) == ("support", "")
    (found,) = planned([new(f"`make test` showed {n} passed", Kind.PROCEDURE) for n in (11, 12, 13)])
    assert (found.op, found.text, found.candidates) == ("add", "`make test` showed 13 passed", ["c1", "c2", "c3"])
    assert len(planned([new("`make lint` showed 12 passed", Kind.PROCEDURE)], [old])) == 1


# ---------------------------------------------------------------- new values


def test_the_later_of_two_values_stands_whatever_their_order_in_the_alphabet() -> None:
    for one, two in (("8443", "9443"), ("9443", "8443")):
        values = [new(f"the port is {port}", subject="the port") for port in (one, two)]
        found = planned(values)
        assert shape(found) == [("skip", ["c1"], []), ("add", ["c2"], [])]
        assert found[1].text == f"the port is {two}"
        (found_,) = planned(values[1:], [known(f"the port is {one}", subject="The port")])
        assert (found_.op, found_.records) == ("supersede", ["r1"])


def test_a_value_that_comes_back_replaces_what_came_between() -> None:
    values = [new(f"the port is {port}", subject="the port") for port in (1001, 2002, 1001)]
    found = planned(values)
    assert [(operation.op, operation.text) for operation in found if operation.op == "add"] == [
        ("add", "the port is 1001")
    ]
    assert {name for operation in found if operation.op == "skip" for name in operation.candidates} == {"c1", "c2"}


def test_the_same_value_told_otherwise_is_support() -> None:
    old = known("the staging server listens on port 8443", subject="staging port")
    (found,) = planned([new("staging moved to port 8443", subject="staging port")], [old])
    assert found.op == "support"


def test_what_is_taken_back_goes_also_without_a_subject() -> None:
    found = planned(
        [new("以后都查 dw_lake，dw_prod 不再更新了")], [known("应该查 dw_prod，不是 dw_dev"), known("查 dw_ods 要审批")]
    )
    assert shape(found) == [("supersede", ["c1"], ["r1"])]
    found = planned([new("we use npm"), new("use pnpm, not npm")])
    assert shape(found) == [("skip", ["c1"], []), ("add", ["c2"], [])]


# ---------------------------------------------------------------- attempts


def attempt(number: int, *, fix: str, error: str = "unexpected indent in line", seen: str = "344") -> list[Candidate]:
    task, rollout = ("Round the interval", "Interval rounding is wrong")[number % 2], f"attempt-{number}"
    return [
        new(f'`edit {number}:{number}` failed: "{error} {number}"; worked with other indentation', Kind.LESSON,
            rollout=rollout, task=task),
        new(f"`python repro.py` showed {seen} at first, 345 in the end", Kind.PROCEDURE, rollout=rollout, task=task),
        new(f"changed src/fields.py from `return int(value / base)` to `{fix}`", Kind.TASK, rollout=rollout, task=task),
    ]  # fmt: skip


def test_four_attempts_at_one_task_are_one_experience() -> None:
    fixes = (
        "return int(round(value / base))",
        "return int(round(value / base))  # nearest",
        "return round(value / base)",
    )
    candidates = [c for n in range(1, 5) for c in attempt(2 * n, fix=fixes[n % 3])]
    found = planned(candidates, layout=CODING)
    assert [operation.kind for operation in found] == ["lesson", "procedure", "task"]
    assert all(len(operation.candidates) == 4 for operation in found)
    again = [
        replace(known(operation.text, Kind(operation.kind), group=operation.group), id=f"m-{n:010d}")
        for n, operation in enumerate(found)
    ]
    later = planned(attempt(10, fix=fixes[0]), again, ("Round the interval",), CODING)
    assert [operation.op for operation in later] == ["support"] * 3


def test_the_fix_that_most_attempts_made_is_told() -> None:
    fixes = (
        "return int(round(value / base))",
        "return int(round(value / base, 0))",
        "return int(round(value / base, 0))",
    )
    found = planned([attempt(2 * n, fix=fix)[2] for n, fix in enumerate(fixes, 1)], layout=CODING)
    assert len(found) == 1
    assert fixes[1] in found[0].text


def test_failures_that_differ_are_kept() -> None:
    errors = ("unexpected indent in line", "unmatched bracket in line", "name of module is unknown in line")
    found = planned([c for n, e in enumerate(errors, 1) for c in attempt(2 * n, fix="x = round(y)", error=e)[:1]])
    assert len(found) == 3


def test_at_most_three_lines_tell_of_one_fix() -> None:
    words = "alpha beta gamma delta epsilon zeta".split()
    changed = [
        new(f"changed src/fields.py: {word} {word}s {word}ing of {word}ed {word}er", Kind.TASK, rollout=f"r{n}")
        for n, word in enumerate(words)
    ]
    found = planned(changed, layout=CODING)
    assert sum(operation.op == "add" for operation in found) == 3
    assert [operation.candidates for operation in found if operation.op == "add"][-1] == ["c6"]


# ---------------------------------------------------------------- groups


def grouped(tasks: Sequence[str], audience: str = "one", standing: Sequence[str] = ()) -> list[list[str]]:
    groups = Groups(standing, tasks, audience)
    by_title: dict[str, list[str]] = {}
    for task in tasks:
        by_title.setdefault(groups.of(task), []).append(task)
    return list(by_title.values())


@pytest.mark.parametrize(
    ("tasks", "audience", "titles"),
    [
        (["change flight", "modify my flight", "I need some help with changing my flight"], "many", 1),
        (["change flight", "modify my flight", "changing the flights"], "one", 1),
        (["cancel my order #W123", "I want to cancel an order", "cancelling the order I made yesterday"], "many", 1),
        (["return a lamp from my order", "exchange a lamp from my order", "cancel my order"], "many", 3),
        (["book a flight to Rome for Anna", "book a hotel in Rome"], "many", 2),
        (["Fix the login page", "Fix the checkout page", "Document the API"], "one", 3),
        (["Deploy release 2.14", "deploy the release 2.15"], "one", 1),
        (["帮我把周三去上海的机票改到周四", "我想改签机票", "机票能不能改一下时间？"], "many", 1),
        (["取消订单", "我要取消昨天的订单", "查询订单到哪了"], "many", 2),
        (["上周的次日留存分析", "做一份本月的次日留存分析"], "one", 1),
        (["分析次日留存", "搭建报表看板"], "one", 2),
        (["把留存看板发布一下，脚本是 tools/publish.py", "再发布一次留存看板"], "one", 1),
    ],
)
def test_near_titles_gather_in_any_order(tasks: list[str], audience: str, titles: int) -> None:
    assert len(grouped(tasks, audience)) == titles
    assert len(grouped(tasks[::-1], audience)) == titles


@pytest.mark.parametrize(
    ("task", "audience", "title"),
    [
        ("change my return flight from Texas to Newark", "many", "Change return flight"),
        ("make a few changes to my upcoming trip", "many", "Changes to trip"),
        ("I'm having some issues with money and need to downgrade my seats", "many", "Downgrade seats"),
        ("remove a passenger named Sophia from my flights", "many", "Remove passenger"),
        ("cancel Sophia's order W77123, please", "many", "Cancel order"),
        ("I'm checking on a few things", "many", "General"),
        ("帮我把周三去上海的机票改到周四吧", "many", "改机票"),
        ("你好", "many", "其他"),
        ("TimeDelta serialization precision", "one", "TimeDelta serialization precision"),
        ("pixel_data should be optional", "one", "pixel_data should be optional"),
        ("could you please write the docs", "one", "Write the docs"),
        ("check the lease of unit 7 for break clauses", "one", "Check the lease of unit 7 for break clauses"),
        ("draft a quote for Northwind please, 120 seats, 20% off", "one", "Draft a quote for Northwind"),
        ("build, push and sign the image", "one", "Build, push and sign the image"),
        ("算一下各渠道的 GMV，订单明细在 data/orders.csv 里", "one", "算一下各渠道的 GMV"),
    ],
)
def test_titles_are_short_and_belong_to_nobody(task: str, audience: str, title: str) -> None:
    assert Groups((), [task], audience).of(task) == title


def test_a_title_is_never_a_whole_story() -> None:
    story = "please fix the parser, " + "which fails on nested brackets and on comments that span lines " * 4
    for audience in ("one", "many"):
        assert len(core(story, audience).text.split()) <= 10


def test_where_many_are_served_a_line_stands_under_its_matter() -> None:
    tasks = ["change my flight to Oslo", "cancel my booking", "know the balance of my gift cards"]
    candidates = [
        new("economy seats are free", task=tasks[0], rollout="r1", trust=Trust.AGENT),
        new("refunds take 7 days", task=tasks[1], rollout="r2", trust=Trust.AGENT),
        new("basic economy flights cannot be changed", task=tasks[2], rollout="r3", trust=Trust.AGENT),
        new("a gift card has no fee", task=tasks[2], rollout="r3", trust=Trust.AGENT),
    ]
    found = [operation.group for operation in planned(candidates, layout=SUPPORT)]
    assert found[2] == found[0] == "Change flight"
    assert len(set(found)) == 3


def test_a_crowded_memory_gathers_more() -> None:
    words = "ab cd ef gh ij kl mn op qr st uv wx yz".split()
    standing = [f"{a}x {b}y {a}z" for a in words for b in words[:3]][:30]
    near = "abx cdy other"
    assert Groups(standing, [near], "one").of(near) in standing
    assert Groups(standing[:3], [near], "one").of(near) not in standing


# ---------------------------------------------------------------- owners


def test_where_many_are_served_nobodys_wish_becomes_anothers() -> None:
    wishes = [
        new("an_na77: I prefer a window seat", Kind.PREFERENCE, rollout="r1"),
        new("bo_b42: I prefer a window seat", Kind.PREFERENCE, rollout="r2"),
        new("I prefer a window seat", Kind.PREFERENCE, rollout="r3"),
        new("I prefer a window seat", Kind.PREFERENCE, rollout="r4"),
        new("an_na77: a window seat, please", Kind.PREFERENCE, rollout="r5"),
    ]
    found = planned(wishes, layout=SUPPORT)
    assert [operation.candidates for operation in found] == [["c1", "c5"], ["c2"], ["c3"], ["c4"]]
    assert len(planned(wishes, layout=DEFAULT)) == 3


def test_where_many_are_served_nobodys_value_replaces_anothers() -> None:
    old = known("an_na77: my seat is 7A", subject="my seat")
    assert (
        planned([new("bo_b42: my seat is 9C", subject="my seat", rollout="r2")], [old], layout=SUPPORT)[0].op == "add"
    )
    found = planned([new("an_na77: my seat is 9C", subject="my seat", rollout="r2")], [old], layout=SUPPORT)
    assert found[0].op == "supersede"
    values = [
        new(f"{who}: my seat is {seat}", subject="my seat", rollout=who) for who, seat in (("a_1", "1A"), ("b_2", "2B"))
    ]
    assert [operation.op for operation in planned(values, layout=SUPPORT)] == ["add", "add"]


# ---------------------------------------------------------------- renaming, order, speed

STORY = (
    ("fact", "the port of Atlas is 8443", "the port of atlas", "Deploy Atlas"),
    ("fact", "the port of Boreas is 9001", "the port of boreas", "Deploy Boreas"),
    ("preference", "always ask Priya before you deploy Atlas", "", "Deploy Atlas"),
    ("preference", "Always ask Priya before deploying Atlas.", "", "Deploy Boreas"),
    ("preference", "always ask Quentin before you deploy Atlas", "", "Deploy Boreas"),
    (
        "lesson",
        '`atlasctl up` failed: "host node17 of Atlas is not ready"; worked with another `zone_id`',
        "",
        "Deploy Atlas",
    ),
    ("lesson", '`atlasctl up` failed: "host node18 of Atlas is not ready"', "", "Deploy Atlas"),
    ("fact", "the port of Atlas is 8555", "the port of atlas", "Restart Atlas"),
    ("procedure", "`atlasctl check src/conf.yaml` showed 12 passed", "", "Restart Boreas"),
    ("procedure", "`atlasctl check src/conf.yaml` showed 14 passed", "", "Restart Boreas"),
    ("fact", "mia_li_3668: my card is 7447", "my card", "Pay for Atlas"),
    ("fact", "raj_b_5782: my card is 1009", "my card", "Pay for Boreas"),
    ("fact", "use Boreas, not Atlas, for the mail of Priya", "", "Send mail"),
    ("fact", "Atlas 的端口是 8555，不是 8443", "atlas 的端口", "部署 Atlas"),
)
NAMES = re.compile(
    r"(?i)\b(?:atlasctl|atlas|boreas|priya|quentin|zone_id|mia_li_3668|raj_b_5782|node\d+|src/conf\.yaml|\d{4})\b"
)


def story(rename: dict[str, str]) -> list[DraftOperation]:
    def renamed(text: str) -> str:
        return NAMES.sub(lambda match: _cased(match.group(), rename[match.group().casefold()]), text)

    values = [
        new(renamed(text), Kind(kind), rollout=f"r{n}", subject=renamed(subject), task=renamed(task))
        for n, (kind, text, subject, task) in enumerate(STORY)
    ]
    return planned(values[4:], [known(values[0].text, subject=values[0].subject)], (), SUPPORT) + planned(values)


def _cased(old: str, new: str) -> str:
    return new.capitalize() if old[0].isupper() else new


@settings(max_examples=40)
@given(st.integers(0, 10**9))
def test_what_comes_out_is_equal_up_to_a_renaming(seed: int) -> None:
    chance = random.Random(seed)
    rename: dict[str, str] = {}
    for name in sorted({match.group().casefold() for row in STORY for part in row for match in NAMES.finditer(part)}):
        word = (
            "".join(chance.choice("bdfgklmprtvz") + chance.choice("aeiou") for _ in range(chance.randint(3, 6))) + "q"
        )
        if name.isdigit():
            word = str(chance.randint(1000, 99999))
        elif name.endswith(".yaml"):
            word = f"{word[:2]}/{word[2:]}.yaml"
        elif name.startswith("node"):
            word = f"{word}{chance.randint(10, 99)}"
        elif "_" in name:
            word = f"{word}_{chance.randint(1000, 9999)}"
        rename[name] = word
    assert len(set(rename.values())) == len(rename)
    plain = {name: name for name in rename}
    back = {new: old for old, new in rename.items()}
    pattern = re.compile(
        "(?i)"
        + "|".join(rf"(?<![a-z0-9_]){re.escape(word)}(?![a-z0-9_])" for word in sorted(back, key=len, reverse=True))
    )

    def told(operations: list[DraftOperation], undo: bool) -> str:
        text = json.dumps([operation.model_dump() for operation in operations], ensure_ascii=False)
        return (pattern.sub(lambda match: back[match.group().casefold()], text) if undo else text).casefold()

    assert told(story(rename), undo=True) == told(story(plain), undo=False)


def test_a_thousand_rollouts_against_two_hundred_records_end_in_time() -> None:
    chance = random.Random(7)
    nouns = [a + b for a in "bar den fol gat hip jun kel".split() for b in "ster mont vale wick ton".split()]

    def line() -> str:
        a, b, c = chance.sample(nouns, 3)
        return (
            f"the {a} of {b} must {chance.choice(['restart', 'copy', 'seal'])} {c} before {chance.randint(2, 99)} steps"
        )

    records = [replace(known(line()), id=f"m-{n:010d}", group=f"Task {n % 20}") for n in range(200)]
    groups = tuple(f"Task {n}" for n in range(20))
    for rollout in range(0, 1000, 25):
        title = f"Seal the {chance.choice(nouns)}"
        batch = [new(line(), rollout=f"r{rollout + n // 5}", task=title) for n in range(60)]
        assert planned(batch, records, groups)


def test_the_order_of_words_in_sets_decides_nothing() -> None:
    """The same answer under other hash seeds."""
    program = f"from {__name__} import digest; print(digest())"
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[1],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(answers) == 1


def digest() -> str:
    """Everything that the story gives, as one text."""
    plain = {
        match.group().casefold(): match.group().casefold()
        for row in STORY
        for part in row
        for match in NAMES.finditer(part)
    }
    return json.dumps([operation.model_dump() for operation in story(plain)])
