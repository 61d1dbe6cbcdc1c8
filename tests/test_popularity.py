"""Shares of requests by partition and by range, against sums and the theory of random placement."""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.cluster import Allocation, Cluster
from capmodel.model.popularity import ONE_BY_ONE, partition_share, range_weights, zipf_sum
from capmodel.model.ring import Ring, draw_ring
from capmodel.model.scenario import Scenario
from capmodel.model.topology import nodes_of
from capmodel.model.workload import Popularity, Workload

KINDS = ["uniform", "zipf", "hot_set", "latest"]


def workload_of(kind: str, partitions: int = 10_000_000, **options: float) -> Workload:
    return Workload(partitions=partitions, popularity=Popularity(kind=kind, **options))


def twelve_nodes() -> Ring:
    """Return an even ring of twelve nodes, one token each."""
    nodes = nodes_of(Scenario(cluster=Cluster(nodes=12, num_tokens=1)))
    return draw_ring(nodes, Allocation.EVEN, {"dc1": 1}, np.random.default_rng(0))


@pytest.mark.parametrize("exponent", [0.5, 0.99, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("count", [1, 7, 1_000, 1_001, 50_000, 2_000_000])
def test_zipf_sum_equals_adding_up(exponent: float, count: int) -> None:
    added = np.sum(np.arange(1, count + 1, dtype=np.float64) ** -exponent)
    assert zipf_sum(count, exponent) == pytest.approx(added, rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_partition_shares_add_up_to_one(kind: str) -> None:
    workload = workload_of(kind, partitions=5_000, hot_partitions=10, hot_share=0.7)
    shares = partition_share(workload, np.arange(1, 5_001))
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(shares) <= 0)


def test_zipf_shares_fall_as_their_rank_to_the_exponent() -> None:
    shares = partition_share(workload_of("zipf", exponent=1.2), [1, 2, 8])
    assert shares[0] / shares[1] == pytest.approx(2**1.2)
    assert shares[0] / shares[2] == pytest.approx(8**1.2)


def test_hot_set_shares() -> None:
    shares = partition_share(workload_of("hot_set", 100, hot_partitions=4, hot_share=0.8), [1, 4, 5, 100])
    assert shares.tolist() == pytest.approx([0.2, 0.2, 0.2 / 96, 0.2 / 96])
    everything = workload_of("hot_set", 100, hot_partitions=500, hot_share=0.8)
    assert float(partition_share(everything, 1)) == pytest.approx(0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_range_weights_add_up_to_one(kind: str) -> None:
    for seed in range(5):
        workload = workload_of(kind, hot_partitions=3)
        weights = range_weights(twelve_nodes(), workload, np.random.default_rng(seed))
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert np.all(weights >= 0)


def test_uniform_keys_fall_by_width() -> None:
    ring = Ring(np.array([-(2**63), 0, 2**62]), np.array([0, 1, 2]))
    weights = range_weights(ring, workload_of("uniform"), np.random.default_rng(0))
    assert weights.tolist() == [0.25, 0.5, 0.25]


def test_one_hot_partition_falls_into_one_range() -> None:
    workload = workload_of("hot_set", hot_partitions=1, hot_share=0.6)
    weights = sorted(range_weights(twelve_nodes(), workload, np.random.default_rng(3)))
    assert weights[-1] == pytest.approx(0.6 + 0.4 / 12)
    assert weights[:-1] == pytest.approx([0.4 / 12] * 11)


@pytest.mark.parametrize("kind", ["zipf", "hot_set"])
def test_scatter_of_a_nodes_share_is_that_of_random_placement(kind: str) -> None:
    """Variance of the load in a part w of the ring: w (1 - w) Σ p² over the partitions placed."""
    workload = workload_of(kind, 10_000_000, exponent=0.99, hot_partitions=50, hot_share=0.5)
    placed = partition_share(workload, np.arange(1, (50 if kind == "hot_set" else ONE_BY_ONE) + 1))
    ring = twelve_nodes()
    draws = np.array([range_weights(ring, workload, np.random.default_rng(seed)) for seed in range(400)])
    variance = (1 / 12) * (11 / 12) * np.sum(placed**2)
    spread = (draws - 1 / 12) ** 2
    std_err = spread.mean(axis=1).std() / np.sqrt(len(draws))
    assert abs(spread.mean() - variance) < 4 * std_err
    assert abs(spread.mean() - 1.5 * variance) > 4 * std_err  # the check would see half as much again


@pytest.mark.parametrize("exponent", [0.3, 0.7, 0.99, 1.2, 2.0])
@pytest.mark.parametrize("partitions", [100_000, 10_000_000])
def test_what_is_not_placed_one_by_one_is_smooth(exponent: float, partitions: int) -> None:
    """The module's promise: 0.3 % of a node's share at 12 nodes and 1.2 % at 192, or what uniform keys do."""
    workload = workload_of("zipf", partitions, exponent=exponent)
    rest = partition_share(workload, np.arange(1, partitions + 1))[ONE_BY_ONE:]
    for nodes, promise in ((12, 0.003), (192, 0.012)):
        scatter = np.sqrt((nodes - 1) * np.sum(rest**2))
        uniform_keys = np.sqrt((nodes - 1) / partitions)
        assert scatter < max(promise, uniform_keys)


def test_the_hottest_left_out_would_not_be_smooth() -> None:
    shares = partition_share(workload_of("zipf"), np.arange(1, 10_000_001))
    assert np.sqrt(11 * np.sum(shares**2)) > 0.1
