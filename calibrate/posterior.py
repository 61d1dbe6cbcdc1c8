"""What is known of the parameters after a fit, and what each run would have been predicted as without it.

The model is taken as linear around the optimum, so that leaving runs out needs no new fit: with whitened Jacobian J,
residuals r and A = J'J + P (P the inverse of the prior's covariance), the residuals of a group G without it are
(I - H_GG)^-1 r_G with H = J A^-1 J'.

Source: R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.network import Floats, Ints
from .least_squares import Optimum, Problem


@dataclass(frozen=True)
class Posterior:
    """A problem at its optimum."""

    problem: Problem
    optimum: Optimum

    @cached_property
    def _scaled(self) -> Floats:
        """Jacobian over the spread, [observations, parameters]."""
        return np.asarray(self.optimum.jacobian / self.problem.spread[:, None])

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the parameters' logarithms, [parameters, parameters]."""
        whitener = self.problem.prior.whitener
        return np.asarray(np.linalg.inv(self._scaled.T @ self._scaled + whitener.T @ whitener))

    @property
    def std_err(self) -> Floats:
        """Standard error of each parameter's logarithm, [parameters]."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def residuals(self) -> Floats:
        """Observed minus expected logarithms, [observations]."""
        return np.asarray(self.problem.targets - self.optimum.expected)

    def left_out(self, group: Ints) -> tuple[Floats, Floats]:
        """Return residuals of some observations had they not been fitted, and the variance of that prediction.

        The variance is that of the parameters alone, without the observations' own spread.
        """
        spread = self.problem.spread[group]
        rows = self._scaled[group]
        hat = rows @ self.covariance @ rows.T
        apart = np.linalg.inv(np.eye(len(group)) - hat)
        without = self.covariance + self.covariance @ rows.T @ apart @ rows @ self.covariance
        variance = np.einsum("ij,jk,ik->i", rows, without, rows) * spread**2
        return np.asarray(apart @ (self.residuals[group] / spread) * spread), np.asarray(variance)

    def variance_of(self, gradients: Floats) -> Floats:
        """Return the variance of logarithms with these derivatives [..., parameters]."""
        return np.asarray(np.einsum("...i,ij,...j->...", gradients, self.covariance, gradients))
