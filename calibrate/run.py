"""A run: what was asked of a cluster, and what was measured, in the figures that a fit and a validation use.

A run stands for one measurement, for a row of a table, or for several repeats of the same scenario (`repeats.py`).
Errors are those of the logarithm: rates, times and costs are positive, and compared by their ratios.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.estimate import Interval, Z
from ..model.metrics import Metrics, Quantity
from ..model.scenario import Scenario, resolved_in_flight
from ..model.workload import ConsistencyLevel

UNREPEATED = 0.06
"""Relative error of a run without repeats and without intervals of its own. Source: lab-fidelity.md, section 3: 1.7
to 8.8 % in throughput between repeats within one start; published-runs.csv, C01: up to 9 %."""


@dataclass(frozen=True)
class Run:
    """One measured scenario."""

    name: str
    scenario: Scenario
    metrics: Metrics
    """Throughput, latencies by operation, utilisation by station."""
    cpu_s_per_operation: Quantity | None = None
    """CPU time of all nodes together per operation of a client."""
    repeats: int = 1
    weight: float = 1.0
    """Share of its evidence that a fit uses; below 1 where the run is doubtful."""
    reasons: tuple[str, ...] = ()
    """Why its weight is less than 1."""
    sources: tuple[str, ...] = ()
    """Files, or files and rows, that it was read from."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is known, for checks that all runs are of one kind."""

    @property
    def throughput_per_s(self) -> float | None:
        """Operations answered per second."""
        return self.metrics.throughput_per_s.value

    @property
    def is_open(self) -> bool:
        """Whether the load has a rate of its own."""
        return self.scenario.clients.rate is not None

    @property
    def response_s(self) -> float | None:
        """Mean response time of a closed load over all operations, by Little's law."""
        in_flight, rate = resolved_in_flight(self.scenario), self.throughput_per_s
        if in_flight is None or not rate:
            return None
        return in_flight / rate - self.scenario.clients.think_time


def quantity(value: float, log_std_err: float | None = None) -> Quantity:
    """Return a positive figure with the standard error of its logarithm, where that is known."""
    if log_std_err is None:
        return Quantity(value=value, reason="one run, without repeats")
    factor = math.exp(Z * log_std_err)
    return Quantity.of(Interval(value, value / factor, value * factor))


def log_noise(figure: Quantity) -> float:
    """Return the standard error of a figure's logarithm; `UNREPEATED` where it is not known."""
    known = figure.log_std_err
    return UNREPEATED if known is None else known


def label(scenario: Scenario) -> str:
    """Return a short name of a scenario by what usually differs between runs.

    >>> from ..model.cluster import Cluster
    >>> label(Scenario(cluster=Cluster(nodes=3)))
    '3 nodes, RF 3, 50 % read LOCAL_QUORUM + 50 % write LOCAL_QUORUM, token-aware, 192 in flight'
    """
    clients, count = scenario.clients, scenario.cluster.node_count
    load = f"{clients.rate:g}/s" if clients.rate is not None else f"{resolved_in_flight(scenario)} in flight"
    through = f" through {len(clients.coordinators)}" if clients.coordinators else ""
    parts = (
        f"{count} node{'s' if count > 1 else ''}",
        f"RF {replication_of(scenario)}",
        mix_of(scenario),
        f"{clients.routing}{through}",
        load,
    )
    return ", ".join(parts)


def replication_of(scenario: Scenario) -> str:
    """Return the replication factor, or those of the datacenters joined by `+`."""
    factor = scenario.cluster.replication.factor
    return str(factor) if isinstance(factor, int) else "+".join(map(str, factor.values()))


def mix_of(scenario: Scenario) -> str:
    """Return the operation mix with its consistency levels in words."""
    operations = scenario.workload.operations
    if len(operations) == 1:
        ((name, only),) = operations.items()
        return f"{name} {_level(only.consistency)}"
    return " + ".join(f"{100 * op.share:.0f} % {name} {_level(op.consistency)}" for name, op in operations.items())


def _level(level: ConsistencyLevel) -> str:
    return level.value
