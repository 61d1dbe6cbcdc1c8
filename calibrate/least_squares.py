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


@dataclass(frozen=True)
class Optimum:
    """The best parameters found."""

    logs: Floats
    """[parameters]"""
    expected: Floats
    """[observations]"""
    jacobian: Floats
    """[observations, parameters]"""
    cost: float
    converged: bool
    evaluations: int


def minimise(problem: Problem, start: Floats, progress: Progress | None = None) -> Optimum:
    """Return the parameters at which observations and prior together are met best."""
    low, high = problem.prior.bounds()
    walk = _Walk(problem, progress)
    if not len(start):
        return Optimum(start, *walk.at(start), 0.0, True, 1)
    found = least_squares(
        walk.residuals,
        np.clip(start, low + 1e-6, high - 1e-6),
        jac=walk.jacobian,
        bounds=(low, high),
        xtol=TOLERANCE,
        ftol=TOLERANCE,
        max_nfev=MOST_EVALUATIONS,
    )
    expected, jacobian = walk.at(found.x)
    return Optimum(found.x, expected, jacobian, float(found.cost), bool(found.success), int(found.nfev))


class _Walk:
    """Residuals and Jacobian of a problem; both come from one solution of the forward model, kept until the next."""

    def __init__(self, problem: Problem, progress: Progress | None) -> None:
        self._problem = problem
        self._progress = progress
        self._whitener = problem.prior.whitener
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

    def residuals(self, logs: Floats) -> Floats:
        problem = self._problem
        ours = (self.at(logs)[0] - problem.targets) / problem.spread
        return np.concatenate([ours, self._whitener @ (logs - problem.prior.log_median)])

    def jacobian(self, logs: Floats) -> Floats:
        return np.vstack([self.at(logs)[1] / self._problem.spread[:, None], self._whitener])
