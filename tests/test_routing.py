"""Who coordinates, who is asked, and how many must answer."""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.clients import Clients
from capmodel.model.cluster import Cluster, NodeGroup, Replication, Snitch
from capmodel.model.errors import ScenarioError
from capmodel.model.placement import Placement
from capmodel.model.routing import (
    Required,
    asked,
    coordinator_matrix,
    coordinators_of,
    read_order,
    required,
)
from capmodel.model.scenario import Scenario
from capmodel.model.snitch import distances, perceived
from capmodel.model.topology import nodes_of
from capmodel.model.workload import ConsistencyLevel

KNOWING = [snitch for snitch in Snitch if snitch is not Snitch.SIMPLE]
TWO_DCS = (
    NodeGroup(nodes=3, datacenter="east", racks=2),
    NodeGroup(nodes=2, datacenter="west", racks=2),
)
"""Nodes 0 and 2 in east/rack1, 1 in east/rack2, 3 in west/rack1, 4 in west/rack2."""


def scenario_of(**clients: object) -> Scenario:
    cluster = Cluster(groups=TWO_DCS, replication=Replication(factor={"east": 2, "west": 1}))
    return Scenario(cluster=cluster, clients=Clients.model_validate(clients))


ROWS = Placement(np.array([[0, 1, 3], [2, 0, 4]]), np.array([0.5, 0.5]))
"""Columns: two replicas in east, one in west."""


def matrix_of(scenario: Scenario, rows: Placement = ROWS) -> list[list[float]]:
    nodes = nodes_of(scenario)
    return coordinator_matrix(coordinators_of(scenario, nodes), rows, nodes).tolist()


def test_round_robin_cycles_over_the_clients_datacenter() -> None:
    third = pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0])
    assert matrix_of(scenario_of(routing="round-robin")) == [third, third]
    west = matrix_of(scenario_of(routing="round-robin", datacenter="west"))
    assert west == [[0, 0, 0, 0.5, 0.5]] * 2


def test_round_robin_over_a_subset_is_juhos_third_run() -> None:
    assert matrix_of(scenario_of(routing="round-robin", coordinators=(0,))) == [[1, 0, 0, 0, 0]] * 2


def test_token_aware_takes_any_replica_of_the_datacenter_when_it_shuffles() -> None:
    assert matrix_of(scenario_of()) == [[0.5, 0.5, 0, 0, 0], [0.5, 0, 0.5, 0, 0]]


def test_token_aware_takes_the_first_replica_when_it_does_not() -> None:
    assert matrix_of(scenario_of(shuffle_replicas=False)) == [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0]]


def test_token_aware_stays_inside_a_subset_or_cycles_over_it() -> None:
    assert matrix_of(scenario_of(coordinators=(1, 3))) == [[0, 0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5, 0]]
    assert matrix_of(scenario_of(coordinators=(1, 3), shuffle_replicas=False)) == [
        [0, 1, 0, 0, 0],
        [0, 0.5, 0, 0.5, 0],
    ]


def test_token_aware_without_a_replica_nearby_cycles() -> None:
    cluster = Cluster(groups=TWO_DCS, replication=Replication(factor={"east": 2}))
    scenario = Scenario(cluster=cluster, clients=Clients(datacenter="west"))
    rows = Placement(np.array([[0, 1]]), np.array([1.0]))
    assert matrix_of(scenario, rows) == [[0, 0, 0, 0.5, 0.5]]


def test_under_simple_snitch_drivers_know_one_datacenter() -> None:
    replication = Replication(strategy="SimpleStrategy", factor=2)
    cluster = Cluster(groups=TWO_DCS, replication=replication, snitch=Snitch.SIMPLE)
    rows = Placement(np.array([[3, 0]]), np.array([1.0]))
    cycled = Scenario(cluster=cluster, clients=Clients(routing="round-robin"))
    assert matrix_of(cycled, rows) == [[0.2] * 5]
    aware = Scenario(cluster=cluster, clients=Clients(shuffle_replicas=False))
    assert matrix_of(aware, rows) == [[0, 0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("clients", "words"),
    [({"datacenter": "north"}, "east, west"), ({"coordinators": (0, 7)}, "nodes 0 … 4")],
)
def test_unknown_nodes_are_refused(clients: dict[str, object], words: str) -> None:
    scenario = scenario_of(**clients)
    with pytest.raises(ScenarioError, match=words):
        coordinators_of(scenario, nodes_of(scenario))


@pytest.mark.parametrize("snitch", KNOWING)
def test_a_snitch_that_knows_puts_self_rack_datacenter_first(snitch: Snitch) -> None:
    nodes = nodes_of(scenario_of())
    assert read_order(0, [3, 1, 2, 0], nodes, snitch) == [3, 2, 1, 0]
    assert read_order(4, [2, 0, 3, 1], nodes, snitch) == [2, 0, 1, 3]  # west first, then as they came


def test_simple_snitch_does_not_prefer_the_coordinator() -> None:
    assert read_order(0, [3, 1, 2, 0], nodes_of(scenario_of()), Snitch.SIMPLE) == [0, 1, 2, 3]


@pytest.mark.parametrize("snitch", list(Snitch))
def test_the_table_of_distances_orders_as_read_order_does(snitch: Snitch) -> None:
    nodes = nodes_of(scenario_of())
    row = [4, 2, 0, 3, 1]
    for coordinator, table in enumerate(distances(nodes, snitch)):
        by_table = np.argsort(table[row], kind="stable").tolist()
        assert by_table == read_order(coordinator, row, nodes, snitch)


FACTORS = {"east": 3, "west": 2}


@pytest.mark.parametrize(
    ("level", "total", "per_datacenter"),
    [
        ("ONE", 1, {}),
        ("TWO", 2, {}),
        ("THREE", 3, {}),
        ("QUORUM", 3, {}),
        ("ALL", 5, {}),
        ("LOCAL_ONE", 1, {"west": 1}),
        ("LOCAL_QUORUM", 2, {"west": 2}),
        ("EACH_QUORUM", 4, {"east": 2, "west": 2}),
    ],
)
def test_answers_needed_by_each_level(level: str, total: int, per_datacenter: dict[str, int]) -> None:
    for operation in ("read", "write"):
        needed = required(ConsistencyLevel(level), operation, FACTORS, "west")
        assert needed == Required(total, per_datacenter)
        assert needed.may_answer("east") is ("east" in per_datacenter or not per_datacenter)


@pytest.mark.parametrize(("rf", "quorum"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_quorum_is_a_majority(rf: int, quorum: int) -> None:
    for level in (ConsistencyLevel.QUORUM, ConsistencyLevel.LOCAL_QUORUM, ConsistencyLevel.EACH_QUORUM):
        assert required(level, "read", {"": rf}, "dc1").total == quorum
        assert required(level, "read", {"dc1": rf}, "dc1").total == quorum


def test_any_is_one_answer_for_writes_only() -> None:
    assert required(ConsistencyLevel.ANY, "write", FACTORS, "east") == Required(1)
    with pytest.raises(ScenarioError, match="for writes only"):
        required(ConsistencyLevel.ANY, "read", FACTORS, "east")


@pytest.mark.parametrize(
    ("level", "factors"), [("TWO", {"dc1": 1}), ("THREE", {"": 2}), ("LOCAL_ONE", {"dc1": 0, "dc2": 3})]
)
def test_a_level_that_rf_cannot_meet_is_refused(level: str, factors: dict[str, int]) -> None:
    with pytest.raises(ScenarioError, match=r"workload\.operations\.read\.consistency"):
        required(ConsistencyLevel(level), "read", factors, "dc1")


def test_a_read_asks_the_nearest_that_count() -> None:
    nodes = nodes_of(scenario_of())
    row = [0, 1, 3, 4]
    assert asked(4, row, nodes, Snitch.GOSSIPING, Required(2)) == [3, 2]
    assert asked(4, row, nodes, Snitch.GOSSIPING, Required(1, {"east": 1})) == [0]
    assert asked(4, row, nodes, Snitch.GOSSIPING, Required(2, {"east": 1, "west": 1})) == [3, 0]
    assert asked(4, row, perceived(nodes, Snitch.SIMPLE), Snitch.SIMPLE, Required(2)) == [0, 1]
