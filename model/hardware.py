"""The hardware of a scenario: CPU, memory, disks, network, and what nodes share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .units import Bytes, BytesPerS, PerS, Seconds
from .value import Value

MAX_CORES = 1024
"""More cores than any machine for sale; above it a number is taken for a slip of the pen."""
_MAX_SPEED = 1000.0
_MAX_MEMORY_BYTES = 2.0**50
_MAX_STORAGE_BYTES = 2.0**60
_MAX_DISKS = 1000
_MAX_IOPS = 1e9
_MAX_BANDWIDTH_BYTES_PER_S = 1e12
_MAX_DISK_LATENCY_S = 60.0
_MAX_HOP_S = 10.0
"""Beyond these a number is taken for a slip of the pen, or for a wrong unit."""

class CpuQuota(Value):
    """A CPU quota as containers have it: an on/off server, not a slow core."""

    cores: float = Field(gt=0, le=MAX_CORES)
    """CPU time a node may use per second (quota / period)."""
    period: Seconds = Field(default=0.1, ge=0.001, le=1)
    """Length of the accounting period; the kernel takes 1 ms to 1 s."""
    cpus: int = Field(default=1, ge=1, le=MAX_CORES)
    """Processors on which the quota can be spent at the same time."""


class Disk(Value):
    """One storage device, or several alike striped."""

    kind: Literal["nvme", "ssd", "hdd", "network"] = "nvme"
    """What it is; sets the default of what is not given."""
    count: int = Field(default=1, ge=1, le=_MAX_DISKS)
    """Devices striped together (RAID-0)."""
    read_iops: PerS | None = Field(default=None, gt=0, le=_MAX_IOPS)
    """Random reads per second of all devices together at full parallelism."""
    read_latency: Seconds | None = Field(default=None, gt=0, le=_MAX_DISK_LATENCY_S)
    """Time of one random read on an idle device."""
    bandwidth: BytesPerS | None = Field(default=None, gt=0, le=_MAX_BANDWIDTH_BYTES_PER_S)
    """Sequential bandwidth of all devices together."""
    sync_latency: Seconds | None = Field(default=None, gt=0, le=_MAX_DISK_LATENCY_S)
    """Time of one synchronous flush (fsync) on an idle device."""
    capacity: Bytes | None = Field(default=None, gt=0, le=_MAX_STORAGE_BYTES)
    """Size of all devices together."""


class Hops(Value):
    """One-way message delay by distance, without queueing."""

    same_host: Seconds = Field(default=15e-6, ge=0, le=_MAX_HOP_S)
    """Between nodes on one machine."""
    same_rack: Seconds = Field(default=50e-6, ge=0, le=_MAX_HOP_S)
    """Between nodes in one rack."""
    same_datacenter: Seconds = Field(default=100e-6, ge=0, le=_MAX_HOP_S)
    """Between racks of a datacenter."""
    other_datacenter: Seconds = Field(default=20e-3, ge=0, le=_MAX_HOP_S)
    """Between datacenters."""
    client: Seconds = Field(default=100e-6, ge=0, le=_MAX_HOP_S)
    """Between a client machine and a node."""


class Shared(Value):
    """What nodes of one host share; hardware shared by several nodes is one station visited by all."""

    nodes_per_host: int = Field(default=1, ge=1, le=1000)
    """Nodes dealt to one host, in order."""
    cores: int | None = Field(default=None, ge=1, le=MAX_CORES)
    """Cores of the host that its nodes share; each node has its own `hardware.cores` when not given."""
    data_disks: bool = False
    """Whether the nodes of a host use the same data disks."""
    commit_log_disk: bool = False
    """Whether the nodes of a host use the same commit-log disk."""
    nic: bool = False
    """Whether the nodes of a host use the same network interface."""


class HardwareOverrides(Value):
    """The keys in which a group of nodes differs from `hardware`."""

    cores: int | None = Field(default=None, ge=1, le=MAX_CORES)
    speed: float | None = Field(default=None, gt=0, le=_MAX_SPEED)
    cpu_quota: CpuQuota | None = None
    ram: Bytes | None = Field(default=None, gt=0, le=_MAX_MEMORY_BYTES)
    heap: Bytes | None = Field(default=None, gt=0, le=_MAX_MEMORY_BYTES)
    data_disks: Disk | None = None
    commit_log_disk: Disk | Literal["shared"] | None = None
    nic: BytesPerS | None = Field(default=None, gt=0, le=_MAX_BANDWIDTH_BYTES_PER_S)


class Hardware(Value):
    """One node's machine."""

    cores: int = Field(default=8, ge=1, le=MAX_CORES)
    """Cores a node has."""
    speed: float = Field(default=1.0, gt=0, le=_MAX_SPEED)
    """Speed of a core relative to the reference core of the profile."""
    cpu_quota: CpuQuota | None = None
    """CPU quota, when the node runs under one."""
    ram: Bytes = Field(default=32 * 2.0**30, gt=0, le=_MAX_MEMORY_BYTES)
    """Memory of a node."""
    heap: Bytes = Field(default=8 * 2.0**30, gt=0, le=_MAX_MEMORY_BYTES)
    """Java heap."""
    off_heap: Bytes = Field(default=2 * 2.0**30, ge=0, le=_MAX_MEMORY_BYTES)
    """Memory of the process outside the heap that does not cache rows."""
    data_disks: Disk = Disk()
    """Where sstables lie."""
    commit_log_disk: Disk | Literal["shared"] = "shared"
    """Where the commit log lies; `shared` is the data disks."""
    nic: BytesPerS = Field(default=1.25e9, gt=0, le=_MAX_BANDWIDTH_BYTES_PER_S)
    """Bandwidth of the network interface, each way."""
    hops: Hops = Hops()
    """Message delays."""
    shared: Shared = Shared()
    """What nodes share with each other."""
