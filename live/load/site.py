"""The cluster as it is found, set against the scenario: a measurement must not say what was not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...model.clients import Routing
from ...model.cluster import Cluster, Replication
from ...model.errors import Problem, ScenarioError
from ...model.scenario import Scenario
from .access import Access
from .console import FoundNode
from .plan import LoadPlan
from .session import Approach


def check_nodes(scenario: Scenario, nodes: Sequence[FoundNode]) -> None:
    """Refuse a scenario of another number of nodes than the cluster has.

    Raises:
        ScenarioError: it has more or fewer.
    """
    wanted, found = scenario.cluster.node_count, len(nodes)
    if wanted != found:
        right = f"the cluster has {found}; say --set cluster.nodes={found}"
        raise ScenarioError([Problem("cluster.nodes", wanted, right)])


def replication_of(cluster: Cluster, nodes: Sequence[FoundNode]) -> Mapping[str, str]:
    """Return the replication of the keyspace as Cassandra names it: `class` and factors, as text.

    Raises:
        ScenarioError: a datacenter that the cluster does not have, or has too few nodes in.
    """
    replication = cluster.replication
    sizes = Counter(node.datacenter for node in nodes)
    if replication.strategy == "SimpleStrategy":
        factors = {"replication_factor": _whole_factor(replication)}
        sizes = Counter({"replication_factor": len(nodes)})
    elif isinstance(replication.factor, dict):
        factors = {name: factor for name, factor in replication.factor.items() if factor}
    else:
        factors = dict.fromkeys(sizes, replication.factor)
    _check_factors(factors, sizes)
    return {"class": replication.strategy, **{name: str(factor) for name, factor in sorted(factors.items())}}


def _whole_factor(replication: Replication) -> int:
    factor = replication.factor
    return factor if isinstance(factor, int) else sum(factor.values())


def _check_factors(factors: Mapping[str, int], sizes: Mapping[str, int]) -> None:
    problems = [
        Problem("cluster.replication.factor", factor, f"{name} has {sizes.get(name, 0)} nodes in this cluster")
        for name, factor in factors.items()
        if factor > sizes.get(name, 0)
    ]
    if problems:
        raise ScenarioError(problems)


def approach_of(scenario: Scenario, plan: LoadPlan, access: Access, nodes: Sequence[FoundNode]) -> Approach:
    """Return how the clients of a scenario pick coordinators, by the addresses of the cluster.

    Raises:
        ScenarioError: coordinators that the cluster does not have.
    """
    clients = scenario.clients
    addresses = [node.address for node in nodes]
    coordinators = plan.coordinators or tuple(_numbered(clients.coordinators, addresses))
    unknown = [name for name in coordinators if name not in addresses]
    if unknown:
        right = f"nodes of the cluster: {', '.join(addresses)}"
        raise ScenarioError([Problem("coordinators", ", ".join(unknown), right)])
    datacenters = sorted({node.datacenter for node in nodes})
    return Approach(
        routing=clients.routing,
        shuffle_replicas=clients.shuffle_replicas,
        coordinators=coordinators,
        datacenter=_datacenter(access, nodes) if len(datacenters) > 1 or access.datacenter else None,
        timeout_s=plan.timeout_s,
    )


def _numbered(numbers: Sequence[int], addresses: Sequence[str]) -> list[str]:
    """Return the addresses of nodes given by their numbers, counted from 0 in the order of the addresses."""
    beyond = [number for number in numbers if number >= len(addresses)]
    if beyond:
        raise ScenarioError([Problem("clients.coordinators", beyond, f"numbers from 0 to {len(addresses) - 1}")])
    return [addresses[number] for number in numbers]


def _datacenter(access: Access, nodes: Sequence[FoundNode]) -> str:
    """Return the clients' datacenter: as told, or that of the first contact point."""
    known = sorted({node.datacenter for node in nodes})
    if access.datacenter is None:
        return next((node.datacenter for node in nodes if node.address == access.contact_points[0]), known[0])
    if access.datacenter not in known:
        raise ScenarioError([Problem("--datacenter", access.datacenter, f"one of {', '.join(known)}")])
    return access.datacenter


def in_memory_approach(scenario: Scenario) -> None:
    """Refuse what the cluster in memory cannot do.

    Raises:
        ScenarioError: any routing but round robin over all nodes.
    """
    clients = scenario.clients
    if clients.routing is not Routing.ROUND_ROBIN or clients.coordinators:
        right = "round-robin over all nodes: the cluster in memory has no ring; say --set clients.routing=round-robin"
        raise ScenarioError([Problem("clients.routing", clients.routing.value, right)])
