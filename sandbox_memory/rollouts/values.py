"""Any value as JSON knows it."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from enum import Enum
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

logger = logging.getLogger(__name__)

DEPTH = 100
"""Levels of nesting that are kept as JSON; what lies deeper, or goes round in a circle, is kept as text."""


def jsonable(value: Any) -> Any:
    """The value as JSON knows it: models and dataclasses as objects, times in ISO form, what is left as its text."""
    return _jsonable(value, 0)


def _jsonable(value: Any, depth: int) -> Any:
    if isinstance(value, Enum):
        return _jsonable(value.value, depth)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 4096 else hex(value)  # Python refuses to print longer ones
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if depth >= DEPTH:
        return _text(value)
    below = depth + 1
    if isinstance(value, BaseModel):
        return _jsonable(_dumped(value), below)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _jsonable(getattr(value, field.name, None), below) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else _text(_jsonable(key, below)): _jsonable(entry, below)
            for key, entry in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_jsonable(entry, below) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_jsonable(entry, below) for entry in value), key=_text)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, PurePath):
        return value.as_posix()
    return _text(value)


def _dumped(model: BaseModel) -> Any:
    """A model's fields; of the SDK's own items only those that were set, which is how they are sent back to a model."""
    try:
        return model.model_dump(exclude_unset=type(model).__module__.partition(".")[0] in ("openai", "agents"))
    except Exception as error:
        # A model with a broken serializer is still worth its text.
        logger.debug("serializing a %s failed", type(model).__name__, exc_info=error)
        return _text(model)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:
        # Any object may come, also one that cannot be shown.
        logger.debug("showing a %s failed", type(value).__name__, exc_info=error)
        return f"<{type(value).__name__}>"
