"""Which nodes hold the rows of each range: SimpleStrategy and NetworkTopologyStrategy.

NetworkTopologyStrategy places the replicas of each datacenter by itself, in its own ring, one rack after the
other (`walk.py`). SimpleStrategy takes the next distinct nodes and ignores datacenters and racks.
Source: Apache Cassandra documentation, "Dynamo" (replication strategy).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .cluster import Cluster, Replication
from .errors import Problem, ScenarioError
from .snitch import datacenter_ids, perceived, rack_ids
from .topology import Node, datacenters_of
from .walk import IntArray, walk

if TYPE_CHECKING:
    from .ring import Ring

WHOLE_RING = ""
"""Key of the replication factor of a ring that ignores datacenters."""


def factors_of(cluster: Cluster, nodes: tuple[Node, ...]) -> dict[str, int]:
    """Return RF for each datacenter the snitch knows, 0 where none is given.

    SimpleStrategy has a single RF under the key "". SimpleSnitch knows one datacenter only.

    Raises:
        ScenarioError: an RF for a datacenter without nodes, or above the nodes there are.
    """
    return _factors(cluster.replication, perceived(nodes, cluster.snitch))


def _factors(replication: Replication, nodes: tuple[Node, ...]) -> dict[str, int]:
    names = datacenters_of(nodes)
    factor = replication.factor
    if replication.strategy == "SimpleStrategy":
        total = factor if isinstance(factor, int) else sum(factor.values())
        factors = {WHOLE_RING: total}
    elif isinstance(factor, int):
        factors = dict.fromkeys(names, factor)
    else:
        factors = dict.fromkeys(names, 0) | factor
    _refuse_impossible(factors, nodes)
    return factors


def _refuse_impossible(factors: dict[str, int], nodes: tuple[Node, ...]) -> None:
    problems = []
    for name, factor in factors.items():
        count = sum(name in (WHOLE_RING, node.datacenter) for node in nodes)
        place = f" in datacenter {name!r}" if name else ""
        if factor > count:
            problems.append(
                Problem("cluster.replication.factor", factor, f"at most {count}, the nodes{place}")
            )
    if sum(factors.values()) < 1:
        problems.append(Problem("cluster.replication.factor", factors, "at least one replica"))
    if problems:
        raise ScenarioError(problems)


def replica_sets(ring: Ring, nodes: tuple[Node, ...], replication: Replication) -> IntArray:
    """Return the replicas of each range, [ranges, replicas].

    The columns of NetworkTopologyStrategy are grouped by datacenter, in the order of `datacenters_of(nodes)`;
    within a group, and for SimpleStrategy, they are in ring order.

    Args:
        ring: the ring.
        nodes: the nodes as the snitch sees them (`snitch.perceived`).
        replication: strategy and RF.

    Raises:
        ScenarioError: an RF that the nodes cannot hold.
    """
    factors = _factors(replication, nodes)
    if WHOLE_RING in factors:
        return walk(ring.owner, np.zeros(len(nodes), dtype=np.intp), factors[WHOLE_RING]).nodes
    groups, racks = datacenter_ids(nodes), rack_ids(nodes)
    columns = [
        _datacenter_rows(ring.owner, groups[ring.owner] == number, racks, factors[name])
        for number, name in enumerate(datacenters_of(nodes))
        if factors[name] > 0
    ]
    return np.concatenate(columns, axis=1)


def _datacenter_rows(owner: IntArray, inside: np.ndarray, racks: IntArray, factor: int) -> IntArray:
    """Walk the ring of one datacenter's tokens, and read the result at the tokens of the whole ring."""
    local = np.flatnonzero(inside)
    rows = walk(owner[local], racks, factor).nodes
    following = np.searchsorted(local, np.arange(owner.size)) % local.size
    return rows[following]
