"""Whether a run may be used, and why not: the generator, the host, the cluster or its errors may have spoilt it.

The first kind that applies, in that order, names the run; the reasons of all are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...model.batch_means import mean_estimate
from ...model.measurement import Verdict
from ...model.units import format_duration, format_rate
from .buckets import added
from .ceiling import Ceiling
from .interval import Interval, Starts, all_starts
from .spread import FEWEST_INTERVALS
from .steadiness import drift, standstill_s

Kind = Literal["client-limited", "host-limited", "overloaded", "not-steady"]

BUSY_RATIO = 0.85
"""Share of a processor beyond which a process that sends queues its own requests: waiting grows as 1 / (1 - share)."""
LATE_S, LATE_RATIO = 0.002, 0.25
"""Lag of the event loop at p99, in itself and beside the median latency, that shows in what is measured."""
PAUSE_RATIO = 0.01
"""Share of the time in garbage collections that shows in p99."""
HOST_IDLE_RATIO = 0.10
"""Idle share of the host below which nodes and load wait for each other (evidence/lab-fidelity.md, section 2)."""
ERROR_RATIO = 0.01
MISSING_RATIO = 0.001
MISSED_RATIO = 0.001
"""Share of starts never sent beyond which p99.9 of what was sent says nothing of what was meant."""
BEHIND_RATIO = 0.98
"""Answers over starts below which more is asked than answered, beside chance: in flight and latency then grow."""
WIDE_RATIO = 0.10
"""Half-width of the rate's interval beyond which a run says little: repeated runs of a lab lie closer together."""
CEILING_RATIO = 0.8
"""Share of the generator's ceiling beyond which it may be what is measured."""
FLOOR_RATIO = 0.5
"""Share of the median latency that the generator's own floor may take."""
OVERLOAD = ("Timeout", "TimedOut", "Overloaded", "Busy", "Unanswered")
"""Parts of the names of errors by which a cluster says that it is too slow."""


@dataclass(frozen=True)
class Judged:
    """What a verdict is about."""

    intervals: Sequence[Interval]
    """The measured time."""
    interval_s: float
    host_idle_ratio: float | None = None
    """Idle share of the host; None where the cluster is elsewhere."""
    lost_processes: int = 0
    never_flat: bool = False
    """Whether the warm-up ended although rates were not flat."""

    rates_change: bool = False
    """Whether the load was meant to change, so that unsteady rates say nothing."""
    ceiling: Ceiling | None = None
    """What one process of the load can do, where that is known."""
    processes: int = 1

    @property
    def errors(self) -> Mapping[str, int]:
        """Failed requests by kind."""
        kinds = dict.fromkeys(kind for interval in self.intervals for kind in interval.errors)
        return {kind: sum(interval.errors.get(kind, 0) for interval in self.intervals) for kind in kinds}

    @property
    def starts(self) -> Starts | None:
        """What became of the intended starts; None for a closed load."""
        return all_starts([interval.starts for interval in self.intervals if interval.starts is not None])

    @property
    def answers(self) -> int:
        """Requests answered."""
        return sum(interval.answers for interval in self.intervals)


def verdict_of(judged: Judged) -> Verdict:
    """Return the verdict on a run."""
    found = [*_client(judged), *_host(judged), *_behind(judged), *_errors(judged), *_unsteady(judged)]
    if not judged.answers:
        return Verdict(kind="overloaded", reasons=("nothing was answered", *(words for _, words in found)))
    if found:
        return Verdict(kind=found[0][0], reasons=tuple(words for _, words in found))
    if len(judged.intervals) < FEWEST_INTERVALS:
        return Verdict(reasons=(f"too short to judge: {len(judged.intervals)} intervals",))
    return Verdict(kind="valid")


def _client(judged: Judged) -> Iterator[tuple[Kind, str]]:
    uses = [interval.client for interval in judged.intervals]
    busy = [use.busiest_ratio for use in uses if use.busiest_ratio is not None]
    if busy and (mean := sum(busy) / len(busy)) > BUSY_RATIO:
        yield "client-limited", f"the busiest process of the load was busy {mean:.0%} of the time"
    lag_s = added(use.lag for use in uses).quantile_s(0.99) or 0.0
    median_s = added(interval.all_latencies for interval in judged.intervals).quantile_s(0.5) or 0.0
    if lag_s > max(LATE_S, LATE_RATIO * median_s):
        late, beside = format_duration(lag_s), format_duration(median_s)
        yield "client-limited", f"the load's event loop ran {late} late at p99, beside a median latency of {beside}"
    yield from _limits(judged, median_s)
    if judged.starts is not None:
        yield from _late_sends(judged.starts, median_s)
    paused_s, span_s = sum(use.pauses_s for use in uses), sum(interval.length_s for interval in judged.intervals)
    if span_s and paused_s / span_s > PAUSE_RATIO:
        yield "client-limited", f"garbage collections of the load took {paused_s / span_s:.1%} of the time"


def _limits(judged: Judged, median_s: float) -> Iterator[tuple[Kind, str]]:
    """Yield what the self-test says of a run so fast."""
    ceiling, span_s = judged.ceiling, sum(interval.length_s for interval in judged.intervals)
    if ceiling is None or not span_s:
        return
    most = (ceiling.closed_per_s if judged.starts is None else ceiling.open_per_s or 0.0) * judged.processes
    rate = judged.answers / span_s
    if rate > CEILING_RATIO * most:
        told = f"{format_rate(rate)} is above {CEILING_RATIO:.0%} of the {format_rate(most)} of its self-test"
        yield "client-limited", f"the load was near its own ceiling: {told}"
    if judged.answers and ceiling.floor_s > FLOOR_RATIO * median_s:
        own, all_ = format_duration(ceiling.floor_s), format_duration(median_s)
        yield "client-limited", f"the load's own latency floor is {own}, the median latency {all_}"


def _late_sends(starts: Starts, median_s: float) -> Iterator[tuple[Kind, str]]:
    late_s = starts.send_lag.quantile_s(0.99) or 0.0
    if late_s > max(LATE_S, LATE_RATIO * median_s):
        late, beside = format_duration(late_s), format_duration(median_s)
        yield "client-limited", f"requests were sent {late} late at p99, beside a median latency of {beside}"


def _behind(judged: Judged) -> Iterator[tuple[Kind, str]]:
    """Yield starts that were missed, and answers that do not keep up with starts."""
    starts = judged.starts
    if starts is None or not starts.due:
        return
    if starts.missed > MISSED_RATIO * starts.due:
        yield "overloaded", f"{starts.missed} of {starts.due} starts found no place in flight in time"
    ended = judged.answers + sum(judged.errors.values()) + starts.missed
    chance = 4 * math.sqrt(starts.due)
    if ended < BEHIND_RATIO * starts.due - chance:
        yield "overloaded", f"only {ended / starts.due:.1%} of what was meant to start was answered"


def _host(judged: Judged) -> Iterator[tuple[Kind, str]]:
    idle = judged.host_idle_ratio
    if idle is not None and idle < HOST_IDLE_RATIO:
        yield "host-limited", f"the host of nodes and load was idle only {idle:.0%} of the time"


def _errors(judged: Judged) -> Iterator[tuple[Kind, str]]:
    failed, answers = judged.errors, judged.answers
    total = sum(failed.values()) + answers
    slow = {kind: count for kind, count in failed.items() if any(part in kind for part in OVERLOAD)}
    if slow and sum(slow.values()) > ERROR_RATIO * total:
        yield "overloaded", f"{sum(slow.values()) / total:.1%} of the requests failed: {', '.join(sorted(slow))}"
    other = {kind: count for kind, count in failed.items() if kind not in slow}
    if other and sum(other.values()) > ERROR_RATIO * total:
        yield "not-steady", f"{sum(other.values()) / total:.1%} of the requests failed: {', '.join(sorted(other))}"
    missing = sum(interval.missing_rows for interval in judged.intervals)
    if missing > MISSING_RATIO * answers:
        yield "not-steady", f"{missing} reads found no row where there should be one"


def _unsteady(judged: Judged) -> Iterator[tuple[Kind, str]]:
    if not judged.rates_change:
        yield from _moving(judged)
    if judged.lost_processes:
        yield "not-steady", f"{judged.lost_processes} of the load's processes were lost"
    if judged.never_flat:
        yield "not-steady", "the rates were not flat when the warm-up had lasted its longest"


def _moving(judged: Judged) -> Iterator[tuple[Kind, str]]:
    rates = [interval.rate_per_s for interval in judged.intervals]
    error = mean_estimate(np.asarray(rates)).relative_error if len(rates) >= FEWEST_INTERVALS else 0.0
    if error > WIDE_RATIO:
        yield "not-steady", f"the rate moved so much that it is known only to ±{error:.0%}"
    if (change := drift(rates)) is not None:
        way = "faster" if change > 0 else "slower"
        yield "not-steady", f"the second half was {abs(change):.0%} {way} than the first"
    if (still_s := standstill_s(rates, judged.interval_s)) > 0:
        yield "not-steady", f"nearly nothing was answered for {format_duration(still_s)}"
