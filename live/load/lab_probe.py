"""What the lab knows about its nodes: CPU time, time throttled, disk operations, caps in force, who shares a core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model.measurement import Fact
from ..lab import caps
from ..lab.layout import nodes_per_core
from ..lab.record import Lab, NodeRecord, default_directory, load_lab
from .node_probe import NodeSurroundings, NodeUse

ONE_CORE = 1.0
"""A node of the lab is pinned to one core."""


class LabProbe:
    """Reads the nodes of a lab."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def use(self) -> Mapping[str, NodeUse]:
        """Return what each running node has used so far."""
        return {node.plan.address: _use(self._lab, node) for node in self._lab.nodes if node.running}

    def surroundings(self) -> Mapping[str, NodeSurroundings]:
        """Return what is fixed about each running node's machine."""
        sharing = nodes_per_core([node.plan for node in self._lab.nodes])
        return {
            node.plan.address: NodeSurroundings(
                cores=caps.in_force(self._lab, node).cpu_cores or ONE_CORE,
                nodes_on_cores=sharing[node.plan.core],
                facts=dict(_facts(self._lab, node)),
            )
            for node in self._lab.nodes
            if node.running
        }

    def caps(self) -> Mapping[str, str]:
        """Return which limits were asked for and whether they are in force on every running node."""
        spec = self._lab.spec
        limits = [caps.in_force(self._lab, node) for node in self._lab.nodes if node.running]
        asked = {
            "cpu": (spec.cores_per_node, all(limit.cpu_cores for limit in limits)),
            "memory": (spec.memory, all(limit.memory_bytes for limit in limits)),
            "block_io": (
                spec.read_iops or spec.write_iops,
                all(limit.reads_per_s or limit.writes_per_s for limit in limits),
            ),
        }
        return {name: _binding(wanted is not None, binds) for name, (wanted, binds) in asked.items()}


def _use(lab: Lab, node: NodeRecord) -> NodeUse:
    disk = caps.disk_operations(lab, node)
    return NodeUse(
        cpu_s=caps.cpu_s(lab, node),
        throttled_s=caps.throttled_s(lab, node),
        disk_reads=disk.reads if disk else None,
        disk_writes=disk.writes if disk else None,
    )


def _facts(lab: Lab, node: NodeRecord) -> Iterator[tuple[str, Fact]]:
    yield "core", node.plan.core
    for number, note in enumerate(lab.notes, start=1):
        yield f"lab_note_{number}", note
    for name, limit in vars(caps.in_force(lab, node)).items():
        if limit is not None:
            yield f"limit_{name}", limit


def _binding(asked: bool, binds: bool) -> str:
    if not asked:
        return "not tried"
    return "effective" if binds else "not effective"


def lab_probe(addresses: Sequence[str], directory: Path | None = None) -> LabProbe | None:
    """Return the probe of the lab that has a node at one of the addresses, None when there is none."""
    lab = load_lab(directory or default_directory())
    if lab is None or not set(addresses) & {node.plan.address for node in lab.nodes}:
        return None
    return LabProbe(lab)
