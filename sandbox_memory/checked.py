"""The values of settings are checked where they are given, with errors that name the setting and what it takes."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real

from .errors import ConfigError


def whole(
    config: object, name: str, least: int | None = None, most: int | None = None, *, what: str = "a whole number"
) -> None:
    value = getattr(config, name)
    fits = isinstance(value, Integral) and not isinstance(value, bool)
    if not fits or (least is not None and value < least) or (most is not None and value > most):
        bounds = "" if least is None else f", from {least} on" if most is None else f", from {least} to {most}"
        raise ConfigError(f"{named(config)}.{name} must be {what}{bounds}, got {shown(value)}")


def seconds(config: object, name: str) -> None:
    value = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or value <= 0:
        raise ConfigError(f"{named(config)}.{name} must be a positive number of seconds, got {shown(value)}")


def typed(config: object, name: str, kind: type, what: str) -> None:
    value = getattr(config, name)
    if not isinstance(value, kind):
        raise ConfigError(f"{named(config)}.{name} must be {what}, got {shown(value)}")


def named(config: object) -> str:
    """The class as users know it, also for a class of theirs that extends it."""
    ours = (each for each in type(config).__mro__ if each.__module__.partition(".")[0] == __package__)
    return next(ours, type(config)).__name__


def shown(value: object) -> str:
    """What was given, for an error: a number, a truth and None as they are, of all else its type and its beginning."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    shown = f": {value!r:.60}" if isinstance(value, (str, list, tuple, set, frozenset)) else ""
    return f"a {type(value).__name__}{shown}"
