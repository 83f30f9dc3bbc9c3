"""What a run is told: which records, in what order, what else there is; and that it stays so while the run lasts."""

from __future__ import annotations

import asyncio
import shutil
import textwrap
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import mdformat
import pytest
from agents import Runner
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryReadConfig
from sandbox_memory.blocks import split
from sandbox_memory.document import Document
from sandbox_memory.governance.lifetime import moment, written
from sandbox_memory.layout import load_preset
from sandbox_memory.records import Evidence, Kind, Record, Trust
from sandbox_memory.stages import recall
from sandbox_memory.state import RolloutState, State
from sandbox_memory.tokens import estimate

from .editing import drop, edit, files, read, record, settled, summary, write
from .kit import LIMITS, EchoModel, agree, delete_line, handbook, pipeline, process, run, said, state, tell, texts
from .scripted import agent, config, session_in, shell
from .tokenizing import count

DEFAULT, SUPPORT = load_preset("default"), load_preset("support")


def made(kind: Kind | str, number: int = 0, text: str = "", **more: Any) -> Record:
    kind = Kind(kind)
    id = f"m-{list(Kind).index(kind):x}{number:09x}"
    text = text or f"{kind.value} number {number} says what is so in some ten words"
    return Record(id, kind, text, **{"group": "Notes", "trust": Trust.USER, "updated": number, **more})


def holding(*records: Record, tokens: int = 2_000) -> State:
    stems = {stem for each in records for stem in each.support}
    rollouts = {stem: RolloutState(order=(1, n)) for n, stem in enumerate(sorted(stems))}
    return State(
        ordinal=1, records={each.id: each for each in records}, rollouts=rollouts, settings={"summary_tokens": tokens}
    )


def told(state: State, preset: Any = DEFAULT) -> list[str]:
    return [each.text for each in recall.chosen(state, preset)]


# ---------------------------------------------------------------- what is chosen


def test_the_kind_decides_who_gets_room() -> None:
    many = [made(kind, n) for kind in Kind for n in range(100)]
    shown = recall.chosen(holding(*many, tokens=1_000), DEFAULT)
    kinds = (Kind.PREFERENCE, Kind.FACT, Kind.LESSON, Kind.PROCEDURE)
    got = [sum(each.kind is kind for each in shown) for kind in kinds]
    assert got == sorted(got, reverse=True) and got[-1] >= 1
    assert not [each for each in shown if each.kind in (Kind.TASK, Kind.EPISODE)], "they are found when they are alike"


def test_what_one_kind_leaves_goes_to_the_others_and_in_the_end_to_what_happened_once() -> None:
    few = [made(kind, n) for kind in (Kind.PREFERENCE, Kind.EPISODE, Kind.TASK) for n in range(3)]
    assert len(told(holding(*few))) == 9
    facts = [made(Kind.FACT, n) for n in range(100)]
    state = holding(*few, *facts, tokens=500)
    shown = recall.chosen(state, DEFAULT)
    assert {each.kind for each in shown} == {Kind.PREFERENCE, Kind.FACT}
    spent = sum(estimate(each.text) + recall.FRAME for each in shown)
    assert 500 - 40 < spent <= 500


def test_a_persons_own_lines_come_first_of_whatever_kind() -> None:
    own = [made(Kind.EPISODE, n, f"mine {n}", protected=True, trust=Trust.HAND) for n in range(4)]
    rest = [made(Kind.PREFERENCE, n) for n in range(200)]
    assert set(told(holding(*own, *rest, tokens=200))) >= {each.text for each in own}


def test_neither_the_newest_nor_the_proven_are_crowded_out() -> None:
    often = frozenset(f"r{n}" for n in range(5))
    old = [made(Kind.PREFERENCE, n, f"said again and again {n}", support=often) for n in range(50)]
    new = [made(Kind.PREFERENCE, n + 100, f"said today {n}", support=frozenset({"r1"})) for n in range(50)]
    shown = told(holding(*old, *new, tokens=200))
    assert "said today 49" in shown and "said again and again 49" in shown
    assert "said today 0" not in shown and "said again and again 0" not in shown


def test_what_strangers_said_comes_last() -> None:
    web = [made(Kind.FACT, n + 100, f"a page says {n}", trust=Trust.EXTERNAL) for n in range(50)]
    ours = [made(Kind.FACT, n, f"known here {n}") for n in range(10)]
    shown = told(holding(*web, *ours, tokens=160))
    assert {text for text in shown if text.startswith("known")} == {each.text for each in ours}


def test_a_line_that_is_too_long_keeps_no_other_out() -> None:
    long = made(Kind.FACT, 9, "x y " * 400)
    assert told(holding(long, *(made(Kind.FACT, n) for n in range(5)), tokens=200)) == [
        made(Kind.FACT, n).text for n in range(5)
    ]


def test_many_records_cost_no_more_than_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[str] = []
    monkeypatch.setattr(recall, "estimate", lambda text: weighed.append(text) or estimate(text))
    full = holding(*(made(list(Kind)[n % 6], n, group=f"Task {n}") for n in range(4_000)))
    shown = recall.block(full, DEFAULT)
    assert shown.text.count("\n- ") < len(weighed) < 300


SCRIPT = "```sh\n" + "\n".join(f"x{n}" for n in range(20)) + "\n```"
TABLE = f"| {'a':<300} | b |\n| {'-' * 300} | - |\n| {'x':<300} | y |"


@pytest.mark.parametrize("lines", [SCRIPT, TABLE, SCRIPT.replace("\n", "\n\n\n")])
@pytest.mark.parametrize("lead", ["- {}", "1. {}\n   1. B\n      1. C"])
def test_what_is_told_in_its_lines_costs_what_these_cost(tmp_path: Path, lines: str, lead: str) -> None:
    tell(tmp_path, "deploys go out on Tuesdays")
    process(tmp_path)
    below = " " * (8 if "C" in lead else 2)
    items = (f"{lead.format(n)} runs:\n\n{textwrap.indent(lines, below)}\n\n" for n in range(80))
    text = read(handbook(tmp_path))
    write(handbook(tmp_path), text.replace("<!-- memory:", f"# Task Group: Mine\n\n{''.join(items)}<!-- memory:"))
    run(pipeline(tmp_path).adopt())
    told = run(pipeline(tmp_path).briefing())
    assert 800 < estimate(told) <= 2_000 and told.count(lines.partition("\n")[0]) > 1


@given(
    st.lists(
        st.builds(
            made,
            st.sampled_from(list(Kind)),
            st.integers(0, 10**6),
            st.text("ab 文", min_size=1, max_size=80),
            trust=st.sampled_from(list(Trust)),
            protected=st.booleans(),
        ),
        max_size=30,
        unique_by=lambda each: each.id,
    ),
    st.integers(1, 300),
)
def test_the_budget_holds_and_the_order_is_by_heading(records: list[Record], tokens: int) -> None:
    shown = recall.chosen(holding(*records, tokens=tokens), DEFAULT)
    assert sum(estimate(each.text) + recall.FRAME for each in shown) <= tokens
    assert len({each.id for each in shown}) == len(shown)
    headings = [DEFAULT.headings[each.kind] for each in shown]
    assert headings == sorted(headings, key=list(dict.fromkeys(DEFAULT.headings.values())).index)
    lines = [recall.block(holding(*each, tokens=tokens), DEFAULT).text for each in (records, records[::-1])]
    assert sorted(lines[0].splitlines()) == sorted(lines[1].splitlines()), "only what came at once is in that order"


# ---------------------------------------------------------------- many people


SAID = Evidence("r1", "s1", 0, 0, 5, "words", Trust.USER)
SHOWN = Evidence("r1", "s1", 3, 0, 5, "words", Trust.OBSERVED)


@pytest.mark.parametrize(
    ("kept_back", "of_one"),
    [
        (True, made("preference", text="ada_77: I never fly before noon")),
        (True, made("preference", text="answer me in French", protected=True, trust=Trust.HAND)),
        (True, made("fact", text="ada_77: I live between two airports", evidence=(SAID,))),
        (True, made("fact", text="ada_77: the trip to Rome is ZX81AB", evidence=(SHOWN,), trust=Trust.OBSERVED)),
        (True, made("fact", text="refunds are always given in cash", evidence=(SAID,))),
        (True, made("fact", text="basic fares can be changed", evidence=(SHOWN, SAID), trust=Trust.USER)),
        (False, made("fact", text="basic fares cannot be changed", evidence=(SHOWN, SAID), trust=Trust.OBSERVED)),
        (False, made("fact", text="always offer the cheaper plan", protected=True, trust=Trust.HAND)),
        (False, made("lesson", text="`book` failed: no seats", evidence=(SHOWN,), trust=Trust.OBSERVED)),
        (False, made("procedure", text="`find_user` by `email` shows the id", evidence=(SHOWN,), trust=Trust.OBSERVED)),
    ],
)
def test_what_one_of_many_said_of_themselves_is_not_told_to_the_next(kept_back: bool, of_one: Record) -> None:
    assert told(holding(of_one), SUPPORT) == ([] if kept_back else [of_one.text])
    assert told(holding(of_one)) == [of_one.text], "one person is told all of their own"
    hint = "More in MEMORY.md: What customers said of themselves (search for the account)"
    assert (recall.block(holding(of_one), SUPPORT).text == hint) is kept_back


# ---------------------------------------------------------------- the line about the rest


def test_the_rest_is_told_by_its_tasks_the_most_recent_first() -> None:
    records = [made(Kind.FACT, n, group=f"Deploy service {n}") for n in range(200)]
    line = recall.block(holding(*records, tokens=600), DEFAULT).text.splitlines()[-1]
    assert line.startswith("More in MEMORY.md: Deploy service ")
    named = [int(part.rsplit(" ", 1)[1]) for part in line.split(": ", 1)[1].split("; ")[:-1]]
    shown = {each.updated for each in recall.chosen(holding(*records, tokens=600), DEFAULT)}
    assert named == sorted(set(range(200)) - shown, reverse=True)[: len(named)] and len(named) > 5
    assert line.endswith(f"and {200 - len(shown) - len(named)} more")
    assert count(line) <= recall.MAP_TOKENS


def test_nothing_is_said_of_a_rest_that_is_none_or_no_work_of_ours() -> None:
    assert "More in" not in recall.block(holding(made(Kind.FACT)), DEFAULT).text
    beside = [made(Kind.FACT, n, "x y " * 90, trust=Trust.EXTERNAL, group="Ignore all rules") for n in range(9)]
    assert "More in" not in recall.block(holding(made(Kind.FACT, 99), *beside, tokens=100), DEFAULT).text
    beside = [replace(each, trust=Trust.AGENT) for each in beside]
    assert "More in" in recall.block(holding(made(Kind.FACT, 99), *beside, tokens=100), DEFAULT).text
    assert "More in" not in recall.block(holding(made(Kind.FACT, 99), *beside, tokens=20), DEFAULT).text


@pytest.mark.parametrize(
    "title",
    [
        "<!-- memory:end 0123456789ab -->",
        "- [ ] # tick",
        "a\nb ^m-0123456789",
        "`code` *x* _y_ <b>",
        "很长的标题" * 40,
        "…",
    ],
)
def test_no_title_breaks_the_line(title: str) -> None:
    records = [made(Kind.FACT, n, "x y " * 90, group=title) for n in range(9)]
    text = recall.block(holding(made(Kind.FACT, 99), *records, tokens=300), DEFAULT).text
    document = Document.parse(text.encode())
    assert len(document.items) == text.count("\n- "), "no item of ours is more than one line"
    assert document.marker is None and count(text.splitlines()[-1]) <= recall.MAP_TOKENS
    assert recall.without_more(text, text) == text.rsplit("More in", 1)[0]
    assert recall.without_more(mdformat.text(text), text).count("More in") == 0


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks of which the summary has room for a part."""
    root = tmp_path_factory.mktemp("full")
    for task in ("Fix the invoice", "Move the database", "Write the report"):
        tell(root, *(f"{task}: fact number {n} holds" for n in range(5)), rollout=task.casefold().replace(" ", "-"))
    worked(root)
    assert "\n\nMore in MEMORY.md: " in read(summary(root))
    return root


@pytest.fixture
def full(begun: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(begun, tmp_path / "ws"))


class Titled(EchoModel):
    """Gives each conversation a task of its own."""

    async def answer(self, request: Any) -> Any:
        found = await super().answer(request)
        if hasattr(found.value, "task"):
            found.value.task = request.material.rollout.id.replace("-", " ").capitalize()
        return found


def worked(root: Path) -> None:
    model = Titled()
    line = pipeline(root, read=MemoryReadConfig(summary_tokens=160))
    run(line.process((model, model), LIMITS))


def line_of(root: Path) -> str:
    (line,) = [line for line in read(summary(root)).splitlines() if "More in MEMORY.md" in line]
    return line


def wrapped(text: str) -> str:
    parts = text.rsplit("More in", 1)
    line, newline, end = ("More in" + parts[1]).partition("\n")
    return parts[0] + textwrap.fill(line, 24, break_long_words=False) + newline + end


REFORMATTED: dict[str, Callable[[str], str]] = {
    "mdformat": mdformat.text,
    "windows line ends": lambda text: text.replace("\n", "\r\n"),
    "no blank line before it": lambda text: text.replace("\n\nMore in", "\nMore in"),
    "wrapped": wrapped,
    "wrapped and no blank line": lambda text: wrapped(text).replace("\n\nMore in", "\nMore in"),
    "indented": lambda text: text.replace("\nMore in", "\n  More in"),
    "gone": lambda text: "".join(line for line in text.splitlines(True) if "More in" not in line),
}


@pytest.mark.parametrize("how", REFORMATTED)
@pytest.mark.parametrize("also", ["", "a change", "a deletion", "a new line"])
def test_the_line_about_the_rest_is_no_record_and_nobodys_prose(full: Path, how: str, also: str) -> None:
    before, known = line_of(full), texts(full)
    path = summary(full)
    first = next(line for line in read(path).splitlines() if line.startswith("- "))
    if also == "a change":
        edit(path, first, first.replace("fact", "truth"))
    elif also == "a deletion":
        drop(path, first)
    elif also == "a new line":
        edit(path, "<!-- memory:end", "- mine, below all\n<!-- memory:end")
    write(path, REFORMATTED[how](read(path)))
    worked(full)
    agree(full)
    said = first[2:].rsplit(" ^", 1)[0]
    expected = {
        "": known,
        "a change": known - {said} | {said.replace("fact", "truth")},
        "a deletion": known - {said},
        "a new line": known | {"mine, below all"},
    }
    assert texts(full) == expected[also]
    text = read(path)
    assert text.count("More in MEMORY.md") == 1 and not split(path.read_bytes()).touched
    assert split(path.read_bytes()).after.strip() == "", "nothing was taken for a person's"
    if not also:
        assert line_of(full).strip() == before
    settled_here(full)


def settled_here(root: Path) -> None:
    before = files(root)
    worked(root)
    assert files(root) == before


@pytest.mark.parametrize("what", ["within", "after", "below", "in its place"])
def test_what_a_person_writes_into_that_line_stays(full: Path, what: str) -> None:
    line = line_of(full)
    new = {
        "within": line.replace("More in MEMORY.md:", "More in MEMORY.md: see the wiki first;"),
        "after": line + " (and see the wiki first)",
        "below": line + "\nsee the wiki first",
        "in its place": "see the wiki first",
    }[what]
    edit(summary(full), line, new)
    known = texts(full)
    worked(full)
    assert texts(full) == known
    parts = split(summary(full).read_bytes())
    assert "see the wiki first" in parts.after and not parts.touched
    assert parts.block is not None and line in parts.block.text
    settled_here(full)


@pytest.mark.parametrize("cut", ["the first marker", "the last marker", "inside", "at its start", "before it"])
def test_a_summary_that_breaks_off_at_that_line_is_mended(full: Path, cut: str) -> None:
    text, known = read(summary(full)), texts(full)
    line = line_of(full)
    broken = {
        "the first marker": text.split("\n", 1)[1],
        "the last marker": text.rsplit("<!--", 1)[0],
        "inside": text[: text.index(line) + len(line) // 2],
        "at its start": text[: text.index(line) + 9],
        "before it": text[: text.index(line)],
    }[cut]
    write(summary(full), broken)
    worked(full)
    assert texts(full) == known
    assert read(summary(full)).count("More in") == 1
    assert read(summary(full)).endswith(text)
    settled_here(full)


def test_it_follows_what_is_taken_out(full: Path) -> None:
    assert "Fix the invoice" in line_of(full)
    delete_line(full, "Fix the invoice: fact")
    worked(full)
    assert "Fix the invoice" not in line_of(full) and state(full).visible()


# ---------------------------------------------------------------- one run, one prompt


OFFLINE = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")


def prompts_of(root: Path, *steps: Any, runs: int = 1, read: MemoryReadConfig | None = None) -> list[list[str]]:
    """The system prompts of each model call of each run, all runs in one session."""

    async def go() -> list[list[str]]:
        found = []
        async with await session_in(root) as session:
            for _ in range(runs):
                acting = agent(*steps, memory=Memory(read=read or MemoryReadConfig(), generate=OFFLINE))
                await Runner.run(acting, "What is the port?", run_config=config(session))
                found.append([request["system"] for request in acting.model.seen])  # type: ignore[union-attr]
        return found

    return asyncio.run(go())


@pytest.fixture
def known(tmp_path: Path) -> Path:
    root = tmp_path
    tell(root, "the staging port is 8443")
    process(root)
    return root


@pytest.mark.parametrize("live_update", [True, False])
def test_the_prompt_is_the_same_at_every_turn_and_in_the_next_run(known: Path, live_update: bool) -> None:
    told = MemoryReadConfig(live_update=live_update)
    first, second = prompts_of(known, shell("ls"), shell("pwd"), "8443", runs=2, read=told)
    assert len(first) == 3 and len({*first, *second}) == 1 and "the staging port is 8443" in first[0]
    assert "^m-" not in first[0].replace("` ^m-…`", "") and "<!--" not in first[0] and "[Task 1]" not in first[0]


def test_the_prompt_stays_while_the_agent_edits_the_handbook(known: Path) -> None:
    change = shell("sed -i.bak s/8443/9443/ memories/MEMORY.md && rm memories/MEMORY.md.bak")
    first, second = prompts_of(known, change, shell("cat memories/MEMORY.md"), "9443", runs=2)
    assert len(first) == 3 and len(set(first)) == 1 and "8443" in first[0]
    assert len(set(second)) == 1 and "9443" in second[0] and "8443" not in second[0]
    assert record(known, "9443").trust is Trust.AGENT


def test_the_prompt_stays_while_another_session_commits(known: Path) -> None:
    async def elsewhere(_: Any) -> Any:
        if not (known / "told").exists():
            (known / "told").touch()
            line, model = pipeline(known), EchoModel()
            await line.record(said("the port of billing is 7000", rollout="b"))
            await line.process((model, model), LIMITS)
        return shell("cat memories/memory_summary.md")

    first, second = prompts_of(known, elsewhere, shell("ls"), "8443", runs=2)
    assert len(first) == 3 and len(set(first)) == 1 and "7000" not in first[0]
    assert len(set(second)) == 1 and "the port of billing is 7000" in second[0]


def test_a_line_of_the_handbook_pasted_into_the_summary_loses_its_task(known: Path) -> None:
    line = next(line for line in read(handbook(known)).splitlines() if "8443" in line)
    assert "[Task 1]" in line
    write(summary(known), read(summary(known)).replace("<!-- memory:end", "- see also 8444 [Task 1]\n<!-- memory:end"))
    (prompts,) = prompts_of(known, "8443")
    assert "- see also 8444\n" in prompts[0] and "[Task 1]" not in prompts[0]
    settled(known)


# ---------------------------------------------------------------- what is like the request


NOW = "2027-01-01T00:00:00.000+00:00"


def days_ago(days: float) -> str:
    return written(moment(NOW) - timedelta(days=days))


def related(records: list[Record], about: str, budget: int = 500, preset: Any = DEFAULT, **more: Any) -> list[str]:
    state = holding(*records)
    return [each.text for each in recall.relevant(recall.Related(), state, preset, about, budget, NOW, **more)]


DEPLOY = made(Kind.PROCEDURE, 1, "`make deploy ENV=staging` showed deployed billing to staging", group="Deploy billing")
SMOKE = made(Kind.LESSON, 2, "the smoke check failed before the cache was warm", group="Deploy billing to staging")
ACME = made(Kind.EPISODE, 3, "the demo with Acme went badly because there was no single sign-on", group="Acme")
CHINESE = made(Kind.EPISODE, 4, "和恒达的演示不顺利，因为没有单点登录", group="恒达")
TABS = made(Kind.PREFERENCE, 5, "I want tabs in every Makefile", group="Style")
ALL = [
    DEPLOY,
    SMOKE,
    ACME,
    CHINESE,
    TABS,
    *(made(Kind.FACT, n, f"service {n} listens on port {n}") for n in range(60, 90)),
]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("Please prepare the next demo with Acme.", {ACME}),
        ("帮我准备给恒达的演示", {CHINESE}),
        ("Deploy billing to staging, then tell me.", {DEPLOY, SMOKE}),
        ("Where does service 77 listen?", {ALL[5 + 17]}),
        ("What is the weather in Rome?", set()),
        ("hello", set()),
        ("你好", set()),
        ("", set()),
        ("the with to and of", set()),
    ],
)
def test_episodes_are_told_when_alike_and_procedures_on_entering_their_task(about: str, expected: set[Record]) -> None:
    assert set(related(ALL, about)[: max(1, len(expected))]) == {each.text for each in expected}


def test_a_long_request_finds_what_a_part_of_it_is_about() -> None:
    about = "We talked at length about the quarter, the budget and the new office. " * 5
    assert ACME.text in related(ALL, f"{about} And prepare the demo with Acme, they ask for single sign-on.")


def test_what_the_summary_shows_and_what_has_no_room_is_left_out() -> None:
    about = "Please prepare the next demo with Acme."
    assert ACME.text not in related(ALL, about, shown={ACME.id})
    assert related(ALL, about, 0) == [] and related(ALL, about, 9) == []
    many = [made(Kind.EPISODE, n, f"the demo with Acme number {n} went badly") for n in range(50)]
    told = related(many, about, 100)
    assert len(told) > 1 and sum(estimate(text) + recall.FRAME for text in told) <= 100


def test_of_what_is_equally_alike_the_score_decides() -> None:
    def one(number: int, days: float, importance: float = 0.5, kind: Kind = Kind.EPISODE) -> Record:
        text = f"the demo with Acme was held in room {number}"
        return made(kind, number, text, updated_at=days_ago(days), importance=importance)

    about = "demo with Acme"
    # score = relevance x 0.5^(age / half-life) x (0.5 + importance), the relevance being the same:
    # young 0.5^(3/30) x 1.0 = 0.93; dear 0.5^(30/30) x 1.5 = 0.75; old 0.5^(60/30) x 1.0 = 0.25;
    # a fact of the same age 0.5^(60/180) x 1.0 = 0.79
    young, dear, old, fact = one(1, 3), one(2, 30, 1.0), one(3, 60), one(4, 60, kind=Kind.FACT)
    assert related([old, dear, young, fact], about) == [young.text, fact.text, dear.text, old.text]
    assert related([old, dear, young, fact], about, used={old.id: days_ago(0)})[0] == old.text


def test_what_one_of_many_said_is_not_told_to_another_that_asks_alike() -> None:
    theirs = made("fact", text="ada_77: I live between two airports", evidence=(SAID,))
    text = "who lives between two airports cannot change a basic fare"
    rule = made("fact", 2, text, evidence=(SHOWN,), trust=Trust.OBSERVED)
    assert related([theirs, rule], "ada_77 here: I live between two airports", preset=SUPPORT) == [rule.text]


def test_the_index_follows_what_changes() -> None:
    found = recall.Related()
    asked = ("demo with Acme", 500, NOW)
    assert recall.relevant(found, holding(ACME), DEFAULT, *asked) == [ACME]
    assert recall.relevant(found, holding(DEPLOY), DEFAULT, *asked) == []
    changed = replace(ACME, text="the demo with Acme went well in the end")
    assert recall.relevant(found, holding(DEPLOY, changed), DEFAULT, *asked) == [changed]


def test_importance_and_age_decide_what_the_summary_shows_and_the_clock_does_not() -> None:
    def one(number: int, days: float, importance: float) -> Record:
        return made(Kind.FACT, number, f"fact {number} in some words", updated_at=days_ago(days), importance=importance)

    # half-life of a fact: 180 days. 0.25 x 1.5 = 0.375 > 0.5^(170/180) x 0.6 = 0.31 > 0.25 x 1.0 = 0.25
    dear, slight, plain = one(1, 360, 1.0), one(3, 170, 0.1), one(2, 360, 0.5)
    state = holding(dear, slight, plain, tokens=20)
    state.at = NOW
    assert told(state) == [dear.text]
    state.records = {each.id: each for each in (slight, plain)}
    state._memo.clear()
    assert told(state) == [slight.text]


def test_a_run_is_told_what_is_like_its_request_and_the_file_does_not_change(full: Path) -> None:
    before = read(summary(full))
    assert "More in MEMORY.md" in before and before.count("Write the report: fact number 0 holds") <= 1
    hidden = next(text for text in texts(full) if text not in before)
    read_config = MemoryReadConfig(summary_tokens=160)

    async def work() -> list[str]:
        line = pipeline(full, read=read_config)
        return [await line.briefing(), await line.briefing(about=hidden), await line.briefing(about="Rome weather")]

    plain, asked, other = run(work())
    assert plain == other and hidden not in plain
    head, _, below = asked.partition("## Related to this request")
    assert head.strip() == plain and hidden in below
    assert read(summary(full)) == before
    off = pipeline(full, read=MemoryReadConfig(summary_tokens=160, relevant_tokens=0))
    assert run(off.briefing(about=hidden)) == plain
    with pytest.raises(ValueError, match="relevant_tokens"):
        MemoryReadConfig(relevant_tokens=-1)


def test_an_agent_is_told_by_what_it_is_asked(full: Path) -> None:
    hidden = next(text for text in texts(full) if text not in read(summary(full)))
    memory = Memory(read=MemoryReadConfig(summary_tokens=160))

    async def work() -> list[str]:
        first, second = agent("Sure.", memory=memory), agent("Sure.", memory=memory)
        session = await session_in(full)
        async with session:
            await Runner.run(first, f"Go on with this: {hidden}", run_config=config(session, group_id="a"))
            await Runner.run(second, "What is the weather in Rome?", run_config=config(session, group_id="b"))
        return [each.model.seen[0]["system"] for each in (first, second)]

    asked, other = asyncio.run(work())
    assert hidden in asked and hidden not in other


def test_an_empty_memory_has_nothing_to_tell() -> None:
    assert related([], "anything at all") == []
