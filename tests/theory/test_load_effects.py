"""Load effects of a station against exact laws: wake-up sharing, contention, sharing; each off with a zero.

In a closed network of one station without delays all N requests are present whenever a service begins, so that the
laws are exact.
"""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.ensemble import ensemble
from capmodel.model.graph import Choice, Fork, Resource
from capmodel.model.mva import solve
from capmodel.model.network import Quota

SERVICE_S = 0.01


def settled_throughput_per_s(engine, population):
    """Return the throughput of a run after its first hundred rounds."""
    engine.advance(100 * population)
    began_s = engine.env.now
    engine.advance(600 * population)
    return 500 * population / (engine.env.now - began_s)


def closed(tiny, population, wake_up_s=0.0, servers=1, **effects):
    """Return one station and a closed population."""
    builder = tiny()
    builder.station(servers, **effects)
    return builder.build(builder.visit(SERVICE_S, wake_up_s=wake_up_s), in_flight=population)


@pytest.mark.parametrize("population", [1, 2, 5, 50])
def test_wake_ups_are_shared_by_all_that_are_present(tiny, engine_of, population):
    network = closed(tiny, population, wake_up_s=0.08)
    expected = 1 / (SERVICE_S + 0.08 / population)
    assert settled_throughput_per_s(engine_of(network), population) == pytest.approx(expected, rel=1e-6)
    analysed = solve(ensemble(network, {})).throughput_per_s[0]
    assert analysed == pytest.approx(expected, rel=0.1 if population == 2 else 0.04)
    if population > 1:
        assert analysed > 1.2 / (SERVICE_S + 0.08)


@pytest.mark.parametrize("servers", [2, 4])
def test_wake_ups_at_several_servers(tiny, engine_of, servers):
    network = closed(tiny, 16, wake_up_s=0.08, servers=servers)
    expected = servers / (SERVICE_S + 0.08 / 16)
    assert settled_throughput_per_s(engine_of(network), 16) == pytest.approx(expected, rel=1e-6)
    assert solve(ensemble(network, {})).throughput_per_s[0] == pytest.approx(expected, rel=0.04)


def test_syncs_are_shared_by_all_that_are_present(tiny, engine_of):
    builder = tiny()
    builder.station(1)
    builder.setup_s[Resource.CPU] = 0.08
    network = builder.build(builder.visit(SERVICE_S), in_flight=8)
    expected = 1 / (SERVICE_S + 0.08 / 8)
    assert settled_throughput_per_s(engine_of(network), 8) == pytest.approx(expected, rel=1e-6)
    assert solve(ensemble(network, {})).throughput_per_s[0] == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize("population", [2, 6, 20])
def test_demands_rise_beyond_the_knee(tiny, engine_of, population):
    network = closed(tiny, population, servers=2, contention_ratio=0.1, contention_knee=2.0)
    expected = 2 / SERVICE_S / (1 + 0.1 * max(0.0, population / 2 - 2.0))
    assert settled_throughput_per_s(engine_of(network), population) == pytest.approx(expected, rel=1e-6)
    assert solve(ensemble(network, {})).throughput_per_s[0] == pytest.approx(expected, rel=0.1)


def test_demands_rise_under_a_quota_too(tiny, engine_of):
    quota = Quota(0.5, 0.1, 2)
    network = closed(tiny, 16, quota=quota, servers=2, contention_ratio=0.1, contention_knee=2.0)
    expected = quota.cores / SERVICE_S / (1 + 0.1 * (16 / 2 - 2.0))
    assert settled_throughput_per_s(engine_of(network), 16) == pytest.approx(expected, rel=0.01)
    assert solve(ensemble(network, {})).throughput_per_s[0] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("servers", "factor"), [(1, 1.6), (2, 1.3), (4, 1.15)])
def test_nodes_on_one_host_make_each_other_dearer(tiny, engine_of, servers, factor):
    """Two nodes that always have work: one other node present, of which each of c cores feels 1 / c."""
    builder = tiny(2)
    builder.station(servers, nodes=(0, 1), sharing_ratio=0.6)
    network = builder.build(Fork(2, (builder.visit(SERVICE_S, 0), builder.visit(SERVICE_S, 1))), in_flight=40)
    expected = servers / (2 * SERVICE_S * factor)
    assert settled_throughput_per_s(engine_of(network), 40) == pytest.approx(expected, rel=1e-3)
    assert solve(ensemble(network, {})).throughput_per_s[0] == pytest.approx(expected, rel=0.05)


def test_a_node_alone_on_its_host_is_not_dearer(tiny, engine_of):
    builder = tiny(2)
    builder.station(1, nodes=(0, 1), sharing_ratio=0.6)
    network = builder.build(builder.visit(SERVICE_S, 0), in_flight=40)
    assert settled_throughput_per_s(engine_of(network), 40) == pytest.approx(1 / SERVICE_S, rel=1e-6)


OFF = {
    "contention": {"contention_ratio": 0.0, "contention_knee": 1.0},
    "sharing": {"sharing_ratio": 0.0},
    "idle work": {"idle_cores": 0.0},
}
ON = {
    "contention": {"contention_ratio": 0.3, "contention_knee": 1.0},
    "sharing": {"sharing_ratio": 0.3},
    "idle work": {"idle_cores": 1.0},
}


@pytest.fixture
def log_of(tiny, engine_of):
    """Returns the event log of two nodes on one host with some load effects."""

    def run(wake_up_s=0.0, quota=None, in_flight=6, **effects):
        builder = tiny(2)
        builder.station(2, nodes=(0, 1), quota=quota, **effects)
        visits = [builder.visit(SERVICE_S, node, variation=1.0, wake_up_s=wake_up_s) for node in (0, 1)]
        log: list = []
        engine_of(builder.build(Choice(0.5, *visits), in_flight=in_flight), 7, log).env.run(until=2.0)
        return log

    return run


@pytest.mark.parametrize("effect", OFF)
def test_a_zero_switches_an_effect_off(log_of, effect):
    """Idle work shows under a quota, and only where requests leave processors idle."""
    alike = {"quota": Quota(0.7, 0.1, 2), "in_flight": 1} if effect == "idle work" else {}
    assert log_of(**alike, **OFF[effect]) == log_of(**alike)
    assert log_of(**alike, **ON[effect]) != log_of(**alike)


def test_a_zero_switches_wake_ups_off(log_of):
    assert log_of(wake_up_s=0.0) == log_of()
    assert log_of(wake_up_s=0.001) != log_of()


def test_a_vanishing_effect_is_the_same_simulation(log_of):
    """The stations with and without load effects are different classes: they agree where the effect vanishes."""
    plain, vanishing = log_of(), log_of(contention_ratio=1e-15, sharing_ratio=1e-15)
    assert [row[1:] for row in vanishing] == [row[1:] for row in plain]
    assert np.allclose([row[0] for row in vanishing], [row[0] for row in plain])
