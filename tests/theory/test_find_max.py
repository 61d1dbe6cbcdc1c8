"""The largest load within an objective against the M/M/c queue, whose answer is known."""

from __future__ import annotations

import math
from functools import partial

import pytest
from scipy.optimize import brentq

from capmodel.live.load.maximum import Answer, Maximum, Probe, find_maximum
from capmodel.live.load.memory_session import MemoryCluster, Outage
from capmodel.live.load.opening import at_rate
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.probing import find_max_in_memory
from capmodel.live.load.run import rehearse
from capmodel.model.measurement import Measurement, Verdict
from capmodel.model.objective import parse_objectives
from capmodel.model.scenario_file import load_scenario

SERVERS, SERVICE_S = 2, 0.002
CLUSTER = MemoryCluster(servers=SERVERS, service_s=SERVICE_S)
SCENARIO = load_scenario(
    "default",
    [
        "cluster.nodes=1",
        "cluster.replication.factor=1",
        "clients.routing=round-robin",
        "clients.in_flight=1",
        "workload.partitions=1000",
        "workload.operations.read.share=1",
    ],
)


def response_above(rate: float, limit_s: float) -> float:
    """Return P(response > t) in M/M/2. Source: Gross and Harris, Fundamentals of Queueing Theory, section 2.3."""
    mu = 1 / SERVICE_S
    theta, busy = SERVERS * mu - rate, rate / (SERVERS * mu)
    waits = 2 * busy**2 / (1 + busy)
    both = (theta * math.exp(-mu * limit_s) - mu * math.exp(-theta * limit_s)) / (theta - mu)
    return (1 - waits) * math.exp(-mu * limit_s) + waits * both


def truth(share: float, limit_s: float) -> float:
    """Return the rate at which that share of the responses is within the limit."""
    return float(brentq(lambda rate: response_above(rate, limit_s) - (1 - share), 1.0, 999.0))


def found(objective: str, seed: int = 1, cluster: MemoryCluster = CLUSTER, limit_s: float = 900.0) -> Maximum:
    plan = LoadPlan(duration_s=2.0, warm_up_s=1.0, seed=seed)
    return find_max_in_memory(SCENARIO, cluster, parse_objectives([objective])[0], plan, limit_s=limit_s)


@pytest.mark.parametrize(("objective", "share", "limit_s"), [("p99<=20ms", 0.99, 0.02), ("p95<=8ms", 0.95, 0.008)])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_largest_load_is_found_within_five_percent_and_in_time(
    objective: str, share: float, limit_s: float, seed: int
) -> None:
    answer = found(objective, seed)
    rate = answer.rate_per_s
    assert rate.value == pytest.approx(truth(share, limit_s), rel=0.05)
    assert rate.low is not None and rate.high is not None and rate.low < rate.high
    assert answer.ended_by == "cluster" and answer.took_s <= 900
    assert rate.value != pytest.approx(truth(share, 2 * limit_s), rel=0.05), "negative control"


@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_stated() -> None:
    """Of 12 intervals of 90 %, 8 or fewer hold it with a probability of about 3 % (binomial)."""
    held = [found("p95<=8ms", seed).rate_per_s for seed in range(10, 22)]
    rate = truth(0.95, 0.008)
    assert sum(one.low is not None and one.high is not None and one.low <= rate <= one.high for one in held) > 8


def test_an_objective_that_nothing_meets_is_said_to_be_so() -> None:
    answer = found("p99<=2ms")
    assert answer.rate_per_s.value is None and "no rate" in (answer.rate_per_s.reason or "")


def test_a_search_is_cut_short_in_time() -> None:
    answer = found("p99<=20ms", limit_s=60.0)
    assert answer.took_s <= 60.0
    assert any("time was over" in reason for reason in answer.reasons)


def limited(kind: str, rate: float, lasts_s: float) -> Measurement:
    """Return a run whose verdict is given."""
    measured = rehearse(at_rate(SCENARIO, rate), CLUSTER, LoadPlan(duration_s=lasts_s, warm_up_s=0.5))
    return measured.model_copy(update={"verdict": Verdict(kind=kind, reasons=("so",))})  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "ended_by"), [("client-limited", "client"), ("host-limited", "host")])
def test_what_ended_it_is_what_spoilt_the_run_that_missed(kind: str, ended_by: str) -> None:
    answer = find_maximum(partial(limited, kind), parse_objectives(["p95<=8ms"])[0], 400.0, 120.0)
    assert answer.ended_by == ended_by and "so" in answer.reasons


def test_errors_are_not_carried_whatever_the_latency() -> None:
    """A node that fails at once answers fast; the probe misses all the same."""
    failing = MemoryCluster(nodes=2, service_s=SERVICE_S, outages=(Outage(1, 0.0),))
    plan = LoadPlan(duration_s=2.0, warm_up_s=0.5)
    probes: list[Probe] = []
    objective = parse_objectives(["p99<=20ms"])[0]
    find_max_in_memory(SCENARIO, failing, objective, plan, limit_s=20.0, show_probe=probes.append)
    assert {probe.answer for probe in probes} == {Answer.MISSES}
