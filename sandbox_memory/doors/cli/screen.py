"""What a person reads, and what a program reads: wrapped lines for one, one JSON document for the other."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ...characters import ACTIVE
from ...document.text import CJK

WIDEST = 100
"""Columns beyond which lines of prose are hard to read."""

STRONG, FAINT, ID, GOOD, BAD, WARN = "bold", "dim", "cyan", "green", "bold red", "yellow"
TRUST = {"hand": "green", "user": "green", "observed": "blue", "agent": "yellow", "external": "red"}

# What would move the cursor, set colours or turn the direction of writing: a remembered text never does.
_ACTIVE = re.compile(f"[{ACTIVE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE = re.compile(f"[{CJK}]")
_PARTS = re.compile(r"[!-~]+|.", re.DOTALL)
# Marks that must not begin a line, and those that must not end one.
_CLOSING = frozenset("，。、；：？！）】》」』〉〕”’…—,.;:?!)]}%")
_OPENING = frozenset("（【《「『〈〔“‘([{")

KEPT = "\ufdd0"
"""Stands for a space at which a line is not broken; no text has it, being no character."""
_COMMAND = re.compile("`[^`]{1,200}`")

Part = str | Text | tuple[str, str]


class Screen:
    """Where a command writes its outcome.

    On a terminal, lines are wrapped at its width, at most at `WIDEST`; into a pipe they are not, so that what belongs
    together stays on one line, unless the variable COLUMNS says how wide to write. No word is broken, and no path or
    command that may be copied: what is longer than a line stays whole, and the terminal wraps it.
    """

    def __init__(self, *, as_json: bool = False, errors: bool = False) -> None:
        self.as_json = as_json
        file = sys.stderr if errors else sys.stdout
        self.console = Console(file=file, highlight=False, markup=False, emoji=False)
        wraps = self.console.is_terminal or "COLUMNS" in os.environ
        self.width = max(20, min(self.console.width, WIDEST)) if wraps else None

    def line(self, *parts: Part, indent: int = 0, hang: int = 0) -> None:
        """Write one paragraph, `indent` columns in, its further lines another `hang` columns."""
        whole = Text()
        for part in parts:
            if isinstance(part, tuple):
                whole.append(_commands_kept(safe(part[0])), style=part[1])
            else:
                whole.append_text(part if isinstance(part, Text) else Text(_commands_kept(safe(part))))
        lines = [whole] if self.width is None else wrapped(whole, self.width - indent, hang)
        for number, text in enumerate(lines):
            text.plain = text.plain.replace(KEPT, " ")
            margin = Text(" " * (indent + (hang if number else 0)))
            self.console.print(margin.append_text(text), soft_wrap=True)

    def column(self, label: str, *parts: Part, width: int = 13, indent: int = 0, style: str = FAINT) -> None:
        """Write a paragraph behind a label of `width` columns, or below a longer one."""
        label = safe(label)
        gap = " " * max(2, width - cell_len(label))
        self.line((label, style), gap, *parts, indent=indent, hang=width)

    def entry(self, id: str, text: str, mark: str = "") -> None:
        """Write an id and its words on one line, cut where the screen ends; a mark behind them stays whole."""
        shown, behind = Text(safe(text)), f"  {mark}" if mark else ""
        if self.width is not None:
            shown.truncate(max(8, self.width - 4 - cell_len(id) - cell_len(behind)), overflow="ellipsis")
        line = Text("  ").append(safe(id), style=ID).append("  ").append_text(shown).append(behind, style=WARN)
        self.console.print(line, soft_wrap=True)

    def gap(self) -> None:
        """Write an empty line."""
        self.console.print()

    def document(self, value: Any) -> None:
        """Write the one JSON document that `--json` asks for."""
        unicode = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf_8")
        text = json.dumps(value, indent=2, ensure_ascii=not unicode)
        # A lone surrogate cannot be written as UTF-8; its JSON escape can.
        sys.stdout.write(_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def kept(text: str, style: str = ID) -> Text:
    """A path or a command, which no line break parts: it can be copied as it stands."""
    return Text(safe(text).replace(" ", KEPT), style=style)


def _commands_kept(text: str) -> str:
    return _COMMAND.sub(lambda found: found[0].replace(" ", KEPT), text)


def safe(text: str) -> str:
    """The text on one line, nothing in it acting on the terminal: such characters are shown as their escapes."""
    text = _SURROGATE.sub("\ufffd", " ".join(text.splitlines()).replace("\t", " ").replace(KEPT, "\ufffd"))
    return _ACTIVE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def wrapped(text: Text, width: int, hang: int) -> list[Text]:
    """The text in lines of at most `width` columns, those after the first `hang` columns narrower.

    Chinese and Japanese break between any two characters, but not before a closing mark or after an opening one. A word
    that is longer than a line is not broken: it is the only thing on its line that may be too wide.
    """
    width = max(width, hang + 8)
    breaks, used, room = [], 0, width
    for start, piece in _pieces(text.plain):
        needed = cell_len(piece.rstrip())
        if needed > room - used and used:
            breaks.append(start)
            used, room = 0, width - hang
        if needed > room and _WIDE.search(piece):
            for part in _PARTS.finditer(piece):
                cells = cell_len(part[0])
                if used + cells > room and used:
                    breaks.append(start + part.start())
                    used, room = 0, width - hang
                used += cells
        else:
            used += cell_len(piece)
    lines = list(text.divide(breaks))
    for line in lines:
        line.rstrip()
    return lines


def _pieces(text: str) -> Iterable[tuple[int, str]]:
    """The parts of a text that stay on one line, each with its place."""
    start = 0
    for place in range(1, len(text)):
        before, after = text[place - 1], text[place]
        if before == " ":
            may_break = after != " "
        else:
            beside = _WIDE.match(before) or _WIDE.match(after)
            may_break = bool(beside) and after != " " and after not in _CLOSING and before not in _OPENING
        if may_break:
            yield start, text[start:place]
            start = place
    if text[start:]:
        yield start, text[start:]


def when(at: str) -> str:
    """A time that the files hold, in the local zone; the text itself where it is no time."""
    try:
        time = datetime.fromisoformat(at.replace("Z", "+00:00"))
    except ValueError:
        return at
    return time.astimezone().strftime("%Y-%m-%d %H:%M")


def size(count: int) -> str:
    """Bytes as people say them: `812 bytes`, `12.3 kB`."""
    from rich.filesize import decimal

    return decimal(count)


def many(count: int, one: str, more: str = "") -> str:
    """`1 record`, `1,204 records`; `more` is the plural where it is not `one` with an s."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def listed(parts: Iterable[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; `word` is the one before the last."""
    *head, last = list(parts) or [""]
    return f"{', '.join(head)} {word} {last}" if head else last


def complain(word: str, message: str) -> None:
    """Write to stderr: `error: …`, `warning: …` or `note: …`; one line of it, unless the terminal is narrower."""
    style = {"error": BAD, "warning": WARN}.get(word, FAINT)
    Screen(errors=True).line((f"{word}:", style), f" {message}", hang=2)
