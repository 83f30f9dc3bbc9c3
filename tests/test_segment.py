"""Capture: any run as one line that JSON and UTF-8 can hold, redacted."""

from __future__ import annotations

import dataclasses
import enum
import json
import uuid
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.rollouts.history import item_digest
from sandbox_memory.rollouts.values import jsonable
from sandbox_memory.stages.segment import build_line

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
