"""The records and their story, as a person reads them: `show`, `why`, `history`, `layouts`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...governance.lifetime import EXPIRED
from ...layout import Preset
from ...records import Record, Status
from .reports import plain_cause
from .screen import BAD, FAINT, GOOD, ID, STRONG, TRUST, WARN, Part, Screen, listed, many, when

if TYPE_CHECKING:
    from ...document import ListItem
    from ...folding.past import Then
    from ...inquiry import Reason, Receipt
    from ...state import State

WORTH = {
    "hand": "a person wrote it",
    "user": "the user said it in a run",
    "observed": "a tool reported it",
    "agent": "the agent says so",
    "external": "the web, a file or an outside service says so",
}
DONE = {
    "add": "added",
    "revise": "changed",
    "support": "said again",
    "supersede": "replaced",
    "merge": "merged",
    "move": "moved",
    "delete": "deleted",
    "forget": "erased",
    "restore": "restored",
    "retire": "let go",
    "hold": "put aside",
    "release": "let back in",
    "propose": "asked",
    "decide": "answered",
    "extract": "read",
    "consume": "passed over",
    "fail": "failed",
    "usage": "paid",
}
MAKERS = {
    "hand": "by hand",
    "cli": "by command",
    "live": "in an open session",
    "consolidation": "from conversations",
    "extraction": "from conversations",
    "import": "taken over",
    "remember": "as it was asked",
    "tool": "by a tool",
    "time": "by its date",
}


def standing(screen: Screen, state: State, items: Sequence[ListItem]) -> None:
    """The records that stand in `MEMORY.md`, under its headings and in its order."""
    visible = state.visible()
    place: tuple[str, str] | None = None
    for group, section, record in in_order(visible, items):
        if place is None or place[0] != group:
            if place is not None:
                screen.gap()
            screen.line((group or "No group", STRONG), hang=2)
            place = None
        if place is None or place[1] != section:
            screen.line((section or "No section", FAINT), indent=2, hang=2)
        place = (group, section)
        _entry(screen, record, facts(record))


def then(screen: Screen, known: Then) -> None:
    """The records that were so at an earlier time, by their groups."""
    screen.line((f"As of {when(known.at)}", STRONG), (f", commit {known.commit}", FAINT))
    group: str | None = None
    for record in sorted(known.records, key=lambda record: (record.group, record.section, record.created, record.id)):
        if record.group != group:
            screen.gap()
            screen.line((record.group or "No group", STRONG), hang=2)
            group = record.group
        _entry(screen, record, facts(record))


def in_order(visible: Mapping[str, Record], items: Iterable[ListItem]) -> Iterable[tuple[str, str, Record]]:
    """Group, section and record of each item of the file that is one, then of the records that the file lacks."""
    left = dict(visible)
    for item in items:
        if item.id in left:
            yield item.group, item.section, left.pop(item.id)
    rest = sorted(left.values(), key=lambda record: (record.group, record.section, record.created, record.id))
    for record in rest:
        yield record.group, record.section, record


def out_of_sight(screen: Screen, state: State) -> None:
    """The records that do not stand in `MEMORY.md`, by the reason for it."""
    visible = state.visible()
    reasons = (
        (Status.ACTIVE, f"Only older conversations than the newest {state.limit} speak of these"),
        (Status.HELD, "Vanished together; INBOX.md asks whether they are to be deleted"),
        (Status.SUPERSEDED, "Superseded"),
        (Status.RETIRED, "Expired or let go; `restore` brings them back"),
        (Status.DELETED, "Deleted"),
        (Status.FORGOTTEN, "Forgotten"),
    )
    for status, title in reasons:
        records = [r for r in state.records.values() if r.status is status and r.id not in visible]
        if records:
            screen.gap()
            screen.line((title, STRONG), hang=2)
        for record in sorted(records, key=lambda record: (record.updated, record.id)):
            _entry(screen, record, _end(record, status))


def _end(record: Record, status: Status) -> list[Part]:
    if status is Status.SUPERSEDED:
        by = f"{when(record.valid_from)} to {when(record.valid_to)}, superseded by "
        return [(by, FAINT), (record.superseded_by, ID)]
    if status is Status.RETIRED:
        return [(gone(record), FAINT)]
    if status in (Status.DELETED, Status.FORGOTTEN):
        word = "deleted" if status is Status.DELETED else "erased"
        return [(f"{word} {when(record.updated_at)}", FAINT)]
    return facts(record)


def gone(record: Record) -> str:
    """Since when a retired record is out of sight, and why."""
    if record.retired == EXPIRED:
        return f"expired {when(record.expires)}"
    return f"let go {when(record.updated_at)}: {record.retired}"


def _entry(screen: Screen, record: Record, below: Sequence[Part]) -> None:
    text = record.text or "(its words are erased)"
    screen.column(record.id, text if record.text else (text, FAINT), width=14, indent=4, style=ID)
    screen.line(*below, indent=18, hang=2)


def facts(record: Record) -> list[Part]:
    """Kind, trust, protection and support of a record, for one line."""
    parts: list[Part] = [(f"{record.kind.value} · ", FAINT), (record.trust.label, TRUST[record.trust.label])]
    if record.protected:
        parts.append((", protected", FAINT))
    if record.support:
        parts.append((f" · from {_some(sorted(record.support))}", FAINT))
    return parts


def _some(names: Sequence[str]) -> str:
    return listed(names) if len(names) < 4 else f"{names[0]}, {names[1]} and {len(names) - 2} more"


def why(screen: Screen, reason: Reason, place: str) -> None:
    """One record: its words, its quotes with where they stand, and what happened to it. `place` is `FILE:LINE`."""
    record = reason.record
    screen.line((record.text or "(its words are erased)", STRONG), hang=2)
    screen.line((record.id, ID), (f"  {record.kind.value}", FAINT))
    screen.gap()
    screen.column("trust", (record.trust.label, TRUST[record.trust.label]), f": {WORTH[record.trust.label]}")
    if record.protected:
        screen.column("protected", "no machine alters it")
    screen.column("stands in", *_whereabouts(reason, place))
    if record.group:
        screen.column("under", " › ".join(part for part in (record.group, record.section) if part))
    if record.subject:
        screen.column("about", record.subject)
    screen.column("since", when(record.created_at), (f", version {record.version}" if record.version > 1 else ""))
    if record.expires and record.status is Status.ACTIVE:
        screen.column("expires", when(record.expires))
    if record.pinned:
        screen.column("pinned", "it is never let go for its age")
    if reason.use.injected or reason.use.last:
        used = f", last {when(reason.use.last)}" if reason.use.last else ""
        found = f"{reason.use.searched:,} found and {reason.use.cited:,} repeated it"
        screen.column("use", f"{many(reason.use.injected, 'run was', 'runs were')} told it, {found}{used}")
    if record.status is not Status.FORGOTTEN:
        _receipts(screen, reason)
    _story(screen, reason)


def left_over(screen: Screen, id: str, paths: Sequence[str]) -> None:
    """Where a deleted line still stands; nothing if it stands nowhere."""
    if paths:
        screen.gap()
        screen.line(("Still stands in", STRONG))
        for path in paths:
            screen.line(path, indent=2)
        screen.line((f"`sandbox-memory forget {id}` removes it there too", FAINT), indent=2, hang=2)


def _whereabouts(reason: Reason, place: str) -> list[Part]:
    record, successor = reason.record, reason.successor
    if reason.visible:
        return [place]
    if record.status is Status.SUPERSEDED:
        parts: list[Part] = [f"no file since {when(record.updated_at)}: superseded by ", (record.superseded_by, ID)]
        return [*parts, f" “{successor.text}”"] if successor and successor.text else parts
    if record.status is Status.RETIRED:
        return [f"no file: {gone(record)}; `sandbox-memory restore {record.id}` brings it back"]
    if record.status is Status.HELD:
        return ["no file: it vanished with many others, and INBOX.md asks about it"]
    if record.status is Status.ACTIVE:
        return ["no file: only conversations speak of it that are older than the newest that count"]
    word = "deleted" if record.status is Status.DELETED else "erased"
    return [f"no file: {word} {when(record.updated_at)}"]


def _receipts(screen: Screen, reason: Reason) -> None:
    screen.gap()
    good = sum(not receipt.verdict for receipt in reason.receipts)
    count = len(reason.receipts)
    if not count:
        made = MAKERS.get(reason.record.origin, reason.record.origin)
        how = "was changed" if reason.record.version > 1 else "came in"
        screen.line(("No quotes", STRONG), f": it {how} {made}.")
        return
    if good == count:
        verdict = ("which stands where it says" if count == 1 else "which all stand where they say", GOOD)
    elif count == 1:
        verdict = ("which does not stand where it says", BAD)
    else:
        says = "does not stand where it says" if count - good == 1 else "do not stand where they say"
        verdict = (f"{count - good:,} of which {says}", BAD)
    screen.line((many(count, "quote"), STRONG), ", ", verdict, hang=2)
    for receipt in reason.receipts:
        _receipt(screen, receipt)


def _receipt(screen: Screen, receipt: Receipt) -> None:
    said = f"{receipt.path}:{receipt.line}" if receipt.line else receipt.path
    parts: list[Part] = [(said, ID), (f"  {when(receipt.at)}" if receipt.at else "", "")]
    speaker = receipt.speaker or "said"
    parts.append((f"  {speaker}", TRUST[receipt.trust]))
    if speaker != receipt.trust:
        parts.append((f" ({receipt.trust})", FAINT))
    screen.line(*parts, indent=2, hang=2)
    if receipt.verdict:
        screen.line((receipt.verdict, BAD), indent=4, hang=2)
    lines = receipt.quote.splitlines() or [""]
    for number, line in enumerate(lines):
        first, last = number == 0, number == len(lines) - 1
        shown: list[Part] = [(receipt.before if first else "", FAINT), "“" if first else ""]
        shown += [line, "”" if last else "", (receipt.after if last else "", FAINT)]
        screen.line(*shown, indent=6)


def _story(screen: Screen, reason: Reason) -> None:
    screen.gap()
    screen.line(("History", STRONG))
    for event in reason.events:
        other = event.id not in ("", reason.record.id)
        done = "replaced by" if other else DONE.get(event.op, event.op)
        if event.op in ("supersede", "merge") and not other:
            done = "added" if event.op == "supersede" else "merged"
        parts: list[Part] = [done, (f" {MAKERS.get(event.actor, event.actor)}", FAINT)]
        if other:
            parts = [done, " ", (event.id, ID)]
        if event.text and event.text != reason.record.text:
            parts.append(f": {event.text}")
        screen.column(when(event.at), *parts, width=18, indent=2)
    for old in reason.replaced:
        span = f"{when(old.valid_from)} to {when(old.valid_to)}"
        screen.column("replaced", (old.id, ID), f" {old.text} ", (f"({span})", FAINT), width=18, indent=2, style="")


def history(screen: Screen, commits: Sequence[Mapping[str, Any]]) -> None:
    """The commits, newest first, with what each did."""
    for number, commit in enumerate(commits):
        if number:
            screen.gap()
        by = MAKERS.get(commit["actor"], commit["actor"])
        screen.line((f"{commit['commit']}", STRONG), f"  {when(commit['at'])}  ", (by, FAINT))
        told = [operation for operation in commit["operations"] if operation["op"] != "usage"]
        for operation in _together(told):
            _operation(screen, operation)
        if commit["consolidated"] and not told:
            screen.line(f"nothing new in {_some(sorted(set(commit['consolidated'])))}", indent=2, hang=2)
        if commit["settings"]:
            settings = ", ".join(f"{key} {value}" for key, value in commit["settings"].items())
            screen.column("settings", settings, width=12, indent=2)


def _together(operations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The operations, those that failed for the same cause as one."""
    whole: list[dict[str, Any]] = []
    for operation in operations:
        last = whole[-1] if whole else {}
        if operation["op"] == last.get("op") == "fail" and operation["text"] == last["text"]:
            last["id"] += f", {operation['id']}"
        else:
            whole.append(dict(operation))
    return whole


def _operation(screen: Screen, operation: Mapping[str, Any]) -> None:
    op, text, before = operation["op"], operation["text"], operation["before"]
    text = plain_cause(text) if op == "fail" else text
    style = {"delete": WARN, "forget": WARN, "fail": BAD, "add": GOOD}.get(op, "")
    parts: list[Part] = [(operation["id"], ID), f"  {text}" if text else ""]
    if before and op != "delete":
        parts.append((f" (was: {before})", FAINT))
    screen.column(DONE.get(op, op), *parts, width=12, indent=2, style=style)
    for old in operation["replaces"]:
        screen.line(("in place of ", FAINT), (old, ID), indent=14)


def layouts(screen: Screen, presets: Sequence[Preset]) -> None:
    """The presets that ship, with their folders and headings."""
    for number, preset in enumerate(presets):
        if number:
            screen.gap()
        screen.line((preset.name, STRONG))
        screen.line(preset.description, indent=2)
        screen.column("folders", f"{preset.memories_dir}, {preset.sessions_dir}", indent=2, width=11)
        serves = "one person, or a team that works together" if preset.audience == "one" else "many people"
        screen.column("serves", serves, indent=2, width=11)
        titles: dict[str, list[str]] = {}
        for kind, title in preset.headings.items():
            titles.setdefault(title, []).append(kind.value)
        for row, (title, kinds) in enumerate(titles.items()):
            kept = f"{title} ({listed(kinds)})"
            screen.column("headings" if row == 0 else "", kept, indent=2, width=11)
