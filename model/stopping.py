"""When a simulation is long enough: the sequential stopping rule.

Stopping when an interval is narrow enough prefers the moments when it happens to be too narrow, and so costs
coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .estimate import Estimate

LEAST_GROWTH = 1.3
MOST_GROWTH = 4.0
MARGIN = 1.0


@dataclass(frozen=True)
class Precision:
    """Half-widths of the intervals at which a simulation may stop, as ratios of the values."""

    throughput: float = 0.02
    p99: float = 0.05


def satisfied(throughput: Estimate, p99s: Sequence[Estimate], precision: Precision) -> bool:
    """Return whether all estimates are as precise as wanted."""
    return _shortfall(throughput, p99s, precision) <= 1.0


def next_length(current: int, throughput: Estimate, p99s: Sequence[Estimate], precision: Precision) -> int:
    """Return the length of the run at the next look, from its present length; between 1.3 and 4 times as long."""
    growth = (_shortfall(throughput, p99s, precision) * MARGIN) ** 2
    return int(np.ceil(current * min(max(growth, LEAST_GROWTH), MOST_GROWTH)))


def _shortfall(throughput: Estimate, p99s: Sequence[Estimate], precision: Precision) -> float:
    """Return the largest ratio of an error to the wanted one."""
    ratios = [throughput.relative_error / precision.throughput]
    ratios += [p99.relative_error / precision.p99 for p99 in p99s]
    return max(ratios)
