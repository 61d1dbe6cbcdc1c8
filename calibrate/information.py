"""What runs would tell: the derivatives of candidates' observations, and the variance that is left after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.metrics import Metrics
from ..model.network import Floats
from ..model.scenario import Scenario
from ..model.topology import nodes_of
from .forward import ForwardModel
from .observation import CPU, THROUGHPUT, Observation
from .run import UNREPEATED, Run


@dataclass(frozen=True)
class Information:
    """Derivatives of what candidate runs would show, over the spread with which they would show it."""

    rows: tuple[Floats, ...]
    """For each candidate [observations, parameters]."""
    names: tuple[str, ...]
    expected_per_s: Floats
    """[candidates]: throughput that is expected."""


def information_of(
    scenarios: Sequence[Scenario],
    values: Mapping[str, float],
    names: Sequence[str],
    spread: float,
) -> Information:
    """Return what runs of scenarios would tell about parameters.

    Args:
        scenarios: candidate runs.
        values: all parameters.
        names: the parameters asked about.
        spread: standard deviation of a run around the model.
    """
    runs = [Run(str(i), scenario, Metrics()) for i, scenario in enumerate(scenarios)]
    seen = [one for i, scenario in enumerate(scenarios) for one in _would_be_seen(i, scenario)]
    forward = ForwardModel(runs, values, seen)
    expected, jacobian = forward.with_jacobian(np.log([values[name] for name in names]), names)
    total = float(np.hypot(spread, UNREPEATED))
    position = np.array([one.run for one in seen])
    level = np.array([one.what == THROUGHPUT for one in seen])
    rates = np.full(len(scenarios), np.nan)
    rates[position[level]] = np.exp(expected[level])
    return Information(
        tuple(jacobian[position == i] / total for i in range(len(scenarios))), tuple(names), rates
    )


def _would_be_seen(index: int, scenario: Scenario) -> list[Observation]:
    """Return what a run would show: its throughput, and its CPU time unless a quota decides that."""
    capped = any(node.hardware.cpu_quota is not None for node in nodes_of(scenario))
    open_load = scenario.clients.rate is not None
    kinds = [*([] if open_load else [THROUGHPUT]), *([] if capped else [CPU])]
    return [Observation(index, kind, "", 0.0, UNREPEATED, 0.0) for kind in kinds]


def with_run(covariance: Floats, rows: Floats) -> Floats:
    """Return the covariance of parameters [parameters, parameters] after a run with these scaled derivatives."""
    seen = rows @ covariance
    return np.asarray(covariance - seen.T @ np.linalg.solve(np.eye(len(rows)) + seen @ rows.T, seen))


def variance_along(covariance: Floats, gradient: Floats) -> float:
    """Return the variance of a quantity with this derivative [parameters]."""
    return float(gradient @ covariance @ gradient)
