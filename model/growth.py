"""One node more, one node less: the scenario and the rings that follow from a cluster's.

The clients stay as they are: the same requests in flight, the same machines, the same coordinators when they were
named. A new node is like those of the last group and gets its own tokens; the others keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .cluster import Cluster
from .replication import factors_of
from .ring import Ring, add_node, remove_node
from .scenario import Scenario
from .snitch import perceived
from .topology import datacenters_of, groups_of, nodes_of


def resolved_clients(scenario: Scenario) -> Scenario:
    """Return the scenario with its requests in flight as a total, so that they stay when nodes are added."""
    clients = scenario.clients
    if clients.rate is not None or clients.in_flight_per_node is None:
        return scenario
    total = clients.in_flight_per_node * len(nodes_of(scenario))
    fixed = clients.model_copy(update={"in_flight": total, "in_flight_per_node": None})
    return scenario.model_copy(update={"clients": fixed})


def with_nodes(scenario: Scenario, change: int) -> Scenario | None:
    """Return the scenario with `change` nodes more in its last group; None where replication forbids it."""
    cluster = scenario.cluster
    groups = groups_of(cluster)
    left = groups[-1].nodes + change
    if left < 1 and len(groups) == 1:
        return None
    kept = (*groups[:-1], groups[-1].model_copy(update={"nodes": left})) if left else groups[:-1]
    grown = resolved_clients(scenario).model_copy(update={"cluster": _resized(cluster, kept)})
    return grown if _can_replicate(grown) else None


def _resized(cluster: Cluster, groups: Sequence[object]) -> Cluster:
    if cluster.groups:
        return cluster.model_copy(update={"groups": tuple(groups), "tokens": ()})
    return cluster.model_copy(update={"nodes": groups[0].nodes, "tokens": ()})  # type: ignore[attr-defined]


def _can_replicate(scenario: Scenario) -> bool:
    nodes = nodes_of(scenario)
    present = {name: sum(node.datacenter == name for node in nodes) for name in datacenters_of(nodes)}
    replication = scenario.cluster.replication
    if isinstance(replication.factor, dict):
        fits = all(present.get(name, 0) >= factor for name, factor in replication.factor.items())
    elif replication.strategy == "SimpleStrategy":
        fits = len(nodes) >= replication.factor
    else:
        fits = all(count >= replication.factor for count in present.values())
    coordinators = scenario.clients.coordinators
    return fits and all(index < len(nodes) for index in coordinators)


def rings_with_nodes(
    rings: Sequence[Ring], scenario: Scenario, change: int, rng: np.random.Generator
) -> list[Ring]:
    """Return each ring as it is after `scenario` has got (or lost) its last node; others keep their tokens."""
    if change < 0:
        last = len(nodes_of(scenario))
        return [remove_node(ring, last) for ring in rings]
    nodes = perceived(nodes_of(scenario), scenario.cluster.snitch)
    factors = factors_of(scenario.cluster, nodes)
    return [add_node(ring, nodes, scenario.cluster.allocation, factors, rng) for ring in rings]
