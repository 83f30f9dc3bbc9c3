from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from agents import Model, ModelProvider, ModelSettings, MultiProvider, OpenAIProvider, RunConfig
from agents.exceptions import UserError
from pydantic import BaseModel

from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.errors import ModelError, NoUsableModel
from sandbox_memory.models import ConsolidationDraft, DraftOperation, ExtractionDraft, Lookup, Request
from sandbox_memory.models.agents_sdk import AgentsModel, LenientJson
from sandbox_memory.models.choice import choose
from sandbox_memory.pipeline import Limits
from sandbox_memory.records import Usage
from sandbox_memory.stages import extraction

from .kit import pipeline, said, state, texts
from .rollouts_kit import DEFAULT, talk
from .scripted import Scripted, calls, refuses

SAID = talk(("user", "no, the port is 8443, not 8080"), ("call", "python serve.py"), ("output", "ok"))
REQUEST = extraction.request(SAID, previous="", layout=DEFAULT, extra_prompt="Note the region.")
GOOD = {
    "task": "Fix the port",
    "slug": "Fix Bug!",
    "summary": "Fixed.",
    "raw_memory": "The port changed.",
    "keywords": ["port"],
    "memories": [
        {
            "kind": "fact",
            "text": "the port is 8443, not 8080",
            "subject": "port",
            "quotes": [{"item": "s1.0", "text": "the port is 8443, not 8080"}],
        }
    ],
}
JSON = json.dumps(GOOD)


def answer(*steps: Any, request: Request[Any] = REQUEST, **options: Any) -> tuple[Any, Scripted]:
    model = Scripted(*steps)
    return asyncio.run(AgentsModel(model, **options).answer(request)), model


def failure(*steps: Any, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answer(*steps, **options)
    assert "8443" not in caught.value.cause, "a cause tells no content"
    return caught.value


# ---------------------------------------------------------------- a model object


def test_an_answer_comes_validated_and_with_its_usage() -> None:
    found, model = answer(JSON)
    assert found.value == ExtractionDraft.model_validate(GOOD)
    assert found.usage == Usage(1, 10, 5)
    (seen,) = model.seen
    assert seen["system"] == REQUEST.instructions and "Note the region." in seen["system"]
    assert seen["tools"] == []
    raw = extraction.verify(found.value, SAID, layout=DEFAULT)
    assert raw.summary_file.endswith("_fix-bug.md") and len(raw.candidates) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{JSON}\n```",
        f"```\n{JSON}\n```",
        f"Here is what I found:\n\n```json\n{json.dumps(GOOD, indent=2)}\n```\nHope it helps {{}}!",
        f"Sure. {JSON} Done.",
        f'{{"note": "thinking {{"}} then {JSON}',
        "\ufeff  " + JSON,
    ],
)
def test_json_in_a_fence_or_between_words_is_mended_at_once(text: str) -> None:
    found, model = answer(text)
    assert found.value.memories[0].subject == "port" and len(model.seen) == 1


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "no answer within"),
        ("I could not find anything.", "not JSON"),
        (JSON[:-20], "not JSON"),
        ("[1, 2]", "none of what was asked for"),
        ("{}", "none of what was asked for"),
        ('{"operations": []}', "none of what was asked for"),
        ('{"task": ["8443"], "summary": "x"}', "task"),
        ('{"task": "x", "memories": "none"}', "memories"),
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 2_000, "not JSON"),
    ],
)
def test_what_is_no_answer_may_be_retried_and_says_why(text: str, cause: str) -> None:
    error = failure(text)
    assert error.retryable and cause in error.cause


def test_missing_and_null_and_extra_fields_are_no_obstacle() -> None:
    found, _ = answer('{"summary": "x", "raw_memory": null, "mood": "good"}')
    assert (found.value.summary, found.value.raw_memory, found.value.memories) == ("x", "", [])


def test_lone_surrogates_do_not_come_through() -> None:
    found, _ = answer('{"summary": "a\\ud800b", "raw_memory": "c"}')
    assert found.value.summary == "a\ufffdb"


def test_operations_may_name_one_or_many() -> None:
    request = Request("consolidation", "i", "u", ConsolidationDraft, None)
    text = (
        '{"operations": [{"op": "support", "candidate": "c1", "records": "r2"}, {"op": "skip", "candidates": ["c2"]}]}'
    )
    found, _ = answer(text, request=request)
    assert found.value.operations == [
        DraftOperation(op="support", candidates=["c1"], records=["r2"]),
        DraftOperation(op="skip", candidates=["c2"]),
    ]


def test_a_refusal_is_named() -> None:
    error = failure(refuses("I cannot help with that."))
    assert error.retryable and "refused" in error.cause


def test_a_tool_call_out_of_nowhere_fails_and_does_nothing() -> None:
    error = failure(calls("exec_command", cmd="rm -rf /"))
    assert error.retryable and "exec_command" in error.cause


def test_tool_calls_without_end_are_ended() -> None:
    model = Scripted(calls("exec_command", cmd="ls"))
    with pytest.raises(ModelError):
        asyncio.run(AgentsModel(model, max_turns=2).answer(REQUEST))
    assert len(model.seen) <= 2


def test_a_hanging_model_times_out() -> None:
    async def hang() -> str:
        await asyncio.sleep(60)
        return JSON

    error = failure(lambda _: hang(), timeout=0.05)
    assert error.retryable and "timed out" in error.cause


def test_cancelling_is_not_swallowed() -> None:
    async def hang() -> str:
        await asyncio.sleep(60)
        return JSON

    async def main() -> None:
        task = asyncio.create_task(AgentsModel(Scripted(lambda _: hang())).answer(REQUEST))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


SENT: Any = SimpleNamespace(url="http://test")


def status(code: int, kind: type[openai.APIStatusError]) -> openai.APIStatusError:
    response: Any = SimpleNamespace(status_code=code, request=SENT, headers={})
    return kind("said no\nkey sk-123", response=response, body=None)


@pytest.mark.parametrize(
    ("raised", "kind", "retryable", "says"),
    [
        (openai.APITimeoutError(SENT), ModelError, True, "timed out"),
        (openai.APIConnectionError(request=SENT), ModelError, True, "cannot be reached"),
        (status(429, openai.RateLimitError), ModelError, True, "429"),
        (status(500, openai.InternalServerError), ModelError, True, "500"),
        (status(400, openai.BadRequestError), ModelError, False, "400"),
        (status(401, openai.AuthenticationError), NoUsableModel, False, "offline"),
        (status(404, openai.NotFoundError), NoUsableModel, False, "offline"),
        (openai.OpenAIError("no api_key"), NoUsableModel, False, "offline"),
        (UserError("Unknown prefix: foo"), NoUsableModel, False, "Unknown prefix"),
        (ImportError("litellm"), NoUsableModel, False, "litellm"),
        (ValueError("bug"), ModelError, True, "ValueError: bug"),
        (TimeoutError(), ModelError, True, "timed out"),
    ],
)
def test_each_failure_has_its_cause(raised: Exception, kind: type[ModelError], retryable: bool, says: str) -> None:
    error = failure(raised)
    assert type(error) is kind and error.retryable is retryable and says in error.cause
    assert "sk-123" not in error.cause and "\n" not in error.cause


@pytest.mark.parametrize("name", ["gpt-5.4-mini", "nosuchprovider/some-model"])
def test_without_a_key_or_a_provider_the_way_out_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config = RunConfig(model_provider=MultiProvider(), tracing_disabled=True)
    with pytest.raises(NoUsableModel, match='phase_one_model="offline"'):
        asyncio.run(AgentsModel(name, run_config=config).answer(REQUEST))


def test_names() -> None:
    assert AgentsModel("gpt-5.4-mini").name == "gpt-5.4-mini"
    assert AgentsModel(Scripted(JSON, name="mine")).name == "mine"
    assert AgentsModel(Scripted(JSON, name="")).name == "Scripted"


# ---------------------------------------------------------------- what is taken from the caller's run


class OneModel(ModelProvider):
    def __init__(self, model: Model) -> None:
        self.model, self.asked = model, []

    def get_model(self, model_name: str | None) -> Model:
        self.asked.append(model_name)
        return self.model


def test_provider_tracing_and_headers_are_the_callers_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("the caller's filter was used")

    provider = OneModel(Scripted(JSON))
    theirs = RunConfig(
        model="their-model",
        model_provider=provider,
        model_settings=ModelSettings(temperature=1.5, tool_choice="required", extra_headers={"x-team": "7"}),
        tracing_disabled=True,
        trace_include_sensitive_data=False,
        group_id="chat-1",
        trace_metadata={"k": "v"},
        workflow_name="Support",
        call_model_input_filter=never,
        session_input_callback=never,
    )
    model = AgentsModel("our-model", ModelSettings(max_tokens=99), run_config=theirs)
    asyncio.run(model.answer(REQUEST))
    assert provider.asked == ["our-model"]
    ours = model._run_config
    assert (ours.tracing_disabled, ours.trace_include_sensitive_data, ours.group_id) == (True, False, "chat-1")
    assert ours.trace_metadata == {"k": "v"} and "Support" in ours.workflow_name
    assert ours.model is None and ours.sandbox is None and ours.trace_id is None
    settings = provider.model.seen[0]["settings"]  # type: ignore[attr-defined]
    assert settings.extra_headers == {"x-team": "7"} and settings.max_tokens == 99
    assert settings.temperature is None and settings.tool_choice is None


def test_settings_may_be_a_mapping() -> None:
    _, model = answer(JSON, settings={"temperature": 0.2})
    assert model.seen[0]["settings"].temperature == 0.2


def test_the_schema_is_strict_and_says_no_defaults() -> None:
    class Odd(BaseModel):
        default: str = "x"
        items: list[int] = []

    schema = LenientJson(Odd).json_schema()
    assert set(schema["properties"]) == set(schema["required"]) == {"default", "items"}
    assert "default" not in schema["properties"]["default"]
    for kind in (ExtractionDraft, ConsolidationDraft):
        text = json.dumps(LenientJson(kind).json_schema())
        assert '"default":' not in text and '"additionalProperties": false' in text
        assert LenientJson(kind).is_strict_json_schema() and not LenientJson(kind).is_plain_text()


# ---------------------------------------------------------------- through the real client, over HTTP


Answering = str | int | tuple[str, str]


class Server:
    """Speaks the Responses API or chat completions: answers each request with what comes next; keeps what it got.

    That is a text, the name and arguments of a tool call, a status code, or a function of the request that gives one.
    """

    def __init__(self, *answers: Answering | Callable[[dict[str, Any]], Answering]) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        outer, left = self, list(answers)
        self.model = "local"

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                given = left.pop(0) if len(left) > 1 else left[0]
                given = given(body) if callable(given) else given
                told = {"error": {"message": f"{outer.model} does not support tools", "type": "x"}}
                if not isinstance(given, int):
                    told = (completion if self.path.endswith("/chat/completions") else response)(given)
                data = json.dumps(told).encode()
                self.send_response(given if isinstance(given, int) else 200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def completion(given: str | tuple[str, str]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": given if isinstance(given, str) else None}
    if not isinstance(given, str):
        function = {"name": given[0], "arguments": given[1]}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    return {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 0,
        "model": "local",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280},
    }


def response(given: str | tuple[str, str]) -> dict[str, Any]:
    if isinstance(given, tuple):
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed"}
        return {**response(""), "output": [{**call, "name": given[0], "arguments": given[1]}]}
    text = given
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "local",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
        ],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1200,
            "output_tokens": 80,
            "total_tokens": 1280,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


@pytest.fixture
def serve() -> Iterator[Any]:
    servers: list[Server] = []

    def start(*answers: Any) -> Server:
        servers.append(Server(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


async def ask(server: Server, said: Any = SAID) -> Any:
    async with openai.AsyncOpenAI(base_url=server.url, api_key="key-of-the-caller", max_retries=0) as client:
        config = RunConfig(
            model_provider=OpenAIProvider(openai_client=client),
            model_settings=ModelSettings(extra_headers={"x-gateway": "yes"}),
            tracing_disabled=True,
        )
        request = extraction.request(said, previous="", layout=DEFAULT, extra_prompt=None)
        return await AgentsModel("local", run_config=config).answer(request)


def test_over_http_the_request_holds_what_it_should_and_no_more(serve: Any) -> None:
    from sandbox_memory.records import Rollout, Segment
    from sandbox_memory.rollouts import render

    payload = {
        "input": [
            {"role": "system", "content": "SYSTEM-ITEM"},
            {"role": "developer", "content": "DEVELOPER-ITEM"},
            {"role": "user", "content": "no, the port is 8443, not 8080"},
        ],
        "generated_items": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "REASONING-ITEM"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted: 8443."}]},
        ],
    }
    said = Rollout("r1", "sessions/r1.jsonl", (Segment("s", "r1", "now", render(payload)),), 0, 10)
    server = serve(f"```json\n{JSON}\n```")
    found = asyncio.run(ask(server, said))
    assert found.value.slug == "Fix Bug!" and found.usage == Usage(1, 1200, 80)
    ((path, headers, body),) = server.requests
    assert path == "/v1/responses" and body["model"] == "local"
    assert headers["authorization"] == "Bearer key-of-the-caller" and headers["x-gateway"] == "yes"
    assert body.get("tools") in (None, []) and not body.get("stream")
    assert body["text"]["format"]["type"] == "json_schema" and body["text"]["format"]["strict"] is True
    assert "You take notes" in body["instructions"]
    (message,) = body["input"]
    assert message["role"] == "user"
    assert "no, the port is 8443, not 8080" in message["content"] and "Noted: 8443." in message["content"]
    whole = json.dumps(body)
    assert not any(word in whole for word in ("SYSTEM-ITEM", "DEVELOPER-ITEM", "REASONING-ITEM"))


@pytest.mark.parametrize(
    ("code", "kind", "retryable"), [(401, NoUsableModel, False), (404, NoUsableModel, False), (503, ModelError, True)]
)
def test_over_http_a_status_is_told_apart(serve: Any, code: int, kind: type[ModelError], retryable: bool) -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(ask(serve(code)))
    assert type(caught.value) is kind and caught.value.retryable is retryable


NOTE = {
    "task": "Fix the port",
    "slug": "port",
    "summary": "Fixed.",
    "raw_memory": "The port changed.",
    "memories": [
        {"kind": "fact", "text": "the port is 8443", "quotes": [{"item": "s1.0", "text": "the port is 8443"}]}
    ],
}
ADD = {"operations": [{"op": "add", "candidates": ["c1"], "records": [], "group": "Ports"}]}
FORMS: dict[str, Callable[[Any], str]] = {
    "plain": json.dumps,
    "fenced": lambda value: f"Here you are:\n```json\n{json.dumps(value, indent=2)}\n```\n",
    "between words": lambda value: f"<think>I should add it {{}}.</think> {json.dumps(value)} Done!",
}


def both_phases(root: Path, server: Server, **options: Any) -> Any:
    """A run is recorded and becomes memory through that server; the report."""

    async def work() -> Any:
        async with openai.AsyncOpenAI(base_url=server.url, api_key="key-of-the-caller", max_retries=0) as client:
            config = RunConfig(
                model_provider=OpenAIProvider(openai_client=client, **options),
                model_settings=ModelSettings(extra_headers={"x-gateway": "yes"}),
                tracing_disabled=True,
            )
            generate = MemoryGenerateConfig(
                phase_one_model="local",
                phase_two_model="local",
                phase_one_model_settings=ModelSettings(temperature=0.25),
                phase_two_model_settings=ModelSettings(temperature=0.5),
            )
            line = pipeline(root, generate)
            await line.record(said("the port is 8443"))
            return await line.process(choose(generate, run_config=config), Limits(3, 0.001))

    return asyncio.run(work())


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_both_phases_over_http(serve: Any, tmp_path: Path, api: str, form: str) -> None:
    """Broken once, then in that form; in the second phase a summary is opened before."""
    written, broken = FORMS[form], '{"summary": "cut off, "memories": ['
    opened = ("open_rollout_summary", '{"name": "chat_port.md"}')
    server = serve(broken, written(NOTE), broken, opened, written(ADD))
    report = both_phases(tmp_path, server, use_responses=api == "responses")
    assert texts(tmp_path) == {"the port is 8443"} and not report.failed
    path = "/v1/responses" if api == "responses" else "/v1/chat/completions"
    assert [request[0] for request in server.requests] == [path] * 5
    for _, headers, body in server.requests:
        assert headers["authorization"] == "Bearer key-of-the-caller" and headers["x-gateway"] == "yes"
        assert body["model"] == "local" and '"strict": true' in json.dumps(body)
    bodies = [body for *_, body in server.requests]
    assert [body["temperature"] for body in bodies] == [0.25, 0.25, 0.5, 0.5, 0.5]
    assert [bool(body.get("tools")) for body in bodies] == [False, False, True, True, True]
    assert "SUMMARY begins" in json.dumps(bodies[-1]) and "Fixed." in json.dumps(bodies[-1])
    assert state(tmp_path).consolidation_usage == Usage(3, 3600, 240).to_json()
    assert state(tmp_path).rollouts["chat"].usage == Usage(2, 2400, 160).to_json()
    assert report.usage == Usage(5, 6000, 400)


@pytest.mark.parametrize("code", [400, 404])
def test_a_model_that_takes_no_tools_is_asked_without(serve: Any, tmp_path: Path, code: int) -> None:
    server = serve(json.dumps(NOTE), lambda body: code if body.get("tools") else json.dumps(ADD))
    report = both_phases(tmp_path, server, use_responses=False)
    assert texts(tmp_path) == {"the port is 8443"} and not report.failed
    assert [bool(body.get("tools")) for *_, body in server.requests] == [False, True, False]


def test_a_server_that_is_gone_may_come_back(serve: Any) -> None:
    server = Server(JSON)
    server.close()
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        asyncio.run(ask(server))
    assert caught.value.retryable


# ---------------------------------------------------------------- what it may read


async def _never(_: str) -> str:
    raise AssertionError("it was read")


def test_a_lookup_is_not_offered_where_one_turn_must_do() -> None:
    request = Request("consolidation", "i", "u", ConsolidationDraft, None, Lookup("open", "Opens.", "name", _never, 5))
    found, model = answer('{"operations": []}', request=request, max_turns=1)
    assert found.value.operations == [] and model.seen[0]["tools"] == []


@pytest.mark.parametrize(("max_turns", "asked"), [(None, 8), (500, 8), (4, 4), (2, 2)])
def test_reading_takes_turns_and_no_more_than_are_allowed(max_turns: int | None, asked: int) -> None:
    async def read(name: str) -> str:
        return "no more than that"

    lookup = Lookup("open", "Opens.", "name", read, 5)
    model = Scripted(lambda _: calls("open"))
    request = Request("consolidation", "i", "u", ConsolidationDraft, None, lookup)
    with pytest.raises(ModelError, match=f"within {asked} turns") as caught:
        asyncio.run(AgentsModel(model, max_turns=max_turns).answer(request))
    assert len(model.seen) == asked and caught.value.spent == (asked, 10 * asked, 5 * asked)
