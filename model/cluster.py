"""The cluster of a scenario: nodes, datacenters, racks, replication, ring, snitch, tables, settings.

Source: Apache Cassandra documentation, "Dynamo" (ring, replication) and `cassandra.yaml` (names of settings).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from .hardware import HardwareOverrides
from .units import Bytes
from .value import Value

MAX_NODES = 4096
"""More nodes than any published Cassandra cluster; above it a number is taken for a slip of the pen."""
_SLOWEST = 1000.0
"""Largest factor by which a node can be slower than its profile says."""


def _as_text(value: object) -> object:
    """Return a version as text: an unquoted `5.0` is a number to YAML."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


VersionText = Annotated[
    str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number"]}, mode="validation")
]


class Allocation(StrEnum):
    """How a node's tokens are chosen."""

    RANDOM = "random"
    REPLICATION_AWARE = "replication-aware"
    EVEN = "even"


class Snitch(StrEnum):
    """How a coordinator orders replicas: ring order, or by nearness."""

    SIMPLE = "SimpleSnitch"
    GOSSIPING = "GossipingPropertyFileSnitch"
    PROPERTY_FILE = "PropertyFileSnitch"
    RACK_INFERRING = "RackInferringSnitch"
    EC2 = "Ec2Snitch"
    EC2_MULTI_REGION = "Ec2MultiRegionSnitch"
    GOOGLE = "GoogleCloudSnitch"
    AZURE = "AzureSnitch"

    @property
    def knows_distance(self) -> bool:
        """Whether replicas are ordered self, rack, datacenter, rest (SimpleSnitch keeps ring order)."""
        return self is not Snitch.SIMPLE


class Replication(Value):
    """How many replicas a row has and how they are placed."""

    strategy: Literal["SimpleStrategy", "NetworkTopologyStrategy"] = "NetworkTopologyStrategy"
    """Replication class of the keyspace."""
    factor: Annotated[int, Field(ge=1)] | dict[str, Annotated[int, Field(ge=0)]] = 3
    """RF: one number for every datacenter (SimpleStrategy: for the ring), or a number per datacenter."""


class NodeGroup(Value):
    """Some like nodes; a cluster of unlike nodes is a list of groups."""

    nodes: int = Field(ge=1, le=MAX_NODES)
    """Number of nodes in the group."""
    datacenter: str = Field(default="dc1", min_length=1)
    """Name of their datacenter."""
    racks: int = Field(default=1, ge=1, le=MAX_NODES)
    """Racks over which the group's nodes are dealt in turn, named rack1, rack2, …"""
    num_tokens: int | None = Field(default=None, ge=1, le=1536)
    """Tokens a node; the cluster's when not given."""
    hardware: HardwareOverrides = HardwareOverrides()
    """What these nodes have that differs from the scenario's `hardware`."""
    load_factor: float = Field(default=1.0, gt=0, le=_SLOWEST)
    """CPU demand on these nodes relative to the profile (a slow node: above 1)."""


class Table(Value):
    """Options of the table under load that change what a request does."""

    speculative_retry: str = "99p"
    """`NONE`, `ALWAYS`, a percentile such as `99p`, or a time such as `50ms`."""
    read_repair_chance: float | None = Field(default=None, ge=0, le=1)
    """Share of reads that contact all replicas (up to 3.11); the version's default when not given."""
    digest_mismatch: float = Field(default=0.0, ge=0, le=1)
    """Share of reads at more than one replica whose digests differ, which costs a second round."""
    compaction: Literal["STCS", "LCS", "TWCS", "UCS"] = "STCS"
    """Compaction strategy."""
    compression_chunk: Bytes | None = Field(default=None, gt=0, le=2**30)
    """Chunk length; the version's default when not given."""


class Cluster(Value):
    """Nodes, ring and keyspace."""

    version: VersionText = "5.0"
    """Cassandra version; its defaults are read from the version table."""
    nodes: int | None = Field(default=None, ge=1, le=MAX_NODES)
    """Number of like nodes in one datacenter; give this or `groups`."""
    racks: int = Field(default=1, ge=1, le=MAX_NODES)
    """Racks for `nodes`."""
    groups: tuple[NodeGroup, ...] = ()
    """Unlike nodes or several datacenters; give this or `nodes`."""
    replication: Replication = Replication()
    """Replication of the keyspace under load."""
    num_tokens: int = Field(default=16, ge=1, le=1536)
    """Tokens a node."""
    allocation: Allocation = Allocation.RANDOM
    """How tokens are chosen."""
    tokens: tuple[tuple[int, ...], ...] = ()
    """Tokens of each node of a real ring (Murmur3, -2^63 … 2^63 - 1), in the order of the nodes."""
    ownership: tuple[float, ...] = ()
    """Share of the data that each node holds, in per cent, as `nodetool status KEYSPACE` prints it; checked against
    the replication factor, and against `tokens` where they are given."""
    snitch: Snitch = Snitch.GOSSIPING
    """Endpoint snitch."""
    dynamic_snitch: bool = True
    """Whether reads move away from slow replicas above the badness threshold."""
    dynamic_snitch_badness_threshold: float | None = Field(default=None, ge=0, le=1000)
    """How much slower a replica must be; the version's default when not given."""
    table: Table = Table()
    """Options of the table under load."""
    settings: dict[str, bool | int | float | str] = Field(default={})
    """Settings by their `cassandra.yaml` names, over the version's defaults."""

    @property
    def node_count(self) -> int:
        """Number of nodes, of all groups together."""
        return sum(group.nodes for group in self.groups) if self.groups else self.nodes or 1
