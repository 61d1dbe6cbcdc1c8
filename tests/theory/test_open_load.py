"""The open loop in simulated time against the M/M/c queue, and what it must not hide."""

from __future__ import annotations

import math

import numpy as np
import pytest

from capmodel.live.load.memory_session import MemoryCluster, Outage
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.run import rehearse
from capmodel.model.measurement import Measurement
from capmodel.model.metrics import LatencyKind
from capmodel.model.scenario_file import load_scenario

SEEDS = range(8)
SERVICE_S, SERVERS = 0.002, 2
MU = 1 / SERVICE_S
ONLY_READS = ("workload.operations.read.share=1",)


def run(rate: float, seed: int, *changes: str, cluster: MemoryCluster | None = None, **plan: object) -> Measurement:
    usual = ["cluster.nodes=1", "cluster.replication.factor=1", "clients.routing=round-robin"]
    changes = ("workload.partitions=1000", *ONLY_READS, f"clients.rate={rate}", *changes)
    scenario = load_scenario("default", [*usual, *changes])
    settings = {"duration_s": 8.0, "warm_up_s": 1.0, "seed": seed, **plan}
    return rehearse(scenario, cluster or MemoryCluster(servers=SERVERS, service_s=SERVICE_S), LoadPlan(**settings))  # type: ignore[arg-type]


def above(measurement: Measurement, kind: LatencyKind, limit_s: float) -> float:
    """Return the share of requests whose latency of a kind is above a limit."""
    found = next(one for one in measurement.operations["read"].histograms if one.kind is kind)
    lowest_s, _, count = found.histogram.buckets
    return float(count[lowest_s > limit_s].sum() / count.sum())


def erlang_c(offered: float, servers: int) -> float:
    """Return the probability of waiting in M/M/c. Source: Gross and Harris, section 2.3."""
    last = offered**servers / math.factorial(servers) / (1 - offered / servers)
    return last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)


def response_above(rate: float, limit_s: float, mu: float = MU, servers: int = SERVERS) -> float:
    """Return P(response > t): an exponential service after a wait that is exponential where there is one."""
    theta = servers * mu - rate
    waits = erlang_c(rate / mu, servers)
    both = (theta * math.exp(-mu * limit_s) - mu * math.exp(-theta * limit_s)) / (theta - mu)
    return (1 - waits) * math.exp(-mu * limit_s) + waits * both


def within(measured: list[float], expected: float) -> bool:
    """Whether the mean of independent runs lies within four of its standard errors."""
    std_err = float(np.std(measured, ddof=1)) / math.sqrt(len(measured))
    return abs(float(np.mean(measured)) - expected) <= 4 * std_err


@pytest.mark.parametrize("load", [0.3, 0.7])
@pytest.mark.parametrize("limit_s", [0.002, 0.008])
def test_poisson_arrivals_meet_the_mmc_queue(load: float, limit_s: float) -> None:
    rate = load * SERVERS * MU
    shares = [above(run(rate, seed), LatencyKind.RESPONSE, limit_s) for seed in SEEDS]
    assert within(shares, response_above(rate, limit_s))
    assert not within(shares, response_above(rate, limit_s, mu=0.9 * MU)), "negative control"


def test_constant_arrivals_wait_less_than_poisson_ones() -> None:
    """A queue of constant arrivals waits less: Kingman's bound halves the wait."""
    rate = 0.7 * SERVERS * MU
    shares = [above(run(rate, seed, "clients.arrivals=constant"), LatencyKind.RESPONSE, 0.008) for seed in SEEDS]
    assert float(np.mean(shares)) < 0.7 * response_above(rate, 0.008)


def test_a_limit_on_requests_in_flight_moves_the_queue_into_the_client() -> None:
    """One place and many servers: M/M/1 seen from the intended start, no queue at all seen from the send."""
    rate = 0.6 * MU
    runs = [run(rate, seed, "clients.max_in_flight=1") for seed in SEEDS]
    responses = [above(one, LatencyKind.RESPONSE, 0.004) for one in runs]
    services = [above(one, LatencyKind.SERVICE, 0.004) for one in runs]
    waits = [above(one, LatencyKind.WAIT, 0.0) for one in runs]
    assert within(responses, math.exp(-(MU - rate) * 0.004))
    assert within(services, math.exp(-MU * 0.004))
    assert within(waits, rate / MU), "who comes waits with the probability that the place is taken"
    assert not within(services, math.exp(-(MU - rate) * 0.004)), "negative control"


def test_a_stall_shows_in_response_and_not_in_service_times() -> None:
    """For a second of nine nothing is answered: a tenth of the starts come into it (no coordinated omission)."""
    stalled = MemoryCluster(servers=50, service_s=0.002, distribution="constant", outages=(), stalls=((4.0, 5.0),))
    open_run = run(1000, 1, "clients.arrivals=constant", "clients.max_in_flight=20", cluster=stalled, duration_s=9.0)
    late = above(open_run, LatencyKind.RESPONSE, 0.1)
    assert late == pytest.approx(0.9 / 9 + 0.0, abs=0.02)
    assert above(open_run, LatencyKind.SERVICE, 0.1) < 0.01, "a closed view would hide it"


def test_starts_that_find_no_place_in_time_are_missed_and_counted() -> None:
    """Three times the capacity: after the patience of 0.5 s a third is answered, the rest is missed."""
    overloaded = run(3 * SERVERS * MU, 1, "clients.max_in_flight=4", timeout_s=0.5)
    client = overloaded.client
    assert client is not None and client.missed_starts is not None
    due = float(client.facts["starts_per_s"]) * (overloaded.duration_s or 0)
    assert client.missed_starts / due == pytest.approx(2 / 3, abs=0.05)
    assert overloaded.verdict.kind == "overloaded"
    assert any("found no place" in reason for reason in overloaded.verdict.reasons)


def test_a_rate_above_the_capacity_is_told_as_such() -> None:
    above_capacity = run(1.2 * SERVERS * MU, 1)
    assert above_capacity.verdict.kind == "overloaded"
    assert any("of what was meant to start was answered" in reason for reason in above_capacity.verdict.reasons)
    assert run(0.8 * SERVERS * MU, 1).verdict.kind == "valid", "negative control"


def test_latencies_above_an_hour_are_counted_and_noted() -> None:
    slow = MemoryCluster(servers=1000, service_s=4000.0, distribution="constant")
    plan = {"duration_s": 4400.0, "warm_up_s": 0.0, "interval_s": 100.0, "timeout_s": 1e5}
    found = run(0.1, 1, "clients.arrivals=constant", cluster=slow, **plan)
    response = found.operations["read"].histograms[0]
    assert response.above_range == found.operations["read"].requests and response.above_range > 30
    assert any("above an hour" in note for note in found.notes)


def test_processes_share_the_rate() -> None:
    alone, shared = (run(800, 1, "clients.arrivals=constant", processes=number) for number in (1, 4))
    for one in (alone, shared):
        assert one.client is not None and float(one.client.facts["starts_per_s"]) == pytest.approx(800, rel=2e-3)


def test_outages_are_errors_of_an_open_load_too() -> None:
    cluster = MemoryCluster(servers=SERVERS, service_s=SERVICE_S, outages=(Outage(0, from_s=3.0, to_s=4.0),))
    measured = run(500, 1, "clients.arrivals=constant", cluster=cluster)
    assert sum(event.count for event in measured.errors) == pytest.approx(500, abs=10)
