"""Little's law at every station and pool of a cluster, from its event log: mean number = rate x mean residence.

The left side counts who is there over time; the right side pairs each arrival with its end. Both must agree up to what
the ends of the interval cut off. The law of the whole system is exact for a closed population.
"""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
import pytest

from capmodel.model.compile import compile_network, ring_of
from capmodel.model.demands import complete
from capmodel.model.ensemble import ensemble
from capmodel.model.mva import solve
from capmodel.model.placement import place
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.engine import Engine
from capmodel.model.topology import nodes_of

REQUESTS, IN_FLIGHT = 4_000, 48
ENTERS, LEAVES = {"arrive", "ask"}, {"end", "release"}
VALUES = complete(
    {
        "coordinator_read_s": 60e-6,
        "coordinator_write_s": 60e-6,
        "replica_read_s": 120e-6,
        "replica_write_s": 80e-6,
        "message_send_s": 20e-6,
        "message_receive_s": 20e-6,
        "coordinator_wake_up_s": 40e-6,
    }
)


@pytest.fixture(scope="module")
def network():
    """Three nodes of two cores, some rows on disk, pools small enough to make requests wait."""
    scenario = Scenario.model_validate(
        {
            "cluster": {
                "nodes": 3,
                "replication": {"factor": 3},
                "settings": {"concurrent_reads": 4, "concurrent_writes": 4, "native_transport_max_threads": 12},
            },
            "hardware": {"cores": 2, "data_disks": {"kind": "hdd", "count": 4}},
            "workload": {"cache_hit": 0.97},
            "clients": {"in_flight": IN_FLIGHT, "routing": "round-robin"},
        }
    )
    rng = np.random.default_rng(1)
    nodes = nodes_of(scenario)
    return compile_network(scenario, VALUES, place(scenario, nodes, ring_of(scenario, nodes, rng), rng))


@pytest.fixture(scope="module")
def run(network):
    """The event log of a run, its engine, and its duration."""
    log: list = []
    engine = Engine(network, *network.demands.evaluate(VALUES), 1, log)
    engine.advance(REQUESTS)
    return log, engine, engine.env.now


def places_of(log):
    """Return the times of entering and leaving, and the residences of those that left, of each station and pool."""
    places = defaultdict(lambda: ([], [], []))
    inside = defaultdict(deque)
    for time_s, what, number, where in log:
        entered, left, residences = places[where]
        if what in ENTERS:
            entered.append(time_s)
            inside[where, number].append(time_s)
        elif what in LEAVES:
            left.append(time_s)
            residences.append(time_s - inside[where, number].popleft())
    del places[""]
    return {where: tuple(np.array(times) for times in lists) for where, lists in places.items()}


def mean_number(entered, left, until_s):
    """Return the time average of the number inside."""
    times = np.concatenate([entered, left])
    steps = np.concatenate([np.ones(len(entered)), -np.ones(len(left))])
    order = np.argsort(times, kind="stable")
    inside = np.cumsum(steps[order])
    return float(np.sum(inside * np.diff(np.append(times[order], until_s))) / until_s)


def test_every_station_and_pool_is_in_the_log(run):
    log, engine, _ = run
    kinds = {where.split(" of ")[0] for where in places_of(log)}
    assert {"CPU", "data disk", "native transport", "read stage", "mutation stage"} <= kinds
    assert any(pool.waited for pool in engine.pools)


def test_littles_law_at_every_station_and_pool(run):
    log, _, until_s = run
    for where, (entered, left, residences) in places_of(log).items():
        number = mean_number(entered, left, until_s)
        spent_s = number * until_s
        unfinished_s = len(entered) * until_s - entered.sum() - (len(left) * until_s - left.sum()) - residences.sum()
        assert unfinished_s > -1e-6
        assert unfinished_s < 0.03 * spent_s, where
        assert number == pytest.approx(
            len(left) / until_s * residences.mean(), rel=unfinished_s / residences.sum() + 1e-6
        ), where


def test_littles_law_fails_for_another_residence(run):
    """The negative control: the time in service alone is too short wherever requests wait."""
    log, _, until_s = run
    started = [(t, "arrive" if what == "start" else what, n, w) for t, what, n, w in log if what != "arrive"]
    waiting = 0
    whole, served = places_of(log), places_of(started)
    for where, (entered, left, _) in whole.items():
        if where.startswith("CPU of node"):
            number = mean_number(entered, left, until_s)
            waiting += number > 1.1 * len(left) / until_s * served[where][2].mean()
    assert waiting == 3


def test_flow_balance_at_every_station_and_pool(run):
    log, _, _ = run
    for where, (entered, left, _) in places_of(log).items():
        assert 0 <= len(entered) - len(left) <= 0.02 * len(entered) + IN_FLIGHT, where


def test_littles_law_of_the_whole_system(run):
    _, engine, until_s = run
    latency_s = np.array(engine.latency_s)
    assert len(latency_s) / until_s * latency_s.mean() == pytest.approx(IN_FLIGHT, rel=0.02)


def test_utilisation_law_at_every_cpu(run):
    """Busy time counted by the engine and that of the log's services."""
    log, engine, until_s = run
    started = places_of([(t, "arrive" if what == "start" else what, n, w) for t, what, n, w in log if what != "arrive"])
    for station in engine.stations:
        if station.station.name.startswith("CPU of node"):
            entered, left, _ = started[station.station.name]
            busy = mean_number(entered, left, until_s)
            assert station.busy_s / until_s == pytest.approx(busy, rel=0.01)


def test_littles_law_of_mean_value_analysis(network):
    solution = solve(ensemble(network, VALUES))
    assert solution.throughput_per_s[0] * solution.response_s[0] == pytest.approx(IN_FLIGHT, rel=1e-3)
