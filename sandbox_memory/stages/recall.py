"""Recall: records, chosen and laid out, as the marked block of `memory_summary.md` that goes into the prompt.

The kind decides when a record is loaded (semantic, episodic and procedural memory are CoALA's terms): what people want
and what is so stands there from the start, lessons and procedures as far as there is room, what happened once only when
nothing else wants the room. The rest is found in `MEMORY.md`; a line below the records tells what that is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from ..blocks import Block
from ..document import normalise, safe_text
from ..layout import Preset
from ..records import Kind, Record, Trust
from ..sameness import said
from ..state import State
from ..templates import one_line
from ..tokens import estimate

SUMMARY_TOKENS = 2_000
OWN = "own"
WEIGHTS = {OWN: 10, Kind.PREFERENCE: 4, Kind.FACT: 3, Kind.LESSON: 2, Kind.PROCEDURE: 1, Kind.TASK: 0, Kind.EPISODE: 0}
"""What comes first: a person's own lines, then kind by kind. Each may spend its share of what those before it left; in
the end the room that nobody took goes to the first that has more."""
FRAME = 8
"""What a line costs beside its text, in tokens: the list mark and the id, which some prompts show."""
MISSES = 8
"""After so many records that did not fit, the room of a kind counts as spent."""
MAP_TOKENS, MAP_SHARE = 150, 0.25
"""How long the line about the rest may be: in tokens, and in parts of the budget if that is less."""
TITLE = 60
MORE = "More in MEMORY.md:"
"""How that line begins. It is no list item, so it is no record."""
TORN = 3
"""How many characters of it are too few to know it by where a file breaks off."""


def chosen(state: State, preset: Preset) -> list[Record]:
    """The records that fit the budget, in the order in which they are shown.

    The budget is the setting `summary_tokens`; a record is shown whole or not at all. Of each kind the newest and those
    that are trusted most and were said most often are taken by turns.
    """
    left = int(state.settings.get("summary_tokens", SUMMARY_TOKENS))
    classes: dict[str, list[Record]] = {name: [] for name in WEIGHTS}
    for record in state.visible().values():
        if for_everybody(record, preset):
            classes[OWN if record.protected else record.kind].append(record)
    queues = {name: list(_by_turns(records)) for name, records in classes.items() if records}
    kept: dict[str, Record] = {}
    weight = sum(WEIGHTS[name] for name in queues)
    for name, queue in queues.items():
        share = left * WEIGHTS[name] // weight if weight else 0
        weight -= WEIGHTS[name]
        left -= _take(queue, share, kept)
    for queue in queues.values():
        left -= _take([record for record in queue if record.id not in kept], left, kept)
    headings = list(dict.fromkeys(preset.headings.values()))
    rank = {heading: n for n, heading in enumerate(headings)}
    return sorted(kept.values(), key=lambda r: (rank.get(_heading(r, preset), len(rank)), r.group, r.created, r.id))


def for_everybody(record: Record, preset: Preset) -> bool:
    """False for what one of many said of themselves: it is not told to the run of the next.

    That is a preference, a text that begins with an account name, and what rests on that person's words alone.
    """
    if preset.audience != "many":
        return True
    return record.kind is not Kind.PREFERENCE and not said(record, preset.audience).owner


def _by_turns(records: Iterable[Record]) -> Iterator[Record]:
    """The newest, the best proven, the next newest, and so on; external words come last."""
    newest = sorted(records, key=lambda r: (r.trust > Trust.EXTERNAL, r.updated, r.trust, r.id), reverse=True)
    proven = sorted(newest, key=lambda r: (r.trust, len(r.support)), reverse=True)
    turns = chain.from_iterable(zip_longest(newest, proven))
    yield from {record.id: record for record in turns if record}.values()


def _take(queue: Sequence[Record], room: int, kept: dict[str, Record]) -> int:
    """Keep the records that fit the room, in order; the tokens that they take. The rest is not even looked at."""
    spent = missed = 0
    for record in queue:
        if missed == MISSES or room - spent <= FRAME:
            break
        cost = estimate(record.text) + FRAME
        if cost <= room - spent:
            spent += cost
            kept[record.id] = record
        else:
            missed += 1
    return spent


def _heading(record: Record, preset: Preset) -> str:
    return preset.headings.get(record.kind, "Reusable knowledge")


def block(state: State, preset: Preset) -> Block:
    """The block that shows `state`; empty text when there is nothing to show."""
    records = chosen(state, preset)
    parts = (layout_lines(records, preset), more(state, preset, {record.id for record in records}))
    return Block(state.ordinal, "\n\n".join(part for part in parts if part))


def layout_lines(records: Sequence[Record], preset: Preset) -> str:
    """The lines of the records: a heading for each section, a list item with its id for each record."""
    lines: list[str] = []
    heading = ""
    for record in records:
        if _heading(record, preset) != heading:
            heading = _heading(record, preset)
            lines += ["", f"## {heading}", ""] if lines else [f"## {heading}", ""]
        lines.append(f"- {record.text} ^{record.id}")
    return "\n".join(lines)


def more(state: State, preset: Preset, shown: Collection[str]) -> str:
    """One line that tells what `MEMORY.md` has beside the records `shown`: titles of task groups, most recent first.

    Empty if it has nothing more, or if the budget is too small for it.
    """
    rest = [record for record in state.visible().values() if record.id not in shown and record.trust > Trust.EXTERNAL]
    recent = sorted(rest, key=lambda record: (record.updated, record.id), reverse=True)
    titles = list(dict.fromkeys(_short(one_line(record.group)) for record in recent if for_everybody(record, preset)))
    if any(not for_everybody(record, preset) for record in rest):
        titles.insert(0, f"{preset.headings.get(Kind.PREFERENCE, 'what one person said')} (search for the account)")
    room = int(state.settings.get("summary_tokens", SUMMARY_TOKENS)) * MAP_SHARE
    room = min(MAP_TOKENS, room) - estimate(f"{MORE}; and 1000 more")
    named: list[str] = []
    for title in titles:
        room -= estimate(f"{title}; ")
        if room < 0:
            break
        named.append(title)
    if not named:
        return ""
    others = len(titles) - len(named)
    return safe_text(f"{MORE} {'; '.join([*named, *([f'and {others} more'] if others else [])])}")


def _short(title: str) -> str:
    return title if len(title) <= TITLE else f"{title[: TITLE - 1].rstrip()}…"


def without_more(text: str, written: str | None) -> str:
    """The text of a block without the line about the rest, which is neither a record nor a person's.

    `written` is the text as it was written: what a person changed in that line is theirs, and stays; a formatter may
    have wrapped it. With None, when that is not known, the line is ours by how it begins, and may break off.
    """
    known = _line_of(written) if written is not None else None
    lines = text.splitlines(keepends=True)
    for start, line in enumerate(lines):
        begun = line.strip()
        if known is None:
            if begun.startswith(MORE) or (start == len(lines) - 1 and len(begun) > TORN and MORE.startswith(begun)):
                return "".join(lines[:start] + lines[start + 1 :])
        elif begun.startswith(MORE):
            for end in range(start + 1, len(lines) + 1):
                if normalise("".join(lines[start:end])) == known:
                    return "".join(lines[:start] + lines[end:])
                if not lines[end - 1].strip():
                    break
    return text


def _line_of(text: str) -> str:
    return next((normalise(line) for line in text.splitlines() if line.startswith(MORE)), "")
