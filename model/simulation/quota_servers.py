"""A CPU quota as the simulation runs it: servers that stop when the CPU time of a period is used up."""

from __future__ import annotations

from heapq import heappush

import simpy
from simpy.events import NORMAL, Event

from ..network import Quota, Station
from .stations import LoadDependentServers, Servers, Token

SPENT_RATIO = 1e-9
"""Share of a period's quota below which nothing is left: the rounding of sums of services."""


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

    quota: Quota

    def __init__(self, env: simpy.Environment, station: Station, phase: float = 0.0) -> None:
        super().__init__(env, station, phase)
        assert station.quota is not None
        self.quota = station.quota
        self._whole_s = self.quota.cores * self.quota.period_s
        self._left_s = self._whole_s
        self._boundary_s = phase * self.quota.period_s
        self._since_s = 0.0
        self._rate = min(float(self.servers), station.idle_cores)
        self._running: dict[Token, tuple[float, Service]] = {}
        self._stopped: list[tuple[Token, float]] = []
        self._off = False
        self._alarm: Service | None = None
        self.throttled_s = 0.0

    def start(self, token: Token) -> None:
        """Begin a service, or keep it for the next period."""
        service_s = self.service_s(token)
        self.busy_s += service_s
        self._use()
        if not self._off and self._is_spent():
            self.stop()
        self._run(token, service_s)
        self._account()

    def stop(self) -> None:
        """Stand still until the period ends; what runs is kept for the next."""
        now = self.env._now
        for token, (end_s, service) in self._running.items():
            service.token = None
            self._stopped.append((token, max(0.0, end_s - now)))
        self._running.clear()
        self._off = True
        self.throttled_s += self._boundary_s - now
        refill = Service(None)
        refill.callbacks = [self._refilled]
        heappush(self._events, (self._boundary_s, NORMAL, next(self._number), refill))

    def go_on(self) -> None:
        """Go on with what was stopped."""
        self._off = False
        stopped, self._stopped = self._stopped, []
        for token, remaining_s in stopped:
            self._run(token, remaining_s)
        self._account()

    def _is_spent(self) -> bool:
        return self._left_s <= SPENT_RATIO * self._whole_s

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
        if token is not None:
            del self._running[token]
            self.complete(token)
            self._account()

    def _use(self) -> None:
        """Bring the quota left up to now; a period that has begun since has its whole quota."""
        now, period_s = self.env._now, self.quota.period_s
        if now >= self._boundary_s:
            periods = int((now - self._boundary_s) / period_s) + 1
            self._since_s = self._boundary_s + (periods - 1) * period_s
            self._boundary_s += periods * period_s
            self._left_s = self._whole_s
        self._left_s -= self._rate * (now - self._since_s)
        self._since_s = now

    def _account(self) -> None:
        """Note the rate of use from now on, and when the quota will be used up."""
        self._use()
        if self._alarm is not None:
            self._alarm.token = None
            self._alarm = None
        self._rate = 0.0 if self._off else min(float(self.servers), len(self._running) + self.station.idle_cores)
        if not self._running:
            return
        delay_s = max(0.0, self._left_s) / self._rate
        until_boundary_s = self._boundary_s - self.env._now
        if delay_s >= until_boundary_s * (1 - SPENT_RATIO):
            per_period_s = self._whole_s / self._rate
            if per_period_s >= self.quota.period_s * (1 - SPENT_RATIO):
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
        self.stop()
        self._account()

    def _refilled(self, _: Service) -> None:
        self._use()
        self.go_on()


class LoadDependentQuotaServers(LoadDependentServers, QuotaServers):
    """Servers under a quota whose demand rises with what else is present."""
