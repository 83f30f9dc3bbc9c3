"""The rows that measurements give, and the one table or JSON document made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

MET, MISSED = "met", "MISSED"


@dataclass(frozen=True)
class Row:
    """One figure: the SDK's and ours in `unit`, and `value`, the ratio or amount that a target is set for.

    `how` says what `value` is. A row without `at_least` and `at_most` is for information. `lines` are the things that
    were counted, printed below a table of one measurement.
    """

    what: str
    sdk: float | None = None
    ours: float | None = None
    unit: str = ""
    value: float | None = None
    how: str = ""
    at_least: float | None = None
    at_most: float | None = None
    lines: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The target in words; empty if there is none."""
        if self.at_least is not None:
            return f"≥ {_plain(self.at_least)}"
        return f"≤ {_plain(self.at_most)}" if self.at_most is not None else ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none."""
        if self.value is None or not self.target:
            return None
        return self.value >= self.at_least if self.at_least is not None else self.value <= (self.at_most or 0)

    def to_json(self) -> dict[str, Any]:
        """All fields, and the verdict."""
        return {**asdict(self), "met": self.met}


def divided(one: float | None, other: float | None) -> float | None:
    """`one / other`; None where one of them was not measured."""
    return one / other if one is not None and other else None


def table(results: dict[str, Sequence[Row]], title: str) -> Table:
    """One table, a section for each measurement."""
    made = Table(title=title, title_justify="left", show_edge=False, pad_edge=False, header_style="bold")
    made.add_column("", no_wrap=True)
    made.add_column("figure", overflow="fold")
    for name in ("SDK", "ours"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("compared", overflow="fold")
    made.add_column("target", no_wrap=True)
    made.add_column("", no_wrap=True)
    for name, rows in results.items():
        for number, row in enumerate(rows):
            verdict = "" if row.met is None else MET if row.met else f"[bold red]{MISSED}[/]"
            made.add_row(
                f"[bold]{name}[/]" if not number else "",
                row.what,
                amount(row.sdk, row.unit),
                amount(row.ours, row.unit),
                row.how if row.value is None else f"{_plain(row.value)} {row.how}",
                row.target,
                verdict,
                end_section=number == len(rows) - 1,
            )
    return made


def show(console: Console, results: dict[str, Sequence[Row]], title: str) -> None:
    """Print the table; wide enough for its lines where no terminal sets the width."""
    if not console.is_terminal:
        console = Console(file=console.file, width=170)
    console.print(table(results, title))
    for row in chain(*results.values()) if len(results) == 1 else ():
        if row.lines:
            console.print(Text(f"\n{row.what}", style="bold"))
        for line in row.lines:
            console.print(Text(f"  {line}"), soft_wrap=True)


def plural(number: int, noun: str) -> str:
    """The number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def amount(value: float | None, unit: str) -> str:
    """A value with its unit, to three digits or so."""
    if value is None:
        return ""
    return f"{_plain(value)} {unit}".rstrip()


def _plain(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"
