"""`open_memory`: the memory of a folder, for plain Python without an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..document import Document, ListItem
from ..errors import Unknown, WrongKey
from ..folding.between import Difference
from ..folding.past import Then, Wording, before_now
from ..governance.lifetime import Life
from ..guard import Guard, as_key
from ..inquiry import CheckReport, Inquiry, Reason
from ..layout import Layout
from ..models.choice import choose
from ..pipeline import (
    Limits,
    Pipeline,
    Report,
    answering,
    commands,
    earlier,
    losses,
    mending,
    rebuilding,
    undoing,
    vouching,
)
from ..pipeline.answering import Answered
from ..pipeline.forgetting import forget as forgetting
from ..pipeline.forgetting.carrying import Outcome
from ..pipeline.forgetting.files import Place
from ..pipeline.forgetting.forget import Wanted
from ..pipeline.rebuilding import Rebuilt
from ..pipeline.reports import Progress
from ..pipeline.settle import Prepared
from ..pipeline.undoing import Undone
from ..policy import MemoryPolicy
from ..records import Asked, Kind, Record, RunCapture
from ..scope import MemoryScope
from ..state import State
from ..workspace.local import LocalWorkspace
from .opening import generating, kept, run, sessions, sessions_beside, settings_of

if TYPE_CHECKING:
    from ..config import MemoryGenerateConfig


def open_memory(
    workspace: str | Path,
    *,
    memories_dir: str = "memories",
    sessions_dir: str | None = None,
    preset: str | None = None,
    shared: bool | None = None,
    generate: MemoryGenerateConfig | None = None,
    scope: MemoryScope | None = None,
    policy: MemoryPolicy | None = None,
    key: bytes | str | None = None,
    forgotten: Iterable[Path | str] = (),
) -> OpenMemory:
    """The memory of a workspace folder, as a context manager.

    `sessions_dir`, `preset` and `shared` (a team's) are by default what the memory's ledger says, else `sessions` and
    `default`. With a `scope` it is that scope's memory, in its folders below these two. `policy`, `key` and
    `forgotten` are those of `Memory`. Raises `Unknown` if the folder does not exist, and `ConfigError` for folders
    that leave it.
    """
    guard = Guard(policy or MemoryPolicy(), as_key(key), tuple(Path(each) for each in forgotten))
    root = Path(workspace)
    if not root.is_dir():
        raise Unknown(f"there is no folder {root}; name a workspace that holds {memories_dir}/ or sessions/")
    local = LocalWorkspace(root)
    base = Layout.of(memories_dir, sessions_dir or sessions_beside(memories_dir))
    first = (scope or MemoryScope()).within(base)
    settings = run(settings_of(local, first, guard))
    above = run(settings_of(local, base, guard)) if first != base and not settings else {}
    layout = Layout.of(
        first.memories_dir,
        first.sessions_dir if sessions_dir else sessions(first, settings, above),
        preset or str({**above, **settings}.get("preset", "default")),
        shared=bool({**above, **settings}.get("shared", False)) if shared is None else shared,
    )
    return OpenMemory(Pipeline(local, layout, generate=generate or kept(settings), guard=guard))


__all__ = ["OpenMemory", "open_memory", "run"]


class OpenMemory:
    """A memory in a local folder. Every method takes in first what people changed in the markdown, but dry runs.

    Safe beside agents, editors and other processes that use the same folder;
    nothing is held open between calls.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.inquiry = Inquiry(pipeline.store)

    @property
    def adopted(self) -> int:
        """How many changes that were made in the files have been taken in so far."""
        return self.pipeline.adopted

    def __enter__(self) -> OpenMemory:
        with suppress(WrongKey):  # it can be looked at and vouched for; whatever writes says so
            self.adopt()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left to do: every call has committed what it did."""

    @property
    def layout(self) -> Layout:
        """The folders and the preset of this memory."""
        return self.pipeline.layout

    def adopt(self, *, dry_run: bool = False) -> Prepared:
        """Take in what people changed; with `dry_run` nothing is written, and the outcome says what that would give."""
        return run(self.pipeline.adopt(dry=dry_run))

    def records(self, *, as_of: str | int | datetime | None = None) -> list[Record]:
        """The records that stand in `MEMORY.md`, oldest first; with `as_of`, those that were so then.

        `as_of` is a time (ISO text is local where it names no zone, a date alone its last moment) or the number of a
        commit. Raises `Unknown` for one before the first, `ConfigError` for what is neither.
        """
        done = self.adopt()
        if as_of is not None:
            return list(self.as_of(as_of).records)
        return sorted(done.state.visible().values(), key=lambda record: (record.created, record.id))

    def as_of(self, when: str | int | datetime) -> Then:
        """What was so at that time or after that commit, with both; see `records`."""
        self.adopt()
        return run(self.inquiry.as_of(when))

    def state(self) -> State:
        """All that the ledger adds up to, the records out of sight included."""
        return self.adopt().state

    def items(self) -> tuple[ListItem, ...]:
        """The list items of `MEMORY.md` as it is, in the order of its lines."""
        view = run(self.pipeline.store.look([self.layout.handbook]))
        return Document.parse(view.files.get(self.layout.handbook, b"")).items

    def add(
        self,
        text: str,
        *,
        kind: Kind | str = Kind.FACT,
        group: str = "General",
        importance: float | None = None,
        pinned: bool | None = None,
        ttl: timedelta | float | None = None,
        expires: datetime | str | None = None,
    ) -> Record:
        """Remember a line in so many words; it counts as written by hand, and no machine alters it.

        After its `ttl` (a timedelta or seconds), or from the time `expires` on, it is out of sight. `importance` is a
        number from 0 to 1. What is `pinned` is never let go for want of room. Raises `ConfigError` for other values.
        """
        life = Life(importance, pinned, ttl, expires)
        return run(commands.add(self.pipeline, text, kind=Kind(kind), group=group, life=life))

    def revise(
        self,
        id: str,
        text: str | None = None,
        *,
        expected_version: int | None = None,
        importance: float | None = None,
        pinned: bool | None = None,
        ttl: timedelta | float | None = None,
        expires: datetime | str | None = None,
    ) -> Record:
        """Give a record other words, or another lifetime (`expires="never"` for none); the words are then by hand.

        Raises `LostUpdate`, with both texts, if the record is no longer at the `expected_version` (`record.version`),
        and otherwise as `add` does; `Unknown` for an id that no record in sight has.
        """
        life = Life(importance, pinned, ttl, expires)
        return run(commands.revise(self.pipeline, id.lstrip("^"), text, expected_version=expected_version, life=life))

    def pin(self, id: str, pinned: bool = True) -> Record:
        """Never let a record go for its age or for want of room, or do so again. Raises as `revise` does."""
        return self.revise(id, pinned=pinned)

    def delete(self, id: str, *, expected_version: int | None = None) -> Record:
        """Take a record out; `restore` brings it back. Raises as `revise` does."""
        return run(commands.delete(self.pipeline, id.lstrip("^"), expected_version=expected_version))

    def restore(
        self, *ids: str, as_of: str | int | datetime | None = None, expected_version: int | None = None
    ) -> list[Record]:
        """Bring back records that expired, or were let go, deleted or superseded. Raises `Unknown` for other ids.

        With `as_of`, a time or the number of a commit as in `records`, each becomes what it was then, also one that is
        in sight: see `pipeline.earlier.put_back`. `wordings` says what there is to put back.
        """
        names = [id.lstrip("^") for id in ids]
        if as_of is None:
            return run(commands.restore(self.pipeline, names, expected_version=expected_version))
        return run(earlier.put_back(self.pipeline, names, as_of, expected_version=expected_version))

    def wordings(self, id: str) -> tuple[Wording, ...]:
        """What a record said before, in sight, that it does not say now; the oldest first, each with its commit."""
        record = self.state().records.get(id.lstrip("^"))
        return before_now(self.pipeline.store.ledger, record) if record else ()

    def forget(
        self,
        *ids: str,
        subject: str = "",
        rollout: str = "",
        user: str = "",
        text: str = "",
        everything: bool = False,
        expected_version: int | None = None,
        dry_run: bool = False,
        receipt: str | Path | None = None,
    ) -> Outcome:
        """Forget records, what is said of a subject, a conversation, what a user said of themselves, words, or all.

        They leave every file; the outcome says where they stood, where they still stand (nowhere, if all is well), and
        which receipts recognise them in an older copy; `receipt` names one more file for it. With `dry_run` nothing is
        changed. Raises `Unknown` for what there is not, and `LostUpdate` for records not at the `expected_version`.
        """
        subjects, rollouts, users, texts = ((name,) if name else () for name in (subject, rollout, user, text))
        records = tuple(dict.fromkeys(id.lstrip("^") for id in ids))
        wanted = Wanted(records, subjects, rollouts, users, texts, everything)
        kept = Path(receipt) if receipt is not None else None
        expected = {} if expected_version is None else dict.fromkeys(records, expected_version)
        return run(forgetting.forget(self.pipeline, wanted, expected=expected, dry_run=dry_run, receipt=kept))

    def apply_receipt(self, receipt: str | Path) -> Outcome:
        """Forget once more what a receipt is of, after an older copy was restored. Raises `ConfigError` for others."""
        return run(forgetting.apply(self.pipeline, Path(receipt)))

    def standing(self, *ids: str) -> list[Place]:
        """Where lines that were deleted from the markdown still stand in transcripts and notes."""
        known = self.state().records
        return run(forgetting.standing(self.pipeline.store, [known[id] for id in ids if id in known]))

    def record(self, items: Sequence[dict[str, Any]], *, rollout_id: str, final_output: object = None) -> str:
        """Append the items of a run that did not go through `Runner`; returns the name of its rollout file."""
        ended = {"terminal_state": "completed", "exception_type": None, "exception_message": None}
        capture = RunCapture(
            rollout_id=rollout_id,
            source="conversation",
            input=list(items),
            generated=[],
            final_output=final_output,
            interruptions=[],
            terminal={**ended, "has_final_output": final_output is not None},
            agent=None,
            resumed=False,
        )
        return run(self.pipeline.record(capture))

    def process(
        self, model: Any = None, *, again: bool = False, progress: Progress = lambda what, done, of: None
    ) -> Report:
        """Extract and consolidate what is pending, without a time limit.

        `model` is used for both phases: `"offline"`, a name, or a `Model` object; by default the configured. Raises
        `HistoryLost` where commits of the history are missing: what they had deleted would be learned again.
        """
        run(losses.whole(self.pipeline.store, going_on=False))
        generate = generating(self.pipeline.generate)
        if model is not None:
            generate = replace(generate, phase_one_model=model, phase_two_model=model)
        self.pipeline.generate = generate
        limits = Limits(generate.attempts, generate.retry_delay, generate.concurrency, None, generate.extra_prompt)
        return run(self.pipeline.process(choose(generate), limits, again=again, progress=progress))

    def status(self) -> dict[str, Any]:
        """Counts, pending work with its causes, usage."""
        self.adopt()
        return run(self.inquiry.status())

    def history(self) -> list[dict[str, Any]]:
        """The commits, newest first, each with what it did; see `folding.chronicle`."""
        self.adopt()
        return run(self.inquiry.history())

    def diff(self, before: str | int | datetime, after: str | int | datetime | None = None) -> Difference:
        """What changed between two times or commits, as in `records`; the second is by default now."""
        self.adopt()
        return run(self.inquiry.diff(before, after))

    def why(self, target: str) -> Reason:
        """Why a record is there, by its id or by `FILE:LINE`, its quotes verified now."""
        self.adopt()
        return run(self.inquiry.why(target))

    def reasons(self, file: str = "MEMORY.md") -> list[tuple[int, Reason]]:
        """The same for every line of `MEMORY.md` or `memory_summary.md` that is a record, with its number."""
        self.adopt()
        return run(self.inquiry.reasons(file))

    def inbox(self) -> list[Asked]:
        """The questions that wait for a person, the oldest first."""
        return answering.questions(self.state())

    def answer(self, id: str, accept: bool, words: str = "", *, question: str | None = None) -> Answered:
        """Say yes or no to one of them; `words` are remembered in place of what it proposes.

        Raises `Unknown` for a question that is not open, `SandboxMemoryError` for one that asks something else by now
        than that `question`, and `SandboxMemoryError` while another process has an agent's
        session open, which may be who answers, unless there is a key.
        """
        return run(answering.answer(self.pipeline, id.lstrip("^"), accept=accept, words=words, question=question))

    def undo(self, *commits: int, dry_run: bool = False) -> Undone:
        """Take commits back, by their numbers, in a new commit; later work by hand stays. See `pipeline.undoing.undo`.

        With `dry_run` nothing is written. Raises `Unknown` for a number that no commit has, `SandboxMemoryError` where
        there is nothing to take back.
        """
        return run(undoing.undo(self.pipeline, commits, dry_run=dry_run))

    def vouch(self) -> vouching.Vouched:
        """Take in what something else wrote into the history, as it stands; see `pipeline.vouching`."""
        return run(vouching.vouch(self.pipeline))

    def rebuild(self, *, dry_run: bool = False) -> Rebuilt:
        """Write `MEMORY.md` anew from the history, without a model; a copy keeps what only the old file said."""
        return run(rebuilding.rebuild(self.pipeline, dry_run=dry_run))

    def check(self, *, fix: bool = False) -> CheckReport:
        """Whether chain, receipts and authors verify, and what else is amiss; with `fix`, what code can mend is."""
        mended = run(mending.mend(self.pipeline)) if fix else []
        report = run(self.inquiry.check())
        report.mended = mended
        return report
