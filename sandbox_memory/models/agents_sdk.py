"""A model call through the Agents SDK: one agent, with the caller's provider, tracing and headers.

Its only tool is the request's `Lookup`, if there is one, which reads and never writes.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

import openai
from agents import (
    Agent,
    AgentOutputSchema,
    AgentOutputSchemaBase,
    FunctionTool,
    ModelResponse,
    ModelSettings,
    RunConfig,
    RunHooks,
    Runner,
    RunResult,
)
from agents import Model as SdkModel
from agents.exceptions import (
    MaxTurnsExceeded,
    ModelBehaviorError,
    ModelRefusalError,
    ModelTimeoutError,
    UserError,
)
from pydantic import BaseModel, ValidationError

from ..errors import ModelError, NoUsableModel
from ..governance.redaction import redact, redact_value
from ..records import Usage
from . import Answer, Lookup, Request, T

MAX_TURNS = 3
"""Turns of one call that read nothing, however many are allowed: one that stays empty is not asked 500 times."""
OBJECTS = 500
"""At how many braces of an answer that is no JSON an object is looked for."""
ADVICE = (
    'set the key and name that its provider needs, or use phase_one_model="offline" and phase_two_model="offline", '
    "which need neither key nor network"
)
_TRACING = ("tracing_disabled", "tracing", "trace_include_sensitive_data", "group_id", "trace_metadata")
_TOLD = ("group_id", "trace_metadata")
"""What of tracing stands in traces, and may hold a secret: the id of a conversation can be one."""
_TRANSPORT = ("extra_headers", "extra_query", "extra_body", "store", "metadata", "retry")
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_TOOLS_STATUS = frozenset({400, 404, 422, 501})
_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})


class AgentsModel:
    """Answers requests by `Runner.run`, with anything that `Agent(model=…)` takes.

    `settings` are the agent's. From the caller's `run_config` it takes the model provider, tracing, and headers and the
    like of its model settings; never its sandbox, session, guardrails, handoffs or filters. `timeout` is in seconds.
    One turn is an answer; an empty one is asked for again, up to `max_turns`, 3 at most. A request's lookup may take as
    many turns more as it may be read; it is not offered where `max_turns` is 1, nor again to a model without tools.
    """

    def __init__(
        self,
        model: str | SdkModel,
        settings: ModelSettings | Mapping[str, Any] | None = None,
        *,
        run_config: RunConfig | None = None,
        max_turns: int | None = None,
        timeout: float | None = None,
    ) -> None:
        self._model = model
        self._settings = ModelSettings(**settings) if isinstance(settings, Mapping) else settings
        self._run_config = _own(run_config)
        self._allowed = max_turns
        self._max_turns = MAX_TURNS if max_turns is None else min(max_turns, MAX_TURNS)
        self._takes_tools = self._max_turns > 1
        self._timeout = timeout

    @property
    def name(self) -> str:
        """The model's name, or the class of a model object that has none."""
        if isinstance(self._model, str):
            return self._model
        name = getattr(self._model, "model", None)
        return name if isinstance(name, str) and name else type(self._model).__name__

    async def answer(self, request: Request[T]) -> Answer[T]:
        """One answer. Raises `NoUsableModel` for a missing key or an unknown name, and `ModelError` for all else."""
        lookup, turns = request.lookup if self._takes_tools else None, self._max_turns
        if lookup is not None:
            turns += lookup.most if self._allowed is None else min(lookup.most, self._allowed - turns)
        try:
            result = await asyncio.wait_for(self._run(request, lookup, turns), self._timeout)
        except Exception as error:  # a model, its provider and its client are foreign code
            if lookup is not None and _wants_no_tools(error):
                self._takes_tools = False
                return await self.answer(request)
            failure = self._failure(error, self._max_turns if isinstance(error, _Silent) else turns)
            failure.spent = _spent(error)
            raise failure from error
        if not isinstance(result.final_output, request.output_type):
            raise ModelError(f"{self.name} answered a {type(result.final_output).__name__}, not what was asked for")
        used = result.context_wrapper.usage
        return Answer(result.final_output, Usage(used.requests, used.input_tokens, used.output_tokens))

    async def _run(self, request: Request[T], lookup: Lookup | None, turns: int) -> RunResult:
        options: dict[str, Any] = {} if self._settings is None else {"model_settings": self._settings}
        if lookup is not None:
            options["tools"] = [_tool(lookup)]
        agent = Agent(
            name=f"sandbox-memory-{request.task}",
            instructions=request.instructions,
            model=self._model,
            output_type=LenientJson(request.output_type),
            **options,
        )
        hooks = _Patience(self._max_turns)
        return await Runner.run(agent, request.input, max_turns=turns, run_config=self._run_config, hooks=hooks)

    def _failure(self, error: Exception, turns: int) -> ModelError:
        name = self.name
        if isinstance(error, (TimeoutError, asyncio.TimeoutError, openai.APITimeoutError, ModelTimeoutError)):
            return ModelError(f"{name} timed out")
        if isinstance(error, ModelRefusalError):
            return ModelError(f"{name} refused: {_short(error)}")
        if isinstance(error, (MaxTurnsExceeded, _Silent)):
            return ModelError(f"{name} gave no answer within {turns} turns")
        if isinstance(error, ModelBehaviorError):
            return ModelError(f"{name} misbehaved: {_short(error)}")
        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)):
            return NoUsableModel(f"{name} cannot be used ({error.status_code}); {ADVICE}")
        if isinstance(error, openai.APIStatusError):
            retryable = error.status_code >= 500 or error.status_code in _RETRYABLE_STATUS
            return ModelError(f"{name} failed with status {error.status_code}: {_short(error)}", retryable=retryable)
        if isinstance(error, openai.APIConnectionError):
            return ModelError(f"{name} cannot be reached: {_short(error.__cause__ or error)}")
        if isinstance(error, (UserError, openai.OpenAIError, ImportError)):
            return NoUsableModel(f"{name} cannot be used: {_short(error)}; {ADVICE}")
        return ModelError(f"{name} failed: {type(error).__name__}: {_short(error)}")


class _Silent(Exception):
    """A model said nothing, in as many turns as it is given for that."""


class _Patience(RunHooks[Any]):
    """Ends a run in which a model neither answers nor reads for that many turns."""

    def __init__(self, turns: int) -> None:
        self._left = turns

    async def on_llm_start(self, *_: Any, **__: Any) -> None:
        if self._left < 1:
            raise _Silent

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:
        self._left -= not any(getattr(item, "type", "") == "function_call" for item in response.output)


def _tool(lookup: Lookup) -> FunctionTool:
    read = lookup.counted()

    async def invoke(_: Any, arguments: str) -> str:
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            given = None
        value = given.get(lookup.argument) if isinstance(given, dict) else given
        return await read(value if isinstance(value, str) else "")

    schema = {
        "type": "object",
        "properties": {lookup.argument: {"type": "string"}},
        "required": [lookup.argument],
        "additionalProperties": False,
    }
    return FunctionTool(lookup.name, lookup.description, schema, invoke)


def _spent(error: Exception) -> tuple[int, ...]:
    """What a run that failed has cost until then: requests, input and output tokens."""
    run = getattr(error, "run_data", None)
    if run is None:
        return 0, 0, 0
    used = run.context_wrapper.usage
    return used.requests, used.input_tokens, used.output_tokens


def _wants_no_tools(error: Exception) -> bool:
    """True for the answer of a server whose model takes no tools."""
    return (
        isinstance(error, openai.APIStatusError)
        and error.status_code in _NO_TOOLS_STATUS
        and re.search(r"\btools?\b|tool[-_]", str(error), re.IGNORECASE) is not None
    )


def _own(given: RunConfig | None) -> RunConfig:
    """A run configuration of our own with what is to be honoured of the caller's."""
    if given is None:
        return RunConfig(workflow_name="Sandbox memory")
    taken = {name: getattr(given, name) for name in _TRACING if hasattr(given, name)}
    taken |= {name: redact_value(taken[name]) for name in _TOLD if taken.get(name)}
    settings = given.model_settings
    present = {field.name for field in fields(ModelSettings)} & set(_TRANSPORT)
    transport = {name: getattr(settings, name, None) for name in present}
    if any(value is not None for value in transport.values()):
        taken["model_settings"] = ModelSettings(**transport)
    return RunConfig(
        model_provider=given.model_provider, workflow_name=redact(f"Sandbox memory for {given.workflow_name}"), **taken
    )


def _short(error: BaseException) -> str:
    lines = redact(str(error)).split("\n")
    return lines[0][:200].strip() or type(error).__name__


class LenientJson(AgentOutputSchemaBase):
    """A strict schema to the model; what comes back may stand in a code fence or between sentences."""

    def __init__(self, output_type: type[T]) -> None:
        self._type = output_type
        self._schema = _schema(output_type)

    def is_plain_text(self) -> bool:
        return False

    def name(self) -> str:
        return self._type.__name__

    def json_schema(self) -> dict[str, Any]:
        return dict(self._schema)

    def is_strict_json_schema(self) -> bool:
        return True

    def validate_json(self, json_str: str) -> Any:
        """The value in the text. Raises `ModelBehaviorError` that tells its fault but none of its content."""
        known = set(self._type.model_fields)
        found = None
        for found in _values(json_str):
            if isinstance(found, dict) and known & set(found):
                break
        else:
            what = "its answer is not JSON" if found is None else "its answer is JSON, but none of what was asked for"
            raise ModelBehaviorError(what)
        try:
            return self._type.model_validate_json(_SURROGATE.sub("\ufffd", json.dumps(found, ensure_ascii=False)))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the answer"
            raise ModelBehaviorError(f"its answer has the wrong type: {where}: {first['msg']}") from None


@lru_cache(maxsize=8)
def _schema(output_type: type[BaseModel]) -> dict[str, Any]:
    """The strict schema of a type; making it takes longer than the rest of a request."""
    schema: dict[str, Any] = _without_defaults(AgentOutputSchema(output_type).json_schema())
    return schema


def _without_defaults(schema: Any) -> Any:
    """The schema without `default`, which strict structured output does not admit."""
    if isinstance(schema, dict):
        return {
            key: {name: _without_defaults(sub) for name, sub in value.items()}
            if key in ("properties", "$defs") and isinstance(value, dict)
            else _without_defaults(value)
            for key, value in schema.items()
            if key != "default"
        }
    if isinstance(schema, list):
        return [_without_defaults(value) for value in schema]
    return schema


def _values(text: str) -> Iterator[Any]:
    """The JSON values in a text: the whole, what stands in code fences, and the objects between other words."""
    for part in (text, *_FENCE.findall(text)):
        try:
            yield json.loads(part)
        except (ValueError, RecursionError):
            continue
    decoder, place = json.JSONDecoder(), text.find("{")
    for _ in range(OBJECTS):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = text.find("{", end)
