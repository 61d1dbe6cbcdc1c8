"""The protocol of repeatable runs: how nodes are started, warmed and capped, and how long a cell is measured.

Source: lab-fidelity.md, sections 2 and 10 (recipe and equal sharing); docs/decisions/0013-repeatable-runs.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...model.scenario import Scenario
from ..lab.spec import LabSpec, Layout

TABLE_OPTIONS = {
    "additional_write_policy": "'NONE'",
    "read_repair": "'NONE'",
    "compaction": "{'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}",
}
"""Nothing asks more replicas than the level says, and nothing is compacted meanwhile."""
MOST_DRIFT = 0.10
"""Move of the reference cell around a run beyond which the host was not the same any more."""


@dataclass(frozen=True)
class Protocol:
    """How the cells of a campaign are measured."""

    cores_per_node: float = 0.22
    """Four nodes of 0.22 core and a lean client leave a third of two cores idle."""
    period_s: float = 0.005
    settle_s: float = 0.7
    """Load before the measured time of each cell."""
    cell_s: float = 3.5
    """Measured time of a cell."""
    repeats: int = 3
    """Times that each cell is measured within a start, in random order."""
    reference_every_s: float = 120.0
    """Longest time without the reference cell."""
    path_s: float = 3.0
    """Uncapped load on each path of the code before the caps come."""
    most_rounds: int = 3
    """Rounds of warm-up after which rates count as flat whatever they are."""
    flat_ratio: float = 0.10
    """Change of the reference cell from one round of warm-up to the next below which the nodes are warm."""
    idle_s: float = 4.0
    """Time without load in which the nodes' own messages are counted."""
    backend: str = "acsylla"
    timeout_s: float = 12.0

    def start_s(self, cells: int) -> float:
        """Return about how long a start of so many cells takes: nodes, warm-up of as many paths as a third, cells."""
        cell_s = self.settle_s + self.cell_s + 1.0
        return 60.0 + 2.5 * (cells / 3 + 1) * (self.path_s + 2.0) + (cells * self.repeats + 5) * cell_s

    def spec(self, nodes: int, first_address: str = "127.0.0.1") -> LabSpec:
        """Return the lab of a cluster of that size, its cores filled up with twins."""
        return LabSpec(
            nodes=nodes,
            layout=Layout.EQUAL,
            cores_per_node=self.cores_per_node,
            period=self.period_s,
            first_address=first_address,
        )


def cell_name(scenario: Scenario) -> str:
    """Return a name for the file of a cell, by what differs between cells.

    >>> cell_name(Scenario.model_validate({"cluster": {"nodes": 3}, "clients": {"in_flight": 32}}))
    'n3-rf3-read50-LOCAL_QUORUM-write50-LOCAL_QUORUM-token-aware-32'
    """
    clients, workload = scenario.clients, scenario.workload
    whole = len(workload.operations) == 1
    mix = (
        f"{name}{'' if whole else f'{100 * one.share:.0f}'}-{one.consistency.value}"
        for name, one in workload.operations.items()
    )
    through = f"-through{len(clients.coordinators)}" if clients.coordinators else ""
    size = f"n{scenario.cluster.node_count}-rf{scenario.cluster.replication.factor}"
    return f"{size}-{'-'.join(mix)}-{clients.routing.value}{through}-{clients.in_flight}"
