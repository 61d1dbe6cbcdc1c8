"""What is known of the parameters after a fit, and what each run would have been predicted as without it.

The model is taken as linear around the optimum, so that leaving runs out needs no new fit: with whitened Jacobian J,
residuals r and A = J'J + P (P the inverse of the prior's covariance), the residuals of a group G without it are
(I - H_GG)^-1 r_G with H = J A^-1 J'. Parameters and the speeds of starts are estimated
together.

Source: R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..model.network import Floats, Ints
from .least_squares import Optimum, Problem, stacked
from .starts import START_SPREAD


@dataclass(frozen=True)
class Posterior:
    """A problem at its optimum."""

    problem: Problem
    optimum: Optimum

    @cached_property
    def _scaled(self) -> Floats:
        """Derivatives of the observations over their spread, [observations, parameters + starts]."""
        rows = np.hstack([self.optimum.jacobian, self.problem.starts])
        return np.asarray(rows / self.problem.spread[:, None])

    @cached_property
    def _joint(self) -> Floats:
        """Covariance of parameters and starts, [parameters + starts, parameters + starts]."""
        rows = stacked(self.problem, self.optimum.jacobian)
        return np.asarray(np.linalg.inv(rows.T @ rows))

    @property
    def covariance(self) -> Floats:
        """Covariance of the parameters' logarithms, [parameters, parameters]."""
        size = len(self.problem.prior.names)
        return self._joint[:size, :size]

    @property
    def std_err(self) -> Floats:
        """Standard error of each parameter's logarithm, [parameters]."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def residuals(self) -> Floats:
        """Observed minus expected logarithms, each start at its own speed, [observations]."""
        return np.asarray(self.problem.targets - self.optimum.expected - self.problem.starts @ self.optimum.speeds)

    def reweighted(self, spread: Floats) -> Posterior:
        """Return the posterior for other spreads of the observations, by one step of the linear model."""
        problem = replace(self.problem, spread=spread)
        rows = stacked(problem, self.optimum.jacobian)
        size = len(problem.prior.names)
        before = problem.prior.whitener @ (self.optimum.logs - problem.prior.log_median)
        rest = np.concatenate([-self.residuals / spread, before, self.optimum.speeds / START_SPREAD])
        step = -np.linalg.lstsq(rows, rest, rcond=None)[0]
        moved = replace(
            self.optimum,
            logs=self.optimum.logs + step[:size],
            speeds=self.optimum.speeds + step[size:],
            expected=self.optimum.expected + self.optimum.jacobian @ step[:size],
        )
        return Posterior(problem, moved)

    def left_out(self, group: Ints) -> tuple[Floats, Floats]:
        """Return residuals of some observations had they not been fitted, and the variance of that prediction.

        The variance is that of the parameters alone, without the observations' own spread.
        """
        spread = self.problem.spread[group]
        rows = self._scaled[group]
        hat = rows @ self._joint @ rows.T
        apart = np.linalg.inv(np.eye(len(group)) - hat)
        without = self._joint + self._joint @ rows.T @ apart @ rows @ self._joint
        variance = np.einsum("ij,jk,ik->i", rows, without, rows) * spread**2
        return np.asarray(apart @ (self.residuals[group] / spread) * spread), np.asarray(variance)

    def variance_of(self, gradients: Floats) -> Floats:
        """Return the variance of logarithms with these derivatives [..., parameters]."""
        return np.asarray(np.einsum("...i,ij,...j->...", gradients, self.covariance, gradients))
