"""Where time comes from: the part of an asyncio loop that the load needs, and one whose time is simulated.

`VirtualLoop` runs a minute of load in as long as its events take, and the same way every time: for tests, and for
whatever has known service times.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any, Protocol


class Loop(Protocol):
    """Calls functions at their time, one after the other; asyncio's loops are such."""

    def time(self) -> float:
        """Return the time in seconds, of a clock that only goes forward."""

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> object:
        """Call a function after a delay in seconds."""

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> object:
        """Call a function at a time."""


class VirtualLoop:
    """A loop that jumps from event to event; events at the same time run in the order of their calls."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._order = count()
        self._due: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []

    def time(self) -> float:
        """Return the simulated time."""
        return self._now_s

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> None:
        """Call a function after a delay in simulated seconds."""
        self.call_at(self._now_s + delay, callback, *args)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> None:
        """Call a function at a simulated time."""
        heapq.heappush(self._due, (max(when, self._now_s), next(self._order), callback, args))

    def step(self) -> bool:
        """Run the next event; return whether there was one."""
        if not self._due:
            return False
        self._now_s, _, callback, args = heapq.heappop(self._due)
        callback(*args)
        return True
