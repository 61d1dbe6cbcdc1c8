"""Several quotas: how far their periods are apart is chance, and a run gives the mean over all distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from capmodel.model.graph import Series
from capmodel.model.network import Quota
from capmodel.model.simulation.engine import DRIFT, drifting

PERIOD_S = 0.005


def two_nodes(tiny):
    """Return two stations under a quota of a quarter, visited in turn by four requests."""
    builder = tiny(nodes=2)
    for node in range(2):
        builder.station(nodes=(node,), quota=Quota(0.25, PERIOD_S, 1), idle_cores=0.4)
    return builder.build(Series((builder.visit(150e-6, 0), builder.visit(150e-6, 1))), in_flight=4)


def throughputs(network, engine_of, seeds=range(8)):
    """Return the rate of each seed over about 400 periods."""
    rates = []
    for seed in seeds:
        engine = engine_of(network, seed)
        engine.advance(2000)
        rates.append(2000 / engine.env.now)
    return np.array(rates)


def test_the_phase_of_periods_does_not_decide_a_run(tiny, engine_of):
    rates = throughputs(two_nodes(tiny), engine_of)
    assert rates.std(ddof=1) / rates.mean() < 0.03


def test_without_drift_it_does(tiny, engine_of, monkeypatch):
    monkeypatch.setattr("capmodel.model.simulation.engine.drifting", list)
    rates = throughputs(two_nodes(tiny), engine_of)
    assert rates.std(ddof=1) / rates.mean() > 0.05


def test_what_a_quota_allows_stays(tiny):
    network = two_nodes(tiny)
    moved = drifting(network.stations)
    assert [station.quota.cores for station in moved] == [0.25, 0.25]
    assert np.mean([station.quota.period_s for station in moved]) == pytest.approx(PERIOD_S)
    assert moved[1].quota.period_s / moved[0].quota.period_s == pytest.approx(1 + DRIFT, rel=0.02)


def test_a_single_quota_keeps_its_period(tiny):
    stations = two_nodes(tiny).stations
    alone = (stations[0], replace(stations[1], quota=None))
    assert drifting(alone) == list(alone)
