"""Sentences of a message and where they stand, in English and Chinese; and a short title for what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TITLE = 80
LONG_MESSAGE = 1_500
"""Characters from which a message is a document more than something said."""

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(
    r"(?<![.\s][A-Za-z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)(?<!Mr)(?<!Ms)(?<!Dr)(?<!No)[.!?]+[\"'”’)]*(?=\s|$)|"
    r"[。！？；]+[”」』）]*|\n"
)
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+•]|\(?\d{1,2}[.)、])[ \t]+|#{1,6}[ \t]+|>[ \t]?)*")
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks|thank you|sure|yes|ok|okay|great|alright|well)"
    r"(?: there| team| all| again| so much)?\b[\s,.!–-]*)+",
    re.IGNORECASE,
)
_GREETING_ZH = re.compile(r"(?:(?:你好|您好|大家好|嗨|谢谢|好的|嗯|在吗)[呀啊吗]?[\s，,。！!～~、]*)+")
_FRAME = re.compile(
    r"^(?:(?:i|we)(?:'d| would|'m| am|’d|’m)? (?:also |really |just )*(?:need|want|like|love|looking|hoping|"
    r"trying|would like)(?: you| some help)?"
    r" to |(?:can|could|would) (?:you|we|i)(?: please)?(?: help me)?(?: to)? |please |help me (?:to )?)",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3400-\u9fff]{4}")


@dataclass(frozen=True)
class Sentence:
    """`text` is characters `start` to `end` of the item's text, letter by letter."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def part(self, start: int, end: int | None = None) -> Sentence:
        """The sentence between two offsets in it, blanks at its edges taken off."""
        text = self.text[start:end]
        return Sentence(text.strip(), self.start + start + len(text) - len(text.lstrip()))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in order, list markers and blanks taken off, code fences left out."""
    place = 0
    for fence in _FENCED.finditer(text):
        yield from _plain(text, place, fence.start())
        place = fence.end()
    yield from _plain(text, place, len(text))


def _plain(text: str, start: int, end: int) -> Iterator[Sentence]:
    while start < end:
        marker = _MARKER.match(text, start, end)
        start = marker.end() if marker else start
        stop = _END.search(text, start, end)
        after = stop.end() if stop else end
        whole = text[start:after]
        found = whole.strip()
        if any(char.isalnum() for char in found):
            yield Sentence(found, start + len(whole) - len(whole.lstrip()))
        start = max(after, start + 1)


def is_document(text: str) -> bool:
    """True for what was pasted rather than said: very long, or mostly inside code fences."""
    fenced = sum(len(match.group()) for match in _FENCED.finditer(text))
    return len(text) > LONG_MESSAGE or fenced * 2 > len(text)


def title(text: str) -> str:
    """A short name for what the message asks, made of its own words; empty for a message without words.

    A message that introduces a text with a colon ("Here is the issue:") is named after that text's first line.
    """
    found = [sentence.text for sentence in sentences(text[:20_000])]
    introduced = _introduced(found)
    if introduced:
        return _short(introduced)
    found = [bare for bare in (_ungreeted(sentence) for sentence in found) if len(bare) > 2]
    telling = next((sentence for sentence in found[:4] if len(sentence.split()) > 3 or _CJK.search(sentence)), None)
    return _short(_FRAME.sub("", telling or (found[0] if found else "")))


def _introduced(found: list[str]) -> str:
    for place, sentence in enumerate(found[:4]):
        if sentence.endswith((":", "：")):
            return next((line for line in found[place + 1 :] if not line.endswith((":", "："))), "")
    return ""


def _ungreeted(sentence: str) -> str:
    for greeting in (_GREETING, _GREETING_ZH):
        match = greeting.match(sentence)
        if match:
            sentence = sentence[match.end() :]
    return sentence


def _short(sentence: str) -> str:
    sentence = " ".join(sentence.split()).rstrip(".!?。！？；;,， ").strip("*_#` ")
    if len(sentence) <= TITLE:
        return sentence
    cut = sentence[: TITLE + 1]
    return (cut.rpartition(" ")[0] or cut[:TITLE]).rstrip(",;:，；： ")


def clip(sentence: Sentence, limit: int) -> Sentence:
    """The sentence, cut at the last clause that ends within `limit` characters, or at the last word."""
    if len(sentence.text) <= limit:
        return sentence
    ends = [match.start() for match in re.finditer(r"[,;:，；、：]|\s[–—-]\s|\s\(", sentence.text[:limit])]
    end = ends[-1] if ends and ends[-1] > limit // 3 else sentence.text.rfind(" ", 0, limit)
    return sentence.part(0, end if end > 0 else limit)
