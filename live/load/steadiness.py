"""Whether rates are flat: when a warm-up is over, and whether a run was steady.

A warm-up is over when the last two stretches of `STRETCH_S` differ by less than `FLAT_RATIO`, or by less than twice
the standard error of their difference, and not by more than `DRIFT_RATIO` in any case. A run was not steady when its
halves differ by more than `DRIFT_RATIO` and more than by chance, or when it stood still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...model.batch_means import MOST_CORRELATION, Floats

STRETCH_S = 2.0
"""Longer than a collection or a flush of a node on a lab's share of a core."""
FLAT_RATIO = 0.03
"""Within the spread of repeated runs, 2 to 7 % (evidence/lab-fidelity.md, section 3)."""
DRIFT_RATIO = 0.10
DRIFT_ERRORS = 3.3
"""Standard errors beyond which a slope is none by chance: one steady run in a thousand."""
FEWEST = 4
"""Intervals of a stretch."""
FEWEST_TO_DRIFT = 8
STANDSTILL_RATIO = 0.1
"""Share of the median rate below which the cluster stood still."""
STANDSTILL_S = 0.5


def is_flat(rates_per_s: Sequence[float], interval_s: float) -> bool:
    """Return whether the rates of the latest intervals are flat."""
    each = max(FEWEST, round(STRETCH_S / interval_s))
    if len(rates_per_s) < 2 * each:
        return False
    before, after = (np.asarray(part) for part in (rates_per_s[-2 * each : -each], rates_per_s[-each:]))
    level = (float(before.mean()) + float(after.mean())) / 2
    if level <= 0:
        return False
    change = abs(float(after.mean() - before.mean())) / level
    chance = 2 * math.hypot(_relative_error(before), _relative_error(after)) * float(before.mean()) / level
    return change <= max(FLAT_RATIO, min(chance, DRIFT_RATIO))


def _relative_error(values: Floats) -> float:
    mean = float(values.mean())
    return float(values.std(ddof=1)) / math.sqrt(values.size) / mean if mean > 0 else math.inf


def drift(rates_per_s: Sequence[float]) -> float | None:
    """Return by how much the second half of a run is faster, relative to the mean; None when that may be chance.

    A line is fitted; the error of its slope is that of residuals which follow each other as an AR(1) process.
    """
    values = np.asarray(rates_per_s, dtype=np.float64)
    level = float(values.mean()) if values.size else 0.0
    if values.size < FEWEST_TO_DRIFT or level <= 0:
        return None
    time = np.arange(values.size) - (values.size - 1) / 2
    slope = float(time @ values) / float(time @ time)
    residuals = values - level - slope * time
    change = slope * values.size / 2 / level
    by_chance = abs(slope) <= DRIFT_ERRORS * _slope_error(residuals, time)
    return None if by_chance or abs(change) <= DRIFT_RATIO else change


def _slope_error(residuals: Floats, time: Floats) -> float:
    squares = float(residuals @ residuals)
    if squares == 0:
        return 0.0
    correlation = float(residuals[1:] @ residuals[:-1]) / squares + 1 / residuals.size
    correlation = min(max(correlation, 0.0), MOST_CORRELATION)
    variance = squares / (residuals.size - 2) * (1 + correlation) / (1 - correlation)
    return math.sqrt(variance / float(time @ time))


def standstill_s(rates_per_s: Sequence[float], interval_s: float) -> float:
    """Return for how long nearly nothing was answered, 0 when it was too short to mean anything."""
    median = float(np.median(rates_per_s)) if rates_per_s else 0.0
    still_s = interval_s * sum(rate < STANDSTILL_RATIO * median for rate in rates_per_s)
    return still_s if still_s >= STANDSTILL_S else 0.0
