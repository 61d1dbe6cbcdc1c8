"""A cluster in memory whose capacity and service times are known: what the load says about it can be checked.

Each node is a queue in front of some servers; the requests are served in order. Its capacity is nodes × servers ÷
service time. An outage lets a node fail at once whatever it is sent and whatever it has not answered. It stores
nothing: reads of keys that exist return a row, others none.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .event_loop import Loop
from .session import ONE_PROCESSOR, BackendFacts, Done, Statement, Values

OUTAGE_ERROR = "ConnectionShutdown"
"""As the drivers call it when a node goes away."""
FACTS = BackendFacts("memory", ONE_PROCESSOR, {})


@dataclass(frozen=True)
class Outage:
    """A node that is away for a while."""

    node: int
    from_s: float
    """On the clock of the loop, since the session was opened."""
    to_s: float = float("inf")


@dataclass(frozen=True)
class MemoryCluster:
    """What the cluster in memory is made of."""

    nodes: int = 1
    servers: int = 2
    """Requests that a node serves at a time."""
    service_s: float = 0.001
    """Mean service time."""
    distribution: Literal["exponential", "constant"] = "exponential"
    outages: tuple[Outage, ...] = ()
    stalls: tuple[tuple[float, float], ...] = ()
    """Times from and to in which no node answers, since the session was opened: what is due then waits for the end."""
    slower_per_s: float = 0.0
    """Growth of the service time per second, relative: a cluster that gets slower."""

    @property
    def capacity_per_s(self) -> float:
        """The largest rate it can serve."""
        return self.nodes * self.servers / self.service_s


class MemorySession:
    """Sends requests to the nodes of a cluster in memory in turn."""

    def __init__(self, loop: Loop, cluster: MemoryCluster, rng: np.random.Generator) -> None:
        self._loop = loop
        self._cluster = cluster
        self._rng = rng
        self._opened_s = loop.time()
        self._free_s = [[self._opened_s] * cluster.servers for _ in range(cluster.nodes)]
        self._next_node = 0

    def prepare(self, statement: Statement) -> Statement:
        """Return the statement; nothing has to be prepared."""
        return statement

    def send(self, handle: Statement, values: Values, done: Done) -> None:
        """Queue a request at the next node."""
        node = self._next_node
        self._next_node = (node + 1) % self._cluster.nodes
        now_s = self._loop.time()
        ends_s = self._serve(node, now_s)
        lost_s = self._lost(node, now_s, ends_s)
        if lost_s is not None:
            self._loop.call_at(lost_s, self._answer, done, OUTAGE_ERROR)
        else:
            self._loop.call_at(ends_s, self._answer, done, None)

    def _serve(self, node: int, now_s: float) -> float:
        """Return when a request will be answered, and take the server until then."""
        free_s = self._free_s[node]
        ends_s = self._delayed(max(heapq.heappop(free_s), now_s) + self._service(now_s))
        heapq.heappush(free_s, ends_s)
        return ends_s

    def _delayed(self, ends_s: float) -> float:
        """Return the end of a service, moved behind the stall that it falls into."""
        for from_s, to_s in self._cluster.stalls:
            if self._opened_s + from_s <= ends_s < self._opened_s + to_s:
                return self._opened_s + to_s
        return ends_s

    def _service(self, now_s: float) -> float:
        cluster = self._cluster
        mean_s = cluster.service_s * (1.0 + cluster.slower_per_s * (now_s - self._opened_s))
        return mean_s if cluster.distribution == "constant" else float(self._rng.exponential(mean_s))

    def _lost(self, node: int, now_s: float, ends_s: float) -> float | None:
        """Return when an outage ends a request, None when none does."""
        for outage in self._cluster.outages:
            away_s, back_s = self._opened_s + outage.from_s, self._opened_s + outage.to_s
            if outage.node == node and away_s < ends_s and now_s < back_s:
                return max(now_s, away_s)
        return None

    def _answer(self, done: Done, error: str | None) -> None:
        done(self._loop.time(), error, 1)


@dataclass(frozen=True)
class MemoryBackend:
    """Opens sessions on clusters in memory: each process has one of its own, so capacity grows with processes."""

    cluster: MemoryCluster
    seed: int = 1

    @property
    def facts(self) -> BackendFacts:
        """What a measurement says about it."""
        return FACTS

    @contextmanager
    def session(self, loop: Loop, part: int) -> Iterator[MemorySession]:
        """Yield the session of one process."""
        yield MemorySession(loop, self.cluster, np.random.default_rng([self.seed, part]))


