"""How fast the simulation is: requests and visits per second, growth with nodes and in flight, peak memory.

Run by hand (`python tests/benchmark_simulation.py`), it prints the table of `docs/background/solvers.md`;
`test_benchmark.py` runs a short form. The code that is bent for speed (streams drawn in blocks, tokens that are their
own events, handlers wired before the run) is justified by these figures.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass

import numpy as np

from capmodel.model.compile import compile_network, ring_of
from capmodel.model.demands import complete
from capmodel.model.placement import place
from capmodel.model.scenario import Scenario
from capmodel.model.simulation.engine import Engine
from capmodel.model.topology import nodes_of

VALUES = complete(
    {
        "coordinator_read_s": 60e-6,
        "coordinator_write_s": 60e-6,
        "replica_read_s": 80e-6,
        "replica_write_s": 60e-6,
        "message_send_s": 20e-6,
        "message_receive_s": 20e-6,
        "block_and_wake_s": 20e-6,
    }
)


@dataclass(frozen=True)
class Speed:
    """What one run cost."""

    requests_per_s: float
    visits_per_s: float
    visits_per_request: float
    events_per_request: float
    messages_per_request: float


def measure(nodes: int, in_flight: int, requests: int) -> Speed:
    """Run RF 3 at QUORUM, half reads and half writes, and return its speed; a tenth of the requests is warm-up."""
    mix = {name: {"share": 0.5, "consistency": "QUORUM"} for name in ("read", "write")}
    scenario = Scenario.model_validate(
        {
            "cluster": {"nodes": nodes, "replication": {"factor": 3}},
            "workload": {"operations": mix, "cache_hit": 1.0},
            "clients": {"in_flight": in_flight},
        }
    )
    rng = np.random.default_rng(1)
    machines = nodes_of(scenario)
    network = compile_network(scenario, VALUES, place(scenario, machines, ring_of(scenario, machines, rng), rng))
    engine = Engine(network, *network.demands.evaluate(VALUES), 1)
    engine.advance(requests // 10)
    before = _counts(engine)
    started_s = time.perf_counter()
    engine.advance(requests + requests // 10)
    elapsed_s = time.perf_counter() - started_s
    answers, visits, events, messages = _counts(engine) - before
    return Speed(answers / elapsed_s, visits / elapsed_s, visits / answers, events / answers, messages / answers)


def _counts(engine: Engine) -> np.ndarray:
    visits = sum(station.visits for station in engine.stations)
    return np.array([len(engine.completed_s), visits, next(engine.env._eid), engine.messages], dtype=float)


def main(requests: int) -> None:
    """Print the speed for several sizes."""
    print("| Nodes | in flight | requests/s | visits/s | visits a request | events a request | peak MB |")
    print("|---|---|---|---|---|---|---|")
    for nodes, in_flight in [(3, 64), (12, 64), (48, 64), (192, 64), (3, 512), (3, 4096), (192, 4096)]:
        speed = measure(nodes, in_flight, requests)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {nodes} | {in_flight} | {speed.requests_per_s:,.0f} | {speed.visits_per_s:,.0f} "
            f"| {speed.visits_per_request:.1f} | {speed.events_per_request:.1f} | {peak:.0f} |"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)
