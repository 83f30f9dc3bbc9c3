"""Which members of a JSON object are the values of a sensitive name that another member, or its parent, gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .names import sensitive

_NAMING: tuple[str, ...] = (
    "name",
    "key",
    "id",
    "field",
    "label",
    "title",
    "n",
    "k",
    "header",
    "variable",
    "env",
    "selector",
    "type",
)
_NAMING += ("element", "locator", "setting", "parameter", "placeholder")
_VALUES = frozenset(("value", "val", "v", "content", "text", "data", "input", "current", "plaintext", "plain", "raw"))
_VALUES |= frozenset(
    "new_value newValue old_value oldValue newvalue oldvalue to from before after previous fill typed".split()
)
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
    if "question" in value and (asked := _asked(value)):
        return asked
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
    if naming in ("label", "title", "element", "placeholder"):
        name = _ROLE.sub("", named.strip("#.:*[] \t")).rpartition(" ")[2]
    else:
        name = named.strip("#.:*[] \t")
    kind = sensitive(name) if name else None
    if kind is None or (naming in ("type", "k", "v") and kind not in ("password", "secret", "api-key")):
        return ""
    return name


_ROLE = re.compile(r"(?:[ ](?:text ?box|text|field|input|box|entry|form))+$", re.IGNORECASE)
"""What a field is, after what it is called."""
_ASKED = re.compile(r"(?:password|passphrase|passcode|api key|access token|secret key)\b|密码|口令", re.IGNORECASE)
_SECRETS = ("password", "secret", "token", "api-key", "credential")


def _asked(value: Mapping[Any, Any]) -> dict[str, str]:
    """The answer to a question for a secret; a word without digit or sign answers another question."""
    question, answer = value["question"], value.get("answer")
    if not isinstance(question, str) or not isinstance(answer, str) or len(question) > 200:
        return {}
    asked = _ASKED.search(question)
    return {"answer": asked[0]} if asked and _WORD.fullmatch(answer) and _MIXED.match(answer) else {}


def headed(names: Any, rows: Any) -> list[Any] | None:
    """The rows with the sensitive name of its column beside each cell; None if they are no table with such a column.

    A cell that is a word, or a short number, has no name: tables of words describe fields.
    """
    if not isinstance(names, (list, tuple)) or not isinstance(rows, (list, tuple)) or not 1 <= len(names) <= 100:
        return None
    heads = [one.get("name") if isinstance(one, dict) else one for one in names]
    if not all(isinstance(head, str) and 0 < len(head) <= 80 for head in heads):
        return None
    kinds = [head if sensitive(head) in _SECRETS else "" for head in heads]
    if not any(kinds) or not all(isinstance(row, (list, tuple)) and len(row) == len(heads) for row in rows):
        return None
    return [[(cell, head if _is_cell(cell) else "") for cell, head in zip(row, kinds, strict=True)] for row in rows]


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, str) and bool(_WORD.fullmatch(cell) and _MIXED.match(cell))


def argued(value: list[Any] | tuple[Any, ...]) -> dict[int, str]:
    """The places in a list of arguments that are the values of sensitive options, each with the option."""
    named = {}
    for n, item in enumerate(value[1:200], 1):
        option = value[n - 1]
        if (
            isinstance(item, str)
            and isinstance(option, str)
            and option[:2] == "--"
            and len(option) <= 60
            and item[:1] != "-"
            and " " not in item
            and sensitive(option)
        ):
            named[n] = option
    return named


def paired(value: list[Any] | tuple[Any, ...]) -> str:
    """The sensitive name of a pair `["password", "…"]`, or nothing."""
    if len(value) != 2 or not isinstance(value[0], str) or not isinstance(value[1], str) or len(value[0]) > 80:
        return ""
    fits = (_WORD.fullmatch(value[1]) and _MIXED.match(value[1])) or value[0].lower().endswith("authorization")
    return value[0] if fits and (sensitive(value[0]) or value[0].lower().endswith("authorization")) else ""
