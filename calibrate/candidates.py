"""Candidate runs: what could be measured next, as variations of scenarios by one thing at a time, or over a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.growth import resolved_clients
from ..model.scenario import Scenario, resolved_in_flight
from ..model.scenario_problems import problems_of
from ..model.workload import ConsistencyLevel
from .forward import structure_key
from .run import label

LEVELS = (ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL)
LOADS = (0.25, 4.0)
"""Factors on the requests in flight."""
PAYLOAD = 16.0
"""Factor on the size of a column."""
LARGE_ROW_BYTES = 4096.0
"""Least size of a row that is large: published payload series begin to fall there (published-runs.csv, C04)."""


@dataclass(frozen=True)
class Candidate:
    """A run that could be made."""

    scenario: Scenario
    words: str
    """What it is, as in `a run at QUORUM`."""


def variations(scenarios: Iterable[Scenario], most_nodes: int) -> tuple[Candidate, ...]:
    """Return runs that differ from one of the scenarios by one thing, none of them made before.

    Args:
        scenarios: runs that were made.
        most_nodes: nodes that can be had.
    """
    known = [resolved_clients(scenario) for scenario in scenarios]
    found: dict[str, Candidate] = {}
    for scenario in known:
        for candidate in _variations(scenario, most_nodes):
            found.setdefault(_key(candidate.scenario), candidate)
    made = {_key(scenario) for scenario in known}
    return tuple(candidate for key, candidate in found.items() if key not in made)


def grid(base: Scenario, most_nodes: int, loads: Sequence[int]) -> tuple[Candidate, ...]:
    """Return all runs of a scenario's workload over nodes, RF, level, routing, operation and in flight a node."""
    found: dict[str, Candidate] = {}
    for scenario in _grid(resolved_clients(base), most_nodes, loads):
        if not problems_of(scenario):
            found.setdefault(_key(scenario), Candidate(scenario, label(scenario)))
    return tuple(found.values())


def _grid(base: Scenario, most_nodes: int, loads: Sequence[int]) -> Iterator[Scenario]:
    for nodes in range(1, most_nodes + 1):
        for factor in range(1, nodes + 1):
            for one in _routed(_sized(base, nodes, factor)):
                for mixed in _mixes(one):
                    for levelled in _levelled(mixed, factor):
                        for load in loads:
                            yield _changed(levelled, "clients", _closed(load * nodes))


def _sized(base: Scenario, nodes: int, factor: int) -> Scenario:
    replication = {"strategy": base.cluster.replication.strategy, "factor": factor}
    return _changed(base, "cluster", {"nodes": nodes, "groups": [], "tokens": [], "replication": replication})


def _routed(scenario: Scenario) -> Iterator[Scenario]:
    routings = ("token-aware", "round-robin") if scenario.cluster.node_count > 1 else ("token-aware",)
    for routing in routings:
        yield _changed(scenario, "clients", {"routing": routing})


def _mixes(scenario: Scenario) -> Iterator[Scenario]:
    operations = scenario.workload.operations
    if len(operations) == 1:
        yield scenario
        return
    for name, operation in operations.items():
        yield _changed(scenario, "workload", {"operations": {name: _alone(operation.consistency)}})


def _alone(level: ConsistencyLevel) -> dict[str, Any]:
    return {"share": 1.0, "consistency": level.value}


def _levelled(scenario: Scenario, factor: int) -> Iterator[Scenario]:
    levels = {1: LEVELS[:1], 2: (LEVELS[0], LEVELS[2])}.get(factor, LEVELS)
    for level in levels:
        yield _changed(scenario, "workload", {"operations": _at(scenario, level)})


def _variations(scenario: Scenario, most_nodes: int) -> Iterator[Candidate]:
    for words, varied in _changes(scenario, most_nodes):
        if not problems_of(varied):
            yield Candidate(varied, words)


def _changes(scenario: Scenario, most_nodes: int) -> Iterator[tuple[str, Scenario]]:
    for level in LEVELS:
        yield f"a run at {level.value}", _changed(scenario, "workload", {"operations": _at(scenario, level)})
    other = "round-robin" if scenario.clients.routing == "token-aware" else "token-aware"
    yield f"a {other} run", _changed(scenario, "clients", {"routing": other})
    through_one = {"routing": "round-robin", "coordinators": [0]}
    yield "a run through one node", _changed(scenario, "clients", through_one)
    yield from _other_loads(scenario)
    yield from _other_sizes(scenario, most_nodes)
    yield from _other_workloads(scenario)


def _other_loads(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    in_flight = resolved_in_flight(scenario)
    for factor in LOADS if in_flight else ():
        count = max(1, round((in_flight or 1) * factor))
        yield f"a run with {count} in flight", _changed(scenario, "clients", _closed(count))


def _closed(in_flight: int) -> dict[str, Any]:
    return {"in_flight": in_flight, "in_flight_per_node": None, "rate": None}


def _other_sizes(scenario: Scenario, most_nodes: int) -> Iterator[tuple[str, Scenario]]:
    factor = scenario.cluster.replication.factor
    if scenario.cluster.groups or not isinstance(factor, int):
        return
    for count in range(1, most_nodes + 1):
        for copies in range(1, count + 1):
            place = "" if count == scenario.cluster.nodes else f" on {count} node{'s' if count > 1 else ''}"
            yield f"a run{place} at RF {copies}", _sized(scenario, count, copies)


def _other_workloads(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    size = max(scenario.workload.column_size * PAYLOAD, LARGE_ROW_BYTES / scenario.workload.columns)
    yield f"a run with columns of {size:g} bytes", _changed(scenario, "workload", {"column_size": size})
    level = next(iter(scenario.workload.operations.values())).consistency
    for name in ("read", "write"):
        yield f"a run of {name}s only", _changed(scenario, "workload", {"operations": {name: _alone(level)}})


def _at(scenario: Scenario, level: ConsistencyLevel) -> dict[str, Any]:
    operations = scenario.workload.operations
    return {name: {"share": operation.share, "consistency": level.value} for name, operation in operations.items()}


def _changed(scenario: Scenario, part: str, update: dict[str, Any]) -> Scenario:
    document = scenario.model_dump()
    return Scenario.model_validate({**document, part: {**document[part], **update}})


def _key(scenario: Scenario) -> str:
    clients = scenario.clients
    return f"{structure_key(scenario)} {clients.in_flight} {clients.rate}"
