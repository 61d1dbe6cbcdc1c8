"""Closed networks against exact mean-value analysis: machine repair, balanced and unbalanced, several servers.

Source: Reiser and Lavenberg 1980; exact load-dependent mean-value analysis as in Lazowska et al. 1984, chapter 20.
"""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.bounds import balanced_job_bounds, bounds
from capmodel.model.ensemble import ensemble
from capmodel.model.graph import series
from capmodel.model.mva import solve


def exact_throughput_per_s(demands_s, servers, think_time_s, population):
    """Return the throughput of a product-form network by exact mean-value analysis with marginal probabilities."""
    stations = range(len(demands_s))
    left = [np.array([1.0])] * len(demands_s)
    for number in range(1, population + 1):
        rates = [np.minimum(np.arange(1, number + 1), servers[k]) for k in stations]
        waits_s = [demands_s[k] * np.sum(np.arange(1, number + 1) / rates[k] * left[k]) for k in stations]
        throughput = number / (think_time_s + sum(waits_s))
        above = [demands_s[k] * throughput / rates[k] * left[k] for k in stations]
        left = [np.concatenate([[1 - above[k].sum()], above[k]]) for k in stations]
    return throughput


def repaired_throughput_per_s(demand_s, servers, think_time_s, population):
    """Return the throughput of M/M/c//N by its birth-and-death chain, in logarithms: stable for many requests."""
    present = np.arange(1, population + 1)
    births, deaths = (population - present + 1) / think_time_s, np.minimum(present, servers) / demand_s
    weight = np.concatenate([[0.0], np.cumsum(np.log(births / deaths))])
    probability = np.exp(weight - weight.max())
    return probability[1:] @ deaths / probability.sum()


def network_of(tiny, demands_s, servers, think_time_s, population):
    """Return a closed tiny network with a station per demand, visited one after the other."""
    builder = tiny(len(demands_s))
    for node, count in enumerate(servers):
        builder.station(count, nodes=(node,))
    visits = [builder.visit(demand_s, node, variation=1.0) for node, demand_s in enumerate(demands_s)]
    return builder.build(series(*visits), in_flight=population, think_time_s=think_time_s)


CASES = {
    "machine repair": ([0.1], [1], 0.8, 6),
    "balanced": ([0.1, 0.1, 0.1], [1, 1, 1], 0.0, 6),
    "unbalanced": ([0.15, 0.1, 0.02], [1, 1, 1], 0.0, 8),
    "several servers": ([0.4, 0.1], [4, 1], 0.0, 7),
    "several servers and think time": ([0.4, 0.2], [4, 2], 0.5, 9),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def case(request):
    """One product-form network."""
    return request.param


@pytest.mark.parametrize("servers", [1, 3])
def test_both_references_agree(servers):
    exact = exact_throughput_per_s([0.1], [servers], 0.8, 6)
    assert exact == pytest.approx(repaired_throughput_per_s(0.1, servers, 0.8, 6))


@pytest.fixture(scope="module")
def seen(tiny, observe, case):
    """What the simulation says of a product-form network."""
    return observe(network_of(tiny, *case), requests=6_000)


def test_simulation_is_that_of_exact_mean_value_analysis(seen, agrees, case):
    expected = exact_throughput_per_s(*case)
    assert agrees(seen.throughput_per_s, expected)
    assert not agrees(seen.throughput_per_s, 1.05 * expected)


def test_simulation_keeps_littles_law(seen, agrees, case):
    """Response time from the population: R = N / X - Z."""
    expected_s = case[3] / exact_throughput_per_s(*case) - case[2]
    assert agrees(seen.mean_s, expected_s)
    assert not agrees(seen.mean_s, 1.1 * expected_s)


def test_simulation_keeps_the_utilisation_law(seen, agrees, case):
    for station, demand_s in enumerate(case[0]):
        assert agrees(seen.busy[:, station], exact_throughput_per_s(*case) * demand_s)
        assert not agrees(seen.busy[:, station], 1.1 * exact_throughput_per_s(*case) * demand_s)


def test_mean_value_analysis_is_near_the_exact_one(tiny, case):
    """Few requests are the worst case of an approximate arrival theorem."""
    solution = solve(ensemble(network_of(tiny, *case), {}))
    assert solution.throughput_per_s[0] == pytest.approx(exact_throughput_per_s(*case), rel=0.06)


@pytest.mark.parametrize("population", [16, 64, 256])
@pytest.mark.parametrize("servers", [1, 4, 16])
def test_mean_value_analysis_of_many_requests(tiny, servers, population):
    for think_time_s in (0.2, 1.0, 4.0):
        solution = solve(ensemble(network_of(tiny, [0.1], [servers], think_time_s, population), {}))
        expected = repaired_throughput_per_s(0.1, servers, think_time_s, population)
        assert solution.throughput_per_s[0] == pytest.approx(expected, rel=0.03)


def test_one_request_meets_nobody(tiny):
    solution = solve(ensemble(network_of(tiny, [0.1, 0.3], [1, 2], 0.5, 1), {}))
    assert solution.throughput_per_s[0] == pytest.approx(1 / 0.9, rel=1e-4)
    assert solution.response_s[0] == pytest.approx(0.4, rel=1e-6)


def test_many_requests_saturate_the_busiest_station(tiny):
    solution = solve(ensemble(network_of(tiny, [0.1, 0.3], [1, 2], 0.0, 4_000), {}))
    assert solution.throughput_per_s[0] == pytest.approx(2 / 0.3, rel=2e-3)


def test_bounds_hold_for_exact_mean_value_analysis(tiny, case):
    demands_s, servers, think_time_s, population = case
    found = bounds(network_of(tiny, *case), {"replica_read_s": 0.0})
    assert found.saturation_per_s == pytest.approx(min(c / d for c, d in zip(servers, demands_s, strict=True)))
    assert found.population_per_s == pytest.approx(population / (sum(demands_s) + think_time_s), rel=1e-6)
    assert exact_throughput_per_s(*case) <= found.throughput_per_s


@pytest.mark.parametrize("name", ["balanced", "unbalanced", "machine repair"])
@pytest.mark.parametrize("population", [1, 2, 5, 20, 100])
def test_balanced_job_bounds_enclose_exact_mean_value_analysis(name, population):
    demands_s, servers, think_time_s, _ = CASES[name]
    low, high = balanced_job_bounds(np.array(demands_s), think_time_s, population)
    exact = exact_throughput_per_s(demands_s, servers, think_time_s, population)
    assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
    if name == "balanced":
        assert low == pytest.approx(exact)
