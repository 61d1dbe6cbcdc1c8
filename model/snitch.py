"""What the snitch tells a coordinator: where the nodes stand and how near they are.

SimpleSnitch puts every node into one datacenter and one rack and orders nothing; all others know both, and
order by distance: the node itself, its rack, its datacenter, the rest. The dynamic snitch, which moves reads
away from a slow replica, is not in here: it needs latencies.
Source: Apache Cassandra, `SimpleSnitch`, `AbstractNetworkTopologySnitch.compareEndpoints`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .cluster import Snitch
from .topology import Node, datacenters_of

SELF, SAME_RACK, SAME_DATACENTER, OTHER_DATACENTER = range(4)
"""Distances, nearest first."""


def perceived(nodes: tuple[Node, ...], snitch: Snitch) -> tuple[Node, ...]:
    """Return the nodes where the snitch says they stand: SimpleSnitch knows one datacenter and one rack."""
    if snitch.knows_distance:
        return nodes
    return tuple(replace(node, datacenter=nodes[0].datacenter, rack="rack1") for node in nodes)


def datacenter_ids(nodes: tuple[Node, ...]) -> NDArray[np.intp]:
    """Return the datacenter of each node, [nodes], counted in order of first appearance."""
    number = {name: position for position, name in enumerate(datacenters_of(nodes))}
    return np.array([number[node.datacenter] for node in nodes], dtype=np.intp)


def rack_ids(nodes: tuple[Node, ...]) -> NDArray[np.intp]:
    """Return the rack of each node, [nodes]; racks of one name in two datacenters are two racks."""
    number: dict[tuple[str, str], int] = {}
    places = [(node.datacenter, node.rack) for node in nodes]
    return np.array([number.setdefault(place, len(number)) for place in places], dtype=np.intp)


def distance(a: Node, b: Node) -> int:
    """Return how far two nodes are apart for a snitch that knows."""
    if a.index == b.index:
        return SELF
    if a.datacenter != b.datacenter:
        return OTHER_DATACENTER
    return SAME_RACK if a.rack == b.rack else SAME_DATACENTER


def distances(nodes: tuple[Node, ...], snitch: Snitch) -> NDArray[np.int8]:
    """Return the distances a coordinator sorts by, [coordinators, nodes]; all equal under SimpleSnitch."""
    if not snitch.knows_distance:
        return np.zeros((len(nodes), len(nodes)), dtype=np.int8)
    racks, datacenters = rack_ids(nodes), datacenter_ids(nodes)
    table = np.full((len(nodes), len(nodes)), OTHER_DATACENTER, dtype=np.int8)
    table[datacenters[:, None] == datacenters] = SAME_DATACENTER
    table[racks[:, None] == racks] = SAME_RACK
    np.fill_diagonal(table, SELF)
    return table
