"""Which node runs where: clusters, addresses, cores and tokens.

Equal sharing: nodes on one core make each other dearer (1.6 to 1.8 times for two busy ones), so layouts
that are compared keep the same number of nodes per core, and small clusters get twins under the same load.

Tokens are evenly interleaved over the Murmur3 range: with n nodes of v tokens, token i of i = 0 … nv-1 lies
at -2^63 + i·2^64/(nv) and belongs to node i mod n.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address
from itertools import count

from ...model.value import Value
from .spec import LabSpec, Layout

TOKENS_PER_NODE = 16
"""Cassandra's own default since 4.0 (`num_tokens` in its `cassandra.yaml`)."""
STUDIED_CLUSTER = "lab"
"""Name of the cluster in question; the others are called twins."""
_FIRST_JMX_PORT = 7199
_JMX_PORTS = 40_000


class NodePlan(Value):
    """One node before it runs."""

    name: str
    """Name in the lab, node1, node2, …"""
    cluster: str
    """Name of its cluster."""
    address: str
    """Its own loopback address."""
    core: int
    """The core it is pinned to for life."""
    seeds: tuple[str, ...]
    """Addresses it asks for the cluster."""
    tokens: tuple[int, ...] = ()
    """Its tokens; chosen by Cassandra when it joins a running cluster."""

    @property
    def joins(self) -> bool:
        """Whether it joins a running cluster and streams its data from there."""
        return not self.tokens

    @property
    def waits_for_seed(self) -> bool:
        """Whether it starts together with the node it asks for the cluster, which may not answer yet."""
        return not self.joins and self.address not in self.seeds

    @property
    def jmx_port(self) -> int:
        """A port of its own on 127.0.0.1, where the JVM serves `nodetool` whatever the node's address."""
        return _FIRST_JMX_PORT + (int(IPv4Address(self.address)) - int(IPv4Address("127.0.0.1"))) % _JMX_PORTS


def cluster_sizes(spec: LabSpec, cores: int) -> tuple[int, ...]:
    """Return the sizes of all clusters of a lab, the one in question first.

    >>> cluster_sizes(LabSpec(nodes=1, layout="equal"), cores=2)
    (1, 1, 1, 1)
    >>> cluster_sizes(LabSpec(nodes=3, layout="equal"), cores=2)
    (3, 1)
    """
    if spec.layout is Layout.ALONE:
        return (spec.nodes,)
    places = cores * spec.nodes_per_core
    twins, left = divmod(max(places - spec.nodes, 0), spec.nodes)
    return (spec.nodes,) * (1 + twins) + ((left,) if left else ())


def lay_out(spec: LabSpec, cores: Sequence[int]) -> tuple[NodePlan, ...]:
    """Return the nodes of a lab, dealt to `cores` in turn."""
    numbers = count()
    plans: list[NodePlan] = []
    for cluster, size in enumerate(cluster_sizes(spec, len(cores)), start=1):
        name = STUDIED_CLUSTER if cluster == 1 else f"twin{cluster}"
        plans += _cluster(spec, name, [next(numbers) for _ in range(size)], cores)
    return tuple(plans)


def _cluster(spec: LabSpec, name: str, numbers: list[int], cores: Sequence[int]) -> list[NodePlan]:
    addresses = [address(spec, number) for number in numbers]
    tokens = even_tokens(len(numbers), TOKENS_PER_NODE)
    return [
        NodePlan(
            name=node_name(number),
            cluster=name,
            address=addresses[place],
            core=cores[number % len(cores)],
            seeds=(addresses[0],),
            tokens=tokens[place],
        )
        for place, number in enumerate(numbers)
    ]


def joining(spec: LabSpec, number: int, members: Sequence[NodePlan], cores: Sequence[int]) -> NodePlan:
    """Return the plan of the node with that number, which joins the cluster of the running `members`."""
    return NodePlan(
        name=node_name(number),
        cluster=members[0].cluster,
        address=address(spec, number),
        core=cores[number % len(cores)],
        seeds=tuple(plan.address for plan in members),
    )


def even_tokens(nodes: int, each: int) -> tuple[tuple[int, ...], ...]:
    """Return `each` tokens for every one of `nodes`, evenly interleaved.

    >>> even_tokens(2, 1) == ((-(2**63),), (0,))
    True
    """
    total = nodes * each
    tokens = [-(2**63) + index * 2**64 // total for index in range(total)]
    return tuple(tuple(tokens[node::nodes]) for node in range(nodes))


def node_name(number: int) -> str:
    """Return the name of the node with that number, counted from 0."""
    return f"node{number + 1}"


def address(spec: LabSpec, number: int) -> str:
    """Return the address of the node with that number, counted from 0."""
    return str(IPv4Address(spec.first_address) + number)


def nodes_per_core(plans: Sequence[NodePlan]) -> dict[int, int]:
    """Return how many nodes share each core: what a measurement must say."""
    cores = [plan.core for plan in plans]
    return {core: cores.count(core) for core in sorted(set(cores))}
