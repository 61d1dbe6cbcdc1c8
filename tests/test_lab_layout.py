"""Where a lab's nodes run: equal sharing, addresses, tokens; all by enumeration."""

from __future__ import annotations

from collections import Counter

import pytest
from pydantic import ValidationError

from capmodel.live.lab.layout import (
    cluster_sizes,
    even_tokens,
    joining,
    lay_out,
    nodes_per_core,
)
from capmodel.live.lab.spec import LabSpec, Layout

TWO_CORES = (0, 1)


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_equal_layout_shares_every_core_alike_at_every_size(nodes: int) -> None:
    plans = lay_out(LabSpec(nodes=nodes, layout=Layout.EQUAL), TWO_CORES)

    assert nodes_per_core(plans) == {0: 2, 1: 2}
    assert Counter(Counter(plan.cluster for plan in plans).values()) == {nodes: 4 // nodes}


def test_layout_alone_does_not() -> None:
    """The control: without twins, the sharing changes with the size."""
    sharing = [nodes_per_core(lay_out(LabSpec(nodes=nodes), TWO_CORES)) for nodes in (1, 2, 4)]

    assert sharing == [{0: 1}, {0: 1, 1: 1}, {0: 2, 1: 2}]


def test_nodes_of_a_two_node_cluster_are_on_different_cores() -> None:
    plans = lay_out(LabSpec(nodes=2, layout=Layout.EQUAL), TWO_CORES)

    for cluster in ("lab", "twin2"):
        assert {plan.core for plan in plans if plan.cluster == cluster} == {0, 1}


@pytest.mark.parametrize(
    ("nodes", "cores", "sizes"),
    [(3, 2, (3, 1)), (4, 2, (4,)), (5, 2, (5,)), (3, 3, (3, 3)), (4, 3, (4, 2)), (1, 1, (1, 1))],
)
def test_places_left_over_become_a_smaller_neighbour(nodes: int, cores: int, sizes: tuple[int, ...]) -> None:
    assert cluster_sizes(LabSpec(nodes=nodes, layout=Layout.EQUAL), cores) == sizes


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_every_node_owns_the_same_share_of_the_ring(nodes: int) -> None:
    """A token owns the range that ends in it; the shares differ by whole-number rounding only."""
    owners = {token: node for node, tokens in enumerate(even_tokens(nodes, 16)) for token in tokens}
    ring = sorted(owners)
    assert len(ring) == nodes * 16
    assert ring[0] >= -(2**63)
    assert ring[-1] < 2**63

    owned: Counter[int] = Counter()
    for before, token in zip([ring[-1] - 2**64, *ring], ring, strict=False):
        owned[owners[token]] += token - before
    assert sum(owned.values()) == 2**64
    assert all(abs(share - 2**64 / nodes) <= 16 * nodes for share in owned.values())


def test_addresses_and_ports_are_a_nodes_own() -> None:
    plans = lay_out(LabSpec(nodes=4, first_address="127.0.0.254"), TWO_CORES)

    assert [plan.address for plan in plans] == ["127.0.0.254", "127.0.0.255", "127.0.1.0", "127.0.1.1"]
    assert len({plan.jmx_port for plan in plans}) == 4


def test_only_the_first_of_a_cluster_does_not_wait_for_another() -> None:
    plans = lay_out(LabSpec(nodes=2, layout=Layout.EQUAL), TWO_CORES)

    assert [plan.waits_for_seed for plan in plans] == [False, True, False, True]
    assert [plan.seeds for plan in plans] == [("127.0.0.1",)] * 2 + [("127.0.0.3",)] * 2


def test_a_joining_node_has_no_tokens_and_asks_all_that_run() -> None:
    plans = lay_out(LabSpec(nodes=2), TWO_CORES)
    plan = joining(LabSpec(nodes=2), 2, plans, TWO_CORES)

    assert (plan.name, plan.address, plan.core, plan.cluster) == ("node3", "127.0.0.3", 0, "lab")
    assert plan.seeds == ("127.0.0.1", "127.0.0.2")
    assert plan.joins
    assert not plan.waits_for_seed


@pytest.mark.parametrize(
    "wrong",
    [
        {"nodes": 0},
        {"cores_per_node": 1.5},
        {"first_address": "10.0.0.1"},
        {"period": "10us"},
        {"memory": "many"},
    ],
)
def test_a_spec_refuses(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LabSpec.model_validate(wrong)
