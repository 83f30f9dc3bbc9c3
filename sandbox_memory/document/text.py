"""One item's text: its comparison form, its block id, and the form that can be written as a list item."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt

ID = re.compile(r"(?<!\S)\^([mp]-[0-9a-f]{4,20})(?!\S)")
"""A block id with its caret, standing alone between white space; one that lost or gained digits is still no word."""
DIGITS = 10
"""The hexadecimal digits of an id that is whole."""

NEWLINE = re.compile(r"\r\n|\r|\n")
"""The line ends of CommonMark; `str.splitlines` knows others, which are text here."""

CJK = "\u3001-\u303f\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
"""Character class, without brackets, of scripts that put no space between words (Hangul does)."""

_FULL_WIDTH = "\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_ON_BOTH = "\u2018\u2019\u201c\u201d\u2014\u2026\u00b7"
_UNSPACED = re.compile(
    rf"[{CJK}][{CJK}{_ON_BOTH}]|[{_ON_BOTH}][{CJK}]|[{_FULL_WIDTH}][^\s!-/:-@\[-`{{-~]|[^\s!-/:-@\[-`{{-~][{_FULL_WIDTH}]"
)
"""Two characters, the end of a line and the start of the next, between which no space is written: signs of such a
script (quotation marks and dashes are of any), or full-width punctuation and what is no mark of markdown."""

REFERENCE = re.compile(
    r"(?<!\\)\[tasks?\s+([0-9]{1,9}(?:\s*(?:,|&|and)\s*(?:task\s+)?[0-9]{1,9})*)\](?!\()", re.IGNORECASE
)
"""`[Task 1]`, `[Task 1, 2]`: tasks of its group that a line comes from. At the end of an item it is not its text."""

CHECKBOX = re.compile(r"\\?\[([ xX])\\?\](?=\s)\s*")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CJK_SPACE = re.compile(f"(?<=[{CJK}]) | (?=[{CJK}])")
_LABEL = re.compile(r"\](?:\[\])*\[([^\[\]]+)\]")
_COLLAPSED = re.compile(r"\](?:\[\])+")
_NEEDS_PARSING = re.compile(r"[\\`*_\[\]<>&!\n\r]")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_DASHES = re.compile(r"(?<![^\s|])(?:(?:\|\s*)?:?-+:?(?:\s*\|\s*:?-+:?)+|\|\s*:?-+:?\s*(?=\|))(?![^\s|])")
"""The line of dashes below a table's head, where the table stands on one line."""
_RUN = re.compile(r"`+")
_OPENER = re.compile(r"\\[^\r\n]|`+")

_inline = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})


def code_spans(text: str) -> list[tuple[int, int]]:
    """The ranges of the code spans in `text`, in order, back ticks included, by the rule of CommonMark 6.1."""
    if "`" not in text:
        return []
    runs: dict[int, list[int]] = {}
    for run in _RUN.finditer(text):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    spans = []
    position = 0
    while opener := _OPENER.search(text, position):
        position = opener.end()
        if opener[0].startswith("\\"):
            continue
        length = opener.end() - opener.start()
        same = runs.get(length, [])
        closer = bisect_right(same, opener.start())
        if closer < len(same):
            position = same[closer] + length
            spans.append((opener.start(), position))
    return spans


def outside_code(text: str, matches: list[re.Match[str]]) -> list[re.Match[str]]:
    """Those of the matches on `text` that do not start in a code span."""
    if not matches:
        return []
    spans = code_spans(text)
    starts = [start for start, _ in spans]

    def inside(position: int) -> bool:
        at = bisect_right(starts, position) - 1
        return at >= 0 and position < spans[at][1]

    return [match for match in matches if not inside(match.start())]


def find_ids(text: str) -> list[re.Match[str]]:
    """Every block id in `text` that is not code, in order; the last one is the item's."""
    return outside_code(text, list(ID.finditer(text))) if "^" in text else []


def cut(text: str, matches: list[re.Match[str]]) -> str:
    """The text without those matches, and without the white space before each; at a row's end without their cell."""
    for match in reversed(matches):
        before, after = text[: match.start()].rstrip(), text[match.end() :]
        text = before + (after if not before.endswith("|") or after.strip() != "|" else "")
    return text


def without_ids(text: str) -> tuple[str, str]:
    """The text without its block ids, and the last of them ("" if there is none)."""
    found = find_ids(text)
    return (cut(text, found).strip(), found[-1][1]) if found else (text, "")


def without_refs(text: str) -> tuple[str, str]:
    """The text without the task references that it ends with, and those ("" if there are none, or nothing else)."""
    if not text.rstrip().endswith("]"):
        return text, ""
    end = None
    for match in reversed(outside_code(text, list(REFERENCE.finditer(text)))):
        if text[match.end() : end].strip():
            break
        end = match.start()
    kept = text[:end].rstrip() if end is not None else ""
    return (kept, text[end:].strip()) if kept else (text, "")


def one_line(text: str) -> str:
    """The text with each line end, and the white space around it, as one space, or none within a script that has none.

    A backslash that makes a hard line break goes with its line end, and leaves a space.
    """
    if "\n" not in text and "\r" not in text:
        return text.strip()
    breaks = list(NEWLINE.finditer(text))
    outside = {match.start() for match in outside_code(text, breaks)}
    spaced = joined = ""
    position, soft = 0, False
    for start, end in [*(match.span() for match in breaks), (len(text), len(text))]:
        piece = text[position:start]
        hard = start in outside and (len(piece) - len(piece.rstrip("\\"))) % 2 == 1
        if piece := (piece[:-1] if hard else piece).strip():
            spaced += f" {piece}" if spaced else piece
            close = soft and _UNSPACED.fullmatch(joined[-1:] + piece[0])
            joined += piece if close or not joined else f" {piece}"
            soft = True
        position, soft = end, soft and start in outside and not hard
    # Beside a mark, or in the target of a link, a space may be what makes it one.
    return joined if joined == spaced or canonical(joined) == canonical(spaced) else spaced


def cleaned(text: str) -> str:
    """The text on one line, without control characters, with U+FFFD for what UTF-8 cannot hold."""
    return " ".join(one_line(_SURROGATE.sub("\ufffd", _CONTROL.sub("", text))).split())


def plain(text: str) -> str:
    """Inline markdown reduced to what it means, so that equal meanings are equal strings.

    Escapes and entities are resolved, emphasis is written with asterisks, code with single back ticks, links as
    `[text](target)`; runs of white space are one space.
    """
    line = cleaned(text)
    if _NEEDS_PARSING.search(line):
        line = " ".join(_render(line).split())
        line = _LABEL.sub(lambda match: f"][{match[1].casefold().strip()}]", line)
        line = _COLLAPSED.sub("]", line)
    return line


def canonical(text: str) -> str:
    """`plain` without white space beside CJK characters, where a formatter's line break leaves some."""
    return squeezed(plain(text))


def squeezed(text: str) -> str:
    """The text without the spaces beside CJK characters."""
    return _CJK_SPACE.sub("", text)


@lru_cache(maxsize=16_384)
def normalise(text: str) -> str:
    """The form in which the texts of two items are compared: `canonical`, without a leading checkbox, block ids, and
    task references at the end.

    What mdformat or prettier does to a text leaves this form as it is; that they drop the backslash of `\\[ ]` and
    `\\^m-…` too. Of a table it has the words alone: see `tables.parted` for its cells.
    """
    return squeezed(without_refs(_untabled(unmarked(text)))[0])


def unmarked(text: str) -> str:
    """`plain` without leading checkboxes, and without block ids."""
    line = without_ids(plain(text))[0]
    while box := CHECKBOX.match(line):
        line = line[box.end() :]
    return line


def _untabled(line: str) -> str:
    """The line without the bars of a table, and with its dashes, by which it is known as one, as short as may be."""
    if "|" not in line or not _DASHES.search(line):
        return line
    ends = [0, *(end for span in code_spans(line) for end in span), len(line)]
    parts = [line[start:end] for start, end in pairwise(ends)]
    if not any(_DASHES.search(part) for part in parts[::2]):
        return line
    parts[::2] = [_DASHES.sub(" - ", part).replace("|", " ") for part in parts[::2]]
    return " ".join("".join(parts).split())


def literal(text: str) -> str:
    """The text with a backslash before each ASCII punctuation character: markdown that means just that text."""
    return _PUNCTUATION.sub(r"\\\1", text)


def _render(line: str) -> str:
    out: list[str] = []
    targets: list[str] = []
    for token in _inline.parseInline(line)[0].children or []:
        if token.type in ("text", "html_inline"):
            out.append(token.content)
        elif token.type == "code_inline":
            out.append(f"`{token.content.strip()}`")
        elif token.type in ("softbreak", "hardbreak"):
            out.append(" ")
        elif token.type in ("em_open", "em_close"):
            out.append("*")
        elif token.type in ("strong_open", "strong_close"):
            out.append("**")
        elif token.type == "link_open":
            out.append("[")
            targets.append(_target(token.attrGet("href"), token.attrGet("title")))
        elif token.type == "link_close":
            out.append(f"]{targets.pop()}")
        elif token.type == "image":
            out.append(f"![{token.content}]{_target(token.attrGet('src'), token.attrGet('title'))}")
        else:
            out.append(token.content)
    return "".join(out)


def _target(place: object, title: object) -> str:
    return f'({place} "{title}")' if title else f"({place})"
