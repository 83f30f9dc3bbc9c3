"""The shell around the pure stages: one memory of one workspace, looked at in one call and written in one more."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial

from .. import usage
from ..errors import Conflict, WorkspaceError
from ..folding import apply, fold
from ..guard import Guard
from ..layout import Layout
from ..ledger import Commit, Ledger, encode, parse
from ..state import State
from ..trusting.salting import salt_for
from ..trusting.witness import Head, Witness
from ..workspace import ABSENT, TAIL, Append, Ask, Mark, Remove, Replace, View, Workspace, digest
from ..workspace.local import LocalWorkspace
from ..workspace.writers import saved, saved_at
from . import keeping, presence, visits
from .settle import Change, Maker, Prepared, Seen, prepare

logger = logging.getLogger("sandbox_memory")

VISIT = "visit:"
Step = Append | Replace | Remove
Extra = Callable[[Seen, Prepared], Iterable[Step]]

LARGEST_VIEW = 4 << 20
"""Bytes of `MEMORY.md`, `memory_summary.md` and `INBOX.md` from which on they are left alone."""
TOO_LARGE = f"has more than {LARGEST_VIEW >> 20} MiB"
_FITS = range(1, LARGEST_VIEW + 1)
LARGE = 256 << 10
"""Bytes of markdown from which on it is read in a thread, so that the event loop and its timeouts go on."""
TRIES = 50
"""How often a commit is planned again because another process was faster."""


class Store:
    """Reads and commits one memory; safe beside other processes and beside an editor.

    `now` gives the time that commits get. All methods raise `WorkspaceError` where the ledger itself cannot be read or
    written, and `Conflict` when other writers were faster `TRIES` times.
    """

    def __init__(
        self,
        workspace: Workspace,
        layout: Layout,
        *,
        guard: Guard | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.workspace, self.layout, self.guard = workspace, layout, guard or Guard()
        self._now = now or (lambda: datetime.now(tz=timezone.utc))
        self.root = workspace.root if isinstance(workspace, LocalWorkspace) else None
        self.salt = salt_for(layout.memories_dir, self.guard.key)
        self.witness = Witness(layout, key=self.guard.key, place=_place(workspace))
        self._ledger = Ledger(witness=self.witness)
        self._listed: tuple[Mapping[str, int], Mapping[str, int]] | None = None
        self._shown: tuple[Mark, tuple[bytes | None, ...]] | None = None
        self.lost = False
        """True if `MEMORY.md` was missing: then what else is missing has not been deleted."""
        self._lock = asyncio.Lock()
        self._mark = ""
        self.asker = "cli"
        """Who gives the commands that are committed here, as the ledger says: `cli`, or `web` for the page."""
        self.visit = visits.Visit(self.root, layout.memories_dir)

    @property
    def marks_folder(self) -> str:
        """Where each open session has an empty file: an edit made meanwhile may be the agent's."""
        return self.layout.memory(".open")

    def at(self) -> str:
        """The time now, ISO 8601 in UTC."""
        return self._now().astimezone(timezone.utc).isoformat(timespec="milliseconds")

    async def see(self, *, listing: bool = True) -> Seen:
        """Look at the memory in one call, without the part of the ledger that was read before.

        Without `listing` the transcripts and raw memories are taken to be those of the last look: where they do not
        matter, their number costs nothing.
        """
        layout = self.layout
        views = (layout.handbook, layout.summary, layout.inbox)
        folders = [layout.sessions_dir, layout.memory("raw_memories")] if listing or self._listed is None else []
        twins = {path: keeping.twin(layout, path) for path in views}
        asks = [Ask(path, limit=LARGEST_VIEW + 1) for path in (*views, *twins.values())]
        counts = layout.memory(usage.FILE)
        asks += [Ask(counts, limit=usage.LARGEST + 1)] if folders else []
        saves = [self.root / path for path in views] if self.root else []
        await saved(saves)
        view = await self._look_on(asks, [self.marks_folder, *folders])
        if folders:
            self._listed = (view.folders.get(folders[0], {}), view.folders.get(folders[1], {}))
        sessions, raw_memories = self._listed or ({}, {})
        large = {path: TOO_LARGE for path in views if len(view.files.get(path, b"")) > LARGEST_VIEW}
        files = {path: data for path, data in view.files.items() if path not in large}
        unusable = {**view.problems, **large}
        for path, problem in unusable.items():
            logger.warning("sandbox memory: %s: %s; it is left alone", path, problem)
        return Seen(
            ledger=self._ledger,
            handbook=files.get(layout.handbook),
            summary=files.get(layout.summary),
            inbox=files.get(layout.inbox),
            sessions=sessions,
            raw_memories=raw_memories,
            open_marks=(*view.folders.get(self.marks_folder, {}), *(VISIT + name for name in self.visit.all())),
            unusable=unusable,
            usage=files.get(counts, b""),
            kept={path: files[twin] for path, twin in twins.items() if len(files.get(twin, b"")) in _FITS},
            saved=saved_at(saves),  # after the look: a save in between is told as later than it was, never as earlier
        )

    async def _look_on(self, asks: Sequence[Ask | str] = (), folders: Sequence[str] = ()) -> View:
        """Look, and take in what the ledger says since; all of it if it is not the one that was read before."""
        # What another task reads meanwhile is not gone back on: the next look finds what this one saw.
        ledger, path = self._ledger, self.layout.ledger
        known, head = ledger.data, self.witness.recall()
        start = max(0, len(known) - TAIL) if known.endswith(b"\n") else 0
        view = await self.workspace.look([Ask(path, start=start), *asks], folders)
        if start and not view.files.get(path, b"").startswith(known[start:]):
            start = 0
            view = await self.workspace.look([path, *asks], folders)
        if path in view.problems:
            hint = "Move it away, then try again: it is rebuilt from nothing else"
            raise WorkspaceError(path, view.problems[path], hint)
        found = view.files.get(path, b"")
        if found != known[start:] and self._ledger is ledger:
            goes_on = known.endswith(b"\n") and found.startswith(known[start:])
            self._ledger = parse(known[:start] + found, ledger if goes_on else None, self.witness)
        if self._ledger is not ledger or not known:
            self._missed(head, view)
        return view

    def _missed(self, head: Head, view: View) -> None:
        """Note where the history is not the one that this machine wrote, nor goes on from it."""
        if head.lost_by(self._ledger):
            views = {self.layout.handbook, self.layout.summary}
            nothing = not self._ledger.data and not self._shown and views.isdisjoint(view.files)
            self.witness.missed(head, self._ledger, anew=nothing)

    async def settle(
        self, actor: str, makers: Sequence[Maker] = (), extra: Extra | None = None, *, seen: Seen | None = None
    ) -> Prepared:
        """Adopt what people changed, commit what the makers decide, and write the markdown.

        `actor` is who edited, unless a session is open meanwhile: then it may have been its agent. `extra` gives
        further steps of the same transaction. A file that somebody saved in the meantime is not
        overwritten: it is adopted in turn. `seen` saves the first look, where one was just taken.
        """
        async with self._lock:
            return await self._settle(actor, makers, extra, seen)

    async def _settle(self, actor: str, makers: Sequence[Maker], extra: Extra | None, first: Seen | None) -> Prepared:
        refused_twice = 0
        done: Prepared | None = None
        written: int | None = None
        for _ in range(TRIES):
            seen, first = replace(first or await self.see(listing=False), written=written), None
            self.lost = self.lost or (not seen.handbook and len(seen.ledger) > 0)
            who = "live" if self.others_open(seen.open_marks)[0] else actor
            clean = self._shown == (seen.ledger.mark, _views(seen)) and not seen.unusable
            prepared = await self.prepare(seen, who, () if done else makers, clean=clean)
            steps: list[Step] = [*prepared.steps, *(extra(seen, prepared) if extra else ())]
            whole = prepared if done is None else done.then(prepared)
            if not steps:
                self._taken_in(seen, prepared)
                return whole
            steps += await keeping.room(self.workspace, steps)
            self._anchor(seen.ledger, steps)
            try:
                outcome = await self.workspace.transact(steps, lock=self.layout.memory(".lock"))
            except Conflict:
                await asyncio.sleep(random.uniform(0, 0.02))
                continue
            if prepared.committed:
                self._wrote(prepared.ledger, steps)
            done, extra = whole, None
            if self.layout.handbook in outcome.skipped and written is None:
                written = len(seen.ledger)
            views = {self.layout.handbook, self.layout.summary, self.layout.inbox}
            if views.isdisjoint(outcome.skipped):
                self._taken_in(seen, prepared)
                return whole
            refused_twice += 1
            if refused_twice > 3:
                logger.warning("sandbox memory: could not write %s; the next opening will", ", ".join(outcome.skipped))
                return whole
        raise Conflict(self.layout.ledger, f"other writers were faster {TRIES} times; try again")

    async def prepare(self, seen: Seen, actor: str, makers: Sequence[Maker], *, clean: bool = False) -> Prepared:
        """What `settle` would write; `clean` if the files are known to be as it left them."""
        work = partial(prepare, seen, actor=actor, layout=self.layout, at=self.at(), makers=makers, clean=clean)
        work.keywords["salt"] = self.salt
        large = sum(len(data or b"") for data in (seen.handbook, seen.summary, seen.inbox)) > LARGE
        return await asyncio.to_thread(work) if large else work()

    async def append(self, maker: Maker, files: Sequence[Replace] = ()) -> State:
        """Commit what `maker` decides, after writing `files`, without touching the markdown.

        The ledger is read again only if another process has written to it. Returns the state after the commit. Raises
        `Conflict` if a required one of the `files` is not what it was.
        """
        async with self._lock:
            for attempt in range(TRIES):
                if attempt:
                    await self._look_on()
                state = fold(self._ledger)
                change = maker(state).without_secrets(self.salt)
                if change.empty:
                    return state
                draft = _draft(change, state, self.at())
                lines, ledger = encode(self._ledger, [draft])
                steps: list[Step] = [*files, Append(self.layout.ledger, lines, expect=self._ledger.mark)]
                self._anchor(self._ledger, steps)
                try:
                    await self.workspace.transact(steps, lock=self.layout.memory(".lock"))
                except Conflict as conflict:
                    if conflict.path != self.layout.ledger:
                        raise
                    await asyncio.sleep(random.uniform(0, 0.02))
                    continue
                self._wrote(ledger, steps)
                apply(state, ledger.commits[-1])
                return state
        raise Conflict(self.layout.ledger, f"other writers were faster {TRIES} times; try again")

    async def reread(self) -> None:
        """Read the ledger again and judge all of it anew."""
        self._ledger = Ledger(witness=self.witness)
        await self._look_on()

    @property
    def ledger(self) -> Ledger:
        """The ledger as it was last seen or written."""
        return self._ledger

    async def look(self, asks: Sequence[Ask | str], folders: Sequence[str] = ()) -> View:
        """Read other files of the workspace, in one call. What cannot be read is logged."""
        view = await self.workspace.look(asks, folders)
        for path, problem in view.problems.items():
            logger.warning("sandbox memory: %s: %s; it is left alone", path, problem)
        return view

    async def write(self, steps: Sequence[Step]) -> None:
        """Write other files under the memory's lock, and anchor rollout lines among them."""
        self._anchor(self._ledger, steps)
        await self.workspace.transact(steps, lock=self.layout.memory(".lock"))
        for step in steps:
            if isinstance(step, Append):
                self.witness.recorded_line(step.path, step.data)

    def _anchor(self, ledger: Ledger, steps: Iterable[Step]) -> None:
        """Note the lines that are about to be written: a process that is killed in between has forged nothing."""
        for step in steps:
            if isinstance(step, Append) and step.path == self.layout.ledger:
                self.witness.writes(ledger, step.data)
            elif isinstance(step, Append) and step.path.startswith(f"{self.layout.sessions_dir}/"):
                self.witness.records(step.path, step.data)

    def _wrote(self, ledger: Ledger, steps: Iterable[Step]) -> None:
        self._ledger = ledger
        for step in steps:
            if isinstance(step, Append) and step.path == self.layout.ledger:
                self.witness.reached(ledger, step.data)

    def mark_open(self) -> Step:
        """The step that says that a session is open; see `others_open`."""
        self._mark = self._mark or presence.new()
        return Replace(f"{self.marks_folder}/{self._mark}", b"open\n")

    def mark_again(self) -> list[Step]:
        """The steps that renew the mark of a session that goes on and on, before anybody takes it for left over."""
        old = self._mark
        if not old or not presence.older(old, presence.AGE / 24):
            return []
        self._mark = ""
        return [self.mark_open(), Remove(f"{self.marks_folder}/{old}")]

    def mark_closed(self) -> list[Step]:
        """The steps that take this session's mark away."""
        mark, self._mark = self._mark, ""
        return [Remove(f"{self.marks_folder}/{mark}")] if mark else []

    def others_open(self, names: Iterable[str]) -> tuple[list[str], list[Step]]:
        """The marks of other sessions, and the steps that remove those that were left over by killed ones.

        A left-over mark counts: an edit made after the kill cannot be told from one that the agent made before. So does
        the visit of a session that only read.
        """
        others = [mark for mark in names if mark not in (self._mark, VISIT + self.visit.name)]
        left = (mark for mark in others if not mark.startswith(VISIT) and presence.stale(mark))
        return others, [Remove(f"{self.marks_folder}/{mark}") for mark in left]

    def agents_elsewhere(self, names: Iterable[str]) -> bool:
        """True if one of these marks is of a session that another process has open now."""
        return any(
            visits.elsewhere(name.removeprefix(VISIT)) if name.startswith(VISIT) else presence.elsewhere(name)
            for name in names
        )

    def _taken_in(self, seen: Seen, done: Prepared) -> None:
        written = {step.path: step.data for step in done.steps if isinstance(step, Replace)}
        paths = (self.layout.handbook, self.layout.summary, self.layout.inbox)
        now = tuple(written.get(path, data) for path, data in zip(paths, _views(seen), strict=True))
        self._shown = (done.ledger.mark, now)
        names = [mark.removeprefix(VISIT) for mark in seen.open_marks if mark.startswith(VISIT)]
        if names:
            self.visit.taken_in(names)


def _place(workspace: Workspace) -> str:
    """What this machine knows the workspace by: its folder, or the id of the session that it is reached through."""
    if isinstance(workspace, LocalWorkspace):
        return str(workspace.root.resolve())
    state = getattr(getattr(workspace, "session", None), "state", None)
    id = getattr(state, "session_id", None)
    return f"{getattr(state, 'type', '')}:{id}" if id else ""


def _views(seen: Seen) -> tuple[bytes | None, ...]:
    return (seen.handbook, seen.summary, seen.inbox)


def _draft(change: Change, state: State, at: str) -> Commit:
    return Commit(state.ordinal + 1, at, change.actor, change.operations, change.consolidated, change.settings)


def changed(files: Mapping[str, bytes], path: str, data: bytes) -> list[Step]:
    """The step that brings a file up to `data`, or none if it says so already."""
    before = files.get(path)
    if before == data:
        return []
    return [Replace(path, data, expect=ABSENT if before is None else digest(before))]
