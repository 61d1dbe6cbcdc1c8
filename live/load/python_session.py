"""The load on the Python driver: what most users of Cassandra in Python have, at 75 to 130 µs of client CPU a request.

Answers arrive on the driver's reactor thread. They are noted there with their time, and one call of the loop takes
all that have come: whoever answers while the loop is busy joins the batch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

from .access import Access
from .cassandra_connection import Sender, driver_version, sender
from .session import ONE_PROCESSOR, Approach, BackendFacts, Done, Statement, Values

Bind = Callable[[Values], Any]
TIMED_OUT = "OperationTimedOut"
"""As the driver calls a request whose time is over."""
EXPIRY_STEP_S = 0.1


class PythonSession:
    """Sends by the Python driver."""

    def __init__(self, loop: asyncio.AbstractEventLoop, driver: Sender, timeout_s: float) -> None:
        self._loop = loop
        self._driver = driver
        self._timeout_s = timeout_s
        self._numbers = count()
        self._waiting: dict[int, tuple[float, Done]] = {}
        """Deadlines, ascending because every request has the same time."""
        self._answers: deque[tuple[int, float, str | None, int]] = deque()
        self._called = False
        self._expire()

    def prepare(self, statement: Statement) -> Bind:
        """Return the function that binds values."""
        return self._driver.prepare(statement)

    def send(self, handle: Bind, values: Values, done: Done) -> None:
        """Send a request."""
        number = next(self._numbers)
        self._waiting[number] = (self._loop.time() + self._timeout_s, done)

        def answered(at_s: float, error: str | None, rows: int) -> None:
            self._answers.append((number, at_s, error, rows))
            if not self._called:
                self._called = True
                self._loop.call_soon_threadsafe(self._take)

        self._driver.send(handle, values, answered, self._loop.time)

    def _take(self) -> None:
        """Hand over all answers; one that comes after the flag is lowered calls again, so that none is left."""
        self._called = False
        while self._answers:
            number, at_s, error, rows = self._answers.popleft()
            _, done = self._waiting.pop(number, (0.0, None))
            if done is not None:
                done(at_s, error, rows)

    def _expire(self) -> None:
        """Give up requests whose time is over; their answers, should they come, are dropped."""
        now_s = self._loop.time()
        over = list(takewhile(lambda number: self._waiting[number][0] <= now_s, self._waiting))
        for number in over:
            self._waiting.pop(number)[1](now_s, TIMED_OUT, 0)
        self._loop.call_later(EXPIRY_STEP_S, self._expire)


@dataclass(frozen=True)
class PythonBackend:
    """Opens sessions on a cluster by the Python driver."""

    access: Access
    approach: Approach

    @property
    def facts(self) -> BackendFacts:
        """What a measurement says about it; threads take turns, so a process keeps one processor busy."""
        return BackendFacts("python", ONE_PROCESSOR, {"cassandra-driver": driver_version})

    @contextmanager
    def session(self, loop: asyncio.AbstractEventLoop, part: int) -> Iterator[PythonSession]:
        """Yield the session of one process."""
        with sender(self.access, self.approach) as (driver, _):
            yield PythonSession(loop, driver, self.approach.timeout_s)
