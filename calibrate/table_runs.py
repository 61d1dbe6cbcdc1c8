"""Runs from a table with the columns of published runs, one row a run.

What a row does not state stands at the scenario's default and is said. A row without nodes, RF, consistency or
threads says nothing about demands and is refused; so is one whose figures are about what the model does not have
(several datacenters, read-modify-write, a cold cache of unknown size).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..model.errors import CapmodelError
from ..model.metrics import Latency, LatencyKind, LatencyStatistic, Metrics, Quantity
from ..model.scenario import Scenario
from ..model.versions import version_facts
from .run import Run, quantity
from .suitability import Refused

Row = Mapping[str, str]

COLUMNS = ("nodes", "rf", "consistency", "op_mix", "client_threads", "throughput_ops")
"""Columns by which such a table is known."""
KINDS = {"read": "read", "write": "write", "insert": "write", "update": "write"}
"""Operations of benchmark tools, as reads and writes."""
AWARE_SINCE = 4.0
"""Series whose shipped configuration allocates tokens for three replicas (CASSANDRA-15260)."""
LEAST_NOISE = 0.02
"""Relative error of a mean over repeats below which their spread says nothing: repeats within one start. Source:
published-runs.csv, C26: 9 to 2 % between file sets of one host."""
LATENCIES = {"p50": "p50_ms", "p95": "p95_ms", "p99": "p99_ms"}


def is_run_table(header: Iterable[str]) -> bool:
    """Whether a file's header is that of such a table."""
    return set(COLUMNS) <= set(header)


def table_runs(path: Path, assumed: Row | None = None) -> tuple[tuple[Run, ...], tuple[Refused, ...]]:
    """Return the runs of a table, and the rows that say nothing, with the reason.

    Args:
        path: a CSV file.
        assumed: columns that are taken where a row leaves them empty.
    """
    with path.open(newline="") as file:
        rows = [(f"{path.name}:{number}", row) for number, row in enumerate(csv.DictReader(file), 2)]
    read = [row_run(row, source, assumed) for source, row in rows]
    return tuple(one for one in read if isinstance(one, Run)), tuple(one for one in read if isinstance(one, Refused))


def row_run(row: Row, source: str, assumed: Row | None = None) -> Run | Refused:
    """Return the run of a row, or why it is none."""
    filled = {**row, **{key: value for key, value in (assumed or {}).items() if not row.get(key)}}
    reasons = tuple(_refusals(filled))
    if reasons:
        return Refused(source, reasons)
    try:
        scenario = Scenario.model_validate(_scenario(filled))
    except (CapmodelError, ValueError) as error:
        return Refused(source, (f"no scenario: {str(error).splitlines()[0]}",))
    return Run(
        source,
        scenario,
        Metrics(throughput_per_s=_throughput(filled), latency_s=_latencies(filled, scenario)),
        sources=(source,),
        facts=_facts(filled),
    )


def _facts(row: Row) -> dict[str, str]:
    version, host = row.get("cassandra_version", ""), notes_of(row).get("host_guess", "")
    return {"version": version, "case": _case(row), "machine": host}


def _case(row: Row) -> str:
    return row.get("case_id") or row.get("id", "").partition("-")[0] or "table"


def notes_of(row: Row) -> dict[str, str]:
    """Return the notes of a row of the form `key=value`.

    >>> notes_of({"notes": "repeat=1; lat_op=read; text"})
    {'repeat': '1', 'lat_op': 'read'}
    """
    parts = (part.strip().split("=", 1) for part in row.get("notes", "").split(";") if "=" in part)
    return dict(parts)


def _throughput(row: Row) -> Quantity:
    """Return the rate, with the error of the mean where a source gives the spread of its repeats."""
    rate, notes = float(row["throughput_ops"]), notes_of(row)
    if "thr_std" not in notes or "repeats" not in notes:
        return quantity(rate)
    return quantity(rate, max(LEAST_NOISE, float(notes["thr_std"]) / rate / float(notes["repeats"]) ** 0.5))


def _refusals(row: Row) -> Iterator[str]:
    for column in ("nodes", "rf", "consistency", "client_threads", "op_mix"):
        if not row.get(column):
            yield f"{column} is not stated"
    if not row.get("throughput_ops"):
        yield "no throughput"
    unknown = [name for name in mix_of_row(row) if name not in KINDS]
    if unknown:
        yield f"{', '.join(unknown)} is not modelled"
    notes = row.get("notes", "").lower()
    if "cold" in notes:
        yield "a cold cache of unknown size"
    if "two dc" in notes or "dcs" in notes:
        yield "several datacenters"
    if "open loop" in notes:
        yield "an open load whose rate is not stated apart"


def mix_of_row(row: Row) -> dict[str, float]:
    """Return the share of each operation of a row, by the tool's names.

    >>> mix_of_row({"op_mix": "read=0.8;insert=0.2"})
    {'read': 0.8, 'insert': 0.2}
    """
    parts = (part.partition("=") for part in row.get("op_mix", "").split(";") if part)
    return {name.strip(): float(share or 1.0) for name, _, share in parts}


def _scenario(row: Row) -> dict[str, Any]:
    cluster: dict[str, Any] = {
        "nodes": int(row["nodes"]),
        "replication": {"factor": int(row["rf"])},
        "version": _version(row),
        **_ring(row),
    }
    return {
        "name": _case(row),
        "cluster": cluster,
        "hardware": _hardware(row),
        "workload": _workload(row),
        "clients": {"in_flight": int(row["client_threads"]), "machines": int(row.get("client_machines") or 1)},
    }


def _ring(row: Row) -> dict[str, Any]:
    """Return how tokens are dealt: by replicas since 4.0, by chance before, as the shipped configurations do."""
    if int(row["nodes"]) == 1:
        return {"allocation": "even", "num_tokens": 1}
    facts = version_facts(_version(row))
    aware = float(facts.series) >= AWARE_SINCE
    return {"allocation": "replication-aware" if aware else "random", "num_tokens": facts.num_tokens}


def _version(row: Row) -> str:
    found = re.match(r"\d+\.\d+(\.\d+)?", row.get("cassandra_version") or "")
    return found[0] if found else "3.11"


def _hardware(row: Row) -> dict[str, Any]:
    cores = row.get("cores_per_node")
    memory = float(row.get("ram_gb") or 32) * 2**30
    network = row.get("net_gbps")
    return {
        **({"cores": max(1, round(float(cores)))} if cores else {}),
        "ram": memory,
        "heap": memory / 4,
        "off_heap": memory / 16,
        **({"nic": float(network) * 1e9 / 8} if network else {}),
    }


def _workload(row: Row) -> dict[str, Any]:
    levels = _levels(row["consistency"])
    shares: dict[str, float] = {}
    for name, share in mix_of_row(row).items():
        shares[KINDS[name]] = shares.get(KINDS[name], 0.0) + share
    operations = {name: {"share": share, "consistency": levels[name]} for name, share in shares.items()}
    columns = int(row.get("columns") or 1)
    return {
        "operations": operations,
        "columns": columns,
        **({"column_size": float(row["row_bytes"]) / columns} if row.get("row_bytes") else {}),
        **({"partitions": int(float(row["rows"]))} if row.get("rows") else {}),
        **({"popularity": {"kind": "zipf"}} if "zipf" in row.get("notes", "") else {}),
        "cache_hit": 1.0,
    }


def _levels(text: str) -> dict[str, str]:
    read, _, write = (part.strip() for part in text.partition("/"))
    return {"read": read, "write": write or read}


def _latencies(row: Row, scenario: Scenario) -> dict[str, Latency]:
    named = notes_of(row).get("lat_op", next(iter(mix_of_row(row))))
    operation = "all" if named == "all" else KINDS.get(named, named)
    found = {name: quantity(float(row[column]) / 1e3) for name, column in LATENCIES.items() if row.get(column)}
    if not found or (operation != "all" and operation not in scenario.workload.operations):
        return {}
    return {operation: Latency(kind=LatencyKind.UNKNOWN, statistic=LatencyStatistic.UNKNOWN, **found)}
