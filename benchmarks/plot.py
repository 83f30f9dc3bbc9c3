"""A line chart on two logarithmic scales, as SVG that can be read on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 40
COLOURS = ("#3b82c4", "#d9772b", "#3f9d5a", "#b0579f", "#8a8434", "#c94f4f", "#1fa3a3")
STYLE = """
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #3c4048 }
.title { font-weight: 600; font-size: 13px }
.grid { stroke: #8886; stroke-width: 0.5 }
.line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #d5d8de } }
""".strip()

Series = Mapping[str, Sequence[tuple[float, float]]]
"""Points of each line, by its name; both coordinates are positive."""

Panel = tuple[str, Series, Callable[[float], str]]
"""Its title, its lines, and how its heights are written."""


def charts(panels: Sequence[Panel], *, across: str) -> str:
    """The panels side by side, with one legend below; `across` says what goes from left to right."""
    names = list(dict.fromkeys(name for _, series, _ in panels for name in series))
    rows = math.ceil(len(names) / 4)
    width, height = WIDTH * len(panels), HEIGHT + 22 * rows + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">',
        f"<style>{STYLE}</style>",
    ]
    for number, (title, series, written) in enumerate(panels):
        parts.append(f'<g transform="translate({number * WIDTH} 0)">')
        parts += _panel(title, series, written, across, names)
        parts.append("</g>")
    for number, name in enumerate(names):
        x, y = LEFT + number % 4 * (width - LEFT) // 4, HEIGHT + 14 + number // 4 * 22
        parts.append(f'<path class="line" stroke="{_colour(names, name)}" d="M{x} {y - 4}h22"/>')
        parts.append(f'<text x="{x + 28}" y="{y}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, series: Series, written: Callable[[float], str], across: str, names: Sequence[str]) -> list[str]:
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    left, right = math.log10(min(xs)), math.log10(max(xs))
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    high = max(high, low + 1)

    def across_at(x: float) -> float:
        return LEFT + (math.log10(x) - left) / ((right - left) or 1) * (WIDTH - LEFT - RIGHT)

    def up_at(y: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(y) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text class="title" x="{LEFT}" y="18">{escape(title)}</text>']
    for power in range(low, high + 1):
        y = up_at(10.0**power)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(written(10.0**power))}</text>')
    for x in sorted(set(xs)):
        parts.append(f'<path class="grid" d="M{across_at(x):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        anchor = "end" if x == max(xs) else "middle"
        parts.append(f'<text x="{across_at(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="{anchor}">{x:,.0f}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">{escape(across)}</text>')
    for name, points in series.items():
        colour = _colour(names, name)
        path = "L".join(f"{across_at(x):.1f} {up_at(y):.1f}" for x, y in points)
        parts.append(f'<path class="line" stroke="{colour}" d="M{path}"/>')
        parts += [f'<circle cx="{across_at(x):.1f}" cy="{up_at(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return parts


def _colour(names: Sequence[str], name: str) -> str:
    return COLOURS[names.index(name) % len(COLOURS)]
