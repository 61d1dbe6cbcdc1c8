"""From runs to a calibration.

Mean-value analysis is the forward model of a bounded least-squares fit over all runs at once; the simulation is the
judge of the result and shifts the targets of a last fit; what runs say when they are left out gives the discrepancy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.calibration import Calibration
from ..model.errors import MeasurementError
from ..model.network import Floats
from ..model.topology import nodes_of
from .discrepancy import (
    FIRST_GUESS,
    LeftOut,
    discrepancy,
    gain_discrepancy,
    groups_of,
    is_level,
    is_statistic,
    leave_out,
)
from .forward import ForwardModel
from .judge import REQUESTS, Judgement, judge, latency_discrepancy
from .least_squares import TOLERANCE, Optimum, Problem, Progress, minimise
from .neighbouring import pairs_of
from .observation import SHAPES, THROUGHPUT, log_values
from .parameters import Prior, prior_of, profile_values, with_idle_work
from .posterior import Posterior
from .repeats import combined
from .run import Run
from .starts import START_SPREAD, start_design, within_start
from .suitability import Refused, without_hops

SHAPE_GUESS = 0.3
"""Discrepancy of a latency's shape with which a fit begins. Source: lab-fidelity.md, section 6: with the right
demands p50 is met within 7 % in the median and 32 % in nine of ten cells."""
COARSE = 1e-2
"""Tolerance of the fit from which the discrepancies are learnt: their own error is larger."""
TURNS = 12
"""Turns between discrepancies and weights; each halves the distance to where both agree."""
ROUNDS = 2
"""Fits between which the discrepancies are learnt."""


@dataclass(frozen=True)
class FitOptions:
    """How a fit is made."""

    simulate: bool = True
    """Whether the simulation is the judge; otherwise mean-value analysis has the last word."""
    requests: int = REQUESTS
    """Requests simulated for each run."""
    seed: int = 1
    stations: tuple[str, ...] = ()
    """Station parameters to be fitted too."""


@dataclass(frozen=True)
class Fit:
    """A fit with all that can be said about it."""

    runs: tuple[Run, ...]
    """Runs as they were fitted, repeats combined."""
    refused: tuple[Refused, ...]
    profile: Calibration
    values: dict[str, float]
    """All parameters of the model, fitted ones included."""
    posterior: Posterior
    left_out: LeftOut
    discrepancy: dict[str, float]
    """By `throughput`, `p50`, `p95`, `p99`."""
    judgement: Judgement | None

    @property
    def prior(self) -> Prior:
        """What was known before."""
        return self.posterior.problem.prior

    @property
    def forward(self) -> ForwardModel:
        """The forward model."""
        return self.posterior.problem.forward

    @property
    def optimum(self) -> Optimum:
        """The best parameters found."""
        return self.posterior.optimum


def fit(
    runs: Sequence[Run],
    profile: Calibration,
    options: FitOptions | None = None,
    refused: Sequence[Refused] = (),
    progress: Progress | None = None,
) -> Fit:
    """Fit the parameters of a profile to runs.

    Args:
        runs: usable runs; repeats of a scenario within a start are combined.
        profile: what is known before.
        options: how the fit is made.
        refused: runs that were refused before, for the report.
        progress: told what is being done.

    Raises:
        MeasurementError: no run that says anything.
    """
    options = options or FitOptions()
    cells = without_hops(combined(runs, within_start))
    if not cells:
        reasons = "; ".join(f"{one.name}: {', '.join(one.reasons)}" for one in refused)
        raise MeasurementError(f"no run can be used to calibrate{': ' + reasons if reasons else ''}")
    capped = any(node.hardware.cpu_quota for run in cells for node in nodes_of(run.scenario))
    return _Fitting(cells, with_idle_work(profile, capped), options, tuple(refused), progress).result()


class _Fitting:
    """A fit on its way: discrepancies are learnt between rounds, targets are shifted by the judge."""

    def __init__(
        self,
        runs: tuple[Run, ...],
        profile: Calibration,
        options: FitOptions,
        refused: tuple[Refused, ...],
        progress: Progress | None,
    ) -> None:
        self._runs, self._profile, self._options, self._refused = runs, profile, options, refused
        self._progress = progress
        self._values = profile_values(profile)
        self._forward = ForwardModel(runs, self._values)
        self._seen = self._forward.observations
        self._prior = prior_of(profile, self._forward.touched, options.stations)
        self._noise = np.array([one.noise for one in self._seen])
        self._form = np.array([one.form for one in self._seen])
        self._shift = np.zeros(len(self._seen))
        self._starts = start_design(runs, self._seen)
        self._level = is_level(self._seen)
        self._beyond = {"throughput": FIRST_GUESS, **dict.fromkeys(SHAPES, SHAPE_GUESS)}

    def result(self) -> Fit:
        """Fit, learn, judge, and fit again."""
        logs = self._prior.log_median
        for number in range(1, ROUNDS + 1):
            posterior = self._posterior(logs, TOLERANCE if number == ROUNDS else COARSE)
            left_out = self._learn(posterior)
            logs = posterior.reweighted(self._spread()).optimum.logs
        judgement = self._judge(posterior) if self._options.simulate else None
        if judgement is not None:
            posterior = self._posterior(logs)
            left_out = self._learn(posterior)
        return Fit(
            self._runs,
            self._refused,
            self._profile,
            self._all_values(posterior.optimum.logs),
            posterior,
            left_out,
            self._new_start(left_out) | self._latencies(judgement),
            judgement,
        )

    def _posterior(self, start: Floats, tolerance: float = TOLERANCE) -> Posterior:
        targets = log_values(self._seen) - self._shift
        problem = Problem(self._forward, self._prior, targets, self._spread(), self._starts)
        return Posterior(problem, minimise(problem, start, self._progress, tolerance))

    def _spread(self) -> Floats:
        beyond = np.array([self._beyond.get(one.what, self._beyond["throughput"]) for one in self._seen])
        return np.asarray(np.sqrt(self._noise**2 + self._form**2 + beyond**2))

    def _learn(self, posterior: Posterior) -> LeftOut:
        """Learn the discrepancies from what runs say when they are left out.

        They decide the weights with which they are learnt: the fixed point is looked for in the linear model.
        """
        structure = np.zeros(len(self._runs), dtype=int)
        for number, found in enumerate(self._forward.structures):
            structure[list(found.runs)] = number
        group = groups_of(self._seen, structure.tolist())
        for _ in range(TURNS):
            left_out = leave_out(posterior.reweighted(self._spread()), self._seen, group)
            for name, spread in self._discrepancies(left_out).items():
                self._beyond[name] = float(np.sqrt((spread**2 + self._beyond[name] ** 2) / 2))
        return left_out

    def _discrepancies(self, left_out: LeftOut) -> dict[str, float]:
        own = np.sqrt(self._noise**2 + self._form**2)
        kinds = {"throughput": self._level, **{name: is_statistic(self._seen, name) for name in SHAPES}}
        return {name: discrepancy(left_out, own, which) for name, which in kinds.items()}

    def _judge(self, posterior: Posterior) -> Judgement:
        """Shift the targets by what the simulation says; its own error takes the place of that of the analysis."""
        values = self._all_values(posterior.optimum.logs)
        found = judge(self._runs, values, self._options.seed, self._options.requests, self._progress)
        shift, error = found.shifts(self._seen, self._runs, posterior.optimum.expected)
        self._shift = shift
        self._form = np.where(self._level, error, self._form)
        return found

    def _all_values(self, logs: Floats) -> dict[str, float]:
        fitted = self._prior.values(logs)
        values = {**self._values, **{name: float(value) for name, value in fitted.items()}}
        if "replica_absent_s" not in self._profile.parameters:
            values.pop("replica_absent_s", None)
        return values

    def _new_start(self, left_out: LeftOut) -> dict[str, float]:
        """Return the discrepancies of throughput and of a gain; a throughput is that of a start not yet made."""
        form = self._beyond["throughput"]
        row = {one.run: index for index, one in enumerate(self._seen) if one.what == THROUGHPUT}
        pairs = [(row[pair.smaller], row[pair.larger]) for pair in pairs_of(self._runs)]
        noise = np.sqrt(self._noise**2 + self._form**2 + START_SPREAD**2)
        gain = gain_discrepancy(left_out, noise, pairs, form)
        return {"throughput": float(np.hypot(form, START_SPREAD)), "gain": gain}

    def _latencies(self, judgement: Judgement | None) -> dict[str, float]:
        """Return how far measured percentiles lie from simulated ones, beyond the noise of both."""
        if judgement is None:
            return {name: max(self._beyond.get(name, 0.0), SHAPE_GUESS) for name in ("p50", "p95", "p99")}
        return {name: latency_discrepancy(judgement, self._runs, name) for name in ("p50", "p95", "p99")}
