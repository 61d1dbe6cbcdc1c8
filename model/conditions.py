"""The conditions under which a calibration holds, as numbers of a scenario, and where a scenario leaves them."""

from __future__ import annotations

import math
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

EXTRAPOLATION = 0.5
"""Standard deviation of the logarithm of a rate for each e-fold beyond the numbers in flight that were measured, when
only one was. Source: published-runs.csv, C26: fitted at one thread, ten threads bring 1.7 and 5.6 times what is
predicted, sqrt((0.55^2 + 1.72^2) / 2) / ln 10 = 0.55; lab-fidelity.md, section 6: fitted at 4 and 32, 64 in flight are
12 % off in the median, 29 % at most in nine of ten, which the range that was measured makes 0.11 for ln 2."""


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
    for key, low, high in _ranges(calibration):
        actual = conditions.get(key)
        if actual is not None and not low <= actual <= high:
            span = f"{low:g} to {high:g}" if low < high else f"{low:g}"
            yield f"{actual:g} {WORDS.get(key, key)}, while it was fitted at {span}"


def _ranges(calibration: Calibration) -> list[tuple[str, float, float]]:
    found = {
        (key, low, high)
        for parameter in calibration.parameters.values()
        if not isinstance(parameter.valid, str)
        for key, (low, high) in parameter.valid.items()
    }
    return sorted(found)


def extrapolation(calibration: Calibration, scenario: Scenario) -> float:
    """Return the standard deviation that a rate's logarithm gets from leaving the measured numbers in flight.

    How the cost of an operation falls with the requests present is known the better, the wider the range was.
    """
    actual = conditions_of(scenario).get("in_flight_per_node")
    found = [(low, high) for key, low, high in _ranges(calibration) if key == "in_flight_per_node" and low > 0]
    if actual is None or not found:
        return 0.0
    low, high = max(low for low, _ in found), min(high for _, high in found)
    beyond = max(0.0, math.log(actual / high), math.log(low / actual))
    return EXTRAPOLATION * beyond / (1 + math.log(max(high / low, 1.0)))
