"""`INBOX.md` between its bytes and its answers: our block, and the questions that people put elsewhere in it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace

from ..blocks import Split, split
from ..document import Document, RemoveItem
from ..folding import fold
from ..ledger import Ledger, Operation
from ..stages import answers, commit
from ..state import State

logger = logging.getLogger("sandbox_memory")

_OURS = "^p-"
"""What a line has that is a question, wherever it stands."""
_SEAM = "# -"
NOTHING = "Nothing waits."
"""What our block says where each question has its answer."""


def decided(data: bytes | None, ledger: Ledger, now: State, *, by_hand: bool) -> Sequence[Operation]:
    """What the file decides; unless a person was at work there alone, only that an answer was not heard."""
    page, past = _page(data, ledger, now)
    if page is None:
        return ()
    if page.unseen:
        logger.warning(
            "sandbox memory: %s in INBOX.md is ticked in code, a quotation or a comment, where no answer counts",
            "a question" if len(page.unseen) == 1 else f"{len(page.unseen)} questions",
        )
    if page.joined:
        logger.warning(
            "sandbox memory: %d questions in INBOX.md share a line, which answers none of them", len(page.joined)
        )
    return tuple((answers.answers if by_hand else answers.unheard)(page, past, now))


def questions(data: bytes, ledger: Ledger) -> list[int]:
    """The indices of the items of our block that are questions, not a person's own lines."""
    page, _ = _page(data, ledger, fold(ledger))
    return sorted(page.taken) if page else []


def shown(data: bytes | None, state: State, prose: str) -> bytes:
    """The file as it should be: open questions in our block, save those that a person keeps elsewhere in the file.

    `prose` is what a person wrote into the block that is no answer; it goes below.
    """
    stay = set[str]()
    if data is not None and _OURS.encode() in data:
        parts = split(data)
        text = data.decode("utf-8", "surrogateescape")
        middle = text[len(parts.before) : len(text) - len(parts.after)]
        _, *around = _parts(parts)
        before, after = (_tidied(part, state, stay) for part in around)
        data = f"{before}{middle}{after}".encode("utf-8", "surrogateescape")
    block = commit.inbox_block(state, stay)
    if not state.proposals and data and split(data).block is not None:
        block = replace(block, text=NOTHING)
    return commit.with_block(data, block, head=commit.INBOX_HEAD, prose=prose)


def typed(text: str) -> str:
    """The text of our block without the line of ours that is no question."""
    return re.sub(rf"(?m)^{re.escape(NOTHING)}\r?\n?", "", text)


def _page(data: bytes | None, ledger: Ledger, now: State) -> tuple[answers.Page | None, State]:
    """What stands in the file, and the state that its block shows; None where nobody touched a question."""
    parts = split(data or b"")
    questions = [text for text in (parts.before, parts.after) if _OURS in text]
    if not questions and (parts.block is None or not parts.touched):
        return None, now
    block, before, after = _parts(parts)
    ordinal = parts.block.ordinal if parts.block else None
    past = fold(ledger, ordinal if ordinal is not None and ordinal <= len(ledger) else None)
    page = answers.read(block, (before, after), past, now)
    # A file that is half saved ends in the block: what is not there yet was not refused.
    unended = parts.block is not None and parts.block.ordinal is not None and not parts.written
    return replace(page, torn=page.torn or unended), past


def _parts(parts: Split) -> tuple[answers.Part | None, answers.Part, answers.Part]:
    """Our block, what stands before it and what after it, each with the lines of it that are not to be seen."""
    block = parts.block.text if parts.block else ""
    # A heading in the place of each marker: it ends a list as that does, and no comment.
    whole = f"{parts.before}{_SEAM}\n{block}\n{_SEAM}{parts.after}" if parts.block else parts.before
    hidden = answers.hidden(_document(whole))
    first = len(_document(parts.before).lines)
    last = first + 1 + max(1, len(_document(block).lines))

    def part(text: str, start: int) -> answers.Part:
        document = _document(text)
        return answers.Part(document, frozenset(n for n in range(len(document.lines)) if n + start in hidden))

    return (
        part(block, first + 1) if parts.block else None,
        part(parts.before, 0),
        part(parts.after, last),
    )


def _tidied(part: answers.Part, state: State, stay: set[str]) -> str:
    """A part beside our block without the questions that have their answer; those that may stay there join `stay`."""
    document = part.document
    here, gone = answers.at_home(part, state)
    gone |= {item.index for item in document.items if item.id in here & stay}
    stay |= here
    return document.edit([RemoveItem(index) for index in sorted(gone)]).data.decode("utf-8", "surrogateescape")


def _document(text: str) -> Document:
    return Document.parse(text.encode("utf-8", "surrogateescape"))
