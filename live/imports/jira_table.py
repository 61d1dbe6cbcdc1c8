"""Tables of CASSANDRA-3634: `||Type||Mean||SD||10th||…`, rates and latencies of intervals by client type.

Means and percentiles are over the means of intervals, so their latencies are no percentiles of requests. `nan` marks
intervals in which nothing happened. Rates are per second, latencies in seconds, as stress.py printed them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...model.measurement import ALL
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name
from .written_numbers import Convention, parse_number

NAME = "CASSANDRA-3634 tables"
_HEADING = re.compile(r"h\d\.\s*(.*)")
_SHAPE = re.compile(r"(read|insert)\s+(\S+)\s+rows,\s*(\d+)\s+columns", re.IGNORECASE)
LATENCY_COLUMNS = {"Mean": "mean", "50th": "p50", "95th": "p95", "99th": "p99"}
CONVENTION = Convention.POINT


def recognises(lines: Sequence[Line]) -> bool:
    """Whether the heading of such a table stands in a text."""
    return any(line.text.startswith("||Type||Mean||") for line in lines)


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return a run for each test and client type."""
    reader = _TableReader(file)
    for line in lines:
        reader.line(line)
    runs = (run.finish(name) for name, run in reader.runs.items() if run.holds_figures)
    return Reading(NAME, tuple(runs), tuple(reader.unread))


class _TableReader:
    """Follows headings and tables."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.title, self.table = "", ""
        self.columns: list[str] = []
        self.runs: dict[str, RunRecorder] = {}
        self.unread: list[Unread] = []

    def line(self, line: Line) -> None:
        heading = _HEADING.match(line.text)
        if heading and heading[1].lower() in ("operations", "latency"):
            self.table = heading[1].lower()
        elif heading:
            self.title, self.table = heading[1], ""
        elif line.text.startswith("||"):
            self.columns = line.text.strip("|").split("||")
        elif line.text.startswith("|") and not line.finished and not line.text.endswith("|"):
            self.unread.append(Unread(line, "the file ends within this line"))
        elif line.text.startswith("|"):
            self._row(line, line.text.strip("|").split("|"))
        else:
            self.unread.append(Unread(line, "text"))

    def _row(self, line: Line, cells: list[str]) -> None:
        if len(cells) != len(self.columns) or not self.table:
            self.unread.append(Unread(line, f"{len(cells)} cells, or under no heading; {len(self.columns)} columns"))
            return
        run = self._run(line, cells[0])
        for column, text in list(zip(self.columns, cells, strict=True))[1:]:
            value = parse_number(text, CONVENTION)
            if value is None:
                run.missing(f"{self.table} {column}", line, text)
            else:
                self._figure(run, line, column, text, value)

    def _figure(self, run: RunRecorder, line: Line, column: str, text: str, value: float) -> None:
        if self.table == "operations" and column == "Mean":
            run.quantity("throughput_per_s", value, line, text, "/s")
        elif self.table == "latency" and column in LATENCY_COLUMNS:
            run.quantity(f"operations.{ALL}.latency_s.{LATENCY_COLUMNS[column]}", value, line, text, "s")
        else:
            unit = "per_s" if self.table == "operations" else "s"
            name = f"{self.table}_{column.lower()}_of_intervals_{unit}"
            run.fact(f"client.facts.{name}", value, line, text, unit)

    def _run(self, line: Line, client_type: str) -> RunRecorder:
        name = operation_name(f"{self.title} {client_type}")
        if name not in self.runs:
            statistic = LatencyStatistic.OVER_INTERVAL_MEANS
            run = RunRecorder(self.file, "stress.py", LatencyKind.SERVICE, statistic, f"{self.title}, {client_type}")
            self.runs[name] = run
            self._shape(run, line)
        return self.runs[name]

    def _shape(self, run: RunRecorder, line: Line) -> None:
        found = _SHAPE.match(self.title)
        if found:
            run.fact("client.facts.operation", found[1].lower(), line, self.title)
            run.fact("client.facts.columns", int(found[3]), line, self.title)
