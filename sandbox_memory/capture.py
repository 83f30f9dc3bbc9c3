"""Follows one run of the SDK's runner and, when it ends, gives each layout the part that its agents did."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .errors import ConfigError
from .host import Slot
from .records import RunCapture

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class RolloutId(str):
    """The id of a rollout, and in `source` what gave it: conversation, session, group or run.

    A `str`, so that it passes unharmed through code that knows nothing of the source.
    """

    source: str

    def __new__(cls, value: str, source: str) -> RolloutId:
        made = super().__new__(cls, value)
        made.source = source
        return made

    @classmethod
    def fresh(cls) -> RolloutId:
        """An id for a run that belongs to nothing."""
        return cls(f"run-{uuid.uuid4().hex}", "run")


@dataclass(frozen=True)
class Ended:
    """What a run left behind, in the SDK's own objects; the final output, if any, is `last_agent`'s."""

    input: object
    items: Sequence[object]
    final_output: object
    interruptions: Sequence[object]
    terminal: Mapping[str, Any]
    last_agent: object = None


@runtime_checkable
class Remembers(Protocol):
    """What a run needs of a memory capability. `switches` is one object for a memory and its clones."""

    @property
    def switches(self) -> object: ...

    def slot(self, session: Any) -> Slot:
        """The place where this memory's layout is kept for that session."""

    def wants(self, rollout_id: str, paused: tuple[object, ...]) -> bool:
        """Whether a run with that id is to be recorded, given the switches that were paused when it started."""

    def scoped(self, context: object) -> Remembers:
        """This memory with the scope that a run with that context has; `ConfigError` if the context gives none."""


class Running:
    """A run of any agents, from its start until it is over; `outer` is the one whose agent asked for it, if any."""

    def __init__(self, outer: Running | None) -> None:
        self.outer, self.over = outer, False

    @classmethod
    def here(cls) -> Running:
        """A run that starts in this context."""
        acting = ACTING.get()
        while acting is not None and acting.over:
            acting = acting.outer
        return cls(acting)


ACTING: ContextVar[Running | None] = ContextVar("sandbox_memory_acting", default=None)
"""The run whose agent acts in this context, or acted last: what starts while it goes on was asked for by that agent."""


@dataclass
class _Part:
    """The part of a run that goes to one layout."""

    agents: list[str] = field(default_factory=list)
    generated: list[Json] = field(default_factory=list)
    interruptions: list[object] = field(default_factory=list)
    final_output: object = None


class Run:
    """One run while it goes on: which agents it had, in which sessions, and what their memories want of it.

    `memories` gives the memories of an agent; `paused` the switches that were paused when the run started.
    """

    def __init__(
        self,
        run_config: Any,
        rollout_id: RolloutId,
        memories: Callable[[object], Sequence[Remembers]],
        paused: tuple[object, ...] = (),
    ) -> None:
        self.finished = False
        self.run_config, self.rollout_id = run_config, rollout_id
        self._memories, self._paused = memories, paused
        self.resumed = self.nested = False
        self._task: asyncio.Task[Any] | None = None
        self._current: object = None
        self._entered: dict[int, tuple[object, object]] = {}
        self._off: set[int] = set()
        self._context: object = None
        self._scoped: dict[int, tuple[Remembers, Remembers]] = {}

    def memories_of(self, agent: object, context: object = None) -> list[Remembers]:
        """The memories of an agent with the scopes of this run, in the agent's order.

        `context` is the run's, where its caller knows it. A memory has the scope that it had at its first turn until
        the run ends, whatever becomes of the context meanwhile. Raises `ConfigError` for one that has none.
        """
        self._context = self._context if context is None else context
        found = []
        for memory in self._memories(agent):
            if id(memory) not in self._scoped:
                self._scoped[id(memory)] = (memory, memory.scoped(self._context))
            found.append(self._scoped[id(memory)][1])
        return found

    def entered(self, agent: object, session: object, *, resumed: bool) -> None:
        """An agent is about to act in that session; called before each of its turns. Raises `ConfigError`."""
        self.resumed |= resumed
        self._current, self._task = agent, asyncio.current_task()
        if self._entered.get(id(agent), (None, None))[1] is session:
            return
        self._entered[id(agent)] = (agent, session)
        for memory in self.memories_of(agent):
            if not memory.wants(self.rollout_id, self._paused):
                self._off.add(id(memory.switches))
                continue
            slot = memory.slot(session)
            slot.run_config = self.run_config
            slot.host.runs.add(self)

    async def ended(self, run: Ended) -> None:
        """Hand each layout its part, and return when the parts are in the workspace or kept for another try."""
        try:
            if not self.finished and self._entered:
                for slot, part in self._parts(run).items():
                    await slot.record(self._capture(run, part))
        finally:
            self.finished, self._task = True, None

    @property
    def exception(self) -> BaseException | None:
        """What the task in which the agents acted raised; None while it goes on. It is a stream's own task."""
        task = self._task
        return task.exception() if task is not None and task.done() and not task.cancelled() else None

    def _parts(self, run: Ended) -> dict[Slot, _Part]:
        """An agent's items go to its own memories' layouts, or nowhere if it has none.

        The agent that an item names is the public one. It may not have acted in this run: a resumed run repeats the
        items of earlier agents, which go to a layout that an agent of this run has too.
        """
        parts: dict[Slot, _Part] = {}
        for agent, session in self._entered.values():
            for slot in self._slots(agent, session):
                part = parts.setdefault(slot, _Part())
                part.agents.append(str(getattr(agent, "name", "")))
        last = run.last_agent or self._current
        for item in run.items:
            plain = as_input_item(item)
            if plain is not None:
                for part in self._parts_of(getattr(item, "agent", None) or last, parts):
                    part.generated.append(plain)
        for interruption in run.interruptions:
            plain = as_input_item(getattr(interruption, "raw_item", interruption))
            for part in self._parts_of(getattr(interruption, "agent", None) or last, parts):
                part.interruptions.append(plain)
        for part in self._parts_of(last, parts):
            part.final_output = run.final_output
        return parts

    def _parts_of(self, agent: object, parts: dict[Slot, _Part]) -> list[_Part]:
        _, session = self._entered.get(id(agent), (None, None))
        if session is None:
            sessions = {id(session): session for _, session in self._entered.values()}
            session = next(iter(sessions.values())) if len(sessions) == 1 else None
        return [parts[slot] for slot in self._slots(agent, session) if slot in parts]

    def _slots(self, agent: object, session: object) -> list[Slot]:
        if session is None:
            return []
        try:
            memories = self.memories_of(agent)
        except ConfigError:
            return []  # it has not acted in this run, or it would have been refused
        wanting = (
            memory
            for memory in memories
            if id(memory.switches) not in self._off and memory.wants(self.rollout_id, self._paused)
        )
        slots = []
        for memory in wanting:
            with suppress(ConfigError):  # it was refused when its agent entered, and said so
                slots.append(memory.slot(session))
        return slots

    def _capture(self, run: Ended, part: _Part) -> RunCapture:
        rollout_id = self.rollout_id
        if rollout_id.source == "run" and (self.resumed or run.final_output is None):
            rollout_id = resumable_id(run.items) or rollout_id
        return RunCapture(
            rollout_id=str(rollout_id),
            source=rollout_id.source,
            input=as_input(run.input),
            generated=part.generated,
            final_output=part.final_output,
            interruptions=part.interruptions,
            terminal={**run.terminal, "has_final_output": part.final_output is not None},
            agent=", ".join(dict.fromkeys(part.agents)) or None,
            resumed=self.resumed,
            nested=self.nested,
        )


def newest_request(said: object) -> str:
    """The text of the newest messages that the user sent one after another, of a run's input; maybe empty."""
    if isinstance(said, str):
        return said
    texts: list[str] = []
    for item in reversed(said) if isinstance(said, Sequence) else ():
        if isinstance(item, Mapping) and item.get("role") == "user":
            texts.append(_text(item.get("content")))
        elif texts:
            break
    return "\n".join(text for text in reversed(texts) if text)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Iterable) else ()
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, Mapping) and part.get("text"))


def resumable_id(items: Iterable[object]) -> RolloutId | None:
    """An id for a run that belongs to nothing, made from its first tool call; None if it has none.

    A run that stopped for an approval has no id of its own that its resumption, maybe in another process, could know.
    Both have its first tool call, whose `call_id` the model's provider made unique.
    """
    for item in items:
        call = as_input_item(item) or {}
        if call.get("call_id") and "output" not in call:
            seed = json.dumps([call.get(key) for key in ("type", "call_id", "name", "arguments")], default=str)
            return RolloutId(f"run-{hashlib.sha256(seed.encode()).hexdigest()[:32]}", "run")
    return None


def as_input(value: object) -> list[Json]:
    """A run's input as a list of input items: a text is one user message; what is no item is left out and logged."""
    if isinstance(value, str):
        return [{"content": value, "role": "user"}]
    items = value if isinstance(value, Iterable) else ()
    return [plain for item in items if (plain := as_input_item(item)) is not None]


def as_input_item(item: object) -> Json | None:
    """An item of a run as a dict in the form that a model takes as input.

    None for what is no input: a request for approval, and an item that cannot be converted, which is logged.
    """
    if getattr(item, "type", None) == "tool_approval_item":
        return None
    plain: object = None
    for source in (item, getattr(item, "raw_item", None)):
        try:
            convert = getattr(source, "to_input_item", None) or getattr(source, "model_dump", None)
            plain = convert() if callable(convert) else source
        except Exception as error:
            logger.debug("converting a %s failed", type(source).__name__, exc_info=error)
            continue
        if isinstance(plain, Mapping):
            return {str(key): value for key, value in plain.items() if not (key == "status" and value is None)}
    logger.warning("memory leaves out an item of a run: a %s cannot be made an input item", type(item).__name__)
    return None
