"""The closing summaries of cassandra-stress, 1.x to 5.x.

To 2.0: "Averages from the middle 80% of values", where latencies are averages of intervals' percentiles. From 2.1:
"Results:", over all requests, in 3.x with the operations in brackets. With `-rate fixed=` latencies count from the
intended start. Source: org.apache.cassandra.stress.StressMetrics and, before 2.1, StressAction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...model.measurement import ALL, Measurement
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name
from .stress_options import COMMAND, note_options
from .written_numbers import TOKEN, Convention, convention_of, parse_number

NAME = "cassandra-stress summary"
_START = re.compile(r"(?:.*\s)?(?:(Averages from the middle 80% of values)|Results)\s*:$")
_ENTRY = re.compile(r"([A-Za-z][\w .%/]*?)\s*:\s+(.*)$")
_BRACKET = re.compile(rf"([\w-]+)\s*:\s*({TOKEN})")
_THREADS = re.compile(r"Running(?: \w+)* with (\d+) thread(?:s|Count)\b")
RATES = {"interval_op_rate", "op rate"}
LATENCIES = {
    "latency mean": "mean",
    "latency median": "p50",
    "latency 95th percentile": "p95",
    "latency 99th percentile": "p99",
    "latency 99.9th percentile": "p999",
}
OTHER = {
    "interval_key_rate": ("key_rate_per_s", "/s"),
    "partition rate": ("partition_rate_per_s", "/s"),
    "row rate": ("row_rate_per_s", "/s"),
    "latency max": ("latency_max_ms", "ms"),
    "total partitions": ("partitions", ""),
    "total errors": ("errors", ""),
    "total gc count": ("gc_count", ""),
    "total gc time": ("gc_time_s", "s"),
    "avg gc time": ("gc_time_mean_ms", "ms"),
    "stddev gc time": ("gc_time_deviation_ms", "ms"),
}
DURATION = "total operation time"


def recognises(lines: Sequence[Line]) -> bool:
    """Whether a summary starts anywhere and a rate follows."""
    starts = [index for index, line in enumerate(lines) if _START.match(line.text)]
    return any(_key(line) in RATES for start in starts for line in lines[start + 1 : start + 6])


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return the runs of a text, and the lines that hold figures and were not understood."""
    return _SummaryReader(file, _convention(lines)).read(lines)


def _convention(lines: Sequence[Line]) -> Convention:
    entries = (_ENTRY.match(line.text) for line in lines if _key(line) in RATES | LATENCIES.keys() | OTHER.keys())
    return convention_of(token for entry in entries if entry for token in re.findall(TOKEN, entry[2]))


def _key(line: Line) -> str:
    found = _ENTRY.match(line.text)
    return " ".join(found[1].lower().split()) if found else ""


class _SummaryReader:
    """Walks through the lines of one file."""

    def __init__(self, file: str, convention: Convention) -> None:
        self.file, self.convention = file, convention
        self.run: RunRecorder | None = None
        self.command: Line | None = None
        self.threads: tuple[Line, str] | None = None
        self.heading: Line | None = None
        self.runs: list[Measurement] = []
        self.unread: list[Unread] = []

    def read(self, lines: Sequence[Line]) -> Reading:
        for line in lines:
            self._line(line)
        self._finish()
        self._give_up_heading()
        return Reading(NAME, tuple(self.runs), tuple(self.unread))

    def _line(self, line: Line) -> None:
        start = _START.match(line.text)
        if start:
            self._finish()
            self._start(averages=bool(start[1]))
        elif COMMAND.search(line.text):
            self._finish()
            self.command, self.threads = line, None
        elif found := _THREADS.search(line.text):
            self._finish()
            self.threads = (line, found[1])
        elif self.run is not None and line.text != "END":
            self._entry(self.run, line)
        elif line.text != "END":
            self._give_up_heading()
            self._outside(line)

    def _outside(self, line: Line) -> None:
        if re.search(r"\w", line.text):
            self.heading = line
        else:
            self.unread.append(Unread(line, "outside of a summary"))

    def _give_up_heading(self) -> None:
        """Only the last line before a summary is its title; the others were not read."""
        if self.heading:
            self.unread.append(Unread(self.heading, "outside of a summary"))
            self.heading = None

    def _start(self, averages: bool) -> None:
        statistic = LatencyStatistic.OVER_INTERVAL_PERCENTILES if averages else LatencyStatistic.OVER_REQUESTS
        self.run = RunRecorder(self.file, "cassandra-stress", LatencyKind.SERVICE, statistic)
        if self.heading:
            self.run.title = self.heading.text
            self.heading = None
        if self.command:
            note_options(self.run, self.command)
        if self.threads:
            self.run.fact("client.facts.in_flight", int(self.threads[1]), *self.threads)

    def _finish(self) -> None:
        if self.run is not None and self.run.value("throughput_per_s") is not None:
            self.runs.append(self.run.finish(f"run-{len(self.runs) + 1}"))
        self.run = None

    def _entry(self, run: RunRecorder, line: Line) -> None:
        entry, key = _ENTRY.match(line.text), _key(line)
        if entry is None or key not in RATES | LATENCIES.keys() | OTHER.keys() | {DURATION}:
            self.unread.append(Unread(line, "no entry of a summary that is known"))
            if line.text.startswith("```"):
                self._finish()
        elif key == DURATION:
            self._duration(run, line, entry[2])
            self._finish()
        else:
            self._figures(run, line, key, entry[2])

    def _duration(self, run: RunRecorder, line: Line, text: str) -> None:
        parts = re.fullmatch(r"(\d+):(\d\d):(\d\d)", text.strip())
        seconds = (
            sum(int(part) * unit for part, unit in zip(parts.groups(), (3600, 60, 1), strict=True)) if parts else 0
        )
        if seconds:
            run.fact("duration_s", seconds, line, text, "h:m:s")
        else:
            self.unread.append(Unread(line, "no duration of a second or more"))

    def _figures(self, run: RunRecorder, line: Line, key: str, text: str) -> None:
        if not line.finished:
            self.unread.append(Unread(line, "the file ends within this line"))
            return
        for operation, token in _tokens(text):
            value = parse_number(token, self.convention)
            if value is not None and value >= 0:
                self._figure(run, line, key, operation, value, token)
            elif token.lower() == "nan":
                run.missing(key, line, token)
            else:
                self.unread.append(Unread(line, f"{token!r} can be read two ways, or is no number"))

    def _figure(self, run: RunRecorder, line: Line, key: str, operation: str, value: float, token: str) -> None:
        repaired = "decimal comma or grouping" if "," in token else ""
        if key in RATES:
            path = "throughput_per_s" if operation == ALL else f"operations.{operation}.throughput_per_s"
            run.quantity(path, value, line, token, "/s", repaired)
        elif key in LATENCIES:
            run.quantity(f"operations.{operation}.latency_s.{LATENCIES[key]}", value / 1e3, line, token, "ms", repaired)
        else:
            name, unit = OTHER[key]
            suffix = "" if operation == ALL else f"_{operation}"
            run.fact(f"client.facts.{name}{suffix}", value, line, token, unit, repaired)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield operation and number: the one of all, then those in brackets."""
    whole, _, bracket = text.partition("[")
    found = re.match(rf"\s*({TOKEN})", whole)
    if found:
        yield ALL, found[1]
    for name, token in _BRACKET.findall(bracket):
        yield operation_name(name), token.rstrip(",")
