"""Texts that a person asks to have worked on: the request is theirs, what it is about is material."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from . import requests as english
from . import requests_zh as chinese
from .marked import pasted
from .prose import has_prose
from .words import Phrase

Span = tuple[int, int]
LONGEST_LINE = 320
"""Characters that a line with a request has at most, without the text that follows in the same line."""
LONG = 4_000
"""Characters below a head in which it is looked for prose."""
HEAD = 200
"""Characters of it before a colon."""
COLONS = 4
"""Colons of a line that are looked at."""
LINES = 40
"""Lines of a message that are looked at from its start, and half as many from its end."""
ASIDE = 160
"""Characters up to which a person's sentence about themselves may stand before a request that means what follows."""
SAID = 4
"""Words that stand in quotation marks, from which on they are no name."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_BLANK = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,2}[.)、])\s")
_COLON = re.compile(r"[:：](?!//)(?!\d)|\s[—–-]{1,2}\s")
_CJK = re.compile("[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|[。！？]")
_QUOTES = re.compile(
    r"(?<!\w)'(?=\S)(?:[^']|'(?=\w)){20,2000}'(?!\w)|\"[^\"]{20,2000}\"|“[^”]{8,2000}”|‘.{20,2000}?’(?!\w)|「[^」]{8,2000}」|"
    r"『[^』]{8,2000}』|《[^》]{20,2000}》|«[^»]{12,2000}»|„[^“”]{12,2000}[“”]",
    re.DOTALL,
)
_NAMES = re.compile(
    r"\b(?:the|an?|titles?|titled|names?|named|call|called|label\w*|with|as|subject)\s*$", re.IGNORECASE
)
"""Before a quotation mark: what stands in it is a name, or words that somebody wants used."""
OPEN, BACK = "open", "back"


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    text: str


def worked_on(text: str, marked: Sequence[Span]) -> Iterator[Span]:
    """The spans of a message that are the text which it asks to have worked on; `marked` are those found already.

    What follows a request with a colon is its text, up to the end. A request that leaves open which text it means
    ("translate this") means what follows, if anything does, and what stands before, unless a person there speaks of
    themselves in a line. One that has a marked text beside it needs no other.
    """
    yield from _quoted(text, marked)
    lines = _lines(text, marked)
    for number, line in enumerate(lines):
        if _ITEM.match(line.text):
            continue
        announced = _announced(line, text[line.end :])
        if announced is not None:
            after, speech = announced
            if text[after:].strip() and not _marked_next(text, after, marked):
                yield after, _resumed(text, after) if speech else len(text)
                yield from _before_another(lines, number)
            return
        kind = opens(line.text[:LONGEST_LINE])
        if not kind or (len(line.text) > LONGEST_LINE and _rest(line) == line.end):
            continue
        spans = _around(text, lines, number, kind, marked)
        yield from spans
        if spans or kind == OPEN or _is_marked_beside(text, line, marked):
            if spans:
                yield from _before_another(lines, number)
            return


def _before_another(lines: Sequence[_Line], number: int) -> Iterator[Span]:
    """What stands before the last request, if that is not the first: the first may be of the text itself."""
    last = next((line for line in reversed(lines[number + 1 :]) if opens(line.text)), None)
    if last is not None:
        yield lines[number].start if _is_aside(lines[:number]) else 0, last.start


def _around(text: str, lines: Sequence[_Line], number: int, kind: str, marked: Sequence[Span]) -> list[Span]:
    """What stands around an open request, unless a marked block does."""
    line = lines[number]
    if _is_marked_beside(text, line, marked):
        return []
    before = [each for each in lines[:number] if not _is_courtesy(each.text)]
    back = [(0, line.start)] if before else []
    if kind == BACK:
        return back
    rest = _rest(line)
    below = [each.text for each in lines[number + 1 :] if not _is_courtesy(each.text)]
    if rest == line.end and not below:
        return back
    ahead = english.AHEAD.search(line.text) or chinese.AHEAD.search(line.text)
    asks_on = bool(below) and all(opens(each) for each in below)
    return [(rest, len(text)), *([] if ahead or (_is_aside(before) and not asks_on) else back)]


def opens(line: str) -> str:
    """`OPEN` if the line asks for work on a text that is around it, `BACK` if on what stands before, else empty."""
    if len(line) > LONGEST_LINE:
        return ""
    plain = line.replace("’", "'")
    if _CJK.search(line):
        if _asks(chinese.BACK, line):
            return BACK
        if _asks(chinese.OPEN, line):
            return OPEN
    if _asks(english.OPEN, plain):
        return OPEN
    if "?" in plain and _asks(english.WRITTEN, plain):
        return OPEN
    return BACK if _asks(english.BACK, plain) else ""


def _asks(pattern: Phrase, line: str) -> bool:
    """True if it is found in a sentence that does not say what the person always wants."""
    for found in pattern.finditer(line):
        first = max((stop.end() for stop in _SENTENCE_END.finditer(line, 0, found.start())), default=0)
        stop = _SENTENCE_END.search(line, max(found.end() - 1, first))
        if not _is_own(line[first : stop.end() if stop else len(line)]):
            return True
    return False


def asks_for_attached(text: str) -> bool:
    """True if a part of a message asks for work on another part, or on a document that comes with it."""
    lines = _lines(text, tuple(pasted(text)))
    for line in lines:
        if _announced(line, text[line.end :]) is not None:
            return False
        if len(line.text) > LONGEST_LINE:
            continue
        if opens(line.text) or english.ATTACHED.search(line.text) or chinese.ATTACHED.search(line.text):
            return True
    return False


def _announced(line: _Line, rest: str) -> tuple[int, bool] | None:
    """Where the text begins that this line announces with a colon, and if it is speech; None if it announces none.

    `rest` is what stands below the line.
    """
    for colon in islice(_COLON.finditer(line.text, 0, HEAD), COLONS):
        head = line.text[: colon.start()].replace("’", "'")
        ends, after = not line.text[colon.end() :].strip(), line.start + colon.end()
        if _is_own(head) or (ends and not rest.strip()):
            return None
        speaks = english.SPEAKS.search(head) or chinese.SPEAKS.search(head)
        if speaks or (ends and english.SPEAKS_LINES.search(head)):
            return after, True
        if (
            _announces(head, ends)
            or (ends and _is_long(line.text, rest))
            or (opens(head) and (colon.group() in ":：" or not ends))
        ):
            return after, False
    return None


def _is_long(head: str, rest: str) -> bool:
    """True for running prose below a head in which nobody speaks of themselves: no task, and nobody's own notes."""
    block = rest[:LONG]
    mine = any(table.TASK.search(head) or table.SELF.search(block.replace("’", "'")) for table in (english, chinese))
    return not mine and _ITEM.match(block.lstrip()) is None and has_prose(block)


def _announces(head: str, ends: bool) -> bool:
    if _CJK.search(head) and chinese.ANNOUNCES.search(head):
        return True
    return bool(english.ANNOUNCES.search(head) or (ends and english.ANNOUNCES_LINES.search(head)))


def _rest(line: _Line) -> int:
    """Where the text may begin: after the line, or after the sentence that asks for "the following"."""
    for table in (english, chinese):
        if (ahead := table.NAMED.search(line.text)) and (stop := _SENTENCE_END.search(line.text, ahead.end())):
            rest = line.text[stop.end() :]
            if rest.strip() and not _is_courtesy(rest):
                return line.start + stop.end()
    return line.end


def _quoted(text: str, marked: Sequence[Span]) -> Iterator[Span]:
    """What stands in quotation marks where something is asked about it: "what does '…' mean?"."""
    for quote in islice(_QUOTES.finditer(text), LINES):
        first = text.rfind("\n", 0, quote.start()) + 1
        last = text.find("\n", quote.end())
        head, tail = text[first : quote.start()], text[quote.end() : last if last >= 0 else len(text)]
        stand_in = "这句话" if _CJK.search(head + tail) else "this"
        said = len(quote.group().split()) >= SAID or _CJK.search(quote.group())
        if (
            said
            and not _NAMES.search(head)
            and len(head + tail) <= LONGEST_LINE
            and opens(f"{head}{stand_in}{tail}".strip())
        ):
            yield quote.span()


def _lines(text: str, marked: Sequence[Span]) -> list[_Line]:
    """The lines that say something outside of what is marked; of very many the first and the last."""
    spans = sorted(marked)
    found: list[_Line] = []
    for match in _LINE.finditer(text):
        at = bisect_right(spans, (match.start(), len(text) + 1)) - 1
        if at >= 0 and any(first <= match.start() < last for first, last in spans[max(0, at - 8) : at + 1]):
            continue
        found.append(_Line(match.start(), match.end(), match.group()))
    return found if len(found) <= 2 * LINES else [*found[:LINES], *found[-LINES // 2 :]]


def _marked_next(text: str, at: int, marked: Sequence[Span]) -> bool:
    """True if nothing but blanks stands between there and a marked block."""
    return any(first >= at and not text[at:first].strip() for first, _ in marked)


def _is_marked_beside(text: str, line: _Line, marked: Sequence[Span]) -> bool:
    """True if the line stands right before or behind a marked block."""
    before = any(last <= line.start and not text[last : line.start].strip() for _, last in marked)
    return before or _marked_next(text, line.end, marked)


def _resumed(text: str, start: int) -> int:
    """Where a person goes on after what somebody else said: at a paragraph about themselves, or that asks."""
    first = _LINE.search(text, start)
    for blank in _BLANK.finditer(text, first.end() if first else start):
        paragraph = text[blank.end() : blank.end() + LONGEST_LINE].split("\n", 1)[0]
        if english.RESUMES.search(paragraph) or chinese.RESUMES.search(paragraph):
            return blank.start()
    return len(text)


def _is_own(text: str) -> bool:
    return bool(english.OWN.search(text) or chinese.OWN.search(text))


def _is_courtesy(text: str) -> bool:
    return bool(english.COURTESY.search(text) if not _CJK.search(text) else chinese.COURTESY.search(text))


def _is_aside(lines: Sequence[_Line]) -> bool:
    """True for one line in which a person speaks of themselves."""
    if len(lines) != 1:
        return False
    own = english.FIRST_PERSON.search(lines[0].text) or chinese.FIRST_PERSON.search(lines[0].text)
    return len(lines[0].text) <= ASIDE and own is not None
