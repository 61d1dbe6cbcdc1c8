"""Time at a station: the queueing of mean-value analysis, given the throughput.

Assumptions, per station: first come first served; an arrival of a closed population sees the queue of a network
with one request less (arrival theorem; the queues without it as in Schweitzer 1979 first, then by how sensitive each
queue is), work after the answer is seen like an open load; all c servers are busy with probability
rho^(sqrt(2 (c + 1)) - 1) (Sakasegawa 1977), exact for one; a residual service instead of a whole one for the request
in service. A CPU quota is an on/off server: work w takes w plus the stops met on the way.

Given the throughput the queue follows in closed form, so that the only unknown of a network is its throughput.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .ensemble import Ensemble
from .graph import Resource
from .network import Floats
from .offered import capacities

PASSES = 18
"""Halvings of the bracket of the number present: four digits."""
MOST_PRESENT = 14.0
"""Logarithm of the largest number present that is looked for: about a million."""
FULL = 1 - 1e-12
"""Largest utilisation given to the formulas."""
TURNS = 8
"""Near saturation a closed population takes turns: an arrival finds a service that has just begun, not a residual
one. The share of such arrivals grows with this power of the load. Set by comparison with the simulation."""
SETTLED = 3e-3
"""Relative change of slowdowns below which they are found."""
CROWDING = 1.5
"""How late below saturation a quota begins to stop a station that does not spin: the share of stopped time grows
with the quota's use to the power of this times the root of the services in a period's quota (the relative spread of
the work of a period falls with that root). Set by comparison with the simulation."""


@dataclass(frozen=True)
class Residence:
    """Times at the stations, [members, stations]."""

    wait_s: Floats
    """Mean wait of a visit before its service begins, stops of a quota included."""
    wait_variance_s2: Floats
    stretch: Floats
    """Seconds that a second of service demand takes: speed, contention, sharing, stops of a quota."""
    present: Floats
    """Mean number of visits present when a service begins, itself included."""
    utilisation: Floats
    """Work per second over capacity."""


class Residing:
    """Gives the times at the stations of an ensemble for any throughput."""

    def __init__(self, members: Ensemble) -> None:
        stations = members.network.stations
        self._queued = np.array([station.queues for station in stations])
        self._servers = np.array([float(s.quota.cpus if s.quota else max(1, s.servers)) for s in stations])
        self._capacity = capacities(members.network)
        self._rules = _Rules(members)
        self._attended = np.array([ring.attended for ring in members.rings])[members.ring]
        self._first_seen = 1 - self._attended / members.population[:, None]
        self._crowd_seen = 1 - self._attended * np.minimum(self._servers / members.population[:, None], 1.0)
        self._can_crowd = np.isfinite(members.population[:, None]) & (members.population[:, None] > self._servers)
        self._is_closed = bool(np.isfinite(members.population).any())
        self._exponent = np.sqrt(2 * (self._servers + 1)) - 1
        offers = [ring.offered for ring in members.rings]
        self.visits = np.maximum(np.array([offer.visits for offer in offers])[members.ring], 1e-300)
        setup_s = np.array([offer.setup_s for offer in offers])[members.ring]
        works = [offer.work for offer in offers]
        self._base_s = _by_ring(members, works, members.base) / members.speed
        self._wake_s = (_by_ring(members, works, members.wake_up) + setup_s) / members.speed
        squares = _by_ring(members, [offer.squares for offer in offers], members.base**2) / members.speed**2
        self._variance_s2 = np.maximum(squares / self.visits - (self._base_s / self.visits) ** 2, 0.0)
        self._speed = members.speed
        self._population = members.population[:, None]
        self._dependent = bool(self._wake_s.any()) or any(station.load_dependent for station in stations)
        self._slowdown: Floats | None = None

    @property
    def load_dependent(self) -> bool:
        """Whether demands depend on what is present anywhere."""
        return self._dependent

    def upper_bound_per_s(self) -> Floats:
        """Return the largest throughput that every station can carry, [members]."""
        with np.errstate(divide="ignore"):
            limits = np.where(self._queued & (self._base_s > 0), self._capacity / self._base_s, np.inf)
        return np.asarray(limits.min(axis=1))

    def at(self, throughput_per_s: Floats) -> Residence:
        """Return the times at a throughput, [members]."""
        rate = throughput_per_s[:, None]
        present = self._present(rate) if self._dependent else np.ones_like(self._base_s)
        work_s, busy, running, wait_s = self._state(rate, present)
        service_s = work_s / running / self.visits
        stop_s, stop_variance_s2 = self._rules.stops(running, (wait_s + service_s) * running)
        spread_s2 = self._wait_variance_s2(wait_s, service_s, busy / running, rate)
        return Residence(
            wait_s + stop_s,
            spread_s2 + stop_variance_s2,
            self._slow(present) / running / self._speed,
            present,
            rate * work_s / self._capacity,
        )

    def settle(self, throughput_per_s: Floats) -> bool:
        """Keep the slowdowns that go with a throughput, [members], until called again; say whether they are new.

        Beyond the knee of contention more requests go with less throughput: for a given throughput the number
        present is not one, so slowdowns and throughput are found in turns.
        """
        if not self._rules.slow_down:
            return False
        before = self._slow(np.ones_like(self._base_s))
        self._slowdown = self._rules.slowdown(self._present(throughput_per_s[:, None]), self._servers)
        return bool((np.abs(self._slowdown - before) > SETTLED * before).any())

    def _slow(self, present: Floats) -> Floats:
        return self._rules.slowdown(present, self._servers) if self._slowdown is None else self._slowdown

    def unhindered(self) -> Residence:
        """Return the least times of any load: nobody waits, wake-ups and syncs are shared by many."""
        zero = np.zeros_like(self._base_s)
        return Residence(zero, zero, 1 / self._speed, zero + np.inf, zero)

    def _state(self, rate: Floats, present: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return work per request, busy servers, share of time running and wait, with so many present."""
        work_s = (self._base_s + self._wake_s / present) * self._slow(present)
        busy = np.minimum(rate * work_s, self._capacity)
        running = self._rules.running_ratio(busy, self._servers, work_s / self.visits)
        return work_s, busy, running, self._wait_s(rate, work_s / running, busy / running)

    def _present(self, rate: Floats) -> Floats:
        """Return how many are present when a service begins, by the mean of its inverse, by bisection.

        More present make a service cheaper, a cheaper service leaves fewer: the root is one.
        """
        low, high = np.zeros_like(self._base_s), np.full_like(self._base_s, MOST_PRESENT)
        for _ in range(PASSES):
            middle = (low + high) / 2
            _, busy, running, wait_s = self._state(rate, np.exp(middle))
            load = np.minimum(busy / running / self._servers, 1.0)
            turns = load**TURNS
            seen = turns + (1 - turns) * self._first_seen
            others = seen * (rate * self.visits * wait_s + busy / running * (1 - load / self._servers))
            more = np.log(_sharing(np.where(self._queued, others, 0.0), turns)) > middle
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.exp(low)

    def _wait_s(self, rate: Floats, work_s: Floats, busy: Floats) -> Floats:
        """Return the mean wait: what is seen by an arrival follows from a first guess of the queues."""
        load = np.minimum(busy / self._servers, FULL)
        turns = np.where(self._can_crowd, load**TURNS, 0.0)
        service_s = work_s / self.visits
        with np.errstate(divide="ignore", invalid="ignore"):
            squared_variation = np.where(service_s > 0, self._variance_s2 / service_s**2, 0.0)
        residual = turns + (1 - turns) * (1 + squared_variation) / 2
        all_busy = (load * (turns + (1 - turns) * self._crowd_seen)) ** self._exponent
        begun_s = np.where(self._queued, service_s / self._servers * all_busy * residual, 0.0)
        first_s = begun_s / np.maximum(1 - load * self._first_seen, 1e-9)
        if not self._is_closed:
            return np.asarray(first_s)
        seen = self._seen_share(rate * self.visits * first_s, load)
        return np.asarray(begun_s / np.maximum(1 - load * seen, 1e-9))

    def _seen_share(self, waiting: Floats, load: Floats) -> Floats:
        """Return the share of a queue that an arrival sees: that of a population with one request less.

        One request more adds to each queue by its sensitivity: queues grow with the throughput as 1 / (1 - load),
        the rest of the population in proportion to it.
        """
        waiting = np.minimum(waiting * self._attended, self._population)
        sensitivity = 1 / np.maximum(1 - load, 1e-9)
        growth = 1 + (waiting * (sensitivity - 1)).sum(axis=1, keepdims=True) / self._population
        less = np.minimum(sensitivity / growth / self._population, 1 / np.maximum(waiting, 1e-300))
        return np.asarray(1 - self._attended * np.minimum(less, 1.0))

    def _wait_variance_s2(self, wait_s: Floats, service_s: Floats, busy: Floats, rate: Floats) -> Floats:
        """Return the variance of the wait: that of M/M/c in an open network, that of a share of the
        population in a closed one (balanced network of N requests: Var(A) = A (A + 1) (N - A) / (N + A))."""
        queue = np.minimum(rate * self.visits * (wait_s + service_s), self._population)
        load = np.clip(busy / self._servers, 1e-9, 1.0)
        delayed = load ** (np.sqrt(2 * (self._servers + 1)) - 1)
        ratio = queue / self._population
        closed = (1 - ratio) / (1 + ratio)
        service_part = wait_s * service_s / self._servers
        queue_part = np.maximum(wait_s**2 * (2 / delayed - 1) - service_part, 0.0) * closed
        return np.asarray(queue_part + service_part)


def _sharing(others: Floats, turns: Floats) -> Floats:
    """Return the number that share a wake-up, so that its inverse is right on average.

    Others present are Poisson-distributed, E[1 / (1 + K)] = (1 - exp(-m)) / m, and near saturation always as many.
    """
    some = np.maximum(others, 1e-9)
    return np.asarray(turns * (1 + others) - (1 - turns) * some / np.expm1(-some))


def _by_ring(members: Ensemble, works: list[Floats], table: Floats) -> Floats:
    result = np.empty((len(table), works[0].shape[0]))
    for index, work in enumerate(works):
        chosen = members.ring == index
        result[chosen] = table[chosen] @ work.T
    return result


class _Rules:
    """Load effects of the stations: quota, idle work, sharing, contention; arrays are [stations]."""

    def __init__(self, members: Ensemble) -> None:
        network = members.network
        stations = network.stations
        self._quota = np.array([s.quota.cores if s.quota else np.inf for s in stations])
        self._period_s = np.array([s.quota.period_s if s.quota else 0.0 for s in stations])
        self._idle = np.array([s.idle_cores for s in stations])
        self._contention = np.array([s.contention_ratio for s in stations])
        self._knee = np.array([s.contention_knee for s in stations])
        self._sharing = np.array([s.sharing_ratio for s in stations])
        cpus = network.station_of[Resource.CPU, : network.nodes]
        self._sharers = np.maximum(np.bincount(cpus, minlength=len(stations)), 1)
        self._strangers = 1 - 1 / network.nodes
        self.slow_down = any(station.load_dependent for station in stations)

    def running_ratio(self, busy: Floats, servers: Floats, service_s: Floats) -> Floats:
        """Return the share of time that a quota lets the station run: between quota / cpus and 1.

        Spinning workers use what is left (idle work), so that the quota runs out whenever they can use it up.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.minimum(self._quota / servers, 1.0)
            spun = np.where(self._idle > 0, (self._quota - busy) / self._idle, np.inf)
            services = np.where(np.isinf(self._quota), 1.0, self._quota * self._period_s / service_s)
            crowding = CROWDING * np.sqrt(np.maximum(services, 1.0))
            crowded = 1 - (1 - least) * np.where(np.isinf(self._quota), 0.0, busy / self._quota) ** crowding
        return np.clip(np.minimum(spun, crowded), least, 1.0)

    def slowdown(self, present: Floats, servers: Floats) -> Floats:
        """Return the factor on demands with so many visits present."""
        crowd = np.maximum(0.0, present / servers - self._knee)
        others = (self._sharers - 1) * (1 - np.exp(-present / self._sharers))
        return np.asarray((1 + self._contention * crowd) * (1 + self._sharing * np.minimum(1.0, others / servers)))

    def stops(self, running: Floats, work_s: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of the time a visit with so much work before it is stopped.

        The mean beyond work / running comes from arrivals at a random phase; those after an own answer fall
        into the running part of a period.
        """
        on_s = np.maximum(running * self._period_s, 1e-12)
        off_s = (1 - running) * self._period_s
        with np.errstate(over="ignore", divide="ignore"):
            laps = 1 / np.expm1(np.minimum(on_s / np.maximum(work_s, 1e-15), 700.0))
        extra = self._strangers * (1 - running) * off_s * np.maximum(0.5 + laps - work_s / on_s, 0.0)
        hit = np.minimum((extra + work_s * (1 / running - 1)) / np.maximum(off_s, 1e-12), 1.0)
        return extra, off_s**2 * np.maximum(hit * (1 - hit), np.where(hit >= 1, 1 / 12, 0.0))
