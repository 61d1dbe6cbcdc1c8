"""Who is asked: which node coordinates a request, and which replicas the coordinator asks.

A driver that does not look at tokens cycles over its nodes. A token-aware driver takes a replica in its
datacenter: any of them when it shuffles, otherwise always the first in ring order, so that every request for
a key goes to the same replica first. When none of its nodes is a replica, it cycles.
The coordinator asks the nearest replicas by its snitch (`snitch.py`), and no more than the level needs.
Not in here: the dynamic snitch, dead nodes.
Source: Apache Cassandra, `ConsistencyLevel` and `ReplicaPlans`; drivers' documentation, "load balancing".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .clients import Routing
from .cluster import Snitch
from .errors import Problem, ScenarioError
from .placement import Placement
from .replication import WHOLE_RING, factors_of
from .scenario import Scenario
from .snitch import distance, perceived
from .topology import Node, datacenters_of
from .workload import ConsistencyLevel

IntArray = NDArray[np.intp]
OperationName = Literal["read", "write"]
_COUNTED = {
    ConsistencyLevel.ANY: 1,
    ConsistencyLevel.ONE: 1,
    ConsistencyLevel.TWO: 2,
    ConsistencyLevel.THREE: 3,
}


@dataclass(frozen=True, eq=False)
class Coordinators:
    """How the coordinator follows from the replica set."""

    kind: Literal["cycle", "replica", "first-replica"]
    """Cycle over the nodes, any replica among them, or the first replica among them."""
    cycle: IntArray
    """Nodes the clients talk to, [coordinators]."""
    columns: IntArray
    """Columns of the replica set in which token-aware clients look, [candidates]; only nodes of the cycle
    count, and a set without any is cycled over."""


def coordinators_of(scenario: Scenario, nodes: tuple[Node, ...]) -> Coordinators:
    """Return how the scenario's clients pick a coordinator.

    SimpleSnitch tells the drivers of one datacenter only, so they use all nodes unless `clients.datacenter`
    is given.

    Raises:
        ScenarioError: a datacenter or a node that the cluster does not have.
    """
    clients = scenario.clients
    cycle = _cycle(scenario, nodes)
    if clients.routing is Routing.ROUND_ROBIN:
        return Coordinators("cycle", cycle, np.empty(0, dtype=np.intp))
    kind: Literal["replica", "first-replica"] = "replica" if clients.shuffle_replicas else "first-replica"
    return Coordinators(kind, cycle, _columns(scenario, nodes, cycle))


def _cycle(scenario: Scenario, nodes: tuple[Node, ...]) -> IntArray:
    clients = scenario.clients
    if clients.coordinators:
        beyond = [index for index in clients.coordinators if not 0 <= index < len(nodes)]
        if beyond:
            raise ScenarioError([Problem("clients.coordinators", beyond, f"nodes 0 … {len(nodes) - 1}")])
        return np.unique(np.array(clients.coordinators, dtype=np.intp))
    seen = nodes if clients.datacenter else perceived(nodes, scenario.cluster.snitch)
    name = clients.datacenter or seen[0].datacenter
    local = [node.index for node in seen if node.datacenter == name]
    if not local:
        known = ", ".join(datacenters_of(nodes))
        raise ScenarioError([Problem("clients.datacenter", name, f"one of {known}")])
    return np.array(local, dtype=np.intp)


def _columns(scenario: Scenario, nodes: tuple[Node, ...], cycle: IntArray) -> IntArray:
    """Return the columns that can hold a node of the cycle."""
    seen = perceived(nodes, scenario.cluster.snitch)
    places = {seen[index].datacenter for index in cycle}
    factors = factors_of(scenario.cluster, nodes)
    if WHOLE_RING in factors:
        return np.arange(factors[WHOLE_RING])
    names = [name for name in datacenters_of(seen) for _ in range(factors[name])]
    return np.flatnonzero([name in places for name in names])


def coordinator_matrix(
    coordinators: Coordinators, placement: Placement, nodes: tuple[Node, ...]
) -> NDArray[np.float64]:
    """Return the probability of each coordinator given the replica set, [sets, nodes]; rows add up to 1."""
    sets = len(placement.replicas)
    matrix = np.zeros((sets, len(nodes)))
    chosen = _candidates(coordinators, placement)
    counts = chosen.sum(axis=1)
    without = counts == 0
    matrix[np.ix_(without, coordinators.cycle)] = 1 / coordinators.cycle.size
    rows, positions = np.nonzero(chosen)
    columns = coordinators.columns[positions]
    matrix[rows, placement.replicas[rows, columns]] = 1 / counts[rows]
    return matrix


def _candidates(coordinators: Coordinators, placement: Placement) -> NDArray[np.bool_]:
    """Return which of `columns` a token-aware client may take, [sets, candidates]."""
    usable = np.isin(placement.replicas[:, coordinators.columns], coordinators.cycle)
    if coordinators.kind == "cycle":
        return np.zeros_like(usable)
    if coordinators.kind == "first-replica":
        usable &= np.cumsum(usable, axis=1) == 1
    return usable


def read_order(coordinator: int, row: Sequence[int], nodes: tuple[Node, ...], snitch: Snitch) -> list[int]:
    """Return the positions of `row` in the order in which the coordinator would ask these replicas.

    SimpleSnitch keeps the order of the row, and does not prefer the coordinator itself; the others put the
    coordinator first, then its rack, its datacenter and the rest, each in the order of the row.
    """
    positions = list(range(len(row)))
    if not snitch.knows_distance:
        return positions
    here = nodes[coordinator]
    return sorted(positions, key=lambda position: distance(here, nodes[row[position]]))


@dataclass(frozen=True)
class Required:
    """How many replicas must answer."""

    total: int
    """Answers needed."""
    per_datacenter: Mapping[str, int] = field(default_factory=dict)
    """Answers needed from each datacenter (LOCAL_ and EACH_ levels); empty when any replica counts."""

    def may_answer(self, datacenter: str) -> bool:
        """Whether a replica in this datacenter counts."""
        return not self.per_datacenter or datacenter in self.per_datacenter


def required(
    consistency: ConsistencyLevel, operation: OperationName, factors: Mapping[str, int], local_datacenter: str
) -> Required:
    """Return how many replicas must answer an operation.

    Args:
        consistency: consistency level.
        operation: `read` or `write`.
        factors: RF per datacenter, or under "" for SimpleStrategy, where LOCAL_QUORUM is a quorum of RF.
        local_datacenter: the coordinator's datacenter, as the snitch sees it.

    Raises:
        ScenarioError: a level that the RF cannot meet, or ANY for a read.
    """
    everything = sum(factors.values())
    local = factors.get(WHOLE_RING, factors.get(local_datacenter, 0))
    needed = _required(consistency, factors, everything, local, local_datacenter)
    available = local if consistency.startswith("LOCAL_") else everything
    key = f"workload.operations.{operation}.consistency"
    if consistency is ConsistencyLevel.ANY and operation == "read":
        raise ScenarioError([Problem(key, str(consistency), "a level for reads: ANY is for writes only")])
    if needed.total > available:
        right = f"a level that {available} replicas can meet; this one needs {needed.total}"
        raise ScenarioError([Problem(key, str(consistency), right)])
    return needed


def _required(
    consistency: ConsistencyLevel, factors: Mapping[str, int], everything: int, local: int, here: str
) -> Required:
    if consistency in _COUNTED:
        return Required(_COUNTED[consistency])
    if consistency is ConsistencyLevel.ALL:
        return Required(everything)
    if consistency is ConsistencyLevel.LOCAL_ONE:
        return Required(1, {here: 1})
    if consistency is ConsistencyLevel.LOCAL_QUORUM:
        return Required(_quorum(local), {here: _quorum(local)})
    if consistency is ConsistencyLevel.EACH_QUORUM and WHOLE_RING not in factors:
        each = {name: _quorum(factor) for name, factor in factors.items() if factor > 0}
        return Required(sum(each.values()), each)
    return Required(_quorum(everything))


def _quorum(factor: int) -> int:
    return factor // 2 + 1


def asked(
    coordinator: int, row: Sequence[int], nodes: tuple[Node, ...], snitch: Snitch, needed: Required
) -> list[int]:
    """Return the positions of `row` that a read contacts, in order; the first is asked for the data.

    Args:
        coordinator: the coordinating node.
        row: the replica set.
        nodes: the nodes as the snitch sees them.
        snitch: how replicas are ordered.
        needed: what the consistency level needs.
    """
    order = read_order(coordinator, row, nodes, snitch)
    if not needed.per_datacenter:
        return order[: needed.total]
    left = dict(needed.per_datacenter)
    taken: list[int] = []
    for position in order:
        name = nodes[row[position]].datacenter
        if left.get(name, 0) > 0:
            left[name] -= 1
            taken.append(position)
    return taken
