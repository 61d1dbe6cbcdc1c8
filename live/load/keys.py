"""Which partitions a load asks for: draws by the four laws of popularity, the same ones for the same seed.

The hottest partition has number 0, except under `latest`, where it is the youngest, which has the highest number.
Partitions are not added during a run, so `latest` here is a fixed order by age.

Source: rejection-inversion for Zipf's law over a finite number of ranks: W. Hörmann and G. Derflinger,
"Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6 (1996).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model.workload import Popularity, Workload

Ranks = NDArray[np.int64]
Floats = NDArray[np.float64]
KEY_BYTES = 8


def key_of(partition: int) -> bytes:
    """Return the key of a partition: its number as eight bytes."""
    return partition.to_bytes(KEY_BYTES, "big")


def draw_partitions(workload: Workload, rng: np.random.Generator, count: int) -> Ranks:
    """Return the numbers of the partitions that `count` requests ask for, [count]."""
    popularity, partitions = workload.popularity, workload.partitions
    if popularity.kind == "uniform":
        return rng.integers(partitions, size=count)
    if popularity.kind == "hot_set":
        return _hot_set(popularity, partitions, rng, count)
    ranks = zipf_ranks(popularity.exponent, partitions, rng, count)
    return ranks - 1 if popularity.kind == "zipf" else partitions - ranks


def _hot_set(popularity: Popularity, partitions: int, rng: np.random.Generator, count: int) -> Ranks:
    hot = min(popularity.hot_partitions, partitions)
    in_hot = rng.uniform(size=count) < (popularity.hot_share if hot < partitions else 1.0)
    cold = rng.integers(hot, max(partitions, hot + 1), size=count)
    return np.where(in_hot, rng.integers(hot, size=count), cold)


def zipf_ranks(exponent: float, most: int, rng: np.random.Generator, count: int) -> Ranks:
    """Return ranks 1 … most with probability in proportion to rank ** -exponent, [count].

    Each try inverts the integral H of x ** -exponent at a uniform point, rounds to a rank k, and keeps it when the
    point lies within the last k ** -exponent below H(k + 1/2).
    """
    lowest, highest = _area(1.5, exponent) - 1.0, _area(most + 0.5, exponent)
    found: list[Ranks] = []
    missing = count
    while missing > 0:
        area = rng.uniform(lowest, highest, size=missing + missing // 8 + 8)
        rank = np.clip(np.rint(_inverse(area, exponent)), 1, most)
        kept = rank[area >= _area(rank + 0.5, exponent) - rank**-exponent].astype(np.int64)
        found.append(kept[:missing])
        missing -= found[-1].size
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _area(x: Floats | float, exponent: float) -> Floats:
    """Return the integral of t ** -exponent from 1 to x."""
    logarithm = np.log(np.asarray(x, dtype=np.float64))
    power = (1.0 - exponent) * logarithm
    safe = np.where(power == 0, 1.0, power)
    return np.asarray(logarithm * np.where(np.abs(power) < 1e-12, 1.0, np.expm1(safe) / safe))


def _inverse(area: Floats, exponent: float) -> Floats:
    """Return x whose area is given."""
    power = (1.0 - exponent) * area
    safe = np.where(power == 0, 1.0, power)
    return np.asarray(np.exp(area * np.where(np.abs(power) < 1e-12, 1.0, np.log1p(safe) / safe)))
