"""What a lab's nodes do just now, for people and programs."""

from __future__ import annotations

from typing import Literal

from ...model.value import Value
from . import caps, process
from .control_groups import Limits
from .layout import nodes_per_core
from .readiness import is_ready
from .record import Lab, NodeRecord

State = Literal["ready", "starting", "stopped", "ended", "not started"]


class NodeStatus(Value):
    """One node as it stands."""

    name: str
    cluster: str
    address: str
    core: int
    nodes_on_core: int
    """How many nodes of the lab share its core."""
    state: State
    """`ended` is a node that nobody stopped."""
    pid: int | None
    start_s: float | None
    """How long it took until it was ready."""
    limits: Limits
    """The limits in force, as the kernel says them."""
    cpu_s: float | None
    throttled_s: float | None
    memory_bytes: int | None
    """Memory its process holds, without page cache."""
    disk_reads: int | None
    disk_writes: int | None


class LabStatus(Value):
    """A lab as it stands."""

    directory: str
    version: str
    """Version of Apache Cassandra."""
    groups: str | None
    """Version of the control groups, None when nothing is capped."""
    notes: tuple[str, ...]
    nodes: tuple[NodeStatus, ...]


def lab_status(lab: Lab) -> LabStatus:
    """Return what the nodes of a lab do just now."""
    return LabStatus(
        directory=str(lab.directory),
        version=lab.release.version,
        groups=lab.groups,
        notes=lab.notes,
        nodes=tuple(_node_status(lab, node) for node in lab.nodes),
    )


def _node_status(lab: Lab, node: NodeRecord) -> NodeStatus:
    running = node.running
    disk = caps.disk_operations(lab, node) if running else None
    return NodeStatus(
        name=node.name,
        cluster=node.plan.cluster,
        address=node.plan.address,
        core=node.plan.core,
        nodes_on_core=nodes_per_core([other.plan for other in lab.nodes])[node.plan.core],
        state=_state(lab, node, running),
        pid=node.process.pid if node.process and running else None,
        start_s=node.start_s,
        limits=caps.in_force(lab, node) if running else Limits(),
        cpu_s=caps.cpu_s(lab, node) if running else None,
        throttled_s=caps.throttled_s(lab, node) if running else None,
        memory_bytes=process.resident_bytes(node.process) if node.process else None,
        disk_reads=disk.reads if disk else None,
        disk_writes=disk.writes if disk else None,
    )


def _state(lab: Lab, node: NodeRecord, running: bool) -> State:
    if running:
        return "ready" if is_ready(lab, node) else "starting"
    if node.stopped:
        return "stopped"
    return "ended" if node.process else "not started"
