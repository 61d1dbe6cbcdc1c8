"""What one process saw in one interval, and the sum over processes.

Intervals of all processes lie on one grid, so they can be added: latencies by bucket, so exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .buckets import NOTHING, Tally, added, tally


@dataclass(frozen=True)
class ClientUse:
    """What the load generator itself used in an interval."""

    cpu_s: float | None = None
    """CPU time of its processes; None where time is simulated."""
    busiest_ratio: float | None = None
    """Share of the time in which the busiest process's Python code was on a CPU."""
    pauses_s: float = 0.0
    """Time of garbage collections."""
    longest_pause_s: float = 0.0
    lag: Tally = NOTHING
    """How late timers of the event loop ran."""


@dataclass(frozen=True)
class Interval:
    """One interval of a run."""

    number: int
    """Place on the grid, counted from 0."""
    began_s: float
    """On the clock of the loop."""
    ended_s: float
    latencies: Mapping[str, Tally]
    """Of the requests answered in it, by operation."""
    errors: Mapping[str, int]
    """Failed requests by kind."""
    missing_rows: int = 0
    """Reads of keys that exist that found nothing."""
    in_flight: int = 0
    """Requests in flight at its end."""
    client: ClientUse = ClientUse()

    @property
    def length_s(self) -> float:
        """Its length."""
        return self.ended_s - self.began_s

    @property
    def answers(self) -> int:
        """Requests answered."""
        return sum(counted.n for counted in self.latencies.values())

    @property
    def rate_per_s(self) -> float:
        """Requests answered per second."""
        return self.answers / self.length_s if self.length_s > 0 else 0.0

    @property
    def all_latencies(self) -> Tally:
        """Latencies of all operations."""
        return added(self.latencies.values())


class IntervalRecorder:
    """Collects what happens; `cut` gives the interval so far and begins the next."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._latencies_s: defaultdict[str, list[float]] = defaultdict(list)
        self._errors: Counter[str] = Counter()
        self._missing_rows = 0

    def answered(self, operation: str, latency_s: float, missing_row: bool) -> None:
        """Add an answer."""
        self._latencies_s[operation].append(latency_s)
        self._missing_rows += missing_row

    def failed(self, kind: str) -> None:
        """Add an error."""
        self._errors[kind] += 1

    def cut(self, number: int, began_s: float, ended_s: float, in_flight: int, client: ClientUse) -> Interval:
        """Return the interval and begin the next."""
        interval = Interval(
            number=number,
            began_s=began_s,
            ended_s=ended_s,
            latencies={name: tally(latencies_s) for name, latencies_s in self._latencies_s.items()},
            errors=dict(self._errors),
            missing_rows=self._missing_rows,
            in_flight=in_flight,
            client=client,
        )
        self._clear()
        return interval


def together(parts: Sequence[Interval]) -> Interval:
    """Return the sum of the intervals that several processes saw at the same place of the grid."""
    names = dict.fromkeys(name for part in parts for name in part.latencies)
    errors: Counter[str] = Counter()
    for part in parts:
        errors.update(part.errors)
    return Interval(
        number=parts[0].number,
        began_s=sum(part.began_s for part in parts) / len(parts),
        ended_s=sum(part.ended_s for part in parts) / len(parts),
        latencies={name: added(part.latencies.get(name, NOTHING) for part in parts) for name in names},
        errors=dict(errors),
        missing_rows=sum(part.missing_rows for part in parts),
        in_flight=sum(part.in_flight for part in parts),
        client=_all_clients([part.client for part in parts]),
    )


def _all_clients(parts: Sequence[ClientUse]) -> ClientUse:
    used = [part.cpu_s for part in parts if part.cpu_s is not None]
    busy = [part.busiest_ratio for part in parts if part.busiest_ratio is not None]
    return ClientUse(
        cpu_s=sum(used) if used else None,
        busiest_ratio=max(busy, default=None),
        pauses_s=sum(part.pauses_s for part in parts),
        longest_pause_s=max(part.longest_pause_s for part in parts),
        lag=added(part.lag for part in parts),
    )
