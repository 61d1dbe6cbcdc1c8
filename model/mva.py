"""Mean-value analysis: throughput, response times and utilisation of a network in milliseconds.

The throughput of a closed network is the root of X (R(X) + Z) = N: the response time R grows with the throughput,
so the root is one and bisection finds it, for all members of an ensemble at once. An open load has its rate for
throughput. `residence.py` says how a station is approximated, `response.py` how a graph.

Source: Reiser and Lavenberg 1980 (mean-value analysis), Schweitzer 1979 (its approximation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .casting import Casting
from .ensemble import Ensemble
from .graph import Choice, Detach, Fork, Graph, Hold, Series, Timeout
from .network import Floats
from .residence import Residence, Residing
from .response import Moments, Responding
from .throughput_root import throughput_root

HALVINGS = 20
"""Halvings of the bracket of the capacity: six digits."""
ROUNDS = 20
"""Most rounds between throughput and the slowdowns that go with it; one where demands depend on no load."""
NO_WAIT = 1e-6
"""A pool whose requests would wait for less than this share of their holding time is taken to be free."""


@dataclass(frozen=True)
class MvaSolution:
    """Mean values of an ensemble; the leading axis is [members]."""

    throughput_per_s: Floats
    stable: npt.NDArray[np.bool_]
    """[members]: whether the load can be carried; always for a closed one."""
    mean_s: Floats
    """[members, cases]: mean response time."""
    variance_s2: Floats
    """[members, cases]"""
    probability: Floats
    """[members, cases]: share of the requests."""
    utilisation: Floats
    """[members, stations]"""
    times: Residence

    @property
    def response_s(self) -> Floats:
        """Mean response time over all requests, [members]."""
        return np.asarray((self.probability * self.mean_s).sum(axis=1))


def solve(members: Ensemble) -> MvaSolution:
    """Return the mean values of an ensemble."""
    return Solving(members).solve()


class Solving:
    """One ensemble on its way to its solution."""

    def __init__(self, members: Ensemble) -> None:
        self._members = members
        self._stations = Residing(members)
        self._cases = range(len(members.rings[0].cases))
        weights = np.array([[case.probability for case in ring.cases] for ring in members.rings])
        self._probability = weights[members.ring]
        self._casting = Casting(members)
        self._pools = _PoolLoad(members, self._casting)

    def solve(self) -> MvaSolution:
        """Return the solution."""
        members = self._members
        bound = self._stations.upper_bound_per_s()
        is_open = np.isinf(members.population)
        rate = np.where(is_open, np.minimum(members.rate_per_s, bound * (1 - 1e-6)), 0.0)
        most = rate if is_open.all() else self.least_critical_per_s()
        self._stations.settle(np.full(members.size, 1e-9))
        for _ in range(ROUNDS):
            closed = rate if is_open.all() else throughput_root(self._excess, bound, most)
            throughput = np.where(is_open, rate, closed)
            if not self._stations.settle(throughput):
                break
        times = self._stations.at(throughput)
        moments = self._responses(times, throughput)
        mean_s = np.stack([moment.mean_s for moment in moments], axis=1)
        ratio = np.where(is_open, 1.0, self._little_ratio(throughput, mean_s))[:, None]
        return MvaSolution(
            throughput,
            ~is_open | (members.rate_per_s < bound),
            mean_s * ratio,
            np.stack([moment.variance_s2 for moment in moments], axis=1) * ratio**2,
            self._probability,
            times.utilisation,
            times,
        )

    def _little_ratio(self, throughput: Floats, mean_s: Floats) -> Floats:
        """Return the factor that makes response times obey Little's law exactly: 1 but where queues jump."""
        wanted_s = self._members.population / throughput - self._members.network.load.think_time_s
        return np.asarray(wanted_s / (self._probability * mean_s).sum(axis=1))

    def least_critical_per_s(self) -> Floats:
        """Return N over the least response time of any load, [members]."""
        idle = np.full(self._members.size, 1e-9)
        return self._members.population / self._cycle_s(self._stations.unhindered(), idle)

    def largest_rate_per_s(self) -> Floats:
        """Return the largest open load that no station and no pool refuses, [members]."""
        low, high = np.zeros(self._members.size), self._stations.upper_bound_per_s()
        high = np.minimum(high, self._pools.upper_bound_per_s(self._idle()))
        for _ in range(HALVINGS if self._stations.load_dependent else 0):
            middle = (low + high) / 2
            fits = (self._stations.at(middle).utilisation <= 1.0).all(axis=1)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return high

    def _idle(self) -> Responding:
        times = self._stations.at(np.full(self._members.size, 1e-9))
        return self._free(times)

    def _free(self, times: Residence) -> Responding:
        return Responding(self._members, self._casting, times, np.zeros_like(self._members.permits))

    def _cycle_s(self, times: Residence, throughput: Floats) -> Floats:
        moments = self._responses(times, throughput)
        response = sum(self._probability[:, i] * moment.mean_s for i, moment in enumerate(moments))
        return np.asarray(response + self._members.network.load.think_time_s)

    def _responses(self, times: Residence, throughput: Floats) -> list[Moments]:
        free = self._free(times)
        moments = [free.evaluate(number) for number in self._cases]
        response = sum(self._probability[:, i] * moment.mean_s for i, moment in enumerate(moments))
        if self._pools.are_free(throughput * response):
            return moments
        crowded = Responding(self._members, self._casting, times, self._pools.waits_s(free, throughput))
        return [crowded.evaluate(number) for number in self._cases]

    def responding(self, throughput: Floats) -> Responding:
        """Return the reader of graphs at a throughput, waits for permits included."""
        times = self._stations.at(throughput)
        return Responding(self._members, self._casting, times, self._pools.waits_s(self._free(times), throughput))

    def _excess(self, throughput: Floats) -> Floats:
        """Return the logarithm of requests needed over requests in flight; infinite where a station overflows."""
        times = self._stations.at(throughput)
        excess = np.log(throughput * self._cycle_s(times, throughput) / self._members.population)
        return np.where((times.utilisation <= 1.0).all(axis=1), excess, np.inf)


class _PoolLoad:
    """How long requests wait for the permits of pools: a pool is a station whose service is the holding time."""

    def __init__(self, members: Ensemble, casting: Casting) -> None:
        self._members = members
        self._casting = casting
        graphs = [members.network.graphs[case.graph] for case in members.rings[0].cases]
        self._holds = [_holds(graph, 1.0) for graph in graphs]
        self._exponent = np.sqrt(2 * (members.permits + 1)) - 1
        self._holds_per_request = np.zeros_like(members.permits)
        for number, holds in enumerate(self._holds):
            for hold, count in holds:
                self._holds_per_request += count * casting.pools(number, hold.resource, hold.role)

    def are_free(self, requests: Floats) -> bool:
        """Whether no pool can make requests wait when so many are in the system, [members]."""
        load = requests[:, None] * self._holds_per_request / self._members.permits
        return bool((np.minimum(load, 1.0) ** self._exponent < NO_WAIT).all())

    def waits_s(self, responding: Responding, throughput: Floats) -> Floats:
        """Return the mean wait for a permit, [members, pools]."""
        held_s = self._held_s(responding)
        load = np.minimum(throughput[:, None] * held_s / self._members.permits, 1.0)
        seen = 1 - 1 / self._members.population[:, None]
        all_held = (load * seen) ** self._exponent
        each_s = held_s / np.maximum(self._holds_per_request, 1e-300) / self._members.permits
        return np.asarray(each_s * all_held / np.maximum(1 - load * seen, 1e-9))

    def upper_bound_per_s(self, idle: Responding) -> Floats:
        """Return the largest throughput that every pool can carry, [members]."""
        with np.errstate(divide="ignore"):
            limits = self._members.permits / self._held_s(idle)
        return np.asarray(limits.min(axis=1)) if limits.size else np.full(self._members.size, np.inf)

    def _held_s(self, responding: Responding) -> Floats:
        """Return the time that a request holds permits of each pool, [members, pools]."""
        held_s = np.zeros_like(self._members.permits)
        for number in range(len(self._members.rings[0].cases)):
            if any((number, id(hold)) not in responding.held_s for hold, _ in self._holds[number]):
                responding.evaluate(number)
            for hold, count in self._holds[number]:
                if (number, id(hold)) not in responding.held_s:
                    responding.moments(hold)
                each_s = responding.held_s[number, id(hold)][:, None]
                held_s += each_s * count * self._casting.pools(number, hold.resource, hold.role)
        return held_s


def _holds(graph: Graph, count: float) -> list[tuple[Hold, float]]:
    match graph:
        case Hold(_, _, Series(())):
            return []
        case Hold(_, _, body):
            return [(graph, count), *_holds(body, count)]
        case Series(parts):
            return [found for part in parts for found in _holds(part, count)]
        case Choice(probability, then, otherwise):
            return _holds(then, count * probability) + _holds(otherwise, count * (1 - probability))
        case Fork(_, branches):
            return [found for branch in branches for found in _holds(branch, count)]
        case Detach(body) | Timeout(_, body):
            return _holds(body, count)
        case _:
            return []
