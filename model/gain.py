"""Gains: what one node more or less changes, with interval and verdict.

DESIGN.md, section 3.6. `at_your_clients` is the change of throughput with the same requests in flight (of p99 for
an open load: old over new, so that more is better); `capacity` that of the largest stable load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .estimate import Z

HELPS, NO_GAIN, CANNOT_TELL = "helps", "no gain expected", "cannot tell"


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


def gain(log_ratio: float, std_err: float, bar: float) -> Gain:
    """Return the gain of a logarithmic ratio with its standard error, judged against a threshold."""
    low, high = math.expm1(log_ratio - Z * std_err), math.expm1(log_ratio + Z * std_err)
    return Gain(math.expm1(log_ratio), low, high, verdict(low, high, bar))


def verdict(low: float, high: float, bar: float) -> str:
    """Judge an interval: helps when it clears the bar, no gain when it does not reach it."""
    if low >= bar:
        return HELPS
    return NO_GAIN if high < bar else CANNOT_TELL


def loss_verdict(low: float, high: float, bar: float) -> str:
    """Judge the change from one node less: `costs` when it loses more than the bar, `costs nothing` otherwise."""
    if high <= -bar:
        return "costs"
    return "costs little" if low > -bar else CANNOT_TELL
