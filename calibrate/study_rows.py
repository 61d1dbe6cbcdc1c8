"""Runs from rows of the lab study: real Cassandra 5.0.6 nodes under a CPU quota on one machine of two cores.

Source: lab-fidelity.md (protocol), lab-runs-1-2-nodes.csv and lab-runs-equal-sharing-1-2-nodes.csv (rows): 30,000
rows of 170 bytes in the page cache, speculation, read repair, compaction and dynamic snitch off, tokens evenly
interleaved, loopback network, a lean client with one connection a node.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..model.metrics import Latency, LatencyKind, LatencyStatistic, Metrics
from ..model.scenario import Scenario
from .run import Run, quantity

OPERATIONS = {"r": "read", "w": "write"}
ROUTINGS = {"ta": "token-aware", "rr": "round-robin"}
LOOPBACK_S = 15e-6
"""One-way delay on the loopback device, beside the CPU time of both ends: default of `hardware.hops.same_host`."""
CLIENT_CPU_S = 10e-6
"""CPU of the lean client: 2 to 40 µs an operation, about 10 at 16 in flight (column client_core over ops_s)."""
ROW_BYTES = 170


def study_runs(path: Path) -> Iterator[Run]:
    """Yield a run for each row of a file of the study that has no errors."""
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            if row["errors"] == "0":
                yield study_run(row, f"{path.name}:{number}")


def study_run(row: Mapping[str, str], source: str) -> Run:
    """Return the run of one row."""
    operation = OPERATIONS[row["op"]]
    latency = {
        name: quantity(float(row[f"{name}_ms"]) / 1e3) for name in ("mean", "p50", "p95", "p99") if row[f"{name}_ms"]
    }
    return Run(
        source,
        study_scenario(row),
        Metrics(
            throughput_per_s=quantity(float(row["ops_s"])),
            latency_s={
                operation: Latency(
                    kind=LatencyKind.SERVICE, statistic=LatencyStatistic.OVER_REQUESTS, **latency
                )
            },
        ),
        quantity(float(row["cpu_us_op_total"]) * 1e-6),
        sources=(source,),
        facts=_facts(row),
    )


def _facts(row: Mapping[str, str]) -> dict[str, str]:
    """Return what else a row tells: each layout of the equal-sharing cells was started once."""
    if "layout" in row:
        return {"version": "5.0.6", "nodes on the same cores": "2", "start": f"layout of {row['layout']}"}
    return {"version": "5.0.6", "nodes on the same cores": "1", "start": f"boot {row['boot']}, {row['nodes']} nodes"}


def study_scenario(row: Mapping[str, str]) -> Scenario:
    """Return the scenario of a row."""
    quota = {"cores": float(row["cap_cores"]), "period": float(row["period_ms"]) / 1e3, "cpus": 1}
    return Scenario.model_validate(
        {
            "cluster": {
                "version": "5.0",
                "nodes": int(row["nodes"]),
                "replication": {"factor": int(row["rf"])},
                "num_tokens": 1,
                "allocation": "even",
                "dynamic_snitch": False,
                "table": {"speculative_retry": "NONE"},
            },
            "hardware": {
                "cores": 1,
                "cpu_quota": quota,
                "hops": {"same_rack": LOOPBACK_S, "client": LOOPBACK_S},
            },
            "workload": {
                "operations": {OPERATIONS[row["op"]]: {"share": 1.0, "consistency": row["cl"]}},
                "columns": 1,
                "column_size": ROW_BYTES,
                "partitions": 30_000,
                "cache_hit": 1.0,
            },
            "clients": {
                "in_flight": int(row["inflight"]),
                "routing": ROUTINGS[row["routing"]],
                "cpu_per_operation": CLIENT_CPU_S,
            },
        }
    )
