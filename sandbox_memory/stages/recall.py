"""Recall: records, chosen and laid out, as the marked block of `memory_summary.md` that goes into the prompt.

The kind decides when a record is loaded (semantic, episodic and procedural memory are CoALA's terms): what people want
and what is so stands there from the start, lessons and procedures as far as there is room, what happened once only when
nothing else wants the room. The rest is found in `MEMORY.md`; a line below the records tells what that is about. What
is like the request that a run begins with is told beside the block, whatever its kind: that is how an episode is loaded
when it is alike, and a procedure on entering its task.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from types import MappingProxyType

from ..blocks import Block, marked
from ..document import normalise, safe_text
from ..document.source import hung, in_lines, on_a_line
from ..governance.lifetime import later, scored
from ..layout import Preset
from ..lexical import Index
from ..records import Kind, Record, Trust
from ..sameness import said
from ..state import State, Steps
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
ALIKE = 0.35
"""How much of their words a request and a record must share, by weight, for the record to be told."""
CONSIDERED = 40
"""How many of the records most alike are weighed."""
ABOUT = 4_000
"""Characters of a request that are compared."""
MORE = "More in MEMORY.md:"
"""How that line begins. It is no list item, so it is no record."""
TORN = 3
"""How many characters of it are too few to know it by where a file breaks off."""


def chosen(state: State, preset: Preset) -> list[Record]:
    """The records that fit the budget, in the order in which they are shown.

    The budget is the setting `summary_tokens`; a record is shown whole or not at all, a list from its beginning as far
    as there is room. Of each kind those with the best score (by age and importance) and those that are trusted most and
    were said most often are taken by turns. What the score takes for now is the time of the last commit: the same
    history shows the same block, whenever that is asked.
    """
    left = int(state.settings.get("summary_tokens", SUMMARY_TOKENS))
    lists, order = together(state, preset), list(WEIGHTS)
    classes: dict[str, list[Record]] = {name: [] for name in WEIGHTS}
    first: dict[int, str] = {}
    """The class of each list: the first of its records'."""
    for record in state.visible().values():
        if for_everybody(record, preset):
            steps = lists.get(record.id)
            if steps is not None and id(steps) not in first:
                members = (state.records[place.id] for place in steps.places)
                first[id(steps)] = min((_class(each) for each in members), key=order.index)
            classes[first.get(id(steps), _class(record))].append(record)
    queues = {name: list(_by_turns(records, state.at, preset)) for name, records in classes.items() if records}
    queues = {name: list(_in_steps(queue, lists)) for name, queue in queues.items()}
    kept: dict[str, Record] = {}
    weight = sum(WEIGHTS[name] for name in queues)
    for name, queue in queues.items():
        share = left * WEIGHTS[name] // weight if weight else 0
        weight -= WEIGHTS[name]
        left -= _take(queue, share, kept, lists)
    for queue in queues.values():
        left -= _take([record for record in queue if record.id not in kept], left, kept, lists)
    headings = list(dict.fromkeys(preset.headings.values()))
    rank = {heading: n for n, heading in enumerate(headings)}
    come = {id: n for n, id in enumerate(state.records)}

    def place(record: Record) -> tuple[int, str, int, int]:
        return rank.get(_heading(record, preset), len(rank)), record.group, record.created, come[record.id]

    return list(_in_steps(sorted(kept.values(), key=place), lists))


def _class(record: Record) -> str:
    return OWN if record.protected else record.kind


def together(state: State, preset: Preset) -> dict[str, Steps]:
    """The list of each record that stands in one whose order is told, by the record's id.

    How an agent arranged what people said is not told.
    """
    told = (
        {id: record for id, record in state.visible().items() if for_everybody(record, preset)} if state.lists else {}
    )
    found: dict[str, Steps] = {}
    for steps in (left for each in state.lists if (left := each.without(told))):
        if steps.by >= Trust.USER or all(told[place.id].trust < Trust.USER for place in steps.places):
            found.update((place.id, steps) for place in steps.places)
    return found


def _in_steps(records: Sequence[Record], lists: Mapping[str, Steps]) -> Iterator[Record]:
    """The records in their order, but those of one list where the first of them is, as they stand in it."""
    known = {record.id: record for record in records}
    done: set[str] = set()
    for record in (record for record in records if record.id not in done):
        places = lists[record.id].places if record.id in lists else ()
        for id in [place.id for place in places] or [record.id]:
            if id in known and id not in done:
                done.add(id)
                yield known[id]


def for_everybody(record: Record, preset: Preset) -> bool:
    """False for what is one customer's where many are served: it is not told to the run of the next."""
    return not kept_back(record, preset)


def kept_back(record: Record, preset: Preset) -> str:
    """Why a line is one customer's where many are served, empty if it is for everybody.

    One of "edited" (an agent wrote it into the files in somebody's run), "preference", "account" (it begins with an
    account name) and "conversation" (it rests on that person's words alone, or is theirs for another reason: see
    `belonging`).
    """
    if preset.audience != "many":
        return ""
    if record.trust < Trust.HAND and not record.evidence and record.origin != "import":
        return "edited"
    if record.kind is Kind.PREFERENCE:
        return "preference"
    owner = said(record, preset.audience).owner
    return "" if not owner else "conversation" if owner.startswith("rollout:") else "account"


def _by_turns(records: Iterable[Record], now: str, preset: Preset) -> Iterator[Record]:
    """That with the best score, the best proven, the next, and so on; external words come last."""
    records = list(records)
    scores = {record.id: scored(record, now, preset.half_life) for record in records}
    best = sorted(
        records, key=lambda r: (r.trust > Trust.EXTERNAL, scores[r.id], r.updated, r.trust, r.id), reverse=True
    )
    proven = sorted(best, key=lambda r: (r.trust, len(r.support)), reverse=True)
    turns = chain.from_iterable(zip_longest(best, proven))
    yield from {record.id: record for record in turns if record}.values()


def _take(
    queue: Sequence[Record], room: int, kept: dict[str, Record], lists: Mapping[str, Steps] = MappingProxyType({})
) -> int:
    """Keep the records that fit the room, in order; the tokens that they take. The rest is not even looked at.

    Of a list nothing is kept that stands after what is not.
    """
    spent = missed = 0
    broken: set[int] = set()
    for record in queue:
        if missed == MISSES or room - spent <= FRAME:
            break
        steps = lists.get(record.id)
        if steps is not None and id(steps) in broken:
            continue
        cost = _cost(record, steps)
        if cost <= room - spent:
            spent += cost
            kept[record.id] = record
        else:
            missed += 1
            broken.add(id(steps))
    return spent


def _cost(record: Record, steps: Steps | None) -> int:
    """The tokens of a record where it takes the most: in its lines, as far in as it stands, or on one line."""
    cost = estimate(record.text) + FRAME
    if own := in_lines(record.markdown, record.text):
        depth = next((place.depth for place in steps.places if place.id == record.id), 0) if steps else 0
        cost = max(cost, estimate(hung("   " * depth + "- ", own)) + FRAME)
    return cost


class Related:
    """Finds the records that are like a request. Bringing it up to date costs what changed."""

    def __init__(self) -> None:
        self._index = Index()
        self._records: dict[str, Record] = {}

    def update(self, visible: Mapping[str, Record]) -> None:
        """Look among these records from now on."""
        for id in [id for id, record in self._records.items() if visible.get(id) is not record]:
            del self._records[id]
            self._index.remove(id)
        for id, record in visible.items():
            if id not in self._records:
                self._records[id] = record
                self._index.add(id, f"{record.text}\n{record.subject}\n{record.group}")

    def to(self, about: str) -> list[tuple[Record, float]]:
        """The records that are like that text, most alike first, with how much."""
        alike = self._index.likeness(about[:ABOUT], CONSIDERED)
        return [(self._records[id], relevance) for id, relevance in alike if relevance >= ALIKE]


def relevant(
    related: Related,
    state: State,
    preset: Preset,
    about: str,
    budget: int,
    now: str,
    *,
    shown: Collection[str] = (),
    used: Mapping[str, str] | None = None,
) -> list[Record]:
    """The records beside those `shown` that a run about that should know, the highest score first.

    `budget` is in tokens; `used` says when each record was last of use. Where many are served, what one of them said of
    themselves is not among them.
    """
    if budget <= 0 or not about.strip():
        return []
    related.update(state.visible())
    used, now = used or {}, later(now, state.at)
    scores = {
        record.id: (scored(record, now, preset.half_life, relevance=relevance, used=used.get(record.id, "")), record)
        for record, relevance in related.to(about)
        if record.id not in shown and for_everybody(record, preset)
    }
    best = sorted(scores.values(), key=lambda each: (each[0], each[1].updated, each[1].id), reverse=True)
    kept: dict[str, Record] = {}
    _take([record for _, record in best], budget, kept)
    return list(kept.values())


def _heading(record: Record, preset: Preset) -> str:
    return preset.headings.get(record.kind, "Reusable knowledge")


def block(state: State, preset: Preset) -> Block:
    """The block that shows `state`; empty text when there is nothing to show."""
    records = chosen(state, preset)
    parts = (layout_lines(records, state, preset), more(state, preset, {record.id for record in records}))
    return Block(state.ordinal, "\n\n".join(part for part in parts if part))


def layout_lines(records: Sequence[Record], state: State, preset: Preset) -> str:
    """The lines of the records: a heading for each section, a list item with its id for each record.

    A list that is told together stands under one heading, with its numbers and a blank line on both sides; a box is
    shown as it is.
    """
    lists = together(state, preset)
    shown = {record.id: record for record in records}
    rank = {heading: n for n, heading in enumerate(preset.headings.values())}
    lines: list[str] = []
    heading, steps, mark, leads = "", None, ")", {}
    for record in records:
        own = lists.get(record.id)
        if own is None or own is not steps:
            members = [shown[place.id] for place in own.places if place.id in shown] if own else [record]
            above = min((_heading(r, preset) for r in members), key=lambda each: rank.get(each, len(rank)))
            numbered = own is not None and own.places[0].numbered
            if above != heading:
                heading = above
                lines += ["", f"## {heading}", ""] if lines else [f"## {heading}", ""]
            elif numbered or (steps and steps.places[0].numbered):
                lines.append("")
            # Two numbered lists below each other are one, unless their marks differ.
            mark = ")" if numbered and steps and mark == "." else "."
            leads = own.leads(shown, mark) if own else {}
            steps = own
        box = f"[{'x' if state.boxes[record.id][0] else ' '}] " if record.id in state.boxes else ""
        lines.append(f"{leads.get(record.id, '- ')}{box}{on_a_line(record.text)} ^{record.id}")
    return "\n".join(lines)


def more(state: State, preset: Preset, shown: Collection[str]) -> str:
    """One line that tells what `MEMORY.md` has beside the records `shown`: titles of task groups, most recent first.

    Empty if it has nothing more, or if the budget is too small for it. Where many are served it tells headings instead.
    """
    rest = [record for record in state.visible().values() if record.id not in shown and record.trust > Trust.EXTERNAL]
    recent = sorted(rest, key=lambda record: (record.updated, record.id), reverse=True)
    many = preset.audience == "many"  # there a title is some customer's own word, a heading is nobody's
    told = (record for record in recent if for_everybody(record, preset))
    titles = list(dict.fromkeys(_heading(r, preset) if many else _short(one_line(r.group)) for r in told))
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


def with_markers(summary: bytes | None, state: State, preset: Preset) -> bytes | None:
    """The summary; where both markers are gone, with such around the lines that were in the block, as a touched one."""
    heads = {*(f"## {heading}" for heading in (*preset.headings.values(), "Reusable knowledge")), MORE}
    return marked(summary, state.records, state.ordinal, heads) if summary else summary


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
