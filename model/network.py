"""The network: stations, pools, request graphs, and who plays which role; the one value all solvers read.

A *unit* is a node or a client machine. `station_of[resource, unit]` says where a visit goes; resources that
several units share are one station. A demand row is in the resource's own unit (CPU seconds, bytes, random
reads); `seconds_per[resource, unit]` turns it into seconds on that unit's hardware.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .graph import Graph, Resource
from .program import Program

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CONSTANT = "constant"
"""The parameter that is always 1: coefficients on it are demands known from the scenario."""


@dataclass(frozen=True)
class Quota:
    """An on/off CPU server: `cores` seconds of CPU per second, accounted per period, on up to `cpus` cores."""

    cores: float
    period_s: float
    cpus: int


@dataclass(frozen=True)
class Station:
    """Identical servers with one first-come-first-served queue."""

    name: str
    kind: str
    """Kind for tables: `CPU`, `disk`, `commit log`, `network`, `client CPU`."""
    servers: int
    """Number of servers; 0 is a delay without limit."""
    light: bool = False
    """Whether it is used so little that its queueing is left out: a delay whose use is accounted."""
    quota: Quota | None = None
    idle_cores: float = 0.0
    """Cores that spinning workers use until real work displaces them."""
    sharing_ratio: float = 0.0
    """How much dearer a service is while another unit of this station has work present."""
    contention_ratio: float = 0.0
    """Rise of the demand per request present and server beyond the knee."""
    contention_knee: float = 0.0
    """Requests present per server up to which demands do not rise."""

    @property
    def queues(self) -> bool:
        """Whether visits queue here."""
        return self.servers > 0 and not self.light

    @property
    def load_dependent(self) -> bool:
        """Whether the demand here depends on who is present (beyond wake-up sharing)."""
        return self.sharing_ratio > 0 or self.contention_ratio > 0


@dataclass(frozen=True)
class Pool:
    """Permits that bound concurrency; holding one costs nothing by itself."""

    name: str
    kind: str
    permits: int


@dataclass(frozen=True)
class Demands:
    """The demand table: every row is linear in the parameters of the profile.

    `base` is [rows, parameters], `wake_up` likewise; a service takes base + wake_up / requests present.
    """

    parameters: tuple[str, ...]
    base: Floats
    wake_up: Floats
    variation: Floats
    """[rows]: coefficient of variation of the base part."""

    def evaluate(self, values: Mapping[str, Floats | float]) -> tuple[Floats, Floats]:
        """Return base and wake-up demands, [rows] or [draws, rows] as the parameter values are."""
        stacked = [np.asarray(1.0 if name == CONSTANT else values[name]) for name in self.parameters]
        vector = np.stack(np.broadcast_arrays(*stacked), axis=-1)
        return vector @ self.base.T, vector @ self.wake_up.T


@dataclass(frozen=True)
class Load:
    """Who sends requests: a closed number in flight, or an open rate."""

    in_flight: int | None
    think_time_s: float
    rate_per_s: float | None
    arrivals: str
    burst_size: int
    max_in_flight: int | None
    machines: int


@dataclass(frozen=True)
class Distances:
    """Message delays by where two nodes stand, and between clients and nodes."""

    datacenter: Ints
    """[nodes]"""
    rack: Ints
    """[nodes]: unique over datacenters."""
    host: Ints
    """[nodes]"""
    delay_s: Floats
    """[5]: itself, same host, same rack, same datacenter, other datacenter."""
    client_s: float
    ratio: float = 1.0
    """Delays over those of the scenario, by the profile."""

    def classes(self, first: Ints, second: Ints) -> Ints:
        """Return the class of distance between nodes, elementwise: a position in `delay_s`."""
        apart = np.where(self.datacenter[first] == self.datacenter[second], 3, 4)
        apart = np.where(self.rack[first] == self.rack[second], 2, apart)
        apart = np.where(self.host[first] == self.host[second], 1, apart)
        return np.where(first == second, 0, apart)


@dataclass(frozen=True)
class OperationGraphs:
    """One operation: its share, how replicas are put in order, and a graph per place of the coordinator."""

    name: str
    share: float
    kind: str
    """`read` or `write`: decides the order in which roles are dealt to replicas."""
    local_first: bool
    """Whether the coordinator's datacenter is asked before all others whatever the snitch."""
    graphs: Ints
    """[datacenters, replicas + 1]: graph by the coordinator's datacenter and its place among the ordered
    replicas plus one; column 0 when it is none of them; -1 where that cannot be."""


@dataclass(frozen=True)
class Binding:
    """How roles are dealt: replica sets by weight, then the coordinator, then the order of the replicas."""

    replicas: Ints
    """[sets, replicas]"""
    weight: Floats
    """[sets]"""
    cycle: Ints
    """Nodes that are asked in turn, when the coordinator does not follow from the replicas."""
    columns: Ints
    """Replica columns of which one is the coordinator; empty: `cycle`."""
    allowed: npt.NDArray[np.bool_]
    """[nodes]: nodes the clients talk to."""
    shuffle: bool
    """Whether any of the candidate columns is taken, or always the first."""
    near_first: bool
    """Whether replicas are ordered by nearness; in ring order otherwise."""
    datacenter: Ints
    """[nodes]: datacenter as the snitch sees it."""
    rack: Ints
    """[nodes]: rack as the snitch sees it, unique over datacenters."""


@dataclass(frozen=True)
class Network:
    """Everything the solvers need."""

    stations: tuple[Station, ...]
    pools: tuple[Pool, ...]
    station_of: Ints
    """[resources, units]: index of the station, or -1."""
    pool_of: Ints
    """[resources, units]: index of the pool, or -1 where there is no limit."""
    seconds_per: Floats
    """[resources, units]"""
    setup_s: Floats
    """[resources, units]: time of a service that all requests present share (a commit-log sync)."""
    demands: Demands
    graphs: tuple[Graph, ...]
    waits_remote: tuple[bool, ...]
    """[graphs]: whether the answer waits for another node, that is, whether the request needs a hop."""
    program: Program
    operations: tuple[OperationGraphs, ...]
    binding: Binding
    distances: Distances
    load: Load
    roles: int

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.distances.datacenter)

    @cached_property
    def cpu_stations(self) -> Ints:
        """Stations of node CPUs, without repetition."""
        return np.unique(self.station_of[Resource.CPU, : self.nodes])
