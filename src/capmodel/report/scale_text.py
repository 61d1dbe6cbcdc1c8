"""A scaling as text for a terminal, and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

Scaling = Mapping[str, Any]
BAR = 24
"""Characters of the longest bar."""
WIDTH, HEIGHT, MARGIN = 640, 360, 60


def scale_text(scaling: Scaling, clients: str) -> str:
    """Return a table with a bar for each point; `clients` says what becomes of the clients along the axis."""
    return "\n".join(_lines(scaling, clients))


def _lines(scaling: Scaling, clients: str) -> Iterator[str]:
    points = scaling["points"]
    yield f"{scaling['axis']}, {clients}; 90 % intervals; gains over the line above"
    head = f"{'':<8}{'throughput':>11} {'interval':>19} {'p99':>9} {'capacity':>11} {'a node':>9}"
    yield f"{head}  {'at your clients':<28}{'capacity':<28}limit"
    most = max((one["throughput_per_s"]["value"] for one in points if one["throughput_per_s"]), default=1.0)
    for one in points:
        yield _line(one)
    yield ""
    for one in points:
        rate = one["throughput_per_s"]
        if rate:
            yield f"{one['value']:<8}{'█' * max(1, round(BAR * rate['value'] / most))} {_count(rate['value'])}/s"
    yield from _moves(points)


def _line(one: Scaling) -> str:
    rate, tail, step = one["throughput_per_s"], one["p99_s"], one["step"] or {}
    shown = f"{_count(rate['value'])}/s" if rate else "not carried"
    interval = f"[{_count(rate['low'])}, {_count(rate['high'])}]" if rate else ""
    latency = f"{tail['value'] * 1e3:.3g} ms" if tail else ""
    node = f"{_count(one['per_node_per_s'])}/s" if rate else ""
    gains = f"{_gain(step.get('at_your_clients')):<28}{_gain(step.get('capacity')):<28}"
    capacity = f"{_count(one['capacity_per_s']['value'])}/s"
    return f"{one['value']:<8}{shown:>11} {interval:>19} {latency:>9} {capacity:>11} {node:>9}  {gains}{one['limit']}"


def _gain(found: Scaling | None) -> str:
    if found is None:
        return ""
    return f"{found['value']:+.0%} [{found['low']:+.0%}, {found['high']:+.0%}] {SHORT[found['verdict']]}"


SHORT = {"helps": "helps", "no gain expected": "no gain", "cannot tell": "?"}


def _moves(points: Sequence[Scaling]) -> Iterator[str]:
    """Yield where the limit becomes another."""
    moves = [(one, two) for one, two in pairwise(points) if one["limit"] != two["limit"]]
    if moves:
        yield ""
    for one, two in moves:
        yield f"The limit moves from {one['limit']} to {two['limit']} between {one['value']} and {two['value']}."


def _count(value: float) -> str:
    return f"{value / 1e3:,.3g}k" if 1e4 <= value < 1e6 else f"{value:,.0f}" if value < 1e4 else f"{value / 1e6:.3g}M"


def scale_svg(scaling: Scaling) -> str:
    """Return the throughput over the axis with its band, and the capacity, as an SVG."""
    points = [one for one in scaling["points"] if one["throughput_per_s"]]
    top = 1.1 * max(max(one["throughput_per_s"]["high"], one["capacity_per_s"]["value"]) for one in points)
    step = (WIDTH - 2 * MARGIN) / max(1, len(points) - 1)

    def at(index: int, value: float) -> str:
        return f"{MARGIN + index * step:.1f},{HEIGHT - MARGIN - value / top * (HEIGHT - 2 * MARGIN):.1f}"

    highs = [at(i, one["throughput_per_s"]["high"]) for i, one in enumerate(points)]
    lows = [at(i, one["throughput_per_s"]["low"]) for i, one in enumerate(points)]
    rates = " ".join(at(i, one["throughput_per_s"]["value"]) for i, one in enumerate(points))
    capacities = " ".join(at(i, one["capacity_per_s"]["value"]) for i, one in enumerate(points))
    body = [
        f'<polygon points="{" ".join([*highs, *reversed(lows)])}" fill="#1f6f8b" fill-opacity="0.2"/>',
        f'<polyline points="{rates}" fill="none" stroke="#1f6f8b" stroke-width="2"/>',
        f'<polyline points="{capacities}" fill="none" stroke="#c0392b" stroke-width="2" stroke-dasharray="6 4"/>',
        *_axes(points, step, top, scaling["axis"]),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
        f"{''.join(body)}</svg>\n"
    )


def _axes(points: Sequence[Scaling], step: float, top: float, axis: str) -> Iterator[str]:
    bottom = HEIGHT - MARGIN
    yield f'<path d="M{MARGIN},{MARGIN} V{bottom} H{WIDTH - MARGIN}" fill="none" stroke="#555"/>'
    every = math.ceil(len(points) / 12)
    for index, one in enumerate(points):
        if index % every == 0:
            x = MARGIN + index * step
            yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{one["value"]}</text>'
    for share in (0.25, 0.5, 0.75, 1.0):
        y = bottom - share / 1.1 * (HEIGHT - 2 * MARGIN)
        label = _count(share * top / 1.1)
        yield f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{axis}</text>'
    yield f'<text x="{MARGIN}" y="20" fill="#1f6f8b">operations/s at your clients, 90 % interval</text>'
    yield f'<text x="{MARGIN}" y="38" fill="#c0392b">capacity</text>'


def scale_csv(scaling: Scaling) -> str:
    """Return the points as CSV, one row each."""
    lines = [",".join(("value", "nodes", *(f"{name}_{end}" for name in FIGURES for end in ENDS), "limit"))]
    for one in scaling["points"]:
        figures = [(one[name] or {}).get(end, "") for name in FIGURES for end in ENDS]
        lines.append(",".join(str(cell) for cell in (one["value"], one["nodes"], *figures, f'"{one["limit"]}"')))
    return "\n".join(lines) + "\n"


FIGURES, ENDS = ("throughput_per_s", "p99_s", "capacity_per_s"), ("value", "low", "high")
