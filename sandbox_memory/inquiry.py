"""Questions to a memory: what is there, why, what happened, and does it verify. Nothing here writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from .blocks import split
from .certain import telling_first
from .document import Document
from .errors import Unclear, Unknown
from .folding import fold
from .folding.between import Difference, between
from .folding.chronicle import chronicle, marks_of
from .folding.past import Then, as_of
from .folding.said import Said, having, nearest, said
from .governance.lifetime import EXPIRED
from .pipeline import mending
from .pipeline.reports import due
from .pipeline.settle import Seen
from .pipeline.store import Store
from .pipeline.telling import Told, told
from .receipts import Receipt, receipt
from .records import Evidence, Record, Rollout, Status
from .rollouts import parse_rollout
from .state import State
from .trusting import checking, reporting
from .trusting.checking import CheckReport, Finding
from .usage import Use, read
from .usage import ids as usage_ids

__all__ = ["CheckReport", "Event", "Finding", "Inquiry", "Reason"]

NEAREST = 5
"""How many lines are named that are near to words which no line has."""
_ID = re.compile(r"[mp]-[0-9a-f]{10}")
_PLACE = re.compile(r"(?:.*\.md|\S*[./]\S*):[0-9]{1,9}")
"""FILE:LINE; what else ends like that is words, such as a time of day."""


@dataclass(frozen=True)
class Event:
    """One commit that touched a record; `id` is another record's where that one replaced it.

    `marks` is what else it says of the record, as in the history.
    """

    commit: int
    at: str
    actor: str
    op: str
    text: str = ""
    id: str = ""
    marks: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reason:
    """Why a line is there: its record, its receipts, what happened to it, what it replaced and what replaced it.

    `told` says whether a run is told it. `earlier` are, of a line without receipts, those of what it said before.
    """

    record: Record
    receipts: tuple[Receipt, ...]
    events: tuple[Event, ...]
    visible: bool
    replaced: tuple[Record, ...] = ()
    successor: Record | None = None
    use: Use = field(default_factory=Use)
    told: Told = field(default_factory=Told)
    earlier: tuple[Receipt, ...] = ()


class Inquiry:
    """Reads one memory and its transcripts on demand."""

    def __init__(self, store: Store) -> None:
        self.store, self.layout = store, store.layout

    async def state(self) -> State:
        """The records as the ledger has them now."""
        await self.store.see()
        return fold(self.store.ledger)

    async def as_of(self, when: str | int | datetime) -> Then:
        """The records as they were at a time or after a commit; see `folding.past.as_of`."""
        await self.store.see()
        return as_of(self.store.ledger, when)

    async def status(self) -> dict[str, Any]:
        """Counts, pending work with its causes, usage, and files that are not usable."""
        seen = await self.store.see()
        state = fold(seen.ledger)
        visible = state.visible()
        kinds: dict[str, int] = {}
        for record in visible.values():
            kinds[record.kind.value] = kinds.get(record.kind.value, 0) + 1
        others, _ = self.store.others_open(seen.open_marks)
        return {
            "memories_dir": self.layout.memories_dir,
            "sessions_dir": self.layout.sessions_dir,
            "preset": state.settings.get("preset", self.layout.preset.name),
            "commits": len(seen.ledger),
            "records": len(visible),
            "records_by_kind": kinds,
            "hidden": sum(1 for r in state.records.values() if r.status is Status.ACTIVE) - len(visible),
            "superseded": sum(1 for r in state.records.values() if r.status is Status.SUPERSEDED),
            "expired": sum(1 for r in state.records.values() if r.status is Status.RETIRED and r.retired == EXPIRED),
            "let_go": sum(1 for r in state.records.values() if r.status is Status.RETIRED and r.retired != EXPIRED),
            "deleted": sum(1 for r in state.records.values() if r.status is Status.DELETED),
            "inbox": [p.text for p in state.proposals.values()],
            "rollouts": sum(1 for name in seen.sessions if name.endswith(".jsonl")),
            "pending": [
                {"rollout": item.stem, "bytes": item.size - item.start, **_failure(state, item.stem)}
                for item in due(seen, state)
            ],
            "unconsolidated": [
                {"rollout": stem, "memories": len(candidates)} for (stem, _), candidates in state.pending.items()
            ],
            "consolidation": _failure(state, ""),
            "usage": {stem: dict(r.usage) for stem, r in state.rollouts.items() if any(r.usage.values())},
            "consolidation_usage": dict(state.consolidation_usage),
            "max_raw_memories": state.limit,
            "open_sessions": len(others),
            "unusable": {**seen.unusable, **self._unreadable(seen)},
            "ledger_problems": [asdict(problem) for problem in seen.ledger.problems],
        }

    def _unreadable(self, seen: Seen) -> dict[str, str]:
        """The lines of the two files that hold bytes which are no UTF-8: they stay, and nothing is read from them."""
        files = ((self.layout.handbook, seen.handbook), (self.layout.summary, seen.summary))
        return {
            f"{path}:{item.line}": "holds bytes that are no UTF-8"
            for path, data in files
            if data and not _is_utf8(data)
            for item in Document.parse(data).items
            if not item.readable
        }

    async def history(self) -> list[dict[str, Any]]:
        """The commits, newest first, each with what it did; see `folding.chronicle`."""
        await self.store.see()
        return chronicle(self.store.ledger)

    async def diff(self, before: str | int | datetime, after: str | int | datetime | None = None) -> Difference:
        """What changed between two times or commits, the second by default now; see `as_of`."""
        await self.store.see()
        ledger = self.store.ledger
        return between(as_of(ledger, before), as_of(ledger, len(ledger) if after is None else after))

    async def why(self, target: str) -> Reason:
        """Why a record is there, by its id, `FILE:LINE`, or words that only it has; raises `Unknown` for others."""
        (reason,) = await self._reasons([await self._id(target)])
        return reason

    async def reasons(self, file: str) -> list[tuple[int, Reason]]:
        """Why each line of `MEMORY.md` or `memory_summary.md` is there that is a record, with its number.

        Raises `Unknown` for a file that is not there.
        """
        document = await self._document(file)
        await self.store.see()
        known = fold(self.store.ledger).records
        items = [item for item in document.items if item.id in known]
        found = {reason.record.id: reason for reason in await self._reasons(list(dict.fromkeys(i.id for i in items)))}
        return [(item.line, found[item.id]) for item in items]

    async def _reasons(self, ids: Sequence[str]) -> list[Reason]:
        seen = await self.store.see()
        state, wanted = fold(self.store.ledger), set(ids)
        missing = next((id for id in ids if id not in state.records), None)
        if missing is not None:
            raise Unknown(f"there is no record {missing}; `sandbox-memory show` lists the records with their ids")
        earlier = {id: _earlier(state, id) for id in ids}
        quotes = {id: telling_first(state.records[id]) for id in ids}
        rollouts = await self.rollouts({e.rollout for id in ids for e in (*quotes[id], *earlier[id])})
        events: dict[str, list[Event]] = {id: [] for id in ids}
        for commit in self.store.ledger.commits:
            for operation in commit.operations:
                text = str(operation.body.get("text", ""))
                event = Event(commit.ordinal, commit.at, commit.actor, operation.op, text, operation.id)
                for id in wanted.intersection((operation.id, *operation.facts.get("replaces", ()))):
                    events[id].append(replace(event, marks=marks_of(operation) if operation.id == id else {}))
        replaced: dict[str, list[Record]] = {}
        for each in state.records.values():
            if each.superseded_by in wanted:
                replaced.setdefault(each.superseded_by, []).append(each)
        uses, visible = read(seen.usage, self.store.at()), state.visible()
        block = split(seen.summary or b"").block
        shown = frozenset(usage_ids(block.text)) if block else frozenset()
        return [
            Reason(
                record,
                tuple(receipt(e, rollouts.get(e.rollout), self.layout) for e in quotes[record.id]),
                tuple(events[record.id]),
                record.id in visible,
                tuple(replaced.get(record.id, ())),
                state.records.get(record.superseded_by),
                uses.get(record.id, Use()),
                told(record, self.layout.preset, visible, shown),
                tuple(receipt(e, rollouts.get(e.rollout), self.layout) for e in earlier[record.id]),
            )
            for record in (state.records[id] for id in ids)
        ]

    async def _document(self, file: str) -> Document:
        path = self.layout.memory(file.rsplit("/", 1)[-1])
        view = await self.store.look([path])
        if path not in view.files:
            raise Unknown(f"there is no file {path}; name MEMORY.md or memory_summary.md and a line of it")
        return Document.parse(view.files[path])

    async def _id(self, target: str) -> str:
        plain = target.strip().lstrip("^")
        if _ID.fullmatch(plain):
            return plain
        if _ID.fullmatch(f"m-{plain}"):
            return f"m-{plain}"
        if not _PLACE.fullmatch(plain):
            return await self._saying(plain)
        file, _, number = plain.rpartition(":")
        path, document = self.layout.memory(file.rsplit("/", 1)[-1]), await self._document(file)
        if int(number) > len(document.lines):
            raise Unknown(f"{path} has {len(document.lines)} lines, and no line {number}")
        within = [item for item, node, _ in document.addressed if node.start < int(number) <= node.end]
        items = [item for item in within if item.line <= int(number)]
        if not items or not document.lines[int(number) - 1][0].strip():
            raise Unknown(f"line {number} of {path} belongs to no list item")
        if not items[-1].id:
            raise Unknown(f"line {number} of {path} has no block id yet; `sandbox-memory status` adopts it")
        return items[-1].id

    async def _saying(self, words: str) -> str:
        """The id of the only line that has all these words: of those in sight, else of all, else as it was before."""
        tiers = said(self.store.ledger, await self.state())
        for tier in tiers:
            found = having(tier, words)
            if len(found) > 1:
                raise Unclear(f"{len(found)} lines say “{words}”; name one of these by its id", _lines(found))
            if found:
                return found[0].id
        near = nearest([each for tier in tiers for each in tier], words, NEAREST)
        told = f"no line says “{words}”, and it is no id and no FILE:LINE with one line"
        what = "name one of the nearest by its id" if near else "`sandbox-memory show` lists the records with their ids"
        raise Unclear(f"{told}; {what}", _lines(near))

    async def rollouts(self, stems: Iterable[str]) -> Mapping[str, Rollout]:
        """These transcripts, read whole; those that are gone are left out."""
        paths = {stem: self.layout.session(f"{stem}.jsonl") for stem in stems}
        view = await self.store.look(list(paths.values()))
        return {
            stem: parse_rollout(view.files[path], rollout_id=stem, path=path, memories_dir=self.layout.memories_dir)
            for stem, path in paths.items()
            if path in view.files
        }

    async def check(self) -> CheckReport:
        """Verify the chain, every receipt, and what this machine can vouch for."""
        seen = await self.store.see()
        if (Document.parse(seen.handbook or b"").marker or 0) > len(seen.ledger):
            seen = await self.store.see()  # a commit may have come between two files of the first look
        layout, ledger, state = self.layout, seen.ledger, fold(seen.ledger)
        report = CheckReport(commits=len(ledger))
        paths = {name.removesuffix(".jsonl"): layout.session(name) for name in seen.sessions if name.endswith(".jsonl")}
        files = (await self.store.look([layout.ledger, *paths.values()])).files
        report.findings += checking.chain(layout.ledger, ledger, state)
        for path, what in seen.unusable.items():
            report.findings.append(Finding("file", path, what, "move it away; the file is written again"))
        witness = self.store.witness
        ours = checking.commits(layout.ledger, files.get(layout.ledger, b""), ledger, witness, report)
        recorded = witness.recorded()
        forged: dict[str, set[int]] = {}
        for stem, path in paths.items():
            consumed = state.rollouts[stem].consumed if stem in state.rollouts else 0
            forged[stem] = checking.transcript(
                path,
                files.get(path, b""),
                consumed=consumed,
                ours=ours,
                witness=witness,
                report=report,
                recorded=recorded.get(path, ()),
            )
        for path, data in ((layout.handbook, seen.handbook), (layout.summary, seen.summary)):
            report.findings += checking.bullets(path, data or b"", state, ledger)
        report.findings += checking.block(layout.summary, seen.summary or b"", ledger)
        report.findings += checking.claims(ledger, state)
        report.findings += checking.edits(ledger, state)
        if self.store.root is not None:
            report.findings += checking.planted(self.store.root, layout.memories_dir, state)
        more, report.sizes = await mending.findings(self.store, seen)
        report.findings += more
        folder = layout.memory("rollout_summaries")
        summaries = (await self.store.look([], [folder])).folders.get(folder, {})
        report.findings += reporting.missing(layout, state, seen.raw_memories, summaries)
        report.findings += reporting.notes_alone(self.store.root, layout)
        await self._receipts(state, forged, report)
        report.findings = reporting.told_once(report.findings, state.records)
        return report

    async def _receipts(self, state: State, forged: Mapping[str, Collection[int]], report: CheckReport) -> None:
        records = [r for r in state.records.values() if r.status is Status.ACTIVE]
        rollouts = await self.rollouts({e.rollout for r in records for e in r.evidence})
        for record in records:
            for evidence in record.evidence:
                report.receipts += 1
                found = receipt(evidence, rollouts.get(evidence.rollout), self.layout)
                report.standing_receipts += not found.verdict
                if found.verdict:
                    kind = "gone" if evidence.rollout not in rollouts else "receipt"
                    report.findings.append(Finding(kind, record.id, f"“{record.text}”: {found.verdict}"))
                if found.line in forged.get(evidence.rollout, ()):
                    what = f"“{record.text}” rests on {found.path}:{found.line}, which was forged"
                    report.findings.append(
                        Finding("forged", record.id, what, f"`sandbox-memory forget {record.id}` removes it")
                    )


def _earlier(state: State, id: str) -> tuple[Evidence, ...]:
    """The quotes of what a line said before a person gave it other words, if it has none of its own."""
    record = state.records[id]
    if record.evidence or record.status is not Status.ACTIVE:
        return ()
    return tuple(dict.fromkeys(quote for quote in state.tombstones.get(id, ()) if quote.quote))


def _lines(found: Iterable[Said]) -> list[tuple[str, str, str]]:
    return [(each.id, each.text, each.how) for each in found]


def _failure(state: State, stem: str) -> dict[str, Any]:
    failure = state.failures.get(stem)
    return {"cause": failure.cause, "attempts": failure.attempts, "at": failure.at} if failure else {}


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
