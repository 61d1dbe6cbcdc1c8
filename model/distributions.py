"""Quantiles of gamma distributions and of their mixtures, given means and variances.

Mean-value analysis gives a mean and a variance for each way a request can go; the distribution of each is read as a
gamma distribution and that of all requests as their mixture. A variance of zero is a constant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .gamma_table import LARGEST_SHAPE, TINY_S, Floats, gammas

BEYOND = 0.05
"""How far beyond the tabled quantiles of the parts, in the logarithm, that of the mixture is looked for."""
HALVINGS = 22
"""Steps of the bisection in the logarithm: below 1e-5 even when the quantiles of the parts span 18 decades."""


def gamma_quantile(mean: ArrayLike, variance: ArrayLike, p: ArrayLike) -> Floats:
    """Return the quantile at probability `p`; the three arguments are broadcast against each other.

    >>> round(float(gamma_quantile(2.0, 4.0, 0.5)), 6)  # exponential: 2 ln 2
    1.386294
    """
    from scipy import special  # takes longer to load than an analysis to run

    means, spreads = np.asarray(mean, dtype=float), np.sqrt(np.maximum(np.asarray(variance, dtype=float), 0.0))
    ratio = np.maximum(spreads / np.maximum(means, TINY_S), LARGEST_SHAPE**-0.5)
    return np.asarray(means * ratio**2 * special.gammaincinv(ratio**-2.0, p))


def mixture_quantile(weights: Floats, means: Floats, variances: Floats, p: float) -> Floats:
    """Return the quantile of mixtures of gamma distributions.

    Args:
        weights: Shares of the parts, [..., parts]; their sum is 1.
        means: Means of the parts, [..., parts].
        variances: Variances of the parts, [..., parts].
        p: Probability, between 0 and 1.

    Returns:
        The times below which lies probability `p`, [...], to about 0.5 %.
    """
    parts = gammas(np.asarray(means, dtype=float), np.asarray(variances, dtype=float))
    ends = parts.log_quantile(p)
    counted = weights > 0
    low = np.where(counted, ends, np.inf).min(axis=-1) - BEYOND
    high = np.where(counted, ends, -np.inf).max(axis=-1) + BEYOND
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = (weights * parts.cdf_at_log(middle[..., None, None])[..., 0]).sum(axis=-1) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.exp(0.5 * (low + high)))
