"""The scenario: everything that is assumed about a cluster, its machines, its workload and its clients."""

from __future__ import annotations

from pydantic import Field

from .clients import Clients
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
