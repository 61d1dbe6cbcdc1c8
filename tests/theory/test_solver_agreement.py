"""Mean-value analysis and bounds against the simulation over random scenarios; the error per band of utilisation.

The suite runs a few dozen scenarios. Run by hand with a number of scenarios and of requests, the same code prints the
table of `docs/background/solvers.md` and the standard deviations that `MVA_ERROR` in `model/answer.py` states:
`python tests/theory/test_solver_agreement.py 400 40000`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from capmodel.model.answer import BUSY, MVA_ERROR
from capmodel.model.bounds import bounds, capacity_per_s
from capmodel.model.compile import compile_network, ring_of
from capmodel.model.demands import complete
from capmodel.model.ensemble import ensemble
from capmodel.model.mva import solve
from capmodel.model.network import Network
from capmodel.model.percentile import latency_s
from capmodel.model.placement import place
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.run import Budget, simulate
from capmodel.model.topology import nodes_of

SEED = 20_240_917
SCENARIOS, REQUESTS = 36, 4_000
STATISTICS = ("mean", "p50", "p95", "p99", "p999")
BANDS = ((0.0, 0.3), (0.3, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 2.0))
LEVELS = {1: ("ONE", "ALL"), 2: ("ONE", "QUORUM", "LOCAL_QUORUM"), 3: ("ONE", "TWO", "LOCAL_QUORUM", "ALL")}


@dataclass(frozen=True)
class Question:
    """A random scenario with random demands."""

    scenario: Scenario
    values: dict[str, float]
    network: Network


@dataclass(frozen=True)
class Comparison:
    """Logarithms of mean-value analysis over simulation, with the simulation's relative errors."""

    question: Question
    utilisation: float
    """Of the busiest station."""
    error: dict[str, float]
    sampling: dict[str, float]
    bound_ratio: float
    """Simulated throughput over the upper bound."""
    idle_error: float
    """As `error`, for the throughput of a model without any queueing."""
    backlog_ratio: float
    """Growth of the lines for permits per answer: work that nobody waits for piles up."""

    @property
    def is_steady(self) -> bool:
        """Whether the simulated state goes on as it is; mean-value analysis knows no other."""
        return self.backlog_ratio < 0.01

    @property
    def is_closed(self) -> bool:
        """Whether a number in flight is given."""
        return self.question.scenario.clients.rate is None

    @property
    def has_quota(self) -> bool:
        """Whether the nodes run under a CPU quota."""
        return self.question.scenario.hardware.cpu_quota is not None


def questions(count: int, seed: int = SEED) -> Iterator[Question]:
    """Yield random scenarios that can be carried."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield _question(rng)


def _question(rng: np.random.Generator) -> Question:
    values = _values(rng)
    nodes, factor = int(rng.integers(1, 13)), int(rng.integers(1, 4))
    factor = min(factor, nodes)
    document = {
        "cluster": {
            "nodes": nodes,
            "replication": {"factor": factor},
            "version": str(rng.choice(["2.1", "3.11", "4.1", "5.0"])),
            "table": {"speculative_retry": str(rng.choice(["NONE", "99p"]))},
        },
        "hardware": {"cores": int(rng.choice([2, 4, 8, 16])), **_quota(rng)},
        "workload": {"operations": _mix(rng, factor), "cache_hit": float(rng.choice([1.0, rng.uniform(0.3, 0.95)]))},
        "clients": {"in_flight": int(np.exp(rng.uniform(0.0, np.log(512)))), **_routing(rng)},
    }
    question = _compiled(document, values, rng)
    if rng.random() < 0.3:
        limit_per_s = float(capacity_per_s(ensemble(question.network, values))[0])
        del document["clients"]["in_flight"]
        document["clients"]["rate"] = limit_per_s * float(rng.uniform(0.1, 0.9))
        question = _compiled(document, values, rng)
    return question


def _compiled(document: dict, values: dict[str, float], rng: np.random.Generator) -> Question:
    scenario = Scenario.model_validate(document)
    nodes = nodes_of(scenario)
    placement = place(scenario, nodes, ring_of(scenario, nodes, rng), rng)
    return Question(scenario, values, compile_network(scenario, values, placement))


def _values(rng: np.random.Generator) -> dict[str, float]:
    required = ("coordinator_read_s", "coordinator_write_s", "replica_read_s", "replica_write_s")
    values = {name: float(rng.uniform(20e-6, 250e-6)) for name in required}
    values |= {name: float(rng.uniform(2e-6, 60e-6)) for name in ("message_send_s", "message_receive_s")}
    values["block_and_wake_s"] = float(rng.choice([0.0, rng.uniform(0, 100e-6)]))
    if rng.random() < 0.3:
        names = ("coordinator_wake_up_s", "message_wake_up_s", "block_wake_up_s")
        values |= {name: float(rng.uniform(0.0, 300e-6)) for name in names}
    values["service_variation"] = float(rng.choice([0.5, 1.0]))
    return complete(values)


def _quota(rng: np.random.Generator) -> dict:
    if rng.random() > 0.2:
        return {}
    cores = float(rng.choice([0.5, 1.0, 2.0]))
    period_s = float(rng.choice([0.005, 0.02, 0.1]))
    return {"cpu_quota": {"cores": cores, "period": period_s, "cpus": int(rng.choice([1, 2, 4])) + int(cores)}}


def _mix(rng: np.random.Generator, factor: int) -> dict:
    share = float(np.round(rng.uniform(0.1, 0.9), 2))
    return {
        "read": {"share": share, "consistency": str(rng.choice(LEVELS[factor]))},
        "write": {"share": round(1 - share, 2), "consistency": str(rng.choice(LEVELS[factor]))},
    }


def _routing(rng: np.random.Generator) -> dict:
    return {"routing": str(rng.choice(["round-robin", "token-aware"])), "machines": 4, "processors": 16}


def compare(question: Question, requests: int, seed: int) -> Comparison:
    """Return how far mean-value analysis is from a simulation; large populations take longer to find their places."""
    requests += requests * (question.network.load.in_flight or 0) // 60
    solution = solve(ensemble(question.network, question.values))
    run = simulate(question.network, question.values, seed, Budget(requests=requests))
    cases = ensemble(question.network, question.values).rings[0].cases
    error = {"throughput": float(np.log(solution.throughput_per_s[0] / run.throughput_per_s.value))}
    sampling = {"throughput": run.throughput_per_s.relative_error}
    for number, operation in enumerate(question.network.operations):
        for name in STATISTICS:
            simulated = run.latency_s[operation.name][name]
            analysed = latency_s(solution, cases, number, name)
            error[f"{operation.name} {name}"] = float(np.log(analysed[0] / simulated.value))
            sampling[f"{operation.name} {name}"] = simulated.std_err / simulated.value
    upper = bounds(question.network, question.values)
    queues = np.array([station.queues for station in question.network.stations])
    throughput_per_s = run.throughput_per_s.value
    return Comparison(
        question,
        float(run.utilisation[queues].max()),
        error,
        sampling,
        throughput_per_s / upper.throughput_per_s,
        float(np.log(upper.population_per_s / throughput_per_s)),
        float(run.backlog_per_s.sum()) / throughput_per_s,
    )


def errors_of(comparisons: list[Comparison], statistic: str) -> np.ndarray:
    """Return logarithmic errors of one statistic, both operations; throughput of closed loads only."""
    if statistic == "throughput":
        return np.array([c.error[statistic] for c in comparisons if c.is_closed])
    return np.array([c.error[f"{name} {statistic}"] for c in comparisons for name in ("read", "write")])


def noise_of(comparisons: list[Comparison], statistic: str) -> list[float]:
    """Return the squares of the simulation's own relative errors."""
    names = [statistic] if statistic == "throughput" else [f"{name} {statistic}" for name in ("read", "write")]
    sampled = [c.sampling[name] for c in comparisons for name in names]
    return [min(error, 1.0) ** 2 for error in sampled if np.isfinite(error)]


def deviation(comparisons: list[Comparison], statistic: str) -> float:
    """Return the relative standard deviation of mean-value analysis, the simulation's own error taken out."""
    noise = np.mean(noise_of(comparisons, statistic))
    return float(np.sqrt(max(np.mean(errors_of(comparisons, statistic) ** 2) - noise, 0.0)))


@pytest.fixture(scope="module")
def comparisons():
    """A few dozen random scenarios, each simulated and analysed; those whose work piles up are left out."""
    found = [compare(question, REQUESTS, number) for number, question in enumerate(questions(SCENARIOS))]
    return [comparison for comparison in found if comparison.is_steady]


def of_group(comparisons: list[Comparison], group: str) -> list[Comparison]:
    """Return the comparisons that belong to a key of `MVA_ERROR`."""
    if group == "quota":
        return [c for c in comparisons if c.has_quota]
    return [c for c in comparisons if not c.has_quota and (c.utilisation > BUSY) == (group == "saturated")]


LARGEST = {
    "free": {"throughput": (0.01, 0.04), "mean": (0.015, 0.06), "p50": (0.04, 0.12), "p95": (0.03, 0.09)},
    "saturated": {"throughput": (0.02, 0.08), "mean": (0.06, 0.35), "p95": (0.25, 0.9)},
    "quota": {"throughput": (0.04, 0.15), "mean": (0.15, 0.6)},
}
"""Bounds on median and 90th percentile of the size of the error, in the few runs of the suite."""


@pytest.mark.parametrize(("group", "statistic"), [(g, s) for g, limits in LARGEST.items() for s in limits])
def test_mean_value_analysis_is_near_the_simulation(comparisons, group, statistic):
    sizes = np.abs(errors_of(of_group(comparisons, group), statistic))
    assert len(sizes) >= 3
    median, upper = LARGEST[group][statistic]
    assert np.median(sizes) < median
    assert np.quantile(sizes, 0.9) < upper


def test_a_model_without_queues_is_not_near_the_simulation(comparisons):
    """The negative control."""
    errors = [abs(c.idle_error) for c in of_group(comparisons, "saturated") if c.is_closed]
    assert np.median(errors) > LARGEST["saturated"]["throughput"][1]


def test_stated_errors_cover_those_found(comparisons):
    """Nine in ten errors within 2.5 stated standard deviations, the simulation's own added."""
    for group, stated in MVA_ERROR.items():
        for statistic, deviation_ in stated.items():
            chosen = of_group(comparisons, group)
            noise = np.sqrt(np.mean(noise_of(chosen, statistic)))
            sizes = np.abs(errors_of(chosen, statistic))
            assert np.quantile(sizes, 0.9) < 2.5 * np.hypot(deviation_, noise), (group, statistic)


def test_no_simulation_beats_the_bounds(comparisons):
    """A run of finite length, and a population on its way to the busiest station, can exceed them a little."""
    ratios = np.array([c.bound_ratio for c in comparisons])
    assert np.quantile(ratios, 0.9) < 1.03
    assert ratios.max() < 1.1


def test_bounds_are_reached_in_saturation(comparisons):
    """The negative control of the bounds: they are not far above what is found."""
    ratios = [c.bound_ratio for c in comparisons if c.utilisation > 0.97 and c.is_closed and not c.has_quota]
    assert np.median(ratios) > 0.9


def main(count: int, requests: int) -> None:
    """Print the error of mean-value analysis per band of utilisation, and the deviations of each group."""
    every = [compare(question, requests, number) for number, question in enumerate(questions(count))]
    found = [comparison for comparison in every if comparison.is_steady]
    print(f"{len(found)} of {count} scenarios are steady; over the bound: {max(c.bound_ratio for c in found):.3f}")
    for has_quota in (False, True):
        for low, high in BANDS:
            band = [c for c in found if c.has_quota == has_quota and low <= c.utilisation < high]
            if band:
                print("quota" if has_quota else "", f"| {low:.2f}–{high:.2f} | {len(band)} |", _cells(band))
    for group in MVA_ERROR:
        chosen = of_group(found, group)
        print(group, len(chosen), {name: round(deviation(chosen, name), 3) for name in ("throughput", *STATISTICS)})


def _cells(band: list[Comparison]) -> str:
    sizes = [np.abs(errors_of(band, statistic)) for statistic in ("throughput", *STATISTICS)]
    cells = ["–" if not size.size else "{:.1%} / {:.1%}".format(*np.quantile(size, [0.5, 0.9])) for size in sizes]
    return " | ".join(cells) + " |"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
