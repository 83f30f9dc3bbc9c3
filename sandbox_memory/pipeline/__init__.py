"""The only module that knows the order of the stages: a run is appended, and at close becomes memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..blocks import split
from ..config import MemoryGenerateConfig, MemoryReadConfig
from ..document import strip_for_prompt
from ..errors import SandboxMemoryError
from ..folding import fold
from ..governance import redaction
from ..guard import Guard
from ..layout import Layout
from ..ledger import Operation
from ..models import Model
from ..models.choice import choose
from ..proposals import new_id
from ..records import RunCapture
from ..rollouts import by_sdk, file_name
from ..stages import journal
from ..stages.segment import History, build_line, history_of, marks, repeated
from ..state import State
from ..workspace import Ask, Workspace
from ..workspace.local import LocalWorkspace
from ..workspace.session import SessionWorkspace
from .asking import Limits
from .consolidating import consolidate
from .extracting import extract_all, vouch
from .reports import Progress, Report, due
from .settle import Change, Maker, Prepared, Seen
from .store import Extra, Store
from .takeover import takeover
from .tidying import tidy, unread

__all__ = ["Limits", "Pipeline", "Report"]

logger = logging.getLogger("sandbox_memory")

TAIL_BYTES = 1 << 20
"""How much of a rollout's end is read to recognise repeated items in another process."""


class Pipeline:
    """One memory of one workspace, for as long as a session or a command uses it.

    `generate` None means that nothing is written at all: what people changed is then taken in for reading only.
    """

    def __init__(
        self,
        workspace: Workspace,
        layout: Layout,
        *,
        generate: MemoryGenerateConfig | None = None,
        read: MemoryReadConfig | None = None,
        guard: Guard | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.layout, self.generate, self.read, self.guard = layout, generate, read, guard or Guard()
        self.store = Store(workspace, layout, guard=self.guard, now=now)
        self._opened = False
        self._fresh: bytes | None = None
        self._names: dict[str, str] = {}
        self._history_of: dict[str, History] = {}
        self._existing: dict[str, int] | None = None

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
        workspace: Workspace = LocalWorkspace(Path(root)) if local else SessionWorkspace(session, root)
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
            seen = await self.store.see()
            self._existing = dict(seen.sessions)
            others, stale = self.store.others_open(seen.open_marks)
            taken = await takeover(self.store, seen, vouching=self.generate is not None)
            makers = [*taken, *([self._settings_maker(seen)] if len(seen.ledger) else [])]
            if not others and self.generate is not None:
                await vouch(self.store, due(seen, fold(self.store.ledger)))
            if self.generate is None:
                self.store.visit()
                self._fresh = (await self.store.prepare(seen, "live" if others else "hand", makers)).summary
                return
            actor, marks = "live" if others else "hand", [*stale, self.store.mark_open()]
            done = await self._settle(actor, makers, lambda seen, done: marks, seen=seen)
            self._fresh = done.summary
        except SandboxMemoryError as error:
            logger.warning("sandbox memory: could not open %s: %s", self.layout.memories_dir, error)

    async def record(self, capture: RunCapture) -> str:
        """Append one run to its rollout, before returning; the name of the rollout file is the answer.

        Items that the rollout holds already (an approve-and-resume, a growing input list) are left out. Raises
        `WorkspaceError` if the line cannot be written; nothing of it stands in the file then.
        """
        if self.generate is None:
            return ""
        stem = await self._stem(capture)
        new = f"{stem}.jsonl" not in await self._listing()
        history = await self._history(stem, capture)
        count, known_by = len(capture.input), marks([*capture.input, *capture.generated])
        old = repeated(history, known_by, count, resumed=capture.resumed)
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
            now=datetime.fromisoformat(self.store.at()),
            segment=new_id()[2:],
        )
        await self.store.write(journal.steps(self.layout, stem, line, await self._listing()))
        self._existing = {**dict.fromkeys((f"{stem}.jsonl", *journal.IGNORED), 0), **await self._listing()}
        if new or stem in self._history_of:
            fresh = [mark for n, mark in enumerate(known_by) if n not in old]
            self._history_of[stem] = history.then(fresh, interrupted=bool(capture.interruptions))
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

    async def _history(self, stem: str, capture: RunCapture) -> History:
        """What the rollout holds, by its last segments; read from disk only if this run may repeat some of it."""
        may_repeat = capture.resumed or any(item.get("role") != "user" for item in capture.input)
        if stem not in self._history_of and may_repeat and f"{stem}.jsonl" in await self._listing():
            path = self.layout.session(f"{stem}.jsonl")
            size = (await self._listing())[f"{stem}.jsonl"]  # or more, by what was appended since
            view = await self.store.look([Ask(path, start=max(0, size - TAIL_BYTES))])
            self._history_of[stem] = history_of(view.files.get(path, b""))
        return self._history_of.get(stem, History())

    async def briefing(self) -> str:
        """What goes into the prompt: `memory_summary.md` as it is now, without ids and markers; empty for nothing."""
        await self.open()
        fresh, self._fresh = self._fresh, None
        if fresh is None:
            try:
                if self.generate is None:
                    seen = await self.store.see()
                    makers = await takeover(self.store, seen, vouching=False)
                    fresh = (await self.store.prepare(seen, "live", makers)).summary
                else:
                    again = self.store.mark_again()
                    fresh = (await self.store.settle("live", (), lambda seen, done: again)).summary
            except SandboxMemoryError as error:
                logger.warning("sandbox memory: could not read %s: %s", self.layout.memories_dir, error)
                return ""
        parts = split(fresh)
        texts = (parts.before, parts.block.text if parts.block else "", parts.after)
        return "\n\n".join(plain for text in texts if (plain := strip_for_prompt(text).strip()))

    def leave(self) -> None:
        """The session of a memory that only reads is over; what its agent edited is taken in later, as the agent's."""
        self.store.leave()

    # ---- phases

    async def close(self, *, run_config: Any = None) -> Report:
        """Both phases with the configured models, within nine tenths of `close_timeout`; what is left stays pending.

        The caller bounds the whole. `run_config` is that of the newest run: its provider and tracing are used.
        """
        generate = self.generate
        if generate is None:
            return Report()
        limits = Limits(
            attempts=generate.attempts,
            retry_delay=generate.retry_delay,
            concurrency=generate.concurrency,
            deadline=asyncio.get_running_loop().time() + generate.close_timeout * 0.9,
            extra_prompt=generate.extra_prompt,
        )
        report = await self.process(choose(generate, run_config=run_config), limits, actor="live")
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
        seen = await self.store.see()
        others, stale = self.store.others_open(seen.open_marks)
        actor = actor or ("live" if others else "hand")
        settings, closed = [self._settings_maker(seen)], self.store.mark_closed()
        done = await self.store.settle(
            actor,
            [*await takeover(self.store, seen), *settings],
            lambda seen, done: [*stale, *closed],
            seen=seen,
        )
        report.adopted += len(done.adopted)
        report.refuse(done.refused)
        if again:
            await self.store.append(lambda state: _from_the_start(state, seen))
        pending = due(seen, fold(self.store.ledger))
        session_open = actor == "live"
        await extract_all(self.store, pending, models[0], limits, report, progress, session_open=session_open)
        await consolidate(self.store, models[1], limits, actor, report, progress)
        keep = self.generate.keep_rollouts if self.generate else None
        await tidy(self.store, actor, keep)
        return report

    def _settings_maker(self, seen: Seen) -> Maker:
        """Commits the configuration where the ledger has another; an empty workspace stays empty."""

        def maker(state: State) -> Change:
            if not state.ordinal and not seen.sessions:
                return Change("settings")
            wanted: dict[str, Any] = {"sessions_dir": self.layout.sessions_dir, "preset": self.layout.preset.name}
            if self.generate is not None:
                wanted["max_raw_memories"] = self.generate.max_raw_memories_for_consolidation
            if self.read is not None:
                wanted["summary_tokens"] = self.read.summary_tokens
            differ = {key: value for key, value in wanted.items() if state.settings.get(key) != value}
            return Change("settings", settings=differ or None)

        return maker

    # ---- by command

    async def adopt(self) -> Prepared:
        """Take in what people changed since, and bring the markdown up to date; what every command does first."""
        seen = await self.store.see()
        others, _ = self.store.others_open(seen.open_marks)
        return await self._settle("live" if others else "hand", await takeover(self.store, seen), seen=seen)

    async def commit(self, actor: str, decide: Callable[[State], Sequence[Operation]]) -> Prepared:
        """Adopt first, then commit what `decide` wants on the state as it is then."""
        seen = await self.store.see()
        others, _ = self.store.others_open(seen.open_marks)

        def maker(state: State) -> Change:
            return Change(actor, tuple(decide(state)))

        makers = [*await takeover(self.store, seen), maker, self._settings_maker(seen)]
        return await self._settle("live" if others else "hand", makers, seen=seen)

    async def _settle(self, actor: str, makers: Sequence[Maker], extra: Extra | None = None, *, seen: Seen) -> Prepared:
        """Settle; where the markdown was lost, write what else was lost with it too."""
        done = await self.store.settle(actor, makers, extra, seen=seen)
        if self.store.lost:
            await tidy(self.store, actor, None)
        return done


def _from_the_start(state: State, seen: Seen) -> Change:
    return unread(
        [stem for stem, rollout in state.rollouts.items() if rollout.consumed and f"{stem}.jsonl" in seen.sessions]
    )
