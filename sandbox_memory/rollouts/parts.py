"""The parts of one message: which of them are documents, and not the words of the person who sent them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .pastes import asks_for_attached

_NAMED = re.compile(
    r"\s*(?:[-=*#]{2,}[ \t]*)?(?:(?:begin|start|file(?:name)?|attachment|attached(?: file)?|document|source|page|"
    r"文件名?|附件|文档)[ \t]*[:：]?[ \t]*)?[\[(<\"'`]?[\w .()/\\-]{0,80}[\w)]\.[A-Za-z][A-Za-z0-9]{0,5}[\])>\"'`]?"
    r"[ \t]*[:：]?[ \t]*(?:[-=*#]{2,})?[ \t]*\n",
    re.IGNORECASE,
)
"""A first line that is the name of a file: `--- a.txt ---`, `File: a.txt`."""


@dataclass(frozen=True)
class Part:
    """The text of one part of a message as it is rendered; `kind` is text, file or media."""

    text: str
    kind: str


def attached(parts: Sequence[Part], whole: str) -> tuple[tuple[int, int], ...]:
    """The spans of `whole`, the parts one a line, that are documents: those under the name of a file, and the others
    of a part that asks for work on them, or of the first that asks, where a file is among the parts.

    Several parts are a person's own where none asks about another: clients split paragraphs.
    """
    texts = [number for number, part in enumerate(parts) if part.kind == "text"]
    named = {number for number in texts if _NAMED.match(parts[number].text)}
    rest = [number for number in texts if number not in named]
    asking = [number for number in rest if asks_for_attached(parts[number].text)]
    if not asking and any(part.kind == "file" for part in parts):
        asking = [number for number in rest if "?" in parts[number].text or "？" in parts[number].text][:1] or rest[:1]
    # Where several ask, one of them may be the document.
    documents = named | (set() if not asking else {*rest} - {*asking} if len(asking) == 1 else {*rest})
    if not documents:
        return ()
    if "\n".join(part.text for part in parts) != whole:
        return ((0, len(whole)),)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part.text) + 1)
    return tuple((starts[number], starts[number + 1] - 1) for number in sorted(documents))
