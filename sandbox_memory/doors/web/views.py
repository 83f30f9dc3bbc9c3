"""The pages that show something; none of them changes anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import RedirectResponse, Response

from ...errors import Unknown
from ...folding.past import before_now
from ...proposals import OUTDONE, WRITES
from ...records import Kind, Record, Trust
from ...stages.briefing import briefing
from ...state import Proposal
from ..opening import run
from . import finding, plots
from .page import Page
from .snapshot import Chapter, Snapshot

LINES = 60
"""How many lines a page shows, to the end of their group."""
FOUND = 40
"""How many of the lines that a search found are shown at first."""
RUNS = 10
LONG = 12_000
"""Characters of one item of a conversation beyond which it is cut."""


def first(page: Page) -> Response:
    """Go to the first memory of the workspace."""
    return RedirectResponse(f"{page.base}/{next(iter(page.shelves))}/", 303)


@dataclass(frozen=True)
class Part:
    """What a page shows below each other: a heading, a list of lines, or prose."""

    kind: str
    text: str = ""
    lines: list[Record] = field(default_factory=list)


@dataclass(frozen=True)
class Group:
    """A task group as a page shows it; `tasks` are the titles of its conversations."""

    anchor: str
    title: str
    parts: list[Part]
    tasks: list[str]


def memory(page: Page) -> Response:
    """The memory as people read it, or what a search finds in it."""
    shelf, query = page.shelf, str(page.query.get("q", "")).strip()[:300]
    kind, trust = _one_of(page, "kind", [k.value for k in Kind]), _one_of(page, "trust", [t.label for t in Trust])
    snapshot = page.snapshot
    sifted, place = bool(query or kind or trust), finding.place_of(query)

    def fits(record: Record) -> bool:
        return (not kind or record.kind.value == kind) and (not trust or record.trust.label == trust)

    if place:
        found = [record for record in finding.at_place(snapshot, place) if fits(record)]
    else:
        found = shelf.do(lambda _: snapshot.found(query, kind=kind, trust=trust)) if sifted else []
    away = finding.away(shelf, snapshot, query, found, fits) if query and not place else []
    pages = _pages(snapshot.chapters)
    at = snapshot.place.get(str(page.query.get("at", "")), -1)
    here = next((n for n, each in enumerate(pages, 1) if at in each), min(page.number("page"), max(1, len(pages))))
    shown, most = (pages[here - 1] if pages and not sifted else []), page.number("most", FOUND)
    return page.render(
        "results.html" if page.part else "memory.html",
        query=query,
        kind=kind,
        trust=trust,
        kinds=[k.value for k in Kind if k.value in snapshot.kinds],
        all_kinds=[k.value for k in Kind if k in shelf.layout.preset.headings],
        trusts=[t.label for t in reversed(Trust)],
        sifted=sifted,
        place=place,
        found=found[:most],
        count=len(found),
        away=away[:most],
        # What says just that comes before what only shares words with it.
        away_first=not any(query.casefold() in record.text.casefold() for record in found),
        hidden=len(away),
        more=most + 100 if max(len(found), len(away)) > most else 0,
        groups=[_group(index, snapshot) for index in shown],
        contents=_contents(snapshot, pages),
        number=here,
        pages=len(pages),
        total=len(snapshot.state.visible()),
        empty=not snapshot.state.visible(),
    )


def _one_of(page: Page, name: str, known: Sequence[str]) -> str:
    value = str(page.query.get(name, ""))
    return value if value in known else ""


def _pages(chapters: Sequence[Chapter]) -> list[list[int]]:
    """The indices of the groups in pages of about `LINES` lines."""
    pages: list[list[int]] = []
    count = 0
    for index, chapter in enumerate(chapters):
        if not chapter.text.strip():
            continue
        if not pages or (count and count + len(chapter.ids) > LINES):
            pages.append([])
            count = 0
        pages[-1].append(index)
        count += len(chapter.ids)
    return pages


def _contents(snapshot: Snapshot, pages: Sequence[Sequence[int]]) -> list[tuple[str, int, int, str]]:
    """Title, lines, page and anchor of each group, at most 300 of them."""
    chapters = snapshot.chapters
    listed = [
        (chapters[index].title, len(chapters[index].ids), number, f"g-{index}")
        for number, each in enumerate(pages, 1)
        for index in each
        if chapters[index].title and not chapters[index].goes_on
    ]
    return listed[:300]


def _group(index: int, snapshot: Snapshot) -> Group:
    """What a group's markdown says, its tasks with their files and keywords set apart."""
    chapter, parts, tasks = snapshot.chapters[index], list[Part](), list[str]()
    known = snapshot.state.visible()
    aside = False
    for block in chapter.blocks:
        if block.kind == "heading":
            aside = block.level > 2 and block.text.strip().lower() in ("rollout_summary_files", "keywords")
            if aside or block.level == 1:
                continue
            if block.text.lower().startswith("task ") and block.level == 2:
                tasks.append(block.text)
            else:
                parts.append(Part("heading", block.text))
        elif block.kind == "line" and block.id in known:
            if not parts or parts[-1].kind != "lines":
                parts.append(Part("lines"))
            parts[-1].lines.append(known[block.id])
        elif block.text and not aside and block.text.strip() != f"scope: {chapter.title}":
            parts.append(Part("prose", block.text))
    return Group(f"g-{index}", chapter.title, parts, tasks)


def line(page: Page) -> Response:
    """Why one line is there: its quotes, looked up now, and what happened to it."""
    id = str(page.path["id"])
    reason = page.shelf.do(lambda memory: memory.why(id))
    before = page.shelf.do(lambda memory: before_now(memory.pipeline.store.ledger, reason.record))
    number = finding.line_of(page.snapshot, reason.record.id) if reason.visible else 0
    place = f"{page.shelf.layout.handbook}:{number}" if number else ""
    return page.render("line.html", reason=reason, record=reason.record, before=before[::-1], place=place)


def gone(page: Page) -> Response:
    """The lines that are out of sight, and why."""
    records, most = page.snapshot.gone, page.number("most", 100)
    return page.render("gone.html", records=records[:most], count=len(records), more=most * 2)


def told(page: Page) -> Response:
    """What the next run is told."""
    layout, summary = page.shelf.layout, page.snapshot.seen.summary or b""
    text = briefing(summary, page.snapshot.state, layout.preset, people_only=layout.closed)
    return page.render("told.html", text=text)


def inbox(page: Page) -> Response:
    """What waits for a person."""
    return page.render("inbox.html", asked=[_asked(proposal) for proposal in page.snapshot.proposals])


def _asked(proposal: Proposal) -> Mapping[str, Any]:
    """A question with what a yes would write, and what it would take the place of."""
    first = next((o for o in proposal.operations if o.op in WRITES), None)
    named = [name for o in proposal.operations for name in (o.id, *o.facts.get("replaces", ()))]
    old = [proposal.about[name] for name in dict.fromkeys(named) if name in proposal.about]
    facts = first.facts if first else {}
    quotes = first.body.get("quotes", ()) if first else ()
    return {
        "id": proposal.id,
        "text": proposal.text,
        "source": proposal.source.removesuffix(f"; {OUTDONE}"),
        "outdone": proposal.source.endswith(f"; {OUTDONE}"),
        "unheard": proposal.unheard,
        "new": str(first.body.get("text", "")) if first and first.op != "restore" else "",
        "old": old,
        "kind": facts.get("kind", ""),
        "trust": facts.get("trust", ""),
        "quotes": [str(quote) for quote in quotes][:3],
        "deletes": bool(proposal.operations) and all(o.op == "delete" for o in proposal.operations),
    }


def conversation(page: Page) -> Response:
    """A transcript, with the quotes that lines rest on marked in it."""
    stem, shelf = str(page.path["stem"]), page.shelf
    rollouts = shelf.do(lambda memory: run(memory.inquiry.rollouts([stem])))
    if stem not in rollouts:
        raise Unknown(page.words("no-such-conversation"))
    segments = rollouts[stem].segments
    wanted = str(page.query.get("run", ""))
    index = next((n for n, segment in enumerate(segments) if segment.id == wanted), 0)
    number = index // RUNS + 1 if wanted else page.number("page")
    state = page.snapshot.state
    resting = [record for record in state.visible().values() if stem in record.support]
    places: dict[tuple[str, int], list[tuple[int, int, str]]] = {}
    for record in resting:
        for each in record.evidence:
            if each.rollout == stem:
                places.setdefault((each.segment, each.item), []).append((each.start, each.end, record.id))
    part = segments[(number - 1) * RUNS : number * RUNS]
    runs = [(s, [(i, list(_marked(i.text, places.get((s.id, i.index), ())))) for i in s.items]) for s in part]
    pages = max(1, -(-len(segments) // RUNS))
    told = state.rollouts.get(stem)
    return page.render(
        "conversation.html", stem=stem, runs=runs, resting=resting, number=number, pages=pages, known=told
    )


def _marked(text: str, places: Sequence[tuple[int, int, str]]) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with the id of the line that rests on it; what is long and quoted by none is cut."""
    at = 0
    for start, end, id in sorted(places):
        if start < at or end > len(text):
            continue
        yield _cut(text[at:start]), ""
        yield text[start:end], id
        at = end
    yield _cut(text[at:]), ""


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG // 2]}\n…\n{text[-LONG // 2 :]}"


def work(page: Page) -> Response:
    """What is pending or failed, with its causes, and what to do about it."""
    return page.render("work.html", facts=page.snapshot.status, report=None)


def check(page: Page) -> Response:
    """Whether history, quotes and authors verify; every transcript is read for it."""
    report = page.shelf.apart(lambda memory: memory.check())
    return page.render("work.html", facts=page.snapshot.status, report=report)


def numbers(page: Page) -> Response:
    """Growth, tokens and forgetting."""
    found = page.snapshot.figures
    return page.render("figures.html", plots=plots.drawn(found, page.words))
