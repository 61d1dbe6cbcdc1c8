"""Properties that every solver has: bounds, mean-value analysis, simulation.

A reading is what a solver says of a scenario: throughput, mean latency and utilisation of the busiest node CPU. For
the bounds the latency is the least one and the throughput the largest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from capmodel.model.bounds import bounds
from capmodel.model.compile import compile_network, ring_of
from capmodel.model.demands import PARAMETERS, complete
from capmodel.model.ensemble import ensemble
from capmodel.model.mva import solve
from capmodel.model.network import Network
from capmodel.model.offered import capacities, offered_s
from capmodel.model.placement import place
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.engine import Engine
from capmodel.model.topology import nodes_of

VALUES = complete(
    {
        "coordinator_read_s": 100e-6,
        "coordinator_write_s": 80e-6,
        "replica_read_s": 150e-6,
        "replica_write_s": 90e-6,
        "message_send_s": 30e-6,
        "message_receive_s": 30e-6,
        "block_and_wake_s": 40e-6,
    }
)
REQUESTS = 3_000


@dataclass(frozen=True)
class Reading:
    """What a solver says."""

    throughput_per_s: float
    mean_s: float
    utilisation: float


def network_of(values=VALUES, *, nodes=3, factor=3, level="QUORUM", hops_s=None, nic=1e11, **clients) -> Network:
    """Return the network of a scenario of reads and writes at one level, rows in memory."""
    mix = {name: {"share": 0.5, "consistency": level} for name in ("read", "write")}
    hops = dict.fromkeys(("same_host", "same_rack", "same_datacenter", "client"), 50e-6 if hops_s is None else hops_s)
    client_s = clients.pop("client_s", 20e-6)
    scenario = Scenario.model_validate(
        {
            "cluster": {
                "nodes": nodes,
                "replication": {"factor": factor},
                "allocation": "even",
                "table": {"speculative_retry": "NONE"},
            },
            "hardware": {"cores": 4, "nic": nic, "hops": hops},
            "workload": {"operations": mix, "cache_hit": 1.0},
            "clients": {"in_flight": 16, "cpu_per_operation": client_s, **clients},
        }
    )
    rng = np.random.default_rng(1)
    machines = nodes_of(scenario)
    placement = place(scenario, machines, ring_of(scenario, machines, rng), rng)
    return compile_network(scenario, values, placement)


def by_bounds(network: Network, values=VALUES, seed: int = 1) -> Reading:
    """Return the upper bounds as a reading."""
    found = bounds(network, values)
    throughput = found.throughput_per_s
    busy = throughput * offered_s(network, values) / capacities(network)
    return Reading(throughput, network.load.in_flight / found.population_per_s, busy[network.cpu_stations].max())


def by_mean_values(network: Network, values=VALUES, seed: int = 1) -> Reading:
    """Return mean-value analysis as a reading."""
    found = solve(ensemble(network, values))
    cpu = found.utilisation[0, network.cpu_stations]
    return Reading(found.throughput_per_s[0], found.response_s[0], cpu.max())


def by_simulation(network: Network, values=VALUES, seed: int = 1) -> Reading:
    """Return a short simulation as a reading."""
    engine = Engine(network, *network.demands.evaluate(values), seed)
    engine.advance(REQUESTS)
    elapsed_s = engine.env.now
    busy = [engine.stations[index].busy_s / elapsed_s / 4 for index in network.cpu_stations]
    return Reading(REQUESTS / elapsed_s, float(np.mean(engine.latency_s)), max(busy))


SOLVERS = {"bounds": (by_bounds, 1e-9), "mva": (by_mean_values, 2e-3), "simulate": (by_simulation, 0.03)}


@pytest.fixture(params=SOLVERS.values(), ids=SOLVERS.keys())
def solver(request):
    """A solver and its noise, relative."""
    return request.param


def test_same_input_same_output(solver):
    read, _ = solver
    assert read(network_of()) == read(network_of())
    assert read(network_of()) != read(network_of(nodes=4))


@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_scaling_all_times_scales_all_latencies(solver, factor):
    read, _ = solver
    scaled = {name: value * factor if PARAMETERS[name].unit == "s" else value for name, value in VALUES.items()}
    network = network_of(scaled, hops_s=factor * 50e-6, client_s=factor * 20e-6, nic=1e11 / factor)
    plain, slow = read(network_of()), read(network, scaled)
    assert slow.mean_s == pytest.approx(factor * plain.mean_s, rel=0.01)
    assert slow.throughput_per_s == pytest.approx(plain.throughput_per_s / factor, rel=0.01)
    assert slow.utilisation == pytest.approx(plain.utilisation, rel=0.01)


def test_scaling_some_times_does_not_scale_all(solver):
    """The negative control."""
    read, _ = solver
    scaled = {name: value * 4 if PARAMETERS[name].unit == "s" else value for name, value in VALUES.items()}
    assert read(network_of(scaled), scaled).mean_s < 3.9 * read(network_of()).mean_s


def test_more_load_never_lowers_utilisation_or_throughput(solver):
    read, noise = solver
    readings = [read(network_of(in_flight=count)) for count in (1, 4, 16, 64, 256)]
    for less, more in pairwise(readings):
        assert more.utilisation >= less.utilisation * (1 - noise)
        assert more.throughput_per_s >= less.throughput_per_s * (1 - noise)
        assert more.mean_s >= less.mean_s * (1 - noise)
    assert readings[0].utilisation < 0.5 < readings[-1].utilisation


@pytest.mark.parametrize("routing", ["round-robin", "token-aware"])
def test_more_needed_answers_never_lower_the_latency(solver, routing):
    read, noise = solver
    means = [read(network_of(level=level, in_flight=2, routing=routing)).mean_s for level in ("ONE", "QUORUM", "ALL")]
    assert means[1] >= means[0] * (1 - noise)
    assert means[2] >= means[1] * (1 - noise)
    assert means[2] > 1.05 * means[0]


def test_more_replicas_never_lower_the_work_of_a_write(solver):
    """Every replica does every write, so that at level ONE of a saturated cluster more replicas carry less."""
    read, noise = solver
    networks = [network_of(nodes=4, factor=factor, level="ONE", in_flight=400) for factor in (1, 2, 3)]
    rates = [read(network).throughput_per_s for network in networks]
    assert rates[1] <= rates[0] * (1 + noise)
    assert rates[2] <= rates[1] * (1 + noise)
    assert rates[2] < 0.9 * rates[0]


def test_a_single_node_has_no_hop(solver):
    """Neither hops nor messages cost anything there; with two nodes under round robin they do."""
    read, _ = solver
    dear = complete({**VALUES, "message_send_s": 1e-3, "message_receive_s": 1e-3, "block_and_wake_s": 1e-3})
    alike = {"factor": 1, "level": "ONE", "in_flight": 4, "routing": "round-robin"}
    alone = read(network_of(dear, nodes=1, **alike), dear)
    assert alone == read(network_of(nodes=1, **alike))
    assert read(network_of(dear, nodes=2, **alike), dear).mean_s > 2 * alone.mean_s


def test_a_faster_cpu_never_lowers_the_throughput(solver):
    read, noise = solver
    fast = {name: value / 2 if PARAMETERS[name].unit == "s" else value for name, value in VALUES.items()}
    assert read(network_of(fast), fast).throughput_per_s > read(network_of()).throughput_per_s * (1 + noise)


def test_no_solver_is_above_the_bounds(solver):
    read, noise = solver
    for count in (1, 16, 256):
        network = network_of(in_flight=count)
        assert read(network).throughput_per_s <= bounds(network, VALUES).throughput_per_s * (1 + noise)
