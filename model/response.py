"""Response time of a request graph: means and variances composed from the times at the stations.

Assumptions: parts of a series are independent; a fork of k of n branches takes the k-th order statistic of unlike
gamma-distributed branches; a speculative branch is left out (it starts for at most a few per cent of requests);
a timeout never fires; detached work is a load, not a wait.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .casting import Casting
from .ensemble import Ensemble
from .graph import CLIENT, After, Choice, Delay, Detach, Fork, Graph, Hold, Link, Resource, Series, Timeout, Visit
from .network import Floats
from .order_statistics import kth_order_statistic
from .residence import Residence

SHORTEST_S = 1e-12
"""Time given to a branch that takes none, so that every branch has a distribution."""


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a time, [members]."""

    mean_s: Floats
    variance_s2: Floats

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.mean_s + other.mean_s, self.variance_s2 + other.variance_s2)


@dataclass(frozen=True)
class _Seen:
    """What a visit by a role meets, averaged over the nodes that play the role, [members]."""

    wait_s: Floats
    wait_variance_s2: Floats
    per_base: Floats
    """Seconds per unit of base demand."""
    per_wake_up: Floats
    setup_s: Floats


class Responding:
    """Evaluates the graphs of one place in an ensemble, for one state of its stations."""

    def __init__(self, members: Ensemble, casting: Casting, times: Residence, pool_wait_s: Floats) -> None:
        self._members = members
        self._casting = casting
        self._times = times
        self._pool_wait_s = pool_wait_s
        self._crowded = bool(pool_wait_s.any())
        self._number = 0
        self.held_s: dict[tuple[int, int], Floats] = {}
        """Time that permits were held, [members], by case and identity of the `Hold`."""
        self._seen: dict[tuple[Resource, int], _Seen] = {}

    def evaluate(self, number: int) -> Moments:
        """Return the response time of case `number` of every member's ring."""
        self._number = number
        self._seen = {}
        return self.moments(self._members.network.graphs[self._members.rings[0].cases[number].graph])

    def moments(self, graph: Graph) -> Moments:
        """Return mean and variance of the time that a graph takes."""
        match graph:
            case Visit():
                return self._visit(graph)
            case Link(sender, receiver):
                return self._link(sender, receiver)
            case Delay(delay_s):
                return self._constant(delay_s)
            case Series(parts):
                return sum((self.moments(part) for part in parts), self._constant(0.0))
            case Choice(probability, then, otherwise):
                return self._choice(probability, self.moments(then), self.moments(otherwise))
            case Fork(needed, branches):
                return self._fork(needed, [branch for branch in branches if not isinstance(branch, After)])
            case Hold(resource, role, body):
                held = self.moments(body)
                self.held_s[self._number, id(graph)] = held.mean_s
                return self._pool(resource, role) + held
            case Timeout(_, body):
                return self.moments(body)
            case After() | Detach():
                return self._constant(0.0)

    def visit_s(self, visit: Visit) -> tuple[float, float]:
        """Return wait and service of a visit for the first member of the case last evaluated."""
        wait_s = float(self._meet(visit.resource, visit.role).wait_s[0])
        return wait_s, float(self._visit(visit).mean_s[0]) - wait_s

    def pool_wait_s(self, resource: Resource, role: int) -> float:
        """Return the wait for a permit for the first member of the case last evaluated."""
        return float(self._pool(resource, role).mean_s[0])

    def _constant(self, seconds: float) -> Moments:
        zero = np.zeros(self._members.size)
        return Moments(zero + seconds, zero)

    def _link(self, sender: int, receiver: int) -> Moments:
        return Moments(self._casting.delay_s(self._number, sender, receiver), np.zeros(self._members.size))

    def _choice(self, probability: float, then: Moments, otherwise: Moments) -> Moments:
        mean = probability * then.mean_s + (1 - probability) * otherwise.mean_s
        second = probability * (then.variance_s2 + then.mean_s**2)
        second = second + (1 - probability) * (otherwise.variance_s2 + otherwise.mean_s**2)
        return Moments(mean, np.maximum(second - mean**2, 0.0))

    def _fork(self, needed: int, branches: list[Graph]) -> Moments:
        times = [self.moments(branch) for branch in branches]
        if len(times) == 1:
            return times[0]
        mean = np.stack([time.mean_s for time in times], axis=-1)
        variance = np.stack([time.variance_s2 for time in times], axis=-1)
        mean = np.maximum(mean, SHORTEST_S)
        kth_mean, kth_variance = kth_order_statistic(mean, variance, needed)
        return Moments(np.asarray(kth_mean, dtype=float), np.asarray(kth_variance, dtype=float))

    def _visit(self, visit: Visit) -> Moments:
        seen = self._meet(visit.resource, visit.role)
        base = self._members.base[:, visit.demand] * seen.per_base
        wake_up = self._members.wake_up[:, visit.demand] * seen.per_wake_up + seen.setup_s
        spread = float(self._members.network.demands.variation[visit.demand])
        return Moments(seen.wait_s + base + wake_up, seen.wait_variance_s2 + (spread * base) ** 2)

    def _meet(self, resource: Resource, role: int) -> _Seen:
        if (resource, role) not in self._seen:
            self._seen[resource, role] = self._average(resource, role)
        return self._seen[resource, role]

    def _average(self, resource: Resource, role: int) -> _Seen:
        network, times = self._members.network, self._times
        used = network.station_of[resource] >= 0
        where = network.station_of[resource][used]
        share = self._casting.shares(self._number, role)[:, used]
        wait_s, stretch = times.wait_s[:, where], times.stretch[:, where]
        mean_s = (share * wait_s).sum(axis=1)
        variance = (share * (times.wait_variance_s2[:, where] + wait_s**2)).sum(axis=1) - mean_s**2
        per_unit = share * stretch * network.seconds_per[resource][used]
        shared = share * stretch * network.setup_s[resource][used] / times.present[:, where]
        per_wake_up = (per_unit / times.present[:, where]).sum(axis=1)
        return _Seen(mean_s, np.maximum(variance, 0.0), per_unit.sum(axis=1), per_wake_up, shared.sum(axis=1))

    def _pool(self, resource: Resource, role: int) -> Moments:
        pools = self._members.network.pool_of[resource]
        used = pools >= 0
        if not used.any() or role == CLIENT or not self._crowded:
            return self._constant(0.0)
        share = self._casting.shares(self._number, role)[:, used]
        wait_s = self._pool_wait_s[:, pools[used]]
        mean_s = (share * wait_s).sum(axis=1)
        return Moments(mean_s, mean_s**2)
