"""What a lab is asked to be: how many nodes, how they share cores, what each may use.

Defaults follow a study of such a lab on two cores (docs/decisions/0010-lab.md): a 1200 MiB heap, a quota
period of 5 ms, two nodes a core where sharing is made equal.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from ...model.units import Bytes, PerS, Seconds
from ...model.value import Value

Setting = JsonValue
"""A value of `cassandra.yaml`."""

MOST_NODES = 64
"""A heap of 1200 MiB each: more than any one machine that would run a lab."""
LEAST_BESIDE_HEAP_BYTES = 192 * 2**20
"""Code, threads, buffers: a node with a 512 MiB heap held 705 MiB of anonymous memory (0010-lab)."""


def _loopback(address: str) -> str:
    if not IPv4Address(address).is_loopback:
        raise ValueError("an address of this machine's loopback range, 127.0.0.1 to 127.255.255.254")
    return address


class Layout(StrEnum):
    """Which clusters run on the machine beside the one that was asked for."""

    ALONE = "alone"
    """None: the nodes that were asked for, dealt to the cores in turn."""
    EQUAL = "equal"
    """Twin clusters until every core has `nodes_per_core` nodes, whatever the size of the one in question."""


class LabSpec(Value):
    """A lab as it was asked for; two calls of `up` with equal specs mean the same lab."""

    nodes: int = Field(default=1, ge=1, le=MOST_NODES)
    """Nodes of the cluster in question."""
    layout: Layout = Layout.ALONE
    """What runs beside it."""
    nodes_per_core: int = Field(default=2, ge=1)
    """Nodes a core under the equal layout."""
    cores_per_node: float | None = Field(default=None, gt=0, le=1)
    """CPU time a node may use per second, on the one core it is pinned to; no cap when not given."""
    period: Seconds = Field(default=0.005, ge=0.001, le=1.0)
    """Quota period."""
    memory: Bytes | None = Field(default=None, gt=0)
    """Memory a node may use, page cache included."""
    read_iops: PerS | None = Field(default=None, ge=1)
    """Reads per second a node may send to its device."""
    write_iops: PerS | None = Field(default=None, ge=1)
    """Writes per second a node may send to its device."""
    heap: Bytes = Field(default=1200 * 2.0**20, ge=256 * 2.0**20)
    """Java heap."""
    settings: dict[str, Setting] = Field(default={})
    """Settings of `cassandra.yaml` over the lab's own."""
    jvm_options: tuple[str, ...] = ()
    """Options for the JVM after the lab's own."""
    version: str = "5.0.6"
    """Version of Apache Cassandra to fetch."""
    cassandra_home: str | None = None
    """An installation to use in place of a fetched one."""
    first_address: Annotated[str, AfterValidator(_loopback)] = "127.0.0.1"
    """Address of the first node; the others follow upwards."""

    @property
    def wants_caps(self) -> bool:
        """Whether any limit was asked for."""
        return any((self.cores_per_node, self.memory, self.read_iops, self.write_iops))

    @property
    def least_memory_bytes(self) -> float:
        """Memory below which a node with this heap does not come up."""
        return self.heap + LEAST_BESIDE_HEAP_BYTES
