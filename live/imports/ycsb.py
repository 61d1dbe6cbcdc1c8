"""The closing summary of YCSB: `[SECTION], Metric(unit), number`.

Latencies run from send to answer; sections `Intended-…` count from the intended start and are listed, not read: an
operation has one kind of figures here. `-FAILED` sections and returns other than OK are errors.
Source: site.ycsb.measurements.exporter.TextMeasurementsExporter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name
from .written_numbers import Convention, parse_number

NAME = "YCSB summary"
_ENTRY = re.compile(r"\[([\w %-]+)\],\s*([^,]+?),\s*(\S+)$")
_METRIC = re.compile(r"([\w.]+)\((us|ms)\)$")
_COMMAND = re.compile(r"\bycsb(?:\.sh|\.bat)?\s+(?:load|run)\b|^Command line:")
_THREADS = re.compile(r"-threads[ =](\d+)|\bthreadcount=(\d+)")
STATISTICS = {
    "AverageLatency": "mean",
    "50thPercentileLatency": "p50",
    "95thPercentileLatency": "p95",
    "99thPercentileLatency": "p99",
    "99.9PercentileLatency": "p999",
    "99.9thPercentileLatency": "p999",
}
SCALE = {"us": 1e6, "ms": 1e3}
OPERATIONS = {"READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE"}


def recognises(lines: Sequence[Line]) -> bool:
    """Whether the line of the overall rate stands in a text."""
    return any(line.text.startswith("[OVERALL], Throughput(ops/sec),") for line in lines)


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return the runs of a text; each starts with its run time."""
    reader = _YcsbReader(file)
    for line in lines:
        reader.line(line)
    found = [run for run in reader.runs if run.value("throughput_per_s") is not None]
    runs = tuple(run.finish(f"run-{number}") for number, run in enumerate(found, 1))
    return Reading(NAME, runs, tuple(reader.unread))


class _YcsbReader:
    """Walks through the lines of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.command: Line | None = None
        self.runs: list[RunRecorder] = []
        self.unread: list[Unread] = []

    def line(self, line: Line) -> None:
        entry = _ENTRY.match(line.text)
        if entry is None:
            self._other(line)
        elif not line.finished:
            self.unread.append(Unread(line, "the file ends within this line"))
        else:
            self._entry(line, entry[1], entry[2], entry[3])

    def _other(self, line: Line) -> None:
        if _COMMAND.search(line.text):
            self.command = line
        else:
            self.unread.append(Unread(line, "no entry of a summary"))

    def _entry(self, line: Line, section: str, metric: str, text: str) -> None:
        value = parse_number(text, Convention.POINT)
        if section == "OVERALL" and metric.startswith("RunTime"):
            self._start()
        if value is None or value < 0 or not self.runs:
            self.unread.append(Unread(line, f"{text!r} is no number, or stands before any run"))
        elif section == "OVERALL":
            self._overall(self.runs[-1], line, metric, value, text)
        elif section.removesuffix("-FAILED") in OPERATIONS:
            self._operation(self.runs[-1], line, section, metric, value, text)
        else:
            self.unread.append(Unread(line, "of no operation"))

    def _start(self) -> None:
        run = RunRecorder(self.file, "YCSB", LatencyKind.SERVICE, LatencyStatistic.OVER_REQUESTS)
        if self.command:
            run.command_line = self.command.text
            threads = _THREADS.search(self.command.text)
            if threads:
                number = threads[1] or threads[2]
                run.fact("client.facts.in_flight", int(number), self.command, number)
            self.command = None
        self.runs.append(run)

    def _overall(self, run: RunRecorder, line: Line, metric: str, value: float, text: str) -> None:
        if metric == "Throughput(ops/sec)":
            run.quantity("throughput_per_s", value, line, text, "/s")
        elif metric == "RunTime(ms)" and value > 0:
            run.fact("duration_s", value / 1e3, line, text, "ms")
        elif metric == "ThreadCount":
            run.fact("client.facts.in_flight", int(value), line, text)
        else:
            self.unread.append(Unread(line, "a figure of the whole run that is not known"))

    def _operation(self, run: RunRecorder, line: Line, section: str, metric: str, value: float, text: str) -> None:
        found, name = _METRIC.match(metric), operation_name(section)
        failed = section.endswith("-FAILED")
        if metric == "Operations":
            path = f"error_counts.{name}" if failed else f"operations.{name}.requests"
            run.fact(path, int(value), line, text)
        elif metric.startswith("Return=") and not failed:
            kind = operation_name(metric.removeprefix("Return="))
            run.fact(f"client.facts.{name}_returned_{kind}", int(value), line, text)
        elif found and not failed and found[1] in STATISTICS:
            path = f"operations.{name}.latency_s.{STATISTICS[found[1]]}"
            run.quantity(path, value / SCALE[found[2]], line, text, found[2])
        elif found and not failed:
            run.fact(f"client.facts.{name}_{operation_name(found[1])}_{found[2]}", value, line, text, found[2])
        else:
            self.unread.append(Unread(line, "a latency of failed requests, or a bucket"))
