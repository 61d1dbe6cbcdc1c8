"""Reports of Latte as JSON: `latte run` writes one for each run.

Latencies are in ms. Up to 0.28 throughput and latency of calls stand under `cycle_…` of `result`, with standard
errors that allow for autocorrelation; a cycle is one call of the workload's function.
Source: latte-cli 0.29, structures Report and BenchmarkStats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...model.estimate import Z
from ...model.measurement import ALL, Measurement
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading
from .run_recorder import RunRecorder

NAME = "Latte report"
PERCENTILES = {50.0: "p50", 95.0: "p95", 99.0: "p99", 99.9: "p999"}
CONSISTENCY = {"LocalQuorum": "LOCAL_QUORUM", "LocalOne": "LOCAL_ONE", "EachQuorum": "EACH_QUORUM"}

Tree = Mapping[str, Any]


def recognises(lines: Sequence[Line]) -> bool:
    """Whether a text begins as such a report does."""
    start = " ".join(line.text for line in lines[:3])
    return start.startswith("{") and '"conf"' in start and _report(lines) is not None


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return the run of a report."""
    report = _report(lines) or {}
    conf, result = report["conf"], report["result"]
    run = RunRecorder(file, "Latte", LatencyKind.SERVICE, LatencyStatistic.OVER_REQUESTS)
    place = _Places(lines)
    _rate(run, result, place)
    _latencies(run, report, place)
    run.fact("duration_s", float(result["elapsed_time_s"]), place("elapsed_time_s"), str(result["elapsed_time_s"]), "s")
    run.fact("client.cpu_s", float(result["cpu_time_s"]), place("cpu_time_s"), str(result["cpu_time_s"]), "s")
    if conf.get("concurrency"):
        threads = int(conf["concurrency"]) * int(conf.get("threads") or 1)
        run.fact("client.facts.in_flight", threads, place("concurrency"), str(conf["concurrency"]))
    level = str((conf.get("connection") or {}).get("consistency") or "")
    if level:
        run.fact("client.facts.consistency", CONSISTENCY.get(level, level.upper()), place("consistency"), level)
    if conf.get("cass_version"):
        run.fact("cluster.version", str(conf["cass_version"]), place("cass_version"), str(conf["cass_version"]))
    if result.get("error_count"):
        run.fact(f"error_counts.{ALL}", int(result["error_count"]), place("error_count"), str(result["error_count"]))
    return Reading(NAME, (_with_intervals(run.finish("run-1"), result),), ())


class _Places:
    """Finds the line on which a key stands first; a report on one line has one place."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def __call__(self, key: str) -> Line:
        return next((line for line in self._lines if f'"{key}"' in line.text), self._lines[0])


def _report(lines: Sequence[Line]) -> Tree | None:
    """Return the report of a text; None where it is none, or broken off."""
    try:
        found = json.loads("\n".join(line.text for line in lines))
    except json.JSONDecodeError:
        return None
    whole = isinstance(found, dict) and isinstance(found.get("conf"), dict) and isinstance(found.get("result"), dict)
    return found if whole and {"elapsed_time_s", "cpu_time_s", "cycle_throughput"} <= set(found["result"]) else None


def _rate(run: RunRecorder, result: Tree, place: _Places) -> None:
    rate = float(result["cycle_throughput"]["value"])
    run.quantity("throughput_per_s", rate, place("cycle_throughput"), f"{rate}", "/s")


def _latencies(run: RunRecorder, report: Tree, place: _Places) -> None:
    latency = report["result"].get("cycle_latency") or {}
    line = place("cycle_latency")
    if latency.get("mean"):
        mean = float(latency["mean"]["value"])
        run.quantity(f"operations.{ALL}.latency_s.mean", mean / 1e3, line, f"{mean}", "ms")
    shares = [round(float(share), 3) for share in report.get("percentiles") or ()]
    for share, found in zip(shares, latency.get("percentiles") or (), strict=False):
        if share in PERCENTILES:
            value = float(found["value"])
            run.quantity(f"operations.{ALL}.latency_s.{PERCENTILES[share]}", value / 1e3, line, f"{value}", "ms")


def _with_intervals(measurement: Measurement, result: Tree) -> Measurement:
    """Return a measurement whose rate has the interval that Latte's standard error gives."""
    error, rate = result["cycle_throughput"].get("std_err"), measurement.throughput_per_s
    if error is None or rate is None or rate.value is None:
        return measurement
    low, high = rate.value - Z * float(error), rate.value + Z * float(error)
    return measurement.model_copy(
        update={"throughput_per_s": rate.model_copy(update={"low": low, "high": high, "reason": None})}
    )
