"""Gains between two studies that were solved with the same draws of the profile, member by member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .answer import Analysed
from .gain import Gain, gain
from .network import Floats
from .uncertainty import over_rings, parts_of_log

TENFOLD = 10.0
"""Ratio of p99 that is not looked beyond: there one of both loads cannot be carried."""
TRIFLE = 0.01
"""Share of the largest stable load that stands for none."""


@dataclass(frozen=True)
class Gains:
    """What one study has over another."""

    at_your_clients: Gain | None
    """None when an open load cannot be carried by both."""
    capacity: Gain


def gains(own: Analysed, other: Analysed, bar: float, form: float, *, loss: bool = False) -> Gains:
    """Return the gains of `other` over `own` by mean-value analysis; both have as many draws and rings.

    Args:
        own: the cluster as it is.
        other: the cluster as it could be.
        bar: the gain that counts.
        form: standard deviation of the logarithm of a gain by the model's form.
        loss: whether the question is what is lost.
    """
    clients = None
    if own.stable and other.stable:
        clients = analysed_gain(other, client_ratio(other, own), bar, form, loss=loss)
    return Gains(clients, analysed_gain(other, capacity_ratio(other, own), bar, form, loss=loss))


def analysed_gain(other: Analysed, logs: Floats, bar: float, form: float, *, loss: bool) -> Gain:
    """Return a gain by mean-value analysis, averaged over the rings."""
    blocks = other.members.blocks.without_limits()
    centre = float(logs[0]) + over_rings(blocks, logs)
    return gain(centre, parts_of_log(blocks, logs, model=form), bar, loss=loss)


def capacity_ratio(other: Analysed, own: Analysed) -> Floats:
    """Return the logarithm of the gain of capacity, [paired members]."""
    return _log_ratio(other, own, _capacity(other), _capacity(own))


def client_ratio(other: Analysed, own: Analysed) -> Floats:
    """Return the logarithm of the gain at the clients: throughput of a closed load, 1 / p99 of an open one."""
    if own.is_open:
        tails = -_log_ratio(other, own, other.latency_s(None, "p99"), own.latency_s(None, "p99"))
        return np.clip(tails, -np.log(TENFOLD), np.log(TENFOLD))
    return _log_ratio(other, own, other.solution.throughput_per_s, own.solution.throughput_per_s)


def _log_ratio(other: Analysed, own: Analysed, theirs: Floats, ours: Floats) -> Floats:
    return np.asarray(np.log(other.members.blocks.paired(theirs) / own.members.blocks.paired(ours)))


def _capacity(analysed: Analysed) -> Floats:
    """Return the capacity, [members]; where no load meets the objectives a trifle, so that ratios exist."""
    return np.maximum(analysed.capacity_per_s, TRIFLE * analysed.largest_stable_per_s)
