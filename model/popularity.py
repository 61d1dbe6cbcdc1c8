"""Which share of the requests falls into each range of the ring.

Uniform keys fall by width, because the partitioner hashes them evenly. Under skew the hottest partitions are
placed one by one, each at a random position; the rest falls by width.

How many one by one: the load that the rest puts into a part w of the ring scatters with standard deviation
sqrt(w (1 - w) · Σ p²), summed over its partitions. With `ONE_BY_ONE` of them taken out of 10 million, a
node's share scatters by less than 0.3 % at 12 nodes and 1.2 % at 192 for every exponent; with the hottest
left in, by 20 % and more. Members of a hot set are alike, and drawn together as one multinomial.
Assumptions: partitions are alike in size, and uniform keys are so many that they fall by width (10,000
partitions on 12 nodes would scatter a node's share by 3 %).
Source: the four laws are those of B. F. Cooper et al., "Benchmarking cloud serving systems with YCSB" (2010).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .ring import Ring
from .tally import tally
from .workload import Workload

Floats = NDArray[np.float64]
ONE_BY_ONE = 10_000
"""Partitions placed one by one under a Zipf law."""
_SUMMED = 1_000
"""Ranks of the Zipf sum that are added up one by one; the formula for the rest is exact to 1e-12 there."""


def zipf_sum(count: int, exponent: float) -> float:
    """Return the sum of rank ** -exponent over ranks 1 … count.

    Source: Euler and Maclaurin's formula, to its first derivative term.

    >>> round(zipf_sum(4, 1.0), 6) == round(1 + 1 / 2 + 1 / 3 + 1 / 4, 6)
    True
    """
    head = min(count, _SUMMED)
    total = float(np.sum(np.arange(1, head + 1, dtype=np.float64) ** -exponent))
    if count == head:
        return total
    a, b = float(head), float(count)
    power = 1 - exponent
    integral = math.log(b / a) if exponent == 1 else (b**power - a**power) / power
    ends = (math.pow(b, -exponent) - math.pow(a, -exponent)) / 2
    slopes = exponent * (math.pow(a, -exponent - 1) - math.pow(b, -exponent - 1)) / 12
    return float(total + integral + ends + slopes)


def partition_share(workload: Workload, rank: ArrayLike) -> Floats:
    """Return the share of requests for the partition of a rank, counted from 1 for the hottest.

    `latest` is Zipf by age: rank 1 is the youngest partition.
    """
    ranks = np.asarray(rank, dtype=np.float64)
    popularity = workload.popularity
    if popularity.kind == "uniform":
        return np.full(ranks.shape, 1 / workload.partitions)
    if popularity.kind == "hot_set":
        hot = min(popularity.hot_partitions, workload.partitions)
        cold = workload.partitions - hot
        hot_share = popularity.hot_share if cold else 1.0
        return np.where(ranks <= hot, hot_share / hot, (1 - hot_share) / max(cold, 1))
    return np.asarray(ranks**-popularity.exponent / zipf_sum(workload.partitions, popularity.exponent))


def range_weights(ring: Ring, workload: Workload, rng: np.random.Generator) -> Floats:
    """Return the share of requests whose key falls into each range, [ranges]; they add up to 1.

    Args:
        ring: the ring.
        workload: partitions and their popularity.
        rng: where the hot partitions lie.
    """
    widths = ring.shares()
    kind = workload.popularity.kind
    if kind == "uniform":
        return widths
    return _hot_set(widths, workload, rng) if kind == "hot_set" else _zipf(widths, workload, rng)


def _hot_set(widths: Floats, workload: Workload, rng: np.random.Generator) -> Floats:
    """Place the hot partitions, which are all alike: how many fall into each range is multinomial."""
    hot = min(workload.popularity.hot_partitions, workload.partitions)
    hot_share = float(partition_share(workload, 1)) * hot
    counts = rng.multinomial(hot, widths / widths.sum())
    return np.asarray(counts * (hot_share / hot) + (1 - hot_share) * widths)


def _zipf(widths: Floats, workload: Workload, rng: np.random.Generator) -> Floats:
    hottest = np.arange(1, min(ONE_BY_ONE, workload.partitions) + 1)
    shares = partition_share(workload, hottest)
    where = np.searchsorted(np.cumsum(widths), rng.uniform(size=hottest.size))
    placed = tally(np.minimum(where, widths.size - 1), shares, widths.size)
    return placed + max(0.0, 1 - float(shares.sum())) * widths
