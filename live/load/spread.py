"""How many independent requests tell as much as those of a run, which follow each other in bursts and lulls.

The variance of a mean over the run comes from the intervals (batch means); divided into the variance over requests
it gives an effective number. It is taken for the mean and for the shares above the median and above p99, and the
least of the three counts, so that the interval of no percentile is too narrow.

Source: docs/background/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...model.batch_means import Floats, ratio_estimate
from .buckets import Tally, added

FEWEST_INTERVALS = 8


def effective_number(intervals: Sequence[Tally]) -> float | None:
    """Return the effective number of requests, None when there are too few intervals to tell."""
    whole = added(intervals)
    if len(intervals) < FEWEST_INTERVALS or whole.count.sum() < 2:
        return None
    functions = [_latency(whole), _above(whole, 0.5), _above(whole, 0.99)]
    found = [_effective(intervals, whole, values) for values in functions]
    return max(1.0, min(float(whole.n), *found))


def _latency(whole: Tally) -> Floats:
    return whole.values_s()


def _above(whole: Tally, share: float) -> Floats:
    """Return 1 for the buckets above a quantile and 0 for the others."""
    return (whole.values_s() > (whole.quantile_s(share) or math.inf)).astype(np.float64)


def _effective(intervals: Sequence[Tally], whole: Tally, values: Floats) -> float:
    """Return the effective number for the mean of a function of the latency, given by bucket of the whole."""
    total = whole.count.sum()
    mean = float(values @ whole.count) / total
    variance = float((values - mean) ** 2 @ whole.count) / total
    sums = np.array([float(values[np.searchsorted(whole.index, part.index)] @ part.count) for part in intervals])
    counts = np.array([float(part.count.sum()) for part in intervals])
    std_err = ratio_estimate(sums, counts).std_err
    return variance / std_err**2 if std_err > 0 and variance > 0 else math.inf
