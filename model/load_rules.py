"""Contradictions in what is asked and by whom: operation mix, consistency levels, coordinators, kind of load.

Source: Apache Cassandra documentation, "Tunable consistency"; J. D. C. Little (1961) for a rate and its limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from .clients import Clients, Placement
from .cluster_rules import problems_from, series_of
from .errors import Problem
from .replication import factors_of
from .routing import OperationName, coordinators_of, required
from .scenario import Scenario
from .snitch import perceived
from .topology import datacenters_of, nodes_of
from .workload import ConsistencyLevel, Operation

Problems = Iterator[Problem]
_SUM_TOLERANCE = 1e-6
_KINDS = ("in_flight", "in_flight_per_node", "rate")
_EACH_QUORUM_READS_SINCE = (3, 0)
"""First series that reads at EACH_QUORUM (CASSANDRA-9602)."""


def mix_problems(scenario: Scenario) -> Problems:
    """Yield an operation mix that is empty or not whole."""
    operations = scenario.workload.operations
    total = sum(operation.share for operation in operations.values())
    if not operations:
        yield Problem("workload.operations", {}, "read, write, or both")
    elif abs(total - 1) > _SUM_TOLERANCE:
        named = " + ".join(f"{name} {operation.share:g}" for name, operation in operations.items())
        yield Problem("workload.operations", named, f"shares that add up to 1; these add up to {total:g}")


def hot_set_problems(scenario: Scenario) -> Problems:
    """Yield a hot set that is larger than the table."""
    workload, popularity = scenario.workload, scenario.workload.popularity
    if popularity.kind == "hot_set" and popularity.hot_partitions > workload.partitions:
        right = f"at most {workload.partitions}, all partitions"
        yield Problem("workload.popularity.hot_partitions", popularity.hot_partitions, right)


def coordinator_problems(scenario: Scenario) -> Problems:
    """Yield coordinators and clients' datacenters that the cluster does not have."""
    nodes, clients = nodes_of(scenario), scenario.clients
    yield from problems_from(lambda: coordinators_of(scenario, nodes))
    inside = [index for index in clients.coordinators if 0 <= index < len(nodes)]
    name = clients.datacenter
    if name is None or not clients.coordinators:
        return
    if name not in datacenters_of(nodes):
        yield Problem("clients.datacenter", name, f"one of {', '.join(datacenters_of(nodes))}")
    elif outside := [index for index in inside if nodes[index].datacenter != name]:
        yield Problem("clients.coordinators", outside, f"nodes of {name}, the clients' datacenter")


def consistency_problems(scenario: Scenario) -> Problems:
    """Yield consistency levels that the replicas cannot meet."""
    nodes = nodes_of(scenario)
    seen = perceived(nodes, scenario.cluster.snitch)
    factors = factors_of(scenario.cluster, nodes)
    places = list(dict.fromkeys(seen[index].datacenter for index in coordinators_of(scenario, nodes).cycle))
    for name, operation in scenario.workload.operations.items():
        yield from _unmet(name, operation, factors, places)


def _unmet(name: OperationName, operation: Operation, factors: dict[str, int], places: list[str]) -> Problems:
    """Yield the first problem that one of the coordinators' datacenters has with a level."""
    for place in places:
        problems = list(problems_from(lambda: required(operation.consistency, name, factors, place)))  # noqa: B023
        if problems:
            yield problems[0]
            return


def each_quorum_problems(scenario: Scenario) -> Problems:
    """Yield reads at a level that the version keeps for writes."""
    read = scenario.workload.operations.get("read")
    if not read or read.consistency is not ConsistencyLevel.EACH_QUORUM:
        return
    if series_of(scenario) < _EACH_QUORUM_READS_SINCE:
        key = "workload.operations.read.consistency"
        yield Problem(key, str(read.consistency), "another level: reads have EACH_QUORUM from 3.0")


def kind_problems(scenario: Scenario) -> Problems:
    """Yield loads that are closed and open at once, or neither."""
    clients = scenario.clients
    given = [name for name in _KINDS if getattr(clients, name) is not None]
    if not given:
        yield Problem("clients.in_flight", None, f"one of {', '.join(_KINDS)}")
    for name in given[1:]:
        right = f"not with {given[0]}: give one of {', '.join(_KINDS)}"
        yield Problem(f"clients.{name}", getattr(clients, name), right)
    yield from _pauses(clients)


def _pauses(clients: Clients) -> Problems:
    if clients.rate is not None and clients.think_time > 0:
        right = "0 with a rate: an open load does not wait for answers"
        yield Problem("clients.think_time", clients.think_time, right)
    if clients.rate is None and clients.max_in_flight is not None:
        yield Problem("clients.max_in_flight", clients.max_in_flight, "only with a rate; a closed load has in_flight")


def rate_problems(scenario: Scenario) -> Problems:
    """Yield a rate that its limit on requests in flight forbids, whatever the nodes can do (Little's law)."""
    clients = scenario.clients
    if clients.rate is None or clients.max_in_flight is None:
        return
    under_way_s = least_delay_s(scenario)
    if clients.rate * under_way_s > clients.max_in_flight:
        right = (
            f"at most {clients.max_in_flight / under_way_s:,.0f}/s with max_in_flight {clients.max_in_flight}: "
            f"messages alone take {1e3 * under_way_s:.3g} ms"
        )
        yield Problem("clients.rate", clients.rate, right)


def least_delay_s(scenario: Scenario) -> float:
    """Return the mean time of a request's messages: to the coordinator and, where two must answer, to one more."""
    hops = scenario.hardware.hops
    to_node_s = 2 * hops.client if scenario.clients.placement is Placement.OWN_MACHINES else 0.0
    between_s = 2 * min(hops.same_host, hops.same_rack, hops.same_datacenter, hops.other_datacenter)
    factors = {name: factor for name, factor in factors_of(scenario.cluster, nodes_of(scenario)).items() if factor}
    fewest = min(factors, key=lambda name: factors[name])
    remote = sum(
        operation.share
        for name, operation in scenario.workload.operations.items()
        if required(operation.consistency, name, factors, fewest).total > 1
    )
    return to_node_s + remote * between_s
