"""The open loop: requests start when they are meant to, whatever has become of those before.

Each request has an intended start. From there to the moment when the load comes to it is the send lag, the load's
own fault; to the send itself the wait, which adds the time until a place in flight is free; to the answer the
response time. A stalled cluster therefore shows in full (no coordinated omission).

Starts beyond the limit on requests in flight wait in order. One that has waited as long as a request may take is
missed: it is never sent, and counted.

Source: G. Tene, "How NOT to Measure Latency" (coordinated omission); `model.arrivals` for the intended starts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from .event_loop import Loop
from .interval_recorder import IntervalRecorder
from .requests import Request
from .session import Session

MOST_AT_ONCE = 64
"""Starts in a row before answers get their turn; about a millisecond of sending."""


class OpenLoop:
    """Sends requests at their intended starts until it is stopped or one of the streams ends."""

    def __init__(
        self,
        loop: Loop,
        session: Session,
        requests: Iterator[Request],
        recorder: IntervalRecorder,
        starts_s: Iterator[float],
        most_in_flight: int,
        patience_s: float,
    ) -> None:
        """Make a loop that is at rest.

        Args:
            loop: where time comes from.
            session: carries the requests.
            requests: what is sent.
            recorder: takes what happens.
            starts_s: intended starts, counted from the start of the loop.
            most_in_flight: beyond them a start waits.
            patience_s: the longest wait.
        """
        self._loop, self._session, self._recorder = loop, session, recorder
        self._requests, self._starts_s = requests, starts_s
        self._most_in_flight, self._patience_s = most_in_flight, patience_s
        self._waiting: deque[float] = deque()
        self._due_s: float | None = None
        self._zero_s = 0.0
        self._stopped = False
        self.in_flight = 0
        """Requests sent and not answered."""

    @property
    def finished(self) -> bool:
        """Whether nothing is in flight and nothing will be sent."""
        return self.in_flight == 0 and not self._waiting and (self._stopped or self._due_s is None)

    def start(self) -> None:
        """Begin; intended starts count from now."""
        self._zero_s = self._loop.time()
        self._plan_next()
        self._sleep()

    def stop(self) -> None:
        """Send nothing more; what waits is missed."""
        self._stopped = True
        self._recorder.missed_starts += len(self._waiting)
        self._waiting.clear()

    def _plan_next(self) -> None:
        start_s = next(self._starts_s, None)
        self._due_s = None if start_s is None else self._zero_s + start_s

    def _sleep(self) -> None:
        if self._due_s is not None:
            self._loop.call_at(self._due_s, self._wake)

    def _wake(self) -> None:
        """Come to all starts that are due, but not to so many that answers would wait for it."""
        if self._stopped:
            return
        for _ in range(MOST_AT_ONCE):
            now_s = self._loop.time()
            if self._due_s is None or self._due_s > now_s:
                break
            self._recorder.came_to_start(now_s - self._due_s)
            self._admit(self._due_s)
            self._plan_next()
        self._sleep()

    def _admit(self, due_s: float) -> None:
        if self.in_flight < self._most_in_flight:
            self._send(due_s)
        else:
            self._waiting.append(due_s)

    def _send(self, due_s: float) -> None:
        request = next(self._requests)
        sent_s = self._loop.time()
        self.in_flight += 1

        def done(at_s: float, error: str | None, rows: int) -> None:
            self.in_flight -= 1
            if error is None:
                missing = request.finds and rows == 0
                self._recorder.answered_from(request.operation, due_s, sent_s, at_s, missing)
            else:
                self._recorder.failed(error)
            if self._waiting:
                self._send_waiting()

        self._session.send(request.handle, request.values, done)

    def _send_waiting(self) -> None:
        """Send the first that waits and is not yet missed."""
        oldest_s = self._loop.time() - self._patience_s
        while self._waiting:
            due_s = self._waiting.popleft()
            if due_s >= oldest_s:
                self._send(due_s)
                return
            self._recorder.missed_starts += 1
