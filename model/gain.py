"""Gains: what one node more or less changes, with interval and verdict.

DESIGN.md, section 3.6. `at_your_clients` is the change of throughput with the same requests in flight (of p99 for
an open load: old over new, so that more is better); `capacity` that of the largest stable load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .estimate import Z
from .uncertainty import Parts

HELPS, NO_GAIN, CANNOT_TELL = "helps", "no gain expected", "cannot tell"
COSTS, COSTS_LITTLE = "costs", "costs little"


def threshold(nodes: int) -> float:
    """Return the gain that counts: 10 %, or half of what a node's share of the cluster would bring."""
    return min(0.10, 0.5 / nodes)


@dataclass(frozen=True)
class Gain:
    """A relative change, its interval at 90 %, and the verdict."""

    value: float
    low: float
    high: float
    verdict: str
    doubt: str = "parameters"
    """The largest part of its error: `parameters`, `rings`, `sampling` or `model`."""


def gain(log_ratio: float, parts: Parts, bar: float, *, loss: bool = False) -> Gain:
    """Return the gain of a logarithmic ratio with the parts of its error, judged against a threshold.

    With `loss` it is the change by one node less, and the question is what that costs.
    """
    low, high = math.expm1(log_ratio - Z * parts.total), math.expm1(log_ratio + Z * parts.total)
    judged = loss_verdict(low, high, bar) if loss else verdict(low, high, bar)
    by_cause = parts.as_dict()
    return Gain(math.expm1(log_ratio), low, high, judged, max(by_cause, key=by_cause.__getitem__))


def verdict(low: float, high: float, bar: float) -> str:
    """Judge an interval: helps when it clears the bar, no gain when it does not reach it."""
    if low >= bar:
        return HELPS
    return NO_GAIN if high < bar else CANNOT_TELL


def loss_verdict(low: float, high: float, bar: float) -> str:
    """Judge the interval of a change by one node less: costs when it loses the bar, costs little when it cannot."""
    if high <= -bar:
        return COSTS
    return COSTS_LITTLE if low > -bar else CANNOT_TELL
