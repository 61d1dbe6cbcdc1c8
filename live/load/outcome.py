"""From what a run left behind to its measurement."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from ...model.histogram import latency_of
from ...model.measurement import (
    ALL,
    ClientFacts,
    ErrorEvent,
    Fact,
    LatencyHistogram,
    Measurement,
    OperationMeasured,
    Series,
    Tool,
)
from ...model.metrics import LatencyKind, LatencyStatistic
from ...model.scenario import Scenario
from .buckets import NOTHING, Tally, added, histogram
from .interval import Interval, Starts, all_starts
from .node_outcome import cluster_facts, node_facts
from .plan import LoadPlan
from .record import RunRecord, SiteFacts
from .spread import effective_number
from .verdict import Judged, verdict_of

TOOL = "capmodel load run"


def measurement_of(scenario: Scenario, plan: LoadPlan, record: RunRecord, site: SiteFacts) -> Measurement:
    """Return the measurement of a run."""
    measured = record.measured
    names = sorted({name for interval in measured for name in interval.latencies})
    start_s = measured[0].began_s if measured else 0.0
    return Measurement(
        name=scenario.name,
        title=scenario.title,
        scenario=scenario,
        tool=Tool(name=TOOL, version=version("capmodel")),
        started_at=record.started_at,
        duration_s=span_s(measured) or None,
        warm_up_s=span_s(record.warm_up),
        ended=record.ended,
        operations={name: _operation(name, measured) for name in names},
        series=dict(_series([*record.warm_up, *measured], names, start_s)) if measured else {},
        nodes=node_facts(record, site),
        cluster=cluster_facts(record, site),
        client=client_facts(plan, record),
        errors=tuple(_errors([*measured, *record.after], start_s)),
        verdict=verdict_of(judged(plan, record)),
        notes=tuple(_notes(record, start_s)),
    )


def judged(plan: LoadPlan, record: RunRecord) -> Judged:
    """Return what a verdict is about."""
    return Judged(
        intervals=record.measured,
        interval_s=plan.grid_s,
        host_idle_ratio=record.host_idle_ratio,
        lost_processes=len(record.lost),
        never_flat=record.never_flat,
        rates_change=plan.course is not None,
        ceiling=record.ceiling,
        processes=plan.processes,
    )


def span_s(intervals: Sequence[Interval]) -> float:
    """Return the time from the first interval's beginning to the last one's end."""
    return intervals[-1].ended_s - intervals[0].began_s if intervals else 0.0


def _operation(name: str, measured: Sequence[Interval]) -> OperationMeasured:
    service = [interval.latencies.get(name, NOTHING) for interval in measured]
    starts = [interval.starts for interval in measured if interval.starts is not None]
    found = {LatencyKind.SERVICE: service}
    if starts:
        found = {LatencyKind.RESPONSE: [one.responses.get(name, NOTHING) for one in starts], **found}
        found[LatencyKind.WAIT] = [one.waits.get(name, NOTHING) for one in starts]
    histograms = tuple(_histogram(kind, parts) for kind, parts in found.items())
    return OperationMeasured(requests=sum(part.n for part in service), histograms=histograms)


def _histogram(kind: LatencyKind, parts: Sequence[Tally]) -> LatencyHistogram:
    counted = histogram(added(parts))
    number = effective_number(parts)
    return LatencyHistogram(
        kind=kind, encoded=counted.encoded, above_range=counted.above_range, effective_n=number
    )


def _series(intervals: Sequence[Interval], names: Sequence[str], start_s: float) -> Iterator[tuple[str, Series]]:
    ends = tuple(interval.ended_s - start_s for interval in intervals)
    whole = _columns(ends, [interval.all_latencies for interval in intervals], intervals)
    yield ALL, whole.model_copy(
        update={
            "errors": tuple(sum(interval.errors.values()) for interval in intervals),
            "in_flight": tuple(float(interval.in_flight) for interval in intervals),
        }
    )
    if len(names) > 1:
        for name in names:
            yield name, _columns(ends, [interval.told.get(name, NOTHING) for interval in intervals], intervals)


def _columns(ends_s: tuple[float, ...], tallies: Sequence[Tally], intervals: Sequence[Interval]) -> Series:
    lengths = [interval.length_s for interval in intervals]
    return Series(
        t_s=ends_s,
        rate_per_s=tuple(
            counted.n / length_s if length_s > 0 else None for counted, length_s in zip(tallies, lengths, strict=True)
        ),
        p50_s=tuple(counted.quantile_s(0.5) for counted in tallies),
        p99_s=tuple(counted.quantile_s(0.99) for counted in tallies),
        mean_s=tuple(counted.mean_s() for counted in tallies),
    )


def _errors(intervals: Sequence[Interval], start_s: float) -> Iterator[ErrorEvent]:
    """Yield the errors by kind and interval, at the interval's end."""
    for interval in intervals:
        for kind, count in sorted(interval.errors.items()):
            yield ErrorEvent(kind=kind, at_s=interval.ended_s - start_s, count=count)


def client_facts(plan: LoadPlan, record: RunRecord) -> ClientFacts:
    """Return what the load generator itself used."""
    uses = [interval.client for interval in record.measured]
    cpu = [use.cpu_s for use in uses if use.cpu_s is not None]
    lag = added(use.lag for use in uses)
    starts = all_starts([interval.starts for interval in record.measured if interval.starts is not None])
    return ClientFacts(
        processes=plan.processes,
        processors=min(plan.processes * record.backend.processors, float(len(os.sched_getaffinity(0)))),
        cpu_s=sum(cpu) if cpu else None,
        pauses_s=sum(use.pauses_s for use in uses) if cpu else None,
        lag_s=latency_of(histogram(lag), LatencyKind.UNKNOWN, LatencyStatistic.UNKNOWN) if lag.n else None,
        facts=dict(_client_details(plan, record)),
        **({} if starts is None else _starts(starts)),
    )


def _starts(starts: Starts) -> dict[str, Any]:
    """Return what a measurement says of the intended starts of an open load."""
    counted = histogram(starts.send_lag)
    lag = LatencyHistogram(kind=LatencyKind.UNKNOWN, encoded=counted.encoded, above_range=counted.above_range)
    known = latency_of(counted, LatencyKind.UNKNOWN, LatencyStatistic.UNKNOWN) if starts.due else None
    return {"send_lag": lag, "send_lag_s": known, "missed_starts": starts.missed}


def _client_details(plan: LoadPlan, record: RunRecord) -> Iterator[tuple[str, Fact]]:
    yield "backend", record.backend.name
    yield "seed", plan.seed
    yield from record.backend.facts.items()
    uses = [interval.client for interval in record.measured]
    answers = sum(interval.answers for interval in record.measured)
    busy = [use.busiest_ratio for use in uses if use.busiest_ratio is not None]
    if busy:
        yield "busiest_process_ratio", sum(busy) / len(busy)
    if answers and uses[0].cpu_s is not None:
        yield "cpu_per_operation_s", sum(use.cpu_s or 0.0 for use in uses) / answers
    yield "longest_pause_s", max((use.longest_pause_s for use in uses), default=0.0)
    if record.host_idle_ratio is not None:
        yield "host_idle_ratio", record.host_idle_ratio
    if (due := sum(interval.starts.due for interval in record.measured if interval.starts is not None)) and answers:
        yield "starts_per_s", due / span_s(record.measured)
        yield "answered_ratio", answers / due
    if record.ceiling is not None:
        yield "latency_floor_s", record.ceiling.floor_s
        yield "ceiling_per_s", record.ceiling.closed_per_s * plan.processes
    if plan.batches.share:
        yield "batch_rows", plan.batches.rows


def _notes(record: RunRecord, start_s: float) -> Iterator[str]:
    yield from record.notes
    if record.stopped_for:
        yield f"stopped: {record.stopped_for}"
    for part, at_s in record.lost:
        when = "before its first report" if at_s is None else f"after {at_s - start_s:.1f} s"
        yield f"process {part + 1} of the load was lost {when}; what it had not reported is missing"
    missing = sum(interval.missing_rows for interval in record.measured)
    if missing:
        yield f"{missing} reads found no row where there should be one"
    above = sum(counted.above_range for interval in record.measured for counted in interval.told.values())
    if above:
        yield f"{above} latencies are above an hour; they are counted and lie beyond every percentile"
    never_sent = sum(interval.starts.missed for interval in record.after if interval.starts is not None)
    if never_sent:
        yield f"{never_sent} starts were due and not sent when the load ended"
    unanswered: Counter[str] = Counter()
    for interval in record.after:
        unanswered.update(interval.errors)
    if unanswered:
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(unanswered.items()))
        yield f"after the measured time: {told}"
