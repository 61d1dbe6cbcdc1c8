"""Service demands: the parameters a profile holds, and the demand table that request graphs refer to.

A CPU demand is per operation + per column + per KiB, separately for coordinator work, replica work and messages.
Wake-up parameters are shared by the requests present (service = base + wake_up / present), as measured on real
nodes: one node needs 28 + 225 / N µs of CPU per read with N in flight (one 5.0.6 node, 4 to 64 in flight).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .network import CONSTANT, Demands


@dataclass(frozen=True)
class Parameter:
    """What a parameter of a profile means."""

    unit: str
    meaning: str
    required: bool = False


PARAMETERS: dict[str, Parameter] = {
    "coordinator_read_s": Parameter("s", "CPU of a read at its coordinator: protocol, planning, answer", True),
    "coordinator_write_s": Parameter("s", "CPU of a write at its coordinator", True),
    "coordinator_column_s": Parameter("s", "CPU of one column more at the coordinator"),
    "coordinator_kib_s": Parameter("s", "CPU of one KiB of payload at the coordinator"),
    "replica_read_s": Parameter("s", "CPU of a read at a replica, row in memory", True),
    "replica_write_s": Parameter("s", "CPU of a write at a replica", True),
    "replica_absent_s": Parameter("s", "CPU of a read of an absent key at a replica; replica_read_s when not given"),
    "replica_read_column_s": Parameter("s", "CPU of one column more in a replica's read"),
    "replica_write_column_s": Parameter("s", "CPU of one column more in a replica's write"),
    "replica_read_kib_s": Parameter("s", "CPU of one KiB in a replica's read"),
    "replica_write_kib_s": Parameter("s", "CPU of one KiB in a replica's write"),
    "message_send_s": Parameter("s", "CPU of sending one message to another node", True),
    "message_receive_s": Parameter("s", "CPU of receiving one message from another node", True),
    "message_kib_s": Parameter("s", "CPU of one KiB in a message, at each end"),
    "block_and_wake_s": Parameter("s", "CPU of an answer that had to wait for another node"),
    "coordinator_wake_up_s": Parameter("s", "CPU of a wake-up at the coordinator, shared by the requests present"),
    "message_wake_up_s": Parameter("s", "CPU of a wake-up for a message, shared by the requests present"),
    "block_wake_up_s": Parameter("s", "CPU of waking a waiting answer, shared by the requests present"),
    "idle_cores": Parameter("1", "cores that idle workers use until real work displaces them"),
    "sharing_ratio": Parameter("1", "rise of demand while another node on the same cores has work"),
    "contention_ratio": Parameter("1", "rise of demand per request and core beyond the knee"),
    "contention_knee": Parameter("1", "requests per core up to which demand does not rise"),
    "service_variation": Parameter("1", "coefficient of variation of a CPU service; 1 when not given"),
    "hop_ratio": Parameter("1", "message delays relative to the scenario's; 1 when not given"),
}
"""Parameters of a profile by name; those not required are 0 when a profile lacks them."""

DEFAULTS = {name: 0.0 for name, parameter in PARAMETERS.items() if not parameter.required} | {
    "service_variation": 1.0,
    "hop_ratio": 1.0,
}


def complete(values: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all parameters, those that a profile lacks by their rule."""
    filled = {**DEFAULTS, **values}
    if "replica_absent_s" not in values:
        filled["replica_absent_s"] = filled["replica_read_s"]
    return filled


class DemandRecorder:
    """Collects demand rows, equal ones once, and gives the table."""

    def __init__(self) -> None:
        self._rows: dict[tuple[object, ...], int] = {}
        self._names = [CONSTANT, *(name for name in PARAMETERS if name.endswith("_s"))]

    def row(
        self, base: Mapping[str, float], wake_up: Mapping[str, float] | None = None, variation: float = 0.0
    ) -> int:
        """Return the row of a demand: coefficients by parameter for both parts, and the variation."""
        key = (_sorted(base), _sorted(wake_up or {}), variation)
        return self._rows.setdefault(key, len(self._rows))

    def constant(self, amount: float, variation: float = 0.0) -> int:
        """Return the row of a demand known from the scenario, in its resource's own unit."""
        return self.row({CONSTANT: amount}, variation=variation)

    def finish(self) -> Demands:
        """Return the table."""
        base = np.zeros((len(self._rows), len(self._names)))
        wake_up = np.zeros_like(base)
        variation = np.zeros(len(self._rows))
        for (base_items, wake_items, spread), index in self._rows.items():
            variation[index] = spread  # type: ignore[call-overload]
            for matrix, items in ((base, base_items), (wake_up, wake_items)):
                for name, coefficient in items:  # type: ignore[attr-defined]
                    matrix[index, self._names.index(name)] = coefficient
        return Demands(tuple(self._names), base, wake_up, variation)


def _sorted(coefficients: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((name, float(value)) for name, value in coefficients.items() if value))


def add(*terms: Mapping[str, float]) -> dict[str, float]:
    """Return the sum of coefficient maps.

    >>> add({"a": 1}, {"a": 2, "b": 1})
    {'a': 3, 'b': 1}
    """
    total: dict[str, float] = {}
    for term in terms:
        for name, value in term.items():
            total[name] = total.get(name, 0) + value
    return total


def times(factor: float, term: Mapping[str, float]) -> dict[str, float]:
    """Return a coefficient map multiplied by a factor."""
    return {name: factor * value for name, value in term.items()}
