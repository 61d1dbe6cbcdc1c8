"""Quantiles of autocorrelated series, with standard errors that hold up in the tail.

The quantile q is an order statistic. How well the probability beyond it is known follows from the batch means of the
indicator of x <= q, as for any mean (`batch_means`), on a logarithmic scale because the tail is a small positive
number. The interval for the probability is read back through the order statistics, and its half-width becomes the
standard error. Where it reaches beyond the largest value, the tail is taken for exponential: as far above as below.

With t effective observations in the tail the variance is widened by 1 + 8 / t. Below one, or with fewer than two
values expected in the tail, the standard error is infinite (docs/background/statistics.md has the coverage).

Source: Woodruff 1952 (intervals for quantiles by inversion); Heidelberger and Lewis 1984 (the same on correlated
output of simulations); Hazen 1914 (interpolation between order statistics).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .batch_means import Floats, batch_means, mean_variance
from .estimate import Estimate, Z

TAIL_WIDENING = 8.0
"""Effective observations in the tail at which the variance is doubled; from coverage on M/M/1 queues."""
LEAST_IN_TAIL = 2.0
"""Values expected in the tail below which nothing is said."""
LEAST_EFFECTIVE_IN_TAIL = 1.0


def quantile_estimate(values: Floats, p: float) -> Estimate:
    """Return the quantile at probability `p` of an autocorrelated series; `n` is the effective sample size."""
    return quantile_estimates(values, (p,))[0]


def quantile_estimates(values: Floats, probabilities: Sequence[float]) -> tuple[Estimate, ...]:
    """Return several quantiles of one series, sorted once."""
    ascending = np.sort(values)
    return tuple(_estimate(values, ascending, p) for p in probabilities)


def _estimate(values: Floats, ascending: Floats, p: float) -> Estimate:
    if values.size == 0:
        return Estimate(math.nan, math.inf, 0.0)
    quantile, tail = _at(ascending, p), min(p, 1.0 - p)
    if values.size * tail < LEAST_IN_TAIL:
        return Estimate(quantile, math.inf, values.size * tail)
    variance = mean_variance(batch_means(_indicator(values, ascending, quantile, p)))
    if variance == 0.0:
        return Estimate(quantile, 0.0, float(values.size))
    effective = p * (1.0 - p) / variance
    if effective * tail < LEAST_EFFECTIVE_IN_TAIL:
        return Estimate(quantile, math.inf, effective)
    widened = variance * (1.0 + TAIL_WIDENING / (effective * tail))
    half_width = _half_width(ascending, p, Z * math.sqrt(widened) / tail)
    return Estimate(quantile, half_width / Z, min(effective, float(values.size)))


def _at(ascending: Floats, p: float) -> float:
    """Return the value at probability `p`, between the two order statistics around it."""
    place = min(max(p * ascending.size - 0.5, 0.0), ascending.size - 1.0)
    below = int(place)
    above = min(below + 1, ascending.size - 1)
    return float(ascending[below] + (place - below) * (ascending[above] - ascending[below]))


def _indicator(values: Floats, ascending: Floats, quantile: float, p: float) -> Floats:
    """Return 1 below the quantile, 0 above, and at ties the share that makes the mean `p`."""
    below = int(np.searchsorted(ascending, quantile, side="left"))
    ties = int(np.searchsorted(ascending, quantile, side="right")) - below
    if ties == 0:
        return (values < quantile).astype(np.float64)
    share = min(max((p * values.size - below) / ties, 0.0), 1.0)
    return np.asarray((values < quantile) + share * (values == quantile))


def _half_width(ascending: Floats, p: float, log_error: float) -> float:
    """Return half the distance between the quantiles at a tail larger and smaller by the factor exp(log_error)."""
    tail, least = min(p, 1.0 - p), 0.5 / ascending.size
    larger, smaller = min(tail * math.exp(min(log_error, 50.0)), 1.0 - least), tail * math.exp(-log_error)
    sign = 1.0 if p >= 0.5 else -1.0
    near, middle = sign * _beyond(ascending, larger, p), sign * _at(ascending, p)
    if smaller >= 2.0 * least:
        return (sign * _beyond(ascending, smaller, p) - near) / 2.0
    extreme = sign * float(ascending[-1] if p >= 0.5 else ascending[0])
    return max(middle - near, (extreme - near) / 2.0)


def _beyond(ascending: Floats, tail: float, p: float) -> float:
    return _at(ascending, 1.0 - tail if p >= 0.5 else tail)
