"""Fixtures shared by the tests of the solvers: tiny networks made by hand, runs of them, and checks with an error.

A tiny network needs no scenario: its nodes are its stations. Role REPLICA + j is node j and the coordinator is
node 0, so that a visit by role REPLICA + j goes to the j-th station.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from capmodel.model.graph import REPLICA, Graph, Resource, Visit
from capmodel.model.network import (
    CONSTANT,
    Binding,
    Demands,
    Distances,
    Load,
    Network,
    OperationGraphs,
    Pool,
    Station,
)
from capmodel.model.program import ProgramRecorder
from capmodel.model.simulation.engine import Engine


@dataclass
class TinyNetwork:
    """Collects stations, pools and demands of a network whose node j plays the role REPLICA + j."""

    nodes: int = 1
    stations: list[Station] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    rows: list[tuple[float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.station_of = np.full((len(Resource), self.nodes), -1)
        self.pool_of = np.full((len(Resource), self.nodes), -1)
        self.seconds_per = np.ones((len(Resource), self.nodes))
        self.setup_s = np.zeros((len(Resource), self.nodes))

    def station(
        self, servers: int = 1, *, nodes: Sequence[int] = (0,), resource: Resource = Resource.CPU, **effects: object
    ) -> None:
        """Add a station that is the given resource of the given nodes."""
        for node in nodes:
            self.station_of[resource, node] = len(self.stations)
        name = f"{resource.name} {nodes[0] + 1}"
        kind = "client CPU" if resource is Resource.CLIENT_CPU else "CPU"
        self.stations.append(Station(name, kind, servers, **effects))  # type: ignore[arg-type]

    def pool(self, permits: int, *, nodes: Sequence[int] = (0,), resource: Resource = Resource.READ_STAGE) -> None:
        """Add a pool of permits."""
        for node in nodes:
            self.pool_of[resource, node] = len(self.pools)
        self.pools.append(Pool(f"{resource.name} {nodes[0] + 1}", resource.name, permits))

    def visit(
        self,
        demand_s: float,
        node: int = 0,
        *,
        variation: float = 0.0,
        wake_up_s: float = 0.0,
        resource: Resource = Resource.CPU,
        role: int | None = None,
    ) -> Visit:
        """Return a visit to a node's station."""
        self.rows.append((demand_s, wake_up_s, variation))
        return Visit(resource, REPLICA + node if role is None else role, len(self.rows) - 1)

    def build(
        self,
        graphs: Graph | Sequence[tuple[float, Graph]],
        *,
        in_flight: int | None = None,
        rate_per_s: float | None = None,
        think_time_s: float = 0.0,
        arrivals: str = "poisson",
        hop_s: float = 0.0,
        **load: object,
    ) -> Network:
        """Return the network of one graph, or of several with their shares."""
        shares = graphs if isinstance(graphs, Sequence) else [(1.0, graphs)]
        program = ProgramRecorder()
        for _, graph in shares:
            program.add(graph)
        table = np.array(self.rows or [(0.0, 0.0, 0.0)])
        operations = tuple(
            OperationGraphs(f"op{number}", share, "read", False, np.full((1, self.nodes + 1), number))
            for number, (share, _) in enumerate(shares)
        )
        zeros = np.zeros(self.nodes, dtype=np.int64)
        settings = {"burst_size": 1, "max_in_flight": None, "machines": 1, **load}
        return Network(
            stations=tuple(self.stations),
            pools=tuple(self.pools),
            station_of=self.station_of,
            pool_of=self.pool_of,
            seconds_per=self.seconds_per,
            setup_s=self.setup_s,
            demands=Demands((CONSTANT,), table[:, :1], table[:, 1:2], table[:, 2]),
            graphs=tuple(graph for _, graph in shares),
            waits_remote=tuple(False for _ in shares),
            program=program.finish(),
            operations=operations,
            binding=Binding(
                replicas=np.arange(self.nodes)[None, :],
                weight=np.ones(1),
                cycle=np.zeros(1, dtype=np.int64),
                columns=np.zeros(0, dtype=np.int64),
                allowed=np.ones(self.nodes, dtype=bool),
                shuffle=False,
                near_first=False,
                datacenter=zeros,
                rack=zeros,
            ),
            distances=Distances(zeros, zeros, np.arange(self.nodes), np.array([0.0, *[hop_s] * 4]), 0.0),
            load=Load(in_flight, think_time_s, rate_per_s, arrivals, **settings),  # type: ignore[arg-type]
            roles=REPLICA + self.nodes,
        )


def start_engine(network: Network, seed: int = 1, log: list[tuple[float, str, int, str]] | None = None) -> Engine:
    """Return an engine of a tiny network, or of a scenario's network at the values it was compiled with."""
    base, wake_up = network.demands.evaluate({})
    return Engine(network, base, wake_up, seed, log)


@dataclass(frozen=True)
class Observed:
    """What runs with different seeds said, after a warm-up; each array is [seeds]."""

    throughput_per_s: np.ndarray
    mean_s: np.ndarray
    busy: np.ndarray
    """[seeds, stations]: mean number of busy servers."""
    latency_s: tuple[np.ndarray, ...]
    """[seeds] of [requests]."""


def observe_network(network: Network, requests: int = 10_000, seeds: Sequence[int] = range(8)) -> Observed:
    """Run a tiny network once per seed; a fifth of the requests is warm-up."""
    runs = [_one_run(network, requests, seed) for seed in seeds]
    throughput, busy, latency = zip(*runs, strict=True)
    means = np.array([each.mean() for each in latency])
    return Observed(np.array(throughput), means, np.array(busy), tuple(latency))


def _one_run(network: Network, requests: int, seed: int) -> tuple[float, list[float], np.ndarray]:
    warm_up = requests // 4
    engine = start_engine(network, seed)
    engine.advance(warm_up)
    began_s, before = engine.env.now, [station.busy_s for station in engine.stations]
    engine.advance(warm_up + requests)
    elapsed_s = engine.env.now - began_s
    busy = [(station.busy_s - old) / elapsed_s for station, old in zip(engine.stations, before, strict=True)]
    return requests / elapsed_s, busy, np.array(engine.latency_s)[warm_up : warm_up + requests]


def lies_within(samples: np.ndarray, expected: float, errors: float = 4.0) -> bool:
    """Whether independent results agree with an expected mean, within so many of their own standard errors."""
    std_err = float(np.std(samples, ddof=1)) / np.sqrt(len(samples))
    return abs(float(np.mean(samples)) - expected) <= errors * std_err


@pytest.fixture(scope="session")
def tiny() -> type[TinyNetwork]:
    """Builder of tiny networks."""
    return TinyNetwork


@pytest.fixture(scope="session")
def engine_of() -> Callable[..., Engine]:
    """Starts the engine of a tiny network."""
    return start_engine


@pytest.fixture(scope="session")
def observe() -> Callable[..., Observed]:
    """Runs a tiny network over a fixed set of seeds."""
    return observe_network


@pytest.fixture(scope="session")
def agrees() -> Callable[..., bool]:
    """Compares results of several seeds with theory, within four standard errors."""
    return lies_within
