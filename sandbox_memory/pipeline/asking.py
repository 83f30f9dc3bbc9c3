"""Asking a model until its answer can be used: bounded in tries and in time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..errors import ModelError
from ..governance.redaction import redact
from ..models import Model, Request
from ..records import Usage

T = TypeVar("T")
V = TypeVar("V")


@dataclass(frozen=True)
class Limits:
    """How hard to try. `deadline` is on the event loop's clock, None for no limit; delays are in seconds.

    At most `concurrency` rollouts are extracted at once, and requests of no more than `in_flight` tokens are under way:
    four of the largest, so that many long transcripts keep within the tokens a minute that providers allow.
    """

    attempts: int = 3
    retry_delay: float = 0.5
    concurrency: int = 10
    deadline: float | None = None
    extra_prompt: str | None = None
    in_flight: int = 600_000


async def ask(
    model: Model,
    request: Request[Any],
    verify: Callable[[Any], V],
    limits: Limits,
    doubt: Callable[[V], str] = lambda value: "",
) -> tuple[V, Usage]:
    """Ask until an answer verifies, at most `limits.attempts` times with growing pauses.

    Where `doubt` says what is wrong with what verified, that is told to the model, once; what it answers then is taken
    if it verifies. Nothing is sent that redaction finds a secret in, wherever it came from. Raises the last
    `ModelError`; one that is not retryable at once. Its `spent` is what all the tries cost.
    """
    request = replace(request, instructions=redact(request.instructions), input=redact(request.input))
    usage = Usage()
    last: ModelError | None = None
    for attempt in range(limits.attempts):
        if attempt:
            pause = limits.retry_delay * 2 ** (attempt - 1)
            if limits.deadline is not None and asyncio.get_running_loop().time() + pause >= limits.deadline:
                break
            await asyncio.sleep(pause)
        try:
            answer = await _before(limits.deadline, model.answer(request))
            usage += answer.usage
            value = verify(answer.value)
            if told := doubt(value):
                value, spent = await _once_more(model, request, verify, limits, told, value)
                usage += spent
            return value, usage
        except ModelError as error:
            usage += Usage(*error.spent)
            last, error.attempts = error, attempt + 1
            if not error.retryable:
                break
    assert last is not None
    last.spent = usage.requests, usage.input_tokens, usage.output_tokens
    raise last


async def _once_more(
    model: Model, request: Request[Any], verify: Callable[[Any], V], limits: Limits, told: str, value: V
) -> tuple[V, Usage]:
    """The value of a second answer, to a request that says what was wrong with the first; that one if it is no use."""
    spent = Usage()
    try:
        answer = await _before(limits.deadline, model.answer(replace(request, input=f"{request.input}\n{told}")))
        spent = answer.usage
        return verify(answer.value), spent
    except ModelError as error:
        return value, spent + Usage(*error.spent)


async def _before(deadline: float | None, work: Awaitable[T]) -> T:
    """The result of `work`, or a `ModelError` if it is not there by the deadline, or was cancelled from within.

    It is a task of its own: a model that does not obey when it is cancelled is left alone, and its answer unheard.
    """
    task = asyncio.ensure_future(work)
    left = None if deadline is None else max(deadline - asyncio.get_running_loop().time(), 0.001)
    try:
        await asyncio.wait({task}, timeout=left)
    finally:
        in_time = task.done()
        if not in_time:
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
            task.cancel()
    if not in_time:
        raise ModelError("the model did not answer before the session's close had to end", retryable=False)
    if task.cancelled():
        raise ModelError("the call of the model was cancelled")
    return task.result()
