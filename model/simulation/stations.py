"""Stations and pools as the simulation runs them.

A token is the thread of control of (a branch of) a request and, at the same time, the simpy event that moves it:
code bent for speed, an event object less per step; see `tests/benchmark_simulation.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappush
from typing import Any

import simpy
from simpy.events import NORMAL, Event

from ..network import Station
from .streams import Stream

Handler = Callable[[Any], None]


class Request:
    """One request: when it started, who plays its roles, whether it has been answered."""

    __slots__ = ("answered", "error", "number", "operation", "start_s", "units")

    number: int
    """Set by an event log only."""

    def __init__(self, operation: int, units: list[int], start_s: float) -> None:
        self.operation = operation
        self.units = units
        self.start_s = start_s
        self.answered = False
        self.error = False


class Join:
    """Where the branches of a fork meet."""

    __slots__ = ("arrived", "needed", "next", "outer", "start_s")

    outer: Join

    def __init__(self, needed: int, following: Handler, outer: Join, start_s: float) -> None:
        self.needed = needed
        self.arrived = 0
        self.next = following
        self.outer = outer
        self.start_s = start_s


class Token(Event):
    """A thread of control within a request."""

    _ok = True
    _value = None
    join: Join
    """Where its branch ends; meaningless outside a fork."""
    visit: Visiting
    """The visit it waits for or is served for, with the next two."""
    scale: float
    setup_s: float

    def __init__(self, request: Request, join: Join) -> None:  # not Event's: no environment, no callbacks
        self.request = request
        self.join = join


class Visiting:
    """A visit instruction ready to run: the demand's parts and what comes next."""

    __slots__ = ("base", "block", "following", "refill", "role", "table", "wake_up")

    def __init__(self, table: list[Any], role: int, base: float, wake_up: float, stream: Stream) -> None:
        self.table = table
        self.role = role
        self.base = base
        self.wake_up = wake_up
        self.block: list[float] = stream.block
        self.refill = stream.refill
        self.following: Handler = _nothing

    def __call__(self, token: Token) -> None:
        station, token.scale, token.setup_s = self.table[token.request.units[self.role]]
        token.visit = self
        station.arrive(token)


def _nothing(_: Any) -> None:
    return None


class Servers:
    """Identical servers with one first-come-first-served queue."""

    def __init__(self, env: simpy.Environment, station: Station, phase: float = 0.0) -> None:
        self.env = env
        self.station = station
        self.servers = station.quota.cpus if station.quota else station.servers
        self.free = self.servers
        self.queue: deque[Token] = deque()
        self.busy_s = 0.0
        self.visits = 0
        self._events = env._queue
        self._number = env._eid
        self._completed: list[Handler] = [self.complete]

    @property
    def present(self) -> int:
        """Number of tokens waiting or in service."""
        return len(self.queue) + self.servers - self.free

    def arrive(self, token: Token) -> None:
        """Serve a token at once when a server is free and nobody waits, otherwise let it wait."""
        if self.free and not self.queue:
            self.free -= 1
            self.start(token)
        else:
            self.queue.append(token)

    def start(self, token: Token) -> None:
        """Begin a service and schedule its end."""
        service_s = self.service_s(token)
        self.busy_s += service_s
        token.callbacks = self._completed
        heappush(self._events, (self.env._now + service_s, NORMAL, next(self._number), token))

    def service_s(self, token: Token) -> float:
        """Return the time of the service that begins now."""
        visit = token.visit
        block = visit.block
        if not block:
            visit.refill()
        self.visits += 1
        if visit.wake_up or token.setup_s:
            present = len(self.queue) + self.servers - self.free
            return (visit.base * block.pop() + visit.wake_up / present) * token.scale + token.setup_s / present
        return visit.base * block.pop() * token.scale

    def complete(self, token: Token) -> None:
        """End a service: the token goes on, then the server takes the next.

        In this order a token that comes back at once counts as present when the next service begins.
        """
        self.free += 1
        token.visit.following(token)
        if self.queue and self.free:
            self.free -= 1
            self.start(self.queue.popleft())


class LoadDependentServers(Servers):
    """Servers whose demand rises with what else is present (sharing, contention)."""

    def __init__(self, env: simpy.Environment, station: Station, phase: float = 0.0) -> None:
        super().__init__(env, station, phase)
        self._present_by: dict[int, int] = {}

    def arrive(self, token: Token) -> None:
        """Note whose work has come, then serve it."""
        unit = token.request.units[token.visit.role]
        self._present_by[unit] = self._present_by.get(unit, 0) + 1
        super().arrive(token)

    def service_s(self, token: Token) -> float:
        """Return the time of the service, dearer by the work of others and beyond the knee."""
        station = self.station
        own = token.request.units[token.visit.role]
        others = sum(1 for unit, count in self._present_by.items() if count and unit != own)
        crowd = max(0.0, self.present / self.servers - station.contention_knee)
        shared = min(1.0, others / self.servers)
        factor = (1 + station.sharing_ratio * shared) * (1 + station.contention_ratio * crowd)
        return factor * super().service_s(token)

    def complete(self, token: Token) -> None:
        """Note that the work has gone, then end the service."""
        self._present_by[token.request.units[token.visit.role]] -= 1
        super().complete(token)


class DelayStation:
    """Servers without limit: a delay with its use accounted."""

    __slots__ = ("busy_s", "env", "queue", "station", "visits")

    def __init__(self, env: simpy.Environment, station: Station) -> None:
        self.env = env
        self.station = station
        self.busy_s = 0.0
        self.visits = 0
        self.queue: tuple[()] = ()

    present = 0

    def take(self, seconds: float) -> float:
        """Account a service and return it."""
        self.busy_s += seconds
        self.visits += 1
        return seconds

    def arrive(self, token: Token) -> None:
        """Delay a token: for visits of a resource that is a delay on some units and queues on others."""
        visit = token.visit
        token.callbacks = [visit.following]
        delay_s = self.take(visit.base * token.scale + token.setup_s)
        heappush(self.env._queue, (self.env._now + delay_s, NORMAL, next(self.env._eid), token))


class Permits:
    """A pool of permits with a line of waiting tokens."""

    __slots__ = ("free", "queue", "visits", "waited")

    def __init__(self, permits: int) -> None:
        self.free = permits
        self.queue: deque[tuple[Token, Handler]] = deque()
        self.visits = 0
        self.waited = 0
