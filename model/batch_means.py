"""Means, rates and ratios of autocorrelated series, with honest standard errors.

A series is cut into at most 64 batches of equal length; the batch means vary like the mean of the whole, times the
number of batches. What correlation is left between neighbouring batches is taken for that of a first-order
autoregression and widens the error by (1 + φ) / (1 - φ). Two further widenings are folded into the standard error,
so that value ± z · std_err holds the truth as often as stated: the quantile of Student's t over that of the normal
distribution, and a share of 16 / n for skewed series with few effective observations n
(docs/background/statistics.md has the coverage with and without).

Assumption: the series is stationary; `warmup` removes what comes before.

Source: Law and Kelton 2000, section 9.5 (batch means); Tafazzoli and Wilson 2011 (correction for correlation left
between batches).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimate import LEVEL, Estimate, Z

Floats = NDArray[np.floating[Any]]

BATCHES = 64
LEAST_BATCH = 4
"""Values in a batch, at least, while there are eight batches or more."""
MOST_CORRELATION = 0.9
"""Correlation between batches beyond which the correction does not go; such a series is too short to judge."""
SHRINKAGE = 0.3
"""Standard errors by which the correlation is lowered: its chance values count only when they are positive."""
SKEWNESS_WIDENING = 16.0
"""Effective observations at which the variance of a mean is doubled for skewness; from coverage on M/M/1 queues."""


def mean_estimate(values: Floats) -> Estimate:
    """Return the mean of an autocorrelated series; `n` is the effective sample size.

    >>> mean_estimate(np.tile([1.0, 3.0], 500)).value
    2.0
    """
    if values.size < 2:
        return Estimate(float(values[0]) if values.size else math.nan, math.inf, float(values.size))
    variance = mean_variance(batch_means(values))
    effective = float(values.size)
    if variance > 0.0:
        effective = float(min(effective, values.var() / variance))
    widened = variance * (1.0 + SKEWNESS_WIDENING / max(effective, 1.0))
    return Estimate(float(values.mean()), math.sqrt(widened), effective)


def rate_estimate(completion_times: Floats) -> Estimate:
    """Return completions per second from ascending times, by batches of equal time; `n` counts completions."""
    count = completion_times.size - 1
    if count < 1 or completion_times[-1] <= completion_times[0]:
        return Estimate(math.nan, math.inf, float(max(count, 0)))
    span_s = float(completion_times[-1] - completion_times[0])
    batches = _batch_count(count)
    if batches < 2:
        return Estimate(count / span_s, math.inf, float(count))
    edges = np.linspace(completion_times[0], completion_times[-1], batches + 1)
    rates = np.diff(np.searchsorted(completion_times, edges, side="right")) / (span_s / batches)
    return Estimate(count / span_s, math.sqrt(mean_variance(rates)), float(count))


def ratio_estimate(numerator: Floats, denominator: Floats) -> Estimate:
    """Return the ratio of the means of two series observed together, by the delta method on their residual.

    Source: Law and Kelton 2000, section 9.5 (ratio estimators of regenerative simulation).
    """
    below = float(denominator.mean()) if denominator.size else 0.0
    if below == 0.0:
        return Estimate(math.nan, math.inf, float(denominator.size))
    ratio = float(numerator.mean()) / below
    residual = mean_estimate(numerator - ratio * denominator)
    return Estimate(ratio, residual.std_err / abs(below), residual.n)


def batch_means(values: Floats) -> Floats:
    """Return the means of equal batches, [batches]; a remainder is left out at the beginning."""
    count = _batch_count(values.size)
    length = values.size // count
    return np.asarray(values[values.size - count * length :].reshape(count, length).mean(axis=1))


def mean_variance(means: Floats) -> float:
    """Return the variance of the mean of the whole from its batch means, widened for correlation and few batches."""
    count = means.size
    deviation = means - means.mean()
    squares = float(deviation @ deviation)
    if squares == 0.0:
        return 0.0
    correlation = float(deviation[1:] @ deviation[:-1]) / squares - SHRINKAGE / math.sqrt(count)
    correlation = min(max(correlation, 0.0), MOST_CORRELATION)
    plain = squares / ((count - 1) * count)
    return plain * (1.0 + correlation) / (1.0 - correlation) * _student_over_normal(count - 1) ** 2


def _batch_count(values: int) -> int:
    """Return the number of batches: all values for a handful, then batches of four, then 64 batches."""
    return min(BATCHES, max(values // LEAST_BATCH, min(values, 8)))


def _student_over_normal(degrees: int) -> float:
    """Return the quantile of Student's t over that of the normal distribution, at the level of every interval."""
    from scipy import special  # takes longer to load than an analysis to run

    return float(special.stdtrit(degrees, (1.0 + LEVEL) / 2.0)) / Z
