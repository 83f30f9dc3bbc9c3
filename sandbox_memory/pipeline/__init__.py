"""The only module that knows the order of the stages: a run is appended, and at close becomes memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SandboxMemoryError
from ..folding import fold
from ..governance import discreet, redaction
from ..governance.gate import Gate
from ..guard import Guard
from ..layout import Layout
from ..ledger import Operation
from ..models import Model
from ..models.choice import choose
from ..proposals import new_id
from ..records import RunCapture
from ..rollouts import by_sdk, file_name, last_id
from ..rollouts.history import History, history_of
from ..stages import journal
from ..stages.segment import build_line
from ..state import State
from ..workspace import Ask, Workspace
from ..workspace.local import LocalWorkspace
from ..workspace.session import SessionWorkspace
from . import acknowledging, deciding, losses, remembering, skilling
from .ageing import age
from .asking import Limits
from .configuring import Kept, configured
from .consolidating import consolidate
from .extracting import extract_all
from .forgetting import forget as forgetting
from .forgetting.again import offered
from .gathering import believe
from .reports import Progress, Report, due
from .settle import Change, Maker, Prepared, Seen
from .store import Extra, Store
from .takeover import takeover
from .telling import Telling
from .tidying import from_the_start, tidy

if TYPE_CHECKING:
    from ..config import MemoryGenerateConfig, MemoryReadConfig

__all__ = ["Limits", "Pipeline", "Report"]

logger = logging.getLogger("sandbox_memory")

TAIL_BYTES = 1 << 20
"""How much of a rollout's end is read to recognise repeated items in another process."""


class Pipeline:
    """One memory of one workspace, for as long as a session or a command uses it.

    `generate` None means that nothing is written at all: what people changed is then taken in for reading only. Raises
    `ConfigError` if a receipt of an earlier forgetting cannot be read: without it nothing may be told.
    """

    def __init__(
        self,
        workspace: Workspace,
        layout: Layout,
        *,
        generate: MemoryGenerateConfig | Kept | None = None,
        read: MemoryReadConfig | None = None,
        guard: Guard | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.layout, self.generate, self.read, self.guard = layout, generate, read, guard or Guard()
        discreet.be_discreet()
        forgetting.readable(self.guard.forgotten)
        self.store = Store(workspace, layout, guard=self.guard, now=now)
        self._opened, self.adopted, self.noted = False, 0, acknowledging.Noted(self.store)
        self._fresh: Prepared | None = None
        self._names: dict[str, str] = {}
        self._history_of: dict[str, History] = {}
        self._last: dict[str, str] = {}
        self._existing: dict[str, int] | None = None
        self._telling = Telling(layout)

    @classmethod
    def for_session(
        cls,
        session: Any,
        layout: Layout,
        generate: MemoryGenerateConfig | None,
        read: MemoryReadConfig | None,
        guard: Guard | None = None,
    ) -> Pipeline:
        """The memory in the workspace of a sandbox session: through its folder if that is on this machine."""
        root = str(session.state.manifest.root)
        local = getattr(session.state, "type", "") == "unix_local"
        readers = tuple(user.name for user in getattr(session.state.manifest, "users", ()))
        workspace: Workspace
        workspace = LocalWorkspace(Path(root), readers) if local else SessionWorkspace(session, root, readers)
        return cls(workspace, layout, generate=generate, read=read, guard=guard)

    # ---- while a session is open

    async def open(self) -> None:
        """Adopt what people changed since, mend what a crash left, and note that a session is open. Once a session.

        No model is called. Never raises for a workspace that cannot be read or written: that is logged, and memory goes
        without.
        """
        if self._opened:
            return
        self._opened = True
        if self.generate is not None:
            asyncio.get_running_loop().run_in_executor(None, redaction.prepare)
        try:
            seen = await (forgetting.seen(self.store) if self.generate is not None else self.store.see())
            self._existing = dict(seen.sessions)
            self._telling.opened(seen, self.store.at())
            others, stale = self.store.others_open(seen.open_marks)
            taken = await takeover(self.store, seen, vouching=self.generate is not None)
            makers = [*taken, *([self._settings_maker(seen)] if len(seen.ledger) else [])]
            if not others and self.generate is not None:
                state = fold(self.store.ledger)
                await believe(self.store, due(seen, state), state)
            self.store.visit.begin()
            if self.generate is None:
                makers += forgetting.unwritten(self.store)
                self._fresh = await self.store.prepare(seen, "live" if others else "hand", makers)
                return
            actor, marks = "live" if others else "hand", [*stale, self.store.mark_open()]
            self._fresh = await self._settle(actor, makers, lambda seen, done: marks, seen=seen)
        except SandboxMemoryError as error:
            logger.warning("sandbox memory: could not open %s: %s", self.layout.memories_dir, error)

    async def record(self, capture: RunCapture) -> str:
        """Append one run to its rollout, before returning; the name of the rollout file is the answer.

        Items that the rollout holds already (an approve-and-resume, a growing input list) are left out. Raises
        `WorkspaceError` if the line cannot be written; nothing of it stands in the file then.
        """
        if self.generate is None:
            return ""
        salt = self.store.salt
        capture = replace(capture, rollout_id=redaction.redact_name(capture.rollout_id, salt))
        stem = await self._stem(capture)
        new = f"{stem}.jsonl" not in await self._listing()
        history = await self._history(stem, capture)
        offer = await offered(self.store, stem, capture, history)
        capture, known_by, old, count = offer.capture, offer.known_by, offer.old, len(capture.input)
        inputs = [item for n, item in enumerate(capture.input) if n not in old]
        generated = [item for n, item in enumerate(capture.generated, count) if n not in old]
        line = build_line(
            rollout_id=capture.rollout_id,
            input_items=inputs,
            generated=generated,
            terminal=capture.terminal,
            final_output=capture.final_output,
            interruptions=capture.interruptions,
            agent=capture.agent,
            nested=capture.nested,
            now=datetime.fromisoformat(self.store.at()),
            segment=new_id()[2:],
            salt=salt,
        )
        line = await self._sealed(stem, line)
        counts = self._telling.counted(generated, self.store.at())
        await self.store.write([*journal.steps(self.layout, stem, line, await self._listing()), *counts])
        self._existing = {**dict.fromkeys((f"{stem}.jsonl", *journal.IGNORED), 0), **await self._listing()}
        if new or stem in self._history_of:
            fresh = [mark for n, mark in enumerate(known_by) if n not in old]
            self._history_of[stem] = history.then(fresh, interrupted=bool(capture.interruptions))
        if remembering.hinted(inputs):
            await remembering.keep(self.store, stem, line, self._settings_maker, live=self._opened)
        return stem

    async def _listing(self) -> Mapping[str, int]:
        """The names in the sessions folder with the sizes that they had at first, as far as this process knows."""
        if self._existing is None:
            view = await self.store.look([], [self.layout.sessions_dir])
            self._existing = dict(view.folders.get(self.layout.sessions_dir, {}))
        return self._existing

    async def _stem(self, capture: RunCapture) -> str:
        key = f"{capture.source}:{capture.rollout_id}"
        if key not in self._names:
            existing, name = await self._listing(), f"{capture.rollout_id}.jsonl"
            sdks: set[str] = set()
            if capture.source == "group" and name in existing:
                path = self.layout.session(name)
                head = (await self.store.look([Ask(path, limit=TAIL_BYTES)])).files.get(path, b"")
                sdks = {name} if by_sdk(head) else set()
            self._names[key] = file_name(capture.rollout_id, capture.source, existing, sdks=sdks)
        return self._names[key]

    async def _sealed(self, stem: str, line: bytes) -> bytes:
        """The line with the host's seal, which covers the id of the run before it; as it is without a key."""
        if not self.store.witness.seal:
            return line
        path = self.layout.session(f"{stem}.jsonl")
        if stem not in self._last and (size := (await self._listing()).get(f"{stem}.jsonl", 0)):
            view = await self.store.look([Ask(path, start=max(0, size - TAIL_BYTES))])
            self._last[stem] = last_id(view.files.get(path, b""))
        sealed = self.store.witness.seal.line(stem, line, self._last.get(stem, ""))
        self._last[stem] = last_id(sealed)
        return sealed

    async def _history(self, stem: str, capture: RunCapture) -> History:
        """What the rollout holds, by its last segments; read from disk only if this run may repeat some of it."""
        may_repeat = capture.resumed or any(item.get("role") != "user" for item in capture.input)
        if stem not in self._history_of and may_repeat and f"{stem}.jsonl" in await self._listing():
            path = self.layout.session(f"{stem}.jsonl")
            size = (await self._listing())[f"{stem}.jsonl"]  # or more, by what was appended since
            view = await self.store.look([Ask(path, start=max(0, size - TAIL_BYTES))])
            self._history_of[stem] = history_of(view.files.get(path, b""))
        return self._history_of.get(stem, History())

    async def briefing(self, about: str = "") -> str:
        """What goes into the prompt: `memory_summary.md` as it is now, each line as whose word it is.

        Below it what is like the request that the run is `about`, within `MemoryReadConfig.relevant_tokens`.
        """
        await self.open()
        fresh, self._fresh = self._fresh, None
        if fresh is None:
            try:
                if self.generate is None:
                    seen = await self.store.see()
                    makers = await takeover(self.store, seen, vouching=False) + forgetting.unwritten(self.store)
                    fresh = await self.store.prepare(seen, "live", makers)
                else:
                    again = self.store.mark_again()
                    fresh = await self.store.settle("live", (), lambda seen, done: again)
                    if skilling.touched(fresh):
                        await tidy(self.store, "live", None)
            except SandboxMemoryError as error:
                logger.warning("sandbox memory: could not read %s: %s", self.layout.memories_dir, error)
                return ""
        budget = self.read.relevant_tokens if self.read else 0
        return redaction.redact(await self._telling.prompt(fresh, about, budget, self.store.at()), self.store.salt)

    def leave(self) -> None:
        """The session of a memory that only reads is over; what its agent edited is taken in later, as the agent's."""
        self.store.visit.leave()

    # ---- phases

    async def close(self, *, run_config: Any = None) -> Report:
        """Both phases with the configured models, within nine tenths of `close_timeout`; what is left stays pending.

        The caller bounds the whole. `run_config` is that of the newest run: its provider and tracing are used.
        """
        generate = self.generate
        if generate is None or isinstance(generate, Kept):
            return Report()
        deadline = asyncio.get_running_loop().time() + generate.close_timeout * 0.9
        limits = Limits(generate.attempts, generate.retry_delay, generate.concurrency, deadline, generate.extra_prompt)
        try:
            report = await self.process(choose(generate, run_config=run_config), limits, actor="live")
        finally:
            self.store.visit.leave()
        self._opened, self._fresh = False, None
        return report

    async def process(
        self,
        models: tuple[Model, Model],
        limits: Limits,
        *,
        actor: str | None = None,
        again: bool = False,
        progress: Progress = lambda what, done, of: None,
    ) -> Report:
        """Adopt, extract every rollout that has something new, and consolidate. What fails stays pending.

        `actor` is who is taken to have edited since; by default a person, unless a session is open. `again` reads all
        rollouts from their start: what they taught before is recognised, and what was deleted stays deleted.
        """
        report = Report()
        limits = replace(limits, extra_prompt=deciding.told(self.guard.policy, limits.extra_prompt))
        seen = await forgetting.seen(self.store)
        others, stale = self.store.others_open(seen.open_marks)
        actor = actor or ("live" if others else "hand")
        settings, closed = [self._settings_maker(seen)], self.store.mark_closed()
        done = await self.store.settle(
            actor,
            [*await takeover(self.store, seen), *settings],
            lambda seen, done: [*stale, *closed],
            seen=seen,
        )
        await forgetting.told(self.store, done)
        report.adopted += acknowledging.changes(done.adopted)
        report.refuse(done.refused)
        if again:
            await self.store.append(lambda state: from_the_start(state, seen))
        pending = await forgetting.scrub(self.store, due(seen, fold(self.store.ledger)))
        session_open = actor == "live"
        await extract_all(self.store, pending, models[0], limits, report, progress, session_open=session_open)
        await consolidate(self.store, models[1], limits, actor, report, progress)
        capacity = self.generate.capacity if self.generate else None
        await age(self.store, actor, seen.usage, capacity, report)
        keep = getattr(self.generate, "keep_rollouts", None)
        await tidy(self.store, actor, keep)
        return report

    def _settings_maker(self, seen: Seen) -> Maker:
        return configured(self.layout, self.generate, self.read, seen)

    # ---- by command

    async def adopt(self, *, dry: bool = False) -> Prepared:
        """Take in what people changed, and bring the markdown up to date; with `dry` nothing is written."""
        return await losses.adopt(self.store, self._settle, dry=dry)

    async def commit(self, actor: str, decide: Callable[[State], Sequence[Operation]]) -> Prepared:
        """Adopt first, then commit what `decide` wants on the state as it is then.

        While another process has an agent's session open the words count as the agent's, unless there is a key: with a
        shell it can give commands too.
        """
        seen = await losses.whole(self.store, going_on=self._opened)
        others, _ = self.store.others_open(seen.open_marks)
        by_agent = self.store.agents_elsewhere(others) and not self.guard.key

        def maker(state: State) -> Change:
            wanted = tuple(decide(state))
            gate = Gate(self.layout.preset, self.guard.policy)
            return deciding.as_the_agents(wanted, state, gate) if by_agent else Change(actor, wanted)

        who = "live" if others else "hand"
        done = await self._settle(
            who, [*await takeover(self.store, seen), maker, self._settings_maker(seen)], seen=seen
        )
        await deciding.decide(self.store, len(seen.ledger), who)
        return done

    async def _settle(self, actor: str, makers: Sequence[Maker], extra: Extra | None = None, *, seen: Seen) -> Prepared:
        """Settle; then what follows: skills, and where the markdown was lost what was lost with it too."""
        done = await self.store.settle(actor, makers, extra, seen=seen)
        self.adopted += acknowledging.changes(done.adopted)
        await self.noted.take_in(done, "" if self._opened else actor)
        if self.store.lost or skilling.touched(done):
            await tidy(self.store, actor, None)
        await forgetting.told(self.store, done)
        return done
