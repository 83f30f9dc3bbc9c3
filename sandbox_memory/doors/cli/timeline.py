"""What happened, as a person reads it: `history`, `diff`, `undo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...folding.past import UNITS
from ...governance.lifetime import later, moment
from ...records import Record, Status
from .chapters import Chapter
from .places import here
from .reports import plain_cause
from .screen import BAD, FAINT, GOOD, ID, STRONG, WARN, Part, Screen, many, when

if TYPE_CHECKING:
    from ...folding.between import Difference
    from ...folding.past import Then
    from ...ledger import Commit
    from ...pipeline.undoing import Undone

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
    "unheard": "not counted",
    "extract": "read",
    "consume": "passed over",
    "fail": "failed",
    "usage": "paid",
    "revert": "put back",
    "undo": "taken back",
    "write_skill": "skill written",
    "drop_skill": "skill gone",
    "prose": "noted",
    "arrange": "arranged",
    "vouch": "vouched for",
    "erase": "forgotten",
    "erased": "erased",
    "restate": "told anew",
    "retitle": "named anew",
    "drop_rollout": "erased",
}
OUTSIDE = "what a person wrote there outside of the block"
LISTS = "which lines are steps, in what order, and which boxes are ticked"
WORDED = ("add", "revise", "support", "supersede", "merge", "move", "delete", "restore", "retire", "hold", "release")
"""What is done to a memory, which has words unless they were erased."""
MAKERS = {
    "hand": "by hand",
    "cli": "by command",
    "web": "by a person on the page",
    "live": "in an open session",
    "consolidation": "from conversations",
    "extraction": "from conversations",
    "import": "taken over",
    "remember": "as it was asked",
    "approve": "by the application",
    "tool": "by a tool",
    "time": "by its date",
    "forgetting": "by a forgetting",
}


def moments(commits: Sequence[Commit]) -> dict[int, str]:
    """When each commit was made, by its number, in the local zone and as `--as-of` takes it to mean that commit.

    That is to the minute, and finer where the next commit was made within it.
    """
    found, latest = dict[int, str](), ""
    ends = [latest := later(commit.at, latest) for commit in commits][1:]
    for commit, end in zip(commits, [*ends, ""], strict=False):
        try:
            found[commit.ordinal] = _moment(moment(commit.at), moment(end) if end else None)
        except (ValueError, OverflowError):
            found[commit.ordinal] = commit.at
    return found


def _moment(at: datetime, end: datetime | None) -> str:
    local = at.astimezone()
    for unit, form in zip(UNITS, ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"), strict=True):
        begun = local - timedelta(seconds=local.second if unit > UNITS[1] else 0, microseconds=local.microsecond)
        if end is None or begun + unit <= end:
            return f"{local:{form}}"
    return local.isoformat(" ", "milliseconds")[:23]


def asked(then: Then) -> str:
    """A moment that was asked for, as it was; see `folding.past.as_of`."""
    local = moment(then.at).astimezone()
    if local.microsecond < 999_000:
        return local.isoformat(" ", "milliseconds")[:23]
    return f"{local:%Y-%m-%d %H:%M}" if local.second == 59 else f"{local:%Y-%m-%d %H:%M:%S}"


def history(screen: Screen, told: Sequence[Chapter], times: Mapping[int, str]) -> None:
    """The chapters of a history, newest first, with what was done in each; `times` are `moments`."""
    for number, chapter in enumerate(told):
        if number:
            screen.gap()
        newest, oldest = chapter.commits[0], chapter.commits[-1]
        by, at, since = MAKERS.get(oldest["actor"], oldest["actor"]), times[newest["commit"]], when(oldest["at"])
        at = at if at.startswith(since) else f"{since} to {at.removeprefix(since[:11])}"
        screen.line((chapter.numbers, STRONG), f"  {at}  ", (by, FAINT), hang=2)
        operations = chapter.operations
        if chapter.kind == "read" and (len(chapter.commits) > 1 or not operations):
            word, text = chapter.reading
            screen.column(word, text, width=12, indent=2)
            continue
        for operation in _together(operations):
            _operation(screen, operation)
        for commit in chapter.commits:
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
    text = plain_cause(text) if op == "fail" else OUTSIDE if op == "prose" else LISTS if op == "arrange" else text
    style = {"delete": WARN, "forget": WARN, "fail": BAD, "add": GOOD}.get(op, "")
    id = f"commit {operation['id']}" if op == "undo" else operation["id"]
    parts: list[Part] = [(id, ID), f"  {text}" if text and op != "undo" else ""]
    if not text and op in WORDED:
        parts[1] = ("  (its words are erased)", FAINT)
    if before and op != "delete":
        parts.append((f" (was: {before})", FAINT))
    word, marked = done(operation), marks(operation.get("marks", {}))
    if marked and word not in ("pinned", "unpinned"):
        parts.append((f"  {marked}", WARN))
    screen.column(word, *parts, width=12, indent=2, style=style)
    for old in operation["replaces"]:
        screen.line(("in place of ", FAINT), (old, ID), indent=14)


def done(operation: Mapping[str, Any]) -> str:
    """What an operation did, in a word or two."""
    said, op = operation.get("marks", {}), operation["op"]
    if "accepted" in operation:
        return "withdrawn" if said.get("undone") else "accepted" if operation["accepted"] else "refused"
    if op == "revise" and operation["before"] == "" and said.get("pinned") is not None and len(said) == 1:
        return "pinned" if said["pinned"] else "unpinned"
    if op == "restate" and said.get("same"):
        return "stays"
    if op == "revert" and said.get("status"):
        return AGAIN.get(said["status"], DONE[op])
    return DONE.get(op, str(op))


def marks(said: Mapping[str, Any]) -> str:
    """What an operation says of a line beside its words: a pin, an expiry, its place, who decided."""
    parts = []
    if "pinned" in said:
        parts.append("pinned" if said["pinned"] else "not pinned any more")
    if "expires" in said:
        parts.append(f"expires {when(said['expires'])}" if said["expires"] else "does not expire any more")
    if "importance" in said:
        parts.append(f"importance {said['importance']:g}")
    if "as_of" in said:
        parts.append(f"as of commit {said['as_of']}")
    if said.get("group") or said.get("section"):
        parts.append("to " + " › ".join(part for part in (said.get("group"), said.get("section")) if part))
    parts += [f"{said['reason']}"] if said.get("reason") else []
    parts += [f"from {said['source']}"] if said.get("source") else []
    parts += [MAKERS.get(said["by"], said["by"])] if said.get("by") else []
    return ", ".join(parts)


AGAIN = {
    Status.ACTIVE.value: "back",
    Status.DELETED.value: "out again",
    Status.SUPERSEDED.value: "out again",
    Status.RETIRED.value: "out again",
    Status.HELD.value: "put aside",
}
"""What setting a record back did, by where that leaves it."""


def point(then: Then, times: Mapping[int, str]) -> list[Part]:
    """A moment that was looked at: the time that was asked for, if it was one, and the commit that it is after."""
    made = times[then.commit]
    if then.at == then.since:
        return [(f"commit {then.commit}", STRONG), (f", {made}", FAINT)]
    return [(asked(then), STRONG), (f", after commit {then.commit} of {made}", FAINT)]


def difference(screen: Screen, found: Difference, times: Mapping[int, str]) -> None:
    """What came, went and changed between two times."""
    for label, then in (("from", found.before), ("to", found.after)):
        screen.column(label, *point(then, times), width=6)
    if not (found.added or found.gone or found.changed):
        screen.gap()
        screen.line("Nothing of what is remembered differs.")
    for title, style, records in (("Added", GOOD, found.added), ("Gone", WARN, found.gone)):
        if records:
            screen.gap()
            screen.line((title, STRONG))
        for record in records:
            screen.column(record.id, (record.text or "(its words are erased)", style), width=14, indent=2, style=ID)
    if found.changed:
        screen.gap()
        screen.line(("Changed", STRONG))
    for old, new in found.changed:
        _changed(screen, old, new)


def _changed(screen: Screen, old: Record, new: Record) -> None:
    screen.column(new.id, new.text, (was(old, new), FAINT), width=14, indent=2, style=ID)


def was(old: Record, new: Record) -> str:
    """What a record was before, in brackets: its words, where it stood, and what it had beside them, as they differ."""
    parts: list[str] = [old.text] if old.text != new.text else []
    if (old.group, old.section) != (new.group, new.section):
        parts.append("under " + " › ".join(part for part in (old.group, old.section) if part))
    if old.kind is not new.kind:
        parts.append(f"a {old.kind.value}")
    if old.pinned is not new.pinned:
        parts.append("pinned" if old.pinned else "not pinned")
    if old.importance != new.importance:
        parts.append(f"importance {old.importance:g}")
    if old.expires != new.expires:
        parts.append(f"expiring {when(old.expires)}" if old.expires else "without expiry")
    return f" (was: {'; '.join(parts)})" if parts else ""


def undone(screen: Screen, found: Undone, *, dry: bool) -> None:
    """What taking commits back did, or would do."""
    out, back, other, kept, asked, gone = (
        ("goes out", "comes back", "changes", "stays", "is asked", "is withdrawn")
        if dry
        else ("taken out", "put back", "changed", "kept", "asked", "withdrawn")
    )
    for old, new in found.changed:
        if old.status is Status.ACTIVE and new.status is not Status.ACTIVE:
            screen.column(out, (old.id, ID), f"  {old.text}", style=WARN)
        elif old.status is not Status.ACTIVE and new.status is Status.ACTIVE:
            screen.column(back, (new.id, ID), f"  {new.text}", style=GOOD)
        else:
            before = was(old, new) or " (with the quotes, and as whose word, as it was)"
            screen.column(other, (new.id, ID), f"  {new.text}", (before, FAINT))
    for record in found.kept:
        why = (" (worked on by hand or written again since)", FAINT)
        screen.column(kept, (record.id, ID), f"  {record.text}", why)
    for text in found.asked:
        screen.column(asked, text, (" (again, in INBOX.md)", FAINT), style=WARN)
    for text in found.withdrawn:
        screen.column(gone, text)
    first, last = min(found.commits), max(found.commits)
    which = f"commit {first}" if first == last else many(len(found.commits), "commit")
    if len(found.commits) > 1 and last - first + 1 == len(found.commits):
        which = f"commits {first} to {last}"
    if dry:
        screen.line(f"That is what taking {which} back would do. Nothing was changed.", hang=2)
        return
    left = f", but for {many(len(found.kept), 'line')} kept as it is now" if found.kept else ""
    left = left.replace("it is", "they are") if len(found.kept) > 1 else left
    screen.line(
        (f"{which} taken back", GOOD), (left, WARN), f", as commit {found.commit}; ", _again(found.commit), hang=2
    )


def _again(commit: int) -> str:
    return here(f"`sandbox-memory undo {commit}` undoes that")
