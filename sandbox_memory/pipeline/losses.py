"""Where commits of the history are missing, nothing is taken in or committed before a person has decided.

The files are read as they are, and what is edited in them stays there. A session goes on: what is said in it is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import lru_cache

from ..blocks import split
from ..document import Document
from ..errors import HistoryLost
from ..trusting.checking import gone_from
from ..trusting.reporting import commits, highest, lacking
from .forgetting import forget as forgetting
from .settle import Prepared, Seen
from .store import Store
from .takeover import takeover

WHAT_TO_DO = (
    "put the whole folder back from a copy (git, a snapshot), if you have one; else `sandbox-memory vouch` says that "
    "what stands there counts"
)
NOT_TAKEN_IN = "nothing is taken in as long as {}; what you save stays in the files as it is: {}"
NOT_DONE = "nothing was done: {}; {}"
LOOKS = 3
"""How often it is looked for before it is believed: another process may write between a look's files."""


def shown(seen: Seen) -> int:
    """The last commit that the markdown knows of."""
    block = split(seen.summary or b"").block
    return max(Document.parse(seen.handbook or b"").marker or 0, (block.ordinal if block else None) or 0)


@lru_cache(maxsize=1)
def _highest(*views: bytes) -> int:
    return highest(views)


def _views(seen: Seen) -> tuple[bytes, bytes]:
    return seen.handbook or b"", seen.summary or b""


async def lost(store: Store) -> tuple[Seen, str]:
    """What stands there, and which commits are missing from it, in a sentence: empty where none is known to be."""
    for _ in range(LOOKS):
        head = store.witness.recall()
        seen = await store.see()
        path, there = store.layout.ledger, len(seen.ledger)
        gone = gone_from(head, seen.ledger)
        # A marker alone says nothing where this machine knows how far the history had got: anybody can write one.
        if not gone and (head.commits or _highest(*_views(seen)) <= there or shown(seen) <= there):
            return seen, ""
    if shown(seen) > there:
        return seen, f"{path} {lacking(there, shown(seen))}"
    return seen, f"{path}: a history of {commits(max(gone))} is lost"


async def whole(store: Store, *, going_on: bool) -> Seen:
    """What stands there, to commit something on it; with `going_on` also where commits are missing.

    Raises `HistoryLost` otherwise.
    """
    if going_on:
        return await forgetting.seen(store)
    seen, told = await lost(store)
    if told:
        raise HistoryLost(NOT_DONE.format(told, WHAT_TO_DO))
    return await forgetting.finished(store, seen)


async def adopt(store: Store, settle: Callable[..., Awaitable[Prepared]], *, dry: bool) -> Prepared:
    """Take in what people changed with `settle`; with `dry`, or where commits are missing, nothing is written.

    Where they are, what is `halted` says so, and the outcome has the state as it would be. A forgetting that was begun
    is finished all the same.
    """
    seen, told = await lost(store)
    only = dry or bool(told)
    seen = seen if dry else await forgetting.finished(store, seen)
    who = "live" if store.others_open(seen.open_marks)[0] else "hand"
    makers = await takeover(store, seen, vouching=not only) + (forgetting.unwritten(store) if only else [])
    done = await (store.prepare(seen, who, makers) if only else settle(who, makers, seen=seen))
    if not told or dry:
        return done
    halted = NOT_TAKEN_IN.format(told, WHAT_TO_DO)
    return replace(done, halted=halted, steps=(), adopted=(), refused=(), committed=0, said=())
