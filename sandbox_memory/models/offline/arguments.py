"""How the arguments of two calls differ, and which of them an error names."""

from __future__ import annotations

import json
import re
from typing import Any

from ...governance.speech.sentences import Sentence
from .tools import Call, is_id


def of_another(call: Call, other: Call, changed: list[str]) -> bool:
    """True if the second call is about another thing: it has another id, and none that the first had."""
    named = [key for key in call.args if is_id(key, call.args[key]) and is_id(key, other.args.get(key))]
    return bool(named) and all(key in changed and not rewritten(call.args[key], other.args[key]) for key in named)


def names(error: str, key: str) -> bool:
    return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(key)}(?![A-Za-z0-9])", error, re.IGNORECASE))


def has_value(error: str, value: Any) -> bool:
    """True if the error repeats the value, or a name with a number in it that is part of the value."""
    named = {word for word in re.findall(r"[\w-]+", error) if re.search(r"\d", word) and re.search(r"[A-Za-z]", word)}
    return str(value) in error.split() or bool(named & set(re.findall(r"[\w-]+", str(value))))


def rewritten(one: Any, two: Any) -> bool:
    """True if one value is the other but for its writing: another case, a sign more or less."""
    mine, theirs = (re.sub(r"[\W_]+", "", str(value)).casefold() for value in (one, two))
    return bool(mine) and mine == theirs


def plain_value(call: Call, key: str, error: str) -> Sentence | None:
    """The new value if it is a word of the tool's language, or one that the error names: no number, no id."""
    value = call.args[key]
    if not isinstance(value, str) or not re.fullmatch(r"[^\W\d]+(?:[_-][^\W\d]+)*", value.strip()):
        return None
    if value.strip() != value.strip().lower() and not names(error, value.strip()):
        return None
    start = call.item.text.find(value.strip(), call.item.text.find(key) + len(key))
    return Sentence(value.strip(), start) if start >= 0 else None


def inner_field(one: Any, two: Any) -> str:
    """The one field in which two values that are JSON differ, or that only the second has."""
    try:
        mine, theirs = (json.loads(value) if isinstance(value, str) else value for value in (one, two))
    except (ValueError, RecursionError):
        return ""
    keys = _differing(mine, theirs)
    return keys.pop() if keys is not None and len(keys) == 1 else ""


def _differing(one: Any, two: Any, key: str = "") -> set[str] | None:
    if isinstance(one, dict) and isinstance(two, dict) and set(one) <= set(two):
        found: list[set[str] | None] = [{name for name in two if name not in one}]
        found += [_differing(one[name], two[name], name) for name in one]
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        found = [_differing(mine, theirs, key) for mine, theirs in zip(one, two, strict=True)]
    elif isinstance(one, (dict, list)) or isinstance(two, (dict, list)):
        return None
    else:
        return {key} - {""} if one != two else set()
    return None if any(each is None for each in found) else set().union(*(each or set() for each in found))
