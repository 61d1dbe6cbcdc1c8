"""Predicted beside measured figures as a picture: an SVG made by hand, so that no plotting library is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SIZE = 320
"""Width and height of a panel in pixels."""
MARGIN = 48
KINDS = ("throughput", "p50", "p95", "p99")
INSIDE, OUTSIDE = "#1f6f8b", "#c0392b"

Cell = Mapping[str, Any]


def validation_svg(cells: Sequence[Cell]) -> str:
    """Return a picture with a panel for each kind of figure, predicted over measured on logarithmic axes."""
    by_kind = {kind: [cell for cell in cells if cell["kind"] == kind] for kind in KINDS}
    panels = [(kind, found) for kind, found in by_kind.items() if found]
    width = SIZE * max(1, len(panels))
    body = "".join(_panel(kind, found, SIZE * i) for i, (kind, found) in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{SIZE}" viewBox="0 0 {width} {SIZE}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


def _panel(kind: str, cells: Sequence[Cell], left: int) -> str:
    values = [cell[key] for cell in cells for key in ("measured", "predicted", "low", "high") if cell[key]]
    low, high = math.log(min(values)) - 0.1, math.log(max(values)) + 0.1
    axis = _Axis(low, max(high, low + 0.2), left)
    return "".join([*axis.frame(kind), *(_point(cell, axis) for cell in cells)])


class _Axis:
    """Maps logarithms to pixels, alike on both axes."""

    def __init__(self, low: float, high: float, left: int) -> None:
        self._low, self._high, self._left = low, high, left

    def x(self, value: float) -> float:
        return self._left + MARGIN + self._share(value) * (SIZE - MARGIN - 12)

    def y(self, value: float) -> float:
        return SIZE - MARGIN - self._share(value) * (SIZE - MARGIN - 28)

    def _share(self, value: float) -> float:
        return (math.log(value) - self._low) / (self._high - self._low)

    def frame(self, kind: str) -> Iterator[str]:
        """Yield axes, the diagonal, tick labels and titles."""
        first, last = math.exp(self._low), math.exp(self._high)
        x0, x1, y0, y1 = self.x(first), self.x(last), self.y(first), self.y(last)
        size = f'width="{x1 - x0:.1f}" height="{y0 - y1:.1f}"'
        yield f'<rect x="{x0:.1f}" y="{y1:.1f}" {size} fill="none" stroke="#999"/>'
        yield f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="#bbb" stroke-dasharray="4 3"/>'
        yield f'<text x="{(x0 + x1) / 2:.1f}" y="18" text-anchor="middle" font-weight="bold">{kind}</text>'
        yield f'<text x="{(x0 + x1) / 2:.1f}" y="{SIZE - 8}" text-anchor="middle">measured</text>'
        middle = (y0 + y1) / 2
        turn = f"rotate(-90 {self._left + 12} {middle:.1f})"
        yield f'<text x="{self._left + 12}" y="{middle:.1f}" text-anchor="middle" transform="{turn}">predicted</text>'
        for value in _ticks(first, last):
            shown = _tick(value, kind)
            yield f'<text x="{self.x(value):.1f}" y="{y0 + 14:.1f}" text-anchor="middle">{shown}</text>'
            yield f'<text x="{x0 - 4:.1f}" y="{self.y(value) + 4:.1f}" text-anchor="end">{shown}</text>'


def _ticks(low: float, high: float) -> list[float]:
    steps = (1, 2, 5)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [value for value in found if low <= value <= high][-5:]


def _tick(value: float, kind: str) -> str:
    if kind == "throughput":
        return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"
    return f"{value * 1e3:g} ms"


def _point(cell: Cell, axis: _Axis) -> str:
    colour = OUTSIDE if cell["held"] is False else INSIDE
    x, y = axis.x(cell["measured"]), axis.y(cell["predicted"])
    bar = ""
    if cell["low"] and cell["high"]:
        ends = f'y1="{axis.y(cell["low"]):.1f}" x2="{x:.1f}" y2="{axis.y(cell["high"]):.1f}"'
        bar = f'<line x1="{x:.1f}" {ends} stroke="{colour}" stroke-opacity="0.5"/>'
    title = f"<title>{cell['run']}: {cell['error']:+.0%}</title>"
    return f'{bar}<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}">{title}</circle>'
