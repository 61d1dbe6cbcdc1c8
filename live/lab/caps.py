"""The caps of a node: set, lifted, read back; its core; and what it has used.

A lab on a machine that gives us no control groups has no caps in force: setting one does nothing, its
counts come from the process alone, and what only a group can count is None.
"""

from __future__ import annotations

from pathlib import Path

from ...model.errors import RunError
from . import process
from .control_groups import DiskOperations, Limits, NodeGroup
from .hierarchy import offered_hierarchy
from .record import Lab, NodeRecord


def node_group(lab: Lab, node: NodeRecord) -> NodeGroup | None:
    """Return the control group of a node, or None in an uncapped lab."""
    if lab.groups is None:
        return None
    hierarchy = offered_hierarchy()
    if hierarchy is None:
        raise RunError(f"the control groups ({lab.groups}) of this lab are no longer mounted")
    return hierarchy.group(lab.id, node.name)


def create_group(lab: Lab, node: NodeRecord) -> tuple[Path, ...]:
    """Make the group of a node, without limits, and return the files that lead into it."""
    group = node_group(lab, node)
    if group is None:
        return ()
    group.create()
    lift(lab, node)
    return group.entrances()


def cap(lab: Lab, node: NodeRecord) -> None:
    """Put the limits of the lab's spec in force for a node.

    Raises:
        RunError: the node holds more memory than it may, and cannot let go of it.
    """
    spec = lab.spec
    limit_memory(lab, node, spec.memory)
    limit_cpu(lab, node, spec.cores_per_node)
    limit_disk(lab, node, spec.read_iops, spec.write_iops)


def lift(lab: Lab, node: NodeRecord) -> None:
    """Lift all limits of a node."""
    limit_memory(lab, node, None)
    limit_cpu(lab, node, None)
    limit_disk(lab, node, None, None)


def limit_cpu(lab: Lab, node: NodeRecord, cores: float | None) -> None:
    """Let a node use `cores` of CPU time per second, or any amount."""
    if group := node_group(lab, node):
        group.limit_cpu(cores, lab.spec.period)


def limit_memory(lab: Lab, node: NodeRecord, limit_bytes: float | None) -> None:
    """Let a node hold that much memory, page cache included, or any amount."""
    group = node_group(lab, node)
    if group is None:
        return
    try:
        group.limit_memory(None if limit_bytes is None else int(limit_bytes))
    except OSError as error:
        held, limit = (number / 2**20 for number in (group.memory_bytes(), limit_bytes or 0))
        raise RunError(
            f"{node.name} cannot be limited to {limit:.0f} MiB of memory: it holds {held:.0f} MiB"
        ) from error


def limit_disk(lab: Lab, node: NodeRecord, reads_per_s: float | None, writes_per_s: float | None) -> None:
    """Let a node send that many operations to the lab's disk, or any number."""
    group = node_group(lab, node)
    if group and lab.device:
        reads, writes = (None if per_s is None else round(per_s) for per_s in (reads_per_s, writes_per_s))
        group.limit_disk(lab.device, reads, writes)


def in_force(lab: Lab, node: NodeRecord) -> Limits:
    """Return the limits in force, as the kernel says them: what a measurement states."""
    group = node_group(lab, node)
    return group.limits(lab.device) if group else Limits()


def cpu_s(lab: Lab, node: NodeRecord) -> float | None:
    """Return the CPU time a node has used since its group was made, or since its process started."""
    if group := node_group(lab, node):
        return group.cpu_s()
    return process.cpu_s(node.process) if node.process else None


def throttled_s(lab: Lab, node: NodeRecord) -> float | None:
    """Return for how long its quota has kept a node from running; None in an uncapped lab."""
    group = node_group(lab, node)
    return group.throttled_s() if group else None


def disk_operations(lab: Lab, node: NodeRecord) -> DiskOperations | None:
    """Return what a node has sent to the lab's disk; None where no group counts it."""
    group = node_group(lab, node)
    return group.disk_operations(lab.device) if group and lab.device else None


def repin(lab: Lab, node: NodeRecord, cores: frozenset[int]) -> None:
    """Move a running node to other cores of the lab, which measures what sharing a core costs."""
    strangers = cores - set(lab.cores)
    if strangers or not cores:
        raise RunError(f"cores {sorted(cores)}: the lab has {list(lab.cores)}")
    if node.process is not None:
        process.pin(node.process, cores)
