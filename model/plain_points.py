"""Scaling points and advice in plain types, for JSON, CSV and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .advice import Advice
from .answer import Figure
from .gain import Gain
from .paired import Gains
from .scaling import Point


def plain_scale(axis: str, points: Sequence[Point]) -> dict[str, Any]:
    """Return a scaling in plain types."""
    return {"format_version": 1, "axis": axis, "points": [_point(point) for point in points]}


def plain_advice(advices: Sequence[Advice], threshold: float) -> dict[str, Any]:
    """Return advice in plain types."""
    return {"format_version": 1, "threshold": threshold, "changes": [_advice(one) for one in advices]}


def _point(point: Point) -> dict[str, Any]:
    rate = point.throughput_per_s
    return {
        "value": point.value,
        "nodes": point.nodes,
        "throughput_per_s": plain_figure(rate),
        "per_node_per_s": rate.value / point.nodes if rate else None,
        "p99_s": plain_figure(point.p99_s),
        "capacity_per_s": plain_figure(point.capacity_per_s),
        "limit": point.limit,
        "busiest": {"station": point.hottest[0], "utilisation": point.hottest[1]},
        "step": _gains(point.step),
    }


def _advice(one: Advice) -> dict[str, Any]:
    words = {"change": one.change.name, "how": one.change.how, "gives_up": one.change.gives_up, "limit": one.limit}
    return words | (_gains(one.gains) or {})


def _gains(found: Gains | None) -> dict[str, Any] | None:
    if found is None:
        return None
    clients = found.at_your_clients
    return {"at_your_clients": _gain(clients) if clients else None, "capacity": _gain(found.capacity)}


def _gain(found: Gain) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high, "verdict": found.verdict}


def plain_figure(found: Figure | None) -> dict[str, float] | None:
    """Return a figure with its interval; None where there is none."""
    if found is None:
        return None
    interval = found.parts.around(found.value)
    return {"value": interval.value, "low": interval.low, "high": interval.high}
