"""From what one look saw to what should be written: adopt, let each maker commit, and show the outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ..blocks import Block, Split, split, text_digest
from ..document import Document
from ..folding import apply, fold
from ..layout import Layout
from ..ledger import Commit, Ledger, Operation, encode
from ..records import Refusal
from ..stages import adoption, answers, commit, recall
from ..state import State
from ..workspace import ABSENT, Append, Replace, digest

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


Maker = Callable[[State], Change]
"""Decides on a state what to commit; called again when another process was faster."""


@dataclass(frozen=True)
class Prepared:
    """The files as they should be, the state that they show, and the steps that make it so."""

    state: State
    ledger: Ledger
    summary: bytes
    steps: tuple[Append | Replace, ...]
    adopted: tuple[Operation, ...]
    refused: tuple[Refusal, ...]
    committed: int


def prepare(
    seen: Seen, *, actor: str, layout: Layout, at: str, makers: Sequence[Maker] = (), clean: bool = False
) -> Prepared:
    """Adopt what people changed, let each maker commit on the state so far, and bring the markdown up to date.

    `actor` is hand or live: who is taken to have edited. `at` is the ISO time that the commits get. `clean` says that
    the files are as they were left at the head: where no maker commits anything, they need not be read.
    """
    state = fold(seen.ledger)
    if clean and all(change.empty and not change.refused for change in (maker(state) for maker in makers)):
        return Prepared(state, seen.ledger, seen.summary or b"", (), (), (), 0)
    document = _parsed(seen.handbook or b"")
    if document.foreign:
        logger.warning(
            "sandbox memory: %s is UTF-16 or UTF-32; save it as UTF-8, until then it is left alone", layout.handbook
        )
        seen = replace(seen, unusable={**seen.unusable, layout.handbook: "is UTF-16 or UTF-32; save it as UTF-8"})
    adopted, person = _adopted(seen, document, fold(seen.ledger), actor, layout)
    drafts: list[Commit] = []
    refused = list(adopted.refused)
    for maker in (lambda _: person, *makers):
        change = maker(state)
        refused += change.refused
        if not change.empty:
            drafts.append(
                Commit(state.ordinal + 1, at, change.actor, change.operations, change.consolidated, change.settings)
            )
            apply(state, drafts[-1])
    lines, ledger = encode(seen.ledger, drafts)
    steps: list[Append | Replace] = [Append(layout.ledger, lines, expect=seen.ledger.mark)] if drafts else []
    written = _written(seen, layout)
    summary = commit.with_block(seen.summary, recall.block(state, layout.preset), prose=written[0])
    inbox = commit.with_block(seen.inbox, commit.inbox_block(state), head=commit.INBOX_HEAD, prose=written[1])
    if state.ordinal:
        headings = layout.preset.headings.values()
        past = _past(seen.ledger, document.marker)
        edits = commit.catch_up(document, adopted.assigned, adopted.dropped, past, state, headings)
        views = (
            (layout.handbook, seen.handbook, document.edit(edits, marker=state.ordinal).data),
            (layout.summary, seen.summary, summary),
            (layout.inbox, seen.inbox, inbox),
        )
        for path, before, after in views:
            if (before or b"") != after and path not in seen.unusable:
                steps.append(Replace(path, after, expect=ABSENT if before is None else digest(before)))
    return Prepared(state, ledger, summary, tuple(steps), person.operations, tuple(refused), len(drafts))


_parsed = lru_cache(maxsize=4)(Document.parse)


def _adopted(seen: Seen, document: Document, now: State, actor: str, layout: Layout) -> tuple[adoption.Adopted, Change]:
    """What people changed in the three files, as one change."""
    foreign = now.ordinal == 0 or (document.marker or 0) > now.ordinal
    role = "import" if foreign else actor
    adopted = adoption.Adopted()
    if layout.handbook not in seen.unusable:
        stems = [name.removesuffix(".jsonl") for name in seen.sessions]
        stems += [name.removesuffix(".md") for name in seen.raw_memories]
        past = _past(seen.ledger, document.marker)
        adopted = adoption.adopt(document, past, now, actor=role, preset=layout.preset, stems=stems)
    changed = {
        operation.id: operation.body.get("text")
        for operation in adopted.operations
        if operation.op in ("revise", "restore", "delete", "hold")
    }
    operations = [
        *adopted.operations,
        *_from_summary(seen, now, actor, layout, changed),
        *_from_inbox(seen, now, actor),
    ]
    return adopted, Change(role, tuple(operations))


def _past(ledger: Ledger, ordinal: int | None) -> State:
    """The state at that commit, or at the head if the file names none that is known."""
    return fold(ledger, ordinal if ordinal is not None and ordinal <= len(ledger) else None)


def _from_summary(
    seen: Seen, now: State, actor: str, layout: Layout, changed: Mapping[str, str | None]
) -> Sequence[Operation]:
    parts = split(seen.summary or b"")
    if parts.block is None or not parts.touched or now.ordinal == 0:
        return ()
    document, showed = _summary(seen, parts, layout)
    return tuple(
        adoption.adopt_block(
            document,
            {item.id: item.words for item in _inner(showed).items},
            now,
            _parsed(seen.handbook or b""),
            actor=actor,
            preset=layout.preset,
            torn=not parts.written,
            whole=text_digest(showed.text) == parts.written and bool(document.items),
            elsewhere=changed,
        )
    )


def _from_inbox(seen: Seen, now: State, actor: str) -> Sequence[Operation]:
    parts = split(seen.inbox or b"")
    if parts.block is None or not parts.touched:
        return ()
    read = answers.answers if actor == "hand" else answers.unheard
    return tuple(read(_inner(parts.block), _past(seen.ledger, parts.block.ordinal), now))


def _written(seen: Seen, layout: Layout) -> tuple[str, str]:
    """What a person wrote into our blocks of the summary and of the inbox that is no record and no answer."""
    kept = []
    for data in (seen.summary, seen.inbox):
        parts, text = split(data or b""), ""
        if parts.block is not None and parts.touched:
            document = _inner(parts.block) if data is seen.inbox else _summary(seen, parts, layout)[0]
            taken = [item.index for item in document.items if item.readable]
            if data is seen.inbox:
                questions = answers.answered(document, _past(seen.ledger, parts.block.ordinal)).values()
                taken = [item.index for item in document.items if item in questions or item.id.startswith("p-")]
            text = commit.prose(document, taken, layout.preset.headings.values())
        kept.append(text)
    return kept[0], kept[1]


def _summary(seen: Seen, parts: Split, layout: Layout) -> tuple[Document, Block]:
    """The block of the summary as it stands, without the line of ours that is no record; and as it was written."""
    assert parts.block is not None
    showed = recall.block(_past(seen.ledger, parts.block.ordinal), layout.preset)
    written = showed.text if text_digest(showed.text) == parts.written else None
    return _inner(replace(parts.block, text=recall.without_more(parts.block.text, written))), showed


def _inner(block: Block) -> Document:
    return Document.parse(block.text.encode("utf-8", "surrogateescape"))
