"""Plans: the smallest number of nodes of each machine shape that carries a load, and what binds it.

A cluster carries a load when, without the nodes that may fail, it can carry it below the utilisation that is allowed
and within the objectives, with the wanted confidence; and when its disks hold the data with room for compaction.
The number of nodes is found by halving, as capacity grows with nodes; where it does not (a hot partition), no number
is found, and that is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy.special import ndtr

from .answer import Figure
from .calibration import Calibration
from .findings import Options
from .machine_file import Machine
from .page_cache import partition_bytes
from .predict import find, predict
from .prediction import Prediction
from .scaling import capacity_of
from .scenario import Scenario

MOST_NODES = 200


@dataclass(frozen=True)
class Requirement:
    """What a cluster has to do."""

    rate_per_s: float
    failures: int = 1
    """Nodes that may be gone while it does it."""
    utilisation: float = 0.7
    """Share of the capacity that may be used."""
    disk: float = 0.5
    """Share of the disks that data may fill: compaction writes what it reads before it deletes that."""
    confidence: float = 0.8
    """Probability that the capacity is enough, by its interval."""
    most_nodes: int = MOST_NODES


@dataclass(frozen=True)
class Plan:
    """A machine shape and how many of it."""

    machine: Machine
    nodes: int | None
    """None where no number up to the largest is enough."""
    binds: str
    """Which requirement decides the number: `load`, `disk`, or `failures`; or why there is none."""
    capacity_per_s: Figure | None
    """With `failures` nodes gone, at the number found."""
    limit: str
    """What limits the capacity."""
    risk: float | None
    """Probability that the load is above the allowed share of the capacity."""
    confirmed: Prediction | None = None
    """A simulation of the cluster without the nodes that may be gone, under the load."""

    @property
    def cost(self) -> float | None:
        """Price of all nodes a month, where it is known."""
        return None if self.nodes is None or self.machine.price is None else self.nodes * self.machine.price.per_month


def plan(
    scenario: Scenario,
    machines: Sequence[Machine],
    calibration: Calibration,
    wanted: Requirement,
    options: Options | None = None,
    confirm: int = 3,
) -> tuple[Plan, ...]:
    """Return a plan for each machine shape, the best first: by price where all have one, by nodes and cores else.

    Args:
        scenario: workload, replication and clients; its nodes, hardware and load are replaced.
        machines: the shapes.
        calibration: demands.
        wanted: what the cluster has to do.
        options: objectives and seed.
        confirm: how many of the best are simulated.

    Raises:
        ScenarioError: a scenario that no cluster can have.
    """
    asked = replace(options or Options(), solver="mva", neighbours=False)
    found = sorted((_plan(scenario, one, calibration, wanted, asked) for one in machines), key=_rank)
    usable = [one for one in found if one.nodes is not None][:confirm]
    return tuple(_confirmed(one, scenario, calibration, wanted, asked) if one in usable else one for one in found)


def _plan(
    scenario: Scenario, machine: Machine, calibration: Calibration, wanted: Requirement, asked: Options
) -> Plan:
    least = max(_copies(scenario) + wanted.failures, 1)
    by_disk = math.ceil(_data_bytes(scenario) / (wanted.disk * machine.disk_size))
    low = max(least, by_disk)
    if low > wanted.most_nodes:
        return Plan(machine, None, f"its disks: {by_disk} nodes for the data", None, "", None)
    capacity, limit = _capacity(scenario, machine, wanted.most_nodes - wanted.failures, calibration, asked)
    if not _enough(capacity, wanted):
        words = f"{wanted.most_nodes} nodes carry {capacity.value * wanted.utilisation:,.0f}/s, limited by {limit}"
        return Plan(machine, None, words, capacity, limit, _risk(capacity, wanted))
    nodes = _smallest(low, scenario, machine, calibration, wanted, asked)
    capacity, limit = _capacity(scenario, machine, nodes - wanted.failures, calibration, asked)
    binds = "load" if nodes > low else "disk" if by_disk >= least else "failures"
    return Plan(machine, nodes, binds, capacity, limit, _risk(capacity, wanted))


def _smallest(
    low: int, scenario: Scenario, machine: Machine, calibration: Calibration, wanted: Requirement, asked: Options
) -> int:
    """Return the smallest number of nodes from `low` on that is enough, knowing that the largest is."""
    high = wanted.most_nodes
    while low < high:
        middle = (low + high) // 2
        capacity, _ = _capacity(scenario, machine, middle - wanted.failures, calibration, asked)
        low, high = (low, middle) if _enough(capacity, wanted) else (middle + 1, high)
    return low


def _capacity(
    scenario: Scenario, machine: Machine, nodes: int, calibration: Calibration, asked: Options
) -> tuple[Figure, str]:
    found = find(built(scenario, machine, nodes, 1.0), calibration, asked, None)
    return capacity_of(found), found.limit.words


def built(scenario: Scenario, machine: Machine, nodes: int, rate_per_s: float) -> Scenario:
    """Return the scenario on so many machines of a shape, under an open load, with clients that do not limit it."""
    clients = scenario.clients.model_copy(
        update={
            "rate": rate_per_s,
            "in_flight": None,
            "in_flight_per_node": None,
            "machines": max(scenario.clients.machines, nodes),
        }
    )
    return scenario.model_copy(
        update={
            "cluster": scenario.cluster.model_copy(update={"nodes": nodes, "groups": ()}),
            "hardware": scenario.hardware.model_copy(update=machine.hardware),
            "clients": clients,
        }
    )


def _enough(capacity: Figure, wanted: Requirement) -> bool:
    return _risk(capacity, wanted) <= 1 - wanted.confidence


def _risk(capacity: Figure, wanted: Requirement) -> float:
    """Return the probability that the allowed share of the capacity is below the load."""
    room = math.log(max(capacity.value, 1e-300) * wanted.utilisation / wanted.rate_per_s)
    spread = capacity.parts.total
    return float(ndtr(-room / spread)) if spread > 0 else float(room < 0)


def _copies(scenario: Scenario) -> int:
    factor = scenario.cluster.replication.factor
    return factor if isinstance(factor, int) else max(factor.values())


def _data_bytes(scenario: Scenario) -> float:
    return scenario.workload.partitions * partition_bytes(scenario.workload) * _copies(scenario)


def _rank(one: Plan) -> tuple[float, ...]:
    if one.nodes is None:
        return (1.0,)
    cost = one.cost
    return (0.0, cost if cost is not None else math.inf, one.nodes * one.machine.cores, one.nodes)


def _confirmed(
    one: Plan, scenario: Scenario, calibration: Calibration, wanted: Requirement, asked: Options
) -> Plan:
    """Return the plan with the simulation of what is left when nodes have failed."""
    left = (one.nodes or 1) - wanted.failures
    simulated = replace(asked, solver="simulate")
    return replace(
        one, confirmed=predict(built(scenario, one.machine, left, wanted.rate_per_s), calibration, simulated)
    )
