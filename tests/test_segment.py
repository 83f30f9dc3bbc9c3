"""Capture: any run as one line that JSON and UTF-8 can hold, redacted, and nothing twice of what the rollout holds."""

from __future__ import annotations

import dataclasses
import enum
import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.stages.segment import History, build_line, history_of, item_digest, jsonable, marks, repeated

NOW = datetime(2026, 9, 1, 9, tzinfo=timezone.utc)
DONE = {"terminal_state": "completed", "exception_type": None, "exception_message": None, "has_final_output": True}

Items = list[dict[str, Any]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content, **more}


def call(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", **more}


def output(id: str, text: str = "ok") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": text}


def build(inputs: Sequence[Any] = (), generated: Sequence[Any] = (), **more: Any) -> bytes:
    given = {"rollout_id": "r", "terminal": DONE, "agent": "A", "now": NOW, "segment": "abc", **more}
    return build_line(input_items=inputs, generated=generated, **given)


def line(*args: Any, **more: Any) -> dict[str, Any]:
    data = build(*args, **more)
    assert data.endswith(b"\n") and data.count(b"\n") == 1
    found = json.loads(data.decode("utf-8"))
    assert isinstance(found, dict)
    return found


# ---- the line


def test_the_keys_and_their_order() -> None:
    found = line([user("hi")], [said("ho")], interruptions=[call("1")], final_output={"a": 1})
    assert list(found) == [
        "updated_at",
        "rollout_id",
        "input",
        "generated_items",
        "interruptions",
        "terminal_metadata",
        "final_output",
        "segment",
        "agent",
    ]
    assert found["updated_at"] == "2026-09-01T09:00:00+00:00" and found["terminal_metadata"] == DONE
    assert list(line(agent=None)) == [
        "updated_at",
        "rollout_id",
        "input",
        "generated_items",
        "terminal_metadata",
        "segment",
    ]


def test_it_is_compact_utf8() -> None:
    data = build([user("会话 🚀")])
    assert "会话 🚀".encode() in data and b'": ' not in data


def test_what_is_no_part_of_the_conversation_is_left_out_and_new_kinds_are_kept() -> None:
    hidden = [
        {"role": "system", "content": "x"},
        {"role": "developer", "content": "x"},
        {"type": "reasoning", "summary": []},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "image_generation_call", "result": "x"},
    ]
    new = {"type": "brand_new_call", "data": 1}
    found = line([*hidden, user("hi")], [*hidden, new])
    assert (found["input"], found["generated_items"]) == ([user("hi")], [new])


def test_secrets_never_reach_the_line() -> None:
    secret = "hunter2horse"
    data = build(
        [user(f"my password is {secret}")],
        [
            call("1", arguments=json.dumps({"cmd": f"export DB_PASSWORD={secret}"})),
            output("1", f'{{"password": "{secret}"}}'),
        ],
        interruptions=[call("2", arguments=json.dumps({"password": secret}))],
        terminal={**DONE, "exception_message": f"password={secret}"},
        final_output={"password": secret},
        agent=f"password={secret}",
    )
    assert secret.encode() not in data and data.count("⟦secret:password⟧".encode()) == 7


@pytest.mark.parametrize("text", ["\ud83d", "a\udc80b", "\ud83d\ude00 as two", "\x00\x1f", "\u2028", "\ufffe"])
def test_text_that_utf8_cannot_say_survives(text: str) -> None:
    data = build([user(text)])
    data.decode("utf-8")
    again = json.loads(data)["input"][0]["content"]
    assert again.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


@pytest.mark.parametrize(
    ("last", "final", "kept"),
    [
        (said("done"), "done", False),
        (said("done"), "done.", True),
        ({"role": "assistant", "content": "done"}, "done", False),
        (said('{"a": 1, "b": [1.5, "é"]}'), {"b": [1.5, "é"], "a": 1}, False),
        (said('{"response": [1]}'), [1], False),
        (said('{"when": "2026-09-01"}'), {"when": date(2026, 9, 1)}, False),
        (said("1"), 1, False),
        (said("x"), None, False),
        (output("1"), "ok", True),
        (
            {"role": "assistant", "content": [{"type": "output_text", "text": t} for t in ("a", "b")]},
            "b",
            False,
        ),
    ],
)
def test_a_final_answer_is_stored_once(last: dict[str, Any], final: Any, kept: bool) -> None:
    assert ("final_output" in line([user("q")], [last], final_output=final)) is kept


# ---- any value


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Plain:
    when: datetime
    inner: Any = None


class Model(BaseModel):
    id: uuid.UUID
    amount: Decimal
    default: str = "stays"


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Unequal:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "unequal"


class BrokenModel(BaseModel):
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no")

    def __str__(self) -> str:
        return "broken"


ID = uuid.UUID(int=1)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (Model(id=ID, amount=Decimal("1.10")), {"id": str(ID), "amount": "1.10", "default": "stays"}),
        (Plain(NOW, Plain(NOW)), {"when": NOW.isoformat(), "inner": {"when": NOW.isoformat(), "inner": None}}),
        ([Colour.RED, Level.HIGH, Point(1, 2.5)], ["red", 3, [1, 2.5]]),
        ({1: {2, 1}, None: b"\xffa", Colour.RED: ()}, {"1": [1, 2], "None": "\ufffda", "red": []}),
        ([float("nan"), float("inf"), 1e300], ["nan", "inf", 1e300]),
        ([10**5000], [hex(10**5000)]),
        (PurePosixPath("a/b"), "a/b"),
        (timedelta(minutes=2), 120.0),
        (Broken(), "<Broken>"),
        ([Unequal()], ["unequal"]),
        (BrokenModel(), "broken"),
        (Plain, str(Plain)),
        (True, True),
    ],
)
def test_any_output_is_kept(value: Any, kept: Any) -> None:
    assert line(final_output=value)["final_output"] == kept


def test_what_goes_round_in_a_circle_ends() -> None:
    circle: list[Any] = []
    circle.append({"self": circle, "password": "hunter2horse"})
    assert b"hunter2horse" not in build(final_output=circle)
    nested: Any = "deep"
    for _ in range(5_000):
        nested = Plain(NOW, nested)
    line(final_output=nested)


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.binary(max_size=8),
        st.datetimes(),
        st.decimals(),
        st.uuids(),
        st.sampled_from([Colour.RED, Broken(), Plain(NOW), object]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers(), st.none()), inner, max_size=3),
    ),
    max_leaves=10,
)


@given(
    VALUES, st.lists(st.dictionaries(st.sampled_from(["role", "type", "content", "output", "x"]), VALUES), max_size=3)
)
def test_no_value_is_an_error(value: Any, items: Items) -> None:
    data = build(items, items, final_output=value, interruptions=[value])
    data.decode("utf-8")
    assert json.loads(data, parse_constant=pytest.fail)["segment"] == "abc"
    assert jsonable(jsonable(value)) == jsonable(value)
    assert len(parse_rollout(data, rollout_id="r", path="r").segments) == 1
    for item in items:
        assert item_digest(item) == item_digest(dict(item))


# ---- digests


def test_accounts_of_one_item_have_one_digest() -> None:
    assert item_digest(said("x")) == item_digest(said("x", id="msg_1", status=None, phase="final"))
    assert item_digest(said("x")) == item_digest({"role": "assistant", "content": "x"})
    assert item_digest(user("x")) == item_digest({"role": "user", "content": [{"type": "input_text", "text": "x"}]})
    assert item_digest(call("1")) == item_digest(
        {**call("1"), "id": "fc_1", "status": "completed", "provider_data": {"a": 1}}
    )
    assert item_digest(user("password=hunter2")) == item_digest(user("password=⟦secret:password⟧"))


def test_different_items_have_different_digests() -> None:
    items = [
        user("x"),
        said("x"),
        user("y"),
        call("1"),
        call("2"),
        call("1", arguments='{"a": 1}'),
        output("1"),
        output("1", "b"),
    ]
    assert len({item_digest(item) for item in items}) == len(items)


# ---- what a rollout holds already


class Recorder:
    """A rollout that is written as the pipeline writes it, and read back from its bytes before each run."""

    def __init__(self, tail: int = 1 << 20) -> None:
        self.data, self.tail = b"", tail

    def run(self, inputs: Items, generated: Items, *, resumed: bool = False, interrupted: bool = False) -> Items:
        """What was recorded of this run."""
        history = history_of(self.data[-self.tail :])
        old = repeated(history, marks([*inputs, *generated]), len(inputs), resumed=resumed)
        new = [item for n, item in enumerate(inputs) if n not in old]
        made = [item for n, item in enumerate(generated, len(inputs)) if n not in old]
        more = {"interruptions": [call("wait")]} if interrupted else {}
        self.data += build(new, made, segment=str(len(self.data)), **more)
        return [*new, *made]


def test_an_input_list_that_grows_is_recorded_once() -> None:
    recorder, history = Recorder(), []
    for turn in range(6):
        made = [said("let me see"), call(f"c{turn}"), output(f"c{turn}"), said("done")]
        assert recorder.run([*history, user("ok")], made) == [user("ok"), *made]
        history += [user("ok"), *made]


def test_so_is_one_of_which_only_the_end_is_known() -> None:
    recorder, history = Recorder(tail=3_000), []
    for turn in range(30):
        made = [call(f"c{turn}"), output(f"c{turn}"), said("done")]
        assert recorder.run([*history, user(f"q{turn % 3}")], made) == [user(f"q{turn % 3}"), *made]
        history += [user(f"q{turn % 3}"), *made]


def test_so_is_one_that_keeps_only_what_was_said() -> None:
    recorder, history = Recorder(), []
    for turn in range(5):
        made = [call(f"c{turn}"), output(f"c{turn}"), said(f"answer {turn}", id=f"msg_{turn}")]
        assert recorder.run([*history, user("go on")], made) == [user("go on"), *made]
        history += [user("go on"), {"role": "assistant", "content": f"answer {turn}"}]


def test_so_is_one_that_keeps_only_the_last_turns() -> None:
    recorder, history = Recorder(), []
    for turn in range(8):
        made = [call(f"c{turn}"), output(f"c{turn}"), said(f"answer {turn}")]
        assert recorder.run([*history, user(f"q{turn}")], made) == [user(f"q{turn}"), *made]
        history = [*history, user(f"q{turn}"), *made][-8:]


def test_instructions_in_the_input_do_not_disturb() -> None:
    recorder, rules = Recorder(), {"role": "system", "content": "be brief"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    recorder.run([rules, user("a")], [thought, said("b")])
    assert recorder.run([rules, user("a"), thought, said("b"), user("c")], [said("d")]) == [user("c"), said("d")]


def test_the_same_words_again_are_recorded_again() -> None:
    recorder = Recorder()
    for _ in range(3):
        assert recorder.run([user("ok")], [said("Done.")]) == [user("ok"), said("Done.")]
    assert recorder.run([user("ok"), user("ok")], []) == [user("ok"), user("ok")]


def test_what_a_user_said_and_nobody_recorded_is_recorded_though_a_known_answer_follows() -> None:
    recorder = Recorder()
    recorder.run([user("first")], [said("Done.")])
    new = [user("elsewhere"), said("Done."), user("second")]
    assert recorder.run(new, [said("x")]) == [*new, said("x")]


def test_examples_before_each_question_are_recorded_once() -> None:
    recorder = Recorder()
    shots = [user("2+2?"), said("4"), user("3+3?"), said("6")]
    for question in ("ok", "ok", "5+5?"):
        made = [said("yes")]
        found = recorder.run([*shots, user(question)], made)
        assert found[-2:] == [user(question), *made]
    assert [item["content"] for item in found if item["role"] == "user"] == ["5+5?"]


def test_a_question_that_was_asked_differently_is_new_and_what_was_before_it_is_not() -> None:
    recorder = Recorder()
    first = [user("a"), said("b")]
    recorder.run(first[:1], first[1:])
    recorder.run([*first, user("c")], [said("d")])
    assert recorder.run([*first, user("c, in German")], [said("e")]) == [user("c, in German"), said("e")]


def test_a_try_after_a_failure_repeats_the_message() -> None:
    recorder = Recorder()
    recorder.run([user("a")], [said("b")])
    recorder.run([user("a"), said("b"), user("c")], [])
    assert recorder.run([user("a"), said("b"), user("c")], [said("d")]) == [said("d")]


@pytest.mark.parametrize("session", [True, False])
@pytest.mark.parametrize("before", [[], [user("earlier"), said("Done.")]])
def test_approve_and_resume_repeats_nothing(session: bool, before: Items) -> None:
    """As the SDK does it: all that was generated since the run began comes again, with a session without the input."""
    recorder = Recorder()
    if before:
        recorder.run(before[:1], before[1:])
    made = [said("let me"), call("A"), call("B"), output("B")]
    asked = [user("please do")]
    first = asked if session else [*before, *asked]
    assert recorder.run(first, made, interrupted=True) == [*asked, *made]
    inputs = [] if session else first
    more = [output("A"), call("C")]
    assert recorder.run(inputs, [*made, *more], resumed=True, interrupted=True) == more
    rest = [output("C", "not approved"), said("let me"), said("Done.")]
    assert recorder.run(inputs, [*made, *more, *rest], resumed=True) == rest
    assert recorder.run([user("please do")], [said("Done.")]) == [user("please do"), said("Done.")]


def test_a_resumed_run_that_changed_the_order_repeats_nothing() -> None:
    recorder = Recorder()
    recorder.run([user("do")], [call("A"), call("B"), output("B")], interrupted=True)
    assert recorder.run([user("do")], [call("A"), output("A"), call("B"), output("B"), said("x")], resumed=True) == [
        output("A"),
        said("x"),
    ]


def test_a_resumed_run_repeats_a_message_that_nothing_had_answered() -> None:
    recorder = Recorder()
    recorder.run([user("do")], [], interrupted=True)
    assert recorder.run([user("do")], [call("A")], resumed=True) == [call("A")]


def test_a_run_that_is_no_resumption_of_the_interrupted_one_is_recorded_whole() -> None:
    recorder = Recorder()
    recorder.run([user("do")], [said("let me"), call("A")], interrupted=True)
    assert recorder.run([user("do")], [said("let me"), call("B")]) == [user("do"), said("let me"), call("B")]


def test_an_agent_whose_rollout_lacks_what_others_did_repeats_nothing() -> None:
    # In one run A handed over to B; each has its own layout, and the next run's input has the items of both.
    asked, of_a, of_b = [user("q")], [said("to B"), call("t")], [said("from B"), call("b"), output("b")]
    grown = [*asked, *of_a, *of_b, user("next")]
    for own in (of_a, of_b):
        recorder = Recorder()
        recorder.run(asked, own)
        found = recorder.run(grown, [said("x")])
        assert not [item for item in own if item in found] and asked[0] not in found
        assert found[-2:] == [user("next"), said("x")]


def test_history_is_the_same_in_memory_and_from_disk() -> None:
    history, data = History(), b""
    for turn, interrupted in enumerate((False, True, True, False)):
        items = [{"role": "system", "content": "x"}, user("password=hunter2"), call(f"c{turn}"), said("\ud83d")]
        more = {"interruptions": [call("w")]} if interrupted else {}
        data += build(items[:2], items[2:], segment=str(turn), **more)
        history = history.then(marks(items), interrupted=interrupted)
        assert history_of(data) == history
        assert bool(history.open) is interrupted
    assert history_of(b"half a line}\n" + data) == dataclasses.replace(history, whole=False)


def test_history_of_lines_of_the_sdk() -> None:
    sdk = json.dumps({"input": "password=hunter2", "generated_items": [said("b"), 5]}).encode() + b"\n"
    grown = [user("password=hunter2"), said("b"), user("c")]
    assert repeated(history_of(sdk), marks([*grown, said("d")]), len(grown), resumed=False) == {0, 1}


TURN = st.tuples(st.sampled_from(["ok", "go on", "no"]), st.lists(st.sampled_from(["say", "call"]), max_size=4))


def conversation(turns: Sequence[tuple[str, list[str]]]) -> list[tuple[dict[str, Any], Items]]:
    """Turns with few words, so that many are alike; calls have ids of their own, as models give them."""
    made: list[tuple[dict[str, Any], Items]] = []
    for number, (question, steps) in enumerate(turns):
        items: Items = []
        for place, step in enumerate(steps):
            id = f"c{number}.{place}"
            items += [said("working")] if step == "say" else [call(id), output(id)]
        made.append((user(question), [*items, said("Done.")]))
    return made


def flat(made: Sequence[tuple[dict[str, Any], Items]]) -> Items:
    return [item for question, items in made for item in (question, *items)]


def plain(data: bytes) -> Items:
    found: Items = []
    for entry in data.splitlines():
        payload: Mapping[str, Any] = json.loads(entry)
        found += [*payload["input"], *payload["generated_items"]]
    return found


@given(st.lists(TURN, min_size=1, max_size=6))
def test_a_growing_list_ends_with_every_item_once(turns: list[tuple[str, list[str]]]) -> None:
    recorder, history = Recorder(), []
    made = conversation(turns)
    for question, items in made:
        recorder.run([*history, question], items)
        history += [question, *items]
    assert plain(recorder.data) == flat(made)


@given(st.lists(TURN, min_size=1, max_size=6))
def test_with_a_session_every_item_is_there_once(turns: list[tuple[str, list[str]]]) -> None:
    recorder, made = Recorder(), conversation(turns)
    for question, items in made:
        recorder.run([question], items)
    assert plain(recorder.data) == flat(made)


@given(st.lists(TURN, min_size=1, max_size=4), st.booleans(), st.data())
def test_resumed_anywhere_every_item_is_there_once(
    turns: list[tuple[str, list[str]]], session: bool, data: st.DataObject
) -> None:
    recorder, history = Recorder(), []
    made = conversation(turns)
    for question, items in made:
        inputs = [question] if session else [*history, question]
        stops = sorted(data.draw(st.sets(st.integers(1, len(items)), max_size=3)) - {len(items)})
        for place, stop in enumerate([*stops, len(items)]):
            again = [] if session and place else inputs
            recorder.run(again, items[:stop], resumed=place > 0, interrupted=stop < len(items))
        history += [question, *items]
    assert plain(recorder.data) == flat(made)


@given(st.lists(TURN, min_size=1, max_size=5), st.lists(TURN, min_size=1, max_size=3), st.data())
def test_nothing_that_a_user_says_is_lost(
    turns: list[tuple[str, list[str]]], others: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    """Whatever list an application sends: a user's message that is left out stands in the rollout already."""
    recorder, history = Recorder(), []
    for question, items in conversation(turns):
        recorder.run([*history, question], items)
        history += [question, *items]
    sent = [*data.draw(st.permutations(flat(conversation(others)))), user("new")]
    before = [item["content"] for item in plain(recorder.data) if item.get("role") == "user"]
    found = recorder.run(sent, [said("x")])
    words, kept = ([item["content"] for item in items if item.get("role") == "user"] for items in (sent, found))
    left_out = words[: len(words) - len(kept)]
    assert words == [*left_out, *kept]
    assert found[-2:] == [user("new"), said("x")]
    place = 0
    for each in left_out:  # in the same order
        place = before.index(each, place) + 1
