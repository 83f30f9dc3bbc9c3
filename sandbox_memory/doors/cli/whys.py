"""Why a line is there, as a person reads it: `why`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from ...governance.lifetime import exactly
from ...records import Record, Status
from .places import here
from .screen import BAD, FAINT, GOOD, ID, STRONG, TRUST, WARN, Part, Screen, kept, many, when
from .timeline import DONE, MAKERS, marks, was
from .timeline import done as what_was_done
from .values import TOLD
from .views import gone

if TYPE_CHECKING:
    from ...folding.past import Wording
    from ...inquiry import Reason
    from ...receipts import Receipt

WORTH = {
    "hand": "a person wrote it",
    "user": "the user said it in a run",
    "observed": "a tool reported it",
    "agent": "the agent says so",
    "external": "the web, a file or an outside service says so",
}


FEW = 5
"""How many quotes of very many are shown."""

Places = Mapping[tuple[str, int, int], str]
"""Where an item stands in its line, by path, line and item; see `items.places`."""


def why(screen: Screen, reason: Reason, place: Text, places: Places, times: Mapping[int, str]) -> None:
    """One record: its words, its quotes with where they stand, and what happened to it.

    `place` is `FILE:LINE`, `times` are `timeline.moments`.
    """
    record = reason.record
    screen.line((record.text or "(its words are erased)", STRONG), hang=2)
    screen.line((record.id, ID), (f"  {record.kind.value}", FAINT))
    screen.gap()
    screen.column("trust", (record.trust.label, TRUST[record.trust.label]), f": {WORTH[record.trust.label]}")
    if record.protected:
        screen.column("protected", "no machine alters it")
    screen.column("stands in", *_whereabouts(reason, place))
    screen.column("told", TOLD[reason.told.why])
    if record.group:
        screen.column("under", " › ".join(part for part in (record.group, record.section) if part))
    if record.subject:
        screen.column("about", record.subject)
    screen.column("since", when(record.created_at), f", version {record.version}")
    if record.expires and record.status is Status.ACTIVE:
        screen.column("expires", exactly(record.expires))
    if record.pinned:
        screen.column("pinned", "it is never let go for its age")
    if reason.use.injected or reason.use.last:
        used = f", last {when(reason.use.last)}" if reason.use.last else ""
        found = f"{reason.use.searched:,} found and {reason.use.cited:,} repeated it"
        screen.column("use", f"{many(reason.use.injected, 'run was', 'runs were')} told it, {found}{used}")
    if record.status is not Status.FORGOTTEN:
        _receipts(screen, reason, places)
    _story(screen, reason, times)


def said_before(screen: Screen, found: Sequence[Wording], record: Record, times: Mapping[int, str]) -> None:
    """What a line said before, each with the command that puts it back; nothing if it was never otherwise."""
    if not found:
        return
    width = 2 + max([16, *(len(times[each.commit]) for each in found)])
    screen.gap()
    screen.line(("Before", STRONG), (": each comes back with the command below it", FAINT))
    for each in found:
        beside = was(each.record, replace(record, text=each.record.text))
        text: list[Part] = [each.record.text, (beside.replace("(was: ", "("), FAINT)]
        screen.column(times[each.commit], *text, width=width, indent=2)
        screen.line(
            (here(f"`sandbox-memory restore {record.id} --as-of {each.commit}`"), FAINT), indent=2 + width, hang=2
        )


def left_over(screen: Screen, id: str, paths: Sequence[str]) -> None:
    """Where a deleted line still stands; nothing if it stands nowhere."""
    if paths:
        screen.gap()
        screen.line(("Still stands in", STRONG))
        for path in paths:
            screen.line(kept(path, ""), indent=2)
        how = here(f"`sandbox-memory forget {id}` removes it there too, `--dry-run` lists each place")
        screen.line((how, FAINT), indent=2, hang=2)


def _whereabouts(reason: Reason, place: Text) -> list[Part]:
    record, successor = reason.record, reason.successor
    if reason.visible:
        return [place]
    if record.status is Status.SUPERSEDED:
        parts: list[Part] = [f"no file since {when(record.updated_at)}: superseded by ", (record.superseded_by, ID)]
        return [*parts, f" “{successor.text}”"] if successor and successor.text else parts
    if record.status is Status.RETIRED:
        return [f"no file: {gone(record)}; ", here(f"`sandbox-memory restore {record.id}` brings it back")]
    if record.status is Status.HELD:
        return ["no file: it vanished with many others, and INBOX.md asks about it"]
    if record.status is Status.ACTIVE:
        return ["no file: only conversations speak of it that are older than the newest that count"]
    if record.status is Status.DELETED:
        back = here(f"`sandbox-memory restore {record.id}` brings it back")
        return [f"no file: deleted {when(record.updated_at)}; ", back]
    return [f"no file: erased {when(record.updated_at)}"]


def _receipts(screen: Screen, reason: Reason, places: Places) -> None:
    screen.gap()
    if reason.receipts:
        _quotes(screen, "", reason.receipts, places)
        return
    screen.line(("No quotes", STRONG), f": it {_came_about(reason)}.")
    if reason.earlier:
        screen.gap()
        _quotes(screen, "What it said before rests on ", reason.earlier, places)


def _quotes(screen: Screen, before: str, receipts: Sequence[Receipt], places: Places) -> None:
    count, good = len(receipts), sum(not receipt.verdict for receipt in receipts)
    if good == count:
        verdict = ("which stands where it says" if count == 1 else "which all stand where they say", GOOD)
    elif count == 1:
        verdict = ("which does not stand where it says", BAD)
    else:
        says = "does not stand where it says" if count - good == 1 else "do not stand where they say"
        verdict = (f"{count - good:,} of which {says}", BAD)
    screen.line(before, (many(count, "quote"), STRONG), ", ", verdict, hang=2)
    shown = _few(receipts)
    for receipt in shown:
        _receipt(screen, receipt, places.get((receipt.path, receipt.line, receipt.item), ""))
    if more := count - len(shown):
        others = {receipt.path for receipt in receipts} - {receipt.path for receipt in shown}
        beside = f" from {many(len(others), 'more conversation')}" if others else ""
        screen.line((f"and {many(more, 'more quote')}{beside}; `--json` has each", FAINT), indent=2, hang=2)


def _few(receipts: Sequence[Receipt]) -> list[Receipt]:
    """Of very many quotes some, in their order: first those that are not to be found, then such as differ in words."""
    if len(receipts) <= FEW + 1:
        return list(receipts)
    seen: dict[str, int] = {}
    for number, receipt in enumerate(receipts):
        seen.setdefault(" ".join(receipt.quote.split()).casefold(), number)
    first = set(seen.values())
    best = sorted(range(len(receipts)), key=lambda n: (not receipts[n].verdict, n not in first, n))[:FEW]
    return [receipts[n] for n in sorted(best)]


def _came_about(reason: Reason) -> str:
    """How the words of a record without quotes came about."""
    later = any(event.text and event.op not in ("add", "supersede", "merge") for event in reason.events)
    return f"{'was changed' if later else 'came in'} {MAKERS.get(reason.record.origin, reason.record.origin)}"


def _receipt(screen: Screen, receipt: Receipt, place: str) -> None:
    said = f"{receipt.path}:{receipt.line}" if receipt.line else receipt.path
    parts: list[Part] = [kept(said), (f"  {when(receipt.at)}" if receipt.at else "", "")]
    speaker = receipt.speaker or "said"
    parts.append((f"  {speaker}", TRUST[receipt.trust]))
    if speaker != receipt.trust:
        parts.append((f" ({receipt.trust})", FAINT))
    if place:
        parts.append((f"  item {receipt.item}: {place}", FAINT))
    screen.line(*parts, indent=2, hang=2)
    if receipt.verdict:
        screen.line((receipt.verdict, BAD), indent=4, hang=2)
    lines = receipt.quote.splitlines() or [""]
    for number, line in enumerate(lines):
        first, last = number == 0, number == len(lines) - 1
        shown: list[Part] = [(receipt.before if first else "", FAINT), "“" if first else ""]
        shown += [line, "”" if last else "", (receipt.after if last else "", FAINT)]
        screen.line(*shown, indent=6)


def _story(screen: Screen, reason: Reason, times: Mapping[int, str]) -> None:
    screen.gap()
    screen.line(("History", STRONG))
    width = 2 + max([16, *(len(times[event.commit]) for event in reason.events)])
    for event in reason.events:
        other = event.id not in ("", reason.record.id)
        marked = marks(event.marks)
        done = "replaced by" if other else DONE.get(event.op, event.op)
        if event.op == "revise" and not event.text and marked:
            done = "set"
        if event.op in ("supersede", "merge") and not other:
            done = "added" if event.op == "supersede" else "merged"
        if event.op == "revert":
            done = what_was_done({"op": event.op, "marks": event.marks, "before": ""})
        parts: list[Part] = [done, (f" {MAKERS.get(event.actor, event.actor)}", FAINT)]
        if other:
            parts = [done, " ", (event.id, ID)]
        if event.text and event.text != reason.record.text:
            parts.append(f": {event.text}")
        if marked:
            parts.append((f", {marked}", WARN))
        screen.column(times[event.commit], *parts, width=width, indent=2)
    for old in reason.replaced:
        span = f"{when(old.valid_from)} to {when(old.valid_to)}"
        screen.column("replaced", (old.id, ID), f" {old.text} ", (f"({span})", FAINT), width=width, indent=2, style="")
        if reason.visible:
            again = here(f"`sandbox-memory edit {reason.record.id} {shlex.quote(old.text)}` makes it say that again")
            screen.line((again, FAINT), indent=2 + width, hang=2)


def every(screen: Screen, reasons: Sequence[tuple[int, Reason]], path: str) -> None:
    """Each line of a file with its first quote, and whether all of its quotes stand where they say."""
    for line, reason in reasons:
        record, count = reason.record, len(reason.receipts)
        screen.line(
            kept(f"{path}:{line}"), "  ", (record.id, ID), (f"  {record.trust.label}", TRUST[record.trust.label])
        )
        screen.line(record.text, indent=2, hang=2)
        if not count:
            screen.line((f"no quotes: it {_came_about(reason)}", FAINT), indent=4)
        for receipt in reason.receipts[:1]:
            said = f"{receipt.path}:{receipt.line}" if receipt.line else receipt.path
            screen.line(kept(said), f"  “{receipt.quote}”", (f"  {receipt.verdict}", BAD), indent=4, hang=2)
        if count > 1:
            wrong = sum(bool(receipt.verdict) for receipt in reason.receipts[1:])
            lost = f", {wrong:,} of which cannot be found where they say" if wrong else ""
            screen.line((f"and {many(count - 1, 'more quote')}{lost}", BAD if wrong else FAINT), indent=4)
