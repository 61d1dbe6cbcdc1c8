"""The engine: a network's program wired to stations, pools and random streams on `simpy.Environment`."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import simpy

from ..graph import COORDINATOR, Resource
from ..network import Network, Station
from ..program import Code
from ..roles import deal_roles, pick_coordinators
from . import instructions
from .stations import (
    DelayStation,
    Handler,
    Join,
    LoadDependentServers,
    Permits,
    QuotaServers,
    Request,
    Servers,
    Token,
    Visiting,
)
from .streams import BLOCK, Streams

RunningStation = Servers | DelayStation


class Engine:
    """One run of a network; `advance` moves it on, the arrays hold what was answered."""

    def __init__(self, network: Network, base: Any, wake_up: Any, seed: int) -> None:
        self.env = simpy.Environment()
        self.network = network
        self._streams = Streams(seed)
        self._base, self._wake_up = base, wake_up
        self.choices = self._streams.uniform("choice")
        phases = self._streams.uniform("phase")
        self.stations = [self._station(station, phases.next()) for station in network.stations]
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
        self._wire()
        self._deal = self._dealer()
        self._start_load()

    def _station(self, station: Station, phase: float) -> RunningStation:
        if not station.queues:
            return DelayStation(station)
        if station.quota is not None:
            return QuotaServers(self.env, station, station.quota, phase)
        return (LoadDependentServers if station.load_dependent else Servers)(self.env, station)

    # -- wiring: from tables to handlers, last instruction first -------------------------------------------

    def _wire(self) -> None:
        network = self.network
        self._station_table = [self._units(resource) for resource in Resource]
        self._pool_table = [
            [self.pools[index] if index >= 0 else None for index in network.pool_of[resource]]
            for resource in Resource
        ]
        self._handlers: list[Handler | None] = [None] * len(network.program.code)
        self.entry = [self._handler(int(start)) for start in network.program.entry]

    def _units(self, resource: int) -> list[tuple[RunningStation, float, float] | None]:
        network = self.network
        return [
            (self.stations[index], float(network.seconds_per[resource, unit]), float(network.setup_s[resource, unit]))
            if index >= 0
            else None
            for unit, index in enumerate(network.station_of[resource])
        ]

    def _handler(self, position: int) -> Handler:
        known = self._handlers[position]
        if known is None:
            known = self._build(position)
            self._handlers[position] = known
        return known

    def _build(self, position: int) -> Handler:
        steps, end = self._delays(position)
        if steps:
            return instructions.travelling(self, steps, self._handler(end))
        code, a, b, c = (int(column) for column in self.network.program.code[position])
        x = float(self.network.program.number[position])
        match code:
            case Code.VISIT:
                return self._visit(a, b, c, position)
            case Code.FORK:
                return self._fork(a, b, c, position)
            case Code.HOLD:
                return instructions.holding(self._pool_table[a], b, self._handler(position + 1))
            case Code.RELEASE:
                return instructions.releasing(self._pool_table[a], b, self._handler(position + 1))
            case Code.CHOICE:
                then, otherwise = self._handler(position + 1), self._handler(a)
                return instructions.choosing(self, x, then, otherwise)
            case Code.JUMP:
                return self._handler(a)
            case Code.DETACH:
                return self._detach(a, position)
            case Code.AFTER:
                threshold = self._threshold(bool(a), b, x)
                return instructions.after(self, threshold, self._handler(position + 1))
            case Code.TIMEOUT:
                return self._timeout(x, position)
            case Code.ANSWER:
                return self._answer
            case Code.END_DETACHED:
                return instructions.ended
        return instructions.end_branch

    def _delays(self, position: int) -> tuple[list[Callable[[Token], float]], int]:
        steps: list[Callable[[Token], float]] = []
        while (step := self._delay(position)) is not None:
            steps.append(step)
            position += 1
        return steps, position

    def _delay(self, position: int) -> Callable[[Token], float] | None:
        code, a, b, c = (int(column) for column in self.network.program.code[position])
        if code == Code.DELAY:
            delay_s = float(self.network.program.number[position])
            return lambda _: delay_s
        if code == Code.LINK:
            return self._link(a, b)
        if code == Code.VISIT and self._is_delay(a):
            table, base = self._station_table[a], float(self._base[c])
            return _take(table, b, base)
        return None

    def _is_delay(self, resource: int) -> bool:
        used = [entry[0] for entry in self._station_table[resource] if entry is not None]
        return bool(used) and all(isinstance(station, DelayStation) for station in used)

    def _link(self, sender: int, receiver: int) -> Callable[[Token], float]:
        if min(sender, receiver) < COORDINATOR:
            client_s = self.network.distances.client_s
            return lambda _: client_s
        return _between(self, sender, receiver)

    def _visit(self, resource: int, role: int, row: int, position: int) -> Handler:
        stream = self._streams.service(float(self.network.demands.variation[row]))
        table = self._station_table[resource]
        visiting = Visiting(table, role, float(self._base[row]), float(self._wake_up[row]), stream)
        self._handlers[position] = visiting
        visiting.following = self._handler(position + 1)
        return visiting

    def _fork(self, needed: int, branches: int, first: int, position: int) -> Handler:
        table = self.network.program.branches
        following = self._handler(int(table[first + branches]))
        starts = [int(table[first + branch]) for branch in range(branches)]
        bodies = [self._handler(start) for start in starts]
        if any(self._speculates(start) for start in starts):
            durations = self.durations.setdefault(position, [])
            return instructions.timed_forking(self, needed, bodies, following, durations)
        return instructions.forking(self, needed, bodies, following)

    def _speculates(self, start: int) -> bool:
        code, relative = self.network.program.code[start][:2]
        return bool(code == Code.AFTER and relative)

    def _threshold(self, relative: bool, fork: int, x: float) -> Callable[[], float]:
        if not relative:
            return lambda: x
        self.thresholds.setdefault(fork, float("inf"))
        self.percentiles[fork] = x
        return lambda: self.thresholds[fork]

    def _detach(self, end: int, position: int) -> Handler:
        following = self._handler(end)
        steps, stop = self._delays(position + 1)
        if steps and stop == end - 1:
            return instructions.accounting(steps, following)
        return instructions.detaching(self._handler(position + 1), following)

    def _timeout(self, limit_s: float, position: int) -> Handler:
        end, depth = position + 1, 1
        codes = self.network.program.code[:, 0]
        while True:
            depth += int(codes[end] == Code.TIMEOUT) - int(codes[end] == Code.END_TIMEOUT)
            if depth == 0:
                break
            end += 1
        deadlines = instructions.Deadlines(self, limit_s, self._handler(end + 1))
        return deadlines.guard(self._handler(position + 1))

    # -- load: who sends requests, and when -----------------------------------------------------------------

    def _dealer(self) -> Callable[[], tuple[int, int, list[int]]]:
        network = self.network
        draws = {name: self._streams.generator(name) for name in ("operation", "key", "coordinator")}
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
        self._pauses = self._streams.exponential("arrival")
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

    def _answer(self, token: Token) -> None:
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


def _deal_block(network: Network, operations: Any, sets: Any, coordinators: Any) -> list[tuple[int, int, list[int]]]:
    graphs = np.zeros(len(sets), dtype=np.int64)
    units = np.zeros((len(sets), network.roles), dtype=np.int64)
    for number, operation in enumerate(network.operations):
        chosen = operations == number
        graphs[chosen], units[chosen] = deal_roles(network, operation, sets[chosen], coordinators[chosen])
    return list(zip(operations.tolist(), graphs.tolist(), units.tolist(), strict=True))


def _take(table: Any, role: int, base: float) -> Callable[[Token], float]:
    def take(token: Token) -> float:
        station, scale, setup_s = table[token.request.units[role]]
        seconds: float = station.take(base * scale + setup_s)
        return seconds

    return take


def _between(engine: Engine, sender: int, receiver: int) -> Callable[[Token], float]:
    distances = engine.network.distances
    delay_s: list[float] = distances.delay_s.tolist()
    place = list(
        zip(distances.datacenter.tolist(), distances.rack.tolist(), distances.host.tolist(), strict=True)
    )

    def link(token: Token) -> float:
        first, second = token.request.units[sender], token.request.units[receiver]
        if first == second:
            return delay_s[0]
        engine.messages += 1
        (datacenter, rack, host), (other_datacenter, other_rack, other_host) = place[first], place[second]
        if host == other_host:
            return delay_s[1]
        if rack == other_rack:
            return delay_s[2]
        return delay_s[3] if datacenter == other_datacenter else delay_s[4]

    return link

