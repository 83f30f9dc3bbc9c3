"""Text of any kind as one list item or one heading."""

from __future__ import annotations

import re

from .blocks import outline
from .model import Document
from .text import (
    CHECKBOX,
    ID,
    cleaned,
    code_spans,
    literal,
    normalise,
    outside_code,
    plain,
    squeezed,
    unmarked,
    without_refs,
)

_HARMLESS = re.compile(r"[^\W\d_][\w .,;:'\"()/?%$\u2019\u201c\u201d\u2192-]*")
_AUTOLINK = r"(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9.-]+)>"
_BLOCK_START = re.compile(
    r"#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|~{3}|`{3}[^`]*$|[-_*=](?:\s*[-_*=])*$|\[[^\]]*\]:|<(?!" + _AUTOLINK + ")"
)
_NUMBER = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)")
_CLOSING = re.compile(r"(?:^|\s)#+$")
_COMMENT = re.compile(r"<!--.*?-->|<!--")
_TEST_ID = "m-0000000000"


def safe_text(text: str) -> str:
    """The text so written that, as the content of a list item, it reads back as one item with just that text.

    Line ends become spaces, control characters go. A backslash keeps from working what would begin another block (a
    heading, list, quote, fence, rule, HTML, definition, checkbox), HTML comments, and what looks like a block id;
    other inline markdown stays. `normalise(safe_text(t)) == normalise(t)`, and applying it twice changes nothing.
    """
    line = without_refs(cleaned(text))[0]
    if _HARMLESS.fullmatch(line):
        return line
    tries = (_escaped(line), _escaped(CHECKBOX.sub("", line, count=1)))
    return next(
        (each for each in tries if _reads_back(each, normalise(text))),
        literal(squeezed(without_refs(unmarked(text))[0])),
    )


def safe_heading(title: str) -> str:
    """The title so written that, after the number signs of a heading, it is read as just that plain text."""
    line = cleaned(title)
    return line if plain(line) == line and not _CLOSING.search(line) else literal(line)


def _escaped(line: str) -> str:
    for comment in reversed(outside_code(line, list(_COMMENT.finditer(line)))):
        line = line[: comment.start()] + literal(comment[0]) + line[comment.end() :]
    for found in reversed(outside_code(line, list(ID.finditer(line)))):
        line = line[: found.start()] + "\\" + line[found.start() :]
    if _BLOCK_START.match(line) or CHECKBOX.match(line):
        spans = code_spans(line)
        if not (spans and spans[0][0] == 0) and not line.startswith("\\"):
            line = "\\" + line
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def _reads_back(line: str, normal: str) -> bool:
    for source, identity in ((f"- {line}", ""), (f"- {line} ^{_TEST_ID}", _TEST_ID)):
        items = Document(source.encode()).items
        if len(items) != 1 or (items[0].text, items[0].normal, items[0].id) != (line, normal, identity):
            return False
        if len(outline([source]).nodes[0].leaves) != 1:
            return False
    return True
