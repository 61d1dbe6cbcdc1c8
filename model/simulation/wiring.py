"""Wiring: from a program's tables to handlers, last instruction first.

Each instruction becomes one closure that knows the handler of what comes next (`instructions.py`), so that nothing
is looked up while requests run. `noted` is where an event log hooks in; without one it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import COORDINATOR, Resource
from ..program import Code
from . import instructions
from .stations import DelayStation, Handler, Servers, Token, Visiting

if TYPE_CHECKING:
    from .engine import Engine

RunningStation = Servers | DelayStation
Steps = list[Callable[[Token], float]]


class Wiring:
    """Builds the handlers of one engine's program."""

    def __init__(self, engine: Engine, base: Any, wake_up: Any) -> None:
        self._engine = engine
        self._program = engine.network.program
        self._base, self._wake_up = base, wake_up
        network = engine.network
        self._station_table = [self._units(resource) for resource in Resource]
        self._pool_table = [
            [engine.pools[index] if index >= 0 else None for index in network.pool_of[resource]]
            for resource in Resource
        ]
        self._handlers: list[Handler | None] = [None] * len(self._program.code)

    def entries(self) -> list[Handler]:
        """Return where each graph begins, [graphs]."""
        return [self.noted("send", self._handler(int(start))) for start in self._program.entry]

    def noted(self, what: str, handler: Handler, resource: int = -1, role: int = -1) -> Handler:
        """Return the handler, or one that notes what happens before it goes on."""
        return handler

    def _units(self, resource: int) -> list[tuple[RunningStation, float, float] | None]:
        network, stations = self._engine.network, self._engine.stations
        return [
            (stations[index], float(network.seconds_per[resource, unit]), float(network.setup_s[resource, unit]))
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
            return instructions.travelling(self._engine, steps, self._handler(end))
        code, a, b, c = (int(column) for column in self._program.code[position])
        x = float(self._program.number[position])
        match code:
            case Code.VISIT:
                return self._visit(a, b, c, position)
            case Code.FORK:
                return self._fork(a, b, c, position)
            case Code.HOLD:
                return self._hold(a, b, position)
            case Code.RELEASE:
                release = instructions.releasing(self._pool_table[a], b, self._handler(position + 1))
                return self.noted("release", release, a, b)
            case Code.CHOICE:
                then, otherwise = self._handler(position + 1), self._handler(a)
                return instructions.choosing(self._engine, x, then, otherwise)
            case Code.JUMP:
                return self._handler(a)
            case Code.DETACH:
                return self._detach(a, position)
            case Code.AFTER:
                body = self.noted("speculate", self._handler(position + 1))
                return instructions.after(self._engine, self._threshold(bool(a), b, x), body)
            case Code.TIMEOUT:
                return self._timeout(x, position)
            case Code.ANSWER:
                return self.noted("answer", self._engine.answer)
            case Code.END_DETACHED:
                return instructions.ended
        return instructions.end_branch

    def _delays(self, position: int) -> tuple[Steps, int]:
        steps: Steps = []
        while (step := self._delay(position)) is not None:
            steps.append(step)
            position += 1
        return steps, position

    def _delay(self, position: int) -> Callable[[Token], float] | None:
        code, a, b, c = (int(column) for column in self._program.code[position])
        if code == Code.DELAY:
            delay_s = float(self._program.number[position])
            return lambda _: delay_s
        if code == Code.LINK:
            return self._link(a, b, c)
        if code == Code.VISIT and self._is_delay(a):
            return _take(self._station_table[a], b, float(self._base[c]))
        return None

    def _is_delay(self, resource: int) -> bool:
        used = [entry[0] for entry in self._station_table[resource] if entry is not None]
        return bool(used) and all(isinstance(station, DelayStation) for station in used)

    def _link(self, sender: int, receiver: int, counts: int) -> Callable[[Token], float]:
        if min(sender, receiver) < COORDINATOR:
            client_s = self._engine.network.distances.client_s
            return lambda _: client_s
        return _between(self._engine, sender, receiver, counts)

    def _visit(self, resource: int, role: int, row: int, position: int) -> Handler:
        stream = self._engine.streams.service(float(self._engine.network.demands.variation[row]))
        table = self._station_table[resource]
        visiting = Visiting(table, role, float(self._base[row]), float(self._wake_up[row]), stream)
        self._handlers[position] = visiting
        visiting.following = self._handler(position + 1)
        return visiting

    def _hold(self, resource: int, role: int, position: int) -> Handler:
        granted = self.noted("hold", self._handler(position + 1), resource, role)
        return self.noted("ask", instructions.holding(self._pool_table[resource], role, granted), resource, role)

    def _fork(self, needed: int, branches: int, first: int, position: int) -> Handler:
        table = self._program.branches
        following = self._handler(int(table[first + branches]))
        starts = [int(table[first + branch]) for branch in range(branches)]
        bodies = [self._handler(start) for start in starts]
        if any(self._speculates(start) for start in starts):
            durations = self._engine.durations.setdefault(position, [])
            return instructions.timed_forking(self._engine, needed, bodies, following, durations)
        return instructions.forking(self._engine, needed, bodies, following)

    def _speculates(self, start: int) -> bool:
        code, relative = self._program.code[start][:2]
        return bool(code == Code.AFTER and relative)

    def _threshold(self, relative: bool, fork: int, x: float) -> Callable[[], float]:
        if not relative:
            return lambda: x
        thresholds = self._engine.thresholds
        thresholds.setdefault(fork, float("inf"))
        self._engine.percentiles[fork] = x
        return lambda: thresholds[fork]

    def _detach(self, end: int, position: int) -> Handler:
        following = self._handler(end)
        steps, stop = self._delays(position + 1)
        if steps and stop == end - 1:
            return instructions.accounting(steps, following)
        return instructions.detaching(self._handler(position + 1), following)

    def _timeout(self, limit_s: float, position: int) -> Handler:
        nesting = np.cumsum(np.isin(self._program.code[position:, 0], Code.TIMEOUT).astype(int)
                            - np.isin(self._program.code[position:, 0], Code.END_TIMEOUT))
        following = self._handler(position + int(np.argmin(nesting > 0)) + 1)
        deadlines = instructions.Deadlines(self._engine, limit_s, following, self.noted("time out", following))
        return deadlines.guard(self._handler(position + 1))


def _take(table: Any, role: int, base: float) -> Callable[[Token], float]:
    def take(token: Token) -> float:
        station, scale, setup_s = table[token.request.units[role]]
        seconds: float = station.take(base * scale + setup_s)
        return seconds

    return take


def _between(engine: Engine, sender: int, receiver: int, counts: int) -> Callable[[Token], float]:
    distances = engine.network.distances
    delay_s: list[float] = distances.delay_s.tolist()
    place = list(
        zip(distances.datacenter.tolist(), distances.rack.tolist(), distances.host.tolist(), strict=True)
    )

    def link(token: Token) -> float:
        first, second = token.request.units[sender], token.request.units[receiver]
        if first == second:
            return delay_s[0]
        engine.messages += counts
        (datacenter, rack, host), (other_datacenter, other_rack, other_host) = place[first], place[second]
        if host == other_host:
            return delay_s[1]
        if rack == other_rack:
            return delay_s[2]
        return delay_s[3] if datacenter == other_datacenter else delay_s[4]

    return link
