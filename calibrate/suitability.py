"""Which runs a fit can use: those that say something about the nodes, for long enough, at a steady load.

A run is refused when its figures are about something else than the cluster (the client was the limit, the load could
not be carried, requests failed), weighed down when they are about the cluster but doubtful.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..model.measurement import Measurement
from ..model.replication import factors_of
from ..model.topology import nodes_of
from .run import Run

FEWEST_REQUESTS = 1000
"""Answers below which a rate is known to no better than 3 % even if requests were independent."""
SHORTEST_S = 1.0
"""Measured time below which a run does not hold even a few garbage collections and syncs."""
MOST_ERRORS = 0.01
"""Share of failed requests above which the others had less work to share the node with."""
USED_UP = 0.95
"""Share of its CPU from which on a node has no more to give."""
DOUBTFUL = 0.25
"""Weight of a run whose rate is about the cluster but doubtful: its standard error counts double."""
MUST_KNOW = ("clients.in_flight", "clients.rate", "cluster.replication.factor")
"""Keys of a scenario without which a run says nothing about demands."""


@dataclass(frozen=True)
class Refused:
    """A run that is not used, and why."""

    name: str
    reasons: tuple[str, ...]


def judged(run: Run, measurement: Measurement) -> Run | Refused:
    """Return the run with its weight, or its refusal."""
    refusals = tuple(_refusals(measurement))
    if refusals:
        return Refused(run.name, refusals)
    doubts = tuple(_doubts(measurement))
    return replace(run, weight=DOUBTFUL if doubts else 1.0, reasons=doubts)


def _refusals(measurement: Measurement) -> Iterator[str]:
    verdict = measurement.verdict
    if verdict.kind == "overloaded" or (verdict.kind == "client-limited" and not nodes_were_busy(measurement)):
        yield _said(verdict.kind, verdict.reasons)
    if measurement.ended == "failed":
        yield "the run failed"
    if measurement.duration_s is not None and measurement.duration_s < SHORTEST_S:
        yield f"too short: {measurement.duration_s:g} s measured, at least {SHORTEST_S:g} s are needed"
    requests = sum(operation.requests or 0 for operation in measurement.operations.values())
    if 0 < requests < FEWEST_REQUESTS:
        yield f"too short: {requests} requests, at least {FEWEST_REQUESTS} are needed"
    failed = _failed_ratio(measurement, requests)
    if failed > MOST_ERRORS:
        yield f"{failed:.1%} of the requests failed"
    for key in MUST_KNOW:
        if key in measurement.scenario_missing:
            yield f"{key} is not stated by the source"


def _failed_ratio(measurement: Measurement, requests: int) -> float:
    failed = sum(measurement.error_counts.values()) + sum(event.count for event in measurement.errors)
    return failed / (failed + requests) if failed and requests else 0.0


def _doubts(measurement: Measurement) -> Iterator[str]:
    verdict = measurement.verdict
    if verdict.kind in ("host-limited", "not-steady"):
        yield _said(verdict.kind, verdict.reasons)
    if verdict.kind == "client-limited":
        yield f"{_said(verdict.kind, verdict.reasons)}; but the nodes' CPU was used up, so the rate is theirs"
    if measurement.ended == "early":
        yield "ended early"


def nodes_were_busy(measurement: Measurement) -> bool:
    """Whether every node used up its CPU: then the rate is the cluster's, however late the client was."""
    nodes, duration_s = measurement.nodes, measurement.duration_s
    if not nodes or not duration_s:
        return False
    return all(node.cores and (node.cpu_s or 0.0) > USED_UP * node.cores * duration_s for node in nodes)


def _said(kind: str, reasons: Sequence[str]) -> str:
    return f"{kind}: {'; '.join(reasons)}" if reasons else kind


def without_hops(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return the runs, those of several nodes weighed down when in all of them every node holds every row.

    A cluster with as many nodes as replicas has no request that must go to another node for its data; it must not be
    read as if nodes were independent.
    """
    runs = tuple(runs)
    several = [run for run in runs if run.scenario.cluster.node_count > 1]
    if not several or not all(_holds_everything(run) for run in several):
        return runs
    reason = "in every run with several nodes each node holds every row (N = RF)"
    return tuple(
        replace(run, weight=min(run.weight, DOUBTFUL), reasons=(*run.reasons, reason)) if run in several else run
        for run in runs
    )


def _holds_everything(run: Run) -> bool:
    nodes = nodes_of(run.scenario)
    return sum(factors_of(run.scenario.cluster, nodes).values()) == len(nodes)
