"""The throughput of a closed population: the root of an excess that grows with the throughput.

The search runs in the logarithm of the odds X / (B - X), B being the throughput at which the busiest station is
always busy: queues grow like 1 / (B - X) near saturation and requests in flight like X below it, so that
ln(requests needed / requests in flight) is nearly a straight line of slope one in it. Secant steps inside a bracket.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .network import Floats

STEPS = 60
"""Most steps of the search."""
TOLERANCE = 3e-4
"""Relative error of the requests in flight at which the search ends, one more step being taken: that of the
throughput is some hundred times smaller."""
NARROW = 1e-5
"""Relative width of the bracket of the throughput at which the search ends where requests in flight jump."""
FARTHEST = 20.0
"""End of the bracket: nearer to saturation than 2e-9."""


def throughput_root(excess: Callable[[Floats], Floats], saturation: Floats, most: Floats) -> Floats:
    """Return the throughput at which the excess is zero, [members].

    Args:
        excess: logarithm of requests needed over requests in flight at a throughput, [members]; infinite where a
            station overflows.
        saturation: throughput that no station can exceed, [members].
        most: throughput that the population cannot exceed, [members].
    """
    scale = np.minimum(saturation, 1e3 * most)
    low, high = np.full_like(scale, -FARTHEST), np.minimum(FARTHEST, _log_odds(most * (1 + 1e-9), scale))
    at = np.clip(_log_odds(1 / (1 / scale + 1 / most), scale), low, high)
    slope = np.ones_like(at)
    last, last_value = at, np.full_like(at, np.nan)
    for _ in range(STEPS):
        value = excess(_throughput(at, scale))
        low, high = np.where(value < 0, at, low), np.where(value < 0, high, at)
        narrow = _throughput(high, scale) - _throughput(low, scale) < NARROW * scale
        settled = (np.abs(value) < TOLERANCE) | narrow
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (value - last_value) / (at - last)
        slope = np.where(np.isfinite(found) & (found > 0.05), np.minimum(found, 20.0), slope)
        last, last_value = at, value
        step = at - np.where(np.isfinite(value), value, 0.0) / slope
        outside = ~np.isfinite(value) | (step <= low) | (step >= high)
        at = np.where(outside, np.where(settled, at, (low + high) / 2), step)
        if settled.all():
            break
    return _throughput(at, scale)


def _log_odds(throughput: Floats, scale: Floats) -> Floats:
    ratio = np.clip(throughput / scale, 1e-12, 1 - 1e-12)
    return np.asarray(np.log(ratio / (1 - ratio)))


def _throughput(log_odds: Floats, scale: Floats) -> Floats:
    return np.asarray(scale / (1 + np.exp(-log_odds)))
