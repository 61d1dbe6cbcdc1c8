"""Observations: the numbers of a run that a fit looks at, as logarithms with their standard errors.

In a closed load throughput and mean latency are one datum (Little 1961), so a latency counts by its shape only: the
percentile over the mean response time. An open load has its rate from outside; there latencies count as they are.
CPU time per operation counts where nodes are busy with work, not where idle workers spin or a quota is used up (then
it is the quota over the throughput, the same datum again).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.answer import MVA_ERROR
from ..model.network import Floats
from ..model.topology import nodes_of
from .run import Run, log_noise

BUSY = 0.5
"""Utilisation from which a node's CPU time is mostly work. Source: lab-fidelity.md, section 5: at 1,000 operations/s a
node used 0.65 core with next to nothing to do; from 20,000/s on work displaces the spinning."""
QUOTA_USED = 0.95
"""Share of a quota from which on its CPU time is the quota, whatever the work."""
SHAPES = ("p50", "p95")
"""Percentiles whose shape is looked at."""
USELESS = 0.5
"""Error of mean-value analysis from which on a latency's shape tells a fit nothing (a weight of 1 to 100 or less)."""
THROUGHPUT, CPU = "throughput", "cpu"


@dataclass(frozen=True)
class Observation:
    """One number of one run."""

    run: int
    """Position of the run."""
    what: str
    """`throughput`, `cpu`, or a statistic of a latency."""
    operation: str
    """Operation of a latency; empty otherwise."""
    log_value: float
    noise: float
    """Standard error of the logarithm by the run itself; a run's weight makes it larger."""
    form: float
    """Error of mean-value analysis itself, to be replaced where the simulation is the judge."""

    @property
    def is_shape(self) -> bool:
        """Whether it is a latency, which tells of the model's form rather than of a demand."""
        return self.what not in (THROUGHPUT, CPU)


def observations_of(runs: Sequence[Run]) -> tuple[Observation, ...]:
    """Return the observations of runs, run by run."""
    return tuple(found for index, run in enumerate(runs) for found in _of_run(index, run))


def _of_run(index: int, run: Run) -> Iterator[Observation]:
    widened = 1 / math.sqrt(run.weight)
    form = _form(run)
    rate = run.throughput_per_s
    if rate and not run.is_open:
        noise = log_noise(run.metrics.throughput_per_s) * widened
        yield Observation(index, THROUGHPUT, "", math.log(rate), noise, form["throughput"])
    cost = run.cpu_s_per_operation
    if cost is not None and cost.value and cpu_is_work(run):
        noise = log_noise(cost) * widened
        yield Observation(index, CPU, "", math.log(cost.value), noise, form["throughput"])
    for operation, latency in run.metrics.latency_s.items():
        for name, figure in latency.present():
            wanted = (name in SHAPES and form[name] < USELESS) or (run.is_open and name == "mean")
            if wanted and figure.value and _comparable(run, operation):
                scale = 1.0 if run.is_open else run.response_s or 0.0
                if scale > 0:
                    noise = log_noise(figure) * widened
                    yield Observation(index, name, operation, math.log(figure.value / scale), noise, form[name])


def _comparable(run: Run, operation: str) -> bool:
    return operation in run.scenario.workload.operations or operation == "all"


def _form(run: Run) -> dict[str, float]:
    """Return the error of mean-value analysis for a run's network; for a busy one, as runs that tell something are."""
    capped = any(node.hardware.cpu_quota is not None for node in nodes_of(run.scenario))
    return MVA_ERROR["quota" if capped else "saturated"]


def cpu_is_work(run: Run) -> bool:
    """Whether the CPU time of a run's nodes is that of its requests."""
    return not any(reason for reason in cpu_objections(run))


def cpu_objections(run: Run) -> Iterator[str]:
    """Yield why the CPU time of a run says nothing about demands."""
    rate, cost = run.throughput_per_s, run.cpu_s_per_operation
    if not rate or cost is None or not cost.value:
        yield "CPU time is not known"
        return
    nodes = nodes_of(run.scenario)
    quotas = [node.hardware.cpu_quota for node in nodes]
    cores = sum(quota.cores if quota else node.hardware.cores for node, quota in zip(nodes, quotas, strict=True))
    used = rate * cost.value / cores
    if used < BUSY:
        yield f"nodes use {used:.0%} of their cores, where idle workers count as work"
    elif used > QUOTA_USED and any(quotas):
        yield "the quota is used up, so that CPU time says what the throughput says"


def log_values(observations: Sequence[Observation]) -> Floats:
    """Return the logarithms, [observations]."""
    return np.array([one.log_value for one in observations])
