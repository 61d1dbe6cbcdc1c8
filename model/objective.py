"""Objectives: upper limits on latency, and the largest load that meets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .ensemble import Ensemble
from .errors import InputError, ObjectiveMissed, Problem
from .mva import MvaSolution, solve
from .network import Floats
from .percentile import latency_s
from .units import format_duration, parse_duration

STATISTICS = ("mean", "p50", "p95", "p99", "p999")
HALVINGS = 14
"""Halvings of the bracket of the load: four digits."""


@dataclass(frozen=True)
class Objective:
    """An upper limit on a latency statistic of every operation."""

    statistic: str
    limit_s: float

    def __str__(self) -> str:
        return f"{self.statistic} <= {format_duration(self.limit_s)}"


def parse_objectives(texts: Sequence[str]) -> tuple[Objective, ...]:
    """Return objectives from texts such as `p99=20ms`.

    >>> parse_objectives(["p99=20ms"])
    (Objective(statistic='p99', limit_s=0.02),)

    Raises:
        InputError: an unknown statistic or a limit that is not a positive duration.
    """
    problems: list[Problem] = []
    found = [objective for text in texts if (objective := _parse(text, problems)) is not None]
    if problems:
        raise InputError(problems)
    return tuple(found)


def _parse(text: str, problems: list[Problem]) -> Objective | None:
    name, _, limit = text.replace("<=", "=").partition("=")
    statistic = name.strip().lower().replace("p99.9", "p999")
    if statistic not in STATISTICS:
        problems.append(Problem("--objective", text, f"one of {', '.join(STATISTICS)}, then = and a time: p99=20ms"))
        return None
    try:
        limit_s = float(str(parse_duration(limit.strip())))
    except ValueError:
        limit_s = 0.0
    if not limit_s > 0:
        problems.append(Problem("--objective", text, "a positive time after =, such as 20ms"))
        return None
    return Objective(statistic, limit_s)


def check_objectives(document: Mapping[str, Any], objectives: Sequence[Objective]) -> None:
    """Refuse a prediction, in its published form, that misses an objective.

    Raises:
        ObjectiveMissed: names every objective missed, by how much, and whether the interval holds the limit.
    """
    missed = [line for objective in objectives for line in _missed(document, objective)]
    if missed:
        raise ObjectiveMissed("\n".join(missed))


def _missed(document: Mapping[str, Any], objective: Objective) -> list[str]:
    if document["throughput_per_s"] is None:
        return [f"{objective}: missed, the load cannot be carried"]
    lines = []
    for operation, statistics in document["latency_s"].items():
        figure = statistics[objective.statistic]
        if figure["value"] > objective.limit_s:
            sure = "" if figure["low"] > objective.limit_s else ", though the interval reaches down to the limit"
            lines.append(f"{objective}: missed, {operation} has {format_duration(figure['value'])}{sure}")
    return lines


def largest_rate_within(members: Ensemble, highest_per_s: Floats, objectives: Sequence[Objective]) -> Floats:
    """Return the largest open load up to `highest_per_s` that meets all objectives, [members]; 0 where none does."""
    low, high = np.zeros(members.size), highest_per_s.copy()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        solution = solve(replace(members, population=np.full(members.size, np.inf), rate_per_s=middle))
        meets = _meets(members, solution, objectives)
        low, high = np.where(meets, middle, low), np.where(meets, high, middle)
    return low


def _meets(members: Ensemble, solution: MvaSolution, objectives: Sequence[Objective]) -> Floats:
    cases = members.rings[0].cases
    operations = {case.operation for case in cases}
    meets = solution.stable.copy()
    for objective in objectives:
        for operation in operations:
            meets &= latency_s(solution, cases, operation, objective.statistic) <= objective.limit_s
    return np.asarray(meets)
