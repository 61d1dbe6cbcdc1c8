"""What one process saw in one interval, and the sum over processes.

Intervals of all processes lie on one grid, so they can be added: latencies by bucket, so exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .buckets import NOTHING, Tally, added


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
class Starts:
    """What became of the intended starts of an open load in an interval."""

    responses: Mapping[str, Tally]
    """From intended start to answer, of the requests answered in it, by operation."""
    waits: Mapping[str, Tally]
    """From intended start to send, of the same."""
    send_lag: Tally
    """How late the load came to the starts that it came to in it."""
    missed: int = 0
    """Starts that were never sent."""

    @property
    def due(self) -> int:
        """Starts that the load came to, sent or not."""
        return self.send_lag.n


@dataclass(frozen=True)
class Interval:
    """One interval of a run."""

    number: int
    """Place on the grid, counted from 0."""
    began_s: float
    """On the clock of the loop."""
    ended_s: float
    latencies: Mapping[str, Tally]
    """Service times of the requests answered in it, by operation."""
    errors: Mapping[str, int]
    """Failed requests by kind."""
    missing_rows: int = 0
    """Reads of keys that exist that found nothing."""
    in_flight: int = 0
    """Requests in flight at its end."""
    client: ClientUse = ClientUse()
    starts: Starts | None = None
    """What an open load adds; None for a closed one."""

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
    def told(self) -> Mapping[str, Tally]:
        """Latencies by operation as a user feels them: responses of an open load, service times of a closed one."""
        return self.latencies if self.starts is None else self.starts.responses

    @property
    def all_latencies(self) -> Tally:
        """The same of all operations."""
        return added(self.told.values())


def together(parts: Sequence[Interval]) -> Interval:
    """Return the sum of the intervals that several processes saw at the same place of the grid."""
    errors: Counter[str] = Counter()
    for part in parts:
        errors.update(part.errors)
    return Interval(
        number=parts[0].number,
        began_s=sum(part.began_s for part in parts) / len(parts),
        ended_s=sum(part.ended_s for part in parts) / len(parts),
        latencies=by_name([part.latencies for part in parts]),
        errors=dict(errors),
        missing_rows=sum(part.missing_rows for part in parts),
        in_flight=sum(part.in_flight for part in parts),
        client=_all_clients([part.client for part in parts]),
        starts=all_starts([part.starts for part in parts if part.starts is not None]),
    )


def by_name(parts: Sequence[Mapping[str, Tally]]) -> dict[str, Tally]:
    """Return the sums of tallies that have names."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: added(part.get(name, NOTHING) for part in parts) for name in names}


def all_starts(parts: Sequence[Starts]) -> Starts | None:
    """Return the sum of what became of intended starts, None when there is nothing to add."""
    if not parts:
        return None
    return Starts(
        responses=by_name([part.responses for part in parts]),
        waits=by_name([part.waits for part in parts]),
        send_lag=added(part.send_lag for part in parts),
        missed=sum(part.missed for part in parts),
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
