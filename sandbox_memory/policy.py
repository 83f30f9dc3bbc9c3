"""What an application allows a memory to write; apart from `config`, since it needs nothing of the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from .checked import seconds, shown
from .errors import ConfigError
from .records import Asked

LONGEST_KEY, LONGEST_VALUE = 128, 2_000
"""How many characters a subject, and what is remembered of it, may have."""

Approve = Callable[[Asked], bool | Awaitable[bool]]
"""Decides about one proposal in place of a person: True accepts it, False refuses it."""


@dataclass(frozen=True)
class MemoryPolicy:
    """What an application allows a memory to write, beside the policy of its preset; it can narrow that, not widen it.

    `allow` maps the subjects that may be remembered to the values that each may have, or to None for any:
    `{"reply language": {"English", "中文"}, "seat": None}`. None allows every subject, an empty mapping none. A line is
    let in if its subject, as its extraction or `add(…, subject=…)` names it, is one of these in any case and spacing,
    and its text names one of the values: the value's words in their order, in any case and inflection ("aisle seats"
    for "aisle seat"), and not where the text denies them ("not in English"). What else a text says beside the value is
    not looked at. The models of both phases are told the list. A person's own edits of the files are not held to it.

    `approve` is asked about each new line that would wait in `INBOX.md`: True writes it, False refuses it for good. It
    may be a function, which gets a thread of its own, or a coroutine function, and is called outside of the memory's
    lock. Where it raises, whatever that is, takes longer than `approve_seconds` or answers anything else, nothing is
    written, the line waits for a person, and a warning says why; neither the run nor the close of the session fails.

    Raises `ConfigError` for keys and values out of bounds, and for anything of another type.
    """

    allow: Mapping[str, Collection[str] | None] | None = None
    approve: Approve | None = None
    approve_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.allow is not None:
            # As it is now: what the application does to its own mapping later is not taken for a new policy.
            object.__setattr__(self, "allow", _allowed(self.allow))
        if self.approve is not None and not callable(self.approve):
            raise ConfigError(
                f"MemoryPolicy.approve must be a function that takes what is asked, or None, got {shown(self.approve)}"
            )
        seconds(self, "approve_seconds")


def _allowed(allow: object) -> dict[str, Collection[str] | None]:
    if not isinstance(allow, Mapping):
        raise ConfigError(
            "MemoryPolicy.allow must map each subject to its values, or to None for any, as in "
            f'{{"reply language": {{"English", "中文"}}, "seat": None}}; got {shown(allow)}'
        )
    found: dict[str, Collection[str] | None] = {}
    for key, values in allow.items():
        _bounded("a key", key, LONGEST_KEY)
        where = f"MemoryPolicy.allow[{key!r}]"
        if values is None:
            found[key] = None
            continue
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Collection):
            raise ConfigError(
                f"{where} must be a set or a list of values, or None for any; got {shown(values)}. For one value, "
                "give a set that holds it"
            )
        if not values:
            raise ConfigError(f"{where} names no value. Leave the key out to allow nothing of it, or give None for any")
        for value in values:
            _bounded(f"a value of {key!r}", value, LONGEST_VALUE)
        found[key] = frozenset(values)
    return found


def _bounded(what: str, text: object, most: int) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > most:
        raise ConfigError(f"MemoryPolicy.allow: {what} must be a text of 1 to {most} characters, got {shown(text)}")
