"""What ends a run before its time: latency or errors beyond a limit, or a precision that is reached.

A stop condition holds when it has held for `PATIENCE_S`, so that a single collection or flush ends nothing.

The run length comes from a pilot: the first part of the measured time tells the relative error of what is wanted,
which falls with the square root of the time. The error counts autocorrelation; a pilot guesses it from few intervals,
so the error is looked at again when the planned time is over, and the run goes on while it is too large.

Source: C. Stein, A two-sample test for a linear hypothesis whose power is independent of the variance, Annals of
Mathematical Statistics 16 (1945).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model.batch_means import mean_estimate
from ...model.errors import InputError, Problem
from ...model.estimate import Z
from ...model.histogram import quantile
from ...model.objective import Objective
from ...model.units import format_duration
from .buckets import NOTHING, added, histogram
from .interval import Interval
from .spread import effective_number

PATIENCE_S = 1.0
PILOT_INTERVALS = 20
"""Intervals of a pilot: enough for an error within a third or so of itself."""
MOST_GROWTH = 4.0
"""Factor by which one look may lengthen a run; the error of a short pilot is not trusted further."""
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
FEWEST_REQUESTS = 20
"""Requests in the latest stretch below which its percentiles say nothing."""


@dataclass(frozen=True)
class StopConditions:
    """When a run is given up."""

    latency: Objective | None = None
    """A limit on the response or service time of all operations together; the mean is no such limit."""
    error_ratio: float | None = None
    """Failed requests over all."""

    def reason(self, measured: Sequence[Interval]) -> str | None:
        """Return why a run is to end now, None when it may go on."""
        latest = _latest(measured)
        if not latest:
            return None
        failed = sum(sum(interval.errors.values()) for interval in latest)
        answers = sum(interval.answers for interval in latest)
        if self.error_ratio is not None and failed > self.error_ratio * (failed + answers) and failed:
            return f"{failed / (failed + answers):.1%} of the requests failed, more than {self.error_ratio:.1%}"
        if self.latency is not None and answers >= FEWEST_REQUESTS:
            whole = added(interval.all_latencies for interval in latest)
            found_s = whole.quantile_s(QUANTILES[self.latency.statistic])
            if found_s is None or found_s > self.latency.limit_s:
                told = "above an hour" if found_s is None else format_duration(found_s)
                return f"{self.latency.statistic} was {told}, not {self.latency} as wanted"
        return None


def _latest(measured: Sequence[Interval]) -> list[Interval]:
    """Return the intervals of the last `PATIENCE_S`; none when the run is shorter."""
    ended_s = measured[-1].ended_s if measured else 0.0
    if not measured or ended_s - measured[0].began_s < PATIENCE_S - 1e-6:
        return []
    return [interval for interval in measured if interval.ended_s > ended_s - PATIENCE_S + 1e-6]


@dataclass(frozen=True)
class Precision:
    """How well something is to be known."""

    ratio: float
    """Half of the 90 % interval, relative."""
    statistic: str = "rate"
    """`rate`, or a percentile of all operations together."""

    def __post_init__(self) -> None:
        if not 0 < self.ratio < 1 or self.statistic not in ("rate", *QUANTILES):
            right = f"a share below 1 of rate, {', '.join(QUANTILES)}, such as 2% or p99=5%"
            raise InputError([Problem("--precision", f"{self.statistic}={self.ratio}", right)])

    def error(self, measured: Sequence[Interval]) -> float:
        """Return half of the interval so far, relative; infinite when it cannot be told."""
        if self.statistic == "rate":
            rates = [interval.rate_per_s for interval in measured]
            return Z * mean_estimate(np.asarray(rates)).relative_error if len(rates) > 1 else math.inf
        parts = [interval.all_latencies for interval in measured]
        whole = histogram(added(parts) if parts else NOTHING)
        figure = quantile(whole, QUANTILES[self.statistic], effective_number(parts))
        if figure.value is None or figure.low is None or figure.high is None:
            return math.inf
        return (figure.high - figure.low) / 2 / figure.value

    def wanted_s(self, measured: Sequence[Interval], span_s: float) -> float:
        """Return the measured time that the wanted precision needs, as far as the run so far tells."""
        growth = (self.error(measured) / self.ratio) ** 2
        return span_s * min(growth, MOST_GROWTH) if growth > 1 else span_s
