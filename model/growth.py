"""One node more, one node less: the scenario and the rings that follow from a cluster's.

The clients stay as they are: the same requests in flight, the same machines, the same coordinators when they were
named. A new node is like those of the last group in the clients' datacenter and gets its own tokens; the others keep
theirs.
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
    """Return the scenario with a node more (1) or less (-1) where the clients are; None where that cannot be."""
    cluster = scenario.cluster
    groups = list(groups_of(cluster))
    chosen = _chosen_group(scenario)
    if change > 0 and chosen < len(groups) - 1:
        groups.append(groups[chosen].model_copy(update={"nodes": 1, "racks": 1}))
    elif groups[chosen].nodes + change > 0:
        groups[chosen] = groups[chosen].model_copy(update={"nodes": groups[chosen].nodes + change})
    else:
        del groups[chosen]
    if not groups:
        return None
    grown = resolved_clients(scenario).model_copy(update={"cluster": _resized(cluster, groups)})
    return grown if _can_replicate(grown) else None


def _chosen_group(scenario: Scenario) -> int:
    """Return the last group of nodes in the clients' datacenter."""
    groups = groups_of(scenario.cluster)
    home = scenario.clients.datacenter or groups[0].datacenter
    return max((i for i, group in enumerate(groups) if group.datacenter == home), default=len(groups) - 1)


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
    rings: Sequence[Ring], before: Scenario, after: Scenario, rng: np.random.Generator
) -> list[Ring]:
    """Return each ring as it is after a node has come or gone; the others keep their tokens."""
    nodes = perceived(nodes_of(after), after.cluster.snitch)
    if len(nodes) < len(nodes_of(before)):
        groups = groups_of(before.cluster)
        gone = sum(group.nodes for group in groups[: _chosen_group(before) + 1]) - 1
        return [remove_node(ring, gone) for ring in rings]
    factors = factors_of(after.cluster, nodes)
    return [add_node(ring, nodes, after.cluster.allocation, factors, rng) for ring in rings]
