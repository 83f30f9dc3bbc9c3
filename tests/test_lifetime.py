"""Records over time: the clock is moved, and what is known must be what a table says that was worked out by hand."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.errors import ConfigError, LostUpdate, Unknown
from sandbox_memory.folding import fold
from sandbox_memory.folding.past import as_of
from sandbox_memory.governance import lifetime
from sandbox_memory.governance.lifetime import AGED, EXPIRED, FULL, LITTLE, Life
from sandbox_memory.layout import load_preset, preset_names
from sandbox_memory.ledger import parse
from sandbox_memory.models import EXTRACTION
from sandbox_memory.pipeline import Pipeline, commands
from sandbox_memory.records import Kind, Record, Status, Trust
from sandbox_memory.usage import FILE, Noticed

from .editing import edit
from .kit import LIMITS, EchoModel, agree, handbook, pipeline, run, said, state, texts

START = datetime(2027, 1, 1, 12, tzinfo=timezone.utc)
HALF_LIFE = load_preset("default").half_life


class Clock:
    """Says what day it is: `day` days after the start."""

    def __init__(self) -> None:
        self.day = 0.0

    def __call__(self) -> datetime:
        return START + timedelta(days=self.day)

    @property
    def text(self) -> str:
        return lifetime.written(self())


def day(number: float) -> str:
    return lifetime.written(START + timedelta(days=number))


class Kinds(EchoModel):
    """Takes each message for the kind of memory that the table says, and lets the newest of a subject replace it."""

    def __init__(self, kinds: dict[str, tuple[str, str]], importance: dict[str, float] | None = None) -> None:
        super().__init__()
        self.kinds, self.importance = kinds, importance or {}

    async def answer(self, request: Any) -> Any:
        found = await super().answer(request)
        if request.task == EXTRACTION:
            for memory in found.value.memories:
                memory.kind, memory.subject = self.kinds.get(memory.text, ("fact", ""))
                memory.importance = self.importance.get(memory.text)
            return found
        known = {r.subject: n for n, r in enumerate(request.material.records, 1) if r.subject}
        for operation, candidate in zip(found.value.operations, request.material.candidates, strict=True):
            if candidate.subject in known:
                operation.op, operation.records = "supersede", [f"r{known[candidate.subject]}"]
        return found


@dataclass
class World:
    """A workspace, a clock, and what people and conversations do there."""

    root: Path
    clock: Clock
    model: EchoModel
    capacity: int | None = None

    def line(self) -> Pipeline:
        return pipeline(self.root, MemoryGenerateConfig(capacity=self.capacity), now=self.clock)

    def hears(self, *told: str, rollout: str) -> None:
        async def work() -> None:
            for text in told:
                await self.line().record(said(text, rollout=rollout))
            await self.line().process((self.model, self.model), LIMITS)

        run(work())

    def processes(self) -> None:
        run(self.line().process((self.model, self.model), LIMITS))

    def adds(self, text: str, kind: Kind = Kind.FACT, **life: Any) -> Record:
        return run(commands.add(self.line(), text, kind=kind, life=Life(**life)))

    def opens(self) -> str:
        """A session begins: what its run is told."""
        return run(self.line().briefing())

    def as_of(self, when: str | int) -> set[str]:
        return {record.text for record in as_of(parse(ledger(self.root).read_bytes()), when).records}


def ledger(root: Path) -> Path:
    return root / "memories" / "ledger.jsonl"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, Clock(), EchoModel())


# ---------------------------------------------------------------- the table

PORT, NEW_PORT = "The staging port is 8443.", "The staging port is 9443."
REPORT = "The billing report was delivered to Ada."
DEMO = "The demo with Acme went badly without single sign-on."
DIFF = "Show me the diff before you change anything."
CLOSED = "The office is closed this week."
RUNBOOK = "The runbook is in the wiki."

# Half-lives of the preset "default", in days: preference 365; fact, procedure and lesson 180; task and episode 30.
# Importance without a word of anybody: preference 0.7, fact 0.5, task and episode 0.3; 0.9 by hand.
# Of low value is what has less than 0.4 and one conversation; that goes after 3 half-lives unused, all else after 6.
#
# day  what happens                                             then stand in MEMORY.md
TABLE: list[tuple[float, str, set[str]]] = [
    (0, "a conversation, and by hand: closed for 10 days", {PORT, REPORT, DEMO, DIFF, CLOSED, RUNBOOK}),
    (9.99, "a session opens", {PORT, REPORT, DEMO, DIFF, CLOSED, RUNBOOK}),
    (10, "a session opens: the 10 days are over", {PORT, REPORT, DEMO, DIFF, RUNBOOK}),
    (40, "the port is said anew", {NEW_PORT, REPORT, DEMO, DIFF, RUNBOOK}),
    (50, "the demo is searched for", {NEW_PORT, REPORT, DEMO, DIFF, RUNBOOK}),
    (89.99, "a close", {NEW_PORT, REPORT, DEMO, DIFF, RUNBOOK}),
    (90, "a close: 3 x 30 days without the report", {NEW_PORT, DEMO, DIFF, RUNBOOK}),
    (139.9, "a close", {NEW_PORT, DEMO, DIFF, RUNBOOK}),
    (140, "a close: 3 x 30 days since the demo was searched for", {NEW_PORT, DIFF, RUNBOOK}),
    (1119, "a close", {NEW_PORT, DIFF, RUNBOOK}),
    (1120, "a close: 6 x 180 days since the port was said", {DIFF, RUNBOOK}),
    (2189, "a close", {DIFF, RUNBOOK}),
    (2190, "a close: 6 x 365 days since the preference; what a hand wrote stays", {RUNBOOK}),
]


def test_the_clock_moves_and_the_table_holds(tmp_path: Path) -> None:
    kinds = {PORT: ("fact", "staging port"), NEW_PORT: ("fact", "staging port"), DIFF: ("preference", "")}
    kinds |= {REPORT: ("task", ""), DEMO: ("episode", "")}
    world = World(tmp_path, Clock(), Kinds(kinds))
    for number, what, standing in TABLE:
        world.clock.day = number
        if number == 0:
            world.hears(PORT, REPORT, DEMO, DIFF, rollout="one")
            world.adds(CLOSED, ttl=timedelta(days=10))
            world.adds(RUNBOOK)
        elif "said anew" in what:
            world.hears(NEW_PORT, rollout="two")
        elif "searched" in what and "a close" not in what:
            demo = next(record.id for record in state(tmp_path).records.values() if record.text == DEMO)
            with (tmp_path / "memories" / FILE).open("ab") as file:
                file.write(Noticed(searched=frozenset({demo})).line(world.clock.text))
        elif what.startswith("a session opens"):
            told = world.opens()
            assert (CLOSED in told) is (CLOSED in standing), what
        else:
            world.processes()
        assert texts(tmp_path) == standing, f"day {number}: {what}"
        agree(tmp_path)

    # As of a time: what was so then. The word about the office ended on day 10, that about the port on day 40.
    for when, then in [
        (1, {PORT, REPORT, DEMO, DIFF, CLOSED, RUNBOOK}),
        (15, {PORT, REPORT, DEMO, DIFF, RUNBOOK}),
        (39.9, {PORT, REPORT, DEMO, DIFF, RUNBOOK}),
        (41, {NEW_PORT, REPORT, DEMO, DIFF, RUNBOOK}),
        (100, {NEW_PORT, DEMO, DIFF, RUNBOOK}),
        (3000, {RUNBOOK}),
    ]:
        assert world.as_of(day(when)) == then, f"as of day {when}"

    now = state(tmp_path)
    by_text = {record.text: record for record in now.records.values()}
    assert {text: record.retired for text, record in by_text.items() if record.status is Status.RETIRED} == {
        CLOSED: EXPIRED,
        REPORT: LITTLE,
        DEMO: LITTLE,
        NEW_PORT: AGED,
        DIFF: AGED,
    }
    assert by_text[CLOSED].expires == by_text[CLOSED].valid_to == day(10)
    old, new = by_text[PORT], by_text[NEW_PORT]
    assert (old.status, old.superseded_by) == (Status.SUPERSEDED, new.id)
    assert (old.valid_from, old.valid_to, new.valid_from) == (day(0), day(40), day(40))


# Capacity, worked by hand: score = 1 x 0.5^(age / half-life) x (0.5 + importance)
#
#    name         kind        importance  age   half-life  score
WEIGHED = [
    ("lesson", Kind.LESSON, 0.6, 0, {}),  #        180        1    x 1.1 = 1.1
    ("preference", Kind.PREFERENCE, 0.7, 365, {}),  # 365         0.5  x 1.2 = 0.6
    ("fact", Kind.FACT, 0.5, 180, {}),  #             180         0.5  x 1.0 = 0.5
    ("vital", Kind.FACT, 1.0, 360, {}),  #            180         0.25 x 1.5 = 0.375
    ("task", Kind.TASK, 0.3, 30, {}),  #               30         0.5  x 0.8 = 0.4
    ("by hand", Kind.FACT, 0.9, 360, {"protected": True, "trust": Trust.HAND}),  # 0.25 x 1.4 = 0.35, but last
    ("pinned", Kind.TASK, 0.3, 300, {"pinned": True}),  # 0.5^10 x 0.8 = 0.0008, but never
]
GOES = ["vital", "task", "fact", "preference", "lesson", "by hand"]


@pytest.mark.parametrize("capacity", range(8))
def test_beyond_the_capacity_the_lowest_score_goes_first(capacity: int) -> None:
    now = day(1000)
    records = [
        Record(f"m-{n:010x}", kind, name, "G", importance=weight, updated_at=day(1000 - age), updated=n, **more)
        for n, (name, kind, weight, age, more) in enumerate(WEIGHED)
    ]
    names = {record.id: record.text for record in records}
    gone = lifetime.let_go(records, now, half_life=HALF_LIFE, capacity=capacity)
    assert [names[each.id] for each in gone] == GOES[: max(0, 7 - capacity)]
    assert {each.reason for each in gone} <= {FULL}
    assert lifetime.let_go(records[::-1], now, half_life=HALF_LIFE, capacity=capacity) == gone


def test_a_full_memory_lets_go_at_close_and_says_so(tmp_path: Path) -> None:
    weights = {"fact number one is true": 0.9, "fact number two is true": 0.1, "fact number three is true": 0.5}
    world = World(tmp_path, Clock(), Kinds({}, weights), capacity=2)
    world.hears(*weights, rollout="one")
    assert texts(tmp_path) == {"fact number one is true", "fact number three is true"}
    (gone,) = (record for record in state(tmp_path).records.values() if record.status is Status.RETIRED)
    assert (gone.importance, gone.retired) == (0.1, FULL)
    before = ledger(tmp_path).read_bytes()
    world.processes()
    assert ledger(tmp_path).read_bytes() == before, "what is within the limit stays as it is"
    assert run(world.line().process((world.model, world.model), LIMITS, again=True)).operations == {}
    assert texts(tmp_path) == {"fact number one is true", "fact number three is true"}, "old words do not bring it back"
    world.hears("fact number two is true", rollout="two")
    assert "fact number two is true" not in texts(tmp_path), "said anew it comes, and is still the least"


# ---------------------------------------------------------------- expiry


@pytest.mark.parametrize(
    "life",
    [
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": math.nan},
        {"ttl": math.inf},
        {"ttl": timedelta(0)},
        {"ttl": timedelta(days=-1)},
        {"ttl": 1e30},
        {"ttl": True},
        {"ttl": timedelta.max},
        {"expires": "yesterday"},
        {"expires": "2026-12-31"},
        {"expires": START},
        {"ttl": 1, "expires": "2030-01-01"},
        {"importance": 1.01},
        {"importance": -0.01},
        {"importance": math.nan},
        {"importance": True},
        {"importance": "high"},
    ],
)
def test_what_is_out_of_bounds_is_refused_and_nothing_is_written(world: World, life: dict[str, Any]) -> None:
    world.adds("a line")
    before = ledger(world.root).read_bytes()
    with pytest.raises(ConfigError, match=r"importance|lifetime|expired already|no date|year 10000"):
        world.adds("another", **life)
    assert ledger(world.root).read_bytes() == before


@pytest.mark.parametrize(
    ("text", "days"),
    [("30d", 30), ("2w", 14), ("12h", 0.5), ("45min", 45 / 1440), ("1.5d", 1.5), ("3 天", 3), ("1y", 365)],
)
def test_lifetimes_as_people_write_them(text: str, days: float) -> None:
    assert lifetime.ttl_of(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "0d", "nan", "infd", "1e9d", "30 days ago", "9" * 30 + "y"])
def test_and_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="lifetime"):
        lifetime.ttl_of(text)


def test_a_date_alone_is_its_last_moment_where_the_person_is() -> None:
    local = datetime(2027, 3, 1, 23, 59, 59, 999999).astimezone(timezone.utc)
    assert lifetime.asked_time("2027-03-01") == local
    assert lifetime.asked_time("2027-03-01T10:00Z") == datetime(2027, 3, 1, 10, tzinfo=timezone.utc)


def test_what_expired_is_told_of_and_comes_back_when_asked(world: World) -> None:
    record = world.adds("The office is closed.", ttl=3600)
    world.clock.day = 1
    memory = OpenMemory(world.line())
    assert memory.records() == [] and memory.status()["expired"] == 1 and memory.status()["deleted"] == 0
    reason = memory.why(record.id)
    assert not reason.visible and (reason.record.retired, reason.record.valid_to) == (EXPIRED, record.expires)
    assert [event.op for event in reason.events] == ["add", "retire"]
    assert not (world.root / "memories" / "INBOX.md").exists()
    (back,) = memory.restore(record.id)
    assert (back.status, back.expires, back.valid_to) == (Status.ACTIVE, "", "")
    world.clock.day = 999
    assert [each.id for each in memory.records()] == [record.id]
    agree(world.root)


def test_a_clock_that_is_set_back_changes_nothing(world: World) -> None:
    world.adds("It ends on day 5.", ttl=timedelta(days=5))
    world.clock.day = 6
    world.adds("Said on day 6.")
    assert texts(world.root) == {"Said on day 6."}
    world.clock.day = 1
    record = world.adds("Said when the clock was back on day 1, for a day.", ttl=timedelta(days=1))
    assert texts(world.root) == {"Said on day 6.", record.text}, "it neither brings back nor hides"
    assert record.expires == day(7) and record.created_at == day(6)
    assert world.as_of(day(5.5)) == set() and world.as_of(day(6)) == {"Said on day 6.", record.text}
    agree(world.root)


def test_opening_hides_what_expired_and_a_reader_that_may_not_write_is_not_told(world: World) -> None:
    world.adds("It ends soon.", ttl=60)
    world.adds("It stays.")
    told = world.opens()
    assert "It ends soon." in told
    world.clock.day = 1
    before = handbook(world.root).read_bytes()
    reader = Pipeline(world.line().store.workspace, world.line().layout, generate=None, now=world.clock)
    assert run(reader.briefing()) == world.opens().replace("It ends soon.", "") and "It stays." in world.opens()
    assert handbook(world.root).read_bytes() != before and texts(world.root) == {"It stays."}


def test_a_session_that_goes_on_is_not_told_what_expired_meanwhile(world: World) -> None:
    world.adds("It ends soon.", ttl=60)

    async def work() -> tuple[str, str]:
        line = world.line()
        first = await line.briefing()
        world.clock.day = 1
        return first, await line.briefing()

    first, second = run(work())
    assert "It ends soon." in first and "It ends soon." not in second


@pytest.mark.parametrize("saved", [0.01, 1])
def test_a_line_that_a_person_changes_does_not_go_by_the_old_date(world: World, saved: float) -> None:
    record = world.adds("The office is closed.", ttl=3600)
    world.clock.day = 1
    edit(handbook(world.root), "is closed", "is closed for good")
    os.utime(handbook(world.root), (0, (START + timedelta(days=saved)).timestamp()))
    run(world.line().adopt())
    assert texts(world.root) == {"The office is closed for good."}
    assert state(world.root).records[record.id].expires == ""
    world.clock.day = 2
    assert "for good" in world.opens()


def test_deleting_an_expired_line_by_hand_and_adding_it_again_works(world: World) -> None:
    record = world.adds("The office is closed.", ttl=3600)
    kept = handbook(world.root).read_bytes()
    world.clock.day = 1
    world.opens()
    assert texts(world.root) == set()
    handbook(world.root).write_bytes(kept.replace(b"memory:2", b"memory:3"))
    run(world.line().adopt())
    assert state(world.root).records[record.id].status is Status.ACTIVE
    assert texts(world.root) == {"The office is closed."}


# ---------------------------------------------------------------- as of


@pytest.mark.parametrize(
    ("when", "error"),
    [
        ("2026-12-31T00:00Z", Unknown),
        (day(-1), Unknown),
        (0, Unknown),
        ("0", Unknown),
        ("99", Unknown),
        (-1, Unknown),
        ("", ConfigError),
        ("last week", ConfigError),
        ("2027-13-01", ConfigError),
    ],
)
def test_as_of_what_was_never(world: World, when: str | int, error: type[Exception]) -> None:
    world.adds("a line")
    with pytest.raises(error):
        world.as_of(when)


def test_as_of_a_commit(world: World) -> None:
    first = world.adds("one").created
    world.clock.day = 1
    second = world.adds("two")
    run(commands.revise(world.line(), second.id, "zwei"))
    assert world.as_of(first) == {"one"} and world.as_of(str(second.created)) == {"one", "two"}
    memory = OpenMemory(world.line())
    assert {record.text for record in memory.records(as_of=START + timedelta(days=2))} == {"one", "zwei"}
    assert {record.text for record in memory.records(as_of=day(0.5))} == {"one"}


# ---------------------------------------------------------------- expected versions


def test_a_lost_update_is_refused_with_both_texts(world: World) -> None:
    record = world.adds("The port is 8443.")
    first = run(commands.revise(world.line(), record.id, "The port is 9443.", expected_version=1))
    assert first.version == 2
    before = ledger(world.root).read_bytes()
    with pytest.raises(LostUpdate, match=r"9443.*9555") as refused:
        run(commands.revise(world.line(), record.id, "The port is 9555.", expected_version=1))
    error = refused.value
    assert (error.id, error.expected, error.version) == (record.id, 1, 2)
    assert (error.text, error.yours) == ("The port is 9443.", "The port is 9555.")
    with pytest.raises(LostUpdate):
        run(commands.delete(world.line(), record.id, expected_version=1))
    assert ledger(world.root).read_bytes() == before
    assert run(commands.delete(world.line(), record.id, expected_version=2)).status is Status.DELETED
    with pytest.raises(LostUpdate):
        run(commands.revise(world.line(), record.id, "x", expected_version=2))
    with pytest.raises(Unknown, match="restore"):
        run(commands.revise(world.line(), record.id, "x"))


def test_an_edit_in_the_file_counts_as_an_update_that_must_not_be_lost(world: World) -> None:
    record = world.adds("The port is 8443.")
    text = handbook(world.root).read_text(encoding="utf-8")
    handbook(world.root).write_text(text.replace("8443", "9443"), encoding="utf-8")
    with pytest.raises(LostUpdate, match="9443"):
        run(commands.revise(world.line(), record.id, "The port is 9555.", expected_version=1))
    run(world.line().adopt())
    assert texts(world.root) == {"The port is 9443."}


def test_a_lifetime_can_be_given_later(world: World) -> None:
    record = world.adds("a line")
    later = run(commands.revise(world.line(), record.id, life=Life(ttl=60, importance=0.1, pinned=True)))
    assert (later.text, later.importance, later.pinned) == ("a line", 0.1, True)
    assert later.expires == lifetime.written(START + timedelta(seconds=60))
    world.clock.day = 1
    assert world.opens() == ""


# ---------------------------------------------------------------- the score

FINITE = st.floats(0, 1e6, allow_nan=False)
SHARE = st.floats(0, 1)


@given(SHARE, FINITE, st.floats(0.01, 1e5), SHARE)
def test_the_score_is_bounded_and_halves_with_the_half_life(
    relevance: float, age: float, half_life: float, importance: float
) -> None:
    score = lifetime.score(relevance, age, half_life, importance)
    assert 0 <= score <= 1.5 * relevance
    assert lifetime.score(relevance, age + half_life, half_life, importance) == pytest.approx(score / 2)
    assert lifetime.score(relevance, 0, half_life, 0.5) == pytest.approx(relevance), "half importance changes nothing"


@given(SHARE, FINITE, FINITE, st.floats(0.01, 1e5), SHARE, SHARE)
def test_the_score_falls_with_age_and_grows_with_relevance_and_importance(
    relevance: float, one: float, two: float, half_life: float, less: float, more: float
) -> None:
    young, old = sorted((one, two))
    low, high = sorted((less, more))
    score = lifetime.score
    assert score(relevance, young, half_life, low) >= score(relevance, old, half_life, low)
    assert score(relevance, young, half_life, high) >= score(relevance, young, half_life, low)
    assert score(max(relevance, low), young, half_life, high) >= score(min(relevance, low), young, half_life, high)


def test_thirty_days_where_nothing_else_is_said() -> None:
    record = Record("m-0000000000", Kind.EPISODE, "x", "G", updated_at=day(0))
    assert lifetime.scored(record, day(30), {}) == pytest.approx(0.5)
    assert lifetime.scored(record, day(30), {Kind.EPISODE: 15}) == pytest.approx(0.25)
    assert lifetime.scored(record, day(30), {}, used=day(30)) == pytest.approx(1)
    assert lifetime.scored(replace(record, updated_at="no time"), day(30), {}) == 1, "of unknown age is not old"


@given(
    st.lists(
        st.builds(
            Record,
            st.integers(0, 10**9).map(lambda n: f"m-{n:010x}"),
            st.sampled_from(list(Kind)),
            st.just("x"),
            st.just("G"),
            importance=SHARE,
            protected=st.booleans(),
            pinned=st.booleans(),
            updated_at=st.floats(0, 4000).map(day) | st.just("") | st.just("garbage"),
        ),
        max_size=20,
        unique_by=lambda record: record.id,
    ),
    st.integers(0, 20),
    st.floats(0, 5000),
)
def test_what_is_let_go_keeps_the_pinned_and_the_hand_to_the_last(
    records: list[Record], capacity: int, now: float
) -> None:
    gone = lifetime.let_go(records, day(now), half_life=HALF_LIFE, capacity=capacity)
    ids = [each.id for each in gone]
    assert len(set(ids)) == len(ids)
    left = [record for record in records if record.id not in ids]
    assert len(left) <= max(capacity, sum(record.pinned for record in records))
    away = [record for record in records if record.id in ids]
    assert not any(record.pinned for record in away)
    if any(record.protected for record in away):
        assert all(record.protected or record.pinned for record in left)
    again = lifetime.let_go(left, day(now), half_life=HALF_LIFE, capacity=capacity)
    assert again == [], "once is enough"


def test_every_preset_says_how_long_and_how_much() -> None:
    for name in preset_names():
        preset = load_preset(name)
        assert preset.capacity and preset.half_life.keys() <= preset.headings.keys()


def test_what_nobody_of_ours_can_have_written_is_passed_over(world: World) -> None:
    world.adds("a line")
    forged = '{"commit":3,"prev":"","at":"never","actor":"x",'
    forged += '"operations":[{"op":"add","id":"m-%s",%s,"body":{"text":"%s"}}]}'
    lines = [
        forged % ("00000000aa", '"importance":7', "too much"),
        forged % ("00000000ab", '"expires":"soon"', "no time"),
        forged % ("00000000ac", '"importance":NaN', "no number"),
        '{"commit":9,"prev":"","at":"9999-99-99","actor":"x","operations":[{"op":"retire","id":"m-0000000000"}]}',
    ]
    with ledger(world.root).open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    now = fold(parse(ledger(world.root).read_bytes()))
    assert {record.text for record in now.visible().values()} == {"a line"}
    assert now.at == day(0) and len(now.senseless) == 3
