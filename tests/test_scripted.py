from __future__ import annotations

import asyncio

import pytest
from agents import Runner

from .scripted import Scripted, calls, plain, refuses, says


def ask(model: Scripted, text: str = "q") -> list[object]:
    answer = asyncio.run(model.get_response("sys", text, None, [], None, [], None))  # type: ignore[arg-type]
    return list(answer.output)


def test_steps_come_in_order_and_the_last_one_again() -> None:
    model = Scripted("one", [calls("f", x=1), says("two")], "three")
    assert [item.type for item in ask(model)] == ["message"]  # type: ignore[attr-defined]
    call, text = ask(model)
    assert call.arguments == '{"x": 1}' and text.content[0].text == "two"  # type: ignore[attr-defined]
    assert [ask(model)[0].content[0].text for _ in range(2)] == ["three", "three"]  # type: ignore[attr-defined]
    assert len(model.seen) == 4 and model.seen[0]["system"] == "sys"


def test_a_step_may_raise_or_be_computed_from_the_request() -> None:
    async def later(request: dict[str, object]) -> str:
        return f"you said {request['input']}"

    model = Scripted(RuntimeError("down"), later, refuses("no"))
    with pytest.raises(RuntimeError, match="down"):
        ask(model)
    assert ask(model, "hello")[0].content[0].text == "you said hello"  # type: ignore[attr-defined]
    assert ask(model)[0].content[0].type == "refusal"  # type: ignore[attr-defined]


def test_it_streams_what_it_answers() -> None:
    async def go() -> object:
        result = Runner.run_streamed(plain("hi"), "q")
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(go()) == "hi"
