"""Runs in simulated time on a cluster in memory, whose throughput and latencies are known in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from capmodel.live.load.interval import Interval
from capmodel.live.load.memory_session import OUTAGE_ERROR, MemoryCluster, Outage
from capmodel.live.load.part import UNANSWERED
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.requests import Batches
from capmodel.live.load.run import rehearse
from capmodel.model.errors import InputError, ScenarioError
from capmodel.model.estimate import Z
from capmodel.model.measured_metrics import metrics_of
from capmodel.model.measurement import Measurement
from capmodel.model.measurement_file import dump_measurement
from capmodel.model.rate_course import RateCourse
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import load_scenario

SEEDS = range(6)


def scenario(*changes: str) -> Scenario:
    usual = ("cluster.nodes=1", "cluster.replication.factor=1", "clients.routing=round-robin", "clients.in_flight=8")
    return load_scenario("default", [*usual, "workload.partitions=1000", *changes])


def run(cluster: MemoryCluster, *changes: str, **plan: object) -> Measurement:
    settings = {"duration_s": 4.0, "warm_up_s": 0.5, **plan}
    return rehearse(scenario(*changes), cluster, LoadPlan(**settings))  # type: ignore[arg-type]


def throughput_per_s(measurement: Measurement) -> float:
    value = metrics_of(measurement).throughput_per_s.value
    assert value is not None
    return value


def mean_latency_s(measurement: Measurement) -> float:
    means = [(operation.requests, operation.histograms[0].histogram) for operation in measurement.operations.values()]
    total = sum(requests or 0 for requests, _ in means)
    sums = [float(((found.buckets[0] + found.buckets[1]) / 2) @ found.buckets[2]) for _, found in means]
    return sum(sums) / total


@pytest.mark.parametrize(("in_flight", "expected"), [(1, 500.0), (2, 1000.0), (3, 1500.0), (8, 1500.0)])
def test_constant_service_gives_the_bound_exactly(in_flight: int, expected: float) -> None:
    """Three servers of 2 ms: in flight ÷ service time up to three, the capacity above."""
    cluster = MemoryCluster(servers=3, service_s=0.002, distribution="constant")
    assert throughput_per_s(run(cluster, f"clients.in_flight={in_flight}")) == pytest.approx(expected, rel=1e-3)


def repairmen_per_s(clients: int, think_s: float, servers: int, service_s: float) -> float:
    """Return the throughput of clients that think and servers that serve, both exponential.

    Source: the machine repair model M/M/c//N, a birth-death chain (Gross and Harris, Fundamentals of Queueing Theory).
    """
    weights = [1.0]
    for waiting in range(1, clients + 1):
        birth, death = (clients - waiting + 1) / think_s, min(waiting, servers) / service_s
        weights.append(weights[-1] * birth / death)
    served = sum(weight * min(waiting, servers) for waiting, weight in enumerate(weights))
    return served / sum(weights) / service_s


def within(measured: Sequence[float], expected: float) -> bool:
    """Whether the mean of independent runs lies within four of its standard errors."""
    std_err = float(np.std(measured, ddof=1)) / np.sqrt(len(measured))
    return abs(float(np.mean(measured)) - expected) <= 4 * std_err


def test_think_time_and_queueing_follow_the_repair_model() -> None:
    cluster = MemoryCluster(servers=2, service_s=0.002)
    rates = [throughput_per_s(run(cluster, "clients.think_time=4ms", seed=seed)) for seed in SEEDS]
    expected = repairmen_per_s(8, 0.004, 2, 0.002)
    assert within(rates, expected)
    assert not within(rates, repairmen_per_s(8, 0.004, 2, 0.0021)), "negative control"
    assert not within(rates, repairmen_per_s(7, 0.004, 2, 0.002)), "negative control"


@pytest.mark.parametrize("think", ["0s", "5ms"])
def test_littles_law_holds(think: str) -> None:
    """In flight = rate × (latency + think time)."""
    measured = run(MemoryCluster(nodes=2, service_s=0.003), f"clients.think_time={think}", "cluster.nodes=2")
    cycle_s = mean_latency_s(measured) + float(think.rstrip("ms")) / (1e3 if think.endswith("ms") else 1)
    assert throughput_per_s(measured) * cycle_s == pytest.approx(8, rel=0.02)


def test_the_interval_of_the_rate_holds_the_truth() -> None:
    """Of 24 runs with a 90 % interval, 17 or fewer hold the truth with a probability below 1 % (binomial)."""
    cluster = MemoryCluster(servers=2, service_s=0.004)
    rates = [metrics_of(run(cluster, seed=seed, duration_s=3.0)).throughput_per_s for seed in range(24)]
    held = [rate.low <= cluster.capacity_per_s <= rate.high for rate in rates if rate.low and rate.high]
    known = [(rate.value, rate.low, rate.high) for rate in rates if rate.value and rate.low and rate.high]
    narrow = [abs(value - cluster.capacity_per_s) < (high - low) / 8 for value, low, high in known]
    assert sum(held) > 17
    assert sum(narrow) <= 17, "negative control: a quarter of the width holds it less often"


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, again, other = (dump_measurement(run(MemoryCluster(), seed=seed, duration_s=1.0)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_mix_is_that_of_the_scenario() -> None:
    changes = ("workload.operations.read.share=0.7", "workload.operations.write.share=0.3")
    measured = run(MemoryCluster(servers=8), *changes, batches=Batches(share=0.5, rows=3))
    requests = {name: operation.requests or 0 for name, operation in measured.operations.items()}
    total = sum(requests.values())
    for name, share in {"read": 0.7, "write": 0.15, "batch": 0.15}.items():
        spread = np.sqrt(share * (1 - share) / total)
        assert abs(requests[name] / total - share) < 4 * spread
    assert abs(requests["read"] / total - 0.65) > 4 * np.sqrt(0.65 * 0.35 / total), "negative control"


def test_processes_share_what_is_in_flight() -> None:
    """Five in flight over three parts, on servers for all: five times the rate of one."""
    cluster = MemoryCluster(servers=5, service_s=0.01, distribution="constant")
    measured = run(cluster, "clients.in_flight=5", processes=3)
    assert throughput_per_s(measured) == pytest.approx(500, rel=5e-3)
    assert measured.client is not None and measured.client.processes == 3


def test_a_node_that_dies_shows_as_errors_with_times_and_the_run_goes_on() -> None:
    cluster = MemoryCluster(nodes=2, service_s=0.002, outages=(Outage(1, from_s=2.5, to_s=3.0),))
    measured = run(cluster, "cluster.nodes=2")
    times_s = [event.at_s for event in measured.errors]
    assert {event.kind for event in measured.errors} == {OUTAGE_ERROR}
    assert min(times_s) >= 2.0 and max(times_s) <= 2.5 + LoadPlan(duration_s=4.0).grid_s
    assert measured.duration_s == pytest.approx(4.0)
    rates = dict(zip(measured.series["all"].t_s, measured.series["all"].rate_per_s, strict=True))
    late = [rate for t_s, rate in rates.items() if t_s > 3.0 and rate is not None]
    assert min(late) > 0.7 * cluster.capacity_per_s, "it comes back"


def test_a_run_without_an_outage_has_no_errors() -> None:
    """Negative control of the check above."""
    measured = run(MemoryCluster(nodes=2), "cluster.nodes=2", duration_s=1.0)
    assert not measured.errors


def test_requests_that_hang_at_the_end_are_not_forgotten() -> None:
    measured = run(MemoryCluster(servers=1, service_s=30.0, distribution="constant"), duration_s=1.0)
    unanswered = {event.kind: event.count for event in measured.errors}
    assert unanswered == {UNANSWERED: 8}
    assert (measured.verdict.kind, measured.verdict.reasons[0]) == ("overloaded", "nothing was answered")


def test_a_number_of_operations_ends_a_run() -> None:
    measured = run(MemoryCluster(), duration_s=None, operations=2_000)
    requests = sum(operation.requests or 0 for operation in measured.operations.values())
    assert 2_000 <= requests < 2_000 + 2 * MemoryCluster().capacity_per_s * LoadPlan().grid_s


def test_a_warm_up_waits_until_rates_are_flat() -> None:
    """A cluster whose service time grows by half a second's worth each second is long not flat."""
    steady = run(MemoryCluster(), warm_up_s=None)
    assert steady.warm_up_s is not None and 4.0 <= steady.warm_up_s < 10.0
    slowing = run(MemoryCluster(slower_per_s=0.5), warm_up_s=None, duration_s=2.0)
    assert slowing.warm_up_s is not None and slowing.warm_up_s > 10.0


def test_a_cluster_that_slows_down_is_not_steady() -> None:
    steady, slowing = run(MemoryCluster()), run(MemoryCluster(slower_per_s=0.2))
    assert steady.verdict.kind == "valid"
    assert slowing.verdict.kind == "not-steady"
    assert any("slower than the first" in reason for reason in slowing.verdict.reasons)


def test_warm_up_is_in_the_series_before_zero() -> None:
    measured = run(MemoryCluster(), duration_s=1.0, warm_up_s=0.5)
    before = [t_s for t_s in measured.series["all"].t_s if t_s <= 0]
    assert len(before) == 5 and max(before) == pytest.approx(0.0, abs=1e-9)


def test_intervals_are_handed_out() -> None:
    kept: list[Interval] = []
    measured = rehearse(scenario(), MemoryCluster(), LoadPlan(duration_s=1.0, warm_up_s=0.5), kept.extend)
    assert sum(interval.answers for interval in kept) == sum(one.requests or 0 for one in measured.operations.values())


def test_what_memory_cannot_do_is_refused() -> None:
    with pytest.raises(ScenarioError, match="round-robin"):
        rehearse(scenario("clients.routing=token-aware"), MemoryCluster())
    with pytest.raises(ScenarioError, match="a course of rates is an open load"):
        rehearse(scenario(), MemoryCluster(), LoadPlan(warm_up_s=0.0, course=RateCourse.level(100.0)))
    with pytest.raises(InputError, match="requests in flight"):
        rehearse(scenario("clients.in_flight=2"), MemoryCluster(), LoadPlan(processes=3))


def test_all_that_is_wrong_with_a_plan_is_told() -> None:
    with pytest.raises(InputError) as refused:
        LoadPlan(duration_s=-1.0, processes=0, batches=Batches(share=2.0))
    assert [problem.key for problem in refused.value.problems] == ["duration", "processes", "batch-share"]


def test_the_interval_is_a_90_percent_one() -> None:
    """The width of the printed interval follows from the standard error and the model's level."""
    rate = metrics_of(run(MemoryCluster())).throughput_per_s
    assert rate.log_std_err is not None and rate.high is not None and rate.value is not None
    assert rate.high / rate.value == pytest.approx(np.exp(Z * rate.log_std_err), rel=1e-6)
