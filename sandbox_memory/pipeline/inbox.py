"""`INBOX.md` between its bytes and its answers: our block, and the questions that people put elsewhere in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..blocks import split
from ..document import Document, RemoveItem
from ..folding import fold
from ..ledger import Ledger, Operation
from ..stages import answers, commit
from ..state import State

_OURS = "^p-"
"""What a line has that is a question, wherever it stands."""


def decided(data: bytes | None, ledger: Ledger, now: State, *, by_hand: bool) -> Sequence[Operation]:
    """What the file decides; unless a person was at work there alone, only that an answer was not heard."""
    page, past = _page(data, ledger, now)
    if page is None:
        return ()
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
        before, after = (_tidied(part, state, stay) for part in (parts.before, parts.after))
        data = f"{before}{middle}{after}".encode("utf-8", "surrogateescape")
    return commit.with_block(data, commit.inbox_block(state, stay), head=commit.INBOX_HEAD, prose=prose)


def _page(data: bytes | None, ledger: Ledger, now: State) -> tuple[answers.Page | None, State]:
    """What stands in the file, and the state that its block shows; None where nobody touched a question."""
    parts = split(data or b"")
    beside = [_document(text) for text in (parts.before, parts.after) if _OURS in text]
    if not beside and (parts.block is None or not parts.touched):
        return None, now
    block = _document(parts.block.text) if parts.block else None
    ordinal = parts.block.ordinal if parts.block else None
    past = fold(ledger, ordinal if ordinal is not None and ordinal <= len(ledger) else None)
    return answers.read(block, beside, past, now), past


def _tidied(text: str, state: State, stay: set[str]) -> str:
    """A part beside our block without the questions that have their answer; those that may stay there join `stay`."""
    if _OURS not in text:
        return text
    document = _document(text)
    here, gone = answers.at_home(document, state)
    gone |= {item.index for item in document.items if item.id in here & stay}
    stay |= here
    return document.edit([RemoveItem(index) for index in sorted(gone)]).data.decode("utf-8", "surrogateescape")


def _document(text: str) -> Document:
    return Document.parse(text.encode("utf-8", "surrogateescape"))
