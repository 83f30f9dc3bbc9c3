"""What happened, as a person reads it: `history`, `diff`, `undo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...records import Record, Status
from .chapters import Chapter
from .reports import plain_cause
from .screen import BAD, FAINT, GOOD, ID, STRONG, WARN, Part, Screen, many, when

if TYPE_CHECKING:
    from ...folding.between import Difference
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
    "vouch": "vouched for",
    "erase": "forgotten",
    "erased": "erased",
    "restate": "told anew",
    "retitle": "named anew",
    "drop_rollout": "erased",
}
OUTSIDE = "what a person wrote there outside of the block"
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


def history(screen: Screen, told: Sequence[Chapter]) -> None:
    """The chapters of a history, newest first, with what was done in each."""
    for number, chapter in enumerate(told):
        if number:
            screen.gap()
        newest, oldest = chapter.commits[0], chapter.commits[-1]
        by, span = MAKERS.get(oldest["actor"], oldest["actor"]), [when(oldest["at"]), when(newest["at"])]
        at = span[0] if span[0] == span[1] else f"{span[0]} to {span[1].removeprefix(span[0][:11])}"
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
    text = plain_cause(text) if op == "fail" else OUTSIDE if op == "prose" else text
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
    if said.get("status"):
        parts.append(STANDS.get(said["status"], said["status"]))
    if said.get("group") or said.get("section"):
        parts.append("to " + " › ".join(part for part in (said.get("group"), said.get("section")) if part))
    parts += [f"{said['reason']}"] if said.get("reason") else []
    parts += [f"from {said['source']}"] if said.get("source") else []
    parts += [MAKERS.get(said["by"], said["by"])] if said.get("by") else []
    return ", ".join(parts)


STANDS = {
    Status.ACTIVE.value: "back in sight",
    Status.DELETED.value: "deleted",
    Status.SUPERSEDED.value: "superseded",
    Status.RETIRED.value: "let go",
    Status.HELD.value: "put aside",
}


def difference(screen: Screen, found: Difference) -> None:
    """What came, went and changed between two times."""
    for label, then in (("from", found.before), ("to", found.after)):
        screen.column(label, (f"commit {then.commit}", STRONG), (f", {when(then.at)}", FAINT), width=6)
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
    was: list[str] = [old.text] if old.text != new.text else []
    if (old.group, old.section) != (new.group, new.section):
        was.append("under " + " › ".join(part for part in (old.group, old.section) if part))
    if old.kind is not new.kind:
        was.append(f"a {old.kind.value}")
    if old.pinned is not new.pinned:
        was.append("pinned" if old.pinned else "not pinned")
    if old.expires != new.expires:
        was.append(f"expiring {when(old.expires)}" if old.expires else "without expiry")
    screen.column(new.id, new.text, (f" (was: {'; '.join(was)})", FAINT) if was else "", width=14, indent=2, style=ID)


def undone(screen: Screen, found: Undone, *, dry: bool) -> None:
    """What taking commits back did, or would do."""
    for old, new in found.changed:
        if old.status is Status.ACTIVE and new.status is not Status.ACTIVE:
            screen.column("out", (old.id, ID), f"  {old.text}", width=9, style=WARN)
        elif old.status is not Status.ACTIVE and new.status is Status.ACTIVE:
            screen.column("back", (new.id, ID), f"  {new.text}", width=9, style=GOOD)
        else:
            was = f" (was: {old.text})" if old.text != new.text else ""
            screen.column("changed", (new.id, ID), f"  {new.text}", (was, FAINT), width=9)
    for record in found.kept:
        screen.column("stays", (record.id, ID), f"  {record.text}", (" (worked on by hand since)", FAINT), width=9)
    for text in found.asked:
        screen.column("asked", text, (" (again, in INBOX.md)", FAINT), width=9, style=WARN)
    for text in found.withdrawn:
        screen.column("unasked", text, width=9)
    which = f"commit {found.commits[0]}" if len(found.commits) == 1 else many(len(found.commits), "commit")
    if dry:
        screen.line(f"That is what taking {which} back would do. Nothing was changed.", hang=2)
        return
    screen.line((f"{which} taken back", GOOD), f", as commit {found.commit}; ", _again(found.commit), hang=2)


def _again(commit: int) -> str:
    return f"`sandbox-memory undo {commit}` undoes that"
