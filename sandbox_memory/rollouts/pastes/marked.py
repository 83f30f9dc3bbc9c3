"""Texts that a person, or a program for them, marked as not theirs: fences, `>`, tags, lines of memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t]{0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]{0,3}>.*$", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*<(?P<close>/?)(?P<name>[A-Za-z][\w-]{0,60})(?:\s[^<>\n]{0,200})?>[ \t]*$", re.MULTILINE)
MEMORY_LINE = re.compile(r"^.*(?:\^[mp]-[0-9a-f]{10}\b|<!-- memory:\d).*$", re.MULTILINE)
"""A line of a memory's own files."""


def pasted(text: str) -> Iterator[tuple[int, int]]:
    """The spans of fenced blocks, `>` quotations, blocks between tags on lines of their own, and lines of memory."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            if "`" not in fence["info"]:
                opened = fence
        elif fence["marks"].startswith(opened["marks"]) and not fence["info"].strip():
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)
    tags: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        if not tag["close"]:
            tags.setdefault(tag["name"], tag.start())
        elif tag["name"] in tags:
            yield tags.pop(tag["name"]), tag.end()
    for pattern in (_QUOTED, MEMORY_LINE):
        for line in pattern.finditer(text):
            yield line.span()
