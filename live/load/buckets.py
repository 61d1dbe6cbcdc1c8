"""The buckets of an HDR histogram as arithmetic on whole arrays, so that recording does not hold the load up.

The classic recorder takes a microsecond a value; a load of ten thousand a second would pause ten milliseconds each
second for it, and would find that pause in its own p99. Here ten thousand values take a fifth of a millisecond, and
only buckets that are not empty are kept and sent. `histogram` gives the exchange form of `model.histogram`, exactly.

Source: the bucket layout of G. Tene's HdrHistogram: for three significant digits, values below 2,048 have a bucket
each; above, every doubling is cut into 1,024 equal steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import ArrayLike, NDArray

from ...model.histogram import HIGHEST_US, LOWEST_US, SIGNIFICANT_DIGITS, US_PER_S, Histogram

Counts = NDArray[np.int64]
_HALF_BITS = 10
"""Logarithm of the number of steps of a doubling, for three significant digits."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Latencies counted by bucket; empty buckets are left out."""

    index: Counts
    """Ascending, [buckets]."""
    count: Counts
    """[buckets]."""
    above_range: int = 0
    """Latencies above an hour."""

    @property
    def n(self) -> int:
        """Number of latencies."""
        return int(self.count.sum()) + self.above_range

    def values_s(self) -> NDArray[np.float64]:
        """Return the middle of each bucket in seconds, [buckets]."""
        lowest_us, step_us = bucket_us(self.index)
        return np.asarray((lowest_us + (step_us - 1) / 2) / US_PER_S)

    def quantile_s(self, share: float) -> float | None:
        """Return the latency that `share` of all do not exceed, None when there is none or it is above the range."""
        rank = np.ceil(share * self.n)
        place = int(np.searchsorted(np.cumsum(self.count), max(rank, 1)))
        if place >= self.index.size:
            return None
        lowest_us, step_us = bucket_us(self.index[place])
        return float(lowest_us + step_us - 1) / US_PER_S

    def mean_s(self) -> float | None:
        """Return the mean of the latencies within range, None when there is none."""
        total = int(self.count.sum())
        return float(self.values_s() @ self.count) / total if total else None


NOTHING = Tally(np.zeros(0, np.int64), np.zeros(0, np.int64))


def tally(latencies_s: ArrayLike) -> Tally:
    """Count latencies in seconds by bucket, rounded to microseconds as the exchange form has them."""
    values_us = np.rint(np.asarray(latencies_s, dtype=np.float64) * US_PER_S)
    within = values_us <= HIGHEST_US
    index, count = np.unique(bucket_index(values_us[within].astype(np.int64)), return_counts=True)
    return Tally(index, count, int(values_us.size - within.sum()))


def bucket_index(values_us: Counts) -> Counts:
    """Return the bucket of each value in microseconds, [values]."""
    power = np.maximum(_bit_length(values_us) - (_HALF_BITS + 1), 0)
    return (power << _HALF_BITS) + (values_us >> power)


def _bit_length(values: Counts) -> Counts:
    """Return how many bits each value has; exact, because an hour in microseconds fits a float's mantissa."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def bucket_us(index: ArrayLike) -> tuple[Counts, Counts]:
    """Return lowest value and width of buckets in microseconds, each [buckets]."""
    buckets = np.asarray(index, dtype=np.int64)
    power = np.maximum((buckets >> _HALF_BITS) - 1, 0)
    return (buckets - (power << _HALF_BITS)) << power, np.left_shift(1, power)


def added(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies."""
    parts = list(tallies)
    if not parts:
        return NOTHING
    index, place = np.unique(np.concatenate([part.index for part in parts]), return_inverse=True)
    weights = np.concatenate([part.count for part in parts])
    count = np.zeros(index.size, np.int64)
    np.add.at(count, place, weights)
    return Tally(index, count, sum(part.above_range for part in parts))


def histogram(counted: Tally) -> Histogram:
    """Return a tally in the exchange form."""
    whole = HdrHistogram(LOWEST_US, HIGHEST_US, SIGNIFICANT_DIGITS)
    lowest_us, _ = bucket_us(counted.index)
    for value, count in zip(lowest_us.tolist(), counted.count.tolist(), strict=True):
        whole.record_value(value, count)
    return Histogram(whole.encode().decode("ascii"), counted.above_range)
