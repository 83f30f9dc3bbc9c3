"""From what one look saw to what should be written: adopt, let each maker commit, and show the outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from .. import typed
from ..blocks import Block, Split, split, text_digest
from ..document import Document
from ..folding import apply, fold
from ..governance.lifetime import EXPIRED, later
from ..governance.redaction import redact, redact_value
from ..layout import Layout
from ..ledger import Commit, Ledger, Operation, encode
from ..proposals import OUTDONE
from ..records import Refusal
from ..stages import adoption, arranging, briefing, commit, recall, retitling, sharing, summarised
from ..state import State
from ..workspace import ABSENT, Append, Remove, Replace, digest
from . import inbox, keeping, legible
from .forgetting import files

logger = logging.getLogger("sandbox_memory")


@dataclass(frozen=True)
class Seen:
    """The files of one memory as one look found them; None for a file that does not exist.

    `unusable` are those of our files that something else stands in the place of: they are neither read nor written.
    """

    ledger: Ledger
    handbook: bytes | None
    summary: bytes | None
    inbox: bytes | None
    sessions: Mapping[str, int] = field(default_factory=dict)
    raw_memories: Mapping[str, int] = field(default_factory=dict)
    open_marks: Collection[str] = ()
    unusable: Mapping[str, str] = field(default_factory=dict)
    usage: bytes = b""
    kept: Mapping[str, bytes] = field(default_factory=dict)
    """Those of the three files that held words of people, as they were last left."""
    written: int | None = None
    """The newest commit that `MEMORY.md` can have shown; None for the last one."""
    saved: str = ""
    """When one of the three files was last saved; empty if not known."""


@dataclass(frozen=True)
class Change:
    """What a consolidation, a command or an extraction commits."""

    actor: str
    operations: tuple[Operation, ...] = ()
    consolidated: tuple[tuple[str, int], ...] = ()
    settings: Mapping[str, Any] | None = None
    refused: tuple[Refusal, ...] = ()

    @property
    def empty(self) -> bool:
        """True if there is nothing to commit."""
        return not (self.operations or self.consolidated or self.settings)

    def without_secrets(self, salt: bytes) -> Change:
        """The change with the words and the facts of its operations redacted, whoever wrote them."""
        if not self.operations and not self.refused:
            return self
        operations = tuple(
            replace(operation, facts=redact_value(operation.facts, salt), body=redact_value(operation.body, salt))
            for operation in self.operations
        )
        refused = tuple(Refusal(redact(each.what, salt), redact(each.why, salt)) for each in self.refused)
        return replace(self, operations=operations, refused=refused)


Maker = Callable[[State], Change]
"""Decides on a state what to commit; called again when another process was faster."""


@dataclass(frozen=True)
class Prepared:
    """The files as they should be, the state that they show, and the steps that make it so."""

    state: State
    ledger: Ledger
    summary: bytes
    steps: tuple[Append | Replace | Remove, ...]
    adopted: tuple[Operation, ...]
    refused: tuple[Refusal, ...]
    committed: int
    said: tuple[str, ...] = ()
    """Lines for a person, on files that were missing or were saved over by an older version."""
    halted: str = ""
    """Why nothing was taken in, although something was to be: commits are missing."""

    def then(self, second: Prepared) -> Prepared:
        """What both did, with the outcome of the second."""
        return replace(
            second,
            adopted=self.adopted + second.adopted,
            refused=self.refused + second.refused,
            committed=self.committed + second.committed,
            said=self.said + second.said,
        )


def prepare(
    seen: Seen,
    *,
    actor: str,
    layout: Layout,
    at: str,
    makers: Sequence[Maker] = (),
    clean: bool = False,
    salt: bytes = b"",
) -> Prepared:
    """Adopt what people changed, let each maker commit on the state so far, and bring the markdown up to date.

    `actor` is hand or live: who is taken to have edited. `at` is the ISO time that the commits get; what people saved
    gets the time of the save: what was said since was said after it. `clean` says that the files are as they were left
    at the head: where no maker commits anything, they need not be read. `salt` is for the tags of placeholders.
    """
    state = fold(seen.ledger)
    makers = (lambda now: _ended(now, at), *makers)
    if clean and all(change.empty and not change.refused for change in (maker(state) for maker in makers)):
        return Prepared(state, seen.ledger, seen.summary or b"", (), (), (), 0)
    found, seen = seen, _without_secrets(seen, layout, salt)
    document = _parsed(seen.handbook or b"")
    seen = _legible(seen, layout)
    around = keeping.Around(layout, found.kept, fold(seen.ledger), partial(_past, seen.ledger))
    texts = {layout.summary: seen.summary, layout.inbox: seen.inbox}
    texts = around.views({path: data for path, data in texts.items() if path not in seen.unusable})
    summary = recall.with_markers(texts.get(layout.summary), state, layout.preset)
    seen = replace(seen, summary=summary, inbox=texts.get(layout.inbox))
    adopted, person = _adopted(seen, document, around.now, actor, layout)
    if layout.handbook not in seen.unusable:
        document, adopted = around.handbook(found.handbook, document) or (document, adopted)
    ticked = _ticked(seen, state, layout)
    lists = list(arranging.noticed(document, adopted.assigned, state, person.actor, ticked))
    if layout.shared and actor == "live":
        kept = sharing.put_back(adopted.assigned, adopted.dropped, (*person.operations, *lists), state)
        adopted, lists = replace(adopted, assigned=kept[0], dropped=kept[1]), []
        wanted = tuple(sharing.without_questions(person.operations, state))
        person = _asked(replace(person, operations=wanted), state, actor)
    if outdone := sum(OUTDONE in str(operation.facts.get("source")) for operation in person.operations):
        what = "a line was" if outdone == 1 else f"{outdone:,} lines were each"
        logger.warning(
            "sandbox memory: %s changed by two saves; the last one stands, %s asks about the other", what, layout.inbox
        )
    written = _written(seen, layout)
    known = state.prose.get(briefing.FILE, {})
    prose = briefing.noticed(split(seen.summary or b""), written[0], known, person.actor, layout.preset)
    noted = replace(person, operations=(*person.operations, *prose, *lists))
    drafts: list[Commit] = []
    refused = list(adopted.refused)
    saved = _saved(seen, state, at, person.operations)
    for number, maker in enumerate((lambda _: noted, *makers)):
        change = maker(state)
        if layout.shared and change.actor in sharing.AGENTS:
            change = _asked(change, state, change.actor)
        change = change.without_secrets(salt)
        refused += change.refused
        if not change.empty:
            told = (change.operations, change.consolidated, change.settings)
            drafts.append(Commit(state.ordinal + 1, at if number else saved, change.actor, *told))
            apply(state, drafts[-1])
    lines, ledger = encode(seen.ledger, drafts)
    steps: list[Append | Replace | Remove] = [Append(layout.ledger, lines, expect=seen.ledger.mark)] if drafts else []
    erasing = [erasure for erasure in state.erasures.values() if not erasure.finished]
    if erasing:
        written = (files.words(written[0], erasing), files.words(written[1], erasing))
        bare = [data and files.text(data, erasing) for data in (seen.summary, seen.inbox)]
        seen = replace(seen, summary=bare[0], inbox=bare[1])
    summary = commit.with_block(seen.summary, recall.block(state, layout.preset), prose=written[0])
    asked = inbox.shown(seen.inbox, state, written[1])
    if state.ordinal:
        headings = layout.preset.headings.values()
        past = _past(seen.ledger, typed.seen(document, around.now))
        shown = _parsed(files.text(document.data, erasing))
        shown = shown if len(shown.items) == len(document.items) else document
        shown = retitling.retitled(shown, adopted.assigned, past, state, ledger)
        edits = commit.catch_up(shown, adopted.assigned, adopted.dropped, past, state, headings)
        handbook = shown.edit(edits, marker=state.ordinal).data
        taken, final = {*adopted.assigned, *adopted.dropped}, partial(_parsed, handbook) if edits else None
        own = partial(keeping.anybodys, shown, taken, final, state, layout)
        views = (
            (layout.handbook, found.handbook, handbook, own),
            (layout.summary, found.summary, summary, lambda: bool(keeping.in_view(summary))),
            (layout.inbox, found.inbox, asked, lambda: bool(keeping.in_view(asked))),
        )
        for path, before, after, theirs in views:
            if path in seen.unusable:
                continue
            if (before or b"") != after:
                steps.append(Replace(path, after, expect=ABSENT if before is None else digest(before)))
            around.left(path, before, after, theirs, at, partial(files.text, erasures=erasing))
        steps += around.steps
    done = (person.operations or tuple(lists), tuple(refused), len(drafts), tuple(around.said))
    return Prepared(state, ledger, summary, tuple(steps), *done)


def _without_secrets(seen: Seen, layout: Layout, salt: bytes) -> Seen:
    """The three files with what somebody typed into them redacted; a warning names the file and each line."""

    def clean(path: str, data: bytes | None) -> bytes | None:
        return data if not data or path in seen.unusable else legible.without_secrets(path, data, salt)

    return replace(
        seen,
        handbook=clean(layout.handbook, seen.handbook),
        summary=clean(layout.summary, seen.summary),
        inbox=clean(layout.inbox, seen.inbox),
    )


def _legible(seen: Seen, layout: Layout) -> Seen:
    """A file that cannot be taken in as it is, is left alone, with a warning; so are its lines that are not UTF-8."""
    files = {layout.handbook: seen.handbook, layout.summary: seen.summary, layout.inbox: seen.inbox}
    why = {path: told for path, data in files.items() if data and (told := legible.set_aside(data))}
    for path, told in why.items():
        logger.warning("sandbox memory: %s %s, until then it is left alone", path, told)
    for path, data in files.items():
        if data and path not in why and (told := legible.unread(path, data)):
            logger.warning("sandbox memory: %s", told)
    if not why:
        return seen
    return replace(
        seen,
        unusable={**seen.unusable, **why},
        summary=None if layout.summary in why else seen.summary,
        inbox=None if layout.inbox in why else seen.inbox,
    )


def _asked(change: Change, state: State, actor: str) -> Change:
    """A change of a team's memory, as the questions that it may only be."""
    source = ", ".join(sorted({stem for stem, _ in change.consolidated})) or actor
    operations, refused = sharing.asked(change.operations, state, source)
    return replace(change, operations=operations, refused=(*change.refused, *refused))


def _saved(seen: Seen, now: State, at: str, operations: Sequence[Operation]) -> str:
    """When a person made these changes; it is taken to be now for a line that would have expired meanwhile."""
    ended = {record.id for record in now.expired(at)}
    if not seen.saved or any(operation.id in ended for operation in operations):
        return at
    return min(later(seen.saved, now.at), at)


def _ended(now: State, at: str) -> Change:
    """Let go what has expired; a clock that was set back brings none of it back."""
    gone = now.expired(later(at, now.at))
    return Change("time", tuple(Operation("retire", record.id, {"reason": EXPIRED}) for record in gone))


_parsed = lru_cache(maxsize=4)(Document.parse)


def _adopted(seen: Seen, document: Document, now: State, actor: str, layout: Layout) -> tuple[adoption.Adopted, Change]:
    """What people changed in the three files, as one change."""
    foreign = now.ordinal == 0 or (document.marker or 0) > now.ordinal
    role = "import" if foreign else actor
    adopted = adoption.Adopted()
    if layout.handbook not in seen.unusable:
        stems = [name.removesuffix(".jsonl") for name in seen.sessions]
        stems += [name.removesuffix(".md") for name in seen.raw_memories]
        past = _past(seen.ledger, typed.seen(document, now))
        adopted = adoption.adopt(document, past, now, seen.written, actor=role, preset=layout.preset, stems=stems)
    changed = {
        operation.id: operation.body.get("text")
        for operation in adopted.operations
        if operation.op in ("revise", "restore", "delete", "hold")
    }
    changed |= {old: None for operation in adopted.operations for old in operation.facts.get("replaces", ())}
    operations = [
        *adopted.operations,
        *_from_summary(seen, now, actor, layout, changed),
        *inbox.decided(seen.inbox, seen.ledger, now, by_hand=actor == "hand"),
    ]
    return adopted, Change(role, tuple(operations))


def _past(ledger: Ledger, ordinal: int | None) -> State:
    """The state at that commit, or at the head if the file names none that is known."""
    return fold(ledger, ordinal if ordinal is not None and ordinal <= len(ledger) else None)


def _from_summary(
    seen: Seen, now: State, actor: str, layout: Layout, changed: Mapping[str, str | None]
) -> Sequence[Operation]:
    parts = split(seen.summary or b"")
    if parts.block is None or now.ordinal == 0 or not (parts.touched or typed.in_summary(now, parts.block.ordinal)):
        return ()
    document, showed = _summary(seen, parts, layout)
    return tuple(
        summarised.adopt_block(
            document,
            {item.id: item.words for item in _inner(showed).items},
            now,
            parts.block.ordinal,
            _parsed(seen.handbook or b""),
            actor=actor,
            preset=layout.preset,
            torn=not parts.written,
            whole=text_digest(showed.text) == parts.written and bool(document.items),
            elsewhere=changed,
        )
    )


def _written(seen: Seen, layout: Layout) -> tuple[str, str]:
    """What a person wrote into our blocks of the summary and of the inbox that is no record and no answer."""
    kept = []
    for data in (seen.summary, seen.inbox):
        parts, text = split(data or b""), ""
        if parts.block is not None and parts.touched:
            block = replace(parts.block, text=inbox.typed(parts.block.text))
            document = _inner(block) if data is seen.inbox else _summary(seen, parts, layout)[0]
            taken = [item.index for item in document.items if item.readable]
            if data is seen.inbox:
                taken = inbox.questions(data or b"", seen.ledger)
            text = commit.prose(document, taken, layout.preset.headings.values())
        kept.append(text)
    return kept[0], kept[1]


def _summary(seen: Seen, parts: Split, layout: Layout) -> tuple[Document, Block]:
    """The block of the summary as it stands, without the line of ours that is no record; and as it was written."""
    assert parts.block is not None
    showed = recall.block(_past(seen.ledger, parts.block.ordinal), layout.preset)
    written = showed.text if text_digest(showed.text) == parts.written else None
    return _inner(replace(parts.block, text=recall.without_more(parts.block.text, written))), showed


def _ticked(seen: Seen, now: State, layout: Layout) -> Mapping[str, bool]:
    """The boxes that somebody ticked in the summary, or not any more."""
    parts = split(seen.summary or b"")
    if parts.block is None or not parts.touched or not now.boxes:
        return {}
    document, showed = _summary(seen, parts, layout)
    return arranging.ticked(_inner(showed), document, now.boxes)


def _inner(block: Block) -> Document:
    return Document.parse(block.text.encode("utf-8", "surrogateescape"))
