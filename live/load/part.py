"""One process's part of a load: a closed or open loop, cut into intervals on the common grid until it is told to stop.

After the last interval nothing is sent any more; what is in flight then gets `DRAIN_S` to be answered, which is not
counted, and what is still not answered is reported as errors of the kind `Unanswered`: a node that hangs at the end
of a run must not look as if it had answered everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .buckets import NOTHING
from .client_watch import ClientWatch
from .event_loop import Loop
from .interval import Interval, Starts
from .interval_recorder import IntervalRecorder

DRAIN_S = 2.0
_DRAIN_STEP_S = 0.02
UNANSWERED = "Unanswered"


class Sending(Protocol):
    """A closed or an open loop."""

    in_flight: int
    """Requests sent and not answered."""

    @property
    def finished(self) -> bool:
        """Whether nothing is in flight and nothing will be sent."""

    def start(self) -> None:
        """Begin to send."""

    def stop(self) -> None:
        """Send nothing more."""


class Boss(Protocol):
    """To whom a part reports."""

    def report(self, interval: Interval) -> None:
        """Take an interval that has ended."""

    def says_stop(self) -> bool:
        """Return whether the part is to end."""


@dataclass(frozen=True)
class Grid:
    """When intervals end: at start, start + length, …"""

    start_s: float
    length_s: float

    def end_s(self, number: int) -> float:
        """Return the planned end of an interval."""
        return self.start_s + (number + 1) * self.length_s


class Part:
    """Runs a loop that sends, and reports intervals."""

    def __init__(
        self,
        loop: Loop,
        sending: Sending,
        recorder: IntervalRecorder,
        watch: ClientWatch,
        boss: Boss,
        grid: Grid,
        when_over: Callable[[], None],
    ) -> None:
        self._loop, self._sending, self._recorder = loop, sending, recorder
        self._watch, self._boss, self._grid, self._when_over = watch, boss, grid, when_over
        self._number = 0
        self._began_s = grid.start_s

    def start(self) -> None:
        """Begin at the start of the grid."""
        self._loop.call_at(self._grid.start_s, self._begin)

    def _begin(self) -> None:
        self._began_s = self._loop.time()
        self._watch.cut(0.0)
        self._sending.start()
        self._loop.call_at(self._grid.end_s(0), self._tick)

    def _tick(self) -> None:
        """End an interval and plan the next end; after a standstill some intervals are short."""
        now_s = self._loop.time()
        self._report(now_s)
        if self._boss.says_stop() or self._sending.finished:
            self._sending.stop()
            self._drain(now_s + DRAIN_S)
        else:
            self._loop.call_at(self._grid.end_s(self._number), self._tick)

    def _report(self, now_s: float) -> None:
        use = self._watch.cut(now_s - self._began_s)
        in_flight = self._sending.in_flight
        self._boss.report(self._recorder.cut(self._number, self._began_s, now_s, in_flight, use))
        self._number += 1
        self._began_s = now_s

    def _drain(self, until_s: float) -> None:
        if self._sending.in_flight and self._loop.time() < until_s:
            self._loop.call_later(_DRAIN_STEP_S, self._drain, until_s)
            return
        self._report_unanswered()
        self._watch.close()
        self._when_over()

    def _report_unanswered(self) -> None:
        left, missed = self._sending.in_flight, self._recorder.missed_starts
        if left or missed:
            errors = {UNANSWERED: left} if left else {}
            starts = Starts({}, {}, NOTHING, missed) if missed else None
            self._boss.report(
                Interval(self._number, self._began_s, self._loop.time(), {}, errors, starts=starts)
            )
