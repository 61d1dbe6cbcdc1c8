"""Control groups version 2: one hierarchy, whose controllers are enabled from the root downwards.

Times and the quota are in microseconds; block I/O has one line per device.

Source: Linux kernel documentation, admin-guide/cgroup-v2.
"""

from __future__ import annotations

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

CONTROLLERS = ("cpu", "memory", "io")
_NO_LIMIT = "max"


@dataclass(frozen=True)
class HierarchyV2:
    """The mounted hierarchy."""

    mount: Path
    """The group under which ours lie."""
    version: str = "v2"

    def group(self, lab_id: str, node: str) -> NodeGroupV2:
        """Return the group of a node, whether it exists or not."""
        return NodeGroupV2(self.mount, self.mount / ROOT_NAME / lab_id / node)

    def nodes(self, lab_id: str) -> tuple[str, ...]:
        """Return the nodes of a lab that have a group."""
        return subgroups(self.mount / ROOT_NAME / lab_id)

    def remove_lab(self, lab_id: str) -> None:
        """Remove the folders above the groups of a lab, which must be gone."""
        remove_if_empty(self.mount / ROOT_NAME / lab_id)
        remove_if_empty(self.mount / ROOT_NAME)


@dataclass(frozen=True)
class NodeGroupV2:
    """One node's group."""

    mount: Path
    """The group under which ours lie."""
    folder: Path
    """The node's own."""

    def create(self) -> None:
        """Make the group, with the controllers enabled all the way down to it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        above = [self.mount, *reversed(self.folder.relative_to(self.mount).parents[:-1])]
        for parent in dict.fromkeys(self.mount / part for part in above):
            write(parent / "cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))

    def entrances(self) -> tuple[Path, ...]:
        """Return the file into which a process writes its id to enter the group."""
        return (self.folder / "cgroup.procs",)

    def limit_cpu(self, cores: float | None, period_s: float) -> None:
        """Let the group use `cores` of CPU time per second, or any amount."""
        period_us = round(period_s * 1e6)
        quota = _NO_LIMIT if cores is None else str(round(cores * period_us))
        write(self.folder / "cpu.max", f"{quota} {period_us}")

    def limit_memory(self, limit_bytes: int | None) -> None:
        """Let the group hold that much memory, page cache included, or any amount."""
        write(self.folder / "memory.max", _NO_LIMIT if limit_bytes is None else str(limit_bytes))

    def limit_disk(self, device: str, reads_per_s: int | None, writes_per_s: int | None) -> None:
        """Let the group send that many operations to `device`, or any number."""
        reads, writes = (per_s or _NO_LIMIT for per_s in (reads_per_s, writes_per_s))
        write(self.folder / "io.max", f"{device} riops={reads} wiops={writes}")

    def limits(self, device: str | None) -> Limits:
        """Return the limits in force, those of disk operations for `device`."""
        quota, period_us = (self.folder / "cpu.max").read_text().split()
        operations = self._of_device("io.max", device)
        return Limits(
            cpu_cores=None if quota == _NO_LIMIT else int(quota) / int(period_us),
            memory_bytes=_number((self.folder / "memory.max").read_text().strip()),
            reads_per_s=_number(operations.get("riops", _NO_LIMIT)),
            writes_per_s=_number(operations.get("wiops", _NO_LIMIT)),
        )

    def _of_device(self, file: str, device: str | None) -> dict[str, str]:
        """Return the `key=value` pairs of a device's line; none before its first limit or operation."""
        path = self.folder / file
        lines = path.read_text().splitlines() if path.exists() else []
        fields = next((line.split()[1:] for line in lines if line.split()[:1] == [device]), [])
        return {key: value for key, _, value in (field.partition("=") for field in fields)}

    def cpu_s(self) -> float:
        """Return the CPU time used since the group was made."""
        return keyed((self.folder / "cpu.stat").read_text())["usage_usec"] / 1e6

    def throttled_s(self) -> float:
        """Return for how long the quota has kept the group from running."""
        return keyed((self.folder / "cpu.stat").read_text())["throttled_usec"] / 1e6

    def memory_bytes(self) -> int:
        """Return the memory the group holds, page cache included."""
        return int((self.folder / "memory.current").read_text())

    def disk_operations(self, device: str) -> DiskOperations:
        """Return the operations sent to `device` since the group was made."""
        counts = self._of_device("io.stat", device)
        return DiskOperations(int(counts.get("rios", 0)), int(counts.get("wios", 0)))

    def pids(self) -> tuple[int, ...]:
        """Return the processes in the group."""
        return pids_in(self.folder / "cgroup.procs")

    def remove(self) -> None:
        """Remove the group, which must be empty of processes."""
        remove_folder(self.folder)


def _number(text: str) -> int | None:
    return None if text == _NO_LIMIT else int(text)
