"""`Memory`, the capability to add to a `SandboxAgent`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from agents import UserError
from agents.sandbox import Manifest
from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Memory as SdkMemory
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from pydantic import Field, InstanceOf, PrivateAttr

from . import sdk
from .capture import RolloutId, Run, as_input, newest_request
from .config import MemoryGenerateConfig, MemoryLayoutConfig, MemoryPolicy, MemoryReadConfig
from .errors import ConfigError, OtherTenant, SandboxMemoryError
from .guard import Guard, Key, as_key
from .host import Slot, host_of, said
from .layout import Layout
from .records import RunCapture
from .scope import MemoryScope
from .transcript import fitted

logger = logging.getLogger(__name__)

C = TypeVar("C")

SUMMARY_TOKENS = 15_000
"""How much of `memory_summary.md` is told at most, whoever wrote it: as much as the SDK does."""

NEEDS = {
    "shell": "Shell() (memory files are read with it; or set read=None)",
    "filesystem": "Filesystem() (memory files are corrected with it; or set live_update=False)",
}


@dataclass
class Switches:
    """What a memory and its clones share: the rollouts that are switched off."""

    off: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Turn:
    """What the clones of an agent's memories are told when they are made for a run: their scopes, and its request."""

    scopes: Mapping[int, MemoryScope]
    about: str


_PAUSED: ContextVar[tuple[object, ...]] = ContextVar("sandbox_memory_paused", default=())
_TURN: ContextVar[_Turn | None] = ContextVar("sandbox_memory_turn", default=None)


class Memory(SdkMemory):
    """Remembers runs in plain markdown of the workspace, and tells the next run what it knows.

    Takes the place of `agents.sandbox.capabilities.Memory`, with the same keywords; the SDK's own configs are accepted.
    `Shell` is required for reads, `Filesystem` for live updates. An agent may have several, in different layouts.
    """

    layout: sdk_config.MemoryLayoutConfig = Field(default_factory=MemoryLayoutConfig)
    """The folders of this memory, and the preset that says what it remembers."""
    read: sdk_config.MemoryReadConfig | None = Field(default_factory=MemoryReadConfig)
    """How memory reaches the agent; None tells it nothing."""
    generate: sdk_config.MemoryGenerateConfig | None = Field(default_factory=MemoryGenerateConfig)
    """How runs become memory; None writes nothing at all."""
    scope: InstanceOf[MemoryScope] | Callable[[Any], MemoryScope] = Field(
        default_factory=MemoryScope, repr=False, exclude=True
    )
    """Whose memory it is; or a function that says so of the `context` of a run, so that one agent serves many. It is
    called once in a run, at the memory's first turn; what it raises, and what is no `MemoryScope`, fails the run."""
    policy: MemoryPolicy = Field(default_factory=MemoryPolicy, exclude=True)
    """What may be written, beside the policy of the preset."""
    key: bytes = Field(default=Key(), repr=False, exclude=True)
    """The host's key, 16 bytes or more, or a text: what memory writes is signed with it, so that nothing else in the
    workspace can."""
    forgotten: tuple[Path, ...] = Field(default=(), exclude=True)
    """Receipts of earlier forgettings, applied to what a snapshot brought back."""

    _switches: Switches = PrivateAttr(default_factory=Switches)
    _told: tuple[str | None] | None = PrivateAttr(default=None)
    _about: str = PrivateAttr(default="")

    if not TYPE_CHECKING:  # to a type checker the parameters are the fields

        def __init__(self, **given: Any) -> None:
            # Before pydantic sees it: its errors quote what they were given.
            super().__init__(**{name: as_key(each) if name == "key" else each for name, each in given.items()})
            # After it: what is raised within, it wraps in its own words.
            self._layout(self.scope if isinstance(self.scope, MemoryScope) else MemoryScope())
            if self.forgotten:
                from .pipeline.forgetting.forget import readable  # takes longer to import than all the rest

                readable(Guard(forgotten=self.forgotten).forgotten)

    def model_post_init(self, context: object, /) -> None:
        super().model_post_init(context)
        sdk.install(_DOOR)

    def clone(self) -> Memory:
        """A copy for one run: the same configs, models and switches, that run's scope, not yet bound to a session."""
        turn = _TURN.get() or _Turn({}, "")
        clone = self._with(turn.scopes.get(id(self), self.scope))
        clone._about = turn.about
        return clone

    def scoped(self, context: object) -> Memory:
        """This memory for a run with that context: itself, unless its scope is a function of the context.

        Raises `ConfigError` if that function raises or gives no `MemoryScope`.
        """
        if isinstance(self.scope, MemoryScope):
            return self
        name = getattr(self.scope, "__qualname__", type(self.scope).__name__)
        try:
            found: object = self.scope(context)
        except Exception as error:  # the application's own code
            raise ConfigError(
                f"the scope of this run is not known: {name} raised a {type(error).__name__}. Without one, memory is "
                f"neither read nor written; give Runner.run a context that {name} can tell it from"
            ) from error
        if isinstance(found, MemoryScope):
            return self._with(found)
        if hasattr(found, "close"):
            found.close()  # a coroutine, which would warn that nobody awaited it
        raise ConfigError(
            f"the scope of this run is not known: {name} gave a {type(found).__name__}. It must be a plain function "
            "that returns a MemoryScope"
        )

    def _with(self, scope: MemoryScope | Callable[[Any], MemoryScope]) -> Memory:
        copy = self.model_copy(deep=False, update={"session": None, "scope": scope})
        copy._told = None
        return copy

    def bind(self, session: BaseSandboxSession) -> None:
        """Use that session.

        Raises `UserError` if another memory generates in one of the two folders there, if the session is another
        tenant's, or if the scope is a function and the run's context was not seen.
        """
        super().bind(session)
        try:
            self.slot(session)
        except ConfigError as error:
            raise UserError(str(error)) from error
        sdk.register(session, self, _DOOR)

    async def instructions(self, manifest: Manifest) -> str | None:
        """What the agent is told of its memory: the same text at every turn of a run, None if there is nothing.

        Opens the memory at the first run of a session. Never raises for a memory that cannot be read; that is logged.
        """
        if self._told is None:
            self._told = (await self._instructions(manifest),)
        return self._told[0]

    async def _instructions(self, manifest: Manifest) -> str | None:
        if self.session is None:
            if self.read is None:
                return None
            raise ValueError("Memory capability is not bound to a SandboxSession")
        slot = self.slot(self.session)
        try:
            summary = fitted(await slot.briefing(self._about), SUMMARY_TOKENS)
        except OtherTenant as error:
            raise UserError(str(error)) from error
        if self.read is None or not summary.strip():
            return None
        memory_dir = slot.layout.memories_dir
        if self.workspace_scope.cwd is not None:
            memory_dir = self.workspace_scope.model_resource_path(
                workspace_root=manifest.root, workspace_relative_path=PurePosixPath(memory_dir)
            ).as_posix()
        live = self.read.live_update and not slot.layout.shared
        from . import templates  # as for the pipeline: not before a session is used

        try:
            return templates.render("read.md.j2", memory_dir=memory_dir, summary=summary, live_update=live)
        except SandboxMemoryError as error:
            logger.warning("memory of %s: cannot be told to the agent (%s)", memory_dir, said(error))
            return None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Runs that are started inside, by this task or tasks that it starts there, are not recorded by this memory.

        They are still told what memory knows. Other tasks are not affected.
        """
        token = _PAUSED.set((*_PAUSED.get(), self._switches))
        try:
            yield
        finally:
            _PAUSED.reset(token)

    def switch_off(self, rollout_id: str) -> None:
        """Record no run with that conversation id, session id or group id, until `switch_on`; known in this process.

        A run counts as switched off if it is at its start or at its end.
        """
        self._switches.off.add(rollout_id.strip())

    def switch_on(self, rollout_id: str) -> None:
        """Take back `switch_off`; without one, nothing changes."""
        self._switches.off.discard(rollout_id.strip())

    async def record(
        self,
        session: BaseSandboxSession,
        what: Any,
        *,
        rollout_id: str | None = None,
        agent: str | None = None,
        final_output: object = None,
        scope: MemoryScope | None = None,
    ) -> None:
        """Record what did not come through `Runner`: a run's result, or its items, as the segment of a rollout.

        `what` is a result of the SDK, a text that the user said, or an iterable of input items (dicts) or run items, of
        which the user's first ones are the input. Without a `rollout_id` it is a rollout of its own. Returns when the
        segment is in the workspace; raises `WorkspaceError` if it cannot be written, and `ConfigError` with
        `generate=None`. Does nothing while paused or switched off. Where the memory's scope is a function, `scope` says
        whose this is.
        """
        if self.generate is None:
            raise ConfigError("Memory.record writes, which this memory is told not to: it has generate=None")
        given = (rollout_id or "").strip()
        named = RolloutId(given, "conversation") if given else RolloutId.fresh()
        if not self.wants(named, _PAUSED.get()):
            return
        if hasattr(what, "new_items"):
            run = sdk.ended(what)
            said_in, done, terminal = as_input(run.input), as_input(run.items), dict(run.terminal)
            final_output = run.final_output if final_output is None else final_output
            agent = agent or getattr(run.last_agent, "name", None)
            interruptions = as_input(getattr(each, "raw_item", each) for each in run.interruptions)
        else:
            items = as_input(what)
            said_in = list(takewhile(lambda item: item.get("role") in ("user", "system", "developer"), items))
            done, interruptions = items[len(said_in) :], []
            terminal = {"terminal_state": "completed", "exception_type": None, "exception_message": None}
        terminal["has_final_output"] = final_output is not None
        await (
            (self if scope is None else self._with(scope))
            .slot(session)
            .write(
                RunCapture(str(named), named.source, said_in, done, final_output, list(interruptions), terminal, agent)
            )
        )

    @property
    def switches(self) -> Switches:
        """What this memory shares with its clones."""
        return self._switches

    def slot(self, session: BaseSandboxSession) -> Slot:
        """The place where this layout is kept for that session. Raises `ConfigError` as `bind` does `UserError`."""
        generate = None if self.generate is None else upgraded(self.generate, MemoryGenerateConfig)
        read = None if self.read is None else upgraded(self.read, MemoryReadConfig)
        guard = Guard(self.policy, self.key, self.forgotten)
        if not isinstance(self.scope, MemoryScope):
            raise ConfigError(
                "whose memory it is was not said: its scope is a function of a run's context, and this is no run whose "
                "context was seen. Outside of a run, give `scope` a MemoryScope"
            )
        return host_of(session).attach(self._layout(self.scope), generate, read, guard)

    def wants(self, rollout_id: str, paused: tuple[object, ...]) -> bool:
        """Whether a run of that rollout is to be recorded, given the switches that were paused when it started."""
        is_paused = any(each is self._switches for each in paused)
        return self.generate is not None and not is_paused and rollout_id not in self._switches.off

    def _layout(self, scope: MemoryScope) -> Layout:
        layout = upgraded(self.layout, MemoryLayoutConfig)
        made = Layout.of(layout.memories_dir, layout.sessions_dir, layout.preset_name, shared=layout.shared)
        return scope.within(made)


class _Door:
    """Answers what the SDK's runtime, as `sdk` has wrapped it, asks."""

    def is_ours(self, capability: object) -> bool:
        return isinstance(capability, Memory)

    def check(self, agent: Any) -> None:
        present = {capability.type for capability in agent.capabilities}
        for memory in memories_of(agent):
            if missing := sorted(memory.required_capability_types() - present):
                raise UserError(
                    f"SandboxAgent {agent.name!r}: {type(memory).__name__} requires missing capabilities: "
                    f"{', '.join(missing)}. Add to its capabilities, from agents.sandbox.capabilities: "
                    f"{', '.join(NEEDS.get(name, name) for name in missing)}"
                )

    def begin(self, run_config: Any, rollout_id: RolloutId) -> Run:
        return Run(run_config, rollout_id, memories_of, _PAUSED.get())

    @contextmanager
    def preparing(self, run: Run, agent: Any, context: object, said: object) -> Iterator[None]:
        try:
            scoped: list[Any] = [*run.memories_of(agent, context)]
        except ConfigError as error:
            raise UserError(f"SandboxAgent {agent.name!r}: {error}") from error
        scopes = {id(each): known.scope for each, known in zip(memories_of(agent), scoped, strict=True)}
        token = _TURN.set(_Turn(scopes, newest_request(said)))
        try:
            yield
        finally:
            _TURN.reset(token)


_DOOR = _Door()


def memories_of(agent: object) -> list[Memory]:
    """The memories of this package among the capabilities of an agent."""
    capabilities: Iterable[object] = getattr(agent, "capabilities", None) or ()
    return [each for each in capabilities if isinstance(each, Memory)]


def upgraded(config: object, kind: type[C]) -> C:
    """A config as that class of ours: the SDK's own is copied field by field."""
    if isinstance(config, kind):
        return config
    # `kind` is one of our three dataclasses, which the checker cannot see in a type variable.
    known: Any = kind  # a dataclass, as all of our configs and the SDK's are
    values = {each.name: getattr(config, each.name) for each in fields(known) if hasattr(config, each.name)}
    return kind(**values)
