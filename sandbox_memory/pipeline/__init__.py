"""The only module that knows the order of the stages: a run is appended, and at close becomes memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .. import ledger as ledgers
from ..blocks import split
from ..config import MemoryGenerateConfig, MemoryReadConfig
from ..document import safe_text, strip_for_prompt
from ..errors import SandboxMemoryError, Unknown
from ..layout import Layout
from ..ledger import Operation
from ..models import Model
from ..models.choice import choose
from ..notes import raw_header
from ..proposals import new_id
from ..records import Kind, Record, RunCapture, Status, Trust
from ..rollouts import file_name, parse_rollout
from ..signed import is_ours
from ..stages import commit, journal, planning
from ..stages.segment import History, build_line, history_of, repeated
from ..state import State, candidates_of, fold
from ..workspace import Remove, Replace, Workspace, digest
from ..workspace.local import LocalWorkspace
from ..workspace.session import SessionWorkspace
from .phases import Limits, Progress, Report, draft_plan, due, extract_all
from .settle import Change, Maker, Prepared, Seen, prepare
from .store import Step, Store, changed

__all__ = ["Limits", "Pipeline", "Report"]

logger = logging.getLogger("sandbox_memory")

TAIL_BYTES = 1 << 20
"""How much of a rollout's end is read to recognise repeated items in another process."""
CHUNK = 60
"""How many candidates one consolidation request holds at most."""


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
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.layout, self.generate, self.read = layout, generate, read
        self.store = Store(workspace, layout, now=now)
        self._opened = False
        self._fresh: bytes | None = None
        self._names: dict[str, str] = {}
        self._history_of: dict[str, History] = {}
        self._existing: set[str] | None = None

    @classmethod
    def for_session(
        cls, session: Any, layout: Layout, generate: MemoryGenerateConfig | None, read: MemoryReadConfig | None
    ) -> Pipeline:
        """The memory in the workspace of a sandbox session: through its folder if that is on this machine."""
        root = str(session.state.manifest.root)
        local = getattr(session.state, "type", "") == "unix_local"
        workspace: Workspace = LocalWorkspace(Path(root)) if local else SessionWorkspace(session, root)
        return cls(workspace, layout, generate=generate, read=read)

    # ---- while a session is open

    async def open(self) -> None:
        """Adopt what people changed since, mend what a crash left, and note that a session is open. Once a session.

        No model is called. Never raises for a workspace that cannot be read or written: that is logged, and memory goes
        without.
        """
        if self._opened:
            return
        self._opened = True
        try:
            seen = await self.store.see()
            self._existing = set(seen.sessions)
            others, stale = self.store.others_open(seen)
            makers = await self._import(seen)
            if self.generate is None:
                self._fresh = self._preview(seen, "live" if others else "hand", makers).summary
                return
            done = await self.store.settle(
                "live" if others else "hand", makers, lambda seen, done: [*stale, self.store.mark_open()]
            )
            self._fresh = done.summary
        except SandboxMemoryError as error:
            logger.warning("sandbox memory: could not open %s: %s", self.layout.memories_dir, error)

    def _preview(self, seen: Seen, actor: str, makers: Sequence[Maker]) -> Prepared:
        return prepare(seen, actor=actor, layout=self.layout, at=self.store.at(), makers=makers)

    async def record(self, capture: RunCapture) -> str:
        """Append one run to its rollout, before returning; the name of the rollout file is the answer.

        Items that the rollout holds already (an approve-and-resume, a growing input list) are left out. Raises
        `WorkspaceError` if the line cannot be written; nothing of it stands in the file then.
        """
        if self.generate is None:
            return ""
        stem = self._stem(capture, await self._listing())
        new = f"{stem}.jsonl" not in await self._listing()
        history = await self._history(stem, capture)
        old = repeated(history, capture.input, capture.generated, resumed=capture.resumed)
        count = len(capture.input)
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
        self._existing = await self._listing() | {f"{stem}.jsonl", *journal.IGNORED}
        if new or stem in self._history_of:
            self._history_of[stem] = history.then([*inputs, *generated], interrupted=bool(capture.interruptions))
        return stem

    async def _listing(self) -> set[str]:
        """The names in the sessions folder, as far as this process knows."""
        if self._existing is None:
            view = await self.store.look([], [self.layout.sessions_dir])
            self._existing = set(view.folders.get(self.layout.sessions_dir, {}))
        return self._existing

    def _stem(self, capture: RunCapture, existing: set[str]) -> str:
        key = f"{capture.source}:{capture.rollout_id}"
        if key not in self._names:
            self._names[key] = file_name(capture.rollout_id, capture.source, existing)
        return self._names[key]

    async def _history(self, stem: str, capture: RunCapture) -> History:
        """What the rollout holds, by its last segments; read from disk only if this run may repeat some of it."""
        may_repeat = capture.resumed or any(item.get("role") != "user" for item in capture.input)
        if stem not in self._history_of and may_repeat and f"{stem}.jsonl" in await self._listing():
            path = self.layout.session(f"{stem}.jsonl")
            view = await self.store.look([path])
            self._history_of[stem] = history_of(view.files.get(path, b"")[-TAIL_BYTES:])
        return self._history_of.get(stem, History())

    async def briefing(self) -> str:
        """What goes into the prompt: `memory_summary.md` as it is now, without ids and markers; empty for nothing."""
        await self.open()
        fresh, self._fresh = self._fresh, None
        if fresh is None:
            try:
                if self.generate is None:
                    seen = await self.store.see()
                    fresh = self._preview(seen, "live", await self._import(seen)).summary
                else:
                    fresh = (await self.store.settle("live")).summary
            except SandboxMemoryError as error:
                logger.warning("sandbox memory: could not read %s: %s", self.layout.memories_dir, error)
                return ""
        parts = split(fresh)
        texts = (parts.before, parts.block.text if parts.block else "", parts.after)
        return "\n\n".join(plain for text in texts if (plain := strip_for_prompt(text).strip()))

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
        others, stale = self.store.others_open(seen)
        actor = actor or ("live" if others else "hand")
        settings = [self._settings_maker()]
        done = await self.store.settle(
            actor, [*await self._import(seen), *settings], lambda seen, done: [*stale, *self.store.mark_closed()]
        )
        report.adopted += len(done.adopted)
        report.refused += done.refused
        if again:
            await self.store.append(lambda state: _from_the_start(state, seen))
        pending = due(seen, fold(self.store.ledger))
        await extract_all(self.store, pending, models[0], limits, report, progress)
        await self._consolidate(models[1], limits, actor, report, progress)
        await self._tidy(actor, report)
        return report

    async def _consolidate(self, model: Model, limits: Limits, actor: str, report: Report, progress: Progress) -> None:
        state = fold(self.store.ledger)
        whole = max(1, len(state.pending))
        while state.pending:
            given = planning.inputs(state, CHUNK)
            progress("consolidating", whole - len(state.pending), whole)
            maker: Maker
            if given.candidates:
                answer = await draft_plan(self.store, given, model, limits, report)
                if answer is None:
                    return
                maker = _consolidation(given, *answer, self.layout)
            else:
                maker = _nothing_new(given)
            before = len(self.store.ledger)
            done = await self.store.settle(actor, [maker])
            report.refused += done.refused
            for commit_ in self.store.ledger.commits[before:]:
                report.count(commit_.operations if commit_.actor == "consolidation" else ())
            state = fold(self.store.ledger)
        progress("consolidating", whole, whole)

    async def _tidy(self, actor: str, report: Report) -> None:
        """The intermediates of the SDK's names, and what is beyond the limits: raw memories, transcripts."""
        seen = await self.store.see()
        state = fold(self.store.ledger)
        if not state.ordinal:
            return
        layout = self.layout
        merged, chosen = layout.memory("raw_memories.md"), layout.memory("phase_two_selection.json")
        raws = [layout.memory(f"raw_memories/{name}") for name in seen.raw_memories if name.endswith(".md")]
        view = await self.store.look([merged, chosen, *raws])
        selection = state.selection()
        keep = [layout.memory(f"raw_memories/{stem}.md") for stem in selection]
        kept = [view.files[path].decode("utf-8", "replace") for path in keep if path in view.files]
        text = "\n\n".join(raw.rstrip("\n") for raw in kept)
        steps: list[Step] = []
        if text:
            steps += changed(view.files, merged, text.encode("utf-8", "replace"))
        before = view.files.get(chosen)
        selected = commit.selection_bytes(state, layout.sessions_dir, self.store.at(), before)
        steps += changed(view.files, chosen, selected)
        for path in set(raws) - set(keep):
            data = view.files.get(path)
            if data is not None and is_ours(data):
                steps.append(Remove(path, expect=digest(data)))
        gone = self._beyond(seen, state)
        steps += [Remove(layout.session(f"{stem}.jsonl")) for stem in gone]
        missing = [
            stem
            for stem, rollout in state.rollouts.items()
            if rollout.consumed and (stem in gone or f"{stem}.jsonl" not in seen.sessions)
        ]
        makers = [lambda now: _unread(missing)] if missing else []
        await self.store.settle(actor, makers, lambda seen, done: steps)

    def _beyond(self, seen: Seen, state: State) -> set[str]:
        """The consumed transcripts that `keep_rollouts` lets go."""
        keep = self.generate.keep_rollouts if self.generate else None
        if keep is None:
            return set()
        waiting = {stem for stem, _ in state.pending}
        read = [
            stem
            for stem, rollout in state.rollouts.items()
            if seen.sessions.get(f"{stem}.jsonl") == rollout.consumed and stem not in waiting
        ]
        if isinstance(keep, timedelta):
            oldest = (datetime.fromisoformat(self.store.at()) - keep).isoformat()
            return {stem for stem in read if state.rollouts[stem].updated_at < oldest}
        read.sort(key=lambda stem: state.rollouts[stem].order, reverse=True)
        return set(read[keep:])

    def _settings_maker(self) -> Maker:
        """Commits the configuration where the ledger has another; a command without one leaves the ledger's."""

        def maker(state: State) -> Change:
            wanted: dict[str, Any] = {"sessions_dir": self.layout.sessions_dir, "preset": self.layout.preset.name}
            if self.generate is not None:
                wanted["max_raw_memories"] = self.generate.max_raw_memories_for_consolidation
            if self.read is not None:
                wanted["summary_tokens"] = self.read.summary_tokens
            differ = {key: value for key, value in wanted.items() if state.settings.get(key) != value}
            return Change("settings", settings=differ or None)

        return maker

    async def _import(self, seen: Seen) -> list[Maker]:
        """What takes over the raw memories of a workspace that has no ledger: they are extracted already."""
        if len(seen.ledger) or not seen.raw_memories:
            return []
        raws = [self.layout.memory(f"raw_memories/{name}") for name in seen.raw_memories if name.endswith(".md")]
        transcripts = [self.layout.session(name) for name in seen.sessions if name.endswith(".jsonl")]
        view = await self.store.look([*raws, *transcripts])
        operations = []
        for path in raws:
            header = raw_header(view.files.get(path, b"").decode("utf-8", "replace"))
            stem = path.rsplit("/", 1)[-1].removesuffix(".md")
            if "rollout_summary_file" not in header or header.get("consumed_bytes"):
                continue
            transcript = view.files.get(self.layout.session(f"{stem}.jsonl"), b"")
            updated = header.get("updated_at", "")
            facts = {
                "consumed": _read_by(transcript, updated),
                "updated_at": updated,
                "summary_file": header["rollout_summary_file"],
                "terminal_state": header.get("terminal_state", ""),
            }
            operations.append(Operation("extract", stem, facts))
        operations.sort(key=lambda operation: str(operation.facts["updated_at"]))
        return [lambda state: Change("import", tuple(operations))] if operations else []

    # ---- by command

    async def adopt(self) -> Prepared:
        """Take in what people changed since, and bring the markdown up to date; what every command does first."""
        seen = await self.store.see()
        others, _ = self.store.others_open(seen)
        return await self.store.settle("live" if others else "hand", await self._import(seen))

    async def add(self, text: str, *, kind: Kind = Kind.FACT, group: str = "General", actor: str = "cli") -> Record:
        """Commit what a person asked to remember; the new record. Raises `SandboxMemoryError` for an empty text."""
        line = safe_text(planning.one_line(text))
        if not line:
            raise SandboxMemoryError("there is nothing to remember: the text is empty")
        heading = self.layout.preset.headings.get(kind, "Reusable knowledge")
        body = {"text": line, "group": planning.one_line(group) or "General", "section": heading}
        facts = {"kind": kind.value, "trust": Trust.HAND.label, "protected": True}
        operation = Operation("add", new_id(), facts, body)
        await self._commit(actor, lambda state: [operation])
        return fold(self.store.ledger).records[operation.id]

    async def forget(self, ids: Sequence[str], *, actor: str = "cli") -> list[Record]:
        """Erase these records from the markdown and their words from the ledger; the records as they were.

        Raises `Unknown` for an id that no record has. What the transcripts and raw memories say stays there.
        """
        await self.adopt()
        state = fold(self.store.ledger)
        unknown = [id for id in ids if id not in state.records or state.records[id].status is Status.FORGOTTEN]
        if unknown:
            raise Unknown(f"there is no record {unknown[0]}; `sandbox-memory show` lists the records with their ids")
        await self._commit(actor, lambda now: [Operation("forget", id) for id in ids])
        await self._erase(set(ids))
        return [state.records[id] for id in ids]

    async def _commit(self, actor: str, decide: Callable[[State], list[Operation]]) -> Prepared:
        seen = await self.store.see()
        others, _ = self.store.others_open(seen)

        def maker(state: State) -> Change:
            return Change(actor, tuple(decide(state)))

        return await self.store.settle(
            "live" if others else "hand", [*await self._import(seen), maker, self._settings_maker()]
        )

    async def _erase(self, ids: set[str]) -> None:
        """Take the words of these records out of the ledger's lines."""
        path = self.layout.ledger
        view = await self.store.look([path])
        data = view.files.get(path, b"")
        parsed = ledgers.parse(data)
        spans = [e for id in ids for e in fold(parsed).tombstones.get(id, ())]
        open_extractions = set(fold(parsed).pending)

        def stays(operation: Operation, ordinal: int) -> bool:
            if operation.op == "extract":
                if (operation.id, ordinal) in open_extractions:
                    return True
                candidates = candidates_of(operation)
                return not any(e.overlaps(s) for c in candidates for e in c.evidence for s in spans)
            if operation.op == "propose":
                inner = [*operation.body.get("operations", ()), *operation.body.get("on_refusal", ())]
                return not any(ids & {o["id"], *o["facts"].get("replaces", ())} for o in inner)
            return operation.id not in ids

        keep = {c.ordinal: [stays(o, c.ordinal) for o in c.operations] for c in parsed.commits}
        await self.store.write([Replace(path, ledgers.erase(data, keep), expect=digest(data), required=True)])
        await self.store.see()


def _consolidation(given: planning.Inputs, draft: Any, usage: Any, layout: Layout) -> Maker:
    def maker(state: State) -> Change:
        plan = planning.check(draft, given, state, layout.preset)
        cost = (Operation("usage", "", {"usage": usage.to_json()}),) if usage.requests else ()
        return Change("consolidation", (*plan.operations, *cost), plan.consolidated, refused=plan.refused)

    return maker


def _nothing_new(given: planning.Inputs) -> Maker:
    return lambda now: Change(
        "consolidation", consolidated=tuple(key for key in given.keys if key in now.pending), refused=given.refused
    )


def _from_the_start(state: State, seen: Seen) -> Change:
    return _unread(
        [stem for stem, rollout in state.rollouts.items() if rollout.consumed and f"{stem}.jsonl" in seen.sessions]
    )


def _unread(stems: list[str]) -> Change:
    return Change("extraction", tuple(Operation("consume", stem, {"consumed": 0}) for stem in stems))


def _read_by(transcript: bytes, updated: str) -> int:
    """How many bytes of a transcript an SDK extraction of that time had read: up to its last line of that time."""
    rollout = parse_rollout(transcript, rollout_id="", path="")
    end = position = 0
    times = iter(segment.updated_at for segment in rollout.segments)
    for line in transcript.splitlines(keepends=True):
        position += len(line)
        if line.strip() and next(times, "") <= updated:
            end = position
    return end
