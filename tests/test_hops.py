"""The exact hop analysis against the textbook formulas on even rings, and Juho's argument in numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from capmodel.model import hop_cases
from capmodel.model.clients import Clients
from capmodel.model.cluster import Allocation, Cluster, NodeGroup, Replication, Snitch
from capmodel.model.errors import ScenarioError
from capmodel.model.hop_formulas import (
    asks_itself_round_robin,
    asks_itself_token_aware,
    background_read_messages,
    hop_probability_ring_order,
    hop_probability_round_robin,
    hop_probability_token_aware,
    read_messages,
    write_messages,
    write_messages_between_datacenters,
)
from capmodel.model.hops import BackgroundContact, HopAnalysis, MessageKind, OperationHops, hop_analysis
from capmodel.model.placement import place
from capmodel.model.replication import factors_of
from capmodel.model.ring import draw_ring
from capmodel.model.routing import asked, coordinator_matrix, coordinators_of, required
from capmodel.model.scenario import Scenario
from capmodel.model.snitch import perceived
from capmodel.model.topology import nodes_of
from capmodel.model.workload import Workload

SIZES = [(1, 1), (2, 1), (3, 1), (8, 1), (2, 2), (3, 2), (4, 3), (6, 3), (7, 5)]
QUORUM = {1: 1, 2: 2, 3: 2, 5: 3}


def analyse(
    cluster: Cluster, clients: Clients, read: str = "ONE", write: str = "ONE", background: float = 0.0
) -> HopAnalysis:
    operations = {
        "read": {"share": 0.75, "consistency": read},
        "write": {"share": 0.25, "consistency": write},
    }
    scenario = Scenario(cluster=cluster, clients=clients, workload=Workload(operations=operations))
    nodes = nodes_of(scenario)
    rng = np.random.default_rng(7)
    ring = draw_ring(nodes, cluster.allocation, factors_of(cluster, nodes), rng)
    placement = place(scenario, nodes, ring, rng)
    return hop_analysis(scenario, nodes, placement, coordinators_of(scenario, nodes), background)


def even(nodes: int, rf: int, snitch: Snitch = Snitch.GOSSIPING) -> Cluster:
    return Cluster(
        nodes=nodes,
        num_tokens=1,
        allocation=Allocation.EVEN,
        replication=Replication(factor=rf),
        snitch=snitch,
    )


def reads(analysis: HopAnalysis) -> OperationHops:
    return analysis.operations["read"]


def writes(analysis: HopAnalysis) -> OperationHops:
    return analysis.operations["write"]


ROUND_ROBIN = Clients(routing="round-robin")
SHUFFLED = Clients()
FIRST = Clients(shuffle_replicas=False)


@pytest.mark.parametrize(("nodes", "rf"), SIZES)
def test_round_robin_hops_once_in_one_minus_rf_over_nodes(nodes: int, rf: int) -> None:
    analysis = analyse(even(nodes, rf), ROUND_ROBIN)
    expected = hop_probability_round_robin(nodes, rf)
    assert reads(analysis).waits_remote == pytest.approx(expected, abs=1e-12)
    assert writes(analysis).waits_remote == pytest.approx(expected, abs=1e-12)
    assert reads(analysis).coordinator_is_no_replica == pytest.approx(expected, abs=1e-12)
    assert analysis.waits_remote == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("nodes", "rf"), SIZES)
def test_under_simple_snitch_rf_does_not_lower_the_hop_probability_of_reads(nodes: int, rf: int) -> None:
    analysis = analyse(even(nodes, rf, Snitch.SIMPLE), ROUND_ROBIN)
    assert reads(analysis).waits_remote == pytest.approx(hop_probability_ring_order(nodes), abs=1e-12)
    no_replica = hop_probability_round_robin(nodes, rf)
    assert reads(analysis).coordinator_is_no_replica == pytest.approx(no_replica, abs=1e-12)


@pytest.mark.parametrize(("nodes", "rf"), SIZES)
@pytest.mark.parametrize("snitch", [Snitch.SIMPLE, Snitch.GOSSIPING])
@pytest.mark.parametrize("clients", [SHUFFLED, FIRST], ids=["shuffled", "first"])
def test_token_aware_hops(nodes: int, rf: int, snitch: Snitch, clients: Clients) -> None:
    analysis = analyse(even(nodes, rf, snitch), clients)
    expected = hop_probability_token_aware(rf, snitch.knows_distance, clients.shuffle_replicas)
    assert reads(analysis).waits_remote == pytest.approx(expected, abs=1e-12)
    assert writes(analysis).waits_remote == pytest.approx(0.0, abs=1e-12)
    assert reads(analysis).coordinator_is_no_replica == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("nodes", "rf"), SIZES)
@pytest.mark.parametrize("snitch", [Snitch.SIMPLE, Snitch.GOSSIPING])
@pytest.mark.parametrize("clients", [ROUND_ROBIN, SHUFFLED, FIRST], ids=["cycle", "shuffled", "first"])
@pytest.mark.parametrize("level", ["ONE", "QUORUM", "ALL"])
def test_messages_of_reads_and_writes(
    nodes: int, rf: int, snitch: Snitch, clients: Clients, level: str
) -> None:
    chance = 0.25
    analysis = analyse(even(nodes, rf, snitch), clients, level, level, background=chance)
    needed = {"ONE": 1, "QUORUM": QUORUM[rf], "ALL": rf}[level]
    nearest = snitch.knows_distance
    if clients is ROUND_ROBIN:
        itself, is_replica = asks_itself_round_robin(nodes, rf, needed, nearest), rf / nodes
    else:
        itself = asks_itself_token_aware(rf, needed, nearest, clients.shuffle_replicas)
        is_replica = 1.0
    expected_read = background_read_messages(rf, needed, itself, is_replica, chance)
    expected_write = write_messages({"dc1": rf}, is_replica)
    assert reads(analysis).messages_per_operation == pytest.approx(expected_read, abs=1e-12)
    assert writes(analysis).messages_per_operation == pytest.approx(expected_write, abs=1e-12)
    mixed = 0.75 * expected_read + 0.25 * expected_write
    assert analysis.messages_per_operation == pytest.approx(mixed, abs=1e-12)


@pytest.mark.parametrize(("nodes", "rf"), [(4, 3), (6, 3), (2, 2)])
def test_more_than_one_answer_always_needs_a_hop(nodes: int, rf: int) -> None:
    for clients in (ROUND_ROBIN, SHUFFLED, FIRST):
        analysis = analyse(even(nodes, rf), clients, "QUORUM", "QUORUM")
        assert reads(analysis).waits_remote == pytest.approx(1.0, abs=1e-12)
        assert writes(analysis).waits_remote == pytest.approx(1.0, abs=1e-12)


def test_juhos_argument_of_2010() -> None:
    """Seed 004: 50 % at two nodes, 66 % at three, and the third run no different from the second."""
    two, three = (reads(analyse(even(nodes, 1), ROUND_ROBIN)).waits_remote for nodes in (2, 3))
    through_one = analyse(even(2, 1), Clients(routing="round-robin", coordinators=(0,)))
    assert two == pytest.approx(0.5)
    assert three == pytest.approx(2 / 3)
    assert reads(through_one).waits_remote == pytest.approx(two)
    assert reads(through_one).between()[0, 1] == pytest.approx(0.5)  # all of it leaves node 0
    assert reads(analyse(even(2, 2), ROUND_ROBIN)).waits_remote == 0.0  # RF 2 on two nodes
    assert reads(analyse(even(2, 2, Snitch.SIMPLE), ROUND_ROBIN)).waits_remote == pytest.approx(0.5)


def test_a_formula_without_rf_is_seen_to_be_wrong() -> None:
    measured = reads(analyse(even(6, 3), ROUND_ROBIN)).waits_remote
    assert measured != pytest.approx(hop_probability_round_robin(6, 1), abs=0.05)


def test_messages_of_a_write_between_datacenters() -> None:
    factors = {"east": 3, "west": 3, "south": 2}
    groups = tuple(NodeGroup(nodes=4, datacenter=name) for name in factors)
    cluster = Cluster(groups=groups, num_tokens=4, replication=Replication(factor=factors))
    hops = writes(analyse(cluster, SHUFFLED, write="LOCAL_QUORUM"))
    crossing = hops.between()[:4, 4:].sum() + hops.between()[4:, :4].sum()
    assert crossing == pytest.approx(write_messages_between_datacenters(factors, "east"))
    assert hops.messages_per_operation == pytest.approx(write_messages(factors, is_replica=1.0))
    assert hops.messages[MessageKind.FORWARDED_MUTATION].sum() == pytest.approx(2 + 1)
    assert hops.messages[MessageKind.ACKNOWLEDGEMENT].sum() == pytest.approx(2 + 3 + 2)
    without_forwarding = hops.messages[MessageKind.MUTATION].copy()
    without_forwarding[:, 4:] *= 2
    assert without_forwarding.sum() != pytest.approx(hops.messages[MessageKind.MUTATION].sum())


def test_one_data_read_and_the_rest_digests() -> None:
    hops = reads(analyse(even(6, 5), SHUFFLED, "QUORUM"))
    assert MessageKind.MUTATION not in hops.messages
    assert hops.messages[MessageKind.DATA_REQUEST].sum() == pytest.approx(0.0, abs=1e-12)  # read at home
    assert hops.messages[MessageKind.DIGEST_REQUEST].sum() == pytest.approx(2.0)
    responses = hops.messages[MessageKind.DIGEST_RESPONSE]
    np.testing.assert_allclose(responses.T, hops.messages[MessageKind.DIGEST_REQUEST])


def test_reads_of_old_versions_work_every_replica() -> None:
    """With read_repair_chance 1 an RF 2 read at ONE asks the second replica too, and nobody waits for it."""
    old = reads(analyse(even(4, 2), SHUFFLED, background=1.0))
    assert old.messages_per_operation == pytest.approx(read_messages(needed=2, asks_itself=1.0))
    assert old.waits_remote == 0.0


def test_the_two_chances_of_a_table_share_one_random_number() -> None:
    assert BackgroundContact.of_chances(0.1, 0.3) == BackgroundContact(0.1, pytest.approx(0.2))
    assert BackgroundContact.of_chances(0.3, 0.1) == BackgroundContact(0.3, 0.0)


@pytest.mark.parametrize("level", ["ONE", "QUORUM", "LOCAL_QUORUM", "EACH_QUORUM"])
def test_asking_one_by_one_agrees_with_the_arrays(level: str) -> None:
    """`routing.asked` and the vectorised analysis are two readings of one rule."""
    groups = (NodeGroup(nodes=5, datacenter="a", racks=2), NodeGroup(nodes=4, datacenter="b", racks=2))
    for snitch, routing in product((Snitch.GOSSIPING, Snitch.SIMPLE), ("round-robin", "token-aware")):
        factor = {"a": 3, "b": 2} if snitch.knows_distance else 3
        cluster = Cluster(groups=groups, num_tokens=3, replication=Replication(factor=factor), snitch=snitch)
        operations = {"read": {"share": 1.0, "consistency": level}}
        scenario = Scenario(
            cluster=cluster,
            clients=Clients(routing=routing),
            workload=Workload(operations=operations),
        )
        nodes = nodes_of(scenario)
        seen = perceived(nodes, snitch)
        factors = factors_of(cluster, nodes)
        rng = np.random.default_rng(1)
        placement = place(scenario, nodes, draw_ring(nodes, Allocation.RANDOM, factors, rng), rng)
        coordinators = coordinators_of(scenario, nodes)
        matrix = coordinator_matrix(coordinators, placement, nodes)
        requests = np.zeros((9, 9))
        for row, weight, chances in zip(placement.replicas.tolist(), placement.weight, matrix, strict=True):
            for here in np.flatnonzero(chances).tolist():
                operation = scenario.workload.operations["read"]
                needed = required(operation.consistency, "read", factors, seen[here].datacenter)
                for position in asked(here, row, seen, snitch, needed):
                    requests[here, row[position]] += weight * chances[here] * (row[position] != here)
        hops = reads(hop_analysis(scenario, nodes, placement, coordinators))
        both = hops.messages[MessageKind.DATA_REQUEST] + hops.messages[MessageKind.DIGEST_REQUEST]
        np.testing.assert_allclose(both, requests, atol=1e-12)


def test_many_sets_are_added_up_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = (NodeGroup(nodes=5, datacenter="a", racks=2), NodeGroup(nodes=4, datacenter="b", racks=2))
    cluster = Cluster(groups=groups, num_tokens=8, replication=Replication(factor=2))
    clients = Clients(routing="round-robin", coordinators=(0, 2, 6))
    whole = analyse(cluster, clients, "QUORUM", "QUORUM")
    monkeypatch.setattr(hop_cases, "_PAIRS_AT_ONCE", 100)
    parts = analyse(cluster, clients, "QUORUM", "QUORUM")
    np.testing.assert_allclose(parts.between(), whole.between(), atol=1e-12)
    assert parts.waits_remote == pytest.approx(whole.waits_remote)


def test_a_level_that_simple_strategy_cannot_meet_everywhere_is_refused() -> None:
    groups = (NodeGroup(nodes=3, datacenter="a"), NodeGroup(nodes=3, datacenter="b"))
    replication = Replication(strategy="SimpleStrategy", factor=2)
    cluster = Cluster(groups=groups, num_tokens=4, replication=replication)
    for level in ("LOCAL_ONE", "LOCAL_QUORUM"):
        with pytest.raises(ScenarioError, match="SimpleStrategy may put too few"):
            analyse(cluster, ROUND_ROBIN, read=level)
        with pytest.raises(ScenarioError, match="SimpleStrategy may put too few"):
            analyse(cluster, ROUND_ROBIN, write=level)
