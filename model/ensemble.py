"""An ensemble: one network read many times at once, with other parameters, rings, speeds or loads.

Mean-value analysis is vectorised over the members of an ensemble; draws of a profile, ring draws and the 10 %
perturbations that find the limit are members like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .attendance import attended_ratio
from .network import Binding, Floats, Ints, Network
from .offered import Offered, offered
from .roles import Case, cases_of


@dataclass(frozen=True)
class RingReading:
    """What a ring decides: cases with their roles, and the work offered to each station."""

    cases: tuple[Case, ...]
    offered: Offered
    attended: Floats
    """[stations]: share of the visits that an answer waits for."""


@dataclass(frozen=True)
class Ensemble:
    """Members of an ensemble; the leading axis of every array is [members]."""

    network: Network
    rings: tuple[RingReading, ...]
    ring: Ints
    """[members]: which ring the member has."""
    base: Floats
    """[members, rows]"""
    wake_up: Floats
    """[members, rows]"""
    speed: Floats
    """[members, stations]: speed of a station relative to the network's."""
    permits: Floats
    """[members, pools]: permits of a pool."""
    population: Floats
    """[members]: requests in flight; infinite for an open load."""
    rate_per_s: Floats
    """[members]: rate of an open load; not a number for a closed one."""
    hop_ratio: Floats
    """[members]: message delays relative to the network's."""

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.ring)


def ensemble(
    network: Network, values: Mapping[str, Floats | float], bindings: Sequence[Binding] = ()
) -> Ensemble:
    """Return the ensemble of a network over draws of its parameters; member i has ring i modulo their number.

    Args:
        network: stations and graphs.
        values: parameters, numbers or arrays [members].
        bindings: bindings of other ring draws; the network's own when empty.
    """
    base, wake_up = network.demands.evaluate(dict(values))
    base, wake_up = np.atleast_2d(base), np.atleast_2d(wake_up)
    rings = _alike(tuple(read_ring(network, binding) for binding in bindings) or (read_ring(network),))
    hop_ratio = np.atleast_1d(values.get("hop_ratio", network.distances.ratio)) / network.distances.ratio
    members = max(len(base), len(rings), len(hop_ratio))
    base, wake_up = (np.resize(table, (members, table.shape[1])) for table in (base, wake_up))
    load = network.load
    permits = np.array([pool.permits for pool in network.pools], dtype=float)
    return Ensemble(
        network,
        rings,
        np.arange(members) % len(rings),
        base,
        wake_up,
        np.ones((members, len(network.stations))),
        np.tile(permits, (members, 1)),
        np.full(members, np.inf if load.in_flight is None else float(load.in_flight)),
        np.full(members, np.nan if load.rate_per_s is None else load.rate_per_s),
        np.resize(hop_ratio, members),
    )


def read_ring(network: Network, binding: Binding | None = None) -> RingReading:
    """Return cases and offered work under a binding."""
    bound = network if binding is None else replace(network, binding=binding)
    cases = cases_of(bound)
    return RingReading(cases, offered(bound, cases), attended_ratio(bound, cases))


def _alike(rings: tuple[RingReading, ...]) -> tuple[RingReading, ...]:
    """Give every ring the cases of all, with probability 0 where a ring does not have one."""
    union = {case.graph: replace(case, probability=0.0) for ring in rings for case in ring.cases}
    completed = [{**union, **{case.graph: case for case in ring.cases}} for ring in rings]
    return tuple(
        replace(ring, cases=tuple(cases[graph] for graph in sorted(union)))
        for ring, cases in zip(rings, completed, strict=True)
    )


def taken(members: Ensemble, which: Ints) -> Ensemble:
    """Return an ensemble of some members, in that order; members may be taken more than once."""
    arrays = ("ring", "base", "wake_up", "speed", "permits", "population", "rate_per_s", "hop_ratio")
    return replace(members, **{name: getattr(members, name)[which] for name in arrays})
