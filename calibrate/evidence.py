"""Published and measured runs as rows of evidence, and what the utilisation law says of them.

A row of the evidence is one run: what was asked of which cluster, and how many operations a second came back. Ids
name the case and the number of the row within it.

Source: utilisation law, demand = utilisation x servers / throughput (Denning and Buzen 1978); the servers of a
saturated run are taken to be all cores of the cluster.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KIB = 1024.0


@dataclass(frozen=True)
class PublishedRun:
    """One published run."""

    id: str
    nodes: int
    cores_per_node: int
    replication_factor: int
    consistency: str
    write_share: float
    row_kib: float
    in_flight: int
    throughput_per_s: float

    @property
    def cores_s(self) -> float:
        """CPU seconds that the cluster has per operation: the demand of an operation when it is saturated."""
        return self.nodes * self.cores_per_node / self.throughput_per_s


PublishedRuns = Mapping[str, PublishedRun]
"""Published runs by id."""


def read_published_runs(path: Path) -> dict[str, PublishedRun]:
    """Return the runs of a file of published rows that state their cores, RF and row size, by id."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cores_per_node"] and row["rf"] and row["row_bytes"]]
    return {row["id"]: _published_run(row) for row in rows}


def _published_run(row: Mapping[str, str]) -> PublishedRun:
    return PublishedRun(
        id=row["id"],
        nodes=int(row["nodes"]),
        cores_per_node=int(row["cores_per_node"]),
        replication_factor=int(row["rf"]),
        consistency=row["consistency"],
        write_share=_write_share(row["op_mix"]),
        row_kib=float(row["row_bytes"]) / KIB,
        in_flight=int(row["client_threads"]),
        throughput_per_s=float(row["throughput_ops"]),
    )


def _write_share(mix: str) -> float:
    """Return the share of what is not a read in a mix.

    >>> _write_share("read=0.8;insert=0.2")
    0.2
    """
    shares = dict(part.split("=") for part in mix.split(";"))
    return sum(float(share) for name, share in shares.items() if name not in ("read", "select"))


def expand(spans: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of rows named one by one or as spans.

    >>> expand(["C04-01..03", "C04-30"])
    ('C04-01', 'C04-02', 'C04-03', 'C04-30')
    """
    return tuple(name for span in spans for name in _expand(span))


def _expand(span: str) -> tuple[str, ...]:
    first, dots, last = span.partition("..")
    case, _, number = first.partition("-")
    if not dots:
        return (first,)
    return tuple(f"{case}-{each:0{len(number)}d}" for each in range(int(number), int(last) + 1))


def cores_s(runs: PublishedRuns, spans: Sequence[str]) -> float:
    """Return the CPU seconds per operation of some runs, given as spans of ids: their geometric mean."""
    return float(np.exp(np.mean([np.log(runs[name].cores_s) for name in expand(spans)])))
