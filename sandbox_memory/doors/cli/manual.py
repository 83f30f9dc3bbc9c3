"""The help text of a command at any width: nothing is cut off, and no word, option or path is broken."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import typer
from rich.cells import cell_len
from rich.text import Text

from .screen import KEPT, wrapped

MOST, LEAST = 80, 20
"""Columns of a help text, at most and at least."""
BESIDE = 26
"""Columns that an explanation needs to stand beside what it explains; where there are fewer it stands below."""

_COMMAND = re.compile("`[^`]+`")
_EXAMPLE = re.compile(r"; (?=sandbox-memory\b)")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\S)+""")
_BOUNDS = re.compile(r"\s+\[[^\]]*\bx\b[^\]]*\]$")
"""What Typer adds of a number: `[default: 0; 0<=x<=65535]`; an error names the bounds where they matter."""
_TITLE = re.compile(r"^(?:Usage|Options|Commands|Examples?):", re.MULTILINE)


def help_of(command: Any, ctx: Any, commands: Sequence[tuple[str, str]] = ()) -> str:
    """The usage, what the command does, its options, the `commands` below it with a line for each, and examples."""
    width = max(LEAST, min(shutil.get_terminal_size().columns, MOST))
    blocks = [usage(command, ctx, width)]
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        blocks.append("\n".join(_lines(paragraph, width, 2)))
    records = (param.get_help_record(ctx) for param in command.get_params(ctx))
    for title, rows in (("Options", [record for record in records if record]), ("Commands", commands)):
        if rows:
            blocks.append("\n".join([f"{title}:", *_table(rows, width)]))
    title, _, examples = (command.epilog or "").partition(": ")
    if examples:
        shown = [line for each in _EXAMPLE.split(examples) for line in _example(each, width)]
        blocks.append("\n".join([f"{title}:", *shown]))
    return _styled("\n\n".join(blocks))


def usage(command: Any, ctx: Any, width: int = MOST) -> str:
    """The line that says what the command takes; what may be left out stands in brackets."""
    pieces = [str(piece).replace(" ", KEPT) for piece in command.collect_usage_pieces(ctx)]
    return "\n".join(_lines(" ".join(["Usage:", ctx.command_path, *pieces]), width, 0, hang=4))


def _lines(text: str, width: int, indent: int, hang: int = 0) -> Iterator[str]:
    """A paragraph, `indent` columns in; a command in it that fits on a line stays on one."""

    def whole(found: re.Match[str]) -> str:
        return found[0].replace(" ", KEPT) if cell_len(found[0]) <= width - indent - hang else found[0]

    text = _COMMAND.sub(whole, " ".join(text.split()))
    for number, line in enumerate(wrapped(Text(text), width - indent, hang)):
        yield " " * (indent + (hang if number else 0)) + line.plain.replace(KEPT, " ")


def _table(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """What there is, each with its explanation beside it, or below where there is no room for it."""
    column = 4 + max(cell_len(name) for name, _ in rows)
    for name, said in rows:
        text = _BOUNDS.sub("", said.replace("\\[", "["))  # older versions of Typer escape for Rich what is plain
        if width - column < BESIDE:
            yield f"  {name}"
            yield from _lines(text, width, 6)
        else:
            first, *others = list(_lines(text, width, column)) or [""]
            yield f"  {name}{first[2 + len(name) :]}"
            yield from others


def _example(command: str, width: int) -> Iterator[str]:
    """A command line that can be copied as it stands: where it is parted, a backslash says that it goes on."""
    line = "  "
    words = _WORD.findall(command)
    for number, word in enumerate(words):
        goes_on = 2 if number < len(words) - 1 else 0
        if line.strip() and cell_len(line) + cell_len(word) + goes_on > width:
            yield f"{line}\\"
            line = "      "
        line += f"{word} "
    yield line.rstrip()


def _styled(text: str) -> str:
    """Headings in bold on a terminal."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    return _TITLE.sub(lambda found: typer.style(found[0], bold=True), text)
