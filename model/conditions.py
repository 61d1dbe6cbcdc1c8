"""The conditions under which a calibration holds, as numbers of a scenario, and where a scenario leaves them."""

from __future__ import annotations

from collections.abc import Iterator

from .calibration import Calibration
from .scenario import Scenario, resolved_in_flight

WORDS = {
    "nodes": "nodes",
    "replication_factor": "RF",
    "in_flight_per_node": "requests in flight a node",
    "row_bytes": "bytes a row",
}
"""Keys in which a calibration states its range, with their words."""


def conditions_of(scenario: Scenario) -> dict[str, float]:
    """Return a scenario's numbers by the keys in which a calibration states its range."""
    nodes = scenario.cluster.node_count
    factor = scenario.cluster.replication.factor
    in_flight = resolved_in_flight(scenario)
    found = {
        "nodes": float(nodes),
        "replication_factor": float(factor if isinstance(factor, int) else sum(factor.values())),
        "row_bytes": float(scenario.workload.row_bytes),
    }
    return found if in_flight is None else {**found, "in_flight_per_node": in_flight / nodes}


def outside_words(calibration: Calibration, scenario: Scenario) -> Iterator[str]:
    """Yield, once for each range, where a scenario lies outside what the calibration was made from."""
    conditions = conditions_of(scenario)
    ranges = {
        (key, low, high)
        for parameter in calibration.parameters.values()
        if not isinstance(parameter.valid, str)
        for key, (low, high) in parameter.valid.items()
    }
    for key, low, high in sorted(ranges):
        actual = conditions.get(key)
        if actual is not None and not low <= actual <= high:
            span = f"{low:g} to {high:g}" if low < high else f"{low:g}"
            yield f"{actual:g} {WORDS.get(key, key)}, while it was fitted at {span}"
