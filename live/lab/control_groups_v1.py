"""Control groups version 1: one hierarchy per controller, each with a group of the same name.

`cpu` and `cpuacct` may be mounted together or apart. Times are in nanoseconds, the quota in microseconds.

Source: Linux kernel documentation, admin-guide/cgroup-v1 (cpuacct, memory, blkio-controller),
scheduler/sched-bwc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .control_groups import (
    ROOT_NAME,
    DiskOperations,
    Limits,
    keyed,
    pids_in,
    remove_folder,
    remove_if_empty,
    subgroups,
    write,
)

CONTROLLERS = ("cpu", "cpuacct", "memory", "blkio")
_NO_LIMIT = "-1"
_UNLIMITED_BYTES = 2**62
"""An unlimited group reads as the largest whole number of pages below 2^63."""


@dataclass(frozen=True)
class HierarchyV1:
    """The mounted hierarchies, by controller."""

    mounts: Mapping[str, Path]
    """Mount point of each of `CONTROLLERS`."""
    version: str = "v1"

    def group(self, lab_id: str, node: str) -> NodeGroupV1:
        """Return the group of a node, whether it exists or not."""
        return NodeGroupV1({name: mount / ROOT_NAME / lab_id / node for name, mount in self.mounts.items()})

    def nodes(self, lab_id: str) -> tuple[str, ...]:
        """Return the nodes of a lab that have a group in any hierarchy."""
        names = (subgroups(mount / ROOT_NAME / lab_id) for mount in self.mounts.values())
        return tuple(sorted({name for hierarchy in names for name in hierarchy}))

    def remove_lab(self, lab_id: str) -> None:
        """Remove the folders above the groups of a lab, which must be gone."""
        for mount in self.mounts.values():
            remove_if_empty(mount / ROOT_NAME / lab_id)
            remove_if_empty(mount / ROOT_NAME)


@dataclass(frozen=True)
class NodeGroupV1:
    """One node's group in each hierarchy."""

    folders: Mapping[str, Path]
    """Folder of the group, by controller."""

    def create(self) -> None:
        """Make the group in every hierarchy, without limits."""
        for folder in self.folders.values():
            folder.mkdir(parents=True, exist_ok=True)

    def entrances(self) -> tuple[Path, ...]:
        """Return the files into which a process writes its id to enter the group."""
        return tuple(dict.fromkeys(folder / "cgroup.procs" for folder in self.folders.values()))

    def limit_cpu(self, cores: float | None, period_s: float) -> None:
        """Let the group use `cores` of CPU time per second, or any amount."""
        folder = self.folders["cpu"]
        period_us = round(period_s * 1e6)
        write(folder / "cpu.cfs_quota_us", _NO_LIMIT)  # a period below the old quota would be refused
        write(folder / "cpu.cfs_period_us", str(period_us))
        write(folder / "cpu.cfs_quota_us", _NO_LIMIT if cores is None else str(round(cores * period_us)))

    def limit_memory(self, limit_bytes: int | None) -> None:
        """Let the group hold that much memory, page cache included, or any amount."""
        text = _NO_LIMIT if limit_bytes is None else str(limit_bytes)
        write(self.folders["memory"] / "memory.limit_in_bytes", text)

    def limit_disk(self, device: str, reads_per_s: int | None, writes_per_s: int | None) -> None:
        """Let the group send that many operations to `device`, or any number (0 lifts a limit)."""
        for kind, per_s in (("read", reads_per_s), ("write", writes_per_s)):
            write(self.folders["blkio"] / f"blkio.throttle.{kind}_iops_device", f"{device} {per_s or 0}")

    def limits(self, device: str | None) -> Limits:
        """Return the limits in force, those of disk operations for `device`."""
        quota_us = int((self.folders["cpu"] / "cpu.cfs_quota_us").read_text())
        period_us = int((self.folders["cpu"] / "cpu.cfs_period_us").read_text())
        memory_bytes = int((self.folders["memory"] / "memory.limit_in_bytes").read_text())
        return Limits(
            cpu_cores=None if quota_us < 0 else quota_us / period_us,
            memory_bytes=None if memory_bytes >= _UNLIMITED_BYTES else memory_bytes,
            reads_per_s=self._operations_limit("read", device),
            writes_per_s=self._operations_limit("write", device),
        )

    def _operations_limit(self, kind: str, device: str | None) -> int | None:
        lines = (self.folders["blkio"] / f"blkio.throttle.{kind}_iops_device").read_text().splitlines()
        return next((int(per_s) for name, per_s in map(str.split, lines) if name == device), None)

    def cpu_s(self) -> float:
        """Return the CPU time used since the group was made."""
        return int((self.folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9

    def throttled_s(self) -> float:
        """Return for how long the quota has kept the group from running."""
        return keyed((self.folders["cpu"] / "cpu.stat").read_text())["throttled_time"] / 1e9

    def memory_bytes(self) -> int:
        """Return the memory the group holds, page cache included."""
        return int((self.folders["memory"] / "memory.usage_in_bytes").read_text())

    def disk_operations(self, device: str) -> DiskOperations:
        """Return the operations sent to `device` since the group was made."""
        lines = (self.folders["blkio"] / "blkio.throttle.io_serviced").read_text().splitlines()
        counts = {parts[1]: int(parts[2]) for parts in map(str.split, lines) if parts[0] == device}
        return DiskOperations(counts.get("Read", 0), counts.get("Write", 0))

    def pids(self) -> tuple[int, ...]:
        """Return the processes in the group, in any hierarchy."""
        return tuple(sorted({pid for file in self.entrances() for pid in pids_in(file)}))

    def remove(self) -> None:
        """Remove the group, which must be empty of processes."""
        for folder in self.folders.values():
            remove_folder(folder)
