"""The engine: a network's program wired to stations, pools and random streams on `simpy.Environment`."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import simpy

from ..network import Network, Station
from ..roles import deal_roles, pick_coordinators
from . import instructions
from .event_log import Entry, LoggedWiring, logged
from .quota_servers import LoadDependentQuotaServers, QuotaServers
from .stations import DelayStation, Join, LoadDependentServers, Permits, Request, Servers, Token
from .streams import BLOCK, Streams
from .wiring import RunningStation, Wiring

DRIFT = 0.02
"""Difference between the shortest and the longest period of several quotas, as a ratio. How far the periods of two
nodes are apart is chance, constant over a real run, and moves its throughput by 10 to 15 % at few in flight; a run
that passes through all distances gives the mean over them."""


def drifting(stations: Sequence[Station]) -> list[Station]:
    """Return the stations with the periods of several quotas a little apart; what a quota allows stays."""
    capped = [index for index, station in enumerate(stations) if station.quota is not None]
    moved = list(stations)
    for place, index in enumerate(capped if len(capped) > 1 else ()):
        quota = stations[index].quota
        assert quota is not None
        factor = 1 + DRIFT * (place / (len(capped) - 1) - 0.5)
        moved[index] = replace(stations[index], quota=replace(quota, period_s=quota.period_s * factor))
    return moved


class Engine:
    """One run of a network; `advance` moves it on, the arrays hold what was answered."""

    def __init__(
        self, network: Network, base: Any, wake_up: Any, seed: int, log: list[Entry] | None = None
    ) -> None:
        """Wire a network; with a `log`, every event is appended to it (`event_log.py`)."""
        self.env = simpy.Environment()
        self.network = network
        self.streams = Streams(seed)
        self.choices = self.streams.uniform("choice")
        phases = self.streams.uniform("phase")
        self.stations = [self._station(station, phases.next(), log) for station in drifting(network.stations)]
        self.pools = [Permits(pool.permits) for pool in network.pools]
        self.messages = 0
        self.speculations = 0
        self.waits_remote = 0
        self.thresholds: dict[int, float] = {}
        self.percentiles: dict[int, float] = {}
        self.durations: dict[int, list[float]] = {}
        self.completed_s, self.latency_s = array("d"), array("d")
        self.operation, self.failed = array("b"), array("b")
        self._until = 0
        self._outermost = Join(0, instructions.ended, None, 0.0)  # type: ignore[arg-type]
        self._stop: simpy.Event | None = None
        wiring = Wiring(self, base, wake_up) if log is None else LoggedWiring(self, base, wake_up, log)
        self.entry = wiring.entries()
        self._deal = self._dealer()
        self._start_load()

    def _station(self, station: Station, phase: float, log: list[Entry] | None) -> RunningStation:
        if not station.queues:
            return DelayStation(self.env, station)
        kind = _kind(station)
        return (kind if log is None else logged(kind, log))(self.env, station, phase)

    def _dealer(self) -> Callable[[], tuple[int, int, list[int]]]:
        network = self.network
        draws = {name: self.streams.generator(name) for name in ("operation", "key", "coordinator")}
        shares = np.cumsum([operation.share for operation in network.operations])
        keys = np.cumsum(network.binding.weight)
        block: list[tuple[int, int, list[int]]] = []
        dealt = 0

        def deal() -> tuple[int, int, list[int]]:
            nonlocal dealt
            if not block:
                operations = np.searchsorted(shares / shares[-1], draws["operation"].random(BLOCK), "right")
                sets = np.searchsorted(keys / keys[-1], draws["key"].random(BLOCK), "right")
                coordinators = pick_coordinators(network, sets, draws["coordinator"].random(BLOCK), dealt)
                dealt += BLOCK
                block.extend(reversed(_deal_block(network, operations, sets, coordinators)))
            return block.pop()

        return deal

    def _start_load(self) -> None:
        load = self.network.load
        self._pauses = self.streams.exponential("arrival")
        self._sent = 0
        if load.rate_per_s is None:
            for client in range(load.in_flight or 1):
                self._schedule(self._think(), self._send, client)
        else:
            self._in_flight = 0
            self._waiting: list[float] = []
            self._schedule(self._gap(), self._arrive, 0)

    def _schedule(self, delay_s: float, callback: Callable[[Any], None], value: int) -> None:
        event = simpy.Event(self.env)
        event._ok, event._value = True, value
        event.callbacks = [callback]
        self.env.schedule(event, delay=delay_s)

    def _think(self) -> float:
        think_s = self.network.load.think_time_s
        return think_s * self._pauses.next() if think_s else 0.0

    def _gap(self) -> float:
        load = self.network.load
        mean_s = 1.0 / (load.rate_per_s or 1.0)
        if load.arrivals == "constant":
            return mean_s
        if load.arrivals == "bursts":
            return mean_s * load.burst_size * self._pauses.next()
        return mean_s * self._pauses.next()

    def _burst(self) -> int:
        load = self.network.load
        if load.arrivals != "bursts" or load.burst_size == 1:
            return 1
        return 1 + int(np.log(1.0 - self.choices.next()) / np.log(1.0 - 1.0 / load.burst_size))

    def _arrive(self, _: Any) -> None:
        limit = self.network.load.max_in_flight
        for _number in range(self._burst()):
            if limit is not None and self._in_flight >= limit:
                self._waiting.append(self.env._now)
            else:
                self._in_flight += 1
                self._launch(self.env._now)
        self._schedule(self._gap(), self._arrive, 0)

    def _send(self, _: Any) -> None:
        self._launch(self.env._now)

    def _launch(self, intended_s: float) -> None:
        operation, graph, units = self._deal()
        units[0] = self._sent % self.network.load.machines
        self._sent += 1
        self.waits_remote += self.network.waits_remote[graph]
        self.entry[graph](Token(Request(operation, units, intended_s), self._outermost))

    def answer(self, token: Token) -> None:
        """Note that a request has been answered; a closed client sends its next one."""
        request = token.request
        now = self.env._now
        self.completed_s.append(now)
        self.latency_s.append(now - request.start_s)
        self.operation.append(request.operation)
        self.failed.append(request.error)
        if len(self.completed_s) >= self._until and self._stop is not None:
            self._stop.succeed()
            self._stop = None
        load = self.network.load
        if load.rate_per_s is None:
            if load.think_time_s:
                self._schedule(self._think(), self._send, 0)
            else:
                self._launch(now)
        elif self._waiting:
            self._launch(self._waiting.pop(0))
        else:
            self._in_flight -= 1

    def advance(self, answers: int) -> None:
        """Run until so many requests have been answered in all."""
        if answers > len(self.completed_s):
            self._until = answers
            self._stop = simpy.Event(self.env)
            self.env.run(until=self._stop)


def _kind(station: Station) -> type[Servers]:
    if station.quota is not None:
        return LoadDependentQuotaServers if station.load_dependent else QuotaServers
    return LoadDependentServers if station.load_dependent else Servers


def _deal_block(network: Network, operations: Any, sets: Any, coordinators: Any) -> list[tuple[int, int, list[int]]]:
    graphs = np.zeros(len(sets), dtype=np.int64)
    units = np.zeros((len(sets), network.roles), dtype=np.int64)
    for number, operation in enumerate(network.operations):
        chosen = operations == number
        graphs[chosen], units[chosen] = deal_roles(network, operation, sets[chosen], coordinators[chosen])
    return list(zip(operations.tolist(), graphs.tolist(), units.tolist(), strict=True))
