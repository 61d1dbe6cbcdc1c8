"""The scenario: everything that is assumed about a cluster, its machines, its workload and its clients."""

from __future__ import annotations

from pydantic import Field

from .clients import DEFAULT_IN_FLIGHT_PER_NODE, Clients
from .cluster import Cluster
from .hardware import Hardware
from .value import Value
from .workload import Workload

FORMAT_VERSION = 1
"""Version of the scenario file format written by this package."""


class Scenario(Value):
    """One cluster under one workload; version 1 of the scenario file."""

    format_version: int = Field(default=FORMAT_VERSION, ge=1, le=FORMAT_VERSION)
    """Version of the file format."""
    name: str = "scenario"
    """Short name."""
    title: str = ""
    """One line that says what it is."""
    cluster: Cluster
    """Nodes, ring and keyspace."""
    hardware: Hardware = Hardware()
    """One node's machine."""
    workload: Workload = Workload()
    """What is asked."""
    clients: Clients = Clients()
    """Who asks."""


def resolved_in_flight(scenario: Scenario) -> int | None:
    """Return the requests in flight over all clients of a closed load, None for an open one.

    >>> from .cluster import Cluster
    >>> resolved_in_flight(Scenario(cluster=Cluster(nodes=3), clients=Clients(in_flight_per_node=10)))
    30
    """
    clients = scenario.clients
    if clients.rate is not None:
        return None
    if clients.in_flight is not None:
        return clients.in_flight
    return (clients.in_flight_per_node or DEFAULT_IN_FLIGHT_PER_NODE) * scenario.cluster.node_count
