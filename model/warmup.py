"""The warm-up of a series: how many values to leave out at the beginning, and whether the rest is steady.

MSER-5: the series is averaged in groups, and the best cut is where the variance of what remains, divided by its
length once more, is least. Groups hold five values, and more in long series, so that there are at most two thousand:
the rule is meant for groups that are nearly independent. Twice the best cut is left out: the rule weighs the bias of
a slow decay against the variance and leaves some of the bias in, and on a steady series it likes to cut off a high
beginning (docs/background/statistics.md has the figures).

A series is steady when the best cut lies in its first half and the two halves of what remains have like means.

Source: White 1997 (marginal standard error rule); White, Cobb and Spratt 2000 (groups of five); Schruben 1982 (a
test that no trend remains).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .batch_means import Floats, mean_estimate

GROUP = 5
MOST_GROUPS = 2_000
LEAST_GROUPS = 10
"""Groups below which a series is too short to judge: nothing is cut, and it is not called steady."""
TRAILING_GROUPS = 5
"""Groups at the end that are no candidates: the variance of a few says nothing."""
SAFETY = 2
"""Length left out over the best cut."""
DRIFT = 3.3
"""Standard errors between the halves of what remains, beyond which it drifts: one steady series in a thousand."""


@dataclass(frozen=True)
class WarmUp:
    """How a series begins."""

    length: int
    """Values to leave out; at most half of the series."""
    steady: bool
    """Whether the series settles in its first half and does not drift afterwards."""


def warmup_length(series: Floats) -> WarmUp:
    """Return how many values to leave out at the beginning of a series, and whether it settles at all."""
    size = max(GROUP, -(-series.size // MOST_GROUPS))
    groups = series.size // size
    if groups < LEAST_GROUPS:
        return WarmUp(0, False)
    means = series[: groups * size].reshape(groups, size).mean(axis=1)
    best = int(np.argmin(_marginal_errors(means)[: groups - TRAILING_GROUPS]))
    cut = min(SAFETY * best, groups // 2)
    return WarmUp(cut * size, best <= groups // 2 and not _drifts(means[cut:]))


def _drifts(means: Floats) -> bool:
    """Return whether the two halves of a series differ by more than chance."""
    middle = means.size // 2
    first, last = mean_estimate(means[:middle]), mean_estimate(means[middle:])
    return abs(last.value - first.value) > DRIFT * math.hypot(first.std_err, last.std_err)


def _marginal_errors(means: Floats) -> Floats:
    """Return the squared standard error of the mean of what remains after each cut, [groups]."""
    centred = means - means.mean()
    remaining = np.arange(means.size, 0, -1)
    total = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(centred[::-1] ** 2)[::-1]
    return np.asarray(np.maximum(squares - total**2 / remaining, 0.0) / remaining.astype(float) ** 2)
