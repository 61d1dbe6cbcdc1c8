"""A CPU quota against closed forms: capacity, a single closed client, sparse arrivals, scaling of the period.

With Q the CPU time of a period P on one processor, the closed forms are derived in the docstrings. A quota is an
on/off server: the negative controls are the formulas of a slow core.
"""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.ensemble import ensemble
from capmodel.model.mva import solve
from capmodel.model.network import Quota

PERIOD_S, CORES = 0.1, 0.4
WHOLE_S = PERIOD_S * CORES


def limited(tiny, demand_s, cpus=1, quota=None, variation=0.0, idle_cores=0.0, **load):
    """Return one station under a quota."""
    builder = tiny()
    builder.station(cpus, quota=quota or Quota(CORES, PERIOD_S, cpus), idle_cores=idle_cores)
    return builder.build(builder.visit(demand_s, variation=variation), **load)


@pytest.mark.parametrize("cpus", [1, 3])
def test_capacity_is_the_quota(tiny, observe, agrees, cpus):
    seen = observe(limited(tiny, 0.002, cpus, variation=1.0, in_flight=16), requests=10_000)
    assert agrees(seen.throughput_per_s, CORES / 0.002)
    assert not agrees(seen.throughput_per_s, 1.05 * CORES / 0.002)
    solution = solve(ensemble(limited(tiny, 0.002, cpus, variation=1.0, in_flight=200), {}))
    assert solution.throughput_per_s[0] == pytest.approx(CORES / 0.002, rel=0.02)


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_quota_of_all_processors_never_stops(tiny, engine_of, cpus):
    """Exactly used up at the end of each period: as without a quota."""
    engine = engine_of(limited(tiny, 0.001, cpus, Quota(float(cpus), PERIOD_S, cpus), in_flight=4))
    engine.advance(4_000)
    assert engine.env.now == pytest.approx(4_000 * 0.001 / cpus, rel=1e-6)
    assert engine.stations[0].throttled_s == 0.0


def test_one_client_sees_two_modes(tiny, engine_of):
    """One request after the other: Q / s of them in a period, of which one meets the stop of P - Q.

    So the latency is s or s + P - Q, the second for a share s / Q, and the mean is s P / Q.
    """
    demand_s = WHOLE_S / 12.5
    engine = engine_of(limited(tiny, demand_s, in_flight=1))
    engine.advance(12_500)
    latency_s = np.array(engine.latency_s)
    stopped = latency_s > 2 * demand_s
    assert np.allclose(latency_s[~stopped], demand_s)
    assert np.allclose(latency_s[stopped][2:], demand_s + PERIOD_S - WHOLE_S)
    assert stopped.mean() == pytest.approx(demand_s / WHOLE_S, rel=0.005)
    assert latency_s.mean() == pytest.approx(demand_s / CORES, rel=0.005)
    assert np.median(latency_s) != pytest.approx(demand_s / CORES, rel=0.5)  # a slow core has one mode


def test_mean_value_analysis_of_one_client(tiny):
    demand_s = WHOLE_S / 12.5
    solution = solve(ensemble(limited(tiny, demand_s, in_flight=1), {}))
    assert solution.throughput_per_s[0] == pytest.approx(CORES / demand_s, rel=0.02)


def test_sparse_long_services_meet_the_quota_at_a_random_phase(tiny, observe, agrees):
    """One service of 1.5 Q that begins L before the end of a period whose quota is whole.

    L <= Q / 2: it runs for L, then a whole quota is used up and it stops for P - Q before its last Q / 2 - L;
    Q / 2 < L <= Q: it never stops; L > Q: it stops for L - Q. With L uniform over P the mean extra is
    ((P - Q) Q / 2 + (P - Q)^2 / 2) / P = (P - Q) / 2.
    """
    demand_s = 1.5 * WHOLE_S
    seen = observe(limited(tiny, demand_s, rate_per_s=1 / (300 * PERIOD_S)), requests=2_000)
    expected_s = demand_s + (PERIOD_S - WHOLE_S) / 2
    assert agrees(seen.mean_s, expected_s)
    assert not agrees(seen.mean_s, demand_s)
    assert not agrees(seen.mean_s, demand_s / CORES)


def test_idle_work_uses_up_the_quota_of_every_period(tiny, observe, agrees):
    """Workers that spin on one processor leave the first Q of each period: a sparse short service s waits for the
    next period when it comes later, (P - Q)^2 / 2 P on average, or is stopped when it comes just before: s (P - Q) / P.
    """
    demand_s = WHOLE_S / 20
    seen = observe(limited(tiny, demand_s, idle_cores=1.0, rate_per_s=1 / (300 * PERIOD_S)), requests=2_000)
    off_s = PERIOD_S - WHOLE_S
    assert agrees(seen.mean_s, demand_s + off_s * (off_s / 2 + demand_s) / PERIOD_S)
    assert not agrees(seen.mean_s, demand_s)
    spared = observe(limited(tiny, demand_s, idle_cores=0.0, rate_per_s=1 / (300 * PERIOD_S)), requests=500)
    assert np.allclose(spared.mean_s, demand_s)


def test_idle_work_within_the_quota_stops_nothing(tiny, observe):
    seen = observe(limited(tiny, 0.002, 1, Quota(0.4, PERIOD_S, 2), idle_cores=0.3, rate_per_s=0.5), requests=300)
    assert np.allclose(seen.mean_s, 0.002)


def test_a_longer_period_scales_all_times(tiny, engine_of):
    """Times in units of the period are the same whatever the period."""
    short = engine_of(limited(tiny, 0.003, 2, Quota(0.7, 0.01, 2), variation=1.0, in_flight=5))
    long = engine_of(limited(tiny, 0.03, 2, Quota(0.7, 0.1, 2), variation=1.0, in_flight=5))
    other = engine_of(limited(tiny, 0.03, 2, Quota(0.7, 0.01, 2), variation=1.0, in_flight=5))
    for engine in (short, long, other):
        engine.advance(2_000)
    assert np.allclose(np.array(short.latency_s) * 10, long.latency_s)
    assert not np.allclose(np.array(short.latency_s) * 10, other.latency_s)


def test_no_more_than_the_quota_is_used_in_any_period(tiny, engine_of):
    log: list = []
    network = limited(tiny, 0.0031, 3, Quota(0.7, PERIOD_S, 3), variation=1.0, in_flight=5)
    engine_of(network, 3, log).env.run(until=20.0)
    stops = np.array([time_s for time_s, what, _, _ in log if what == "stop"])
    begins = np.array([time_s for time_s, what, _, _ in log if what == "go on"])
    assert len(stops) > 150
    assert np.allclose(np.diff(begins), PERIOD_S)
    assert np.allclose(stops[1:] - begins[: len(stops) - 1], 0.7 * PERIOD_S / 3)  # five in flight keep three busy
