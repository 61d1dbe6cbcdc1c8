"""Control groups behind one interface: a node's CPU quota, memory and block I/O, limits and counts.

A `Hierarchy` is what the machine offers; a `NodeGroup` is one node's own group in it. Groups lie under
`capmodel/<lab>/<node>` at the root of the mounted hierarchy, so that they can be found and removed by name.

Source: Linux kernel documentation, admin-guide/cgroup-v1 and admin-guide/cgroup-v2.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ROOT_NAME = "capmodel"
"""Folder of all our groups in each hierarchy."""
REMOVAL_S = 5.0
"""A group can stay busy for a moment after its last process has gone."""


@dataclass(frozen=True)
class DiskOperations:
    """Operations a node has sent to its device since its group was made."""

    reads: int
    """Read operations."""
    writes: int
    """Write operations."""


@dataclass(frozen=True)
class Limits:
    """The limits in force, as the kernel says them; None is no limit."""

    cpu_cores: float | None = None
    """CPU time per second."""
    memory_bytes: int | None = None
    """Memory, page cache included."""
    reads_per_s: int | None = None
    """Read operations per second to the lab's disk."""
    writes_per_s: int | None = None
    """Write operations per second to the lab's disk."""


class NodeGroup(Protocol):
    """One node's control group."""

    def create(self) -> None:
        """Make the group, without limits."""

    def entrances(self) -> tuple[Path, ...]:
        """Return the files into which a process writes its id to enter the group."""

    def limit_cpu(self, cores: float | None, period_s: float) -> None:
        """Let the group use `cores` of CPU time per second, or any amount."""

    def limit_memory(self, limit_bytes: int | None) -> None:
        """Let the group hold that much memory, page cache included, or any amount."""

    def limit_disk(self, device: str, reads_per_s: int | None, writes_per_s: int | None) -> None:
        """Let the group send that many operations to `device`, or any number."""

    def limits(self, device: str | None) -> Limits:
        """Return the limits in force, those of disk operations for `device`."""

    def cpu_s(self) -> float:
        """Return the CPU time used since the group was made."""

    def throttled_s(self) -> float:
        """Return for how long the quota has kept the group from running."""

    def memory_bytes(self) -> int:
        """Return the memory the group holds, page cache included."""

    def disk_operations(self, device: str) -> DiskOperations:
        """Return the operations sent to `device` since the group was made."""

    def pids(self) -> tuple[int, ...]:
        """Return the processes in the group."""

    def remove(self) -> None:
        """Remove the group, which must be empty of processes; one that is not there is fine."""


class Hierarchy(Protocol):
    """The control groups a machine offers."""

    @property
    def version(self) -> str:
        """`v1` or `v2`."""

    def group(self, lab_id: str, node: str) -> NodeGroup:
        """Return the group of a node, whether it exists or not."""

    def nodes(self, lab_id: str) -> tuple[str, ...]:
        """Return the nodes of a lab that have a group."""

    def remove_lab(self, lab_id: str) -> None:
        """Remove the folders above the groups of a lab, which must be gone."""


def write(file: Path, text: str) -> None:
    """Write to a control file.

    The kernel takes each write call as one command, so the text goes in one.
    """
    with file.open("w") as stream:
        stream.write(text)


def keyed(text: str) -> dict[str, int]:
    """Return the numbers of a flat-keyed file such as `cpu.stat`.

    >>> keyed("nr_periods 4\\nnr_throttled 2\\n")["nr_throttled"]
    2
    """
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def remove_folder(folder: Path) -> None:
    """Remove a group's folder, waiting while the kernel still holds it."""
    deadline_s = time.monotonic() + REMOVAL_S
    while folder.is_dir():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.02)


def remove_if_empty(folder: Path) -> None:
    """Remove a folder unless it holds groups of others, or is not there."""
    if folder.is_dir() and not any(entry.is_dir() for entry in folder.iterdir()):
        remove_folder(folder)


def subgroups(folder: Path) -> tuple[str, ...]:
    """Return the names of the groups directly under `folder`."""
    entries = folder.iterdir() if folder.is_dir() else ()
    return tuple(sorted(entry.name for entry in entries if entry.is_dir()))


def pids_in(file: Path) -> tuple[int, ...]:
    """Return the process ids in a `cgroup.procs` file, none when it is not there."""
    return tuple(map(int, file.read_text().split())) if file.exists() else ()
