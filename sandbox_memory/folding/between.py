"""What lies between two times: what came, what went, and what says something else."""

from __future__ import annotations

from dataclasses import dataclass

from ..records import Record
from .past import Then, face


@dataclass(frozen=True)
class Difference:
    """The records that were so at one time only, oldest first, and those that were so at both in other words.

    `changed` has each as it was and as it is. Where a line stands, its kind, its expiry, its importance and a pin count
    as words.
    """

    before: Then
    after: Then
    added: tuple[Record, ...]
    gone: tuple[Record, ...]
    changed: tuple[tuple[Record, Record], ...]


def between(before: Then, after: Then) -> Difference:
    """The difference of two times, whichever is the earlier."""
    old, new = ({record.id: record for record in then.records} for then in (before, after))
    return Difference(
        before,
        after,
        added=tuple(record for id, record in new.items() if id not in old),
        gone=tuple(record for id, record in old.items() if id not in new),
        changed=tuple((old[id], record) for id, record in new.items() if id in old and face(old[id]) != face(record)),
    )
