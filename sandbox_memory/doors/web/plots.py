"""The figures as SVG, drawn here: lines over time, and bars of what went. Each is also there as a table.

Colours and strokes are the style sheet's, by classes: the page allows no style inside of itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup, escape

from .figures import REASONS, Figures
from .wording import Words

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 28
BARS = 26
"""How many bars there are at most; each is a day, or several."""


@dataclass(frozen=True)
class Plot:
    """A picture, its title, what each of its series is called, and the same as rows of a table."""

    name: str
    svg: Markup
    series: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def drawn(figures: Figures, t: Words) -> list[Plot]:
    """The plots of these figures; without a history there are none."""
    if figures.empty:
        return []
    growth = {"lines": figures.lines, "ever": figures.ever}
    plots = [_lines("growth", growth, t)]
    names = ("reading-input", "planning-input", "reading-output", "planning-output")
    spent = {name: {day: each.get(name, 0) for day, each in figures.tokens.items()} for name in names}
    if any(any(points.values()) for points in spent.values()):
        plots.append(_lines("tokens", {name: points for name, points in spent.items() if any(points.values())}, t))
    if figures.went:
        plots.append(_bars("forgetting", figures.went, list(figures.lines), t))
    return plots


def _lines(name: str, series: Mapping[str, Mapping[str, int]], t: Words) -> Plot:
    days = list(next(iter(series.values())))
    top = _round(max((max(points.values()) for points in series.values()), default=1))
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    span = max(1, (last - first).days)

    def x(day: str) -> float:
        if len(days) == 1:
            return (LEFT + WIDTH - RIGHT) / 2
        return LEFT + (date.fromisoformat(day) - first).days / span * (WIDTH - LEFT - RIGHT)

    parts = list(_grid(top, t))
    for number, (_, points) in enumerate(series.items(), 1):
        corners = [(x(day), _y(value, top)) for day, value in points.items()]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in corners)
        parts.append(f'<path class="series s{number}" d="M{path}"/>')
        parts.append(_mark(number, *corners[-1]))
    parts += _ends(t.day(days[0]), t.day(days[-1]) if len(days) > 1 else "")
    head = [t("day"), *(t(f"series-{each}") for each in series)]
    rows = [[t.day(day), *(f"{points[day]:,}" for points in series.values())] for day in reversed(days)]
    return Plot(name, _svg(name, parts, t), [t(f"series-{each}") for each in series], head, rows)


def _bars(name: str, went: Mapping[str, Mapping[str, int]], span: Sequence[str], t: Words) -> Plot:
    days = sorted(day for day in went if day)
    first, last = date.fromisoformat(min(*span, *days)), date.fromisoformat(max(*span, *days))
    each = max(1, math.ceil(((last - first).days + 1) / BARS))
    count = (last - first).days // each + 1
    sums: list[dict[str, int]] = [{} for _ in range(count)]
    for day in days:
        bar = sums[(date.fromisoformat(day) - first).days // each]
        for reason, number in went[day].items():
            bar[reason] = bar.get(reason, 0) + number
    top = _round(max(sum(bar.values()) for bar in sums))
    used = [reason for reason in REASONS if any(bar.get(reason) for bar in sums)]
    room = (WIDTH - LEFT - RIGHT) / count
    width = min(28.0, room * 0.72)
    parts = list(_grid(top, t))
    for index, bar in enumerate(sums):
        under, at = 0, LEFT + room * (index + 0.5) - width / 2
        for reason in used:
            if number := bar.get(reason, 0):
                high, low = _y(under + number, top), _y(under, top)
                shape = f'x="{at:.1f}" y="{high:.1f}" width="{width:.1f}" height="{max(low - high, 0.5):.1f}"'
                parts.append(f'<rect class="bar s{used.index(reason) + 1}" {shape}/>')
                under += number
    end = first + timedelta(days=each * (count - 1))
    parts += _ends(t.day(first.isoformat()), t.day(end.isoformat()) if count > 1 else "")
    head = [t("day"), *(t(f"series-{reason}") for reason in used)]
    rows = [[t.day(day), *(f"{went[day].get(reason, 0):,}" for reason in used)] for day in reversed(days)]
    return Plot(name, _svg(name, parts, t), [t(f"series-{reason}") for reason in used], head, rows)


def _svg(name: str, parts: Iterable[str], t: Words) -> Markup:
    label = escape(t(f"plot-{name}"))
    whole = f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    return Markup(whole)  # numbers, and words of ours that are escaped


def _grid(top: int, t: Words) -> Iterable[str]:
    for step in range(5):
        value = top * step / 4
        if value != int(value):
            continue
        y = _y(value, top)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(int(value))}</text>'


def _ends(first: str, last: str) -> list[str]:
    y = HEIGHT - 8
    ends = [f'<text x="{LEFT}" y="{y}">{escape(first)}</text>']
    return [*ends, f'<text x="{WIDTH - RIGHT}" y="{y}" text-anchor="end">{escape(last)}</text>'] if last else ends


def _mark(number: int, x: float, y: float) -> str:
    """The end of a line, of a shape of its own: colour alone tells nothing to some."""
    shapes = {
        1: f'<circle class="end s1" cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
        2: f'<rect class="end s2" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>',
        3: f'<path class="end s3" d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>',
    }
    return shapes.get(number, f'<path class="end s{number}" d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"/>')


def _y(value: float, top: int) -> float:
    return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)


def _round(value: int) -> int:
    """The next number that reads well and can be cut in four."""
    for power in range(16):
        for factor in (1, 2, 4, 5, 8):
            found = int(factor * 10**power)
            if found >= value and (found % 4 == 0 or found < 4):
                return found
    return value


def _short(value: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return str(value)
