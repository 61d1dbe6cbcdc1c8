"""The clients of a scenario: closed or open load, machines, placement, routing."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from .units import PerS, Seconds
from .value import Value

DEFAULT_IN_FLIGHT_PER_NODE = 64
"""Requests in flight for each node of a closed load that says nothing else."""
MAX_IN_FLIGHT = 10_000_000
_MAX_RATE_PER_S = 1e9
_MAX_PAUSE_S = 3600.0
_MAX_BURST = 1_000_000
_MAX_MACHINES = 100_000
_MAX_PROCESSORS = 4096
"""Beyond these a number is taken for a slip of the pen, or for a wrong unit."""

class Routing(StrEnum):
    """How a client picks the coordinator."""

    ROUND_ROBIN = "round-robin"
    TOKEN_AWARE = "token-aware"


class Placement(StrEnum):
    """Where the clients run."""

    OWN_MACHINES = "own-machines"
    ON_NODES = "on-nodes"
    SAME_HOST = "same-host"


class Clients(Value):
    """Who sends the load: `rate` makes it open, otherwise it is closed with a fixed number in flight."""

    in_flight: int | None = Field(default=None, ge=1, le=MAX_IN_FLIGHT)
    """Requests sent and not answered, over all clients; give this or `in_flight_per_node`."""
    in_flight_per_node: int | None = Field(default=None, ge=1, le=1_000_000)
    """Requests in flight for each node of the cluster."""
    think_time: Seconds = Field(default=0.0, ge=0, le=_MAX_PAUSE_S)
    """Mean pause between an answer and the next request of a closed client."""
    rate: PerS | None = Field(default=None, gt=0, le=_MAX_RATE_PER_S)
    """Arrivals per second of an open load."""
    arrivals: Literal["poisson", "constant", "bursts"] = "poisson"
    """Arrival process of an open load."""
    burst_size: int = Field(default=10, ge=1, le=_MAX_BURST)
    """Mean number of requests in a burst (geometric)."""
    max_in_flight: int | None = Field(default=None, ge=1, le=MAX_IN_FLIGHT)
    """Limit on requests in flight of an open load."""
    machines: int = Field(default=1, ge=1, le=_MAX_MACHINES)
    """Client machines."""
    processors: int = Field(default=16, ge=1, le=_MAX_PROCESSORS)
    """Processors of one client machine that the load generator can use."""
    cpu_per_operation: Seconds = Field(default=20e-6, ge=0, le=_MAX_PAUSE_S)
    """Client CPU time of one operation."""
    placement: Placement = Placement.OWN_MACHINES
    """Where the clients run."""
    routing: Routing = Routing.TOKEN_AWARE
    """How the coordinator is picked."""
    shuffle_replicas: bool = True
    """Token-aware: whether any replica of the datacenter is taken, or always the first."""
    coordinators: tuple[int, ...] = ()
    """Nodes the clients talk to, counted from 0; all of the clients' datacenter when empty."""
    datacenter: str | None = None
    """The clients' datacenter; the first one when not given."""
