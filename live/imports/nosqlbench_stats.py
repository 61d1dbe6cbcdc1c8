"""The interval statistics of NoSQLBench and engineblock (`--log-histostats`): one row an interval and metric.

Percentiles of intervals do not add up to percentiles of the run, so they are kept as medians over the intervals and
marked so. Early versions asked their histogram for the 0.25th percentile where they wrote `p25` (and so on to
`p9999`): where the columns from p25 to p9999 never differ while the maximum does, they are not read.

Source: HistoStatsCSVWriter of nosqlbench, `--log-histostats` in its documentation.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...model.measurement import Measurement
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name
from .written_numbers import Convention, parse_number

NAME = "NoSQLBench interval statistics"
LEGEND = "#Tag,Interval_Start,Interval_Length,count,min,p25,p50,p75,p90,p95,p98,p99,p999,p9999,max"
COLUMNS = tuple(LEGEND.removeprefix("#Tag,").split(","))
_UNIT = re.compile(r"#\[TimeUnit: (\w+)\]")
PER_S = {"NANOSECONDS": 1e9, "MICROSECONDS": 1e6, "MILLISECONDS": 1e3}
KEPT = ("p50", "p95", "p99", "p999")


@dataclass
class _Metric:
    """The intervals of one tag."""

    first: Line
    rows: list[dict[str, float]] = field(default_factory=list)

    @property
    def count(self) -> int:
        return int(sum(row["count"] for row in self.rows))

    @property
    def span_s(self) -> float:
        """Time from the first interval's start to the last one's end."""
        ends = [row["Interval_Start"] + row["Interval_Length"] for row in self.rows]
        return max(ends) - min(row["Interval_Start"] for row in self.rows)

    @property
    def percentiles_are_wrong(self) -> bool:
        """Whether all percentiles are alike although the largest value lies above them."""
        told = [row for row in self.rows if row["count"] > 1]
        return bool(told) and all(row["p50"] == row["p9999"] < row["max"] for row in told)


def recognises(lines: Sequence[Line]) -> bool:
    """Whether the legend stands in the first lines."""
    return any(line.text == LEGEND for line in lines[:20])


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return the run of a file, an operation for each metric that counts requests."""
    metrics: dict[str, _Metric] = {}
    unread = []
    per_s = next((PER_S.get(found[1]) for line in lines[:20] if (found := _UNIT.match(line.text))), None)
    for line in lines:
        if line.text.startswith("#"):
            continue
        row = _row(line)
        if isinstance(row, str):
            unread.append(Unread(line, row))
            continue
        metrics.setdefault(line.text.split(",", 1)[0].removeprefix("Tag="), _Metric(line)).rows.append(row)
    counted = {name: metric for name, metric in metrics.items() if metric.count and metric.span_s > 0}
    return Reading(NAME, (_run(counted, per_s, file),) if counted else (), tuple(unread))


def _row(line: Line) -> dict[str, float] | str:
    """Return the numbers of a row, or what is wrong with it."""
    tag, *cells = line.text.split(",")
    if not line.finished:
        return "the file ends within this line"
    if not tag.startswith("Tag=") or len(cells) != len(COLUMNS):
        return f"no row of {len(COLUMNS)} numbers after a tag"
    numbers = [parse_number(cell, Convention.POINT) for cell in cells]
    if any(number is None or number < 0 for number in numbers):
        return "a cell that is no number"
    return {name: float(number or 0.0) for name, number in zip(COLUMNS, numbers, strict=True)}


def _run(metrics: dict[str, _Metric], per_s: float | None, file: str) -> Measurement:
    run = RunRecorder(file, "NoSQLBench", LatencyKind.UNKNOWN, LatencyStatistic.OVER_INTERVAL_MEANS)
    chosen = max(metrics, key=lambda name: (_rank(name), metrics[name].count))
    main = metrics[chosen]
    how = f"counts of {chosen} added over {len(main.rows)} intervals"
    run.quantity("throughput_per_s", main.count / main.span_s, main.first, "", "/s", how)
    run.fact("duration_s", main.span_s, main.first, "", "s", "from the first interval's start to the last one's end")
    for name, metric in metrics.items():
        key = operation_name(name)
        run.fact(f"client.facts.{key}_count", metric.count, metric.first, "", "", "added over the intervals")
        if metric.percentiles_are_wrong:
            run.notes.append(f"{file}: percentiles of {name} are alike to p9999, as early versions had them; not read")
        elif per_s is None:
            run.notes.append(f"{file}: the unit of {name} is not stated; its latencies are not read")
        else:
            for kept in KEPT:
                value = statistics.median(row[kept] for row in metric.rows) / per_s
                run.fact(f"client.facts.{key}_{kept}_median_of_intervals_s", value, metric.first, "", "s")
    return run.finish("run-1")


def _rank(name: str) -> int:
    """Return how well a metric stands for the requests of a run."""
    last = name.rpartition(".")[2]
    return {"cycles_servicetime": 3, "cycles": 2, "result": 1, "result_success": 1}.get(last, 0)
