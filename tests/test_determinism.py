"""Same seed, same bytes; another seed, other bytes; whatever the order of looks, hashes and processes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from capmodel.model.compile import compile_network, ring_of
from capmodel.model.demands import complete
from capmodel.model.placement import place
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.engine import Engine
from capmodel.model.simulation.run import Budget, simulate
from capmodel.model.topology import nodes_of

VALUES = complete(
    dict.fromkeys(
        ("coordinator_read_s", "coordinator_write_s", "replica_read_s", "replica_write_s", "message_send_s"), 80e-6
    )
    | {"message_receive_s": 20e-6, "block_and_wake_s": 30e-6, "idle_cores": 0.2, "contention_ratio": 0.01}
)


def network_of(**clients):
    """Return a network with a quota, random reads and speculation."""
    scenario = Scenario.model_validate(
        {
            "cluster": {"nodes": 4, "replication": {"factor": 3}},
            "hardware": {"cores": 2, "cpu_quota": {"cores": 1.5, "period": 0.01, "cpus": 2}},
            "workload": {"cache_hit": 0.8},
            "clients": clients or {"in_flight": 24},
        }
    )
    rng = np.random.default_rng(1)
    nodes = nodes_of(scenario)
    return compile_network(scenario, VALUES, place(scenario, nodes, ring_of(scenario, nodes, rng), rng))


def fingerprint(engine) -> str:
    """Return a digest of all that an engine notes."""
    arrays = (engine.completed_s, engine.latency_s, engine.operation, engine.failed)
    whole = hashlib.sha256(b"".join(array.tobytes() for array in arrays))
    whole.update(repr([station.busy_s for station in engine.stations]).encode())
    return whole.hexdigest()


def simulated(seed: int, looks=(3_000,), **clients) -> str:
    """Return the digest of a run with so many answers at each look."""
    network = network_of(**clients)
    engine = Engine(network, *network.demands.evaluate(VALUES), seed)
    for answers in looks:
        engine.advance(answers)
    return fingerprint(engine)


@pytest.mark.parametrize("clients", [{"in_flight": 24}, {"rate": 4000.0}, {"rate": 4000.0, "arrivals": "bursts"}])
def test_same_seed_same_bytes(clients):
    assert simulated(7, **clients) == simulated(7, **clients)
    assert simulated(7, **clients) != simulated(8, **clients)


def test_looks_in_between_change_nothing():
    assert simulated(7, looks=(500, 1_234, 3_000)) == simulated(7)


def test_results_are_equal_whatever_the_hash_seed():
    program = (
        "import importlib.util as u, sys;"
        f"spec = u.spec_from_file_location('determinism', {__file__!r});"
        "m = u.module_from_spec(spec); sys.modules['determinism'] = m; spec.loader.exec_module(m);"
        "print(m.simulated(7))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert printed == {simulated(7)}


def test_a_run_with_a_budget_is_repeated_by_its_number_of_requests():
    network = network_of()
    first = simulate(network, VALUES, 3, Budget(most_requests=12_000))
    again = simulate(network, VALUES, 3, Budget(most_requests=12_000))
    assert repr(first) == repr(again)
    assert repr(simulate(network, VALUES, 4, Budget(most_requests=12_000))) != repr(first)


def test_more_time_in_the_network_sees_the_same_arrivals():
    """Separate streams: arrivals of an open load do not depend on what happens to the requests."""
    starts = []
    for hop in ("50us", "500us"):
        scenario = Scenario.model_validate(
            {
                "cluster": {"nodes": 3, "replication": {"factor": 2}},
                "hardware": {"hops": {"same_rack": hop}},
                "workload": {"cache_hit": 1.0},
                "clients": {"rate": 2000.0},
            }
        )
        rng = np.random.default_rng(1)
        nodes = nodes_of(scenario)
        network = compile_network(scenario, VALUES, place(scenario, nodes, ring_of(scenario, nodes, rng), rng))
        engine = Engine(network, *network.demands.evaluate(VALUES), 5)
        engine.env.run(until=1.0)
        starts.append(sorted(np.round(np.array(engine.completed_s) - np.array(engine.latency_s), 9))[:1_500])
    assert starts[0] == starts[1]
