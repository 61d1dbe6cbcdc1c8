"""Tiny scenarios by their whole event log, derived by hand: the nine constructs of a request graph and the quota.

Demands are constants in halves and quarters of a second, so that times are exact. Under the constant open load of
one request per second, request 1 comes at second 1 and request 2 at second 2, where the runs end.
"""

from __future__ import annotations

import pytest

from capmodel.model.graph import REPLICA, After, Choice, Delay, Detach, Fork, Hold, Link, Resource, Timeout, series
from capmodel.model.network import Quota
from capmodel.model.simulation.event_log import Entry
from capmodel.model.simulation.stations import Servers
from capmodel.model.simulation.streams import Streams

A, B, C = "CPU 1", "CPU 2", "CPU 3"
POOL = "READ_STAGE 1"


@pytest.fixture
def three(tiny):
    """Builder of three nodes with a single server each."""
    builder = tiny(3)
    for node in range(3):
        builder.station(1, nodes=(node,))
    return builder


@pytest.fixture
def events(engine_of):
    """Runs a network up to a time and returns its event log."""

    def run(network, until_s: float, seed: int = 1) -> list[Entry]:
        log: list[Entry] = []
        engine_of(network, seed, log).env.run(until=until_s)
        return [(round(time_s, 9), what, number, where) for time_s, what, number, where in log]

    return run


def one(builder, graph, **load):
    """Return the network under a request per second."""
    return builder.build(graph, rate_per_s=1.0, arrivals="constant", **load)


def at(time_s: float, *rows: tuple[str, int, str]) -> list[Entry]:
    """Return what happens at one time."""
    return [(round(time_s, 9), *row) for row in rows]


def test_visits_of_two_requests_take_turns(three, events):
    network = three.build(three.visit(0.25), in_flight=2)
    assert events(network, 0.6) == [
        *at(0.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A), ("send", 2, ""), ("arrive", 2, A)),
        *at(0.25, ("end", 1, A), ("answer", 1, ""), ("send", 3, ""), ("arrive", 3, A), ("start", 2, A)),
        *at(0.5, ("end", 2, A), ("answer", 2, ""), ("send", 4, ""), ("arrive", 4, A), ("start", 3, A)),
    ]


def test_series_with_a_delay_and_links(three, events):
    graph = series(
        three.visit(0.25),
        Delay(0.125),
        Link(REPLICA, REPLICA + 1),
        three.visit(0.125, 1),
        Link(REPLICA + 1, REPLICA + 1),
    )
    assert events(one(three, graph, hop_s=0.0625), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.25, ("end", 1, A)),
        *at(1.4375, ("arrive", 1, B), ("start", 1, B)),
        *at(1.5625, ("end", 1, B), ("answer", 1, "")),
    ]


@pytest.mark.parametrize(("probability", "taken"), [(1.0, A), (0.0, B)])
def test_choice(three, events, probability, taken):
    graph = Choice(probability, three.visit(0.25, 0), three.visit(0.25, 1))
    assert events(one(three, graph), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, taken), ("start", 1, taken)),
        *at(1.25, ("end", 1, taken), ("answer", 1, "")),
    ]


def test_fork_goes_on_with_two_of_three_and_the_third_ends_later(three, events):
    branches = (three.visit(0.75, 0), three.visit(0.25, 1), three.visit(0.5, 2))
    assert events(one(three, Fork(2, branches)), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.0, ("arrive", 1, B), ("start", 1, B), ("arrive", 1, C), ("start", 1, C)),
        *at(1.25, ("end", 1, B)),
        *at(1.5, ("end", 1, C), ("answer", 1, "")),
        *at(1.75, ("end", 1, A)),
    ]


def test_fork_in_a_fork_joins_inside_out(three, events):
    inner = Fork(2, (three.visit(0.25, 0), three.visit(0.5, 1)))
    graph = series(Fork(2, (inner, three.visit(0.125, 2))), three.visit(0.125, 2))
    assert events(one(three, graph), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.0, ("arrive", 1, B), ("start", 1, B), ("arrive", 1, C), ("start", 1, C)),
        *at(1.125, ("end", 1, C)),
        *at(1.25, ("end", 1, A)),
        *at(1.5, ("end", 1, B), ("arrive", 1, C), ("start", 1, C)),
        *at(1.625, ("end", 1, C), ("answer", 1, "")),
    ]


def test_hold_lets_one_in_at_a_time(tiny, events):
    builder = tiny()
    builder.station(2)
    builder.pool(1)
    network = builder.build(Hold(Resource.READ_STAGE, REPLICA, builder.visit(0.25)), in_flight=2)
    assert events(network, 0.4) == [
        *at(0.0, ("send", 1, ""), ("ask", 1, POOL), ("hold", 1, POOL), ("arrive", 1, A), ("start", 1, A)),
        *at(0.0, ("send", 2, ""), ("ask", 2, POOL)),
        *at(0.25, ("end", 1, A), ("release", 1, POOL), ("hold", 2, POOL), ("arrive", 2, A), ("start", 2, A)),
        *at(0.25, ("answer", 1, ""), ("send", 3, ""), ("ask", 3, POOL)),
    ]


def test_speculation_fires_and_wins(three, events):
    graph = Fork(1, (three.visit(0.5, 0), After(three.visit(0.125, 1), delay_s=0.25)))
    assert events(one(three, graph), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.25, ("speculate", 1, ""), ("arrive", 1, B), ("start", 1, B)),
        *at(1.375, ("end", 1, B), ("answer", 1, "")),
        *at(1.5, ("end", 1, A)),
    ]


def test_speculation_does_not_fire_after_the_join(three, events):
    graph = Fork(1, (three.visit(0.125, 0), After(three.visit(0.125, 1), delay_s=0.25)))
    assert events(one(three, graph), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.125, ("end", 1, A), ("answer", 1, "")),
    ]


def test_speculation_by_percentile_waits_for_a_threshold(three, engine_of):
    """Without a threshold it never fires; the fork's own durations are noted to set one."""
    graph = Fork(1, (three.visit(0.5, 0), After(three.visit(0.125, 1), percentile=0.99)))
    engine = engine_of(one(three, graph))
    engine.env.run(until=3.75)
    (fork,) = engine.durations
    assert engine.durations[fork] == [0.5, 0.5, 0.5]
    assert engine.speculations == 0
    engine.thresholds[fork] = 0.25
    engine.env.run(until=5.75)
    assert engine.durations[fork][-2:] == [0.375, 0.375]
    assert engine.speculations == 2


def test_detached_work_goes_on_after_the_answer(three, events):
    graph = series(Detach(three.visit(0.5, 0)), three.visit(0.25, 1))
    assert events(one(three, graph), 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A), ("arrive", 1, B), ("start", 1, B)),
        *at(1.25, ("end", 1, B), ("answer", 1, "")),
        *at(1.5, ("end", 1, A)),
    ]


def test_timeout_answers_with_an_error_and_the_work_goes_on(three, events, engine_of):
    graph = series(Timeout(0.25, series(three.visit(0.5, 0), three.visit(0.125, 1))), three.visit(0.125, 2))
    network = one(three, graph)
    assert events(network, 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.25, ("time out", 1, ""), ("arrive", 1, C), ("start", 1, C)),
        *at(1.375, ("end", 1, C), ("answer", 1, "")),
        *at(1.5, ("end", 1, A), ("arrive", 1, B), ("start", 1, B)),
        *at(1.625, ("end", 1, B)),
    ]
    engine = engine_of(network)
    engine.advance(1)
    assert list(engine.failed) == [1]
    assert list(engine.latency_s) == [0.375]


def test_timeout_does_not_fire_when_the_work_ends_in_time(three, events, engine_of):
    network = one(three, Timeout(0.5, three.visit(0.25)))
    assert events(network, 2.0) == [
        *at(1.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(1.25, ("end", 1, A), ("answer", 1, "")),
    ]
    engine = engine_of(network)
    engine.advance(3)
    assert list(engine.failed) == [0, 0, 0]


def test_a_timed_out_request_gives_its_permit_back(tiny, events):
    builder = tiny()
    builder.station(1)
    builder.pool(1)
    graph = Hold(Resource.READ_STAGE, REPLICA, Timeout(0.25, builder.visit(0.5)))
    assert events(one(builder, graph), 2.0) == [
        *at(1.0, ("send", 1, ""), ("ask", 1, POOL), ("hold", 1, POOL), ("arrive", 1, A), ("start", 1, A)),
        *at(1.25, ("time out", 1, ""), ("release", 1, POOL), ("answer", 1, "")),
        *at(1.5, ("end", 1, A)),
    ]


@pytest.fixture
def phase():
    """A seed, and the end of the first period of a station under a quota: past half of a period of one second."""
    phases = {seed: Streams(seed).uniform("phase").next() for seed in range(20)}
    return next((seed, phase_s) for seed, phase_s in phases.items() if 0.5 < phase_s < 0.9)


def quota_network(tiny, demand_s, cpus, load, idle_cores=0.0):
    """Return a station that may use half a CPU second per second."""
    builder = tiny()
    builder.station(cpus, quota=Quota(0.5, 1.0, cpus), idle_cores=idle_cores)
    return builder.build(builder.visit(demand_s), **load)


def test_quota_stops_twice(tiny, events, phase):
    """Five quarters of work: half a second in each of two periods, the rest in the third."""
    seed, phase_s = phase
    network = quota_network(tiny, 1.25, 1, {"rate_per_s": 0.25, "arrivals": "constant"})
    assert events(network, 8.0, seed) == [
        *at(4.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(4.5, ("stop", 0, A)),
        *at(4.0 + phase_s, ("go on", 0, A)),
        *at(4.5 + phase_s, ("stop", 0, A)),
        *at(5.0 + phase_s, ("go on", 0, A)),
        *at(5.25 + phase_s, ("end", 1, A), ("answer", 1, "")),
    ]


def test_quota_is_used_up_twice_as_fast_on_two_processors(tiny, events, phase):
    seed, phase_s = phase
    assert events(quota_network(tiny, 0.375, 2, {"in_flight": 2}), phase_s + 0.2, seed) == [
        *at(0.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(0.0, ("send", 2, ""), ("arrive", 2, A), ("start", 2, A)),
        *at(0.25, ("stop", 0, A)),
        *at(phase_s, ("go on", 0, A)),
        *at(phase_s + 0.125, ("end", 1, A), ("answer", 1, ""), ("send", 3, ""), ("arrive", 3, A), ("start", 3, A)),
        *at(phase_s + 0.125, ("end", 2, A), ("answer", 2, ""), ("send", 4, ""), ("arrive", 4, A), ("start", 4, A)),
    ]


def test_idle_work_uses_the_quota_before_the_request_comes(tiny, events, phase):
    """Spinning since the period began at `phase`, of the half second are left 0.5 - (1 - phase) when it comes."""
    seed, phase_s = phase
    network = quota_network(tiny, 0.5, 1, {"rate_per_s": 0.25, "arrivals": "constant"}, idle_cores=1.0)
    assert events(network, 5.9, seed) == [
        *at(4.0, ("send", 1, ""), ("arrive", 1, A), ("start", 1, A)),
        *at(3.5 + phase_s, ("stop", 0, A)),
        *at(4.0 + phase_s, ("go on", 0, A)),
        *at(4.5 + phase_s - (phase_s - 0.5), ("end", 1, A), ("answer", 1, "")),
    ]


def test_a_log_changes_nothing_and_no_log_costs_nothing(three, engine_of):
    network = three.build(
        Fork(1, (three.visit(0.25, 0, variation=1.0), three.visit(0.25, 1, variation=1.0))), in_flight=4
    )
    log: list[Entry] = []
    noted, plain = engine_of(network, 5, log), engine_of(network, 5)
    noted.advance(500)
    plain.advance(500)
    assert noted.latency_s == plain.latency_s
    assert log
    assert {type(station) for station in plain.stations} == {Servers}
