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

from ..network import Quota, Station
from .streams import Stream

Handler = Callable[[Any], None]


class Request:
    """One request: when it started, who plays its roles, whether it has been answered."""

    __slots__ = ("answered", "error", "operation", "start_s", "units")

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

    def __init__(self, env: simpy.Environment, station: Station) -> None:
        self.env = env
        self.station = station
        self.free = station.servers
        self.queue: deque[Token] = deque()
        self.busy_s = 0.0
        self.visits = 0
        self.residence_s = 0.0
        self._events = env._queue
        self._number = env._eid
        self._completed: list[Handler] = [self.complete]

    @property
    def present(self) -> int:
        """Number of tokens waiting or in service."""
        return len(self.queue) + self.station.servers - self.free

    def arrive(self, token: Token) -> None:
        """Serve a token at once when a server is free, otherwise let it wait."""
        if self.free:
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
            present = len(self.queue) + self.station.servers - self.free
            return (visit.base * block.pop() + visit.wake_up / present) * token.scale + token.setup_s / present
        return visit.base * block.pop() * token.scale

    def complete(self, token: Token) -> None:
        """End a service: the server takes the next token, the token goes on."""
        if self.queue:
            self.start(self.queue.popleft())
        else:
            self.free += 1
        token.visit.following(token)


class LoadDependentServers(Servers):
    """Servers whose demand rises with what else is present (sharing, contention)."""

    def __init__(self, env: simpy.Environment, station: Station) -> None:
        super().__init__(env, station)
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
        crowd = max(0.0, self.present / station.servers - station.contention_knee)
        shared = min(1.0, others / station.servers)
        factor = (1 + station.sharing_ratio * shared) * (1 + station.contention_ratio * crowd)
        return factor * super().service_s(token)

    def complete(self, token: Token) -> None:
        """Note that the work has gone, then end the service."""
        self._present_by[token.request.units[token.visit.role]] -= 1
        super().complete(token)


class DelayStation:
    """Servers without limit: a delay with its use accounted."""

    __slots__ = ("busy_s", "queue", "station", "visits")

    def __init__(self, station: Station) -> None:
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


class Service(Event):
    """The end of one service under a quota; void when the service was stopped before it."""

    _ok = True
    _value = None

    def __init__(self, token: Token | None) -> None:
        self.token = token


class QuotaServers(Servers):
    """Servers that stop when the CPU quota of a period is used up, and go on in the next period.

    Idle workers spin: the quota is used at a rate of min(cpus, busy + idle_cores).
    """

    def __init__(self, env: simpy.Environment, station: Station, quota: Quota, phase: float) -> None:
        super().__init__(env, station)
        self.quota = quota
        self.free = quota.cpus
        self._left_s = quota.cores * quota.period_s
        self._boundary_s = phase * quota.period_s
        self._since_s = 0.0
        self._rate = min(float(quota.cpus), station.idle_cores)
        self._running: dict[Token, tuple[float, Service]] = {}
        self._stopped: list[tuple[Token, float]] = []
        self._off = False
        self._alarm: Service | None = None
        self.throttled_s = 0.0

    @property
    def present(self) -> int:
        """Number of tokens waiting or in service."""
        return len(self.queue) + self.quota.cpus - self.free

    def service_s(self, token: Token) -> float:
        """Return the CPU time of the service that begins now."""
        visit = token.visit
        if not visit.block:
            visit.refill()
        self.visits += 1
        wake_up = (visit.wake_up * token.scale + token.setup_s) / self.present
        return visit.base * visit.block.pop() * token.scale + wake_up

    def start(self, token: Token) -> None:
        """Begin a service, or keep it for the next period."""
        service_s = self.service_s(token)
        self.busy_s += service_s
        self._use()
        if not self._off and self._left_s <= 0.0:
            self._stop()
        self._run(token, service_s)
        self._account()

    def _run(self, token: Token, remaining_s: float) -> None:
        if self._off:
            self._stopped.append((token, remaining_s))
            return
        service = Service(token)
        service.callbacks = [self._end]
        self._running[token] = (self.env._now + remaining_s, service)
        self._schedule(remaining_s, service)

    def _schedule(self, delay_s: float, event: Service) -> None:
        heappush(self._events, (self.env._now + delay_s, NORMAL, next(self._number), event))

    def _end(self, service: Service) -> None:
        token = service.token
        if token is None:
            return
        del self._running[token]
        if self.queue:
            self.start(self.queue.popleft())
        else:
            self.free += 1
            self._account()
        token.visit.following(token)

    def _use(self) -> None:
        """Bring the quota left up to now; a period that has begun since has its whole quota."""
        now, quota = self.env._now, self.quota
        if now >= self._boundary_s:
            periods = int((now - self._boundary_s) / quota.period_s) + 1
            self._since_s = self._boundary_s + (periods - 1) * quota.period_s
            self._boundary_s += periods * quota.period_s
            self._left_s = quota.cores * quota.period_s
        self._left_s -= self._rate * (now - self._since_s)
        self._since_s = now

    def _account(self) -> None:
        """Note the rate of use from now on, and when the quota will be used up."""
        quota = self.quota
        self._use()
        if self._alarm is not None:
            self._alarm.token = None
            self._alarm = None
        self._rate = 0.0 if self._off else min(float(quota.cpus), len(self._running) + self.station.idle_cores)
        if not self._running:
            return
        delay_s = max(0.0, self._left_s) / self._rate
        until_boundary_s = self._boundary_s - self.env._now
        if delay_s > until_boundary_s:
            per_period_s = quota.cores * quota.period_s / self._rate
            if per_period_s >= quota.period_s:
                return
            delay_s = until_boundary_s + per_period_s
        self._alarm = Service(next(iter(self._running)))
        self._alarm.callbacks = [self._exhausted]
        self._schedule(delay_s, self._alarm)

    def _exhausted(self, alarm: Service) -> None:
        if alarm.token is None:
            return
        self._alarm = None
        self._use()
        self._stop()
        now = self.env._now
        for token, (end_s, service) in self._running.items():
            service.token = None
            self._stopped.append((token, max(0.0, end_s - now)))
        self._running.clear()

    def _stop(self) -> None:
        """Stand still until the period ends."""
        self._off = True
        self._rate = 0.0
        self.throttled_s += self._boundary_s - self.env._now
        refill = Service(None)
        refill.callbacks = [self._refilled]
        heappush(self._events, (self._boundary_s, NORMAL, next(self._number), refill))

    def _refilled(self, _: Service) -> None:
        self._use()
        self._off = False
        stopped, self._stopped = self._stopped, []
        for token, remaining_s in stopped:
            self._run(token, remaining_s)
        self._account()


class Permits:
    """A pool of permits with a line of waiting tokens."""

    __slots__ = ("free", "queue", "visits", "waited")

    def __init__(self, permits: int) -> None:
        self.free = permits
        self.queue: deque[tuple[Token, Handler]] = deque()
        self.visits = 0
        self.waited = 0
