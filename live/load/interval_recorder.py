"""Collecting what happens in one process until the end of an interval: closed loops tell service times only."""

from __future__ import annotations

from collections import Counter, defaultdict

from .buckets import Tally, tally
from .interval import ClientUse, Interval, Starts

Times = defaultdict[str, list[float]]


class IntervalRecorder:
    """Collects what happens; `cut` gives the interval so far and begins the next."""

    def __init__(self, is_open: bool = False) -> None:
        """Begin.

        Args:
            is_open: whether requests have intended starts.
        """
        self._is_open = is_open
        self._clear()

    def _clear(self) -> None:
        self._latencies_s: Times = defaultdict(list)
        self._responses_s: Times = defaultdict(list)
        self._waits_s: Times = defaultdict(list)
        self._lags_s: list[float] = []
        self._errors: Counter[str] = Counter()
        self._missing_rows = 0
        self.missed_starts = 0
        """Intended starts that were given up since the last cut."""

    def came_to_start(self, lag_s: float) -> None:
        """Add a start that the load came to so late."""
        self._lags_s.append(lag_s)

    def answered(self, operation: str, latency_s: float, missing_row: bool) -> None:
        """Add an answer."""
        self._latencies_s[operation].append(latency_s)
        self._missing_rows += missing_row

    def answered_from(self, operation: str, due_s: float, sent_s: float, at_s: float, missing_row: bool) -> None:
        """Add the answer to a request with an intended start."""
        self.answered(operation, at_s - sent_s, missing_row)
        self._responses_s[operation].append(at_s - due_s)
        self._waits_s[operation].append(sent_s - due_s)

    def failed(self, kind: str) -> None:
        """Add an error."""
        self._errors[kind] += 1

    def cut(self, number: int, began_s: float, ended_s: float, in_flight: int, client: ClientUse) -> Interval:
        """Return the interval and begin the next."""
        interval = Interval(
            number=number,
            began_s=began_s,
            ended_s=ended_s,
            latencies=_tallies(self._latencies_s),
            errors=dict(self._errors),
            missing_rows=self._missing_rows,
            in_flight=in_flight,
            client=client,
            starts=self._starts() if self._is_open else None,
        )
        self._clear()
        return interval

    def _starts(self) -> Starts:
        lags = tally(self._lags_s)
        return Starts(_tallies(self._responses_s), _tallies(self._waits_s), lags, self.missed_starts)


def _tallies(times_s: Times) -> dict[str, Tally]:
    return {name: tally(values_s) for name, values_s in times_s.items()}
