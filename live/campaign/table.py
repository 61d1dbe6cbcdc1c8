"""Measurements of a lab as rows of a table, small enough to keep: what `calibrate` reads as a table of lab cells."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...model.lab_scenario import MIXES, ROUTINGS
from ...model.measured_metrics import metrics_of
from ...model.measurement import ClusterFacts, Measurement
from ...model.scenario import Scenario

COLUMNS = (
    *("layout", "start", "nodes", "rf", "op", "cl", "routing", "through", "inflight", "ops_s"),
    *("mean_ms", "p50_ms", "p95_ms", "p99_ms", "errors", "cpu_us_op_total", "node_cores", "throttled"),
    *("client_cpu_us", "cap_cores", "period_ms", "host_idle", "messages_per_op", "twins_s", "reference_s"),
    *("verdict", "window_s"),
)


def write_table(measurements: Iterable[Measurement], path: Path) -> None:
    """Write a row of each measurement, sorted by what was measured."""
    rows = sorted((row_of(one) for one in measurements), key=lambda row: [str(row[name]) for name in COLUMNS[:9]])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def row_of(measurement: Measurement) -> dict[str, object]:
    """Return the row of a measurement of a lab's cell.

    Raises:
        ValueError: a measurement of something else.
    """
    scenario, cluster, client = measurement.scenario, measurement.cluster, measurement.client
    if scenario is None or cluster is None or client is None or not measurement.duration_s:
        raise ValueError(f"{measurement.name}: no measurement of a lab's cell")
    rate = metrics_of(measurement).throughput_per_s.value or 0.0
    used_s = [node.cpu_s or 0.0 for node in measurement.nodes]
    length_s = measurement.duration_s
    throttled = [node.throttled_s / length_s for node in measurement.nodes if node.throttled_s is not None]
    twins = [fact for name, fact in cluster.facts.items() if name.startswith("twin")]
    return {
        **_asked(scenario),
        **_latency_ms(measurement),
        "layout": scenario.cluster.node_count,
        "start": cluster.facts.get("start", ""),
        "ops_s": _short(rate),
        "errors": sum(one.count for one in measurement.errors),
        "cpu_us_op_total": _short(1e6 * sum(used_s) / (rate * length_s)) if rate else "",
        "node_cores": _short(sum(used_s) / len(used_s) / length_s) if used_s else "",
        "throttled": _short(sum(throttled) / len(throttled)) if throttled else "",
        "client_cpu_us": _short(1e6 * (client.cpu_s or 0.0) / (rate * length_s)) if rate else "",
        "host_idle": _short(_number(client.facts.get("host_idle_ratio"))),
        "messages_per_op": _short(_messages(cluster)),
        "twins_s": " ".join(str(_short(_number(rate))) for rate in twins),
        "reference_s": " ".join(str(_short(rate)) for rate in cluster.reference_per_s),
        "verdict": measurement.verdict.kind,
        "window_s": _short(length_s),
    }


def _asked(scenario: Scenario) -> dict[str, object]:
    """Return the columns that say what was measured."""
    clients, operations, quota = scenario.clients, scenario.workload.operations, scenario.hardware.cpu_quota
    mixes = [short for short, mix in MIXES.items() if set(mix) == set(operations)]
    routings = [short for short, name in ROUTINGS.items() if name == clients.routing.value]
    levels = {one.consistency.value for one in operations.values()}
    if not mixes or not routings or len(levels) != 1 or quota is None:
        raise ValueError(f"{scenario.name}: no cell of a lab")
    return {
        "nodes": scenario.cluster.node_count,
        "rf": scenario.cluster.replication.factor,
        "op": mixes[0],
        "cl": levels.pop(),
        "routing": routings[0],
        "through": len(clients.coordinators) or "",
        "inflight": clients.in_flight,
        "cap_cores": quota.cores,
        "period_ms": 1e3 * quota.period,
    }


def _latency_ms(measurement: Measurement) -> Mapping[str, object]:
    """Return the latencies of a measurement of one operation."""
    latencies = list(metrics_of(measurement).latency_s.values())
    if len(latencies) != 1:
        return {}
    figures = {f"{name}_ms": getattr(latencies[0], name).value for name in ("mean", "p50", "p95", "p99")}
    return {name: _short(1e3 * value) for name, value in figures.items() if value is not None}


def _messages(cluster: ClusterFacts) -> float | None:
    """Return the messages between nodes for each of the requests that were answered while they were counted."""
    requests = _number(cluster.facts.get("counters_requests"))
    return sum(sum(sent.values()) for sent in cluster.messages.values()) / requests if requests else None


def _number(fact: object) -> float | None:
    return float(fact) if isinstance(fact, int | float) else None


def _short(value: float | None) -> str:
    """Return a number at four digits."""
    return "" if value is None else f"{value:.4g}"
