"""When a simulation is long enough: the sequential stopping rule.

Stopping when an interval is narrow enough prefers the moments at which it happens to be too narrow, and so costs
coverage. Against that: a first look that is long enough to know its own error (the caller's), few looks of growing
length, each aimed at four fifths of the wanted error so that it is mostly the last, the estimate of the last look,
and errors widened where few effective observations stand behind them (`batch_means`, `quantiles`). Other remedies
were tried and bought less per request (docs/background/statistics.md has the figures of seven).

Source: Law and Kelton 2000, section 9.5.1 (sequential procedures); Glynn and Whitt 1992 (their validity in the limit).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .estimate import Estimate

LEAST_GROWTH = 1.3
"""Length over the length at the look before, at least: few looks."""
MOST_GROWTH = 4.0
"""The same, at most: an error that is hardly known yet asks for no long run."""
AIM = 0.8
"""Share of the wanted error that the next look aims at."""


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
    growth = (_shortfall(throughput, p99s, precision) / AIM) ** 2
    return math.ceil(current * min(max(growth, LEAST_GROWTH), MOST_GROWTH))


def _shortfall(throughput: Estimate, p99s: Sequence[Estimate], precision: Precision) -> float:
    """Return the largest ratio of an error to the wanted one."""
    ratios = [throughput.relative_error / precision.throughput]
    ratios += [p99.relative_error / precision.p99 for p99 in p99s]
    return math.inf if any(math.isnan(ratio) for ratio in ratios) else max(ratios)
