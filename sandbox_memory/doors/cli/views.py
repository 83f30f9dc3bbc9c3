"""The records as a person reads them: `show`, `layouts`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...governance.lifetime import EXPIRED
from ...layout import Preset
from ...records import Record, Status
from .screen import FAINT, ID, STRONG, TRUST, WARN, Part, Screen, listed, when
from .timeline import point

if TYPE_CHECKING:
    from ...document import ListItem
    from ...folding.past import Then
    from ...state import State


def standing(screen: Screen, state: State, items: Sequence[ListItem]) -> None:
    """The records that stand in `MEMORY.md`, under its headings and in its order."""
    _grouped(screen, in_order(state.visible(), items))


def _grouped(screen: Screen, records: Iterable[tuple[str, str, Record]]) -> None:
    place: tuple[str, str] | None = None
    for group, section, record in records:
        if place is None or place[0] != group:
            if place is not None:
                screen.gap()
            screen.line((group or "No group", STRONG), hang=2)
            place = None
        if place is None or place[1] != section:
            screen.line((section or "No section", FAINT), indent=2, hang=2)
        place = (group, section)
        entry(screen, record, facts(record))


def then(screen: Screen, known: Then, times: Mapping[int, str]) -> None:
    """The records that were so at an earlier time, by their groups and sections; `times` are `timeline.moments`."""
    screen.line("As of ", *point(known, times))
    screen.gap()
    _grouped(screen, in_order({record.id: record for record in known.records}, ()))


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
            entry(screen, record, _end(record, status))


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


def entry(screen: Screen, record: Record, below: Sequence[Part]) -> None:
    """A record with its id, and what is to be said of it below."""
    text = record.text or "(its words are erased)"
    screen.column(record.id, text if record.text else (text, FAINT), width=14, indent=4, style=ID)
    screen.line(*below, indent=18, hang=2)


def facts(record: Record) -> list[Part]:
    """Kind, trust, protection and support of a record, for one line."""
    parts: list[Part] = [(f"{record.kind.value} · ", FAINT), (record.trust.label, TRUST[record.trust.label])]
    if record.protected:
        parts.append((", protected", FAINT))
    if record.pinned:
        parts.append((" · pinned", WARN))
    if record.expires and record.status is Status.ACTIVE:
        parts.append((f" · expires {when(record.expires)}", WARN))
    if record.support:
        parts.append((f" · from {some(sorted(record.support))}", FAINT))
    return parts


def some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    return listed(names) if len(names) < 4 else f"{names[0]}, {names[1]} and {len(names) - 2} more"


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
