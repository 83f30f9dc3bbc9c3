"""MEMORY.md as text with addressable list items: edits change the items that they mean and leave all other bytes."""

from __future__ import annotations

from .model import Document, ListItem, strip_for_prompt
from .operations import Cite, Edit, Insert, Provenance, Prune, RemoveItem, Retitle, Revise, Stamp, Tick
from .safe import safe_heading, safe_text
from .text import normalise

__all__ = [
    "Cite",
    "Document",
    "Edit",
    "Insert",
    "ListItem",
    "Provenance",
    "Prune",
    "RemoveItem",
    "Retitle",
    "Revise",
    "Stamp",
    "Tick",
    "normalise",
    "safe_heading",
    "safe_text",
    "strip_for_prompt",
]
