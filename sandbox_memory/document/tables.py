"""Tables in a paragraph, as GitHub reads them: where one begins, and what of it a formatter leaves as it is.

A formatter pads the cells, draws the line of dashes as long as it likes, and puts bars at both ends of a row.
"""

from __future__ import annotations

import re
from itertools import pairwise

from .text import normalise, without_ids

_DELIMITER = re.compile(r"[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*(?::?-+:?[ \t]*)?)+")
_BAR = re.compile(r"(?<!\\)\|")
Rows = tuple[tuple[str, ...], ...]


def head_of(content: str) -> int:
    """Which line of a paragraph is the head of a table, from 0; -1 for none."""
    lines = [without_ids(line)[0] for line in content.split("\n")] if "|" in content else []
    for number, (head, line) in enumerate(pairwise(lines)):
        if _DELIMITER.fullmatch(line) and len(_cells(head)) == len(_cells(line)):
            return number
    return -1


def parted(content: str) -> tuple[str, Rows]:
    """What a paragraph says above a table, and the table's rows: cells to compare, with the dashes as alignments."""
    head = head_of(content)
    if head < 0:
        return content, ()
    lines = content.split("\n")
    rows = [_cells(without_ids(line)[0]) for line in lines[head:]]
    rows[1] = [f"{'-' * cell.startswith(':')}|{'-' * cell.endswith(':')}" for cell in rows[1]]
    return "\n".join(lines[:head]), tuple(_told(row) for row in rows)


def widths(content: str) -> list[int]:
    """How many cells each row of a paragraph's table has, its line of dashes included; none without one."""
    head = head_of(content)
    return [len(_cells(without_ids(line)[0])) for line in content.split("\n")[head:]] if head >= 0 else []


def _cells(line: str) -> list[str]:
    """The cells of a row: bars at its ends part none."""
    cells = [cell.strip() for cell in _BAR.split(line)]
    first = 1 if len(cells) > 1 and not cells[0] else 0
    last = len(cells) - 1 if len(cells) > first + 1 and not cells[-1] else len(cells)
    return cells[first:last]


def _told(row: list[str]) -> tuple[str, ...]:
    """The cells as they are compared, without empty ones at the end, which a short row may have or not."""
    cells = [normalise(cell) for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return tuple(cells)
