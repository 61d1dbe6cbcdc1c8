"""One real node under a CPU quota: two numbers from two concurrencies say what happens at the others.

Rows: lab-one-node.csv (Cassandra 5.0.6, one node, 0.4 core as 2 of each 5 ms, 4 to 64 in flight, read and write).
The study reports D = a + b / N for the CPU of an operation with N in flight. Here a and b are the demand of an
operation and of a wake-up shared by the requests that the simulation finds at the CPU, fitted by the simulation at 4
and 64 in flight; client CPU is that of the cell. Between repeats throughput differs by up to 7 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from capmodel.calibrate.lab_study import LabCell, compiled, lab_scenario, read_lab_cells
from capmodel.model.demands import complete
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.run import Budget, Simulated, simulate

CELLS = read_lab_cells(Path(__file__).parent / "lab-one-node.csv")
OPERATIONS = ("read", "write")
LEAST, MOST = 4, 64
FIRST_GUESS_S = (28e-6, 150e-6)
STEPS = 3
FITTED, JUDGED = 6000, 8000
"""Requests simulated in a step of the fit, and in a check."""
TOLERANCE = 0.10
FAST_MODE_S, SLOW_MODE_S = 1.5e-3, 3e-3
"""An answer comes within the 2 ms in which the node runs, or after the 3 ms in which it stands still."""


def cells_of(operation: str, in_flight: int) -> list[LabCell]:
    return [cell for cell in CELLS if (cell.operation, cell.in_flight) == (operation, in_flight)]


def measured_per_s(operation: str, in_flight: int) -> float:
    return float(np.median([cell.throughput_per_s for cell in cells_of(operation, in_flight)]))


def scenario_of(operation: str, in_flight: int) -> Scenario:
    cells = cells_of(operation, in_flight)
    return lab_scenario(cells[0], float(np.median([cell.client_cpu_s for cell in cells])))


def demands(operation_s: float, wake_up_s: float) -> dict[str, float]:
    half_s = operation_s / 2
    return complete({
        "coordinator_read_s": half_s,
        "coordinator_write_s": half_s,
        "replica_read_s": half_s,
        "replica_write_s": half_s,
        "message_send_s": 0.0,
        "message_receive_s": 0.0,
        "coordinator_wake_up_s": wake_up_s,
        "service_variation": 0.5,
    })


def run(scenario: Scenario, values: dict[str, float], requests: int) -> Simulated:
    return simulate(compiled(scenario, values), values, 1, Budget(requests=requests))


@cache
def simulated(operation: str, in_flight: int, a_s: float, b_s: float, requests: int = JUDGED) -> Simulated:
    return run(scenario_of(operation, in_flight), demands(a_s, b_s), requests)


def errors(
    operation: str, concurrencies: Sequence[int], a_b_s: tuple[float, float], requests: int = JUDGED
) -> np.ndarray:
    """Return the logarithm of simulated over measured throughput."""
    found = [simulated(operation, n, *a_b_s, requests).throughput_per_s.value for n in concurrencies]
    return np.log(np.array(found) / [measured_per_s(operation, n) for n in concurrencies])


@cache
def fitted(operation: str, concurrencies: tuple[int, int]) -> tuple[float, float]:
    """Return a and b that reproduce two concurrencies: Newton's method with the derivatives of a + b / N."""
    a_s, b_s = FIRST_GUESS_S
    for _ in range(STEPS):
        parts = np.array([[a_s, b_s / n] for n in concurrencies])
        jacobian = -parts / parts.sum(axis=1, keepdims=True)
        step = -np.linalg.solve(jacobian, errors(operation, concurrencies, (a_s, b_s), FITTED))
        a_s, b_s = float(a_s * np.exp(step[0])), float(b_s * np.exp(step[1]))
    return a_s, b_s


@pytest.mark.parametrize("operation", OPERATIONS)
def test_two_concurrencies_determine_a_and_b(operation: str) -> None:
    a_s, b_s = fitted(operation, (LEAST, MOST))
    assert np.abs(errors(operation, (LEAST, MOST), (a_s, b_s))).max() < 0.03
    # What the study found with N for the number present, which is larger than the number at the CPU.
    study_s = {"read": (28e-6, 225e-6), "write": (25.5e-6, 166e-6)}[operation]
    assert abs(a_s / study_s[0] - 1) < 0.1
    assert 0.5 < b_s / study_s[1] < 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_other_concurrencies_come_out_within_ten_percent(operation: str) -> None:
    found = errors(operation, (16, 32), fitted(operation, (LEAST, MOST)))
    assert np.abs(found).max() < TOLERANCE


@pytest.mark.parametrize("operation", OPERATIONS)
def test_extrapolation_upwards_comes_out_within_ten_percent(operation: str) -> None:
    found = errors(operation, (16, 64), fitted(operation, (LEAST, 32)))
    assert np.abs(found).max() < TOLERANCE


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_constant_demand_misses_them(operation: str) -> None:
    """Negative control: without wake-up sharing the best constant through both ends is off by more."""
    rates = [measured_per_s(operation, n) for n in (LEAST, MOST)]
    constant_s = 0.4 / float(np.exp(np.mean(np.log(rates))))
    assert np.abs(errors(operation, (16, 32), (constant_s, 0.0))).min() > TOLERANCE


def mode(p50_s: float) -> str | None:
    """Return in which of the quota's two modes a median lies, if in one."""
    return "fast" if p50_s < FAST_MODE_S else "slow" if p50_s > SLOW_MODE_S else None


def measured_mode(operation: str, in_flight: int) -> str | None:
    """Return the mode in which all repeats of a cell agree."""
    modes = {mode(cell.p50_s) for cell in cells_of(operation, in_flight)}
    return modes.pop() if len(modes) == 1 else None


UNAMBIGUOUS = [
    (operation, n) for operation in OPERATIONS for n in (4, 16, 32, 64) if measured_mode(operation, n) is not None
]


def test_both_modes_are_measured() -> None:
    assert {measured_mode(*cell) for cell in UNAMBIGUOUS} == {"fast", "slow"}
    assert ("write", 32) not in UNAMBIGUOUS  # its repeats are 1.0 to 1.4 ms and 3.5 to 3.7 ms


@pytest.mark.parametrize(("operation", "in_flight"), UNAMBIGUOUS)
def test_the_median_lies_in_the_quotas_measured_mode(operation: str, in_flight: int) -> None:
    found = simulated(operation, in_flight, *fitted(operation, (LEAST, MOST))).latency_s[operation]["p50"].value
    assert mode(found) == measured_mode(operation, in_flight)


@pytest.mark.parametrize("in_flight", [16, 32])
def test_a_slow_core_instead_of_a_quota_has_no_modes(in_flight: int) -> None:
    """Negative control: a core of 0.4 times the speed gives about the same rate and a median between the modes."""
    scenario = scenario_of("read", in_flight)
    slow = scenario.hardware.model_copy(update={"cpu_quota": None, "speed": 0.4})
    values = demands(*fitted("read", (LEAST, MOST)))
    found = run(scenario.model_copy(update={"hardware": slow}), values, JUDGED)
    assert abs(found.throughput_per_s.value / measured_per_s("read", in_flight) - 1) < 2 * TOLERANCE
    assert mode(found.latency_s["read"]["p50"].value) is None
