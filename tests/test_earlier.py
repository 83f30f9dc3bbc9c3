"""One line as it was: put back by itself, whatever happened to it, and told with times that mean what they say."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from sandbox_memory import open_memory
from sandbox_memory.doors.cli.timeline import moments
from sandbox_memory.doors.plain import OpenMemory
from sandbox_memory.errors import LostUpdate, Unknown
from sandbox_memory.folding.past import as_of, face
from sandbox_memory.ledger import Commit, Ledger
from sandbox_memory.records import Record, Status
from sandbox_memory.state import State

from .editing import PORT, TABS, begun, consistent, drop, edit, record, settled
from .kit import EchoModel, agree, handbook, history, pipeline, process, tell, texts
from .test_undo import Life

DAY = timedelta(days=1)


def moved(root: Path) -> None:
    path = handbook(root)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (line,) = [each for each in lines if PORT in each]
    lines.remove(line)
    end = next(n for n, each in enumerate(lines) if each.startswith("<!-- memory:"))
    lines[end:end] = ["# Task Group: Elsewhere\n\n## Reusable knowledge\n\n", line, "\n"]
    path.write_text("".join(lines), encoding="utf-8")


def by_command(work: Callable[[OpenMemory, str], object]) -> Callable[[Path], None]:
    return lambda root: work(open_memory(root), record(root, PORT).id) and None


CHANGES: dict[str, Callable[[Path], None]] = {
    "other words": by_command(lambda memory, id: memory.revise(id, "the staging port is 9443")),
    "other words in the file": lambda root: edit(handbook(root), PORT, f"{PORT}, I think"),
    "typed over in the file": lambda root: edit(handbook(root), PORT, "lunch is at noon"),
    "another place": moved,
    "a pin": by_command(lambda memory, id: memory.pin(id)),
    "an importance": by_command(lambda memory, id: memory.revise(id, importance=0.1)),
    "an expiry": by_command(lambda memory, id: memory.revise(id, ttl=timedelta(days=400))),
    "all of these": lambda root: (
        open_memory(root).revise(record(root, PORT).id, "x", pinned=True, ttl=DAY, importance=0.2) and None
    ),
    "deleted": by_command(lambda memory, id: memory.delete(id)),
    "deleted in the file": lambda root: drop(handbook(root), PORT),
    "other words, then deleted": by_command(lambda memory, id: (memory.revise(id, "no port"), memory.delete(id))),
    "twice": by_command(lambda memory, id: (memory.revise(id, "one"), memory.revise(id, "two"))),
}


@pytest.mark.parametrize("how", sorted(CHANGES))
def test_a_line_becomes_what_it_was_and_stays_so(tmp_path: Path, how: str) -> None:
    root = begun("few", tmp_path / "workspace")
    old, number = record(root, PORT), len(history(root))
    CHANGES[how](root)
    memory = open_memory(root)
    before = memory.state()
    others = {
        id: each for id, each in before.visible().items() if id not in (old.id, before.records[old.id].superseded_by)
    }
    (back,) = memory.restore(f"^{old.id}", as_of=number)
    assert (face(back), back.evidence, back.trust) == (face(old), old.evidence, old.trust)
    assert back.protected and back.status is Status.ACTIVE and back.updated == len(history(root))
    assert {id: r for id, r in consistent(root).visible().items() if id in others} == others
    settled(root)

    def stands() -> None:
        now = consistent(root).visible()[old.id]
        assert (now.text, now.group, now.section, now.pinned) == (old.text, old.group, old.section, old.pinned)

    edit(handbook(root), TABS, f"{TABS}, please")
    tell(root, "the canary runs for an hour", rollout="other")
    process(root, EchoModel())
    process(root, EchoModel(), again=True)
    memory.rebuild()
    stands()
    memory.undo(back.updated)
    after = memory.state().records[old.id]
    assert (face(after), after.status) == (face(before.records[old.id]), before.records[old.id].status)
    memory.restore(old.id, as_of=number)
    stands()


def test_words_of_a_person_come_back_as_theirs_and_those_of_a_conversation_with_their_quotes(tmp_path: Path) -> None:
    root = begun("few", tmp_path / "workspace")
    said = record(root, PORT)
    memory = open_memory(root)
    mine = memory.revise(said.id, "the staging port is 7443")
    memory.revise(said.id, PORT)
    (back,) = memory.restore(said.id, as_of=mine.updated)
    assert (back.text, back.trust.label, back.evidence) == (mine.text, "hand", ())
    process(root, EchoModel(), again=True)
    assert PORT not in texts(root), "what it was made to say no more does not come back by itself"
    (back,) = memory.restore(said.id, as_of=said.created)
    assert back.evidence == said.evidence and back.evidence[0].quote == PORT
    assert memory.check().ok


@pytest.mark.parametrize(
    ("seed", "length", "trials"), [(5, 40, 20), *(pytest.param(n, 90, 90, marks=pytest.mark.proof) for n in (6, 7, 8))]
)
def test_over_a_random_history_any_line_becomes_what_it_was_at_any_commit(
    tmp_path: Path, seed: int, length: int, trials: int
) -> None:
    dice = random.Random(seed)
    life = Life(tmp_path / "workspace", dice).lived(length)
    done = 0
    for _ in range(trials):
        memory = life.memory()
        number = dice.randint(1, len(history(life.root)))
        lines = [each for each in as_of(history(life.root), number).records if memory.state().records[each.id].text]
        if not lines:
            continue
        was, before = dice.choice(lines), memory.state()
        before_it = {each.text for id, each in before.visible().items() if id != was.id}
        if was.text in before_it or same(was, before):
            with pytest.raises(Unknown, match=r"says now what it said then|says the same, and is in sight"):
                memory.restore(was.id, as_of=number)
            continue
        (back,) = memory.restore(was.id, as_of=number)
        done += 1
        ends = "" if was.expires and was.expires <= memory.state().at else was.expires
        assert face(back) == face(replace(was, expires=ends)) and back.id in memory.state().visible()
        rest = {id: each for id, each in memory.state().records.items() if id != was.id}
        assert rest == {id: each for id, each in before.records.items() if id != was.id}
        agree(life.root)
        commits = life.no_edit(life.root)
        if dice.random() < 0.5:
            memory.undo(commits)
            now, then = memory.state().records[was.id], before.records[was.id]
            assert (face(now), now.status, now.evidence) == (face(then), then.status, then.evidence)
        life.step()
    assert done >= trials // 4


def same(was: Record, before: State) -> bool:
    """True if a line says now what it said then, and rests on that at least."""
    now = before.visible().get(was.id)
    ends = "" if was.expires and was.expires <= before.at else was.expires
    return now is not None and face(replace(was, expires=ends)) == face(now) and {*was.evidence} <= {*now.evidence}


def test_what_cannot_be_put_back_is_told_with_what_to_do(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        first = memory.add("the staging port is 8443")
        memory.revise(first.id, "the staging port is 9443")
        changed = memory.state().ordinal
        memory.delete(first.id)
        gone = memory.state().ordinal
        memory.restore(first.id)
        second, never = memory.add("deploys go out on Tuesday"), "m-0123456789"
        call = f"`sandbox-memory restore {first.id} --as-of {first.created}`"
        for ids, when, said in (
            ([second.id], first.created, f"was not there then: commit {second.created} brought it"),
            ([second.id], first.created, f"`sandbox-memory delete {second.id}` takes it out"),
            ([first.id], gone, f"was out of sight then; {call} puts back “the staging port is 8443”"),
            ([first.id], changed, f"says now what it said then: “the staging port is 9443”; {call} puts back"),
            ([first.id, never], first.created, f"{never} is no record; `sandbox-memory show --all`"),
            ([first.id], 99, "there is no commit 99"),
            ([first.id], "2001-01-01", "nothing was remembered yet"),
        ):
            with pytest.raises(Unknown, match=re.escape(said)):
                memory.restore(*ids, as_of=when)
        with pytest.raises(Unknown, match=re.escape(f"{first.id} is in sight already; {call} puts back")):
            memory.restore(first.id)
        with pytest.raises(Unknown, match="is in sight already, and never said anything else"):
            memory.restore(second.id)
        third = memory.add("the staging port is 8443")
        with pytest.raises(Unknown, match=f"need not be put back: {third.id} says the same"):
            memory.restore(first.id, as_of=first.created)
        memory.delete(third.id)
        with pytest.raises(LostUpdate):
            memory.restore(first.id, as_of=first.created, expected_version=1)
        version = memory.state().records[first.id].version
        memory.restore(first.id, as_of=first.created, expected_version=version)
        assert [each.record.text for each in memory.wordings(first.id)] == ["the staging port is 9443"]


def test_a_line_that_another_took_the_place_of_is_named(tmp_path: Path) -> None:
    root = begun("few", tmp_path / "workspace")
    old, number = record(root, PORT), len(history(root))
    edit(handbook(root), PORT, "lunch is at noon")
    memory = open_memory(root)
    new = next(each for each in memory.records() if each.text == "lunch is at noon")
    assert new.id != old.id
    call = f"in place of “{PORT}”; `sandbox-memory restore {old.id} --as-of {number}` puts that back"
    with pytest.raises(Unknown, match=re.escape(call)):
        memory.restore(new.id, as_of=number)


def test_what_has_expired_comes_back_to_stay_and_only_where_it_was_in_sight(tmp_path: Path) -> None:
    clock = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    memory = OpenMemory(pipeline(tmp_path, now=lambda: clock[0]))
    made = memory.add("the office is closed", ttl=DAY)
    clock[0] += 3 * DAY
    assert memory.records() == []
    with pytest.raises(Unknown, match="was out of sight then"):
        memory.restore(made.id, as_of=clock[0])
    (back,) = memory.restore(made.id, as_of="2026-01-01")
    assert back.expires == "" and [each.id for each in memory.records()] == [made.id]


def test_words_that_were_forgotten_are_not_put_back(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        line = memory.add("the code of the door is on the note")
        secret = memory.revise(line.id, "the code of the door is four bananas")
        memory.revise(line.id, "ask the porter for the door")
        memory.forget(text="four bananas")
        assert "bananas" not in (tmp_path / "memories" / "ledger.jsonl").read_text(encoding="utf-8")
        with pytest.raises(Unknown, match=f"what {line.id} said then is forgotten, and stays so"):
            memory.restore(line.id, as_of=secret.updated)
        assert "" not in [each.record.text for each in memory.wordings(line.id)]
        memory.forget(line.id)
        with pytest.raises(Unknown, match="is forgotten: its words are erased"):
            memory.restore(line.id, as_of=line.created)


def test_a_line_that_a_forgetting_only_wrote_down_anew_has_not_changed(tmp_path: Path) -> None:
    """Else it would be younger than it is, and be told to have been deleted when the other one was forgotten."""
    clock = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    memory = OpenMemory(pipeline(tmp_path, now=lambda: clock[0]))
    port, tabs = memory.add("my daughter is called Rosalind Vane"), memory.add("she is called Rosalind Vane by all")
    memory.revise(port.id, PORT)
    memory.revise(tabs.id, TABS)
    memory.delete(tabs.id)
    name = memory.add("my daughter is called Rosalind Vane")
    clock[0] += 30 * DAY
    before = memory.state().records
    assert name.id in before
    memory.forget(text="Rosalind Vane")
    assert "restate" in {each["op"] for commit in memory.history() for each in commit["operations"]}
    memory = OpenMemory(pipeline(tmp_path, now=lambda: clock[0]))  # folded anew, from what is left of the history
    for id in (port.id, tabs.id):
        old, now = before[id], memory.state().records[id]
        assert (now.text, now.status, now.updated_at, now.version) == (
            old.text,
            old.status,
            old.updated_at,
            old.version,
        )


def ledger_of(*times: datetime) -> Ledger:
    return Ledger(tuple(Commit(n, at.isoformat(timespec="milliseconds"), "cli", ()) for n, at in enumerate(times, 1)))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/St_Johns", "Asia/Kathmandu"])
def test_a_time_that_is_told_of_a_commit_means_that_commit(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        dice, at = random.Random(zone), datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
        times = []
        for _ in range(400):
            at += timedelta(milliseconds=dice.choice([1, 7, 400, 999, 1000, 20_000, 59_999, 60_000, 4_000_000]))
            times.append(at)
        ledger = ledger_of(*times)
        told = moments(ledger.commits)
        assert [as_of(ledger, told[n]).commit for n in told] == list(range(1, 401))
        assert {len(each) for each in told.values()} == {16, 19, 23}, "no finer than it needs to be"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_clock_that_was_set_back_is_told_as_it_was() -> None:
    noon = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
    ledger = ledger_of(noon, noon - DAY, noon, noon + DAY)
    assert set(moments(ledger.commits)) == {1, 2, 3, 4}
    assert as_of(ledger, moments(ledger.commits)[4]).commit == 4


def test_what_a_record_was_is_read_from_the_ledger_alone(tmp_path: Path) -> None:
    """Also of commits that something else wrote: they count for nothing here too."""
    root = begun("few", tmp_path / "workspace")
    memory, old = open_memory(root), record(root, PORT)
    memory.pin(old.id)
    memory.revise(old.id, "one")
    memory.revise(old.id, PORT)
    found = memory.wordings(old.id)
    assert [(each.record.text, each.record.pinned) for each in found] == [(PORT, False), ("one", True)]
    for each in found:
        then: dict[str, Record] = {record.id: record for record in as_of(history(root), each.commit).records}
        assert face(then[old.id]) == face(each.record)
