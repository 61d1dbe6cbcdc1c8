"""Runs from measurement files."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.errors import MeasurementError, Problem
from ..model.measured_metrics import metrics_of
from ..model.measurement import Measurement
from ..model.metrics import Metrics
from .run import Run, quantity


def run_of(measurement: Measurement, source: str = "") -> Run:
    """Return the run of a measurement.

    Raises:
        MeasurementError: it does not say what was measured, or how fast.
    """
    scenario = measurement.scenario
    if scenario is None:
        raise MeasurementError([Problem("scenario", None, "the scenario that was measured", source or None)])
    metrics = metrics_of(measurement)
    if metrics.throughput_per_s.value is None:
        right = f"a rate ({metrics.throughput_per_s.reason})"
        raise MeasurementError([Problem("throughput_per_s", None, right, source or None)])
    named = metrics.model_copy(update={"utilisation": _by_position(measurement, metrics)})
    cost = _cpu_s_per_operation(measurement, metrics.throughput_per_s.value)
    return Run(
        measurement.name,
        scenario,
        named,
        None if cost is None else quantity(cost),
        sources=(source or measurement.name,),
        facts=_facts(measurement),
    )


def _by_position(measurement: Measurement, metrics: Metrics) -> dict[str, float]:
    """Return utilisation under the names that a prediction gives its stations: nodes counted from 1."""
    renamed = {f"CPU of {node.name}": f"CPU of node {i}" for i, node in enumerate(measurement.nodes, 1)}
    return {renamed.get(name, name): used for name, used in metrics.utilisation.items()}


def _cpu_s_per_operation(measurement: Measurement, rate_per_s: float) -> float | None:
    """Return the CPU time of all nodes per operation, where every node's is known."""
    used = [node.cpu_s for node in measurement.nodes if node.cpu_s is not None]
    scenario, duration_s = measurement.scenario, measurement.duration_s
    if scenario is None or duration_s is None or len(used) < scenario.cluster.node_count:
        return None
    total = sum(used) / (rate_per_s * duration_s)
    return total if total > 0 else None


def _facts(measurement: Measurement) -> dict[str, str]:
    facts = {"version": measurement.cluster.version if measurement.cluster else ""}
    if measurement.nodes:
        shared = {str(node.nodes_on_cores) for node in measurement.nodes if node.nodes_on_cores is not None}
        facts["nodes on the same cores"] = ", ".join(sorted(shared))
    if measurement.cluster is not None:
        facts |= {name: str(measurement.cluster.facts.get(name, "")) for name in ("machine", "start")}
    return {name: fact for name, fact in facts.items() if fact}


def mixed_facts(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return, in words, what differs between runs that should be of one kind: version, machine, speed of a core."""
    seen: dict[str, set[str]] = {}
    for run in runs:
        facts = {**run.facts, "version": run.facts.get("version") or run.scenario.cluster.version}
        facts["cores"] = f"{run.scenario.hardware.cores}"
        for name, fact in facts.items():
            if name not in ("start", "case"):
                seen.setdefault(name, set()).add(fact)
    return tuple(
        f"the runs differ in {name}: {', '.join(sorted(found))}" for name, found in seen.items() if len(found) > 1
    )
