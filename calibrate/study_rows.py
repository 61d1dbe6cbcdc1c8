"""Runs from rows of the lab study: real Cassandra 5.0.6 nodes under a CPU quota on one machine of two cores.

Source: lab-fidelity.md (protocol), lab-runs-1-2-nodes.csv and lab-runs-equal-sharing-1-2-nodes.csv (rows): 30,000
rows of 170 bytes in the page cache, speculation, read repair, compaction and dynamic snitch off, tokens evenly
interleaved, loopback network, a lean client with one connection a node.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..model.lab_scenario import MIXES, LabHardware, lab_scenario
from ..model.metrics import Latency, LatencyKind, LatencyStatistic, Metrics
from ..model.scenario import Scenario
from .run import Run, quantity

STUDY_CLIENT_CPU_US = 10.0
"""CPU of the lean client: 2 to 40 µs an operation, about 10 at 16 in flight (column client_core over ops_s)."""


_CELL = ("nodes", "rf", "op", "cl", "routing", "through", "inflight")
"""Columns that say what was asked."""


def study_runs(path: Path) -> Iterator[Run]:
    """Yield a run for each row of a file of the study that has no errors."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    costs = _client_costs(rows)
    for number, row in enumerate(rows, 2):
        if row["errors"] == "0":
            cost = {"client_cpu_us": str(costs[_cell_of(row)])} if _cell_of(row) in costs else {}
            yield study_run(row | cost, f"{path.name}:{number}")


def _cell_of(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in _CELL)


def _client_costs(rows: Iterable[Mapping[str, str]]) -> Mapping[tuple[str, ...], float]:
    """Return the median CPU of the client per operation of each cell, in µs: repeats of a cell are one scenario."""
    seen: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if row.get("client_cpu_us"):
            seen.setdefault(_cell_of(row), []).append(float(row["client_cpu_us"]))
    return {cell: statistics.median(values) for cell, values in seen.items()}


def study_run(row: Mapping[str, str], source: str) -> Run:
    """Return the run of one row; a row of several operations has latencies of none."""
    operations = list(MIXES[row["op"]])
    latency = {
        name: quantity(float(row[f"{name}_ms"]) / 1e3) for name in ("mean", "p50", "p95", "p99") if row[f"{name}_ms"]
    }
    kinds = {"kind": LatencyKind.SERVICE, "statistic": LatencyStatistic.OVER_REQUESTS}
    return Run(
        source,
        study_scenario(row),
        Metrics(
            throughput_per_s=quantity(float(row["ops_s"])),
            latency_s={operations[0]: Latency.model_validate({**kinds, **latency})} if len(operations) == 1 else {},
        ),
        quantity(float(row["cpu_us_op_total"]) * 1e-6),
        sources=(source,),
        facts=_facts(row),
    )


def _facts(row: Mapping[str, str]) -> dict[str, str]:
    """Return what else a row tells; a layout without a start of its own was started once."""
    if "layout" in row:
        start = row.get("start") or f"layout of {row['layout']}"
        return {"version": "5.0.6", "nodes on the same cores": "2", "start": start}
    return {"version": "5.0.6", "nodes on the same cores": "1", "start": f"boot {row['boot']}, {row['nodes']} nodes"}


def study_scenario(row: Mapping[str, str]) -> Scenario:
    """Return the scenario of a row."""
    client_us = row.get("client_cpu_us") or STUDY_CLIENT_CPU_US
    hardware = LabHardware(
        cores=float(row["cap_cores"]),
        period_s=float(row["period_ms"]) / 1e3,
        client_cpu_s=float(client_us) * 1e-6,
        partitions=30_000,
        num_tokens=1,
    )
    size, factor, in_flight = int(row["nodes"]), int(row["rf"]), int(row["inflight"])
    through = int(row.get("through") or 0)
    return lab_scenario(hardware, size, factor, row["op"], row["cl"], row["routing"], in_flight, through)
