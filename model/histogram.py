"""Histograms of latencies in the HDR form, and the latencies they tell with intervals.

Resolution is 1 µs and three significant digits up to an hour; what lies above is counted apart, never clipped.
The interval of a percentile is that of order statistics: the ranks between which the wanted one lies with the
probability `estimate.LEVEL`, from the binomial distribution; with autocorrelated requests their effective number
takes the place of their number.

Source: G. Tene, HdrHistogram, encoding V2 (compressed, base64); order-statistic intervals: H. A. David and
H. N. Nagaraja, Order Statistics, section 7.1.
"""

from __future__ import annotations

import binascii
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik

from .errors import MeasurementError
from .estimate import LEVEL, Z
from .metrics import SHARES, STATISTICS, Latency, LatencyKind, LatencyStatistic, Quantity

LOWEST_US = 1
HIGHEST_US = 3_600_000_000
"""One hour: longer than any timeout of a driver or of Cassandra."""
SIGNIFICANT_DIGITS = 3
US_PER_S = 1e6
_ROUNDING = 1 - 1e-12
"""Keeps a whole rank whole when a product of floats lies a last digit above it."""


def _empty() -> HdrHistogram:
    return HdrHistogram(LOWEST_US, HIGHEST_US, SIGNIFICANT_DIGITS)


@dataclass(frozen=True)
class Histogram:
    """Counts of latencies by bucket."""

    encoded: str
    """Compressed, base64, as HDR tools exchange it; values in microseconds."""
    above_range: int = 0
    """Latencies above an hour, which are not in the buckets."""

    @cached_property
    def buckets(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Lowest and highest value in seconds, and count, each [buckets that are not empty].

        Raises:
            MeasurementError: a text that is no HDR histogram.
        """
        decoded = _decoded(self.encoded)
        counts = np.ctypeslib.as_array(decoded.counts).astype(np.int64)
        index = np.flatnonzero(counts)
        lowest_us, step_us = _bucket_us(decoded, index)
        return lowest_us / US_PER_S, (lowest_us + step_us - 1) / US_PER_S, counts[index]

    @property
    def n(self) -> int:
        """Number of latencies, those above the range included."""
        return int(self.buckets[2].sum()) + self.above_range

    def at_rank_s(self, rank: float) -> float | None:
        """Return the latency with `rank` latencies at or below it, as the upper end of its bucket.

        None is a latency above the range, or a rank above the number of latencies.
        """
        _, upper_s, count = self.buckets
        bucket = int(np.searchsorted(np.cumsum(count), math.ceil(rank * _ROUNDING)))
        return float(upper_s[bucket]) if bucket < len(upper_s) else None

    def quantile_s(self, share: float) -> float | None:
        """Return the latency that `share` of all do not exceed; None when it lies above the range."""
        return self.at_rank_s(max(1.0, share * self.n))


def _decoded(encoded: str) -> HdrHistogram:
    try:
        return HdrHistogram.decode(encoded)
    except (HdrCookieException, HdrLengthException, binascii.Error, zlib.error, struct.error, ValueError) as error:
        raise MeasurementError(f"no HDR histogram in compressed base64 form: {encoded[:24]!r}…") from error


def _bucket_us(histogram: HdrHistogram, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lowest value and width of buckets by index: each power of two is cut into equal steps."""
    power = np.maximum((index >> histogram.sub_bucket_half_count_magnitude) - 1, 0)
    step_us = np.left_shift(1, power + histogram.unit_magnitude)
    return (index - power * histogram.sub_bucket_half_count) * step_us, step_us


class HistogramRecorder:
    """Collects latencies and whole histograms, exactly."""

    def __init__(self) -> None:
        self._histogram = _empty()
        self._above_range = 0

    def record(self, latencies_s: ArrayLike, counts: ArrayLike = 1) -> None:
        """Add latencies in seconds, rounded to microseconds.

        Args:
            latencies_s: the latencies.
            counts: how often each was seen.

        Raises:
            MeasurementError: a latency that is negative or no number.
        """
        latencies = np.atleast_1d(np.asarray(latencies_s, dtype=np.float64))
        if not np.all(latencies >= 0):
            raise MeasurementError("a latency is negative or no number")
        weights = np.broadcast_to(np.asarray(counts, dtype=np.int64), latencies.shape)
        above = latencies * US_PER_S > HIGHEST_US
        self._above_range += int(weights[above].sum())
        values, place = np.unique(np.rint(latencies[~above] * US_PER_S).astype(np.int64), return_inverse=True)
        totals = np.zeros(len(values), dtype=np.int64)
        np.add.at(totals, place, weights[~above])
        for value, count in zip(values.tolist(), totals.tolist(), strict=True):
            self._histogram.record_value(value, count)

    def add(self, histogram: Histogram) -> None:
        """Add all counts of a histogram.

        Raises:
            MeasurementError: a text that is no HDR histogram, or one of another range that goes beyond an hour.
        """
        try:
            self._histogram.add(_decoded(histogram.encoded))
        except IndexError as error:
            raise MeasurementError("a histogram to be added reaches beyond an hour") from error
        self._above_range += histogram.above_range

    def finish(self) -> Histogram:
        """Return the counts so far."""
        return Histogram(self._histogram.encode().decode("ascii"), self._above_range)


def histogram_of(latencies_s: ArrayLike) -> Histogram:
    """Return the histogram of latencies in seconds."""
    recorder = HistogramRecorder()
    recorder.record(latencies_s)
    return recorder.finish()


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """Return the sum of histograms."""
    recorder = HistogramRecorder()
    for histogram in histograms:
        recorder.add(histogram)
    return recorder.finish()


def quantile(histogram: Histogram, share: float, effective_n: float | None = None) -> Quantity:
    """Return a quantile with its interval.

    Args:
        share: share of latencies at or below it.
        effective_n: number of independent requests that tell as much; their number when not given.
    """
    n, value_s = histogram.n, histogram.quantile_s(share)
    if n == 0:
        return Quantity.absent("no requests")
    if value_s is None:
        return Quantity.absent(f"{histogram.above_range} of {n} latencies are above an hour")
    low, high = _ranks(share, n if effective_n is None else min(effective_n, n))
    low_s = histogram.at_rank_s(low * n) if low > 0 else None
    high_s = histogram.at_rank_s(high * n) if high <= 1 else None
    missing = None if low_s is not None and high_s is not None else f"too few requests for both ends ({n})"
    return Quantity(value=value_s, low=low_s, high=high_s, reason=missing)


def _ranks(share: float, n: float) -> tuple[float, float]:
    """Return the ranks between which a quantile lies, as shares of `n`; below 0 or above 1 there is none."""
    tail = (1 - LEVEL) / 2
    low = np.ceil(bdtrik(tail, n, share)) if (1 - share) ** n < tail else 0.0
    return min(float(low) / n, share), float(np.ceil(bdtrik(1 - tail, n, share)) + 1) / n


def mean(histogram: Histogram, effective_n: float | None = None) -> Quantity:
    """Return the mean latency with its interval, from the middles of the buckets."""
    lowest_s, highest_s, count = histogram.buckets
    n = histogram.n
    if n == 0 or histogram.above_range:
        return Quantity.absent(f"{histogram.above_range} of {n} latencies are above an hour" if n else "no requests")
    middle_s = (lowest_s + highest_s) / 2
    mean_s = float(np.average(middle_s, weights=count))
    variance_s2 = float(np.average((middle_s - mean_s) ** 2, weights=count))
    half_s = Z * math.sqrt(variance_s2 / (n if effective_n is None else min(effective_n, n)))
    return Quantity(value=mean_s, low=max(0.0, mean_s - half_s), high=mean_s + half_s)


def latency_of(
    histogram: Histogram,
    kind: LatencyKind,
    statistic: LatencyStatistic = LatencyStatistic.OVER_REQUESTS,
    effective_n: float | None = None,
) -> Latency:
    """Return mean and percentiles of a histogram."""
    figures = {
        name: mean(histogram, effective_n) if name == "mean" else quantile(histogram, SHARES[name], effective_n)
        for name in STATISTICS
    }
    return Latency(kind=kind, statistic=statistic, **figures)
