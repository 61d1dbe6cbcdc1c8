"""Bounded nonlinear least squares on logarithms, with what was known before as further observations.

Source: trust-region reflective method of Branch, Coleman and Li 1999, as in `scipy.optimize.least_squares`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from ..model.network import Floats
from .forward import ForwardModel
from .parameters import Prior
from .starts import START_SPREAD

MOST_EVALUATIONS = 40
"""Solutions of the forward model after which the best so far is taken."""
TOLERANCE = 1e-3
"""Relative change of cost and parameters at which a fit has converged: far below any parameter's error."""

Progress = Callable[[str, float], None]
"""Told what is being done and how far it is, from 0 to 1."""


@dataclass(frozen=True)
class Problem:
    """Observations and what is known before them."""

    forward: ForwardModel
    prior: Prior
    targets: Floats
    """[observations]: logarithms, shifted by what the simulation says about mean-value analysis."""
    spread: Floats
    """[observations]: standard deviation around the model, all causes together."""
    starts: Floats
    """[observations, starts]: how the speed of each start moves each observation."""


@dataclass(frozen=True)
class Optimum:
    """The best parameters found."""

    logs: Floats
    """[parameters]"""
    speeds: Floats
    """[starts]: logarithm of each start's speed."""
    expected: Floats
    """[observations]: of a start of ordinary speed."""
    jacobian: Floats
    """[observations, parameters]"""
    cost: float
    converged: bool
    evaluations: int


def minimise(
    problem: Problem, start: Floats, progress: Progress | None = None, tolerance: float = TOLERANCE
) -> Optimum:
    """Return the parameters at which observations and what is known before are met best."""
    low, high = problem.prior.bounds()
    walk, count = _Walk(problem, progress), problem.starts.shape[1]
    if not len(start):
        return Optimum(start, np.zeros(count), *walk.at(start), 0.0, True, 1)
    found = least_squares(
        walk.residuals,
        np.concatenate([np.clip(start, low + 1e-6, high - 1e-6), np.zeros(count)]),
        jac=walk.jacobian,
        bounds=(np.append(low, np.full(count, -np.inf)), np.append(high, np.full(count, np.inf))),
        xtol=tolerance,
        ftol=tolerance,
        max_nfev=MOST_EVALUATIONS,
    )
    logs, speeds = found.x[: len(start)], found.x[len(start) :]
    expected, jacobian = walk.at(logs)
    return Optimum(logs, speeds, expected, jacobian, float(found.cost), bool(found.success), int(found.nfev))


class _Walk:
    """Residuals and Jacobian of a problem; both come from one solution of the forward model, kept until the next."""

    def __init__(self, problem: Problem, progress: Progress | None) -> None:
        self._problem = problem
        self._progress = progress
        self._whitener = problem.prior.whitener
        self._size = len(problem.prior.names)
        self._known: dict[bytes, tuple[Floats, Floats]] = {}
        self._solutions = 0

    def at(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return expected logarithms and their derivatives."""
        key = logs.tobytes()
        if key not in self._known:
            if len(self._known) > 1:
                del self._known[next(iter(self._known))]
            self._known[key] = self._problem.forward.with_jacobian(logs, self._problem.prior.names)
            self._solutions += 1
            if self._progress is not None:
                self._progress("fitting", 1 - 0.8**self._solutions)
        return self._known[key]

    def residuals(self, point: Floats) -> Floats:
        """Return residuals of observations, parameters and starts, each over its standard deviation."""
        problem, logs, speeds = self._problem, point[: self._size], point[self._size :]
        expected = self.at(logs)[0] + problem.starts @ speeds
        ours = (expected - problem.targets) / problem.spread
        return np.concatenate([ours, self._whitener @ (logs - problem.prior.log_median), speeds / START_SPREAD])

    def jacobian(self, point: Floats) -> Floats:
        """Return the derivatives of the residuals by parameters and starts."""
        return stacked(self._problem, self.at(point[: self._size])[1])


def stacked(problem: Problem, jacobian: Floats) -> Floats:
    """Return the derivatives of all residuals, [observations + parameters + starts, parameters + starts]."""
    size, count = len(problem.prior.names), problem.starts.shape[1]
    seen = np.hstack([jacobian, problem.starts]) / problem.spread[:, None]
    before = np.hstack([problem.prior.whitener, np.zeros((size, count))])
    speeds = np.hstack([np.zeros((count, size)), np.eye(count) / START_SPREAD])
    return np.vstack([seen, before, speeds])
