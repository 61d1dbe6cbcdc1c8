"""Scenarios of a lab: nodes of a fraction of a core on one machine, small rows in memory, nothing asked twice.

What the lab's protocol switches off is off here too: speculation, read repair, the dynamic snitch, compaction; tokens
are evenly interleaved; nodes talk over the loopback device.

Source: lab-fidelity.md, sections 2 and 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .scenario import Scenario

LOOPBACK_S = 15e-6
"""One-way delay on the loopback device, beside the CPU time of both ends: default of `hardware.hops.same_host`."""
MIXES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {"r": {"read": 1.0}, "w": {"write": 1.0}, "rw": {"read": 0.5, "write": 0.5}}
)
"""Shares of operations by the short name of a mix."""
ROUTINGS: Mapping[str, str] = MappingProxyType({"ta": "token-aware", "rr": "round-robin"})
"""Routings by their short names."""
_NOTHING_TWICE = {
    "version": "5.0",
    "allocation": "even",
    "dynamic_snitch": False,
    "table": {"speculative_retry": "NONE"},
}
_ROWS = {"columns": 1, "column_size": 170, "cache_hit": 1.0}


@dataclass(frozen=True)
class LabHardware:
    """What a lab is the same in for all its cells."""

    cores: float
    """CPU time a node may use per second, on its one core."""
    period_s: float
    client_cpu_s: float
    """CPU of the load generator for one operation."""
    partitions: int
    num_tokens: int = 16


def lab_scenario(
    hardware: LabHardware,
    nodes: int,
    factor: int,
    mix: str,
    consistency: str,
    routing: str,
    in_flight: int,
    through: int = 0,
) -> Scenario:
    """Return a cell of a lab.

    Args:
        hardware: of the lab.
        nodes: of the cluster.
        factor: replicas of a row.
        mix: `r`, `w` or `rw`.
        consistency: level of all operations.
        routing: `ta` or `rr`.
        in_flight: requests in flight over all clients.
        through: nodes that the clients talk to, the first ones; 0 for all.
    """
    operations = {name: {"share": share, "consistency": consistency} for name, share in MIXES[mix].items()}
    quota = {"cores": hardware.cores, "period": hardware.period_s, "cpus": 1}
    return Scenario.model_validate(
        {
            "cluster": {
                **_NOTHING_TWICE,
                "nodes": nodes,
                "replication": {"factor": factor},
                "num_tokens": hardware.num_tokens,
            },
            "hardware": {"cores": 1, "cpu_quota": quota, "hops": {"same_rack": LOOPBACK_S, "client": LOOPBACK_S}},
            "workload": {**_ROWS, "operations": operations, "partitions": hardware.partitions},
            "clients": {
                "in_flight": in_flight,
                "routing": ROUTINGS[routing],
                "cpu_per_operation": hardware.client_cpu_s,
                "coordinators": tuple(range(through)),
            },
        }
    )
