"""Tokens, ranges and ownership of rings."""

from __future__ import annotations

import time

import numpy as np
import pytest

from capmodel.model.cluster import Allocation, Cluster, NodeGroup, Replication
from capmodel.model.errors import ScenarioError
from capmodel.model.ownership import check_ownership, load_share, ownership_of
from capmodel.model.placement import place
from capmodel.model.ring import Ring, add_node, draw_ring, given_ring, remove_node
from capmodel.model.scenario import Scenario
from capmodel.model.topology import Node, nodes_of
from capmodel.model.workload import Workload

RF3 = {"dc1": 3}
NTS3 = Replication(factor=3)


def like_nodes(count: int, num_tokens: int = 16, racks: int = 1) -> tuple[Node, ...]:
    return nodes_of(Scenario(cluster=Cluster(nodes=count, num_tokens=num_tokens, racks=racks)))


def imbalance(nodes: tuple[Node, ...], allocation: Allocation, seeds: range) -> float:
    """Return the mean over draws of the largest replicated share over the mean share, at RF 3."""
    rings = [draw_ring(nodes, allocation, RF3, np.random.default_rng(seed)) for seed in seeds]
    return float(np.mean([ownership_of(ring, nodes, NTS3).imbalance for ring in rings]))


@pytest.mark.parametrize("allocation", list(Allocation))
@pytest.mark.parametrize(("count", "num_tokens", "racks"), [(1, 1, 1), (1, 16, 1), (5, 1, 1), (7, 16, 3)])
def test_every_node_gets_its_tokens(allocation: Allocation, count: int, num_tokens: int, racks: int) -> None:
    ring = draw_ring(like_nodes(count, num_tokens, racks), allocation, {"dc1": 1}, np.random.default_rng(1))
    assert np.bincount(ring.owner).tolist() == [num_tokens] * count
    assert np.all(np.diff(ring.tokens.astype(object)) > 0)
    assert ring.tokens.dtype == np.int64
    assert ring.shares().sum() == pytest.approx(1.0, abs=1e-12)


def test_given_ring_has_the_widths_of_its_tokens() -> None:
    ring = given_ring([[-(2**63), 2**62], [0]])
    assert ring.tokens.tolist() == [-(2**63), 0, 2**62]
    assert ring.owner.tolist() == [0, 1, 0]
    assert ring.shares().tolist() == [0.25, 0.5, 0.25]


def test_given_ring_of_one_token_is_the_whole_ring() -> None:
    assert given_ring([[17]]).shares().tolist() == [1.0]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ([[1], []], "at least one token"),
        ([[1], [1]], "node 0 holds this one"),
        ([[2**63]], "Murmur3"),
    ],
)
def test_given_ring_refuses_impossible_tokens(tokens: list[list[int]], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        given_ring(tokens)


def test_given_ring_reports_all_problems_together() -> None:
    with pytest.raises(ScenarioError) as refusal:
        given_ring([[1, 2**70], [], [1]])
    assert len(refusal.value.problems) == 3


def test_even_tokens_are_the_customary_ones() -> None:
    ring = draw_ring(like_nodes(4, num_tokens=1), Allocation.EVEN, RF3, np.random.default_rng(0))
    assert ring.tokens.tolist() == [-(2**63), -(2**62), 0, 2**62]
    assert ring.owner.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("count", "num_tokens", "racks"), [(3, 1, 1), (6, 1, 3), (5, 16, 1), (12, 4, 3)])
def test_even_tokens_give_equal_ownership(count: int, num_tokens: int, racks: int) -> None:
    nodes = like_nodes(count, num_tokens, racks)
    ownership = ownership_of(
        draw_ring(nodes, Allocation.EVEN, RF3, np.random.default_rng(0)), nodes, NTS3
    )
    np.testing.assert_allclose(ownership.primary, 1 / count, rtol=1e-9)
    np.testing.assert_allclose(ownership.replicated, 3 / count, rtol=1e-9)


def test_even_tokens_of_each_datacenter_are_even_in_themselves() -> None:
    groups = (NodeGroup(nodes=3, datacenter="a"), NodeGroup(nodes=4, datacenter="b"))
    nodes = nodes_of(Scenario(cluster=Cluster(groups=groups, num_tokens=1)))
    factors = {"a": 2, "b": 3}
    ring = draw_ring(nodes, Allocation.EVEN, factors, np.random.default_rng(0))
    ownership = ownership_of(ring, nodes, Replication(factor=factors))
    np.testing.assert_allclose(ownership.replicated, [2 / 3] * 3 + [3 / 4] * 4, rtol=1e-9)


def test_nodes_with_twice_the_tokens_own_twice_as_much() -> None:
    groups = (NodeGroup(nodes=4, num_tokens=8), NodeGroup(nodes=4, num_tokens=16))
    nodes = nodes_of(Scenario(cluster=Cluster(groups=groups)))
    for allocation in (Allocation.EVEN, Allocation.REPLICATION_AWARE):
        ring = draw_ring(nodes, allocation, {"dc1": 1}, np.random.default_rng(3))
        share = ownership_of(ring, nodes, Replication(factor=1)).replicated
        assert share[4:].sum() / share[:4].sum() == pytest.approx(2.0, rel=0.1)


def test_random_ownership_scatters_as_theory_says() -> None:
    """Widths of n random ranges are Dirichlet(1, …, 1): variance of a node with T of n tokens as of a Beta."""
    count, num_tokens = 12, 16
    nodes = like_nodes(count, num_tokens)
    rings = [
        draw_ring(nodes, Allocation.RANDOM, RF3, np.random.default_rng(seed)) for seed in range(200)
    ]
    shares = np.array([ownership_of(ring, nodes, NTS3).primary for ring in rings])
    total = count * num_tokens
    variance = (num_tokens / total) * (1 - num_tokens / total) / (total + 1)
    std_err = variance * np.sqrt(2 / shares.size)
    assert shares.var() == pytest.approx(variance, abs=4 * std_err)
    assert abs(shares.var() - 2 * variance) > 4 * std_err  # the check would see a doubled variance


@pytest.mark.parametrize(
    ("num_tokens", "published"),
    [(4, 0.14), (8, 0.10)],
    ids=["4 tokens", "8 tokens"],
)
def test_replication_aware_spread_is_as_published(num_tokens: int, published: float) -> None:
    """DataStax' documentation, "Virtual node configuration": spread at RF 3 for 4 and 8 tokens a node."""
    nodes = like_nodes(48, num_tokens)
    aware = imbalance(nodes, Allocation.REPLICATION_AWARE, range(4)) - 1
    assert published / 3 < aware < published * 1.5
    assert imbalance(nodes, Allocation.RANDOM, range(4)) - 1 > 2 * published


@pytest.mark.parametrize(("count", "racks"), [(6, 1), (12, 1), (13, 1), (12, 3), (12, 4), (48, 3)])
def test_replication_aware_beats_random_at_every_size(count: int, racks: int) -> None:
    nodes = like_nodes(count, 16, racks)
    aware = imbalance(nodes, Allocation.REPLICATION_AWARE, range(5)) - 1
    assert aware < 0.12
    assert imbalance(nodes, Allocation.RANDOM, range(5)) - 1 > 2 * aware


@pytest.mark.parametrize("allocation", list(Allocation))
def test_a_joining_node_leaves_the_others_their_tokens(allocation: Allocation) -> None:
    nodes = like_nodes(6, 8)
    rng = np.random.default_rng(5)
    before = draw_ring(nodes[:5], allocation, RF3, rng)
    after = add_node(before, nodes, allocation, RF3, rng)
    old = after.owner != 5
    assert after.tokens[old].tolist() == before.tokens.tolist()
    assert after.owner[old].tolist() == before.owner.tolist()
    assert np.count_nonzero(after.owner == 5) == 8


def test_joining_with_even_tokens_halves_the_widest_range() -> None:
    nodes = like_nodes(4, num_tokens=1)
    before = draw_ring(nodes[:3], Allocation.EVEN, RF3, np.random.default_rng(0))
    after = add_node(before, nodes, Allocation.EVEN, RF3, np.random.default_rng(0))
    assert sorted(after.shares()) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3])


def test_joining_replication_aware_keeps_the_ring_even() -> None:
    nodes = like_nodes(13)
    ring = draw_ring(nodes[:12], Allocation.REPLICATION_AWARE, RF3, np.random.default_rng(2))
    aware = add_node(ring, nodes, Allocation.REPLICATION_AWARE, RF3, np.random.default_rng(2))
    random = add_node(ring, nodes, Allocation.RANDOM, RF3, np.random.default_rng(2))
    fair = 3 / 13
    assert ownership_of(aware, nodes, NTS3).replicated[12] == pytest.approx(fair, rel=0.05)
    assert ownership_of(aware, nodes, NTS3).imbalance < ownership_of(random, nodes, NTS3).imbalance


def test_a_leaving_node_leaves_the_others_their_tokens() -> None:
    before = given_ring([[-5, 5], [0], [7]])
    after = remove_node(before, 1)
    assert after.tokens.tolist() == [-5, 5, 7]
    assert after.owner.tolist() == [0, 0, 1]


def test_same_generator_gives_the_same_ring() -> None:
    rings = [
        draw_ring(like_nodes(6), Allocation.REPLICATION_AWARE, RF3, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert rings[0].tokens.tolist() == rings[1].tokens.tolist() != rings[2].tokens.tolist()


def test_replicated_ownership_adds_up_to_rf_and_its_largest_is_seen() -> None:
    nodes = like_nodes(3, num_tokens=1)
    ring = Ring(np.array([-(2**63), 0, 2**62]), np.array([0, 1, 2]))
    ownership = ownership_of(ring, nodes, Replication(factor=2))
    assert ownership.primary.tolist() == [0.25, 0.5, 0.25]
    assert ownership.replicated.tolist() == [0.5, 0.75, 0.75]  # each node: its own range and the one before
    assert ownership.largest == 0.75
    assert ownership.imbalance == pytest.approx(0.75 / (2 / 3))


def test_load_share_of_uniform_keys_is_replicated_ownership() -> None:
    scenario = Scenario(cluster=Cluster(nodes=5, num_tokens=4), workload=Workload())
    nodes = nodes_of(scenario)
    ring = draw_ring(nodes, Allocation.RANDOM, RF3, np.random.default_rng(4))
    placement = place(scenario, nodes, ring, np.random.default_rng(4))
    expected = ownership_of(ring, nodes, NTS3).replicated
    np.testing.assert_allclose(load_share(placement, 5), expected, atol=1e-12)


def test_reported_ownership_must_add_up_to_rf() -> None:
    check_ownership([66.7, 66.7, 66.6], replication_factor=2)
    check_ownership([33.3, 33.3, 33.3], replication_factor=1)  # as rounded by nodetool
    with pytest.raises(ScenarioError, match="100 % × RF 2"):
        check_ownership([66.7, 66.7, 60.0], replication_factor=2)
    with pytest.raises(ScenarioError, match="between 0 and 100"):
        check_ownership([150.0, 50.0], replication_factor=2)
    with pytest.raises(ScenarioError):
        check_ownership([float("nan"), 100.0], replication_factor=1)


def test_a_ring_of_192_nodes_is_quick() -> None:
    nodes = like_nodes(192)
    start = time.process_time()
    ring = draw_ring(nodes, Allocation.REPLICATION_AWARE, RF3, np.random.default_rng(0))
    drawn = time.process_time()
    ownership_of(ring, nodes, NTS3)
    assert drawn - start < 2.0
    assert time.process_time() - drawn < 0.3
