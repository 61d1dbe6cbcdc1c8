"""The event log of an engine: who did what, when and where, for tests of tiny scenarios.

Logging is chosen when an engine is built: stations become subclasses that note, and the wiring puts a note before
the handlers of pools, speculation, timeouts, sends and answers. An engine without a log runs none of this code.

What is noted: `send` and `answer` of a request; `arrive`, `start` and `end` of a visit at a station with a queue;
`ask`, `hold` and `release` of a permit; `speculate` when a speculative branch starts; `time out`; `stop` and
`go on` of a station under a quota (request 0). Delays are not events of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from .stations import Handler, Servers, Token
from .wiring import Wiring

if TYPE_CHECKING:
    from .engine import Engine

Entry = tuple[float, str, int, str]
"""Time in seconds, what, number of the request counted from 1, name of the station or pool."""


class LoggedWiring(Wiring):
    """Wiring whose handlers note what they do."""

    def __init__(self, engine: Engine, base: Any, wake_up: Any, log: list[Entry]) -> None:
        super().__init__(engine, base, wake_up)
        self._log = log
        self._numbers = count(1)

    def noted(self, what: str, handler: Handler, resource: int = -1, role: int = -1) -> Handler:
        """Return a handler that notes and goes on."""
        env, log = self._engine.env, self._log
        name = self._namer(resource, role)

        def note(token: Token) -> None:
            if what == "send":
                token.request.number = next(self._numbers)
            where = name(token)
            if where is not None:
                log.append((env.now, what, token.request.number, where))
            handler(token)

        return note

    def _namer(self, resource: int, role: int) -> Callable[[Token], str | None]:
        """Return what gives the name of the pool; None where there is no limit, empty where there is no pool."""
        if resource < 0:
            return lambda _: ""
        network = self._engine.network
        names = [network.pools[pool].name if pool >= 0 else None for pool in network.pool_of[resource]]
        return lambda token: names[token.request.units[role]]


def logged(kind: type[Servers], log: list[Entry]) -> type[Servers]:
    """Return a kind of station that notes what it does."""
    return cast(type[Servers], type(f"Logged{kind.__name__}", (_Noting, kind), {"log": log}))


class _Noting(Servers):
    log: list[Entry]

    def _note(self, what: str, number: int) -> None:
        self.log.append((self.env.now, what, number, self.station.name))

    def arrive(self, token: Token) -> None:
        self._note("arrive", token.request.number)
        super().arrive(token)

    def start(self, token: Token) -> None:
        self._note("start", token.request.number)
        super().start(token)

    def complete(self, token: Token) -> None:
        self._note("end", token.request.number)
        super().complete(token)

    def stop(self) -> None:
        """Note that a quota is used up."""
        self._note("stop", 0)
        super().stop()  # type: ignore[misc]

    def go_on(self) -> None:
        """Note that a new period begins after a stop."""
        self._note("go on", 0)
        super().go_on()  # type: ignore[misc]
