"""What disks can do when a scenario says only their kind.

Typical figures of a class, from manufacturers' data sheets and cloud documentation; a scenario should give its
own. HDD: seek plus half a rotation at 7,200/min (8.5 + 4.2 ms would be 79 IOPS, 120 with a queue to sort); SATA
SSD and NVMe: 4 KiB random reads at full queue depth; network volume: a provisioned volume of 5,000 IOPS.
"""

from __future__ import annotations

from dataclasses import dataclass

from .hardware import Disk


@dataclass(frozen=True)
class DiskFigures:
    """What one storage device, or a stripe of them, does."""

    read_iops: float
    read_latency_s: float
    bandwidth_bytes_per_s: float
    sync_latency_s: float

    @property
    def servers(self) -> int:
        """Random reads that are served at the same time: IOPS times latency (Little's law)."""
        return max(1, round(self.read_iops * self.read_latency_s))


CLASSES: dict[str, DiskFigures] = {
    "hdd": DiskFigures(120.0, 8.3e-3, 150e6, 8.3e-3),
    "ssd": DiskFigures(75_000.0, 120e-6, 500e6, 300e-6),
    "nvme": DiskFigures(300_000.0, 90e-6, 2e9, 50e-6),
    "network": DiskFigures(5_000.0, 1e-3, 200e6, 1.5e-3),
}
"""One device of each kind."""


def figures_of(disk: Disk) -> DiskFigures:
    """Return what a scenario's disk does, its own figures first, the class's otherwise."""
    one = CLASSES[disk.kind]
    return DiskFigures(
        disk.read_iops or one.read_iops * disk.count,
        disk.read_latency or one.read_latency_s,
        disk.bandwidth or one.bandwidth_bytes_per_s * disk.count,
        disk.sync_latency or one.sync_latency_s,
    )
