"""Everything that touches a private name of the SDK.

The SDK tells memory about a run in one place, at its end, and only the memory of the last agent. So five methods of its
runtime are wrapped, which gives every agent's part in every case: handoffs, failures, streams. Where a name is missing,
the registry in which the SDK looks for a memory's manager is the way in; it sees less.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import posixpath
import re
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

from agents.sandbox.capabilities import Memory as SdkMemory

from .capture import ACTING, Ended, RolloutId, Run, Running
from .host import said

logger = logging.getLogger(__name__)

_RUN, _OURS, _RUNNING = "_sandbox_memory_run", "_sandbox_memory_ours", "_sandbox_memory_running"


class Name(NamedTuple):
    """A private name of the SDK: where it is, the parameters that are read, and what it is used for."""

    module: str
    name: str
    parameters: tuple[str, ...]
    use: str


SEAM = (
    Name(
        "agents.sandbox.runtime",
        "SandboxRuntime.__init__",
        ("run_config", "rollout_id"),
        "a run starts: its configuration, its rollout id, and whether memory is paused",
    ),
    Name(
        "agents.sandbox.runtime",
        "SandboxRuntime.prepare_agent",
        ("current_agent", "current_input", "context_wrapper", "is_resumed_state"),
        "an agent is about to act: its memories, its session, the run's context, and whether the run was resumed",
    ),
    Name("agents.sandbox.runtime", "SandboxRuntime.current_session", (), "the session that the agent acts in"),
    Name("agents.sandbox.runtime", "SandboxRuntime.cleanup", (), "a run is over: what starts later is no part of it"),
    Name(
        "agents.sandbox.runtime",
        "SandboxRuntime.enqueue_memory_result",
        ("result", "exception", "input_override"),
        "a run ended with a result",
    ),
    Name(
        "agents.sandbox.runtime",
        "SandboxRuntime.enqueue_memory_payload",
        ("input", "new_items", "final_output", "interruptions", "terminal_metadata"),
        "a run ended with an exception",
    ),
)
"""Without all of these, runs are seen through `REGISTRY`."""

EXTRAS = (
    Name(
        "agents.run",
        "_sandbox_memory_rollout_id",
        ("run_config", "conversation_id", "session"),
        "what gave a rollout its id; without it, a session id that equals the group id counts as the group's",
    ),
    Name(
        "agents.sandbox.memory.rollouts",
        "terminal_metadata_for_result",
        ("result", "exception"),
        "how a run ended; without it, only completed, interrupted and failed are told apart",
    ),
)
REGISTRY = Name(
    "agents.sandbox.memory.manager",
    "_MEMORY_GENERATION_MANAGERS",
    (),
    "the registry of managers, where ours stands if a name of the seam is missing",
)


class Door(Protocol):
    """What the runtime's calls are handed to."""

    def is_ours(self, capability: object) -> bool:
        """Whether a capability is a memory of this package."""

    def check(self, agent: Any) -> None:
        """Raise `UserError` if an agent lacks what its memory needs."""

    def begin(self, run_config: Any, rollout_id: RolloutId) -> Run:
        """Follow a run; called in the context that it is started in."""

    def preparing(self, run: Run, agent: Any, context: object, said: object) -> AbstractContextManager[None]:
        """Give the clones that are made inside the scopes of that run; raise `UserError` for a memory without one."""


_through = ""


def moved(names: tuple[Name, ...] = (*SEAM, *EXTRAS, REGISTRY)) -> list[str]:
    """A sentence for each name that the SDK has no more, or that lost a parameter: what it was, and what it was for."""
    sentences = []
    for module, name, parameters, use in names:
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            sentences.append(f"{module}.{name} is gone; it was used for this: {use}")
            continue
        if parameters:
            lost = [each for each in parameters if each not in inspect.signature(found).parameters]
            if lost:
                sentences.append(f"{module}.{name} has no parameter {', '.join(lost)} any more; it was for this: {use}")
    return sentences


def install(door: Door) -> str:
    """Let the SDK's runs be followed; returns through what: `seam`, `registry` or `nothing`. Does so once.

    Runs of agents that have no memory of ours, and memories of other classes, behave as before.
    """
    global _through  # noqa: PLW0603 - there is one SDK in a process
    if not _through:
        missing = moved(SEAM)
        _through = "seam" if not missing else "registry" if not moved((REGISTRY,)) else "nothing"
        if missing:
            logger.warning(
                "sandbox-memory does not know this version of openai-agents: %s. %s",
                "; ".join(missing),
                "Of a run with handoffs, less is recorded" if _through == "registry" else "Runs are not recorded",
            )
        else:
            _wrap(importlib.import_module("agents.sandbox.runtime").SandboxRuntime, door)
        if not moved(EXTRAS[:1]):
            _wrap_rollout_id(importlib.import_module("agents.run"))
    return _through


def _wrap(runtime: Any, door: Door) -> None:
    """Wrap five methods of the runtime. What the wrappers know of a run they keep on its runtime object."""
    first, prepare, ends = runtime.__init__, runtime.prepare_agent, runtime.cleanup
    with_result, with_payload = runtime.enqueue_memory_result, runtime.enqueue_memory_payload

    @functools.wraps(first)
    def init(self: Any, **kwargs: Any) -> None:
        first(self, **kwargs)
        setattr(self, _RUNNING, Running.here())
        run_config, rollout_id = kwargs.get("run_config"), kwargs.get("rollout_id")
        if rollout_id is not None and getattr(run_config, "sandbox", None) is not None:
            run = door.begin(run_config, identified(rollout_id, run_config))
            run.nested = getattr(self, _RUNNING).outer is not None
            setattr(self, _RUN, run)

    @functools.wraps(prepare)
    async def prepare_agent(self: Any, **kwargs: Any) -> Any:
        agent, run = kwargs["current_agent"], getattr(self, _RUN, None)
        ACTING.set(getattr(self, _RUNNING))  # tools run in contexts made from this one
        memories = [each for each in getattr(agent, "capabilities", ()) if isinstance(each, SdkMemory)]
        setattr(self, _OURS, bool(memories) and door.is_ours(memories[0]))
        if run is None or not any(map(door.is_ours, memories)):
            return await prepare(self, **kwargs)
        door.check(agent)
        session = run.run_config.sandbox.session
        with door.preparing(run, agent, kwargs["context_wrapper"].context, kwargs["current_input"]):
            try:
                prepared = await prepare(self, **kwargs)
                session = self.current_session
            finally:
                if session is not None:
                    _enter(run, agent, session, resumed=kwargs["is_resumed_state"])
        return prepared

    @functools.wraps(with_result)
    async def enqueue_memory_result(self: Any, result: Any, **kwargs: Any) -> None:
        run = getattr(self, _RUN, None)
        await _end(run, lambda: ended(result, *_mended(run, result, **kwargs)))
        if not getattr(self, _OURS, False):
            await with_result(self, result, **kwargs)

    @functools.wraps(with_payload)
    async def enqueue_memory_payload(self: Any, **kwargs: Any) -> None:
        await _end(getattr(self, _RUN, None), lambda: failed(**kwargs))
        if not getattr(self, _OURS, False):
            await with_payload(self, **kwargs)

    @functools.wraps(ends)
    async def cleanup(self: Any, **kwargs: Any) -> Any:
        getattr(self, _RUNNING).over = True
        return await ends(self, **kwargs)

    runtime.__init__, runtime.prepare_agent, runtime.cleanup = init, prepare_agent, cleanup
    runtime.enqueue_memory_result, runtime.enqueue_memory_payload = enqueue_memory_result, enqueue_memory_payload


def _wrap_rollout_id(module: Any) -> None:
    resolve = module._sandbox_memory_rollout_id

    @functools.wraps(resolve)
    def rollout_id(*, run_config: Any, conversation_id: str | None, session: Any) -> Any:
        found = resolve(run_config=run_config, conversation_id=conversation_id, session=session)
        if found is None:
            return None
        if conversation_id is not None and conversation_id.strip():
            return RolloutId(found, "conversation")
        try:
            if session is not None and session.session_id.strip() == found:
                return RolloutId(found, "session")
        except Exception as error:
            logger.debug("a session has no id", exc_info=error)
        return identified(found, run_config)

    module._sandbox_memory_rollout_id = rollout_id


def identified(rollout_id: str, run_config: Any) -> RolloutId:
    """The id with its source: as it was resolved, or as far as the id itself tells it."""
    if isinstance(rollout_id, RolloutId):
        return rollout_id
    if rollout_id == (getattr(run_config, "group_id", None) or "").strip():
        return RolloutId(rollout_id, "group")
    return RolloutId(rollout_id, "run" if re.fullmatch("run-[0-9a-f]{32}", rollout_id) else "session")


def ended(result: Any, exception: BaseException | None = None, input_override: Any = None) -> Ended:
    """What a result of the SDK says; `input_override` is the input that was new in this run."""
    return Ended(
        input=input_override if input_override is not None else result.input,
        items=result.new_items,
        final_output=result.final_output,
        interruptions=getattr(result, "interruptions", ()),
        terminal=terminal(result, exception),
        last_agent=getattr(result, "last_agent", None),
    )


def failed(input: Any, new_items: Any, final_output: Any, interruptions: Any, terminal_metadata: Any) -> Ended:
    """The same of a run that raised; the parameters are the SDK's."""
    return Ended(input, new_items, final_output, interruptions, terminal_metadata.model_dump(mode="json"))


def _mended(
    run: Run | None, result: Any, exception: BaseException | None = None, input_override: Any = None
) -> tuple[BaseException | None, Any]:
    """The exception and the input of a run that ended with a result.

    Of a streamed run the SDK may not yet know the exception when it tells memory, and without an SDK session it always
    says that the input was empty.
    """
    if run is not None and hasattr(result, "stream_events"):
        if exception is None and getattr(result, "_stored_exception", None) is None:
            exception = run.exception
        if input_override == [] and not run.resumed and run.rollout_id.source != "session":
            input_override = getattr(result, "_original_input", None)
    return exception, input_override


def terminal(result: Any, exception: BaseException | None = None) -> dict[str, Any]:
    """How a run ended, in the SDK's words."""
    if not moved(EXTRAS[1:]):
        rollouts = importlib.import_module("agents.sandbox.memory.rollouts")
        return dict(rollouts.terminal_metadata_for_result(result, exception=exception).model_dump(mode="json"))
    done, waits = result.final_output is not None, bool(getattr(result, "interruptions", ()))
    return {
        "terminal_state": "completed" if done else "interrupted" if waits else "failed",
        "exception_type": type(exception).__name__ if exception is not None else None,
        "exception_message": str(exception) or None if exception is not None else None,
        "has_final_output": done,
    }


def _enter(run: Run, agent: Any, session: Any, *, resumed: bool) -> None:
    try:
        run.entered(agent, session, resumed=resumed)
    except Exception as error:  # noqa: BLE001 - memory never fails a run
        logger.warning("memory does not record agent %s in this run (%s)", getattr(agent, "name", "?"), said(error))


async def _end(run: Run | None, make: Callable[[], Ended]) -> None:
    if run is not None:
        try:
            await run.ended(make())
        except Exception as error:
            logger.warning("memory could not record a run (%s)", said(error), exc_info=error)
        finally:
            run.finished = True


class _Manager:
    """Stands in the SDK's registry in place of its own manager, for one layout of one session."""

    class _Any:
        """The SDK takes a manager only if its `memory.generate` does not differ from the agent's."""

        def __ne__(self, other: object) -> bool:
            return False

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]  # equal to many, so no key

    def __init__(self, session: Any, memory: SdkMemory, door: Door) -> None:
        self.memory = SimpleNamespace(generate=self._Any(), layout=memory.layout)
        self._session, self._door = weakref.ref(session), door
        self._agent = SimpleNamespace(name="", capabilities=[memory])

    async def enqueue_result(self, result: Any, *, rollout_id: str, **kwargs: Any) -> None:
        agents = [getattr(item, "agent", None) for item in result.new_items]
        await self._record([*agents, result.last_agent], rollout_id, lambda: ended(result, **kwargs))

    async def enqueue_rollout_payload(self, payload: dict[str, Any], *, rollout_id: str) -> None:
        await self._record(
            [self._agent],
            rollout_id,
            lambda: Ended(
                input=payload.get("input", ()),
                items=payload.get("generated_items", ()),
                final_output=payload.get("final_output"),
                interruptions=payload.get("interruptions", ()),
                terminal=payload.get("terminal_metadata", {}),
            ),
        )

    async def _record(self, agents: list[Any], rollout_id: str, make: Callable[[], Ended]) -> None:
        run = self._door.begin(None, identified(rollout_id, None))
        for agent in agents:
            if agent is not None:
                _enter(run, agent, self._session(), resumed=False)
        await _end(run, make)


def register(session: Any, memory: SdkMemory, door: Door) -> None:
    """Where runs come through the registry, put a manager there for that memory's layout."""
    if _through == "registry":
        registry = importlib.import_module(REGISTRY.module)._MEMORY_GENERATION_MANAGERS
        key = (posixpath.normpath(memory.layout.memories_dir), posixpath.normpath(memory.layout.sessions_dir))
        registry.setdefault(session, {})[key] = _Manager(session, memory, door)
