"""Open single queues against their closed forms: M/M/1, M/M/c, M/G/1, M/D/1, utilisation law, flow balance.

Source: Kleinrock 1975 (Queueing Systems, volume 1); Erlang C and Pollaczek-Khinchine as stated there.
"""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

from capmodel.model.ensemble import ensemble
from capmodel.model.mva import solve

SERVICE_S = 0.01


def erlang_c(servers: int, load: float) -> float:
    """Return the probability of waiting with an offered load in servers."""
    terms = [load**k / factorial(k) for k in range(servers)]
    last = load**servers / factorial(servers) / (1 - load / servers)
    return last / (sum(terms) + last)


def pollaczek_khinchine_s(utilisation: float, variation: float) -> float:
    """Return the mean response time of M/G/1."""
    return SERVICE_S * (1 + utilisation * (1 + variation**2) / 2 / (1 - utilisation))


def mmc_s(servers: int, utilisation: float) -> float:
    """Return the mean response time of M/M/c."""
    waiting = erlang_c(servers, servers * utilisation)
    return SERVICE_S * (1 + waiting / servers / (1 - utilisation))


def queue(tiny, servers, utilisation, variation):
    """Return an open queue at a utilisation."""
    builder = tiny()
    builder.station(servers)
    return builder.build(builder.visit(SERVICE_S, variation=variation), rate_per_s=utilisation * servers / SERVICE_S)


@pytest.mark.parametrize("utilisation", [0.3, 0.7])
def test_mm1_response(tiny, observe, agrees, utilisation):
    seen = observe(queue(tiny, 1, utilisation, 1.0))
    expected_s = SERVICE_S / (1 - utilisation)
    assert agrees(seen.mean_s, expected_s)
    assert not agrees(seen.mean_s, 1.1 * expected_s)


def test_mm1_response_is_exponential(tiny, observe, agrees):
    seen = observe(queue(tiny, 1, 0.5, 1.0))
    for share in (0.5, 0.95, 0.99):
        quantiles = np.array([np.quantile(latency_s, share) for latency_s in seen.latency_s])
        assert agrees(quantiles, -np.log(1 - share) * SERVICE_S / 0.5)
        assert not agrees(quantiles, -np.log(1 - share) * SERVICE_S / 0.4)


@pytest.mark.parametrize(("servers", "utilisation"), [(2, 0.6), (8, 0.8)])
def test_mmc_response_is_that_of_erlang(tiny, observe, agrees, servers, utilisation):
    seen = observe(queue(tiny, servers, utilisation, 1.0))
    assert agrees(seen.mean_s, mmc_s(servers, utilisation))
    assert not agrees(seen.mean_s, SERVICE_S * (1 + erlang_c(servers, servers * utilisation) / (1 - utilisation)))


@pytest.mark.parametrize("variation", [0.0, 0.5, 2.0])
def test_mg1_response_is_that_of_pollaczek_and_khinchine(tiny, observe, agrees, variation):
    seen = observe(queue(tiny, 1, 0.6, variation))
    assert agrees(seen.mean_s, pollaczek_khinchine_s(0.6, variation))
    assert not agrees(seen.mean_s, pollaczek_khinchine_s(0.6, 1.0))


def test_dd1_never_waits(tiny, engine_of):
    builder = tiny()
    builder.station(1)
    engine = engine_of(builder.build(builder.visit(SERVICE_S), rate_per_s=0.9 / SERVICE_S, arrivals="constant"))
    engine.advance(200)
    assert np.allclose(engine.latency_s, SERVICE_S)


def test_utilisation_law_and_flow_balance(tiny, observe, agrees):
    seen = observe(queue(tiny, 2, 0.6, 1.0))
    assert agrees(seen.throughput_per_s, 0.6 * 2 / SERVICE_S)
    assert not agrees(seen.throughput_per_s, 0.57 * 2 / SERVICE_S)
    assert np.allclose(seen.busy[:, 0], seen.throughput_per_s * SERVICE_S, rtol=0.03)
    assert agrees(seen.busy[:, 0], 1.2)
    assert not agrees(seen.busy[:, 0], 1.14)


def test_batches_wait_for_each_other(tiny, observe, agrees):
    """M[X]/M/1 with geometric batches: the batch part of the wait is that of the order within a batch.

    With batches of mean b (E[K(K-1)] / 2 E[K] = b - 1 ahead of a member): R = S (1 + (b - 1)) / (1 - rho).
    """
    builder = tiny()
    builder.station(1)
    network = builder.build(
        builder.visit(SERVICE_S, variation=1.0), rate_per_s=0.4 / SERVICE_S, arrivals="bursts", burst_size=3
    )
    seen = observe(network, requests=20_000)
    assert agrees(seen.mean_s, SERVICE_S * 3 / 0.6)
    assert not agrees(seen.mean_s, SERVICE_S / 0.6)


@pytest.mark.parametrize("utilisation", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("variation", [0.0, 1.0, 1.5])
def test_mean_value_analysis_is_exact_for_mg1(tiny, utilisation, variation):
    solution = solve(ensemble(queue(tiny, 1, utilisation, variation), {}))
    assert solution.response_s[0] == pytest.approx(pollaczek_khinchine_s(utilisation, variation), rel=1e-6)
    assert solution.utilisation[0, 0] == pytest.approx(utilisation)


@pytest.mark.parametrize("servers", [2, 8, 32])
@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.9])
def test_mean_value_analysis_is_near_erlang(tiny, servers, utilisation):
    """The approximation of Suri, Sahu and Vernon: the response time of M/M/c within 3 %."""
    solution = solve(ensemble(queue(tiny, servers, utilisation, 1.0), {}))
    assert solution.response_s[0] == pytest.approx(mmc_s(servers, utilisation), rel=0.03)


def test_mean_value_analysis_says_when_an_open_queue_overflows(tiny):
    assert solve(ensemble(queue(tiny, 2, 0.99, 1.0), {})).stable[0]
    assert not solve(ensemble(queue(tiny, 2, 1.01, 1.0), {})).stable[0]
