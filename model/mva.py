"""Mean-value analysis: throughput, response times and utilisation of a network in milliseconds.

The throughput of a closed network is the root of X (R(X) + Z) = N: the response time R grows with the throughput,
so the root is one and bisection finds it, for all members of an ensemble at once. An open load has its rate for
throughput. `residence.py` says how a station is approximated, `response.py` how a graph.

Source: Reiser and Lavenberg 1980 (mean-value analysis), Schweitzer 1979 (its approximation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .ensemble import Ensemble
from .graph import Choice, Detach, Fork, Graph, Hold, Resource, Series, Timeout
from .network import Floats
from .offered import unit_shares
from .residence import Residence, Residing
from .response import Moments, Responding

STEPS = 26
"""Halvings of the bracket of the throughput: seven digits."""


@dataclass(frozen=True)
class MvaSolution:
    """Mean values of an ensemble; the leading axis is [members]."""

    throughput_per_s: Floats
    stable: Floats
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
        self._pools = _PoolLoad(members)

    def solve(self) -> MvaSolution:
        """Return the solution."""
        members = self._members
        bound = self._stations.upper_bound_per_s()
        is_open = np.isinf(members.population)
        rate = np.where(is_open, np.minimum(members.rate_per_s, bound * (1 - 1e-6)), 0.0)
        closed = self._bisect(np.minimum(bound, self._least_critical())) if not is_open.all() else rate
        throughput = np.where(is_open, rate, closed)
        times = self._stations.at(throughput)
        moments = self._responses(times, throughput)
        stable = ~is_open | (members.rate_per_s < bound)
        return MvaSolution(
            throughput,
            stable,
            np.stack([moment.mean_s for moment in moments], axis=1),
            np.stack([moment.variance_s2 for moment in moments], axis=1),
            self._probability,
            times.utilisation,
            times,
        )

    def _least_critical(self) -> Floats:
        """Return N over the response time of an idle network, [members]."""
        idle = np.full(self._members.size, 1e-9)
        return self._members.population / self._cycle_s(self._stations.at(idle), idle)

    def _cycle_s(self, times: Residence, throughput: Floats) -> Floats:
        moments = self._responses(times, throughput)
        response = sum(self._probability[:, i] * moment.mean_s for i, moment in enumerate(moments))
        return np.asarray(response + self._members.network.load.think_time_s)

    def _responses(self, times: Residence, throughput: Floats) -> list[Moments]:
        waits = np.zeros_like(self._members.permits)
        first = Responding(self._members, times, waits)
        moments = [first.evaluate(number) for number in self._cases]
        if not waits.size:
            return moments
        waits = self._pools.waits_s(first, throughput)
        if not (waits > 0).any():
            return moments
        second = Responding(self._members, times, waits)
        return [second.evaluate(number) for number in self._cases]

    def _bisect(self, high: Floats) -> Floats:
        low = np.zeros_like(high)
        for _ in range(STEPS):
            middle = (low + high) / 2
            times = self._stations.at(middle)
            fits = middle * self._cycle_s(times, middle) < self._members.population
            fits &= (times.utilisation <= 1.0).all(axis=1)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return low


class _PoolLoad:
    """How long requests wait for the permits of pools: a pool is a station whose service is the holding time."""

    def __init__(self, members: Ensemble) -> None:
        self._members = members

    def waits_s(self, responding: Responding, throughput: Floats) -> Floats:
        """Return the mean wait for a permit, [members, pools]."""
        held_s, holds = np.zeros_like(self._members.permits), np.full_like(self._members.permits, 1e-300)
        for number in range(len(self._members.rings[0].cases)):
            responding.evaluate(number)
            graph = self._members.network.graphs[self._members.rings[0].cases[number].graph]
            for hold, count in _holds(graph, 1.0):
                body_s = responding.moments(hold.body).mean_s
                self._add(hold.resource, hold.role, number, count, body_s, held_s, holds)
        permits = self._members.permits
        load = np.minimum(throughput[:, None] * held_s / permits, 1.0)
        share = load ** (4.464 * (permits**0.676 - 1))
        seen = 1 - 1 / self._members.population[:, None]
        each_s = held_s / holds
        return each_s * share * load * seen / np.maximum(1 - load * share * seen, 1e-9)

    def _add(
        self, resource: Resource, role: int, number: int, count: float, body_s: Floats, held_s: Floats, holds: Floats
    ) -> None:
        members = self._members
        pools = members.network.pool_of[resource]
        used = pools >= 0
        for index, ring in enumerate(members.rings):
            case = ring.cases[number]
            share = case.probability * count * unit_shares(members.network, case, role)[used]
            chosen = np.flatnonzero(members.ring == index)
            np.add.at(held_s, np.ix_(chosen, pools[used]), body_s[chosen, None] * share)
            np.add.at(holds, np.ix_(chosen, pools[used]), share)


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
