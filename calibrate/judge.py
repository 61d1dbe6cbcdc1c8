"""The simulation as judge: how far mean-value analysis is from it at the fitted parameters.

The ratios shift the targets of one more fit, so that in the end the simulation, which predicts by default, meets the
runs. Its latencies also say how far p50 and p99 are from measured ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.estimate import LEVEL, Estimate, Z
from ..model.growth import resolved_clients
from ..model.network import Floats
from ..model.offered import capacities
from ..model.simulation.run import Budget, Simulated, simulate
from ..model.study import Study
from .discrepancy import FEWEST_RUNS, excess
from .forward import middling_study
from .least_squares import Progress
from .observation import CPU, THROUGHPUT, Observation
from .run import Run, log_noise

REQUESTS = 6000
"""Requests simulated for each run: a throughput to about 1 %."""

UNKNOWN_LATENCY = 0.3
"""Discrepancy of a percentile where too few runs have one. Source: lab-fidelity.md, section 6: with the right demands
nine in ten p50 within 32 to 42 %, p99 within 44 to 48 %."""


@dataclass(frozen=True)
class Judgement:
    """What the simulation says of every run at some parameters."""

    simulated: tuple[Simulated, ...]
    studies: tuple[Study, ...]

    def figure(self, one: Observation, run: Run) -> Estimate:
        """Return an observation as the simulation has it, not as a logarithm."""
        found = self.simulated[one.run]
        if one.what == THROUGHPUT:
            return found.throughput_per_s
        if one.what == CPU:
            return _cpu_s(found, self.studies[one.run])
        latency = found.latency_s[_operation(one.operation, found)][one.what]
        if run.is_open:
            return latency
        clients = resolved_clients(run.scenario).clients
        mean_s = (clients.in_flight or 1) / found.throughput_per_s.value - clients.think_time
        return Estimate(latency.value / mean_s, latency.std_err / mean_s, latency.n)

    def shifts(
        self, observations: Sequence[Observation], runs: Sequence[Run], expected: Floats
    ) -> tuple[Floats, Floats]:
        """Return simulation minus mean-value analysis as logarithms, and the simulation's own error."""
        figures = [self.figure(one, runs[one.run]) for one in observations]
        values = np.array([max(figure.value, 1e-12) for figure in figures])
        errors = np.array([figure.std_err for figure in figures]) / values
        known = np.isfinite(values) & np.isfinite(errors)
        return np.where(known, np.log(values) - expected, 0.0), np.where(known, errors, 0.0)


def judge(
    runs: Sequence[Run], values: Mapping[str, float], seed: int, requests: int, progress: Progress | None = None
) -> Judgement:
    """Simulate every run at some parameters."""
    studies, results = [], []
    for number, run in enumerate(runs):
        made = middling_study(resolved_clients(run.scenario), values)
        studies.append(made)
        results.append(simulate(made.network, values, seed + number, Budget(requests=requests)))
        if progress is not None:
            progress("simulating", (number + 1) / len(runs))
    return Judgement(tuple(results), tuple(studies))


def latency_discrepancy(judgement: Judgement, runs: Sequence[Run], statistic: str) -> float:
    """Return the standard deviation of measured over simulated latencies beyond the noise of both.

    Where the model lacks what makes tails long, few ratios are far off: the interval has to hold nine in ten.
    """
    ratios, variances = [], []
    for found, run in zip(judgement.simulated, runs, strict=True):
        for name, latency in run.metrics.latency_s.items():
            measured, ours = getattr(latency, statistic), found.latency_s.get(name, {}).get(statistic)
            if measured is not None and measured.value and ours is not None and ours.value > 0:
                ratios.append(float(np.log(measured.value / ours.value)))
                variances.append(log_noise(measured) ** 2 + (ours.std_err / ours.value) ** 2)
    if len(ratios) < FEWEST_RUNS:
        return UNKNOWN_LATENCY
    tail = float(np.quantile(np.abs(ratios), LEVEL)) / Z
    return max(excess(np.array(ratios), np.array(variances)), tail)


def _cpu_s(found: Simulated, made: Study) -> Estimate:
    where = made.network.cpu_stations
    used = float((found.utilisation[where] * capacities(made.network)[where]).sum())
    rate = found.throughput_per_s
    return Estimate(used / rate.value, used / rate.value * rate.std_err / rate.value, rate.n)


def _operation(name: str, found: Simulated) -> str:
    return name if name in found.latency_s else next(iter(found.latency_s))
