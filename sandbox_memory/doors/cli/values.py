"""What `--json` writes: the same facts as on the screen, as values that JSON can hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...layout import Preset
from ...records import Record
from .places import Place

if TYPE_CHECKING:
    from ...folding.past import Wording
    from ...inquiry import CheckReport, Reason
    from ...pipeline import Report
    from ...receipts import Receipt
    from ..plain import OpenMemory

TOLD = {
    "file": "to every run: it stands in memory_summary.md",
    "request": "only to a run whose request is like it (relevant_tokens): memory_summary.md has no room for it",
    "gone": "to no run: it is out of sight",
    "orders": "to no run: an agent wrote it into the file by itself, and it gives orders",
    "edited": "to no run: an agent wrote it into the file in one customer's run, and many are served",
    "preference": "to no run: it is what one customer wants, and many are served",
    "account": "to no run: it is about the customer whose account it names, and many are served",
    "conversation": "to no run: it comes from one customer's conversation and is no clear rule for everybody; "
    "a rule that you add as a line of its own is told to every run",
}
"""Whether a run is told a line, and why; see `pipeline.telling.Told`."""


def heading(place: Place, memory: OpenMemory) -> dict[str, Any]:
    """Which memory a document is about, and how many changes made in its files the command has taken in."""
    layout = memory.layout
    return {
        "workspace": place.whole,
        "memories_dir": layout.memories_dir,
        "sessions_dir": layout.sessions_dir,
        "preset": layout.preset.name,
        "adopted": memory.adopted,
    }


def standing(memory: OpenMemory, record: Record, *, dry: bool = False) -> dict[str, Any]:
    """A record with whether and where it stands now."""
    return all_of(memory, [record], dry=dry)[0]


def all_of(memory: OpenMemory, records: Iterable[Record], *, dry: bool = False) -> list[dict[str, Any]]:
    """These records with whether and where each stands now; `dry` for a command that writes nothing."""
    visible = memory.adopt(dry_run=dry).state.visible()
    lines = {item.id: item.line for item in memory.items() if item.id in visible}
    return [record(each, visible, lines) for each in records]


def record(record: Record, visible: Collection[str], lines: Mapping[str, int] | None = None) -> dict[str, Any]:
    """A record; `line` is its line in `MEMORY.md`, null where it does not stand there."""
    return {
        "id": record.id,
        "kind": record.kind.value,
        "text": record.text,
        "group": record.group,
        "section": record.section,
        "subject": record.subject,
        "trust": record.trust.label,
        "protected": record.protected,
        "status": record.status.value,
        "visible": record.id in visible,
        "line": (lines or {}).get(record.id),
        "origin": record.origin,
        "version": record.version,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "superseded_by": record.superseded_by or None,
        "valid_from": record.valid_from or None,
        "valid_to": record.valid_to or None,
        "expires": record.expires or None,
        "importance": record.importance,
        "pinned": record.pinned,
        "retired": record.retired or None,
        "support": sorted(record.support),
        "quotes": [{**evidence.to_json(), "quote": evidence.quote} for evidence in record.evidence],
    }


def wording(wording: Wording) -> dict[str, Any]:
    """What a line said from a commit on, as `restore --as-of` takes that commit."""
    was = wording.record
    told = {name: getattr(was, name) for name in ("text", "group", "section", "pinned", "importance")}
    beside = {"kind": was.kind.value, "trust": was.trust.label, "expires": was.expires or None}
    return {"commit": wording.commit, "at": wording.at, **told, **beside}


def reason(memory: OpenMemory, reason: Reason) -> dict[str, Any]:
    """The answer of `why`."""
    successor = [reason.successor] if reason.successor else []
    told, *others = all_of(memory, [reason.record, *reason.replaced, *successor])
    return {
        "record": told,
        "receipts": [_receipt(receipt) for receipt in reason.receipts],
        "earlier_receipts": [_receipt(receipt) for receipt in reason.earlier],
        "use": asdict(reason.use),
        "told": {"when": reason.told.when, "why": TOLD[reason.told.why]},
        "history": [asdict(event) for event in reason.events],
        "replaced": others[: len(reason.replaced)],
        "superseded_by": others[-1] if successor else None,
    }


def _receipt(receipt: Receipt) -> dict[str, Any]:
    return {**asdict(receipt), "stands": not receipt.verdict}


def report(report: Report) -> dict[str, Any]:
    """What a `process` did."""
    return {
        "extracted": list(report.extracted),
        "failed": dict(report.failed),
        "operations": dict(report.operations),
        "refused": [asdict(refusal) for refusal in report.refused],
        "adopted": report.adopted,
        "usage": report.usage.to_json(),
    }


def check(report: CheckReport) -> dict[str, Any]:
    """The outcome of `check`."""
    return {"ok": report.ok, "anchored": report.anchored or "unanchored", **asdict(report)}


def preset(preset: Preset) -> dict[str, Any]:
    """A layout preset."""
    return {**asdict(preset), "headings": {kind.value: title for kind, title in preset.headings.items()}}
