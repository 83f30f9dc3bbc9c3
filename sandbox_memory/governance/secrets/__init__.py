"""Finds secrets in a text: rules on values, no file access, no network. `governance.redaction` takes them out."""

from __future__ import annotations

from collections.abc import Iterator

from .assigned import assigned
from .blocks import private_keys
from .codes import codes
from .forms import forms
from .headers import headers
from .hidden import plain
from .masks import Masked, Span
from .names import SHORT_NAMES, sensitive, told
from .numbers import numbers
from .placeholders import PLACEHOLDER
from .tokens import tokens
from .values import is_number, is_placeholder, is_secret

__all__ = [
    "DETECTORS",
    "PLACEHOLDER",
    "SHORT_NAMES",
    "Span",
    "found",
    "is_number",
    "is_placeholder",
    "is_secret",
    "plain",
    "sensitive",
    "told",
]

DETECTORS = {
    "tokens": tokens,
    "blocks": private_keys,
    "forms": forms,
    "numbers": numbers,
    "assigned": assigned,
    "headers": headers,
    "codes": codes,
}
"""What looks for secrets, each for another kind of form."""


def found(text: str) -> Iterator[Span]:
    """The spans of the secrets in a text, which `plain` made; in no order, and they may overlap."""
    masked = Masked(text)
    for detector in DETECTORS.values():
        yield from detector(masked)
