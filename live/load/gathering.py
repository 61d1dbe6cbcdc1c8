"""Adding up what the processes report: an interval is whole when all that still run have reported it.

A process that is lost counts with what it had reported; it is not waited for any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from .interval import Interval, together
from .processes import Heard, Left


class Gathering:
    """Takes reports in any order and gives whole intervals in theirs."""

    def __init__(self, parts: int) -> None:
        self._latest = dict.fromkeys(range(parts), -1)
        self._kept: dict[int, list[Interval]] = {}
        self._next = 0
        self.lost: list[tuple[int, float | None]] = []
        """Processes that ended before they were told, with the end of their last interval."""
        self._ends_s: dict[int, float] = {}

    def take(self, message: Heard | Left) -> Iterator[Interval]:
        """Take a report and yield the intervals that are whole now."""
        if isinstance(message, Heard):
            self._latest[message.part] = message.interval.number
            self._ends_s[message.part] = message.interval.ended_s
            self._kept.setdefault(message.interval.number, []).append(message.interval)
        else:
            self._leave(message)
        yield from self._whole()

    def _leave(self, message: Left) -> None:
        self._latest.pop(message.part, None)
        if message.lost:
            self.lost.append((message.part, self._ends_s.get(message.part)))

    def _whole(self) -> Iterator[Interval]:
        done = min(self._latest.values(), default=max(self._kept, default=-1))
        for number in count(self._next):
            if number > done:
                return
            self._next = number + 1
            if number in self._kept:
                yield together(self._kept.pop(number))
