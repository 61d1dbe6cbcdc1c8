"""The closed loop: a fixed number of requests in flight; whoever is answered pauses and sends the next.

A request that failed is counted, not sent again, and its place pauses for `ERROR_PAUSE_S`: a node that refuses at
once would otherwise be asked ten thousand times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .event_loop import Loop
from .interval_recorder import IntervalRecorder
from .requests import Request
from .session import Session

ERROR_PAUSE_S = 0.1


class ClosedLoop:
    """Keeps requests in flight until it is stopped or the requests run out."""

    def __init__(
        self,
        loop: Loop,
        session: Session,
        requests: Iterator[Request],
        recorder: IntervalRecorder,
        in_flight: int,
        pause_s: Callable[[], float] | None = None,
        retry: bool = False,
    ) -> None:
        """Make a loop that is at rest.

        Args:
            loop: where time comes from.
            session: carries the requests.
            requests: what is sent.
            recorder: takes what happens.
            in_flight: places, each with one request at a time.
            pause_s: draws the pause between an answer and the next request of a place; none when not given.
            retry: whether a request that failed is sent again, as loading needs it.
        """
        self._loop = loop
        self._session = session
        self._requests = requests
        self._recorder = recorder
        self._places = in_flight
        self._pause_s = pause_s
        self._retry = retry
        self._stopped = False
        self.in_flight = 0
        """Requests sent and not answered."""
        self.resting = 0
        """Places that pause."""

    @property
    def finished(self) -> bool:
        """Whether nothing is in flight and nothing will be sent."""
        return self.in_flight == 0 and (self._stopped or self.resting == 0)

    def start(self) -> None:
        """Send the first request of each place."""
        for _ in range(self._places):
            self._send_next()

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped = True

    def _send_next(self) -> None:
        if self._stopped:
            return
        request = next(self._requests, None)
        if request is not None:
            self._send(request)

    def _send(self, request: Request) -> None:
        began_s = self._loop.time()
        self.in_flight += 1

        def done(at_s: float, error: str | None, rows: int) -> None:
            self.in_flight -= 1
            if error is None:
                self._recorder.answered(request.operation, at_s - began_s, request.finds and rows == 0)
                self._after_answer()
            else:
                self._recorder.failed(error)
                self._after_error(request)

        self._session.send(request.handle, request.values, done)

    def _after_answer(self) -> None:
        if self._pause_s is None:
            self._send_next()
        else:
            self._rest(self._pause_s(), self._send_next)

    def _after_error(self, request: Request) -> None:
        again = (lambda: self._send(request)) if self._retry else self._send_next
        self._rest(ERROR_PAUSE_S, again)

    def _rest(self, pause_s: float, then: Callable[[], None]) -> None:
        self.resting += 1
        self._loop.call_later(pause_s, self._wake, then)

    def _wake(self, then: Callable[[], None]) -> None:
        self.resting -= 1
        if not self._stopped:
            then()
