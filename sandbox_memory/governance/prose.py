"""Free prose about a transcript, and titles: no quotes carry them, so their hard words must at least be its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .lexicon import GLUE
from .wording import NUMBER, identifiers, normal, stands, stem

COUNTED = 1
"""Numbers of so many digits are counts that the author of a summary made, such as "3 tool calls"."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`\"'(\[])|(?<=[。！？；])")
_MARKER = re.compile(r"\s*(?:[-*+>•]|#{1,6}|\d{1,3}[.)])?\s*")
_COUNTS = re.compile(
    r"\b\d+(?= (?:tool calls?|calls?|runs?|memories|items|messages|turns|steps|of them|more|times|words|lines)\b)"
)
_COMMON = frozenset(
    "API APIs JSON HTTP HTTPS CLI UI ID IDs URL URLs OK CI PR PRs SQL HTML CSS PDF CSV FAQ AI LLM UTC".split()
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|obey|forget|execute|you (?:must|should|have to|are|will)|system prompt|instructions?|"
    r"sudo|rm -|curl|always|never|must|do not|don't)\b|忽略|无视|指令|系统提示|你(?:必须|应该|要|是)|务必|必须|"
    r"不得|永远",
    re.IGNORECASE,
)


class Said:
    """What was said, as far as single words go: made once, then asked often."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = normal("\n".join(texts))
        self._lower = self._text.lower()

    def has(self, word: str) -> bool:
        """True if the word stands there by itself; the case counts for names of code."""
        return stands(word, self._text, self._lower)

    def lacks(self, text: str) -> str | None:
        """The first number, path, identifier or name of a text that nobody said; None if there is none."""
        return next((word for word in _hard(normal(text)) if not self.has(word)), None)


def _hard(text: str) -> Iterator[str]:
    text = _COUNTS.sub("", text)
    names = list(identifiers(text))
    for name in names:
        text = text.replace(name, " ")
        plain = name.isalpha() and (name in _COMMON or stem(name.lower()) in _GLUE or name.lower() in GLUE)
        if not plain:
            yield name
    for match in NUMBER.finditer(text):
        number = match.group().lstrip("+-").rstrip(",")
        if len(number.lstrip("0")) > COUNTED or not number.isdigit():
            yield number


_GLUE = frozenset(map(stem, GLUE))


def without_unsaid(text: str, said: Said) -> tuple[str, list[str]]:
    """The text without the sentences that have a hard word which nobody said, and these words."""
    kept: list[str] = []
    unsaid: list[str] = []
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        start = marker.end() if marker else 0
        parts = _SENTENCE.split(line[start:])
        lacking = [said.lacks(part) for part in parts]
        unsaid += [word for word in lacking if word is not None]
        left = [part for part, word in zip(parts, lacking, strict=True) if word is None]
        if left or not line.strip():
            kept.append(line[:start] + " ".join(left) if len(left) < len(parts) else line)
    return "\n".join(kept).strip(), unsaid


def fit_title(title: str, fallback: str, said: Said) -> str:
    """The title, or the fallback if it names what nobody said, or gives orders that nobody gave."""
    if not title or title == fallback or said.has(title):
        return title
    return fallback if said.lacks(title) or _ORDERS.search(title) else title
