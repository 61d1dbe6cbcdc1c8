"""A run as a calibration predicts it: every figure with its interval, and the draws behind the throughput."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.calibration import Calibration
from ..model.findings import Options
from ..model.metrics import Quantity
from ..model.network import Floats
from ..model.predict import find
from ..model.prediction import Prediction
from ..model.publish import publish
from ..model.simulation.run import Budget
from .run import Run

REQUESTS = 8000
"""Requests simulated for each run: a throughput to about 1 %, a p99 to about 5 %."""


@dataclass(frozen=True)
class Foretold:
    """What a calibration says about a run."""

    prediction: Prediction
    log_draws: Floats
    """[draws]: logarithm of throughput over its nominal value, for draws of the calibration."""

    def figure(self, what: str) -> Quantity | None:
        """Return the figure under a dotted name, such as `latency_s.read.p50` or `utilisation.CPU of node 1`."""
        kind, _, rest = what.partition(".")
        if kind == "throughput_per_s":
            return self.prediction.throughput_per_s
        if kind == "utilisation":
            used = self.prediction.utilisation.get(rest)
            return None if used is None else Quantity(value=used)
        operation, _, statistic = rest.partition(".")
        found = self.prediction.latency_s.get(operation)
        figure: Quantity | None = getattr(found, statistic) if found is not None else None
        return figure


def foretell(calibration: Calibration, run: Run, solver: str, seed: int) -> Foretold:
    """Predict a run."""
    options = Options(solver=solver, seed=seed, budget=Budget(requests=REQUESTS), neighbours=False)
    found = find(run.scenario, calibration, options, None)
    rates = found.analysed.solution.throughput_per_s
    blocks = found.analysed.members.blocks
    return Foretold(publish(found), np.log(rates[blocks["draws"]] / rates[blocks["nominal"]]))


def foretold_names(run: Run) -> tuple[str, ...]:
    """Return the dotted names of the figures that a run measured and a prediction has."""
    names = ["throughput_per_s"] if run.throughput_per_s and not run.is_open else []
    names += [
        f"latency_s.{operation}.{statistic}"
        for operation, latency in run.metrics.latency_s.items()
        for statistic, _ in latency.present()
        if statistic in ("p50", "p95", "p99") and operation in run.scenario.workload.operations
    ]
    return (*names, *(f"utilisation.{name}" for name in run.metrics.utilisation if name.startswith("CPU of node")))


def measured_figure(run: Run, what: str) -> Quantity:
    """Return what a run measured under a dotted name."""
    kind, _, rest = what.partition(".")
    if kind == "throughput_per_s":
        return run.metrics.throughput_per_s
    if kind == "utilisation":
        return Quantity(value=run.metrics.utilisation[rest])
    operation, _, statistic = rest.partition(".")
    figure: Quantity = getattr(run.metrics.latency_s[operation], statistic)
    return figure
