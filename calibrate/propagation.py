"""How errors of what was measured become errors of parameters, and correlations between them.

First order in the logarithms: with J the derivatives of the logarithms of the parameters by the logarithms of the
measured figures, and C the covariance of the latter, the covariance of the parameters is J C Jᵀ.

Source: Bevington and Robinson, "Data Reduction and Error Analysis", chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.calibration import Correlation, Parameter
from ..model.network import Floats

STEP = 1e-5
"""Step of the logarithm in a derivative."""
DIGITS = 4
"""Significant digits of values in a profile, decimals of its correlations."""
PROPER = 0.998
"""Factor on correlations that keeps the matrix positive when parameters move together and are rounded."""
MESSAGE_ENDS = 4
"""Ends of the two messages of a hop, taken to cost alike."""

Derivation = Callable[[Mapping[str, float]], dict[str, float]]
"""From figures by name to parameters by name, all positive."""


@dataclass(frozen=True)
class Propagated:
    """Parameters with the covariance of their logarithms."""

    values: dict[str, float]
    log_covariance: Floats
    """[parameters, parameters]"""

    @property
    def log_std(self) -> dict[str, float]:
        """Standard deviation of the logarithm of each parameter."""
        return dict(zip(self.values, np.sqrt(np.diag(self.log_covariance)).tolist(), strict=True))

    def correlation(self) -> Correlation:
        """Return the correlations of the logarithms, rounded."""
        std = np.sqrt(np.diag(self.log_covariance))
        matrix = np.round(PROPER * self.log_covariance / np.outer(std, std), DIGITS)
        np.fill_diagonal(matrix, 1.0)
        return Correlation(names=tuple(self.values), matrix=tuple(map(tuple, matrix.tolist())))

    def parameter(self, name: str, source: str, rows: Sequence[str], least_log_std: float, valid: str) -> Parameter:
        """Return one parameter for a profile, its error at least so large."""
        value = rounded(self.values[name])
        error = rounded(value * max(self.log_std[name], least_log_std))
        unit = "s" if name.endswith("_s") else "1"
        return Parameter(value=value, std_err=error, unit=unit, source=source, rows=tuple(rows), valid=valid)


def propagate(figures: Mapping[str, float], log_covariance: Floats, derive: Derivation) -> Propagated:
    """Return the parameters that follow from figures, with the covariance of their logarithms.

    Args:
        figures: what was measured, by name.
        log_covariance: covariance of the logarithms of the figures, [figures, figures].
        derive: gives the parameters.
    """
    values = derive(figures)
    centre = np.log(list(values.values()))
    moved = [derive({**figures, name: value * np.exp(STEP)}) for name, value in figures.items()]
    jacobian = np.array([(np.log(list(each.values())) - centre) / STEP for each in moved]).T
    return Propagated(values, np.asarray(jacobian @ log_covariance @ jacobian.T))


def rounded(value: float) -> float:
    """Return a value with `DIGITS` significant digits.

    >>> rounded(0.000123456)
    0.0001235
    """
    return float(f"{value:.{DIGITS}g}")
