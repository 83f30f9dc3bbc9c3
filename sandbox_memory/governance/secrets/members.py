"""Which members of a JSON object are the values of a sensitive name that another member, or its parent, gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .names import sensitive

_NAMING = ("name", "key", "id", "field", "label", "title", "n", "k", "header", "variable", "env", "selector", "type")
_VALUES = frozenset(("value", "val", "v", "content", "text", "data", "input", "current", "plaintext", "plain", "raw"))
_INSIDE = frozenset(
    ("value", "val", "v", "content", "current", "new", "old", "plaintext", "plain", "raw", "#text", "$")
)
_MESSAGE = frozenset(("role", "call_id", "tool_call_id", "arguments"))
"""What a message or a call of a tool has, whose name is no name of a value."""
_WORD = re.compile(r"[^\s\"'<>]{1,200}")
_MIXED = re.compile(r"(?=.*[A-Za-z]).*[0-9!@#$%^&*+?]")


def given_names(value: Mapping[Any, Any], inherited: str) -> dict[str, str]:
    """The members whose values another name judges than their own, each with that name.

    `{"name": "DB_PASSWORD", "value": …}` in its many spellings, and what stands in an object under a sensitive name
    (`inherited`): `{"password": {"value": …}}`.
    """
    if inherited and sensitive(inherited):
        return {key: inherited for key in value if key in _INSIDE}
    if not _VALUES.isdisjoint(value) and _MESSAGE.isdisjoint(value):
        for naming in _NAMING:
            named = value.get(naming)
            if isinstance(named, str) and len(named) <= 80 and (name := _named(naming, named)):
                free = naming in ("name", "key", "env", "variable")
                return {
                    key: name
                    for key, item in value.items()
                    if key in _VALUES and key != naming and (free or not isinstance(item, str) or _WORD.fullmatch(item))
                }
    return {}


def _named(naming: str, named: str) -> str:
    """The sensitive name in it, or nothing; what is only a type is one of passwords."""
    name = named.strip("#.:*[] \t").rpartition(" " if naming in ("label", "title") else "\0")[2]
    kind = sensitive(name) if name else None
    if kind is None or (naming in ("type", "k", "v") and kind not in ("password", "secret", "api-key")):
        return ""
    return name


def paired(value: list[Any] | tuple[Any, ...]) -> str:
    """The sensitive name of a pair `["password", "…"]`, or nothing."""
    if len(value) != 2 or not isinstance(value[0], str) or not isinstance(value[1], str) or len(value[0]) > 80:
        return ""
    fits = (_WORD.fullmatch(value[1]) and _MIXED.match(value[1])) or value[0].lower().endswith("authorization")
    return value[0] if fits and (sensitive(value[0]) or value[0].lower().endswith("authorization")) else ""
