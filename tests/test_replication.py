"""Replica sets against small rings worked out by hand and against the rule of older versions."""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.cluster import Allocation, Cluster, NodeGroup, Replication, Snitch
from capmodel.model.errors import ScenarioError
from capmodel.model.placement import merged, place
from capmodel.model.replication import factors_of, replica_sets
from capmodel.model.ring import Ring, draw_ring
from capmodel.model.scenario import Scenario
from capmodel.model.snitch import perceived
from capmodel.model.topology import Node, nodes_of

SIMPLE = Replication(strategy="SimpleStrategy", factor=2)


def ring_of(*owner: int) -> Ring:
    """Return a ring whose tokens 0, 1, 2 … are held by the nodes listed."""
    return Ring(np.arange(len(owner), dtype=np.int64), np.array(owner))


def nodes_in(*groups: tuple[str, int, int]) -> tuple[Node, ...]:
    """Return nodes from (datacenter, nodes, racks)."""
    listed = tuple(NodeGroup(datacenter=dc, nodes=n, racks=racks) for dc, n, racks in groups)
    return nodes_of(Scenario(cluster=Cluster(groups=listed)))


def older_rule(ring: Ring, nodes: tuple[Node, ...], factor: int, start: int) -> list[int]:
    """Take replicas as Cassandra before 3.2 did: skip met racks, and fall back on the skipped nodes."""
    racks = {node.rack for node in nodes}
    seen: set[str] = set()
    taken: list[int] = []
    skipped: list[int] = []
    for step in range(ring.owner.size):
        node = int(ring.owner[(start + step) % ring.owner.size])
        if len(taken) == factor or node in taken or node in skipped:
            continue
        if seen == racks:
            taken.append(node)
        elif nodes[node].rack in seen:
            skipped.append(node)
        else:
            taken.append(node)
            seen.add(nodes[node].rack)
            if seen == racks:
                taken += skipped[: factor - len(taken)]
    return taken


def test_simple_strategy_takes_the_next_distinct_nodes() -> None:
    sets = replica_sets(ring_of(0, 0, 1, 2), nodes_in(("dc1", 3, 3)), SIMPLE)
    assert sets.tolist() == [[0, 1], [0, 1], [1, 2], [2, 0]]


def test_simple_strategy_ignores_datacenters() -> None:
    sets = replica_sets(ring_of(0, 1, 2, 3), nodes_in(("a", 2, 1), ("b", 2, 1)), SIMPLE)
    assert sets.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]


def test_one_replica_a_rack_comes_first() -> None:
    # Nodes 0 and 2 stand in rack1, 1 and 3 in rack2; from token 0 node 2 is met first, but 1 is taken.
    sets = replica_sets(ring_of(0, 2, 1, 3), nodes_in(("dc1", 4, 2)), Replication(factor=2))
    assert sets.tolist() == [[0, 1], [2, 1], [1, 0], [3, 0]]


def test_more_replicas_than_racks_repeat_racks() -> None:
    # Two racks, RF 3: one repeat is allowed, and the first node met in a known rack takes it.
    sets = replica_sets(ring_of(0, 2, 1, 3), nodes_in(("dc1", 4, 2)), Replication(factor=3))
    assert sets.tolist() == [[0, 2, 1], [2, 1, 3], [1, 3, 0], [3, 0, 2]]


def test_a_rack_with_one_node_takes_a_replica_of_everything() -> None:
    groups = (NodeGroup(nodes=3, racks=1), NodeGroup(nodes=2, racks=2))
    nodes = nodes_of(Scenario(cluster=Cluster(groups=groups)))
    assert [node.rack for node in nodes] == ["rack1", "rack1", "rack1", "rack1", "rack2"]
    sets = replica_sets(ring_of(0, 1, 2, 3, 4), nodes, Replication(factor=2))
    assert all(4 in row for row in sets.tolist())


def test_columns_are_grouped_by_datacenter() -> None:
    nodes = nodes_in(("a", 2, 1), ("b", 3, 1))
    sets = replica_sets(ring_of(2, 0, 3, 1, 4), nodes, Replication(factor={"a": 1, "b": 2}))
    assert sets.tolist() == [[0, 2, 3], [0, 3, 4], [1, 3, 4], [1, 4, 2], [0, 4, 2]]


def test_a_datacenter_without_replicas_has_no_columns() -> None:
    nodes = nodes_in(("a", 2, 1), ("b", 3, 1))
    sets = replica_sets(ring_of(2, 0, 3, 1, 4), nodes, Replication(factor={"b": 1}))
    assert sets.tolist() == [[2], [3], [3], [4], [4]]


@pytest.mark.parametrize(("count", "racks", "factor"), [(5, 1, 3), (6, 2, 3), (7, 3, 2), (7, 3, 3), (8, 3, 5)])
def test_every_version_takes_the_same_nodes(count: int, racks: int, factor: int) -> None:
    nodes = nodes_in(("dc1", count, racks))
    for seed in range(10):
        ring = draw_ring(nodes, Allocation.RANDOM, {}, np.random.default_rng(seed))
        sets = replica_sets(ring, nodes, Replication(factor=factor))
        for start, row in enumerate(sets.tolist()):
            assert len(set(row)) == factor
            assert set(row) == set(older_rule(ring, nodes, factor, start))


def test_factors_of_each_strategy() -> None:
    nodes = nodes_in(("a", 3, 1), ("b", 3, 1))
    assert factors_of(Cluster(nodes=6, replication=Replication(factor=2)), nodes) == {"a": 2, "b": 2}
    assert factors_of(Cluster(nodes=6, replication=Replication(factor={"b": 3})), nodes) == {"a": 0, "b": 3}
    assert factors_of(Cluster(nodes=6, replication=SIMPLE), nodes) == {"": 2}


@pytest.mark.parametrize(
    ("replication", "words"),
    [
        (Replication(factor=4), "at most 3, the nodes in datacenter 'a'"),
        (Replication(factor={"a": 1, "c": 1}), "at most 0, the nodes in datacenter 'c'"),
        (Replication(strategy="SimpleStrategy", factor=6), "at most 5, the nodes"),
        (Replication(factor={"a": 0}), "at least one replica"),
    ],
)
def test_impossible_replication_is_refused(replication: Replication, words: str) -> None:
    nodes = nodes_in(("a", 3, 1), ("b", 2, 1))
    with pytest.raises(ScenarioError, match=words):
        factors_of(Cluster(nodes=5, replication=replication), nodes)
    with pytest.raises(ScenarioError, match=words):
        replica_sets(ring_of(0, 1, 2, 3, 4), nodes, replication)


def test_simple_snitch_knows_no_racks() -> None:
    scenario = Scenario(
        cluster=Cluster(nodes=4, racks=2, snitch=Snitch.SIMPLE, replication=Replication(factor=2))
    )
    nodes = nodes_of(scenario)
    placement = place(scenario, nodes, ring_of(0, 2, 1, 3), np.random.default_rng(0))
    assert sorted(placement.replicas.tolist()) == [[0, 2], [1, 3], [2, 1], [3, 0]]
    assert len({node.rack for node in perceived(nodes, Snitch.SIMPLE)}) == 1
    assert perceived(nodes, Snitch.GOSSIPING) is nodes


def test_equal_sets_are_merged_with_their_weights() -> None:
    sets = np.array([[0, 1], [1, 2], [0, 1], [1, 0], [2, 0]])
    placement = merged(sets, np.array([0.1, 0.2, 0.3, 0.4, 0.0]))
    assert placement.replicas.tolist() == [[0, 1], [1, 0], [1, 2]]  # the order within a set counts
    assert placement.weight.tolist() == pytest.approx([0.4, 0.4, 0.2])
