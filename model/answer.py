"""What a cluster does, by one solver: throughput, latencies and utilisation, each with the parts of its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .bounds import capacity_per_s
from .mva import MvaSolution, solve
from .network import Floats, Station
from .objective import Objective, largest_rate_within
from .percentile import latency_s
from .perturbation import Members
from .simulation.run import Budget, Progress, Simulated, simulate
from .study import Study
from .uncertainty import Parts, over_rings, parts_of

STATISTICS = ("mean", "p50", "p95", "p99", "p999")

BUSY = 0.85
"""Utilisation of the busiest station above which mean-value analysis has the error `saturated`."""
MVA_ERROR = {
    "free": {"throughput": 0.01, "mean": 0.023, "p50": 0.051, "p95": 0.034, "p99": 0.073, "p999": 0.11},
    "saturated": {"throughput": 0.016, "mean": 0.15, "p50": 0.42, "p95": 0.22, "p99": 0.31, "p999": 0.43},
    "quota": {"throughput": 0.03, "mean": 0.15, "p50": 1.9, "p95": 0.57, "p99": 0.53, "p999": 0.57},
}
"""Relative standard deviation of mean-value analysis against the simulation: root mean square of the logarithm of
their ratio over 240 random scenarios, the simulation's own error taken out; measured by
`tests/theory/test_solver_agreement.py`, per band of utilisation in docs/background/solvers.md. (For the throughput
under a quota nothing was left; 0.03 is with the simulation's own error.) A p50 under a quota
is one of two modes, which mean-value analysis cannot tell apart."""


def mva_error(stations: Sequence[Station], utilisation: Floats) -> dict[str, float]:
    """Return the relative standard deviations of mean-value analysis of a network, by statistic."""
    if any(station.quota is not None for station in stations):
        return MVA_ERROR["quota"]
    busiest = max((u for u, s in zip(utilisation, stations, strict=True) if s.queues), default=0.0)
    return MVA_ERROR["saturated" if busiest > BUSY else "free"]


@dataclass(frozen=True)
class Figure:
    """A positive figure and the parts of its error."""

    value: float
    parts: Parts


@dataclass(frozen=True)
class Analysed:
    """Mean-value analysis of a study's members, with the capacities that go with it."""

    members: Members
    solution: MvaSolution
    largest_stable_per_s: Floats
    """[members]: largest load that the cluster can carry."""
    capacity_per_s: Floats
    """[members]: the same, or the largest load within the objectives where there are any."""

    @property
    def stable(self) -> bool:
        """Whether the nominal load can be carried, by the cluster and by its clients."""
        rate = self.members.ensemble.rate_per_s[0]
        return bool(self.solution.stable[0]) and not rate > self.largest_stable_per_s[0]

    @property
    def form(self) -> dict[str, float]:
        """Relative standard deviations of mean-value analysis itself, by statistic."""
        return mva_error(self.members.ensemble.network.stations, self.solution.utilisation[0])

    @property
    def is_open(self) -> bool:
        """Whether the load is open."""
        return bool(np.isinf(self.members.ensemble.population[0]))

    def latency_s(self, operation: int | None, statistic: str) -> Floats:
        """Return a latency of an operation, or over all operations, [members]."""
        return latency_s(self.solution, self.members.ensemble.rings[0].cases, operation, statistic)


def analyse(members: Members, objectives: Sequence[Objective] = ()) -> Analysed:
    """Solve all members by mean-value analysis and find their capacities (within the objectives, if any)."""
    largest = capacity_per_s(members.ensemble)
    within = largest_rate_within(members.ensemble, largest, objectives) if objectives else largest
    return Analysed(members, solve(members.ensemble), largest, within)


@dataclass(frozen=True)
class Answer:
    """What a cluster does."""

    throughput_per_s: Figure
    latency_s: dict[str, dict[str, Figure]]
    utilisation: Floats
    """[stations]"""
    simulated: Simulated | None


def answer(
    study: Study,
    values: Mapping[str, float],
    analysed: Analysed,
    solver: str,
    seed: int,
    budget: Budget,
    progress: Progress | None = None,
    discrepancy: Mapping[str, float] | None = None,
) -> Answer:
    """Return the answer of a solver (`mva` or `simulate`), intervals from the members."""
    run = simulate(study.network, values, seed, budget, progress) if solver == "simulate" else None
    form = discrepancy or {}
    names = [operation.name for operation in study.network.operations]
    latency = {
        name: {
            statistic: _latency(analysed, run, number, name, statistic, form) for statistic in STATISTICS
        }
        for number, name in enumerate(names)
    }
    utilisation = run.utilisation if run else analysed.solution.utilisation[0]
    return Answer(_throughput(analysed, run, form), latency, np.asarray(utilisation), run)


def _throughput(analysed: Analysed, run: Simulated | None, form: Mapping[str, float]) -> Figure:
    model = form.get("throughput", 0.0)
    metric = analysed.solution.throughput_per_s
    if analysed.is_open:
        return Figure(float(metric[0]), Parts())
    if run is None:
        return _figure(analysed, float(metric[0]), metric, analysed.form["throughput"], model)
    sampling = run.throughput_per_s.std_err / run.throughput_per_s.value
    return _figure(analysed, run.throughput_per_s.value, metric, sampling, model)


def _latency(
    analysed: Analysed,
    run: Simulated | None,
    number: int,
    name: str,
    statistic: str,
    form: Mapping[str, float],
) -> Figure:
    metric = analysed.latency_s(number, statistic)
    model = form.get("p50" if statistic in ("mean", "p50") else "p99", 0.0)
    if run is None:
        return _figure(analysed, float(metric[0]), metric, analysed.form[statistic], model)
    found = run.latency_s[name][statistic]
    sampling = found.std_err / found.value if found.value > 0 else np.inf
    return _figure(analysed, found.value, metric, sampling, model)


def _figure(analysed: Analysed, value: float, metric: Floats, sampling: float, model: float) -> Figure:
    """Return a figure of the nominal ring, carried to the mean over all ring draws, with its parts."""
    blocks = analysed.members.blocks
    carried = value * float(np.exp(over_rings(blocks, np.log(np.maximum(metric, 1e-300)))))
    return Figure(carried, parts_of(blocks, metric, sampling, model))
