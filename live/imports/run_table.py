"""A table of runs in CSV: a row a run, columns as in a collection of published runs.

| Column | Is |
|---|---|
| `throughput_ops` | operations a second; a row without is listed, not read |
| `p50_ms`, `p95_ms`, `p99_ms`, `mean_ms` | latency of `lat_op`, or of all operations |
| `client_threads` | requests in flight |
| `nodes`, `rf`, `columns`, `cassandra_version` | of the cluster and its rows |
| `notes` | `key=value; …`: `lat_op` is the operation that latencies are of |

Every other column is kept as a fact under its name.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

from ...model.measurement import ALL, Measurement
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name
from .written_numbers import Convention, parse_number

NAME = "CSV table of runs"
NEEDED = {"throughput_ops", "client_threads"}
LATENCIES = {"mean_ms": "mean", "p50_ms": "p50", "p95_ms": "p95", "p99_ms": "p99"}
PLACES = {
    "client_threads": "client.facts.in_flight",
    "rf": "client.facts.replication_factor",
    "columns": "client.facts.columns",
    "nodes": "cluster.nodes",
}
"""Where whole numbers are kept."""

Row = Mapping[str, str]


def recognises(lines: Sequence[Line]) -> bool:
    """Whether a text begins with the names of the columns."""
    return bool(lines) and set(_header(lines[0])) >= NEEDED


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return the runs of a table."""
    runs: list[Measurement] = []
    unread: list[Unread] = []
    for line, row in _rows(lines):
        if isinstance(row, str):
            unread.append(Unread(line, row))
            continue
        run = RunRecorder(file, "table", LatencyKind.UNKNOWN, LatencyStatistic.UNKNOWN, title=row.get("source", ""))
        problem = _record(run, row, line)
        if problem:
            unread.append(Unread(line, problem))
        else:
            runs.append(run.finish(operation_name(row.get("id") or f"run-{len(runs) + 1}")))
    return Reading(NAME, tuple(runs), tuple(unread))


def _header(line: Line) -> list[str]:
    return [name.strip() for name in next(csv.reader([line.text]), [])]


def _rows(lines: Sequence[Line]) -> Iterator[tuple[Line, Row | str]]:
    """Yield each row with its line; in place of one that is none, what is wrong with it."""
    names = _header(lines[0])
    for line in lines[1:]:
        if not line.finished:
            yield line, "the file ends within this line"
            continue
        cells = next(csv.reader([line.text]), [])
        if len(cells) != len(names):
            yield line, f"{len(cells)} cells below {len(names)} columns"
        else:
            yield line, dict(zip(names, (cell.strip() for cell in cells), strict=True))


def _record(run: RunRecorder, row: Row, line: Line) -> str:
    """Keep what a row says; return what makes it no run."""
    rate = parse_number(row["throughput_ops"], Convention.POINT)
    if rate is None or rate < 0:
        return f"throughput_ops is {row['throughput_ops']!r}, no rate"
    run.quantity("throughput_per_s", rate, line, row["throughput_ops"], "/s")
    operation = _latency_operation(row)
    for column, text in row.items():
        if not text or column in ("throughput_ops", "id", "source"):
            continue
        value = parse_number(text, Convention.POINT)
        if column in LATENCIES and value is not None:
            run.quantity(f"operations.{operation}.latency_s.{LATENCIES[column]}", value / 1e3, line, text, "ms")
        elif column in PLACES and value is not None and value == int(value):
            run.fact(PLACES[column], int(value), line, text)
        elif column == "cassandra_version":
            run.fact("cluster.version", text, line, text)
        elif column in LATENCIES or column in PLACES:
            run.missing(column, line, text)
        else:
            run.fact(f"client.facts.{operation_name(column)}", text if value is None else value, line, text)
    return ""


def _latency_operation(row: Row) -> str:
    notes = dict(part.strip().split("=", 1) for part in row.get("notes", "").split(";") if "=" in part)
    named = operation_name(notes.get("lat_op", ALL))
    mix = [part.partition("=")[0] for part in row.get("op_mix", "").split(";") if part]
    return operation_name(mix[0]) if named == ALL and len(mix) == 1 else named
