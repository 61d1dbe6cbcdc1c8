"""The nodes of a cluster, one by one: where each stands and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .cluster import Cluster, NodeGroup
from .hardware import Hardware
from .scenario import Scenario


@dataclass(frozen=True)
class Node:
    """One node."""

    index: int
    """Position in the cluster, from 0; also its row in every per-node array."""
    datacenter: str
    """Name of its datacenter."""
    rack: str
    """Name of its rack, unique within the datacenter only."""
    num_tokens: int
    """Tokens it holds."""
    hardware: Hardware
    """Its machine."""
    load_factor: float
    """CPU demand on it relative to the profile."""
    host: int
    """Host it runs on; nodes of one host share what `hardware.shared` says."""


def groups_of(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Return the groups of a cluster; `nodes` like nodes are one group."""
    if cluster.groups:
        return cluster.groups
    return (NodeGroup(nodes=cluster.nodes or 1, racks=cluster.racks),)


def nodes_of(scenario: Scenario) -> tuple[Node, ...]:
    """Return the nodes of a scenario in order, groups one after the other, racks dealt in turn.

    >>> from .cluster import Cluster
    >>> [node.rack for node in nodes_of(Scenario(cluster=Cluster(nodes=3, racks=2)))]
    ['rack1', 'rack2', 'rack1']
    """
    return tuple(_nodes(scenario))


def _nodes(scenario: Scenario) -> Iterator[Node]:
    index = 0
    for group in groups_of(scenario.cluster):
        hardware = scenario.hardware.model_copy(update=_overrides(group))
        for position in range(group.nodes):
            yield Node(
                index=index,
                datacenter=group.datacenter,
                rack=f"rack{position % group.racks + 1}",
                num_tokens=group.num_tokens or scenario.cluster.num_tokens,
                hardware=hardware,
                load_factor=group.load_factor,
                host=index // scenario.hardware.shared.nodes_per_host,
            )
            index += 1


def _overrides(group: NodeGroup) -> dict[str, object]:
    given = {key: getattr(group.hardware, key) for key in group.hardware.model_fields_set}
    return {key: value for key, value in given.items() if value is not None or key == "cpu_quota"}


def datacenters_of(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """Return the names of the datacenters in order of first appearance."""
    return tuple(dict.fromkeys(node.datacenter for node in nodes))
