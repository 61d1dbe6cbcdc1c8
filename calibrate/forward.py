"""The forward model of a fit: mean-value analysis of all runs at once, for many sets of parameters.

Runs that differ only in their number in flight or their rate share a network; every set of parameters is a member of
its ensemble, so that one solution gives a whole Jacobian by finite differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.compile import is_drawn, ring_of
from ..model.demands import complete
from ..model.ensemble import Ensemble, ensemble
from ..model.growth import resolved_clients
from ..model.mva import MvaSolution, solve
from ..model.network import CONSTANT, Floats, Network
from ..model.offered import capacities
from ..model.percentile import latency_s
from ..model.scenario import Scenario
from ..model.study import Study, study
from ..model.topology import nodes_of
from .observation import CPU, THROUGHPUT, Observation, observations_of
from .parameters import STATION_PARAMETERS, merged_values
from .run import Run

STEP = 1e-3
"""Step of the logarithm of a parameter for a finite difference: far above the solver's 5e-5, far below a curve."""
RING_SEED = 20
"""Seed of the rings of scenarios that do not give theirs; the middling ring of the draws is used."""
RINGS = 5
"""Rings that are drawn for it: a middling one of five is about as near the middle as one needs for a fit."""


@dataclass(frozen=True)
class Structure:
    """Runs whose networks are the same but for the load."""

    scenario: Scenario
    runs: tuple[int, ...]


def structure_key(scenario: Scenario) -> str:
    """Return a text that is the same for scenarios that differ in the size of their load only."""
    clients = scenario.clients.model_copy(
        update={"in_flight": 1, "in_flight_per_node": None, "rate": scenario.clients.rate and 1.0}
    )
    return scenario.model_copy(update={"clients": clients, "name": "", "title": ""}).model_dump_json()


def middling_study(scenario: Scenario, values: Mapping[str, float]) -> Study:
    """Return a scenario compiled on a middling ring."""
    rng = np.random.default_rng(RING_SEED)
    nodes = nodes_of(scenario)
    rings = [ring_of(scenario, nodes, rng) for _ in range(RINGS if is_drawn(scenario) else 1)]
    return study(scenario, values, rings, rng)


def structures_of(scenarios: Sequence[Scenario]) -> tuple[Structure, ...]:
    """Return the structures of scenarios."""
    groups: dict[str, list[int]] = {}
    for index, scenario in enumerate(scenarios):
        groups.setdefault(structure_key(scenario), []).append(index)
    return tuple(Structure(scenarios[found[0]], tuple(found)) for found in groups.values())


class ForwardModel:
    """Predicts the observations of runs from parameters."""

    def __init__(
        self, runs: Sequence[Run], values: Mapping[str, float], observations: Sequence[Observation] | None = None
    ) -> None:
        """Prepare the networks of runs.

        Args:
            runs: the runs.
            values: parameters of the model by name, for what is not varied.
            observations: what is to be predicted; all that the runs hold when not given.
        """
        self._scenarios = [resolved_clients(run.scenario) for run in runs]
        self._values = complete(values)
        self.observations = observations_of(runs) if observations is None else tuple(observations)
        self.structures = structures_of(self._scenarios)
        self._networks: dict[tuple[int, tuple[float, ...]], Network] = {}

    @property
    def touched(self) -> tuple[str, ...]:
        """Names of the demand parameters that the requests of the runs use."""
        names: dict[str, None] = {}
        for number in range(len(self.structures)):
            demands = self._network(number, self._station_values({}, 0)).demands
            used = (demands.base != 0).any(axis=0) | (demands.wake_up != 0).any(axis=0)
            names |= dict.fromkeys(n for n, u in zip(demands.parameters, used, strict=True) if u and n != CONSTANT)
        return tuple(names)

    def expected(self, table: Mapping[str, Floats]) -> Floats:
        """Return the logarithms of the observations, [members, observations], for parameters [members] each."""
        members = len(next(iter(table.values()))) if table else 1
        result = np.zeros((members, len(self.observations)))
        for which in self._alike(table, members):
            part = {name: column[which] for name, column in table.items()}
            stations = self._station_values(table, int(which[0]))
            for number, structure in enumerate(self.structures):
                solved = _Solved(self._network(number, stations), self._loads(structure), self._complete(part, which))
                for position, run in enumerate(structure.runs):
                    for column, one in enumerate(self.observations):
                        if one.run == run:
                            result[which, column] = solved.read(one, position)
        return result

    def with_jacobian(self, logs: Floats, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Return expected logarithms [observations] and their derivatives [observations, parameters]."""
        moved = np.vstack([logs, logs + STEP * np.eye(len(logs))])
        expected = self.expected({name: np.exp(moved[:, i]) for i, name in enumerate(names)})
        return expected[0], (expected[1:] - expected[0]).T / STEP

    def _complete(self, part: Mapping[str, Floats], which: np.ndarray) -> dict[str, Floats]:
        merged = merged_values(self._values, part, len(which))
        if "replica_absent_s" not in part and self._values["replica_absent_s"] == self._values["replica_read_s"]:
            merged["replica_absent_s"] = merged["replica_read_s"]
        return merged

    def _station_values(self, table: Mapping[str, Floats], member: int) -> tuple[float, ...]:
        return tuple(
            float(table[name][member]) if name in table else self._values[name] for name in STATION_PARAMETERS
        )

    def _alike(self, table: Mapping[str, Floats], members: int) -> list[np.ndarray]:
        """Return the members that share their station parameters, [groups] of positions."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for member in range(members):
            groups.setdefault(self._station_values(table, member), []).append(member)
        return [np.array(found) for found in groups.values()]

    def _network(self, number: int, stations: tuple[float, ...]) -> Network:
        key = (number, stations)
        if key not in self._networks:
            values = {**self._values, **dict(zip(STATION_PARAMETERS, stations, strict=True))}
            self._networks[key] = middling_study(self.structures[number].scenario, values).network
        return self._networks[key]

    def _loads(self, structure: Structure) -> list[Scenario]:
        return [self._scenarios[run] for run in structure.runs]


class _Solved:
    """The solution of one structure: its loads times the members."""

    def __init__(self, network: Network, loads: Sequence[Scenario], values: Mapping[str, Floats]) -> None:
        self._members = len(next(iter(values.values())))
        self._network = network
        self._names = [operation.name for operation in network.operations]
        self._ensemble = _loaded(network, loads, values, self._members)
        self._solution: MvaSolution = solve(self._ensemble)
        self._open = network.load.rate_per_s is not None
        self._think_s = network.load.think_time_s

    def read(self, one: Observation, position: int) -> Floats:
        """Return the logarithm of an observation for the load at a position, [members]."""
        rows = slice(position * self._members, (position + 1) * self._members)
        if one.what == THROUGHPUT:
            return np.log(self._solution.throughput_per_s[rows])
        if one.what == CPU:
            return np.log(self._cpu_s()[rows])
        number = None if one.operation == "all" else self._names.index(one.operation)
        latency = latency_s(self._solution, self._ensemble.rings[0].cases, number, one.what)[rows]
        return np.log(latency / (1.0 if self._open else self._solution.response_s[rows]))

    def _cpu_s(self) -> Floats:
        """Return CPU seconds of the nodes per request, [members]."""
        where = self._network.cpu_stations
        used = self._solution.utilisation[:, where] * capacities(self._network)[where]
        return np.asarray(used.sum(axis=1) / self._solution.throughput_per_s)


def _loaded(
    network: Network, loads: Sequence[Scenario], values: Mapping[str, Floats], members: int
) -> Ensemble:
    """Return the ensemble of all loads times all members, load by load."""
    repeated = {name: np.tile(column, len(loads)) for name, column in values.items()}
    made = ensemble(network, repeated)
    if network.load.rate_per_s is not None:
        rates = [float(load.clients.rate or np.nan) for load in loads]
        return replace(made, rate_per_s=np.repeat(rates, members))
    return replace(made, population=np.repeat([float(load.clients.in_flight or 1) for load in loads], members))
