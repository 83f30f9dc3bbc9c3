"""What a run repeats of what was forgotten: an application keeps its own history, and hands it on with every turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...folding import fold
from ...governance.forgetting import Erasure, Marks, masked_value, remains
from ...records import RunCapture
from ...rollouts import message_text
from ...stages.segment import History, jsonable, marks
from ...state import State
from ..store import Store


async def known_again(
    store: Store, stem: str, capture: RunCapture, known_by: list[str], history: History
) -> tuple[list[str], frozenset[int]]:
    """The marks of a run's items, those of items that its transcript holds without forgotten words as it holds them.

    Also the positions of items, but the last a user said, that are nothing but what was forgotten with a whole
    conversation: they are old, and what is said anew is not.
    """
    if not store.ledger.data and any(item.get("role") != "user" for item in capture.input):
        await store.see(listing=False)
    items = [*capture.input, *capture.generated]
    return _known(fold(store.ledger), stem, items, known_by, history, store.salt)


def _known(
    state: State,
    stem: str,
    items: Sequence[Mapping[str, Any]],
    known_by: list[str],
    history: History,
    salt: bytes,
) -> tuple[list[str], frozenset[int]]:
    erasures = [erasure for erasure in state.erasures.values() if erasure.finished]
    if not erasures:
        return known_by, frozenset()
    known, made, whole = set(history.items), list(known_by), set[int]()
    last = max((n for n, item in enumerate(items) if item.get("role") == "user"), default=-1)
    for erasure in erasures:
        sought = _all(erasure)
        gone = erasure.whole(stem)
        for n, item in enumerate(items):
            if not gone and (not known_by[n] or made[n] in known):
                continue
            plain = jsonable(dict(item))
            clean = masked_value(plain, sought)
            if clean == plain:
                continue
            mark = marks([clean], salt)[0]
            if mark in known:
                made[n] = mark
            elif gone and n != last and not _says(clean):
                whole.add(n)
    return made, frozenset(whole)


def _all(erasure: Erasure) -> Marks:
    found = erasure.marks
    for local in erasure.local.values():
        found = found.with_(local)
    return found


def _says(item: Mapping[str, Any]) -> bool:
    """True if a masked item still holds a word of its own."""
    told = (
        [message_text(item.get("content"))]
        if item.get("role")
        else [str(item.get("arguments", item.get("output", "")))]
    )
    return any(char.isalnum() for text in told for char in remains(text))
