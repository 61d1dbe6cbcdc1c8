"""Runs that differ by one node and nothing else: what a question about one node more can be checked against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..model.clients import Routing
from ..model.growth import resolved_clients
from ..model.scenario import Scenario
from .run import Run

Load = Literal["same in flight", "in flight in step"]


@dataclass(frozen=True)
class Pair:
    """A run and the one with a node more, by their positions."""

    smaller: int
    larger: int
    load: Load
    """Whether the requests in flight stayed, or grew with the nodes."""


def pairs_of(runs: Sequence[Run]) -> tuple[Pair, ...]:
    """Return all pairs of runs with one node between them and the same cluster, workload and routing otherwise."""
    groups: dict[str, list[int]] = {}
    for index, run in enumerate(runs):
        if not run.is_open and run.throughput_per_s:
            groups.setdefault(_without_size(run.scenario), []).append(index)
    return tuple(pair for group in groups.values() for pair in _pairs(runs, group))


def _pairs(runs: Sequence[Run], group: Sequence[int]) -> Iterator[Pair]:
    for smaller in group:
        for larger in group:
            before, after = (resolved_clients(runs[i].scenario) for i in (smaller, larger))
            if after.cluster.node_count != before.cluster.node_count + 1:
                continue
            old, new = before.clients.in_flight or 0, after.clients.in_flight or 0
            if old == new:
                yield Pair(smaller, larger, "same in flight")
            elif old * after.cluster.node_count == new * before.cluster.node_count:
                yield Pair(smaller, larger, "in flight in step")


def _without_size(scenario: Scenario) -> str:
    """Return a text that is the same for scenarios that differ in nodes and requests in flight only."""
    load = {"in_flight": 1, "in_flight_per_node": None, "routing": _routing(scenario)}
    clients = scenario.clients.model_copy(update=load)
    cluster = scenario.cluster.model_copy(update={"nodes": 1, "tokens": ()})
    plain = scenario.model_copy(update={"clients": clients, "cluster": cluster, "name": "", "title": ""})
    return plain.model_dump_json()


def _routing(scenario: Scenario) -> Routing:
    """Return the routing; a single node, which has none, counts as token-aware."""
    return Routing.TOKEN_AWARE if scenario.cluster.node_count == 1 else scenario.clients.routing
