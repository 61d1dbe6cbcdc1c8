"""Scaling: one key of a scenario taken through its values, what each brings, and what the last step gained.

All values are solved by mean-value analysis with the same draws of the profile, so that steps are paired.
DESIGN.md, section 3.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .answer import Figure
from .calibration import Calibration
from .findings import Findings, Options
from .gain import threshold
from .paired import Gains, gains
from .predict import discrepancy_of, find
from .scenario import Scenario
from .uncertainty import over_rings, parts_of

Told = Callable[[str, float], None]
"""Takes a stage and the share of it that is done."""


@dataclass(frozen=True)
class Point:
    """One value of the axis."""

    value: str
    scenario: Scenario
    throughput_per_s: Figure | None
    """At the clients of the scenario; None where an open load cannot be carried."""
    p99_s: Figure | None
    """Of the slowest operation."""
    capacity_per_s: Figure
    """Largest stable load, or the largest within the objectives."""
    limit: str
    """What limits, in words."""
    hottest: tuple[str, float]
    """The busiest station and its utilisation."""
    step: Gains | None
    """Over the value before; None for the first."""

    @property
    def nodes(self) -> int:
        """Nodes of the cluster."""
        return self.scenario.cluster.node_count


def scale(
    scenarios: Sequence[tuple[str, Scenario]],
    calibration: Calibration,
    options: Options | None = None,
    told: Told | None = None,
) -> tuple[Point, ...]:
    """Return a point for each scenario, in order.

    Args:
        scenarios: value of the axis in words, and the scenario with it.
        calibration: demands.
        options: seed and objectives; the solver is mean-value analysis.
        told: takes progress.

    Raises:
        ScenarioError: a scenario that no cluster can have.
    """
    asked = replace(options or Options(), solver="mva", neighbours=False)
    points: list[Point] = []
    before: Findings | None = None
    for number, (value, scenario) in enumerate(scenarios, 1):
        found = find(scenario, calibration, asked, None)
        points.append(_point(value, found, before))
        before = found
        if told is not None:
            told("scaling", number / len(scenarios))
    return tuple(points)


def _point(value: str, found: Findings, before: Findings | None) -> Point:
    answer, analysed = found.answer, found.analysed
    used = analysed.solution.utilisation[0]
    busiest = int(np.argmax(np.where(np.isfinite(used), used, 0.0)))
    tails = [statistics["p99"] for statistics in answer.latency_s.values()] if answer else []
    return Point(
        value,
        found.scenario,
        answer.throughput_per_s if answer else None,
        max(tails, key=lambda figure: figure.value) if tails else None,
        capacity_of(found),
        found.limit.words,
        (found.study.network.stations[busiest].name, float(used[busiest])),
        step_between(before, found) if before else None,
    )


def step_between(before: Findings, after: Findings) -> Gains | None:
    """Return the gains of one scenario over another; None where the rings of only one are a matter of chance."""
    if before.analysed.members.blocks.rings != after.analysed.members.blocks.rings:
        return None
    bar = threshold(before.scenario.cluster.node_count)
    return gains(before.analysed, after.analysed, bar, _form(before, "gain"))


def capacity_of(found: Findings) -> Figure:
    """Return the largest load, nominal ring carried to the mean over all, with the parts of its error."""
    blocks, capacity = found.analysed.members.blocks, found.analysed.capacity_per_s
    spread = parts_of(blocks, capacity, found.analysed.form["throughput"], _form(found, "throughput"))
    return Figure(float(capacity[0] * np.exp(over_rings(blocks, np.log(np.maximum(capacity, 1e-300))))), spread)


def _form(found: Findings, name: str) -> float:
    """Return the model's own error of a figure, as a prediction of the same scenario states it."""
    return discrepancy_of(found.calibration, found.scenario).get(name, 0.0)
