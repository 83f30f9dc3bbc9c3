"""The memories of one sandbox session: a pipeline for each layout, and the hook that closes them before a snapshot."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from ..config import MemoryGenerateConfig, MemoryReadConfig
from ..errors import ConfigError, OtherTenant
from ..guard import Guard
from ..layout import Layout
from ..records import RunCapture
from ..scope import tenant_of
from . import tenancy
from .holding import forgive, held
from .watching import SessionWatch

if TYPE_CHECKING:
    from ..pipeline import Pipeline

logger = logging.getLogger(__name__)

OPEN_TIMEOUT = 30.0
"""Seconds that a run waits for its briefing; after that it goes on without memory."""
MOST_UNWRITTEN = 500
"""How many captures of closed sessions are kept in this process for another try, of all workspaces."""
RUN_GRACE = 1.0
"""Seconds that a close waits for runs of the session to end: a stream broken off just before still records itself."""


class Session(Protocol):
    """What is needed of a sandbox session here; the pipeline needs more."""

    def register_pre_stop_hook(self, hook: Callable[[], Awaitable[None]]) -> None: ...


class Slot:
    """One layout in one session. `generate`, `read` and `run_config` are the newest that any run brought."""

    def __init__(
        self,
        host: Host,
        layout: Layout,
        generate: MemoryGenerateConfig | None,
        read: MemoryReadConfig | None,
        guard: Guard,
    ) -> None:
        self.host, self.layout, self.generate, self.read, self.guard = host, layout, generate, read, guard
        self.run_config: Any = None
        self.kept: list[RunCapture] = []
        """Captures that are not in the workspace yet, oldest first."""
        self._pipeline: Pipeline | None = None
        self._watch: tuple[SessionWatch, asyncio.Task[Any]] | None = None
        self._opening, self._writing = asyncio.Lock(), asyncio.Lock()
        self._cause = ""

    async def opened(self) -> Pipeline:
        """The pipeline, opened, with the newest settings."""
        async with self._opening:
            if self._pipeline is None:
                from ..pipeline import Pipeline  # not needed before a session is: it takes longer than all the rest

                pipeline = Pipeline.for_session(self.host.session, self.layout, self.generate, self.read, self.guard)
                if tenant_of(self.layout.memories_dir):
                    await tenancy.refuse_others(pipeline.store.workspace, self.layout.memories_dir)
                await pipeline.open()
                self._pipeline = pipeline
                if self.generate is not None:
                    watch = SessionWatch(pipeline)
                    self._watch = watch, self.host.start(watch.begin())
        self._pipeline.generate, self._pipeline.read = self.generate, self.read
        return self._pipeline

    async def briefing(self, about: str = "") -> str:
        """What the next run, which is about that, is told; empty if there is nothing, or if memory failed (logged).

        Raises `OtherTenant` where this workspace is not for this memory.
        """
        work = self.host.start(self._briefing(about))
        try:
            await asyncio.wait({work}, timeout=OPEN_TIMEOUT)
        finally:
            work.cancel()
        if not work.done():
            logger.warning("memory of %s: did not open within %g s; the run goes on without", *self._name, OPEN_TIMEOUT)
            return ""
        if work.cancelled() or (error := work.exception()) is None:
            return "" if work.cancelled() else work.result()
        if isinstance(error, OtherTenant):
            raise error
        logger.warning("memory of %s: cannot be read (%s); the run goes on without", *self._name, said(error))
        return ""

    async def _briefing(self, about: str) -> str:
        pipeline = await self.opened()
        return await pipeline.briefing(about=about) if self.read is not None else ""

    async def record(self, capture: RunCapture) -> None:
        """Write the capture, and those that could not be written before; what fails is logged and kept.

        A cancellation while writing is held back until the write is done, `HOLD_TIMEOUT` at most, and then delivered
        at the caller's next step, as it would have been without memory.
        """
        self.kept.append(capture)
        await held(self.host.start(self._write()))

    async def write(self, capture: RunCapture) -> None:
        """Write the capture or raise what the pipeline raised."""
        await (await self.opened()).record(capture)

    async def _write(self) -> None:
        async with self._writing:
            failed: list[RunCapture] = []
            try:
                while self.kept:
                    try:
                        await self.write(self.kept[0])
                    except Exception as error:  # noqa: BLE001 - whatever fails must not fail the run
                        if not isinstance(error, OtherTenant):  # it has no business here, now or later
                            failed.append(self.kept[0])
                        self._complain(error)
                    del self.kept[0]
            finally:
                self.kept[:0] = failed
            if not failed:
                self._cause = ""

    def _complain(self, error: Exception) -> None:
        if (cause := said(error)) != self._cause:
            self._cause = cause
            refused = isinstance(error, OtherTenant)
            logger.warning(
                "memory of %s: a run %s (%s)%s",
                *self._name,
                "is not recorded" if refused else "could not be written",
                cause,
                "" if refused else "; it is kept and tried again, at close at the latest",
                exc_info=error if logger.isEnabledFor(logging.DEBUG) else None,
            )

    async def close(self) -> None:
        """Write what is kept, then extract and consolidate; raises what the pipeline raises."""
        if self._watch is not None:
            watch, begun = self._watch
            self._watch = None
            await asyncio.wait({begun})
            await watch.end()
        if self.generate is not None:
            await self._write()
            with suppress(OtherTenant):  # then nothing of this memory is here, and its runs were told so
                await (await self.opened()).close(run_config=self.run_config)
        elif self._pipeline is not None:
            self._pipeline.leave()

    @property
    def timeout(self) -> float:
        return self.generate.close_timeout if self.generate is not None else 0.0

    @property
    def _name(self) -> tuple[str]:
        return (self.layout.memories_dir,)


class Host:
    """The memories of one session object, which keeps it alive through its pre-stop hook."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.runs: weakref.WeakSet[Any] = weakref.WeakSet()
        """Runs that memories of this session take part in."""
        self._slots: dict[tuple[str, str, bool], Slot] = {}
        self._work: set[asyncio.Task[Any]] = set()
        self._armed = False

    def attach(
        self,
        layout: Layout,
        generate: MemoryGenerateConfig | None,
        read: MemoryReadConfig | None,
        guard: Guard,
    ) -> Slot:
        """The slot of that layout, made at its first use; a later use leaves its settings, which count from then on.

        Raises `ConfigError` if another memory of the session generates in one of the two folders, with another one
        beside it or another preset, and `OtherTenant` if the session is another tenant's.
        """
        key = (layout.memories_dir, layout.sessions_dir, generate is not None)
        slot = self._slots.get(key)
        if slot is None or slot.layout != layout:
            tenancy.claim(self.session, layout.memories_dir, self._beside())
            if generate is not None:
                self._refuse_overlap(layout)
            slot = self._slots[key] = Slot(self, layout, generate, read, guard)
            slot.kept = _UNWRITTEN.pop((*whereabouts(self.session), *key), [])
            self._arm()
        slot.generate = generate
        slot.read = read or slot.read
        return slot

    def _beside(self) -> list[str]:
        """The memories folders that other sessions have open in the same workspace; empty once that was asked."""
        if tenancy.is_claimed(self.session):
            return []
        here, hosts = whereabouts(self.session), [reference() for reference in list(_HOSTS.values())]
        others = [host for host in hosts if host is not None and host is not self and host._slots]
        return [folder for host in others if whereabouts(host.session) == here for folder, _, _ in host._slots]

    def _refuse_overlap(self, layout: Layout) -> None:
        for (memories, sessions, generating), slot in self._slots.items():
            if not generating:
                continue
            for name, mine, theirs in (
                ("memories_dir", layout.memories_dir, memories),
                ("sessions_dir", layout.sessions_dir, sessions),
                ("memories_dir", layout.memories_dir, sessions),
                ("sessions_dir", layout.sessions_dir, memories),
            ):
                if mine == theirs:
                    raise ConfigError(
                        f"this sandbox session already has a memory with {name}={mine!r}, in the layout "
                        f"memories_dir={memories!r}, sessions_dir={sessions!r}, preset {slot.layout.preset.name!r}. "
                        f"Use the same layout to share it, or two other folders to keep them apart"
                    )

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run it as a task that nobody has to await: it stays referenced, and its exception counts as seen."""
        task = asyncio.get_running_loop().create_task(work)
        self._work.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._work.discard(task)
        if not task.cancelled():
            task.exception()

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self.session.register_pre_stop_hook(self._before_stop)

    async def _before_stop(self) -> None:
        """Close every memory of the session, before its workspace is persisted.

        The SDK runs this once for each registration and writes no snapshot if it raises. So it never raises. Each
        memory's work is a task of its own, which is waited for `close_timeout` seconds, then cancelled, and left alone
        if it does not obey. If this hook itself is cancelled (someone cancelled `aclose`), it cancels the work and
        returns: the cancellation is used up here, since delivering it later would end the very step that writes the
        snapshot. Whatever is not done is pending in the files. Afterwards the session may be entered again: the next
        run makes new pipelines and registers anew.
        """
        loop = asyncio.get_running_loop()
        self._armed = False  # a memory that comes while this runs registers anew, and the SDK runs that at once
        slots = sorted(self._slots.values(), key=lambda slot: slot.timeout)
        tasks: dict[asyncio.Task[Any], Slot] = {}
        try:
            await self._settled()
            start = loop.time()
            tasks = {self.start(slot.close()): slot for slot in slots}
            for task, slot in tasks.items():
                await asyncio.wait({task}, timeout=max(0.0, start + slot.timeout - loop.time()))
                report(task, slot)
                task.cancel()
        except asyncio.CancelledError:
            forgive()
            logger.warning("closing memory was cancelled; what is left stays pending for the next close")
        finally:
            for task in tasks:
                task.cancel()
            self._forget(slots)

    async def _settled(self) -> None:
        """Wait until the session's runs have ended and what is being written is written, but not for long."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + RUN_GRACE
        while loop.time() < deadline and any(not run.finished for run in self.runs):
            await asyncio.sleep(0.01)

    def _forget(self, slots: list[Slot]) -> None:
        for key, slot in list(self._slots.items()):
            if slot in slots:
                del self._slots[key]
                if slot.kept:
                    logger.error(
                        "memory of %s: %d run(s) could not be written before the session closed; only the next session "
                        "of this process in the same workspace can still do so",
                        slot.layout.memories_dir,
                        len(slot.kept),
                    )
                    _UNWRITTEN[(*whereabouts(self.session), *key)] = slot.kept
                    while sum(map(len, _UNWRITTEN.values())) > MOST_UNWRITTEN:
                        del _UNWRITTEN[next(iter(_UNWRITTEN))]


_UNWRITTEN: dict[tuple[object, ...], list[RunCapture]] = {}
"""Captures that closed sessions could not write, by workspace and layout; the workspace's next session tries again."""


def whereabouts(session: Session) -> tuple[str, str]:
    """What tells a workspace from others in this process: its folder on this machine, else the session's id."""
    state = getattr(session, "state", None)
    kind = str(getattr(state, "type", ""))
    if kind == "unix_local":
        return kind, str(state.manifest.root)  # type: ignore[union-attr]  # a provider's own class
    return kind, str(getattr(state, "session_id", id(session)))


_HOSTS: weakref.WeakKeyDictionary[Any, weakref.ref[Host]] = weakref.WeakKeyDictionary()


def host_of(session: Session) -> Host:
    """The host of that session object, the same one for as long as the session lives."""
    reference = _HOSTS.get(session)
    host = reference() if reference is not None else None
    if host is None:
        host = Host(session)
        _HOSTS[session] = weakref.ref(host)
    return host


def report(task: asyncio.Task[Any], slot: Slot) -> None:
    """Log how the close of a slot went, if it did not go well."""
    name = slot.layout.memories_dir
    if not task.done():
        logger.warning(
            "memory of %s: not done %g s after the close began (close_timeout); the rest stays pending for the next "
            "close or `sandbox-memory process`",
            name,
            slot.timeout,
        )
    elif not task.cancelled() and (error := task.exception()) is not None:
        logger.warning(
            "memory of %s: closing failed (%s); its work stays pending for the next close or `sandbox-memory process`",
            name,
            said(error),
            exc_info=error if logger.isEnabledFor(logging.DEBUG) else None,
        )


def said(error: BaseException) -> str:
    """The kind and the text of an exception, on one line."""
    return f"{type(error).__name__}: {error}".replace("\n", " ").removesuffix(": ")
