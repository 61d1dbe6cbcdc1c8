"""Discrepancy: how far measurements lie from the model beyond their own noise, learnt by leaving runs out.

All runs of one structure (same cluster, mix and routing, other numbers in flight) are left out together where there
are enough structures, because a calibration is there to predict clusters it has not seen. The discrepancy is the
standard deviation that makes the left-out residuals as large as they should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.network import Floats, Ints
from .observation import CPU, THROUGHPUT, Observation
from .posterior import Posterior

FEWEST_STRUCTURES = 4
"""Structures below which single runs are left out instead."""
UNKNOWN = 0.15
"""Discrepancy where fewer than `FEWEST_RUNS` runs can be left out. Source: lab-fidelity.md, section 6: 90 % of the
study's own cells within 20 %, 10 % between starts of a cluster."""
FEWEST_RUNS = 3
ALREADY = 3
"""Runs that what is known before (`UNKNOWN`) counts for, beside those that were left out."""
FIRST_GUESS = 0.05
"""Discrepancy with which a fit begins. Source: lab-fidelity.md, section 10: 4.2 % in the median on its own cells."""
LEVEL_KINDS = (THROUGHPUT, CPU)

Group = Callable[[Observation], int]


@dataclass(frozen=True)
class LeftOut:
    """Residuals of observations as they were predicted without their group."""

    residual: Floats
    """[observations]: observed minus predicted, logarithms; not a number where not left out."""
    variance: Floats
    """[observations]: variance of that prediction by the parameters."""


def groups_of(observations: Sequence[Observation], structure_of: Sequence[int]) -> Group:
    """Return what is left out together: structures where there are enough, single runs otherwise.

    Args:
        observations: what is predicted.
        structure_of: number of the structure of each run, [runs].
    """
    found = {structure_of[one.run] for one in observations}
    if len(found) >= FEWEST_STRUCTURES:
        return lambda one: structure_of[one.run]
    return lambda one: one.run


def leave_out(posterior: Posterior, observations: Sequence[Observation], group: Group) -> LeftOut:
    """Predict every observation without its group."""
    numbers = np.array([group(one) for one in observations], dtype=np.int64)
    residual, variance = np.full(len(numbers), np.nan), np.full(len(numbers), np.nan)
    for number in np.unique(numbers):
        which: Ints = np.flatnonzero(numbers == number)
        residual[which], variance[which] = posterior.left_out(which)
    return LeftOut(residual, variance)


def discrepancy(left_out: LeftOut, noise: Floats, which: Floats) -> float:
    """Return the standard deviation beyond parameters and noise of some observations.

    Args:
        left_out: residuals and the parameters' part of their variance.
        noise: standard error of each observation by itself, [observations].
        which: mask of the observations that count.
    """
    chosen = np.asarray(which, dtype=bool)
    if np.count_nonzero(chosen) < FEWEST_RUNS:
        return UNKNOWN
    found = excess(left_out.residual[chosen], left_out.variance[chosen] + noise[chosen] ** 2)
    return _with_known(found, int(np.count_nonzero(chosen)), UNKNOWN)


def gain_discrepancy(
    left_out: LeftOut, noise: Floats, pairs: Sequence[tuple[int, int]], throughput: float
) -> float:
    """Return the standard deviation of measured over predicted gains by one node, beyond noise.

    Args:
        left_out: residuals of the observations.
        noise: standard error of each observation by itself, [observations].
        pairs: observations that differ by one node and nothing else.
        throughput: discrepancy of a single throughput; that of a gain where too few pairs are known (as for two
            errors that are half in common).
    """
    if len(pairs) < FEWEST_RUNS:
        return throughput
    smaller, larger = np.array(pairs).T
    difference = left_out.residual[larger] - left_out.residual[smaller]
    found = excess(difference, noise[larger] ** 2 + noise[smaller] ** 2)
    return _with_known(found, len(pairs), throughput)


def _with_known(found: float, n: int, known: float) -> float:
    """Return a standard deviation from so many runs, joined by what is known before."""
    return math.sqrt((n * found**2 + ALREADY * known**2) / (n + ALREADY))


def excess(residual: Floats, variance: Floats) -> float:
    """Return t such that the squares of the residuals over (variance + t^2) average 1; 0 where they are small enough.

    >>> round(excess(np.array([0.2, -0.2]), np.array([0.0, 0.0])), 6)
    0.2
    """
    low, high = 0.0, float(np.abs(residual).max())
    if np.mean(residual**2 / np.maximum(variance, 1e-12)) <= 1:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        large = np.mean(residual**2 / (variance + middle**2)) > 1
        low, high = (middle, high) if large else (low, middle)
    return (low + high) / 2


def is_level(observations: Sequence[Observation]) -> Floats:
    """Return which observations are throughputs and costs, [observations] of truth."""
    return np.array([one.what in LEVEL_KINDS for one in observations])


def is_statistic(observations: Sequence[Observation], name: str) -> Floats:
    """Return which observations are of a statistic of latency, [observations] of truth."""
    return np.array([one.what == name for one in observations])
