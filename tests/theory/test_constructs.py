"""Constructs of a request graph in distribution: choice, pools, speculation, timeouts, second phases, hops.

Each expected value is a closed form derived in the docstring, or an enumeration of replica sets and coordinators.
"""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from capmodel.model.compile import compile_network, ring_of
from capmodel.model.demands import PARAMETERS, complete
from capmodel.model.ensemble import ensemble
from capmodel.model.graph import REPLICA, After, Choice, Detach, Fork, Hold, Resource, Timeout, series
from capmodel.model.mva import solve
from capmodel.model.placement import place
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.engine import Engine
from capmodel.model.topology import nodes_of

SEEDS = range(8)


def of_seeds(engine_of, network, requests, read):
    """Return what is read off an engine after so many requests, [seeds]."""
    results = []
    for seed in SEEDS:
        engine = engine_of(network, seed)
        engine.advance(requests)
        results.append(read(engine))
    return np.array(results)


def test_choice_takes_its_share(tiny, engine_of, agrees):
    builder = tiny(2)
    builder.station(1, nodes=(0,))
    builder.station(1, nodes=(1,))
    network = builder.build(Choice(0.3, builder.visit(0.01), builder.visit(0.01, 1)), in_flight=2)
    shares = of_seeds(engine_of, network, 4_000, lambda e: e.stations[0].visits / sum(s.visits for s in e.stations))
    assert agrees(shares, 0.3)
    assert not agrees(shares, 0.33)


def test_operations_come_in_their_shares(tiny, engine_of, agrees):
    builder = tiny()
    builder.station(1)
    network = builder.build([(0.2, builder.visit(0.01)), (0.8, builder.visit(0.02))], in_flight=2)
    shares = of_seeds(engine_of, network, 4_000, lambda e: np.mean(np.asarray(e.operation) == 0))
    assert agrees(shares, 0.2)
    assert not agrees(shares, 0.22)


def test_a_pool_is_a_station_of_its_permits(tiny, observe, agrees):
    """Holding one of two permits for an exponential time elsewhere: M/M/2, R = S / (1 - rho^2)."""
    builder = tiny()
    builder.station(40)
    builder.pool(2)
    graph = Hold(Resource.READ_STAGE, REPLICA, builder.visit(0.01, variation=1.0))
    network = builder.build(graph, rate_per_s=120.0)
    seen = observe(network)
    assert agrees(seen.mean_s, 0.01 / (1 - 0.6**2))
    assert not agrees(seen.mean_s, 0.01)
    assert solve(ensemble(network, {})).response_s[0] == pytest.approx(0.01 / (1 - 0.6**2), rel=0.05)


def test_speculation_shortens_the_tail(tiny, observe, engine_of, agrees):
    """Exponential of mean 1, a second one after d: the mean is (1 - e^-d) + e^-d / 2; a share e^-d speculates."""
    builder = tiny(2)
    builder.station(60, nodes=(0,))
    builder.station(60, nodes=(1,))
    wait_s = 0.7
    second = After(builder.visit(1.0, 1, variation=1.0), delay_s=wait_s)
    network = builder.build(Fork(1, (builder.visit(1.0, variation=1.0), second)), rate_per_s=1.0)
    seen = observe(network, requests=3_000)
    assert agrees(seen.mean_s, 1 - exp(-wait_s) / 2)
    assert not agrees(seen.mean_s, 1.0)
    shares = of_seeds(engine_of, network, 3_000, lambda e: e.speculations / len(e.completed_s))
    assert agrees(shares, exp(-wait_s))
    assert not agrees(shares, 1.1 * exp(-wait_s))


def test_timeouts_of_an_mm1_queue(tiny, engine_of, agrees):
    """The work goes on, so the queue is M/M/1 and a share e^(-(mu - lambda) T) of the requests fails at T."""
    builder = tiny()
    builder.station(1)
    network = builder.build(Timeout(0.3, builder.visit(0.1, variation=1.0)), rate_per_s=5.0)
    shares = of_seeds(engine_of, network, 10_000, lambda e: np.mean(e.failed))
    assert agrees(shares, exp(-5.0 * 0.3))
    assert not agrees(shares, 1.1 * exp(-5.0 * 0.3))
    engine = engine_of(network)
    engine.advance(2_000)
    failed = np.asarray(engine.failed) == 1
    assert np.allclose(np.asarray(engine.latency_s)[failed], 0.3)
    assert np.asarray(engine.latency_s)[~failed].max() <= 0.3


def test_work_after_the_answer_is_a_second_phase(tiny, engine_of):
    """One client, a first phase and a detached second one at one server: it waits for its own last second phase."""
    builder = tiny()
    builder.station(1)
    network = builder.build(series(builder.visit(0.1), Detach(builder.visit(0.3))), in_flight=1)
    engine = engine_of(network)
    engine.advance(400)
    assert np.allclose(np.array(engine.latency_s)[1:], 0.4)
    assert engine.stations[0].busy_s == pytest.approx(engine.env.now, rel=0.01)


def test_a_resource_can_be_a_delay_on_one_node_and_a_queue_on_another(tiny, engine_of):
    """Four at once: on the light station all take 0.1 s, at the single server they take turns."""
    builder = tiny(2)
    builder.station(1, nodes=(0,), light=True)
    builder.station(1, nodes=(1,))
    light = engine_of(builder.build(series(builder.visit(0.1), Choice(0.0, builder.visit(0.1, 1))), in_flight=4))
    queued = engine_of(builder.build(builder.visit(0.1, 1), in_flight=4))
    light.advance(4)
    queued.advance(4)
    assert np.allclose(light.latency_s, 0.1)
    assert np.allclose(queued.latency_s, [0.1, 0.2, 0.3, 0.4])


def test_a_pair_of_branches_at_one_queue(tiny, observe, agrees):
    """A fork that sends both branches to one M/M/1 and waits for the first: the mean over both members of a pair is
    that of M[2]/M/1, (3 / 2) S / (1 - rho), and the first is there S earlier than the second.
    """
    builder = tiny()
    builder.station(1)
    service_s, rho = 0.01, 0.6
    branches = tuple(builder.visit(service_s, variation=1.0) for _ in range(2))
    seen = observe(builder.build(Fork(1, branches), rate_per_s=rho / 2 / service_s))
    of_both_s = 1.5 * service_s / (1 - rho)
    assert agrees(seen.mean_s, of_both_s - service_s / 2)
    assert not agrees(seen.mean_s, of_both_s)


def clients_of(routing, replicas, nodes):
    """Return the coordinators a replica set can have."""
    return range(nodes) if routing == "round-robin" else replicas


def enumerated(placement, routing, needed, nodes, factor):
    """Return the share of writes that need a hop, and messages per write: out and back for every other replica."""
    hops = messages = 0.0
    for replicas, weight in zip(placement.replicas.tolist(), placement.weight.tolist(), strict=True):
        coordinators = clients_of(routing, replicas, nodes)
        for coordinator in coordinators:
            own = coordinator in replicas
            hops += weight / len(coordinators) * (needed > own)
            messages += weight / len(coordinators) * 2 * (factor - own)
    return hops, messages


@pytest.mark.parametrize("routing", ["round-robin", "token-aware"])
@pytest.mark.parametrize(("level", "needed"), [("ONE", 1), ("QUORUM", 2), ("ALL", 3)])
def test_share_of_requests_that_need_a_hop(engine_of, agrees, routing, level, needed):
    """An answer waits for another node when it needs more than the coordinator's own copy, or there is none."""
    document = {
        "cluster": {"nodes": 5, "replication": {"factor": 3}},
        "workload": {"operations": {"write": {"share": 1.0, "consistency": level}}, "cache_hit": 1.0},
        "clients": {"in_flight": 8, "routing": routing},
    }
    scenario, rng = Scenario.model_validate(document), np.random.default_rng(3)
    nodes = nodes_of(scenario)
    placement = place(scenario, nodes, ring_of(scenario, nodes, rng), rng)
    required = [name for name, parameter in PARAMETERS.items() if parameter.required]
    values = complete(dict.fromkeys(required, 1e-4))
    network = compile_network(scenario, values, placement)
    hops, messages = enumerated(placement, routing, needed, 5, 3)
    engines = [Engine(network, *network.demands.evaluate(values), seed) for seed in SEEDS]
    for engine in engines:
        engine.advance(1_500)
    shares = np.array([engine.waits_remote / (len(engine.completed_s) + 8) for engine in engines])
    assert np.mean([engine.messages / len(engine.completed_s) for engine in engines]) == pytest.approx(
        messages, rel=0.01
    )
    if 1e-9 < hops < 1 - 1e-9:
        assert agrees(shares, hops)
        assert not agrees(shares, hops + 0.05)
    else:
        assert np.allclose(shares, hops)
