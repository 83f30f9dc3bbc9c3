"""What memory saves is counted by rules: what they find, and above all what they do not take for an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bpe_openai", reason="the benchmarks count tokens with bpe-openai")

from benchmarks import costs, played, twice
from benchmarks.__main__ import main
from benchmarks.answered import (
    Line,
    Memory,
    Tools,
    answer,
    covered,
    firsts_tell,
    has_value,
    names_way,
    tells_cure,
    tells_error,
)
from benchmarks.kit import clean_room

SHARED = Path(__file__).parents[2] / "shared" / "data" / "rollouts" / "airline"
MEMBER = '{"name": "Ana", "rentals": ["RX4471", "RX4472"], "cards": ["card_9001"], "state": "basic_member"}'


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def call(name: str, output: str, *, id: str = "one", **arguments: Any) -> list[dict[str, Any]]:
    return [
        {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)},
        {"type": "function_call_output", "call_id": id, "output": output},
    ]


def extend(days: int, output: str) -> list[dict[str, Any]]:
    return call("extend_rental", output, rental_id="RX4472", days=days, payment=[{"card_id": "card_9001"}])


FIRST = [
    said("Hi, I need my rental for longer. I don’t remember the rental ID, sorry."),
    said("It's ana_7."),
    *call("find_member", MEMBER, member_id="ana_7"),
    *call("get_rental", '{"bike": "BK300", "until": "2031-07-02"}', rental_id="RX4472"),
    said("Nine more days, please. I'd like to use the card with the smallest limit, and I don't want a child seat."),
    *extend(9, "Error: the extension is too long, at most 7 days, asked 9"),
    *extend(7, '{"until": "2031-07-09"}'),
]
SECOND = [
    said("I'd like to keep my bike. But I'm not sure about my rental ID at the moment."),
    said("My member ID is ana_7. I am not sure about the rental ID at all."),
    *call("find_member", MEMBER, member_id="ana_7"),
    *call("get_rental", '{"bike": "BK300", "until": "2031-07-02"}', rental_id="RX4471"),
    *call("get_rental", '{"bike": "BK301", "until": "2031-07-04"}', rental_id="RX4472"),
    said("Eight days. As I said, no seat for my daughter. Please use the card with the smallest limit."),
    *extend(8, "Error: the extension is too long, at most 7 days, asked 8"),
    *extend(6, '{"until": "2031-07-10"}'),
    said("Thank you, no problem!"),
]


def write(path: Path, items: list[dict[str, Any]]) -> Path:
    """A rollout file with a line for each thing that the user said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    segments: list[dict[str, Any]] = []
    for item in items:
        if item.get("role") == "user":
            at = f"2031-06-01T10:{len(segments):02}:00.000000Z"
            segments.append({"updated_at": at, "rollout_id": path.stem, "input": [item], "generated_items": []})
        else:
            segments[-1]["generated_items"].append(item)
    path.write_text("".join(json.dumps(segment) + "\n" for segment in segments), encoding="utf-8")
    return path


@pytest.fixture
def bikes(tmp_path: Path) -> Path:
    """A folder in which one task was tried twice, and another once."""
    folder = tmp_path / "bikes"
    write(folder / "sessions" / "bike-trial0.jsonl", FIRST)
    write(folder / "sessions" / "bike-trial1.jsonl", SECOND)
    write(folder / "sessions" / "other-trial0.jsonl", FIRST)
    write(folder / "sessions" / "notes.jsonl", FIRST)
    return folder


@pytest.fixture
def pair(bikes: Path) -> tuple[twice.Conversation, twice.Conversation]:
    (both,) = twice.held_twice(bikes)
    return both


def events_of(pair: tuple[twice.Conversation, twice.Conversation], kind: str) -> list[twice.Event]:
    arguments = frozenset(name for names in twice.takes(pair).values() for name in names)
    return [event for event in twice.events(pair[1], arguments) if event.kind == kind]


def test_conversations_are_paired_by_their_names(bikes: Path) -> None:
    write(bikes / "more" / "bike-trial2.jsonl", SECOND)
    pairs = [(first.path.name, second.path.name) for first, second in twice.held_twice(bikes)]
    assert pairs == [("bike-trial0.jsonl", "bike-trial1.jsonl"), ("bike-trial0.jsonl", "bike-trial2.jsonl")]


def test_an_output_belongs_to_the_call_before_it(tmp_path: Path) -> None:
    items = [said("go"), *call("one", "first", id="again"), *call("two", "Error: second", id="again")]
    steps = twice.read(write(tmp_path / "a.jsonl", items)).calls
    assert [(step.tool, step.text, step.error) for step in steps] == [
        ("one", "first", ""),
        ("two", "Error: second", "Error: second"),
    ]


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("Error: no seats", "Error: no seats"),
        ('{"error": "no seats"}', "no seats"),
        ('{"error": null, "seats": 3}', ""),
        ('{"note": "an error was fixed"}', ""),
        ("No errors were found", ""),
        ("255.0", ""),
    ],
)
def test_what_a_failed_call_says(output: str, error: str) -> None:
    assert twice.failure(output) == error


def test_what_happened_in_the_second(pair: tuple[twice.Conversation, twice.Conversation]) -> None:
    (lacked,) = events_of(pair, twice.LACKED)
    assert lacked.text == "But I'm not sure about my rental ID at the moment.", "it is counted once"
    assert lacked.argument == "rental_id"
    found = {(event.tool, event.argument, *event.values) for event in events_of(pair, twice.FOUND)}
    assert found == {("find_member", "rental_id", "RX4472"), ("find_member", "card_id", "card_9001")}
    (error,) = events_of(pair, twice.ERROR)
    assert error.error == ("the", "extension", "is", "too", "long")
    assert error.changed == {"days"}
    assert [event.text for event in events_of(pair, twice.CORRECTION)] == [
        "As I said, no seat for my daughter.",
        "Please use the card with the smallest limit.",
    ]


def test_what_is_never_found_is_told(tmp_path: Path, pair: tuple[twice.Conversation, twice.Conversation]) -> None:
    second = twice.read(write(tmp_path / "c.jsonl", SECOND[:2]), "bike", 1)
    (lacked,) = events_of((pair[0], second), twice.LACKED)
    assert lacked.text.endswith("(never found)")


@pytest.mark.parametrize(
    ("line", "lacked", "found"),
    [
        ("to find the `rental_id`: `find_member` by `member_id` shows it under `rentals`", True, True),
        ("`find_member` shows the rental IDs of a member", True, True),
        ("`find_member` does not show the `rental_id`", False, False),
        ("`find_members` shows the `rental_id`", False, False),
        ("`find_member` shows the `card_id`", False, False),
        ("the customer knows the `rental_id`", False, False),
        ("`get_rental` by `rental_id` shows the bike", False, False),  # it asks for what is looked for
        ("`extend_rental` failed; worked with another `rental_id`", False, False),
        ("`list_bikes` shows the `rental_id`", False, False),  # nothing shows that it does
    ],
)
def test_when_a_line_answers_a_look_up(
    line: str, lacked: bool, found: bool, pair: tuple[twice.Conversation, twice.Conversation]
) -> None:
    tools = Tools.of(pair)
    (one,) = events_of(pair, twice.LACKED)
    (other,) = (event for event in events_of(pair, twice.FOUND) if event.argument == "rental_id")
    assert (names_way(one, Line(line), tools), names_way(other, Line(line), tools)) == (lacked, found)


def test_a_value_stands_under_the_account(pair: tuple[twice.Conversation, twice.Conversation]) -> None:
    tools = Tools.of(pair)
    (event,) = (event for event in events_of(pair, twice.FOUND) if event.argument == "rental_id")
    right = Line("ana_7: my bike is on RX4472")
    wrong = [Line("my bike is on RX4472"), Line("ana_7: it is on RX4471"), Line("bob_8: my bike is on RX4472")]
    assert answer(event, [*wrong, right], has_value, tools) is right
    assert answer(event, wrong, has_value, tools) is None


@pytest.mark.parametrize(
    ("line", "error", "cure"),
    [
        ('`extend_rental` failed: "Error: the extension is too long"; worked with another `days`', True, True),
        ('`extend_rental` failed: "Error: the extension is too long, at most 7 days"', True, True),
        ('`extend_rental` failed: "Error: the extension is too long"; worked with another `payment`', True, False),
        ('`extend_rental` failed: "Error: the extension is too short"; worked with another `days`', False, False),
        ('`book_rental` failed: "Error: the extension is too long"; worked with another `days`', False, False),
        ("`extend_rental`: is the extension too long? another `days`", False, False),
        ("`extend_rental` worked with `days` 7", False, False),
    ],
)
def test_when_a_line_answers_an_error(
    line: str, error: bool, cure: bool, pair: tuple[twice.Conversation, twice.Conversation]
) -> None:
    tools = Tools.of(pair)
    (event,) = events_of(pair, twice.ERROR)
    assert (tells_error(event, Line(line), tools), tells_cure(event, Line(line), tools)) == (error, cure)


def test_the_values_of_an_error_are_left_out(pair: tuple[twice.Conversation, twice.Conversation]) -> None:
    assert twice.error_words("Error: bike BK300 is not free on 2031-07-09") == ("bike", "is", "not", "free", "on")
    assert twice.error_words("Error: failed, payment of 30 is not enough, 12 more") == (
        "payment",
        "of",
        "is",
        "not",
        "enough",
    )


@pytest.mark.parametrize(
    ("clause", "line", "answers"),
    [
        ("Please use the card with the smallest limit.", "I want to use the card with the smallest limit", True),
        ("since I don't want to ride before 11am", "I do not want to ride before 11 AM", True),
        ("Please use the card with the smallest limit.", "I want to use the card with the largest limit", False),
        ("I don't want a red helmet.", "I want a red helmet", False),
        ("I want to ride before 11am", "I want to ride before 10 AM", False),
        ("I want to ride after 11am", "I want to ride before 11 AM", False),
        ("I want no helmet on my way home.", "I want no helmet", False),  # not all of it
        ("I don't want insurance.", "without insurance or a doctor's note, a late return costs the deposit", False),
    ],
)
def test_when_a_line_answers_a_correction(clause: str, line: str, answers: bool) -> None:
    assert covered(clause, line) is answers


def test_what_one_customer_said_answers_only_them(pair: tuple[twice.Conversation, twice.Conversation]) -> None:
    tools = Tools.of(pair)
    event = events_of(pair, twice.CORRECTION)[1]
    text = "use the card with the smallest limit"
    lines = {
        "ana": Line(f"ana_7: {text}", own=True),
        "bob": Line(f"bob_8: {text}", own=True),
        "somebody": Line(text, own=True),
        "everybody": Line(text),
    }
    by = {name for name, line in lines.items() if answer(event, [line], costs.QUESTIONS[-1].rule, tools)}
    assert by == {"ana", "everybody"}
    before = events_of(pair, twice.LACKED)[0]
    assert "ana_7" not in before.known, "the account is said only after that"
    assert "ana_7" in event.known


def test_what_a_search_shows() -> None:
    lines = (
        Line("`extend_rental` failed: too long", "Keep a rental"),
        Line("ana_7: I don't want a helmet", "Keep a rental", own=True),
        Line("bob_8: I keep every rental", "Return a bike", own=True),
    )
    memory = Memory((), lines)
    assert memory.by_account(frozenset({"ana_7"})) == (lines[1],)
    assert memory.by_words("I'd like to keep my rental for longer") == lines
    assert memory.by_words("I'd like to keep it") == ()


def test_what_trial_0_could_have_told(pair: tuple[twice.Conversation, twice.Conversation]) -> None:
    first, _ = pair
    told = {
        (question.name, event.text): firsts_tell(event, question.rule, first, [first])
        for question in costs.QUESTIONS
        for event in events_of(pair, question.kind)
    }
    names = [question.name for question in costs.QUESTIONS]
    assert not told.pop((names[-1], "As I said, no seat for my daughter.")), "it was said in other words"
    assert all(told.values())
    assert not any(
        firsts_tell(event, question.rule, twice.Conversation(first.path, "", 0, ()), [])
        for question in costs.QUESTIONS
        for event in events_of(pair, question.kind)
    )


@pytest.fixture(scope="module")
def demo() -> Iterator[played.Played]:
    with clean_room() as folder:
        yield played.played(folder)


def test_the_demo_is_weighed_request_by_request(demo: played.Played) -> None:
    assert demo.second.calls < demo.without.calls <= demo.first.calls
    assert demo.third.calls == demo.second.calls
    assert demo.second.read < demo.without.read
    assert 0 < demo.second.written < demo.without.written
    part = demo.second.system - demo.without.system
    assert 100 < part < 1_000, "that much of the prompt is memory's"
    assert demo.writing.calls == 2, "an extraction and a consolidation"
    assert demo.pair.calls == demo.pair_without.calls
    assert demo.pair.read == pytest.approx(demo.pair_without.read, rel=0.01), "nothing is remembered in one session"


def test_events_and_figures_of_other_data(
    bikes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: played.Played
) -> None:
    monkeypatch.setattr(costs, "played", lambda folder: demo)
    assert main(["--tiny", "--json", "--only", "costs", "--data", str(bikes)]) == 0
    rows = json.loads(capsys.readouterr().out)["figures"]["costs"]
    asked = {row["what"]: row for row in rows[6:]}
    assert list(asked) == [question.name for question in costs.QUESTIONS]
    assert [row["unit"] for row in asked.values()] == ["of 1", "of 2", "of 2", "of 1", "of 1", "of 2"]
    error = asked["error of a tool"]
    assert error["ours"] == 1
    assert error["lines"][0] == "bike: extend_rental: Error: the extension is too long, at most 7 days, asked 8"
    assert "extend_rental" in error["lines"][1] and "the extension is too long" in error["lines"][1]
    assert main(["--tiny", "--only", "costs", "--data", str(bikes)]) == 0
    out = capsys.readouterr().out
    assert f"  {error['lines'][0]}\n" in out, "events are printed below the table"
    assert main(["--tiny", "--markdown", "--only", "costs", "--data", str(bikes)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[2].startswith("| first run | ")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[table.index("") + 1 :]]
    assert cells[0][:3] == ["trial 1 of 1 tasks", "all", "in trial 0 too"]
    assert {len(row) for row in cells} == {7}
    assert cells[5][:4] == ["error of a tool", "1", "1", "1"]


def test_without_such_conversations_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: played.Played
) -> None:
    monkeypatch.setattr(costs, "played", lambda folder: demo)
    for folder in (tmp_path, tmp_path / "not-there"):
        assert main(["--tiny", "--json", "--only", "costs", "--data", str(folder)]) == 0
        out, err = capsys.readouterr()
        assert len(json.loads(out)["figures"]["costs"]) == 6
        assert str(folder) in err.replace("\n", "") and "--data" in err  # a long path is wrapped
    for arguments in (["--markdown"], ["--only", "close", "--data", str(tmp_path)]):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2


@pytest.mark.skipif(not SHARED.is_dir(), reason="the sample conversations are not beside the project")
def test_on_the_samples_no_answer_is_anothers(tmp_path: Path) -> None:
    with clean_room():
        count = costs._ask(costs.Sizes(1), tmp_path, lambda what: None, SHARED)
    answers = [(each.event, line) for asked in count.asked.values() for each in asked for line in each.lines if line]
    assert answers
    for event, line in answers:
        assert not line.account or line.account in event.known
    for each in count.asked["correction, wish or limit"]:
        assert each.lines[0] is None, "what a customer said of themselves is not injected"
